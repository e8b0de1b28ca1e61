package sportmonks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Entry is a fixture of a body, not decoded.
type Entry struct {
	ID     string // the fixture's id in decimal; "" if Err is set
	League string // the id of its league in decimal; "" if it has none
	Raw    []byte // its JSON, a part of the body
	At     int    // where Raw begins in the body
	Sum    string // checksum: 32 hex digits of the SHA-256 of Raw
	Err    error  // why the entry is no fixture
}

// Split returns the fixtures in a body of /livescores, /fixtures or /fixtures/{id}, in order. It
// reads only the ids of each fixture and of its league, so that an error inside one is left to
// Decode and does not affect the others. HTML, a truncated body and a body without "data" are an
// Error of kind Malformed. With the error of a truncated body Split returns the fixtures that it
// has whole.
func Split(body []byte) ([]Entry, error) {
	s := scan{b: body}

	var entries []Entry

	found := false
	add := func() bool {
		e := s.entry()
		if s.ok() {
			entries = append(entries, e)
		}

		return s.ok()
	}

	ok := s.members(func(name []byte) bool {
		if found || string(name) != "data" {
			return s.skip()
		}

		found = true

		switch s.peek() {
		case '{':
			return add()
		case '[':
			return s.elements(add)
		default:
			found = false
			return s.skip()
		}
	})
	switch {
	case !ok || s.peek() != 0:
		if n := len(entries); n > 0 && entries[n-1].Err != nil { // the start of a number, maybe
			entries = entries[:n-1]
		}

		return entries, malformed(body, "body is cut short or is not JSON")
	case !found:
		return nil, malformed(body, "body has no data")
	}

	return entries, nil
}

// scan reads JSON by its brackets and quotes only. i is -1 after an error.
type scan struct {
	b []byte
	i int
}

func (s *scan) ok() bool { return s.i >= 0 }

func (s *scan) fail() bool { s.i = -1; return false }

// peek returns the next byte that is no white space, or 0 at the end and after an error.
func (s *scan) peek() byte {
	for s.i >= 0 && s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}

	return 0
}

// entry reads the next value as an Entry.
func (s *scan) entry() Entry {
	c := s.peek()
	start := s.i

	var id, league string

	if c != '{' {
		s.skip()
	} else {
		s.members(func(name []byte) bool {
			var to *string

			switch string(name) {
			case "id":
				to = &id
			case "league_id":
				to = &league
			}

			if to == nil || *to != "" {
				return s.skip()
			}

			s.peek()

			from := s.i
			if !s.skip() {
				return false
			}

			*to = number(s.b[from:s.i])

			return true
		})
	}

	if !s.ok() {
		return Entry{}
	}

	e := Entry{ID: id, League: league, Raw: s.b[start:s.i:s.i], At: start}
	if id == "" {
		e.Err = malformed(e.Raw, "fixture has no id")
		return e
	}

	sum := sha256.Sum256(e.Raw)
	e.Sum = hex.EncodeToString(sum[:16])

	return e
}

// number returns a positive whole number, which may be a string in JSON, in decimal. It
// returns "" for anything else.
func number(raw []byte) string {
	n, err := strconv.Atoi(string(bytes.Trim(raw, "\" \t\r\n")))
	if err != nil || n <= 0 {
		return ""
	}

	return strconv.Itoa(n)
}

// members reads an object. It calls value before the value of each member, which value
// must read.
func (s *scan) members(value func(name []byte) bool) bool {
	if s.peek() != '{' {
		return s.fail()
	}

	s.i++
	if s.peek() == '}' {
		s.i++
		return true
	}

	for {
		if s.peek() != '"' {
			return s.fail()
		}

		from := s.i + 1
		if !s.text() {
			return false
		}

		name := s.b[from : s.i-1]
		if s.peek() != ':' {
			return s.fail()
		}

		s.i++
		if !value(name) {
			return s.fail()
		}

		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.i++
			return true
		default:
			return s.fail()
		}
	}
}

// elements reads an array. It calls value before each element, which value must read.
func (s *scan) elements(value func() bool) bool {
	s.i++
	if s.peek() == ']' {
		s.i++
		return true
	}

	for {
		if !value() {
			return s.fail()
		}

		switch s.peek() {
		case ',':
			s.i++
		case ']':
			s.i++
			return true
		default:
			return s.fail()
		}
	}
}

// skip skips one value.
func (s *scan) skip() bool {
	switch s.peek() {
	case 0, ',', ':', '}', ']':
		return s.fail()
	case '"':
		return s.text()
	case '{', '[':
		depth := 0

		for s.i < len(s.b) {
			switch s.b[s.i] {
			case '"':
				if !s.text() {
					return false
				}

				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					s.i++
					return true
				}
			}

			s.i++
		}

		return s.fail()
	}

	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return true
		}

		s.i++
	}

	return true
}

// text skips a string.
func (s *scan) text() bool {
	s.i++
	for {
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			return s.fail()
		}

		s.i += n + 1

		escapes := 0
		for s.b[s.i-2-escapes] == '\\' {
			escapes++
		}

		if escapes%2 == 0 {
			return true
		}
	}
}

// malformed returns an Error of kind Malformed that quotes the first 60 bytes of body.
func malformed(body []byte, what string) error {
	start := bytes.TrimSpace(body)
	start = start[:min(len(start), 60)]

	return &Error{Kind: Malformed, Msg: what + ": starts " + strconv.QuoteToASCII(string(start))}
}
