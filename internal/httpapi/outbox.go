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
// too many bytes, the one that has waited longest is cut off: a client that reads makes room sooner.
type outbox struct {
	budget *budget

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

func newOutbox(limit int64) *outbox { return &outbox{budget: newBudget(limit)} }

// put makes room for an answer and takes it in.
func (o *outbox) put(owner string, size int, w http.ResponseWriter) *letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &letter{owner: owner, size: min(int64(size), o.budget.share()), w: w}
	for !o.budget.take(owner, l.size) {
		o.cutOldest(owner)
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

// cutOldest ends the answer of that owner that has waited longest or, if the owner has none, the oldest of all.
func (o *outbox) cutOldest(owner string) {
	oldest := o.letters.Front()
	for e := oldest; e != nil; e = e.Next() {
		if e.Value.(*letter).owner == owner {
			oldest = e
			break
		}
	}
	l := oldest.Value.(*letter)
	o.drop(l)
	// A deadline that has passed makes the write fail that waits for the client.
	http.NewResponseController(l.w).SetWriteDeadline(time.Unix(1, 0))
}
