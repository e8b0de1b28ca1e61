package attack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"matchday/infra/tools/mutation"
	"matchday/pkg/spec"
)

// answer is an answer of the API.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// internal are patterns of what only the inside of the system says, by a word in lower case
// that each match has: to look for a word takes a fraction of the time of a pattern.
var internal = patterns(map[string]string{
	"go ":        `Go (struct|value)`,
	"huma":       `\bhuma\b`,
	"goroutine ": `goroutine \d`,
	".go:":       `\.go:\d+`,
	"matchday/":  `matchday/(pkg|infra|functions)`,
	"error":      `\b[a-z]+\.[A-Z]\w+Error\b`,
	"put":        `\b[a-z]+\.[A-Z]\w+(Input|Output)\b`,
	"body":       `\b[a-z]+\.[A-Z]\w+Body\b`,
	"exception":  `\w+Exception\b`,
	"time.":      `\*?time\.(Time|Parse)`,
	"context ":   `context (deadline|canceled)`,
	"pgx":        `\bpgx\b`,
	"violates ":  `violates (check|unique|foreign)`,
	"redis":      `\bredis\b`,
}, "dynamo", "runtime error", "panic:", "github.com/", "golang", "encoding/json", "json: ", "strconv.", "reflect.", "unmarshal",
	"operation error", "https response error",
	"map[string", "interface {", "[]uint8", "parsing time", "arn:aws", "sqlite", "schema validation failed", "nil pointer", "invalid memory",
	"sqlstate", "postgres", "duplicate key", `relation "`, "wrongtype", "crossslot")

// patterns adds words, which are patterns of themselves.
func patterns(by map[string]string, words ...string) map[string]*regexp.Regexp {
	for _, w := range words {
		by[w] = regexp.QuoteMeta(w)
	}

	all := map[string]*regexp.Regexp{}
	for word, pattern := range by {
		all[word] = regexp.MustCompile("(?i)" + pattern)
	}

	return all
}

// internalIn returns the first part of a text that only the inside of the system says, the
// longest if there are several, and "" for none.
func internalIn(text string) (found string) {
	lower, first := strings.ToLower(text), len(text)
	for word, pattern := range internal {
		if !strings.Contains(lower, word) {
			continue
		}

		if at := pattern.FindStringIndex(text); at != nil && (at[0] < first || at[0] == first && at[1]-at[0] > len(found)) {
			first, found = at[0], text[at[0]:at[1]]
		}
	}

	return found
}

// addresses are those of services. A refusal has none; another answer may link to a file.
var addresses = regexp.MustCompile(`amazonaws\.com|127\.0\.0\.1|localhost:\d`)

// gateway are the refusals of API Gateway, which no function sees.
var gateway = map[int]string{
	http.StatusUnauthorized: "Unauthorized", http.StatusNotFound: "Not Found", http.StatusRequestEntityTooLarge: "Request Entity Too Large",
	http.StatusTooManyRequests: "Too Many Requests", http.StatusForbidden: "Forbidden", http.StatusBadRequest: "Bad Request",
}

// problemDocument is RFC 9457.
type problemDocument struct {
	Type   string
	Title  string
	Status int
	Detail string
	Errors []struct{ Message, Location string }
}

var problemType = regexp.MustCompile(`^urn:problem-type:matchday:[a-z][a-z0-9_]*$`)

// check returns what is wrong with the answer to a request: one sentence each.
// allowed reports whether the caller may use the operation.
func check(o mutation.Operation, r mutation.Request, field string, allowed bool, a answer) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))

	_, documented := o.Answers[strconv.Itoa(a.status)]
	switch {
	case a.status >= 500:
		say("a %d", a.status)
		return wrong
	case a.status >= 300 && a.status < 400 && a.status != http.StatusNotModified && !documented:
		say("a redirect")
	}

	media := cmp.Or(o.Media[strconv.Itoa(a.status)], o.Media["404"])
	if r.Path != "" && a.status >= 400 && kind == "text/html" {
		media = kind // the path may be that of a page
	}

	if media == "text/html" && a.status >= 400 {
		if kind == "application/problem+json" {
			say("a refusal that is no page")
		}
	} else if media != "text/html" && (kind == "text/html" || bytes.Contains(bytes.ToLower(a.body), []byte("<html")) ||
		bytes.Contains(bytes.ToLower(a.body), []byte("<a href"))) {
		say("HTML in the answer")
	}

	for _, text := range append(headerTexts(a.header), string(a.body)) {
		word := internalIn(text)
		if word == "" && a.status >= 400 {
			word = addresses.FindString(text)
		}

		if word != "" && !strings.Contains(string(r.Text())+unescaped(r.Target(o)), word) {
			say("the internal word %q in the answer", word)
		}
	}

	if cache := a.header.Get("Cache-Control"); a.status < 300 && o.Auth != spec.Public && o.Auth != spec.Secret && r.Method == o.Method &&
		!slices.Contains([]string{"no-store", "private, no-store"}, cache) && !ownCache(a.header) {
		say("an answer for one caller that others may keep: Cache-Control is %q", cache)
	}

	why := o.Forbids(r)
	switch {
	case a.status >= 400 && media == "text/html":
	case a.status >= 400:
		wrong = append(wrong, refusal(o, r, why != nil, field, a, kind)...)
	case r.Method != o.Method: // another operation's
	case !allowed:
		say("a %d for a caller who may not", a.status)
	case a.status == http.StatusNotModified || r.Path != "":
	case why != nil:
		say("a %d for a request that the schema forbids: %s", a.status, oneLine(why.Error()))
	default:
		wrong = append(wrong, content2xx(o, a, kind)...)
	}

	return wrong
}

