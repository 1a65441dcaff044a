package history

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Rules are what a checker must be told.
type Rules struct {
	// Began is when the history began, by the clock of the limiter. Without it, only the X-RateLimit headers tell in which
	// window a request was counted.
	Began time.Time
	// Limits are the limits of the keys, by the names of the keys in the exchanges. A key without limits is not checked.
	Limits map[string]Limit
	// Uncounted are the times at which no limit is promised, because Redis did not answer or a process lost its counts.
	Uncounted []Interval
	// Patience is how long one search for an order of events may take; 0 means five minutes. A search usually takes
	// milliseconds, but some histories have endless orders to try.
	Patience time.Duration
}

// Limit is how many requests of a key may pass. A zero is not checked.
type Limit struct{ PerMinute, PerDay int64 }

// Interval is a span of time in the history.
type Interval struct{ From, To time.Duration }

// Kind is a kind of fault.
type Kind string

// The kinds of fault.
const (
	Lost          Kind = "lost"             // a write was acknowledged, and nobody ever saw it
	Early         Kind = "early"            // a write was acknowledged before it was done
	Stale         Kind = "stale"            // a read showed what was no longer true
	OutOfOrder    Kind = "out of order"     // no order of the events, or no moment for a list, explains what was seen
	Doubled       Kind = "doubled"          // something was made twice that was asked for once
	Invented      Kind = "not asked for"    // something is there that nobody asked for
	Replayed      Kind = "replayed wrongly" // an Idempotency-Key got another answer than it should
	IDUsedAgain   Kind = "id used again"    // two things got one id
	TwoOpenOrders Kind = "two open orders"  // two orders held one animal at the same time
	Contradiction Kind = "contradiction"    // two answers disagree about what never changes
	OverLimit     Kind = "over the limit"   // more requests of a key passed than a window allows
	Undecided     Kind = "undecided"        // the search took too long
)

// Fault is an answer, or several, that a correct store could not have given.
type Fault struct {
	Kind     Kind
	Sentence string
	// Exchanges are the exchanges that show the fault.
	Exchanges []Exchange
}

func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.Kind, f.Sentence)
	for _, e := range f.Exchanges {
		b.WriteString("\n\t" + call{Exchange: e}.String())
	}
	return b.String()
}

// checker holds what the parts of a check share.
type checker struct {
	rules    Rules
	calls    []*call
	subjects map[int64]*subject
	orders   map[int64]*holding
	owners   map[int64]*subject // by order
	making   map[*call]bool     // the calls that made an animal or an order
	unseen   []*made            // creates without an answer that may have made an animal which no answer shows
	names    *register

	mu     sync.Mutex
	faults []Fault
}

// Check finds the answers that a correct store, empty when the history began, could not have given. No faults means two
// things. For each animal with its orders, and for the categories, there is an order of all that was done that explains
// every answer. For each list, there is a moment at which it was true. In a small history it also means that a single
// order explains all answers together.
func Check(exchanges []Exchange, rules Rules) []Fault {
	c := &checker{rules: rules, subjects: make(map[int64]*subject), orders: make(map[int64]*holding), owners: make(map[int64]*subject), making: make(map[*call]bool)}
	for i, e := range exchanges {
		call := read(i, e)
		c.calls = append(c.calls, &call)
	}
	slices.SortStableFunc(c.calls, func(a, b *call) int { return cmp.Compare(a.Called, b.Called) })
	c.gather()
	c.checkAnimals()
	c.checkCategories()
	c.checkLists()
	if len(c.faults) == 0 {
		c.checkWorld()
	}
	c.checkLimits()
	return c.faults
}

// report adds a fault. It keeps only a few of many exchanges.
func (c *checker) report(kind Kind, sentence string, calls ...*call) {
	f := Fault{Kind: kind, Sentence: sentence}
	for _, call := range calls[:min(len(calls), 20)] {
		f.Exchanges = append(f.Exchanges, call.Exchange)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, f)
}

// patience is how long one search may take.
func (c *checker) patience() time.Duration { return cmp.Or(c.rules.Patience, 5*time.Minute) }

// each does work for each subject, on all processors.
func (c *checker) each(work func(*subject)) {
	queue := make(chan *subject)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for s := range queue {
				work(s)
			}
		})
	}
	for _, s := range c.subjects {
		queue <- s
	}
	close(queue)
	all.Wait()
}
