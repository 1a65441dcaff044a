package feed

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"petstore/internal/petstore"
)

const (
	// refreshEvery is how often the deliverer looks for changes by administrators, and saves what it did.
	refreshEvery = 400 * time.Millisecond
	// maxUnseen is how old the last look may be when an attempt begins. It is also how long the outcome of an attempt may be
	// unsaved: then no further attempt begins, so that a killed server repeats no more than that.
	maxUnseen = time.Second
	// leaseEvery is how often leases are prolonged. A look that finds no newer lease fails, and without a look no attempt
	// begins, so every attempt is over before the lease is.
	leaseEvery = 5 * time.Second
	// maxInFlight is how many requests to receivers a process makes at the same time.
	maxInFlight = 64
	// callTimeout bounds a call of the storage.
	callTimeout = 5 * time.Second
)

// DelivererConfig contains what a Deliverer needs.
type DelivererConfig struct {
	Follower *Follower
	Storage  petstore.WebhookDelivering
	// Post sends a request and returns the status and the headers of the answer.
	Post func(ctx context.Context, url string, header http.Header, body []byte) (status int, answered http.Header, err error)
	Log  *slog.Logger
	// Delivered, if not nil, is called after each attempt with its outcome: delivered, failed or skipped.
	Delivered func(outcome string)
}

// Deliverer delivers the events of the feed to webhooks: to each one in order, at least once, one request at a time. Of all
// processes on a database, one delivers to a webhook; it holds a lease.
type Deliverer struct {
	DelivererConfig
	holder string
	slots  chan struct{} // has a value for each request that is under way
	ctx    context.Context
	cancel context.CancelFunc // aborts the requests that are under way
	done   sync.WaitGroup

	mu        sync.Mutex
	workers   map[string]*worker
	known     map[string]int64 // the versions of all webhooks
	refreshed time.Time        // when the last look at the versions began that found no unknown ones
	leased    time.Time        // when the last successful call for leases began
	changed   chan struct{}    // is closed when workers may go on
}

// NewDeliverer returns a Deliverer, which delivers nothing until it is started.
func NewDeliverer(c DelivererConfig) *Deliverer {
	d := &Deliverer{
		DelivererConfig: c, holder: rand.Text(), slots: make(chan struct{}, maxInFlight), workers: make(map[string]*worker), changed: make(chan struct{}),
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// takeSlot waits until another request may be made. It reports false if ctx ends first.
func (d *Deliverer) takeSlot(ctx context.Context) bool {
	select {
	case d.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (d *Deliverer) freeSlot() { <-d.slots }

func (d *Deliverer) count(a attempt, skipped bool) {
	switch {
	case d.Delivered == nil:
	case skipped:
		d.Delivered("skipped")
	case a.reason != "":
		d.Delivered("failed")
	default:
		d.Delivered("delivered")
	}
}

// Start begins to deliver. The function stop begins no further attempt, waits for those under way until ctx ends, saves what was
// done, and lets other processes deliver.
func (d *Deliverer) Start() (stop func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	kept := make(chan struct{})
	go func() { defer close(kept); d.keep(ctx) }()
	return func(ctx context.Context) {
		cancel()
		<-kept
		d.stopWorkers(ctx)
		d.release()
	}
}

// keep keeps leases, notices changes and saves outcomes until ctx ends.
func (d *Deliverer) keep(ctx context.Context) {
	failing := false
	for ticker := time.NewTicker(refreshEvery); ; {
		err := d.save(ctx)
		if err == nil {
			err = d.refresh(ctx)
		}
		switch {
		case ctx.Err() != nil:
			ticker.Stop()
			return
		case err != nil && !failing:
			d.Log.Warn("webhooks wait, because the database fails; the server tries again at once", "cause", err.Error())
		case err == nil && failing:
			d.Log.Info("webhooks are served again")
		}
		failing = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// refresh looks for changes by administrators, and for webhooks without a holder.
func (d *Deliverer) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := time.Now()
	versions, err := d.Storage.WebhookVersions(ctx)
	if err != nil {
		return err
	}
	if d.mustLease(versions, began) {
		began = time.Now()
		held, err := d.Storage.LeaseWebhooks(ctx, d.holder)
		if err != nil {
			return err
		}
		d.hold(held, began)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known, d.refreshed = versions, began
	d.wake()
	return nil
}

// mustLease reports whether to ask for leases: because there is a new webhook, one that this process holds was changed or
// deleted, or the leases must be prolonged. A server without webhooks writes nothing.
func (d *Deliverer) mustLease(versions map[string]int64, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(versions) == 0 && len(d.workers) == 0 {
		return false
	}
	for id := range versions {
		if _, known := d.known[id]; !known {
			return true
		}
	}
	for id, w := range d.workers {
		if version, exists := versions[id]; w.stale || !exists || version != w.hook.Version {
			return true
		}
	}
	return now.Sub(d.leased) >= leaseEvery
}

// hold starts and stops workers, so that there is one for each webhook that the process holds. The call for leases began at
// that time.
func (d *Deliverer) hold(held []petstore.Webhook, began time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// If the leases could have ended in between, other processes may have moved the webhooks on.
	kept := time.Since(d.leased) < petstore.WebhookLease
	d.leased = began
	gone := make(map[string]bool)
	for id := range d.workers {
		gone[id] = true
	}
	for _, hook := range held {
		delete(gone, hook.ID)
		w := d.workers[hook.ID]
		switch {
		case w == nil:
			d.startWorker(hook)
		case w.stale || !kept || w.hook.Version != hook.Version:
			w.replace(hook)
		}
	}
	for id := range gone {
		d.workers[id].stop()
		delete(d.workers, id)
	}
}

// wake lets the workers look whether they may go on. The caller holds the lock.
func (d *Deliverer) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// save stores what the attempts since the last call have changed.
func (d *Deliverer) save(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	attempts, workers := d.unsaved()
	if len(attempts) == 0 {
		return nil
	}
	began := time.Now()
	refused, err := d.Storage.SaveAttempts(ctx, d.holder, attempts)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, w := range workers {
		w.saved(attempts[i], began)
	}
	for _, id := range refused {
		if w := d.workers[id]; w != nil {
			w.stale = true
		}
	}
	d.wake()
	return nil
}

// unsaved returns what must be saved, and of which workers.
func (d *Deliverer) unsaved() (attempts []petstore.WebhookAttempts, of []*worker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.workers {
		if w.isSaved() {
			continue
		}
		attempts = append(attempts, petstore.WebhookAttempts{
			ID: w.hook.ID, Version: w.hook.Version, Progress: w.hook.WebhookProgress, Disabled: w.disabled, Missed: w.missed, Deliveries: w.deliveries,
		})
		w.saving = w.changes
		of = append(of, w)
	}
	return attempts, of
}

// stopWorkers lets the workers end. It aborts their requests when ctx ends.
func (d *Deliverer) stopWorkers(ctx context.Context) {
	d.mu.Lock()
	for _, w := range d.workers {
		w.stop()
	}
	d.mu.Unlock()
	defer d.cancel()
	defer context.AfterFunc(ctx, d.cancel)()
	d.done.Wait()
}

// release saves the last outcomes and ends the leases.
func (d *Deliverer) release() {
	err := d.save(context.Background())
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		defer cancel()
		d.mu.Lock()
		holds := len(d.workers) > 0
		d.mu.Unlock()
		if holds {
			err = d.Storage.ReleaseWebhooks(ctx, d.holder)
		}
	}
	if err != nil {
		d.Log.Warn("the last deliveries of webhooks could not be saved; another server repeats them in half a minute", "cause", err.Error())
	}
}
