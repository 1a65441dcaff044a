package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"petstore/internal/model"
)

// Rules tell the checker what the exchanges do not show.
type Rules struct {
	// Began is when the history began, by the limiter's clock. Without Began, only the X-RateLimit headers show in which
	// window a request was counted.
	Began time.Time
	// Limits maps the name of a key, as in the exchanges, to the key's limits. The checker does not check a key without
	// limits.
	Limits map[string]Limit
	// Uncounted are the intervals in which the service promises no limit, because Redis did not answer or a process lost
	// its counts.
	Uncounted []Interval
	// Timeout is how long all searches together may take. 0 means five minutes.
	Timeout time.Duration
}

// Limit is how many requests of a key may pass. The checker does not check a limit of 0.
type Limit struct{ PerMinute, PerDay int64 }

// Interval is a span of time in the history.
type Interval struct{ From, To time.Duration }

// Kind is a kind of fault.
type Kind string

// The kinds of fault.
const (
	NotLinearizable Kind = "not linearizable" // no order of the operations explains all answers
	NotAskedFor     Kind = "not asked for"    // something exists that nobody asked for, or exists twice
	OverLimit       Kind = "over the limit"   // more requests of a key passed than a window allows
	WrongFeed       Kind = "wrong feed"       // the feed of events does not tell of all changes as they were
	Undecided       Kind = "undecided"        // the timeout ended a search before its result was known
)

// Fault is one answer, or a combination of answers, that a correct store could not have given.
type Fault struct {
	Kind     Kind
	Sentence string
	// Exchanges are the exchanges that show the fault.
	Exchanges []model.Exchange
}

func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.Kind, f.Sentence)
	for _, e := range f.Exchanges {
		b.WriteString("\n\t" + e.String())
	}
	return b.String()
}

// checker holds the data that the parts of a check share.
type checker struct {
	rules      Rules
	deadline   time.Time
	operations []*model.Operation // sorted by the time of the call
	unseen     []*model.Operation // operations that may have created an animal that no answer shows
	partitions []*partition
	undecided  int // the number of searches that the timeout ended
	faults     []Fault
}

// Check finds answers that a correct store could not have given. The store must be empty when the history begins. If Check
// finds no fault, the following is true:
//   - The operations on each partition have a linearization. In this linearization, each list shows the partition correctly.
//   - If two animals both changed during a list, the operations on both animals together have a linearization. checkLists
//     does not check all of these pairs.
//   - Each inventory and each link to a next page was possible, given everything that is known about each single animal.
//   - The feed tells of every change exactly once. Its order and the states that it leaves explain the answers: an event does
//     not come after the event of a write that began later, a page at the end shows every change that was acknowledged, and
//     every animal, order and category was shown as the feed has it at that time.
//   - In no window did more requests of a key pass than the limit allows.
//
// A search that the timeout ends is a fault too.
func Check(exchanges []model.Exchange, rules Rules) []Fault {
	c := &checker{rules: rules, deadline: time.Now().Add(cmp.Or(rules.Timeout, 5*time.Minute))}
	for _, e := range exchanges {
		if op, ok := model.Parse(e); ok {
			c.operations = append(c.operations, op)
		}
	}
	slices.SortStableFunc(c.operations, func(a, b *model.Operation) int { return cmp.Compare(a.Called, b.Called) })
	c.checkFeed(exchanges)
	c.resolveUnknown()
	c.checkPages()
	c.checkCounter()
	c.partition()
	for _, p := range c.partitions {
		c.linearize(p)
	}
	c.checkLists()
	c.checkInventories()
	c.checkLinks()
	c.checkLimits(exchanges)
	if c.undecided > 0 {
		c.report(Undecided, fmt.Sprintf("The timeout ended %d searches.", c.undecided))
	}
	return c.faults
}

// report adds a fault, with at most 20 of its exchanges.
func (c *checker) report(kind Kind, sentence string, exchanges ...model.Exchange) {
	c.faults = append(c.faults, Fault{kind, sentence, exchanges[:min(len(exchanges), 20)]})
}

// checkPages checks that the rows of every page are in order, and that their number is right.
func (c *checker) checkPages() {
	for _, op := range c.operations {
		if !op.InOrder() {
			c.report(NotLinearizable, "The rows of a page are out of order, outside the page, too many or too few.", op.Exchange)
		}
	}
}

// checkCounter checks that createCategory returns ever higher numbers. A search cannot check that, because it never
// compares the numbers of two partitions.
func (c *checker) checkCounter() {
	counted := slices.DeleteFunc(slices.Clone(c.operations), func(op *model.Operation) bool {
		return op.Name != "createCategory" || op.ID == 0 || op.Replayed || op.Unknown
	})
	slices.SortFunc(counted, func(a, b *model.Operation) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(counted); i++ {
		if lower, higher := counted[i-1], counted[i]; higher.Returned < lower.Called {
			c.report(NotLinearizable, "The counter of the categories went back.", lower.Exchange, higher.Exchange)
		}
	}
}
