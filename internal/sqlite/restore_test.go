package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

func TestARestoreBringsBackWhatWasBackedUp(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	db := open(t, production(database))
	fillPets(t, db, 3)
	db.Close()

	if _, err := Restore(t.Context(), production(database), backup, false, noProgress); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("a restore to an existing database, without --replace: %v", err)
	}
	if n := countPets(t, database); n != 8 {
		t.Errorf("a refused restore left %d animals of 8", n)
	}
	aside, err := Restore(t.Context(), production(database), backup, true, noProgress)
	noError(t, err)
	if restored, old := countPets(t, database), countPets(t, aside); restored != 5 || old != 8 {
		t.Errorf("restored %d animals of 5; the old database has %d of 8", restored, old)
	}
	elsewhere := filepath.Join(t.TempDir(), "new.db")
	if aside, err := Restore(t.Context(), production(elsewhere), backup, false, noProgress); err != nil || aside != "" {
		t.Errorf("a restore to a new place: %q, %v", aside, err)
	}
	if n := countPets(t, elsewhere); n != 5 {
		t.Errorf("the new place has %d animals", n)
	}
}

// Litestream restores to a file that everybody may read, with two tables of its own.
func TestARestoreOfACopyByLitestreamLeavesNothingOfLitestream(t *testing.T) {
	_, backup := newWithBackup(t, 5)
	conn, err := sqlite3.OpenConn(backup, sqlite3.OpenReadWrite)
	noError(t, err)
	noError(t, run(conn, "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)"))
	noError(t, run(conn, "CREATE TABLE _litestream_lock (id INTEGER)"))
	noError(t, conn.Close())
	noError(t, os.Chmod(backup, 0o644))

	restored := filepath.Join(t.TempDir(), "petstore.db")
	_, err = Restore(t.Context(), production(restored), backup, false, noProgress)
	noError(t, err)
	info, err := os.Stat(restored)
	noError(t, err)
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the database has the mode %o", mode)
	}
	db := open(t, production(restored))
	noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { t.Errorf("the database has %s", row.ColumnText(0)) },
			"SELECT name FROM sqlite_schema WHERE name LIKE '%litestream%'")
	}))
	if n := countPets(t, restored); n != 5 {
		t.Errorf("the database has %d animals of 5", n)
	}
}

func TestAFileThatIsNoBackupIsNotRestored(t *testing.T) {
	database, backup := newWithBackup(t, 2000)
	whole, err := os.ReadFile(backup)
	noError(t, err)
	file := func(name string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		noError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	scrambled := append([]byte{}, whole...)
	for i := len(scrambled) / 2; i < len(scrambled)/2+8192; i++ {
		scrambled[i] ^= 0xa5
	}
	staging := filepath.Join(t.TempDir(), "staging.db")
	other, err := Open(t.Context(), Config{Path: staging, Environment: petstore.Staging, Create: true})
	noError(t, err)
	other.Close()

	for name, c := range map[string]struct{ backup, says string }{
		"a missing file":             {filepath.Join(t.TempDir(), "none.db"), "there is no backup"},
		"notes":                      {file("notes.db", []byte(strings.Repeat("Dear diary. ", 1000))), "not a SQLite database and was not restored; use another file"},
		"the head of a backup":       {file("head.db", whole[:100]), "is damaged and was not restored"},
		"the first page of a backup": {file("page.db", whole[:4096]), "is damaged and was not restored"},
		"an empty file":              {file("empty.db", nil), "is an empty database, not a backup"},
		"half a backup":              {file("half.db", whole[:len(whole)/2]), "damaged"},
		"a scrambled backup":         {file("scrambled.db", scrambled), "damaged"},
		"one of another environment": {staging, "staging"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Restore(t.Context(), production(database), c.backup, true, noProgress); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error that contains %q", err, c.says)
			} else if strings.Contains(err.Error(), "petstore restore") {
				t.Errorf("got %v, which advises to restore the backup itself", err)
			}
			if n := countPets(t, database); n != 2000 {
				t.Errorf("the database has %d animals", n)
			}
		})
	}
}

func TestARestoreIsRefusedWhileAServerHoldsTheDatabase(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	open(t, Config{Path: database, Serve: true})
	if _, err := Restore(t.Context(), production(database), backup, true, noProgress); err == nil || !strings.Contains(err.Error(), "another petstore server") {
		t.Errorf("got %v", err)
	}
}

func TestADamagedDatabaseCanBeReplaced(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	noError(t, os.WriteFile(database, []byte(strings.Repeat("damaged ", 1000)), 0o600))
	noError(t, os.WriteFile(database+"-wal", []byte("its WAL"), 0o600))
	aside, err := Restore(t.Context(), production(database), backup, true, noProgress)
	noError(t, err)
	if wal, err := os.ReadFile(aside + "-wal"); string(wal) != "its WAL" {
		t.Errorf("the WAL put aside is %q, %v", wal, err)
	}
	if n := countPets(t, database); n != 5 {
		t.Errorf("restored %d animals of 5", n)
	}
}

func TestARestoreLocksOutOtherConnections(t *testing.T) {
	database, _ := newWithBackup(t, 5)
	locked, err := lockForRestore(t.Context(), database)
	noError(t, err)
	conn, err := sqlite3.OpenConn(database, sqlite3.OpenReadWrite)
	noError(t, err)
	conn.SetBusyTimeout(0)
	if _, err := checkSchema(conn, database); sqlite3.ErrCode(err).ToPrimary() != sqlite3.ResultBusy {
		t.Errorf("meanwhile another connection reads it: %v", err)
	}
	noError(t, conn.Close())
	noError(t, locked.Close())
}

