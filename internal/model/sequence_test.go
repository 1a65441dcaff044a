package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// maxSteps and maxRequests bound a sequence.
const (
	maxSteps    = 48
	maxRequests = 128
)

// FuzzSequence runs a script on the whole API and on the model. Both must give the same answers. A step of the script takes
// eight bytes; the lines of raw are bodies that the fuzzer makes up.
func FuzzSequence(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed.script(), seed.raw)
	}
	keys := newKeys()
	s := open(f, keys)
	f.Fuzz(func(t *testing.T, script []byte, raw string) {
		s.reset(t)
		q := &sequence{T: t, service: s, model: newStore(noon), limits: newLimits(), lines: strings.Split(raw, "\n")}
		for _, k := range keys {
			own := *k
			q.keys = append(q.keys, &own)
		}
		for n := 0; n < maxSteps && q.sent < maxRequests && len(script) >= len(step{}); n++ {
			q.do(step(script))
			script = script[len(step{}):]
		}
	})
}

// newKeys makes the keys that exist when a sequence begins.
func newKeys() []*key {
	const wide = 1_000_000
	secret := func() string { return petstore.NewSecret(petstore.Production) }
	return []*key{
		{secret: secret(), owner: "keeper", minutely: wide, daily: wide},
		{secret: secret(), owner: "keeper", minutely: wide, daily: wide, reads: true},
		{secret: secret(), owner: "other", minutely: wide, daily: 10 * wide},
		{secret: secret(), owner: "small", minutely: 4, daily: 10},
		{secret: secret(), owner: "small", minutely: 4, daily: 10, reads: true},
		{secret: secret(), owner: "brief", minutely: 60, daily: 1000, expires: noon.Add(time.Hour)},
	}
}

// sequence is a run of one script.
type sequence struct {
	*testing.T
	*service
	model  *store
	limits *limits
	keys   []*key
	lines  []string
	links  []link
	sent   int
	log    []string // what happened so far
}

// link is a link to a next page, as an answer gave it, and where that page begins.
type link struct {
	target string
	cursor string
	at     position
}

// do makes one step.
func (q *sequence) do(s step) {
	q.Helper()
	k := q.keys[int(s[2])%len(q.keys)]
	switch name := s.name(); name {
	case "passTime":
		q.pass(durations[int(s[1])%len(durations)])
	case "expireOrders":
		q.note("%s", name)
		if _, err := q.db.ExpireOrders(q.Context()); err != nil {
			q.Fatal(err)
		}
		if _, err := q.db.PurgeIdempotency(q.Context(), q.now().Add(-petstore.IdempotencyKept)); err != nil {
			q.Fatal(err)
		}
		q.model.expire()
	case "revokeKey":
		q.operate(name, k, func() error { return q.db.RevokeKey(q.Context(), q.ids[k.secret], q.now()) })
		k.revoked = true
	case "changeAccess":
		if k.revoked {
			return
		}
		access := petstore.ReadOnly
		if k.reads {
			access = petstore.ReadWrite
		}
		q.operate(name, k, func() error {
			_, err := q.db.UpdateKey(q.Context(), q.ids[k.secret], petstore.KeyChange{Access: &access}, q.now())
			return err
		})
		k.reads = !k.reads
	case "unban":
		q.operate(name, k, func() error { return q.db.UnbanOwner(q.Context(), k.owner) })
		delete(q.limits.bans, k.owner)
	case "restart":
		q.note("%s", name)
		q.service.restart()
		q.limits.forget()
	case "knock":
		for range 32 {
			q.ask(step{5, s[1]})
		}
	case "followLink":
		if len(q.links) > 0 {
			q.follow(s, q.links[int(s[3])%len(q.links)])
		}
	default:
		q.ask(s)
	}
}

// durations are the pauses in which nothing happens.
var durations = []time.Duration{
	time.Second, time.Millisecond, time.Minute, time.Hour, 24 * time.Hour, 24*time.Hour - time.Millisecond, 59 * time.Second,
	72 * time.Hour, 30 * 24 * time.Hour, 4 * 365 * 24 * time.Hour,
}

func (q *sequence) pass(d time.Duration) {
	q.note("%s passes", d)
	q.clock.Add(d.Milliseconds())
	q.model.now = q.now()
}

// operate changes a key like an operator does, and then lets the five seconds pass within which every replica knows it.
func (q *sequence) operate(what string, k *key, work func() error) {
	q.Helper()
	q.note("%s of %s", what, k.owner)
	if err := work(); err != nil {
		q.Fatal(err)
	}
	q.pass(5 * time.Second)
}

func (q *sequence) note(format string, args ...any) {
	q.log = append(q.log, fmt.Sprintf(format, args...))
}

// fail reports a difference and everything that happened before it.
func (q *sequence) fail(format string, args ...any) {
	q.Helper()
	q.Fatalf("%s\nafter\n%s", fmt.Sprintf(format, args...), strings.Join(q.log, "\n"))
}

// compare fails the test unless the answer is the one of the model.
func (q *sequence) compare(name string, want answer, limits verdict, got got) {
	q.Helper()
	if got.status != want.status || !got.isHead && got.code() != want.code {
		q.fail("%s is answered %d %s, want %d %s", name, got.status, got.body, want.status, want.code)
	}
	headers := map[string]string{
		"X-RateLimit-Limit":     strconv.FormatInt(limits.limit, 10),
		"X-RateLimit-Remaining": strconv.FormatInt(limits.remaining, 10),
		"X-RateLimit-Reset":     strconv.FormatInt((limits.reset.UnixMilli()+999)/1000, 10),
		"Location":              want.location,
		"Retry-After":           "",
		"Idempotency-Replayed":  "",
	}
	if limits.retryAfter > 0 {
		headers["Retry-After"] = strconv.FormatInt(limits.retryAfter, 10)
	}
	if want.replayed {
		headers["Idempotency-Replayed"] = "true"
	}
	for header, value := range headers {
		if is := strings.Join(got.header[header], "|"); is != value {
			q.fail("%s is answered with %s %q, want %q", name, header, is, value)
		}
	}
	if want.code != "" {
		return
	}
	var body []byte
	if want.body != nil {
		body, _ = json.Marshal(want.body)
	}
	if got.isHead {
		if length := got.header.Get("Content-Length"); length != strconv.Itoa(len(body)) || got.body != "" {
			q.fail("HEAD of %s says that the body has %s bytes, want %d", name, length, len(body))
		}
	} else if !bytes.Equal([]byte(got.body), body) {
		q.fail("%s is answered\n%s\nwant\n%s", name, got.body, body)
	}
}

// expectLink checks whether there is a link to the next page, and keeps it.
func (q *sequence) expectLink(name string, want answer, header http.Header) {
	q.Helper()
	target, found := strings.CutSuffix(strings.Join(header["Link"], "|"), `>; rel="next"`)
	if found != (want.next != nil) {
		q.fail("%s is answered with Link %q; want one: %v", name, header["Link"], want.next != nil)
	}
	if found {
		q.links = append(q.links, newLink(strings.TrimPrefix(target, "<"), *want.next))
	}
}
