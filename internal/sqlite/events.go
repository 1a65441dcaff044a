package sqlite

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sort"
	"sync"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectFeed = `
		SELECT name, trimmed, max(trimmed, coalesce((SELECT first + n - 1 FROM events ORDER BY first DESC LIMIT 1), 0)) FROM feed`
	selectEvents      = "SELECT first, n, at, record FROM events"
	selectEventsFrom  = selectEvents + " WHERE first >= coalesce((SELECT max(first) FROM events WHERE first <= ?1), 0) ORDER BY first"
	selectEventRow    = selectEvents + " WHERE first <= ?1 ORDER BY first DESC LIMIT 1"
	selectHigh        = "SELECT high FROM events WHERE first <= ?1 ORDER BY first DESC LIMIT 1"
	selectEventsOfPet = "SELECT sequence FROM event_pets WHERE pet_id = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3"
)

// maxPageBytes bounds the records that are read for one page. Events are usually so small that MaxEventsExamined comes first,
// but two profiles may have 160 kB.
const maxPageBytes = 4 << 20

// eventTimeout is how long AwaitEvents waits at most, because it does not learn what another process writes.
const eventTimeout = time.Second

// ListEvents returns a page of events.
func (db *DB) ListEvents(ctx context.Context, q petstore.EventQuery) (page petstore.EventPage, err error) {
	err = db.readFresh(ctx, func(r *reader) (err error) {
		page, err = listEvents(r.conn, q)
		return err
	})
	return page, err
}

func listEvents(conn *sqlite3.Conn, q petstore.EventQuery) (page petstore.EventPage, err error) {
	if page.Feed, err = readFeed(conn); err != nil {
		return page, err
	}
	after := page.Feed.Trimmed
	switch {
	case q.FromEnd:
		after = page.Feed.Last
	case q.After != nil:
		if after, err = page.Feed.Check(*q.After); err != nil {
			return page, err
		}
	}
	page.Next = petstore.EventPosition{Feed: page.Feed.Name, Sequence: after}
	r := eventReader{conn: conn, feed: page.Feed}
	events := r.following(after)
	if q.PetID != nil {
		events = r.ofPet(*q.PetID, after)
	}
	examined, cut := 0, false
	for e, err := range events {
		if err != nil {
			return page, err
		}
		if cut = len(page.Events) >= q.Limit || examined >= petstore.MaxEventsExamined; cut {
			break
		}
		examined++
		page.Next.Sequence = e.Sequence
		if q.Selects(e) {
			page.Events = append(page.Events, e)
		}
	}
	if !cut && !r.cut && len(page.Events) < q.Limit {
		page.Next.Sequence = page.Feed.Last
	}
	page.End = page.Next.Sequence == page.Feed.Last
	return page, nil
}

func readFeed(conn *sqlite3.Conn) (feed petstore.Feed, err error) {
	err = query(conn, func(row *sqlite3.Stmt) {
		feed = petstore.Feed{Name: row.ColumnText(0), Trimmed: row.ColumnInt64(1), Last: row.ColumnInt64(2)}
	}, selectFeed)
	return feed, err
}

func scanEvents(row *sqlite3.Stmt) petstore.StoredEvents {
	return petstore.StoredEvents{First: row.ColumnInt64(0), Count: row.ColumnInt64(1), At: columnTime(row, 2), Record: row.ColumnText(3)}
}

// eventReader reads events in their order, until it has read maxPageBytes.
type eventReader struct {
	conn  *sqlite3.Conn
	feed  petstore.Feed
	bytes int
	cut   bool // there are more events
}

