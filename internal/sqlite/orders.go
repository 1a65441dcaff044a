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
	selectOrders = "SELECT id, pet_id, status, reference, created_at, expires_at, closed_at FROM orders"
	selectOrder  = selectOrders + " WHERE id = ?1"
	selectHolder = selectOrders + " WHERE pet_id = ?1 AND status = 1"
	selectDue    = selectOrders + " INDEXED BY orders_by_end WHERE status = 1 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2"
	insertOrder  = "INSERT INTO orders (pet_id, status, reference, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)"
	closeOrder   = "UPDATE orders SET status = ?2, closed_at = ?3 WHERE id = ?1"
)

// expireStep is how many orders one commit closes as expired, so that other changes need not wait for all of them.
const expireStep = 500

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

// readOrders returns orders as they count at that time. The caller must read the clock before the call: otherwise an
// order that is completed after the read might count as expired. readOrders stores that an order has expired before it
// shows the order as expired, because a change that read the clock earlier may still complete the order. If it cannot
// store that, no such change is under way any more either. The function query writes the query before and after that.
func (db *DB) readOrders(ctx context.Context, now time.Time, query func(settled bool) (sql string, args []any)) (orders []petstore.Order, err error) {
	sql, args := query(false)
	late, err := db.tryOrders(ctx, now, &orders, sql, args)
	if err == nil && len(late) > 0 {
		db.change(ctx, func(w *writer) error { return w.expire(late, now) })
		sql, args = query(true)
		_, err = db.tryOrders(ctx, now, &orders, sql, args)
	}
	return orders, err
}

// tryOrders reads orders, and returns the ids of those that have expired and are stored as open.
func (db *DB) tryOrders(ctx context.Context, now time.Time, orders *[]petstore.Order, sql string, args []any) (late []int64, err error) {
	*orders = nil
	err = db.readPets(ctx, func(r *reader) error {
		return query(r.conn, func(row *sqlite3.Stmt) {
			stored := scanOrder(row)
			order := stored.At(now)
			if order.Status != stored.Status {
				late = append(late, order.ID)
			}
			*orders = append(*orders, order)
		}, sql, args...)
	})
	return late, err
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
	return db.readOrders(ctx, now, func(settled bool) (string, []any) { return ordersQuery(q, now, settled) })
}

// ordersQuery writes the query of a page so that SQLite walks an index from where the page begins. A page of open orders
// also has those that have expired and are still stored as open, unless these are settled.
func ordersQuery(q petstore.OrderQuery, now time.Time, settled bool) (sql string, args []any) {
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
		if settled {
			from += " AND expires_at > " + bind(now.UnixMilli())
		}
		return from + " AND status = 1" + page, args
	case petstore.Expired: // few orders have expired and are still stored as open
		late := selectOrders + " INDEXED BY orders_by_end" + where + " AND status = 1 AND expires_at <= " + bind(now.UnixMilli())
		return "SELECT * FROM (" + from + " AND status = 4" + page + ") UNION ALL " + late + page, args
	}
	return from + " AND status = " + bind(int64(q.Status)) + page, args
}

// PlaceOrder holds an animal in the next commit.
func (db *DB) PlaceOrder(ctx context.Context, order petstore.NewOrder, idempotency *petstore.Idempotency) (petstore.Order, bool, error) {
	return makeOnce(ctx, db, idempotency, func(w *writer) (petstore.Order, error) { return w.place(order, db.now()) })
}

func (w *writer) place(order petstore.NewOrder, now time.Time) (petstore.Order, error) {
	pet, _, err := w.settled(order.PetID, now)
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
	err = run(w.conn, insertOrder, placed.PetID, int64(placed.Status), placed.Reference, placed.CreatedAt.UnixMilli(), placed.ExpiresAt.UnixMilli())
	placed.ID = w.conn.LastInsertRowID()
	w.ordered[petstore.Open]++
	if err == nil {
		err = w.setStatus(pet, petstore.Pending)
	}
	return placed, err
}

