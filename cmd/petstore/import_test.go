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

// written makes a file with that text.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	rewrite(t, path, text)
	return path
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// named returns rows for n animals, each with its own name.
func named(n int) string {
	var rows strings.Builder
	rows.WriteString("name,categoryId,status\n")
	for i := range n {
		fmt.Fprintf(&rows, "Animal %d,%d,available\n", i, i%7)
	}
	return rows.String()
}

// importing runs an import and checks how it ends and what it says.
func importing(t *testing.T, env map[string]string, status int, says string, args ...string) {
	t.Helper()
	_, stderr, got := invokeWith(t, env, append([]string{"import"}, args...)...)
	if got != status || !strings.Contains(stderr, says) {
		t.Fatalf("petstore import %q ended with %d and said\n%s\nwant %d and %q", args, got, stderr, status, says)
	}
}

// exported returns the animals of a store as rows of CSV.
func exported(t *testing.T, database string) []string {
	t.Helper()
	stdout, stderr, status := invoke(t, "export", "--database", database)
	if status != 0 {
		t.Fatal(stderr)
	}
	return strings.Split(strings.TrimSpace(stdout), "\n")[1:]
}

// eachOnce fails unless the rows are those of named(n), each once.
func eachOnce(t *testing.T, rows []string, n int) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range rows {
		_, animal, _ := strings.Cut(row, ",")
		if seen[animal] {
			t.Fatalf("%q is there twice", animal)
		}
		seen[animal] = true
	}
	if len(rows) != n {
		t.Fatalf("there are %d animals, want %d", len(rows), n)
	}
}

// linkTo is a symbolic link to a file.
func linkTo(t *testing.T, file string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	return link
}

func asClient(s *testservice.Instance) map[string]string {
	return map[string]string{"PETSTORE_SERVER": s.URL, "PETSTORE_API_KEY": s.Key}
}

func TestAnImportAddsEachLineOnceHoweverOftenItIsRepeated(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	file := written(t, "pets.csv", "name,categoryId\nRex,1\nRex,1\nTom,x\nAnn,2\n")
	importing(t, asClient(s), 1, "1 line is bad and not added: "+file+".bad.txt says which, and why", file)
	report, err := os.ReadFile(file + ".bad.txt")
	if want := "line 4: categoryId must be a whole number from -9223372036854775808 to 9223372036854775807.\n"; err != nil || string(report) != want {
		t.Errorf("%v, the report is %q", err, report)
	}
	importing(t, asClient(s), 4, "there is no profile nope", file, "--profile", "nope")
	if again, err := os.ReadFile(file + ".bad.txt"); err != nil || string(again) != string(report) {
		t.Errorf("an import that never began changed the report: %q, %v", again, err)
	}
	importing(t, asClient(s), 1, "Added 0 animals. Skipped 3 lines that an earlier import added;", file)

	rewrite(t, file, "name,categoryId\nTom,3\nRex,1\nAnn,2\nRex,1\nRex,1\n") // one line is fixed, lines have moved, and one line is new
	importing(t, asClient(s), 0, "Added 2 animals. Skipped 3 lines that an earlier import added;", file)
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

func TestALineThatAServerRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	server, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
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
	file := written(t, "pets.csv", "name,categoryId\nRex,1\n"+strings.Repeat("x", 500)+",1\n")
	limit.Store(300)
	importing(t, behind, 1, "Added 1 animal.\n1 line is bad and not added", file)
	limit.Store(3000)
	importing(t, behind, 0, "Added 1 animal. ", file)
	if n := len(s.EveryPet(t)); n != 2 {
		t.Errorf("the store has %d animals", n)
	}
}

// Another key has no idempotency records yet, just like the same key after 24 hours.
func TestTheJournalHoldsWhenTheServerRemembersNothing(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	file := written(t, "pets.csv", named(20))
	importing(t, asClient(s), 0, "Added 20 animals.", file)
	key, stderr, status := invoke(t, "keys", "create", "--name", "other", "--plan", "business", "--database", database)
	if status != 0 {
		t.Fatal(stderr)
	}
	other := map[string]string{"PETSTORE_SERVER": s.URL + "/v1/", "PETSTORE_API_KEY": strings.TrimSpace(key)}
	importing(t, other, 0, "Added 0 animals. Skipped 20 lines", file)
	importing(t, other, 0, "Added 20 animals.", file, "--label", "again")
	if n := len(s.EveryPet(t)); n != 40 {
		t.Errorf("the store has %d animals", n)
	}
	t.Run("and is of one server only", func(t *testing.T) {
		importing(t, asClient(testservice.Serve(t)), 0, "Added 20 animals.", file)
	})
}

