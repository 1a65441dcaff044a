package sqlite

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectOrders  = "SELECT id, pet_id, status, reference, created_at, expires_at, closed_at FROM orders"
	selectOrder   = selectOrders + " WHERE id = ?1"
	selectHolder  = selectOrders + " WHERE pet_id = ?1 AND status = 1"
	selectOverdue = selectOrders + " INDEXED BY orders_by_end WHERE status = 1 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2"
	insertOrder   = "INSERT INTO orders (id, pet_id, status, reference, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	updateOrder   = "UPDATE orders SET reference = ?2, expires_at = ?3 WHERE id = ?1"
	closeOrder    = "UPDATE orders SET status = ?2, closed_at = ?3 WHERE id = ?1"
)

// An order is overdue if it has expired but is still stored as open.

// expireBatchSize is how many overdue orders one commit closes. Other changes need not wait for all overdue orders.
const expireBatchSize = 500

// GetOrder returns one order.
func (db *DB) GetOrder(ctx context.Context, id int64) (petstore.Order, error) {
	orders, err := db.readOrders(ctx, db.now(), func(bool) (string, []any) { return selectOrder, []any{id} })
	if err == nil && len(orders) == 0 {
		err = petstore.NoSuchOrder()
	}
	if err != nil {
		return petstore.Order{}, err
	}
	return orders[0], nil
}

// readOrders returns orders in the state that they have at the time now. The caller must read the clock before it calls
// readOrders. Otherwise readOrders might read an open order, somebody might complete the order in time, and readOrders
// would show the order as expired.
//
// A request that read the clock earlier may still complete an order that is now overdue. So readOrders stores overdue
// orders as expired, and reads again before it shows them as expired. Even if storing fails, no such request is running
// afterwards. The function query returns the SQL. In the first read, a query for open orders also returns overdue orders.
// In the second read, it does not.
func (db *DB) readOrders(ctx context.Context, now time.Time, query func(again bool) (sql string, args []any)) (orders []petstore.Order, err error) {
	sql, args := query(false)
	overdue, err := db.queryOrders(ctx, now, &orders, sql, args)
	if err == nil && len(overdue) > 0 {
		db.inNextCommit(ctx, func(w *writer) error { return w.expireOrders(overdue, now) })
		sql, args = query(true)
		_, err = db.queryOrders(ctx, now, &orders, sql, args)
	}
	return orders, err
}

// queryOrders reads orders in the state that they have at the time now, and returns the ids of the overdue orders.
func (db *DB) queryOrders(ctx context.Context, now time.Time, orders *[]petstore.Order, sql string, args []any) (overdue []int64, err error) {
	*orders = nil
	err = db.readVersioned(ctx, func(r *reader) error {
		return query(r.conn, func(row *sqlite3.Stmt) {
			stored := scanOrder(row)
			order := stored.AsOf(now)
			if order.Status != stored.Status {
				overdue = append(overdue, order.ID)
			}
			*orders = append(*orders, order)
		}, sql, args...)
	})
	return overdue, err
}

func getOrder(conn *sqlite3.Conn, id int64) (order petstore.Order, err error) {
	found := false
	err = query(conn, func(row *sqlite3.Stmt) { order, found = scanOrder(row), true }, selectOrder, id)
	if err == nil && !found {
		err = petstore.NoSuchOrder()
	}
	return order, err
}

// ListOrders returns at most q.Limit orders, newest first.
func (db *DB) ListOrders(ctx context.Context, q petstore.OrderQuery) ([]petstore.Order, error) {
	now := db.now()
	return db.readOrders(ctx, now, func(again bool) (string, []any) { return ordersQuery(q, now, again) })
}

