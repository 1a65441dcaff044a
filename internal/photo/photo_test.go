package photo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// The corners of the test picture, clockwise from the upper left.
var corners = []color.RGBA{{200, 0, 0, 255}, {0, 200, 0, 255}, {0, 0, 200, 255}, {200, 200, 0, 255}}

// picture has another color in each corner.
func picture(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, at := range []image.Point{{0, 0}, {width / 2, 0}, {width / 2, height / 2}, {0, height / 2}} {
		draw.Draw(img, image.Rectangle{at, at.Add(image.Pt(width/2, height/2))}, image.NewUniform(corners[i]), image.Point{}, draw.Src)
	}
	return img
}

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// exif is the metadata of a phone: an orientation and a place.
func exif(orientation uint16) []byte {
	tiff := []byte("MM\x00*\x00\x00\x00\x08\x00\x02")
	tiff = append(tiff, 0x01, 0x12, 0, 3, 0, 0, 0, 1, byte(orientation>>8), byte(orientation), 0, 0)
	tiff = append(tiff, 0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38)
	return append(tiff, "\x00\x00\x00\x00GPS 52.5200 N 13.4050 E"...)
}

func withExif(t testing.TB, file []byte, orientation uint16) []byte {
	t.Helper()
	switch meta := exif(orientation); {
	case bytes.HasPrefix(file, []byte("\xff\xd8")):
		meta = append([]byte("Exif\x00\x00"), meta...)
		segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(meta)+2))
		return bytes.Join([][]byte{file[:2], segment, meta, file[2:]}, nil)
	case bytes.HasPrefix(file, []byte("\x89PNG")):
		chunk := append([]byte("eXIf"), meta...)
		sized := append(binary.BigEndian.AppendUint32(nil, uint32(len(meta))), chunk...)
		return bytes.Join([][]byte{file[:33], binary.BigEndian.AppendUint32(sized, crc32.ChecksumIEEE(chunk)), file[33:]}, nil)
	}
	t.Fatal("no such format")
	return nil
}

