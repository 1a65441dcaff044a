package transfer

import (
	"context"
	"time"

	"petstore/internal/petstore"
)

const (
	// outageTimeout is how long an import retries one write to a database that cannot do its work. It is longer than a
	// failover takes.
	outageTimeout = 30 * time.Second
	// retryPause is the time between two tries.
	retryPause = 200 * time.Millisecond
)

// retry makes a write to a database again while the database cannot do it, until ctx ends. The write must have an
// idempotency key, because the database may have done it and lost only the answer. A write that has begun is not abandoned
// when ctx ends. The result replayed is false if an earlier try of this call may have made the write.
func retry[T any](ctx context.Context, write func(context.Context) (T, bool, error)) (answer T, replayed bool, err error) {
	giveUp := time.Now().Add(outageTimeout)
	for first := true; ; first = false {
		answer, replayed, err = write(context.WithoutCancel(ctx))
		isOutage := petstore.IsCode(err, petstore.Unavailable) || petstore.IsCode(err, petstore.OutcomeUnknown)
		if !isOutage || time.Now().After(giveUp) {
			return answer, replayed && first, err
		}
		select {
		case <-ctx.Done():
			return answer, false, err
		case <-time.After(retryPause):
		}
	}
}