func TestARestoreLocksOutOtherProcessesWithoutHardLinks(t *testing.T) {
	database, _ := newWithBackup(t, 5)
	locked, err := lockForRestore(t.Context(), database)
	noError(t, err)
	copied, err := copyKeepingOpen(database, database+".aside")
	noError(t, err)
	if out, err := otherProcess(t, "write once", database).CombinedOutput(); err == nil || !strings.Contains(string(out), "locked") {
		t.Errorf("meanwhile another process writes: %v %s", err, out)
	}
	noError(t, locked.Close())
	noError(t, copied.Close())
	if n := countPets(t, database+".aside"); n != 5 {
		t.Errorf("the copy has %d animals of 5", n)
	}
}

// writeOnce writes to a database. It does not wait for a lock.
func writeOnce(path string) error {
	conn, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetBusyTimeout(0)
	return run(conn, "UPDATE pets SET name = 'Max'")
}

func TestAStoppedRestoreOrBackupLeavesNoCopy(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	locked, err := lockForRestore(t.Context(), database)
	noError(t, err)
	defer locked.Close()
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond) // the restore waits that long for the database
	defer stop()
	if _, err := Restore(ctx, production(database), backup, true, noProgress); err == nil {
		t.Error("a locked database was replaced")
	}
	stop()
	if err := Backup(ctx, production(backup), filepath.Join(filepath.Dir(database), "another.db"), noProgress); err == nil {
		t.Error("a backup was made after its context ended")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(database), partPrefix+"*")); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
}

// A killed server leaves the WAL of its database. If somebody then deletes the database, SQLite would apply the WAL to the
// next file.
func TestARestoreIsNotMixedWithTheWALOfADeletedDatabase(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	db := open(t, production(database))
	fillPets(t, db, 30)
	wal, err := os.ReadFile(database + "-wal")
	noError(t, err)
	noError(t, db.Close())
	noError(t, os.Remove(database))
	noError(t, os.WriteFile(database+"-wal", wal, 0o600))

	_, err = Restore(t.Context(), production(database), backup, false, noProgress)
	noError(t, err)
	restored := open(t, production(database))
	checkIntegrity(t, restored)
	if n := countPetsIn(t, restored); n != 5 {
		t.Errorf("restored %d animals of 5", n)
	}
}

func TestRestoresInQuickSuccessionKeepEveryOldDatabase(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	asides := make(map[string]bool)
	for n := range int64(3) {
		db := open(t, production(database))
		fillPets(t, db, 10+int(n))
		noError(t, db.Close())
		aside, err := Restore(t.Context(), production(database), backup, true, noProgress)
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
	database, backup := newWithBackup(t, 5)
	restored := make(chan error)
	go func() {
		defer close(restored)
		for range 30 {
			_, err := Restore(context.Background(), production(database), backup, true, noProgress)
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

// keepRestoring restores the database again and again until the process is killed.
func keepRestoring(path string) error {
	fmt.Println("begins")
	for {
		if _, err := Restore(context.Background(), production(path), path+".backup", true, noProgress); err != nil {
			return err
		}
	}
}

func TestAKilledRestoreLeavesTheOldDatabaseOrTheNew(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	noError(t, os.Rename(backup, database+".backup"))
	for range 15 {
		db := open(t, production(database))
		old := countPetsIn(t, db)
		noError(t, db.Close())
		cmd := otherProcess(t, "restore", database)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		noError(t, err)
		noError(t, cmd.Start())
		_, err = out.Read(make([]byte, 100))
		noError(t, err)
		time.Sleep(rand.N(20 * time.Millisecond)) // the kill may come at any step
		noError(t, cmd.Process.Kill())
		cmd.Wait()

		db = open(t, Config{Path: database, Serve: true})
		checkIntegrity(t, db)
		if n := countPetsIn(t, db); n != 5 && n != old {
			t.Errorf("%d animals", n)
		}
		fillPets(t, db, 3)
		noError(t, db.Close())
	}
}

func TestARestoreKeepsTheBackupWhateverItsName(t *testing.T) {
	for _, name := range []string{".restored", ".restored.partial", ".partial"} {
		database, made := newWithBackup(t, 5)
		backup := database + name
		noError(t, os.Rename(made, backup))
		_, err := Restore(t.Context(), production(database), backup, true, noProgress)
		noError(t, err)
		if n := countPets(t, backup); n != 5 {
			t.Errorf("%s has %d animals afterwards", name, n)
		}
	}
}

func TestARestoreFollowsSymbolicLinks(t *testing.T) {
	_, backup := newWithBackup(t, 5)
	volume := filepath.Join(t.TempDir(), "volume")
	database, link := filepath.Join(volume, "pets.db"), filepath.Join(t.TempDir(), "pets.db")
	noError(t, os.Symlink(database, link))
	if _, err := Restore(t.Context(), production(link), backup, false, noProgress); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without the folder: %v", err)
	}
	noError(t, os.Mkdir(volume, 0o700))
	noError(t, os.WriteFile(database+"-wal", []byte("of an older database"), 0o600))
	_, err := Restore(t.Context(), production(link), backup, false, noProgress)
	noError(t, err)
	if target, err := os.Readlink(link); target != database {
		t.Errorf("now the link leads to %q (%v)", target, err)
	}
	if n := countPets(t, database); n != 5 {
		t.Errorf("there are %d animals of 5", n)
	}
	if aside, _ := filepath.Glob(database + asideMark + "*-wal"); len(aside) != 1 {
		t.Errorf("the WAL of the older database was put aside as %v", aside)
	}
}
