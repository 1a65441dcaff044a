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
	// limited names the key whose limit the load reaches. Two of the twelve workers use it. A worker that is refused waits
	// for a second, so there are fewer refusals than the limit, and the key is not banned.
	limited          = "zoe"
	limitedPerMinute = 130
	unlimited        = 1_000_000_000
)

// newKeys makes three API keys. The load gives each name to the same number of workers, so a key with more names has more
// workers.
func newKeys(t testing.TB, database string) map[string]string {
	t.Helper()
	secret := func(perMinute int) string {
		return testservice.NewKey(t, testservice.Build(t), database, "--plan", "enterprise", "--per-minute", fmt.Sprint(perMinute), "--per-day", fmt.Sprint(unlimited))
	}
	ann, bob := secret(unlimited), secret(unlimited)
	return map[string]string{"ann": ann, "annie": ann, "anna": ann, "bob": bob, "bobby": bob, limited: secret(limitedPerMinute)}
}

// rules returns what the checker must know: the limit of the limited key, and the intervals that were forgiven.
func (s *system) rules(h *history.History) history.Rules {
	limits := map[string]history.Limit{limited: {PerMinute: limitedPerMinute, PerDay: unlimited}}
	return history.Rules{Began: h.Began(), Limits: limits, Uncounted: s.uncounted}
}

// forgive notes an interval in which no limit is promised.
func (s *system) forgive(from, to time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uncounted = append(s.uncounted, history.Interval{From: from, To: to})
}

// fullMinutes counts the minutes in which the limited key was refused and nothing was forgiven.
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

// watch forgives the intervals in which a replica decided without Redis. That also happens on a busy machine, when Redis does
// not answer in time.
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
				if next == "" { // the replica is down; the interval goes on until its next answer
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

// decidedAlone returns how many decisions a replica has made without Redis since its start, or "" if it does not say.
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
