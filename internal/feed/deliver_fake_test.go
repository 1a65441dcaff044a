package feed

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/client/webhook"
	"petstore/internal/petstore"
)

// hooks stores webhooks in memory.
type hooks struct {
	mu         sync.Mutex
	all        map[string]*storedHook
	deliveries []petstore.Delivery
	failure    error // what every call returns, if not nil
	leases     int
}

type storedHook struct {
	petstore.Webhook
	holder string
	until  time.Time
}

func newHooks(s *store, urls ...string) *hooks {
	h := &hooks{all: make(map[string]*storedHook)}
	for _, url := range urls {
		w := petstore.NewWebhook(petstore.WebhookSettings{URL: url, Types: []string{"*"}}, time.Now())
		w.Feed, w.Position = s.feed.Name, s.feed.Last
		h.all[w.ID] = &storedHook{Webhook: w}
	}
	return h
}

// only returns the only webhook.
func (h *hooks) only() petstore.Webhook {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		return w.Webhook
	}
	panic("there is none")
}

// change makes a change by an administrator to all webhooks.
func (h *hooks) change(change func(*petstore.Webhook)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		change(&w.Webhook)
		w.Version++
	}
}

func (h *hooks) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failure = err
}

func (h *hooks) LeaseWebhooks(_ context.Context, holder string) (held []petstore.Webhook, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases++
	for _, w := range h.all {
		if w.holder == holder || !time.Now().Before(w.until) {
			w.holder, w.until = holder, time.Now().Add(petstore.WebhookLease)
			held = append(held, w.Webhook)
		}
	}
	return held, h.failure
}

func (h *hooks) WebhookVersions(context.Context) (map[string]int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	versions := make(map[string]int64)
	for id, w := range h.all {
		versions[id] = w.Version
	}
	return versions, h.failure
}

func (h *hooks) ReleaseWebhooks(_ context.Context, holder string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		if w.holder == holder {
			w.holder, w.until = "", time.Time{}
		}
	}
	return h.failure
}

// logged returns the log of deliveries.
func (h *hooks) logged() []petstore.Delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.deliveries)
}

func (h *hooks) SaveAttempts(_ context.Context, holder string, attempts []petstore.WebhookAttempts) (refused []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failure != nil {
		return nil, h.failure
	}
	for _, a := range attempts {
		h.deliveries = append(h.deliveries, a.Deliveries...)
		w := h.all[a.ID]
		if w == nil || w.holder != holder || w.Version != a.Version {
			refused = append(refused, a.ID)
			continue
		}
		w.WebhookProgress = a.Progress
		if a.Missed {
			w.Reason = petstore.WebhookMissed
		}
		if a.Disabled != "" {
			w.Enabled, w.Reason = false, a.Disabled
		}
	}
	return refused, nil
}

func (h *hooks) PurgeDeliveries(context.Context) error { return nil }

// sent is a request to a receiver.
type sent struct {
	at     time.Time
	url    string
	header http.Header
	body   string
}

// receiver records requests, and answers them with what answer returns.
type receiver struct {
	mu     sync.Mutex
	got    []sent
	answer func(n int, s sent) (status int, header http.Header, err error)
}

func (r *receiver) post(_ context.Context, url string, header http.Header, body []byte) (int, http.Header, error) {
	r.mu.Lock()
	s := sent{time.Now(), url, header, string(body)}
	r.got = append(r.got, s)
	n := len(r.got)
	r.mu.Unlock()
	if r.answer == nil {
		return http.StatusNoContent, nil, nil
	}
	return r.answer(n, s)
}

func (r *receiver) requests() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// events returns the ids of the events that were received, without pings.
func (r *receiver) events() (ids []string) {
	for _, s := range r.requests() {
		if id := s.header.Get(webhook.IDHeader); !strings.HasPrefix(id, "ping_") {
			ids = append(ids, id)
		}
	}
	return ids
}

func eventIDs(first, last int) (ids []string) {
	for i := first; i <= last; i++ {
		ids = append(ids, fmt.Sprintf("evt_test_%d", i))
	}
	return ids
}

func deliverer(s *store, h petstore.WebhookDelivering, r *receiver) *Deliverer {
	return NewDeliverer(DelivererConfig{Follower: follow(s), Storage: h, Post: r.post, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

// delivering delivers until the end of the test.
func delivering(t *testing.T, s *store, h petstore.WebhookDelivering, r *receiver) *Deliverer {
	t.Helper()
	d := deliverer(s, h, r)
	stop := d.Start()
	t.Cleanup(func() { stop(context.Background()) })
	return d
}

func answering(status int, header ...string) func(int, sent) (int, http.Header, error) {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return func(int, sent) (int, http.Header, error) { return status, h, nil }
}

func expectEvents(t *testing.T, r *receiver, want []string) {
	t.Helper()
	if got := r.events(); !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// guarded is the storage as one process reaches it: the function before comes first, and may wait or fail.
type guarded struct {
	*hooks
	before func() error
}

func (g guarded) LeaseWebhooks(ctx context.Context, holder string) ([]petstore.Webhook, error) {
	if err := g.before(); err != nil {
		return nil, err
	}
	return g.hooks.LeaseWebhooks(ctx, holder)
}

func (g guarded) WebhookVersions(ctx context.Context) (map[string]int64, error) {
	if err := g.before(); err != nil {
		return nil, err
	}
	return g.hooks.WebhookVersions(ctx)
}

func (g guarded) ReleaseWebhooks(ctx context.Context, holder string) error {
	if err := g.before(); err != nil {
		return err
	}
	return g.hooks.ReleaseWebhooks(ctx, holder)
}

func (g guarded) SaveAttempts(ctx context.Context, holder string, attempts []petstore.WebhookAttempts) ([]string, error) {
	if err := g.before(); err != nil {
		return nil, err
	}
	return g.hooks.SaveAttempts(ctx, holder, attempts)
}

// pausable returns the storage as a process reaches it that can be suspended. It is suspended while the channel is full.
func pausable(h *hooks) (guarded, chan struct{}) {
	paused := make(chan struct{}, 1)
	return guarded{h, func() error {
		paused <- struct{}{}
		<-paused
		return nil
	}}, paused
}
