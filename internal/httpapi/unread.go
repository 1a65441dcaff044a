package httpapi

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

// answerBudget is the number of bytes in long answers that may wait for clients at the same time.
const answerBudget = 64 << 20

// unreadAnswers holds the long answers that are being sent. Each answer stays until its client has read it. When the answers
// exceed the budget, unreadAnswers cuts off the answer that has waited longest, because a client that reads would have
// finished sooner. An owner may have more than its share while the budget has room. When it has none, the answers of such an
// owner are cut off first.
type unreadAnswers struct {
	budget *budget
	share  int64

	mu      sync.Mutex
	answers list.List // a list of *unreadAnswer, oldest first
}

// unreadAnswer is a long answer that is being sent.
type unreadAnswer struct {
	owner string
	size  int64
	w     http.ResponseWriter
	place *list.Element // nil after the answer was sent or cut off
}

func newUnreadAnswers(limit int64) *unreadAnswers {
	return &unreadAnswers{budget: newBudget(limit, limit), share: limit / shares}
}

// add makes room for an answer and then adds the answer.
func (u *unreadAnswers) add(owner string, size int, w http.ResponseWriter) *unreadAnswer {
	u.mu.Lock()
	defer u.mu.Unlock()
	a := &unreadAnswer{owner: owner, size: min(int64(size), u.share), w: w}
	for !u.budget.take(owner, a.size) {
		u.cutOffOldest(a)
	}
	a.place = u.answers.PushBack(a)
	return a
}

// remove removes an answer that was sent or could not be sent. If the answer was cut off, remove does nothing.
func (u *unreadAnswers) remove(a *unreadAnswer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if a.place != nil {
		u.drop(a)
	}
}

func (u *unreadAnswers) drop(a *unreadAnswer) {
	u.answers.Remove(a.place)
	a.place = nil
	u.budget.giveBack(a.owner, a.size)
}

// cutOffOldest looks for owners that have more than their share, counting the new answer as well. It cuts off the oldest
// answer of these owners. If no owner has more than its share, cutOffOldest cuts off the oldest answer of all.
func (u *unreadAnswers) cutOffOldest(added *unreadAnswer) {
	oldest := u.answers.Front()
	for e := oldest; e != nil; e = e.Next() {
		owner := e.Value.(*unreadAnswer).owner
		taken := u.budget.takenBy(owner)
		if owner == added.owner {
			taken += added.size
		}
		if taken > u.share {
			oldest = e
			break
		}
	}
	a := oldest.Value.(*unreadAnswer)
	u.drop(a)
	// The deadline lies in the past, so the write that waits for the client fails.
	http.NewResponseController(a.w).SetWriteDeadline(time.Unix(1, 0))
}
