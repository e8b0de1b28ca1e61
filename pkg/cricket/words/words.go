// Package words has the texts of alerts in the languages of the app.
//
// A Text is a key of the catalogue with what fills it. The key is the English sentence, so that an app
// that lacks it shows English: the catalogue of English is the list of keys. keys.json has the version
// of the catalogue in which each key appears first; hi.json, ur.json, bn.json and de.json have the
// translations. An app that has version n has all keys of versions 2 to n in its strings. Version 1 is
// an app without a catalogue. A key is never removed, and an English sentence that changes is a new key
// of a new version.
//
// A sentence with a number has a key for one and a key for all others. These are the plural categories
// of all five languages for numbers from 1 on, so the sender chooses the key without knowing the
// language. Numbers have Western digits. In Urdu each place of a key is isolated (U+2068, U+2069), so
// that a name or a score in Latin letters keeps its order.
package words

import (
	"embed"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

//go:embed keys.json hi.json ur.json bn.json de.json
var files embed.FS

// Language is a language of the catalogue, by its BCP 47 tag.
type Language string

// English is the language of the keys, and of a phone whose locale has no catalogue.
const English Language = "en"

// languages are those of the catalogue. The first is the default.
var languages = []Language{English, "hi", "ur", "bn", "de"}

// Languages returns the languages of the catalogue.
func Languages() []Language { return slices.Clone(languages) }

// since has the version in which a key appears first.
var since = readKeys()

// translations have the text of each key, by language. English has none.
var translations = readTranslations()

var matcher = language.NewMatcher(tags())

func tags() (all []language.Tag) {
	for _, l := range languages {
		all = append(all, language.MustParse(string(l)))
	}

	return all
}

func read(name string, into any) {
	b, err := files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, into)
	}

	if err != nil {
		panic("words: " + name + ": " + err.Error()) // a test reads all files
	}
}

func readKeys() map[string]int {
	versions, all := map[int][]string{}, map[string]int{}
	read("keys.json", &versions)

	for version, keys := range versions {
		for _, key := range keys {
			all[key] = version
		}
	}

	return all
}

func readTranslations() map[Language]map[string]string {
	all := map[Language]map[string]string{}

	for _, l := range languages[1:] {
		texts := map[string]string{}
		read(string(l)+".json", &texts)
		all[l] = texts
	}

	return all
}

// Keys returns the keys of the catalogue, sorted.
func Keys() []string { return slices.Sorted(maps.Keys(since)) }

// Match returns the language of the catalogue for a locale in BCP 47, such as hi-IN or de_AT, or one that
// its readers understand by CLDR, such as Hindi for Marathi. It is English for a locale without a
// catalogue, in another script, or that is no locale.
func Match(locale string) Language {
	tag, err := language.Parse(locale)
	if err != nil {
		return English
	}

	_, i, confidence := matcher.Match(tag)
	if confidence < language.High {
		return English
	}

	return languages[i]
}

// Text is a text in all languages. Its zero value is no text.
type Text struct {
	Key  string   `json:"key,omitempty"` // of the catalogue; "" for words that no language changes, such as a score
	Args []string `json:"args,omitempty"`
}

// Say returns the text of a key.
func Say(key string, args ...string) Text { return Text{Key: key, Args: args} }

// Verbatim returns a text that is the same in all languages.
func Verbatim(text string) Text {
	if text == "" {
		return Text{}
	}

	return Text{Args: []string{text}}
}

// Count returns the key for n things.
func Count(n int, one, other string) string {
	if n == 1 {
		return one
	}

	return other
}

// IsZero reports whether there is no text.
func (t Text) IsZero() bool { return t.Key == "" && len(t.Args) == 0 }

// In returns the text in a language, or in English if the catalogue lacks its key.
func (t Text) In(l Language) string {
	if t.Key == "" {
		return strings.Join(t.Args, " ")
	}

	pattern, ok := translations[l][t.Key]
	if !ok {
		pattern = t.Key
	}

	return fill(pattern, t.Args)
}

// Since returns the first version of the catalogue that has the keys of all texts. It is no version of
// any app if a key is not in the catalogue.
func Since(texts ...Text) int {
	first := 1

	for _, t := range texts {
		if t.Key == "" {
			continue
		}

		version, ok := since[t.Key]
		if !ok {
			return math.MaxInt
		}

		first = max(first, version)
	}

	return first
}

// fill replaces %@ by the next of args, and %2$@ by the second. A place without an argument is left out.
func fill(pattern string, args []string) string {
	var b strings.Builder

	next := 0

	for {
		before, rest, found := strings.Cut(pattern, "%")
		b.WriteString(before)

		if !found {
			return b.String()
		}

		at := next

		switch number, after, _ := strings.Cut(rest, "$@"); {
		case strings.HasPrefix(rest, "@"):
			next++
			pattern = rest[1:]
		case isNumber(number):
			n, _ := strconv.Atoi(number)
			at, pattern = n-1, after
		default:
			b.WriteByte('%')

			pattern = rest

			continue
		}

		if at >= 0 && at < len(args) {
			b.WriteString(args[at])
		}
	}
}

// isNumber reports whether s is one digit or two.
func isNumber(s string) bool {
	return s != "" && len(s) <= 2 && strings.Trim(s, "0123456789") == ""
}
