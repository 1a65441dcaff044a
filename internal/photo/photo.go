// Package photo turns an image file that a stranger sent into two small JPEGs that are safe to show: upright, on white,
// and without any metadata, because phones write into a photo where it was taken.
//
// [Process] looks at the header first and refuses a file that would need too much memory or processor time, before it
// decodes a pixel. It knows nothing of animals.
package photo

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"
)

// The bounds of a file.
const (
	MaxPixels = 24_000_000
	MaxMemory = 256 << 20 // bytes that decoding may take
	maxScans  = 64        // of a JPEG; each scan passes over every pixel, and ordinary files have about ten
)

// The longer sides of the two results, in pixels. A smaller image keeps its size.
const (
	LargeSide = 1280
	SmallSide = 400
)

// quality of the JPEGs, of 100.
const quality = 82

// Why a file is refused.
var (
	ErrUnknown  = errors.New("the file is neither JPEG, PNG nor WebP")
	ErrDamaged  = errors.New("the image is damaged or cut off")
	ErrPixels   = errors.New("the image has too many pixels")
	ErrMemory   = errors.New("the image needs too much memory to decode")
	ErrScans    = errors.New("the image has too many scans")
	ErrAnimated = errors.New("the image is animated")
)

// Result is what is kept of a file.
type Result struct {
	// Large and Small are JPEGs.
	Large, Small []byte
	// Width and Height are those of Large.
	Width, Height int
}

// Process makes the two JPEGs of a file. It returns one of the errors above for a file that it refuses. It may take
// MaxMemory and a few seconds, so callers do not run many at once.
func Process(file []byte) (Result, error) {
	h, err := readHeader(file)
	if err != nil {
		return Result{}, err
	}
	decoded, err := h.decode(bytes.NewReader(file))
	if err != nil {
		return Result{}, ErrDamaged
	}
	large := shrink(decoded, LargeSide)
	large = upright(large, h.orientation)
	result := Result{Width: large.Rect.Dx(), Height: large.Rect.Dy()}
	if result.Large, err = encode(large); err != nil {
		return Result{}, err
	}
	result.Small, err = encode(shrink(large, SmallSide))
	return result, err
}

func encode(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

// format is a kind of file: how it begins, and how it is read.
type format struct {
	is     func(file []byte) bool
	header func(file []byte) (header, error)
	decode decoder
}

var formats = []format{
	{func(file []byte) bool { return bytes.HasPrefix(file, []byte("\xff\xd8\xff")) }, jpegHeader, jpeg.Decode},
	{func(file []byte) bool { return bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")) }, pngHeader, png.Decode},
	{func(file []byte) bool {
		return len(file) >= 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP"
	}, webpHeader, webp.Decode},
}
