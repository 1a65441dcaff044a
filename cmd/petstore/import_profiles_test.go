package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// A shelter's spreadsheet, as Excel saves it.
const spreadsheet = "\xef\xbb\xbfName;Category;Status;Breed;Sex;Born on;Arrived On;Description;Tags;Notes;Cage\r\n" +
	"Bella;Dogs;Available;Beagle;F;2024-05;2026-02-28;\"Kind;\r\nlikes \"\"ham\"\"\";\"shy, good with cats\";Bites, sometimes.;4\r\n" +
	"Kitten;cats;;;;;;;;;5\r\n" +
	"Kitten;Cats;;Persian;m;;;;;;5\r\n" +
	";;;;;;;;;;\r\n"

const spreadsheetExported = "id,name,categoryId,status,breed,sex,bornOn,arrivedOn,description,tags,notes\n" +
	"3,Kitten,2,available,Persian,male,,,,,\n" +
	"2,Kitten,2,available,,,,,,,\n" +
	"1,Bella,1,available,Beagle,female,2024-05,2026-02-28,\"Kind;\r\nlikes \"\"ham\"\"\",\"shy, good with cats\",\"Bites, sometimes.\"\n"

func TestASpreadsheetIsImportedAsItIs(t *testing.T) {
	t.Parallel()
	server := asClient(testservice.Serve(t))
	for _, c := range []struct {
		what string
		env  map[string]string
		args []string
	}{
		{"a server", server, nil},
		{"SQLite", nil, []string{"--database", testservice.NewDatabase(t)}},
		{"PostgreSQL", nil, []string{"--database", testservice.Postgres(t)}},
	} {
		t.Run(c.what, func(t *testing.T) {
			file := writeFile(t, "shelter.csv", spreadsheet)
			imports := func(status int, says string, args ...string) {
				t.Helper()
				runImport(t, c.env, status, says, append(append([]string{file, "--concurrency", "1"}, c.args...), args...)...)
			}
			imports(1, "0 lines can be imported; nothing was added.\n3 lines are bad", "--dry-run")
			imports(1, "3 lines are bad, so nothing was added", "--strict")
			imports(1, "Ignoring unknown columns: Cage\nAdded 0 animals.\n3 lines are bad and not added")
			if report, _ := os.ReadFile(file + ".bad.txt"); !strings.HasPrefix(string(report), "line 2: there is no category \"Dogs\"; add it, or import with --create-categories.\nline 4: ") {
				t.Errorf("the report is %s", report)
			}
			imports(0, "3 lines can be imported; nothing was added.", "--dry-run", "--create-categories")
			imports(0, "Added 3 animals.", "--create-categories", "--strict")
			imports(0, "Added 0 animals. Skipped 3 lines")
			out, stderr, status := invokeWith(t, c.env, append([]string{"export"}, c.args...)...)
			if status != 0 || out != spreadsheetExported {
				t.Errorf("%s\nthe export is\n%s", stderr, out)
			}
		})
	}
}

