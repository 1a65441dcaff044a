package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

func TestAnOrderThatIsCompletedInTimeNeverCountsAsExpired(t *testing.T) {
	now := time.Now()
	onLook := func() {}
	db := open(t, Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Serve: true, Now: func() time.Time {
		look, at := onLook, now
		onLook = func() {}
		look()
		return at
	}})
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)
	noError(t, err)

	now = now.Add(2 * time.Hour) // the time that the read gets from the clock
	onLook = func() {            // somebody completes the order a moment before that time
		late := now
		now = order.ExpiresAt.Add(-time.Millisecond)
		_, err := db.CloseOrder(t.Context(), order.ID, petstore.Completed)
		noError(t, err)
		now = late
	}
	if got, err := db.GetOrder(t.Context(), order.ID); err != nil || got.Status != petstore.Completed {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Many orders may be open. The query must find those that have expired, but are still stored as open, without reading
// all.
func TestEveryReadOfOrdersWalksAnIndex(t *testing.T) {
	db := openNew(t)
	pet := int64(7)
	for _, read := range []struct {
		query petstore.OrderQuery
		walks []string
	}{
		{petstore.OrderQuery{}, []string{"PRIMARY KEY"}},
		{petstore.OrderQuery{Status: petstore.Open}, []string{"orders_by_status"}},
		{petstore.OrderQuery{Status: petstore.Cancelled}, []string{"orders_by_status"}},
		{petstore.OrderQuery{Status: petstore.Expired}, []string{"orders_by_status", "orders_by_end"}},
		{petstore.OrderQuery{PetID: &pet}, []string{"orders_by_pet"}},
		{petstore.OrderQuery{PetID: &pet, Status: petstore.Completed}, []string{"orders_by_pet"}},
		{petstore.OrderQuery{PetID: &pet, Status: petstore.Expired}, []string{"orders_by_pet", "orders_by_end"}},
	} {
		sql, args := ordersQuery(read.query, time.Now())
		var searches []string
		noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
			return query(conn, func(row *sqlite3.Stmt) {
				if step := row.ColumnText(3); strings.Contains(step, " orders") {
					searches = append(searches, step)
				}
			}, "EXPLAIN QUERY PLAN "+sql, args...)
		}))
		if len(searches) != len(read.walks) {
			t.Fatalf("%s\nis planned as %q", sql, searches)
		}
		for i, walk := range read.walks {
			if !strings.HasPrefix(searches[i], "SEARCH") || !strings.Contains(searches[i], walk) {
				t.Errorf("%s\nis planned as %q", sql, searches)
			}
		}
	}
}
