package feed

import (
	"context"
	"errors"
	"slices"
	"time"

	"petstore/internal/petstore"
)

const (
	// maxBatchAge is how old events may be when they are sent. Older ones are read again, because the storage may have
	// removed a reference from them.
	maxBatchAge = time.Second
	// bookmarkEvery is how often the position moves past events that the webhook does not select.
	bookmarkEvery = 10 * time.Second
)

// worker delivers to one webhook.
type worker struct {
	d      *Deliverer
	reader *Reader

	// What follows is used by the worker's goroutine only.
	batch      []Event // the next events
	batchEpoch int
	batchRead  time.Time
	ping       message         // what is sent until the webhook is confirmed
	reading    context.Context // ends when a bookmark is due, or with the epoch
	endReading context.CancelFunc

	// What follows is guarded by the deliverer's lock.
	hook    petstore.Webhook // with the progress of all attempts, saved or not
	sign    signer           // for the secrets of hook
	epoch   int              // changes when hook is replaced by what is stored
	ctx     context.Context  // ends when the epoch does
	end     context.CancelFunc
	stale   bool // whether hook must be replaced before the next attempt
	stopped bool

	changes, saving, savedChanges int       // how many there were, in all and in what is being saved or is saved
	unsavedSince                  time.Time // when the first change happened that is not saved
	deliveries                    []petstore.Delivery
	disabled                      petstore.WebhookReason
	missed                        bool
}

// startWorker starts a worker. The caller holds the lock.
func (d *Deliverer) startWorker(hook petstore.Webhook) {
	w := &worker{d: d, reader: d.Follower.NewReader(), hook: hook, sign: newSigner(hook)}
	w.ctx, w.end = context.WithCancel(d.ctx)
	w.reading, w.endReading = context.WithTimeout(w.ctx, bookmarkEvery)
	d.workers[hook.ID] = w
	d.done.Go(w.run)
}

// stop lets the worker end after the attempt that is under way. The caller holds the lock.
func (w *worker) stop() {
	w.stopped = true
	w.end()
}

// replace makes the worker go on with what is stored. The caller holds the lock.
func (w *worker) replace(hook petstore.Webhook) {
	w.end()
	w.ctx, w.end = context.WithCancel(w.d.ctx)
	w.epoch++
	w.hook, w.sign, w.stale = hook, newSigner(hook), false
	w.savedChanges, w.unsavedSince, w.disabled, w.missed = w.changes, time.Time{}, "", false
}

// isSaved reports whether nothing has to be saved. The caller holds the lock.
func (w *worker) isSaved() bool { return w.changes == w.savedChanges && len(w.deliveries) == 0 }

// saved notes that what was unsaved at that time is saved. The caller holds the lock.
func (w *worker) saved(a petstore.WebhookAttempts, at time.Time) {
	w.deliveries = slices.Delete(w.deliveries, 0, len(a.Deliveries))
	w.savedChanges = max(w.savedChanges, w.saving)
	if w.unsavedSince = at; w.isSaved() {
		w.unsavedSince = time.Time{}
	}
}

// change notes that something has to be saved. The caller holds the lock.
func (w *worker) change() {
	if w.changes++; w.unsavedSince.IsZero() {
		w.unsavedSince = time.Now()
	}
}

// turn is the permission to make an attempt in an epoch of the worker.
type turn struct {
	hook  petstore.Webhook
	sign  signer
	epoch int
	ctx   context.Context
}

// run makes attempts until the worker is stopped.
func (w *worker) run() {
	defer w.reader.Close()
	defer func() { w.endReading() }()
	for {
		t, ok := w.await()
		if !ok {
			return
		}
		if m, ok := w.next(t); ok {
			w.try(t, m)
		}
	}
}

// await waits until the worker may make an attempt. It reports false when the worker is stopped.
func (w *worker) await() (turn, bool) {
	for {
		w.d.mu.Lock()
		t, changed := turn{w.hook, w.sign, w.epoch, w.ctx}, w.d.changed
		may, stopped := w.mayBegin(time.Now()), w.stopped
		w.d.mu.Unlock()
		if may || stopped {
			return t, may
		}
		var due <-chan time.Time
		if wait := time.Until(t.hook.NextAttempt); wait > 0 {
			due = time.After(wait)
		}
		select {
		case <-changed:
		case <-due:
		case <-t.ctx.Done():
		}
	}
}

