package model

import (
	"slices"
	"time"
)

// usedKey is a request that has used its Idempotency-Key, and its answer. No two writes have the same path and body but
// different methods.
type usedKey struct {
	owner, key string
	path, body string
	at         time.Duration
	status     int
	shown      any // the Pet, Order or Category in the answer
}

// keyLifetime is how long the store remembers an Idempotency-Key.
const keyLifetime = 24 * time.Hour

// The function once makes an operation honor its Idempotency-Key: the store does a repeated request only once. A refused
// request does not use its key.
func once(do func(State, *Operation) []outcome) func(State, *Operation) []outcome {
	return func(s State, op *Operation) []outcome {
		now := usedKey{owner: op.Key, key: op.IdempotencyKey, path: op.Path, body: string(op.Body), at: op.Called}
		if op.Method == "DELETE" { // which has no body; if there is one, it is not read
			now.body = ""
		}
		for at, before := range slices.Backward(s.used) {
			if before.owner == now.owner && before.key == now.key && now.at-before.at < keyLifetime {
				return s.replay(op, at, now)
			}
		}
		all := do(s, op)
		for i, o := range all {
			if o.code == "" {
				now.status, now.shown = o.status, o.body
				all[i].next.used = append(slices.Clip(s.used), now)
			}
		}
		return slices.DeleteFunc(all, func(o outcome) bool { return o.code == "" && op.Replayed })
	}
}

// replay answers a request whose Idempotency-Key was used before.
func (s State) replay(op *Operation, at int, now usedKey) []outcome {
	before := s.used[at]
	switch {
	case before.path != now.path || before.body != now.body:
		return []outcome{refused(s, "idempotency_conflict", "")}
	case !op.Replayed && !op.Unknown:
		return nil
	}
	if o, isOrder := before.shown.(Order); isOrder {
		before.shown = o.face(op.Orders)
		s.used = slices.Clone(s.used)
		s.used[at] = before
	}
	return []outcome{{next: s, status: before.status, body: before.shown}}
}
