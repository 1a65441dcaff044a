package history

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// The variable planted lists the faults that the checker must find. For each fault, the function plant adds the fault to a
// storage, and the field want is the kind that the checker must report.
var planted = []struct {
	name  string
	plant func(petstore.Storage) petstore.Storage
	want  Kind
}{
	{"a lost write", func(s petstore.Storage) petstore.Storage { return &losing{Storage: s} }, NotLinearizable},
	{"a stale read", func(s petstore.Storage) petstore.Storage { return &stale{Storage: s} }, NotLinearizable},
	{"an early acknowledgement", func(s petstore.Storage) petstore.Storage { return &hasty{Storage: s} }, NotLinearizable},
	{"a write that is undone after an unknown outcome", func(s petstore.Storage) petstore.Storage { return &flipping{Storage: s} }, NotLinearizable},
	{"an animal that is there twice", func(s petstore.Storage) petstore.Storage { return &doubling{Storage: s} }, NotAskedFor},
	{"an Idempotency-Key that is ignored", func(s petstore.Storage) petstore.Storage { return &keyless{Storage: s} }, NotLinearizable},
	{"a repeated PATCH that undoes a newer change", func(s petstore.Storage) petstore.Storage { return &undoing{Storage: s} }, NotLinearizable},
	{"a repeated PATCH that undoes a newer change of an order", func(s petstore.Storage) petstore.Storage { return &undoingOrders{Storage: s} }, NotLinearizable},
	{"an id that is given twice", func(s petstore.Storage) petstore.Storage { return &reusing{Storage: s} }, NotLinearizable},
	{"two open orders for one animal", func(s petstore.Storage) petstore.Storage { return &generousOrders{Storage: s} }, NotLinearizable},
	{"a page that skips an animal", func(s petstore.Storage) petstore.Storage { return &skipping{Storage: s} }, NotLinearizable},
	{"a page that is read in two halves", func(s petstore.Storage) petstore.Storage { return &torn{Storage: s} }, NotLinearizable},
	{"an inventory that is off by one", func(s petstore.Storage) petstore.Storage { return &miscounting{Storage: s} }, NotLinearizable},
	{"an event that is lost", forged(lose), WrongFeed},
	{"an event that is there twice", forged(repeat), WrongFeed},
	{"an event that comes too late in the feed", forged(move), WrongFeed},
	{"an event that appears behind readers", forged(hide), WrongFeed},
	{"a sequence that is skipped", forged(skip), WrongFeed},
	{"an event with a wrong old value", forged(misremember), WrongFeed},
	{"an order and its animal with another event between them", forged(tear), WrongFeed},
	{"an event of a change that was refused", func(s petstore.Storage) petstore.Storage { return &premature{Storage: s} }, WrongFeed},
	{"a page of events that misses what was acknowledged", func(s petstore.Storage) petstore.Storage { return &lagging{Storage: s} }, WrongFeed},
	{"a page of events that its filter leaves incomplete", func(s petstore.Storage) petstore.Storage { return &filtering{Storage: s} }, WrongFeed},
	{"an event that keeps a removed reference", func(s petstore.Storage) petstore.Storage { return &remembering{Storage: s} }, WrongFeed},
	{"a position of the feed that is lost", func(s petstore.Storage) petstore.Storage { return &forgetting{Storage: s} }, WrongFeed},
}

func TestEveryPlantedFaultIsFound(t *testing.T) {
	for _, fault := range planted {
		t.Run(fault.name, func(t *testing.T) {
			onEveryStorage(t, func(t *testing.T, storage petstore.Storage) {
				s := serve(t, fault.plant(storage), ratelimit.NewMemory(time.Now))
				for exchanges := 800; exchanges <= 6400 && s.found()[fault.want] == 0; exchanges *= 2 { // usually 800 are enough
					s.Seed++ // so that no name is given twice
					s.run(exchanges)
				}
				s.wantFault(fault.want)
			})
		})
	}
}

// The type turns selects every nth call.
type turns struct{ asked atomic.Int64 }

func (t *turns) isMine(every int64) bool { return t.asked.Add(1)%every == 0 }

// The storage losing acknowledges some changes of a name, but does not make them.
type losing struct {
	petstore.Storage
	turns
}

func (l *losing) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	if patch.Status != nil || !l.isMine(5) {
		return l.Storage.UpdatePet(ctx, id, patch, idempotency)
	}
	pet, err := l.Storage.GetPet(ctx, id)
	if err == nil {
		pet, err = pet.Patch(patch, nil)
	}
	return pet, false, err
}

// The storage stale shows some readers the animal as the previous reader saw it.
type stale struct {
	petstore.Storage
	turns
	shown sync.Map
}

func (s *stale) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := s.Storage.GetPet(ctx, id)
	if before, met := s.shown.Swap(id, pet); err == nil && met && s.isMine(5) {
		return before.(petstore.Pet), nil
	}
	return pet, err
}

// The storage hasty acknowledges some changes immediately, but makes the changes only after the next read of the animal.
type hasty struct {
	petstore.Storage
	turns
	later sync.Map
}

func (h *hasty) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	if patch.Status != nil || !h.isMine(3) {
		return h.Storage.UpdatePet(ctx, id, patch, idempotency)
	}
	pet, err := h.Storage.GetPet(ctx, id)
	if err == nil {
		h.later.Store(id, patch)
		pet, err = pet.Patch(patch, nil)
	}
	return pet, false, err
}

