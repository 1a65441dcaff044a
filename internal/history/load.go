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

// Load is a mix of all operations, which several workers send at once. Most requests are about a few animals that all
// workers want.
//
// Three habits keep the search for a linearization short. Each name is given only once, so that an answer tells which request
// gave it. Animals live for a few hundred requests. After a write whose outcome is unknown, nobody writes to that animal
// again.
type Load struct {
	// Base is the address of the service, without the version.
	Base string
	// Keys are the secrets of the API keys, by the names of the keys. They are divided among the workers.
	Keys    map[string]string
	Client  *http.Client
	Seed    uint64
	Workers int
	// Pause is how long a worker rests between two requests.
	Pause time.Duration
}

// Run records the requests of the workers and their answers. It returns when ctx is done and every worker has finished
// its request. A request without an answer is recorded with an unknown outcome, and its worker continues after a short
// rest.
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

// ReadBack records one walk through all lists, and the inventory before and after it, so that every write of the history
// is followed by a read.
func (l Load) ReadBack(ctx context.Context, h *History) {
	w := l.worker(max(1, l.Workers), h, new(known))
	w.get(ctx, "/v1/inventory")
	for _, list := range []string{"/v1/pets?limit=100", "/v1/orders?limit=100", "/v1/categories?limit=100"} {
		for next := list; next != "" && ctx.Err() == nil; {
			answer := w.get(ctx, next)
			next = model.NextPage(answer.Header)
			if answer.Status != http.StatusOK { // then the walk begins again
				next = list
				w.rest(ctx, 100*time.Millisecond)
			}
		}
	}
	w.get(ctx, "/v1/inventory")
}

func (l Load) worker(i int, h *History, shared *known) *worker {
	w := &worker{load: l, id: i, history: h, known: shared, backoff: shortBackoff, random: rand.New(rand.NewPCG(l.Seed, uint64(i)))}
	if names := slices.Sorted(maps.Keys(l.Keys)); len(names) > 0 {
		w.key = names[i%len(names)]
	}
	if w.load.Client == nil {
		w.load.Client = http.DefaultClient
	}
	return w
}

// oneOf picks a value at random.
func oneOf[T any](w *worker, values []T) T { return values[w.random.IntN(len(values))] }

// chance returns true that many times out of a hundred.
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
