package score_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/pkg/bestshot/score"
)

func TestPoints(t *testing.T) {
	t.Parallel()

	kicktipp := score.Rule{Outcome: 2, GoalDifference: 1, ExactScore: 1} // 2, 3, 4

	sides := score.Rule{Outcome: 3, HomeScore: 1, AwayScore: 1}
	for _, c := range []struct {
		rule          score.Rule
		guess, result score.Result
		multiplier    int
		want          score.Points
	}{
		{score.Standard, score.Result{Home: 1, Away: 0}, score.Result{Home: 3, Away: 1}, 1, score.Points{Outcome: 3}},
		{score.Standard, score.Result{Home: 2, Away: 2}, score.Result{Home: 0, Away: 0}, 1, score.Points{Outcome: 3}},
		{score.Standard, score.Result{Home: 0, Away: 1}, score.Result{Home: 0, Away: 4}, 1, score.Points{Outcome: 3}},
		{score.Standard, score.Result{Home: 2, Away: 1}, score.Result{Home: 1, Away: 2}, 1, score.Points{}},
		{score.Standard, score.Result{Home: 2, Away: 1}, score.Result{Home: 2, Away: 1}, 3, score.Points{Outcome: 9}},
		{kicktipp, score.Result{Home: 2, Away: 1}, score.Result{Home: 2, Away: 1}, 1, score.Points{Outcome: 2, Difference: 1, Exact: 1}},
		{kicktipp, score.Result{Home: 3, Away: 2}, score.Result{Home: 2, Away: 1}, 1, score.Points{Outcome: 2, Difference: 1}},
		{kicktipp, score.Result{Home: 3, Away: 0}, score.Result{Home: 2, Away: 1}, 1, score.Points{Outcome: 2}},
		{kicktipp, score.Result{Home: 1, Away: 1}, score.Result{Home: 2, Away: 2}, 1, score.Points{Outcome: 2}}, // a draw has no difference
		{kicktipp, score.Result{Home: 2, Away: 2}, score.Result{Home: 2, Away: 2}, 2, score.Points{Outcome: 4, Difference: 2, Exact: 2}},
		{sides, score.Result{Home: 2, Away: 1}, score.Result{Home: 0, Away: 1}, 1, score.Points{Away: 1}},
		{sides, score.Result{Home: 2, Away: 1}, score.Result{Home: 2, Away: 0}, 1, score.Points{Outcome: 3, Home: 1}},
	} {
		if diff := cmp.Diff(c.want, c.rule.Of(c.guess, c.result, c.multiplier)); diff != "" {
			t.Errorf("%+v for %+v by %+v (-want +got):\n%s", c.guess, c.result, c.rule, diff)
		}
	}
}

func TestRanks(t *testing.T) {
	t.Parallel()

	all := func(points ...int) (totals []score.Total) {
		for _, p := range points {
			totals = append(totals, score.Total{Points: p})
		}

		return totals
	}

	for _, c := range []struct {
		first  int
		totals []score.Total
		want   []int
	}{
		{1, all(9, 9, 7, 7, 7, 0), []int{1, 1, 2, 2, 2, 3}},
		{4, all(5), []int{4}},
		{7, all(3, 2, 2), []int{7, 8, 8}},
		{1, nil, []int{}},
		{1, []score.Total{{Points: 3, Tie: 20_001}, {Points: 3, Tie: 10_001}, {Points: 3, Tie: 10_001}}, []int{1, 2, 2}},
	} {
		if diff := cmp.Diff(c.want, score.Ranks(c.first, c.totals)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.totals, diff)
		}
	}
}

// TestRankIsTheNumberOfBetterPoints: dense ranks, whatever the points.
func TestRankIsTheNumberOfBetterPoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 20).Draw(t, "points")
		for i := range points { // descending
			for j := range i {
				if points[j] < points[i] {
					points[i], points[j] = points[j], points[i]
				}
			}
		}

		totals := make([]score.Total, len(points))
		for i, p := range points {
			totals[i].Points = p
		}

		for i, rank := range score.Ranks(1, totals) {
			better := map[int]bool{}

			for _, p := range points {
				if p > points[i] {
					better[p] = true
				}
			}

			if rank != len(better)+1 {
				t.Fatalf("%v: the rank of %d is %d", points, points[i], rank)
			}
		}
	})
}

func ExampleRule_Of() {
	rule := score.Rule{Outcome: 2, GoalDifference: 1, ExactScore: 1}
	p := rule.Of(score.Result{Home: 3, Away: 2}, score.Result{Home: 2, Away: 1}, 1)
	fmt.Println(p.Total(), score.Result{Home: 2, Away: 1}.Label())
	// Output: 3 HOME_WIN
}
