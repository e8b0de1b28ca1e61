// Package openfootball reads seasons of football in the format of openfootball
// (github.com/openfootball/football.json), and computes the tables of their groups.
package openfootball

import (
	"encoding/json"
	"errors"
	"fmt"
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

// Parse reads a file. A time without an offset is UTC; a match without a time begins at
// 15:00. An error names the match and what is wrong with it.
func Parse(data []byte) (Season, error) {
	var file struct {
		Name    string
		Matches []struct {
			Round, Date, Time, Team1, Team2, Group, Status string
			Score                                          *score
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return Season{}, fmt.Errorf("not an openfootball file: %w", err)
	}
	if file.Name == "" || len(file.Matches) == 0 {
		return Season{}, errors.New("not an openfootball file: it lacks a name or matches")
	}
	s := Season{Name: file.Name}
	type pairing struct {
		round      Round
		home, away string
	}
	seen := map[pairing]bool{}
	for i, f := range file.Matches {
		m := Match{Group: f.Group, Home: f.Team1, Away: f.Team2}
		fail := func(err error) (Season, error) {
			return Season{}, fmt.Errorf("match %d, %s - %s on %s: %w", i+1, f.Team1, f.Team2, f.Date, err)
		}
		if m.Home == "" || m.Away == "" || m.Home == m.Away {
			return fail(errors.New("team1 and team2 must be two names"))
		}
		var err error
		if m.Round, err = parseRound(f.Round); err != nil {
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
		if f.Score != nil {
			if m.Score, err = f.Score.parse(); err != nil {
				return fail(err)
			}
		}
		if _, played := m.Result(); m.Void && played {
			return fail(errors.New("it is cancelled and has a score"))
		}
		p := pairing{m.Round, m.Home, m.Away}
		if seen[p] {
			return fail(errors.New("the round has this match twice"))
		}
		seen[p] = true
		s.Matches = append(s.Matches, m)
	}
	return s, nil
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
