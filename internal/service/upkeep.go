package service

import (
	"context"
	"log/slog"
	"time"

	"petstore/internal/petstore"
)

// purgeIdempotency deletes expired idempotency records, immediately and then every hour.
func purgeIdempotency(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	return repeat(time.Hour, func(ctx context.Context) {
		if _, err := storage.PurgeIdempotency(ctx, time.Time{}); err != nil && ctx.Err() == nil {
			log.Warn("expired idempotency records could not be deleted; the server tries again in an hour", "cause", err.Error())
		}
	})
}

// expireEvery is the time between two runs of expireOrders. It is also the longest time that an animal stays pending after
// its order expired.
const expireEvery = time.Second

// expireOrders closes expired orders and makes their animals available, immediately and then every second. Every replica
// runs it. It logs once when this work starts to fail, and once when the work succeeds again.
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

// repeat calls the function work immediately, and again after every interval until stop is called. It skips a call if the
// previous call is still running.
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
