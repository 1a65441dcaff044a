package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"petstore/internal/model"
)

// Rules are what the exchanges do not tell the checker.
type Rules struct {
	// Began is when the history began, by the clock of the limiter. Without it, only the X-RateLimit headers tell in which
	// window a request was counted.
	Began time.Time
	// Limits are the limits of the keys, by the names of the keys in the exchanges. A key without limits is not checked.
	Limits map[string]Limit
	// Uncounted are the intervals in which no limit is promised, because Redis did not answer or a process lost its counts.
	Uncounted []Interval
	// Timeout is how long all searches together may take; 0 means five minutes.
	Timeout time.Duration
}

// Limit is how many requests of a key may pass. A zero is not checked.
type Limit struct{ PerMinute, PerDay int64 }

// Interval is a span of time in the history.
type Interval struct{ From, To time.Duration }

// Kind is a kind of fault.
type Kind string

// The kinds of fault.
const (
	NotLinearizable Kind = "not linearizable" // no order of the operations explains all answers
	NotAskedFor     Kind = "not asked for"    // something is there that nobody asked for, or is there twice
	OverLimit       Kind = "over the limit"   // more requests of a key passed than a window allows
	Undecided       Kind = "undecided"        // the timeout ended a search
)

// Fault is an answer, or several, that a correct store could not have given.
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

// checker holds what the parts of a check share.
type checker struct {
	rules      Rules
	deadline   time.Time
	operations []*model.Operation // in the order of their calls
	unseen     []*model.Operation // those that may have made an animal that no answer shows
	partitions []*partition
	undecided  int // how many searches the timeout ended
	faults     []Fault
}

// Check finds the answers that a correct store, empty when the history began, could not have given. If it finds none, then
//   - the operations on each partition have a linearization, in which each list shows what it should of the partition;
//   - the operations on any two animals that both changed during a list have a linearization together, apart from the pairs
//     that checkLists leaves out;
//   - each inventory and each link to a next page was possible, given all that is known about each animal by itself;
//   - in no window did more requests of a key pass than its limit.
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

// checkPages checks the order and the number of the rows of every page.
func (c *checker) checkPages() {
	for _, op := range c.operations {
		if !op.InOrder() {
			c.report(NotLinearizable, "The rows of a page are out of order, outside the page, too many or too few.", op.Exchange)
		}
	}
}

// checkCounter checks that createCategory gives ever higher numbers. No search of a partition compares two numbers.
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
