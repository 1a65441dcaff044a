package postgres

import (
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
	named := func(id int64, name string) update { return update{id, petstore.PetPatch{Name: &name}} }
	changed, err := db.updateBatch([]update{
		named(first.ID, "Max"),
		{second.ID, petstore.PetPatch{Status: new(petstore.Sold)}},
		named(first.ID, "Moritz"),
		{first.ID, petstore.PetPatch{CategoryID: new(int64(9))}},
		named(second.ID, second.Name),
		named(999, "Nobody"),
		{held.ID, petstore.PetPatch{Status: new(petstore.Sold)}},
		named(held.ID, "Bella"),
	})
	noError(t, err)
	pet := func(before petstore.Pet, name string, category int64, status petstore.Status) petstore.Pet {
		return petstore.Pet{ID: before.ID, NewPet: petstore.NewPet{Name: name, CategoryID: category, Status: status}}
	}
	want := []petstore.Pet{
		pet(first, "Max", first.CategoryID, first.Status),
		pet(second, second.Name, second.CategoryID, petstore.Sold),
		pet(first, "Moritz", first.CategoryID, first.Status),
		pet(first, "Moritz", 9, first.Status),
		{}, {}, {},
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
