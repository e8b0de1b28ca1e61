package shelf

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"matchday/pkg/commitcollect/drawing"
)

// The size of a picture, in pixels: that of a preview of a link, https://ogp.me.
const (
	pictureWidth  = 1200
	pictureHeight = 630
)

// Where the model and its name are, in pixels.
const (
	scale    = 1.4 // pixels of a unit
	left     = (pictureWidth - drawing.Width*scale) / 2
	top      = 20
	baseline = 594
	nameMost = 1080 // the width of the name
)

// The colours.
var (
	paper = color.RGBA{0xfb, 0xfa, 0xf6, 0xff}
	ink   = image.NewUniform(color.RGBA{0x1d, 0x22, 0x1f, 0xff})
	frame = image.NewUniform(color.RGBA{0x16, 0x6b, 0x45, 0xff})
	area  = image.NewUniform(color.RGBA{0xbf, 0xdc, 0xcb, 0xff})
)

// pens are the widths of the styles, in units.
var pens = map[drawing.Style]float64{drawing.Line: 4, drawing.Tube: 10, drawing.Chain: 5, drawing.Solid: 4}

// The dots of a Chain, in units.
const (
	dot = 2
	gap = 7
)

// picture returns a picture of parts of a model as PNG, with the model's name below, and nothing else.
// The same parts give the same picture. The name is left out if the font lacks one of its characters:
// it has Latin, Greek and Cyrillic ones. An error says which path is wrong.
func picture(name string, parts ...[]drawing.Stroke) ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHeight))
	draw.Draw(img, img.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)

	c := canvas{img, image.NewAlpha(img.Bounds()), vector.NewRasterizer(pictureWidth, pictureHeight)}

	for _, strokes := range parts {
		for _, s := range strokes {
			lines, err := s.Lines()
			if err != nil {
				return nil, fmt.Errorf("the path %q: %w", s.Path, err)
			}

			c.stroke(lines, s.Style)
		}
	}

	if err := c.write(name); err != nil {
		return nil, err
	}

	var out bytes.Buffer

	err := png.Encode(&out, img)

	return out.Bytes(), err
}

// canvas is a picture that is drawn.
type canvas struct {
	img  *image.RGBA
	mask *image.Alpha // of the stroke that is drawn, empty between two
	fill *vector.Rasterizer
}

// stroke draws lines in a style.
func (c canvas) stroke(lines []drawing.Polyline, style drawing.Style) {
	var dirty image.Rectangle

	half := pens[style] * scale / 2

	for _, l := range lines {
		all := make(drawing.Polyline, len(l))
		for i, p := range l {
			all[i] = drawing.Point{X: left + p.X*scale, Y: top + p.Y*scale}
		}

		if style == drawing.Solid {
			c.area(all)
		}

		if len(all) == 1 {
			all = append(all, all[0])
		}

		if style == drawing.Chain {
			dots(all, func(from, to drawing.Point) { dirty = dirty.Union(c.segment(from, to, half)) })
			continue
		}

		for i := range all[1:] {
			dirty = dirty.Union(c.segment(all[i], all[i+1], half))
		}
	}

	draw.DrawMask(c.img, dirty, frame, image.Point{}, c.mask, dirty.Min, draw.Over)
	draw.Draw(c.mask, dirty, image.Transparent, image.Point{}, draw.Src)
}

// area fills what a line is around.
func (c canvas) area(l drawing.Polyline) {
	box := boxOf(0, l...).Intersect(c.img.Rect)
	c.fill.Reset(box.Dx(), box.Dy())

	for i, p := range l {
		x, y := float32(p.X-float64(box.Min.X)), float32(p.Y-float64(box.Min.Y))
		if i == 0 {
			c.fill.MoveTo(x, y)
			continue
		}

		c.fill.LineTo(x, y)
	}

	c.fill.ClosePath()
	c.fill.Draw(c.img, box, area, image.Point{})
}

