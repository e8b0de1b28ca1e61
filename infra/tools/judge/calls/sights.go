package calls

import (
	"hash/maphash"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sights is what the recorded calls have shown. Its keys are hashes of an operation, the members
// on the way into its input, and what is there.
type sights struct {
	shapes map[reflect.Type]shape
	been   map[uint64]bool    // structures by the members that are set, and values of enumerations
	spans  map[uint64]*spread // texts, numbers and lengths
	fresh  bool               // the call shows something new
}

// shape is what a walk needs of a type.
type shape struct {
	kind   kind
	fields []field
}

// spread is what the values at one place have shown.
type spread struct {
	least, most        float64
	chars, first, last alphabet
}

// alphabet is a set of characters: those of ASCII, then kinds of others, then what a text ends with.
type alphabet [3]uint64

func (a *alphabet) add(bit uint) { a[bit/64] |= 1 << (bit % 64) }

// join adds the characters of b, and reports whether any is new.
func (a *alphabet) join(b alphabet) (fresh bool) {
	for i := range a {
		fresh = fresh || b[i]&^a[i] != 0
		a[i] |= b[i]
	}

	return fresh
}

// Steps into a value that is no structure, mixed into the key of its place.
const (
	element uint64 = 1<<32 + iota
	name
	value
	length
	volume
	set
)

var seed = maphash.MakeSeed()

// mix returns the key of a place below another.
func mix(place, step uint64) uint64 {
	x := place ^ (step+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9

	return x ^ x>>27
}

// news notes what a call shows, and reports whether any of it is new.
func (s *sights) news(service, operation string, input reflect.Value) bool {
	if s.shapes == nil {
		s.shapes, s.been, s.spans = map[reflect.Type]shape{}, map[uint64]bool{}, map[uint64]*spread{}
	}

	place := maphash.String(seed, service+"."+operation)
	s.fresh = false

	size := s.walk(place, input)
	s.span(mix(place, volume), size)

	return s.fresh
}

// walk notes a value, and returns about how many bytes it has.
func (s *sights) walk(place uint64, v reflect.Value) (size int) {
	v = follow(v)
	is := s.shapeOf(v.Type())

	switch is.kind {
	case structure:
		members := mix(place, set)

		for _, f := range is.fields {
			if m := v.Field(f.index); f.present(m) {
				members = mix(members, uint64(f.index))
				size += s.walk(mix(place, uint64(f.index)), m)
			}
		}

		s.visit(members)
	case list:
		for i := range v.Len() {
			size += s.walk(mix(place, element), v.Index(i))
		}

		s.span(mix(place, length), v.Len())
		s.span(mix(place, volume), size)
	case table:
		for key, of := range v.Seq2() {
			size += s.walk(mix(place, name), key) + s.walk(mix(place, value), of)
		}

		s.span(mix(place, length), v.Len())
		s.span(mix(place, volume), size)
	case text:
		s.text(place, v.String())
		return v.Len()
	case enum:
		s.visit(mix(place, maphash.String(seed, v.String())))
		return v.Len()
	case whole:
		s.span(place, int(v.Int()))
	case real:
		s.number(place, v.Float())
	case blob:
		s.span(place, v.Len())
		return v.Len()
	case stream:
		size = sizeOf(v)
		s.span(place, size)
	case union:
		member, of := memberOf(v)
		place = mix(place, maphash.String(seed, member))
		s.visit(place)

		return s.walk(place, of)
	case truth, moment: // any value is valid
		return 1
	}

	return size
}

func (s *sights) shapeOf(t reflect.Type) shape {
	is, ok := s.shapes[t]
	if !ok {
		if is.kind = kindOf(t); is.kind == structure {
			is.fields = fieldsOf(t)
		}

		s.shapes[t] = is
	}

	return is
}

func (s *sights) visit(place uint64) {
	if !s.been[place] {
		s.been[place], s.fresh = true, true
	}
}

func (s *sights) span(place uint64, n int) { s.number(place, float64(n)) }

// number notes a number, or the length of something, and returns what was at its place.
func (s *sights) number(place uint64, n float64) *spread {
	at := s.spans[place]
	if at == nil {
		at = &spread{least: n, most: n}
		s.spans[place], s.fresh = at, true
	}

	if n < at.least || n > at.most {
		at.least, at.most, s.fresh = min(at.least, n), max(at.most, n), true
	}

	return at
}

// fifo ends the name of a queue that takes other members than the queues without it.
const fifo = ".fifo"

// The bits of an alphabet after those of ASCII.
const (
	letter uint = 128 + iota
	mark
	digit
	punctuation
	space
	other
	beyond // the 16 bits of UTF-16
	ofFIFO
)

func (s *sights) text(place uint64, t string) {
	var chars, first, last alphabet

	for i := 0; i < len(t); i++ {
		if c := t[i]; c < utf8.RuneSelf {
			chars.add(uint(c))
			continue
		}

		r, n := utf8.DecodeRuneInString(t[i:])
		i += n - 1
		chars.add(kindOfRune(r))

		if r > 0xffff {
			chars.add(beyond)
		}
	}

	if strings.HasSuffix(t, fifo) {
		chars.add(ofFIFO)
	}

	if t != "" {
		first.add(group(t[0]))
		last.add(group(t[len(t)-1]))
	}

	at := s.number(place, float64(len(t)))
	// Each has to join, also if the one before was new.
	fresh := at.chars.join(chars)
	fresh = at.first.join(first) || fresh
	s.fresh = at.last.join(last) || fresh || s.fresh
}

// group returns one character for all letters and digits of its kind, and for all bytes beyond
// ASCII.
func group(c byte) uint {
	switch {
	case c >= utf8.RuneSelf:
		return letter
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= 'A' && c <= 'Z':
		return 'A'
	case c >= '0' && c <= '9':
		return '0'
	}

	return uint(c)
}

func kindOfRune(r rune) uint {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsMark(r):
		return mark
	case unicode.IsNumber(r):
		return digit
	case unicode.IsPunct(r), unicode.IsSymbol(r):
		return punctuation
	case unicode.IsSpace(r):
		return space
	}

	return other
}
