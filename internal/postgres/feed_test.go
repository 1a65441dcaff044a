package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// follow returns all events after a sequence.
func follow(t testing.TB, db *DB, after int64) (events []petstore.Event) {
	t.Helper()
	q := petstore.EventQuery{Limit: 1000}
	for {
		page, err := db.ListEvents(t.Context(), q)
		noError(t, err)
		for _, e := range page.Events {
			if e.Sequence > after {
				events = append(events, e)
			}
		}
		if page.End {
			return events
		}
		q.After = &page.Next
	}
}

// summary returns the types and the animals of events.
func summary(events []petstore.Event) string {
	var words []string
	for _, e := range events {
		words = append(words, fmt.Sprintf("%v %d", e.Type, e.PetID()))
	}
	return strings.Join(words, ", ")
}

func wantDense(t testing.TB, events []petstore.Event) {
	t.Helper()
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d is in place %d", e.Sequence, i+1)
		}
	}
}

func TestTrimmedEventsLeaveTheIndexByAnimal(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	pet := mustCreate(t, db)
	for _, name := range []string{"Max", "Tom"} {
		_, _, err := db.UpdatePet(t.Context(), pet.ID, petstore.PetPatch{Name: &name}, nil)
		noError(t, err)
	}
	indexed := func() (rows int) {
		noError(t, db.NumberEvents(t.Context()))
		noError(t, db.pool.QueryRow(t.Context(), "SELECT count(*) FROM event_pets").Scan(&rows))
		return rows
	}
	before := indexed()
	noError(t, errorOf(db.TrimEvents(t.Context(), petstore.EventsKept{})))
	if after := indexed(); before != 2 || after != 0 {
		t.Errorf("of %d rows of the index, %d are left", before, after)
	}
}

// Backends are killed at random while three replicas write, number and read.
func TestEveryReplicaReadsTheSameFeed(t *testing.T) {
	url := testservice.Postgres(t)
	replicas := openReplicas(t, url)
	ctx, stop := context.WithCancel(t.Context())
	var writing, reading sync.WaitGroup
	killer := newConn(t, url)
	reading.Go(func() {
		for ctx.Err() == nil {
			_, _ = killer.Exec(context.Background(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%feed%' ORDER BY random() LIMIT 1`)
			time.Sleep(time.Millisecond)
		}
	})
	var feeds [3][]petstore.Event
	read := func(i int, db *DB, q *petstore.EventQuery) bool {
		page, err := db.ListEvents(context.Background(), *q)
		if err != nil {
			return false
		}
		feeds[i] = append(feeds[i], page.Events...)
		q.After = &page.Next
		return page.End
	}
	queries := [3]petstore.EventQuery{{Limit: 7}, {Limit: 100}, {Limit: 1000}}
	for i, db := range replicas {
		reading.Go(func() {
			for ctx.Err() == nil {
				read(i, db, &queries[i])
			}
		})
		for range 3 {
			writing.Go(func() { changeAtRandom(t, db, 60) })
		}
	}
	writing.Wait()
	stop()
	reading.Wait()
	for i, db := range replicas {
		testservice.Eventually(t, "the feed ends", time.Minute, func() bool { return read(i, db, &queries[i]) })
		wantDense(t, feeds[i])
		if !reflect.DeepEqual(feeds[i], feeds[0]) {
			t.Errorf("replica %d has %d events, and replica 0 has %d", i, len(feeds[i]), len(feeds[0]))
		}
	}
	wantReplayed(t, replicas[0], feeds[0])
}

// changeAtRandom makes changes to one animal after the other. Its own changes are in the feed in their order, which
// wantReplayed checks: a change of something else than the state before would not fit.
func changeAtRandom(t *testing.T, db *DB, changes int) {
	ctx := context.Background()
	var pet petstore.Pet
	for range changes {
		var err error
		switch n := rand.IntN(8); {
		case n < 3 || pet.ID == 0:
			pet, _, err = db.CreatePet(ctx, rex, nil)
		case n < 5:
			name := fmt.Sprint("Rex ", rand.IntN(100))
			_, _, err = db.UpdatePet(ctx, pet.ID, petstore.PetPatch{Name: &name}, nil)
		case n < 6:
			_, err = db.DeletePet(ctx, pet.ID, nil)
			pet = petstore.Pet{}
		default:
			var order petstore.Order
			if order, _, err = db.PlaceOrder(ctx, petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil); err == nil {
				_, _, err = db.CloseOrder(ctx, order.ID, petstore.Cancelled, nil)
			}
		}
		if _, refused := err.(*petstore.Error); err != nil && !refused {
			t.Error(err)
		}
	}
}

// wantReplayed checks that every event begins with the state that the event before has left, and that the events make the
// animals that are stored.
func wantReplayed(t *testing.T, db *DB, events []petstore.Event) {
	t.Helper()
	pets := make(map[int64]petstore.Pet)
	for _, e := range events {
		if e.Pet == nil {
			continue
		}
		now, known := pets[e.PetID()]
		switch {
		case e.Type == petstore.PetCreated && known, e.Type == petstore.PetDeleted && now != e.Pet.Now, e.Type == petstore.PetUpdated && now != *e.Pet.Before:
			t.Errorf("event %d: %v of %+v, which was %+v", e.Sequence, e.Type, e.Pet.Now, now)
		}
		pets[e.PetID()] = e.Pet.Now
		if e.Type == petstore.PetDeleted {
			delete(pets, e.PetID())
		}
	}
	stored, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 10_000})
	noError(t, err)
	if len(stored) != len(pets) {
		t.Errorf("%d animals are stored, and %d follow from the feed", len(stored), len(pets))
	}
	for _, pet := range stored {
		if pets[pet.ID] != pet {
			t.Errorf("%+v is stored, and %+v follows from the feed", pet, pets[pet.ID])
		}
	}
}

// What was acknowledged before another change began comes first, and is in every page that is asked for later.
func TestAnAcknowledgedChangeIsInTheNextPageAndBeforeTheNextChange(t *testing.T) {
	replicas := openReplicas(t, testservice.Postgres(t))
	var all sync.WaitGroup
	for w := range 6 {
		all.Go(func() {
			for i := range 40 {
				writer, reader := replicas[(w+i)%3], replicas[(w+i+1)%3]
				first, _, err := writer.CreatePet(t.Context(), rex, nil)
				if err != nil {
					t.Error(err)
					return
				}
				page, err := reader.ListEvents(t.Context(), petstore.EventQuery{PetID: &first.ID, Limit: 10})
				if err != nil || len(page.Events) != 1 {
					t.Errorf("the page after the creation of animal %d has %s, %v", first.ID, summary(page.Events), err)
					return
				}
				second, _, err := reader.CreatePet(t.Context(), rex, nil)
				if err != nil {
					t.Error(err)
					return
				}
				later, err := writer.ListEvents(t.Context(), petstore.EventQuery{PetID: &second.ID, Limit: 10})
				if err != nil || len(later.Events) != 1 || later.Events[0].Sequence <= page.Events[0].Sequence {
					t.Errorf("animal %d is event %d, and animal %d after it is %+v, %v", first.ID, page.Events[0].Sequence, second.ID, later.Events, err)
				}
			}
		})
	}
	all.Wait()
}
