package service

import (
	"context"
	"log/slog"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/usage"
)

// purgeIdempotency deletes expired idempotency records, immediately and then every hour.
func purgeIdempotency(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	return repeat(time.Hour, func(ctx context.Context) {
		if _, err := storage.PurgeIdempotency(ctx, time.Time{}); err != nil && ctx.Err() == nil {
			log.Warn("expired idempotency records could not be deleted; the server tries again in an hour", "cause", err.Error())
		}
	})
}

const (
	// usageEvery is how often usage is added to the storage. With the time that this takes, a server that is killed loses the
	// usage of 10 seconds at most.
	usageEvery = 8 * time.Second
	// lastFlushTimeout bounds the flush of a server that stops.
	lastFlushTimeout = 5 * time.Second
)

// flushUsage adds the counted usage to the storage every 8 seconds, and once more at the stop.
func flushUsage(counter *usage.Counter, log *slog.Logger) (stop func()) {
	logFailure := onceEach(log, "usage cannot be stored; the server keeps its counts and tries again every 8 seconds", "usage is stored again")
	stopRepeating := repeat(usageEvery, func(ctx context.Context) { logFailure(ctx, counter.Flush(ctx)) })
	return func() {
		stopRepeating()
		ctx, cancel := context.WithTimeout(context.Background(), lastFlushTimeout)
		defer cancel()
		if err := counter.Flush(ctx); err != nil {
			log.Warn("the usage of the last seconds could not be stored, so it is lost", "cause", err.Error())
		}
	}
}

// purgeUsage deletes usage that is no longer kept, immediately and then every minute.
func purgeUsage(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	logFailure := onceEach(log, "old usage cannot be deleted; the server tries again every minute", "old usage is deleted again")
	return repeat(time.Minute, func(ctx context.Context) {
		_, err := storage.PurgeUsage(ctx, time.Time{})
		logFailure(ctx, err)
	})
}

// expireEvery is the time between two runs of expireOrders. It is also the longest time that an animal stays pending after
// its order expired.
const expireEvery = time.Second

// expireOrders closes expired orders and makes their animals available, now and every second. Every replica does this.
func expireOrders(storage petstore.Upkeep, log *slog.Logger) (stop func()) {
	logFailure := onceEach(log, "expired orders cannot be closed, so their animals stay pending; the server tries again every second",
		"expired orders are closed again")
	return repeat(expireEvery, func(ctx context.Context) {
		_, err := storage.ExpireOrders(ctx)
		logFailure(ctx, err)
	})
}

const (
	// indexEvery is how often the words of new and changed animals are stored.
	indexEvery = time.Second
	// progressEvery is how often the log says how many animals have no words yet.
	progressEvery = 10 * time.Second
)

// indexWords stores the words of animals, now and every second. One replica at a time does this. If there are animals of an
// older version, whose words must all be made, the log shows how far this is.
func indexWords(index func(context.Context) (left int64, err error), log *slog.Logger) (stop func()) {
	logFailure := onceEach(log, "animals cannot be indexed, so searches become slow; the server tries again every second",
		"animals are indexed again")
	var began, logged time.Time
	return repeat(indexEvery, func(ctx context.Context) {
		for left := int64(1); left > 0; {
			var err error
			if left, err = index(ctx); err != nil {
				logFailure(ctx, err)
				return
			}
			switch now := time.Now(); {
			case left > 0 && began.IsZero():
				began, logged = now, now
				log.Info("animals are being indexed; meanwhile the server may refuse searches", "left", left)
			case left > 0 && now.Sub(logged) >= progressEvery:
				logged = now
				log.Info("animals are being indexed", "left", left)
			case left == 0 && !began.IsZero():
				log.Info("all animals are indexed for searches", "took", now.Sub(began).Round(time.Millisecond).String())
				began = time.Time{}
			}
		}
		logFailure(ctx, nil)
	})
}

// onceEach returns a function that logs once when something starts to fail, and once when it works again.
func onceEach(log *slog.Logger, fails, works string) func(context.Context, error) {
	failing := false
	return func(ctx context.Context, err error) {
		switch {
		case ctx.Err() != nil:
		case err != nil && !failing:
			failing = true
			log.Warn(fails, "cause", err.Error())
		case err == nil && failing:
			failing = false
			log.Info(works)
		}
	}
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
