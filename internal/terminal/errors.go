package terminal

import (
	"fmt"
	"regexp"
)

// UsageError is a mistake in the command line or in a setting. The program exits with status 2.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// WrongUsage returns a UsageError with a message.
func WrongUsage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// KeyError means that an API key is missing or was refused. The program exits with status 4.
type KeyError struct{ Err error }

func (e KeyError) Error() string { return e.Err.Error() }
func (e KeyError) Unwrap() error { return e.Err }

// NoKey returns a KeyError with a message.
func NoKey(format string, args ...any) error { return KeyError{fmt.Errorf(format, args...)} }

// Reworded is an error with another message.
type Reworded struct {
	Err  error
	Text string
}

func (e Reworded) Error() string { return e.Text }
func (e Reworded) Unwrap() error { return e.Err }

var anyFlag = regexp.MustCompile(`--[a-z][a-z-]*`)

// RenameFlags changes the message of err. It replaces each flag in the message, such as --listen, with the text that the
// function name returns.
func RenameFlags(err error, name func(flag string) string) error {
	if err == nil {
		return nil
	}
	return Reworded{err, anyFlag.ReplaceAllStringFunc(err.Error(), name)}
}
