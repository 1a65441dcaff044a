package postgres

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	// The events after $1, or after the oldest that was removed: at most $2, and no further row after $3 bytes. The column
	// upto is the sequence up to which the page is complete with that row.
	selectEvents = `
		SELECT name, trimmed, last, EXISTS (SELECT FROM event_slips), page.first, page.at, page.record, page.upto
		FROM feed
		LEFT JOIN LATERAL (
			SELECT first, start FROM events WHERE first <= coalesce($1, trimmed) + 1 ORDER BY first DESC LIMIT 1
		) AS oldest ON true
		LEFT JOIN LATERAL (
			SELECT first, at, record, least(first + n - 1, coalesce($1, trimmed) + $2) AS upto FROM events
			WHERE first >= oldest.first AND first <= coalesce($1, trimmed) + $2 AND start < oldest.start + $3
			ORDER BY first
		) AS page ON true
		ORDER BY page.first`

	// The same for the animal $4. The index by animal leads to at most $2 of its events, and low and high lead to its
	// creation.
	selectEventsOfPet = `
		WITH asked AS (
			SELECT name, trimmed, last, coalesce($1, trimmed) AS after FROM feed
		), indexed AS (
			SELECT sequence FROM event_pets WHERE pet_id = $4 AND sequence > (SELECT after FROM asked) ORDER BY sequence LIMIT $2
		), rows AS (
			SELECT (SELECT first FROM events WHERE first <= sequence ORDER BY first DESC LIMIT 1) AS first FROM indexed
			UNION
			SELECT first FROM events
			WHERE low <= $4 AND low > $4 - 1000 AND high >= $4 AND first + n - 1 > (SELECT after FROM asked)
		), measured AS (
			SELECT first, at, record, lead(first) OVER (ORDER BY first) - 1 AS upto,
				sum(octet_length(record)) OVER (ORDER BY first ROWS UNBOUNDED PRECEDING) - octet_length(record) AS before
			FROM events WHERE first = ANY (ARRAY(SELECT first FROM rows))
		)
		SELECT name, trimmed, last, EXISTS (SELECT FROM event_slips), first, at, record,
			coalesce(upto, (SELECT max(sequence) FROM indexed HAVING count(*) >= $2), last)
		FROM asked LEFT JOIN measured ON before < $3
		ORDER BY first`

	selectFeedState = "SELECT last, EXISTS (SELECT FROM event_slips) FROM feed"
)

// maxPageBytes bounds the records that are read for one page. Events are usually so small that MaxEventsExamined comes first,
// but two profiles may have 160 kB.
const maxPageBytes = 1 << 20

const (
	// feedPollPeriod is how often a process looks for events while somebody waits for them.
	feedPollPeriod = 200 * time.Millisecond
	// feedPause is how long whoever waits for events leaves the feed alone after this process has numbered.
	feedPause = 20 * time.Millisecond
	// maxEventWait is how long AwaitEvents waits at most.
	maxEventWait = time.Second
)

// ListEvents returns a page of events. It numbers first if there are events without a number.
func (db *DB) ListEvents(ctx context.Context, q petstore.EventQuery) (petstore.EventPage, error) {
	page, pending, err := db.readEvents(ctx, q)
	if pending && (err == nil || petstore.IsCode(err, petstore.EventsGone)) {
		if err := db.number(ctx); err != nil {
			return petstore.EventPage{}, err
		}
		page, _, err = db.readEvents(detached(ctx), q)
	}
	if err == nil {
		err = db.confirmNumbers(ctx, page.Next.Sequence)
	}
	if err != nil {
		return petstore.EventPage{}, err
	}
	return page, nil
}

// readRow is a row of the table events that was read for a page. The page is complete up to the sequence upto with it.
type readRow struct {
	petstore.StoredEvents
	upto int64
}

