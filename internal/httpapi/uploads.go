package httpapi

import (
	"errors"
	"math"
	"runtime/debug"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/photo"
)

const (
	// maxPhotoBody is the greatest length of a photo's file, in bytes.
	maxPhotoBody = 5 << 20
	// uploadBudget is the number of bytes of photos that may arrive at once.
	uploadBudget = 64 << 20
	// maxUploads is the number of photos that one owner may send at once.
	maxUploads = 3
	// decodeTimeout is how long a photo waits until another one is decoded.
	decodeTimeout = 2 * time.Second
)

// uploads limits what photos cost: the memory of their files, of which each owner has few at once, and the memory and time
// of decoding, which only one photo at a time may take.
type uploads struct {
	bytes    *budget
	perOwner *budget
	decoding chan struct{}
}

func newUploads() *uploads {
	return &uploads{
		bytes:    newBudget(uploadBudget, uploadBudget),
		perOwner: newBudget(math.MaxInt64, maxUploads),
		decoding: make(chan struct{}, 1),
	}
}

// begin counts an upload of the owner of the request. end gives back what it has taken.
func (u *uploads) begin(x *exchange) error {
	if !u.perOwner.take(x.key.Owner, 1) {
		return tooManyUploads()
	}
	x.uploading = true
	return nil
}

func (u *uploads) end(x *exchange) {
	x.uploading = false
	u.perOwner.giveBack(x.key.Owner, 1)
	u.bytes.giveBack(x.key.Owner, x.bodyTaken)
}

var errUploadBudget = errors.New("the photos being received use up their budget, or their owner sends too many at once")

func tooManyUploads() error {
	return &refusal{petstore.Unavailable, "Too many photos are arriving at once. Nothing was changed; try again shortly, or send fewer at a time.", errUploadBudget}
}

var errDecoding = errors.New("other photos took too long to decode")

// process makes the two files of the photo in the body, once no other photo is being decoded.
func (u *uploads) process(x *exchange) (photo.Result, error) {
	timeout := time.NewTimer(decodeTimeout)
	defer timeout.Stop()
	select {
	case u.decoding <- struct{}{}:
	case <-x.r.Context().Done():
		return photo.Result{}, x.r.Context().Err()
	case <-timeout.C:
		return photo.Result{}, &refusal{petstore.Unavailable, "Other photos are being worked on. Nothing was changed; try again shortly.", errDecoding}
	}
	defer func() { <-u.decoding }()
	// A decoded photo is much larger than everything else in memory. Without this, its garbage would stay until the heap has
	// grown to a multiple of it.
	defer debug.FreeOSMemory()
	return photo.Process(x.body)
}
