package sportmonks

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"matchday/infra/sim/sportmonks/internal/wire"
)

// standing is a team's row in the table of a season.
type standing struct {
	team                                  int64
	points, played, won, lost, draw, none int
	runs, balls                           [2]int // scored and faced, conceded and bowled
	form                                  []string
}

const (
	ballsPerOver = 6
	pointsOfWin  = 2
	formShown    = 5
	allOut       = 10 // wickets
)

// rate returns the net run rate.
func (t *standing) rate() float64 {
	rate := 0.0

	for i, sign := range []float64{1, -1} {
		if t.balls[i] > 0 {
			rate += sign * ballsPerOver * float64(t.runs[i]) / float64(t.balls[i])
		}
	}

	return rate
}

// standings writes the table of a season: of the limited-overs matches that are over. A season without teams is
// not found.
func (s *Server) standings(c *call, w *wire.Writer) error {
	teams := map[int64]*standing{}
	of := func(id int64) *standing {
		if teams[id] == nil {
			teams[id] = &standing{team: id}
		}

		return teams[id]
	}

	for _, id := range slices.Sorted(maps.Keys(s.fixtures)) {
		e := s.fixtures[id]
		if e.fixture.Season.ID != c.id {
			continue
		}

		sides := [2]*standing{of(e.fixture.Local.ID), of(e.fixture.Visitor.ID)}

		v := e.snapshot(c.now)
		if e.playback == nil || v.Status != "Finished" && v.Status != "Aban." {
			continue
		}

		m := e.playback.match
		for i, in := range m.Cards(v.Frame, nil, nil) {
			if m.Innings[i].Super || m.Overs == 0 {
				continue
			}

			balls := in.Overs/10*ballsPerOver + in.Overs%10
			if in.Wickets == allOut {
				balls = m.Overs * ballsPerOver
			}

			for side, t := range sides {
				n := 0
				if side != m.Innings[i].Side {
					n = 1
				}

				t.runs[n], t.balls[n] = t.runs[n]+in.Runs, t.balls[n]+balls
			}
		}

		for _, t := range sides {
			t.played++

			switch {
			case v.Winner == t.team:
				t.won, t.points, t.form = t.won+1, t.points+pointsOfWin, append(t.form, "W")
			case v.Winner != 0:
				t.lost, t.form = t.lost+1, append(t.form, "L")
			case strings.EqualFold(v.Draw, "draw"):
				t.draw, t.points, t.form = t.draw+1, t.points+1, append(t.form, "D")
			default:
				t.none, t.points, t.form = t.none+1, t.points+1, append(t.form, "N")
			}
		}
	}

	if len(teams) == 0 {
		return notFound("No record of this id.")
	}

	table := slices.SortedFunc(maps.Values(teams), func(a, b *standing) int {
		return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(b.rate(), a.rate()), cmp.Compare(a.team, b.team))
	})

	w.Lit(`{"data":[`)

	for i, t := range table {
		w.Standing(wire.Standing{
			Team: t.team, Season: c.id, League: s.seasons[c.id].league, Position: i + 1, Points: t.points, Played: t.played,
			Won: t.won, Lost: t.lost, Draw: t.draw, NoResult: t.none, Runs: t.runs, Overs: [2]int{tenths(t.balls[0]), tenths(t.balls[1])},
			Rate: t.rate(), Form: t.form[max(len(t.form)-formShown, 0):],
		})
	}

	w.Lit("]")
	w.End()

	return nil
}

// tenths returns a number of balls as tenths of an over, as labels have them.
func tenths(balls int) int { return balls/ballsPerOver*10 + balls%ballsPerOver }
