// Package terminal connects commands to the person who types them: output, questions, tables, progress, the values of
// flags, and the errors of wrong usage. What it prints cannot control the terminal.
package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Console is the environment and the output of a command.
type Console struct {
	Getenv         func(string) string
	Stdout, Stderr io.Writer
	// Version is the version of the program.
	Version string
}

// Say prints a message for a person on standard error, apart from the output.
func (con *Console) Say(format string, args ...any) {
	fmt.Fprintln(con.Stderr, Escape(fmt.Sprintf(format, args...)))
}

// IsTerminal reports whether a writer is a terminal with a person in front of it.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// UnlessStopped does work, and returns when ctx ends even if the reader of its output is slow.
func UnlessStopped(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readerTimeout is how long the program waits for a reader of its output before it goes on without one.
const readerTimeout = time.Second

// Briefly calls write, which blocks while nobody reads. After a second it returns false and leaves write running.
func Briefly(write func()) (done bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		write()
	}()
	select {
	case <-ended:
		return true
	case <-time.After(readerTimeout):
		return false
	}
}
