package petstore_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

func TestErrorKeepsItsCauseFromTheCallersMessage(t *testing.T) {
	err := petstore.NotDone(io.ErrUnexpectedEOF)
	if err.Code != petstore.Unavailable || strings.Contains(err.Message, "EOF") {
		t.Errorf("the caller reads %s: %s", err.Code, err.Message)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("the log does not read the cause: %v", err)
	}
}

func TestIsCodeLooksThroughWrapping(t *testing.T) {
	wrapped := fmt.Errorf("reading: %w", petstore.NoSuchPet())
	if !petstore.IsCode(wrapped, petstore.NotFound) || petstore.IsCode(wrapped, petstore.Gone) {
		t.Error("a wrapped refusal has lost its code")
	}
	if petstore.IsCode(nil, petstore.NotFound) || petstore.IsCode(io.EOF, petstore.NotFound) {
		t.Error("what is not a refusal has a code")
	}
}

func TestAPanicIsToldWithoutWhatItHolds(t *testing.T) {
	for _, c := range []struct {
		what  string
		panic func()
		told  string
	}{
		{"a text, which may be a client's", func() { panic("Rex, who bites") }, "panic: string\n"},
		{"an error, which may quote a client", func() { panic(errors.New("no such pet: Rex, who bites")) }, "panic: *errors.errorString\n"},
		{"a fault of the program, which is told", func() { _ = []int{}[len("Rex, who bites")] }, "panic: runtime error: index out of range [14] with length 0\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			defer func() {
				told := petstore.Panicked(recover()).Error()
				if !strings.HasPrefix(told, c.told) || strings.Contains(told, "Rex") || !strings.Contains(told, "error_test.go") {
					t.Errorf("it is told as %s", told)
				}
			}()
			c.panic()
		})
	}
}
