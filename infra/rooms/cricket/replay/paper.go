package replay

import (
	"fmt"

	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
)

// paper is a made-up match of few balls. The local team makes 5 runs an over, the visitors 4.
type paper struct {
	id             int64
	local, visitor string
	overs          int  // of an innings
	test           bool // four innings, which end in a draw; otherwise a T20 that the local team wins
	number         int  // in its league
}

// league is the league of all papers.
const league = "Quay League"

// script returns the script of the match.
func (p paper) script() *script.Match {
	f := &cricsheet.Match{}
	in := &f.Info
	in.BallsPerOver, in.Gender, in.TeamType, in.Season, in.Venue, in.City = 6, "male", "club", "2026", "The Quay", "Port"
	in.Event.Name, in.Event.MatchNumber = league, cricsheet.Text(fmt.Sprint(max(p.number, 1)))
	in.Teams, in.Players = []string{p.local, p.visitor}, map[string][]string{}
	in.Toss.Winner, in.Toss.Decision = p.local, "bat"

	for _, team := range in.Teams {
		for n := range 11 {
			in.Players[team] = append(in.Players[team], fmt.Sprint(team, " ", n+1))
		}
	}

	innings := 2
	if in.MatchType, in.Overs = "T20", p.overs; p.test {
		in.MatchType, in.Overs, innings = "Test", 0, 4
		in.Outcome.Result = "draw"
	} else {
		in.Outcome.Winner, in.Outcome.By.Runs = p.local, p.overs
	}

	for i := range innings {
		f.Innings = append(f.Innings, p.innings(i))
	}

	return script.New(f, p.id)
}

// innings returns innings i.
func (p paper) innings(i int) cricsheet.Innings {
	bats, bowls, over := p.local, p.visitor, []int{1, 0, 2, 0, 2, 0}
	if i%2 == 1 {
		bats, bowls, over = p.visitor, p.local, []int{1, 0, 2, 0, 1, 0}
	}

	in := cricsheet.Innings{Team: bats, Declared: p.test && i < 3}

	pair := [2]string{bats + " 1", bats + " 2"}
	for n := range p.overs {
		var all []cricsheet.Delivery

		for _, runs := range over {
			d := cricsheet.Delivery{Batter: pair[0], NonStriker: pair[1], Bowler: fmt.Sprint(bowls, " ", 11-n%2)}
			d.Runs.Batter, d.Runs.Total = runs, runs

			if all = append(all, d); runs%2 == 1 {
				pair[0], pair[1] = pair[1], pair[0]
			}
		}

		in.Overs = append(in.Overs, cricsheet.Over{Over: n, Deliveries: all})
		pair[0], pair[1] = pair[1], pair[0]
	}

	return in
}
