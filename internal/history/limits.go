package history

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"petstore/internal/model"
)

const day = 24 * time.Hour

// window is a minute or a day in which the requests of a key are counted. The end identifies the window.
type window struct {
	key    string
	end    time.Time
	length time.Duration
}

// checkLimits counts how many requests of each key certainly passed in each window. A request belongs to the window that
// its answer's headers name. It also belongs to each window in which it both began and ended.
func (c *checker) checkLimits(exchanges []model.Exchange) {
	type told struct {
		window
		remaining int64
	}
	passed, left := make(map[window][]model.Exchange), make(map[told]model.Exchange)
	for _, e := range exchanges {
		limit, limited := c.rules.Limits[e.Key]
		if !limited || !hasPassed(e) {
			continue
		}
		windows := c.windows(e)
		if named, remaining, ok := namedWindow(e, limit); ok {
			if other, met := left[told{named, remaining}]; met && c.isCounted(named) {
				c.report(OverLimit, fmt.Sprintf("Two requests of key %s were told that %d are left in the window that ends at %v.",
					e.Key, remaining, named.end), other, e)
			}
			left[told{named, remaining}] = e
			windows = append(slices.DeleteFunc(windows, func(w window) bool { return w.length == named.length }), named)
		}
		for _, w := range windows {
			passed[w] = append(passed[w], e)
		}
	}
	for w, all := range passed {
		limit := c.rules.Limits[w.key].PerMinute
		if w.length == day {
			limit = c.rules.Limits[w.key].PerDay
		}
		if limit > 0 && int64(len(all)) > limit && c.isCounted(w) {
			c.report(OverLimit, fmt.Sprintf("%d requests of key %s passed in the %v that end at %v; its limit is %d.",
				len(all), w.key, w.length, w.end, limit), all[limit:]...)
		}
	}
}

// hasPassed reports whether a request was certainly counted. If the storage did not answer, the refused request may or may
// not have been counted.
func hasPassed(e model.Exchange) bool {
	switch e.Status {
	case model.NoAnswer, http.StatusUnauthorized, http.StatusTooManyRequests:
		return false
	}
	return e.Status < 500
}

// namedWindow returns the window that the headers of an answer name, and how many requests are left in that window.
func namedWindow(e model.Exchange, limit Limit) (w window, remaining int64, ok bool) {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(e.Header.Get(name), 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	w = window{key: e.Key, end: time.Unix(number("X-Ratelimit-Reset"), 0).UTC(), length: time.Minute}
	told, remaining := number("X-Ratelimit-Limit"), number("X-Ratelimit-Remaining")
	if told == limit.PerDay && w.end.Equal(w.end.Truncate(day)) {
		w.length = day
	}
	return w, remaining, told > 0 && remaining >= 0 && (w.length == day || told == limit.PerMinute) && limit.PerDay != limit.PerMinute
}

// windows returns the windows in which a request both began and ended.
func (c *checker) windows(e model.Exchange) (all []window) {
	if c.rules.Began.IsZero() {
		return nil
	}
	from, to := c.rules.Began.Add(e.Called-model.Slack).UTC(), c.rules.Began.Add(e.Returned+model.Slack).UTC()
	for _, length := range []time.Duration{time.Minute, day} {
		if begin := from.Truncate(length); begin.Equal(to.Truncate(length)) {
			all = append(all, window{e.Key, begin.Add(length), length})
		}
	}
	return all
}

// isCounted reports whether the service promised the limit during the whole window.
func (c *checker) isCounted(w window) bool {
	return !slices.ContainsFunc(c.rules.Uncounted, func(u Interval) bool {
		return c.rules.Began.Add(u.From).Before(w.end) && c.rules.Began.Add(u.To).After(w.end.Add(-w.length))
	})
}
