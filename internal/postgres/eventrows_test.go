package postgres

import (
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
)

func TestOrdersArePairedWithTheRightChangeOfTheirAnimal(t *testing.T) {
	pet := func(id int64, from, to petstore.Status) petstore.Event {
		p := petstore.Pet{ID: id, NewPet: petstore.NewPet{Status: from}}
		after := p
		after.Status = to
		return petstore.PetChanged(&p, &after)
	}
	order := func(id int64, to petstore.OrderStatus) petstore.Event {
		before := petstore.Order{PetID: id, Status: petstore.Open}
		if to == petstore.Open {
			return petstore.OrderChanged(nil, before)
		}
		after := before
		after.Status = to
		return petstore.OrderChanged(&before, after)
	}
	updated := petstore.Event{Type: petstore.OrderUpdated, Order: &petstore.Changed[petstore.Order]{Now: petstore.Order{PetID: 1}, Before: &petstore.Order{PetID: 1}}}
	const a, p, s = petstore.Available, petstore.Pending, petstore.Sold
	type transaction = [][]petstore.Event
	for name, c := range map[string]struct {
		statements transaction
		want       string
	}{
		"placed, with the animal first": {
			transaction{{pet(1, a, p)}, {order(1, petstore.Open)}},
			"order.placed 1, pet.updated 1",
		},
		"placed and closed in one transaction": {
			transaction{{pet(1, a, p)}, {order(1, petstore.Open)}, {order(1, petstore.Completed)}, {pet(1, p, s)}},
			"order.placed 1, pet.updated 1, order.completed 1, pet.updated 1",
		},
		"placed twice": {
			transaction{{pet(1, a, p)}, {order(1, petstore.Open)}, {order(1, petstore.Expired)}, {pet(1, p, a)}, {pet(1, a, p)}, {order(1, petstore.Open)}},
			"order.placed 1, pet.updated 1, order.expired 1, pet.updated 1, order.placed 1, pet.updated 1",
		},
		"changed by hand before": {
			transaction{{pet(1, a, p)}, {pet(1, p, a)}, {pet(1, a, p)}, {order(1, petstore.Open)}},
			"pet.updated 1, pet.updated 1, order.placed 1, pet.updated 1",
		},
		"many in one statement": {
			transaction{{order(1, petstore.Expired), order(2, petstore.Expired)}, {pet(2, p, a), pet(1, p, a)}},
			"order.expired 2, pet.updated 2, order.expired 1, pet.updated 1",
		},
		"updated only":        {transaction{{updated}, {pet(1, a, s)}}, "order.updated 1, pet.updated 1"},
		"without the animal":  {transaction{{pet(2, p, a)}, {order(1, petstore.Expired)}}, "pet.updated 2, order.expired 1"},
		"with another change": {transaction{{pet(1, a, s)}, {order(1, petstore.Expired)}}, "pet.updated 1, order.expired 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(pairOrders(c.statements)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRowsOfEventsAreBounded(t *testing.T) {
	created := func(id int64, name string) string {
		pet := petstore.Pet{ID: id, NewPet: petstore.NewPet{Name: name, Status: petstore.Available}}
		return string(petstore.AppendEventRecord(nil, []petstore.Event{petstore.PetChanged(nil, &pet)}))
	}
	var slips []slip
	for i := range int64(1500) {
		slips = append(slips, slip{id: i, xid: "7", low: i + 1, high: i + 1, n: 1, record: created(i+1, "Rex")})
	}
	for i := range int64(40) {
		slips = append(slips, slip{id: 1500 + i, xid: "8", low: 5000 + i*100, high: 5000 + i*100, n: 1, record: created(5000+i*100, "Rex")})
	}
	for i := range int64(40) {
		slips = append(slips, slip{id: 1540 + i, xid: "9", low: 9000 + i, high: 9000 + i, n: 1, record: created(9000+i, strings.Repeat("犬", 1000))})
	}
	rows := eventRows{next: 1}
	noError(t, rows.addAll(slips))
	next, bytes := int64(1), int64(0)
	for _, row := range rows.rows {
		events, err := petstore.ReadEventRecord(string(row.record), row.first, eventTime)
		noError(t, err)
		if row.first != next || int64(len(events)) != row.n || row.start != bytes {
			t.Errorf("row %d has %d events, and begins at byte %d; want %d from event %d and byte %d on", row.first, len(events), row.start, row.n, next, bytes)
		}
		next, bytes = row.first+row.n, bytes+int64(len(row.record))
		if row.n > maxRowEvents || row.high-row.low >= maxRowSpan || len(row.record) > maxRowBytes {
			t.Errorf("row %d has %d events of the animals %d to %d in %d bytes", row.first, row.n, row.low, row.high, len(row.record))
		}
		for _, e := range events {
			if e.PetID() < row.low || e.PetID() > row.high {
				t.Errorf("animal %d is outside of %d to %d", e.PetID(), row.low, row.high)
			}
		}
	}
	if next != 1581 || rows.next != next || rows.bytes != bytes || len(rows.rows) != 2+4+2 {
		t.Errorf("%d events in %d rows and %d bytes, want %d", next-1, len(rows.rows), rows.bytes, bytes)
	}
}

var eventTime = time.Date(2026, time.November, 18, 12, 0, 0, 0, time.UTC)