func TestProfilesAreTheSameWhenExportedAndImported(t *testing.T) {
	t.Parallel()
	first := testservice.NewDatabase(t)
	facts := []petstore.Facts{
		{}, {Breed: `"Beagle", mix`, Sex: petstore.Male, BornOn: "2024", ArrivedOn: "2026-11-18"},
		{Description: "Kind.\r\n\tLikes \"ham\"; cheese,\n", Tags: petstore.NewTags([]string{"shy", `a "b", c`, " d", "e;f"}), Notes: "Bites.\n"},
		{Sex: petstore.Female}, {Notes: strings.Repeat("é", 10_000), Description: strings.Repeat("🐕", 10_000)},
	}
	withStorage(t, first, func(storage petstore.Database) error {
		for i := range 300 {
			made, _, err := storage.CreatePet(t.Context(), petstore.NewPet{Name: fmt.Sprint("Rex ", i/10), CategoryID: 1, Status: petstore.Sold}, nil)
			if err != nil {
				return err
			}
			f := facts[0]
			if i > 100 {
				f = facts[i%len(facts)]
			}
			patch := petstore.ProfilePatch{Breed: &f.Breed, Sex: &f.Sex, BornOn: &f.BornOn, ArrivedOn: &f.ArrivedOn, Description: &f.Description, Tags: &f.Tags, Notes: &f.Notes}
			if _, _, err := storage.UpdateProfile(t.Context(), made.ID, patch, nil); err != nil {
				return err
			}
		}
		return nil
	})
	want := profilesIn(t, first)
	for _, ending := range []string{"csv", "jsonl"} {
		t.Run(ending, func(t *testing.T) {
			server := asClient(testservice.Serve(t))
			file, again := filepath.Join(t.TempDir(), "pets."+ending), filepath.Join(t.TempDir(), "again."+ending)
			mustInvoke(t, "export", "--database", first, "--output", file)
			runImport(t, server, 0, "Added 300 animals.", file)
			if _, stderr, status := invokeWith(t, server, "export", "--output", again); status != 0 {
				t.Fatal(stderr)
			}
			for _, database := range []string{testservice.NewDatabase(t), testservice.Postgres(t)} {
				runImport(t, nil, 0, "Added 300 animals.", again, "--database", database)
				runImport(t, nil, 0, "Added 0 animals. Skipped 300 lines", again, "--database", database)
				if got := profilesIn(t, database); !slices.Equal(got, want) {
					for i := range min(len(got), len(want)) {
						if got[i] != want[i] {
							t.Errorf("of %d and %d animals of %s, %.300q came back as %.300q", len(want), len(got), database, want[i], got[i])
							break
						}
					}
				}
			}
		})
	}
}

// profilesIn returns the animals of a database and their facts, without ids, sorted.
func profilesIn(t *testing.T, database string) (animals []string) {
	t.Helper()
	withStorage(t, database, func(storage petstore.Database) error {
		pets, err := storage.ListPets(t.Context(), petstore.PetQuery{Limit: 10_000})
		if err != nil {
			return err
		}
		for _, pet := range pets {
			profile, err := storage.GetProfile(t.Context(), pet.ID)
			if err != nil {
				return err
			}
			animals = append(animals, fmt.Sprintf("%+v %q", pet.NewPet, profile.Facts))
		}
		return nil
	})
	slices.Sort(animals)
	return animals
}

// profiledRows returns a CSV file of n animals, each with a name and notes of its own.
func profiledRows(n int) string {
	var rows strings.Builder
	rows.WriteString("name,categoryId,notes\n")
	for i := range n {
		fmt.Fprintf(&rows, "Animal %d,%d,Note %d\n", i, i%7, i)
	}
	return rows.String()
}

// expectProfilesOnce fails the test unless an export has the animals of profiledRows(n), each once and with its notes.
func expectProfilesOnce(t *testing.T, export string, n int) {
	t.Helper()
	seen := map[string]bool{}
	row := regexp.MustCompile(`(?m)^\d+,Animal (\d+),\d,available,,,,,,,Note (\d+)$`)
	for _, found := range row.FindAllStringSubmatch(export, -1) {
		if found[1] != found[2] || seen[found[1]] {
			t.Errorf("%q is wrong or was added twice", found[0])
		}
		seen[found[1]] = true
	}
	if rows := strings.Count(export, "\n") - 1; len(seen) != n || rows != n {
		t.Errorf("of %d animals, %d are complete; want %d", rows, len(seen), n)
	}
}

// serveBehind serves a store behind a proxy, and returns the variables for commands that call the proxy. Intercept gets the
// requests for profiles first, and reports whether it has answered them.
func serveBehind(t *testing.T, intercept func(http.ResponseWriter, *http.Request) bool) (*testservice.Instance, map[string]string) {
	t.Helper()
	s := testservice.Serve(t)
	address, err := url.Parse(s.URL)
	noError(t, err)
	pass := httputil.NewSingleHostReverseProxy(address)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/profile") || !intercept(w, r) {
			pass.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	return s, map[string]string{"PETSTORE_SERVER": proxy.URL, "PETSTORE_API_KEY": s.Key}
}

