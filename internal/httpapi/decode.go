package httpapi

import (
	"errors"
	"fmt"

	"petstore/internal/petstore"
	"petstore/internal/strictjson"
)

// shape describes a body: the members that the body may have, and a hint that tells clients what to send.
type shape[T any] struct {
	hint    string
	members strictjson.Shape[T]
}

// decode reads a body. If it refuses the body, the refusal names every faulty field.
func (s *shape[T]) decode(body []byte, into *T) error {
	err := s.members.Decode(body, into)
	if err == nil {
		return nil
	}
	return bodyRefusal(err, s.hint)
}

// bodyRefusal returns the refusal of a body. The refusal tells the client what is wrong with the body and what to send
// instead.
func bodyRefusal(err error, what string) error {
	bad, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	switch bad.Kind {
	case strictjson.BadMembers:
		var faults petstore.Faults
		for _, fault := range bad.Faults {
			faults = append(faults, petstore.Fault(fault))
		}
		return faults.Err()
	case strictjson.Empty:
		return newRefusal(invalidJSON, "The body is empty. Send a JSON object with "+what+".")
	case strictjson.NotObject:
		return newRefusal(invalidJSON, "The body is not a JSON object. Send one with "+what+".")
	case strictjson.TooManyNames:
		return newRefusal(invalidJSON, "The body has more than 1,000 fields. Send "+what+" only.")
	case strictjson.TrailingData:
		return newRefusal(invalidJSON, "There is more after the JSON object that is the body. Send one object only.")
	case strictjson.DuplicateName:
		return newRefusal(invalidJSON, fmt.Sprintf("The body has the same field twice (at byte %d). Send each field once.", bad.Offset))
	}
	return newRefusal(invalidJSON, fmt.Sprintf("The body is not valid JSON (at byte %d). It must be one JSON object in UTF-8.", bad.Offset))
}

// readStatus reads the status of an animal.
func readStatus(into *petstore.Status, value strictjson.Value) (problem string) {
	text, _ := strictjson.Unquote(value) // text is "" if the value is not a string; "" is not a status
	*into, _ = petstore.ParseStatus(text)
	return petstore.CheckStatus(*into)
}