// headerTexts are the values of the headers, without those that are random.
func headerTexts(h http.Header) (all []string) {
	for name, values := range h {
		if name != "Etag" && name != "Apigw-Requestid" {
			all = append(all, values...)
		}
	}

	return all
}

// refusal checks an answer with a status from 400 to 499.
func refusal(o mutation.Operation, r mutation.Request, forbidden bool, field string, a answer, kind string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if r.Same && (a.status == http.StatusBadRequest || a.status == http.StatusUnprocessableEntity ||
		a.status == http.StatusUnsupportedMediaType) {
		say("a %d for another spelling of an accepted request", a.status)
	}

	var message struct{ Message string }
	if json.Unmarshal(a.body, &message) == nil && message.Message != "" && message.Message == gateway[a.status] {
		return wrong
	}

	if r.Method == http.MethodHead {
		return wrong
	}

	var p problemDocument
	if err := json.Unmarshal(a.body, &p); err != nil || kind != "application/problem+json" {
		say("a refusal that is no problem document")
		return wrong
	}

	if p.Status != a.status || p.Title == "" || !problemType.MatchString(p.Type) {
		say("a problem document whose type, title or status is wrong")
	}

	if r.Method == o.Method && r.Path == "" && !slices.Contains(o.Problems[strconv.Itoa(a.status)], any(p.Type)) {
		say("a %d with the problem %s, which the operation does not document", a.status, p.Type)
	}

	denied := a.status == http.StatusUnauthorized || a.status == http.StatusForbidden
	if denied && len(p.Errors) > 0 {
		say("details of the request for a caller who may not")
	}

	if forbidden && field != "" && (a.status == http.StatusBadRequest || a.status == http.StatusUnprocessableEntity) && !names(p, field) {
		say("a refusal that does not name %s", field)
	}

	return wrong
}

// names reports whether a problem document names a field: by its location, or by that
// of what contains it and the field's own name. An element may be named by its array.
// A twin may be named as the member that it resembles.
func names(p problemDocument, field string) bool {
	field = folded(field)
	leaf := field[strings.LastIndexByte(field, '.')+1:]

	for _, e := range p.Errors {
		location, message := folded(e.Location), folded(e.Message)
		switch {
		case location == field || strings.HasPrefix(location, field+".") || strings.HasPrefix(location, field+"["):
			return true
		case location != "" && strings.HasPrefix(field, location+"["):
			return true
		case location != "" && strings.HasPrefix(field, location) && strings.Contains(message, leaf):
			return true
		}
	}

	return false
}

// folded is a text whose letters are equal for encoding/json if they are equal here.
func folded(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// content2xx checks the content of an accepted request's answer.
func content2xx(o mutation.Operation, a answer, kind string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }

	s, documented := o.Answer(a.status)
	if !documented && a.status != http.StatusNoContent {
		s, documented = o.Answer(http.StatusOK) // 201 and 202
	}

	switch {
	case !documented:
		say("a %d, which is not documented", a.status)
	case o.HasPages():
		if want, some := strings.CutSuffix(o.Media[strconv.Itoa(a.status)], "*"); kind != want && !(some && strings.HasPrefix(kind, want)) {
			say("an answer of the type %q", kind)
		}
	case s == nil:
		if len(a.body) > 0 {
			say("an answer with a body where none is documented")
		}
	case kind != "application/json":
		say("an answer of the type %q", kind)
	default:
		if err := s.Check(a.body); err != nil {
			say("an answer that its schema forbids: %s", oneLine(err.Error()))
		}

		if r, ok := invisible(a.body); ok {
			say("%s U+%04X in the answer", invisibleCharacter, r)
		}
	}

	return wrong
}

const invisibleCharacter = "the character"

// invisible finds a control character, or one that changes the direction of text or
// has no width, in the strings of JSON.
func invisible(text []byte) (rune, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return 0, false
		}

		if t.Kind() != '"' {
			continue
		}

		for _, r := range t.String() {
			switch {
			case r == '\n' || r == '\t' || r == 0x200d: // emoji are joined with the last
			case unicode.IsControl(r), r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff:
				return r, true
			}
		}
	}
}

func unescaped(target string) string {
	s, err := url.PathUnescape(target)
	if err != nil {
		return target
	}

	return s
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 400 {
		s = s[:400] + "…"
	}

	return s
}

// may reports whether an actor may use an operation.
func may(auth spec.Auth, a Actor) bool {
	switch auth {
	case spec.Admin:
		return a == Administrator
	case spec.User:
		return a != Anonymous
	case spec.Session:
		return a == User
	}

	return true
}

// ownCache reports whether only the caller may keep an answer, and not for another user on the same
// machine.
func ownCache(h http.Header) bool {
	return strings.HasPrefix(h.Get("Cache-Control"), "private,") && strings.Contains(h.Get("Vary"), "Authorization")
}
