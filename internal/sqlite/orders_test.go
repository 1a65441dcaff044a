package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// openWithOrder opens a new database that reads the time from the function now. The database has one order, which holds an
// animal for an hour.
func openWithOrder(t *testing.T, now func() time.Time) (*DB, petstore.Order) {
	t.Helper()
	db := open(t, Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Serve: true, Now: now})
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)
	noError(t, err)
	return db, order
}

func TestAnOrderCompletedInTimeNeverExpires(t *testing.T) {
	now := time.Now()
	onClockRead := func() {}
	db, order := openWithOrder(t, func() time.Time {
		hook, at := onClockRead, now
		onClockRead = func() {}
		hook()
		return at
	})

	now = now.Add(2 * time.Hour) // the time that GetOrder reads from the clock
	onClockRead = func() {       // somebody completes the order in time, just before GetOrder reads the order
		late := now
		now = order.ExpiresAt.Add(-time.Millisecond)
		_, _, err := db.CloseOrder(t.Context(), order.ID, petstore.Completed, nil)
		noError(t, err)
		now = late
	}
	if got, err := db.GetOrder(t.Context(), order.ID); err != nil || got.Status != petstore.Completed {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The test reads an order after the order's end, while a request that read the clock a moment earlier completes the order.
func TestAnOrderShownAsExpiredStaysExpired(t *testing.T) {
	for name, read := range map[string]func(*DB) (petstore.Order, error){
		"alone": func(db *DB) (petstore.Order, error) { return db.GetOrder(context.Background(), 1) },
		"in a list": func(db *DB) (petstore.Order, error) {
			orders, err := db.ListOrders(context.Background(), petstore.OrderQuery{Limit: 9})
			return orders[0], err
		},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			var late atomic.Bool
			onClockRead := func() {}
			db := open(t, Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Serve: true, Now: func() time.Time {
				if late.Load() {
					return begin.Add(2 * time.Hour)
				}
				onClockRead()
				return begin
			}})
			pet, _, err := db.CreatePet(t.Context(), rex, nil)
			noError(t, err)
			order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)
			noError(t, err)

			shown := make(chan petstore.Order, 1)
			onClockRead = func() { // the writer has read the clock and has stored nothing yet
				late.Store(true)
				go func() {
					order, err := read(db)
					noError(t, err)
					shown <- order
				}()
				select {
				case early := <-shown:
					shown <- early
				case <-time.After(50 * time.Millisecond): // the read waits
				}
			}
			closed, _, err := db.CloseOrder(t.Context(), order.ID, petstore.Completed, nil)
			noError(t, err)
			if got := <-shown; got != closed {
				t.Errorf("shown as %+v, then closed as %+v", got, closed)
			}
		})
	}
}

// Many orders may be open. A query must find the overdue orders without reading every open order.
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
		for _, again := range []bool{false, true} {
			sql, args := ordersQuery(read.query, time.Now(), again)
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
}

func TestExpireOrdersReadsOnlyOverdueOrders(t *testing.T) {
	db := openNew(t)
	var plan []string
	noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { plan = append(plan, row.ColumnText(3)) }, "EXPLAIN QUERY PLAN "+selectOverdue, 1, 1)
	}))
	if len(plan) != 1 || !strings.Contains(plan[0], "orders_by_end (expires_at<?)") {
		t.Errorf("it is planned as %q", plan)
	}
}

func TestAListOfOpenOrdersWaitsUntilTheEndOfAnOrderIsCertain(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	clock.Store(time.Now().UnixMilli())
	onClockRead := func() {}
	db, order := openWithOrder(t, func() time.Time {
		now, hook := time.UnixMilli(clock.Load()), onClockRead
		onClockRead = func() {}
		hook()
		return now
	})
	clock.Store(order.ExpiresAt.UnixMilli() - 1)
	listed := make(chan int, 1)
	onClockRead = func() { // CloseOrder has read the clock in time, and now the clock passes the order's end
		clock.Add(2)
		go func() {
			orders, err := db.ListOrders(t.Context(), petstore.OrderQuery{Status: petstore.Open, Limit: 9})
			noError(t, err)
			listed <- len(orders)
		}()
		select {
		case <-listed:
			t.Error("the open orders are listed before it is certain how the order ends")
			listed <- 0
		case <-time.After(100 * time.Millisecond):
		}
	}
	closed, _, err := db.CloseOrder(t.Context(), order.ID, petstore.Completed, nil)
	noError(t, err)
	if n := <-listed; n != 0 || closed.Status != petstore.Completed {
		t.Errorf("%d orders are open, and the order is %s", n, closed.Status)
	}
}
