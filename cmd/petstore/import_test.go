package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// writeFile creates a file with that text in a new folder and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	rewrite(t, path, text)
	return path
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	noError(t, os.WriteFile(path, []byte(text), 0o600))
}

// rowsOf returns a CSV file of n animals, each with its own name.
func rowsOf(n int) string {
	var rows strings.Builder
	rows.WriteString("name,categoryId,status\n")
	for i := range n {
		fmt.Fprintf(&rows, "Animal %d,%d,available\n", i, i%7)
	}
	return rows.String()
}

// runImport runs an import. It fails the test unless the import exits with the given status and prints the given text.
func runImport(t *testing.T, env map[string]string, status int, says string, args ...string) {
	t.Helper()
	_, stderr, got := invokeWith(t, env, append([]string{"import"}, args...)...)
	if got != status || !strings.Contains(stderr, says) {
		t.Fatalf("petstore import %q ended with %d and said\n%s\nwant %d and %q", args, got, stderr, status, says)
	}
}

// exported returns the animals in a database as rows of CSV.
func exported(t *testing.T, database string) []string {
	t.Helper()
	stdout, stderr, status := invoke(t, "export", "--database", database)
	if status != 0 {
		t.Fatal(stderr)
	}
	return strings.Split(strings.TrimSpace(stdout), "\n")[1:]
}

// expectEachOnce fails the test unless rows contains every row of rowsOf(n) exactly once.
func expectEachOnce(t *testing.T, rows []string, n int) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range rows {
		_, animal, _ := strings.Cut(row, ",")
		if seen[animal] {
			t.Fatalf("%q was added twice", animal)
		}
		seen[animal] = true
	}
	if len(rows) != n {
		t.Fatalf("there are %d animals, want %d", len(rows), n)
	}
}

// linkTo creates a symbolic link to a file and returns its path.
func linkTo(t *testing.T, file string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	noError(t, os.Symlink(file, link))
	return link
}

func asClient(s *testservice.Instance) map[string]string {
	return map[string]string{"PETSTORE_SERVER": s.URL, "PETSTORE_API_KEY": s.Key}
}

