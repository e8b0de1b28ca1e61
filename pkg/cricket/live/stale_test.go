package live_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/samples"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
)

// TestStaleAnswerIsCounted: a match in play about which the provider has answered the same for ten
// minutes is counted in each poll. No balls are due in a break, in rain and between days, so that
// nothing is counted then, however long it lasts.
func TestStaleAnswerIsCounted(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		status string
		polls  int // that have answered the same before
		want   float64
	}{
		{"1st Innings", live.StalePolls - 2, 0},
		{"1st Innings", live.StalePolls - 1, 1},
		{"2nd Innings", 10 * live.StalePolls, 1},
		{"4th Innings", live.StalePolls, 1},
		{"NS", 10 * live.StalePolls, 0},
		{"Innings Break", 10 * live.StalePolls, 0},
		{"Lunch", 10 * live.StalePolls, 0},
		{"Tea Break", 10 * live.StalePolls, 0},
		{"Dinner", 10 * live.StalePolls, 0},
		{"Int.", 100 * live.StalePolls, 0},
		{"Stump Day 1", 100 * live.StalePolls, 0},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.polls), func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			payload := crickettest.Payload(w.AddFixture("7"), c.status, crickettest.Ball{ID: 1, Runs: 4})
			w.SetPayload(payload)

			ticker := w.Ticker()
			w.TickAt(ticker, 0)

			f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
			f.Polls = c.polls
			testkit.PutRows(w.World, tables.Fixtures, f)
			w.TickAt(ticker, 1)

			if got := w.Logs.SumMetric(tables.MatchesStale); got != c.want {
				t.Errorf("%v stale matches are counted, want %v", got, c.want)
			}

			if got := w.Logs.TakeWarnings(); len(got) != 0 && c.polls != live.StalePolls-1 {
				t.Errorf("the log has the warnings %q, want one with the first stale poll only", got)
			}

			// The next ball begins a new count.
			w.SetPayload(crickettest.Payload(f, c.status, crickettest.Ball{ID: 1, Runs: 4}, crickettest.Ball{ID: 2, Runs: 1}))
			w.TickAt(ticker, 2)
			w.TickAt(ticker, 3)

			if got := w.Logs.SumMetric(tables.MatchesStale); got != c.want {
				t.Errorf("%v stale matches are counted after another ball, want %v", got, c.want)
			}
		})
	}
}

// TestSilenceOfTheRecordingIsNotStale: in SportMonks' recording, the longest time between two balls
// of an innings that follow each other is a small part of the limit. The recording leaves out overs.
func TestSilenceOfTheRecordingIsNotStale(t *testing.T) {
	t.Parallel()

	type ball struct {
		Scoreboard string    `json:"scoreboard"`
		Ball       float64   `json:"ball"`
		UpdatedAt  time.Time `json:"updated_at"`
	}

	var in struct{ Data struct{ Balls []ball } }
	testkit.Must(t, json.Unmarshal(samples.Read(t, "sportmonks/fixture-71344-live-2nd-innings.partial.json"), &in))

	balls := in.Data.Balls
	slices.SortFunc(balls, func(a, b ball) int { return a.UpdatedAt.Compare(b.UpdatedAt) })

	var longest time.Duration

	for i := 1; i < len(balls); i++ {
		if a, b := balls[i-1], balls[i]; a.Scoreboard == b.Scoreboard && b.Ball-a.Ball < 1 {
			longest = max(longest, b.UpdatedAt.Sub(a.UpdatedAt))
		}
	}

	if longest != 100*time.Second || live.StaleAfter < 5*time.Minute+2*longest {
		t.Errorf("the longest silence is %v, want 1m40s; %v must be longer than a drinks break with one before and after it", longest, live.StaleAfter)
	}
}
