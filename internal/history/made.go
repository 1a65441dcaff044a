package history

import (
	"bytes"
	"cmp"
	"slices"

	"petstore/internal/petstore"
)

// made is something that was asked for once, by one request or by several with one Idempotency-Key. If it was made at
// all, it was made within the span. It is answered if an answer showed it.
type made struct {
	span
	*call    // the call whose answer showed it or, without an answer, the first call
	answered bool
	taken    bool // the animal or order that it became was found
}

// id is the id of what was made, or 0 without an answer.
func (m *made) id() int64 {
	switch {
	case !m.answered:
		return 0
	case len(m.pets) > 0:
		return m.pets[0].ID
	case len(m.orders) > 0:
		return m.orders[0].ID
	}
	return m.categories[0].ID
}

// makings finds everything that was asked for, and reports each Idempotency-Key that was not good for exactly one thing.
// It marks the calls that are replays.
func (c *checker) makings() (all []*made) {
	type name struct{ owner, key string }
	keyed := make(map[name][]*call)
	var order []name
	for _, sent := range c.calls {
		switch {
		case !sent.makes():
		case sent.IdempotencyKey == "":
			if m := c.madeBy([]*call{sent}); m != nil {
				all = append(all, m)
			}
		default:
			n := name{sent.Key, sent.IdempotencyKey}
			if keyed[n] == nil {
				order = append(order, n)
			}
			keyed[n] = append(keyed[n], sent)
		}
	}
	for _, n := range order {
		all = append(all, c.keyed(keyed[n])...)
	}
	slices.SortStableFunc(all, func(a, b *made) int { return cmp.Compare(a.called, b.called) })
	return all
}

// keyed is what the calls with one Idempotency-Key made, which is at most one thing. Calls that use the key for another
// request get a conflict.
func (c *checker) keyed(calls []*call) (all []*made) {
	var variants [][]*call
	for _, sent := range calls {
		i := slices.IndexFunc(variants, func(v []*call) bool { return v[0].op == sent.op && bytes.Equal(v[0].Body, sent.Body) })
		if i < 0 {
			variants, i = append(variants, nil), len(variants)
		}
		variants[i] = append(variants[i], sent)
	}
	var answered *made
	for _, variant := range variants {
		m := c.madeBy(variant)
		if m == nil {
			continue
		}
		if m.answered && answered != nil {
			c.report(Doubled, "One Idempotency-Key was good for two different requests.", answered.call, m.call)
		}
		if m.answered {
			answered = m
		}
		all = append(all, m)
	}
	for _, sent := range calls {
		if sent.code == petstore.IdempotencyConflict && !c.conflicts(sent, variants) {
			c.report(Replayed, "An Idempotency-Key was refused as used, though no other request can have used it.", sent)
		}
	}
	return all
}

// conflicts reports whether another request can have used the key before this one was refused.
func (c *checker) conflicts(refused *call, variants [][]*call) bool {
	for _, variant := range variants {
		if slices.Contains(variant, refused) {
			continue
		}
		for _, other := range variant {
			if other.Called <= refused.Returned && (other.outcome == done || other.outcome == unknown) {
				return true
			}
		}
	}
	return false
}

// madeBy returns what was made by equal requests with one key, or by a single request without a key. It returns nil if
// they cannot have made anything.
func (c *checker) madeBy(calls []*call) *made {
	m := &made{span: span{never, never}}
	var first *call // the call whose answer is not marked as a replay
	for _, sent := range calls {
		switch {
		case sent.outcome == done:
			if m.call == nil || m.outcome == unknown {
				m.call = sent
			}
			if !bytes.Equal(sent.Answer, m.Answer) {
				c.report(Doubled, "One Idempotency-Key was answered in two ways.", m.call, sent)
			} else if !sent.replayed && first != nil {
				c.report(Doubled, "Two answers to one Idempotency-Key both say that they made something.", first, sent)
			}
			if !sent.replayed && first == nil {
				first = sent
			}
			m.answered = true
			m.returned = min(m.returned, sent.Returned)
			m.called = min(m.called, sent.Called)
		case sent.outcome == unknown:
			if m.call == nil {
				m.call = sent
			}
			m.called = min(m.called, sent.Called)
		}
	}
	if m.call == nil {
		return nil
	}
	if first != nil {
		m.call, m.span = first, span{first.Called, min(first.Returned, m.returned)}
	}
	for _, sent := range calls {
		if sent.outcome == refused && sent.code != petstore.IdempotencyConflict && m.answered && sent.Called > m.returned {
			c.report(Replayed, "A request was refused, though its Idempotency-Key had been answered before.", m.call, sent)
		}
	}
	return m
}
