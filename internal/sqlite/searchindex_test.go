package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// isIndexed reports whether the index has every animal.
func isIndexed(t testing.TB, db *DB) (yes bool) {
	t.Helper()
	noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { yes = row.ColumnBool(0) },
			"SELECT rules = ?1 AND upto >= (SELECT coalesce(max(id), 0) FROM pets) AND NOT EXISTS (SELECT 1 FROM stale_words) FROM word_index", petstore.WordsVersion)
	}))
	return yes
}

// awaitIndex waits until the index has every animal.
func awaitIndex(t testing.TB, db *DB) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !isIndexed(t, db); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("after a minute the index lacks animals")
		}
	}
}

func TestAServerIndexesWhatChanges(t *testing.T) {
	db := openNew(t)
	db.scanPages = 0
	addPets(t, db, "Rex", "Max", "Moss", "Olive")
	setBreed(t, db, 2, "Beagle")
	setBreed(t, db, 3, "Beagle")
	awaitIndex(t, db)
	name := "Bella"
	_, _, err := db.UpdatePet(t.Context(), 1, petstore.PetPatch{Name: &name}, nil)
	noError(t, err)
	_, err = db.DeletePet(t.Context(), 2, nil)
	noError(t, err)
	setBreed(t, db, 3, "Belgian Shepherd")
	setBreed(t, db, 4, "Whippet")
	addPets(t, db, "Bello")
	version, _ := db.Version()
	awaitIndex(t, db)
	if after, _ := db.Version(); after != version {
		t.Errorf("indexing has changed the version from %d to %d", version, after)
	}
	for text, want := range map[string]string{"bel": "Bello; Moss; Bella", "rex": "", "max": "", "beagle": "", "whip olive": "Olive"} {
		if got := names(t, db, text); got != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
	noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { t.Errorf("the index still has old words of animal %d", row.ColumnInt64(0)) }, selectMatches, `"rex" OR "max" OR "beagle"`, 100)
	}))
	checkIntegrity(t, db)
}

func TestOnlyAServerIndexes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	db := open(t, Config{Path: path, Create: true})
	addPets(t, db, "Rex")
	time.Sleep(2 * indexDelay)
	if db.indexes() || isIndexed(t, db) {
		t.Error("a database that is not served was indexed")
	}
	if got := search(t, db, petstore.PetQuery{Search: "rex"}); got != "Rex" {
		t.Errorf("a search finds %q", got)
	}
}

func TestAnIndexOfOtherRulesIsMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	db := open(t, Config{Path: path, Create: true})
	addPets(t, db, "Rex", "Max", "Rex Max")
	indexAll(t, db)
	addPets(t, db, "Rex")
	name := "Zoe"
	_, _, err := db.UpdatePet(t.Context(), 2, petstore.PetPatch{Name: &name}, nil)
	noError(t, err)
	executeScript(t, path, `
		UPDATE word_index SET rules = 999;
		INSERT INTO pet_words (pet_words) VALUES ('delete-all');
		INSERT INTO pet_words (rowid, words) VALUES (1, 'r e x'), (3, 'words of other rules')`)
	db.scanPages = 0
	if got := search(t, db, petstore.PetQuery{Search: "rex"}); got != "Rex; Rex Max; Rex" {
		t.Errorf("with an index of other rules, a search finds %q", got)
	}
	noError(t, db.Close())

	db = open(t, Config{Path: path, Serve: true})
	db.scanPages = 0
	awaitIndex(t, db)
	for text, want := range map[string]string{"rex": "Rex; Rex Max; Rex", "zoe": "Zoe", "max": "Rex Max"} {
		if got := search(t, db, petstore.PetQuery{Search: text}); got != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
	checkIntegrity(t, db)
}

// newVersionTwo creates a database that has the schema of version 2, fills it with a script, and returns its path.
func newVersionTwo(t *testing.T, script string) (path string) {
	t.Helper()
	older := fstest.MapFS{}
	for _, name := range []string{"migrations/0001_first.sql", "migrations/0002_life.sql"} {
		sql, err := embedded.ReadFile(name)
		noError(t, err)
		older[name] = &fstest.MapFile{Data: sql}
	}
	migrations = older
	defer func() { migrations = embedded }()
	path = filepath.Join(t.TempDir(), "petstore.db")
	db := new(DB)
	conn, err := db.connect(path, true)
	noError(t, err)
	noError(t, migrate(t.Context(), conn, Config{Create: true, Path: path, Environment: petstore.Production}))
	noError(t, db.release())
	executeScript(t, path, script)
	return path
}

