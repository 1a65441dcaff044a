package httpapi

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"petstore/internal/petstore"
)

// observed gives the request an id. After the answer, observed counts the request and logs a line about it.
func (a *API) observed(next handler) handler {
	return func(x *exchange) error {
		x.requestID = a.requestID(x.r)
		x.set("X-Request-Id", x.requestID)
		a.metrics.inFlight.Inc()
		defer a.metrics.inFlight.Dec()
		err := next(x)
		elapsed := a.Now().Sub(x.start)
		a.metrics.countAnswer(x, elapsed)
		if a.Used != nil && x.keyError == nil && x.key.Owner != "" {
			a.Used(x.key.Owner, x.start.Add(elapsed), x.status == http.StatusTooManyRequests)
		}
		a.logAnswer(x, elapsed)
		return err
	}
}

// rendered turns every refusal and every panic into an answer. It returns an error only if a panic comes after the first
// byte of the answer, because no other answer is then possible. In logs and metrics such a request has the status 500.
func (a *API) rendered(next handler) handler {
	return func(x *exchange) (cutOff error) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			cause := petstore.Panicked(p)
			if x.status == 0 && p != http.ErrAbortHandler {
				x.render(cause)
				return
			}
			x.status, x.cut, x.cause = http.StatusInternalServerError, true, cause
			cutOff = cause
		}()
		if err := next(x); err != nil {
			x.render(err)
		}
		return nil
	}
}

const (
	exposedHeaders = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Link, Location, Deprecation, Sunset, X-Request-Id, Idempotency-Replayed, Petstore-Feed-End"
	allowedHeaders = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id"
	allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
)

// crossOrigin lets web pages of any origin use the API with a key, but never with cookies or other credentials of the
// browser.
func (a *API) crossOrigin(next handler) handler {
	return func(x *exchange) error {
		x.set("Access-Control-Allow-Origin", "*")
		x.set("Access-Control-Expose-Headers", exposedHeaders)
		return next(x)
	}
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight tells a browser what a web page may send. The limiter does not count a preflight, because the browser
// sends it on its own and without the key.
func (a *API) answerPreflight(x *exchange) error {
	if err := a.peek(x); err != nil {
		return err
	}
	x.set("Access-Control-Allow-Methods", allowedMethods)
	x.set("Access-Control-Allow-Headers", allowedHeaders)
	x.set("Access-Control-Max-Age", "86400")
	x.WriteHeader(http.StatusNoContent)
	return nil
}

// matched looks the path up in the route table, so that the later steps set the headers of its operation on every
// answer. It answers pages, photos and preflights itself, because they need no key.
func (a *API) matched(next handler) handler {
	return func(x *exchange) error {
		path := decodeUnreserved(x.path)
		x.versioned = path == "/v1" || strings.HasPrefix(path, "/v1/")
		if x.versioned {
			x.set("Cache-Control", "no-store")
		}
		if isPreflight(x.r) {
			return a.answerPreflight(x)
		}
		x.resource, x.parameters = a.router.match(path)
		if x.resource == nil {
			x.resource = a.pages[path]
		}
		if x.resource == nil {
			return next(x)
		}
		x.operation = x.resource.operations[x.r.Method]
		if x.isDeprecated() {
			a.setDeprecationHeaders(x)
		}
		switch {
		case x.operation == nil:
		case x.operation.page != nil:
			x.operation.page.ServeHTTP(x, x.r)
			return nil
		case x.operation.photoFile:
			return x.operation.handle(a, x)
		}
		return next(x)
	}
}

// routed refuses unknown paths, unknown methods and removed operations.
func (a *API) routed(next handler) handler {
	return func(x *exchange) error {
		switch {
		case x.resource == nil && a.NoPage != nil && a.isForPeople(x):
			a.NoPage.ServeHTTP(x, x.r)
			return nil
		case x.resource == nil:
			return newRefusal(petstore.NotFound, "There is nothing at this path. The API is described at /openapi.yaml.")
		case x.operation == nil:
			x.set("Allow", x.resource.allow)
			return newRefusal(methodNotAllowed, fmt.Sprintf("This path does not take %s; it takes %s.", displayMethod(a.redactedMethod(x)), x.resource.allow))
		}
		if err := a.refuseAfterSunset(x); err != nil {
			return err
		}
		return next(x)
	}
}

// isForPeople reports whether a request to an unknown path comes from a browser that shows its answer to a person. Clients of
// the API, photos and probes always get an API error.
func (a *API) isForPeople(x *exchange) bool {
	if x.versioned || x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(x.path, "/"), "/")
	if _, isProbe := a.Probes["/"+first]; isProbe || first == "photos" {
		return false
	}
	return strings.Contains(strings.ToLower(strings.Join(x.r.Header.Values("Accept"), ",")), "text/html")
}