func (h *hasty) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := h.Storage.GetPet(ctx, id)
	if patch, waits := h.later.LoadAndDelete(id); waits {
		h.Storage.UpdatePet(ctx, id, patch.(petstore.PetPatch), nil)
	}
	return pet, err
}

// The storage flipping makes some changes and says that their outcome is unknown. It undoes the changes after the next read
// of the animal.
type flipping struct {
	petstore.Storage
	turns
	before sync.Map
}

func (f *flipping) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	before, err := f.Storage.GetPet(ctx, id)
	after, replayed, updateErr := f.Storage.UpdatePet(ctx, id, patch, idempotency)
	if err != nil || updateErr != nil || patch.Status != nil || !f.isMine(3) {
		return after, replayed, updateErr
	}
	f.before.Store(id, before)
	return after, false, petstore.MaybeDone(errors.New("planted"))
}

func (f *flipping) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := f.Storage.GetPet(ctx, id)
	if before, waits := f.before.LoadAndDelete(id); waits {
		b := before.(petstore.Pet)
		f.Storage.UpdatePet(ctx, id, petstore.PetPatch{Name: &b.Name, CategoryID: &b.CategoryID}, nil)
	}
	return pet, err
}

// The storage doubling creates some animals twice.
type doubling struct {
	petstore.Storage
	turns
}

func (d *doubling) CreatePet(ctx context.Context, pet petstore.NewPet, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	if d.isMine(10) {
		d.Storage.CreatePet(ctx, pet, nil)
	}
	return d.Storage.CreatePet(ctx, pet, idempotency)
}

// The storage keyless ignores Idempotency-Keys: it creates an animal for every request.
type keyless struct{ petstore.Storage }

func (k *keyless) CreatePet(ctx context.Context, pet petstore.NewPet, _ *petstore.Idempotency) (petstore.Pet, bool, error) {
	return k.Storage.CreatePet(ctx, pet, nil)
}

// undoing changes an animal for every request, whatever its Idempotency-Key.
type undoing struct{ petstore.Storage }

func (u *undoing) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch, _ *petstore.Idempotency) (petstore.Pet, bool, error) {
	return u.Storage.UpdatePet(ctx, id, patch, nil)
}

// undoingOrders does the same with orders.
type undoingOrders struct{ petstore.Storage }

func (u *undoingOrders) UpdateOrder(ctx context.Context, id int64, patch petstore.OrderPatch, _ *petstore.Idempotency) (petstore.Order, bool, error) {
	return u.Storage.UpdateOrder(ctx, id, patch, nil)
}

// reusing gives some animals an id that another one has.
type reusing struct {
	petstore.Storage
	turns
	last atomic.Int64
}

func (r *reusing) CreatePet(ctx context.Context, pet petstore.NewPet, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	made, replayed, err := r.Storage.CreatePet(ctx, pet, idempotency)
	if last := r.last.Swap(made.ID); err == nil && last != 0 && r.isMine(10) {
		made.ID = last
	}
	return made, replayed, err
}

// The storage generousOrders places orders for some animals that an order already holds.
type generousOrders struct {
	petstore.Storage
	turns
}

func (g *generousOrders) PlaceOrder(ctx context.Context, order petstore.NewOrder, idempotency *petstore.Idempotency) (petstore.Order, bool, error) {
	placed, again, err := g.Storage.PlaceOrder(ctx, order, idempotency)
	if petstore.IsCode(err, petstore.PetUnavailable) && g.isMine(3) {
		placed, err = order.Place(1<<52+g.asked.Load(), petstore.Pet{NewPet: petstore.NewPet{Status: petstore.Available}}, time.Now())
	}
	return placed, again, err
}

// The storage skipping leaves an animal out of some pages.
type skipping struct {
	petstore.Storage
	turns
}

func (s *skipping) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	pets, err := s.Storage.ListPets(ctx, q)
	if len(pets) > 2 && s.isMine(5) {
		pets = slices.Delete(slices.Clone(pets), 1, 2)
	}
	return pets, err
}

// The storage torn reads the second half of a page later than the first half.
type torn struct{ petstore.Storage }

func (p *torn) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	pets, err := p.Storage.ListPets(ctx, q)
	half := len(pets) / 2
	if err != nil || half == 0 {
		return pets, err
	}
	time.Sleep(20 * time.Millisecond)
	q.Before, q.Limit = pets[half-1].ID, q.Limit-half
	rest, err := p.Storage.ListPets(ctx, q)
	return slices.Concat(pets[:half], rest), err
}

// The storage miscounting sometimes counts a sold animal as available.
type miscounting struct {
	petstore.Storage
	turns
}

func (m *miscounting) Inventory(ctx context.Context) (petstore.Inventory, error) {
	n, err := m.Storage.Inventory(ctx)
	if n.Sold > 0 && m.isMine(3) {
		n.Sold--
		n.Available++
	}
	return n, err
}

// The limiter lenient allows one more request per minute than the limit.
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
	onEveryStorage(t, func(t *testing.T, storage petstore.Storage) {
		s := serve(t, storage, lenient{ratelimit.NewMemory(time.Now)})
		s.run(1000)
		s.wantFault(OverLimit)
	})
}
