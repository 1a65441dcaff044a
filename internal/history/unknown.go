package history

import (
	"slices"

	"petstore/internal/model"
)

// resolveUnknown prepares the writes with an unknown outcome for a search. Such a write may be done at any time after its
// call. A write that is done after everything else is the same as a write that is never done, so the interval of the write
// has no end. Each of these writes doubles the number of orders to search. Therefore equal requests count as one request if
// only the first of them can have an effect.
//
// If a request created something, an answer that shows the name or reference of the request also shows the id. If there is
// no such answer, the request is dropped. The exception is an order that nobody saw, because the order may hold its animal.
func (c *checker) resolveUnknown() {
	type name struct{ noun, name string }
	ids := make(map[name]int64)
	for _, op := range c.operations {
		for _, row := range op.Rows() {
			ids[name{op.Noun, row.Name}] = row.ID
		}
	}
	sent, orders := make(map[any]bool), int64(0)
	c.operations = slices.DeleteFunc(c.operations, func(op *model.Operation) bool {
		if !op.Unknown {
			return false
		}
		op.Returned = model.Never
		if op.Makes() {
			op.ID = ids[name{op.Noun, op.GivenName()}]
		}
		if sent[requestOf(op)] {
			return true
		}
		sent[requestOf(op)] = true
		switch {
		case op.ID != 0:
		case op.Name == "placeOrder":
			orders--
			op.ID = orders
		case op.Name == "createPet":
			c.unseen = append(c.unseen, op)
		}
		return op.Makes() && op.ID == 0
	})
}

// requestOf returns the same value for two operations if the second operation has no effect after the first.
func requestOf(op *model.Operation) any {
	type request struct{ key, method, path string }
	switch {
	case op.UsesIdempotencyKey():
		return request{op.Key, "", op.IdempotencyKey}
	case op.IsFinal():
		return request{"", op.Method, op.Path}
	}
	return op
}
