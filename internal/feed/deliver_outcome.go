package feed

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"petstore/internal/petstore"
)

// retryAfterFailure is how long to wait after the first failures in a row. The last one holds for all that follow.
var retryAfterFailure = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
}

const (
	// disableAfter is how long a webhook may fail before it is disabled.
	disableAfter = 72 * time.Hour
	// maxRetryAfter is the longest wait that a receiver can ask for.
	maxRetryAfter = time.Hour
	minRetryAfter = time.Second
	// maxRejections is how often a receiver refuses one event before the event is skipped.
	maxRejections = 5
)

// attempt is one request to a receiver and how it went.
type attempt struct {
	message
	at     time.Time
	took   time.Duration
	status int         // zero without an answer
	header http.Header // of the answer
	reason string      // why the attempt failed, or ""
}

// outcome is what an attempt changes about a webhook.
type outcome struct {
	progress petstore.WebhookProgress
	disabled petstore.WebhookReason
	skipped  bool
}

// settle returns what an attempt that has just ended changes about a webhook.
func settle(p petstore.WebhookProgress, a attempt, now time.Time) outcome {
	if a.reason == "" {
		return outcome{progress: petstore.WebhookProgress{Position: max(p.Position, a.position), Confirmed: true}}
	}
	if p.FailingSince.IsZero() || a.at.Before(p.FailingSince) { // or the clock was set back
		p.FailingSince = a.at.Truncate(time.Millisecond)
	}
	p.Failures++
	if a.isRejected() {
		p.Rejections++
	}
	result := outcome{progress: p}
	switch {
	case a.status == http.StatusGone:
		result.disabled = petstore.WebhookGone
	case now.Sub(p.FailingSince) >= disableAfter:
		result.disabled = petstore.WebhookFailed
	case p.Rejections >= maxRejections:
		result.skipped = true
		result.progress = petstore.WebhookProgress{Position: a.position, Confirmed: true, FailingSince: p.FailingSince}
	default:
		result.progress.NextAttempt = now.Add(waitAfter(p.Failures, a.header, now)).Truncate(time.Millisecond)
	}
	return result
}

// isRejected reports whether the receiver refused the event itself. Nothing else would make it accept the event later.
func (a attempt) isRejected() bool {
	switch a.status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return !a.isPing()
	}
	return false
}

// waitAfter returns how long to wait after that many failures in a row, or as long as the receiver asks for.
func waitAfter(failures int, answered http.Header, now time.Time) time.Duration {
	if asked, ok := parseRetryAfter(answered.Get("Retry-After"), now); ok {
		return min(max(asked, minRetryAfter), maxRetryAfter)
	}
	wait := retryAfterFailure[min(failures, len(retryAfterFailure))-1]
	return wait + rand.N(wait/5)
}

// isDue reports whether an attempt that has to wait until next may begin. A longer wait than any that is given out comes from
// before the clock was set back, so it is over.
func isDue(next, now time.Time) bool {
	wait := next.Sub(now)
	return wait <= 0 || wait > 2*maxRetryAfter
}

// parseRetryAfter reads the value of Retry-After: seconds, or a date.
func parseRetryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return at.Sub(now), true
	}
	return 0, false
}
