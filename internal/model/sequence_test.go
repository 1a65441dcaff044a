package model

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/internal/contract"
	"petstore/internal/petstore"
)

// maxSteps and maxRequests limit the length of a sequence.
const (
	maxSteps    = 48
	maxRequests = 128
)

// FuzzSequence runs a script on the whole API and on the model. The model must allow every answer. A step of the script
// takes eight bytes. The lines of raw are request bodies that the fuzzer makes up.
func FuzzSequence(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed.script(), seed.raw)
	}
	f.Fuzz(func(t *testing.T, script []byte, raw string) {
		q := &sequence{T: t, model: New(noon), keys: newKeys(), followers: newFollowers(), lines: strings.Split(raw, "\n")}
		q.service = serve(t, slices.Concat(q.keys, q.followers))
		for n := 0; n < maxSteps && q.sent < maxRequests && len(script) >= len(step{}); n++ {
			q.do(step(script))
			script = script[len(step{}):]
		}
		for _, k := range q.followers {
			q.listEvents(k, url.Values{"limit": {"1000"}})
		}
	})
}

// sequence is a run of one script.
type sequence struct {
	*testing.T
	*service
	model     State
	keys      []*key
	followers []*key // read the feed; the script does not change them
	lines     []string
	links     []link
	sent      int
	log       []string // what happened so far
}

// link is the path of a next page, and the name of the list that returned the path.
type link struct{ list, path string }

// do executes one step.
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
		for _, o := range slices.SortedStableFunc(slices.Values(q.model.Orders), func(a, b Order) int { return cmp.Compare(a.latest, b.latest) }) {
			q.model = q.model.counted(&Operation{Exchange: Exchange{Called: q.time(), Returned: q.time()}}, o.ID)[0]
		}
	case "revokeKey":
		q.operate(name, k, func() error {
			_, _, err := q.db.RevokeKey(q.Context(), k.id, petstore.ByOperator(q.now()))
			return err
		})
		k.isRevoked = true
	case "changeAccess":
		if k.isRevoked {
			return
		}
		access := petstore.ReadOnly
		if k.isReadOnly {
			access = petstore.ReadWrite
		}
		q.operate(name, k, func() error {
			_, _, err := q.db.UpdateKey(q.Context(), k.id, petstore.KeyChange{Access: &access}, petstore.ByOperator(q.now()))
			return err
		})
		k.isReadOnly = !k.isReadOnly
	case "restart":
		q.note("%s", name)
		q.service.restart()
	case "followLink":
		if len(q.links) > 0 {
			l := q.links[int(s[3])%len(q.links)]
			_, query, _ := strings.Cut(l.path, "?")
			q.send(s, request{name: l.list, query: query, cursorOf: l.list})
		}
	case "listEvents":
		q.listEvents(q.followers[int(s[1])%len(q.followers)], s.eventsQuery(len(q.model.Events)))
	default:
		q.ask(s)
	}
}

// durations are the lengths of time that a script can let pass.
var durations = []time.Duration{
	time.Second, time.Millisecond, time.Minute, time.Hour, 24 * time.Hour, 24*time.Hour - time.Millisecond, 59 * time.Second,
	72 * time.Hour, 30 * 24 * time.Hour, 4 * 365 * 24 * time.Hour,
}

func (q *sequence) pass(d time.Duration) {
	q.note("%s passes", d)
	q.clock.Add(d.Milliseconds())
}

// time returns the time since the sequence began.
func (q *sequence) time() time.Duration { return q.now().Sub(noon) }

// operate changes a key as an operator does. Then it lets five seconds pass, the time in which every replica learns of the
// change.
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

// fail fails the test. It reports what is wrong, and everything that happened before.
func (q *sequence) fail(format string, args ...any) {
	q.Helper()
	q.Fatalf("%s\nafter\n%s", fmt.Sprintf(format, args...), strings.Join(q.log, "\n"))
}

// ask sends the request of a step.
func (q *sequence) ask(s step) {
	q.Helper()
	r := request{name: s.name(), id: ids[int(s[2]&0xf)%len(ids)], media: s.pick(6, contentTypes), body: s.body(q.lines)}
	if strings.HasPrefix(r.name, "list") {
		cursor := ""
		if n := int(s[6]) - 8; n >= 0 && len(q.links) > 0 {
			l := q.links[n%len(q.links)]
			target, _ := url.Parse(l.path)
			cursor, r.cursorOf = target.Query().Get("cursor"), l.list
		}
		r.query = s.query(cursor)
	}
	if key := idempotencyKeys[int(s[2]>>4)%len(idempotencyKeys)]; key != "" {
		value := strings.TrimSpace(strings.ReplaceAll(key, "(empty)", ""))
		r.idempotencyKey = &value
	}
	q.send(s, r)
}

