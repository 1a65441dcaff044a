//go:build unix

package sqlite

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Root may write to every file, so the test opens the database as another user.
func TestOpenRefusesWhatItMayNotWrite(t *testing.T) {
	cases := []struct {
		name, role   string
		file, folder fs.FileMode
		want         string
	}{
		{"a file that may only be read", "open", 0o444, 0o777,
			"petstore may not write to the database PATH; let the user that runs petstore read and write it; from a read-only file system, copy it elsewhere first"},
		{"a file that may not be read", "open", 0o000, 0o777,
			"petstore may not write to the database PATH; let the user that runs petstore read and write it; from a read-only file system, copy it elsewhere first"},
		{"a folder that may only be read", "open", 0o666, 0o555,
			"petstore may not create files beside the database PATH; let the user that runs petstore write in its folder"},
		{"a folder that may not be entered", "open", 0o666, 0o000,
			"petstore may not look for the database PATH; let the user that runs petstore read its folder"},
		{"a new file in a folder that may only be read", "open new", 0, 0o555,
			"petstore cannot open the database PATH; let the user that runs petstore read and write it and its folder"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "data")
			path := filepath.Join(folder, "petstore.db")
			noError(t, os.Mkdir(folder, 0o755))
			if c.role == "open" {
				noError(t, openOrCreate(path))
				noError(t, os.Chmod(path, c.file))
			}
			before := describeFolder(t, folder)
			noError(t, os.Chmod(folder, c.folder))
			t.Cleanup(func() { os.Chmod(folder, 0o755) })

			letEveryoneIn(t, filepath.Dir(folder))
			out, err := unprivilegedProcess(t, c.role, path).CombinedOutput()
			if err == nil {
				t.Fatal("it was opened")
			}
			if got, want := strings.TrimSpace(string(out)), strings.ReplaceAll(c.want, "PATH", path); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			noError(t, os.Chmod(folder, 0o755))
			if after := describeFolder(t, folder); after != before {
				t.Errorf("it changed the folder:\nbefore\n%safter\n%s", before, after)
			}
		})
	}
}

// unprivilegedProcess is like otherProcess, but never runs as root.
func unprivilegedProcess(t *testing.T, role, path string) *exec.Cmd {
	cmd := otherProcess(t, role, path)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

// Root restores the database and then makes the server's user the owner of the file, as the manual says.
func TestAServerServesADatabaseThatAnotherUserRestored(t *testing.T) {
	_, backup := newWithBackup(t, 5)
	path := filepath.Join(t.TempDir(), "petstore.db")
	_, err := Restore(t.Context(), production(path), backup, false, noProgress)
	noError(t, err)
	letEveryoneIn(t, filepath.Dir(path))
	noError(t, os.Chmod(filepath.Dir(path), 0o777))
	noError(t, os.Chmod(path, 0o666))
	if out, err := unprivilegedProcess(t, "serve", path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestARefusalNamesTheLockFileOfAnotherUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	noError(t, openOrCreate(path))
	noError(t, os.WriteFile(path+".lock", nil, 0))
	letEveryoneIn(t, filepath.Dir(path))
	noError(t, os.Chmod(filepath.Dir(path), 0o777))
	noError(t, os.Chmod(path, 0o666))
	want := "petstore may not open " + path + ".lock, the lock file of the database; give it to the user that runs petstore, or remove it while no petstore runs\n"
	for _, role := range []string{"serve", "check"} {
		if out, err := unprivilegedProcess(t, role, path).CombinedOutput(); err == nil || string(out) != want {
			t.Errorf("%s: got  %s\nwant %s", role, out, want)
		}
	}
	noError(t, os.Remove(path+".lock"))
	noError(t, os.WriteFile(path+"-shm", nil, 0))
	if out, err := unprivilegedProcess(t, "check", path).CombinedOutput(); err == nil || !strings.Contains(string(out), "may not write to the database "+path+"-shm") {
		t.Errorf("beside another user's -shm, the check says %s", out)
	}
}

// letEveryoneIn gives every user access to a temporary folder of this test.
func letEveryoneIn(t *testing.T, folder string) {
	t.Helper()
	for ; folder != filepath.Clean(os.TempDir()); folder = filepath.Dir(folder) {
		noError(t, os.Chmod(folder, 0o755))
	}
}

// waysToUse has a function for every way to use a database.
var waysToUse = map[string]func(t *testing.T, path, backup string) error{
	"serve":  func(_ *testing.T, path, _ string) error { return serveOnce(path) },
	"open":   func(_ *testing.T, path, _ string) error { return openOnce(path) },
	"create": func(_ *testing.T, path, _ string) error { return openOrCreate(path) },
	"check": func(t *testing.T, path, _ string) error {
		_, _, err := Check(t.Context(), production(path))
		return err
	},
	"backup": func(t *testing.T, path, _ string) error {
		return Backup(t.Context(), production(path), filepath.Join(t.TempDir(), "backup.db"), noProgress)
	},
	"note a backup": func(t *testing.T, path, _ string) error { return NoteBackup(t.Context(), production(path), time.Now()) },
	"restore": func(t *testing.T, path, backup string) error {
		_, err := Restore(t.Context(), production(path), backup, true, noProgress)
		return err
	},
}

func TestADatabaseWithHardLinksIsRefused(t *testing.T) {
	path, backup := newWithBackup(t, 5)
	link := filepath.Join(t.TempDir(), "link.db")
	noError(t, os.Symlink(path, link))
	for name, use := range waysToUse {
		noError(t, os.Link(path, path+".copy"))
		for _, by := range []string{path, path + ".copy", link} {
			want := "the database " + by + " has 2 names (hard links), and only one is safe; remove the others, or choose another --database"
			if err := use(t, by, backup); err == nil || err.Error() != want {
				t.Errorf("%s: got  %v\nwant %v", name, err, want)
			}
		}
		noError(t, os.Remove(path+".copy"))
		noError(t, use(t, path, backup))
	}
}

// The restore was killed after it linked the old database to its new name, and before it moved the backup into place.
func TestAKilledRestoreBlocksNobody(t *testing.T) {
	path, backup := newWithBackup(t, 5)
	link := path + asideMark + "20261115T093000.000000000Z"
	for name, use := range waysToUse {
		noError(t, os.Link(path, link))
		if err := use(t, path, backup); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := countPets(t, path); n != 5 {
			t.Errorf("%s: %d animals of 5", name, n)
		}
		noError(t, serveOnce(path))
		if _, err := os.Stat(link); err == nil {
			t.Errorf("%s: a server has left the second name of the database", name)
		}
	}
}

func TestOnlyItsOwnerMayReadANewDatabaseBehindLinks(t *testing.T) {
	folder := t.TempDir()
	database := filepath.Join(folder, "pets.db")
	noError(t, os.Symlink("pets.db", filepath.Join(folder, "a")))
	noError(t, os.Symlink(filepath.Join(folder, "a"), filepath.Join(folder, "b")))
	noError(t, os.MkdirAll(filepath.Join(folder, "deep", "inside"), 0o700))
	noError(t, os.Symlink("../../pets.db", filepath.Join(folder, "deep", "inside", "up")))
	noError(t, os.Symlink("deep/inside", filepath.Join(folder, "inside")))
	for _, name := range []string{"pets.db", "a", "b", "inside/up"} {
		open(t, Config{Path: filepath.Join(folder, name), Create: true}).Close()
		info, err := os.Stat(database)
		noError(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("created as %s, it has the mode %v", name, info.Mode())
		}
		noError(t, os.Remove(database))
	}
}
