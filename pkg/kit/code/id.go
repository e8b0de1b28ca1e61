package code

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
)

// NewID returns a new id, a ULID: 48 bits of the time, in milliseconds, by which ids sort, and 80
// random bits that nobody can predict from other ids. An id is no secret, because links and logs
// contain it: what only some may do needs a right beside the id.
func NewID(now time.Time) string {
	return ulid.MustNew(ulid.Timestamp(now), rand.Reader).String()
}

// NewUUID returns a random UUID, version 4 (RFC 9562).
func NewUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails

	return uuid(b, 4)
}

// UUIDOf returns the UUID of a list of texts, of version 8 of RFC 9562: always the same for the same
// list, and another for any other.
func UUIDOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}

	return uuid([16]byte(h.Sum(nil)), 8)
}

func uuid(b [16]byte, version byte) string {
	b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
