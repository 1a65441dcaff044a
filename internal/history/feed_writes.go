package history

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"petstore/internal/model"
)

// write is a request that changed something, or may have. All requests with the same Idempotency-Key are one write.
type write struct {
	*model.Operation
	from, to time.Duration // the write was done between these two, or, if its outcome is unknown, may have been
	answer   members
	hasEvent bool
}

// findWrites finds the writes that the feed can tell of.
func (f *feed) findWrites() {
	f.writes, f.given, f.erased = make(map[thing][]*write), make(map[string]*write), make(map[int64][]*write)
	var all []*write
	byKey := make(map[string]*write)
	for _, op := range f.operations {
		if op.Method == "GET" || op.Code != "" && !op.Unknown {
			continue
		}
		key := op.Key + " " + op.IdempotencyKey
		w := byKey[key]
		switch {
		case w == nil:
			w = &write{Operation: op, from: op.Called, to: op.Returned}
			if op.Unknown {
				w.to = model.Never
			}
			all = append(all, w)
			if op.UsesIdempotencyKey() {
				byKey[key] = w
			}
		case op.Unknown:
		case op.Replayed: // so an earlier request was done
			w.to = min(w.to, op.Returned)
			if w.Unknown {
				w.Operation = op
			}
		default:
			w.Operation, w.from, w.to = op, op.Called, op.Returned
		}
	}
	for _, w := range all {
		json.Unmarshal(w.Answer, &w.answer)
		about := w.about()
		f.writes[about] = append(f.writes[about], w)
		if reference := w.Fields.Reference; reference != nil && *reference != "" {
			f.given[*reference] = w
		} else if reference != nil && w.ID != 0 {
			f.erased[w.ID] = append(f.erased[w.ID], w)
		}
	}
}

// about returns what the write is about. Nobody knows the id of what a write with an unknown outcome may have created.
func (w *write) about() thing {
	switch {
	case w.ID != 0 || !w.Makes():
		return thing{noun: w.Noun, id: w.ID}
	case w.Name == "placeOrder":
		return thing{noun: "new orders", id: *w.Fields.PetID}
	}
	return thing{noun: "new " + w.Noun, name: w.GivenName()}
}

// creation returns what the writes are about that may have created the thing without an answer.
func (e *event) creation() thing {
	if e.thing.noun == "orders" {
		return thing{noun: "new orders", id: e.Data.number("petId")}
	}
	name, _ := e.Data["name"].(string)
	return thing{noun: "new " + e.thing.noun, name: name}
}

// eventTypes maps the operations to the events that tell of them.
var eventTypes = map[string][]string{
	"createPet": {"pet.created"}, "updatePet": {"pet.updated"}, "deletePet": {"pet.deleted"},
	"placeOrder": {"order.placed"}, "updateOrder": {"order.updated"}, "completeOrder": {"order.completed"}, "cancelOrder": {"order.cancelled"},
	"createCategory": {"category.created"}, "nameCategory": {"category.created", "category.updated"}, "deleteCategory": {"category.deleted"},
}

// findWrite finds the write that an event tells of. If several writes asked for the same, the change was made between the
// first call and the last return.
func (f *feed) findWrite(e *event) {
	e.to = model.Never
	if e.Type == "order.expired" {
		return
	}
	found := slices.Concat(f.writes[e.thing], f.writes[e.creation()])
	found = slices.DeleteFunc(found, func(w *write) bool { return w.hasEvent || !f.mayCause(w, e) })
	isInTime := func(w *write) bool { return w.to >= f.latest.from }
	if slices.ContainsFunc(found, isInTime) {
		found = slices.DeleteFunc(found, func(w *write) bool { return !isInTime(w) })
	}
	if len(found) == 0 {
		f.fault(e, "An event tells of a change that nobody asked for, or that another event tells of.")
		return
	}
	slices.SortFunc(found, func(a, b *write) int { return cmp.Compare(a.to, b.to) })
	found[0].hasEvent = true
	e.by, e.from, e.to = found[0].Exchange, found[0].from, found[len(found)-1].to
	for _, w := range found {
		e.from = min(e.from, w.from)
	}
}

// mayCause reports whether an event can tell of a write.
func (f *feed) mayCause(w *write, e *event) bool {
	switch {
	case !slices.Contains(eventTypes[w.Name], e.Type):
		return false
	case w.Unknown:
		return f.asksFor(w, e)
	case w.Name == "nameCategory" && (w.Status == http.StatusCreated) != (e.Type == "category.created"):
		return false
	}
	return w.answer == nil || f.same(e.thing, w.answer, e.Data)
}

// asksFor reports whether an event shows what the body of a write asks for, and no change of an order that it does not ask for.
func (f *feed) asksFor(w *write, e *event) bool {
	var body members
	json.Unmarshal(w.Body, &body)
	if w.Name == "updateOrder" {
		part := "reference"
		if _, isProlonged := e.Previous["expiresAt"]; isProlonged {
			part = "holdSeconds"
		}
		if _, asked := body[part]; !asked {
			return false
		}
	}
	after := maps.Clone(e.Data)
	for name, value := range body.without("holdSeconds") {
		after[name] = value
		if value == nil {
			delete(after, name)
		}
	}
	return f.same(e.thing, after, e.Data)
}
