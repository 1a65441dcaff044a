package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

// Every statement that changes the store leaves slips: its events, which have no number yet. The triggers of the migrations
// write them; only the events of profiles come from this program. Numbering puts the events of the slips into the feed.
//
// Whoever numbers locks the one row of the table feed, and then selects the slips in a new statement, whose snapshot is
// younger than the commit of whoever had the lock before. So no slip is numbered twice. A slip is found however long its
// transaction took, because numbering deletes what it has numbered and looks at all the rest. It depends on no transaction
// that is still open.
//
// The order is right: transactions are numbered in the order of the ids of their last slips. Say that a change was
// acknowledged before another one began, or that the other one waited for its lock. Then the last slip of the first has the
// lower id, and whoever sees the slips of the other sees those of the first too.
//
// A page of the feed is complete: its query reads the events and looks for slips in one snapshot. A change that was
// acknowledged before has left a slip there, even if another process is numbering it at that moment, or it has been
// numbered in a transaction that the snapshot sees. In the first case whoever reads the page numbers too, waits for the
// lock of the other process, and reads again.
const (
	lockFeed = "SELECT name, trimmed, last, bytes FROM feed FOR UPDATE"

	// A slip is selected if all slips before it have fewer than $2 bytes.
	selectSlips = `
		SELECT id, xid::text, at, coalesce(low, 0), coalesce(high, 0), erases, n, record
		FROM (
			SELECT *, sum(octet_length(record)) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - octet_length(record) AS before
			FROM (SELECT * FROM event_slips ORDER BY id LIMIT $1) AS oldest
		) AS measured
		WHERE before < $2 ORDER BY id`

	selectUnfinished = `
		SELECT DISTINCT xid FROM unnest($2::text[]) AS selected (xid)
		JOIN (SELECT xid::text FROM event_slips WHERE id > $1 ORDER BY id LIMIT $3) AS later USING (xid)`

	insertEvents = `
		INSERT INTO events (first, start, at, low, high, n, record)
		SELECT first, start, at, nullif(low, 0), nullif(high, 0), n, record
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::text[])
			AS row (first, start, at, low, high, n, record)`
	insertEventPets = "INSERT INTO event_pets (pet_id, sequence) SELECT * FROM unnest($1::bigint[], $2::bigint[])"
	deleteSlips     = "DELETE FROM event_slips WHERE id = ANY ($1)"
	moveFeed        = "UPDATE feed SET last = $1, bytes = $2"
	insertSlip      = "INSERT INTO event_slips (n, record) VALUES (1, $1)"

	selectRowsOfPet = storedEventColumns + `
		FROM events WHERE first = ANY (ARRAY(
			SELECT (SELECT first FROM events WHERE first <= sequence ORDER BY first DESC LIMIT 1) FROM event_pets WHERE pet_id = $1))`
	rewriteEvents = "UPDATE events SET record = $2 WHERE first = $1"
)

// A transaction numbers at most slipsAtOnce slips, and no more after bytesAtOnce. It must end before its timeout.
const (
	slipsAtOnce = 5000
	bytesAtOnce = 8 << 20
	// slipsAhead is how far numbering looks for more slips of the same transactions. No transaction of this program leaves
	// so many slips during its time. A longer one is numbered in pieces, each change still after those that it followed.
	slipsAhead = 100_000
)

// slip has the events of a statement, at most 1,000.
type slip struct {
	id  int64
	xid string
	at  int64
	// low and high are the lowest and the highest id if animals were created, or else zero.
	low, high int64
	// erases reports that a reference was removed.
	erases bool
	n      int64
	record string
}

// NumberEvents gives a number to all events that were committed before. It writes nothing if there are none.
func (db *DB) NumberEvents(ctx context.Context) error {
	state, err := db.feedStates.Do(ctx, struct{}{})
	if err != nil || !state.pending {
		return failure(err)
	}
	return db.number(ctx)
}

// number numbers, for all callers that wait for it at the same time.
func (db *DB) number(ctx context.Context) error {
	_, err := db.numbering.Do(ctx, struct{}{})
	return failure(err)
}

// numberAll numbers until no slip is left that was there when it began.
func (db *DB) numberAll(struct{}) (nothing struct{}, err error) {
	for more := true; more && err == nil; {
		more, err = db.numberSome(context.Background())
	}
	db.numbered.Store(time.Now().UnixNano())
	if err != nil {
		err = petstore.NotDone(err) // a repeat numbers what was not numbered, whatever the outcome was
	}
	return nothing, err
}

