package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestAFullDiskLeavesNoIncompleteExport(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	runImport(t, nil, 0, "Added 5,000 animals.", writeFile(t, "pets.csv", rowsOf(5000)), "--database", database)
	t.Run("in a file", func(t *testing.T) {
		small := t.TempDir()
		err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=64k")
		if errors.Is(err, syscall.EPERM) {
			testservice.Missing(t, "a small disk", "run the tests as root, who can mount one")
		}
		noError(t, err)
		defer syscall.Unmount(small, 0)
		_, stderr, status := invoke(t, "export", "--database", database, "--output", filepath.Join(small, "pets.csv"))
		if status != 1 || !strings.Contains(stderr, "there is no complete export, because "+filepath.Join(small, "pets.csv")+" cannot be written: no space left on device") {
			t.Errorf("%d %s", status, stderr)
		}
		if left := leftIn(t, small); left != nil {
			t.Errorf("%q was left behind", left)
		}
	})
	t.Run("on standard output", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		noError(t, err)
		defer full.Close()
		command := testservice.Command(t, "export", "--database", database)
		var said strings.Builder
		command.Stdout, command.Stderr = full, &said
		command.Run()
		if command.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "there is no complete export, because standard output cannot be written: no space left on device") {
			t.Errorf("%v %s", command.ProcessState, said.String())
		}
	})
}

func TestAnImportFromAPipeThatNobodyOpensCanBeStopped(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pets.csv")
	noError(t, syscall.Mkfifo(pipe, 0o600))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- run(ctx, []string{"import", pipe, "--database", testservice.NewDatabase(t)}, func(string) string { return "" }, io.Discard, io.Discard)
	}()
	stop()
	select {
	case err := <-ended:
		if exitStatus(err) != 1 {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it still waits for somebody to write to the pipe")
	}
}
