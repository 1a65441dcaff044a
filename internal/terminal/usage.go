package terminal

import (
	"fmt"
	"regexp"
)

// UsageError is a mistake in the command line. It ends the process with status 2.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// WrongUsage makes a UsageError.
func WrongUsage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// KeyError is an API key that is missing or refused. It ends the process with status 4.
type KeyError struct{ Err error }

func (e KeyError) Error() string { return e.Err.Error() }
func (e KeyError) Unwrap() error { return e.Err }

// NoKey makes a KeyError.
func NoKey(format string, args ...any) error { return KeyError{fmt.Errorf(format, args...)} }

// Reworded is an error with another text.
type Reworded struct {
	Err  error
	Text string
}

func (e Reworded) Error() string { return e.Text }
func (e Reworded) Unwrap() error { return e.Err }

var anyFlag = regexp.MustCompile(`--[a-z][a-z-]*`)

// RenameFlags replaces the names of flags in the text of an error.
func RenameFlags(err error, name func(flag string) string) error {
	if err == nil {
		return nil
	}
	return Reworded{err, anyFlag.ReplaceAllStringFunc(err.Error(), name)}
}
