package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

// A transaction that changes an order holds the lock on the order's animal. The database's clock decides whether an order
// has expired. A statement that begins after the lock was taken reads that clock, so the transaction sees every earlier
// decision. The time does not change during a statement, so PostgreSQL can use an index to find orders that have expired.
//
// An order is overdue if it has expired but is still stored as open.
const (
	nowMillis    = "floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint"
	orderColumns = "SELECT id, pet_id, status, reference, created_at, expires_at, closed_at"
	selectOrder  = orderColumns + ", coalesce($2::bigint, " + nowMillis + ") FROM orders WHERE id = $1"
	selectHolder = orderColumns + " FROM orders WHERE pet_id = $1 AND status = 1"
	selectNow    = "SELECT " + nowMillis
	lockOnePet   = "SELECT id, name, category_id, status FROM pets WHERE id = $1 FOR UPDATE"
	lockPets     = "SELECT FROM pets WHERE id = ANY ($1) ORDER BY id FOR UPDATE"
	insertOrder  = "INSERT INTO orders (pet_id, status, reference, created_at, expires_at) VALUES ($1, $2, $3, $4, $5) RETURNING id"
	updateOrder  = "UPDATE orders SET reference = $2, expires_at = $3 WHERE id = $1"
	closeOrder   = "UPDATE orders SET status = $2, closed_at = $3 WHERE id = $1"
	setStatus    = "UPDATE pets SET status = $2 WHERE id = $1"

	// A replica skips an animal that another transaction has locked, because the other transaction closes the overdue order
	// itself.
	selectOverdue = `
		SELECT orders.pet_id FROM orders JOIN pets ON pets.id = orders.pet_id
		WHERE orders.status = 1 AND expires_at <= ` + nowMillis + `
		ORDER BY expires_at LIMIT $1 FOR UPDATE OF pets SKIP LOCKED`
	// ORDER BY makes the planner use the index on the expiry times of open orders, because no other index has this order.
	anyOverdue = "SELECT count(*) > 0 FROM (SELECT FROM orders WHERE status = 1 AND expires_at <= " + nowMillis + " ORDER BY expires_at LIMIT 1) AS due"

	expireOrders = `
		WITH expired AS (
			UPDATE orders SET status = 4, closed_at = expires_at
			WHERE status = 1 AND pet_id = ANY ($1) AND expires_at <= ` + nowMillis + ` RETURNING pet_id
		)
		UPDATE pets SET status = 1 FROM expired WHERE id = pet_id`
)

// expireBatchSize is how many overdue orders one statement closes. The statement must end before its timeout.
const expireBatchSize = 500

// GetOrder returns one order.
func (db *DB) GetOrder(ctx context.Context, id int64) (petstore.Order, error) {
	orders, err := db.readOrders(ctx, selectOrder, id)
	if err == nil && len(orders) == 0 {
		err = petstore.NoSuchOrder()
	}
	if err != nil {
		return petstore.Order{}, err
	}
	return orders[0], nil
}

// readOrders returns orders in the state that they have at the database's time. If the last parameter of sql is not NULL,
// it replaces the database's time.
//
// A transaction that read the clock earlier may still complete an overdue order. So readOrders stores overdue orders as
// expired, and reads again with the same time before it shows them as expired.
func (db *DB) readOrders(ctx context.Context, sql string, args ...any) ([]petstore.Order, error) {
	orders, overdue, at, err := db.queryOrders(ctx, sql, append(args, nil)...)
	if err != nil || len(overdue) == 0 {
		return orders, err
	}
	if _, err := db.expiries.Do(ctx, overdue); err != nil {
		return nil, petstore.NotDone(err)
	}
	orders, _, _, err = db.queryOrders(ctx, sql, append(args, at)...)
	return orders, err
}

// queryOrders reads orders in the state that they have at one time. It returns the orders, that time, and the ids of the
// animals whose orders are overdue.
func (db *DB) queryOrders(ctx context.Context, sql string, args ...any) (orders []petstore.Order, overdue []int64, at int64, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		overdue = nil
		rows, _ := db.pool.Query(ctx, sql, args...)
		orders, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (petstore.Order, error) {
			stored, err := scanOrder(row, &at)
			order := stored.AsOf(time.UnixMilli(at))
			if order.Status != stored.Status {
				overdue = append(overdue, order.PetID)
			}
			return order, err
		})
		return err
	})
	return orders, overdue, at, err
}

