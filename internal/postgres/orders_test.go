package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// Most orders are completed, and the open orders have not expired. No query may read all orders.
func TestEveryReadOfOrdersWalksAnIndex(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	const completed = `
		INSERT INTO orders (pet_id, status, reference, created_at, expires_at)
		SELECT n, 1, '', 0, mod(n * 7919, 30011) FROM generate_series(1, 30000) n;
		UPDATE orders SET status = 2, closed_at = 1`
	const notDue = `
		INSERT INTO orders (pet_id, status, reference, created_at, expires_at)
		SELECT n, 1, '', 0, 99999999999999 FROM generate_series(%d, %d) n`
	pet := int64(7)
	for _, state := range []struct{ name, sql string }{
		{"an empty table", "SELECT"},
		{"many orders, few of them open", completed + ";" + fmt.Sprintf(notDue, 1, 10)},
		{"many orders, few of them open, with statistics", "VACUUM ANALYZE orders"},
		{"many open orders, with the statistics of few", fmt.Sprintf(notDue, 11, 3000)},
		{"many open orders, with statistics", "ANALYZE orders"},
	} {
		t.Run(state.name, func(t *testing.T) {
			execute(t, url, state.sql)
			for _, read := range []struct {
				query petstore.OrderQuery
				walk  string
			}{
				{petstore.OrderQuery{}, "orders_pkey on orders"},
				{petstore.OrderQuery{Status: petstore.Open}, "orders_by_status on orders"},
				{petstore.OrderQuery{Status: petstore.Cancelled}, "orders_by_status on orders"},
				{petstore.OrderQuery{Status: petstore.Expired}, "orders_by_status on orders"},
				{petstore.OrderQuery{PetID: &pet}, "orders_by_pet on orders"},
				{petstore.OrderQuery{PetID: &pet, Status: petstore.Completed}, "orders_by_pet on orders"},
			} {
				sql, args := ordersQuery(read.query)
				values := []string{"", "", "(20000, 20, NULL)", "(20000, 20, 7, NULL)"}[len(args)]
				plan := explain(t, db, "(bigint"+strings.Repeat(", bigint", len(args))+")", sql, values)
				if !strings.Contains(plan, "Index Scan Backward using "+read.walk) || read.query.Status == petstore.Expired && !strings.Contains(plan, "orders_by_end") {
					t.Errorf("%s\nis planned as\n%s", sql, plan)
				}
			}
			for _, due := range []struct{ types, sql, args string }{
				{"(bigint)", selectOverdue, "(500)"},
				{"", anyOverdue, ""},
			} {
				plan := explain(t, db, due.types, due.sql, due.args)
				if !strings.Contains(plan, "orders_by_end") || !strings.Contains(plan, "Index Cond: (expires_at <= ") {
					t.Errorf("%s\nis planned as\n%s", due.sql, plan)
				}
			}
		})
	}
}

// The test reads an order after the order's end, while a transaction that read the clock a moment earlier completes the
// order.
func TestAnOrderShownAsExpiredStaysExpired(t *testing.T) {
	for name, read := range map[string]func(*DB) (petstore.Order, error){
		"alone": func(db *DB) (petstore.Order, error) { return db.GetOrder(t.Context(), 1) },
		"in a list": func(db *DB) (petstore.Order, error) {
			orders, err := db.ListOrders(t.Context(), petstore.OrderQuery{Limit: 9})
			return orders[0], err
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := testservice.Postgres(t)
			db := open(t, url)
			order := placeOverdue(t, db, url)
			slow := holdLocks(t, url, "SELECT FROM pets FOR UPDATE; UPDATE orders SET status = 2, closed_at = created_at")
			shown := make(chan petstore.Order, 1)
			go func() {
				got, err := read(db)
				if err != nil {
					t.Error(err)
				}
				shown <- got
			}()
			awaitLockWaits(t, url, 1)
			noError(t, errorOf(slow.Exec(t.Context(), "COMMIT")))
			if got := <-shown; got.Status != petstore.Completed || got.ID != order.ID {
				t.Errorf("shown as %+v, then completed", got)
			}
		})
	}
}