func TestARepeatedImportAddsEachLineOnce(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	file := writeFile(t, "pets.csv", "name,categoryId\nRex,1\nRex,1\nTom,x\nAnn,2\n")
	runImport(t, asClient(s), 1, "1 line is bad and not added; see "+file+".bad.txt", file)
	report, err := os.ReadFile(file + ".bad.txt")
	if want := "line 4: categoryId must be a whole number from -9223372036854775808 to 9223372036854775807.\n"; err != nil || string(report) != want {
		t.Errorf("%v, the report is %q", err, report)
	}
	runImport(t, asClient(s), 4, "there is no profile nope", file, "--profile", "nope")
	if again, err := os.ReadFile(file + ".bad.txt"); err != nil || string(again) != string(report) {
		t.Errorf("an import that never started changed the report: %q, %v", again, err)
	}
	runImport(t, asClient(s), 1, "Added 0 animals. Skipped 3 lines that an earlier import added;", file)

	rewrite(t, file, "name,categoryId\nTom,3\nRex,1\nAnn,2\nRex,1\nRex,1\n") // corrects one line, moves others, and adds one
	runImport(t, asClient(s), 0, "Added 2 animals. Skipped 3 lines that an earlier import added;", file)
	if _, err := os.Stat(file + ".bad.txt"); !os.IsNotExist(err) {
		t.Errorf("the report of the earlier import is still there: %v", err)
	}
	var names []string
	for _, pet := range s.EveryPet(t) {
		names = append(names, pet.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "Ann Rex Rex Rex Tom" {
		t.Errorf("the store has %s", got)
	}
}

func TestALineThatTheServerRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	server, err := url.Parse(s.URL)
	noError(t, err)
	var limit atomic.Int64
	pass := httputil.NewSingleHostReverseProxy(server)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > limit.Load() {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	behind := map[string]string{"PETSTORE_SERVER": proxy.URL, "PETSTORE_API_KEY": s.Key}
	file := writeFile(t, "pets.csv", "name,categoryId\nRex,1\n"+strings.Repeat("x", 500)+",1\n")
	limit.Store(300)
	runImport(t, behind, 1, "Added 1 animal.\n1 line is bad and not added", file)
	limit.Store(3000)
	runImport(t, behind, 0, "Added 1 animal. ", file)
	if n := len(s.EveryPet(t)); n != 2 {
		t.Errorf("the store has %d animals", n)
	}
}

// The second key has no idempotency records. The first key will have none either after 24 hours.
func TestTheJournalPreventsDuplicatesWithoutIdempotencyRecordsOnTheServer(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	file := writeFile(t, "pets.csv", rowsOf(20))
	runImport(t, asClient(s), 0, "Added 20 animals.", file)
	key, stderr, status := invoke(t, "keys", "create", "--name", "other", "--plan", "business", "--database", database)
	if status != 0 {
		t.Fatal(stderr)
	}
	other := map[string]string{"PETSTORE_SERVER": s.URL + "/v1/", "PETSTORE_API_KEY": strings.TrimSpace(key)}
	runImport(t, other, 0, "Added 0 animals. Skipped 20 lines", file)
	runImport(t, other, 0, "Added 20 animals.", file, "--label", "again")
	if n := len(s.EveryPet(t)); n != 40 {
		t.Errorf("the store has %d animals", n)
	}
	t.Run("only on the same server", func(t *testing.T) {
		runImport(t, asClient(testservice.Serve(t)), 0, "Added 20 animals.", file)
	})
}

func TestAnImportIntoADatabaseKeepsTheOrderOfTheLines(t *testing.T) {
	t.Parallel()
	for kind, database := range map[string]string{"SQLite": testservice.NewDatabase(t), "PostgreSQL": testservice.Postgres(t)} {
		t.Run(kind, func(t *testing.T) {
			file := writeFile(t, "pets.csv", rowsOf(5000))
			runImport(t, nil, 0, "Added 5,000 animals.", file, "--database", database)
			runImport(t, nil, 0, "Added 0 animals. Skipped 5,000 lines", file, "--database", database)
			rows := exported(t, database)
			expectEachOnce(t, rows, 5000)
			if !strings.HasSuffix(rows[0], ",Animal 4999,1,available") || !strings.HasSuffix(rows[4999], ",Animal 0,0,available") {
				t.Errorf("the animals are not in the order of the lines: %q … %q", rows[0], rows[4999])
			}
		})
	}
}

func TestTheJournalPreventsDuplicatesWithoutIdempotencyRecordsInTheDatabase(t *testing.T) {
	t.Parallel()
	for kind, database := range map[string]string{"SQLite": testservice.NewDatabase(t), "PostgreSQL": testservice.Postgres(t)} {
		t.Run(kind, func(t *testing.T) {
			file := writeFile(t, "pets.csv", rowsOf(5000))
			runImport(t, nil, 0, "Added 5,000 animals.", file, "--database", database)
			withStorage(t, database, func(storage petstore.Database) error { // as if 24 hours had passed
				_, err := storage.PurgeIdempotency(t.Context(), time.Now().Add(time.Hour))
				return err
			})
			runImport(t, nil, 0, "Added 0 animals. Skipped 5,000 lines", file, "--database", database)
		})
	}
}

func TestAJournalOfAReplacedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	file := writeFile(t, "replaced.csv", rowsOf(50))
	runImport(t, nil, 0, "Added 50 animals.", file, "--database", database)
	noError(t, os.Remove(strings.TrimPrefix(database, "sqlite:")))
	runImport(t, nil, 1, ", but this database has had only 0; if it is new, or was restored from a backup older than the import, remove "+journalsOf(t, file)[0], file, "--database", database)
}

func TestAnImportAfterARestoreSaysToRemoveTheJournal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		before int // the number of animals in the backup
		status int
		says   string
	}{
		{"with fewer animals than the journal", 10, 1, "lists 20 animals, but this database has had only 10; if it is new, or was restored from a backup older than the import, remove "},
		{"with as many", 20, 0, "Added 0 animals. Skipped 20 lines that an earlier import added; to import them again, choose a --label. If a restore has removed all of them from the database, remove "},
	} {
		t.Run(c.what, func(t *testing.T) {
			database := testservice.NewDatabase(t)
			backup := filepath.Join(t.TempDir(), "night.db")
			runImport(t, nil, 0, "Added ", writeFile(t, "before.csv", rowsOf(c.before)), "--database", database)
			if _, stderr, status := invoke(t, "backup", "--database", database, backup); status != 0 {
				t.Fatal(stderr)
			}
			file := writeFile(t, fmt.Sprintf("restored-%d.csv", c.before), rowsOf(20))
			runImport(t, nil, 0, "Added 20 animals.", file, "--database", database)
			if _, stderr, status := invoke(t, "restore", "--replace", "--database", database, backup); status != 0 {
				t.Fatal(stderr)
			}
			runImport(t, nil, c.status, c.says+journalsOf(t, file)[0], file, "--database", database)
			if n := len(exported(t, database)); n != c.before {
				t.Errorf("the store has %d animals", n)
			}
			for _, journal := range journalsOf(t, file) {
				os.Remove(journal)
			}
			runImport(t, nil, 0, "Added 20 animals.", file, "--database", database)
		})
	}
}

