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

// maxBody is the greatest length of a body in bytes.
const maxBody = 1 << 20

// MinBodyBudget is the smallest BodyBudget with which one owner can send a body of maxBody bytes.
const MinBodyBudget = shares * maxBody

// bodyKind is the kind of body that an operation reads.
type bodyKind uint8

const (
	noBody       bodyKind = iota
	jsonBody              // application/json, or any type that ends in +json
	patchBody             // application/json or application/merge-patch+json
	optionalBody          // like jsonBody, or empty
	ignoredBody           // any body; the API reads and ignores it
	photoBody             // the file of a photo
)

// accepts reports whether a body may have that media type.
func (k bodyKind) accepts(media string) bool {
	switch k {
	case photoBody:
		return media == "image/jpeg" || media == "image/png" || media == "image/webp"
	case patchBody:
		return media == "application/json" || media == "application/merge-patch+json"
	}
	_, subtype, _ := strings.Cut(media, "/")
	return media == "application/json" || strings.HasSuffix(subtype, "+json")
}

// checkMediaType refuses a body if the operation does not accept its media type. A header of the refusal says which media
// types the operation accepts (RFC 9110, section 15.5.16, and RFC 5789, section 3.1). A body without a media type passes.
func (x *exchange) checkMediaType() error {
	kind := x.operation.body
	if kind == ignoredBody || kind == optionalBody && x.r.ContentLength == 0 {
		return nil
	}
	for _, encoding := range x.r.Header["Content-Encoding"] {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			x.set("Accept-Encoding", "identity")
			if kind == photoBody {
				return newRefusal(unsupportedMediaType, "The body is encoded. Send the file as it is.")
			}
			return newRefusal(unsupportedMediaType, "The body is encoded. Send it as plain application/json.")
		}
	}
	types := x.r.Header["Content-Type"]
	if len(types) == 0 || (len(types) == 1 && (types[0] == "application/json" && kind != photoBody || types[0] == "")) {
		return nil
	}
	media, _, err := mime.ParseMediaType(types[0])
	if len(types) == 1 && (err == nil || err == mime.ErrInvalidMediaParameter) && kind.accepts(media) {
		return nil
	}
	switch kind {
	case photoBody:
		x.set("Accept", "image/jpeg, image/png, image/webp")
		return newRefusal(unsupportedMediaType, "The Content-Type is not that of a photo. Send image/jpeg, image/png or image/webp.")
	case patchBody:
		x.set("Accept-Patch", "application/json, application/merge-patch+json")
		return newRefusal(unsupportedMediaType, "The Content-Type is not that of a merge patch. Send application/json or application/merge-patch+json.")
	}
	x.set("Accept", "application/json")
	return newRefusal(unsupportedMediaType, "The Content-Type is not JSON. Send application/json.")
}

// readBody reads a body into x.body. It takes bytes from the budget, and releaseBody gives them back.
func (a *API) readBody(x *exchange) error {
	if err := x.checkMediaType(); err != nil {
		return err
	}
	limit := x.operation.body.maxBytes()
	if x.r.ContentLength > limit {
		return x.tooLarge()
	}
	if x.operation.body == photoBody {
		if err := a.uploads.begin(x); err != nil {
			return err
		}
	}
	x.bodyRequested = true
	x.body = make([]byte, 0, firstBufferSize(x.r.ContentLength))
	for {
		n, err := x.r.Body.Read(x.body[len(x.body):cap(x.body)])
		x.body = x.body[:len(x.body)+n]
		switch {
		case int64(len(x.body)) > limit:
			return x.tooLarge()
		case err == io.EOF:
			return nil
		case err != nil:
			return x.brokenOff(err)
		case len(x.body) == cap(x.body):
			if err := a.growBody(x); err != nil {
				return err
			}
		}
	}
}

// firstBufferSize returns the size of the first buffer for a body. The size is the announced length plus one byte, with
// which the read finds the end of the body. The size is at most freeBytes, because a client can announce a large body at no
// cost.
func firstBufferSize(length int64) int64 {
	if length < 0 {
		return 512
	}
	return min(length+1, freeBytes)
}

// growBody doubles the buffer, but not beyond the announced length.
func (a *API) growBody(x *exchange) error {
	room := min(2*int64(cap(x.body)), x.operation.body.maxBytes()+1)
	if announced := x.r.ContentLength + 1; announced > int64(cap(x.body)) {
		room = min(room, announced)
	}
	if more := room - freeBytes - x.bodyTaken; more > 0 {
		if x.uploading {
			if !a.uploads.bytes.take(x.key.Owner, more) {
				return tooManyUploads()
			}
		} else if !a.bodies.take(x.key.Owner, more) {
			return &refusal{petstore.Unavailable, "Too many large bodies are arriving at once. Nothing was changed; try again shortly, or send fewer at a time.", errBodyBudget}
		}
		x.bodyTaken += more
	}
	x.body = append(make([]byte, 0, room), x.body...)
	return nil
}

var errBodyBudget = errors.New("the bodies being received use up --body-budget, or their owner's share of it")

// releaseBody drops the body and gives its bytes back to the budget.
func (a *API) releaseBody(x *exchange) {
	x.body = nil
	switch {
	case x.uploading:
		a.uploads.end(x)
	case x.bodyTaken > 0:
		a.bodies.giveBack(x.key.Owner, x.bodyTaken)
	}
	x.bodyTaken = 0
}

// maxBytes returns the greatest length of a body of that kind.
func (k bodyKind) maxBytes() int64 {
	if k == photoBody {
		return maxPhotoBody
	}
	return maxBody
}

func (x *exchange) tooLarge() error {
	if x.operation.body == photoBody {
		return newRefusal(payloadTooLarge, "The photo is larger than 5 MiB. Send a smaller one.")
	}
	return newRefusal(payloadTooLarge, "The body is larger than 1 MiB. Send less.")
}

// brokenOff returns the refusal of a body that ended too early.
func (x *exchange) brokenOff(cause error) error {
	code := invalidJSON
	if x.operation.body == photoBody {
		code = invalidPhoto
	}
	return &refusal{code, "The body did not arrive whole. Send it again.", cause}
}

// Before it refuses a request, the API reads and discards up to discardLimit bytes of its body, for at most
// discardTimeout. Otherwise a client that sends its whole body before it reads might never see the answer. A client
// that needs more time may lose its answer, so that it does not keep a connection from others.
const (
	discardLimit   = 16 << 20
	discardTimeout = 2 * time.Second
)

func (x *exchange) discardBody() {
	if x.r.Body == nil || x.r.Body == http.NoBody || (x.r.Header.Get("Expect") != "" && !x.bodyRequested) {
		return
	}
	http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(discardTimeout))
	io.CopyN(io.Discard, x.r.Body, discardLimit)
}
