package sqlite

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

func quiet(int64, int64) {}

func production(path string) Config {
	return Config{Path: path, Environment: petstore.Production}
}

// backedUp makes a database with that many animals and a backup of it.
func backedUp(t *testing.T, pets int) (database, backup string) {
	t.Helper()
	database, backup = filepath.Join(t.TempDir(), "pets.db"), filepath.Join(t.TempDir(), "backup.db")
	db := open(t, Config{Path: database, Create: true})
	fillPets(t, db, pets)
	if err := Backup(t.Context(), production(database), backup, quiet); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return database, backup
}

func fillPets(t *testing.T, db *DB, pets int) {
	t.Helper()
	batch := make([]change, pets)
	for i := range batch {
		batch[i].pet = petstore.NewPet{Name: fmt.Sprintf("Pet %d", i), Status: petstore.Sold}
	}
	_, err := db.commit(batch)
	noError(t, err)
}

func countPets(t *testing.T, path string) int64 {
	t.Helper()
	db := open(t, production(path))
	defer db.Close()
	return petsIn(t, db)
}

// petsIn counts animals by looking at each of them.
func petsIn(t *testing.T, db *DB) int64 {
	t.Helper()
	pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: math.MaxInt32})
	noError(t, err)
	return int64(len(pets))
}

func TestABackupHoldsWhatWasAcknowledgedBeforeIt(t *testing.T) {
	database, backup := filepath.Join(t.TempDir(), "pets.db"), filepath.Join(t.TempDir(), "backup.db")
	server := open(t, Config{Path: database, Create: true, Serve: true})
	fillPets(t, server, 100)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				server.CreatePet(ctx, petstore.NewPet{Name: "meanwhile", Status: petstore.Sold}, nil)
			}
		})
	}
	if err := Backup(t.Context(), production(database), backup, quiet); err != nil {
		t.Error(err)
	}
	stop()
	writers.Wait()
	if n := countPets(t, backup); n < 100 {
		t.Errorf("the backup has %d animals", n)
	}
	if err := Backup(t.Context(), production(database), backup, quiet); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a backup over a file: %v", err)
	}
}

func TestARestoreBringsBackWhatWasBackedUp(t *testing.T) {
	database, backup := backedUp(t, 5)
	db := open(t, production(database))
	fillPets(t, db, 3)
	db.Close()

	if _, err := Restore(t.Context(), production(database), backup, false, quiet); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("a restore over a database, without being told: %v", err)
	}
	if n := countPets(t, database); n != 8 {
		t.Errorf("a refused restore left %d animals of 8", n)
	}
	aside, err := Restore(t.Context(), production(database), backup, true, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if restored, old := countPets(t, database), countPets(t, aside); restored != 5 || old != 8 {
		t.Errorf("restored %d animals of 5; aside are %d of 8", restored, old)
	}
	elsewhere := filepath.Join(t.TempDir(), "new.db")
	if aside, err := Restore(t.Context(), production(elsewhere), backup, false, quiet); err != nil || aside != "" {
		t.Errorf("a restore to a new place: %q, %v", aside, err)
	}
	if n := countPets(t, elsewhere); n != 5 {
		t.Errorf("at the new place are %d animals", n)
	}
}