// following returns the events after a sequence.
func (r *eventReader) following(after int64) iter.Seq2[petstore.Event, error] {
	return func(yield func(petstore.Event, error) bool) {
		stmt, err := r.conn.Prepare(selectEventsFrom)
		if err != nil {
			yield(petstore.Event{}, err)
			return
		}
		defer stmt.Reset()
		stmt.BindInt64(1, after+1)
		for {
			found, err := stmt.Step()
			if err != nil {
				yield(petstore.Event{}, err)
				return
			}
			if !found || r.isFull() {
				return
			}
			events, err := r.decode(scanEvents(stmt))
			if err != nil {
				yield(petstore.Event{}, err)
				return
			}
			for _, e := range events {
				if e.Sequence > after && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// ofPet returns the events of an animal after a sequence.
func (r *eventReader) ofPet(petID, after int64) iter.Seq2[petstore.Event, error] {
	return func(yield func(petstore.Event, error) bool) {
		sequences, err := r.sequencesOf(petID, after)
		if err != nil {
			yield(petstore.Event{}, err)
			return
		}
		var events []petstore.Event // of one row
		for _, sequence := range sequences {
			if len(events) == 0 || sequence > events[len(events)-1].Sequence {
				if r.isFull() {
					return
				}
				if events, err = r.row(selectEventRow, sequence); err != nil {
					yield(petstore.Event{}, err)
					return
				}
			}
			if !yield(events[sequence-events[0].Sequence], nil) {
				return
			}
		}
	}
}

// sequencesOf returns the sequences of the events of an animal, and some more than a page examines if there are that many. The
// animal was created before everything else happened to it.
func (r *eventReader) sequencesOf(petID, after int64) (sequences []int64, err error) {
	created, err := r.creationOf(petID)
	if err != nil {
		return nil, err
	}
	if created > after {
		sequences = append(sequences, created)
	}
	err = query(r.conn, func(row *sqlite3.Stmt) { sequences = append(sequences, row.ColumnInt64(0)) },
		selectEventsOfPet, petID, after, petstore.MaxEventsExamined+1)
	return slices.Compact(sequences), err
}

// creationOf returns the sequence of the creation of an animal, or zero if the index by animal has it or no event is kept.
func (r *eventReader) creationOf(petID int64) (sequence int64, err error) {
	place := sort.Search(int(r.feed.Last-r.feed.Trimmed), func(i int) bool {
		high := int64(0)
		err = cmp.Or(err, query(r.conn, func(row *sqlite3.Stmt) { high = row.ColumnInt64(0) }, selectHigh, r.feed.Trimmed+1+int64(i)))
		return high >= petID
	})
	if err != nil {
		return 0, err
	}
	events, err := r.row(selectEventRow, r.feed.Trimmed+1+int64(place))
	for _, e := range events {
		if e.Type == petstore.PetCreated && e.PetID() == petID {
			sequence = e.Sequence
		}
	}
	return sequence, err
}

// row returns the events of one row, or none.
func (r *eventReader) row(statement string, arg int64) (events []petstore.Event, err error) {
	var row petstore.StoredEvents
	if err := query(r.conn, func(stmt *sqlite3.Stmt) { row = scanEvents(stmt) }, statement, arg); err != nil || row.Count == 0 {
		return nil, err
	}
	return r.decode(row)
}

func (r *eventReader) decode(row petstore.StoredEvents) ([]petstore.Event, error) {
	r.bytes += len(row.Record)
	return petstore.ReadEventRecord(row.Record, row.First, row.At)
}

func (r *eventReader) isFull() bool {
	r.cut = r.bytes >= maxPageBytes
	return r.cut
}

// AwaitEvents waits for a commit of this process that has events.
func (db *DB) AwaitEvents(ctx context.Context, after int64) error {
	committed := db.eventsStored.next() // before the feed is read
	feed, err := db.Feed(ctx)
	switch {
	case err != nil:
		return cmp.Or(ctx.Err(), err)
	case feed.Last > after:
		return nil
	}
	timeout := time.NewTimer(eventTimeout)
	defer timeout.Stop()
	select {
	case <-committed:
	case <-timeout.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// broadcast wakes everybody who waits for it.
type broadcast struct {
	mu   sync.Mutex
	sent chan struct{} // nil if nobody waits
}

// next returns a channel that is closed the next time.
func (s *broadcast) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.sent = make(chan struct{})
	}
	return s.sent
}

func (s *broadcast) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent != nil {
		close(s.sent)
		s.sent = nil
	}
}
