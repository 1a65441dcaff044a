package history

import (
	"context"
	"slices"
	"sync"

	"petstore/internal/petstore"
)

// The storage forging shows readers another feed than the real one.
type forging struct {
	petstore.Storage
	forge func([]petstore.Event) []petstore.Event
}

func forged(forge func([]petstore.Event) []petstore.Event) func(petstore.Storage) petstore.Storage {
	return func(s petstore.Storage) petstore.Storage { return &forging{s, forge} }
}

func (f *forging) ListEvents(ctx context.Context, q petstore.EventQuery) (petstore.EventPage, error) {
	return forgedPage(ctx, f.Storage, q, f.forge)
}

// forgedPage returns a page of a forged feed. The function forge gets all events of the real feed.
func forgedPage(ctx context.Context, s petstore.Storage, q petstore.EventQuery, forge func([]petstore.Event) []petstore.Event) (petstore.EventPage, error) {
	var all []petstore.Event
	var page petstore.EventPage
	for from := (petstore.EventQuery{Limit: 1000}); !page.End; from.After = &page.Next {
		var err error
		if page, err = s.ListEvents(ctx, from); err != nil {
			return page, err
		}
		all = append(all, page.Events...)
	}
	events := forge(all)
	page.Events, page.Next.Sequence = nil, 0
	switch {
	case q.FromEnd && len(events) > 0:
		page.Next.Sequence = events[len(events)-1].Sequence
	case q.After != nil:
		page.Next.Sequence = q.After.Sequence
	}
	for _, e := range events {
		if e.Sequence <= page.Next.Sequence {
			continue
		}
		if page.End = len(page.Events) < q.Limit; !page.End {
			break
		}
		page.Next.Sequence = e.Sequence
		if q.Selects(e) {
			page.Events = append(page.Events, e)
		}
	}
	return page, nil
}

// numbered numbers events from 1.
func numbered(events []petstore.Event) []petstore.Event {
	for i := range events {
		events[i].Sequence = int64(i + 1)
	}
	return events
}

// forgedAt is the place of the event that the forgers below forge, or of the first one of its type that follows.
const forgedAt = 40

// The forgery lose leaves out an event.
func lose(events []petstore.Event) []petstore.Event {
	if len(events) <= forgedAt {
		return events
	}
	return numbered(slices.Delete(events, forgedAt, forgedAt+1))
}

// The forgery repeat has an event twice.
func repeat(events []petstore.Event) []petstore.Event {
	if len(events) <= forgedAt {
		return events
	}
	return numbered(slices.Insert(events, forgedAt, events[forgedAt]))
}

// The forgery move puts an event behind many later ones.
func move(events []petstore.Event) []petstore.Event {
	if len(events) <= forgedAt {
		return events
	}
	moved := events[forgedAt]
	events = slices.Delete(events, forgedAt, forgedAt+1)
	return numbered(slices.Insert(events, min(2*forgedAt, len(events)), moved))
}

// The forgery hide shows an event only after many later ones.
func hide(events []petstore.Event) []petstore.Event {
	if len(events) > 2*forgedAt {
		return events
	}
	return lose(events)
}

// The forgery skip leaves out a sequence.
func skip(events []petstore.Event) []petstore.Event {
	for i := forgedAt; i < len(events); i++ {
		events[i].Sequence++
	}
	return events
}

// The forgery misremember gives an animal another old name.
func misremember(events []petstore.Event) []petstore.Event {
	for i := forgedAt; i < len(events); i++ {
		if e := events[i]; e.Type == petstore.PetUpdated && e.Pet.Before.Name != e.Pet.Now.Name {
			e.Pet.Before.Name = "another"
			break
		}
	}
	return events
}

// The forgery tear shows the change of an animal later than the change of its order, with another event between them.
func tear(events []petstore.Event) []petstore.Event {
	for i := forgedAt; i+2 < len(events); i++ {
		if events[i].Type == petstore.OrderPlaced {
			events[i+1], events[i+2] = events[i+2], events[i+1]
			break
		}
	}
	return numbered(events)
}

// The storage premature writes the event of a change before it refuses the change.
type premature struct {
	petstore.Storage
	mu     sync.Mutex
	at     int // how many events were before it
	events []petstore.Event
}

func (p *premature) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	pet, replayed, err := p.Storage.UpdatePet(ctx, id, patch, idempotency)
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, getErr := p.Storage.GetPet(ctx, id); petstore.IsCode(err, petstore.PetReserved) && getErr == nil && p.events == nil {
		end, _ := p.Storage.ListEvents(ctx, petstore.EventQuery{FromEnd: true, Limit: 1})
		after, _ := before.Patch(patch, nil)
		p.at, p.events = int(end.Next.Sequence), []petstore.Event{petstore.PetChanged(&before, &after)}
	}
	return pet, replayed, err
}

func (p *premature) ListEvents(ctx context.Context, q petstore.EventQuery) (petstore.EventPage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return forgedPage(ctx, p.Storage, q, func(events []petstore.Event) []petstore.Event {
		return numbered(slices.Insert(events, min(p.at, len(events)), p.events...))
	})
}

// The storage lagging does not show the latest events to some readers.
type lagging struct {
	petstore.Storage
	turns
}

func (l *lagging) ListEvents(ctx context.Context, q petstore.EventQuery) (petstore.EventPage, error) {
	return forgedPage(ctx, l.Storage, q, func(events []petstore.Event) []petstore.Event {
		if l.isMine(5) {
			events = events[:max(0, len(events)-20)]
		}
		return events
	})
}

// The storage filtering leaves out changes of orders where only the events of one animal are asked for.
type filtering struct{ petstore.Storage }

func (f *filtering) ListEvents(ctx context.Context, q petstore.EventQuery) (petstore.EventPage, error) {
	page, err := f.Storage.ListEvents(ctx, q)
	if q.PetID != nil {
		page.Events = slices.DeleteFunc(page.Events, func(e petstore.Event) bool { return e.Type == petstore.OrderUpdated })
	}
	return page, err
}

// The storage remembering shows references that were removed.
type remembering struct {
	petstore.Storage
	references sync.Map
}

func (r *remembering) ListEvents(ctx context.Context, q petstore.EventQuery) (petstore.EventPage, error) {
	page, err := r.Storage.ListEvents(ctx, q)
	for _, e := range page.Events {
		if e.Order == nil {
			continue
		}
		if e.Order.Now.Reference != "" {
			r.references.Store(e.Sequence, e.Order.Now.Reference)
		} else if reference, met := r.references.Load(e.Sequence); met {
			e.Order.Now.Reference = reference.(string)
		}
	}
	return page, err
}

// The storage forgetting loses some positions of the feed.
type forgetting struct {
	petstore.Storage
	turns
}

func (f *forgetting) ListEvents(ctx context.Context, q petstore.EventQuery) (petstore.EventPage, error) {
	if q.After != nil && f.isMine(5) {
		return petstore.EventPage{}, &petstore.Error{Code: petstore.EventsGone}
	}
	return f.Storage.ListEvents(ctx, q)
}
