// Package drawing has what the parts of a model look like. A part is drawn by strokes on a canvas of
// Width by Height units. A page shows the path of a stroke as it is, in an SVG with this view box, and
// package shelf renders the same strokes as a picture.
package drawing

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// The canvas of a model, in units.
const (
	Width  = 640
	Height = 360
)

// MaxPath is the longest path of a stroke, in bytes.
const MaxPath = 300

// Style is how a stroke is drawn.
type Style string

// The styles.
const (
	Line  Style = "LINE"
	Tube  Style = "TUBE"  // a thick line
	Chain Style = "CHAIN" // a dotted line
	Solid Style = "SOLID" // a line around a filled area
)

// Stroke is a part of a drawing.
type Stroke struct {
	_ struct{} `schema:"PartStroke"`

	Path  string `json:"path" dynamodbav:"path" minLength:"1" maxLength:"300" doc:"The path data of SVG on a canvas of 640 by 360: M, L, H, V, C, Q, A and Z, absolute and relative." example:"M80 262h144"`
	Style Style  `json:"style" dynamodbav:"style" enum:"LINE,TUBE,CHAIN,SOLID" doc:"A line, a thick one, a dotted one, or one around a filled area."`
}

// Point is a point of the canvas.
type Point struct{ X, Y float64 }

// Polyline is a part of a path that is drawn without lifting the pen, as straight segments.
type Polyline []Point

// pen reads a path.
type pen struct {
	rest      string
	at, start Point // where it is, and where the line began
	lines     []Polyline
}

// Errors of a path.
var (
	errLong    = fmt.Errorf("a path has at most %d bytes", MaxPath)
	errBegin   = errors.New("a path begins with M")
	errOutside = fmt.Errorf("a path stays on the canvas of %d by %d", Width, Height)
	errFlag    = errors.New("a flag of an arc is 0 or 1")
	errRadius  = errors.New("a radius of an arc is over 0")
)

// arguments is how many numbers follow a command. Further numbers repeat it.
var arguments = map[byte]int{'M': 2, 'L': 2, 'H': 1, 'V': 1, 'C': 6, 'Q': 4, 'A': 7, 'Z': 0}

// Lines returns the lines of the stroke's path, at least one of at least one point. Curves are divided
// into segments. An error says what is wrong with the path.
func (s Stroke) Lines() ([]Polyline, error) {
	if len(s.Path) > MaxPath {
		return nil, errLong
	}

	p := pen{rest: s.Path}

	for p.skip(); p.rest != ""; p.skip() {
		letter := p.rest[0]
		p.rest = p.rest[1:]
		command := letter &^ 0x20

		n, known := arguments[command]
		switch {
		case !known:
			return nil, fmt.Errorf("a path has no command %q: it has M, L, H, V, C, Q, A and Z", letter)
		case len(p.lines) == 0 && command != 'M':
			return nil, errBegin
		}

		for again := true; again; again = n > 0 && p.number() {
			args, err := p.numbers(n)
			if err != nil {
				return nil, err
			}

			if err := p.draw(command, letter != command, args); err != nil {
				return nil, err
			}

			if command == 'M' { // what follows are lines
				command, letter = 'L', letter&0x20|'L'
			}
		}
	}

	if len(p.lines) == 0 {
		return nil, errBegin
	}

	for _, l := range p.lines {
		for _, at := range l {
			if !(at.X >= 0 && at.X <= Width && at.Y >= 0 && at.Y <= Height) { // not a number, too
				return nil, errOutside
			}
		}
	}

	return p.lines, nil
}

// skip skips spaces and commas.
func (p *pen) skip() {
	for p.rest != "" && (p.rest[0] == ' ' || p.rest[0] == ',') {
		p.rest = p.rest[1:]
	}
}

// number reports whether a number follows.
func (p *pen) number() bool {
	p.skip()
	return p.rest != "" && (p.rest[0] == '-' || p.rest[0] == '.' || p.rest[0] >= '0' && p.rest[0] <= '9')
}

// numbers reads n numbers.
func (p *pen) numbers(n int) ([]float64, error) {
	all := make([]float64, 0, 7)

	for range n {
		p.skip()

		end, dot := 0, false
		for ; end < len(p.rest); end++ {
			c := p.rest[end]
			if c == '.' && !dot {
				dot = true
				continue
			}

			if (c < '0' || c > '9') && (c != '-' || end > 0) {
				break
			}
		}

		v, err := strconv.ParseFloat(p.rest[:end], 64)
		if err != nil {
			return nil, fmt.Errorf("a number is missing before %q", p.rest[:min(len(p.rest), 8)])
		}

		all, p.rest = append(all, v), p.rest[end:]
	}

	return all, nil
}

