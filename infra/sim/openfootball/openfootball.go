// Package openfootball reads seasons of football in the format of openfootball
// (github.com/openfootball/football.json), and computes the tables of their groups.
package openfootball

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Season is one season of a competition.
type Season struct {
	Name    string
	Matches []Match // in the order of the file
}

// Match is a match of a season.
type Match struct {
	Round      Round
	Group      string // "Group A"; empty if the round has no groups
	KickOff    time.Time
	Home, Away string
	Score      Score
	Void       bool // cancelled: it has no score, and will have none
}

// Score is the score of a match at its stages. A stage that was not played, or that the
// file does not know, is nil. Each but Penalties contains the stages before.
type Score struct {
	HalfTime, FullTime, ExtraTime *Goals
	Penalties                     *Goals // of the shoot-out alone
}

// Goals are the goals of the home team and of the away team.
type Goals [2]int

// Result returns the score that counts: after extra time if there was one, else after 90
// minutes. The goals of a shoot-out never count. It returns false if the match has no
// score.
func (m Match) Result() (Goals, bool) {
	switch {
	case m.Score.ExtraTime != nil:
		return *m.Score.ExtraTime, true
	case m.Score.FullTime != nil:
		return *m.Score.FullTime, true
	}

	return Goals{}, false
}

// defaultKickOff is the time of a match of which only the date is known.
const defaultKickOff = "15:00"

// maxGoals is more than any team scored in one match.
const maxGoals = 200

// ErrNoSeason is the error of a file that has neither matches nor rounds, as the lists of
// clubs and of groups beside the seasons.
var ErrNoSeason = errors.New("not a season: it has neither matches nor rounds")

// match is a match of a file.
type match struct {
	Round, Stage, Date, Time, Group, Status string
	Team1, Team2                            team
	Score                                   *score
	// What older files have in place of score.
	Score1, Score2, Score1i, Score2i, Score1et, Score2et, Score1p, Score2p *int
}

// team is the name of a team, also of one that is an object.
type team string

// UnmarshalJSON reads "Ayr" or {"name": "Ayr", "code": "AYR"}.
func (t *team) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var object struct{ Name string }

		err := json.Unmarshal(data, &object)
		*t = team(object.Name)

		return err
	}

	return json.Unmarshal(data, (*string)(t))
}

// unknownTeams stand for a team that is not known yet, in lower case.
var unknownTeams = []string{"n.n.", "tbd", "tba", "?"}

// placeholder reports whether a team of the match is not known yet.
func (f match) placeholder() bool {
	return f.Team1 != "" && f.Team1 == f.Team2 ||
		slices.Contains(unknownTeams, strings.ToLower(string(f.Team1))) || slices.Contains(unknownTeams, strings.ToLower(string(f.Team2)))
}

