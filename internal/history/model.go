package history

import (
	"math"
	"time"

	"petstore/internal/petstore"
)

// kind is what an event shows of an animal or one of its orders, or does to it.
type kind uint8

const (
	born         kind = iota // the animal is made
	shown                    // the animal is there, with these values
	hidden                   // the animal is not there, or not in that status
	patched                  // the animal is changed, and then has these values
	maybePatched             // the animal is changed if that is allowed
	reserved                 // its order forbids a change
	deleted
	remade // a replay: the animal was made before
	ordered
	unavailable // the animal is not available
	closed      // an order is closed with that status, now or before
	maybeClosed // an order is closed if it is open
	orderShown
	orderHidden // there is no such order, or not in that status
	orderRemade // a replay: the order was placed before
)

// never is a time after the end of every history.
const never = time.Duration(math.MaxInt64)

// span is when something happened: at one moment that is not before called and not after returned.
type span struct{ called, returned time.Duration }

// event is one animal's part of a call.
type event struct {
	span
	kind   kind
	pet    pet
	fields *request // the fields of a patch
	order  int      // the number of the order among those of the animal
	status string   // the status of the animal or the order
	call   *call
}

// subject is an animal with its orders, and what may have happened to it without an answer and without a trace.
type subject struct {
	id     int64
	events []*event
	orders []*holding
	// floats are changes whose outcome is unknown. Each may have happened at any time after its call. The model applies one
	// only if nothing else explains what was seen, so they never multiply the search.
	floats []float
	// gone is the earliest time at which the animal may have been deleted without a trace.
	gone time.Duration
	// until is when the animal was certainly deleted.
	until  time.Duration
	faulty bool
}

// holding is the part of an order that is the same in all answers. Its hold ends between mayExpire and mustExpire, in
// the time of the history. The times completed and cancelled are the earliest at which the order may have been closed
// without a trace.
type holding struct {
	order
	span
	number                int // its number among the orders of its animal
	mayExpire, mustExpire time.Duration
	completed, cancelled  time.Duration
	// closed is the status with which the order was first seen closed; closedBy is when that was certain.
	closed   string
	closedBy time.Duration
}

type float struct {
	from time.Duration
	request
}

// The phases of an animal's life.
const (
	unborn uint8 = iota
	alive
	dead
)

// state is an animal and the states of its orders at one moment.
type state struct {
	phase    uint8
	name     string
	category int64
	status   string
	holder   int    // the number of its open order, counted from 1; 0 for none
	orders   string // the status of each order, one byte for each
}

const (
	available = "available"
	pending   = "pending"
	sold      = "sold"
)

func (s *subject) begin() state { return state{orders: string(make([]byte, len(s.orders)))} }

// step returns the animal after the event, or false if the event cannot happen to it.
func (s *subject) step(now state, e *event) (state, bool) {
	switch e.kind {
	case born:
		now, ok := now, now.phase == unborn
		now.phase, now.name, now.category, now.status = alive, e.pet.Name, e.pet.CategoryID, e.pet.Status
		return now, ok
	case remade:
		return now, now.phase != unborn
	case shown:
		return s.become(now, e, &e.pet.Name, &e.pet.CategoryID, e.pet.Status)
	case hidden:
		return s.hide(now, e)
	case patched, maybePatched:
		return s.patch(now, e)
	case deleted:
		if now.phase != alive {
			return now, false
		}
		now, ok := s.free(now, e)
		now.phase = dead
		return now, ok
	case reserved:
		return now, now.phase == alive && now.holder == e.order+1 && e.called <= s.orders[e.order].mustExpire
	case unavailable:
		return s.become(now, e, nil, nil, e.status)
	case ordered:
		now, ok := s.become(now, e, nil, nil, available)
		if !ok || now.orders[e.order] != 0 {
			return now, false
		}
		now.status, now.holder = pending, e.order+1
		return now.set(e.order, petstore.Open), true
	}
	return s.stepOrder(now, e)
}

func (s *subject) stepOrder(now state, e *event) (state, bool) {
	o, stored := s.orders[e.order], petstore.OrderStatus(now.orders[e.order])
	want, _ := petstore.ParseOrderStatus(e.status)
	switch e.kind {
	case orderRemade:
		return now, stored != 0
	case orderShown:
		if stored == petstore.Open && want == petstore.Expired && e.returned >= o.mayExpire {
			return now.set(e.order, petstore.Expired), true // its animal may be freed later
		}
		return now, stored == want && (want != petstore.Open || e.called <= o.mustExpire)
	case orderHidden:
		if want == 0 {
			return now, stored == 0
		}
		if stored == petstore.Open {
			return now, want != petstore.Open && (want != petstore.Expired || e.called <= o.mustExpire) ||
				want == petstore.Open && e.returned >= o.mayExpire
		}
		return now, stored != want
	case closed:
		if stored == petstore.Open && e.called <= o.mustExpire {
			return s.release(now, want), true
		}
		return now, stored == want
	case maybeClosed:
		if stored == petstore.Open {
			return s.release(now, want), true
		}
		return now, true
	}
	return now, false
}

func (now state) set(order int, to petstore.OrderStatus) state {
	orders := []byte(now.orders)
	orders[order] = byte(to)
	now.orders = string(orders)
	return now
}

// release closes the order that holds the animal.
func (s *subject) release(now state, to petstore.OrderStatus) state {
	held := now.holder - 1
	now.holder, now.status = 0, to.Leaves().String()
	return now.set(held, to)
}

func (s *subject) patch(now state, e *event) (state, bool) {
	f := e.fields
	if e.kind == maybePatched {
		if now.phase == alive && (f.Status == nil || *f.Status == now.status || now.holder == 0) {
			now = now.with(f)
		}
		return now, true
	}
	var name *string
	var number *int64
	if f.Name == nil {
		name = &e.pet.Name
	}
	if f.CategoryID == nil {
		number = &e.pet.CategoryID
	}
	status, ok := now, false
	switch {
	case f.Status == nil:
		status, ok = s.become(now, e, name, number, e.pet.Status)
	case *f.Status == now.status && !s.mustBeFree(now, e):
		status, ok = s.become(now, e, name, number, now.status)
	default:
		if status, ok = s.free(now, e); ok {
			status, ok = s.become(status, e, name, number, status.status)
		}
	}
	if !ok {
		return now, false
	}
	after := status.with(f)
	return after, after.name == e.pet.Name && after.category == e.pet.CategoryID && after.status == e.pet.Status
}

func (now state) with(f *request) state {
	if f.Name != nil {
		now.name = *f.Name
	}
	if f.CategoryID != nil {
		now.category = *f.CategoryID
	}
	if f.Status != nil {
		now.status = *f.Status
	}
	return now
}
