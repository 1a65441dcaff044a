package baseline

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// fastPostgres answers calls that arrive together in one round trip, as petstore does. Each group has a connection of its own.
// The statements use the tables of petstore without its triggers, and a table with the inventory.
type fastPostgres struct {
	gets        grouped[*lookUp]
	pages       [4]grouped[*lookUp]
	inventories grouped[*inventory]
	writes      grouped[*change]
	lane        atomic.Uint64
}

// lookUp is a call that reads animals: one by its id, or a page.
type lookUp struct {
	id, limit int64
	pets      []pet
}

// PrepareCeiling is SQL that turns a database of petstore into one for the ceiling.
const PrepareCeiling = `
	ALTER TABLE pets DISABLE TRIGGER USER;
	ALTER TABLE orders DISABLE TRIGGER USER;
	CREATE TABLE ceiling AS SELECT status::bigint, count(*) AS animals FROM pets GROUP BY status`

const (
	getAll = "SELECT id, name, category_id, status FROM pets WHERE id = ANY ($1)"

	countAll = "SELECT status, animals FROM ceiling"

	addAll = `
		WITH fresh AS MATERIALIZED (
			SELECT nextval('pets_id') AS id, pet.*
			FROM unnest($1::text[], $2::bigint[], $3::smallint[]) WITH ORDINALITY AS pet (name, category_id, status, position)
		), stored AS (
			INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE SELECT id, name, category_id, status FROM fresh
		), counted AS (
			UPDATE ceiling SET animals = animals + n FROM (SELECT status, count(*) AS n FROM fresh GROUP BY status) AS more
			WHERE ceiling.status = more.status
		)
		SELECT id, '', 0::bigint, 0::smallint FROM fresh ORDER BY position`

	updateAll = `
		UPDATE pets SET category_id = wanted.category_id FROM unnest($1::bigint[], $2::bigint[]) AS wanted (id, category_id)
		WHERE pets.id = wanted.id RETURNING pets.id, name, pets.category_id, status`

	placeAll = `
		WITH held AS (
			UPDATE pets SET status = 2 WHERE id = ANY ($1) AND status = 1 RETURNING id
		), counted AS (
			UPDATE ceiling SET animals = animals + CASE status WHEN 1 THEN -n ELSE n END FROM (SELECT count(*) AS n FROM held) AS moved
			WHERE status IN (1, 2)
		)
		INSERT INTO orders (pet_id, status, reference, created_at, expires_at) SELECT id, 1, '', $2, $3 FROM held
		RETURNING id, pet_id, created_at, expires_at`

	completeAll = `
		WITH closed AS (
			UPDATE orders SET status = 2, closed_at = $2 WHERE id = ANY ($1) AND status = 1 RETURNING id, pet_id, created_at, expires_at
		), sold AS (
			UPDATE pets SET status = 3 FROM closed WHERE pets.id = closed.pet_id
		), counted AS (
			UPDATE ceiling SET animals = animals + CASE status WHEN 2 THEN -n ELSE n END FROM (SELECT count(*) AS n FROM closed) AS moved
			WHERE status IN (2, 3)
		)
		SELECT * FROM closed`
)

func openFastPostgres(url string) (fastest, error) {
	s := &fastPostgres{}
	var err error
	connect := func() *pgx.Conn {
		conn, failed := pgx.Connect(context.Background(), url)
		err = errors.Join(err, failed)
		return conn
	}
	gets, inventories, writes := connect(), connect(), connect()
	s.gets.answer = func(calls []*lookUp) error { return readAll(gets, calls) }
	for i := range s.pages {
		pages := connect()
		s.pages[i].answer = func(calls []*lookUp) error { return listAll(pages, calls) }
	}
	s.inventories.answer = func(calls []*inventory) error { return countInto(inventories, calls) }
	s.writes.answer = func(changes []*change) error { return writeAll(writes, changes) }
	return s, err
}

func (s *fastPostgres) get(id int64) (pet, error) {
	call := &lookUp{id: id}
	if err := s.gets.do(call); err != nil || len(call.pets) == 0 {
		return pet{}, cmp.Or(err, errNotFound)
	}
	return call.pets[0], nil
}

func (s *fastPostgres) list(before, limit int64) ([]pet, error) {
	call := &lookUp{id: before, limit: limit}
	err := s.pages[s.lane.Add(1)%uint64(len(s.pages))].do(call)
	return call.pets, err
}

func (s *fastPostgres) inventory() (animals inventory, err error) {
	return animals, s.inventories.do(&animals)
}

func (s *fastPostgres) version() uint64 { return 0 }

func (s *fastPostgres) change(c *change) error { return s.writes.do(c) }

