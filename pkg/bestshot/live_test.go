package bestshot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
)

// playing returns match n in play since a kick-off, in the first half.
func playing(n int, kickOff time.Time, home, away int) provider.Fixture {
	f := bestshottest.Fixture(n, kickOff, provider.Open, home, away)
	f.InPlay, f.Period, f.PeriodStart, f.ProviderStatus = true, provider.FirstHalf, kickOff, "inprogress/6"

	return f
}

// live returns what the API shows of the first match of round 1: "1:0 first-half 11", or "none".
func live(w *bestshottest.World, c *bestshottest.Tournament) string {
	w.T.Helper()

	all := testkit.Decode[struct{ Data []view.Match }](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil)).Data

	return showLive(all[0].Live)
}

func showLive(l *view.Live) string {
	if l == nil {
		return "none"
	}

	return fmt.Sprintf("%d:%d %s %s", l.Home, l.Away, l.Period, ints(l.Minute))
}

// TestScoreInPlay stores answers, each five minutes after the one before, and checks the state after each.
func TestScoreInPlay(t *testing.T) {
	t.Parallel()

	kickOff := bestshottest.Noon.Add(-6 * time.Minute)
	in := func(p provider.Period, home, away int) provider.Fixture {
		f := playing(1, kickOff, home, away)
		f.Period = p

		return f
	}
	goal, noGoal := playing(1, kickOff, 1, 0), playing(1, kickOff, 0, 0)
	open, ended := bestshottest.Fixture(1, kickOff, provider.Open), bestshottest.Fixture(1, kickOff, provider.Ended, 1, 0)
	moved := bestshottest.Fixture(1, kickOff.Add(24*hour), provider.Open)
	stopped := in(provider.Interrupted, 1, 0)
	stopped.Status = provider.NotDefined
	unknown := open
	unknown.InPlay = true
	strange := bestshottest.Fixture(1, kickOff, provider.Unknown)
	old := goal // of a message without a period
	old.Period, old.PeriodStart = "", time.Time{}

	for name, c := range map[string]struct {
		answers []provider.Fixture
		want    []string
	}{
		"a goal":                 {[]provider.Fixture{open, noGoal, goal}, []string{"none", "0:0 first-half 12", "1:0 first-half 17"}},
		"a goal taken back":      {[]provider.Fixture{goal, noGoal}, []string{"1:0 first-half 7", "0:0 first-half 12"}},
		"the same score":         {[]provider.Fixture{goal, goal}, []string{"1:0 first-half 7", "1:0 first-half 12"}},
		"half time":              {[]provider.Fixture{goal, in(provider.HalfTime, 1, 0)}, []string{"1:0 first-half 7", "1:0 half-time 45"}},
		"extra time":             {[]provider.Fixture{in(provider.ExtraTime, 1, 1)}, []string{"1:1 extra-time 97"}},
		"a shoot-out":            {[]provider.Fixture{in(provider.ShootOut, 1, 1)}, []string{"1:1 shoot-out 120"}},
		"interrupted":            {[]provider.Fixture{goal, stopped}, []string{"1:0 first-half 7", "1:0 interrupted -"}},
		"interrupted, and on":    {[]provider.Fixture{stopped, goal}, []string{"1:0 interrupted -", "1:0 first-half 12"}},
		"moved":                  {[]provider.Fixture{goal, moved}, []string{"1:0 first-half 7", "none"}},
		"not begun after all":    {[]provider.Fixture{goal, open}, []string{"1:0 first-half 7", "none"}},
		"ended":                  {[]provider.Fixture{goal, ended}, []string{"1:0 first-half 7", "none"}},
		"ended and in play":      {[]provider.Fixture{ended, goal}, []string{"none", "none"}},
		"a score not known":      {[]provider.Fixture{goal, unknown}, []string{"1:0 first-half 7", "none"}},
		"a status nobody knows":  {[]provider.Fixture{goal, strange}, []string{"1:0 first-half 7", "1:0 first-half 7"}},
		"an answer of before":    {[]provider.Fixture{old}, []string{"1:0  -"}},
		"in play at first sight": {[]provider.Fixture{goal}, []string{"1:0 first-half 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			w.Register("ann")
			cup := w.Found("cup")

			var got []string

			for i, x := range c.answers {
				w.MoveClock(bestshottest.Noon.Add(time.Duration(5*i) * time.Minute))

				f := cup.Feed("1", x)
				w.Ingest(f)
				w.Ingest(f) // a second run changes nothing

				got = append(got, live(w, cup))
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlayEndsWithTheMatch: a match that an administrator ends or makes void is not in play, nor is one that
// code ends which does not know the columns. The dashboard shows the state, too.
func TestPlayEndsWithTheMatch(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(w *bestshottest.World, match string){
		"corrected": func(w *bestshottest.World, match string) {
			w.Do(root, "POST", "/admin/settlements/"+match+"/correct", map[string]any{"home": 2, "away": 1})
		},
		"void": func(w *bestshottest.World, match string) {
			w.Do(root, "POST", "/admin/settlements/"+match+"/correct", map[string]any{"void": true})
		},
		"by code of before": func(w *bestshottest.World, match string) {
			_, err := pg.Do(w.T.Context(), w.DB, `
UPDATE match SET status = 'ended', home_score = 1, away_score = 0, finished_at = now() WHERE id = $1`, match)
			testkit.Must(w.T, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			w.Register("ann")
			c := w.Found("cup")
			w.Ingest(c.Feed("1", playing(1, bestshottest.Noon.Add(-time.Minute), 1, 0)))

			day := testkit.Decode[struct{ Data []view.Match }](w.World, w.Do("ann", "GET", "/dashboard", nil)).Data
			if len(day) != 1 || showLive(day[0].Live) != "1:0 first-half 2" || !day[0].Live.AsOf.Equal(bestshottest.Noon) {
				t.Errorf("the dashboard has %+v", day)
			}

			end(w, w.MatchID(1))

			n, _, err := pg.Value[int](t.Context(), w.DB, `
SELECT count(*)::int FROM match WHERE num_nonnulls(live_home, live_away, live_minute, live_period, live_at) > 0`)
			if n != 0 || err != nil {
				t.Errorf("%d matches are in play: %v", n, err)
			}
		})
	}
}

// provisional returns the caller's provisional points: "6 (3 settled) rank 1", then each match with the
// guess and its points, "1:0 guessed 1:0 earns 3".
func provisional(w *bestshottest.World, c *bestshottest.Tournament, user string) []string {
	w.T.Helper()

	var out guess.LiveScore

	testkit.Must(w.T, json.Unmarshal([]byte(w.Do(user, "GET", "/tournaments/"+c.ID+"/score/live", nil).Body), &out.Body))

	if !out.Body.Provisional {
		w.T.Error("the points are not marked")
	}

	lines := []string{fmt.Sprintf("%d (%d settled) rank %s", out.Body.Points, out.Body.Settled, ints(out.Body.Rank))}
	for _, m := range out.Body.Matches {
		lines = append(lines, fmt.Sprintf("%d:%d guessed %s:%s earns %d", m.Live.Home, m.Live.Away, ints(m.Home), ints(m.Away), m.Points))
	}

	return lines
}

// table returns the table of a league: "1 ann 6 +3" has the rank, the points and those of matches in play.
func table(w *bestshottest.World, path string) (lines []string) {
	w.T.Helper()
	w.Cache.FlushAll() // the table may be 30 s old

	p := testkit.Decode[view.LeaderboardPage](w.World, w.Do("ann", "GET", path, nil))
	for _, e := range p.Data {
		line := fmt.Sprintf("%d %s %d", e.Rank, e.NickName, e.Points)
		if e.Provisional != nil {
			line += fmt.Sprintf(" %+d", *e.Provisional)
		}

		if p.Meta.Provisional != (e.Provisional != nil) {
			w.T.Errorf("the page is marked %t, and %s %t", p.Meta.Provisional, e.NickName, e.Provisional != nil)
		}

		lines = append(lines, line)
	}

	return lines
}

// stored returns what points are stored, and how many members are counted.
func stored(w *bestshottest.World) string {
	w.T.Helper()

	out, _, err := pg.Value[string](w.T.Context(), w.DB, `
SELECT concat_ws(' ',
    (SELECT count(*) FROM scoreboard_ledger), (SELECT sum(points_earned) FROM scoreboard_ledger),
    (SELECT sum(points) FROM tournament_scoreboard), (SELECT sum(points) FROM round_score),
    (SELECT sum(members * score) FROM scoreboard_points), (SELECT sum(scoreboard_version) FROM tournament))`)
	testkit.Must(w.T, err)

	return out
}

// TestProvisionalPoints: what the caller and the members of a league would have if the matches in play ended
// now, through a match: goal, goal taken back, half-time, extra time, interruption, move, end. What is stored
// changes only with the settlement.
func TestProvisionalPoints(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob", "cyd")

	c := w.Found("cup")
	first, kickOff := bestshottest.Noon.Add(time.Hour), bestshottest.Noon.Add(4*time.Hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, first, provider.Open), bestshottest.Fixture(2, kickOff, provider.Open)))

	for user, home := range map[string]int{"ann": 1, "bob": 0} {
		w.Guess(user, w.MatchID(1), home, 0)
		w.Guess(user, w.MatchID(2), 1-home, 0) // ann guesses a draw, and bob a win
	}

	league := testkit.Decode[struct{ ID, Code string }](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Office"}))
	for _, user := range []string{"bob", "cyd"} {
		w.Do(user, "POST", "/leagues/invitation", map[string]string{"code": league.Code})
	}

	l := "/leagues/" + league.ID
	w.Do("ann", "PATCH", l+"/tournaments", map[string]any{"tournaments": []string{c.ID}})

	if diff := cmp.Diff([]string{"0 (0 settled) rank -"}, provisional(w, c, "ann")); diff != "" {
		t.Errorf("before the first match (-want +got):\n%s", diff)
	}

	w.MoveClock(first.Add(10 * time.Minute))
	w.Ingest(c.Feed("1", playing(1, first, 1, 0), bestshottest.Fixture(2, kickOff, provider.Open)))

	if diff := cmp.Diff([]string{"3 (0 settled) rank 1", "1:0 guessed 1:0 earns 3"}, provisional(w, c, "ann")); diff != "" {
		t.Errorf("in the first match (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"1 ann 3 +3", "2 bob 0 +0", "2 cyd 0 +0"}, table(w, l+"/score?live=true")); diff != "" {
		t.Errorf("in the first match of an upcoming tournament (-want +got):\n%s", diff)
	}

	won := bestshottest.Fixture(1, first, provider.Ended, 1, 0)
	w.MoveClock(first.Add(2 * time.Hour))
	w.Ingest(c.Feed("1", won, bestshottest.Fixture(2, kickOff, provider.Open)))

	if diff := cmp.Diff([]string{"0 (0 settled) rank -"}, provisional(w, c, "ann")); diff != "" {
		t.Errorf("ended, and not settled (-want +got):\n%s", diff)
	}

	w.Settle()

	was := stored(w)
	in := func(p provider.Period, home, away int) provider.Fixture {
		f := playing(2, kickOff, home, away)
		f.Period = p

		return f
	}
	stopped := in(provider.Interrupted, 1, 0)
	stopped.Status = provider.NotDefined

	for i, s := range []struct {
		name     string
		fixture  provider.Fixture
		ann, bob []string
		table    []string
	}{
		{name: "0:0", fixture: playing(2, kickOff, 0, 0),
			ann: []string{"6 (3 settled) rank 1", "0:0 guessed 0:0 earns 3"}, bob: []string{"0 (0 settled) rank 2", "0:0 guessed 1:0 earns 0"},
			table: []string{"1 ann 6 +3", "2 bob 0 +0", "2 cyd 0 +0"}},
		{name: "goal", fixture: playing(2, kickOff, 1, 0),
			ann: []string{"3 (3 settled) rank 1", "1:0 guessed 0:0 earns 0"}, bob: []string{"3 (0 settled) rank 1", "1:0 guessed 1:0 earns 3"},
			table: []string{"1 ann 3 +0", "1 bob 3 +3", "2 cyd 0 +0"}},
		{name: "goal taken back", fixture: playing(2, kickOff, 0, 0),
			ann: []string{"6 (3 settled) rank 1", "0:0 guessed 0:0 earns 3"}, bob: []string{"0 (0 settled) rank 2", "0:0 guessed 1:0 earns 0"},
			table: []string{"1 ann 6 +3", "2 bob 0 +0", "2 cyd 0 +0"}},
		{name: "half-time", fixture: in(provider.HalfTime, 1, 0),
			ann: []string{"3 (3 settled) rank 1", "1:0 guessed 0:0 earns 0"}, bob: []string{"3 (0 settled) rank 1", "1:0 guessed 1:0 earns 3"},
			table: []string{"1 ann 3 +0", "1 bob 3 +3", "2 cyd 0 +0"}},
		{name: "extra time", fixture: in(provider.ExtraTime, 1, 1),
			ann: []string{"6 (3 settled) rank 1", "1:1 guessed 0:0 earns 3"}, bob: []string{"0 (0 settled) rank 2", "1:1 guessed 1:0 earns 0"},
			table: []string{"1 ann 6 +3", "2 bob 0 +0", "2 cyd 0 +0"}},
		{name: "interrupted", fixture: stopped,
			ann: []string{"3 (3 settled) rank 1"}, bob: []string{"0 (0 settled) rank 2"},
			table: []string{"1 ann 3 +0", "2 bob 0 +0", "2 cyd 0 +0"}},
		{name: "moved", fixture: bestshottest.Fixture(2, kickOff.Add(24*time.Hour), provider.Open),
			ann: []string{"3 (3 settled) rank 1"}, bob: []string{"0 (0 settled) rank 2"},
			table: []string{"1 ann 3 +0", "2 bob 0 +0", "2 cyd 0 +0"}},
		{name: "played after all", fixture: playing(2, kickOff, 2, 0),
			ann: []string{"3 (3 settled) rank 1", "2:0 guessed 0:0 earns 0"}, bob: []string{"3 (0 settled) rank 1", "2:0 guessed 1:0 earns 3"},
			table: []string{"1 ann 3 +0", "1 bob 3 +3", "2 cyd 0 +0"}},
	} {
		w.MoveClock(kickOff.Add(time.Duration(i+1) * time.Minute))
		w.Ingest(c.Feed("1", won, s.fixture))

		for user, want := range map[string][]string{"ann": s.ann, "bob": s.bob} {
			if diff := cmp.Diff(want, provisional(w, c, user)); diff != "" {
				t.Errorf("%s: the points of %s (-want +got):\n%s", s.name, user, diff)
			}
		}

		for _, query := range []string{"", "&tournament=" + c.ID, "&tournament=" + c.ID + "&round=1", "&around=me"} {
			if diff := cmp.Diff(s.table, table(w, l+"/score?live=true"+query)); diff != "" {
				t.Errorf("%s: the table %q (-want +got):\n%s", s.name, query, diff)
			}
		}

		if diff := cmp.Diff([]string{"1 ann 3", "2 bob 0", "2 cyd 0"}, table(w, l+"/score")); diff != "" {
			t.Errorf("%s: the table without them (-want +got):\n%s", s.name, diff)
		}

		if diff := cmp.Diff([]string{"1 ann 3", "2 bob 0"}, c.Board("ann")); diff != "" {
			t.Errorf("%s: the leaderboard (-want +got):\n%s", s.name, diff)
		}
	}

	if diff := cmp.Diff(was, stored(w)); diff != "" {
		t.Errorf("what is stored (-want +got):\n%s", diff)
	}

	w.Ingest(c.Feed("1", won, bestshottest.Fixture(2, kickOff, provider.Ended, 2, 0)))
	w.Settle()

	if diff := cmp.Diff([]string{"3 (3 settled) rank 1"}, provisional(w, c, "bob")); diff != "" {
		t.Errorf("after the result (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"1 ann 3 +0", "1 bob 3 +0", "2 cyd 0 +0"}, table(w, l+"/score?live=true")); diff != "" {
		t.Errorf("the table after the result (-want +got):\n%s", diff)
	}

	w.Do(root, "POST", "/admin/settlements/"+w.MatchID(2)+"/correct", map[string]any{"void": true})
	w.Settle()

	if diff := cmp.Diff([]string{"0 (0 settled) rank 2"}, provisional(w, c, "bob")); diff != "" {
		t.Errorf("after the match is void (-want +got):\n%s", diff)
	}
}

// TestProvisionalPointsFollowTheRule: the multiplier of the round, the tie-breakers, and the guess as it was
// before play began. Provisional points are those of the settlement if the match ends so.
func TestProvisionalPointsFollowTheRule(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob")

	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(time.Hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))
	w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]any{"rule": map[string]any{
		"outcome": 3, "homeScore": 1, "awayScore": 1, "goalDifference": 1, "exactScore": 2, "tieBreaks": true,
	}})
	w.Do(root, "PATCH", "/admin/tournaments/"+c.ID+"/rounds/1", map[string]int{"multiplier": 2})

	w.Guess("ann", w.MatchID(1), 1, 0)
	w.Guess("bob", w.MatchID(1), 2, 0)
	w.MoveClock(kickOff.Add(-10 * time.Minute))
	w.Guess("ann", w.MatchID(1), 3, 3) // play began before

	x := playing(1, kickOff, 1, 0)
	x.StartedAt = kickOff.Add(-20 * time.Minute)
	w.MoveClock(kickOff.Add(time.Minute))
	w.Ingest(c.Feed("1", x))

	for user, want := range map[string][]string{
		"ann": {"16 (0 settled) rank 1", "1:0 guessed 1:0 earns 16"},
		"bob": {"8 (0 settled) rank 1", "1:0 guessed 2:0 earns 8"},
	} {
		if diff := cmp.Diff(want, provisional(w, c, user)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", user, diff)
		}
	}

	x.InPlay, x.Status = false, provider.Ended
	w.Ingest(c.Feed("1", x))
	w.Settle()

	if diff := cmp.Diff([]string{"1 ann 16", "2 bob 8"}, c.Board("ann")); diff != "" {
		t.Errorf("settled (-want +got):\n%s", diff)
	}
}

// TestRequestsForProvisionalPoints: who may not read them, and what is refused.
func TestRequestsForProvisionalPoints(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob")
	c := w.Found("cup")
	l := "/api/v2/leagues/" + testkit.Decode[struct{ ID string }](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Office"})).ID

	w.Do("ann", "PATCH", strings.TrimPrefix(l, "/api/v2")+"/tournaments", map[string]any{"tournaments": []string{c.ID}})

	for _, bad := range []struct {
		user, target, code string
		status             int
	}{
		{"nobody", "/api/v2/tournaments/" + c.ID + "/score/live", "member_not_found", 404},
		{"ann", "/api/v2/tournaments/58de2f1b-1374-4c92-bd53-23a81943deff/score/live", "tournament_not_found", 404},
		{"bob", l + "/score?live=true", "league_not_found", 404},
		{"ann", l + "/score?live=true&cursor=7", "bad_cursor", 400},
	} {
		if err := testkit.CheckProblemCode(w.Ask(bad.user, "GET", bad.target, nil), bad.status, bad.code); err != nil {
			t.Errorf("%s: %v", bad.target, err)
		}
	}

	for target, field := range map[string]string{
		l + "/score?live=true&round=1":                         "query.tournament",
		l + "/score?live=true&tournament=" + c.ID + "&round=9": "query.round",
		l + "/score?live=perhaps":                              "query.live",
	} {
		if out := w.Ask("ann", "GET", target, nil); out.StatusCode < 400 || !strings.Contains(out.Body, field) {
			t.Errorf("%s: %d %s, want %s", target, out.StatusCode, out.Body, field)
		}
	}
}
