//go:build linux

package chaos

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"petstore/internal/history"
	"petstore/internal/testservice"
)

const (
	// The constant limited is the name of the key whose limit the load reaches. Two of the twelve workers use this key. A
	// worker that is refused waits for a second. So there are fewer refusals than the limit, and the key is not banned.
	limited          = "zoe"
	limitedPerMinute = 130
	unlimited        = 1_000_000_000
)

// newKeys creates three API keys and returns their secrets by name. A key may have several names. The load gives each name
// the same number of workers, so a key with more names has more workers.
func newKeys(t testing.TB, database string) map[string]string {
	t.Helper()
	secret := func(perMinute int) string {
		return testservice.NewKey(t, testservice.Build(t), database, "--plan", "enterprise", "--per-minute", fmt.Sprint(perMinute), "--per-day", fmt.Sprint(unlimited))
	}
	ann, bob := secret(unlimited), secret(unlimited)
	return map[string]string{"ann": ann, "annie": ann, "anna": ann, "bob": bob, "bobby": bob, limited: secret(limitedPerMinute)}
}

// rules returns what the checker must know: the limit of the limited key, and the intervals in which limits are not
// checked.
func (s *system) rules(h *history.History) history.Rules {
	limits := map[string]history.Limit{limited: {PerMinute: limitedPerMinute, PerDay: unlimited}}
	return history.Rules{Began: h.Began(), Limits: limits, Uncounted: s.uncounted}
}

// forgive adds an interval in which limits are not checked, because the service promises no limit then.
func (s *system) forgive(from, to time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uncounted = append(s.uncounted, history.Interval{From: from, To: to})
}

// fullMinutes counts the minutes in which the limited key reached its limit and limits were checked.
func (s *system) fullMinutes(h *history.History) int {
	ends := make(map[string]bool)
	for _, e := range h.Exchanges() {
		if e.Key == limited && e.Status == http.StatusTooManyRequests {
			ends[e.Header.Get("X-Ratelimit-Reset")] = true
		}
	}
	for text := range ends {
		seconds, _ := strconv.ParseInt(text, 10, 64)
		end := time.Unix(seconds, 0).Sub(h.Began())
		if slices.ContainsFunc(s.uncounted, func(u history.Interval) bool { return u.From < end && u.To > end-time.Minute }) {
			delete(ends, text)
		}
	}
	return len(ends)
}

// watch forgives the intervals in which a replica decided without Redis. On a busy machine, a replica also decides without
// Redis if Redis does not answer in time.
func (s *system) watch(h *history.History) (stop func()) {
	over := make(chan struct{})
	var all sync.WaitGroup
	for _, admin := range s.counting {
		all.Go(func() {
			asked, alone := h.Now(), decidedAlone(admin)
			for last := false; !last; {
				select {
				case <-over:
					last = true
				case <-time.After(500 * time.Millisecond):
				}
				now, next := h.Now(), decidedAlone(admin)
				if next == "" { // the replica is down, so the interval lasts until the replica answers again
					continue
				}
				if next != alone {
					s.forgive(asked, h.Now())
				}
				asked, alone = now, next
			}
		})
	}
	return sync.OnceFunc(func() {
		close(over)
		all.Wait()
	})
}

var (
	aloneMetric = regexp.MustCompile(`(?m)^petstore_limiter_duration_seconds_count\{by="process"\} (\d+)$`)
	watcher     = &http.Client{Timeout: 10 * time.Second}
)

// decidedAlone returns how many decisions a replica has made without Redis since its start, or "" if the replica does not
// answer.
func decidedAlone(admin string) string {
	answer, err := watcher.Get(admin + "/metrics")
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	found := aloneMetric.FindSubmatch(text)
	if err != nil || found == nil {
		return ""
	}
	return string(found[1])
}
