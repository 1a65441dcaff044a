package main

import (
	"context"
	"log/slog"
	"time"

	"petstore/internal/petstore"
)

// purgeIdempotency forgets idempotency records that no longer hold, now and every hour.
func purgeIdempotency(storage petstore.Storage, log *slog.Logger) (stop func()) {
	return repeat(time.Hour, func(ctx context.Context) {
		if _, err := storage.PurgeIdempotency(ctx, time.Time{}); err != nil && ctx.Err() == nil {
			log.Warn("old idempotency records were not purged; it is tried again in an hour", "cause", err.Error())
		}
	})
}

// expireEvery is how often orders whose time is over are looked for: how late their animals are shown as free.
const expireEvery = time.Second

// expireOrders frees the animals of orders whose time is over, now and every second, on every replica. A failure is told
// once, and its end once.
func expireOrders(storage petstore.Storage, log *slog.Logger) (stop func()) {
	failing := false
	return repeat(expireEvery, func(ctx context.Context) {
		_, err := storage.ExpireOrders(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && !failing:
			failing = true
			log.Warn("orders whose time is over were not closed, so their animals are shown as pending; it is tried again every second", "cause", err.Error())
		case err == nil && failing:
			failing = false
			log.Info("orders whose time is over are closed again")
		}
	})
}

// repeat does work now and at every tick, until it is stopped. A tick during the work is skipped.
func repeat(every time.Duration, work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ticker := time.NewTicker(every); ; {
			work(ctx)
			select {
			case <-ticker.C:
			case <-ctx.Done():
				ticker.Stop()
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