func TestTheAnimalsOfVersionTwoAreFoundAtOnceAndIndexedLater(t *testing.T) {
	const pets = 3_000
	path := newVersionTwo(t, numberedPets(pets))
	db := open(t, Config{Path: path, Migrate: true, Serve: true})
	db.scanPages = 0
	look := func() {
		for text, want := range map[string]string{"2999": "pet odd 2999", "even 300": "pet even 3000; pet even 300", "zoe": ""} {
			if got := search(t, db, petstore.PetQuery{Search: text}); got != want {
				t.Errorf("%q finds %q, want %q", text, got, want)
			}
		}
		search(t, db, petstore.PetQuery{Category: 7, OfCategory: true})
	}
	look()
	awaitIndex(t, db)
	look()

	backup, restored := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "petstore.db")
	noError(t, Backup(t.Context(), production(path), backup, noProgress))
	_, err := Restore(t.Context(), production(restored), backup, false, noProgress)
	noError(t, err)
	db = open(t, Config{Path: restored, Serve: true})
	db.scanPages = 0
	if !isIndexed(t, db) {
		t.Error("a backup has no index")
	}
	look()
	checkIntegrity(t, db)
}

func TestASearchWhileTheIndexIsFarBehind(t *testing.T) {
	const pets = maxScan + 2_000
	path := newVersionTwo(t, numberedPets(pets))
	db := open(t, Config{Path: path, Migrate: true, Serve: true})
	busy, err := db.writer.take(t.Context()) // so that the indexer waits
	noError(t, err)
	common := petstore.PetQuery{Search: "even", Limit: 20}
	if found, err := db.ListPets(t.Context(), common); err != nil || len(found) != 20 {
		t.Errorf("a common word finds %d animals: %v", len(found), err)
	}
	rare := petstore.PetQuery{Search: "17", Category: 17, OfCategory: true, Limit: 1000}
	if _, err := db.ListPets(t.Context(), rare); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("the search for a rare word returned %v", err)
	}
	old := petstore.PetQuery{Search: "oddity", Before: 1000, Limit: 20} // all of its animals can be compared
	if found, err := db.ListPets(t.Context(), old); err != nil || len(found) != 0 {
		t.Errorf("a late page finds %d animals: %v", len(found), err)
	}
	db.writer.give(busy)
	for err = petstore.NotDone(nil); petstore.IsCode(err, petstore.Unavailable); {
		_, err = db.ListPets(t.Context(), rare)
	}
	noError(t, err)
	if got := search(t, db, rare); !strings.HasSuffix(got, "pet odd 177; pet odd 17") {
		t.Errorf("later the search finds %.200s", got)
	}
}

func TestALongIndexingIsReported(t *testing.T) {
	var reports []int64
	progress := indexProgress{report: func(left int64) { reports = append(reports, left) }}
	for _, left := range []int64{0, longIndexing, 0, longIndexing + 2, longIndexing + 1, longIndexing} {
		progress.tell(left)
	}
	progress.reported = progress.reported.Add(-2 * reportIndexing)
	for _, left := range []int64{20, 10, 0, 0, 30, 0} {
		progress.tell(left)
	}
	if want := []int64{longIndexing + 2, 20, 0}; !slices.Equal(reports, want) {
		t.Errorf("the reports are %d, want %d", reports, want)
	}
}

// keepIndexingAndChanging creates, renames, deletes and indexes animals until it is killed. It prints what was acknowledged.
func keepIndexingAndChanging(path string) error {
	ctx := context.Background()
	db, err := Open(ctx, Config{Path: path, Environment: petstore.Production, Create: true, Serve: true})
	if err != nil {
		return err
	}
	failures := make(chan error)
	for i := range 4 {
		go func() {
			for j := 0; ; j++ {
				pet, _, err := db.CreatePet(ctx, petstore.NewPet{Name: fmt.Sprintf("new a%d b%d", i, j), Status: petstore.Sold}, nil)
				if err == nil && j%2 == 0 {
					name := fmt.Sprintf("renamed a%d b%d", i, j)
					_, _, err = db.UpdatePet(ctx, pet.ID, petstore.PetPatch{Name: &name}, nil)
				}
				if err == nil && j%5 == 0 {
					_, err = db.DeletePet(ctx, pet.ID, nil)
				}
				if err != nil {
					failures <- err
				}
				fmt.Println(pet.ID)
			}
		}()
	}
	go func() {
		for {
			if _, _, err := db.indexSome(ctx, 1+rand.IntN(20)); err != nil {
				failures <- err
			}
		}
	}()
	return <-failures
}

// killAfter starts a process and kills it after it has printed that many lines.
func killAfter(t *testing.T, cmd *exec.Cmd, lines int) {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	seen := 0
	for scanner := bufio.NewScanner(out); scanner.Scan(); seen++ {
		if seen == lines {
			noError(t, cmd.Process.Kill())
		}
	}
	cmd.Wait()
	if seen < lines {
		t.Fatalf("the process ended by itself after %d lines", seen)
	}
}

func TestASearchFindsEverythingAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	for range 8 {
		killAfter(t, otherProcess(t, "index", path), 1+rand.IntN(300))
		for _, serve := range []bool{false, true} {
			db := open(t, Config{Path: path, Serve: serve})
			db.scanPages = 0
			if serve {
				awaitIndex(t, db)
			}
			for _, text := range []string{"new", "renamed", "n", "a1", "a2 b10", "renamed b12"} {
				search(t, db, petstore.PetQuery{Search: text})
				search(t, db, petstore.PetQuery{Search: text, OfCategory: true, Limit: 5})
			}
			checkIntegrity(t, db)
			noError(t, db.Close())
		}
	}
}