// Parse reads a file, which has matches, or rounds with matches. A time without an offset is
// UTC; a match without a time begins at 15:00. A match without a score of which a team is not
// known yet is left out. Errors: ErrNoSeason; others name the match and what is wrong with it.
func Parse(data []byte) (Season, error) {
	var file struct {
		Name    string
		Matches []match
		Rounds  []struct {
			Name    string
			Matches []match
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return Season{}, fmt.Errorf("not an openfootball file: %w", err)
	}

	if file.Matches == nil && file.Rounds == nil {
		return Season{}, ErrNoSeason
	}

	all := file.Matches
	for _, r := range file.Rounds {
		for _, f := range r.Matches {
			f.Round = cmp.Or(f.Round, r.Name)
			all = append(all, f)
		}
	}

	if file.Name == "" || len(all) == 0 {
		return Season{}, errors.New("not an openfootball file: it lacks a name or matches")
	}

	s := Season{Name: file.Name}

	var labels []label

	seen := map[[5]string]bool{}

	for i, f := range all {
		m := Match{Group: f.Group, Home: string(f.Team1), Away: string(f.Team2)}
		fail := func(err error) (Season, error) {
			return Season{}, fmt.Errorf("match %d, %s - %s on %s: %w", i+1, f.Team1, f.Team2, f.Date, err)
		}

		var err error
		if m.Score, err = f.score(); err != nil {
			return fail(err)
		}

		_, played := m.Result()
		if f.placeholder() && !played {
			continue
		}

		if m.Home == "" || m.Away == "" || m.Home == m.Away {
			return fail(errors.New("team1 and team2 must be two names"))
		}

		l, err := parseLabel(f.Round, f.Stage)
		if err != nil {
			return fail(err)
		}

		if m.KickOff, err = parseKickOff(f.Date, f.Time); err != nil {
			return fail(err)
		}

		switch f.Status {
		case "":
		case "cancelled", "canceled":
			m.Void = true
		default:
			return fail(fmt.Errorf("unknown status %q; valid is cancelled", f.Status))
		}

		if m.Void && played {
			return fail(errors.New("it is cancelled and has a score"))
		}

		pairing := [5]string{f.Stage, f.Round, f.Group, m.Home, m.Away}
		if seen[pairing] {
			return fail(errors.New("the round has this match twice"))
		}

		seen[pairing] = true

		s.Matches = append(s.Matches, m)
		labels = append(labels, l)
	}

	if len(s.Matches) == 0 {
		return Season{}, errors.New("no match has two teams that are known")
	}

	setRounds(s.Matches, labels)

	return s, nil
}

// score returns the score in either form.
func (f match) score() (Score, error) {
	if f.Score != nil {
		return f.Score.parse()
	}

	var old score
	for _, part := range []struct {
		name       string
		home, away *int
		to         *[]int
	}{
		{"", f.Score1, f.Score2, &old.FT}, {"i", f.Score1i, f.Score2i, &old.HT},
		{"et", f.Score1et, f.Score2et, &old.ET}, {"p", f.Score1p, f.Score2p, &old.P},
	} {
		switch {
		case (part.home == nil) != (part.away == nil):
			return Score{}, fmt.Errorf("score1%s and score2%[1]s must both be numbers", part.name)
		case part.home != nil:
			*part.to = []int{*part.home, *part.away}
		}
	}

	return old.parse()
}

// score is a score of a file.
type score struct{ HT, FT, ET, P []int }

func (f *score) parse() (s Score, err error) {
	for _, part := range []struct {
		name  string
		goals []int
		to    **Goals
	}{{"ht", f.HT, &s.HalfTime}, {"ft", f.FT, &s.FullTime}, {"et", f.ET, &s.ExtraTime}, {"p", f.P, &s.Penalties}} {
		switch g := part.goals; {
		case g == nil:
		case len(g) != 2 || min(g[0], g[1]) < 0 || max(g[0], g[1]) > maxGoals:
			return Score{}, fmt.Errorf("score.%s must be two numbers from 0 to %d, not %v", part.name, maxGoals, g)
		default:
			*part.to = &Goals{g[0], g[1]}
		}
	}

	switch {
	case s.FullTime == nil && (s.HalfTime != nil || s.ExtraTime != nil || s.Penalties != nil):
		return Score{}, errors.New("score lacks ft")
	case less(s.FullTime, s.HalfTime):
		return Score{}, errors.New("score.ft is less than score.ht")
	case less(s.ExtraTime, s.FullTime):
		return Score{}, errors.New("score.et is less than score.ft")
	case s.Penalties != nil && s.Penalties[0] == s.Penalties[1]:
		return Score{}, errors.New("score.p has no winner")
	}

	return s, nil
}

// less reports whether a team has fewer goals in the later score.
func less(later, earlier *Goals) bool {
	return later != nil && earlier != nil && (later[0] < earlier[0] || later[1] < earlier[1])
}

// parseKickOff reads a date like "2022-11-20", and a time like "19:00", "13:00 UTC+3",
// "13:00 UTC-4:30" or "".
func parseKickOff(date, clock string) (time.Time, error) {
	if clock == "" {
		clock = defaultKickOff
	}

	clock, zone, _ := strings.Cut(clock, " ")

	at, err := time.Parse("2006-01-02 15:04", date+" "+clock)
	if err != nil {
		return time.Time{}, fmt.Errorf("date %q and time %q must be like 2022-11-20 and 19:00", date, clock)
	}

	offset, err := parseOffset(zone)

	return at.Add(-offset), err
}

// maxOffset is the greatest difference of a time zone from UTC.
const maxOffset = 14 * time.Hour

func parseOffset(zone string) (time.Duration, error) {
	bad := fmt.Errorf("time zone %q must be like UTC+3 or UTC-4:30", zone)

	rest, ok := strings.CutPrefix(zone, "UTC")
	switch {
	case zone == "" || ok && rest == "":
		return 0, nil
	case !ok || rest[0] != '+' && rest[0] != '-':
		return 0, bad
	}

	hours, minutes, colon := strings.Cut(rest[1:], ":")
	h, err := strconv.ParseUint(hours, 10, 8)

	var m uint64
	if err == nil && colon {
		m, err = strconv.ParseUint(minutes, 10, 8)
	}

	d := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if err != nil || m > 59 || d > maxOffset {
		return 0, bad
	}

	if rest[0] == '-' {
		d = -d
	}

	return d, nil
}