func TestAnImportKilledBetweenAnAnimalAndItsProfileCompletesIt(t *testing.T) {
	t.Parallel()
	var hold atomic.Bool
	hold.Store(true)
	held := make(chan struct{}, 100)
	s, server := serveBehind(t, func(w http.ResponseWriter, r *http.Request) bool {
		if !hold.Load() {
			return false
		}
		io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
		held <- struct{}{}
		<-r.Context().Done()
		return true
	})
	const lines = 8
	file := writeFile(t, "between.csv", profiledRows(lines))
	command := testservice.Command(t, "import", file)
	for name, value := range server {
		command.Env = append(command.Env, name+"="+value)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for range lines {
		<-held
	}
	command.Process.Kill()
	command.Wait()
	if n := len(s.EveryPet(t)); n != lines {
		t.Fatalf("before the kill, %d animals were added", n)
	}
	hold.Store(false)
	runImport(t, server, 0, "Added 8 animals.", file)
	runImport(t, server, 0, "Added 0 animals. Skipped 8 lines", file)
	out, _, _ := invokeWith(t, server, "export")
	expectProfilesOnce(t, out, lines)
}

func TestAKilledImportIntoADatabaseLosesNoProfile(t *testing.T) {
	t.Parallel()
	for kind, database := range map[string]string{"SQLite": testservice.NewDatabase(t), "PostgreSQL": testservice.Postgres(t)} {
		t.Run(kind, func(t *testing.T) {
			const lines = 2500
			file := writeFile(t, "profiles-"+kind+".csv", profiledRows(lines))
			for _, after := range []time.Duration{50, 100, 200, 300} {
				command := testservice.Command(t, "import", file, "--database", database)
				if err := command.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(after * time.Millisecond)
				command.Process.Kill()
				command.Wait()
			}
			signalImport(t, syscall.SIGKILL, file, nil, "--database", database)
			runImport(t, nil, 0, "Added ", file, "--database", database)
			runImport(t, nil, 0, "Added 0 animals. Skipped 2,500 lines", file, "--database", database)
			expectProfilesOnce(t, mustInvoke(t, "export", "--database", database), lines)
		})
	}
}

// While another program holds the table, every call of the import reaches its time limit. The import must outlast that.
func TestAnImportIntoADatabaseOutlastsAnOutage(t *testing.T) {
	t.Parallel()
	for kind, rows := range map[string]string{"with profiles": profiledRows(30), "without profiles": "name,categoryId\n" + strings.Repeat("Rex,1\n", 30)} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			database := testservice.Postgres(t)
			file := writeFile(t, "outage.csv", rows)
			runImport(t, nil, 0, "Added 1 animal.", writeFile(t, "first.csv", "name,categoryId\nFirst,1\n"), "--database", database)
			other, err := pgx.Connect(t.Context(), database)
			noError(t, err)
			defer other.Close(context.Background())
			held, err := other.Begin(t.Context())
			noError(t, err)
			_, err = held.Exec(t.Context(), "LOCK TABLE pets IN EXCLUSIVE MODE")
			noError(t, err)
			time.AfterFunc(4*time.Second, func() { held.Rollback(context.Background()) })
			runImport(t, nil, 0, "Added 30 animals.\n", file, "--database", database)
			runImport(t, nil, 0, "Added 0 animals. Skipped 30 lines", file, "--database", database)
			if n := len(exported(t, database)); n != 31 {
				t.Errorf("the database has %d animals, want 31", n)
			}
		})
	}
}

func TestProfilesFromStandardInputAreAddedOnce(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	for _, want := range []string{"Added 50 animals.", "Added 0 animals. Skipped 50 lines"} {
		command := testservice.Command(t, "import", "-", "--database", database)
		command.Dir, command.Stdin = t.TempDir(), strings.NewReader(profiledRows(50))
		if said, err := command.CombinedOutput(); err != nil || !strings.Contains(string(said), want) {
			t.Errorf("%v: %s", err, said)
		}
	}
	expectProfilesOnce(t, mustInvoke(t, "export", "--database", database), 50)
}