// getOrder returns an order as it is stored, and the database's time.
func getOrder(ctx context.Context, tx pgx.Tx, id int64) (order petstore.Order, now time.Time, err error) {
	var at int64
	rows, _ := tx.Query(ctx, selectOrder, id, nil)
	order, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (petstore.Order, error) { return scanOrder(row, &at) })
	if errors.Is(err, pgx.ErrNoRows) {
		err = petstore.NoSuchOrder()
	}
	return order, time.UnixMilli(at), err
}

func scanOrder(row pgx.Row, more ...any) (order petstore.Order, err error) {
	var status int16
	var created, expires int64
	var closed *int64
	err = row.Scan(append([]any{&order.ID, &order.PetID, &status, &order.Reference, &created, &expires, &closed}, more...)...)
	order.Status = petstore.OrderStatus(status)
	order.CreatedAt, order.ExpiresAt, order.ClosedAt = fromMillis(&created), fromMillis(&expires), fromMillis(closed)
	return order, err
}

// ListOrders returns at most q.Limit orders, newest first.
func (db *DB) ListOrders(ctx context.Context, q petstore.OrderQuery) ([]petstore.Order, error) {
	sql, args := ordersQuery(q)
	return db.readOrders(ctx, sql, args...)
}

// ordersQuery returns the query for a page of orders. The query makes PostgreSQL walk an index from the first order of the
// page. The last argument is missing from args: readOrders adds it.
func ordersQuery(q petstore.OrderQuery) (sql string, args []any) {
	args = []any{cmp.Or(q.Before, math.MaxInt64), q.Limit}
	where := " FROM orders WHERE id < $1"
	if q.PetID != nil {
		where += " AND pet_id = $3"
		args = append(args, *q.PetID)
	}
	last := fmt.Sprintf("$%d::bigint", len(args)+1)
	now := fmt.Sprintf("coalesce(%s, %s)", last, nowMillis)
	from := orderColumns + ", " + now + where
	page := " ORDER BY id DESC LIMIT $2"
	stored := func(status petstore.OrderStatus, and string) string {
		if q.PetID != nil { // an animal has few orders, so any index will do
			return fmt.Sprintf("%s AND status = %d%s%s", from, status, and, page)
		}
		// The query compares the status as part of a row, as selectPetsOfStatus does, so that the planner uses the index on
		// the status.
		return fmt.Sprintf("%s AND (status, id) < (%d, $1) AND status >= %[2]d%s ORDER BY status DESC, id DESC LIMIT $2", from, status, and)
	}
	switch q.Status {
	case petstore.AnyOrderStatus:
		return from + page, args
	case petstore.Open: // the first read includes overdue orders, so that readOrders notices them
		return stored(petstore.Open, fmt.Sprintf(" AND (%s IS NULL OR expires_at > %[1]s)", last)), args
	case petstore.Expired: // at most a few orders are overdue, so the second part of the query is cheap
		overdue := from + " AND status = 1 AND expires_at <= " + now + " ORDER BY expires_at" // the comment on anyOverdue says why there is an ORDER BY
		return "SELECT * FROM ((" + stored(petstore.Expired, "") + ") UNION ALL (" + overdue + ")) AS expired" + page, args
	}
	return stored(q.Status, ""), args
}

// PlaceOrder stores an order that holds an animal. The order gets a transaction of its own if its idempotency key was used
// before, or if its animal is locked or not available.
func (db *DB) PlaceOrder(ctx context.Context, order petstore.NewOrder, idempotency *petstore.Idempotency) (placed petstore.Order, replayed bool, err error) {
	placed, done, err := tryChange[petstore.Order](ctx, db, change{changeKind: places, id: order.PetID, order: order, once: idempotency})
	if !done && err == nil {
		placed, replayed, err = doOnce(detached(ctx), db, idempotency, func(ctx context.Context, tx pgx.Tx) (petstore.Order, error) { return db.placeOrder(ctx, tx, order) })
	}
	if err == nil && !replayed {
		db.watch.Order(petstore.Open, 1)
	}
	return placed, replayed, err
}

