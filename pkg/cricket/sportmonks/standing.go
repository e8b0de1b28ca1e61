package sportmonks

import (
	"context"
	"net/url"
	"strconv"
	"strings"
)

// Standing is a team's row in the table of a season.
type Standing struct {
	TeamID, SeasonID, LeagueID     int
	Position, Points               int
	Played, Won, Lost, Draw, NoRes int
	RunsFor, RunsAgainst           int
	OversFor, OversAgainst         Overs
	NetRunRate                     float64
	Form                           []string // W, L, D or N for each of the last matches, as the provider orders them
}

// maxForm is the most matches that are read of a form.
const maxForm = 10

// Standings returns the table of a season. It is empty for a season without one.
func (c *Client) Standings(ctx context.Context, seasonID string) ([]Standing, error) {
	return list(ctx, c, "/standings/season/"+url.PathEscape(seasonID), nil, (*decoder).standing)
}

func (d *decoder) standing(v *Standing) bool {
	return d.object(func(name []byte) bool {
		switch string(name) {
		case "team_id":
			return d.int(&v.TeamID)
		case "season_id":
			return d.int(&v.SeasonID)
		case "league_id":
			return d.int(&v.LeagueID)
		case "position":
			return d.int(&v.Position)
		case "points":
			return d.int(&v.Points)
		case "played":
			return d.int(&v.Played)
		case "won":
			return d.int(&v.Won)
		case "lost":
			return d.int(&v.Lost)
		case "draw":
			return d.int(&v.Draw)
		case "noresult":
			return d.int(&v.NoRes)
		case "runs_for":
			return d.int(&v.RunsFor)
		case "runs_against":
			return d.int(&v.RunsAgainst)
		case "overs_for":
			return d.overs(&v.OversFor)
		case "overs_against":
			return d.overs(&v.OversAgainst)
		case "netto_run_rate":
			return d.rate(&v.NetRunRate)
		case "recent_form":
			return d.form(&v.Form)
		}

		return d.skip()
	})
}

// maxRate bounds a net run rate: nobody scores 36 an over.
const maxRate = 36

func (d *decoder) rate(v *float64) bool {
	s, ok := d.literal()
	if f, err := strconv.ParseFloat(strings.TrimSpace(string(s)), 64); err == nil && f >= -maxRate && f <= maxRate {
		*v = f
	}

	return ok
}

// form reads an array of texts, or one text with an element for each letter.
func (d *decoder) form(v *[]string) bool {
	add := func(s string) {
		if s = strings.ToUpper(strings.TrimSpace(s)); s != "" && s[0] >= 'A' && s[0] <= 'Z' && len(*v) < maxForm {
			*v = append(*v, s[:1])
		}
	}

	if d.peek() != '[' {
		s, ok := d.literal()
		for _, letter := range strings.FieldsFunc(string(s), func(r rune) bool { return r == ',' || r == ' ' }) {
			add(letter)
		}

		return ok
	}

	return d.elements(func() bool {
		s, ok := d.literal()
		add(string(s))

		return ok
	})
}