func TestABadProfileIsReportedWithItsLine(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	file := writeFile(t, "pets.csv", "name,categoryId,bornOn,tags\nRex,1,2024,shy\nTom,1,17.05.2024,\"a,a\"\n")
	runImport(t, nil, 1, "Added 1 animal.\n1 line is bad and not added", file, "--database", database)
	report, err := os.ReadFile(file + ".bad.txt")
	want := "line 3: bornOn must be a year, a month or a day, such as 2024, 2024-05 or 2024-05-17; tags must differ from each other: tag 2 repeats an earlier one.\n"
	if err != nil || string(report) != want {
		t.Errorf("%v, the report is %s", err, report)
	}
	rewrite(t, file, "name,categoryId,bornOn,tags\nRex,1,2024,shy\nTom,1,2024-05-17,a\n")
	runImport(t, nil, 0, "Added 1 animal. Skipped 1 line that", file, "--database", database)
}

func TestARefusedProfileIsReportedWithItsLine(t *testing.T) {
	t.Parallel()
	_, server := serveBehind(t, func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"code":"invalid_field","message":"notes are refused.","status":400}`)
		return true
	})
	file := writeFile(t, "pets.csv", profiledRows(1))
	runImport(t, server, 1, "1 line is bad and not added", file)
	if report, _ := os.ReadFile(file + ".bad.txt"); string(report) != "line 2: the animal was added with the id 1, but its profile was refused: notes are refused.\n" {
		t.Errorf("the report is %s", report)
	}
}

func TestAProfileOnAServerWithoutProfilesStopsTheImport(t *testing.T) {
	t.Parallel()
	var s *testservice.Instance
	delete := false
	s, server := serveBehind(t, func(w http.ResponseWriter, r *http.Request) bool {
		if delete {
			s.Ask(t, "DELETE", strings.TrimSuffix(r.URL.Path, "/profile"), "")
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"code":"not_found","message":"There is no such path.","status":404}`)
		return true
	})
	file := writeFile(t, "pets.csv", profiledRows(1))
	runImport(t, server, 1, "animal 1 was added without its profile, because the server is older than this command and has no profiles; upgrade the server", file)
	delete = true
	t.Run("an animal that was deleted meanwhile needs no profile", func(t *testing.T) {
		runImport(t, server, 0, "Skipped 1 line", file)
	})
}

// The journal of an earlier version does not have the mark that says since when facts count.
func TestAFileThatAnEarlierVersionImportedIsNotAddedAgain(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	file := writeFile(t, "earlier.csv", "name,categoryId\nRex,1\nRex,1\nTom,2\n")
	runImport(t, nil, 0, "Added 3 animals.", file, "--database", database)
	journal := journalsOf(t, file)[0]
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	const header = len("petstore import 1\n")
	rewrite(t, journal, string(text[:header])+string(text[emptyJournal:]))
	rewrite(t, file, "name,categoryId,breed\nRex,1,Beagle\nRex,1,\nTom,2,Persian\nTom,2,Persian\n")
	for _, want := range []string{"Added 1 animal. Skipped 3 lines", "Added 0 animals. Skipped 4 lines"} {
		runImport(t, nil, 0, want, file, "--database", database)
	}
}

func TestALongImportOfProfilesCountsTwoRequestsForALine(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	command := testservice.Command(t, "import", writeFile(t, "long-profiles.csv", profiledRows(3000)))
	for name, value := range smallKey(t, s, database) {
		command.Env = append(command.Env, name+"="+value)
	}
	said := &testservice.Transcript{}
	command.Stderr = said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile("^Adding 3,000 lines takes about [4567] days, because this key may send only 60 requests per minute and 1,000 per day.")
	testservice.Eventually(t, "the import announces how long it takes", time.Minute, func() bool { return want.MatchString(said.String()) })
	command.Process.Kill()
	command.Wait()
}
