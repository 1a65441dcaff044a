package petstore

import (
	"fmt"
	"time"
)

// Bounds of an order's fields.
const (
	MaxReferenceLength = 200 // Unicode code points
	MinHold            = time.Minute
	MaxHold            = 30 * 24 * time.Hour
	DefaultHold        = 72 * time.Hour
)

// OrderStatus is the state of an order. Its numbers are stored: never renumber them.
type OrderStatus uint8

// AnyOrderStatus in a query selects the orders of every state. No order has it.
const AnyOrderStatus OrderStatus = 0

// The states an order can be in. Only an open order changes its state, once.
const (
	Open      OrderStatus = 1
	Completed OrderStatus = 2
	Cancelled OrderStatus = 3
	Expired   OrderStatus = 4
)

var orderStatusNames = [...]string{Open: "open", Completed: "completed", Cancelled: "cancelled", Expired: "expired"}

// OrderStatuses lists every state of an order.
var OrderStatuses = []OrderStatus{Open, Completed, Cancelled, Expired}

// ParseOrderStatus reads the published spelling of an order's status.
func ParseOrderStatus(s string) (OrderStatus, bool) {
	for _, status := range OrderStatuses {
		if s == orderStatusNames[status] {
			return status, true
		}
	}
	return 0, false
}

// String is the published spelling.
func (s OrderStatus) String() string {
	if int(s) < len(orderStatusNames) {
		return orderStatusNames[s]
	}
	return ""
}

// NewOrder asks to hold an animal.
type NewOrder struct {
	PetID int64
	// Reference is the client's own name for the order, empty for none.
	Reference string
	// Hold is how long the animal is held.
	Hold time.Duration
}

// CheckReference says what is wrong with a reference. It returns "" if the reference may be stored.
func CheckReference(reference string) (problem string) {
	return CheckText(reference, MaxReferenceLength)
}

// Order holds an animal from CreatedAt until the order is closed, at the latest until ExpiresAt. Times are whole
// milliseconds.
type Order struct {
	ID        int64
	PetID     int64
	Status    OrderStatus
	Reference string
	CreatedAt time.Time
	ExpiresAt time.Time
	// ClosedAt is zero while the order is open.
	ClosedAt time.Time
}

// Place returns the order of that id, which begins now. It refuses an animal that is not available.
func (n NewOrder) Place(id int64, pet Pet, now time.Time) (Order, error) {
	if pet.Status != Available {
		return Order{}, &Error{Code: PetUnavailable, Status: pet.Status}
	}
	now = now.UTC().Truncate(time.Millisecond)
	return Order{ID: id, PetID: n.PetID, Status: Open, Reference: n.Reference, CreatedAt: now, ExpiresAt: now.Add(n.Hold)}, nil
}

// At is the order as it counts at that time: an open order counts as expired from ExpiresAt on.
func (o Order) At(now time.Time) Order {
	if o.Status == Open && !now.Before(o.ExpiresAt) {
		o.Status, o.ClosedAt = Expired, o.ExpiresAt
	}
	return o
}

// Close returns the order in the state to, which is Completed or Cancelled. An order already in that state stays as it
// is. Close refuses an order that is closed in another state.
func (o Order) Close(to OrderStatus, now time.Time) (Order, error) {
	o = o.At(now)
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

// Leaves is the status that an animal gets when its order closes in state s.
func (s OrderStatus) Leaves() Status {
	if s == Completed {
		return Sold
	}
	return Available
}

// NoSuchOrder is the refusal of an id that no order has.
func NoSuchOrder() *Error { return noSuchOrder }

var noSuchOrder = &Error{Code: NotFound, Noun: OrderNoun}

// NoPetToOrder is the refusal of an order for an animal that does not exist.
func NoPetToOrder(id int64) *Error {
	problem := fmt.Sprintf("must be the id of an animal; there is no animal %d", id)
	return &Error{Code: InvalidField, Faults: Faults{{Field: "petId", Problem: problem}}}
}

// CheckHold says what is wrong with a hold of that many seconds. It returns "" if an order may last that long.
func CheckHold(seconds int64) (problem string) {
	if seconds < int64(MinHold/time.Second) || seconds > int64(MaxHold/time.Second) {
		return fmt.Sprintf("must be a whole number from %d to %d", int64(MinHold/time.Second), int64(MaxHold/time.Second))
	}
	return ""
}
