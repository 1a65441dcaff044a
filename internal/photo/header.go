package photo

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

type decoder func(io.Reader) (image.Image, error)

// header is what a file says about its image.
type header struct {
	width, height int
	// pixelBytes is how many bytes of memory the decoder takes for a pixel, at most.
	pixelBytes float64
	// orientation is that of EXIF, 1 for an upright image.
	orientation int
	decode      decoder
}

// readHeader reads the header of a file and refuses what is too large to decode.
func readHeader(file []byte) (header, error) {
	for _, f := range formats {
		if !f.is(file) {
			continue
		}
		h, err := f.header(file)
		h.decode = f.decode
		pixels := float64(h.width) * float64(h.height)
		switch {
		case err != nil:
			return h, err
		case h.width < 1 || h.height < 1:
			return h, ErrDamaged
		case pixels > MaxPixels:
			return h, ErrPixels
		case pixels*h.pixelBytes > MaxMemory:
			return h, ErrMemory
		}
		return h, nil
	}
	return header{}, ErrUnknown
}

// jpegHeader walks from marker to marker until the frame, as the decoder does.
func jpegHeader(file []byte) (header, error) {
	config, err := jpeg.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return header{}, ErrDamaged
	}
	if bytes.Count(file, []byte("\xff\xda")) > maxScans { // in the data of a scan, 0 follows every ff
		return header{}, ErrScans
	}
	h := header{width: config.Width, height: config.Height, orientation: 1}
	for rest := file[2:]; ; {
		marker, segment, after := nextSegment(rest)
		rest = after
		switch {
		case segment == nil:
			return header{}, ErrDamaged
		case marker >= 0xc0 && marker <= 0xc2 && len(segment) >= 6:
			h.pixelBytes = jpegPixelBytes(segment, marker == 0xc2)
			return h, nil
		case marker == 0xe1 && bytes.HasPrefix(segment, []byte("Exif\x00\x00")):
			h.orientation = orientation(segment[6:])
		}
	}
}

// nextSegment returns the next segment of a JPEG, which is nil if there is none.
func nextSegment(file []byte) (marker byte, segment, rest []byte) {
	for {
		_, file, _ = bytes.Cut(file, []byte{0xff})
		for len(file) > 0 && file[0] == 0xff { // any number of them may stand before a marker
			file = file[1:]
		}
		if len(file) == 0 {
			return 0, nil, nil
		}
		marker, file = file[0], file[1:]
		if marker == 0 || marker >= 0xd0 && marker <= 0xd9 { // markers without a segment
			continue
		}
		if len(file) < 2 {
			return 0, nil, nil
		}
		length := int(binary.BigEndian.Uint16(file))
		if length < 2 || length > len(file) {
			return 0, nil, nil
		}
		return marker, file[2:length:length], file[length:]
	}
}

// jpegPixelBytes reads the components of a frame and how often each is sampled. A progressive image also keeps four bytes
// for every sample until its last scan. The decoder rounds up to whole blocks, and copies the image of some color models.
func jpegPixelBytes(frame []byte, progressive bool) float64 {
	components := frame[6:]
	samples, most := 0.0, 1.0
	for ; len(components) >= 3; components = components[3:] {
		n := float64(components[1]>>4) * float64(components[1]&15)
		samples, most = samples+n, max(most, n)
	}
	perPixel := samples / most
	if progressive {
		return perPixel*(1+4) + 1
	}
	return perPixel*2 + 1
}

func pngHeader(file []byte) (header, error) {
	config, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil || len(file) < 29 {
		return header{}, ErrDamaged
	}
	h := header{width: config.Width, height: config.Height, orientation: 1, pixelBytes: 4}
	switch config.ColorModel {
	case color.NRGBA64Model, color.RGBA64Model:
		h.pixelBytes = 8
	case color.Gray16Model:
		h.pixelBytes = 2
	}
	if interlaced := file[28] == 1; interlaced { // the decoder keeps the largest pass beside the image
		h.pixelBytes *= 1.5
	}
	for rest := file[8:]; len(rest) >= 12; {
		length := uint64(binary.BigEndian.Uint32(rest))
		if length+12 > uint64(len(rest)) {
			break // the decoder says whether that matters
		}
		if string(rest[4:8]) == "eXIf" {
			h.orientation = orientation(rest[8 : 8+length])
		}
		rest = rest[12+length:]
	}
	return h, nil
}

// webpHeader knows that the decoder refuses a file whose canvas is not as large as its image.
func webpHeader(file []byte) (header, error) {
	h := header{orientation: 1}
	for rest := file[12:]; len(rest) >= 8; {
		name, length := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:]))
		if length+8 > uint64(len(rest)) {
			break
		}
		chunk := rest[8 : 8+length]
		switch {
		case name == "VP8X" && len(chunk) > 0 && chunk[0]&2 != 0, name == "ANIM", name == "ANMF":
			return h, ErrAnimated
		case name == "EXIF":
			h.orientation = orientation(bytes.TrimPrefix(chunk, []byte("Exif\x00\x00")))
		}
		rest = rest[min(8+length+length%2, uint64(len(rest))):]
	}
	config, err := webp.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return h, ErrDamaged
	}
	h.width, h.height, h.pixelBytes = config.Width, config.Height, 2
	if config.ColorModel != color.YCbCrModel { // lossless, or with an alpha channel that is
		h.pixelBytes = 10
	}
	return h, nil
}

// orientation reads the orientation from the TIFF structure of EXIF. It is 1 if there is none.
func orientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	directory := uint64(order.Uint32(tiff[4:]))
	if directory+2 > uint64(len(tiff)) {
		return 1
	}
	entries, rest := order.Uint16(tiff[directory:]), tiff[directory+2:]
	for ; entries > 0 && len(rest) >= 12; entries, rest = entries-1, rest[12:] {
		const tagOrientation = 0x0112
		if value := order.Uint16(rest[8:]); order.Uint16(rest) == tagOrientation && value >= 1 && value <= 8 {
			return int(value)
		}
	}
	return 1
}
