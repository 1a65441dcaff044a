package feed

import (
	"context"
	"slices"
	"time"

	"petstore/internal/petstore"
)

const (
	// batchLimit is how many events are read from the storage at once.
	batchLimit = 100
	// retryEvery is how long the follower waits after the storage failed.
	retryEvery = time.Second
)

// follow adds the events of the feed to a window, from the end of the feed on, until ctx ends.
func (f *Follower) follow(ctx context.Context, w *window) {
	for failing := false; ; {
		err := f.followOnce(ctx, w)
		switch {
		case ctx.Err() != nil:
			return
		case petstore.IsCode(err, petstore.EventsGone): // another feed, or one that was trimmed faster than it was read
			w.reset(view{})
		case err != nil:
			if !failing {
				f.log.Warn("the feed of events cannot be read; streams and webhooks wait, and the server tries again every second", "cause", err.Error())
			}
			failing = true
			sleep(ctx, retryEvery)
		case failing:
			f.log.Info("the feed of events can be read again")
			failing = false
		}
	}
}

// followOnce reads the next events, and waits for more if there are none left.
func (f *Follower) followOnce(ctx context.Context, w *window) error {
	v := w.now()
	last := v.end()
	q := petstore.EventQuery{After: &last, Limit: batchLimit}
	known := last.Feed != ""
	if !known {
		q = petstore.EventQuery{FromEnd: true, Limit: 1}
	}
	page, err := f.storage.ListEvents(ctx, q)
	if err != nil {
		return err
	}
	switch {
	case !known:
		w.reset(view{after: page.Next})
	case len(page.Events) > 0:
		if slices.ContainsFunc(page.Events, mayErase) {
			w.reset(view{after: last})
		}
		w.add(f.encoded(page))
	}
	if !page.End {
		return nil
	}
	return f.storage.AwaitEvents(ctx, page.Next.Sequence)
}

// mayErase reports whether an event may have removed the reference of an order. The storage then removed it from earlier
// events too, so those in memory must be forgotten.
func mayErase(e petstore.Event) bool {
	return e.Type == petstore.OrderUpdated && e.Order.Now.Reference == ""
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
