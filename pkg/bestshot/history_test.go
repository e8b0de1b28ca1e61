package bestshot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/bestshot/userdata"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/pg"
)

// setStatus changes the status of a tournament as an administrator.
func setStatus(w *bestshottest.World, tournamentID, status string) {
	w.T.Helper()
	w.Do(testkit.Administrator, "PATCH", "/admin/tournaments/"+tournamentID, map[string]string{"status": status})
	w.MoveClock(w.Clock.Now().Add(time.Minute))
}

// leaveFinished has a user leave a league in which a tournament has ended, and in which another user stays.
// The tournament goes on afterwards.
func leaveFinished(w *bestshottest.World, user, tournamentID string) {
	w.T.Helper()
	w.Register("former")
	l := testkit.Decode[league.League](w.World, w.Do("former", "POST", "/leagues",
		map[string]any{"name": "Former", "tournaments": []string{tournamentID}}))
	w.Do(user, "POST", "/leagues/invitation", map[string]string{"code": l.Code})

	_, err := pg.Do(w.T.Context(), w.DB, `UPDATE tournament SET status = 'completed' WHERE id = $1`, tournamentID)
	testkit.Must(w.T, err)
	w.Do(user, "DELETE", "/leagues/"+l.ID+"/membership", nil)
	_, err = pg.Do(w.T.Context(), w.DB, `UPDATE tournament SET status = 'active' WHERE id = $1`, tournamentID)
	testkit.Must(w.T, err)
}

// finalTable returns the final table of a tournament in a league: "1 ann 3".
func finalTable(w *bestshottest.World, user, leagueID, tournamentID string) (all []string) {
	w.T.Helper()
	w.MoveClock(w.Clock.Now().Add(view.LeagueLifetime))

	out := w.Do(user, "GET", "/leagues/"+leagueID+"/score?final=true&tournament="+tournamentID, nil)
	for _, e := range testkit.Decode[struct{ Data []view.Entry }](w.World, out).Data {
		all = append(all, fmt.Sprintf("%d %s %d", e.Rank, e.NickName, e.Points))
	}

	return all
}

// history returns the slugs of the tournaments that have ended in a league.
func history(w *bestshottest.World, user, leagueID string) (all []string) {
	w.T.Helper()

	for _, f := range testkit.Decode[struct{ Data []league.Finished }](w.World, w.Do(user, "GET", "/leagues/"+leagueID+"/history", nil)).Data {
		all = append(all, f.Slug)
	}

	return all
}

// TestFinalTableOfALeague: it has the members of the time when the tournament ended, whoever joins, leaves or
// is removed later. Points that are corrected are in it, and deleted users are not.
func TestFinalTableOfALeague(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false) // 1:0, guessed 2:0 by ann and 0:0 by bob
	w.Settle()
	w.Register("cyd", "dan", "eve")
	l := testkit.Decode[league.League](w.World, w.Do("cyd", "POST", "/leagues",
		map[string]any{"name": "Office", "tournaments": []string{c.ID}}))
	path := "/leagues/" + l.ID
	do := func(user, method, target string, body any) func() { return func() { w.Do(user, method, target, body) } }
	joins := func(user string) func() {
		return func() {
			code := testkit.Decode[league.League](w.World, w.Do("cyd", "GET", path, nil)).Code
			w.Do(user, "POST", "/leagues/invitation", map[string]string{"code": code})
		}
	}
	follow := func(ids ...string) func() {
		return do("cyd", "PATCH", path+"/tournaments", map[string]any{"tournaments": append([]string{}, ids...)})
	}

	joins("ann")()
	joins("bob")()
	joins("eve")()

	if got := history(w, "cyd", l.ID); got != nil {
		t.Errorf("while it goes on the history is %q", got)
	}

	w.MoveClock(w.Clock.Now().Add(time.Minute))
	do("eve", "DELETE", path+"/membership", nil)() // before the end
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	setStatus(w, c.ID, "completed")

	all := []string{"1 ann 3", "2 bob 0", "2 cyd 0"}

	for _, s := range []struct {
		name string
		do   func()
		want []string
	}{
		{"ended", func() {}, all},
		{"dan joins", joins("dan"), all},
		{"ann leaves", do("ann", "DELETE", path+"/membership", nil), all},
		{"bob is removed", do("cyd", "DELETE", path+"/members/"+memberID(w, "bob"), nil), all},
		{"ann is back, and leaves again", func() { joins("ann")(); do("ann", "DELETE", path+"/membership", nil)() }, all},
		{"it ends again", func() { setStatus(w, c.ID, "completed") }, all},
		{"it is not followed any more", follow(), all},
		{"it is followed again, and not", func() { follow(c.ID)(); follow()() }, all},
		{"the result is corrected", func() {
			w.Do(testkit.Administrator, "POST", "/admin/settlements/"+w.MatchID(1)+"/correct", map[string]int{"home": 1, "away": 1})
			w.Settle()
		}, []string{"1 bob 3", "2 ann 0", "2 cyd 0"}},
		{"ann is deleted", func() {
			testkit.Must(t, testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(),
				account.Request{Job: "J", UserID: "ann"}))
		}, []string{"1 bob 3", "2 cyd 0"}},
	} {
		s.do()

		if diff := cmp.Diff(s.want, finalTable(w, "cyd", l.ID, c.ID)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}

		if diff := cmp.Diff([]string{"cup"}, history(w, "cyd", l.ID)); diff != "" {
			t.Errorf("%s: the history (-want +got):\n%s", s.name, diff)
		}
	}

	out := testkit.Decode[struct {
		Data []view.Entry
		Meta struct{ Me *view.Entry }
	}](w.World, w.Do("cyd", "GET", path+"/score?final=true&around=me&tournament="+strings.ToUpper(c.ID), nil))
	if out.Meta.Me == nil || out.Meta.Me.NickName != "cyd" || out.Meta.Me.Rank != 2 || len(out.Data) != 2 {
		t.Errorf("around cyd: %+v", out)
	}

	for _, user := range []string{"bob", "eve"} {
		for _, target := range []string{"/history", "/score?final=true&tournament=" + c.ID} {
			if err := testkit.CheckProblemCode(w.Ask(user, "GET", "/api/v2"+path+target, nil), 404, "league_not_found"); err != nil {
				t.Errorf("%s: %v", user, err)
			}
		}
	}
}

