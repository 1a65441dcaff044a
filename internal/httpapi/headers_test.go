package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// The test uses bodies just below and just above the size up to which net/http itself adds the length.
func TestEveryAnswerHasItsLength(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Business)
	for size := 1900; size < 2100; size += 7 {
		created := s.post(key, fmt.Sprintf(`{"name":"%s%s","categoryId":1}`, strings.Repeat("\U0001f415", 475), strings.Repeat("x", size-1900)))
		created.is(t, 201, "")
		created.has(t, "Content-Length", strconv.Itoa(len(created.body)))
		for _, target := range []string{created.header.Get("Location"), "/v1/pets?limit=1", "/v1/pets", "/v1/pets?limit=0"} {
			got := s.get(key, target)
			got.has(t, "Content-Length", strconv.Itoa(len(got.body)))
			s.send(request("HEAD", target, key)).has(t, "Content-Length", strconv.Itoa(len(got.body)))
		}
	}
}

func TestAnswersAreLoggedUnderTheirRequestID(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Free)
	s.get(key, "/v1/pets/1?limit=5", "X-Request-Id: mine")
	line := s.log.lineOf("mine")
	for _, part := range []string{`"method":"GET"`, `"path":"/v1/pets/1"`, `"route":"getPet"`, `"status":404`, `"client":"127.0.0.1"`, `"key":"key_`, `"deprecated":true`} {
		if !strings.Contains(line, part) {
			t.Errorf("%s is not in %s", part, line)
		}
	}
	made := s.get("", "/v1/pets").header.Get("X-Request-Id")
	if line := s.log.lineOf(made); !strings.Contains(line, `"status":401`) {
		t.Errorf("the line of %s is %q", made, line)
	}
}

// failingLimiter is a limiter that fails to decide.
type failingLimiter struct{}

func (failingLimiter) Take(context.Context, petstore.Ask) (petstore.Decision, error) {
	return petstore.Decision{}, petstore.NotDone(errors.New("no counter"))
}

func (failingLimiter) GiveBack(context.Context, petstore.Ask, petstore.Decision) error {
	return errors.New("no counter")
}

func TestRequestThatCannotBeCountedIsRefused(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.Limiter = failingLimiter{} })
	for _, key := range []string{"", s.key(petstore.Free)} {
		a, err := roundTrip(s.address, request("GET", "/v1/pets", key))
		noError(t, err)
		a.is(t, 503, "unavailable")
		a.has(t, "Retry-After", "1")
	}
}