// boxOf returns the pixels that are within a distance of the points.
func boxOf(reach float64, points ...drawing.Point) image.Rectangle {
	least, most := points[0], points[0]
	for _, p := range points {
		least = drawing.Point{X: min(least.X, p.X), Y: min(least.Y, p.Y)}
		most = drawing.Point{X: max(most.X, p.X), Y: max(most.Y, p.Y)}
	}

	return image.Rect(int(least.X-reach), int(least.Y-reach), int(most.X+reach)+1, int(most.Y+reach)+1)
}

// segment adds a line with round ends to the mask, and returns the rectangle that it may have changed.
// A pixel is covered by how far it is inside the line, at most one pixel: so segments that meet or
// cross do not show where.
func (c canvas) segment(from, to drawing.Point, half float64) image.Rectangle {
	reach := half + 0.5
	dx, dy := to.X-from.X, to.Y-from.Y
	long := dx*dx + dy*dy

	box := boxOf(reach, from, to).Intersect(c.mask.Rect)

	for y := box.Min.Y; y < box.Max.Y; y++ {
		py := float64(y) + 0.5

		// The part of the segment that can reach this row.
		t0, t1 := 0., 1.
		if dy != 0 {
			a, b := (py-reach-from.Y)/dy, (py+reach-from.Y)/dy
			t0, t1 = max(0, min(a, b)), min(1, max(a, b))
		}

		x0, x1 := from.X+dx*t0, from.X+dx*t1
		row := c.mask.Pix[c.mask.PixOffset(0, y):]

		for x := max(box.Min.X, int(min(x0, x1)-reach)); x < min(box.Max.X, int(max(x0, x1)+reach)+1); x++ {
			px := float64(x) + 0.5

			t := 0.
			if long > 0 {
				t = min(1, max(0, ((px-from.X)*dx+(py-from.Y)*dy)/long))
			}

			awayX, awayY := px-from.X-dx*t, py-from.Y-dy*t
			inside := reach - math.Sqrt(awayX*awayX+awayY*awayY)
			row[x] = max(row[x], uint8(255*min(1, max(0, inside))+0.5))
		}
	}

	return box
}

// dots divides a line into the dots of a Chain.
func dots(l drawing.Polyline, draw func(from, to drawing.Point)) {
	left, drawn := dot*scale, true // of what is drawn or left out

	for i := range l[1:] {
		from, to := l[i], l[i+1]

		for {
			far := math.Hypot(to.X-from.X, to.Y-from.Y)
			if far <= left {
				if drawn {
					draw(from, to)
				}

				left -= far

				break
			}

			next := drawing.Mix(from, to, left/far)
			if drawn {
				draw(from, next)
				left = gap * scale
			} else {
				left = dot * scale
			}

			from, drawn = next, !drawn
		}
	}
}

// letters is the font of the name.
var letters = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(gomedium.TTF) })

// The sizes of the name, in pixels: a long one is smaller.
const (
	nameSize = 54
	nameMin  = 22
)

// write writes the name in the middle, unless the font lacks a character.
func (c canvas) write(name string) error {
	f, err := letters()
	if err != nil {
		return err
	}

	var buffer sfnt.Buffer

	for _, r := range name {
		if i, err := f.GlyphIndex(&buffer, r); err != nil || i == 0 {
			return err
		}
	}

	for size := float64(nameSize); ; size -= 4 {
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
		if err != nil {
			return err
		}

		width := font.MeasureString(face, name)
		if width.Ceil() > nameMost && size > nameMin {
			continue
		}

		d := font.Drawer{Dst: c.img, Src: ink, Face: face, Dot: fixed.Point26_6{
			X: (fixed.I(pictureWidth) - width) / 2, Y: fixed.I(baseline),
		}}
		d.DrawString(name)

		return nil
	}
}

// bead returns what stands for part n, from 1 to model.MaxParts, of a model without a drawing: a disc in
// the place of the part.
func bead(n int) []drawing.Stroke {
	x, y := 44+152*((n-1)%4), 80+110*((n-1)/4)
	return []drawing.Stroke{{Style: drawing.Solid, Path: fmt.Sprintf("M%d %da44 44 0 1 1 88 0a44 44 0 1 1-88 0z", x, y)}}
}
