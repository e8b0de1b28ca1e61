package openfootball

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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
	"quarterfinal":       {27, "Quarterfinals", "quarterfinals", ""},
	"semifinal":          {28, "Semifinals", "semifinals", ""},
	"matchforthirdplace": {50, "Match for 3rd place", thirdPlace, ""},
	"matchfor3rdplace":   {50, "Match for 3rd place", thirdPlace, ""},
	"3rdplacematch":      {50, "Match for 3rd place", thirdPlace, ""},
	"thirdplacematch":    {50, "Match for 3rd place", thirdPlace, ""},
	"thirdplaceplayoff":  {50, "Match for 3rd place", thirdPlace, ""},
	"final":              {29, "Final", "final", ""},
}

// otherRound is the number of knockout rounds of whose number nothing is known: they differ
// by slug.
const otherRound = 636

// maxRound is the greatest number of a round.
const maxRound = 999

// label is the round of a match as the file has it.
type label struct {
	text   string
	prefix string // the part of the competition; empty for a main part
	name   string // the label without the prefix
	words  string // the name without its number
	number int    // 0 if there is none
	group  string // "Group A" if the name is a group
}

var (
	// "Matchday 3", "Regular Season - 3", "3. Runde"
	numberLast  = regexp.MustCompile(`^(.*[^\d\s])\s+(\d+)$`)
	numberFirst = regexp.MustCompile(`^(\d+)[.ªºaeè]*\s+(.*)$`)
	groupName   = regexp.MustCompile(`^(Group|Gruppe|Groupe|Grupo) [A-Z0-9]{1,2}$`)
)

// mainParts are parts of a competition that need no prefix.
var mainParts = []string{"League", "Finals", "Regular Season"}

// parseLabel reads "Matchday 3", "21. Runde", "Quarter-finals", "League, Matchday 3",
// "Finals, Final", "Qualification, Round 1" or "Group A", and the stage that a match may have
// beside it.
func parseLabel(text, stage string) (label, error) {
	prefix, name, ok := strings.Cut(text, ", ")
	if !ok {
		prefix, name = "", text
	}

	l := label{text: text, name: name}

	for _, part := range []string{stage, prefix} {
		if !slices.Contains(mainParts, part) {
			l.prefix = strings.TrimSpace(l.prefix + " " + part)
		}
	}

	if groupName.MatchString(name) {
		l.group = name
		return l, nil
	}

	digits := ""
	if m := numberLast.FindStringSubmatch(name); m != nil {
		l.words, digits = m[1], m[2]
	} else if m := numberFirst.FindStringSubmatch(name); m != nil {
		l.words, digits = m[2], m[1]
	}

	if _, fixed := l.known(); fixed || digits == "" {
		l.words = ""
	} else if n, err := strconv.Atoi(digits); err != nil || n < 1 || n > maxRound {
		return label{}, fmt.Errorf("the number of round %q must be from 1 to %d", text, maxRound)
	} else {
		l.number = n
	}

	switch {
	case name == "Matchday" || name == "Group":
		return label{}, fmt.Errorf("round %q must have a number", text)
	case Slug(name) == "":
		return label{}, errors.New("round must be a name")
	}

	return l, nil
}

// known returns the round that the provider numbers the same in every competition.
func (l label) known() (Round, bool) {
	slug := strings.ReplaceAll(Slug(l.name), "-", "")

	r, ok := known[slug]
	if !ok {
		r, ok = known[strings.TrimSuffix(slug, "s")]
	}

	return r, ok
}

// knockout returns the label as a knockout round.
func (l label) knockout() Round {
	r, ok := l.known()
	if !ok {
		r = Round{Number: otherRound, Name: l.name, Slug: Slug(l.name)}
		if l.number > 0 {
			r.Number = l.number
		}
	}

	r.Prefix = l.prefix

	return r
}

// series are the rounds of one part of a competition whose labels differ by the number only.
type series struct {
	prefix, words string
}