func TestAFileThatIsNoBackupIsNotRestored(t *testing.T) {
	database, backup := backedUp(t, 2000)
	whole, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	scrambled := append([]byte{}, whole...)
	for i := len(scrambled) / 2; i < len(scrambled)/2+8192; i++ {
		scrambled[i] ^= 0xa5
	}
	staging := filepath.Join(t.TempDir(), "staging.db")
	other, err := Open(t.Context(), Config{Path: staging, Environment: petstore.Staging, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	other.Close()

	for name, c := range map[string]struct{ backup, says string }{
		"a missing file":             {filepath.Join(t.TempDir(), "none.db"), "no backup"},
		"notes":                      {file("notes.db", []byte(strings.Repeat("Dear diary. ", 1000))), "not a SQLite database and was not restored; use another file"},
		"the head of a backup":       {file("head.db", whole[:100]), "is damaged and was not restored"},
		"the first page of a backup": {file("page.db", whole[:4096]), "is damaged and was not restored"},
		"an empty file":              {file("empty.db", nil), "no backup"},
		"half a backup":              {file("half.db", whole[:len(whole)/2]), "damaged"},
		"a scrambled backup":         {file("scrambled.db", scrambled), "damaged"},
		"one of another environment": {staging, "staging"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Restore(t.Context(), production(database), c.backup, true, quiet); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("said %v, want something about %q", err, c.says)
			} else if strings.Contains(err.Error(), "petstore restore") {
				t.Errorf("said %v, which is about a database and not about a backup", err)
			}
			if n := countPets(t, database); n != 2000 {
				t.Errorf("the database has %d animals", n)
			}
		})
	}
}

func TestAFailedBackupBlamesTheFileThatIsAtFault(t *testing.T) {
	database, _ := backedUp(t, 2000)
	dir := t.TempDir()
	backUp := func(target, want string) {
		t.Helper()
		err := Backup(t.Context(), production(database), target, quiet)
		if err == nil || err.Error() != want {
			t.Errorf("said  %v\nwant %s", err, want)
		}
		if _, err := os.Stat(target); err == nil {
			t.Errorf("there is a backup %s all the same", target)
		}
	}
	folder := filepath.Join(dir, "none")
	backUp(filepath.Join(folder, "backup.db"), "the folder "+folder+" does not exist; create it, or choose another file for the backup")
	noError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	unwritable := filepath.Join(dir, "file", "backup.db")
	backUp(unwritable, "petstore cannot write "+unwritable+"; choose another file, or let the user that runs petstore write in its folder")

	content, err := os.ReadFile(database)
	noError(t, err)
	for i := len(content) / 2; i < len(content)/2+8192; i++ {
		content[i] ^= 0xa5
	}
	noError(t, os.WriteFile(database, content, 0o600))
	backUp(filepath.Join(dir, "backup.db"), "the database "+database+" is damaged; restore it from a backup with petstore restore")
}

func TestARestoreIsRefusedWhileAServerHoldsTheDatabase(t *testing.T) {
	database, backup := backedUp(t, 5)
	open(t, Config{Path: database, Serve: true})
	if _, err := Restore(t.Context(), production(database), backup, true, quiet); err == nil || !strings.Contains(err.Error(), "another petstore server") {
		t.Errorf("got %v", err)
	}
}

