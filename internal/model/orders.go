package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Order holds an animal. The status is the stored status: an open order counts as expired when its hold is over.
type Order struct {
	ID        int64  `json:"id"`
	PetID     int64  `json:"petId"`
	Status    string `json:"status"` // empty before the order is placed
	Reference string `json:"reference,omitempty"`
	CreatedAt string `json:"createdAt"` // times are empty if no answer has shown them
	ExpiresAt string `json:"expiresAt"`
	ClosedAt  string `json:"closedAt,omitempty"`

	// The hold ends at some moment between earliest and latest.
	earliest, latest time.Duration
}

const (
	open      = "open"
	completed = "completed"
	cancelled = "cancelled"
	expired   = "expired"
)

// OrderStatuses are the states of an order.
var OrderStatuses = []string{open, completed, cancelled, expired}

const (
	// Never is a time after the end of every history.
	Never = time.Duration(math.MaxInt64)
	// Slack is how much two clocks of one machine may differ.
	Slack = 100 * time.Millisecond

	defaultHold = 72 * time.Hour
)

func (o Order) id() int64 { return o.ID }

// face returns the order as an answer shows it. If the model does not know a time, face uses the time in the answer.
func (o Order) face(page []Order) Order {
	for _, shown := range page {
		if shown.ID == o.ID {
			o.CreatedAt, o.ExpiresAt = cmp.Or(o.CreatedAt, shown.CreatedAt), cmp.Or(o.ExpiresAt, shown.ExpiresAt)
			if o.Status != open {
				o.ClosedAt = cmp.Or(o.ClosedAt, shown.ClosedAt)
			}
		}
	}
	o.earliest, o.latest = 0, 0
	return o
}

// mayBeOver reports whether the hold can be over when the operation returns.
func (o Order) mayBeOver(op *Operation) bool {
	return o.Status == expired || o.Status == open && op.Returned >= o.earliest
}

// isOver reports whether the hold is certainly over when the operation is called.
func (o Order) isOver(op *Operation) bool {
	return o.Status == expired || o.Status == open && op.Called >= o.latest
}

// expire returns the state after an order has expired. The store frees the order's animal later: when it writes to the
// animal, or within two seconds.
func (s State) expire(op *Operation, o Order) State {
	o.Status, o.ClosedAt = expired, o.ExpiresAt
	return s.withOrder(op, o)
}

// The method counted returns the possible states of the store when the operation reads an order. An order whose hold is
// over counts as expired.
func (s State) counted(op *Operation, id int64) (all []State) {
	o := get(s.Orders, id)
	if !o.isOver(op) || o.Status == expired {
		all = append(all, s)
	}
	if o.Status == open && o.mayBeOver(op) {
		s = s.expire(op, o)
		if s.isWhole() {
			s = s.freed(op, o.PetID, true)[0]
		}
		all = append(all, s)
	}
	return all
}

// The method freed returns the possible states of the store when the operation reads or writes an animal. The order that
// held the animal may have expired. A write first frees the animal.
func (s State) freed(op *Operation, petID int64, isWrite bool) (all []State) {
	p := get(s.Pets, petID)
	o := get(s.Orders, p.holder)
	if p.holder == 0 || !isWrite || !o.isOver(op) {
		all = append(all, s)
	}
	if p.holder != 0 && o.mayBeOver(op) && (isWrite || !s.isWhole()) {
		if o.Status == open {
			s = s.expire(op, o)
		}
		p.Status, p.holder = available, 0
		all = append(all, s.withPet(op, p))
	}
	return all
}

// The method reserved refuses to change an animal because an order holds it. If no answer shows the order, nobody knows the
// order's id, and the id in the model is negative.
func (s State) reserved(p Pet) outcome {
	says := "Order "
	if p.holder > 0 {
		says += fmt.Sprint(p.holder, " ")
	}
	return refused(s, "pet_reserved", says)
}

// placeOrder holds an available animal. The animal becomes pending.
func (s State) placeOrder(op *Operation) []outcome {
	if op.ID != 0 && get(s.Orders, op.ID).Status != "" {
		return nil
	}
	return each(s.freed(op, *op.Fields.PetID, true), func(s State) outcome {
		p := get(s.Pets, *op.Fields.PetID)
		switch {
		case !p.isThere():
			return refused(s, "invalid_field", "there is no animal")
		case p.Status != available:
			return refused(s, "pet_unavailable", "This animal is "+p.Status+",")
		}
		o := s.newOrder(op)
		p.Status, p.holder = pending, o.ID
		return outcome{next: s.withOrder(op, o).withPet(op, p), status: 201, body: o.face(op.Orders)}
	})
}

func (s State) newOrder(op *Operation) Order {
	o := Order{ID: op.ID, PetID: *op.Fields.PetID, Status: open}
	if op.Fields.Reference != nil {
		o.Reference = *op.Fields.Reference
	}
	o.CreatedAt = s.timeOf(op, 0, func(o Order) string { return o.CreatedAt })
	return s.held(o, op)
}