// numbered is a round of a series.
type numbered struct {
	first time.Time // kick-off
	teams map[string]bool
}

// setRounds sets the rounds of the matches, and the groups that the labels name. A match of a
// group is of a round with a number: that of its label, or else the n-th game of a team in
// groups is of round n. The rounds of a series that is a league have a number, too. All others
// are knockout rounds. All parts of a league have one table, which sums them up: Best Shot keeps
// one row of a team.
func setRounds(matches []Match, labels []label) {
	rounds := map[series]map[int]*numbered{}

	for i, m := range matches {
		l := labels[i]
		if l.number == 0 {
			continue
		}

		s := series{l.prefix, l.words}
		if rounds[s] == nil {
			rounds[s] = map[int]*numbered{}
		}

		r := rounds[s][l.number]
		if r == nil {
			r = &numbered{m.KickOff, map[string]bool{}}
			rounds[s][l.number] = r
		}

		if m.KickOff.Before(r.first) {
			r.first = m.KickOff
		}

		r.teams[m.Home], r.teams[m.Away] = true, true
	}

	type span struct{ first, last time.Time }

	spans := map[series]*span{}

	inOrder := make([]int, len(matches)) // of the kick-offs
	for i, m := range matches {
		inOrder[i] = i

		l, s := labels[i], series{labels[i].prefix, labels[i].words}
		if matches[i].Group == "" {
			matches[i].Group = l.group
		}

		league := l.number > 0 && (m.Group != "" || s.league(rounds[s]))
		switch {
		case !league && matches[i].Group == "":
			matches[i].Round = l.knockout()
			continue
		case !league: // a group without a number
			continue
		}

		matches[i].Round.Number = l.number

		if spans[s] == nil {
			spans[s] = &span{m.KickOff, m.KickOff}
		}

		if m.KickOff.Before(spans[s].first) {
			spans[s].first = m.KickOff
		}

		if m.KickOff.After(spans[s].last) {
			spans[s].last = m.KickOff
		}
	}
	// A series that begins after another one with the same numbers has ended continues those.
	offset := map[series]int{}

	var before []series

	most := 0

	for _, s := range slices.SortedFunc(maps.Keys(spans), func(a, b series) int {
		return cmp.Or(spans[a].first.Compare(spans[b].first), cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.words, b.words))
	}) {
		for _, o := range before {
			collide := slices.ContainsFunc(slices.Collect(maps.Keys(rounds[s])), func(n int) bool { return rounds[o][n-offset[o]] != nil })
			if collide && spans[o].last.Before(spans[s].first) {
				offset[s] = most
			}
		}

		before = append(before, s)
		for n := range rounds[s] {
			most = max(most, n+offset[s])
		}
	}

	slices.SortStableFunc(inOrder, func(a, b int) int { return matches[a].KickOff.Compare(matches[b].KickOff) })

	games := map[string]int{}

	for _, i := range inOrder {
		m, l := &matches[i], labels[i]
		switch {
		case m.Round.Knockout():
		case l.number > 0:
			m.Round.Number += offset[series{l.prefix, l.words}]
		default:
			m.Round.Number = 1 + max(games[m.Home], games[m.Away])
			games[m.Home]++
			games[m.Away]++
		}
	}
}

// league reports whether teams that lost may play on: after some round, more than half of the
// teams play the next. "Matchday" is said of leagues only.
func (s series) league(rounds map[int]*numbered) bool {
	if s.words == "Matchday" && s.prefix == "" {
		return true
	}

	inOrder := slices.SortedFunc(maps.Values(rounds), func(a, b *numbered) int { return a.first.Compare(b.first) })
	for i := range len(inOrder) - 1 {
		on := 0

		for team := range inOrder[i].teams {
			if inOrder[i+1].teams[team] {
				on++
			}
		}

		if 2*on > len(inOrder[i].teams) {
			return true
		}
	}

	return false
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
