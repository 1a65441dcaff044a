package httpapi

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

// answerBudget is how many bytes of long answers are kept for clients at once.
const answerBudget = 64 << 20

// outbox holds the long answers that are being sent, each for as long as its client takes to read it. When they become
// too many bytes, the one that has waited longest is cut off: a client that reads makes room sooner. An owner may have
// more than a share as long as there is room, and is the first whose answers are cut off.
type outbox struct {
	budget *budget
	share  int64

	mu      sync.Mutex
	letters list.List // of *letter, the oldest first
}

// letter is a long answer on its way.
type letter struct {
	owner string
	size  int64
	w     http.ResponseWriter
	place *list.Element // nil once it has left the outbox
}

func newOutbox(limit int64) *outbox {
	return &outbox{budget: newBudget(limit, limit), share: limit / shares}
}

// put makes room for an answer and takes it in.
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

// remove is called when the answer was sent, or could not be.
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

// makeRoom cuts off the answer that has waited longest among those of owners with more than a share, the new answer
// counted, or else among all.
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
	// A deadline that has passed makes the write fail that waits for the client.
	http.NewResponseController(l.w).SetWriteDeadline(time.Unix(1, 0))
}
