package photo

import (
	"image"
	"image/draw"
)

// shrink returns the image with at most side pixels on its longer side, and white where it is transparent. Each pixel of
// the result is the average of the pixels that it covers.
func shrink(src image.Image, side int) *image.RGBA {
	from := src.Bounds()
	width, height := from.Dx(), from.Dy()
	if longer := max(width, height); longer > side {
		width, height = max(1, width*side/longer), max(1, height*side/longer)
	}
	columns, rows := shares(from.Dx(), width), shares(from.Dy(), height)
	row := image.NewRGBA(image.Rect(0, 0, from.Dx(), 1))
	line, sums := make([]float32, 3*width), make([]float32, 3*width*height)
	for y, share := range rows {
		onWhite(row, src, image.Pt(from.Min.X, from.Min.Y+y))
		average(row.Pix, columns, line)
		share.add(sums, 3*width, line)
	}
	into := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		for c := range 3 {
			into.Pix[4*i+c] = uint8(sums[3*i+c] + 0.5)
		}
		into.Pix[4*i+3] = 0xff
	}
	return into
}

// onWhite draws the row of src that begins at that point.
func onWhite(row *image.RGBA, src image.Image, at image.Point) {
	layered, ok := src.(*image.NYCbCrA)
	if !ok {
		draw.Draw(row, row.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(row, row.Rect, src, at, draw.Over)
		return
	}
	// Package draw has no fast way for this color model, which a WebP with an alpha channel has.
	draw.Draw(row, row.Rect, &layered.YCbCr, at, draw.Src)
	for x, alpha := range layered.A[layered.AOffset(at.X, at.Y):][:row.Rect.Dx()] {
		for c := range 3 {
			p := &row.Pix[4*x+c]
			*p = uint8((uint(*p)*uint(alpha) + 0xff*uint(0xff-alpha)) / 0xff)
		}
	}
}

// share says how much of a pixel, or of a row of pixels, goes into the result: into the one at that place, and into the
// one after it.
type share struct {
	at          int
	here, after float32
}

// shares distributes n pixels over m, which are not more.
func shares(n, m int) []share {
	scale := float64(m) / float64(n)
	all := make([]share, n)
	for i := range all {
		at := i * m / n
		here := min(scale, float64(at+1)-float64(i)*scale)
		all[i] = share{at, float32(here), float32(max(0, scale-here))}
		if at == m-1 {
			all[i].after = 0 // what rounding leaves
		}
	}
	return all
}

// add adds its share of a row to the rows of the result, which have that length.
func (s share) add(sums []float32, length int, row []float32) {
	here := sums[s.at*length:][:length]
	for i, v := range row {
		here[i] += v * s.here
	}
	if s.after > 0 {
		after := sums[(s.at+1)*length:][:length]
		for i, v := range row {
			after[i] += v * s.after
		}
	}
}

// average shrinks one row of RGBA pixels to a line of red, green and blue.
func average(pix []uint8, columns []share, line []float32) {
	clear(line)
	for x, s := range columns {
		p, into := pix[4*x:4*x+3], line[3*s.at:]
		for c := range 3 {
			into[c] += float32(p[c]) * s.here
		}
		if s.after > 0 {
			for c := range 3 {
				into[3+c] += float32(p[c]) * s.after
			}
		}
	}
}

// upright turns and mirrors an image as its EXIF orientation says.
func upright(src *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return src
	}
	width, height := src.Rect.Dx(), src.Rect.Dy()
	size := image.Rect(0, 0, width, height)
	if orientation >= 5 { // its sides change places
		size = image.Rect(0, 0, height, width)
	}
	into := image.NewRGBA(size)
	for y := range height {
		for x := range width {
			toX, toY := turn(x, y, width-1, height-1, orientation)
			into.SetRGBA(toX, toY, src.RGBAAt(x, y))
		}
	}
	return into
}

// turn is where a pixel goes in an image whose last column and row are right and bottom.
func turn(x, y, right, bottom, orientation int) (int, int) {
	switch orientation {
	case 2:
		return right - x, y
	case 3:
		return right - x, bottom - y
	case 4:
		return x, bottom - y
	case 5:
		return y, x
	case 6:
		return bottom - y, x
	case 7:
		return bottom - y, right - x
	case 8:
		return y, right - x
	}
	return x, y
}
