package petstore

import (
	"context"
	"time"
)

// Limiter counts requests and decides which of them may pass.
type Limiter interface {
	// Take decides about one request atomically: of all concurrent calls for one subject, it allows exactly as many in
	// a window as the limit says. A refused request uses no quota. Take is safe for concurrent use. If it returns an
	// error, it has decided nothing, but it may have counted the request.
	Take(ctx context.Context, ask Ask) (Decision, error)
	// GiveBack makes a request of a client address count no longer. The decision taken is the one that allowed it. Once
	// the minute of that decision has ended, there is nothing to give back. GiveBack is safe for concurrent use. If it
	// returns an error, the request may count until its minute ends.
	GiveBack(ctx context.Context, ask Ask, taken Decision) error
}

// Distant is implemented by a Limiter that asks another server, so that its decisions take a while.
type Distant interface {
	// Begin starts a decision and returns at once. The caller must call wait, which returns the decision. Until then,
	// the caller may work on the request only if that work changes nothing. (It may store that an order has expired,
	// because time alone decides that.) Begin starts a decision only if the subject is not banned and had more than
	// half of its requests left at the last decision of this replica. Otherwise it counts nothing and returns nil.
	Begin(ask Ask) (wait func() (Decision, error))
}

// Ask is a request, as far as it matters to the limiter.
type Ask struct {
	// Subject is whose requests are counted: the owner of a key, or a client address.
	Subject string
	// Limits are those of the UTC minute and the UTC day.
	Limits Limits
	// BannedFrom and BannedUntil are the start and the end of the subject's latest ban in the storage. While the ban is
	// in force, every request is refused and none is counted.
	BannedFrom, BannedUntil time.Time
	// ShareBan is set if the ban has just been stored. For that long, replicas that share the limiter refuse every request
	// of the subject until BannedUntil, even if they have not looked the ban up yet.
	ShareBan time.Duration
	// Peek asks for a decision without counting the request.
	Peek bool
}

// Outcome is what the limiter decided.
type Outcome uint8

// The outcomes.
const (
	Allowed Outcome = iota
	Limited
	Banned
)

// Decision is the limiter's answer. Its numbers describe one window. That is the window that refused the request, or
// else the one with fewer requests left; if both have the same number left, it is the one that resets later.
type Decision struct {
	Outcome   Outcome
	Limit     int64
	Remaining int64
	// Reset is when the limit resets. RetryAfter is the time until then, by the limiter's clock.
	Reset      time.Time
	RetryAfter time.Duration
	// BanNow asks the caller to ban the owner, starting at Now, because of too many refused requests. It is never set
	// for a client address.
	BanNow bool
	// Now is the time of the decision, by the limiter's clock.
	Now time.Time
	// Alone means that this replica decided by itself, without the clock that all replicas share.
	Alone bool
}

// Ban is the latest ban of an owner. The zero Ban means that the owner was never banned.
type Ban struct {
	Start time.Time
	Until time.Time
	// Streak counts the bans in a row, including this one, that each began within BanMemory of the one before.
	Streak int
}

// FirstBan is the length of a first ban. Each ban within BanMemory of the one before is twice as long, up to MaxBan.
const (
	FirstBan  = time.Minute
	MaxBan    = time.Hour
	BanMemory = 24 * time.Hour
)

// ClockSlack is how far a clock may step back. A stored time that is further in the future comes from a clock that was
// fast.
const ClockSlack = time.Minute

// InForce reports whether the ban is in force. A ban that starts more than ClockSlack in the future is not, because it
// would last longer than it should.
func (b Ban) InForce(now time.Time) bool {
	return !now.Before(b.Start.Add(-ClockSlack)) && now.Before(b.Until)
}

// Next returns the ban that begins now. If b is still in force, Next returns b and does not prolong it.
func (b Ban) Next(now time.Time) Ban {
	if b.InForce(now) {
		return b
	}
	next := Ban{Start: now, Streak: 1}
	if b.Streak > 0 && now.Sub(b.Start).Abs() < BanMemory {
		next.Streak = b.Streak + 1
	}
	length := MaxBan
	if next.Streak <= 6 {
		length = FirstBan << (next.Streak - 1)
	}
	next.Until = now.Add(length)
	return next
}
