package card

import (
	"cmp"
	"slices"
	"strings"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// howOf returns the dismissal that a score of the provider is. Names may be compound ("1 Leg Bye +
// Run Out"), so it searches them for their parts.
func howOf(s sportmonks.Score) How {
	name := strings.ToLower(s.Name)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}

	switch {
	case has("retired hurt"):
		return RetiredHurt
	case has("retired not out"):
		return RetiredNotOut
	case has("absent"):
		return AbsentHurt
	case s.ID == sportmonks.NotOut, has("not out"):
		return NotOut
	case has("run out"):
		return RunOut
	case has("and bowled", "& bowled"):
		return CaughtAndBowled
	case has("catch", "caught"):
		return Caught
	case has("stump"):
		return Stumped
	case has("lbw", "leg before"):
		return LBW
	case has("hit wicket"):
		return HitWicket
	case has("bowled"):
		return Bowled
	case has("retired"):
		return RetiredOut
	case has("obstruct"):
		return ObstructingTheField
	case has("timed"):
		return TimedOut
	case has("handled"):
		return HandledTheBall
	case has("twice"):
		return HitTheBallTwice
	case s.ID == 0 && s.Name == "", s.Name != "" && !s.Wicket && !s.Out:
		return NotOut
	}

	return Other
}

// maxText is the most bytes of a name.
const maxText = 80

// dismissal returns how a score of the provider got a batter out. catcher, thrower and bowler are
// ids, or 0.
func (m *maker) dismissal(s sportmonks.Score, bowler, catcher, thrower int) Dismissal {
	d := Dismissal{How: howOf(s)}

	switch d.How {
	case Caught, Stumped:
		if d.How == Caught && catcher != 0 && catcher == bowler {
			d.How = CaughtAndBowled
			break
		}

		d.Fielders = m.players(catcher)
	case RunOut:
		if thrower == catcher {
			catcher = 0
		}

		d.Fielders = m.players(thrower, catcher)
	case Other:
		d.Text = score.Fit(s.Name, maxText)
	}

	if d.How.Credited() && bowler != 0 {
		d.Bowler = &m.players(bowler)[0]
	}

	d.Substitute = len(d.Fielders) > 0 && strings.Contains(strings.ToLower(s.Name), "(sub)")

	return d
}

// equal reports whether two dismissals are the same, by the ids of the players.
func (d Dismissal) equal(o Dismissal) bool {
	id := func(p *Player) string {
		if p == nil {
			return ""
		}

		return p.ID
	}

	return d.How == o.How && id(d.Bowler) == id(o.Bowler) &&
		slices.EqualFunc(d.Fielders, o.Fielders, func(a, b Player) bool { return a.ID == b.ID })
}

// players returns the players with these ids. It omits 0.
func (m *maker) players(ids ...int) (all []Player) {
	for _, id := range ids {
		if id != 0 {
			all = append(all, Player{ID: score.IDText(id), Name: m.name(id)})
		}
	}

	return all
}

// name returns the name of a player, or that of one without a name.
func (m *maker) name(id int) string {
	return cmp.Or(m.names[id], Unnamed(score.IDText(id)))
}

// Unnamed returns what a card calls a player without a name: "Player 17".
func Unnamed(id string) string { return "Player " + id }