func TestAnImportLeavesNothingBesideItsFile(t *testing.T) {
	t.Parallel()
	s, database := testservice.Serve(t), testservice.NewDatabase(t)
	file := writeFile(t, "alone.csv", rowsOf(5))
	runImport(t, asClient(s), 0, "Added 5 animals.", file)
	runImport(t, nil, 0, "Added 5 animals.", file, "--database", database)
	refused := map[string]string{"PETSTORE_SERVER": s.URL, "PETSTORE_API_KEY": "pets_live_nobody"}
	runImport(t, refused, 4, "unauthorized", file, "--label", "other")
	if left := leftIn(t, filepath.Dir(file)); !slices.Equal(left, []string{"alone.csv"}) {
		t.Errorf("beside the file there are %q", left)
	}
	journals := journalsOf(t, file)
	if len(journals) != 2 || slices.ContainsFunc(journals, func(name string) bool { return strings.HasSuffix(name, ".lock") }) {
		t.Errorf("in the state folder there are %q", journals)
	}
}

func TestAFileHasOneJournalHoweverItsPathIsWritten(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	file := writeFile(t, "named.csv", rowsOf(5))
	runImport(t, nil, 0, "Added 5 animals.", file, "--database", database)
	here, err := os.Getwd()
	noError(t, err)
	relative, err := filepath.Rel(here, file)
	noError(t, err)
	for _, path := range []string{relative, linkTo(t, file)} {
		runImport(t, nil, 0, "Added 0 animals. Skipped 5 lines", path, "--database", database, "--format", "csv")
	}
	other := writeFile(t, "named.csv", rowsOf(5))
	runImport(t, nil, 0, "Added 5 animals.", other, "--database", database)
}

func TestTheStateFolderHoldsTheJournals(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := writeFile(t, "pets.csv", rowsOf(5))
	for _, c := range []struct{ variable, value, folder string }{
		{"XDG_STATE_HOME", filepath.Join(home, "state"), "state"},
		{"XDG_STATE_HOME", "", ".local/state"},
		{"XDG_STATE_HOME", "relative", ".local/state"}, // the XDG specification says to ignore a relative path
	} {
		command := testservice.Command(t, "import", file, "--database", testservice.NewDatabase(t))
		command.Env = append(command.Env, "HOME="+home, c.variable+"="+c.value)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		folder := filepath.Join(home, c.folder, "petstore", "imports")
		if journals := leftIn(t, folder); len(journals) == 0 {
			t.Errorf("with %s=%s, %s is empty", c.variable, c.value, folder)
		}
		os.RemoveAll(filepath.Join(home, c.folder))
	}
	command := testservice.Command(t, "import", file, "--database", testservice.NewDatabase(t))
	command.Env = append(command.Env, "HOME=", "XDG_STATE_HOME=")
	if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), "set XDG_STATE_HOME") {
		t.Errorf("without a home: %v %s", err, out)
	}
}

