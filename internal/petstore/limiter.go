package petstore

import (
	"context"
	"time"
)

// Limiter counts requests and decides which may pass.
type Limiter interface {
	// Take decides one request atomically: of any number of concurrent calls for one subject, exactly as many are
	// allowed in a window as its limit says. A refused request uses no quota. It is safe for concurrent use. An
	// error means that nothing could be decided or counted.
	Take(ctx context.Context, ask Ask) (Decision, error)
}

// Distant is implemented by a Limiter that asks elsewhere, so that its decisions take a while.
type Distant interface {
	// Begin takes a request whose subject is not banned and had more than half of its requests left when it was last
	// decided here. It does not wait for the decision: wait does, and must be called. Meanwhile only what has no effect
	// may be done for the request. It returns nil, and has taken nothing, where less is left or nothing is known.
	Begin(ask Ask) (wait func() (Decision, error))
}

// Ask is one request as the limiter sees it.
type Ask struct {
	// Subject is who is counted: the owner of a key, or a client address.
	Subject string
	// Limits bound the UTC minute and the UTC day.
	Limits Limits
	// BannedFrom and BannedUntil are the subject's latest ban as far as the storage knows: while it holds, every request
	// is refused and counts for nothing.
	BannedFrom, BannedUntil time.Time
	// Peek only asks: nothing is counted.
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

// Decision is the limiter's answer. Its numbers describe the window that matters to the client: the one with fewer
// requests left, the one that resets later when equal or, of a refusal, the one that refused.
type Decision struct {
	Outcome   Outcome
	Limit     int64
	Remaining int64
	// Reset is when the limit resets, RetryAfter how long that is from now by the limiter's clock.
	Reset      time.Time
	RetryAfter time.Duration
	// BanNow asks the caller to ban the owner from Now on, because this refusal was one too many. It is never set for a
	// client address.
	BanNow bool
	// Now is the limiter's clock when it decided.
	Now time.Time
}

// Ban is the memory of an owner's bans. Zero means never banned.
type Ban struct {
	Start time.Time
	Until time.Time
	// Streak counts the bans of which each began within BanMemory of the one before.
	Streak int
}

// How bans grow.
const (
	FirstBan  = time.Minute
	LongBan   = time.Hour
	BanMemory = 24 * time.Hour
)

// ClockSlack is how far a clock may step back: what lies further ahead of it was recorded by a clock that was wrong.
const ClockSlack = time.Minute

// Holds says whether the ban is in force. One that lies ahead is not: else it would last longer than it was given for.
func (b Ban) Holds(now time.Time) bool {
	return !now.Before(b.Start.Add(-ClockSlack)) && now.Before(b.Until)
}

// Next is the ban that begins now. A ban still in force is not prolonged.
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
