// Package terminal lets commands talk to the person who runs them. It provides messages, questions, tables, progress, the
// values of flags, and usage errors. It escapes text from other people, so that such text cannot control the terminal.
package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Console gives a command its environment variables and its output.
type Console struct {
	Getenv         func(string) string
	Stdout, Stderr io.Writer
	// Version is the version of the program.
	Version string

	mu  sync.Mutex
	bar bool // whether the cursor is at the end of a progress bar
}

// Say prints a message on standard error, so that messages do not mix with the output of the command.
func (con *Console) Say(format string, args ...any) {
	con.mu.Lock()
	defer con.mu.Unlock()
	con.eraseBar()
	fmt.Fprintln(con.Stderr, Escape(fmt.Sprintf(format, args...)))
}

func (con *Console) drawBar(text string) {
	con.mu.Lock()
	defer con.mu.Unlock()
	fmt.Fprint(con.Stderr, "\r", text, "\x1b[K")
	con.bar = true
}

// eraseBar erases the progress bar if the terminal shows one. The caller holds mu.
func (con *Console) eraseBar() {
	if con.bar {
		fmt.Fprint(con.Stderr, "\r\x1b[K")
		con.bar = false
	}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Interruptible calls the function work, which may block on input or output, and returns its result. If ctx ends first,
// Interruptible returns ctx.Err(), and the function keeps running.
func Interruptible[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}

// readerTimeout is how long WaitForReader waits.
const readerTimeout = time.Second

// WaitForReader calls the function write, which blocks until somebody reads the output. If that takes longer than
// readerTimeout, WaitForReader returns false, and the function keeps running.
func WaitForReader(write func()) (written bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		write()
	}()
	select {
	case <-done:
		return true
	case <-time.After(readerTimeout):
		return false
	}
}
