package bestshot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
)

const (
	hour = time.Hour
	root = testkit.Administrator
)

func ints(p *int) string {
	if p == nil {
		return "-"
	}

	return fmt.Sprint(*p)
}

// TestPointsFollowResults plays a round: guesses until the kick-off, results in any order,
// a correction and a void match.
func TestPointsFollowResults(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob", "cyd")
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open), bestshottest.Fixture(2, kickOff, provider.Open)))

	one, two := w.MatchID(1), w.MatchID(2)
	for _, g := range []struct {
		user       string
		match      string
		home, away int
	}{{"ann", one, 2, 1}, {"ann", two, 0, 0}, {"bob", one, 1, 0}, {"cyd", two, 3, 1}, {"cyd", two, 0, 2}} {
		if out := w.Guess(g.user, g.match, g.home, g.away); out.StatusCode != 200 {
			t.Fatalf("%+v: %d %s", g, out.StatusCode, out.Body)
		}
	}

	if got := c.Board("ann"); got != nil {
		t.Errorf("before the first result the leaderboard is %q", got)
	}

	w.MoveClock(kickOff.Add(2 * hour))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 2, 1), bestshottest.Fixture(2, kickOff, provider.Open, 0, 1)))

	if n := w.Settle(); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}

	if diff := cmp.Diff([]string{"1 ann 3", "1 bob 3"}, c.Board("cyd")); diff != "" {
		t.Errorf("after the first result (-want +got):\n%s", diff)
	}

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 2, 1), bestshottest.Fixture(2, kickOff, provider.Ended, 0, 1)))
	w.Settle()

	if diff := cmp.Diff([]string{"1 ann 3", "1 bob 3", "1 cyd 3"}, c.Board("cyd")); diff != "" {
		t.Errorf("after the second result (-want +got):\n%s", diff)
	}

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 2, 2), bestshottest.Fixture(2, kickOff, provider.Ended, 0, 1)))
	w.Settle()

	if diff := cmp.Diff([]string{"1 cyd 3", "2 ann 0", "2 bob 0"}, c.Board("cyd")); diff != "" {
		t.Errorf("after a correction (-want +got):\n%s", diff)
	}

	for _, bad := range []struct {
		field string
		body  map[string]any
	}{
		{"body.void", map[string]any{}},
		{"body.void", map[string]any{"void": true, "home": 1}},
		{"body.home", map[string]any{"away": 1}},
		{"body.away", map[string]any{"home": 1}},
	} {
		if out := w.Ask(root, "POST", "/api/v2/admin/settlements/"+two+"/correct", bad.body); out.StatusCode != 400 ||
			!strings.Contains(out.Body, `"`+bad.field+`"`) {
			t.Errorf("%v: %d %s", bad.body, out.StatusCode, out.Body)
		}
	}

	w.Do(root, "POST", "/admin/settlements/"+two+"/correct", map[string]any{"void": true})
	w.Settle()

	if diff := cmp.Diff([]string{"1 ann 0", "1 bob 0", "1 cyd 0"}, c.Board("cyd")); diff != "" {
		t.Errorf("after a match is void (-want +got):\n%s", diff)
	}

	if n := len(testkit.Messages[ingest.Poll](w.World, settlement.Queue)); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// TestGuessIsLockedAtTheKickOff: to the millisecond, by the clock of the database. A match that is
// moved takes guesses again.
func TestGuessIsLockedAtTheKickOff(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))

	m := w.MatchID(1)
	for _, s := range []struct {
		at     time.Time
		status int
		code   string
	}{
		{kickOff.Add(-time.Millisecond), 200, ""},
		{kickOff, 409, "guess_window_closed"},
		{kickOff.Add(time.Millisecond), 409, "guess_window_closed"},
	} {
		w.MoveClock(s.at)

		out := w.Guess("ann", m, 1, 0)
		if out.StatusCode != s.status {
			t.Errorf("at %v: %d %s, want %d", s.at, out.StatusCode, out.Body, s.status)
		}

		if s.code != "" {
			if err := testkit.CheckProblemCode(out, s.status, s.code); err != nil {
				t.Error(err)
			}
		}
	}

	w.MoveClock(kickOff.Add(time.Second))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff.Add(24*hour), provider.Open)))

	if out := w.Guess("ann", m, 4, 4); out.StatusCode != 200 {
		t.Errorf("after the match was moved: %d %s", out.StatusCode, out.Body)
	}
}

// TestCorrectionIsUndone: an administrator makes a match void and undoes it. Then the provider decides
// again. Each settlement says who has entered its result.
func TestCorrectionIsUndone(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	m := w.MatchID(1)
	correct := func(body map[string]any, want ...string) {
		t.Helper()

		w.Do(root, "POST", "/admin/settlements/"+m+"/correct", body)
		w.Settle()

		if diff := cmp.Diff(want, c.Board("ann")); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", body, diff)
		}

		checkSums(t, w)
	}
	provided := func(home, away int, want ...string) {
		t.Helper()

		w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Ended, home, away)))
		w.Settle()

		if diff := cmp.Diff(want, c.Board("ann")); diff != "" {
			t.Errorf("after %d:%d (-want +got):\n%s", home, away, diff)
		}
	}

	correct(map[string]any{"void": true}, "1 ann 0", "1 bob 0")
	provided(1, 0, "1 ann 0", "1 bob 0")
	correct(map[string]any{"reopen": true}, "1 ann 0", "1 bob 0")
	provided(1, 0, "1 ann 3", "2 bob 0")
	correct(map[string]any{"home": 0, "away": 0}, "1 bob 3", "2 ann 0")
	correct(map[string]any{"reopen": true}, "1 bob 3", "2 ann 0")
	provided(2, 0, "1 ann 3", "2 bob 0")

	var got []string
	for _, s := range testkit.Decode[struct{ Data []settlement.Settlement }](w.World, w.Do(root, "GET", "/admin/settlements", nil)).Data {
		by := "the provider"
		if s.CorrectedBy != nil {
			by = *s.CorrectedBy
		}

		got = append(got, fmt.Sprint(s.Version, " ", *s.Reason, " by ", by))
	}

	want := []string{
		"5 correction by the provider", "4 correction by " + root, "3 correction by the provider", "2 void by " + root, "1 result by the provider",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the settlements (-want +got):\n%s", diff)
	}

	if out := w.Ask(root, "POST", "/api/v2/admin/settlements/"+m+"/correct", map[string]any{"reopen": true, "void": true}); out.StatusCode != 400 {
		t.Errorf("reopen and void: %d", out.StatusCode)
	}
}
