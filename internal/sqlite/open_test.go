package sqlite

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"petstore/internal/petstore"
)

func TestOpenRefuses(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(t *testing.T, path string)
		cfg     Config
		want    string
	}{
		{
			name:    "a missing file that it may not create",
			prepare: func(*testing.T, string) {},
			want:    "there is no database PATH; choose another --database, or let petstore serve create it",
		}, {
			name:    "a file in a missing folder",
			prepare: func(t *testing.T, path string) { noError(t, os.Remove(filepath.Dir(path))) },
			cfg:     Config{Create: true},
			want:    "the folder DIR does not exist; create it, or choose another --database",
		}, {
			name:    "a folder",
			prepare: func(t *testing.T, path string) { noError(t, os.Mkdir(path, 0o755)) },
			cfg:     Config{Create: true},
			want:    "PATH is a folder; name a file in it, such as PATH/petstore.db",
		}, {
			name:    "an empty file that it may not fill",
			prepare: func(t *testing.T, path string) { noError(t, os.WriteFile(path, nil, 0o644)) },
			want:    "the database PATH is empty; petstore serve fills it, or choose another --database",
		}, {
			name: "a file that is not a database",
			prepare: func(t *testing.T, path string) {
				noError(t, os.WriteFile(path, []byte(strings.Repeat("Dear diary, ", 1000)), 0o644))
			},
			cfg:  Config{Create: true, Serve: true},
			want: "PATH is not a SQLite database; choose another --database, or move this file away",
		}, {
			name:    "the database of another program",
			prepare: func(t *testing.T, path string) { executeScript(t, path, "CREATE TABLE bookmarks (url TEXT)") },
			cfg:     Config{Create: true, Serve: true},
			want:    "PATH is the database of another program; choose another --database",
		}, {
			name:    "an empty database of another program",
			prepare: func(t *testing.T, path string) { executeScript(t, path, "PRAGMA application_id = 7") },
			cfg:     Config{Create: true},
			want:    "PATH is the database of another program; choose another --database",
		}, {
			name: "the database of a newer petstore",
			prepare: func(t *testing.T, path string) {
				noError(t, openOrCreate(path))
				executeScript(t, path, "PRAGMA user_version = 999")
			},
			cfg:  Config{Create: true},
			want: "PATH was written by a newer petstore (schema 999, this one knows KNOWN); upgrade petstore",
		}, {
			name:    "the database of the other environment",
			prepare: func(t *testing.T, path string) { noError(t, openOrCreate(path)) },
			cfg:     Config{Environment: petstore.Staging},
			want:    "the database PATH belongs to the production environment and this is staging; choose another --database or --environment",
		}, {
			name: "a damaged database",
			prepare: func(t *testing.T, path string) {
				noError(t, openOrCreate(path))
				file, err := os.OpenFile(path, os.O_WRONLY, 0)
				noError(t, err)
				defer file.Close()
				_, err = file.WriteAt([]byte(strings.Repeat("!", 2000)), 100)
				noError(t, err)
			},
			want: "the database PATH is damaged; restore it from a backup with petstore restore",
		}, {
			name:    "a missing file whose write-ahead log is there",
			prepare: func(t *testing.T, path string) { noError(t, os.WriteFile(path+"-wal", []byte("animals"), 0o600)) },
			cfg:     Config{Create: true},
			want:    "PATH-wal belongs to an older database PATH, and SQLite would take it for part of the new one; move it away, or choose another name",
		}, {
			name: "a link to a missing file whose write-ahead log is there",
			prepare: func(t *testing.T, path string) {
				noError(t, os.Symlink("other.db", path))
				noError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "other.db-wal"), []byte("animals"), 0o600))
			},
			cfg:  Config{Create: true, Serve: true},
			want: "DIR/other.db-wal belongs to an older database DIR/other.db, and SQLite would take it for part of the new one; move it away, or choose another name",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", "petstore.db")
			noError(t, os.Mkdir(filepath.Dir(path), 0o755))
			c.prepare(t, path)
			before := describeFolder(t, filepath.Dir(path))

			c.cfg.Path = path
			if c.cfg.Environment == "" {
				c.cfg.Environment = petstore.Production
			}
			db, err := Open(t.Context(), c.cfg)
			if err == nil {
				db.Close()
				t.Fatal("it was opened")
			}
			want := strings.NewReplacer("PATH", path, "DIR", filepath.Dir(path), "KNOWN", strconv.Itoa(knownSchema(t))).Replace(c.want)
			if err.Error() != want {
				t.Errorf("got  %q\nwant %q", err, want)
			}
			if after := describeFolder(t, filepath.Dir(path)); after != before {
				t.Errorf("it changed the folder:\nbefore\n%safter\n%s", before, after)
			}
		})
	}
}

