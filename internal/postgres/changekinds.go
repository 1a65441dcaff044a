package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

// An update leaves out an animal that an order is in the way of: an overdue order or, if the patch sets the status, an order
// that may hold the animal. The condition on $1 keeps the planner from reading the whole table for a join.
var updates = &changeKind{
	sql: `
		WITH wanted AS MATERIALIZED (
			SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::smallint[])
				AS wanted (id, owner, key, name, category_id, status)
			WHERE ` + isClaimed + `
		), free AS (
			SELECT pets.id FROM pets JOIN wanted ON wanted.id = pets.id
			WHERE pets.id = ANY ($1) AND (pets.status <> 2 OR wanted.status IS NULL AND NOT EXISTS (
				SELECT FROM orders WHERE pet_id = pets.id AND orders.status = 1 AND expires_at <= ` + nowMillis + `))
			FOR UPDATE OF pets SKIP LOCKED
		)
		UPDATE pets SET name = coalesce(wanted.name, pets.name), category_id = coalesce(wanted.category_id, pets.category_id),
			status = coalesce(wanted.status, pets.status)
		FROM free JOIN wanted ON wanted.id = free.id
		WHERE pets.id = free.id AND (pets.name, pets.category_id, pets.status)
			<> (coalesce(wanted.name, pets.name), coalesce(wanted.category_id, pets.category_id), coalesce(wanted.status, pets.status))
		RETURNING pets.id, pets.name, pets.category_id, pets.status`,
	columns: func(changes []change) []any {
		return []any{
			column(changes, func(c change) *string { return c.patch.Name }),
			column(changes, func(c change) *int64 { return c.patch.CategoryID }),
			column(changes, func(c change) *int16 {
				if c.patch.Status == nil {
					return nil
				}
				return new(int16(*c.patch.Status))
			}),
		}
	},
	scan: func(row pgx.CollectableRow, _ func(int64) change) (id int64, answer any, err error) {
		pet, err := scanPet(row)
		return pet.ID, pet, err
	},
}

var deletes = &changeKind{
	sql: `
		WITH wanted AS MATERIALIZED (
			SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) AS wanted (id, owner, key)
			WHERE ` + isClaimed + `
		), free AS (
			SELECT pets.id FROM pets JOIN wanted ON wanted.id = pets.id
			WHERE pets.id = ANY ($1) AND status <> 2 FOR UPDATE OF pets SKIP LOCKED
		)
		DELETE FROM pets USING free WHERE pets.id = free.id
		RETURNING pets.id`,
	columns: func([]change) []any { return nil },
	scan: func(row pgx.CollectableRow, _ func(int64) change) (id int64, answer any, err error) {
		return id, struct{}{}, row.Scan(&id)
	},
}

var places = &changeKind{
	sql: `
		WITH wanted AS MATERIALIZED (
			SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[])
				AS wanted (pet_id, owner, key, reference, hold)
			WHERE ` + isClaimed + `
		), free AS (
			SELECT pets.id FROM pets JOIN wanted ON pet_id = pets.id
			WHERE pets.id = ANY ($1) AND status = 1 FOR UPDATE OF pets SKIP LOCKED
		), held AS (
			UPDATE pets SET status = 2 FROM free WHERE pets.id = free.id RETURNING pets.id
		)
		INSERT INTO orders (pet_id, status, reference, created_at, expires_at)
		SELECT pet_id, 1, reference, ` + nowMillis + `, ` + nowMillis + ` + hold FROM held JOIN wanted ON pet_id = held.id
		RETURNING id, pet_id, created_at`,
	columns: func(changes []change) []any {
		return []any{
			column(changes, func(c change) string { return c.order.Reference }),
			column(changes, func(c change) int64 { return c.order.Hold.Milliseconds() }),
		}
	},
	scan: func(row pgx.CollectableRow, find func(int64) change) (petID int64, answer any, err error) {
		var id, at int64
		if err := row.Scan(&id, &petID, &at); err != nil {
			return 0, nil, err
		}
		placed, err := find(petID).order.Place(id, petstore.Pet{NewPet: petstore.NewPet{Status: petstore.Available}}, time.UnixMilli(at))
		return petID, placed, err
	},
}

// closes completes or cancels orders.
var closes = &changeKind{
	sql: `
		WITH wanted AS MATERIALIZED (
			SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::smallint[])
				AS wanted (id, owner, key, status, leaves)
			WHERE ` + isClaimed + `
		), held AS (
			SELECT orders.id FROM wanted JOIN orders ON orders.id = wanted.id JOIN pets ON pets.id = pet_id
			WHERE orders.id = ANY ($1) AND orders.status = 1 FOR UPDATE OF pets SKIP LOCKED
		), closed AS (
			UPDATE orders SET status = wanted.status, closed_at = ` + nowMillis + ` FROM held JOIN wanted ON wanted.id = held.id
			WHERE orders.id = held.id AND orders.status = 1 AND expires_at > ` + nowMillis + `
			RETURNING orders.*, leaves
		), left_as AS (
			UPDATE pets SET status = leaves FROM closed WHERE pets.id = pet_id
		)
		` + orderColumns + ` FROM closed`,
	columns: func(changes []change) []any {
		return []any{
			column(changes, func(c change) int16 { return int16(c.to) }),
			column(changes, func(c change) int16 { return int16(c.to.Leaves()) }),
		}
	},
	scan: func(row pgx.CollectableRow, _ func(int64) change) (id int64, answer any, err error) {
		order, err := scanOrder(row)
		return order.ID, order, err
	},
}
