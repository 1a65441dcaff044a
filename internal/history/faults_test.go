package history

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// turns selects every nth caller.
type turns struct {
	every int64
	asked atomic.Int64
}

func (t *turns) mine() bool { return t.asked.Add(1)%t.every == 0 }

// losing acknowledges some changes of a name without making them.
type losing struct {
	petstore.Database
	turns
}

func (l *losing) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch) (petstore.Pet, error) {
	if patch.Status != nil || !l.mine() {
		return l.Database.UpdatePet(ctx, id, patch)
	}
	pet, err := l.Database.GetPet(ctx, id)
	if err != nil {
		return pet, err
	}
	return pet.Patch(patch, nil)
}

func TestALostWriteIsFound(t *testing.T) {
	s := serve(t, &losing{openSQLite(t), turns{every: 5}}, ratelimit.NewMemory(time.Now), generous)
	s.run(1000)
	s.finds(Lost)
}

// forgetful shows some readers an animal as it was several changes ago.
type forgetful struct {
	petstore.Database
	turns
	mu    sync.Mutex
	shown map[int64][]petstore.Pet
}

const changesAgo = 4

func (f *forgetful) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := f.Database.GetPet(ctx, id)
	if err != nil {
		return pet, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.shown[id]
	if n := len(before); n >= changesAgo && f.mine() {
		return before[n-changesAgo], nil
	}
	if n := len(before); n == 0 || before[n-1].Name != pet.Name {
		f.shown[id] = append(before, pet)
	}
	return pet, nil
}

func TestAStaleReadIsFound(t *testing.T) {
	s := serve(t, &forgetful{Database: openSQLite(t), turns: turns{every: 20}, shown: make(map[int64][]petstore.Pet)}, ratelimit.NewMemory(time.Now), generous)
	s.run(1200)
	s.finds(Stale, OutOfOrder, Lost)
}

// doubling makes some animals twice.
type doubling struct {
	petstore.Database
	turns
}

func (d *doubling) CreatePet(ctx context.Context, pet petstore.NewPet, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	if d.mine() {
		if _, _, err := d.Database.CreatePet(ctx, pet, nil); err != nil {
			return petstore.Pet{}, false, err
		}
	}
	return d.Database.CreatePet(ctx, pet, idempotency)
}

func TestADoubledCreateIsFound(t *testing.T) {
	s := serve(t, &doubling{openSQLite(t), turns{every: 10}}, ratelimit.NewMemory(time.Now), generous)
	s.run(1000)
	s.finds(Doubled)
}

// lenient lets one more request pass than the minute allows.
type lenient struct{ petstore.Limiter }

func (l lenient) Take(ctx context.Context, ask petstore.Ask) (petstore.Decision, error) {
	if ask.Limits.PerMinute != generous.PerMinute {
		ask.Limits.PerMinute++
	}
	d, err := l.Limiter.Take(ctx, ask)
	if d.Limit == ask.Limits.PerMinute && d.Limit != generous.PerMinute {
		d.Limit--
		d.Remaining = max(0, d.Remaining-1)
	}
	return d, err
}

func TestALimitThatIsOffByOneIsFound(t *testing.T) {
	s := serve(t, openSQLite(t), lenient{ratelimit.NewMemory(time.Now)}, petstore.Limits{PerMinute: 60, PerDay: 100_000})
	s.run(1000)
	s.finds(OverLimit)
}

func TestALimitThatIsKeptIsNoFault(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, storage petstore.Database) {
		s := serve(t, storage, ratelimit.NewMemory(time.Now), petstore.Limits{PerMinute: 60, PerDay: 100_000})
		s.run(1000)
		s.findsNothing()
	})
}

// generousOrders places orders for animals that are already held, as soon as it is told to.
type generousOrders struct {
	petstore.Database
	on   atomic.Bool
	last atomic.Int64
}

func (g *generousOrders) PlaceOrder(ctx context.Context, order petstore.NewOrder, idempotency *petstore.Idempotency) (petstore.Order, bool, error) {
	placed, again, err := g.Database.PlaceOrder(ctx, order, idempotency)
	if g.on.Load() && petstore.IsCode(err, petstore.PetUnavailable) {
		placed, err = order.Place(1<<53-1-g.last.Add(1), petstore.Pet{NewPet: petstore.NewPet{Status: petstore.Available}}, time.Now())
	}
	return placed, again, err
}

func TestTwoOpenOrdersAreFound(t *testing.T) {
	wrong := &generousOrders{Database: openSQLite(t)}
	s := serve(t, wrong, ratelimit.NewMemory(time.Now), generous)
	s.run(500)
	wrong.on.Store(true)
	s.together(func(w *worker) {
		made := w.send(t.Context(), http.MethodPost, "/v1/pets", "", marshal(fields{"name": w.name("pet"), "categoryId": 1}))
		var all sync.WaitGroup
		for i := range 2 {
			other := s.worker(100+10*w.id+i, s.history, w.known)
			all.Go(func() {
				other.send(t.Context(), http.MethodPost, "/v1/orders", "", marshal(fields{"petId": idOf(made), "reference": other.name("order")}))
			})
		}
		all.Wait()
	})
	s.readBack()
	s.finds(TwoOpenOrders)
}

// hasty, as soon as it is told to, acknowledges changes at once and makes them only after the animal was read once more.
type hasty struct {
	petstore.Database
	on    atomic.Bool
	mu    sync.Mutex
	later map[int64]petstore.PetPatch
}

func (h *hasty) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch) (petstore.Pet, error) {
	if !h.on.Load() {
		return h.Database.UpdatePet(ctx, id, patch)
	}
	pet, err := h.Database.GetPet(ctx, id)
	if err != nil {
		return pet, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.later[id] = patch
	return pet.Patch(patch, nil)
}

func (h *hasty) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := h.Database.GetPet(ctx, id)
	h.mu.Lock()
	defer h.mu.Unlock()
	if patch, waiting := h.later[id]; waiting {
		delete(h.later, id)
		if _, err := h.Database.UpdatePet(ctx, id, patch); err != nil {
			return petstore.Pet{}, err
		}
	}
	return pet, err
}

func TestAnEarlyAcknowledgementIsFound(t *testing.T) {
	wrong := &hasty{Database: openSQLite(t), later: make(map[int64]petstore.PetPatch)}
	s := serve(t, wrong, ratelimit.NewMemory(time.Now), generous)
	s.run(500)
	wrong.on.Store(true)
	s.together(func(w *worker) {
		made := w.send(t.Context(), http.MethodPost, "/v1/pets", "", marshal(fields{"name": w.name("pet"), "categoryId": 1}))
		path := fmt.Sprintf("/v1/pets/%d", idOf(made))
		w.send(t.Context(), http.MethodPatch, path, "", marshal(fields{"name": w.name("pet")}))
		w.get(t.Context(), path)
		w.get(t.Context(), path)
	})
	s.readBack()
	s.finds(Early)
}

// together lets a few workers do something at the same time.
func (s *service) together(do func(*worker)) {
	var all sync.WaitGroup
	for i := range 4 {
		w := s.worker(10+i, s.history, new(known))
		w.key = "generous"
		all.Go(func() { do(w) })
	}
	all.Wait()
}
