package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Bounds of names, in characters. maxSlug is that of the requests that name a round. maxName is longer
// than all known names.
const (
	maxSlug = 100
	maxName = 100
)

const (
	// lastSecond is the last Unix time whose year has four digits.
	lastSecond = 253402300799
	// maxGoals and maxTotal are the highest accepted score and number in a table.
	maxGoals = 99
	maxTotal = 9999
)

// clean returns a name without control characters, some of which PostgreSQL refuses, and cuts it at
// maxName.
func clean(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}

		return r
	}, name))
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName])
	}

	return name
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slug(text string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// instant returns a Unix time, zero if it is none or its year has more than four digits.
func instant(seconds int64) time.Time {
	if seconds <= 0 || seconds > lastSecond {
		return time.Time{}
	}

	return time.Unix(seconds, 0).UTC()
}

// addRound adds a round, unless its slug is not accepted or another round has it. name is what the
// provider calls it.
func addRound(all []Round, r Round, name string) ([]Round, error) {
	switch {
	case r.Slug == "" || len(r.Slug) > maxSlug:
		return all, fmt.Errorf("provider: the round %s has no name for addresses", name)
	case slices.ContainsFunc(all, func(o Round) bool { return o.Slug == r.Slug }):
		return all, fmt.Errorf("provider: two rounds with the slug %s", r.Slug)
	}

	return append(all, r), nil
}

// team is a team as the providers describe it.
type team struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (t team) team() Team { return Team{strconv.FormatInt(t.ID, 10), clean(t.Name)} }

// fixtures reads the matches of an answer, each of which is a T. It returns the others together with
// an error if one is wrong or comes twice.
func fixtures[T interface{ fixture() (Fixture, error) }](rows []json.RawMessage) ([]Fixture, error) {
	all := make([]Fixture, 0, len(rows))
	seen := map[string]bool{}

	var bad error

	for _, text := range rows {
		var (
			row T
			f   Fixture
		)

		err := json.Unmarshal(text, &row)
		if err == nil {
			f, err = row.fixture()
		}

		if err == nil && seen[f.ID] {
			err = fmt.Errorf("provider: the match %s comes twice", f.ID)
		}

		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}

		seen[f.ID] = true
		all = append(all, f)
	}

	return all, bad
}

// newFixture returns a match with its kick-off, a Unix time, and its teams. The error says that one of
// them is missing or not accepted.
func newFixture(id, kickOff int64, home, away team) (Fixture, error) {
	at := instant(kickOff)
	if id <= 0 || at.IsZero() || home.ID <= 0 || away.ID <= 0 || home.ID == away.ID {
		return Fixture{}, fmt.Errorf("provider: the match %d lacks its kick-off or a team", id)
	}

	return Fixture{ID: strconv.FormatInt(id, 10), KickOff: at, Home: Side{Team: home.team()}, Away: Side{Team: away.team()}}, nil
}

// checkScores returns an error if a score is not accepted.
func (f Fixture) checkScores() error {
	for _, n := range []*int{f.Home.Score, f.Away.Score, f.Home.Penalties, f.Away.Penalties} {
		if n != nil && (*n < 0 || *n > maxGoals) {
			return fmt.Errorf("provider: the match %s has a score of %d", f.ID, *n)
		}
	}

	return nil
}

// checkRow returns an error if the row of a team in the standings has no team, or a number that is not
// accepted. Points may be deducted.
func checkRow(of team, numbers ...int) error {
	if of.ID <= 0 {
		return errors.New("provider: standings with a team without id")
	}

	for _, n := range numbers {
		if n < -maxTotal || n > maxTotal {
			return fmt.Errorf("provider: the standings have %d for the team %d", n, of.ID)
		}
	}

	return nil
}
