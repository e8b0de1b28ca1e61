package football

import (
	"cmp"
	"strings"
	"time"

	"matchday/infra/sim/openfootball"
)

// view is what the API says of an event from a time on.
type view struct {
	at         time.Time
	status     status
	kickOff    time.Time
	period     time.Time
	home, away score
	winner     int
	changes    []string // since the view before
}

// score is the score of a team. What is not known is missing.
type score struct {
	Current    *int `json:"current,omitempty"` // with penalties
	Display    *int `json:"display,omitempty"` // without
	Period1    *int `json:"period1,omitempty"`
	Period2    *int `json:"period2,omitempty"`
	NormalTime *int `json:"normaltime,omitempty"`
	Extra1     *int `json:"extra1,omitempty"`
	Extra2     *int `json:"extra2,omitempty"`
	Overtime   *int `json:"overtime,omitempty"`
	Penalties  *int `json:"penalties,omitempty"`
}

func (s *state) view() view {
	v := view{status: s.status, kickOff: s.kickOff, period: s.period, home: s.score(0), away: s.score(1)}
	switch {
	case s.status == walkover:
		v.winner = s.walkover
	case s.status.Type == ended.Type && v.home.Display != nil:
		switch cmp.Compare(*v.home.Current, *v.away.Current) {
		case 1:
			v.winner = 1
		case -1:
			v.winner = 2
		default:
			v.winner = 3
		}
	}

	return v
}

// score returns the score of a side.
func (s *state) score(side int) (out score) {
	if s.periods == 0 || s.hidden == everything {
		return score{}
	}

	value := func(n int) *int { return &n }
	of := func(period int) int { return s.goals[period][side] }
	total := of(0) + of(1) + of(2) + of(3)

	out.Period1 = value(of(0))
	if s.periods > 1 {
		out.Period2, out.NormalTime = value(of(1)), value(of(0)+of(1))
	}

	if s.periods > 2 {
		out.Extra1, out.Overtime = value(of(2)), value(of(2)+of(3))
	}

	if s.periods > 3 {
		out.Extra2 = value(of(3))
	}

	if s.hidden != display {
		out.Display = value(total)
	}

	if s.shootout != nil {
		out.Penalties = value(s.shootout[side])
		total += s.shootout[side]
	}

	out.Current = value(total)

	return out
}

// result returns the score that counts, or false if there is none yet.
func (v view) result() (openfootball.Goals, bool) {
	if v.home.Display == nil || v.away.Display == nil {
		return openfootball.Goals{}, false
	}

	return openfootball.Goals{*v.home.Display, *v.away.Display}, true
}

// since names what differs from an earlier view, as the API does.
func (v view) since(before view) (names []string) {
	add := func(changed bool, name ...string) {
		if changed {
			names = append(names, name...)
		}
	}
	add(v.status.Code != before.status.Code, "status.code", "status.description")
	add(v.status.Type != before.status.Type, "status.type")
	add(!v.kickOff.Equal(before.kickOff), "startTimestamp")
	names = append(names, v.home.since(before.home, "homeScore.")...)
	names = append(names, v.away.since(before.away, "awayScore.")...)
	add(!v.period.Equal(before.period), "time.currentPeriodStart")

	return names
}

func (s score) since(before score, prefix string) (names []string) {
	for _, f := range []struct {
		name      string
		now, then *int
	}{
		{"current", s.Current, before.Current}, {"display", s.Display, before.Display},
		{"period1", s.Period1, before.Period1}, {"period2", s.Period2, before.Period2},
		{"normaltime", s.NormalTime, before.NormalTime}, {"extra1", s.Extra1, before.Extra1},
		{"extra2", s.Extra2, before.Extra2}, {"overtime", s.Overtime, before.Overtime},
		{"penalties", s.Penalties, before.Penalties},
	} {
		if (f.now == nil) != (f.then == nil) || f.now != nil && *f.now != *f.then {
			names = append(names, prefix+f.name)
		}
	}

	return names
}

