package feed

import (
	"context"

	"petstore/internal/petstore"
)

// maxBatch is how many bytes of JSON Read returns at once, unless the first event alone has more. It bounds what the process
// keeps for a reader that is slow to use its events.
const maxBatch = 32 << 10

// Reader reads events from any position on. A Reader is for one goroutine.
type Reader struct {
	follower *Follower
	window   *window
}

// Close releases the reader.
func (r *Reader) Close() { r.follower.removeReader() }

// Read returns the next events after q.After that q selects, oldest first, and the position after everything that it looked
// at, from which the next call goes on. It ignores q.FromEnd and q.Limit. It waits until there is at least one event, also
// while the storage fails. If ctx ends before that, it returns the error of ctx, and the position is valid nevertheless. It
// returns an Error with the code EventsGone if the feed does not have the position.
func (r *Reader) Read(ctx context.Context, q petstore.EventQuery) (events []Event, next petstore.EventPosition, err error) {
	s, next := newSelection(q), *q.After
	for ctx.Err() == nil {
		v, waiting := r.window.await(s, next)
		found, inMemory := v.since(next)
		switch {
		case waiting != nil:
			select {
			case <-waiting.over:
			case <-ctx.Done():
			}
			next = r.window.leave(s, waiting, next)
		case inMemory:
			events, next = selectFrom(found, s, v.end())
		default:
			if events, next, err = r.readStorage(ctx, q, next); petstore.IsCode(err, petstore.EventsGone) {
				return nil, next, err
			} else if err != nil {
				sleep(ctx, retryEvery)
			}
		}
		if len(events) > 0 {
			return events, next, nil
		}
	}
	return nil, next, ctx.Err()
}

// readStorage reads the next events from the storage. It returns none if it looked only at events that q does not select.
func (r *Reader) readStorage(ctx context.Context, q petstore.EventQuery, after petstore.EventPosition) ([]Event, petstore.EventPosition, error) {
	f := r.follower
	select {
	case f.behind <- struct{}{}:
		defer func() { <-f.behind }()
	case <-ctx.Done():
		return nil, after, ctx.Err()
	}
	page, err := f.storage.ListEvents(ctx, petstore.EventQuery{After: &after, Types: q.Types, PetID: q.PetID, Limit: batchLimit})
	if err != nil {
		return nil, after, err
	}
	events, next := selectFrom(f.encoded(page), newSelection(q), page.Next)
	return events, next, nil
}

// selectFrom returns the first events that s selects, as many as fit into a batch, and the position after those that it looked
// at. The argument end is the position after all of them.
func selectFrom(events []Event, s selection, end petstore.EventPosition) (selected []Event, next petstore.EventPosition) {
	size := 0
	for i, e := range events {
		if !s.selects(e) {
			continue
		}
		if size += len(e.Full); size > maxBatch && len(selected) > 0 {
			return selected, events[i-1].Position
		}
		if len(selected) == i {
			selected = events[: i+1 : i+1] // needs no copy while every event is selected
		} else {
			selected = append(selected, e)
		}
	}
	return selected, end
}

func newSelection(q petstore.EventQuery) selection {
	s := selection{types: q.Types, byPet: q.PetID != nil}
	if s.byPet {
		s.petID = *q.PetID
	}
	return s
}

// selects reports whether a reader wants the event. An event that is about no animal has the petID 0, which no animal has.
func (s selection) selects(e Event) bool {
	return s.types.Has(e.Type) && (!s.byPet || e.petID != 0 && e.petID == s.petID)
}
