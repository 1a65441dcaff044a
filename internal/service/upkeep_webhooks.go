package service

import (
	"context"
	"log/slog"
	"time"

	"petstore/internal/petstore"
)

// countEvery is how often new events are counted. So few come in that time that the rest can be counted when somebody asks.
const countEvery = time.Second

// countEvents counts the events of the feed, now and every second. One replica at a time does this.
func countEvents(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	logFailure := onceEach(log, "events cannot be counted, so it becomes slow to say how far webhooks are behind; the server tries again every second",
		"events are counted again")
	return repeat(countEvery, func(ctx context.Context) { logFailure(ctx, storage.CountEvents(ctx)) })
}

// purgeDeliveries deletes deliveries that are no longer kept, immediately and then every minute.
func purgeDeliveries(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	logFailure := onceEach(log, "old deliveries of webhooks cannot be deleted; the server tries again every minute",
		"old deliveries of webhooks are deleted again")
	return repeat(time.Minute, func(ctx context.Context) { logFailure(ctx, storage.PurgeDeliveries(ctx)) })
}
