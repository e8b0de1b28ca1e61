package tally_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/tally"
	"matchday/pkg/cricket/sportmonks"
)

// at is the label of a ball.
func at(overs, balls int) sportmonks.Overs { return sportmonks.Overs{Overs: overs, Balls: balls} }

// TestBallsAreOrdered: by innings and id. Of a ball that is listed twice the last counts, and
// one without an id or an innings does not.
func TestBallsAreOrdered(t *testing.T) {
	t.Parallel()

	ball := func(innings, id, runs int) sportmonks.Ball {
		return sportmonks.Ball{Innings: innings, ID: id, Score: sportmonks.Score{Runs: runs}}
	}
	for name, c := range map[string]struct{ all, want []sportmonks.Ball }{
		"none":       {nil, nil},
		"one":        {[]sportmonks.Ball{ball(1, 1, 0)}, []sportmonks.Ball{ball(1, 1, 0)}},
		"no id":      {[]sportmonks.Ball{ball(1, 0, 0), ball(1, -1, 0)}, nil},
		"no innings": {[]sportmonks.Ball{ball(0, 1, 0), ball(-1, 2, 0)}, nil},
		"ids": {
			[]sportmonks.Ball{ball(1, 3, 0), ball(1, 1, 0), ball(1, 2, 0)},
			[]sportmonks.Ball{ball(1, 1, 0), ball(1, 2, 0), ball(1, 3, 0)},
		},
		"innings first": {[]sportmonks.Ball{ball(2, 1, 0), ball(1, 9, 0)}, []sportmonks.Ball{ball(1, 9, 0), ball(2, 1, 0)}},
		"listed twice": {
			[]sportmonks.Ball{ball(1, 1, 4), ball(1, 2, 0), ball(1, 1, 6), ball(1, 2, 1)},
			[]sportmonks.Ball{ball(1, 1, 6), ball(1, 2, 1)},
		},
		"the same id in two innings": {[]sportmonks.Ball{ball(2, 1, 4), ball(1, 1, 6)}, []sportmonks.Ball{ball(1, 1, 6), ball(2, 1, 4)}},
	} {
		var got []sportmonks.Ball
		for _, b := range tally.Ordered(c.all) {
			got = append(got, *b)
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRowsAreOrdered: the batting rows of one innings in batting order; the batters who are out
// by the place and then the score of their fall.
func TestRowsAreOrdered(t *testing.T) {
	t.Parallel()

	f := sportmonks.Fixture{
		Batting: []sportmonks.Batting{
			{Innings: 1, Sort: 2, PlayerID: 12},
			{Innings: 2, Sort: 1, PlayerID: 21},
			{Innings: 1, Sort: 1, PlayerID: 11},
		},
	}

	want := []sportmonks.Batting{{Innings: 1, Sort: 1, PlayerID: 11}, {Innings: 1, Sort: 2, PlayerID: 12}}
	if diff := cmp.Diff(want, tally.Batting(&f, 1)); diff != "" {
		t.Errorf("rows of innings 1 (-want +got):\n%s", diff)
	}

	for _, c := range []struct {
		a, b sportmonks.Batting
		want int
	}{
		{sportmonks.Batting{FallAt: at(3, 1)}, sportmonks.Batting{FallAt: at(3, 2)}, -1},
		{sportmonks.Batting{FallAt: at(3, 6)}, sportmonks.Batting{FallAt: at(4, 1)}, -1},
		{sportmonks.Batting{FallAt: at(3, 1), FallScore: 20}, sportmonks.Batting{FallAt: at(3, 2), FallScore: 10}, -1},
		{sportmonks.Batting{FallAt: at(3, 1), FallScore: 10}, sportmonks.Batting{FallAt: at(3, 1), FallScore: 20}, -1},
		{sportmonks.Batting{FallAt: at(3, 1), FallScore: 10}, sportmonks.Batting{FallAt: at(3, 1), FallScore: 10}, 0},
	} {
		if got := [2]int{tally.ByFall(c.a, c.b), tally.ByFall(c.b, c.a)}; got != [2]int{c.want, -c.want} {
			t.Errorf("%+v and %+v compare as %v, want %d", c.a, c.b, got, c.want)
		}
	}
}

// batting returns balls of over 0, which two batters face in turn.
func batting(scores ...sportmonks.Score) []*sportmonks.Ball {
	var balls []*sportmonks.Ball
	for i, s := range scores {
		balls = append(balls, &sportmonks.Ball{
			ID:       i + 1,
			Innings:  1,
			At:       at(0, i+1),
			OneID:    1,
			TwoID:    2,
			BatterID: 1 + i%2,
			BowlerID: 9,
			Score:    s,
		})
	}

	return balls
}

// TestBallsAddUp: runs, wickets, legal balls, extras, the partnership and the lines of the
// batters.
func TestBallsAddUp(t *testing.T) {
	t.Parallel()

	wide, noBall := sportmonks.Score{Name: "2 Wides", Runs: 2}, sportmonks.Score{
		Name:       "1 No Ball + 4 Runs",
		Runs:       5,
		NoBall:     1,
		NoBallRuns: 1,
		Four:       true,
	}
	out := sportmonks.Score{Name: "Clean Bowled", Wicket: true, Out: true}
	retired := func(balls []*sportmonks.Ball, i, id int) []*sportmonks.Ball {
		balls[i].OutID, balls[i].Score.Name = id, "Retired Hurt"
		return balls
	}

	type sums struct {
		Runs, Wickets, Legal int
		Extras               score.Extras
		Since                score.Partnership
		Batters              map[int]*tally.Line
	}
	for name, c := range map[string]struct {
		balls []*sportmonks.Ball
		want  sums
	}{
		"none": {nil, sums{Batters: map[int]*tally.Line{}}},
		"off the bat": {batting(sportmonks.Score{Runs: 1}, sportmonks.Score{Runs: 4, Four: true}, sportmonks.Score{Runs: 6, Six: true}),
			sums{
				Runs:    11,
				Legal:   3,
				Since:   score.Partnership{Runs: 11, Balls: 3},
				Batters: map[int]*tally.Line{1: {Runs: 7, Balls: 2, Sixes: 1}, 2: {Runs: 4, Balls: 1, Fours: 1}},
			}},
		"extras": {batting(wide, noBall, sportmonks.Score{Bye: 3}, sportmonks.Score{LegBye: 4, Four: true}),
			sums{Runs: 14, Legal: 2, Extras: score.Extras{Wides: 2, NoBalls: 1, Byes: 3, LegByes: 4}, Since: score.Partnership{Runs: 14, Balls: 3},
				Batters: map[int]*tally.Line{1: {Balls: 1}, 2: {Runs: 4, Balls: 2, Fours: 1}}}},
		"a wicket": {batting(sportmonks.Score{Runs: 1}, out, sportmonks.Score{Runs: 2}),
			sums{
				Runs:    3,
				Wickets: 1,
				Legal:   3,
				Since:   score.Partnership{Runs: 2, Balls: 1},
				Batters: map[int]*tally.Line{1: {Runs: 3, Balls: 2}, 2: {Balls: 1, Out: true}},
			}},
		"retired hurt": {retired(batting(sportmonks.Score{Runs: 1}, sportmonks.Score{}), 1, 2),
			sums{Runs: 1, Legal: 2, Batters: map[int]*tally.Line{1: {Runs: 1, Balls: 1}, 2: {Balls: 1, Hurt: true}}}},
		"retired hurt, and back at the other end": {retired(batting(sportmonks.Score{Runs: 1}, sportmonks.Score{}, sportmonks.Score{}), 1, 2),
			sums{Runs: 1, Legal: 3, Since: score.Partnership{Balls: 1}, Batters: map[int]*tally.Line{1: {Runs: 1, Balls: 2}, 2: {Balls: 1}}}},
	} {
		sum := tally.New(c.balls)
		if diff := cmp.Diff(c.want, sums{sum.Runs, sum.Wickets, sum.Legal, sum.Extras, sum.Since, sum.Batters}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	one := retired(batting(sportmonks.Score{}, sportmonks.Score{}), 0, 1)
	if sum := tally.New(one); sum.Line(1).Hurt {
		t.Error("batter 1 is at the other end and is still retired hurt")
	}

	back := retired(batting(sportmonks.Score{}, sportmonks.Score{}, sportmonks.Score{}, sportmonks.Score{}), 1, 2)
	back[2].OneID, back[2].TwoID, back[3].OneID, back[3].TwoID = 0, 0, 0, 0

	sum := tally.New(back[:3])
	if !sum.Line(2).Hurt {
		t.Error("batter 2 is back before a ball names the batter")
	}

	sum = tally.New(back)
	if sum.Line(2).Hurt {
		t.Error("batter 2 faces a ball and is still retired hurt")
	}
}

// TestAllBallsOfAnInningsAreListed: the balls are those of the innings if there are as many
// legal ones, or if their labels lead to its end without a gap.
func TestAllBallsOfAnInningsAreListed(t *testing.T) {
	t.Parallel()

	over := func(n, from, to int) (labels []sportmonks.Overs) {
		for i := from; i <= to; i++ {
			labels = append(labels, at(n, i))
		}

		return labels
	}
	for name, c := range map[string]struct {
		labels [][]sportmonks.Overs
		n, per int
		want   bool
	}{
		"none of none":                     {nil, 0, 6, true},
		"none of one":                      {nil, 1, 6, false},
		"as many as bowled":                {[][]sportmonks.Overs{over(0, 1, 6), over(1, 1, 2)}, 8, 6, true},
		"one less than bowled":             {[][]sportmonks.Overs{over(0, 1, 6), over(1, 1, 2)}, 9, 6, false},
		"one more than bowled":             {[][]sportmonks.Overs{over(0, 1, 6), over(1, 1, 2)}, 7, 6, false},
		"as many, with a gap":              {[][]sportmonks.Overs{over(0, 2, 6), over(1, 1, 3)}, 8, 6, true},
		"an over of five":                  {[][]sportmonks.Overs{over(0, 1, 5), over(1, 1, 2)}, 8, 6, true},
		"an over of seven":                 {[][]sportmonks.Overs{over(0, 1, 7), over(1, 1, 2)}, 8, 6, true},
		"the last over is of five":         {[][]sportmonks.Overs{over(0, 1, 6), over(1, 1, 5)}, 12, 6, true},
		"the last over is of four":         {[][]sportmonks.Overs{over(0, 1, 6), over(1, 1, 4)}, 12, 6, false},
		"the last over is of seven":        {[][]sportmonks.Overs{over(0, 1, 6), over(1, 1, 7)}, 12, 6, true},
		"overs of five":                    {[][]sportmonks.Overs{over(0, 1, 6), over(1, 1, 5)}, 10, 5, true},
		"five balls of another over":       {[][]sportmonks.Overs{over(0, 1, 6), over(1, 1, 5)}, 18, 6, false},
		"an over is missing":               {[][]sportmonks.Overs{over(0, 1, 6), over(2, 1, 2)}, 14, 6, false},
		"the first over is missing":        {[][]sportmonks.Overs{over(1, 1, 6)}, 12, 6, false},
		"the first ball is missing":        {[][]sportmonks.Overs{over(0, 2, 6)}, 6, 6, false},
		"a ball within an over is missing": {[][]sportmonks.Overs{over(0, 1, 2), over(0, 4, 6)}, 6, 6, false},
	} {
		var balls []*sportmonks.Ball

		for _, over := range c.labels {
			for _, label := range over {
				balls = append(balls, &sportmonks.Ball{ID: len(balls) + 1, Innings: 1, At: label, BatterID: 1})
			}
		}

		sum := tally.New(balls)
		if got := sum.Bowled(c.n, c.per); got != c.want {
			t.Errorf("%s: %d balls in overs of %d: got %t, want %t", name, c.n, c.per, got, c.want)
		}
	}

	// in an over of seven legal balls
	for _, extra := range []sportmonks.Score{{Name: "1 Wide", Runs: 1}, {Name: "1 No Ball", Runs: 1, NoBall: 1, NoBallRuns: 1}} {
		balls := []*sportmonks.Ball{{ID: 1, Innings: 1, At: at(0, 1), Score: extra}}
		for _, label := range slices.Concat(over(0, 1, 7), over(1, 1, 2)) {
			balls = append(balls, &sportmonks.Ball{ID: len(balls) + 1, Innings: 1, At: label, BatterID: 1})
		}

		sum := tally.New(balls)
		if !sum.Bowled(8, 6) || len(sum.Balls) != len(balls) {
			t.Errorf("%s and nine balls: all balls of 1.2 overs are not listed, or not all of them kept", extra.Name)
		}

		if _, ok := sum.Batters[0]; ok {
			t.Errorf("%s: a batter without an id has a line", extra.Name)
		}
	}

	wide := []*sportmonks.Ball{
		{ID: 1, Innings: 1, At: at(0, 1), Score: sportmonks.Score{Name: "1 Wide", Runs: 1}},
		{ID: 2, Innings: 1, At: at(0, 1)},
	}

	sum := tally.New(wide)
	if !sum.Bowled(1, 6) || sum.Bowled(2, 6) {
		t.Errorf("a wide and a ball: one ball %t, two balls %t, want true and false", sum.Bowled(1, 6), sum.Bowled(2, 6))
	}
}

// TestLastOver: the balls after the last change of the over, and how many of them are legal.
func TestLastOver(t *testing.T) {
	t.Parallel()

	balls := []*sportmonks.Ball{
		{At: at(0, 6)},
		{At: at(1, 1), Score: sportmonks.Score{Name: "1 Wide", Runs: 1}},
		{At: at(1, 1), Score: sportmonks.Score{NoBall: 1, Runs: 1}},
		{At: at(1, 1)},
		{At: at(1, 2)},
	}
	for n, want := range [][2]int{{0, 0}, {1, 1}, {1, 0}, {2, 0}, {3, 1}, {4, 2}} {
		last := tally.LastOver(balls[:n])
		if got := [2]int{len(last), tally.LegalBalls(last)}; got != want {
			t.Errorf("the last over of %d balls has %d, %d of them legal; want %v", n, got[0], got[1], want)
		}
	}
}
