package card

import (
	"cmp"
	"slices"
	"strconv"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/tally"
	"matchday/pkg/cricket/sportmonks"
)

// Card is the scorecard of a match.
type Card struct {
	Match   Match
	Innings []Innings
}

// Of makes the scorecard of a fixture whose score is s. ok is false if the fixture lists no lineup
// and no row of any innings: it says nothing that a card could be made from.
func Of(f *sportmonks.Fixture, s *score.State) (c Card, ok bool) {
	m := maker{f: f, s: s, per: max(s.PerOver, 1), names: map[int]string{}, scores: map[int]sportmonks.Score{}}
	m.index()

	if ok = len(f.Lineup)+len(f.Balls)+len(f.Batting)+len(f.Runs) > 0; !ok {
		return Card{}, false
	}

	c.Match = m.match()

	if len(f.Balls)+len(f.Batting)+len(f.Runs) == 0 {
		return c, true // the score has kept innings of an earlier answer
	}

	balls := tally.Ordered(f.Balls)

	for i := range s.Innings {
		n := &s.Innings[i]
		own := slices.DeleteFunc(slices.Clone(balls), func(b *sportmonks.Ball) bool { return b.Innings != n.Number })
		c.Innings = append(c.Innings, m.innings(n, tally.New(own)))
	}

	return c, true
}

// The most rows of a card. A broken answer does not exceed the size of an item.
const (
	maxPlayers = 60 // of a side, and of an innings
	maxStyle   = 40 // bytes
	maxImage   = 200
	maxPairs   = 60
)

// maker makes the card of one match.
type maker struct {
	f      *sportmonks.Fixture
	s      *score.State
	per    int                      // balls of an over
	names  map[int]string           // of players
	scores map[int]sportmonks.Score // of the balls, by id
}

// index reads the names of players, that of the lineup first, and the scores of the balls.
func (m *maker) index() {
	add := func(id int, name string) {
		if m.names[id] == "" && name != "" {
			m.names[id] = score.Fit(name, maxText)
		}
	}

	for _, p := range m.f.Lineup {
		add(p.ID, p.Name)
	}

	for i := range m.f.Balls {
		b := &m.f.Balls[i]
		add(b.BatterID, b.Batter.Name)
		add(b.BowlerID, b.Bowler.Name)

		m.scores[b.Score.ID] = b.Score
	}

	for i := range m.f.Batting {
		b := &m.f.Batting[i]
		add(b.CatchID, b.Catch.Name)
		add(b.RunOutID, b.RunOut.Name)
	}

	add(cmp.Or(m.f.ManOfMatchID, m.f.ManOfMatch.ID), m.f.ManOfMatch.Name)
}

// result returns how the batter of a row got out. If the row has the id alone, a ball with this
// score has its name.
func (m *maker) result(row *sportmonks.Batting) sportmonks.Score {
	if row.Result.Name != "" {
		return row.Result
	}

	return cmp.Or(m.scores[row.ResultID], sportmonks.Score{ID: row.ResultID, Out: row.Out})
}

// match returns what the card has of the match as a whole.
func (m *maker) match() Match {
	f := m.f
	c := Match{Teams: []Side{m.side(f.Localteam, m.s.Local, f.LocalID), m.side(f.Visitorteam, m.s.Visitor, f.VisitorID)}}

	if id := cmp.Or(f.ManOfMatchID, f.ManOfMatch.ID); id != 0 {
		c.PlayerOfMatch = &m.players(id)[0]
	}

	for i, dl := range []sportmonks.DL{f.LocalDL, f.VisitorDL} {
		if dl == (sportmonks.DL{}) {
			continue
		}

		r := RainRule{TeamID: c.Teams[i].TeamID, Runs: dl.Score, Wickets: dl.Wickets}
		if !dl.Overs.IsZero() {
			r.Overs = score.OversText(dl.Overs, m.per)
		}

		c.RainRule = append(c.RainRule, r)
	}

	c.Venue = Venue{score.Fit(f.Venue.Name, maxText), score.Fit(f.Venue.City, maxText)}

	for _, o := range []struct {
		role Role
		sportmonks.Official
	}{{Umpire, f.FirstUmpire}, {Umpire, f.SecondUmpire}, {TVUmpire, f.TVUmpire}, {Referee, f.Referee}} {
		if o.ID != 0 {
			c.Officials = append(c.Officials, Official{o.role, score.IDText(o.ID), score.Fit(o.Name, maxText)})
		}
	}

	return c
}