func TestAnImportGoesStraightIntoAStore(t *testing.T) {
	t.Parallel()
	for kind, database := range map[string]string{"SQLite": testservice.NewDatabase(t), "PostgreSQL": testservice.Postgres(t)} {
		t.Run(kind, func(t *testing.T) {
			file := written(t, "pets.csv", named(5000))
			importing(t, nil, 0, "Added 5,000 animals.", file, "--database", database)
			importing(t, nil, 0, "Added 0 animals. Skipped 5,000 lines", file, "--database", database)
			rows := exported(t, database)
			eachOnce(t, rows, 5000)
			if !strings.HasSuffix(rows[0], ",Animal 4999,1,available") || !strings.HasSuffix(rows[4999], ",Animal 0,0,available") {
				t.Errorf("they are not in the order of the lines: %q … %q", rows[0], rows[4999])
			}
		})
	}
}

func TestTheJournalHoldsWhenTheStoreRemembersNothing(t *testing.T) {
	t.Parallel()
	for kind, database := range map[string]string{"SQLite": testservice.NewDatabase(t), "PostgreSQL": testservice.Postgres(t)} {
		t.Run(kind, func(t *testing.T) {
			file := written(t, "pets.csv", named(5000))
			importing(t, nil, 0, "Added 5,000 animals.", file, "--database", database)
			onStore(t, database, func(storage petstore.Database) error { // as 24 hours later
				_, err := storage.PurgeIdempotency(t.Context(), time.Now().Add(time.Hour))
				return err
			})
			importing(t, nil, 0, "Added 0 animals. Skipped 5,000 lines", file, "--database", database)
		})
	}
}

func TestAJournalOfAnotherStoreIsNotBelieved(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	file := written(t, "pets.csv", named(50))
	importing(t, nil, 0, "Added 50 animals.", file, "--database", database)
	if err := os.Remove(strings.TrimPrefix(database, "sqlite:")); err != nil {
		t.Fatal(err)
	}
	importing(t, nil, 1, ", but this database has had only 0; if it is new, or was restored from a backup older than the import, remove "+file+".imported-", file, "--database", database)
}

func TestAnImportAfterARestoreDoesNotSayThatLinesAreInTheStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		before int // the number of animals in the backup
		status int
		says   string
	}{
		{"with fewer animals than the journal", 10, 1, "names 20 animals, but this database has had only 10; if it is new, or was restored from a backup older than the import, remove "},
		{"with as many", 20, 0, "Added 0 animals. Skipped 20 lines that an earlier import added; a --label of your choice imports lines again. If a restore has removed all of them from the store, remove "},
	} {
		t.Run(c.what, func(t *testing.T) {
			database := testservice.NewDatabase(t)
			backup := filepath.Join(t.TempDir(), "night.db")
			importing(t, nil, 0, "Added ", written(t, "before.csv", named(c.before)), "--database", database)
			if _, stderr, status := invoke(t, "backup", "--database", database, backup); status != 0 {
				t.Fatal(stderr)
			}
			file := written(t, "pets.csv", named(20))
			importing(t, nil, 0, "Added 20 animals.", file, "--database", database)
			if _, stderr, status := invoke(t, "restore", "--replace", "--database", database, backup); status != 0 {
				t.Fatal(stderr)
			}
			importing(t, nil, c.status, c.says+file+".imported-", file, "--database", database)
			if n := len(exported(t, database)); n != c.before {
				t.Errorf("the store has %d animals", n)
			}
			journals, err := filepath.Glob(file + ".imported-*")
			if err != nil {
				t.Fatal(err)
			}
			for _, journal := range journals {
				os.Remove(journal)
			}
			importing(t, nil, 0, "Added 20 animals.", file, "--database", database)
		})
	}
}

func TestEachPostgreSQLStoreHasItsJournalHoweverItIsNamed(t *testing.T) {
	t.Parallel()
	plain, other := testservice.Postgres(t), testservice.Postgres(t)
	file := written(t, "pets.csv", named(20))
	importing(t, nil, 0, "Added 20 animals.", file, "--database", plain)
	importing(t, nil, 0, "Added 0 animals.", file, "--database", inQuery(t, plain))
	importing(t, nil, 0, "Added 20 animals.", written(t, "more.csv", named(20)), "--database", inQuery(t, other))
	importing(t, nil, 0, "Added 20 animals.", file, "--database", inQuery(t, other))
	if n := len(exported(t, other)); n != 40 {
		t.Errorf("the other database has %d animals", n)
	}
}

