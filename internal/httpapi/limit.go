package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"petstore/internal/petstore"
)

// limited counts the request for the owner of its key, or for the client's address if it has no valid key. It sets the
// rate-limit headers and refuses a request beyond the limit. Then it refuses a request that needs a valid key and has
// none. OPTIONS is not counted. Neither is a request whose key the storage could not check; no limit refuses that request,
// because the client is not at fault.
func (a *API) limited(next handler) handler {
	return func(x *exchange) error {
		ask := a.askFor(x)
		if a.Distant != nil && x.keyError == nil && x.reads() {
			if wait := a.Distant.Begin(ask); wait != nil {
				return a.readAhead(x, ask, wait, next)
			}
		}
		d, err := a.decide(x, ask)
		if err := a.enforce(x, ask, d, err); err != nil {
			return err
		}
		return next(x)
	}
}

// decide returns the limiter's decision, which may already have been made before the key was looked up.
func (a *API) decide(x *exchange, ask petstore.Ask) (petstore.Decision, error) {
	if x.taken != nil {
		return *x.taken, nil
	}
	return a.Limiter.Take(x.r.Context(), ask)
}

// readAhead performs a read while the limiter decides. The answer is sent after the decision, or discarded if the
// limiter refuses the request.
func (a *API) readAhead(x *exchange, ask petstore.Ask, wait func() (petstore.Decision, error), next handler) (err error) {
	x.decision = func() error {
		d, err := wait()
		return a.enforce(x, ask, d, err)
	}
	defer func() { // even after a panic, because that answer has the rate-limit headers too
		if refusal := x.awaitDecision(); refusal != nil {
			err = refusal
		}
	}()
	return next(x)
}

// askFor returns what the limiter must know about the request. OPTIONS with a wrong key counts for the address all the same;
// otherwise anybody could guess keys without a limit.
func (a *API) askFor(x *exchange) petstore.Ask {
	free := x.r.Method == http.MethodOptions
	ask := petstore.Ask{Subject: x.key.Owner, Limits: x.key.Limits, BannedFrom: x.key.BannedFrom, BannedUntil: x.key.BannedUntil, Peek: free}
	if x.keyError != nil {
		ask = petstore.Ask{Subject: a.subjectOf(x), Limits: petstore.AddressLimits, Peek: x.keyUnchecked || free && !sentToken(x.r)}
	}
	if a.CountOnly {
		ask.BannedFrom, ask.BannedUntil = time.Time{}, time.Time{}
	}
	return ask
}

// enforce carries out a decision of the limiter. It sets the rate-limit headers, bans the owner if necessary, and
// refuses the request if it may not pass.
func (a *API) enforce(x *exchange, ask petstore.Ask, d petstore.Decision, err error) error {
	if err != nil {
		return err
	}
	switch futureDated := ask.BannedFrom.After(d.Now.Add(petstore.ClockSlack)); {
	case futureDated && d.Alone: // the ban stays, because the clock of this replica may be slow
	case d.BanNow && !a.CountOnly:
		d = a.ban(x, ask, d)
	case futureDated:
		a.liftBan(x, ask.Subject)
	}
	x.setLimitHeaders(d)
	if !x.keyUnchecked {
		a.metrics.countDecision(d.Outcome)
		if d.Outcome != petstore.Allowed && !a.CountOnly {
			return tooManyRequests(x, d)
		}
	}
	if x.keyError != nil && x.needsKey() {
		return x.keyError
	}
	return nil
}

// peek sets the rate-limit headers for the client's address without counting the request.
func (a *API) peek(x *exchange) error {
	d, err := a.Limiter.Take(x.r.Context(), petstore.Ask{Subject: a.subjectOf(x), Limits: petstore.AddressLimits, Peek: true})
	if err == nil {
		x.setLimitHeaders(d)
	}
	return err
}

// setLimitHeaders sets the three rate-limit headers. Their values share one string, to save allocations.
func (x *exchange) setLimitHeaders(d petstore.Decision) {
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

// tooManyRequests returns the refusal of a request beyond the limit or during a ban.
func tooManyRequests(x *exchange, d petstore.Decision) error {
	x.retryAfter = max(1, int64(math.Ceil(d.RetryAfter.Seconds())))
	if d.Outcome == petstore.Banned {
		return newRefusal(keyBanned, fmt.Sprintf("This API key is banned for a while because it kept asking after being refused. Ask again in %d seconds, and wait longer after each refusal.", x.retryAfter))
	}
	return newRefusal(rateLimited, fmt.Sprintf("Too many requests: the limit is %d. Ask again in %d seconds.", d.Limit, x.retryAfter))
}

const banTimeout = 5 * time.Second

// ban bans the owner, even if the client hangs up, and returns the limiter's decision under the ban. The limiter shares
// the ban with other replicas until the keys in their caches show it. If the ban cannot be stored, ban returns d unchanged.
// The limiter will ask for the ban again.
func (a *API) ban(x *exchange, ask petstore.Ask, d petstore.Decision) petstore.Decision {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), banTimeout)
	defer cancel()
	ban, err := a.Storage.BanOwner(ctx, ask.Subject, d.Now)
	if err != nil {
		a.Log.ErrorContext(ctx, "could not store a ban", "id", x.requestID, "owner", ask.Subject, "cause", err.Error())
		return d
	}
	a.metrics.bans.Inc()
	a.keys.ban(ask.Subject, ban)
	ask.BannedFrom, ask.BannedUntil, ask.ShareBan = ban.Start, ban.Until, keyTTL
	banned, err := a.Limiter.Take(ctx, ask)
	if err != nil {
		return d
	}
	return banned
}

// liftBan lifts a future-dated ban, recorded while a replica's clock was fast. Otherwise the ban would take effect at
// its start.
func (a *API) liftBan(x *exchange, owner string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), banTimeout)
	defer cancel()
	if _, _, err := a.Storage.UnbanKey(ctx, x.key.ID, petstore.ByOperator(x.start)); err != nil {
		a.Log.ErrorContext(ctx, "could not lift a future-dated ban", "id", x.requestID, "owner", owner, "cause", err.Error())
		return
	}
	a.keys.ban(owner, petstore.Ban{})
}

// unixUp returns a time in Unix seconds, rounded up, so that a client that waits until then has waited long enough.
func unixUp(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}