// readEvents returns a page of the events that have a number, and reports whether there are events without one.
func (db *DB) readEvents(ctx context.Context, q petstore.EventQuery) (page petstore.EventPage, pending bool, err error) {
	sql, args := eventsQuery(q)
	var read []readRow
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, sql, args...)
		read, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r readRow, err error) {
			var first, at, upto *int64
			var record *string
			err = row.Scan(&page.Feed.Name, &page.Feed.Trimmed, &page.Feed.Last, &pending, &first, &at, &record, &upto)
			if first != nil {
				r = readRow{petstore.StoredEvents{First: *first, At: fromMillis(at), Record: *record}, *upto}
			}
			return r, err
		})
		return err
	})
	if err != nil {
		return page, false, err
	}
	page, err = eventPage(page.Feed, q, read)
	return page, pending, err
}

// eventsQuery returns the query for a page.
func eventsQuery(q petstore.EventQuery) (sql string, args []any) {
	examined := min(q.Limit, petstore.MaxEventsExamined)
	if q.Types != 0 {
		examined = petstore.MaxEventsExamined
	}
	if q.FromEnd {
		examined = 0
	}
	var after *int64
	if q.After != nil {
		possible := min(q.After.Sequence, math.MaxInt64-petstore.MaxEventsExamined) // the feed does not have a higher one
		after = &possible
	}
	args = []any{after, examined, maxPageBytes}
	if q.PetID == nil {
		return selectEvents, args
	}
	return selectEventsOfPet, append(args, max(*q.PetID, 0))
}

// eventPage makes a page from the rows that were read for it.
func eventPage(feed petstore.Feed, q petstore.EventQuery, rows []readRow) (page petstore.EventPage, err error) {
	after := feed.Trimmed
	switch {
	case q.FromEnd:
		after = feed.Last
	case q.After != nil:
		if after, err = feed.Check(*q.After); err != nil {
			return page, err
		}
	}
	page = petstore.EventPage{Feed: feed, Next: petstore.EventPosition{Feed: feed.Name, Sequence: after}}
	if q.Limit > 0 {
		page.Events, page.Next.Sequence, err = selectFrom(rows, q, after, feed.Last)
	}
	page.End = page.Next.Sequence == feed.Last
	return page, err
}

// selectFrom returns the events of a page after a sequence, and the sequence of the last event that it looked at. The only row
// of a page without events has none.
func selectFrom(rows []readRow, q petstore.EventQuery, after, last int64) (selected []petstore.Event, looked int64, err error) {
	for _, row := range rows {
		if row.First == 0 {
			return nil, last, nil
		}
		events, err := petstore.ReadEventRecord(row.Record, row.First, row.At)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range events {
			if e.Sequence <= after || e.Sequence > row.upto || !q.Selects(e) {
				continue
			}
			if selected = append(selected, e); len(selected) == q.Limit {
				return selected, e.Sequence, nil
			}
		}
		looked = row.upto
	}
	return selected, looked, nil
}

// confirmNumbers ensures that the events up to a sequence keep their numbers even after a failover. The commit that numbered
// them may have been cut off while it waited for a standby. A process has to confirm only what another one has numbered.
func (db *DB) confirmNumbers(ctx context.Context, last int64) error {
	if last <= db.durable.Load() {
		return nil
	}
	if err := db.confirmDurable(ctx); err != nil {
		return petstore.NotDone(err)
	}
	db.noteDurable(last)
	return nil
}

// noteDurable notes that the events up to a sequence keep their numbers.
func (db *DB) noteDurable(last int64) {
	for known := db.durable.Load(); known < last && !db.durable.CompareAndSwap(known, last); {
		known = db.durable.Load()
	}
}

// AwaitEvents looks for events every feedPollPeriod. All who wait at the same time share a query.
func (db *DB) AwaitEvents(ctx context.Context, after int64) error {
	end := time.Now().Add(maxEventWait)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		state, err := db.feedStates.Do(ctx, struct{}{})
		if err != nil || state.last > after {
			return failure(err)
		}
		pause, isLast := feedPollPeriod, time.Until(end) < feedPollPeriod
		if state.pending {
			pause, isLast = time.Until(time.Unix(0, db.numbered.Load()).Add(feedPause)), true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		if isLast {
			return nil
		}
	}
}

// feedState says where the feed ends, and whether there are events without a number.
type feedState struct {
	last    int64
	pending bool
}

func (db *DB) readFeedState(struct{}) (state feedState, err error) {
	err = db.read(context.Background(), func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, selectFeedState).Scan(&state.last, &state.pending)
	})
	return state, err
}