// draw carries out a command.
func (p *pen) draw(command byte, relative bool, a []float64) error {
	from := Point{}
	if relative {
		from = p.at
	}

	to := func(i int) Point { return Point{from.X + a[i], from.Y + a[i+1]} }

	switch command {
	case 'M':
		p.at = to(0)
		p.start = p.at
		p.lines = append(p.lines, Polyline{p.at})
	case 'L':
		p.line(to(0))
	case 'H':
		p.line(Point{from.X + a[0], p.at.Y})
	case 'V':
		p.line(Point{p.at.X, from.Y + a[0]})
	case 'C':
		p.curve(to(0), to(2), to(4))
	case 'Q': // as a cubic curve
		c, end := to(0), to(2)
		p.curve(Mix(p.at, c, 2./3), Mix(end, c, 2./3), end)
	case 'A':
		return p.arc(a, to(5))
	case 'Z':
		p.line(p.start)
	}

	return nil
}

// line draws to a point.
func (p *pen) line(to Point) {
	last := len(p.lines) - 1
	p.lines[last] = append(p.lines[last], to)
	p.at = to
}

// smooth is how many segments a curve, or a turn of an arc, has.
const smooth = 48

// curve draws a cubic Bézier curve.
func (p *pen) curve(c1, c2, to Point) {
	from := p.at

	for i := 1; i <= smooth/2; i++ {
		t := float64(i) / (smooth / 2)
		a, b, c := Mix(from, c1, t), Mix(c1, c2, t), Mix(c2, to, t)
		p.line(Mix(Mix(a, b, t), Mix(b, c, t), t))
	}
}

// Mix returns the point between two: a for a t of 0, and b for 1.
func Mix(a, b Point, t float64) Point { return Point{a.X + (b.X-a.X)*t, a.Y + (b.Y-a.Y)*t} }

// arc draws an arc of an ellipse: its radii, its rotation in degrees, whether the long way and whether
// clockwise, and its end. Source: SVG 2, appendix B.2.4, https://www.w3.org/TR/SVG2/implnote.html.
func (p *pen) arc(a []float64, to Point) error {
	rx, ry := a[0], a[1]

	switch {
	case a[3] != 0 && a[3] != 1, a[4] != 0 && a[4] != 1:
		return errFlag
	case rx <= 0 || ry <= 0:
		return errRadius
	case to == p.at:
		return nil
	}

	sin, cos := math.Sincos(a[2] * math.Pi / 180)
	dx, dy := (p.at.X-to.X)/2, (p.at.Y-to.Y)/2
	x, y := cos*dx+sin*dy, cos*dy-sin*dx

	if grow := x*x/(rx*rx) + y*y/(ry*ry); grow > 1 { // too small to reach
		rx, ry = rx*math.Sqrt(grow), ry*math.Sqrt(grow)
	}

	off := math.Sqrt(max(0, (rx*rx*ry*ry-rx*rx*y*y-ry*ry*x*x)/(rx*rx*y*y+ry*ry*x*x)))
	if a[3] == a[4] {
		off = -off
	}

	cx, cy := off*rx*y/ry, -off*ry*x/rx
	centre := Point{cos*cx - sin*cy + (p.at.X+to.X)/2, sin*cx + cos*cy + (p.at.Y+to.Y)/2}

	begin := math.Atan2((y-cy)/ry, (x-cx)/rx)
	turn := math.Atan2((-y-cy)/ry, (-x-cx)/rx) - begin

	switch clockwise := a[4] == 1; {
	case clockwise && turn < 0:
		turn += 2 * math.Pi
	case !clockwise && turn > 0:
		turn -= 2 * math.Pi
	}

	n := max(1, int(math.Ceil(smooth*math.Abs(turn)/(2*math.Pi))))
	for i := 1; i < n; i++ {
		s, c := math.Sincos(begin + turn*float64(i)/float64(n))
		p.line(Point{centre.X + rx*c*cos - ry*s*sin, centre.Y + rx*c*sin + ry*s*cos})
	}

	p.line(to)

	return nil
}
