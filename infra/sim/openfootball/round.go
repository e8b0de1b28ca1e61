package openfootball

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Round is a round as the provider names it. A round of a league or of groups has a number
// only. A knockout round has a name and a slug too, and a prefix if it is of a part of the
// competition, as the qualification.
type Round struct {
	Number             int
	Name, Slug, Prefix string
}

// Knockout reports whether the losers leave the competition after the round.
func (r Round) Knockout() bool { return r.Slug != "" }

// The slug of the round that no other depends on.
const thirdPlace = "match-for-3rd-place"

// ThirdPlace reports whether the losers of the semi-finals play the round.
func (r Round) ThirdPlace() bool { return r.Slug == thirdPlace }

// The rounds that the provider numbers the same in every competition.
var known = map[string]Round{
	"roundof32":          {6, "Round of 32", "round-of-32", ""},
	"roundof16":          {5, "Round of 16", "round-of-16", ""},
	"quarterfinals":      {27, "Quarterfinals", "quarterfinals", ""},
	"semifinals":         {28, "Semifinals", "semifinals", ""},
	"matchforthirdplace": {50, "Match for 3rd place", thirdPlace, ""},
	"thirdplaceplayoff":  {50, "Match for 3rd place", thirdPlace, ""},
	"final":              {29, "Final", "final", ""},
}

// otherRound is the number of knockout rounds of whose number nothing is known: they differ
// by slug.
const otherRound = 636

// parseRound reads a label of the file: "Matchday 3", "Quarter-finals", "Round 1",
// "League, Matchday 3", "Finals, Final" or "Qualification, Round 1".
func parseRound(label string) (Round, error) {
	prefix, name, ok := strings.Cut(label, ", ")
	if !ok {
		prefix, name = "", label
	}
	if prefix == "League" || prefix == "Finals" { // the main parts of a competition
		prefix = ""
	}
	first, last, _ := strings.Cut(name, " ")
	number, err := strconv.Atoi(last)
	switch {
	case err == nil && (number < 1 || number > 999):
		return Round{}, fmt.Errorf("the number of round %q must be from 1 to 999", label)
	case err == nil && first == "Matchday" && prefix == "":
		return Round{Number: number}, nil
	case first == "Matchday" && prefix == "", first == "Group":
		return Round{}, fmt.Errorf("round %q must have a number", label)
	}
	r, ok := known[strings.ReplaceAll(Slug(name), "-", "")]
	if !ok {
		r = Round{Number: otherRound, Name: name, Slug: Slug(name)}
		if err == nil {
			r.Number = number
		}
	}
	if r.Slug == "" {
		return Round{}, errors.New("round must be a name")
	}
	r.Prefix = prefix
	return r, nil
}

// Rounds returns the rounds in the order of the file, those with a number only in the
// order of their numbers.
func (s Season) Rounds() []Round {
	var all, numbered []Round
	for _, m := range s.Matches {
		if slices.Contains(all, m.Round) {
			continue
		}
		all = append(all, m.Round)
		if !m.Round.Knockout() {
			numbered = append(numbered, m.Round)
		}
	}
	slices.SortFunc(numbered, func(a, b Round) int { return cmp.Compare(a.Number, b.Number) })
	for i, r := range all {
		if !r.Knockout() {
			all[i], numbered = numbered[0], numbered[1:]
		}
	}
	return all
}

// Slug returns a name for URLs: lower-case letters without accents and digits, with a
// hyphen in place of everything else.
func Slug(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, r) || r == '\'':
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(unicode.ToLower(r))
		default:
			gap = true
		}
	}
	return b.String()
}
