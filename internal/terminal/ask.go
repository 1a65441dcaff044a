package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// CanAsk reports whether there is a person at a terminal who can answer.
func (con *Console) CanAsk() bool { return IsTerminal(os.Stdin) && IsTerminal(con.Stderr) }

// Confirm asks a question and fails unless the answer is yes.
func (con *Console) Confirm(ctx context.Context, question string, args ...any) error {
	fmt.Fprint(con.Stderr, Escape(fmt.Sprintf(question, args...))+" [y/N] ")
	answer, _ := typed(ctx, readLine)
	if ctx.Err() != nil {
		fmt.Fprintln(con.Stderr)
		return errors.New("stopped; nothing was done")
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errors.New("nothing was done, as you wished")
	}
	return nil
}

// ReadSecret asks for a secret on the terminal, which does not show it. If standard input is not a terminal, it reads the
// secret from there. It returns "" if there is none.
func (con *Console) ReadSecret(ctx context.Context, question string) (secret string, err error) {
	if IsTerminal(os.Stdin) {
		secret, err = con.askSecret(ctx, question)
	} else {
		secret, err = typed(ctx, readLine)
	}
	if secret == "" && errors.Is(err, io.EOF) {
		err = nil
	}
	return secret, err
}

func (con *Console) askSecret(ctx context.Context, question string) (string, error) {
	stdin := int(os.Stdin.Fd())
	before, err := term.GetState(stdin)
	if err != nil {
		return "", err
	}
	defer term.Restore(stdin, before) // even if ctx has ended and the read still goes on
	fmt.Fprint(con.Stderr, Escape(question)+" ")
	defer fmt.Fprintln(con.Stderr)
	return typed(ctx, func() (string, error) {
		secret, err := term.ReadPassword(stdin)
		return strings.TrimSpace(string(secret)), err
	})
}

// typed waits until a person has typed something, or until ctx ends.
func typed(ctx context.Context, read func() (string, error)) (string, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := read()
		lines <- line{text, err}
	}()
	select {
	case l := <-lines:
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readLine reads the first line of standard input; a secret or an answer is short.
func readLine() (string, error) {
	text, err := bufio.NewReader(io.LimitReader(os.Stdin, 4096)).ReadString('\n')
	if text = strings.TrimSpace(text); text != "" {
		return text, nil
	}
	return "", err
}
