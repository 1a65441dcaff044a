package model

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"petstore/internal/contract"
	"petstore/internal/petstore"
)

// got is an answer of the service.
type got struct {
	status int
	header http.Header
	body   string
	isHead bool
}

// code is the code of the Error, empty if the answer is not an Error.
func (g got) code() string {
	var e struct{ Code string }
	if g.status >= 400 {
		json.Unmarshal([]byte(g.body), &e)
	}
	return e.Code
}

func newLink(target string, at position) link {
	u, err := url.Parse(target)
	if err != nil {
		return link{target: target, at: at}
	}
	return link{target, u.Query().Get("cursor"), at}
}

// ask sends the request of a step.
func (q *sequence) ask(s step) {
	q.Helper()
	r := request{operation: s.name(), id: s.pick(2, ids), media: s.pick(6, medias), body: s.body(q.lines)}
	op := operations[r.operation]
	target := strings.Replace(op.path, "{}", r.id, 1)
	if strings.HasPrefix(r.operation, "list") {
		cursor := ""
		if n := int(s[6]) - 8; n >= 0 && len(q.links) > 0 {
			l := q.links[n%len(q.links)]
			cursor, r.from = l.cursor, &l.at
		}
		r.query = s.query(cursor)
		target += "?" + r.query
	}
	if key := idempotencyKeys[int(s[2])%len(idempotencyKeys)]; op.makes && key != "" {
		value := strings.TrimSpace(strings.ReplaceAll(key, "(empty)", ""))
		r.idempotencyKey = &value
	}
	q.send(s, r, target)
}

// follow asks for the next page as the link says.
func (q *sequence) follow(s step, l link) {
	q.Helper()
	_, query, _ := strings.Cut(l.target, "?")
	q.send(s, request{operation: l.at.operation, query: query, from: &l.at}, l.target)
}

// send sends a request with the step's key, and compares the answer with the model's and with the document.
func (q *sequence) send(s step, r request, target string) {
	q.Helper()
	q.sent++
	op := operations[r.operation]
	method := op.method
	if isHead := method == "GET" && s[1]&0x80 != 0; isHead {
		method = "HEAD"
	}
	k, secret := q.who(s)
	q.note("%s %s with key %d: %q %q", method, target, slices.Index(q.keys, k), r.media, r.body)
	want, limits := q.expected(k, r, op)
	answered := q.exchange(rawRequest(method, target, secret, r), r.operation)
	answered.isHead = method == "HEAD"
	name := method + " " + target
	q.compare(name, want, limits, answered)
	if strings.HasPrefix(r.operation, "list") && want.status == 200 {
		q.expectLink(name, want, answered.header)
	}
}

// strangers are secrets that belong to no key: an empty one, a malformed one, and a well-formed one.
var strangers = []string{"", "pets_live_nonsense", petstore.NewSecret(petstore.Production)}

// who returns the key of a step, or nil, and the secret to send.
func (q *sequence) who(s step) (*key, string) {
	n := int(s[1]&0x7f) % (len(q.keys) + len(strangers))
	if n < len(q.keys) {
		return q.keys[n], q.keys[n].secret
	}
	return nil, strangers[n-len(q.keys)]
}

// expected is the model's answer. It looks first at the key, then at its limits, then at what the key may do.
func (q *sequence) expected(k *key, r request, op *operation) (answer, verdict) {
	if !k.isUsable(q.now()) {
		v := q.limits.take("address", minutelyOfAddress, 0, q.now())
		if v.code != "" {
			return refused(429, v.code), v
		}
		return refused(401, "unauthorized"), v
	}
	v := q.limits.take(k.owner, k.minutely, k.daily, q.now())
	switch {
	case v.code != "":
		return refused(429, v.code), v
	case k.reads && op.method != "GET":
		return refused(403, "forbidden"), v
	}
	r.owner = k.owner
	return q.model.answer(r), v
}

// rawRequest is the request as it goes over a connection.
func rawRequest(method, target, secret string, r request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: petstore.test\r\n", method, target)
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

// described remembers the kinds of exchanges that were compared with the document. Each kind is compared once, because
// kin-openapi is slow and the model has compared the values already.
var described = make(map[string]bool)

// maxDescribed bounds the memory of a fuzzer that runs for days.
const maxDescribed = 1 << 16

// exchange sends a request to the service, and checks what every answer must have.
func (q *sequence) exchange(raw, operation string) got {
	q.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		q.Fatalf("%v in %q", err, raw)
	}
	method := r.Method
	r.RemoteAddr = "203.0.113.5:4711"
	w := httptest.NewRecorder()
	q.api.ServeHTTP(w, r)
	var head strings.Builder
	w.Header().Write(&head)
	a := contract.Answer{Raw: "\r\n" + head.String() + "\r\n" + w.Body.String(), Status: w.Code, Header: make(http.Header), Body: w.Body.String()}
	for name, values := range w.Header() {
		a.Header[http.CanonicalHeaderKey(name)] = values
	}
	if a.Status == http.StatusInternalServerError {
		q.fail("the service breaks: %s", a.Raw)
	}
	if err := contract.CheckEvery(r, a); err != nil {
		q.fail("%v", err)
	}
	if kind := method + " " + operation + kindOf(a); !described[kind] {
		if err := contract.Check(raw, a); err != nil {
			q.fail("%v", err)
		}
		if len(described) >= maxDescribed {
			clear(described)
		}
		described[kind] = true
	}
	return got{status: w.Code, header: w.Header(), body: w.Body.String()}
}

// kindOf is what answers of one kind have in common: status, headers and items, without their numbers.
func kindOf(a contract.Answer) string {
	items := strings.Split(strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, a.Body), "},{")
	slices.Sort(items)
	return fmt.Sprint(a.Status, slices.Sorted(maps.Keys(a.Header)), slices.Compact(items))
}