// inQuery writes all that the URL of a PostgreSQL database says into the query of another URL.
func inQuery(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
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
		{"CSV", named(300), "Added 300 animals.", nil, 0},
		{"the same again", named(300), "Added 0 animals. Skipped 300 lines", nil, 0},
		{"JSON Lines", `{"name":"Rex","categoryId":1.0,"x":[]}` + "\n" + `{"name":"Rex","name":"Tom","categoryId":1}`, "Added 1 animal.", nil, 1},
		{"into a store", named(300), "Added 300 animals.", []string{"--database", database}, 0},
		{"the same again into the store, one line mended", strings.Replace(named(300), "Animal 7,", "Animal 700,", 1), "Added 1 animal. Skipped 299 lines", []string{"--database", database}, 0},
		{"strictly", named(3), "--strict reads the lines twice, so it needs a file", []string{"--strict"}, 2},
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

func TestBadInputIsRefusedWithASentenceAndStoresNothing(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	good := written(t, "good.csv", named(3))
	for _, c := range []struct {
		what, file, want string
		args             []string
		status           int
	}{
		{"no such file", filepath.Join(t.TempDir(), "none.csv"), "no such file or directory", nil, 1},
		{"a folder", t.TempDir(), "is a folder; give a file", nil, 1},
		{"no header", written(t, "a.csv", "Rex,1,sold\n"), "put name,categoryId,status above it, or what the columns are; nothing was added", nil, 1},
		{"a wrong column", written(t, "b.csv", "name,category\nRex,1\n"), "there is no column categoryId", nil, 1},
		{"a bad line, strictly", written(t, "c.csv", named(9)+",1,sold\n"), "1 line is bad, so nothing was added", []string{"--strict"}, 1},
		{"a bad line, dry", written(t, "d.jsonl", "{\"name\":\"Rex\",\"categoryId\":1}\n[]\n"), "1 line can be imported; nothing was added", []string{"--dry-run"}, 1},
		{"good lines, dry", good, "3 lines can be imported; nothing was added", []string{"--dry-run"}, 0},
		{"the report over the file, by a link", good, "--bad-lines names the file to import", []string{"--bad-lines", linkTo(t, good)}, 2},
		{"the report over the file", good, "--bad-lines names the file to import", []string{"--bad-lines", good}, 2},
		{"a server and a database", good, "give one of them", []string{"--server", "http://localhost"}, 2},
		{"no concurrency", good, "--concurrency is 0; it may be from 1 to 256", []string{"--concurrency", "0"}, 2},
		{"another format", good, "--format is \"xml\"; it may be auto, csv or jsonl", []string{"--format", "xml"}, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			importing(t, nil, c.status, c.want, append([]string{c.file, "--database", database}, c.args...)...)
		})
	}
	if _, err := os.Stat(strings.TrimPrefix(database, "sqlite:")); !os.IsNotExist(err) {
		t.Errorf("a database was made: %v", err)
	}
	importing(t, nil, 0, "Added 3 animals.", good, "--strict", "--database", database)
}

func TestAnImportIsRefusedWhileAServerHoldsTheFile(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	testservice.Serve(t, "--database", database)
	importing(t, nil, 1, "another petstore server is already using", written(t, "pets.csv", named(3)), "--database", database)
}

func TestAnImportWithoutAServerOrAKeySaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	file := written(t, "pets.csv", named(3))
	s := testservice.Serve(t)
	refused := map[string]string{"PETSTORE_SERVER": s.URL, "PETSTORE_API_KEY": "pets_live_nobody"}
	if _, stderr, status := invokeWith(t, refused, "import", file); status != 4 || !strings.Contains(stderr, "unauthorized") {
		t.Errorf("with a wrong key: %d %s", status, stderr)
	}
	if n := len(s.EveryPet(t)); n != 0 {
		t.Errorf("there are %d animals", n)
	}
}

func TestWhatIsExportedAndImportedIsTheSame(t *testing.T) {
	t.Parallel()
	name := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("\r\n\",; \t\\\ufeffé🐕\u2028'")), 1, 9, -1)).
		Filter(func(s string) bool { return utf8.ValidString(s) && petstore.CheckPetName(s) == "" })
	first := testservice.NewDatabase(t)
	onStore(t, first, func(storage petstore.Database) error {
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
			importing(t, asClient(s), 0, "Added 200 animals.", file)
			again := filepath.Join(t.TempDir(), "again."+ending)
			if _, stderr, status := invokeWith(t, asClient(s), "export", "--output", again); status != 0 {
				t.Fatal(stderr)
			}
			second := testservice.NewDatabase(t)
			importing(t, nil, 0, "Added 200 animals.", again, "--database", second)
			if got := withoutIDs(t, second); !slices.Equal(got, want) {
				t.Error("the animals differ")
			}
		})
	}
}

// onStore does work on a store that no server uses.
func onStore(t *testing.T, url string, work func(petstore.Database) error) {
	t.Helper()
	flags := database.Flags{Environment: petstore.Production, Database: url}
	if err := flags.With(t.Context(), database.ToFill, func(storage *database.Storage) error { return work(storage) }); err != nil {
		t.Fatal(err)
	}
}

// withoutIDs returns the animals of a store, in an order that does not depend on their ids.
func withoutIDs(t *testing.T, database string) (animals []string) {
	t.Helper()
	onStore(t, database, func(storage petstore.Database) error {
		pets, err := storage.ListPets(t.Context(), petstore.PetQuery{Limit: 10_000})
		for _, pet := range pets {
			animals = append(animals, fmt.Sprintf("%+v", pet.NewPet))
		}
		return err
	})
	slices.Sort(animals)
	return animals
}
