package postgres

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// The updates of one batch: two of the same animal, which must both count, one that changes nothing, one of an animal that
// does not exist, and one of an animal that an order holds.
func TestUpdatesThatArriveTogetherShareATransaction(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	first, second, held := mustCreate(t, db), mustCreate(t, db), mustCreate(t, db)
	_, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: held.ID, Hold: time.Hour}, nil)
	noError(t, err)
	patched := func(id int64, patch petstore.PetPatch) change {
		return change{changeKind: updates, id: id, patch: patch}
	}
	named := func(id int64, name string) change { return patched(id, petstore.PetPatch{Name: &name}) }
	changed, err := db.changeBatch([]change{
		named(first.ID, "Max"),
		patched(second.ID, petstore.PetPatch{Status: new(petstore.Sold)}),
		named(first.ID, "Moritz"),
		patched(first.ID, petstore.PetPatch{CategoryID: new(int64(9))}),
		named(second.ID, second.Name),
		named(999, "Nobody"),
		patched(held.ID, petstore.PetPatch{Status: new(petstore.Sold)}),
		named(held.ID, "Bella"),
	})
	noError(t, err)
	pet := func(before petstore.Pet, name string, category int64, status petstore.Status) petstore.Pet {
		return petstore.Pet{ID: before.ID, NewPet: petstore.NewPet{Name: name, CategoryID: category, Status: status}}
	}
	want := []any{
		pet(first, "Max", first.CategoryID, first.Status),
		pet(second, second.Name, second.CategoryID, petstore.Sold),
		pet(first, "Moritz", first.CategoryID, first.Status),
		pet(first, "Moritz", 9, first.Status),
		nil, nil, nil,
		pet(held, "Bella", held.CategoryID, petstore.Pending),
	}
	if !slices.Equal(changed, want) {
		t.Errorf("the updates returned\n%v, want\n%v", changed, want)
	}
	var transactions int
	if err := db.pool.QueryRow(t.Context(), "SELECT count(DISTINCT xmin::text) FROM pets").Scan(&transactions); err != nil || transactions != 1 {
		t.Errorf("they took %d transactions, %v", transactions, err)
	}
	page, err := db.ListEvents(t.Context(), petstore.EventQuery{Limit: 100})
	noError(t, err)
	if n := len(page.Events); n != 3+2+5 {
		t.Errorf("the feed has %d events, want one for each create, two for the order, and one for each update that changed something", n)
	}
}

// A batch has two updates of different animals, two of the same animal with the same key, one that changes nothing, one of an
// animal that does not exist, an order, and a delete. All have keys.
func TestChangesWithIdempotencyKeysShareATransaction(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	first, second, third, fourth := mustCreate(t, db), mustCreate(t, db), mustCreate(t, db), mustCreate(t, db)
	once := func(key string, c change) change {
		c.once = &petstore.Idempotency{Owner: "ann", Key: key}
		return c
	}
	named := func(id int64, name string) change {
		return change{changeKind: updates, id: id, patch: petstore.PetPatch{Name: &name}}
	}
	changes := []change{
		once("h", named(second.ID, "Moritz")),
		once("a", named(first.ID, "Max")),
		once("a", named(first.ID, "Max")),
		once("b", named(first.ID, "Max")),
		once("c", named(999, "Nobody")),
		once("d", change{changeKind: places, id: third.ID, order: petstore.NewOrder{PetID: third.ID, Hold: time.Hour}}),
		once("e", change{changeKind: deletes, id: fourth.ID}),
	}
	answers, err := db.changeBatch(changes)
	noError(t, err)
	first.Name, second.Name = "Max", "Moritz"
	order, _ := answers[5].(petstore.Order)
	if want := []any{second, first, nil, nil, nil, order, struct{}{}}; !slices.Equal(answers, want) || order.PetID != third.ID {
		t.Errorf("the changes returned\n%v, want\n%v", answers, want)
	}
	var keys string
	noError(t, db.pool.QueryRow(t.Context(), "SELECT string_agg(key, '' ORDER BY key) FROM idempotency WHERE answer <> ''").Scan(&keys))
	var records int
	noError(t, db.pool.QueryRow(t.Context(), "SELECT count(*) FROM idempotency").Scan(&records))
	if keys != "adeh" || records != 4 {
		t.Errorf("of %d records, those with the keys %q have answers", records, keys)
	}
	for i, c := range changes {
		if answers[i] == nil {
			continue
		}
		var again any
		var replayed bool
		switch c.changeKind {
		case updates:
			again, replayed, err = db.UpdatePet(t.Context(), c.id, c.patch, c.once)
		case places:
			var placed petstore.Order
			placed, replayed, err = db.PlaceOrder(t.Context(), c.order, c.once)
			again = placed
			if placed.ID == order.ID && placed.ExpiresAt.Equal(order.ExpiresAt) {
				again = order
			}
		case deletes:
			replayed, err = db.DeletePet(t.Context(), c.id, c.once)
			again = struct{}{}
		}
		if again != answers[i] || !replayed || err != nil {
			t.Errorf("change %d again: %v, %v, %v", i, again, replayed, err)
		}
	}
}

// Another server has claimed a key, and does not end its transaction.
func TestAWriteThatWaitsForItsKeyDelaysNoOther(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	pet := mustCreate(t, db)
	keyed := func(key string) *petstore.Idempotency { return &petstore.Idempotency{Owner: "ann", Key: key} }
	for name, write := range map[string]func(o *petstore.Idempotency) error{
		"create": func(o *petstore.Idempotency) error {
			return errorOf2(db.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", Status: petstore.Available}, o))
		},
		"update": func(o *petstore.Idempotency) error {
			return errorOf2(db.UpdatePet(t.Context(), pet.ID, petstore.PetPatch{Name: new(time.Now().String())}, o))
		},
	} {
		holder := holdLocks(t, url, "INSERT INTO idempotency VALUES ('ann', 'taken by "+name+"', decode(repeat('00', 32), 'hex'), 1, '')")
		waited := make(chan error, 1)
		go func() { waited <- write(keyed("taken by " + name)) }()
		awaitLockWaits(t, url, 1)
		for i := range 5 {
			if err := write(keyed(fmt.Sprint(name, i))); err != nil {
				t.Errorf("while a %s waits, another one fails: %v", name, err)
			}
		}
		noError(t, errorOf(holder.Exec(t.Context(), "ROLLBACK")))
		if err := <-waited; err != nil {
			t.Errorf("the %s that waited: %v", name, err)
		}
	}
}
