package history

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const day = 24 * time.Hour

// window is a minute or a day of a key, named by its end.
type window struct {
	key string
	end time.Time
	day bool
}

// checkLimits counts the requests of each key that certainly passed in each of its windows. A request that was refused
// for its key or for the limit did not pass, and one that was refused because the store was away may or may not have
// been counted. A request belongs to the window that the headers of its answer name, or to the window in which it both
// began and ended.
func (c *checker) checkLimits() {
	passed := make(map[window][]*call)
	type told struct {
		window
		remaining int64
	}
	left := make(map[told]*call)
	for _, call := range c.calls {
		limit, limited := c.rules.Limits[call.Key]
		if !limited || !call.passed() {
			continue
		}
		named, remaining, ok := call.window(limit)
		if ok {
			if other := left[told{named, remaining}]; other != nil && c.counted(named) {
				c.report(OverLimit, fmt.Sprintf("Two requests of key %s were told that %d are left in the window that ends at %v.", call.Key, remaining, named.end), other, call)
			}
			left[told{named, remaining}] = call
		}
		for _, w := range c.windows(call) {
			if !ok || w.day != named.day {
				passed[w] = append(passed[w], call)
			}
		}
		if ok {
			passed[named] = append(passed[named], call)
		}
	}
	for w, calls := range passed {
		limit := c.rules.Limits[w.key].PerMinute
		name := "minute"
		if w.day {
			limit, name = c.rules.Limits[w.key].PerDay, "day"
		}
		if limit > 0 && int64(len(calls)) > limit && c.counted(w) {
			c.report(OverLimit, fmt.Sprintf("%d requests of key %s passed in the %s that ends at %v; its limit is %d.", len(calls), w.key, name, w.end, limit), calls[limit:]...)
		}
	}
}

// passed reports whether the request was certainly counted.
func (c *call) passed() bool {
	switch c.Status {
	case 0, http.StatusUnauthorized, http.StatusTooManyRequests:
		return false
	}
	return c.Status < 500
}

// window is the window that the headers of an answer name, and what is left in it.
func (c *call) window(limit Limit) (w window, remaining int64, ok bool) {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(c.Header.Get(name), 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	w = window{key: c.Key, end: time.Unix(number("X-Ratelimit-Reset"), 0).UTC()}
	told, remaining := number("X-Ratelimit-Limit"), number("X-Ratelimit-Remaining")
	w.day = told == limit.PerDay && w.end.Equal(w.end.Truncate(day))
	return w, remaining, told > 0 && remaining >= 0 && (w.day || told == limit.PerMinute) && limit.PerDay != limit.PerMinute
}

// windows are the windows in which a request both began and ended.
func (c *checker) windows(call *call) (all []window) {
	if c.rules.Began.IsZero() {
		return nil
	}
	from, to := c.rules.Began.Add(call.Called-slack).UTC(), c.rules.Began.Add(call.Returned+slack).UTC()
	for _, length := range []time.Duration{time.Minute, day} {
		if begin := from.Truncate(length); begin.Equal(to.Truncate(length)) {
			all = append(all, window{call.Key, begin.Add(length), length == day})
		}
	}
	return all
}

// counted reports whether the limit was promised during the whole window.
func (c *checker) counted(w window) bool {
	length := time.Minute
	if w.day {
		length = day
	}
	for _, u := range c.rules.Uncounted {
		if c.rules.Began.Add(u.From).Before(w.end) && c.rules.Began.Add(u.To).After(w.end.Add(-length)) {
			return false
		}
	}
	return true
}
