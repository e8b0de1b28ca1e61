package bestshot_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/pg"
)

// tell runs the job, and returns the notices of points that it puts into the queue.
func tell(w *bestshottest.World) (lines []string) {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, notice.RemindFunction(), notice.OpenReminders).Remind(w.NewContext()))

	for _, m := range testkit.Messages[notice.Notices](w.World, notice.NoticeQueue) {
		for _, p := range m.Points {
			lines = append(lines, fmt.Sprintf("%s: results %d, earned %d, corrected %d, void %d, rank %d, up %d, match %q",
				p.UserID, p.Results, p.Earned, p.Corrected, p.Void, p.Rank, p.Up, p.Match))
		}
	}

	w.Clear(notice.NoticeQueue)
	slices.Sort(lines)

	return lines
}

// TestPointsAreIn: members who have guessed are told of their points and their rank once no match is in play,
// of corrections if their points have changed, and of void matches.
func TestPointsAreIn(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob", "cyd")
	c := w.Found("cup")

	kickOff := bestshottest.Noon.Add(hour)
	play := func(n int, status provider.Status, goals ...int) {
		w.Ingest(c.Feed("1", bestshottest.Fixture(n, kickOff, status, goals...)))
		w.Settle()
	}
	correct := func(body any) {
		w.Do(root, "POST", "/admin/settlements/"+w.MatchID(1)+"/correct", body)
		w.Settle()
	}

	play(1, provider.Open)
	play(2, provider.Open)
	w.Guess("ann", w.MatchID(1), 2, 0)
	w.Guess("bob", w.MatchID(1), 0, 0)
	w.Guess("bob", w.MatchID(2), 1, 1)

	for _, s := range []struct {
		name string
		do   func()
		want []string
	}{
		{"before the kick-off", func() {}, nil},
		{"one has ended, the other not", func() { w.MoveClock(kickOff.Add(2 * hour)); play(1, provider.Ended, 1, 0) }, nil},
		{"both have ended", func() { play(2, provider.Ended, 0, 0) }, []string{
			"ann: results 1, earned 3, corrected 0, void 0, rank 1, up 0, match \"\"",
			"bob: results 2, earned 3, corrected 0, void 0, rank 1, up 0, match \"\"",
		}},
		{"a second run", func() {}, nil},
		{"corrected", func() { correct(map[string]int{"home": 1, "away": 1}) }, []string{
			"ann: results 0, earned 0, corrected -3, void 0, rank 2, up 0, match \"Home 1 - Away 1 1:1\"",
			"bob: results 0, earned 0, corrected 3, void 0, rank 1, up 0, match \"Home 1 - Away 1 1:1\"",
		}},
		{"corrected to what earns the same", func() { correct(map[string]int{"home": 2, "away": 2}) }, nil},
		{"void", func() { correct(map[string]bool{"void": true}) }, []string{
			"ann: results 0, earned 0, corrected 0, void 1, rank 2, up 0, match \"Home 1 - Away 1\"",
			"bob: results 0, earned 0, corrected 0, void 1, rank 1, up 0, match \"Home 1 - Away 1\"",
		}},
		{"a second run after it", func() {}, nil},
	} {
		s.do()

		if diff := cmp.Diff(s.want, tell(w)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
}

// TestPointsOptOut: a member gets the kinds of notices of points that the member wants.
func TestPointsOptOut(t *testing.T) {
	t.Parallel()

	for off, want := range map[string][]int{ // the notices of a result, of a correction, and of a void match
		"":                  {1, 1, 1},
		"reminders":         {1, 1, 1},
		"pointsNotices":     {0, 1, 1},
		"correctionNotices": {1, 0, 1},
		"voidNotices":       {1, 1, 0},
	} {
		t.Run(off, func(t *testing.T) {
			t.Parallel()
			w, _ := ended(t, false)
			w.Settle()

			if off != "" {
				w.Do("ann", "PATCH", "/member", map[string]bool{off: false})
			}

			w.Do("bob", "PATCH", "/member", map[string]bool{"pointsNotices": false, "correctionNotices": false, "voidNotices": false})

			for i, body := range []any{nil, map[string]int{"home": 0, "away": 1}, map[string]bool{"void": true}} {
				if body != nil {
					w.Do(root, "POST", "/admin/settlements/"+w.MatchID(1)+"/correct", body)
					w.Settle()
				}

				if got := tell(w); len(got) != want[i] {
					t.Errorf("%v: notices %q, want %d", body, got, want[i])
				}
			}
		})
	}
}

// TestPointsOfManyMembers: all are told by one run, each once, with the points of the ledger.
func TestPointsOfManyMembers(t *testing.T) {
	t.Parallel()
	w, _ := ended(t, false)

	const members = notice.RangeSize + 300 // in two transactions
	_, err := pg.Do(t.Context(), w.DB, `
WITH added AS (
    INSERT INTO member (public_id, nick_name)
    SELECT 'm' || n, 'm' || n
    FROM generate_series(1, $1::int) n
    RETURNING id
)
INSERT INTO guess (match_id, member_id, home_score, away_score, updated_at)
SELECT $2, id, 1, 0, now() - interval '1 day'
FROM added`, members, w.MatchID(1))
	testkit.Must(t, err)
	w.Settle()

	told := map[string]int{}
	for _, line := range tell(w) {
		told[line]++
	}

	if len(told) != members+2 {
		t.Errorf("%d members are told, want %d", len(told), members+2)
	}

	if n := told[`m7: results 1, earned 3, corrected 0, void 0, rank 1, up 0, match "Home 1 - Away 1 1:0"`]; n != 1 {
		t.Errorf("m7 is told %d times", n)
	}
}

// TestPointsOnPhones: what a phone shows, and that it shows nothing half a day later.
func TestPointsOnPhones(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		points notice.Points
		after  time.Duration
		want   string
	}{
		"one match":         {notice.Points{Match: "Spain - Italy 2:1", Results: 1, Earned: 3, Rank: 12, Up: 3}, 0, "Spain - Italy 2:1: 3 points. Rank 12, up 3."},
		"matches":           {notice.Points{Results: 3, Earned: 1, Rank: 12, Up: -1}, 0, "3 matches: 1 point. Rank 12, down 1."},
		"corrected up":      {notice.Points{Corrected: 2, Rank: 1}, 0, "Corrected: 2 points more. Rank 1."},
		"corrected down":    {notice.Points{Corrected: -1}, 0, "Corrected: 1 point less."},
		"void":              {notice.Points{Match: "Spain - Italy", Void: 1, Rank: 4}, 0, "Spain - Italy does not count. Rank 4."},
		"void, others, too": {notice.Points{Results: 1, Earned: 0, Void: 1}, 0, "1 match: 0 points. 1 match does not count."},
		"all void":          {notice.Points{Void: 2}, 11 * hour, "2 matches do not count."},
		"too late":          {notice.Points{Void: 2}, 12 * hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, apple := season(t)
			c.points.UserID, c.points.Tournament, c.points.At, c.points.ID = "ann", "cup", w.Clock.Now(), "id"
			w.MoveClock(w.Clock.Now().Add(c.after))

			s := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier)
			testkit.Must(t, s.SendNotices(w.NewContext(), notice.Notices{Points: []notice.Points{c.points}}))

			d, _ := apple.Device(phone("a"))

			got := ""
			for _, a := range d.Alerts {
				got += a.Body
			}

			if got != c.want {
				t.Errorf("the phone shows %q, want %q", got, c.want)
			}
		})
	}
}