func TestReadsOfALockedOverdueOrderShareOneConnection(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	order := placeOverdue(t, db, url)
	holder := holdLocks(t, url, "SELECT FROM pets FOR UPDATE")
	read := make(chan error)
	for range 2 * maxConns {
		go func() {
			got, err := db.GetOrder(t.Context(), order.ID)
			if err == nil && got.Status != petstore.Expired {
				err = fmt.Errorf("it is %s", got.Status)
			}
			read <- err
		}()
	}
	awaitLockWaits(t, url, 1)
	mustCreate(t, db)
	var waits int
	err := holder.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waits)
	if err != nil || waits > 1 {
		t.Errorf("%d connections wait for the animal, %v", waits, err)
	}
	noError(t, errorOf(holder.Exec(t.Context(), "ROLLBACK")))
	for range 2 * maxConns {
		if err := <-read; err != nil {
			t.Error(err)
		}
	}
}

// While a transaction may still be completing the order, nobody can say how the order ends, so a read must be refused.
func TestAReadThatCannotStoreThatAnOrderHasExpiredIsRefused(t *testing.T) {
	t.Parallel()
	url := testservice.Postgres(t)
	db := open(t, url)
	order := placeOverdue(t, db, url)
	holdLocks(t, url, "SELECT FROM pets FOR UPDATE")
	if got, err := openAsShipped(t, url).GetOrder(t.Context(), order.ID); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// placeOverdue places an order that is overdue: it has expired and is stored as open.
func placeOverdue(t *testing.T, db *DB, url string) petstore.Order {
	t.Helper()
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: mustCreate(t, db).ID, Hold: time.Hour}, nil)
	noError(t, err)
	execute(t, url, "UPDATE orders SET expires_at = created_at + 1")
	return order
}

// A transaction completes an order in time, and commits a moment later.
func TestAListOfOpenOrdersWaitsUntilTheEndOfAnOrderIsCertain(t *testing.T) {
	t.Parallel()
	url := testservice.Postgres(t)
	db := open(t, url)
	order := placeOverdue(t, db, url)
	slow := holdLocks(t, url, "SELECT FROM pets FOR UPDATE; UPDATE orders SET status = 2, closed_at = created_at; UPDATE pets SET status = 3")
	listed := make(chan int, 1)
	go func() {
		orders, err := db.ListOrders(t.Context(), petstore.OrderQuery{Status: petstore.Open, Limit: 9})
		if err != nil {
			t.Error(err)
		}
		listed <- len(orders)
	}()
	awaitLockWaits(t, url, 1)
	select {
	case <-listed:
		t.Error("the open orders are listed before it is certain how the order ends")
	default:
	}
	noError(t, errorOf(slow.Exec(t.Context(), "COMMIT")))
	if n := <-listed; n != 0 {
		t.Errorf("%d orders are open", n)
	}
	if got, err := db.GetOrder(t.Context(), order.ID); err != nil || got.Status != petstore.Completed {
		t.Errorf("got %+v, %v", got, err)
	}
}

// One transaction cancels an order while another transaction waits to complete it.
func TestAnOrderThatWasCancelledMeanwhileIsNotCompleted(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: mustCreate(t, db).ID, Hold: time.Hour}, nil)
	noError(t, err)
	slow := holdLocks(t, url, "SELECT FROM pets FOR UPDATE; UPDATE orders SET status = 3, closed_at = created_at; UPDATE pets SET status = 1")
	completed := make(chan error, 1)
	go func() {
		_, _, err := db.CloseOrder(t.Context(), order.ID, petstore.Completed, nil)
		completed <- err
	}()
	awaitLockWaits(t, url, 1)
	noError(t, errorOf(slow.Exec(t.Context(), "COMMIT")))
	if err := <-completed; !petstore.IsCode(err, petstore.OrderClosed) {
		t.Errorf("got %v, want a refusal with the code %s", err, petstore.OrderClosed)
	}
	if got, err := db.GetOrder(t.Context(), order.ID); err != nil || got.Status != petstore.Cancelled {
		t.Errorf("the order is %+v, %v", got, err)
	}
}