// numberSome numbers some slips in one transaction, and reports whether there may be more.
func (db *DB) numberSome(ctx context.Context) (more bool, err error) {
	var last int64
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		feed, bytes, slips, err := lockSlips(ctx, tx)
		last = feed.Last
		if err != nil || len(slips) == 0 {
			return err
		}
		if more = fillsRound(slips); more {
			if slips, err = withoutUnfinished(ctx, tx, slips); err != nil {
				return err
			}
		}
		rows := eventRows{next: feed.Last + 1, bytes: bytes}
		if err := rows.addAll(slips); err != nil {
			return err
		}
		last = rows.next - 1
		return rows.store(ctx, tx, slips)
	})
	if err == nil {
		db.noteDurable(last)
	}
	return more, err
}

// lockSlips locks the feed and then selects slips, in one round trip.
func lockSlips(ctx context.Context, tx pgx.Tx) (feed petstore.Feed, bytes int64, slips []slip, err error) {
	batch := &pgx.Batch{}
	batch.Queue(lockFeed)
	batch.Queue(selectSlips, slipsAtOnce, bytesAtOnce)
	results := tx.SendBatch(ctx, batch)
	defer results.Close()
	if err := results.QueryRow().Scan(&feed.Name, &feed.Trimmed, &feed.Last, &bytes); err != nil {
		return feed, 0, nil, err
	}
	rows, _ := results.Query()
	slips, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s slip, err error) {
		err = row.Scan(&s.id, &s.xid, &s.at, &s.low, &s.high, &s.erases, &s.n, &s.record)
		return s, err
	})
	return feed, bytes, slips, err
}

// fillsRound reports whether slips may have been left out because there are too many.
func fillsRound(slips []slip) bool {
	bytes := 0
	for _, s := range slips {
		bytes += len(s.record)
	}
	return len(slips) >= slipsAtOnce || bytes >= bytesAtOnce
}

// withoutUnfinished leaves out the slips of transactions that have further slips, so that nothing comes between the events of
// one transaction. If that leaves nothing, the oldest transaction is very long, and is numbered in pieces.
func withoutUnfinished(ctx context.Context, tx pgx.Tx, slips []slip) ([]slip, error) {
	var xids []string
	for _, s := range slips {
		xids = append(xids, s.xid)
	}
	slices.Sort(xids)
	rows, _ := tx.Query(ctx, selectUnfinished, slips[len(slips)-1].id, slices.Compact(xids), slipsAhead)
	unfinished, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	slices.Sort(unfinished)
	finished := slices.DeleteFunc(slices.Clone(slips), func(s slip) bool {
		_, more := slices.BinarySearch(unfinished, s.xid)
		return more
	})
	if len(finished) == 0 {
		return slips, nil
	}
	return finished, nil
}

// store stores the rows, removes the slips that they were made of, and erases references.
func (r *eventRows) store(ctx context.Context, tx pgx.Tx, slips []slip) error {
	batch := &pgx.Batch{}
	batch.Queue(insertEvents, r.columns()...)
	if len(r.pets) > 0 {
		batch.Queue(insertEventPets, r.pets, r.sequences)
	}
	batch.Queue(deleteSlips, ids(slips, func(s slip) int64 { return s.id }))
	batch.Queue(moveFeed, r.next-1, r.bytes)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	for _, order := range r.erased {
		if err := eraseReferences(ctx, tx, order); err != nil {
			return err
		}
	}
	return nil
}

// eraseReferences removes every reference of an order from the feed. Whoever removes the reference of an order does not want
// it to be kept anywhere.
func eraseReferences(ctx context.Context, tx pgx.Tx, order petstore.Order) error {
	rows, err := collectStoredEvents(tx.Query(ctx, selectRowsOfPet, order.PetID))
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, row := range rows {
		events, err := petstore.ReadEventRecord(row.Record, row.First, row.At)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Order != nil && e.Order.Now.ID == order.ID {
				e.Order.Now.Reference = ""
			}
		}
		if record := string(petstore.AppendEventRecord(nil, events)); record != row.Record {
			batch.Queue(rewriteEvents, row.First, record)
		}
	}
	return tx.SendBatch(ctx, batch).Close()
}

// noteProfile leaves a slip if a profile has changed.
func noteProfile(ctx context.Context, tx pgx.Tx, petID int64, before, after petstore.Profile) error {
	if before.Facts == after.Facts && slices.Equal(before.Photos, after.Photos) {
		return nil
	}
	record := petstore.AppendEventRecord(nil, []petstore.Event{petstore.ProfileChanged(petID, before, after)})
	_, err := tx.Exec(ctx, insertSlip, string(record))
	return err
}
