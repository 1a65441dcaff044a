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
	r     *http.Request
	start time.Time

	requestID string
	traceID   string    // empty unless the request is traced
	resource  *resource // nil for a path that is not in the route table
	parameter string
	id        int64         // what the parameter says
	operation *operation    // nil for a method that the resource does not have
	versioned bool          // the path is under /v1
	key       *petstore.Key // shared; nobody's where none was recognized
	refusal   error         // why there is no valid key
	unchecked bool          // the storage could not say whether the key is valid
	cleared   func() error  // waits for the limiter, if it decides while the request is worked on; nil if it has decided
	address   string
	body      []byte
	held      int64 // what the body has of the budget
	wanted    bool  // a client that asked whether to send its body was told to

	// made is the answer that waits to be sent, if madeStatus is not zero.
	made       answer
	madeStatus int

	status int // of what was sent; zero before
	size   int
	cut    bool  // the answer broke off
	cause  error // for the log

	single []string // backs the values of single-valued headers
	store  [10]string
}

var nobodys petstore.Key

func newExchange(w http.ResponseWriter, r *http.Request, now time.Time) *exchange {
	x := &exchange{w: w, r: r, start: now, key: &nobodys}
	x.single = x.store[:0]
	return x
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

// set gives a header its only value. The name is sent as it is spelled here.
func (x *exchange) set(name, value string) {
	x.single = append(x.single, value)
	n := len(x.single)
	x.w.Header()[name] = x.single[n-1 : n : n]
}

// share gives a header values that many answers have in common and nobody changes.
func (x *exchange) share(name string, values []string) { x.w.Header()[name] = values }

var jsonType = []string{"application/json"}

// measured is the size of a body up to which net/http adds its length by itself, for less than a header costs.
const measured = 2 << 10

// respond makes the answer, of a JSON body that is already encoded. It is sent when the work for the request is done.
func (x *exchange) respond(status int, body string) error {
	x.made, x.madeStatus = answer{body: body}, status
	return nil
}

// send sends the answer that was made, if any. It waits for the client, so it is called when no one else waits. A failed
// write means that the client is gone.
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
	x.share("Content-Type", jsonType)
	x.WriteHeader(x.madeStatus)
	if x.r.Method != http.MethodHead {
		n, err := io.WriteString(x.w, x.made.body)
		x.size += n
		x.cut = err != nil
	}
}

// respondEmpty says that it is done and that there is nothing to show.
func (x *exchange) respondEmpty() error {
	x.WriteHeader(http.StatusNoContent)
	return nil
}

// needsKey reports whether the request is for a valid key only: all that is under /v1, unless it is open.
func (x *exchange) needsKey() bool {
	return x.versioned && (x.operation == nil || !x.operation.open)
}

// reads reports whether the request only looks, so that nothing has happened when its answer is thrown away.
func (x *exchange) reads() bool {
	return x.operation != nil && x.operation.method == http.MethodGet
}

func (x *exchange) isDeprecated() bool { return x.operation != nil && x.operation.deprecated }

// toldMethod is the method as logs and traces tell it: a client may have put its key there.
func (x *exchange) toldMethod() string { return petstore.Redact(x.r.Method) }

// toldPath is the path as it was sent, unless a client has put its key there.
func (x *exchange) toldPath() string {
	path := x.r.URL.EscapedPath()
	plain := plainPath(path)
	if told := petstore.Redact(plain); told != plain {
		return told
	}
	return path
}

// route names the request for logs and metrics, with a bounded number of names.
func (x *exchange) route() string {
	switch {
	case x.operation != nil:
		return x.operation.name
	case x.resource != nil:
		return "other_method"
	}
	return "unknown"
}
