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
	err := petstore.Unreachable(io.ErrUnexpectedEOF)
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
