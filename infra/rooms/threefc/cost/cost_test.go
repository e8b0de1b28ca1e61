package cost

import (
	"math"
	"strings"
	"testing"

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
