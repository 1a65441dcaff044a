package petstore

import "fmt"

// Plan is the subscription of a key's owner. The plan determines the limits.
type Plan string

// The published plans.
const (
	Free       Plan = "free"
	Pro        Plan = "pro"
	Business   Plan = "business"
	Enterprise Plan = "enterprise"
)

// Plans has every Plan, from the smallest to the largest.
var Plans = []Plan{Free, Pro, Business, Enterprise}

// Limits says how many requests the service allows in a UTC minute and in a UTC day.
type Limits struct {
	PerMinute int64
	PerDay    int64
}

// OfAddress reports whether these are the limits for a client address. A client address has no daily limit and is never
// banned.
func (l Limits) OfAddress() bool { return l.PerDay == 0 }

// MaxLimit is the highest limit that an Enterprise key can have: 2^53 - 1. Every backend and every client counts exactly up
// to this number.
const MaxLimit = 1<<53 - 1

// FirstKeyLimits are the limits of the key that a server creates at its first start. They are too high to be reached.
var FirstKeyLimits = Limits{PerMinute: 100_000_000, PerDay: 1_000_000_000_000}

// AddressLimits are the limits for requests without a valid key from one client address.
var AddressLimits = Limits{PerMinute: 1000}

var published = map[Plan]Limits{
	Free:     {PerMinute: 60, PerDay: 1_000},
	Pro:      {PerMinute: 300, PerDay: 10_000},
	Business: {PerMinute: 1_000, PerDay: 100_000},
}

// Limits returns the limits of the plan. For Enterprise these are perMinute and perDay, for other plans the published
// limits.
func (p Plan) Limits(perMinute, perDay int64) (Limits, error) {
	limits, ok := published[p]
	switch {
	case ok && (perMinute != 0 || perDay != 0):
		return Limits{}, fmt.Errorf("the %s plan has its published limits; only the enterprise plan takes numbers of its own", p)
	case ok:
		return limits, nil
	case p != Enterprise:
		return Limits{}, fmt.Errorf("there is no plan %q; it may be %s", string(p), listed(Plans))
	case perMinute == 0 || perDay == 0:
		return Limits{}, fmt.Errorf("the enterprise plan has no published limits; give both its requests per minute and its requests per day")
	case perMinute < 1 || perDay < 1 || perMinute > MaxLimit || perDay > MaxLimit:
		return Limits{}, fmt.Errorf("limits are whole numbers from 1 to %d", int64(MaxLimit))
	case perDay < perMinute:
		return Limits{}, fmt.Errorf("a day of %d requests is less than a minute of %d: the daily limit must be at least the minute's", perDay, perMinute)
	}
	return Limits{PerMinute: perMinute, PerDay: perDay}, nil
}