func decodeJPEG(t testing.TB, file []byte) image.Image {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// colorsOf are the colors near the corners, clockwise from the upper left, as far as they are those of the picture.
func colorsOf(img image.Image) (order [4]int) {
	b := img.Bounds()
	dx, dy := b.Dx()/8, b.Dy()/8
	for i, at := range []image.Point{{dx, dy}, {b.Dx() - 1 - dx, dy}, {b.Dx() - 1 - dx, b.Dy() - 1 - dy}, {dx, b.Dy() - 1 - dy}} {
		order[i] = -1
		r, g, blue, _ := img.At(at.X, at.Y).RGBA()
		for n, c := range corners {
			if near(r>>8, c.R) && near(g>>8, c.G) && near(blue>>8, c.B) {
				order[i] = n
			}
		}
	}
	return order
}

func near(a uint32, b uint8) bool { return int(a)-int(b) < 40 && int(b)-int(a) < 40 }

func TestAPhotoIsTurnedUprightByItsOrientation(t *testing.T) {
	// What the corners of the picture must be so that the picture is upright, by orientation.
	upright := map[uint16][4]int{1: {0, 1, 2, 3}, 2: {1, 0, 3, 2}, 3: {2, 3, 0, 1}, 4: {3, 2, 1, 0}, 5: {0, 3, 2, 1}, 6: {3, 0, 1, 2}, 7: {2, 1, 0, 3}, 8: {1, 2, 3, 0}}
	for name, file := range map[string][]byte{"JPEG": asJPEG(t, picture(200, 100)), "PNG": asPNG(t, picture(200, 100))} {
		for orientation, want := range upright {
			result, err := Process(withExif(t, file, orientation))
			if err != nil {
				t.Fatal(err)
			}
			size := [2]int{200, 100}
			if orientation >= 5 {
				size = [2]int{100, 200}
			}
			for which, made := range map[string][]byte{"large": result.Large, "small": result.Small} {
				img := decodeJPEG(t, made)
				if got := colorsOf(img); got != want || img.Bounds().Dx() != size[0] || img.Bounds().Dy() != size[1] {
					t.Errorf("%s with orientation %d: %s has corners %v and size %v, want %v and %v", name, orientation, which, got, img.Bounds().Size(), want, size)
				}
			}
			if [2]int{result.Width, result.Height} != size {
				t.Errorf("it says %d × %d", result.Width, result.Height)
			}
		}
	}
}

func TestNoMetadataIsLeft(t *testing.T) {
	for _, file := range [][]byte{asJPEG(t, picture(60, 40)), asPNG(t, picture(60, 40))} {
		file = withExif(t, file, 6)
		if !bytes.Contains(file, []byte("GPS")) {
			t.Fatal("there is no place to drop")
		}
		result, err := Process(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, made := range [][]byte{result.Large, result.Small} {
			if bytes.Contains(made, []byte("GPS")) || bytes.Contains(made, []byte("Exif")) || bytes.Contains(made, []byte{0xff, 0xe1}) {
				t.Error("metadata is left")
			}
		}
	}
}

func TestTheLongerSideHasItsBoundAndNothingIsEnlarged(t *testing.T) {
	for _, c := range []struct{ width, height, large, largeHeight, small, smallHeight int }{
		{3000, 2000, 1280, 853, 400, 266},
		{1000, 3000, 426, 1280, 133, 400},
		{1281, 1, 1280, 1, 400, 1},
		{1280, 1280, 1280, 1280, 400, 400},
		{500, 300, 500, 300, 400, 240},
		{2, 3, 2, 3, 2, 3},
	} {
		result, err := Process(asPNG(t, picture(c.width, c.height)))
		if err != nil {
			t.Fatal(err)
		}
		large, small := decodeJPEG(t, result.Large).Bounds().Size(), decodeJPEG(t, result.Small).Bounds().Size()
		if large != image.Pt(c.large, c.largeHeight) || small != image.Pt(c.small, c.smallHeight) {
			t.Errorf("%d × %d becomes %v and %v", c.width, c.height, large, small)
		}
	}
}

func TestAPixelIsTheAverageOfWhatItCovers(t *testing.T) {
	for n := 1; n <= 70; n++ {
		for m := 1; m <= n; m++ {
			got := make([]float64, m)
			for _, s := range shares(n, m) {
				got[s.at] += float64(s.here)
				if s.after > 0 {
					got[s.at+1] += float64(s.after)
				}
			}
			for i, sum := range got {
				if sum < 0.9999 || sum > 1.0001 {
					t.Fatalf("of %d pixels into %d, number %d gets %v", n, m, i, sum)
				}
			}
		}
	}
}

func TestTransparentPixelsAreWhite(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 40, 40))
	draw.Draw(img, image.Rect(0, 0, 20, 40), image.NewUniform(color.NRGBA{0, 0, 0, 255}), image.Point{}, draw.Src)
	result, err := Process(asPNG(t, img))
	if err != nil {
		t.Fatal(err)
	}
	made := decodeJPEG(t, result.Large)
	if dark, _, _, _ := made.At(5, 20).RGBA(); dark>>8 > 20 {
		t.Error("what is opaque is not black")
	}
	if white, _, _, _ := made.At(35, 20).RGBA(); white>>8 < 235 {
		t.Error("what is transparent is not white")
	}
}

