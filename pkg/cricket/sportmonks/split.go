package sportmonks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Entry is one fixture of a body, not decoded.
type Entry struct {
	ID  string // the fixture's id, decimal; empty with Err
	Raw []byte // its JSON, inside the body that was split
	Sum string // 32 hex digits of SHA-256 over Raw: equal in every process
	Err error  // why this entry is no fixture
}

// Split cuts the body of /livescores, /fixtures or /fixtures/{id} into its
// fixtures, in order. It looks no deeper than each fixture's id, so a fixture
// that is broken inside comes out whole, for Decode to refuse. HTML, a body cut
// short and anything without "data" is an Error of kind Malformed.
func Split(body []byte) ([]Entry, error) {
	s := scan{b: body}
	var entries []Entry
	found := false
	ok := s.members(func(name []byte) bool {
		if found || string(name) != "data" {
			return s.skip()
		}
		found = true
		switch s.peek() {
		case '{':
			entries = append(entries, s.entry())
			return s.ok()
		case '[':
			return s.elements(func() bool {
				entries = append(entries, s.entry())
				return s.ok()
			})
		default:
			found = false
			return s.skip()
		}
	})
	switch {
	case !ok || s.peek() != 0:
		return nil, malformed(body, "body is cut short or no JSON")
	case !found:
		return nil, malformed(body, "body has no data")
	}
	return entries, nil
}

// scan walks JSON by its brackets and quotes alone. i is -1 once it failed.
type scan struct {
	b []byte
	i int
}

func (s *scan) ok() bool { return s.i >= 0 }

func (s *scan) fail() bool { s.i = -1; return false }

// peek is the next byte that is no white space, or 0 at the end or after a failure.
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

// entry cuts the value that comes.
func (s *scan) entry() Entry {
	c := s.peek()
	start := s.i
	var id []byte
	if c != '{' {
		s.skip()
	} else {
		s.members(func(name []byte) bool {
			if string(name) != "id" || id != nil {
				return s.skip()
			}
			s.peek()
			from := s.i
			if !s.skip() {
				return false
			}
			id = bytes.Trim(s.b[from:s.i], "\" \t\r\n")
			return true
		})
	}
	if !s.ok() {
		return Entry{}
	}
	e := Entry{Raw: s.b[start:s.i:s.i]}
	n, err := strconv.Atoi(string(id))
	if err != nil || n <= 0 {
		e.Err = malformed(e.Raw, "fixture has no id")
		return e
	}
	e.ID = strconv.Itoa(n)
	sum := sha256.Sum256(e.Raw)
	e.Sum = hex.EncodeToString(sum[:16])
	return e
}

// members calls value before each member's value, which it must pass.
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

// elements calls value before each element, which it must pass.
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

// skip passes one value.
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

// text passes a string.
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

// malformed says what body is instead, and shows how it begins.
func malformed(body []byte, what string) error {
	start := bytes.TrimSpace(body)
	start = start[:min(len(start), 60)]
	return &Error{Kind: Malformed, Msg: what + ": starts " + strconv.QuoteToASCII(string(start))}
}
