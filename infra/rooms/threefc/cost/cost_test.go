package cost

import (
	"math"
	"strings"
	"testing"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/threefc"
)

// TestGame: the units of a game, worked out by hand.
func TestGame(t *testing.T) {
	t.Parallel()

	c := counters{}
	for _, what := range []string{goal, create, seat, step, finish, tables} {
		c.Uses = append(c.Uses, use{What: what, ReadUnits: 2, WriteUnits: 3, SQS: 1}, use{What: what, ReadUnits: 1})
	}

	// A creation, 9 players, 6 steps, 15 goals, the end and the tables.
	const calls = 1 + 9 + 6 + 15 + 1 + 1

	u := c.played(10, threefc.Room().Spec)
	for name, v := range map[string][2]float64{
		"reads": {u.ReadUnits, 2 * 10 * calls}, "writes": {u.WriteUnits, 3 * 10 * calls}, "requests of SQS": {u.SQSRequests, 3 * 10 * calls},
		"requests": {u.APIRequests, 10 * (calls - 1)},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, v[0], v[1])
		}
	}
}

// TestOpenPages: a phone that scores asks each 10 seconds, and a page that follows a game each 5.
func TestOpenPages(t *testing.T) {
	t.Parallel()

	c := counters{}
	for what, units := range map[string]float64{poll: 2, gamePage: 5} {
		c.Uses = append(c.Uses, use{What: what, ReadUnits: units, Answer: 1e9})
	}

	const seconds = 75 * 60

	for name, v := range map[string][2]float64{
		"polls":              {c.scored(10).APIRequests, 10 * phones * seconds / 10},
		"units of polls":     {c.scored(10).ReadUnits, 2 * 10 * phones * seconds / 10},
		"refreshes":          {c.followed(10).APIRequests, 10 * followers * seconds / 5},
		"units of refreshes": {c.followed(10).ReadUnits, 5 * 10 * followers * seconds / 5},
		"pages that changed": {c.followed(10).EgressGB * usage.Gigabyte / 1e9, 10 * followers * (goals + steps)},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, v[0], v[1])
		}
	}
}

// TestCountersAreChecked: the error of a missing counter names the command that counts it.
func TestCountersAreChecked(t *testing.T) {
	t.Parallel()

	if _, err := parse(kept); err != nil {
		t.Errorf("the counters of the repository: %v", err)
	}

	text := strings.ReplaceAll(string(kept), goal, "other")
	if _, err := parse([]byte(text)); err == nil || err.Error() != "the counters lack create-goal with a key: run `make bench`" {
		t.Errorf("without a goal: got %v", err)
	}
}