func TestAWebPIsRead(t *testing.T) {
	for _, name := range []string{"lossy.webp", "lossless.webp", "alpha.webp"} {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		result, err := Process(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := colorsOf(decodeJPEG(t, result.Large)); got != [4]int{0, 1, 2, 3} {
			t.Errorf("%s: the corners are %v", name, got)
		}
		if middle, _, _, _ := decodeJPEG(t, result.Large).At(48, 32).RGBA(); name == "alpha.webp" && middle>>8 < 230 {
			t.Errorf("the transparent middle of %s is not white", name)
		}
		for _, part := range []int{1, 2, 3} {
			if _, err := Process(file[:len(file)*part/4]); !errors.Is(err, ErrDamaged) {
				t.Errorf("%d of 4 parts of %s: %v", part, name, err)
			}
		}
	}
}

func TestAFileIsRefusedForWhatItIs(t *testing.T) {
	whole, huge := asJPEG(t, picture(300, 200)), asPNG(t, picture(2, 2))
	huge = bytes.Clone(huge)
	binary.BigEndian.PutUint32(huge[16:], 60_000)
	binary.BigEndian.PutUint32(huge[20:], 60_000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	animated := append([]byte("RIFF\x1a\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x01\x00\x00"), "ANIM"...)
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"nothing":                         {nil, ErrUnknown},
		"a text":                          {[]byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), ErrUnknown},
		"a GIF":                           {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), ErrUnknown},
		"a JPEG that is cut off":          {whole[:len(whole)/2], ErrDamaged},
		"only the beginning of a JPEG":    {whole[:3], ErrDamaged},
		"a PNG that is cut off":           {asPNG(t, picture(300, 200))[:200], ErrDamaged},
		"a PNG of 60,000 × 60,000":        {huge, ErrPixels},
		"a JPEG with a thousand scans":    {progressive(100, 100, 0x11, 1000), ErrScans},
		"a JPEG that is too large inside": {progressive(6000, 4000, 0x11, 1), ErrMemory},
		"an animated WebP":                {animated, ErrAnimated},
	} {
		if _, err := Process(c.file); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// progressive is a JPEG of one color with that many scans after the first, in few bytes. The sampling is that of the first
// component.
func progressive(width, height uint16, sampling byte, scans int) []byte {
	file := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}
	file = append(file, bytes.Repeat([]byte{1}, 64)...)
	file = append(file, 0xff, 0xc2, 0, 17, 8, byte(height>>8), byte(height), byte(width>>8), byte(width), 3, 1, sampling, 0, 2, 0x11, 0, 3, 0x11, 0)
	table := func(class, value byte) {
		file = append(file, 0xff, 0xc4, 0, 20, class, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, value)
	}
	table(0x00, 0x00)                                                        // one bit: no difference
	table(0x10, 0xe0)                                                        // one bit and 14 more: 16,384 empty blocks
	file = append(file, 0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0)     // the first scan has one bit a block
	file = append(file, make([]byte, int(width)*int(height)*3/64/8+4096)...) // enough for every block
	for range scans {
		file = append(file, 0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0)
		file = append(file, make([]byte, int(width)*int(height)/64/16384*2+64)...)
	}
	return append(file, 0xff, 0xd9)
}

// What a file may cost is bounded, whatever it is. The log says how long the worst ones take.
func TestTheWorstFilesStayWithinTheirMemory(t *testing.T) {
	for name, file := range map[string][]byte{
		"a PNG of 24 million deep pixels":       asPNG(t, image.NewNRGBA64(image.Rect(0, 0, 6000, 4000))),
		"a JPEG of 24 million pixels":           asJPEG(t, image.NewRGBA(image.Rect(0, 0, 6000, 4000))),
		"a progressive JPEG with all its scans": progressive(6000, 4000, 0x22, maxScans-1),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		if _, err := Process(file); err != nil {
			t.Errorf("%s of %d bytes: %v", name, len(file), err)
		}
		runtime.ReadMemStats(&after)
		const beside = 64 << 20 // for the results
		if took := after.TotalAlloc - before.TotalAlloc; took > MaxMemory+beside {
			t.Errorf("%s took %d MiB", name, took>>20)
		} else {
			t.Logf("%s, %d bytes: %d MiB in %s", name, len(file), took>>20, time.Since(began))
		}
	}
}

// FuzzProcess reads anything as an image. It takes no more memory than it may, and what it makes is a JPEG within its
// bounds that says nothing but its pixels.
func FuzzProcess(f *testing.F) {
	f.Add(asJPEG(f, picture(40, 30)))
	f.Add(withExif(f, asJPEG(f, picture(40, 30)), 6))
	f.Add(asPNG(f, picture(40, 30)))
	f.Add(withExif(f, asPNG(f, picture(40, 30)), 8))
	f.Add(asJPEG(f, picture(400, 300))[:900])
	f.Add(progressive(64, 64, 0x22, 3))
	f.Add(progressive(64, 64, 0x11, 1000))
	f.Fuzz(func(t *testing.T, file []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, err := Process(file)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > MaxMemory+64<<20 {
			t.Fatalf("it took %d MiB", took>>20)
		}
		if err != nil {
			return
		}
		for side, made := range map[int][]byte{LargeSide: result.Large, SmallSide: result.Small} {
			size := decodeJPEG(t, made).Bounds().Size()
			if max(size.X, size.Y) > side || min(size.X, size.Y) < 1 {
				t.Errorf("it is %v", size)
			}
			if bytes.Contains(made, []byte{0xff, 0xe1}) {
				t.Error("it has metadata")
			}
		}
	})
}
