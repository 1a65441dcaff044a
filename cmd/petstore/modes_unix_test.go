//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// The files that the program writes contain animals, keys, or hashes of keys. The umask must not decide who can read them.
func TestFilesOfTheProgramAreReadableOnlyByTheirOwner(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"0", "077"} {
		t.Run("umask "+umask, func(t *testing.T) {
			t.Parallel()
			h := &home{umask: umask, folder: t.TempDir()}
			const database = "sqlite:pets.db"
			h.write(t, "animals.csv", "name,categoryId\nRex,1\n,2\n")

			s := testservice.Launch(t, h.program(t, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "off", "--database", database))
			h.check(t, "serve")
			h.does(t, "keys create", "keys", "create", "--name", "shop", "--database", "sqlite:made.db")
			noError(t, os.Symlink("behind.db", filepath.Join(h.folder, "link.db")))
			h.does(t, "keys create behind a link", "keys", "create", "--name", "shop", "--database", "sqlite:link.db")
			h.does(t, "import to a server", "import", "animals.csv", "--server", s.URL, "PETSTORE_API_KEY="+s.Key)
			h.does(t, "import of standard input", "import", "-", "--server", s.URL, "PETSTORE_API_KEY="+s.Key, "<name,categoryId\nRex\n")
			h.does(t, "import into a database", "import", "animals.csv", "--database", "sqlite:made.db")
			h.does(t, "export", "export", "--output", "out.csv", "--database", database)
			h.does(t, "login", "login", "--server", s.URL, "<"+s.Key)
			h.does(t, "backup", "backup", "backup.db", "--database", database)
			h.does(t, "copy", "copy", "--from", database, "--to", "sqlite:copied.db")
			h.does(t, "restore", "restore", "backup.db", "--database", "sqlite:restored.db")
			h.does(t, "restore with --replace", "restore", "backup.db", "--replace", "--database", "sqlite:restored.db")

			h.checkDemo(t)
			if h.seen < 20 {
				t.Errorf("only %d files were checked", h.seen)
			}
		})
	}
}

// home has the folder in which commands run, and the umask with which they start.
type home struct {
	umask, folder string
	seen          int
}

func (h *home) write(t *testing.T, name, text string) {
	t.Helper()
	noError(t, os.WriteFile(filepath.Join(h.folder, name), []byte(text), 0o600))
}

// program returns a command without starting it. An argument that begins with < becomes the standard input of the command.
// An argument that begins with PETSTORE_ becomes part of its environment.
func (h *home) program(t testing.TB, args ...string) *exec.Cmd {
	command := testservice.Command(t)
	command.Dir = h.folder
	command.Env = append(command.Env, "HOME="+h.folder, "XDG_CONFIG_HOME="+filepath.Join(h.folder, "config"), "XDG_STATE_HOME=", "TMPDIR="+h.folder)
	command.Args = []string{"sh", "-c", "umask " + h.umask + `; exec "$@"`, "sh", testservice.Build(t)}
	command.Path = "/bin/sh"
	for _, arg := range args {
		if input, found := strings.CutPrefix(arg, "<"); found {
			command.Stdin = strings.NewReader(input)
		} else if strings.HasPrefix(arg, variablePrefix) {
			command.Env = append(command.Env, arg)
		} else {
			command.Args = append(command.Args, arg)
		}
	}
	return command
}

// does runs a command and checks the files afterwards.
func (h *home) does(t *testing.T, what string, args ...string) {
	t.Helper()
	command := h.program(t, args...)
	out, _ := command.CombinedOutput()
	if status := command.ProcessState.ExitCode(); status != 0 && !strings.Contains(string(out), "bad and not added; see ") {
		t.Errorf("%s ended with %d:\n%s", what, status, out)
	}
	h.check(t, what)
}

// check fails the test for each file or folder that other users can read or write, or that its owner cannot read or write.
func (h *home) check(t *testing.T, after string) {
	t.Helper()
	h.seen = 0
	err := filepath.WalkDir(h.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == h.folder || entry.Type() == fs.ModeSymlink {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("after %s, %s has the mode %o, want %o", after, strings.TrimPrefix(path, h.folder+"/"), got, want)
		}
		h.seen++
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// checkDemo checks the files of a demo server while the demo runs.
func (h *home) checkDemo(t *testing.T) {
	t.Helper()
	demo, log := h.program(t, "demo", "--listen", "127.0.0.1:0"), &testservice.Transcript{}
	demo.Stdout, demo.Stderr = log, log
	noError(t, demo.Start())
	t.Cleanup(func() {
		demo.Process.Kill()
		demo.Wait()
	})
	testservice.Eventually(t, "the demo serves", time.Minute, func() bool { return strings.Contains(log.String(), "#key=") })
	h.check(t, "demo")
}