// side returns a team with its players, the eleven first. It has the provider's names: the titles of
// administrators may change after the match.
func (m *maker) side(t sportmonks.Team, known score.Team, id int) Side {
	s := Side{
		TeamID: known.ID, Name: cmp.Or(score.Fit(t.Name, maxText), known.Name), Code: cmp.Or(score.Fit(t.Code, 16), known.Code),
		Players: []Member{},
	}

	for _, substitute := range []bool{false, true} {
		for _, p := range m.f.Lineup {
			if p.Substitute == substitute && p.ID != 0 && m.teamOf(p) == id && len(s.Players) < maxPlayers {
				s.Players = append(s.Players, Member{
					ID: score.IDText(p.ID), Name: m.name(p.ID), Captain: p.Captain, Keeper: p.Keeper, Substitute: p.Substitute,
					Profile: profile(p),
				})
			}
		}
	}

	return s
}

// profile returns what the lineup says of a player. An address that is too long is none.
func profile(p sportmonks.Member) Profile {
	fit := func(text string) string { return score.Fit(text, maxStyle) }

	of := Profile{Role: fit(p.Role), BattingStyle: fit(p.BattingStyle), BowlingStyle: fit(p.BowlingStyle)}
	if len(p.Image) <= maxImage {
		of.Image = p.Image
	}

	return of
}

// teamOf returns the id of a player's team. Some lineups lack it: then it is the one for which the
// player bats or bowls, or 0.
func (m *maker) teamOf(p sportmonks.Member) int {
	if p.TeamID != 0 {
		return p.TeamID
	}

	for i := range m.f.Batting {
		if b := &m.f.Batting[i]; b.PlayerID == p.ID {
			return b.TeamID
		}
	}

	for i := range m.f.Bowling {
		if b := &m.f.Bowling[i]; b.PlayerID == p.ID {
			return b.TeamID
		}
	}

	return 0
}

// innings returns the card of an innings, whose balls are those of t.
func (m *maker) innings(n *score.Innings, t tally.Tally) Innings {
	c := Innings{
		Number: n.Number, TeamID: n.TeamID, SuperOver: n.SuperOver, Runs: n.Runs, Wickets: n.Wickets, Overs: n.Overs,
		RunRate: score.Rate(n.Runs, n.Balls), AllOut: n.AllOut, Declared: n.Declared, Over: n.Over, Unchecked: len(t.Balls) == 0,
		Falls: []Fall{}, Partnerships: []Partnership{}, DidNotBat: []Player{},
	}
	wrong := map[Part]bool{}

	if n.Target > 0 {
		c.Target = &score.Target{Runs: n.Target}
		if n.Number == 2 && !m.s.Format.MultiDay() && m.s.Target.Runs == n.Target {
			c.Target = &m.s.Target
		}
	}

	rows := tally.Batting(m.f, n.Number)
	c.Batting = m.batting(rows, &t, wrong)
	c.DidNotBat = m.didNotBat(n, c.Batting)
	c.Bowling = m.bowling(n, &t, wrong)
	c.Extras = m.extras(n, &t, wrong)

	falls := m.falls(rows, &t, c.Extras.Penalty, wrong)
	for i, w := range falls {
		fall := Fall{Wicket: i + 1, Batter: m.players(w.id)[0], Runs: w.runs}
		if !w.at.IsZero() {
			fall.Overs = strconv.Itoa(w.at.Overs) + "." + strconv.Itoa(w.at.Balls)
		}

		c.Falls = append(c.Falls, fall)
	}

	if len(t.Balls) > 0 {
		c.Partnerships = m.partnerships(&t, falls, wrong)
	}

	m.checkTotal(n, &c, &t, wrong)

	for _, p := range []Part{Total, Batting, ExtraRuns, FallOfWickets, Together, Bowling} {
		if wrong[p] {
			c.Disagreements = append(c.Disagreements, p)
		}
	}

	return c
}

// checkTotal compares the total with the balls, the scoreboard, and the sum of the card.
func (m *maker) checkTotal(n *score.Innings, c *Innings, t *tally.Tally, wrong map[Part]bool) {
	sum := c.Extras.Total
	for _, b := range c.Batting {
		sum += b.Runs
	}

	for _, b := range m.f.Scoreboards {
		if b.Innings == n.Number && b.Type == "total" && (b.Total != n.Runs || b.Wickets != n.Wickets) {
			wrong[Total] = true
		}
	}

	if len(c.Batting) > 0 && (sum != n.Runs || len(c.Falls) != n.Wickets) {
		wrong[Total] = true
	}

	if len(t.Balls) == 0 {
		return
	}

	bowled := t.Bowled(n.Bowled(m.per), m.per) || t.Legal == n.Balls
	if t.Runs+c.Extras.Penalty != n.Runs || t.Wickets != n.Wickets || !bowled {
		wrong[Total] = true
	}
}

