package model

import (
	"time"
)

// key is an API key as its holder knows it.
type key struct {
	secret   string
	owner    string
	reads    bool      // may read but not write
	expires  time.Time // zero for never
	revoked  bool
	minutely int64 // how many requests per minute all keys of the owner may send
	daily    int64
}

func (k *key) isUsable(now time.Time) bool {
	return k != nil && !k.revoked && (k.expires.IsZero() || now.Before(k.expires))
}

// minutelyOfAddress is how many requests without a valid key an address may send in a minute.
const minutelyOfAddress = 1000

// limits is what the service should remember about owners and addresses.
type limits struct {
	counts map[string]*count
	bans   map[string]ban
}

// count counts the requests of one UTC minute and its day.
type count struct {
	minute, day   time.Time
	passed, today int64
	rejected      int64 // rejected requests in the minute
}

// ban is an owner's latest ban, and how many bans have followed each other.
type ban struct {
	from, until time.Time
	streak      int
}

// verdict says whether the limits let a request pass, and what its answer says about them.
type verdict struct {
	code       string // the code of the refusal, empty if there is none
	limit      int64
	remaining  int64
	reset      time.Time
	retryAfter int64 // in seconds, 0 for none
}

func newLimits() *limits { return &limits{counts: map[string]*count{}, bans: map[string]ban{}} }

// forget does what a restart does: counts are gone, bans stay.
func (l *limits) forget() { l.counts = map[string]*count{} }

// take counts a request. A daily limit of 0 means that there is none.
func (l *limits) take(subject string, minutely, daily int64, now time.Time) verdict {
	c := l.count(subject, now)
	if l.bans[subject].holds(now) {
		return l.banned(subject, minutely, daily, now)
	}
	if c.passed < minutely && (daily == 0 || c.today < daily) {
		c.passed++
		c.today++
		return c.tell(minutely, daily)
	}
	c.rejected++
	if daily > 0 && c.rejected%max(30, minutely) == 0 {
		l.bans[subject] = l.bans[subject].next(now)
		return l.banned(subject, minutely, daily, now)
	}
	v := c.tell(minutely, daily)
	return v.refuse("rate_limited", now)
}

// count is the subject's count in this minute and on this day.
func (l *limits) count(subject string, now time.Time) *count {
	minute, day := now.Truncate(time.Minute), now.Truncate(24*time.Hour)
	c := l.counts[subject]
	if c == nil {
		c = new(count)
		l.counts[subject] = c
	}
	if !c.minute.Equal(minute) {
		c.minute, c.passed, c.rejected = minute, 0, 0
	}
	if !c.day.Equal(day) {
		c.day, c.today = day, 0
	}
	return c
}

// tell shows the window with fewer requests left, or the day if both have the same number left.
func (c *count) tell(minutely, daily int64) verdict {
	v := verdict{limit: minutely, remaining: minutely - c.passed, reset: c.minute.Add(time.Minute)}
	if daily > 0 && daily-c.today <= v.remaining {
		v = verdict{limit: daily, remaining: daily - c.today, reset: c.day.Add(24 * time.Hour)}
	}
	return v
}

// banned refuses a request until the ban and every exhausted window are over.
func (l *limits) banned(subject string, minutely, daily int64, now time.Time) verdict {
	v := l.count(subject, now).tell(minutely, daily)
	if until := l.bans[subject].until; v.remaining > 0 || !v.reset.After(until) {
		v = verdict{limit: minutely, reset: until}
	}
	return v.refuse("key_banned", now)
}

func (v verdict) refuse(code string, now time.Time) verdict {
	v.code = code
	v.retryAfter = max(1, int64((v.reset.Sub(now)+time.Second-1)/time.Second))
	return v
}

func (b ban) holds(now time.Time) bool { return now.Before(b.until) }

// next is the next ban. It takes a minute, or twice as long as the ban before if that began within a day, and at most an
// hour.
func (b ban) next(now time.Time) ban {
	fresh := ban{from: now, streak: 1}
	if b.streak > 0 && now.Sub(b.from) < 24*time.Hour {
		fresh.streak = b.streak + 1
	}
	length := time.Minute
	for range fresh.streak - 1 {
		length = min(2*length, time.Hour)
	}
	fresh.until = now.Add(length)
	return fresh
}
