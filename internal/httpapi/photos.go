package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/photo"
)

func (a *API) addPhoto(x *exchange) error {
	result, err := a.uploads.process(x)
	if err != nil {
		return photoRefusal(err)
	}
	fresh := petstore.NewPhoto{Width: result.Width, Height: result.Height, Large: result.Large, Small: result.Small}
	added, replayed, err := a.Storage.AddPhoto(x.r.Context(), x.id, fresh, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respond(http.StatusCreated, encoded(added, a.links.appendPhoto))
}

// photoRefusals says what to send instead of a file that is refused.
var photoRefusals = map[error]string{
	photo.ErrUnknown:  "The body is not a JPEG, PNG or WebP file. Send one.",
	photo.ErrDamaged:  "The photo is damaged or cut off. Send it again whole, or send another one.",
	photo.ErrPixels:   "The photo has more than 24 million pixels. Send a smaller one.",
	photo.ErrMemory:   "The photo needs more than 256 MiB of memory to decode. Send a smaller one.",
	photo.ErrScans:    "The photo has too many scans. Save it without progressive scans and send that.",
	photo.ErrAnimated: "The photo is animated. Send one that does not move.",
}

func photoRefusal(err error) error {
	for cause, message := range photoRefusals {
		if errors.Is(err, cause) {
			return newRefusal(invalidPhoto, message)
		}
	}
	return err
}

func (a *API) coverPhoto(x *exchange) error {
	profile, replayed, err := a.Storage.CoverPhoto(x.r.Context(), x.id, x.photoID, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return a.respondProfile(x, profile)
}

func (a *API) deletePhoto(x *exchange) error {
	replayed, err := a.Storage.DeletePhoto(x.r.Context(), x.id, x.photoID, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respondEmpty()
}

func (a *API) getLargePhoto(x *exchange) error { return a.servePhoto(x, petstore.LargePhoto) }

func (a *API) getSmallPhoto(x *exchange) error { return a.servePhoto(x, petstore.SmallPhoto) }

var errNoPhotoFile = newRefusal(petstore.NotFound, "There is no photo at this address.")

// servePhoto sends a file of a photo. Files never change, so browsers may keep them; what is refused may be there later.
func (a *API) servePhoto(x *exchange, size petstore.PhotoSize) error {
	var file []byte
	read := a.admitted(func(x *exchange) (err error) {
		if !petstore.CanBePhotoToken(x.parameters[0]) {
			return errNoPhotoFile
		}
		file, err = a.Storage.PhotoFile(x.r.Context(), x.parameters[0], size)
		return err
	})
	if err := read(x); err != nil {
		x.set("Cache-Control", "no-store")
		if petstore.IsCode(err, petstore.NotFound) {
			return errNoPhotoFile
		}
		return err
	}
	defer a.unread.remove(a.unread.add(a.subjectOf(x), len(file), x.w))
	h := x.Header() // which ServeContent reads
	h.Set("Cache-Control", "public, max-age=86400, immutable")
	h.Set("Content-Type", "image/jpeg")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", `"`+x.parameters[0]+`"`)
	http.ServeContent(x, x.r, "", time.Time{}, bytes.NewReader(file))
	return nil
}