func TestEachPostgreSQLDatabaseHasOneJournalHoweverItsURLIsWritten(t *testing.T) {
	t.Parallel()
	plain, other := testservice.Postgres(t), testservice.Postgres(t)
	file := writeFile(t, "pets.csv", rowsOf(20))
	runImport(t, nil, 0, "Added 20 animals.", file, "--database", plain)
	runImport(t, nil, 0, "Added 0 animals.", file, "--database", inQuery(t, plain))
	runImport(t, nil, 0, "Added 20 animals.", writeFile(t, "more.csv", rowsOf(20)), "--database", inQuery(t, other))
	runImport(t, nil, 0, "Added 20 animals.", file, "--database", inQuery(t, other))
	if n := len(exported(t, other)); n != 40 {
		t.Errorf("the other database has %d animals", n)
	}
}

// inQuery returns another URL for the same PostgreSQL database, with all settings in the query of the URL.
func inQuery(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	noError(t, err)
	query := u.Query()
	for name, value := range map[string]string{"host": u.Hostname(), "port": u.Port(), "user": u.User.Username(), "dbname": u.Path[1:]} {
		query.Set(name, value)
	}
	if password, given := u.User.Password(); given {
		query.Set("password", password)
	}
	return "postgres:///?" + query.Encode()
}