// The objects of the API, as far as they are simulated.
type (
	roundInfo struct {
		Round  int    `json:"round"`
		Name   string `json:"name,omitempty"`
		Slug   string `json:"slug,omitempty"`
		Prefix string `json:"prefix,omitempty"`
		// The number of matches of a whole round of the cup.
		CupRoundType int `json:"cupRoundType,omitempty"`
	}
	named struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
		Slug string `json:"slug"`
	}
	tournamentInfo struct {
		named
		UniqueTournament named  `json:"uniqueTournament"`
		IsGroup          bool   `json:"isGroup"`
		GroupName        string `json:"groupName,omitempty"`
		GroupSign        string `json:"groupSign,omitempty"`
	}
	seasonInfo struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
		Year string `json:"year"`
	}
	teamInfo struct {
		named
		ShortName string `json:"shortName"`
		NameCode  string `json:"nameCode"`
	}
	timeInfo struct {
		CurrentPeriodStart int64 `json:"currentPeriodStartTimestamp,omitempty"`
	}
	changeInfo struct {
		Changes []string `json:"changes,omitempty"`
		At      int64    `json:"changeTimestamp"`
	}
	eventInfo struct {
		ID              int64          `json:"id"`
		Slug            string         `json:"slug"`
		StartTimestamp  int64          `json:"startTimestamp"`
		Tournament      tournamentInfo `json:"tournament"`
		Season          seasonInfo     `json:"season"`
		RoundInfo       roundInfo      `json:"roundInfo"`
		Status          status         `json:"status"`
		WinnerCode      int            `json:"winnerCode,omitempty"`
		HomeTeam        teamInfo       `json:"homeTeam"`
		AwayTeam        teamInfo       `json:"awayTeam"`
		HomeScore       score          `json:"homeScore"`
		AwayScore       score          `json:"awayScore"`
		Time            timeInfo       `json:"time"`
		Changes         changeInfo     `json:"changes"`
		FinalResultOnly bool           `json:"finalResultOnly"`
	}
	ruleInfo struct {
		ID   int64  `json:"id"`
		Text string `json:"text"`
	}
	rowInfo struct {
		ID            int64    `json:"id"`
		Team          teamInfo `json:"team"`
		Descriptions  []string `json:"descriptions"`
		Position      int      `json:"position"`
		Matches       int      `json:"matches"`
		Wins          int      `json:"wins"`
		Losses        int      `json:"losses"`
		Draws         int      `json:"draws"`
		ScoresFor     int      `json:"scoresFor"`
		ScoresAgainst int      `json:"scoresAgainst"`
		Points        int      `json:"points"`
		Difference    string   `json:"scoreDiffFormatted"`
	}
	tableInfo struct {
		ID         int64          `json:"id"`
		Type       string         `json:"type"`
		Name       string         `json:"name"`
		Tournament tournamentInfo `json:"tournament"`
		Rule       ruleInfo       `json:"tieBreakingRule"`
		Rows       []rowInfo      `json:"rows"`
		UpdatedAt  int64          `json:"updatedAtTimestamp"`
	}
)

// cupRoundTypes are the matches of the rounds that have a number of them.
var cupRoundTypes = map[string]int{"round-of-32": 16, "round-of-16": 8, "quarterfinals": 4, "semifinals": 2, "final": 1}

// roundOf returns a round as the list of rounds has it.
func roundOf(r openfootball.Round) roundInfo {
	return roundInfo{Round: r.Number, Name: r.Name, Slug: r.Slug, Prefix: r.Prefix}
}

// group returns the part of the tournament that a group is, or the whole if it is empty.
func (se *season) group(name string) tournamentInfo {
	slug := openfootball.Slug(se.name)

	t := tournamentInfo{
		named:            named{se.ID*1000 + 1 + int64(len(se.groups)), se.name, slug},
		UniqueTournament: named{se.ID, se.name, slug},
	}
	if name != "" {
		t.Name += ", " + name
		t.Slug = openfootball.Slug(t.Name)
		t.IsGroup, t.GroupName, t.GroupSign = true, name, strings.TrimPrefix(name, "Group ")
	}

	return t
}

// team returns a team. One that is not known gets an id.
func (s *Server) team(name string) teamInfo {
	t, known := s.teams[name]
	if !known {
		slug := openfootball.Slug(name)
		code := strings.ToUpper(strings.ReplaceAll(slug, "-", ""))
		t = teamInfo{named{firstTeam + int64(len(s.teams)), name, slug}, name, code[:min(3, len(code))]}
		s.teams[name] = t
	}

	return t
}

// show returns an event as the API does.
func (e *event) show(v view) eventInfo {
	out := e.info
	out.StartTimestamp, out.Status, out.WinnerCode = v.kickOff.Unix(), v.status, v.winner

	out.HomeScore, out.AwayScore, out.Changes.Changes = v.home, v.away, v.changes
	if !v.period.IsZero() {
		out.Time.CurrentPeriodStart = v.period.Unix()
	}

	if !v.at.IsZero() {
		out.Changes.At = v.at.Unix()
	}

	return out
}
