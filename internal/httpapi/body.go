package httpapi

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"

	"petstore/internal/petstore"
)

// maxBody is the largest body that is read.
const maxBody = 1 << 20

// bodyKind is what an operation makes of a body.
type bodyKind uint8

const (
	noBody      bodyKind = iota
	jsonBody             // any JSON type
	patchBody            // application/json or application/merge-patch+json
	ignoredBody          // read, and not looked at
)

// takes reports whether a body may be of that media type.
func (k bodyKind) takes(media string) bool {
	if k == patchBody {
		return media == "application/json" || media == "application/merge-patch+json"
	}
	_, subtype, _ := strings.Cut(media, "/")
	return media == "application/json" || strings.HasSuffix(subtype, "+json")
}

// checkMediaType lets JSON pass, and a body that does not say what it is.
func (k bodyKind) checkMediaType(h http.Header) error {
	if k == ignoredBody {
		return nil
	}
	types := h["Content-Type"]
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return petstore.Errorf(petstore.UnsupportedMediaType, "The body is encoded. Send it as plain application/json.")
	}
	if len(types) == 0 || (len(types) == 1 && (types[0] == "application/json" || types[0] == "")) {
		return nil
	}
	media, _, err := mime.ParseMediaType(types[0])
	if len(types) > 1 || (err != nil && err != mime.ErrInvalidMediaParameter) || !k.takes(media) {
		return petstore.Errorf(petstore.UnsupportedMediaType, "The Content-Type is not JSON. Send application/json.")
	}
	return nil
}

// readBody reads a JSON body of at most maxBody bytes.
func (x *exchange) readBody() (err error) {
	if err := x.operation.body.checkMediaType(x.r.Header); err != nil {
		return err
	}
	length := x.r.ContentLength
	if length > maxBody {
		return tooLarge()
	}
	x.wanted = true
	// Room for what is announced, but no more than comes at once as a rule: an announcement costs the client nothing.
	buffer := bytes.NewBuffer(make([]byte, 0, min(max(0, length), 16<<10)+bytes.MinRead))
	_, err = buffer.ReadFrom(io.LimitReader(x.r.Body, maxBody+1))
	x.body = buffer.Bytes()
	switch {
	case err != nil:
		return &petstore.Error{Code: petstore.InvalidJSON, Message: "The body did not arrive whole. Send it again.", Cause: err}
	case len(x.body) > maxBody:
		return tooLarge()
	}
	return nil
}

func tooLarge() error {
	return petstore.Errorf(petstore.PayloadTooLarge, "The body is larger than 1 MiB. Send less.")
}

// discardLimit is how much of a refused request's body is read so that a client that sends before it reads gets its answer.
const discardLimit = 16 << 20

func (x *exchange) discardBody() {
	if x.r.Body == nil || x.r.Body == http.NoBody || (x.r.Header.Get("Expect") != "" && !x.wanted) {
		return
	}
	io.CopyN(io.Discard, x.r.Body, discardLimit)
}
