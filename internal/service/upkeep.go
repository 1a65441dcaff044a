package service

import (
	"context"
	"log/slog"
	"time"

	"petstore/internal/petstore"
)

// purgeIdempotency deletes idempotency records that no longer count, now and every hour.
func purgeIdempotency(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	return repeat(time.Hour, func(ctx context.Context) {
		if _, err := storage.PurgeIdempotency(ctx, time.Time{}); err != nil && ctx.Err() == nil {
			log.Warn("old idempotency records were not purged; the next try is in an hour", "cause", err.Error())
		}
	})
}

// expireEvery is how often expired orders are closed, and so how late their animals may become available.
const expireEvery = time.Second

// expireOrders closes expired orders and frees their animals, now and every second, on every replica. It logs once when
// this begins to fail, and once when it works again.
func expireOrders(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	failing := false
	return repeat(expireEvery, func(ctx context.Context) {
		_, err := storage.ExpireOrders(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && !failing:
			failing = true
			log.Warn("expired orders were not closed, so their animals are still shown as pending; the server tries again every second", "cause", err.Error())
		case err == nil && failing:
			failing = false
			log.Info("expired orders are closed again")
		}
	})
}

// repeat does work now and at every tick until it is stopped. It skips ticks that come during the work.
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
