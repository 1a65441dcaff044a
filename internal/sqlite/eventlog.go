package sqlite

import (
	"slices"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	insertEvents     = "INSERT INTO events (first, n, at, high, start, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	insertEventOfPet = "INSERT INTO event_pets (pet_id, sequence) VALUES (?1, ?2)"
	rewriteEvents    = "UPDATE events SET record = ?2 WHERE first = ?1"
	selectRowsOfPet  = selectEvents + `
		WHERE first IN (SELECT (SELECT max(first) FROM events WHERE first <= sequence) FROM event_pets WHERE pet_id = ?1)`
)

// A row that has this many events or bytes takes no more. A reader of one event decodes the whole row.
const (
	maxRowEvents = 1000
	maxRowBytes  = 64 << 10
)

// maxIdleLog is the largest buffer that an eventLog keeps between two transactions.
const maxIdleLog = 1 << 20

// eventLog collects the events of the running transaction in the form in which they are stored.
type eventLog struct {
	text   []byte // the records of all rows, one after the other
	rows   []eventRow
	count  int64 // of events in all rows
	pets   []eventOfPet
	erased []petstore.Order // the orders whose references were removed
}

type eventRow struct {
	start, end int // of its record in the text
	n          int64
	high       int64 // the highest id of a created animal, or zero
}

// eventOfPet is an event that the index by animal needs. The place of the first event of a transaction is 0.
type eventOfPet struct{ petID, place int64 }

func (l *eventLog) reset() {
	if cap(l.text) > maxIdleLog {
		*l = eventLog{}
	}
	clear(l.erased) // so that no references stay in memory
	*l = eventLog{text: l.text[:0], rows: l.rows[:0], pets: l.pets[:0], erased: l.erased[:0]}
}

// note adds an event.
func (l *eventLog) note(e petstore.Event) {
	if last := len(l.rows) - 1; last < 0 || l.rows[last].isFull() {
		l.rows = append(l.rows, eventRow{start: len(l.text)})
		l.text = append(l.text, '[')
	} else {
		l.text[len(l.text)-1] = ',' // in place of the end of the record
	}
	l.text = append(e.AppendStored(l.text), ']')
	row := &l.rows[len(l.rows)-1]
	row.end = len(l.text)
	row.n++
	switch id := e.PetID(); {
	case e.Type == petstore.PetCreated:
		row.high = id
	case e.Category == nil:
		l.pets = append(l.pets, eventOfPet{id, l.count})
	}
	l.count++
}

func (r eventRow) isFull() bool { return r.n >= maxRowEvents || r.end-r.start >= maxRowBytes }

// noteProfile adds the event of a profile, if the profile has changed.
func (l *eventLog) noteProfile(petID int64, before, after petstore.Profile) {
	if before.Facts != after.Facts || !slices.Equal(before.Photos, after.Photos) {
		l.note(petstore.ProfileChanged(petID, before, after))
	}
}

// storeEvents stores the events of the running transaction behind the last event of the feed.
func (w *writer) storeEvents(clock func() time.Time) error {
	if w.events.count == 0 {
		return nil
	}
	if w.feedEnd == nil {
		end, err := w.readFeedEnd()
		if err != nil {
			return err
		}
		w.feedEnd = &end
	}
	end := w.feedEnd
	at, first := clock(), end.next
	for _, row := range w.events.rows {
		record := w.events.text[row.start:row.end]
		end.high = max(end.high, row.high)
		if err := w.storeEventRow(*end, row.n, at, record); err != nil {
			return err
		}
		end.next += row.n
		end.bytes += int64(len(record))
	}
	for _, e := range w.events.pets {
		if err := w.indexEvent(e.petID, first+e.place); err != nil {
			return err
		}
	}
	for _, order := range w.events.erased {
		if err := w.eraseReferences(order); err != nil {
			return err
		}
	}
	return nil
}

// feedEnd says what the next row continues.
type feedEnd struct {
	next  int64 // the sequence of the next event
	high  int64 // the highest id of an animal that was created so far
	bytes int64 // of all records so far
}

func (w *writer) readFeedEnd() (feedEnd, error) {
	stmt := w.selectEndOfFeed
	defer stmt.Reset()
	found, err := stmt.Step()
	if err != nil {
		return feedEnd{}, err
	}
	if found {
		return feedEnd{stmt.ColumnInt64(0), stmt.ColumnInt64(1), stmt.ColumnInt64(2)}, nil
	}
	feed, err := readFeed(w.conn)
	return feedEnd{next: feed.Trimmed + 1}, err
}

func (w *writer) storeEventRow(end feedEnd, n int64, at time.Time, record []byte) error {
	stmt := w.insertEvents
	defer stmt.Reset()
	stmt.BindInt64(1, end.next)
	stmt.BindInt64(2, n)
	stmt.BindInt64(3, at.UnixMilli())
	stmt.BindInt64(4, end.high)
	stmt.BindInt64(5, end.bytes)
	stmt.BindText(6, string(record))
	_, err := stmt.Step()
	return err
}

// indexEvent adds an event to the index by animal.
func (w *writer) indexEvent(petID, sequence int64) error {
	defer w.insertEventOfPet.Reset()
	w.insertEventOfPet.BindInt64(1, petID)
	w.insertEventOfPet.BindInt64(2, sequence)
	_, err := w.insertEventOfPet.Step()
	return err
}

// eraseReferences removes every reference of an order from the feed. Whoever removes the reference of an order does not want
// it to be kept anywhere.
func (w *writer) eraseReferences(order petstore.Order) error {
	var rows []petstore.StoredEvents
	err := query(w.conn, func(row *sqlite3.Stmt) { rows = append(rows, scanEvents(row)) }, selectRowsOfPet, order.PetID)
	if err != nil {
		return err
	}
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
		record := string(petstore.AppendEventRecord(nil, events))
		if record == row.Record {
			continue
		}
		if err := run(w.conn, rewriteEvents, row.First, record); err != nil {
			return err
		}
	}
	return nil
}
