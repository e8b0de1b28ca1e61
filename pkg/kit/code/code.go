// Package code makes what nobody may guess: the codes that users pass on to each other and type,
// such as the invitation to a league, and ids.
package code

import (
	"crypto/rand"
	"strings"
)

// Letters are those of Crockford's Base32, https://www.crockford.com/base32.html, which has
// no letters that look alike.
const Letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// Length is the length of a code. Eight letters are 40 bits.
const Length = 8

// New returns a random code.
func New() string {
	code := make([]byte, Length)
	rand.Read(code) // never fails

	for i, b := range code {
		code[i] = Letters[int(b)%len(Letters)]
	}

	return string(code)
}

var misread = strings.NewReplacer("I", "1", "L", "1", "O", "0", "-", "", " ", "")

// Read returns the code that a user has typed: in capitals, without hyphens and spaces, and
// with digits for the letters I, L and O, which look like them.
func Read(typed string) string { return misread.Replace(strings.ToUpper(typed)) }
