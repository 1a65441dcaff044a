package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"petstore/internal/petstore"
)

// maxBody is how many bytes a body may have.
const maxBody = 1 << 20

// MinBodyBudget is the smallest BodyBudget from which an owner can send the largest body.
const MinBodyBudget = shares * maxBody

// bodyKind says which kind of body an operation takes.
type bodyKind uint8

const (
	noBody      bodyKind = iota
	jsonBody             // any JSON type
	patchBody            // application/json or application/merge-patch+json
	ignoredBody          // read, but ignored
)

// takes reports whether a body may be of that media type.
func (k bodyKind) takes(media string) bool {
	if k == patchBody {
		return media == "application/json" || media == "application/merge-patch+json"
	}
	_, subtype, _ := strings.Cut(media, "/")
	return media == "application/json" || strings.HasSuffix(subtype, "+json")
}

// checkMediaType accepts JSON, and a body without a media type.
func (k bodyKind) checkMediaType(h http.Header) error {
	if k == ignoredBody {
		return nil
	}
	for _, encoding := range h["Content-Encoding"] {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return refused(unsupportedMediaType, "The body is encoded. Send it as plain application/json.")
		}
	}
	types := h["Content-Type"]
	if len(types) == 0 || (len(types) == 1 && (types[0] == "application/json" || types[0] == "")) {
		return nil
	}
	media, _, err := mime.ParseMediaType(types[0])
	if len(types) > 1 || (err != nil && err != mime.ErrInvalidMediaParameter) || !k.takes(media) {
		if k == patchBody {
			return refused(unsupportedMediaType, "The Content-Type is not that of a merge patch. Send application/json or application/merge-patch+json.")
		}
		return refused(unsupportedMediaType, "The Content-Type is not JSON. Send application/json.")
	}
	return nil
}

// readBody reads a JSON body of at most maxBody bytes. It takes bytes of the budget, which dropBody gives back.
func (a *API) readBody(x *exchange) error {
	if err := x.operation.body.checkMediaType(x.r.Header); err != nil {
		return err
	}
	if x.r.ContentLength > maxBody {
		return tooLarge()
	}
	x.wanted = true
	x.body = make([]byte, 0, firstRoom(x.r.ContentLength))
	for {
		n, err := x.r.Body.Read(x.body[len(x.body):cap(x.body)])
		x.body = x.body[:len(x.body)+n]
		switch {
		case len(x.body) > maxBody:
			return tooLarge()
		case err == io.EOF:
			return nil
		case err != nil:
			return &refusal{invalidJSON, "The body did not arrive whole. Send it again.", err}
		case len(x.body) == cap(x.body):
			if err := a.growBody(x); err != nil {
				return err
			}
		}
	}
}

// firstRoom is the size of the first buffer. It holds the announced length, and one byte to find the end of the body,
// but no more than freeBytes: a client may announce a large body at no cost.
func firstRoom(length int64) int64 {
	if length < 0 {
		return 512
	}
	return min(length+1, freeBytes)
}

// growBody doubles the buffer, but makes it no larger than the announced length needs.
func (a *API) growBody(x *exchange) error {
	room := min(2*int64(cap(x.body)), maxBody+1)
	if announced := x.r.ContentLength + 1; announced > int64(cap(x.body)) {
		room = min(room, announced)
	}
	if more := room - freeBytes - x.held; more > 0 {
		if !a.bodies.take(x.key.Owner, more) {
			return &refusal{petstore.Unavailable, "Too many large bodies are arriving at once. Nothing was changed; try again shortly, or send fewer at a time.", errNoRoom}
		}
		x.held += more
	}
	x.body = append(make([]byte, 0, room), x.body...)
	return nil
}

var errNoRoom = errors.New("bodies in arrival use up --body-budget, or the owner's share of it")

// dropBody forgets the body and gives back what it took of the budget.
func (a *API) dropBody(x *exchange) {
	x.body = nil
	if x.held > 0 {
		a.bodies.give(x.key.Owner, x.held)
		x.held = 0
	}
}

func tooLarge() error {
	return refused(payloadTooLarge, "The body is larger than 1 MiB. Send less.")
}

// A part of a refused request's body is read and thrown away before the answer is sent. Without that, a client that sends
// its whole body before it reads might not get its answer. A client that takes longer than discardTime keeps others
// waiting for room, and may lose its answer.
const (
	discardLimit = 16 << 20
	discardTime  = 2 * time.Second
)

func (x *exchange) discardBody() {
	if x.r.Body == nil || x.r.Body == http.NoBody || (x.r.Header.Get("Expect") != "" && !x.wanted) {
		return
	}
	http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(discardTime))
	io.CopyN(io.Discard, x.r.Body, discardLimit)
}
