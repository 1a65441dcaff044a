package service

import (
	"context"
	"log/slog"
	"time"

	"petstore/internal/petstore"
)

// purgeIdempotency deletes expired idempotency records, now and every hour.
func purgeIdempotency(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	return repeat(time.Hour, func(ctx context.Context) {
		if _, err := storage.PurgeIdempotency(ctx, time.Time{}); err != nil && ctx.Err() == nil {
			log.Warn("expired idempotency records could not be deleted; the server tries again in an hour", "cause", err.Error())
		}
	})
}

// expireEvery is how often expired orders are closed, and so the longest that an animal stays pending after its order
// expired.
const expireEvery = time.Second

// expireOrders closes expired orders and makes their animals available, now and every second. Every replica does this. It
// logs once when this starts to fail, and once when it works again.
func expireOrders(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	failing := false
	return repeat(expireEvery, func(ctx context.Context) {
		_, err := storage.ExpireOrders(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && !failing:
			failing = true
			log.Warn("expired orders cannot be closed, so their animals stay pending; the server tries again every second", "cause", err.Error())
		case err == nil && failing:
			failing = false
			log.Info("expired orders are closed again")
		}
	})
}

// repeat calls work at once, and again after every interval until it is stopped. It skips a call if the last one is still
// running.
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
