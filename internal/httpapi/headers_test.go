package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// The test causes one status after another with the same Free key. Each answer must show one request less.
func TestEveryStatusHasCorrectLimitHeaders(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	key := s.key(petstore.Free)
	const pet = `{"name":"Rex","categoryId":1}`
	post := request("POST", "/v1/pets", key)
	fail := func(err error) func() { return func() { storage.failOn("ListPets", err) } }
	steps := []struct {
		status int
		raw    string
		before func()
	}{
		{200, request("GET", "/v1/pets", key), nil},
		{200, request("HEAD", "/v1/pets", key), nil},
		{201, withBody(post, pet), nil},
		{204, request("OPTIONS", "/v1/pets", key), nil},
		{400, withBody(post, `{}`), nil},
		{400, request("GET", "/v1/pets?limit=0", key), nil},
		{404, request("GET", "/v1/pets/7", key), nil},
		{404, request("GET", "/v1/dogs", key), nil},
		{404, request("GET", "/dogs", key), nil},
		{405, request("DELETE", "/v1/pets", key), nil},
		{201, withBody(request("POST", "/v1/pets", key, "Idempotency-Key: a"), pet), nil},
		{409, withBody(request("POST", "/v1/pets", key, "Idempotency-Key: a"), pet+" "), nil},
		{413, withBody(post, petOfSize(1<<20+1)), nil},
		{415, withBody(request("POST", "/v1/pets", key, "Content-Type: text/plain"), pet), nil},
		{500, request("GET", "/v1/pets", key), fail(errSecret)},
		{503, request("GET", "/v1/pets", key), fail(petstore.NotDone(errSecret))},
		{410, request("GET", "/v1/pets/1", key), func() { s.clock.step(4*365*24*time.Hour + 30*24*time.Hour) }},
	}
	left, reset := int64(60), noon.Add(time.Minute)
	for _, step := range steps {
		if step.before != nil {
			step.before()
		}
		if !s.clock.now().Before(reset) {
			left, reset = 60, s.clock.now().Add(time.Minute)
		}
		left--
		a := s.send(step.raw)
		if a.status != step.status {
			t.Fatalf("want %d, got\n%s", step.status, a.raw)
		}
		a.hasLimits(t, 60, left, reset)
	}
	s.repeat(request("GET", "/v1/pets/1", key), int(left))
	a := s.get(key, "/v1/pets")
	a.is(t, 429, "rate_limited")
	a.hasLimits(t, 60, 0, reset)
	for want := int64(999); want > 990; want-- {
		a := s.get("", "/v1/pets")
		a.is(t, 401, "unauthorized")
		a.hasLimits(t, 1000, want, reset)
	}
}

func TestHeadersAreSpelledAsDocumented(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Free)
	for _, c := range []struct {
		raw   string
		names []string
	}{
		{withBody(request("POST", "/v1/pets", key, "Idempotency-Key: a"), `{"name":"Rex","categoryId":1}`), []string{"Location"}},
		{withBody(request("POST", "/v1/pets", key, "Idempotency-Key: a"), `{"name":"Rex","categoryId":1}`), []string{"Location", "Idempotency-Replayed"}},
		{request("GET", "/v1/pets/1", key), []string{"Deprecation", "Sunset", "Link"}},
		{request("GET", "/v1/pets", ""), []string{"WWW-Authenticate"}},
		{request("PUT", "/v1/pets", key), []string{"Allow"}},
	} {
		a := s.send(c.raw)
		for _, name := range append(c.names, "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id", "Cache-Control", "Content-Type", "Content-Length") {
			if strings.Count(a.raw, "\r\n"+name+": ") != 1 {
				t.Errorf("%s is not there exactly once with this spelling, in\n%s", name, a.raw)
			}
		}
	}
}

// The bodies are just below and just above the size up to which net/http adds the length itself.
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

// failingLimiter is a limiter that cannot decide.
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
		if err != nil {
			t.Fatal(err)
		}
		a.is(t, 503, "unavailable")
		a.has(t, "Retry-After", "1")
	}
}