// ordersQuery returns the query for a page of orders. The query makes SQLite walk an index from the first order of the
// page. A query for open orders also returns overdue orders, unless again is true.
func ordersQuery(q petstore.OrderQuery, now time.Time, again bool) (sql string, args []any) {
	bind := func(arg any) string {
		args = append(args, arg)
		return "?" + strconv.Itoa(len(args))
	}
	where := " WHERE id < " + bind(cmp.Or(q.Before, math.MaxInt64))
	if q.PetID != nil {
		where += " AND pet_id = " + bind(*q.PetID)
	}
	from := selectOrders + where
	page := " ORDER BY id DESC LIMIT " + bind(q.Limit)
	switch q.Status {
	case petstore.AnyOrderStatus:
		return from + page, args
	case petstore.Open:
		if again {
			from += " AND expires_at > " + bind(now.UnixMilli())
		}
		return from + " AND status = 1" + page, args
	case petstore.Expired: // at most a few orders are overdue, so the second part of the query is cheap
		overdue := selectOrders + " INDEXED BY orders_by_end" + where + " AND status = 1 AND expires_at <= " + bind(now.UnixMilli())
		return "SELECT * FROM (" + from + " AND status = 4" + page + ") UNION ALL " + overdue + page, args
	}
	return from + " AND status = " + bind(int64(q.Status)) + page, args
}

// PlaceOrder stores an order that holds an animal. The change is part of the next commit.
func (db *DB) PlaceOrder(ctx context.Context, order petstore.NewOrder, idempotency *petstore.Idempotency) (petstore.Order, bool, error) {
	return doOnce(ctx, db, idempotency, func(w *writer) (petstore.Order, error) { return w.placeOrder(order, db.now()) })
}

func (w *writer) placeOrder(order petstore.NewOrder, now time.Time) (petstore.Order, error) {
	pet, _, err := w.petWithHolder(order.PetID, now)
	if petstore.IsCode(err, petstore.NotFound) {
		err = petstore.NoPetToOrder(order.PetID)
	}
	if err != nil {
		return petstore.Order{}, err
	}
	placed, err := order.Place(0, pet, now)
	if err != nil {
		return petstore.Order{}, err
	}
	if placed.ID, err = w.takeIDs(&w.orderIDs, "orders", 1); err != nil {
		return petstore.Order{}, err
	}
	err = run(w.conn, insertOrder, placed.ID, placed.PetID, int64(placed.Status), placed.Reference, placed.CreatedAt.UnixMilli(), placed.ExpiresAt.UnixMilli())
	w.orderCounts[petstore.Open]++
	if err == nil {
		w.events.note(petstore.OrderChanged(nil, placed))
		err = w.setStatus(pet, petstore.Pending)
	}
	return placed, err
}

// UpdateOrder changes an order. The change is part of the next commit.
func (db *DB) UpdateOrder(ctx context.Context, id int64, patch petstore.OrderPatch, idempotency *petstore.Idempotency) (petstore.Order, bool, error) {
	return db.changeOrder(ctx, id, idempotency, func(order petstore.Order, now time.Time) (petstore.Order, error) { return order.Patch(patch, now) })
}

// CloseOrder completes or cancels an order. The change is part of the next commit.
func (db *DB) CloseOrder(ctx context.Context, id int64, to petstore.OrderStatus, idempotency *petstore.Idempotency) (petstore.Order, bool, error) {
	return db.changeOrder(ctx, id, idempotency, func(order petstore.Order, now time.Time) (petstore.Order, error) { return order.Close(to, now) })
}

// changeOrder applies change to an order, as part of the next commit. If the order is overdue, changeOrder stores the order
// as expired, even if the change is refused. A caller must not learn that an order has expired while the order is still
// stored as open.
func (db *DB) changeOrder(ctx context.Context, id int64, idempotency *petstore.Idempotency, change func(petstore.Order, time.Time) (petstore.Order, error)) (petstore.Order, bool, error) {
	return doOnce(ctx, db, idempotency, func(w *writer) (petstore.Order, error) {
		stored, err := getOrder(w.conn, id)
		if err != nil {
			return petstore.Order{}, err
		}
		now := db.now()
		before := stored.AsOf(now)
		if before.Status != stored.Status {
			if err := w.storeClosedOrder(before); err != nil {
				return petstore.Order{}, err
			}
		}
		after, err := change(before, now)
		switch {
		case err != nil:
			return petstore.Order{}, err
		case after.Status != before.Status:
			return after, w.storeClosedOrder(after)
		case after != before:
			return after, w.storeChangedOrder(before, after)
		}
		return after, nil
	})
}

// storeChangedOrder stores an order whose status has not changed.
func (w *writer) storeChangedOrder(before, after petstore.Order) error {
	w.events.note(petstore.OrderChanged(&before, after))
	if before.Reference != "" && after.Reference == "" {
		w.events.erased = append(w.events.erased, after)
	}
	return run(w.conn, updateOrder, after.ID, after.Reference, after.ExpiresAt.UnixMilli())
}

