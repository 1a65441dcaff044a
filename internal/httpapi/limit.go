package httpapi

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"petstore/internal/petstore"
)

// limited counts the request for the owner of its key, or for its address if it has no valid key. It tells the client
// what is left and refuses a request that is one too many. Then it refuses a request that needs a valid key and has
// none. If the storage is away and the key could not be checked, that is not the client's fault: the request is not
// counted, and not refused as one too many.
func (a *API) limited(next handler) handler {
	return func(x *exchange) error {
		ask := a.askFor(x)
		if a.Distant != nil && x.refusal == nil && x.reads() {
			if wait := a.Distant.Begin(ask); wait != nil {
				return a.readAhead(x, ask, wait, next)
			}
		}
		d, err := a.Limiter.Take(x.r.Context(), ask)
		if err := a.judge(x, ask, d, err); err != nil {
			return err
		}
		return next(x)
	}
}

// readAhead does a read while the limiter decides. The answer is sent after the decision, or thrown away if the decision
// is to refuse.
func (a *API) readAhead(x *exchange, ask petstore.Ask, wait func() (petstore.Decision, error), next handler) (err error) {
	x.decide = func() error {
		d, err := wait()
		return a.judge(x, ask, d, err)
	}
	defer func() { // even after a panic, because the answer to it tells what is left too
		if refusal := x.cleared(); refusal != nil {
			err = refusal
		}
	}()
	return next(x)
}

func (a *API) askFor(x *exchange) petstore.Ask {
	ask := petstore.Ask{Subject: x.key.Owner, Limits: x.key.Limits, BannedFrom: x.key.BannedFrom, BannedUntil: x.key.BannedUntil}
	if x.refusal != nil {
		ask = petstore.Ask{Subject: a.subjectOf(x), Limits: petstore.AddressLimits, Peek: x.unchecked}
	}
	if a.CountOnly {
		ask.BannedFrom, ask.BannedUntil = time.Time{}, time.Time{}
	}
	return ask
}

// judge carries out a decision: it tells the client what is left, bans the owner, or refuses the request.
func (a *API) judge(x *exchange, ask petstore.Ask, d petstore.Decision, err error) error {
	if err != nil {
		return err
	}
	switch ahead := ask.BannedFrom.After(d.Now.Add(petstore.ClockSlack)); {
	case ahead && d.Alone: // the ban stays, because it may be this clock that is wrong
	case d.BanNow && !a.CountOnly:
		d = a.ban(x, ask, d)
	case ahead:
		a.lift(x, ask.Subject)
	}
	x.tellLimits(d)
	if !x.unchecked {
		a.metrics.decided(d.Outcome)
		if d.Outcome != petstore.Allowed && !a.CountOnly {
			return refuse(x, d)
		}
	}
	if x.refusal != nil && x.needsKey() {
		return x.refusal
	}
	return nil
}

// peek tells the client what is left for its address, and counts nothing.
func (a *API) peek(x *exchange) error {
	d, err := a.Limiter.Take(x.r.Context(), petstore.Ask{Subject: a.subjectOf(x), Limits: petstore.AddressLimits, Peek: true})
	if err == nil {
		x.tellLimits(d)
	}
	return err
}

// tellLimits sets the three headers that tell the client what is left. Their values share one string, to save
// allocations.
func (x *exchange) tellLimits(d petstore.Decision) {
	var room [64]byte
	b := strconv.AppendInt(room[:0], d.Limit, 10)
	limit := len(b)
	b = strconv.AppendInt(b, d.Remaining, 10)
	remaining := len(b)
	text := string(strconv.AppendInt(b, unixUp(d.Reset), 10))
	x.set("X-RateLimit-Limit", text[:limit])
	x.set("X-RateLimit-Remaining", text[limit:remaining])
	x.set("X-RateLimit-Reset", text[remaining:])
}

// refuse returns the refusal of a request that is one too many.
func refuse(x *exchange, d petstore.Decision) error {
	x.retryAfter = max(1, int64(math.Ceil(d.RetryAfter.Seconds())))
	if d.Outcome == petstore.Banned {
		return refused(keyBanned, fmt.Sprintf("This API key is banned for a while because it kept asking after being refused. Ask again in %d seconds, and wait longer after each refusal.", x.retryAfter))
	}
	return refused(rateLimited, fmt.Sprintf("Too many requests: the limit is %d. Ask again in %d seconds.", d.Limit, x.retryAfter))
}

const banTimeout = 5 * time.Second

// ban stores the ban that the limiter asks for, even if the client hangs up, and returns the decision under the ban. If
// the ban cannot be stored, the decision stays as it was, and the limiter will ask again.
func (a *API) ban(x *exchange, ask petstore.Ask, d petstore.Decision) petstore.Decision {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), banTimeout)
	defer cancel()
	ban, err := a.Storage.BanOwner(ctx, ask.Subject, d.Now)
	if err != nil {
		a.Log.ErrorContext(ctx, "a ban could not be stored", "id", x.requestID, "owner", ask.Subject, "cause", err.Error())
		return d
	}
	a.metrics.bans.Inc()
	a.keys.ban(ask.Subject, ban)
	ask.BannedFrom, ask.BannedUntil = ban.Start, ban.Until
	banned, err := a.Limiter.Take(ctx, ask)
	if err != nil {
		return d
	}
	return banned
}

// lift ends a ban that a clock gave while it was ahead, so the ban begins in the future. Otherwise the ban would take
// effect when its start comes.
func (a *API) lift(x *exchange, owner string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), banTimeout)
	defer cancel()
	if err := a.Storage.UnbanOwner(ctx, owner); err != nil {
		a.Log.ErrorContext(ctx, "a ban that lies ahead of the clock could not be lifted", "id", x.requestID, "owner", owner, "cause", err.Error())
		return
	}
	a.keys.ban(owner, petstore.Ban{})
}

// unixUp is a time in whole Unix seconds, rounded up, so that a client that waits until then has waited long enough.
func unixUp(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}