func TestASecondServerIsRefused(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "petstore.db"), filepath.Join(t.TempDir(), "link.db")
	noError(t, os.Symlink(path, link))
	serve := Config{Path: link, Environment: petstore.Production, Create: true, Serve: true}
	server, err := Open(t.Context(), serve)
	noError(t, err)

	for _, name := range []string{path, link} {
		serve.Path = name
		want := "another petstore server is already using " + name + "; stop it or choose another --database"
		if _, err := Open(t.Context(), serve); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %v", err, want)
		}
	}
	noError(t, openOnce(path)) // opens the database without Serve
	noError(t, server.Ping(t.Context()))
	noError(t, server.Close())

	server, err = Open(t.Context(), serve)
	noError(t, err)
	noError(t, server.Close())
}

func TestOnlyOneServerHoldsTheLockAlthoughEachRemovesItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				held, err := takeServerLock(path, path)
				if err != nil {
					if !strings.Contains(err.Error(), "another petstore server") {
						t.Error(err)
					}
					continue
				}
				taken.Add(1)
				if second, err := takeServerLock(path, path); err == nil {
					t.Error("two servers hold the lock")
					second.release()
				}
				if err := held.release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(path + ".lock"); taken.Load() == 0 || err == nil {
		t.Errorf("the lock was taken %d times, and the file is left: %v", taken.Load(), err == nil)
	}
}

func TestAServerThatLostItsLockLeavesTheLockOfAnother(t *testing.T) {
	first := openNew(t)
	noError(t, os.Remove(first.path+".lock"))
	serve := Config{Path: first.path, Environment: petstore.Production, Serve: true}
	open(t, serve)
	noError(t, first.Close())
	if third, err := Open(t.Context(), serve); err == nil {
		third.Close()
		t.Error("a third server started beside the second")
	}
}

func TestProcessesThatStartAtOnceCreateOneDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	var all sync.WaitGroup
	for range 8 {
		cmd := otherProcess(t, "open new", path)
		all.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	noError(t, openOnce(path))
}

func TestReopenedDatabaseHasEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	db := open(t, Config{Path: path, Create: true})
	pet, _, err := db.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", Status: petstore.Sold}, nil)
	noError(t, err)
	noError(t, db.Close())
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("the WAL was left behind")
	}
	db = open(t, Config{Path: path})
	if got, err := db.GetPet(t.Context(), pet.ID); err != nil || got != pet {
		t.Errorf("got %v, %v, want %v", got, err, pet)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// executeScript changes a database in ways that this package never does.
func executeScript(t testing.TB, path, statements string) {
	t.Helper()
	conn, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite|sqlite3.OpenCreate)
	noError(t, err)
	noError(t, sqlitex.ExecuteScript(conn, statements, nil))
	noError(t, conn.Close())
}

// describeFolder returns the name and the hash of every file in a folder.
func describeFolder(t *testing.T, folder string) string {
	t.Helper()
	var list strings.Builder
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		bytes, _ := os.ReadFile(filepath.Join(folder, e.Name()))
		fmt.Fprintf(&list, "%s %x\n", e.Name(), sha256.Sum256(bytes))
	}
	return list.String()
}
