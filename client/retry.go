package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// The wait before a retry has a random part. Before the first retry that part is below firstBackoff. The bound doubles with
// each try, up to maxBackoff.
const (
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 10 * time.Second
)

// sendWithRetries sends a request until the request gets a final answer, its tries or its budget are used up, or ctx ends.
// The client may send any request again: a write carries an Idempotency-Key, so the service makes the change only once,
// whatever other clients have changed since.
func (c *Client) sendWithRetries(ctx context.Context, r *request) (*answer, error) {
	var last error
	tries, waited := 0, time.Duration(0)
	for {
		a, err := c.send(ctx, r)
		if err == nil {
			return a, nil
		}
		if refused := (*gateClosed)(nil); errors.As(err, &refused) {
			return nil, joinErrors(last, err)
		}
		if ctx.Err() != nil {
			return nil, joinErrors(last, err)
		}
		last = err
		banned := errors.Is(err, ErrKeyBanned)
		if !banned {
			tries++
		}
		if tries >= c.attempts || !c.worthRetrying(err) {
			return nil, err
		}
		wait := backoff(err, tries)
		if !banned {
			if waited += wait; waited > c.budget {
				return nil, err
			}
		}
		c.log.InfoContext(ctx, "retrying the request", "method", r.method, "path", r.path, "in", wait, "because", err)
		c.onWait(wait, err)
		if err := sleep(ctx, wait); err != nil {
			return nil, joinErrors(last, err)
		}
	}
}

// worthRetrying reports whether the same request may succeed later.
func (c *Client) worthRetrying(err error) bool {
	if e := (*Error)(nil); errors.As(err, &e) {
		if e.Code == ErrKeyBanned {
			return c.onBan == WaitForBan
		}
		return e.Status == http.StatusTooManyRequests || e.Status >= 500
	}
	distrusted := (*tls.CertificateVerificationError)(nil)
	return !errors.As(err, &distrusted)
}

// backoff returns how long to wait after a failed try. The wait is the time that the service asks for plus a random time, so
// that clients that failed together do not retry together.
func backoff(err error, tries int) time.Duration {
	wait := rand.N(min(maxBackoff, firstBackoff<<min(max(0, tries-1), 10)))
	if e := (*Error)(nil); errors.As(err, &e) {
		wait += e.RetryAfter
	}
	return wait
}

// sleep waits. If ctx would end before the wait does, sleep fails immediately.
func sleep(ctx context.Context, wait time.Duration) error {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		return fmt.Errorf("the next try would be too late, in %s: %w", wait.Round(time.Millisecond), context.DeadlineExceeded)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// joinErrors combines the error of the last try with the reason why there is no further try. Callers find both with
// errors.Is and errors.As.
func joinErrors(last, err error) error {
	if last == nil {
		return err
	}
	return fmt.Errorf("%w; %w", last, err)
}