// TestHistoryHasWhatEndedInTheLeague: tournaments that the league followed when they ended, the latest first.
// A tournament that goes on again is not in it.
func TestHistoryHasWhatEndedInTheLeague(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	over, cup, left, later, called := w.Found("over"), w.Found("cup"), w.Found("left"), w.Found("later"), w.Found("called")
	setStatus(w, over.ID, "completed") // before there is a league
	l := testkit.Decode[league.League](w.World, w.Do("ann", "POST", "/leagues",
		map[string]any{"name": "Office", "tournaments": []string{over.ID, cup.ID, left.ID, called.ID}}))
	follow := func(ids ...string) {
		w.Do("ann", "PATCH", "/leagues/"+l.ID+"/tournaments", map[string]any{"tournaments": ids})
	}

	w.MoveClock(w.Clock.Now().Add(time.Minute))
	follow(over.ID, cup.ID, called.ID) // left before it ends
	setStatus(w, left.ID, "completed")
	setStatus(w, called.ID, "cancelled")
	setStatus(w, later.ID, "completed")
	follow(over.ID, cup.ID, called.ID, later.ID) // followed after it has ended
	setStatus(w, cup.ID, "completed")

	if diff := cmp.Diff([]string{"cup"}, history(w, "ann", l.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	for query, want := range map[string]string{
		"final=true":                                      "query.tournament",
		"final=true&tournament=" + later.ID:               "query.tournament",
		"final=true&tournament=" + noMatch:                "query.tournament",
		"final=true&round=1&tournament=" + cup.ID:         "query.round",
		"final=true&tournament=" + cup.ID + "&cursor=-1_": "cursor",
		"final=perhaps&tournament=" + cup.ID:              "query.final",
	} {
		if out := w.Ask("ann", "GET", "/api/v2/leagues/"+l.ID+"/score?"+query, nil); out.StatusCode/100 != 4 || !strings.Contains(out.Body, want) {
			t.Errorf("%s: %d %s, want %q", query, out.StatusCode, out.Body, want)
		}
	}

	setStatus(w, later.ID, "active")
	setStatus(w, later.ID, "completed")

	if diff := cmp.Diff([]string{"later", "cup"}, history(w, "ann", l.ID)); diff != "" {
		t.Errorf("one more has ended (-want +got):\n%s", diff)
	}

	setStatus(w, cup.ID, "active")

	if diff := cmp.Diff([]string{"later"}, history(w, "ann", l.ID)); diff != "" {
		t.Errorf("one goes on (-want +got):\n%s", diff)
	}

	w.Do(testkit.Administrator, "DELETE", "/admin/tournaments/"+later.ID, nil)

	if got := history(w, "ann", l.ID); got != nil {
		t.Errorf("after it was deleted: %q", got)
	}

	w.Do("ann", "DELETE", "/leagues/"+l.ID+"/membership", nil)

	for _, table := range []string{"league", "league_finished", "league_left"} {
		if n, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM `+table); n != 0 || err != nil {
			t.Errorf("%d rows of %s are left of a league without members: %v", n, table, err)
		}
	}
}

// TestOldCodeKeepsTheHistory: the statements of the code before histories leave, unfollow and complete on this
// schema, with the role of members. Nothing is kept of a membership that no final table shows.
func TestOldCodeKeepsTheHistory(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob", "cyd")
	c := w.Found("cup")
	l := testkit.Decode[league.League](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Office"}))

	for _, user := range []string{"bob", "cyd"} {
		w.Do(user, "POST", "/leagues/invitation", map[string]string{"code": l.Code})
	}

	w.MoveClock(w.Clock.Now().Add(time.Minute))

	for _, s := range []struct {
		statement string
		args      []any
	}{
		{`INSERT INTO league_tournament (league_id, tournament_id) SELECT $1, unnest($2::uuid[])`, []any{l.ID, []string{c.ID}}},
		{`DELETE FROM league_role WHERE league_id = $1 AND member_id = $2`, []any{l.ID, memberID(w, "cyd")}},
		{`UPDATE tournament SET status = 'completed' WHERE id = $1`, []any{c.ID}},
		{`DELETE FROM league_role WHERE league_id = $1 AND member_id = $2`, []any{l.ID, memberID(w, "bob")}},
		{`DELETE FROM league_tournament WHERE league_id = $1`, []any{l.ID}},
	} {
		w.MoveClock(w.Clock.Now().Add(time.Second))

		_, err := pg.Do(t.Context(), w.DB, s.statement, s.args...)
		testkit.Must(t, err)
	}

	if diff := cmp.Diff([]string{"1 ann 0", "1 bob 0"}, finalTable(w, "ann", l.ID, c.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if n, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM league_left`); n != 1 || err != nil {
		t.Errorf("%d former memberships, want that of bob: %v", n, err)
	}
}
