package postgres

import (
	"cmp"
	"slices"
	"time"

	"petstore/internal/petstore"
)

// A row of the table events takes no more events when it has this many events or bytes, and none that would make its range of
// created animals wider than maxRowSpan. A reader of one event decodes the whole row.
const (
	maxRowEvents = 1000
	maxRowBytes  = 64 << 10
	maxRowSpan   = 1000
)

// eventRows makes rows of the table events, and the entries of the index by animal.
type eventRows struct {
	next  int64 // the sequence of the next event
	bytes int64 // how many bytes of records the feed has
	rows  []eventRow

	pets, sequences []int64          // the index by animal
	erased          []petstore.Order // the orders whose references were removed
}

type eventRow struct {
	first, start, at int64
	low, high        int64 // zero if no animal was created
	n                int64
	record           []byte
}

// addAll adds the events of slips, transaction by transaction, in the order of the last slip of each.
func (r *eventRows) addAll(slips []slip) error {
	transactions, left := make(map[string][]slip), make(map[string]int)
	for _, s := range slips {
		left[s.xid]++
	}
	for _, s := range slips {
		transactions[s.xid] = append(transactions[s.xid], s)
		if len(transactions[s.xid]) == left[s.xid] {
			if err := r.addTransaction(transactions[s.xid]); err != nil {
				return err
			}
		}
	}
	return nil
}

// addTransaction adds the events of one transaction. The records of a transaction that only created animals stay as they are.
func (r *eventRows) addTransaction(slips []slip) error {
	at := slips[len(slips)-1].at
	r.rows = append(r.rows, eventRow{first: r.next, start: r.bytes, at: at})
	decode := slices.ContainsFunc(slips, func(s slip) bool { return s.low == 0 || len(s.record) > maxRowBytes })
	if !decode {
		slices.SortFunc(slips, func(a, b slip) int { return cmp.Compare(a.low, b.low) }) // one statement may leave its slips in any order
		for _, s := range slips {
			r.add(s.record[1:len(s.record)-1], s.n, s.low, s.high)
		}
		return nil
	}
	statements := make([][]petstore.Event, len(slips))
	for i, s := range slips {
		var err error
		if statements[i], err = petstore.ReadEventRecord(s.record, 0, time.Time{}); err != nil {
			return err
		}
		if s.erases {
			r.noteErased(statements[i])
		}
	}
	var text []byte
	for _, e := range pairOrders(statements) {
		low := int64(0)
		switch {
		case e.Type == petstore.PetCreated:
			low = e.PetID()
		case e.Category == nil:
			r.pets, r.sequences = append(r.pets, e.PetID()), append(r.sequences, r.next)
		}
		text = e.AppendStored(text[:0])
		r.add(string(text), 1, low, low)
	}
	return nil
}

// add adds n events to the last row, or to a new one with the same time if the last one is full.
func (r *eventRows) add(events string, n, low, high int64) {
	row := &r.rows[len(r.rows)-1]
	if row.n > 0 && !row.hasRoomFor(events, n, low, high) {
		r.rows = append(r.rows, eventRow{first: r.next, start: r.bytes, at: row.at})
		row = &r.rows[len(r.rows)-1]
	}
	before := len(row.record)
	if row.n == 0 {
		row.record = append(row.record, '[')
	} else {
		row.record[before-1] = ',' // in place of the end of the record
	}
	row.record = append(append(row.record, events...), ']')
	if low != 0 {
		row.low, row.high = row.span(low, high)
	}
	row.n += n
	r.next += n
	r.bytes += int64(len(row.record) - before)
}

func (r *eventRow) hasRoomFor(events string, n, low, high int64) bool {
	if low != 0 {
		low, high = r.span(low, high)
	}
	return r.n+n <= maxRowEvents && len(r.record)+len(events) <= maxRowBytes && high-low < maxRowSpan
}

// span returns the range of the created animals together with further ones.
func (r *eventRow) span(low, high int64) (int64, int64) {
	if r.low == 0 {
		return low, high
	}
	return min(r.low, low), max(r.high, high)
}

// noteErased notes the orders whose references may have been removed.
func (r *eventRows) noteErased(events []petstore.Event) {
	for _, e := range events {
		if e.Type == petstore.OrderUpdated && e.Order.Now.Reference == "" {
			r.erased = append(r.erased, e.Order.Now)
		}
	}
}

// columns returns the parameters of insertEvents.
func (r *eventRows) columns() []any {
	column := func(of func(eventRow) int64) []int64 { return ids(r.rows, of) }
	records := make([]string, len(r.rows))
	for i, row := range r.rows {
		records[i] = string(row.record)
	}
	return []any{
		column(func(row eventRow) int64 { return row.first }), column(func(row eventRow) int64 { return row.start }),
		column(func(row eventRow) int64 { return row.at }), column(func(row eventRow) int64 { return row.low }),
		column(func(row eventRow) int64 { return row.high }), column(func(row eventRow) int64 { return row.n }),
		records,
	}
}

// pairOrders returns the events of the statements of a transaction, in the order in which they happened, except that the event
// of an order that was placed or closed comes directly before the event of its animal. The two come from the same statement,
// or from two that followed one another.
func pairOrders(statements [][]petstore.Event) []petstore.Event {
	type place struct{ statement, event int }
	updates := make(map[int64][]place) // of each animal
	orders := 0
	for i, events := range statements {
		for j, e := range events {
			switch {
			case e.Type == petstore.PetUpdated:
				updates[e.PetID()] = append(updates[e.PetID()], place{i, j})
			case e.Order != nil && e.Type != petstore.OrderUpdated:
				orders++
			}
		}
	}
	if orders == 0 {
		return slices.Concat(statements...)
	}
	before := make(map[place]petstore.Event, orders)
	all := make([]petstore.Event, 0, len(updates)+orders)
	isPaired := make(map[place]bool, orders)
	for i, events := range statements {
		for j, e := range events {
			if e.Order == nil {
				continue
			}
			nearest, distance := place{}, len(statements)
			for _, at := range updates[e.PetID()] {
				_, taken := before[at]
				if d := max(i-at.statement, at.statement-i); !taken && d < distance && followsFrom(statements[at.statement][at.event], *e.Order) {
					nearest, distance = at, d
				}
			}
			if distance < len(statements) {
				before[nearest] = e
				isPaired[place{i, j}] = true
			}
		}
	}
	for i, events := range statements {
		for j, e := range events {
			if order, found := before[place{i, j}]; found {
				all = append(all, order)
			}
			if !isPaired[place{i, j}] {
				all = append(all, e)
			}
		}
	}
	return all
}

// followsFrom reports whether the status of an animal changed in the way that the change of an order demands.
func followsFrom(pet petstore.Event, order petstore.Changed[petstore.Order]) bool {
	from, to := pet.Pet.Before.Status, pet.Pet.Now.Status
	if order.Before == nil {
		return from != petstore.Pending && to == petstore.Pending
	}
	return order.Before.Status != order.Now.Status && from == petstore.Pending && to == order.Now.Status.Leaves()
}
