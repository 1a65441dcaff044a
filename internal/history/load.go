package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Load is a mix of all operations by several workers at once, on a few animals that all workers want and on fresh ones.
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
			next = nextPage(answer.Header)
			if answer.Status != http.StatusOK { // begin again
				next = list
				w.rest(ctx, 100*time.Millisecond)
			}
		}
	}
	w.get(ctx, "/v1/inventory")
}

func (l Load) worker(i int, h *History, shared *known) *worker {
	names := make([]string, 0, len(l.Keys))
	for name := range l.Keys {
		names = append(names, name)
	}
	slices.Sort(names)
	w := &worker{load: l, id: i, history: h, known: shared, random: rand.New(rand.NewPCG(l.Seed, uint64(i)))}
	if len(names) > 0 {
		w.key = names[i%len(names)]
	}
	if w.load.Client == nil {
		w.load.Client = http.DefaultClient
	}
	return w
}

// action is something that a worker does, and how often it does so compared with the other actions.
type action struct {
	weight int
	do     func(*worker, context.Context)
}

var actions = []action{
	{10, (*worker).createPet},
	{12, (*worker).getPet},
	{6, (*worker).findPet},
	{9, (*worker).listPets},
	{13, (*worker).updatePet},
	{4, (*worker).deletePet},
	{5, (*worker).getInventory},
	{10, (*worker).placeOrder},
	{9, (*worker).closeOrder},
	{5, (*worker).getOrder},
	{4, (*worker).listOrders},
	{3, (*worker).createCategory},
	{4, (*worker).nameCategory},
	{2, (*worker).deleteCategory},
	{2, (*worker).getCategory},
	{2, (*worker).listCategories},
}

// act does one action at random. If there are too many animals, it first deletes one.
func (w *worker) act(ctx context.Context) {
	if w.known.crowded() {
		w.deletePet(ctx)
	}
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	at := w.random.IntN(total)
	for _, a := range actions {
		if at -= a.weight; at < 0 {
			a.do(w, ctx)
			return
		}
	}
}

// name is a name that nobody else gives, so that a checker knows from the name which request gave it.
func (w *worker) name(of string) string {
	w.named++
	return fmt.Sprintf("%s %x-%d-%d", of, w.load.Seed, w.id, w.named)
}

// oneOf picks a value at random.
func oneOf[T any](w *worker, values ...T) T { return values[w.random.IntN(len(values))] }

// chance is true that many times out of a hundred.
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