func TestADamagedDatabaseCanBeReplaced(t *testing.T) {
	database, backup := backedUp(t, 5)
	if err := os.WriteFile(database, []byte(strings.Repeat("damaged ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	noError(t, os.WriteFile(database+"-wal", []byte("its WAL"), 0o600))
	aside, err := Restore(t.Context(), production(database), backup, true, quiet)
	noError(t, err)
	if wal, err := os.ReadFile(aside + "-wal"); string(wal) != "its WAL" {
		t.Errorf("the WAL put aside is %q, %v", wal, err)
	}
	if n := countPets(t, database); n != 5 {
		t.Errorf("restored %d animals of 5", n)
	}
}

func TestARestoreIsAloneOnTheDatabase(t *testing.T) {
	database, _ := backedUp(t, 5)
	alone, err := settle(t.Context(), database)
	noError(t, err)
	conn, err := sqlite3.OpenConn(database, sqlite3.OpenReadWrite)
	noError(t, err)
	conn.SetBusyTimeout(0)
	if _, err := inspect(conn, database); sqlite3.ErrCode(err).ToPrimary() != sqlite3.ResultBusy {
		t.Errorf("another one reads it meanwhile: %v", err)
	}
	noError(t, conn.Close())
	noError(t, alone.Close())
}

func TestARestoreStaysAloneWhereAFileCanHaveOneNameOnly(t *testing.T) {
	database, _ := backedUp(t, 5)
	alone, err := settle(t.Context(), database)
	noError(t, err)
	copied, err := copyAs(database, database+".aside")
	noError(t, err)
	if out, err := otherProcess(t, "write once", database).CombinedOutput(); err == nil || !strings.Contains(string(out), "locked") {
		t.Errorf("another process writes meanwhile: %v %s", err, out)
	}
	noError(t, alone.Close())
	noError(t, copied.Close())
	if n := countPets(t, database+".aside"); n != 5 {
		t.Errorf("the copy has %d animals of 5", n)
	}
}

// writeOnce writes to a database without waiting for others.
func writeOnce(path string) error {
	conn, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetBusyTimeout(0)
	return run(conn, "UPDATE pets SET name = 'Max'")
}

func TestARestoreOrABackupThatIsStoppedLeavesNoCopy(t *testing.T) {
	database, backup := backedUp(t, 5)
	alone, err := settle(t.Context(), database)
	noError(t, err)
	defer alone.Close()
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond) // until then it waits for the database
	defer stop()
	if _, err := Restore(ctx, production(database), backup, true, quiet); err == nil {
		t.Error("a database that another one holds was replaced")
	}
	stop()
	if err := Backup(ctx, production(backup), filepath.Join(filepath.Dir(database), "another.db"), quiet); err == nil {
		t.Error("a backup was made after its context ended")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(database), partMark+"*")); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
}

// A server that was killed leaves the WAL of its database. If the database is then deleted by hand, SQLite would take the
// WAL for that of the next file.
func TestARestoreIsNotMixedWithTheWALOfADeletedDatabase(t *testing.T) {
	database, backup := backedUp(t, 5)
	db := open(t, production(database))
	fillPets(t, db, 30)
	wal, err := os.ReadFile(database + "-wal")
	noError(t, err)
	noError(t, db.Close())
	noError(t, os.Remove(database))
	noError(t, os.WriteFile(database+"-wal", wal, 0o600))

	_, err = Restore(t.Context(), production(database), backup, false, quiet)
	noError(t, err)
	restored := open(t, production(database))
	checkIntegrity(t, restored)
	if n := petsIn(t, restored); n != 5 {
		t.Errorf("restored %d animals of 5", n)
	}
}

// SQLite would apply the WAL to the backup when it is opened.
func TestABackupIsRefusedBesideTheFilesOfAnOlderDatabase(t *testing.T) {
	database, backup := backedUp(t, 5)
	noError(t, os.Remove(backup))
	for _, suffix := range companions {
		left := backup + suffix
		noError(t, os.WriteFile(left, []byte("its content"), 0o600))
		want := left + " belongs to an older database " + backup + ", and SQLite would take it for a part of the new one; move it away, or choose another name"
		if err := Backup(t.Context(), production(database), backup, quiet); err == nil || err.Error() != want {
			t.Errorf("said %v\nwant %s", err, want)
		}
		if content, err := os.ReadFile(left); string(content) != "its content" {
			t.Errorf("%s holds %q, %v", left, content, err)
		}
		noError(t, os.Remove(left))
	}
	noError(t, Backup(t.Context(), production(database), backup, quiet))
}

func TestTwoRestoresInOneMomentKeepBothDatabases(t *testing.T) {
	database, backup := backedUp(t, 5)
	asides := make(map[string]bool)
	for n := range int64(3) {
		db := open(t, production(database))
		fillPets(t, db, 10+int(n))
		noError(t, db.Close())
		aside, err := Restore(t.Context(), production(database), backup, true, quiet)
		noError(t, err)
		if kept := countPets(t, aside); kept != 15+n || asides[aside] {
			t.Errorf("%s has %d animals of %d", aside, kept, 15+n)
		}
		asides[aside] = true
	}
	for aside := range asides {
		if kept := countPets(t, aside); kept < 15 {
			t.Errorf("%s was overwritten: %d animals", aside, kept)
		}
	}
}

func TestThereIsADatabaseAtEveryMomentOfARestore(t *testing.T) {
	database, backup := backedUp(t, 5)
	restored := make(chan error)
	go func() {
		defer close(restored)
		for range 30 {
			_, err := Restore(context.Background(), production(database), backup, true, quiet)
			restored <- err
		}
	}()
	for {
		select {
		case err, more := <-restored:
			noError(t, err)
			if !more {
				return
			}
		default:
			if _, err := os.Stat(database); err != nil {
				t.Error(err)
			}
		}
	}
}

// restoreAgain restores over and over until it is killed.
func restoreAgain(path string) error {
	fmt.Println("begins")
	for {
		if _, err := Restore(context.Background(), production(path), path+".backup", true, quiet); err != nil {
			return err
		}
	}
}

func TestAKilledRestoreLeavesTheOldDatabaseOrTheNew(t *testing.T) {
	database, backup := backedUp(t, 5)
	noError(t, os.Rename(backup, database+".backup"))
	for range 15 {
		db := open(t, production(database))
		old := petsIn(t, db)
		noError(t, db.Close())
		cmd := otherProcess(t, "restore", database)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		noError(t, err)
		noError(t, cmd.Start())
		_, err = out.Read(make([]byte, 100))
		noError(t, err)
		time.Sleep(rand.N(20 * time.Millisecond)) // so that the kill may come at any step
		noError(t, cmd.Process.Kill())
		cmd.Wait()

		db = open(t, Config{Path: database, Serve: true})
		checkIntegrity(t, db)
		if n := petsIn(t, db); n != 5 && n != old {
			t.Errorf("%d animals", n)
		}
		fillPets(t, db, 3)
		noError(t, db.Close())
	}
}

func TestOfSeveralBackupsToOneNameOneIsMade(t *testing.T) {
	database, _ := backedUp(t, 5000)
	for range 3 {
		backup := filepath.Join(t.TempDir(), "same.db")
		results := make(chan error, 4)
		for range cap(results) {
			go func() { results <- Backup(t.Context(), production(database), backup, quiet) }()
		}
		made := 0
		for range cap(results) {
			if err := <-results; err == nil {
				made++
			} else if !strings.Contains(err.Error(), "overwrites nothing") {
				t.Errorf("one of them says: %v", err)
			}
		}
		if n := countPets(t, backup); made != 1 || n != 5000 {
			t.Errorf("%d backups were made, and the file has %d animals", made, n)
		}
	}
}

func TestARestoreKeepsTheBackupWhateverItsName(t *testing.T) {
	for _, name := range []string{".restored", ".restored.partial", ".partial"} {
		database, made := backedUp(t, 5)
		backup := database + name
		noError(t, os.Rename(made, backup))
		_, err := Restore(t.Context(), production(database), backup, true, quiet)
		noError(t, err)
		if n := countPets(t, backup); n != 5 {
			t.Errorf("%s has %d animals afterwards", name, n)
		}
	}
}

func TestARestoreGoesToWhereALinkLeads(t *testing.T) {
	_, backup := backedUp(t, 5)
	volume := filepath.Join(t.TempDir(), "volume")
	database, link := filepath.Join(volume, "pets.db"), filepath.Join(t.TempDir(), "pets.db")
	noError(t, os.Symlink(database, link))
	if _, err := Restore(t.Context(), production(link), backup, false, quiet); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without the folder: %v", err)
	}
	noError(t, os.Mkdir(volume, 0o700))
	noError(t, os.WriteFile(database+"-wal", []byte("of an older database"), 0o600))
	_, err := Restore(t.Context(), production(link), backup, false, quiet)
	noError(t, err)
	if target, err := os.Readlink(link); target != database {
		t.Errorf("the link leads to %q now (%v)", target, err)
	}
	if n := countPets(t, database); n != 5 {
		t.Errorf("there are %d animals of 5", n)
	}
	if aside, _ := filepath.Glob(database + asideMark + "*-wal"); len(aside) != 1 {
		t.Errorf("the WAL of the older database was put aside as %v", aside)
	}
}
