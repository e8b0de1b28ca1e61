package league

import (
	"crypto/rand"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxSlug is the longest slug.
const maxSlug = 40

// Slug returns a slug that is made of a name: "Straße 3!" is "stra-e-3".
func Slug(name string) string {
	var b strings.Builder

	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case !unicode.Is(unicode.Mn, r) && b.Len() > 0 && !strings.HasSuffix(b.String(), "-"): // not the accents
			b.WriteByte('-')
		}
	}

	slug := b.String()

	slug = strings.Trim(slug[:min(len(slug), maxSlug)], "-")
	if len(slug) < 3 {
		slug = "league-" + slug
	}

	return strings.Trim(slug, "-")
}

// apart returns a slug with random letters at its end: one that is taken says nothing of the league that
// has it.
func apart(slug string) string { return stem(slug) + strings.ToLower(rand.Text()[:letters]) }

// isApart reports whether apart may have made a slug of another.
func isApart(slug, of string) bool {
	rest, ok := strings.CutPrefix(slug, stem(of))
	return ok && len(rest) == letters && !strings.Contains(rest, "-")
}

const letters = 6

func stem(slug string) string { return strings.Trim(slug[:min(len(slug), 32)], "-") + "-" }
