package petstore

import (
	"context"
	"time"
)

// Limiter counts requests and decides which may pass.
type Limiter interface {
	// Take decides one request atomically: however many calls for one subject run at once, it allows exactly as many of
	// them in a window as the limit says. A refused request uses no quota. Take is safe for concurrent use. An error means
	// that nothing was decided or counted.
	Take(ctx context.Context, ask Ask) (Decision, error)
}

// Distant is implemented by a Limiter whose decisions take a while, because it asks another server.
type Distant interface {
	// Begin takes a request without waiting for the decision. The caller must call wait, which returns the decision.
	// Until then, the caller may work on the request only if that changes nothing, except what time alone decides, such
	// as that an order expires. Begin takes the request only if the subject is not banned and had more than half of its
	// requests left at the last decision here. Otherwise it takes nothing and returns nil.
	Begin(ask Ask) (wait func() (Decision, error))
}

// Ask is one request as the limiter sees it.
type Ask struct {
	// Subject is who is counted: the owner of a key, or a client address.
	Subject string
	// Limits bound the UTC minute and the UTC day.
	Limits Limits
	// BannedFrom and BannedUntil are the subject's latest ban in the storage. While the ban holds, every request is refused
	// and not counted.
	BannedFrom, BannedUntil time.Time
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

// Decision is the limiter's answer. Its numbers describe one window: the one that refused, or else the one with fewer
// requests left. If both have the same number left, it is the one that resets later.
type Decision struct {
	Outcome   Outcome
	Limit     int64
	Remaining int64
	// Reset is when the limit resets. RetryAfter is how long that is from now, by the limiter's clock.
	Reset      time.Time
	RetryAfter time.Duration
	// BanNow asks the caller to ban the owner from Now on, because this refusal was one too many. It is never set for a
	// client address.
	BanNow bool
	// Now is the limiter's clock when it decided.
	Now time.Time
	// Alone means that one of several replicas decided by itself, without the clock that they share.
	Alone bool
}

// Ban is the latest ban of an owner. Zero means that the owner was never banned.
type Ban struct {
	Start time.Time
	Until time.Time
	// Streak counts the bans up to this one, each of which began within BanMemory of the one before.
	Streak int
}

// FirstBan is the length of the first ban. Each ban within BanMemory of the one before is twice as long, up to LongBan.
const (
	FirstBan  = time.Minute
	LongBan   = time.Hour
	BanMemory = 24 * time.Hour
)

// ClockSlack is how far a clock may step back. A recorded time that is further ahead comes from a clock that was wrong.
const ClockSlack = time.Minute

// Holds reports whether the ban is in force. A ban that starts in the future is not: it would last longer than it
// should.
func (b Ban) Holds(now time.Time) bool {
	return !now.Before(b.Start.Add(-ClockSlack)) && now.Before(b.Until)
}

// Next is the ban that begins now. If b is still in force, Next is b, not a longer ban.
func (b Ban) Next(now time.Time) Ban {
	if b.Holds(now) {
		return b
	}
	next := Ban{Start: now, Streak: 1}
	if b.Streak > 0 && now.Sub(b.Start).Abs() < BanMemory {
		next.Streak = b.Streak + 1
	}
	length := LongBan
	if next.Streak <= 6 {
		length = FirstBan << (next.Streak - 1)
	}
	next.Until = now.Add(length)
	return next
}