// held returns the order with a hold that begins with the operation.
func (s State) held(o Order, op *Operation) Order {
	hold, slack := defaultHold, Slack
	if op.Fields.HoldSeconds != nil {
		hold = time.Duration(*op.Fields.HoldSeconds) * time.Second
	}
	if s.isWhole() {
		slack = 0
	}
	o.ExpiresAt = s.timeOf(op, hold, func(o Order) string { return o.ExpiresAt })
	o.earliest, o.latest = op.Called+hold-slack, Never
	if op.Returned < Never-hold-slack {
		o.latest = op.Returned + hold + slack
	}
	return o
}

// timeOf returns the time that an operation gives to an order. This is the time of the operation plus the duration in the
// argument after. If the model does not know the store's clock, timeOf returns the time in the answer, or "" without an
// answer.
func (s State) timeOf(op *Operation, after time.Duration, inAnswer func(Order) string) string {
	switch {
	case s.isWhole():
		return s.began.Add(op.Called + after).UTC().Format("2006-01-02T15:04:05.000Z")
	case len(op.Orders) > 0:
		return inAnswer(op.Orders[0])
	}
	return ""
}

func (s State) getOrder(op *Operation) []outcome {
	return each(s.counted(op, op.ID), func(s State) outcome {
		o := get(s.Orders, op.ID)
		if o.Status == "" {
			return refused(s, "not_found", "")
		}
		return outcome{next: s, status: 200, body: o.face(op.Orders)}
	})
}

// updateOrder changes what the body names. A closed order gets no new hold.
func (s State) updateOrder(op *Operation) []outcome {
	return each(s.counted(op, op.ID), func(s State) outcome {
		o := get(s.Orders, op.ID)
		switch {
		case o.Status == "":
			return refused(s, "not_found", "")
		case op.Fields.HoldSeconds != nil && o.Status != open:
			return refused(s, "order_closed", o.Status+" at ")
		case op.Fields.HoldSeconds != nil:
			o = s.held(o, op)
		}
		if op.Fields.Reference != nil {
			o.Reference = *op.Fields.Reference
		}
		return outcome{next: s.withOrder(op, o), status: 200, body: o.face(op.Orders)}
	})
}

// completeOrder sells the animal.
func (s State) completeOrder(op *Operation) []outcome { return s.closeOrder(op, completed, sold) }

// cancelOrder closes the order and makes the animal available again.
func (s State) cancelOrder(op *Operation) []outcome { return s.closeOrder(op, cancelled, available) }

// closeOrder closes an open order, and gives the order's animal the status in the argument leaves. If the order was already
// closed in the same way, closeOrder changes nothing.
func (s State) closeOrder(op *Operation, to, leaves string) []outcome {
	return each(s.counted(op, op.ID), func(s State) outcome {
		o := get(s.Orders, op.ID)
		switch o.Status {
		case "":
			return refused(s, "not_found", "")
		case open:
			o.Status, o.ClosedAt = to, s.timeOf(op, 0, func(o Order) string { return o.ClosedAt })
			p := get(s.Pets, o.PetID)
			p.Status, p.holder = leaves, 0
			s = s.withOrder(op, o).withPet(op, p)
		case to:
		default:
			return refused(s, "order_closed", o.Status+" at ")
		}
		return outcome{next: s, status: 200, body: o.face(op.Orders)}
	})
}

// listOrders shows all orders of the page in the state that they have at one moment. A whole store stores the orders that it
// comes upon as expired if they are, and leaves the others for later, although it does not show those as open.
func (s State) listOrders(op *Operation) []outcome {
	is := func(o Order) (Order, bool) {
		if s.isWhole() && o.isOver(op) {
			o.Status, o.ClosedAt = expired, o.ExpiresAt
		}
		return o.face(op.Orders), o.Status != "" && op.Page.Selects(o.Status) && (op.Page.PetID == nil || o.PetID == *op.Page.PetID)
	}
	found := s.Orders
	if s.isWhole() {
		found = s.foundOrders(op)
	}
	for _, o := range found {
		s = first(s.counted(op, o.ID), func(s State) bool {
			face, isThere := is(get(s.Orders, o.ID))
			return shows(op.Orders, face, isThere && op.Page.Covers(o.ID))
		})
	}
	return listed(s, op, op.Orders, s.Orders, is)
}

// foundOrders returns the orders that a whole store comes upon when it looks for a page: newest first, one more than the page
// shows, and among open orders also those whose hold is over.
func (s State) foundOrders(op *Operation) (found []Order) {
	for _, o := range slices.Backward(s.Orders) {
		isSelected := op.Page.Selects(o.Status) || op.Page.Status == expired && o.isOver(op)
		if o.ID <= op.Page.Last && isSelected && (op.Page.PetID == nil || o.PetID == *op.Page.PetID) && len(found) <= op.Page.Limit {
			found = append(found, o)
		}
	}
	return found
}
