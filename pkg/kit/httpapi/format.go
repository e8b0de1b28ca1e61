package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/text/unicode/norm"
)

// Formats of strings. A field of a body has one by the tag format:"display-name",
// format:"email" or format:"uuid", and a parameter by format:"uuid".
const (
	displayName = "display-name"
	email       = "email"
	uuid        = "uuid"
)

// Bounds of a display name in characters, unless a field has other ones.
const (
	minDisplayName = 1
	maxDisplayName = 40
)

// maxEmail is the longest address in bytes. An address is the user name of its account, and
// Cognito takes at most 128 characters: API reference, AdminCreateUser. Mail takes 254 (RFC 5321,
// 4.5.3.1.3).
const maxEmail = 128

// DisplayName returns a name as it is stored: in Unicode's form NFC, without white
// space around it. It returns an error unless the name has 1 to 40 printable
// characters, at least one of them visible. Control characters, zero-width characters
// and those that change the direction of text are refused. So is what programs for mail show as a
// link, because mails to strangers contain names.
func DisplayName(name string) (string, error) {
	return displayed(name, minDisplayName, maxDisplayName)
}

// linked finds addresses of pages and mailboxes in Unicode's form NFKC, which programs for mail and browsers
// make of a host: "://", "@" within a word, and a dot between a word with a letter or two digits and two
// letters, as in example.com and 163.com, but not in 1.FC, St. Pauli or A.C. Milan.
var linked = regexp.MustCompile(`://|[^\s]@[^\s]|([\pL\pM][\pL\pM\pN-]*|\pN{2})[.\x{3002}](\pL{2}|xn--)`)

// displayed is DisplayName with other bounds. An empty name is valid if least is 0. A name of
// white space alone is never valid.
func displayed(name string, least, most int) (string, error) {
	if !utf8.ValidString(name) {
		return "", errors.New("expected valid UTF-8")
	}

	whole := norm.NFC.String(name)

	name = strings.TrimSpace(whole)
	if utf8.RuneCountInString(name) < least || utf8.RuneCountInString(whole) > most { // the schema counts white space, too
		return "", fmt.Errorf("expected %d to %d characters", least, most)
	}

	visible, marks := whole == "", 0
	for _, r := range name {
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}

		if marks > maxMarks {
			return "", fmt.Errorf("expected at most %d marks on a letter", maxMarks)
		}

		if !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point) || strings.ContainsRune(blank, r) {
			return "", fmt.Errorf("expected printable characters only: U+%04X is none", r)
		}

		visible = visible || unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
	}

	if !visible {
		return "", errors.New("expected a visible character")
	}

	if most <= maxDisplayName && linked.MatchString(norm.NFKC.String(name)) { // longer texts are those of administrators
		return "", errors.New("expected no address of a page or a mailbox: a dot between words needs a space")
	}

	return name, nil
}

// blank are symbols that count as printable, but are drawn as nothing or replace a character
// that cannot be drawn.
const blank = "\u2800\ufffc\ufffd\U0001d159"

// maxMarks is the maximum of combining marks on one letter. No language uses more; more would be
// drawn over the lines above and below.
const maxMarks = 4

// TimeZone returns a time zone by its name in the IANA database. Other files of the database,
// such as "posixrules", and the copies of the zones in folders such as "right" are refused.
func TimeZone(name string) (*time.Location, error) {
	if name == "" || name[0] < 'A' || name[0] > 'Z' || name == "Local" || name == "Factory" {
		return nil, errTimeZone
	}

	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errTimeZone
	}

	return zone, nil
}

var errTimeZone = errors.New("unknown time zone: valid are names of the IANA database, such as Asia/Kolkata")

// address matches a mail address: an atom with dots, and a host name of two or more
// labels (RFC 5321, 4.1.2). Quoted local parts, comments, address literals and
// addresses beyond ASCII are refused: no mail service of the fleet delivers to them.
var address = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*" +
	`@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// maxLocal is the longest part before the @, in bytes (RFC 5321, 4.5.3.1.1).
const maxLocal = 64

// checkAddress returns an error unless text is one mail address.
func checkAddress(text string) error {
	if len(text) > maxEmail || strings.IndexByte(text, '@') > maxLocal || !address.MatchString(text) {
		return errors.New("expected one e-mail address such as ann@example.com")
	}

	return nil
}

var hyphenated = regexp.MustCompile("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")

// canonical returns a UUID in lower case, as databases write it and as keys contain it. Both
// cases are accepted (RFC 9562, 4). Braces, a prefix and a UUID without hyphens are refused.
func canonical(text string) (string, error) {
	text = strings.ToLower(text)
	if !hyphenated.MatchString(text) {
		return "", errors.New("expected a UUID such as 5b0e9a52-7c43-4a6f-9d18-000000000001")
	}

	return text, nil
}

// canonicalParameters returns the middleware that writes the UUIDs in the path and the query
// in their canonical form.
func canonicalParameters(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		for _, p := range ctx.Operation().Parameters {
			if p.Schema.Format != uuid {
				continue
			}

			var query url.Values

			given := r.PathValue(p.Name)
			if p.In == "query" {
				query = r.URL.Query()
				given = query.Get(p.Name)
			}

			if given == "" {
				continue
			}

			id, err := canonical(given)
			if err != nil {
				huma.WriteErr(api, ctx, http.StatusUnprocessableEntity, "validation failed", at(p.In+"."+p.Name, err.Error())...)
				return
			}

			if p.In == "query" {
				query.Set(p.Name, id)
				r.URL.RawQuery = query.Encode()
			} else {
				r.SetPathValue(p.Name, id)
			}
		}

		next(ctx)
	}
}

// formatted returns a string as a field with the schema's format stores it.
func formatted(s *huma.Schema, text string) (string, error) {
	switch s.Format {
	case displayName:
		least, most := minDisplayName, maxDisplayName
		if s.MinLength != nil {
			least = *s.MinLength
		}

		if s.MaxLength != nil {
			most = *s.MaxLength
		}

		return displayed(text, least, most)
	case email:
		return text, checkAddress(text)
	case uuid:
		return canonical(text)
	}

	return text, nil
}