// CloseOrder completes or cancels an order in the next commit.
func (db *DB) CloseOrder(ctx context.Context, id int64, to petstore.OrderStatus) (closed petstore.Order, err error) {
	var refusal error
	err = db.change(ctx, func(w *writer) error {
		order, err := getOrder(w.conn, id)
		if err != nil {
			return err
		}
		now := db.now()
		closed, refusal = order.Close(to, now)
		switch {
		case order.Status != petstore.Open: // it cannot change
			return nil
		case refusal != nil: // it has expired, which is stored before the caller learns it
			return w.close(order.At(now))
		}
		return w.close(closed)
	})
	if err != nil {
		return petstore.Order{}, err
	}
	return closed, refusal
}

// ExpireOrders asks a reader first, so that it does not take the writer if no order has expired.
func (db *DB) ExpireOrders(ctx context.Context) (expired int64, err error) {
	db.checkOriginals() // so that a server notices a loss within a second, even if nobody writes or asks whether it is ready
	for {
		now, due := db.now(), false
		err := db.read(ctx, func(conn *sqlite3.Conn) error { // read holds no transaction, which would keep the WAL from being emptied
			return query(conn, func(*sqlite3.Stmt) { due = true }, selectDue, now.UnixMilli(), 1)
		})
		if err != nil || !due {
			return expired, err
		}
		some := 0
		err = db.change(ctx, func(w *writer) (err error) {
			some, err = w.expireDue(now)
			return err
		})
		if err != nil {
			return expired, err
		}
		expired += int64(some)
	}
}

// expireDue closes orders that have expired, at most expireStep.
func (w *writer) expireDue(now time.Time) (n int, err error) {
	var due []petstore.Order
	err = query(w.conn, func(row *sqlite3.Stmt) { due = append(due, scanOrder(row).At(now)) }, selectDue, now.UnixMilli(), expireStep)
	for i := 0; i < len(due) && err == nil; i++ {
		err = w.close(due[i])
	}
	return len(due), err
}

// expire closes those of the orders that are still open and have expired.
func (w *writer) expire(orders []int64, now time.Time) error {
	for _, id := range orders {
		stored, err := getOrder(w.conn, id)
		if err != nil {
			return err
		}
		if order := stored.At(now); order.Status != stored.Status {
			if err := w.close(order); err != nil {
				return err
			}
		}
	}
	return nil
}

// settled returns an animal and the open order that holds it, or nil if none does. It first closes that order if it has
// expired.
func (w *writer) settled(petID int64, now time.Time) (pet petstore.Pet, holder *petstore.Order, err error) {
	pet, err = getPet(w.get, petID)
	if err != nil || pet.Status != petstore.Pending {
		return pet, nil, err
	}
	err = query(w.conn, func(row *sqlite3.Stmt) {
		order := scanOrder(row).At(now)
		holder = &order
	}, selectHolder, petID)
	if err != nil || holder == nil || holder.Status == petstore.Open {
		return pet, holder, err
	}
	if err := w.close(*holder); err != nil {
		return pet, nil, err
	}
	pet.Status = holder.Status.Leaves()
	return pet, nil, nil
}

// close stores a closed order and gives its animal the status that the order leaves. The animal may be missing if a copy
// has stored only the order so far.
func (w *writer) close(order petstore.Order) error {
	if err := run(w.conn, closeOrder, order.ID, int64(order.Status), order.ClosedAt.UnixMilli()); err != nil {
		return err
	}
	w.ordered[order.Status]++
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
	return w.replace(pet, after)
}

func scanOrder(row *sqlite3.Stmt) petstore.Order {
	return petstore.Order{
		ID:        row.ColumnInt64(0),
		PetID:     row.ColumnInt64(1),
		Status:    petstore.OrderStatus(row.ColumnInt64(2)),
		Reference: row.ColumnText(3),
		CreatedAt: timeAt(row, 4),
		ExpiresAt: timeAt(row, 5),
		ClosedAt:  timeAt(row, 6),
	}
}
