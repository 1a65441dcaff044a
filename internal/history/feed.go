package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"petstore/internal/model"
)

// feed is the feed of events, put together from all pages that clients read.
type feed struct {
	*checker
	name     string
	parsed   map[string]*event // all versions of all events
	pages    []*eventPage
	events   []*event           // the sequence of the first event is 1
	isBroken bool               // whether two pages show different events with the same sequence
	states   map[thing][]*event // the events of each animal, order and category
	writes   map[thing][]*write // the writes that an event of the thing may tell of
	given    map[string]*write  // the writes that gave a reference to an order, by the reference
	erased   map[int64][]*write // the writes that removed the reference of an order, by the id of the order
	latest   *event             // of the events replayed so far, the one whose write was called last
	ended    time.Duration      // when the last page that reached the end was called
}

// event tells of a change of an animal, an order or a category.
type event struct {
	ID, Type, Timestamp string
	Sequence            int64
	Data, Previous      members

	text     string // the event as the page shows it
	page     model.Exchange
	thing    thing
	by       model.Exchange // the write
	from, to time.Duration  // the change was made at a moment between these two
	isFaulty bool
}

// members are the members of a JSON object. The members of something that does not exist are nil.
type members map[string]any

// checkFeed checks that the feed tells of every change exactly once, in an order that explains the answers. It replays the
// events one by one, and then compares pages and answers with the states that the events left.
func (c *checker) checkFeed(exchanges []model.Exchange) {
	f := &feed{checker: c, parsed: make(map[string]*event), states: make(map[thing][]*event), latest: new(event), ended: -1}
	f.readPages(exchanges)
	if f.isWhole() {
		f.findWrites()
		f.replay()
		f.comparePages()
		f.compareAnswers()
	}
}

// fault reports an event, once. An order expires without an exchange.
func (f *feed) fault(e *event, sentence string, exchanges ...model.Exchange) {
	exchanges = slices.DeleteFunc(exchanges, func(e model.Exchange) bool { return e.Method == "" })
	if !e.isFaulty {
		f.report(WrongFeed, sentence+" The event: "+e.text, exchanges...)
	}
	e.isFaulty = true
}

// replay checks that each event fits the state that earlier events left, and that there is a write that it tells of. What
// returned before another write was called must come before that write.
func (f *feed) replay() {
	before := new(event)
	for _, e := range f.events {
		if f.belongTogether(before, e) {
			e.by, e.from, e.to = before.by, before.from, before.to
		} else {
			f.findWrite(e)
		}
		f.checkChange(e)
		if e.to < f.latest.from {
			f.fault(e, "A write returned before another one was called, and its event comes later.", e.by, f.latest.by)
			f.latest = e // so that one misplaced event does not make all others faulty
		}
		if e.from > f.latest.from {
			f.latest = e
		}
		e.from = f.latest.from
		f.states[e.thing] = append(f.states[e.thing], e)
		before = e
	}
	f.belongTogether(before, new(event))
}

// orderStatus maps the events of orders to the status of the order, and animalStatus to the status of its animal.
var (
	orderStatus = map[string]string{
		"order.placed": "open", "order.completed": "completed", "order.cancelled": "cancelled", "order.expired": "expired",
	}
	animalStatus = map[string]string{
		"order.placed": "pending", "order.completed": "sold", "order.cancelled": "available", "order.expired": "available",
	}
)

// belongTogether reports whether an event changes the animal of the order that the event before it placed or closed. If it
// should and does not, belongTogether reports a fault.
func (f *feed) belongTogether(order, e *event) bool {
	status, isPair := animalStatus[order.Type]
	if isPair && (e.Type != "pet.updated" || e.Data["id"] != order.Data["petId"] || e.Data["status"] != status || len(e.Previous) != 1) {
		f.fault(order, "The event of an order is not directly before the one of its animal.", order.by, e.by)
		return false
	}
	return isPair
}

// checkChange checks that an event fits the state that the earlier events left.
func (f *feed) checkChange(e *event) {
	var now members
	states := f.states[e.thing]
	if len(states) > 0 {
		now = states[len(states)-1].state()
	}
	var fits bool
	switch e.Type {
	case "pet.created", "order.placed":
		fits = len(states) == 0 && e.Previous == nil
	case "category.created":
		fits = now == nil && e.Previous == nil
	case "pet.deleted", "category.deleted":
		fits = now != nil && e.Previous == nil && f.same(e.thing, e.Data, now)
	default:
		isChange := !maps.Equal(e.Data, now) || len(f.removals(e.thing)) > 0
		fits = now != nil && isChange && f.same(e.thing, e.Previous, changed(now, e.Data))
	}
	if status, ok := orderStatus[e.Type]; ok {
		fits = fits && e.Data["status"] == status && (now == nil || now["status"] == "open")
	} else if e.Type == "order.updated" {
		fits = fits && e.Data["status"] == now["status"]
	}
	if !fits {
		f.fault(e, fmt.Sprintf("An event does not fit the state that earlier events left, %v.", now), e.by)
	}
}

// changed returns the old values of the members that have another value now, or none.
func changed(before, now members) members {
	old := make(members)
	for name, value := range before {
		if now[name] != value {
			old[name] = value
		}
	}
	return old
}

// state returns the state that the event leaves.
func (e *event) state() members {
	if strings.HasSuffix(e.Type, ".deleted") {
		return nil
	}
	return e.Data
}

// removals returns the writes that removed the reference of an order.
func (f *feed) removals(t thing) []*write {
	if t.noun != "orders" {
		return nil
	}
	return f.erased[t.id]
}

// The method same reports whether two states of a thing are the same. When a client removes the reference of an order, the
// reference disappears from the earlier events of that order.
func (f *feed) same(t thing, a, b members) bool {
	if len(f.removals(t)) > 0 && (a["reference"] == nil || b["reference"] == nil) {
		a, b = a.without("reference"), b.without("reference")
	}
	return maps.Equal(a, b)
}

func (m members) without(name string) members {
	m = maps.Clone(m)
	delete(m, name)
	return m
}
