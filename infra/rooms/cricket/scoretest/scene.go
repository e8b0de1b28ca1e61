package scoretest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

type delivery struct {
	Batter, Bowler string
	NonStriker     string `json:"non_striker"`
	Runs           struct {
		Batter, Extras, Total int
		NonBoundary           bool `json:"non_boundary"`
	}
	Extras  struct{ Wides, NoBalls, Byes, LegByes, Penalty int }
	Wickets []wicket
}

type wicket struct {
	PlayerOut string `json:"player_out"`
	Kind      string
	Fielders  []struct{ Name string }
}

// NoProblems fails the test if there are problems.
func NoProblems(t testing.TB, problems []scorer.Problem) {
	t.Helper()

	if len(problems) > 0 {
		t.Fatalf("problems: %+v", problems)
	}
}

func sumBat(lines map[string][2]int) (n int) {
	for _, l := range lines {
		n += l[0]
	}

	return n
}

// AddBatting adds a batting row.
func (s *Scene) AddBatting(b sportmonks.Batting) *Scene { s.Batting = append(s.Batting, b); return s }

// ChangeBall changes the ball at an index of the list.
func (s *Scene) ChangeBall(i int, change func(*sportmonks.Ball)) *Scene {
	change(&s.Balls[i])
	return s
}

// Scene builds the fixture of a match between Home (team 1, HOM) and Away (team 2, AWY).
type Scene struct{ sportmonks.Fixture }

// NewScene returns a match of a type, without balls, in its first innings.
func NewScene(kind string) *Scene {
	return &Scene{sportmonks.Fixture{
		ID: 5, LocalID: 1, VisitorID: 2, Type: kind, Status: "1st Innings",
		Localteam: sportmonks.Team{ID: 1, Name: "Home", Code: "HOM"}, Visitorteam: sportmonks.Team{ID: 2, Name: "Away", Code: "AWY"},
	}}
}

// AddInnings adds an innings in overs of six balls. balls has a word for each ball: "." 1
// 4 6 W 1W wd 5wd nb 5nb 2b 1lb. Batter k of innings n has the id 100n+k; batters 1 and 2
// open, and the striker faces every ball until he is out.
func (s *Scene) AddInnings(teamID int, balls string) *Scene { return s.AddInningsOf(teamID, 6, balls) }

// AddInningsOf is AddInnings with overs of so many legal balls.
func (s *Scene) AddInningsOf(teamID, perOver int, balls string) *Scene {
	n := len(s.Runs) + 1
	row := sportmonks.Runs{TeamID: teamID, Innings: n}
	on, next := 1, 3

	over, legal := 0, 0
	for i, g := range strings.Fields(balls) {
		if legal == perOver {
			over, legal = over+1, 0
		}

		b := sportmonks.Ball{
			ID: 1000*n + i, TeamID: teamID, Innings: n, At: sportmonks.Overs{Overs: over, Balls: legal + 1},
			OneID: 100*n + on, TwoID: 100*n + 2, BatterID: 100*n + on, BowlerID: 900 + over%2,
			Batter: sportmonks.Player{ID: 100*n + on, Name: fmt.Sprint("Batter ", on)},
			Bowler: sportmonks.Player{ID: 900 + over%2, Name: fmt.Sprint("Bowler ", over%2)},
		}
		x := &b.Score

		num, kind := 0, strings.TrimLeft(g, "0123456789")
		if num, _ = strconv.Atoi(strings.TrimSuffix(g, kind)); kind == "wd" || kind == "nb" {
			num = max(num, 1)
		}

		switch kind {
		case "", ".", "W":
			x.Name, x.Runs, x.Four, x.Six = "Runs", num, num == 4, num == 6
		case "wd":
			x.Name, x.Runs = "Wides", num
		case "nb":
			x.Name, x.Runs, x.NoBall, x.NoBallRuns = "No Ball", num, 1, 1
		case "b":
			x.Name, x.Bye = "Byes", num
		case "lb":
			x.Name, x.LegBye = "Leg Byes", num
		}

		if kind == "W" {
			x.Name, x.Wicket, x.Out, b.OutID = "Clean Bowled", true, true, b.BatterID
			row.Wickets++
			on, next = next, next+1
		}

		if b.Legal() {
			legal++
		}

		row.Score += b.Total()
		s.Balls = append(s.Balls, b)
	}

	row.Overs = sportmonks.Overs{Overs: over, Balls: legal}
	s.Runs = append(s.Runs, row)
	s.Status = []string{"1st Innings", "2nd Innings", "3rd Innings", "4th Innings"}[min(n, 4)-1]

	return s
}

// AddTotal adds an innings with a total and no balls.
func (s *Scene) AddTotal(teamID, runs, wickets int, overs string) *Scene {
	o, b, _ := strings.Cut(overs, ".")
	row := sportmonks.Runs{TeamID: teamID, Innings: len(s.Runs) + 1, Score: runs, Wickets: wickets}
	row.Overs.Overs, _ = strconv.Atoi(o)
	row.Overs.Balls, _ = strconv.Atoi(b)
	s.Runs = append(s.Runs, row)
	s.Status = []string{"1st Innings", "2nd Innings", "3rd Innings", "4th Innings"}[min(row.Innings, 4)-1]

	return s
}

