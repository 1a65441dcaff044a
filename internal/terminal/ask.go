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

// CanAsk reports whether the command can ask a person at a terminal.
func (con *Console) CanAsk() bool { return IsTerminal(os.Stdin) && IsTerminal(con.Stderr) }

// Confirm asks a question and fails unless the answer is yes.
func (con *Console) Confirm(ctx context.Context, question string, args ...any) error {
	fmt.Fprint(con.Stderr, Escape(fmt.Sprintf(question, args...))+" [y/N] ")
	answer, _ := Interruptible(ctx, readLine)
	if ctx.Err() != nil {
		fmt.Fprintln(con.Stderr)
		return errors.New("stopped; nothing was done")
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}

// ReadSecret asks for a secret. The terminal does not echo the secret. If standard input is not a terminal, ReadSecret reads
// the secret from standard input without asking. It returns "" if the input is empty.
func (con *Console) ReadSecret(ctx context.Context, question string) (secret string, err error) {
	if IsTerminal(os.Stdin) {
		secret, err = con.askSecret(ctx, question)
	} else {
		secret, err = Interruptible(ctx, readLine)
	}
	if secret == "" && errors.Is(err, io.EOF) {
		err = nil
	}
	return secret, err
}

func (con *Console) askSecret(ctx context.Context, question string) (string, error) {
	stdin := int(os.Stdin.Fd())
	echoing, err := term.GetState(stdin)
	if err != nil {
		return "", err
	}
	defer term.Restore(stdin, echoing) // needed if ctx ends while the read is still running
	fmt.Fprint(con.Stderr, Escape(question)+" ")
	defer fmt.Fprintln(con.Stderr)
	return Interruptible(ctx, func() (string, error) {
		secret, err := term.ReadPassword(stdin)
		return strings.TrimSpace(string(secret)), err
	})
}

// readLine returns the first line of standard input, without the white space around it. It reads at most 4 KiB. Answers and
// secrets are shorter.
func readLine() (string, error) {
	text, err := bufio.NewReader(io.LimitReader(os.Stdin, 4096)).ReadString('\n')
	if text = strings.TrimSpace(text); text != "" {
		return text, nil
	}
	return "", err
}
