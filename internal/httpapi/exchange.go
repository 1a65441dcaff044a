package httpapi

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"petstore/internal/petstore"
)

// exchange is one request and its answer on their way through the chain. It is the http.ResponseWriter of the pages.
type exchange struct {
	w     http.ResponseWriter
	adder headerAdder // w, or nil if it is none
	r     *http.Request
	start time.Time
	path  string // as it was sent, with its escapes

	requestID string
	traceID   string    // empty unless the request is traced
	resource  *resource // nil for a path that is not in the route table
	parameter string
	id        int64         // the value of the parameter
	operation *operation    // nil for a method that the resource does not have
	key       *petstore.Key // shared with other requests; an empty key if none was recognized
	refusal   error         // why there is no valid key
	unchecked bool          // the storage could not say whether the key is valid
	versioned bool          // the path is under /v1
	decide    func() error  // waits for the limiter's decision, which may refuse the request; nil if it has come
	refused   error         // the refusal, if decide has returned one
	address   string
	body      []byte
	held      int64 // the bytes of the budget that the body has taken
	wanted    bool  // the body was asked for, so that a client that expects 100 Continue sends it

	retryAfter int64 // in how many seconds the client may ask again, if the request is one too many

	// made is the answer that is still to be sent, if madeStatus is not zero.
	made       answer
	madeStatus int

	status int // the status that was sent; zero until then
	size   int
	cut    bool  // the answer broke off
	cause  error // for the log
}

// headerAdder is an http.ResponseWriter that takes headers in a cheaper way than by a map.
type headerAdder interface{ AddHeader(name, value string) }

// answer is an encoded body with the Link that goes with it, if any.
type answer struct{ body, link string }

var nobodys petstore.Key

func newExchange(w http.ResponseWriter, r *http.Request, now time.Time) *exchange {
	adder, _ := w.(headerAdder)
	return &exchange{w: w, adder: adder, r: r, start: now, path: r.URL.EscapedPath(), key: &nobodys}
}

// Header is the header of the answer.
func (x *exchange) Header() http.Header { return x.w.Header() }

// WriteHeader notes the status and sends it.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.w.WriteHeader(status)
}

// Write notes the size and sends the bytes.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.w.Write(b)
	x.size += n
	return n, err
}

// set gives the answer a header that it does not have yet. The name is sent exactly as it is spelled.
func (x *exchange) set(name, value string) {
	if x.adder != nil {
		x.adder.AddHeader(name, value)
	} else {
		x.w.Header()[name] = []string{value}
	}
}

// measured is the size up to which net/http adds the Content-Length of a body by itself. That is cheaper than setting
// the header.
const measured = 2 << 10

// respond makes the answer from an encoded JSON body. The answer is sent when the work for the request is done.
func (x *exchange) respond(status int, body string) error {
	x.made, x.madeStatus = answer{body: body}, status
	return nil
}

// respondWith makes the answer. Other requests may get the same one.
func (x *exchange) respondWith(a answer) error {
	x.made, x.madeStatus = a, http.StatusOK
	return nil
}

// send sends the answer that was made, if any. It may wait for the client, so the request must hold nothing that others
// wait for. A failed write means that the client is gone.
func (x *exchange) send() {
	if x.madeStatus == 0 {
		return
	}
	if x.made.link != "" {
		x.set("Link", x.made.link)
	}
	if len(x.made.body) > measured || x.r.Method == http.MethodHead {
		x.set("Content-Length", strconv.Itoa(len(x.made.body)))
	}
	x.set("Content-Type", "application/json")
	x.WriteHeader(x.madeStatus)
	if x.r.Method != http.MethodHead {
		n, err := io.WriteString(x.w, x.made.body)
		x.size += n
		x.cut = err != nil
	}
}

// respondEmpty answers that the work is done, without a body.
func (x *exchange) respondEmpty() error {
	x.WriteHeader(http.StatusNoContent)
	return nil
}

// cleared returns nil if the limiter has let the request pass, and otherwise the refusal. It waits for the decision.
func (x *exchange) cleared() error {
	if decide := x.decide; decide != nil {
		x.decide = nil
		x.refused = decide()
	}
	return x.refused
}

// needsKey reports whether the request needs a valid key: everything under /v1 does, except an open operation.
func (x *exchange) needsKey() bool {
	return x.versioned && (x.operation == nil || !x.operation.open)
}

// reads reports whether the request only reads, so that its answer can be thrown away as if nothing had happened.
func (x *exchange) reads() bool {
	return x.operation != nil && x.operation.method == http.MethodGet
}

// toldMethod is the method for logs and traces, without a key that a client may have put there.
func (x *exchange) toldMethod() string { return petstore.Redact(x.r.Method) }

// toldPath is the path for logs and traces, as it was sent, but without a key that a client may have put there.
func (x *exchange) toldPath() string {
	plain := plainPath(x.path)
	if told := petstore.Redact(plain); told != plain {
		return told
	}
	return x.path
}

// The routes of requests that are for no operation.
const (
	pageRoute   = "page"
	otherMethod = "other_method"
	unknownPath = "unknown"
)

// route is the name of the request in logs and metrics. The number of names is bounded.
func (x *exchange) route() string {
	switch {
	case x.operation != nil:
		return x.operation.name
	case x.resource != nil:
		return otherMethod
	}
	return unknownPath
}
