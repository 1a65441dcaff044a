package client

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// Limits is what an answer says about the key's limits. It describes the window of the minute or that of the day, whichever
// has fewer requests left. In the Meta of a 401 or 5xx, Limits may describe the limits of the caller's address instead.
type Limits struct {
	Limit     int64     // the number of requests that the window allows
	Remaining int64     // the number of requests that are left in the window
	Reset     time.Time // the time when the next window begins
}

// Meta is what an answer says outside its body.
type Meta struct {
	Status    int
	RequestID string // identifies the request in the logs of the service
	Limits    Limits
	Attempts  int  // the number of times the request was sent
	Replayed  bool // whether the answer is that of an earlier call with the same idempotency key
}

func (m *Meta) read(res *http.Response) {
	m.Status = res.StatusCode
	m.RequestID = res.Header.Get("X-Request-Id")
	m.Limits, _ = limitsOf(res.Header)
	m.Replayed = res.Header.Get("Idempotency-Replayed") == "true"
}

// limitsOf reads the limits from the headers of an answer and reports whether the headers contain them. A negative
// Remaining, which a proxy may send, counts as zero.
func limitsOf(h http.Header) (Limits, bool) {
	limit, err1 := strconv.ParseInt(h.Get("X-RateLimit-Limit"), 10, 64)
	remaining, err2 := strconv.ParseInt(h.Get("X-RateLimit-Remaining"), 10, 64)
	reset, err3 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return Limits{}, false
	}
	return Limits{limit, max(0, remaining), time.Unix(reset, 0)}, true
}

// retryAfter reads how long an answer asks the caller to wait. It returns zero if the answer does not ask for a wait.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(min(max(0, seconds), math.MaxInt32)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(serverTime(h, now)))
	}
	return 0
}

// serverTime returns the time at which the service answered, by the service's clock. A wrong clock on this machine then does
// no harm.
func serverTime(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}
