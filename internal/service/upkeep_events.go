package service

import (
	"context"
	"log/slog"
	"time"

	"petstore/internal/petstore"
)

const (
	// feedEvery is how often the feed is kept in order.
	feedEvery = time.Second
	// purgeDeliveriesEvery is how often deliveries beyond what is shown are deleted.
	purgeDeliveriesEvery = 30 * time.Second
)

// keepFeed gives new events their place in the feed, counts them, and removes those that are no longer kept, now and every
// second. Every replica does this.
func keepFeed(storage petstore.EventUpkeep, kept petstore.EventsKept, log *slog.Logger) (stop func()) {
	logFailure := onceEach(log, "the feed of events cannot be kept in order, so new events may come late; the server tries again every second",
		"the feed of events is kept in order again")
	return repeat(feedEvery, func(ctx context.Context) {
		err := storage.NumberEvents(ctx)
		if err == nil {
			err = storage.CountEvents(ctx)
		}
		for removed := int64(1); err == nil && removed > 0; {
			removed, err = storage.TrimEvents(ctx, kept)
		}
		logFailure(ctx, err)
	})
}

// purgeDeliveries deletes deliveries that are no longer shown, now and every 30 seconds.
func purgeDeliveries(storage petstore.WebhookDelivering, log *slog.Logger) (stop func()) {
	logFailure := onceEach(log, "old deliveries of webhooks cannot be deleted; the server tries again every 30 seconds",
		"old deliveries of webhooks are deleted again")
	return repeat(purgeDeliveriesEvery, func(ctx context.Context) { logFailure(ctx, storage.PurgeDeliveries(ctx)) })
}
