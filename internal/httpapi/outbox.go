package httpapi

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

// answerBudget is how many bytes of long answers wait for their clients at once.
const answerBudget = 64 << 20

// outbox holds the long answers that are being sent, each until its client has read it. When they have too many bytes,
// the outbox cuts off the answer that has waited longest: a client that reads would have made room sooner. An owner may
// have more than its share as long as there is room, but then its answers are the first to be cut off.
type outbox struct {
	budget *budget
	share  int64

	mu      sync.Mutex
	letters list.List // holds each *letter, the oldest first
}

// letter is a long answer on its way.
type letter struct {
	owner string
	size  int64
	w     http.ResponseWriter
	place *list.Element // nil when the letter is no longer in the outbox
}

func newOutbox(limit int64) *outbox {
	return &outbox{budget: newBudget(limit, limit), share: limit / shares}
}

// put makes room for an answer and adds it.
func (o *outbox) put(owner string, size int, w http.ResponseWriter) *letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &letter{owner: owner, size: min(int64(size), o.share), w: w}
	for !o.budget.take(owner, l.size) {
		o.makeRoom(l)
	}
	l.place = o.letters.PushBack(l)
	return l
}

// remove takes out an answer that was sent or could not be sent.
func (o *outbox) remove(l *letter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l.place != nil {
		o.drop(l)
	}
}

func (o *outbox) drop(l *letter) {
	o.letters.Remove(l.place)
	l.place = nil
	o.budget.give(l.owner, l.size)
}

// makeRoom cuts off the answer that has waited longest among those of owners with more than their share, including the
// new answer. If there is no such owner, it chooses among all answers.
func (o *outbox) makeRoom(fresh *letter) {
	oldest := o.letters.Front()
	for e := oldest; e != nil; e = e.Next() {
		owner := e.Value.(*letter).owner
		held := o.budget.of(owner)
		if owner == fresh.owner {
			held += fresh.size
		}
		if held > o.share {
			oldest = e
			break
		}
	}
	l := oldest.Value.(*letter)
	o.drop(l)
	// The write that waits for the client fails, because its deadline has passed.
	http.NewResponseController(l.w).SetWriteDeadline(time.Unix(1, 0))
}
