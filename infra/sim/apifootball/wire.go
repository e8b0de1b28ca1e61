package apifootball

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"matchday/infra/sim/football"
	"matchday/infra/sim/openfootball"
)

// The objects of the API, as far as they are simulated.
type (
	statusInfo struct {
		Long    string `json:"long"`
		Short   string `json:"short"`
		Elapsed *int   `json:"elapsed"`
		Extra   *int   `json:"extra"`
	}
	fixturePart struct {
		ID        int64             `json:"id"`
		Referee   *string           `json:"referee"`
		Timezone  string            `json:"timezone"`
		Date      string            `json:"date"`
		Timestamp int64             `json:"timestamp"`
		Periods   map[string]*int64 `json:"periods"` // first, second
		Venue     venueInfo         `json:"venue"`
		Status    statusInfo        `json:"status"`
	}
	venueInfo struct {
		ID   *int64  `json:"id"`
		Name *string `json:"name"`
		City *string `json:"city"`
	}
	leagueInfo struct {
		ID      int64   `json:"id"`
		Name    string  `json:"name"`
		Country string  `json:"country"`
		Logo    string  `json:"logo"`
		Flag    *string `json:"flag"`
		Season  int64   `json:"season"`
		Round   string  `json:"round,omitempty"` // of a fixture
		// Of standings: a list of rows for each group.
		Standings [][]rowInfo `json:"standings,omitempty"`
	}
	teamInfo struct {
		ID     int64  `json:"id"`
		Name   string `json:"name"`
		Logo   string `json:"logo"`
		Winner *bool  `json:"winner"`
	}
	pair struct {
		Home *int `json:"home"`
		Away *int `json:"away"`
	}
	scoreInfo struct {
		HalfTime  pair `json:"halftime"`
		FullTime  pair `json:"fulltime"`
		ExtraTime pair `json:"extratime"`
		Penalty   pair `json:"penalty"`
	}
	fixtureInfo struct {
		Fixture fixturePart         `json:"fixture"`
		League  leagueInfo          `json:"league"`
		Teams   map[string]teamInfo `json:"teams"` // home, away
		Goals   pair                `json:"goals"`
		Score   scoreInfo           `json:"score"`
	}
	recordInfo struct {
		Played int            `json:"played"`
		Win    int            `json:"win"`
		Draw   int            `json:"draw"`
		Lose   int            `json:"lose"`
		Goals  map[string]int `json:"goals"` // for, against
	}
	rowTeam struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
		Logo string `json:"logo"`
	}
	rowInfo struct {
		Rank        int        `json:"rank"`
		Team        rowTeam    `json:"team"`
		Points      int        `json:"points"`
		GoalsDiff   int        `json:"goalsDiff"`
		Group       string     `json:"group"`
		Form        *string    `json:"form"`
		Status      string     `json:"status"`
		Description *string    `json:"description"`
		All         recordInfo `json:"all"`
		Update      string     `json:"update"`
	}
	standingsInfo struct {
		League leagueInfo `json:"league"`
	}
)

const media = "https://media.api-sports.io/football/"

func (s season) info(round string) leagueInfo {
	return leagueInfo{
		ID: s.league, Name: s.League, Country: "World", Logo: fmt.Sprintf("%sleagues/%d.png", media, s.league), Season: s.year, Round: round,
	}
}

// knockout are the names of the rounds that the provider calls otherwise than openfootball.
var knockout = map[string]string{
	"round-of-32": "Round of 32", "round-of-16": "Round of 16", "quarterfinals": "Quarter-finals", "semifinals": "Semi-finals",
	"match-for-3rd-place": "3rd Place Final", "final": "Final",
}

// name returns the provider's name of a round: "Regular Season - 14", "Group Stage - 3", "Quarter-finals",
// "Qualification - Round 1".
func (s season) name(r openfootball.Round) string {
	if !r.Knockout() {
		stage := "Group Stage"

		for _, d := range s.Details {
			if !d.Round.Knockout() && d.Group == "" {
				stage = "Regular Season"
			}
		}

		return fmt.Sprintf("%s - %d", stage, r.Number)
	}

	name := cmp.Or(knockout[r.Slug], ascii(r.Name))
	if r.Prefix != "" {
		name = ascii(r.Prefix) + " - " + name
	}

	return name
}

// ascii returns a name in ASCII.
func ascii(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || r == '\'' }) {
		return strings.ReplaceAll(openfootball.Slug(name), "-", " ")
	}

	return name
}

// rounds lists the names of the rounds with fixtures.
func rounds(_ *http.Request, _ time.Time, in season) any {
	all := []string{}
	for _, r := range in.Rounds {
		all = append(all, in.name(r))
	}

	return all
}

// fixtures lists the fixtures of a season, or of a round of it, by their kick-off.
func (s *Server) fixtures(r *http.Request, now time.Time, in season) any {
	all := []fixtureInfo{}

	for _, d := range in.Details {
		name := in.name(d.Round)
		if round := r.URL.Query().Get("round"); round == "" || round == name {
			all = append(all, in.fixture(d, name, now))
		}
	}

	slices.SortStableFunc(all, func(a, b fixtureInfo) int { return cmp.Compare(a.Fixture.Timestamp, b.Fixture.Timestamp) })

	return all
}

