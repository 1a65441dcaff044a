package petstore_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

func TestErrorTextHasCodeFactsAndCause(t *testing.T) {
	key := petstore.Key{ID: "key_1", Name: "Rex's", RevokedAt: placedAt}
	_, unavailable := petstore.NewOrder{}.Place(1, petstore.Pet{NewPet: petstore.NewPet{Name: "Rex", Status: petstore.Sold}}, placedAt)
	_, closed := orderIn(petstore.Cancelled).Close(petstore.Completed, placedAt)
	for _, c := range []struct {
		err  error
		text string
	}{
		{petstore.NoSuchPet(), "not_found: animal"},
		{petstore.NoSuchSecret(), "not_found: key"},
		{petstore.NoSuchKey("key_1"), "not_found: key key_1"},
		{petstore.NoPetToOrder(7), "invalid_field: petId must be the id of an animal; there is no animal 7"},
		{petstore.PetReservedBy(orderIn(petstore.Open)), "pet_reserved: order 3 is open"},
		{unavailable, "pet_unavailable: the animal is sold"},
		{closed, "order_closed: order 3 is cancelled"},
		{petstore.CategoryNameTaken(petstore.Category{ID: 4, Name: "Rex's"}), "name_taken: category 4"},
		{petstore.IdempotencyKeyReused(), "idempotency_conflict"},
		{key.Usable(placedAt), "unauthorized: key key_1"},
		{petstore.NotDone(io.ErrUnexpectedEOF), "unavailable: unexpected EOF"},
		{petstore.MaybeDone(io.ErrUnexpectedEOF), "outcome_unknown: unexpected EOF"},
	} {
		if got := c.err.Error(); got != c.text {
			t.Errorf("the log reads %q, want %q", got, c.text)
		}
	}
	if !errors.Is(petstore.NotDone(io.ErrUnexpectedEOF), io.ErrUnexpectedEOF) {
		t.Error("a refusal does not wrap its cause")
	}
}

func TestIsCodeUnwraps(t *testing.T) {
	wrapped := fmt.Errorf("reading: %w", petstore.NoSuchPet())
	if !petstore.IsCode(wrapped, petstore.NotFound) || petstore.IsCode(wrapped, petstore.NameTaken) {
		t.Error("IsCode does not find the code of a wrapped refusal")
	}
	if petstore.IsCode(nil, petstore.NotFound) || petstore.IsCode(io.EOF, petstore.NotFound) {
		t.Error("IsCode finds a code in an error that is not a refusal")
	}
}

func TestPanickedHidesThePanicValue(t *testing.T) {
	for _, c := range []struct {
		what  string
		cause func()
		want  string
	}{
		{"a string may be a client's", func() { panic("Rex, who bites") }, "panic: string\n"},
		{"an error may quote a client", func() { panic(errors.New("no such pet: Rex, who bites")) }, "panic: *errors.errorString\n"},
		{"a runtime error is shown", func() { _ = []int{}[len("Rex, who bites")] }, "panic: runtime error: index out of range [14] with length 0\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			defer func() {
				got := petstore.Panicked(recover()).Error()
				if !strings.HasPrefix(got, c.want) || strings.Contains(got, "Rex") || !strings.Contains(got, "error_test.go") {
					t.Errorf("the error is %s", got)
				}
			}()
			c.cause()
		})
	}
}
