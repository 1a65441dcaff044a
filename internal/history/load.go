package history

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"petstore/internal/model"
)

// Load is a mix of all operations, sent by several workers at the same time. Most requests are about a few animals that all
// workers use.
//
// Three habits keep the search for a linearization short. Each name is given only once, so that an answer shows which
// request gave the name. Animals live for a few hundred requests. After a write whose outcome is unknown, nobody writes to
// that animal again.
type Load struct {
	// Base is the address of the service, without the version.
	Base string
	// Keys maps the name of each API key to its secret. The workers share the keys evenly.
	Keys    map[string]string
	Client  *http.Client
	Seed    uint64
	Workers int
	// Pause is how long a worker waits between two requests.
	Pause time.Duration
}

// Run records the requests of the workers and their answers. It returns when ctx is done and every worker has finished its
// request. Run records a request without an answer as a request with an unknown outcome, and its worker continues after a
// short wait.
func (l Load) Run(ctx context.Context, h *History) {
	var shared known
	var all sync.WaitGroup
	for i := range max(1, l.Workers) {
		w := l.worker(i, h, &shared)
		all.Go(func() {
			for ctx.Err() == nil {
				w.act(ctx)
				w.rest(ctx, w.load.Pause)
			}
		})
	}
	all.Wait()
}

// ReadBack reads all lists once, and the inventory before and after them. Then it reads the feed from its beginning to its
// end. So every write of the history is followed by a read, and by a read of its event.
func (l Load) ReadBack(ctx context.Context, h *History) {
	w := l.worker(max(1, l.Workers), h, new(known))
	w.get(ctx, "/v1/inventory")
	for _, list := range []string{"/v1/pets?limit=100", "/v1/orders?limit=100", "/v1/categories?limit=100"} {
		for next := list; next != "" && ctx.Err() == nil; {
			answer := w.get(ctx, next)
			next = model.NextPage(answer.Header)
			if answer.Status != http.StatusOK { // read the list again from its start
				next = list
				w.rest(ctx, 100*time.Millisecond)
			}
		}
	}
	w.get(ctx, "/v1/inventory")
	for isEnd := false; !isEnd && ctx.Err() == nil; {
		answer := w.readFeed(ctx, w.feed)
		isEnd = answer.Header.Get("Petstore-Feed-End") == "true"
		if answer.Status != http.StatusOK {
			w.rest(ctx, 100*time.Millisecond)
		}
	}
}

func (l Load) worker(i int, h *History, shared *known) *worker {
	w := &worker{load: l, id: i, history: h, known: shared, backoff: shortBackoff, random: rand.New(rand.NewPCG(l.Seed, uint64(i))), feed: "/v1/events?limit=1000"}
	if names := slices.Sorted(maps.Keys(l.Keys)); len(names) > 0 {
		w.key = names[i%len(names)]
	}
	if w.load.Client == nil {
		w.load.Client = http.DefaultClient
	}
	return w
}

// oneOf returns a random value.
func oneOf[T any](w *worker, values []T) T { return values[w.random.IntN(len(values))] }

// chance returns true with the given probability in percent.
func (w *worker) chance(percent int) bool { return w.random.IntN(100) < percent }

func (w *worker) rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
