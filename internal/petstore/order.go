package petstore

import (
	"fmt"
	"time"
)

// The bounds for the fields of an order, and the hold for an order that does not choose one.
const (
	MaxReferenceLength = 200 // in Unicode code points
	MinHold            = time.Minute
	MaxHold            = 30 * 24 * time.Hour
	DefaultHold        = 72 * time.Hour
)

// OrderStatus is the state of an order. Databases store the number of a state, so the numbers must never change.
type OrderStatus uint8

// AnyOrderStatus selects the orders in every state in a query. No order has this state.
const AnyOrderStatus OrderStatus = 0

// The states of an order. An order starts as Open and changes its state at most once.
const (
	Open      OrderStatus = 1
	Completed OrderStatus = 2
	Cancelled OrderStatus = 3
	Expired   OrderStatus = 4
)

var orderStatusNames = [...]string{Open: "open", Completed: "completed", Cancelled: "cancelled", Expired: "expired"}

// OrderStatuses lists every state of an order.
var OrderStatuses = []OrderStatus{Open, Completed, Cancelled, Expired}

// ParseOrderStatus reads a state as the API spells it.
func ParseOrderStatus(s string) (OrderStatus, bool) {
	for _, status := range OrderStatuses {
		if s == orderStatusNames[status] {
			return status, true
		}
	}
	return 0, false
}

// String returns the state as the API spells it.
func (s OrderStatus) String() string {
	if int(s) < len(orderStatusNames) {
		return orderStatusNames[s]
	}
	return ""
}

// NewOrder is an order before it is placed.
type NewOrder struct {
	PetID int64
	// Reference is the client's own name for the order, or empty if the client gave none.
	Reference string
	// Hold is how long the order holds the animal.
	Hold time.Duration
}

// CheckReference returns what is wrong with a reference, or "" if the reference may be stored.
func CheckReference(reference string) (problem string) {
	return CheckText(reference, MaxReferenceLength)
}

// Order holds an animal from CreatedAt until the order is closed, but at most until ExpiresAt. Its times are whole
// milliseconds.
type Order struct {
	ID        int64
	PetID     int64
	Status    OrderStatus
	Reference string
	CreatedAt time.Time
	ExpiresAt time.Time
	// ClosedAt is the time when the order was closed. It is zero while the order is open.
	ClosedAt time.Time
}

// Place returns an open order with that id, created at the time now. It refuses an animal that is not available.
func (n NewOrder) Place(id int64, pet Pet, now time.Time) (Order, error) {
	if pet.Status != Available {
		return Order{}, &Error{Code: PetUnavailable, Status: pet.Status}
	}
	now = now.UTC().Truncate(time.Millisecond)
	return Order{ID: id, PetID: n.PetID, Status: Open, Reference: n.Reference, CreatedAt: now, ExpiresAt: now.Add(n.Hold)}, nil
}

// AsOf returns the order as it is at the time now. An open order is expired from ExpiresAt on, even if the storage still has
// it as open.
func (o Order) AsOf(now time.Time) Order {
	if o.Status == Open && !now.Before(o.ExpiresAt) {
		o.Status, o.ClosedAt = Expired, o.ExpiresAt
	}
	return o
}

// OrderPatch says what to change about an order. A nil field changes nothing.
type OrderPatch struct {
	// Reference is the new reference. The empty string removes the reference.
	Reference *string
	// Hold is how long the order holds the animal, counted from the time of the change.
	Hold *time.Duration
}

// Patch returns the order after the patch. It refuses to change the hold of a closed order.
func (o Order) Patch(patch OrderPatch, now time.Time) (Order, error) {
	o = o.AsOf(now)
	if patch.Hold != nil {
		if o.Status != Open {
			return Order{}, o.closed()
		}
		o.ExpiresAt = now.UTC().Truncate(time.Millisecond).Add(*patch.Hold)
	}
	if patch.Reference != nil {
		o.Reference = *patch.Reference
	}
	return o, nil
}

// Close moves the order to Completed or Cancelled. If the order is already in that state, Close returns it unchanged. If the
// order is closed in another state, Close refuses.
func (o Order) Close(to OrderStatus, now time.Time) (Order, error) {
	o = o.AsOf(now)
	switch o.Status {
	case to:
	case Open:
		o.Status, o.ClosedAt = to, now.UTC().Truncate(time.Millisecond)
	default:
		return Order{}, o.closed()
	}
	return o, nil
}

func (o Order) closed() *Error { return &Error{Code: OrderClosed, Order: &o} }

// Leaves returns the status that an animal gets when its order closes with the state s.
func (s OrderStatus) Leaves() Status {
	if s == Completed {
		return Sold
	}
	return Available
}

// NoSuchOrder returns the refusal of an id that no order has.
func NoSuchOrder() *Error { return noSuchOrder }

var noSuchOrder = &Error{Code: NotFound, Noun: OrderNoun}

// NoPetToOrder returns the refusal of an order for an animal that does not exist.
func NoPetToOrder(id int64) *Error {
	problem := fmt.Sprintf("must be the id of an animal; there is no animal %d", id)
	return &Error{Code: InvalidField, Faults: Faults{{Field: "petId", Problem: problem}}}
}

// CheckHold returns what is wrong with a hold of that many seconds, or "" if an order may hold an animal that long.
func CheckHold(seconds int64) (problem string) {
	if seconds < int64(MinHold/time.Second) || seconds > int64(MaxHold/time.Second) {
		return fmt.Sprintf("must be a whole number from %d to %d", int64(MinHold/time.Second), int64(MaxHold/time.Second))
	}
	return ""
}
