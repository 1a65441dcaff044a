package model

import (
	"slices"
	"time"
)

// usedKey is a request that has used its Idempotency-Key, and the answer to the request. The answer is empty while nobody
// knows it.
type usedKey struct {
	owner, key         string
	method, path, body string
	at                 time.Duration
	answer             string
}

// keyLifetime is how long the store remembers an Idempotency-Key.
const keyLifetime = 24 * time.Hour

// The function once makes an operation honor its Idempotency-Key: the store does a repeated request only once. A refused
// request does not use its key.
func once(do func(State, *Operation) []outcome) func(State, *Operation) []outcome {
	return func(s State, op *Operation) []outcome {
		now := usedKey{op.Key, op.IdempotencyKey, op.Method, op.Path, string(op.Body), op.Called, string(op.Answer)}
		if op.Unknown {
			now.answer = ""
		}
		for at, before := range slices.Backward(s.used) {
			if before.owner == now.owner && before.key == now.key && now.at-before.at < keyLifetime {
				return s.replay(op, at, now)
			}
		}
		all := do(s, op)
		for i, o := range all {
			if o.code == "" {
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
	case before.method != now.method || before.path != now.path || before.body != now.body:
		return []outcome{refused(s, "idempotency_conflict", "")}
	case op.Unknown:
		return []outcome{{next: s}}
	case !op.Replayed || before.answer != "" && before.answer != now.answer:
		return nil
	}
	s.used = slices.Clone(s.used)
	s.used[at].answer = now.answer
	return []outcome{{next: s, status: op.Status}}
}