// ExpireOrders closes overdue orders, expireBatchSize at a time. It looks for overdue orders with a reader, and uses the
// writer only if there are any.
func (db *DB) ExpireOrders(ctx context.Context) (expired int64, err error) {
	db.checkFiles() // ExpireOrders runs every second, so even an idle server reports a lost file
	db.trimIdleWAL(ctx)
	for {
		now, overdue := db.now(), false
		err := db.read(ctx, func(conn *sqlite3.Conn) error { // unlike readVersioned, read leaves no transaction open
			return query(conn, func(*sqlite3.Stmt) { overdue = true }, selectOverdue, now.UnixMilli(), 1)
		})
		if err != nil || !overdue {
			return expired, err
		}
		some := 0
		err = db.inNextCommit(ctx, func(w *writer) (err error) {
			some, err = w.expireOverdue(now)
			return err
		})
		if err != nil {
			return expired, err
		}
		expired += int64(some)
	}
}

// expireOverdue closes at most expireBatchSize overdue orders.
func (w *writer) expireOverdue(now time.Time) (n int, err error) {
	var overdue []petstore.Order
	err = query(w.conn, func(row *sqlite3.Stmt) { overdue = append(overdue, scanOrder(row).AsOf(now)) }, selectOverdue, now.UnixMilli(), expireBatchSize)
	for i := 0; i < len(overdue) && err == nil; i++ {
		err = w.storeClosedOrder(overdue[i])
	}
	return len(overdue), err
}

// expireOrders closes the overdue orders among the given orders.
func (w *writer) expireOrders(orders []int64, now time.Time) error {
	for _, id := range orders {
		stored, err := getOrder(w.conn, id)
		if err != nil {
			return err
		}
		if order := stored.AsOf(now); order.Status != stored.Status {
			if err := w.storeClosedOrder(order); err != nil {
				return err
			}
		}
	}
	return nil
}

// petWithHolder returns an animal and the open order that holds the animal, or nil if no order does. If that order is
// overdue, petWithHolder closes it first.
func (w *writer) petWithHolder(petID int64, now time.Time) (pet petstore.Pet, holder *petstore.Order, err error) {
	pet, err = getPet(w.get, petID)
	if err != nil || pet.Status != petstore.Pending {
		return pet, nil, err
	}
	err = query(w.conn, func(row *sqlite3.Stmt) {
		order := scanOrder(row).AsOf(now)
		holder = &order
	}, selectHolder, petID)
	if err != nil || holder == nil || holder.Status == petstore.Open {
		return pet, holder, err
	}
	if err := w.storeClosedOrder(*holder); err != nil {
		return pet, nil, err
	}
	pet.Status = holder.Status.Leaves()
	return pet, nil, nil
}

// storeClosedOrder stores a closed order and updates the status of the order's animal. The animal is missing if a copy has
// stored the order but not yet the animal.
func (w *writer) storeClosedOrder(order petstore.Order) error {
	if err := run(w.conn, closeOrder, order.ID, int64(order.Status), order.ClosedAt.UnixMilli()); err != nil {
		return err
	}
	w.orderCounts[order.Status]++
	open := order
	open.Status, open.ClosedAt = petstore.Open, time.Time{}
	w.events.note(petstore.OrderChanged(&open, order))
	pet, err := getPet(w.get, order.PetID)
	switch {
	case petstore.IsCode(err, petstore.NotFound):
		return nil
	case err != nil:
		return err
	}
	return w.setStatus(pet, order.Status.Leaves())
}

func (w *writer) setStatus(pet petstore.Pet, status petstore.Status) error {
	after := pet
	after.Status = status
	return w.savePet(pet, after)
}

func scanOrder(row *sqlite3.Stmt) petstore.Order {
	return petstore.Order{
		ID:        row.ColumnInt64(0),
		PetID:     row.ColumnInt64(1),
		Status:    petstore.OrderStatus(row.ColumnInt64(2)),
		Reference: row.ColumnText(3),
		CreatedAt: columnTime(row, 4),
		ExpiresAt: columnTime(row, 5),
		ClosedAt:  columnTime(row, 6),
	}
}