// collect reads animals in PostgreSQL's binary format.
func collect(rows pgx.Rows, err error) (pets []pet, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row := rows.RawValues()
		pets = append(pets, pet{number(row[0]), string(row[1]), number(row[2]), names[binary.BigEndian.Uint16(row[3])]})
	}
	return pets, rows.Err()
}

func number(value []byte) int64 { return int64(binary.BigEndian.Uint64(value)) }

func readAll(conn *pgx.Conn, calls []*lookUp) error {
	ids := make([]int64, len(calls))
	for i, c := range calls {
		ids[i] = c.id
	}
	pets, err := collect(conn.Query(context.Background(), getAll, ids))
	for _, c := range calls {
		for i := range pets {
			if pets[i].ID == c.id {
				c.pets = pets[i : i+1]
				break
			}
		}
	}
	return err
}

// listAll reads equal pages once.
func listAll(conn *pgx.Conn, calls []*lookUp) error {
	var batch pgx.Batch
	asked := make(map[lookUpKey][]*lookUp, len(calls))
	for _, c := range calls {
		key := lookUpKey{c.id, c.limit}
		if asked[key] == nil {
			batch.Queue(list, c.id, c.limit).Query(func(rows pgx.Rows) error {
				pets, err := collect(rows, nil)
				for _, c := range asked[key] {
					c.pets = pets
				}
				return err
			})
		}
		asked[key] = append(asked[key], c)
	}
	return conn.SendBatch(context.Background(), &batch).Close()
}

type lookUpKey struct{ before, limit int64 }

func countInto(conn *pgx.Conn, calls []*inventory) error {
	rows, err := conn.Query(context.Background(), countAll)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row := rows.RawValues()
		calls[0][number(row[0])] = number(row[1])
	}
	for _, c := range calls[1:] {
		*c = *calls[0]
	}
	return rows.Err()
}

// writeAll makes changes in one transaction and one round trip. A change of an animal that another change of the group
// changes too may be refused; the bench sends none.
func writeAll(conn *pgx.Conn, changes []*change) error {
	var batch pgx.Batch
	now := time.Now().UnixMilli()
	var of [complete + 1][]*change
	for _, c := range changes {
		c.refused = errNotFound // until the statement returns a row for it
		of[c.kind] = append(of[c.kind], c)
	}
	if creates := of[create]; len(creates) > 0 {
		var names []string
		var categories, statuses []int64
		for _, c := range creates {
			names, categories, statuses = append(names, c.pet.Name), append(categories, c.pet.CategoryID), append(statuses, numbers[c.pet.Status])
		}
		batch.Queue(addAll, names, categories, statuses).Query(func(rows pgx.Rows) error {
			pets, err := collect(rows, nil)
			for i, p := range pets {
				creates[i].pet.ID, creates[i].refused = p.ID, nil
			}
			return err
		})
	}
	if updates := of[update]; len(updates) > 0 {
		categories := make(map[int64]int64, len(updates)) // the last one wins
		for _, c := range updates {
			categories[c.pet.ID] = c.pet.CategoryID
		}
		ids, values := make([]int64, 0, len(categories)), make([]int64, 0, len(categories))
		for id, category := range categories {
			ids, values = append(ids, id), append(values, category)
		}
		batch.Queue(updateAll, ids, values).Query(func(rows pgx.Rows) error {
			pets, err := collect(rows, nil)
			byID := make(map[int64]pet, len(pets))
			for _, p := range pets {
				byID[p.ID] = p
			}
			for _, c := range updates {
				if p, ok := byID[c.pet.ID]; ok {
					p.CategoryID = c.pet.CategoryID
					c.pet, c.refused = p, nil
				}
			}
			return err
		})
	}
	queueOrders(&batch, placeAll, of[place], func(c *change) int64 { return c.order.pet }, func(o order) int64 { return o.pet }, now, now+hold.Milliseconds())
	queueOrders(&batch, completeAll, of[complete], func(c *change) int64 { return c.order.id }, func(o order) int64 { return o.id }, now)
	return conn.SendBatch(context.Background(), &batch).Close()
}

// queueOrders queues a statement that changes orders, which wanted and made identify alike.
func queueOrders(batch *pgx.Batch, statement string, changes []*change, wanted func(*change) int64, made func(order) int64, times ...any) {
	if len(changes) == 0 {
		return
	}
	ids, byID := make([]int64, 0, len(changes)), make(map[int64]*change, len(changes))
	for _, c := range changes {
		ids, byID[wanted(c)] = append(ids, wanted(c)), c
	}
	batch.Queue(statement, append([]any{ids}, times...)...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			row := rows.RawValues()
			o := order{id: number(row[0]), pet: number(row[1]), created: number(row[2]), expires: number(row[3])}
			if statement == completeAll {
				o.closed = times[0].(int64)
			}
			c := byID[made(o)]
			c.order, c.refused = o, nil
		}
		return rows.Err()
	})
}