func TestAnImportFromStandardInput(t *testing.T) {
	t.Parallel()
	s, database := testservice.Serve(t), testservice.NewDatabase(t)
	for _, c := range []struct {
		what, text, want string
		args             []string
		status           int
	}{
		{"CSV", rowsOf(300), "Added 300 animals.", nil, 0},
		{"the same again", rowsOf(300), "Added 0 animals. Skipped 300 lines", nil, 0},
		{"JSON Lines", `{"name":"Rex","categoryId":1.0,"x":[]}` + "\n" + `{"name":"Rex","name":"Tom","categoryId":1}`, "Added 1 animal.", nil, 1},
		{"into a database", rowsOf(300), "Added 300 animals.", []string{"--database", database}, 0},
		{"the same again into the database, with one line changed", strings.Replace(rowsOf(300), "Animal 7,", "Animal 700,", 1), "Added 1 animal. Skipped 299 lines", []string{"--database", database}, 0},
		{"strictly", rowsOf(3), "--strict reads the lines twice, so it needs a regular file", []string{"--strict"}, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			command := testservice.Command(t, append([]string{"import", "-"}, c.args...)...)
			command.Dir = t.TempDir()
			command.Stdin = strings.NewReader(c.text)
			if c.args == nil {
				command.Env = append(command.Env, "PETSTORE_SERVER="+s.URL, "PETSTORE_API_KEY="+s.Key)
			}
			said, err := command.CombinedOutput()
			if command.ProcessState.ExitCode() != c.status || !strings.Contains(string(said), c.want) {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

func TestBadInputIsRefusedAndAddsNothing(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	good := writeFile(t, "good.csv", rowsOf(3))
	for _, c := range []struct {
		what, file, want string
		args             []string
		status           int
	}{
		{"no such file", filepath.Join(t.TempDir(), "none.csv"), "no such file or directory", nil, 1},
		{"a folder", t.TempDir(), "is a folder, not a file", nil, 1},
		{"no header", writeFile(t, "a.csv", "Rex,1,sold\n"), "add a first line such as name,categoryId,status; nothing was added", nil, 1},
		{"a wrong column", writeFile(t, "b.csv", "name,kind\nRex,1\n"), "there is no column categoryId or category", nil, 1},
		{"a bad line, strictly", writeFile(t, "c.csv", rowsOf(9)+",1,sold\n"), "1 line is bad, so nothing was added", []string{"--strict"}, 1},
		{"a bad line, dry", writeFile(t, "d.jsonl", "{\"name\":\"Rex\",\"categoryId\":1}\n[]\n"), "1 line can be imported; nothing was added", []string{"--dry-run"}, 1},
		{"good lines, dry", good, "3 lines can be imported; nothing was added", []string{"--dry-run"}, 0},
		{"bad lines into a link to the file", good, "--bad-lines is the file to import", []string{"--bad-lines", linkTo(t, good)}, 2},
		{"bad lines into the file", good, "--bad-lines is the file to import", []string{"--bad-lines", good}, 2},
		{"a server and a database", good, "give one of them", []string{"--server", "http://localhost"}, 2},
		{"no concurrency", good, "--concurrency is 0; it must be from 1 to 256", []string{"--concurrency", "0"}, 2},
		{"another format", good, "--format is \"xml\"; it must be auto, csv or jsonl", []string{"--format", "xml"}, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			runImport(t, nil, c.status, c.want, append([]string{c.file, "--database", database}, c.args...)...)
		})
	}
	if _, err := os.Stat(strings.TrimPrefix(database, "sqlite:")); !os.IsNotExist(err) {
		t.Errorf("a database was made: %v", err)
	}
	runImport(t, nil, 0, "Added 3 animals.", good, "--strict", "--database", database)
}

func TestAnImportIsRefusedWhileAServerUsesTheDatabase(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	testservice.Serve(t, "--database", database)
	runImport(t, nil, 1, "another petstore server is already using", writeFile(t, "pets.csv", rowsOf(3)), "--database", database)
}

func TestAnImportWithAWrongKeyAddsNothing(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "pets.csv", rowsOf(3))
	s := testservice.Serve(t)
	refused := map[string]string{"PETSTORE_SERVER": s.URL, "PETSTORE_API_KEY": "pets_live_nobody"}
	if _, stderr, status := invokeWith(t, refused, "import", file); status != 4 || !strings.Contains(stderr, "unauthorized") {
		t.Errorf("with a wrong key: %d %s", status, stderr)
	}
	if n := len(s.EveryPet(t)); n != 0 {
		t.Errorf("there are %d animals", n)
	}
}

func TestExportedAnimalsAreTheSameWhenImported(t *testing.T) {
	t.Parallel()
	name := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("\r\n\",; \t\\\ufeffé🐕\u2028'")), 1, 9, -1)).
		Filter(func(s string) bool { return utf8.ValidString(s) && petstore.CheckPetName(s) == "" })
	first := testservice.NewDatabase(t)
	withStorage(t, first, func(storage petstore.Database) error {
		for i := range 200 {
			pet := petstore.NewPet{Name: name.Example(i), CategoryID: rapid.Int64().Example(i), Status: petstore.Statuses[i%3]}
			if _, _, err := storage.CreatePet(t.Context(), pet, nil); err != nil {
				return err
			}
		}
		return nil
	})
	want := withoutIDs(t, first)
	for _, ending := range []string{"csv", "jsonl"} {
		t.Run(ending, func(t *testing.T) {
			s := testservice.Serve(t)
			file := filepath.Join(t.TempDir(), "pets."+ending)
			if _, stderr, status := invoke(t, "export", "--database", first, "--output", file); status != 0 {
				t.Fatal(stderr)
			}
			runImport(t, asClient(s), 0, "Added 200 animals.", file)
			again := filepath.Join(t.TempDir(), "again."+ending)
			if _, stderr, status := invokeWith(t, asClient(s), "export", "--output", again); status != 0 {
				t.Fatal(stderr)
			}
			second := testservice.NewDatabase(t)
			runImport(t, nil, 0, "Added 200 animals.", again, "--database", second)
			if got := withoutIDs(t, second); !slices.Equal(got, want) {
				t.Error("the animals differ")
			}
		})
	}
}

// withStorage calls work with a storage that no server uses.
func withStorage(t *testing.T, url string, work func(petstore.Database) error) {
	t.Helper()
	flags := database.Flags{Environment: petstore.Production, Database: url}
	noError(t, flags.With(t.Context(), database.ToFill, func(storage *database.Storage) error { return work(storage) }))
}

// withoutIDs returns the animals of a database without their ids, sorted.
func withoutIDs(t *testing.T, database string) (animals []string) {
	t.Helper()
	withStorage(t, database, func(storage petstore.Database) error {
		pets, err := storage.ListPets(t.Context(), petstore.PetQuery{Limit: 10_000})
		for _, pet := range pets {
			animals = append(animals, fmt.Sprintf("%+v", pet.NewPet))
		}
		return err
	})
	slices.Sort(animals)
	return animals
}