func (db *DB) placeOrder(ctx context.Context, tx pgx.Tx, order petstore.NewOrder) (petstore.Order, error) {
	pet, _, now, err := db.lockPetWithHolder(ctx, tx, order.PetID)
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
	if _, err := tx.Exec(ctx, setStatus, pet.ID, int16(petstore.Pending)); err != nil {
		return petstore.Order{}, err
	}
	err = tx.QueryRow(ctx, insertOrder, placed.PetID, int16(placed.Status), placed.Reference, placed.CreatedAt.UnixMilli(), placed.ExpiresAt.UnixMilli()).
		Scan(&placed.ID)
	return placed, err
}

// UpdateOrder locks the order's animal and changes the order. Numbering removes a removed reference from the feed. If that
// fails here, whoever reads the feed next does it first.
func (db *DB) UpdateOrder(ctx context.Context, id int64, patch petstore.OrderPatch, idempotency *petstore.Idempotency) (petstore.Order, bool, error) {
	order, replayed, err := db.changeOrder(ctx, id, idempotency, func(order petstore.Order, now time.Time) (petstore.Order, error) { return order.Patch(patch, now) })
	if err == nil && patch.Reference != nil && order.Reference == "" {
		db.NumberEvents(detached(ctx))
	}
	return order, replayed, err
}

// CloseOrder locks the order's animal, and completes or cancels the order.
func (db *DB) CloseOrder(ctx context.Context, id int64, to petstore.OrderStatus, idempotency *petstore.Idempotency) (petstore.Order, bool, error) {
	closed, done, err := tryChange[petstore.Order](ctx, db, change{changeKind: closes, id: id, to: to, once: idempotency})
	if done {
		db.watch.Order(to, 1)
	}
	if done || err != nil {
		return closed, false, err
	}
	return db.changeOrder(detached(ctx), id, idempotency, func(order petstore.Order, now time.Time) (petstore.Order, error) { return order.Close(to, now) })
}

// errOverdue means that the order must be stored as expired before anything else happens.
var errOverdue = petstore.NotDone(errors.New("the order is overdue"))

// changeOrder applies change to an order. If the order is overdue, changeOrder first stores the order as expired. A caller
// must not learn that an order has expired while the order is still stored as open.
func (db *DB) changeOrder(ctx context.Context, id int64, idempotency *petstore.Idempotency, change func(petstore.Order, time.Time) (petstore.Order, error)) (petstore.Order, bool, error) {
	for {
		var before petstore.Order
		after, replayed, err := doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (after petstore.Order, err error) {
			var now time.Time
			if before, now, err = lockOrder(ctx, tx, id); err != nil {
				return before, err
			}
			if before.AsOf(now).Status != before.Status {
				return before, errOverdue
			}
			if after, err = change(before, now); err != nil {
				return before, err
			}
			return after, storeOrder(ctx, tx, before, after)
		})
		switch {
		case errors.Is(err, errOverdue):
			if _, err := db.expiries.Do(ctx, []int64{before.PetID}); err != nil {
				return petstore.Order{}, false, petstore.NotDone(err)
			}
			ctx = detached(ctx)
			continue
		case petstore.IsCode(err, petstore.OrderClosed), err == nil && after == before:
			err = cmp.Or(db.confirmDurable(ctx), err)
		}
		if err != nil {
			return petstore.Order{}, false, err
		}
		if !replayed && after.Status != before.Status {
			db.watch.Order(after.Status, 1)
		}
		return after, replayed, nil
	}
}

// lockOrder returns an order and the current time. If the order is open, lockOrder locks the order's animal. A closed order
// needs no lock, because it stays closed.
func lockOrder(ctx context.Context, tx pgx.Tx, id int64) (order petstore.Order, now time.Time, err error) {
	order, now, err = getOrder(ctx, tx, id)
	if err != nil || order.Status != petstore.Open {
		return order, now, err
	}
	if _, err := tx.Exec(ctx, lockOnePet, order.PetID); err != nil {
		return order, now, err
	}
	return getOrder(ctx, tx, id)
}