// send sends a request with the key of the step, and compares the answer with the model. It sends some requests as HEAD
// first. The answer to HEAD must have the length of the answer to GET.
func (q *sequence) send(s step, r request) {
	q.Helper()
	var head *httptest.ResponseRecorder
	if operations[r.name].method == "GET" && s[1]&0x80 != 0 {
		head, _ = q.exchange(s, r, "HEAD")
	}
	got, k := q.exchange(s, r, operations[r.name].method)
	if head != nil && got.Code == 200 && (head.Header().Get("Content-Length") != strconv.Itoa(got.Body.Len()) || head.Body.Len() > 0) {
		q.fail("HEAD says that the body has %s bytes, and GET shows %d", head.Header().Get("Content-Length"), got.Body.Len())
	}
	if k == nil {
		return
	}
	e := Exchange{Key: k.owner, Method: operations[r.name].method, Path: strings.Replace(r.target(), "%31", "1", 1), Body: []byte(r.body)}
	e.Called, e.Returned = q.time(), q.time()
	e.Status, e.Answer, e.Header = got.Code, got.Body.Bytes(), make(http.Header)
	for name, values := range got.Header() {
		e.Header[http.CanonicalHeaderKey(name)] = values
	}
	if r.idempotencyKey != nil {
		e.IdempotencyKey = *r.idempotencyKey
	}
	op, ok := Parse(e)
	if !ok || !op.InOrder() || !op.isExact() {
		q.fail("no correct store answers\n%v", e)
	}
	next := q.model.Step(op)
	if len(next) != 1 {
		q.fail("the store answers\n%v\nwhich is not right for\n%+v", e, q.model)
	}
	q.model = next[0]
	if path := NextPage(e.Header); path != "" {
		q.links = append(q.links, link{r.name, path})
	}
}

func (r request) target() string {
	target := strings.Replace(operations[r.name].path, "{}", r.id, 1)
	if r.query != "" {
		target += "?" + r.query
	}
	return target
}

// isExact reports whether the body is byte for byte what encoding/json writes for the rows, and whether the headers fit the
// answer.
func (op *Operation) isExact() bool {
	location := ""
	if op.Status == http.StatusCreated {
		location = fmt.Sprintf("/v1/%s/%d", op.Noun, op.ID)
	}
	shown := map[string]any{"pets": op.Pets, "orders": op.Orders, "categories": op.Categories, "inventory": op.Inventory}[op.Noun]
	text, _ := json.Marshal(shown)
	if !op.Lists() {
		text = bytes.Trim(text, "[]")
	}
	if op.Status == http.StatusNoContent || op.Code != "" {
		text = op.Answer
	}
	return op.Header.Get("Location") == location && (op.UsesIdempotencyKey() || !op.Replayed) && bytes.Equal(op.Answer, text)
}

// exchange sends a request to the service, and checks what every answer must have. If the service must refuse the request
// whatever the store holds, exchange checks the refusal and returns no key.
func (q *sequence) exchange(s step, r request, method string) (*httptest.ResponseRecorder, *key) {
	q.Helper()
	q.sent++
	k, secret := (*key)(nil), ""
	if n := int(s[1]&0x7f) % (len(q.keys) + len(strangers)); n < len(q.keys) {
		k, secret = q.keys[n], q.keys[n].secret
	} else {
		secret = strangers[n-len(q.keys)]
	}
	q.note("%s %s with key %d: %q %q", method, r.target(), slices.Index(q.keys, k), r.media, r.body)
	w := q.answer(r.raw(method, secret))
	want := r.refusal(k, method, q.now())
	if want.code == "" {
		return w, k
	}
	var refused struct{ Code string }
	json.Unmarshal(w.Body.Bytes(), &refused)
	if w.Code != want.status || method != "HEAD" && refused.Code != want.code {
		q.fail("the answer is %d %s, want %v", w.Code, w.Body, want)
	}
	return w, nil
}

// answer sends a request to the service, and checks that the OpenAPI document describes the answer.
func (q *sequence) answer(raw string) *httptest.ResponseRecorder {
	q.Helper()
	parsed, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		q.Fatalf("%v in %q", err, raw)
	}
	parsed.RemoteAddr = "203.0.113.5:4711"
	w := httptest.NewRecorder()
	q.api.ServeHTTP(w, parsed)
	q.describe(raw, w)
	return w
}

// raw returns the request as bytes on a connection.
func (r request) raw(method, secret string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: petstore.test\r\n", method, r.target())
	if secret != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", secret)
	}
	if r.media != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", r.media)
	}
	if r.idempotencyKey != nil {
		fmt.Fprintf(&b, "Idempotency-Key: %s\r\n", *r.idempotencyKey)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(r.body), r.body)
	return b.String()
}

// describe checks that the OpenAPI document describes the exchange.
func (q *sequence) describe(raw string, w *httptest.ResponseRecorder) {
	q.Helper()
	var head strings.Builder
	w.Header().Write(&head)
	a := contract.Answer{Raw: "\r\n" + head.String() + "\r\n" + w.Body.String(), Status: w.Code, Header: make(http.Header), Body: w.Body.String()}
	for name, values := range w.Header() {
		a.Header[http.CanonicalHeaderKey(name)] = values
	}
	if a.Status == http.StatusInternalServerError {
		q.fail("the service breaks: %s", a.Raw)
	}
	if err := contract.Check(raw, a); err != nil {
		q.fail("%v", err)
	}
}