func (s season) fixture(d football.Detail, round string, now time.Time) fixtureInfo {
	out := fixtureInfo{
		Fixture: fixturePart{
			ID: d.ID, Timezone: "UTC", Date: d.KickOff.UTC().Format("2006-01-02T15:04:05-07:00"), Timestamp: d.KickOff.Unix(),
			Periods: map[string]*int64{"first": unix(d.Began), "second": unix(d.Second)},
			Status:  status(d, now),
		},
		League: s.info(round),
		Teams:  map[string]teamInfo{},
	}

	for n, side := range []string{"home", "away"} {
		team := []football.Team{d.Home, d.Away}[n]
		out.Teams[side] = teamInfo{team.ID, team.Name, fmt.Sprintf("%steams/%d.png", media, team.ID), winner(d, n+1)}
	}

	if !d.Scored {
		return out
	}

	out.Goals = shown(&d.Score)
	out.Score.HalfTime = shown(d.HalfTime) // in the first half it is the running score

	if !slices.Contains([]int{firstHalf, secondHalf, halfTime, interrupted}, d.Code) {
		out.Score.FullTime = shown(d.Normal)
	}

	out.Score.ExtraTime, out.Score.Penalty = shown(d.Extra), shown(d.Penalties)

	return out
}

func unix(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}

	seconds := t.Unix()

	return &seconds
}

// winner returns whether a side has won, nil for a draw and while it is not known.
func winner(d football.Detail, side int) *bool {
	if d.Winner != 1 && d.Winner != 2 {
		return nil
	}

	won := d.Winner == side

	return &won
}

func shown(g *openfootball.Goals) pair {
	if g == nil {
		return pair{}
	}

	return pair{&g[0], &g[1]}
}

// The codes of a football.Event.
const (
	notStarted  = 0
	firstHalf   = 6
	secondHalf  = 7
	halfTime    = 31
	firstExtra  = 41
	secondExtra = 42
	penalties   = 50
	postponed   = 60
	cancelled   = 70
	interrupted = 80
	walkover    = 91
	ended       = 100
	afterExtra  = 110
	afterPens   = 120
)

// names are the statuses by code: short and long.
var names = map[int][2]string{
	notStarted:  {"NS", "Not Started"},
	firstHalf:   {"1H", "First Half"},
	halfTime:    {"HT", "Halftime"},
	secondHalf:  {"2H", "Second Half"},
	firstExtra:  {"ET", "Extra Time"},
	secondExtra: {"ET", "Extra Time"},
	penalties:   {"P", "Penalty In Progress"},
	postponed:   {"PST", "Match Postponed"},
	cancelled:   {"CANC", "Match Cancelled"},
	interrupted: {"INT", "Match Interrupted"},
	walkover:    {"WO", "WalkOver"},
	ended:       {"FT", "Match Finished"},
	afterExtra:  {"AET", "Match Finished"},
	afterPens:   {"PEN", "Match Finished"},
}

// status returns the status of an event at a time.
func status(d football.Detail, now time.Time) statusInfo {
	name := names[d.Code]

	switch {
	case d.Code == walkover && d.ID%2 == 0:
		name = [2]string{"AWD", "Technical Loss"}
	case d.Code == interrupted && d.ID%2 == 0:
		name = [2]string{"SUSP", "Match Suspended"}
	}

	out := statusInfo{Long: name[1], Short: name[0]}

	// A period begins after so many minutes, and ends after so many.
	period := func(begins, ends int, at time.Time) {
		minute := begins + 1 + int(max(at.Sub(d.Period), 0)/time.Minute)
		elapsed := min(minute, ends)
		out.Elapsed = &elapsed

		if extra := minute - ends; extra > 0 {
			out.Extra = &extra
		}
	}
	fixed := func(elapsed int) { out.Elapsed = &elapsed }

	switch d.Code {
	case firstHalf:
		period(0, 45, now)
	case halfTime:
		fixed(45)
	case secondHalf:
		period(45, 90, now)
	case interrupted:
		period(45, 90, d.Changed)
	case firstExtra:
		period(90, 105, now)
	case secondExtra:
		period(105, 120, now)
	case ended:
		fixed(90)
	case penalties, afterExtra, afterPens:
		fixed(120)
	}

	return out
}

// standings has a list of rows for each group.
func (s *Server) standings(_ *http.Request, _ time.Time, in season) any {
	if len(in.Tables) == 0 {
		return []standingsInfo{}
	}

	league := in.info("")

	for _, t := range in.Tables {
		rows := []rowInfo{}

		for i, row := range t.Rows {
			id := s.events.TeamID(row.Team)
			rows = append(rows, rowInfo{
				Rank: i + 1, Team: rowTeam{id, row.Team, fmt.Sprintf("%steams/%d.png", media, id)}, Points: row.Points,
				GoalsDiff: row.For - row.Against, Group: cmp.Or(t.Group, in.Name), Status: "same",
				All:    recordInfo{row.Played, row.Won, row.Drawn, row.Lost, map[string]int{"for": row.For, "against": row.Against}},
				Update: in.Updated.UTC().Format("2006-01-02T15:04:05-07:00"),
			})
		}

		league.Standings = append(league.Standings, rows)
	}

	return []standingsInfo{{league}}
}
