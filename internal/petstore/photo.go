package petstore

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// MaxPhotos is the greatest number of photos of an animal.
const MaxPhotos = 8

// PhotoSize selects one of the two files of a photo.
type PhotoSize uint8

// The files of a photo.
const (
	LargePhoto PhotoSize = iota
	SmallPhoto
)

// NewPhoto is a photo before it is stored.
type NewPhoto struct {
	// Width and Height are those of the large file, in pixels.
	Width, Height int
	// Large and Small are the two files.
	Large, Small []byte
}

// Photo is a photo of an animal, without its files, which never change. Its time has whole milliseconds.
type Photo struct {
	ID int64
	// Token names the files to whoever knows it.
	Token         string
	Width, Height int
	CreatedAt     time.Time
}

// Photo returns the stored photo with a new token, created now. Storing it gives it an id.
func (n NewPhoto) Photo(now time.Time) Photo {
	return Photo{Token: newPhotoToken(), Width: n.Width, Height: n.Height, CreatedAt: now.UTC().Truncate(time.Millisecond)}
}

// newPhotoToken returns 128 random bits, as 32 hexadecimal digits.
func newPhotoToken() string {
	var token [16]byte
	rand.Read(token[:])
	return hex.EncodeToString(token[:])
}

// CanBePhotoToken reports whether a text has the form of a token.
func CanBePhotoToken(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text) == 32
}

// NoSuchPhoto returns the refusal of an id or a token that no photo of the animal has.
func NoSuchPhoto() *Error { return noSuchPhoto }

var noSuchPhoto = &Error{Code: NotFound, Noun: PhotoNoun}

// NoRoomForPhoto returns the refusal of a photo for an animal that has MaxPhotos.
func NoRoomForPhoto() *Error { return &Error{Code: TooManyPhotos} }