// permitted refuses an operation for which the access of the key is too low.
func (a *API) permitted(next handler) handler {
	return func(x *exchange) error {
		needed := x.operation.access()
		if !x.key.Access.Includes(needed) {
			return newRefusal(petstore.Forbidden, forbiddenMessage(x.key.Access, needed))
		}
		return next(x)
	}
}

// addressed reads the ids in the path, and refuses a path whose parameter cannot be an id.
func (a *API) addressed(next handler) handler {
	return func(x *exchange) error {
		ids := [maxParameters]*int64{&x.id, &x.photoID}
		for i, named := range x.resource.parameters {
			var ok bool
			if *ids[i], ok = named.parse(x.parameters[i]); !ok {
				return named.missing
			}
		}
		return next(x)
	}
}

// sent sends the answer that the later steps have prepared. It begins only after those steps are done, so a client that does
// not read its answer does not make other clients wait. The type unreadAnswers limits how many bytes wait for such clients.
func (a *API) sent(next handler) handler {
	return func(x *exchange) error {
		if err := next(x); err != nil {
			return err
		}
		if err := x.awaitDecision(); err != nil {
			return err
		}
		if x.stream != nil {
			return a.sendStream(x)
		}
		if len(x.prepared.body) > freeBytes {
			defer a.unread.remove(a.unread.add(x.key.Owner, len(x.prepared.body), x.w))
		}
		x.send()
		return nil
	}
}

// received reads the body, if the operation has one, and releases the body after the work is done.
func (a *API) received(next handler) handler {
	return func(x *exchange) error {
		if x.operation.body != noBody {
			defer a.releaseBody(x)
			if err := a.readBody(x); err != nil {
				return err
			}
		}
		return next(x)
	}
}

// admitted lets at most MaxWorking requests in at the same time and refuses the others, so that overload does not make every
// request slow. It does not count a request that waits for its client, so a slow client does not keep others out.
func (a *API) admitted(next handler) handler {
	return func(x *exchange) error {
		defer a.working.Add(-1)
		if a.working.Add(1) > a.MaxWorking && a.MaxWorking > 0 {
			return newRefusal(petstore.Unavailable, "The service has more to do than it can right now. Nothing was changed; try again shortly.")
		}
		return next(x)
	}
}

// performed calls the operation's handler. Before a write, performed reads the Idempotency-Key. Reads and pings ignore that
// header.
func (a *API) performed(x *exchange) (err error) {
	if x.operation.writes() && !x.operation.repeats {
		if x.idempotency, err = idempotencyOf(x); err != nil {
			return err
		}
	}
	return x.operation.handle(a, x)
}

// options answers OPTIONS with the methods that the path supports.
func (a *API) options(x *exchange) error {
	x.set("Allow", x.resource.allow)
	x.WriteHeader(http.StatusNoContent)
	return nil
}

// requestID returns the request id that the client sent, if the id is safe to repeat. An API key is not safe. Without a safe
// id, requestID generates an id.
func (a *API) requestID(r *http.Request) string {
	if ids := r.Header["X-Request-Id"]; len(ids) == 1 && len(ids[0]) >= 1 && len(ids[0]) <= 64 && isSafe(ids[0]) && a.redact(ids[0]) == ids[0] {
		return ids[0]
	}
	var id [16]byte
	n := rand.Uint64()
	for i := range id {
		id[i] = hexDigits[n&0xf]
		n >>= 4
	}
	return string(id[:])
}

// isSafe reports whether s consists of ASCII letters, digits, hyphens, underscores and periods.
func isSafe(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// displayMethod returns the method in a form that a message may show.
func displayMethod(method string) string {
	if len(method) > 20 || !isSafe(method) {
		return "this method"
	}
	return method
}
