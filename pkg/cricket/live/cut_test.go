package live_test

import (
	"net/http"
	"strings"
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
)

// TestCutBodyIsUsedMatchByMatch: of a body that is cut short, the matches before the cut
// are ingested. Those after it are neither changed nor missing.
func TestCutBodyIsUsedMatchByMatch(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	before, after := w.AddFixture("7"), w.AddFixture("8")
	tk := w.Ticker()
	first := crickettest.Payload(after, "1st Innings", crickettest.Ball{ID: 100, Runs: 1})
	w.SetPayload(crickettest.Payload(before, "1st Innings"), first)
	w.TickAt(tk, 0)
	want := w.Outcome()

	polls := 2 * slots(live.ArchiveAfter)
	for n := 1; n <= polls; n++ {
		body := crickettest.Feed(crickettest.Payload(before, "1st Innings", make([]crickettest.Ball, n)...), first)

		w.Override = func(string) (int, string) { return http.StatusOK, body[:len(body)-20] }
		if done := w.TickAt(tk, n); done.Matches != 1 || done.Changed != 1 {
			t.Errorf("slot %d: %+v, want one match, changed", n, done)
		}
	}

	got := w.Outcome()
	if f := got.Fixtures["7"]; got.States["7"] == want.States["7"] ||
		!strings.Contains(got.Shown["DISPLAY#7#"+match.Neutral], `"score":"0/0"`) || f.Live != match.Live {
		t.Errorf("the match before the cut is %+v, %s; want it ingested", f, got.States["7"])
	}

	if f := got.Fixtures["8"]; f != want.Fixtures["8"] || got.States["8"] != want.States["8"] || got.Messages != nil {
		t.Errorf("the match after the cut is %+v with the messages %q, want it unchanged", f, got.Messages)
	}

	if n := w.Logs.SumMetric(tables.ProviderFaults); n != float64(polls) {
		t.Errorf("%v faults are counted, want %d", n, polls)
	}
}
