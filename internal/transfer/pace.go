package transfer

import (
	"context"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// untilTomorrow lets a call wait for the next day if the daily limit is used up.
var untilTomorrow = client.WithRetries(4, 25*time.Hour)

// pace says how long a transfer takes at least, given the limits of the key per minute and per day. It is not safe for
// concurrent use.
type pace struct {
	store  *client.Client
	limits petstore.Limits
	total  int64        // the number of requests that the transfer needs
	sent   func() int64 // the number of requests sent so far

	day        time.Time // the UTC day of the last call of timeLeft
	sentBefore int64     // the number of requests sent before that day
}

// keyLimits returns the limits of the client's key. A limit of 0 is unknown. The function sends a request, because only
// answers contain limits.
func keyLimits(ctx context.Context, store *client.Client) (petstore.Limits, error) {
	var meta client.Meta
	_, err := store.GetInventory(ctx, client.WithMeta(&meta))
	return limitsOf(meta.Limits, time.Now()), err
}

// limitsOf returns the limits of the published plan that matches the limits in an answer. If no published plan matches,
// limitsOf returns only the limit in the answer.
func limitsOf(seen client.Limits, now time.Time) petstore.Limits {
	named := petstore.Limits{PerMinute: seen.Limit}
	if isOfDay(seen, now) {
		named = petstore.Limits{PerDay: seen.Limit}
	}
	for _, plan := range []petstore.Plan{petstore.Free, petstore.Pro, petstore.Business} {
		published, _ := plan.Limits(0, 0)
		if named.PerMinute == published.PerMinute || named.PerDay == published.PerDay {
			return published
		}
	}
	return named
}

// isOfDay reports whether an answer describes the limit of the day, not that of the minute.
func isOfDay(seen client.Limits, now time.Time) bool {
	return seen.Reset.Unix()%86_400 == 0 && seen.Reset.Sub(now) > time.Minute
}

// leftOf returns how many requests are left in the current minute and in the current day. It computes them from the last
// answer and the number of requests that were sent today.
func leftOf(limits petstore.Limits, seen client.Limits, sentToday int64, now time.Time) petstore.Limits {
	left := petstore.Limits{PerMinute: limits.PerMinute, PerDay: max(0, limits.PerDay-sentToday)}
	switch {
	case !now.Before(seen.Reset):
	case isOfDay(seen, now):
		left.PerDay = seen.Remaining
	default:
		left.PerMinute = seen.Remaining
	}
	return left
}

// timeLeft returns how long the rest of the transfer takes at least.
func (p *pace) timeLeft(now time.Time) time.Duration {
	sent := p.sent()
	if today := now.UTC().Truncate(24 * time.Hour); !today.Equal(p.day) {
		p.day, p.sentBefore = today, sent
	}
	return timeLeft(p.total-sent, p.limits, leftOf(p.limits, p.store.Limits(), sent-p.sentBefore, now), now)
}

// announce prints how long the transfer takes, if that is more than an hour. The text what names the transfer, such as
// "Adding 3,000 lines". The text stopped says what happens if the person stops the transfer.
func (p *pace) announce(con *terminal.Console, what, stopped string) {
	if wait := p.timeLeft(time.Now()); wait > time.Hour {
		con.Say("%s takes about %s, because this key may send only %s. %s", what, terminal.Rough(wait), describe(p.limits), stopped)
	}
}

// describe names the known limits.
func describe(l petstore.Limits) string {
	minute, day := terminal.Plural(l.PerMinute, "request")+" per minute", terminal.WithCommas(l.PerDay)+" per day"
	switch {
	case l.PerDay == 0:
		return minute
	case l.PerMinute == 0:
		return terminal.Plural(l.PerDay, "request") + " per day"
	}
	return minute + " and " + day
}

// maxTimeLeft is the longest time that timeLeft returns.
const maxTimeLeft = 100 * 365 * 24 * time.Hour

// timeLeft returns the time from now until the last of the requests may be sent. The windows of the limits are the UTC
// minute and the UTC day. The argument left says how many requests are left in the current windows. A limit of 0 is unknown
// and does not count.
func timeLeft(requests int64, limits, left petstore.Limits, now time.Time) time.Duration {
	if limits.PerMinute == 0 {
		limits.PerMinute, left.PerMinute = requests, requests
	}
	if limits.PerDay == 0 {
		limits.PerDay, left.PerDay = requests, requests
	}
	perMinute := min(limits.PerMinute, max(1, requests)) // a higher limit makes no difference and might overflow
	minute := now.UTC().Truncate(time.Minute)
	midnight := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	minutesLeft := int64(midnight.Sub(minute)/time.Minute) - 1

	today := min(left.PerDay, left.PerMinute+minutesLeft*perMinute)
	switch {
	case requests <= min(left.PerMinute, left.PerDay):
		return 0
	case requests <= today:
		return minute.Add(time.Duration(1+(requests-left.PerMinute-1)/perMinute) * time.Minute).Sub(now)
	}
	requests -= today
	perDay := min(limits.PerDay, 24*60*perMinute)
	days := (requests - 1) / perDay
	if days > int64(maxTimeLeft/(24*time.Hour)) {
		return maxTimeLeft
	}
	last := midnight.Add(time.Duration(days) * 24 * time.Hour).Add(time.Duration((requests-1-days*perDay)/perMinute) * time.Minute)
	return last.Sub(now)
}