// mayBegin reports whether an attempt may begin at that time. The caller holds the lock.
func (w *worker) mayBegin(now time.Time) bool {
	return !w.stopped && !w.stale && w.hook.Enabled && isDue(w.hook.NextAttempt, now) &&
		now.Sub(w.d.refreshed) < maxUnseen &&
		(w.unsavedSince.IsZero() || now.Sub(w.unsavedSince) < maxUnseen)
}

// next returns what to send: a ping, or the next event, for which it waits. It reports false if there is nothing to send in
// this epoch, or not yet.
func (w *worker) next(t turn) (message, bool) {
	if !t.hook.Confirmed {
		if w.ping.id == "" {
			w.ping = newPing(t.hook.ID, time.Now())
		}
		return w.ping, true
	}
	w.ping = message{}
	for len(w.batch) > 0 && w.batch[0].Position.Sequence <= t.hook.Position {
		w.batch = w.batch[1:]
	}
	if len(w.batch) == 0 || w.batchEpoch != t.epoch || time.Since(w.batchRead) >= maxBatchAge {
		if !w.read(t) {
			return message{}, false
		}
	}
	e := w.batch[0]
	return message{id: e.Position.String(), body: e.Full, position: e.Position.Sequence}, true
}

// read reads the next events, for which it waits. It reports false if there are none yet.
func (w *worker) read(t turn) bool {
	if w.reading.Err() != nil {
		w.reading, w.endReading = context.WithTimeout(t.ctx, bookmarkEvery)
	}
	events, end, err := w.reader.Read(w.reading, petstore.EventQuery{After: new(t.hook.At()), Types: t.hook.EventTypes()})
	var refused *petstore.Error
	switch {
	case err == nil:
		w.batch, w.batchEpoch, w.batchRead = events, t.epoch, time.Now()
		return true
	case errors.As(err, &refused) && refused.Code == petstore.EventsGone:
		w.d.Log.Warn("a webhook missed events, because they are no longer kept; it goes on at the oldest", "webhook", t.hook.ID)
		w.moveTo(t, refused.Oldest, true)
	case end.Sequence > t.hook.Position:
		w.moveTo(t, end, false)
	}
	return false
}

// moveTo moves the webhook to a position without a delivery.
func (w *worker) moveTo(t turn, p petstore.EventPosition, missed bool) {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	if w.epoch != t.epoch {
		return
	}
	w.hook.Feed, w.hook.Position = p.Feed, p.Sequence
	if w.missed = w.missed || missed; missed {
		w.hook.Failures, w.hook.Rejections = 0, 0
	}
	w.change()
}

// try makes an attempt, unless the turn is over.
func (w *worker) try(t turn, m message) {
	if !w.d.takeSlot(t.ctx) {
		return
	}
	defer w.d.freeSlot()
	w.d.mu.Lock()
	may := w.epoch == t.epoch && w.mayBegin(time.Now())
	w.d.mu.Unlock()
	if !may {
		return
	}
	a := w.d.send(w.d.ctx, t.hook.URL, t.sign, m)
	if a.reason != "" && w.d.ctx.Err() != nil {
		return // the server stops, and has aborted the attempt
	}
	w.settle(t, a)
}

// settle notes how an attempt went.
func (w *worker) settle(t turn, a attempt) {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	delivery := a.delivery(w.hook.ID)
	if w.epoch == t.epoch {
		result := settle(w.hook.WebhookProgress, a, time.Now())
		w.hook.WebhookProgress, delivery.Skipped = result.progress, result.skipped
		if result.disabled != "" {
			w.hook.Enabled, w.disabled = false, result.disabled
		}
		w.report(a, result)
	}
	if a.reason != "" {
		w.batch = nil
	}
	w.d.count(a, delivery.Skipped)
	w.deliveries = append(w.deliveries, delivery)
	w.change()
}

// report logs what an administrator should know about an attempt.
func (w *worker) report(a attempt, result outcome) {
	message := ""
	switch {
	case result.disabled == petstore.WebhookGone:
		message = "a webhook is disabled, because its receiver answered that it is gone"
	case result.disabled != "":
		message = "a webhook is disabled, because no delivery succeeded for 72 hours"
	case result.skipped:
		message = "an event was skipped, because the receiver of a webhook refused it five times"
	default:
		return
	}
	w.d.Log.Warn(message, "webhook", w.hook.ID, "event", a.id, "status", a.status, "error", a.reason)
}
