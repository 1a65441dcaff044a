package httpapi

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"petstore/internal/petstore"
)

// exchange is a request and its answer. Every step of the chain gets the exchange. Handlers of web pages use it as an
// http.ResponseWriter.
type exchange struct {
	w     http.ResponseWriter
	adder headerAdder // the same as w, or nil if w does not implement headerAdder
	r     *http.Request
	start time.Time
	path  string // the path as the client sent it, with its escapes

	requestID     string
	traceID       string              // empty if the request is not traced
	resource      *resource           // nil if the path is not in the route table
	parameters    pathValues          // the parameters in the path, such as {petId}
	id            int64               // the first parameter as a number
	photoID       int64               // the second parameter as a number
	operation     *operation          // nil if the resource does not have the method
	key           *petstore.Key       // an empty Key if the request has no valid key; shared with other requests
	keyHash       petstore.SecretHash // of the key, if it is valid
	keyError      error               // the refusal of the key; nil if the key is valid
	keyUnchecked  bool                // whether the storage failed to say if the key is valid
	taken         *petstore.Decision  // the decision for the address before the key was looked up; nil if there was none
	versioned     bool                // whether the path is under /v1
	decision      func() error        // waits for the limiter's decision; nil once the decision is known
	limitError    error               // the refusal by the limiter; nil if the request may pass
	address       string
	body          []byte
	idempotency   *petstore.Idempotency // nil if the request has no Idempotency-Key
	bodyTaken     int64                 // the bytes that the body has taken from the budget
	uploading     bool                  // whether the body is one of its owner's uploads
	bodyRequested bool                  // whether a read of the body has begun, which sends 100 Continue to the client

	retryAfter int64 // the seconds until the client may try again, if the limiter refused the request

	// prepared is the answer that send sends, unless preparedStatus is zero.
	prepared       answer
	preparedStatus int
	stream         *eventStream // sent instead, if it is not nil

	status int   // the status that was sent; zero before
	size   int   // the number of body bytes that were sent
	cut    bool  // whether the answer was cut short
	cause  error // the error for the log
}

// headerAdder is an http.ResponseWriter with a cheaper way to set headers than a map.
type headerAdder interface{ AddHeader(name, value string) }

// answer is an encoded body and the value of the Link header, which may be empty.
type answer struct {
	body, link string
	feedEnd    bool // whether the body reaches the end of the feed of events
}

var noKey petstore.Key

func newExchange(w http.ResponseWriter, r *http.Request, now time.Time) *exchange {
	adder, _ := w.(headerAdder)
	return &exchange{w: w, adder: adder, r: r, start: now, path: r.URL.EscapedPath(), key: &noKey}
}

// Header returns the header of the answer.
func (x *exchange) Header() http.Header { return x.w.Header() }

// WriteHeader sends the status and remembers it.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.w.WriteHeader(status)
}

// Write sends bytes and counts them.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.w.Write(b)
	x.size += n
	return n, err
}

// set sets a header that the answer does not have yet. The client gets the name exactly as given.
func (x *exchange) set(name, value string) {
	if x.adder != nil {
		x.adder.AddHeader(name, value)
	} else {
		x.w.Header()[name] = []string{value}
	}
}

// autoLength is the size up to which net/http itself adds the Content-Length of a body. That is cheaper than setting the
// header here.
const autoLength = 2 << 10

// respond prepares an answer with an encoded JSON body. The method send sends it later, after the work on the request is
// done.
func (x *exchange) respond(status int, body string) error {
	x.prepared, x.preparedStatus = answer{body: body}, status
	return nil
}

// respondPage prepares an answer that other requests may share.
func (x *exchange) respondPage(a answer) error {
	x.prepared, x.preparedStatus = a, http.StatusOK
	return nil
}

// send sends the prepared answer, if there is one. It may wait for the client, so the request must not hold anything that
// other requests need. If a write fails, the client is gone.
func (x *exchange) send() {
	if x.preparedStatus == 0 {
		return
	}
	if x.prepared.link != "" {
		x.set("Link", x.prepared.link)
	}
	if x.prepared.feedEnd {
		x.set("Petstore-Feed-End", "true")
	}
	if len(x.prepared.body) > autoLength || x.r.Method == http.MethodHead {
		x.set("Content-Length", strconv.Itoa(len(x.prepared.body)))
	}
	x.set("Content-Type", "application/json")
	x.WriteHeader(x.preparedStatus)
	if x.r.Method != http.MethodHead {
		n, err := io.WriteString(x.w, x.prepared.body)
		x.size += n
		x.cut = err != nil
	}
}

// respondEmpty sends 204 without a body.
func (x *exchange) respondEmpty() error {
	x.WriteHeader(http.StatusNoContent)
	return nil
}

// awaitDecision waits for the limiter's decision. It returns nil if the limiter admits the request, and the refusal
// otherwise.
func (x *exchange) awaitDecision() error {
	if wait := x.decision; wait != nil {
		x.decision = nil
		x.limitError = wait()
	}
	return x.limitError
}

// needsKey reports whether the request needs a valid key. Every request under /v1 does, except one for a keyless operation.
func (x *exchange) needsKey() bool {
	return x.versioned && (x.operation == nil || !x.operation.keyless)
}

// seesPrivate reports whether the key of the request sees what is only for those who may write: the notes of a profile and
// the reference of an order.
func (x *exchange) seesPrivate() bool { return x.key.Access != petstore.ReadOnly }

// reads reports whether the request only reads. The answer to such a request can be discarded without consequences.
func (x *exchange) reads() bool {
	return x.operation != nil && x.operation.method == http.MethodGet
}

// The names in logs and metrics for requests that do not belong to an operation.
const (
	pageRoute   = "page"
	photoRoute  = "photo"
	otherMethod = "other_method"
	unknownPath = "unknown"
)

// route returns the name of the request in logs and metrics. The number of different names is bounded.
func (x *exchange) route() string {
	switch {
	case x.operation != nil:
		return x.operation.name
	case x.resource != nil:
		return otherMethod
	}
	return unknownPath
}