// didNotBat returns the players of the eleven who have no row.
func (m *maker) didNotBat(n *score.Innings, rows []Batter) []Player {
	all := []Player{}
	if n.SuperOver {
		return all
	}

	for _, p := range m.f.Lineup {
		id := score.IDText(p.ID)
		if p.ID == 0 || p.Substitute || score.IDText(m.teamOf(p)) != n.TeamID || len(all) == maxPlayers ||
			slices.ContainsFunc(rows, func(b Batter) bool { return b.ID == id }) {
			continue
		}

		all = append(all, m.players(p.ID)...)
	}

	return all
}

// extras returns the extras of the scoreboard, and those of the balls if there is none.
func (m *maker) extras(n *score.Innings, t *tally.Tally, wrong map[Part]bool) Extras {
	e := n.Extras

	for _, b := range m.f.Scoreboards {
		if b.Innings != n.Number || b.Type != "extra" {
			continue
		}

		e = score.Extras{Wides: b.Wide, NoBalls: b.NoBall, Byes: b.Bye, LegByes: b.LegBye, Penalty: b.Penalty}

		listed := t.Extras
		listed.Penalty = e.Penalty // no ball has penalty runs

		if len(t.Balls) > 0 && listed != e {
			wrong[ExtraRuns] = true
		}
	}

	return Extras{Wides: e.Wides, NoBalls: e.NoBalls, Byes: e.Byes, LegByes: e.LegByes, Penalty: e.Penalty, Total: e.Total()}
}

// batting returns the batters of the rows, or those of the balls if there is no row.
func (m *maker) batting(rows []sportmonks.Batting, t *tally.Tally, wrong map[Part]bool) []Batter {
	all, listed := []Batter{}, m.listedBatters(t)

	for i := range rows[:min(len(rows), maxPlayers)] {
		row := &rows[i]

		b := m.batter(row.PlayerID, tally.Line{Runs: row.Score, Balls: row.Balls, Fours: row.Fours, Sixes: row.Sixes})
		b.Dismissal = m.dismissal(m.result(row), row.BowlerID, row.CatchID, row.RunOutID)
		all = append(all, b)
	}

	if len(all) == 0 {
		return listed
	}

	if len(listed) > 0 && !agree(all, listed) {
		wrong[Batting] = true
	}

	return all
}

func (m *maker) batter(id int, l tally.Line) Batter {
	return Batter{
		ID: score.IDText(id), Name: m.name(id), Runs: l.Runs, Balls: l.Balls, Fours: l.Fours, Sixes: l.Sixes,
		StrikeRate: strikeRate(l.Runs, l.Balls),
	}
}

// strikeRate returns the runs of 100 balls with two decimals, rounded half up, and "" without a
// ball.
func strikeRate(runs, balls int) string {
	if runs < 0 || balls <= 0 || runs > 1e9 || balls > 1e9 {
		return ""
	}

	h := (2*10_000*runs + balls) / (2 * balls)

	return strconv.Itoa(h/100) + "." + strconv.Itoa(h/10%10) + strconv.Itoa(h%10)
}

// agree reports whether rows of batters are those of the balls. A row without a ball is that of a
// batter who has come in, or is absent.
func agree(rows, listed []Batter) bool {
	for _, b := range listed {
		if !slices.ContainsFunc(rows, func(r Batter) bool { return r.ID == b.ID }) {
			return false
		}
	}

	for _, r := range rows {
		i := slices.IndexFunc(listed, func(b Batter) bool { return b.ID == r.ID })

		b := Batter{Dismissal: Dismissal{How: NotOut}}
		if i >= 0 {
			b = listed[i]
		}

		if r.Runs != b.Runs || r.Balls != b.Balls || r.Fours != b.Fours || r.Sixes != b.Sixes ||
			(r.How.Wicket() || b.How.Wicket()) && !r.Dismissal.equal(b.Dismissal) {
			return false
		}
	}

	return true
}

// listedBatters returns the batters of the balls in the order in which they came in.
func (m *maker) listedBatters(t *tally.Tally) []Batter {
	all, at := []Batter{}, map[int]int{}

	for _, b := range t.Balls {
		for _, id := range []int{b.OneID, b.TwoID, b.BatterID, b.OutID} {
			if _, known := at[id]; known || id == 0 || len(all) == maxPlayers {
				continue
			}

			at[id] = len(all)
			c := m.batter(id, *t.Line(id))
			c.How = NotOut
			all = append(all, c)
		}

		if i, ok := at[b.Dismissed()]; ok {
			all[i].Dismissal = m.dismissal(b.Score, b.BowlerID, b.CatchID, b.RunOutID)
		}
	}

	for id, i := range at {
		if l := t.Line(id); !l.Out && !l.Hurt { // has returned
			all[i].Dismissal = Dismissal{How: NotOut}
		}
	}

	return all
}