// storeOrder stores an order if it has changed. The arguments before and after are the old and the new order.
func storeOrder(ctx context.Context, tx pgx.Tx, before, after petstore.Order) (err error) {
	switch {
	case after.Status != before.Status:
		return storeClosedOrder(ctx, tx, after)
	case after != before:
		_, err = tx.Exec(ctx, updateOrder, after.ID, after.Reference, after.ExpiresAt.UnixMilli())
	}
	return err
}

// lockPetWithHolder locks an animal. It returns the animal, the open order that holds the animal, and the current time. The
// order is nil if none holds the animal. If the order is overdue, lockPetWithHolder closes it first.
func (db *DB) lockPetWithHolder(ctx context.Context, tx pgx.Tx, id int64) (pet petstore.Pet, holder *petstore.Order, now time.Time, err error) {
	pet, err = scanPet(tx.QueryRow(ctx, lockOnePet, id))
	if errors.Is(err, pgx.ErrNoRows) {
		err = petstore.NoSuchPet()
	}
	if err != nil {
		return pet, nil, now, err
	}
	var at int64
	if err := tx.QueryRow(ctx, selectNow).Scan(&at); err != nil || pet.Status != petstore.Pending {
		return pet, nil, time.UnixMilli(at), err
	}
	now = time.UnixMilli(at)
	rows, _ := tx.Query(ctx, selectHolder, id)
	held, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (petstore.Order, error) { return scanOrder(row) })
	if err != nil || len(held) == 0 {
		return pet, nil, now, err
	}
	order := held[0].AsOf(now)
	if order.Status == petstore.Open {
		return pet, &order, now, nil
	}
	pet.Status = order.Status.Leaves()
	if err := storeClosedOrder(ctx, tx, order); err != nil {
		return pet, nil, now, err
	}
	db.watch.Order(petstore.Expired, 1) // if the transaction is rolled back, the metric counts this order twice
	return pet, nil, now, nil
}

// storeClosedOrder stores a closed order and updates the status of the order's animal.
func storeClosedOrder(ctx context.Context, tx pgx.Tx, order petstore.Order) error {
	batch := &pgx.Batch{}
	batch.Queue(closeOrder, order.ID, int16(order.Status), order.ClosedAt.UnixMilli())
	batch.Queue(setStatus, order.PetID, int16(order.Status.Leaves()))
	return tx.SendBatch(ctx, batch).Close()
}

// ExpireOrders closes overdue orders, expireBatchSize at a time, and then folds the inventory.
func (db *DB) ExpireOrders(ctx context.Context) (expired int64, err error) {
	for {
		some, err := db.expireOverdue(ctx)
		if err != nil {
			return expired, err
		}
		if some == 0 { // no order is overdue, or other replicas are closing the overdue orders
			return expired, db.foldInventory(ctx)
		}
		db.watch.Order(petstore.Expired, int(some))
		expired += some
	}
}

// expireOverdue closes at most expireBatchSize overdue orders. It first looks for an overdue order, so that it locks
// nothing if there is none.
func (db *DB) expireOverdue(ctx context.Context) (n int64, err error) {
	var overdue bool
	err = db.read(ctx, func(ctx context.Context) error { return db.pool.QueryRow(ctx, anyOverdue).Scan(&overdue) })
	if err != nil || !overdue {
		return 0, err
	}
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, selectOverdue, expireBatchSize)
		pets, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(pets) == 0 {
			return err
		}
		tag, err := tx.Exec(ctx, expireOrders, pets)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}

// expireBatch closes the overdue orders of the given animals. It first waits until all running changes of these animals
// have ended. Only one call waits at a time, on one connection.
func (db *DB) expireBatch(lists [][]int64) ([]struct{}, error) {
	pets, expired := slices.Concat(lists...), 0
	err := db.transaction(context.Background(), func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockPets, pets); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, expireOrders, pets)
		expired = int(tag.RowsAffected())
		return err
	})
	if err == nil {
		db.watch.Order(petstore.Expired, expired)
	}
	return make([]struct{}, len(lists)), err
}
