package httpapi_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// uses records the calls of Used.
type uses struct {
	mu    sync.Mutex
	calls []string
}

func (u *uses) used(owner string, at time.Time, refused bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls = append(u.calls, fmt.Sprint(owner, at.Format(" 15:04 "), refused))
}

// want waits until the calls are those, because a request is counted after its answer.
func (u *uses) want(t *testing.T, want ...string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		u.mu.Lock()
		got := slices.Clone(u.calls)
		u.mu.Unlock()
		if slices.Equal(got, want) {
			return
		}
		if len(got) > len(want) || time.Now().After(deadline) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}
}

func TestRequestsWithAValidKeyAreCountedForItsOwnerAfterTheAnswer(t *testing.T) {
	counted := new(uses)
	s := serve(t, func(c *httpapi.Config) { c.Used = counted.used })
	secret, key := s.createKey(petstore.NewKey("small", petstore.Enterprise, petstore.Limits{PerMinute: 3, PerDay: 100}, s.clock.now(), petstore.Forever))
	revokedSecret, revoked := s.createKey(petstore.NewKey("revoked", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, s.clock.now(), petstore.Forever))
	noError(t, writeError(s.storage.RevokeKey(t.Context(), revoked.ID, petstore.ByOperator(noon))))

	passed, refused := key.Owner+" 12:00 false", key.Owner+" 12:00 true"
	s.get(revokedSecret, "/v1/pets").is(t, 401, "unauthorized")
	s.get("", "/v1/pets").is(t, 401, "unauthorized")
	s.get(s.secret(petstore.Production), "/v1/pets").is(t, 401, "unauthorized")
	s.get(secret, "/v1/pets").is(t, 200, "")
	counted.want(t, passed)
	s.get(secret, "/v1/pets/7").is(t, 404, "not_found")
	counted.want(t, passed, passed)
	s.get(secret, "/v1/pets?limit=0").is(t, 400, "invalid_parameter")
	counted.want(t, passed, passed, passed)
	s.get(secret, "/v1/pets").is(t, 429, "rate_limited")
	counted.want(t, passed, passed, passed, refused)
}
