package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The kinds of what a word finds.
const (
	TeamKind   = "team"
	LeagueKind = "league"
)

// Word is a row of cricket-search: a word in the names of a team or a league.
type Word struct {
	Letter string `dynamodbav:"letter"` // {kind}/ and the first letter of the word
	Key    string `dynamodbav:"word"`   // {word}/{id}
	Kind   string `dynamodbav:"kind"`
	ID     string `dynamodbav:"id"`
	Title  string `dynamodbav:"title"`
	Code   string `dynamodbav:"code,omitempty"`
	Image  string `dynamodbav:"image,omitempty"`
	Names  string `dynamodbav:"names"` // all words of it, separated by spaces
}

// maxWords bounds the words of a name, and of a query.
const maxWords = 12

// Fold returns the words of a text, without accents and case, each once: maxWords at most.
func Fold(text string) []string {
	all := FoldAll([]string{text})
	return all[:min(len(all), maxWords)]
}

// FoldAll returns the words of several texts as Fold does, without a limit.
func FoldAll(texts []string) []string {
	var b strings.Builder

	for _, r := range norm.NFKD.String(strings.Join(texts, " ")) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
		case r == '\'', r == '’': // Women's is one word
		default:
			b.WriteByte(' ')
		}
	}

	all := strings.Fields(b.String())
	slices.Sort(all)

	return slices.Compact(all)
}

// Begin reports whether each of the query's words is the beginning of one of the words.
func Begin(words, query []string) bool {
	return !slices.ContainsFunc(query, func(q string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, q) })
	})
}

// Longest returns the longest word of a query, which the fewest names have. The query must have a word.
func Longest(query []string) string {
	return slices.MaxFunc(query, func(a, b string) int { return cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) })
}

// LetterOf returns the partition of a word of a kind in cricket-search.
func LetterOf(kind, word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return kind + "/" + word[:size]
}

// Words returns the rows of cricket-search for teams and leagues, by title and name, short name and code, in
// the order of their keys.
func Words(teams []TeamRow, leagues []LeagueRow) (all []Word) {
	add := func(w Word, names ...string) {
		words := Fold(strings.Join(names, " "))
		w.Names = strings.Join(words, " ")

		for _, word := range words {
			w.Letter, w.Key = LetterOf(w.Kind, word), word+"/"+w.ID
			all = append(all, w)
		}
	}

	for _, t := range teams {
		p := t.profile()
		add(Word{Kind: TeamKind, ID: p.ID, Title: p.Title, Code: p.ShortName, Image: p.Image}, p.Title, p.Name, p.ShortName, p.Code)
	}

	for _, row := range leagues {
		l := row.league()
		add(Word{Kind: LeagueKind, ID: l.ID, Title: l.Title, Code: l.Code, Image: l.Image}, l.Title, l.Name, l.Code)
	}

	slices.SortFunc(all, func(a, b Word) int { return cmp.Or(cmp.Compare(a.Letter, b.Letter), cmp.Compare(a.Key, b.Key)) })

	return all
}

// WordsSum is the row of cricket-search with the checksum of the others. It is absent while they are
// being changed.
type WordsSum struct {
	Letter string `dynamodbav:"letter"` // SumKey, as the word
	Key    string `dynamodbav:"word"`
	Sum    string `dynamodbav:"sum"`
}

// SumKey is the key of WordsSum. No word has the letter.
const SumKey = "#"

// SumOf returns the row with the checksum of words.
func SumOf(words []Word) WordsSum {
	sum := sha256.Sum256(fmt.Append(nil, words))
	return WordsSum{SumKey, SumKey, base64.RawURLEncoding.EncodeToString(sum[:])}
}