// Set changes the fixture.
func (s *Scene) Set(f func(*sportmonks.Fixture)) *Scene { f(&s.Fixture); return s }

// SetStatus sets the status of the fixture.
func (s *Scene) SetStatus(status string) *Scene { s.Status = status; return s }

// Finish sets the status Finished, the winner and the note.
func (s *Scene) Finish(winner int, note string) *Scene {
	s.Status, s.WinnerID, s.Note = "Finished", winner, note
	return s
}

// Read returns the state of the match. Problems of the fixture fail the test.
func (s *Scene) Read(t testing.TB) score.State {
	t.Helper()

	st, problems := scorer.Read(s.Fixture, score.State{})
	NoProblems(t, problems)

	return st
}

// DrawFixture draws a fixture with arbitrary values, many of them plausible.
func DrawFixture(t *rapid.T) sportmonks.Fixture {
	num := rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(-5, 400))
	team := rapid.IntRange(0, 3)

	f := sportmonks.Fixture{
		ID:          1,
		LocalID:     1,
		VisitorID:   2,
		Localteam:   sportmonks.Team{ID: 1, Name: "Home"},
		Visitorteam: sportmonks.Team{ID: 2, Name: "Away", Code: "AWY"},
		Type:        rapid.SampledFrom([]string{"T20I", "ODI", "Test", "4day", "T10", "The Hundred", "?"}).Draw(t, "type"),
		Status: rapid.SampledFrom([]string{"NS", "1st Innings", "2nd Innings", "3rd Innings", "4th Innings",
			"Innings Break", "Lunch", "Stump Day 2",
			"Int.", "Finished", "Aban.", "Cancl.", "?", ""}).Draw(t, "status"),
		Note: rapid.SampledFrom([]string{"", "Target 99 runs", "Home won by 3 wickets", "Away won by 12 runs (D/L method)",
			"Match tied (Away won the Super Over)",
			"Match drawn", "No result", "Match tied", "Home won the toss"}).Draw(t, "note"),
		Overs:     num.Draw(t, "overs"),
		RPCTarget: num.Draw(t, "rpc"),
		WinnerID:  team.Draw(t, "winner"),
		TossWonID: team.Draw(t, "toss"),
		Elected:   "batting",
		RPCOvers:  sportmonks.Overs{Overs: rapid.IntRange(0, 20).Draw(t, "rpc")},
		SuperOver: rapid.Bool().Draw(t, "so"),
	}
	for range rapid.IntRange(0, 6).Draw(t, "rows") {
		f.Runs = append(f.Runs, sportmonks.Runs{
			TeamID:  team.Draw(t, "team"),
			Innings: rapid.IntRange(-1, 7).Draw(t, "inning"),
			Score:   num.Draw(t, "score"),
			Wickets: num.Draw(t, "wickets"),
			Overs:   sportmonks.Overs{Overs: rapid.IntRange(0, 60).Draw(t, "o"), Balls: rapid.IntRange(0, 9).Draw(t, "b")},
		})
	}

	for range rapid.IntRange(0, 40).Draw(t, "balls") {
		f.Balls = append(f.Balls, sportmonks.Ball{
			ID:       rapid.IntRange(-1, 60).Draw(t, "id"),
			TeamID:   team.Draw(t, "team"),
			Innings:  rapid.IntRange(0, 5).Draw(t, "inn"),
			At:       sportmonks.Overs{Overs: rapid.IntRange(0, 4).Draw(t, "o"), Balls: rapid.IntRange(0, 9).Draw(t, "b")},
			OneID:    num.Draw(t, "one"),
			TwoID:    num.Draw(t, "two"),
			BatterID: num.Draw(t, "bat"),
			BowlerID: num.Draw(t, "bowl"),
			OutID:    team.Draw(t, "out"),
			Score: sportmonks.Score{
				Name:   rapid.SampledFrom([]string{"", "1 Wide", "FOUR", "Run Out", "Catch Out", "1 Leg Bye", "Retired Hurt"}).Draw(t, "name"),
				Runs:   num.Draw(t, "runs"),
				Bye:    rapid.IntRange(0, 2).Draw(t, "bye"),
				NoBall: rapid.IntRange(0, 1).Draw(t, "nb"),
				Wicket: rapid.Bool().Draw(t, "w"),
			},
		})
	}

	for range rapid.IntRange(0, 5).Draw(t, "batting") {
		f.Batting = append(f.Batting, sportmonks.Batting{
			Innings:   rapid.IntRange(0, 4).Draw(t, "inn"),
			PlayerID:  num.Draw(t, "p"),
			Out:       rapid.Bool().Draw(t, "out"),
			Score:     num.Draw(t, "made"),
			FallAt:    sportmonks.Overs{Overs: num.Draw(t, "o"), Balls: 3},
			FallScore: num.Draw(t, "fs"),
		})
	}

	return f
}
