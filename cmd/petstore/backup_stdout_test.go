//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"petstore/internal/testservice"
)

// newFolder returns a new folder with a database in it.
func newFolder(t *testing.T) (dir, database string) {
	t.Helper()
	dir = t.TempDir()
	database = "sqlite:" + filepath.Join(dir, "pets.db")
	mustInvoke(t, "keys", "create", "--name", "shop", "--database", database)
	return dir, database
}

func TestABackupCanBeWrittenToStandardOutput(t *testing.T) {
	t.Parallel()
	dir, database := newFolder(t)
	stdout, stderr, status := invoke(t, "backup", "-", "--database", database)
	if status != 0 || !strings.Contains(stderr, "to standard output") {
		t.Fatalf("%d %s", status, stderr)
	}
	if left := leftIn(t, dir); left != nil {
		t.Errorf("%v was left behind", left)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	noError(t, os.WriteFile(file, []byte(stdout), 0o600))
	restored := "sqlite:" + filepath.Join(t.TempDir(), "restored.db")
	mustInvoke(t, "restore", file, "--database", restored)
	if list, _, _ := invoke(t, "keys", "list", "--database", restored); !strings.Contains(list, "shop") {
		t.Errorf("restored:\n%s", list)
	}
}

func TestABackupFailsIfStandardOutputCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir, database := newFolder(t)
	reader, broken, err := os.Pipe()
	noError(t, err)
	reader.Close()
	defer broken.Close()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		testservice.Missing(t, "/dev/full", "run the tests on Linux")
	}
	defer full.Close()
	for says, stdout := range map[string]*os.File{"broken pipe": broken, "no space left on device": full} {
		command := testservice.Command(t, "backup", "-", "--database", database)
		var said strings.Builder
		command.Stdout, command.Stderr = stdout, &said
		command.Run()
		want := "petstore: no backup was made, because standard output cannot be written: " + says + "\n"
		if status := command.ProcessState.ExitCode(); status != 1 || said.String() != want {
			t.Errorf("ended with %d and said\n%swant\n%s", status, said.String(), want)
		}
	}
	if left := leftIn(t, dir); left != nil {
		t.Errorf("%v was left behind", left)
	}
}

func TestABackupThatNobodyReadsCanBeStopped(t *testing.T) {
	t.Parallel()
	dir, database := newFolder(t)
	reader, writer, err := os.Pipe()
	noError(t, err)
	defer reader.Close()
	defer writer.Close()
	command := testservice.Command(t, "backup", "-", "--database", database)
	var said strings.Builder
	command.Stdout, command.Stderr = writer, &said
	noError(t, command.Start())
	if _, err := reader.Read(make([]byte, 1)); err != nil { // the command has begun to print more than the pipe holds
		t.Fatal(err)
	}
	command.Process.Signal(syscall.SIGTERM)
	command.Wait()
	if status := command.ProcessState.ExitCode(); status != 1 || said.String() != "petstore: stopped; no backup was made\n" {
		t.Errorf("ended with %d and said\n%s", status, said.String())
	}
	if left := leftIn(t, dir); left != nil {
		t.Errorf("%v was left behind", left)
	}
}

func TestABackupIsNotPrintedOnATerminal(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		testservice.Missing(t, "/dev/ptmx", "run the tests on Linux")
	}
	defer terminal.Close()
	_, database := newFolder(t)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	noError(t, err)
	defer null.Close()
	for _, c := range []struct {
		stdout *os.File
		status int
		says   string
	}{
		{terminal, 2, "standard output is a terminal, and a backup is not text; redirect it to a file or a program, such as petstore backup - > FILE (see petstore backup --help)"},
		{null, 0, "to standard output"},
	} {
		command := testservice.Command(t, "backup", "-", "--database", database)
		var said strings.Builder
		command.Stdout, command.Stderr = c.stdout, &said
		command.Run()
		if status := command.ProcessState.ExitCode(); status != c.status || !strings.Contains(said.String(), c.says) {
			t.Errorf("to %s: ended with %d and said\n%s", c.stdout.Name(), status, said.String())
		}
	}
}
