package league_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// leagueTable is the table of a league as a member of it sees it: "1 ann 30 +1".
func leagueTable(w *pickemtest.Room, l league.League, year, user string) (all []string) {
	w.T.Helper()
	out := w.Ask(league.GetLeagueStandingsFunction, "/app/leagues/"+l.LeagueID+"/standings/"+year, user, "")
	for _, s := range testkit.Decode[struct{ Standings []league.Standing }](w.World, out).Standings {
		text := fmt.Sprint(s.Rank, " ", s.Name, " ", s.Points)
		if s.Movement != nil {
			text += fmt.Sprintf(" %+d", *s.Movement)
		}
		all = append(all, text)
	}
	return all
}

func TestLeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat", "dan")
	l := w.CreateLeague("ann", "Office")
	if want := (league.League{LeagueID: l.LeagueID, Name: "Office", OwnerID: "ann", Code: l.Code, Count: 1}); l != want || len(l.Code) != league.CodeLength {
		t.Errorf("the league is %+v, want %+v", l, want)
	}
	if got, want := testkit.Decode[league.League](w.World, w.RequestJoin("bob", l.Code)), (league.League{LeagueID: l.LeagueID, Name: "Office", OwnerID: "ann", Code: l.Code, Count: 2}); got != want {
		t.Errorf("bob joined %+v, want %+v", got, want)
	}
	w.JoinLeague(l, "cat")
	w.CreateLeague("bob", "Family")

	out := w.Ask(league.ListLeaguesFunction, "/app/leagues", "bob", "")
	var names []string
	for _, m := range testkit.Decode[struct{ Leagues []league.Membership }](w.World, out).Leagues {
		names = append(names, m.Name)
		if !m.JoinedAt.Equal(pickemtest.Noon) {
			t.Errorf("bob joined at %v, want %v", m.JoinedAt, pickemtest.Noon)
		}
	}
	if want := []string{"Family", "Office"}; !slices.Equal(names, want) || testkit.Header(out).Get("Cache-Control") != "no-store" {
		t.Errorf("bob is in %q, want %q", names, want)
	}
	me := testkit.Decode[struct{ Leagues []league.Membership }](w.World, w.Ask(member.GetMeFunction, "/app/me", "bob", ""))
	if len(me.Leagues) != 2 || me.Leagues[1].LeagueID != l.LeagueID {
		t.Errorf("bob's own page names the leagues %+v", me.Leagues)
	}
	other := w.Ask(member.GetUserFunction, "/app/users/bob", "dan", "")
	if other.StatusCode != http.StatusOK || strings.Contains(other.Body, "leagues") {
		t.Errorf("dan sees of bob: %d %s", other.StatusCode, other.Body)
	}

	type page struct {
		league.League
		Members []league.LeagueMember
		Next    string
	}
	screen := "/app/leagues/" + l.LeagueID
	calls := w.CountCalls(func() {
		got := testkit.Decode[page](w.World, w.Ask(league.GetLeagueFunction, screen+"?limit=2", "cat", ""))
		if got.Name != "Office" || got.Count != 3 || len(got.Members) != 2 || got.Members[0].Name != "ann" || got.Next != "bob" {
			t.Errorf("cat sees %+v", got)
		}
	})
	if len(calls) != 2 || calls["Query"] != 1 || calls["GetItem"] != 1 {
		t.Errorf("the screen of a league took %v, want one Query, and at the same time one GetItem", calls)
	}
	got := testkit.Decode[page](w.World, w.Ask(league.GetLeagueFunction, screen+"?limit=2&cursor=bob", "cat", ""))
	if len(got.Members) != 1 || got.Members[0].UserID != "cat" || got.Next != "" {
		t.Errorf("the second page is %+v", got)
	}

	calls = w.CountCalls(func() { leagueTable(w, l, "2026", "bob") })
	if len(calls) != 2 || calls["Query"] != 1 || calls["GetItem"] != 1 {
		t.Errorf("the table of a league took %v, want a Query and a GetItem", calls)
	}
}

func TestLeagueProblems(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat", "busy")
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob")
	crowd := w.CreateLeague("ann", "Crowd")
	full := testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(crowd.LeagueID), league.LeagueSK)
	w.JoinLeague(crowd, "bob")
	full.Members = league.MaxMembers
	testkit.PutRows(w.World, tables.Pickem, full)
	for i := range league.MaxLeagues {
		w.CreateLeague("busy", fmt.Sprint("League ", i))
	}
	const nowhere = "00000000-0000-4000-8000-000000000000"

	code := func(code string) any { return map[string]any{"code": code} }
	for _, c := range []struct {
		name   string
		fn     spec.Function
		target string
		user   string
		body   any
		status int
		code   string
	}{
		{"who has said no name makes none", league.CreateLeagueFunction, "/app/leagues", "nobody", map[string]any{"name": "Mine"}, 403, "not_a_member"},
		{"20 leagues are enough to make", league.CreateLeagueFunction, "/app/leagues", "busy", map[string]any{"name": "One more"}, 422, "too_many_leagues"},
		{"20 leagues are enough to join", league.JoinLeagueFunction, "/app/leagues/join", "busy", code(l.Code), 422, "too_many_leagues"},
		{"who has said no name joins none", league.JoinLeagueFunction, "/app/leagues/join", "nobody", code(l.Code), 403, "not_a_member"},
		{"a code that never was", league.JoinLeagueFunction, "/app/leagues/join", "cat", code("22222222"), 404, "code_not_found"},
		{"a code that is none", league.JoinLeagueFunction, "/app/leagues/join", "cat", code("----"), 404, "code_not_found"},
		{"a full league", league.JoinLeagueFunction, "/app/leagues/join", "cat", code(crowd.Code), 422, "league_full"},
		{"no such league", league.GetLeagueFunction, "/app/leagues/" + nowhere, "ann", "", 404, "league_not_found"},
		{"a league of others", league.GetLeagueFunction, "/app/leagues/" + l.LeagueID, "cat", "", 404, "league_not_found"},
		{"a cursor of no member", league.GetLeagueFunction, "/app/leagues/" + l.LeagueID + "?cursor=cat", "ann", "", 400, "bad_cursor"},
		{"the table of no league", league.GetLeagueStandingsFunction, "/app/leagues/" + nowhere + "/standings/2026", "ann", "", 404, "league_not_found"},
		{"the table of others", league.GetLeagueStandingsFunction, "/app/leagues/" + l.LeagueID + "/standings/2026", "cat", "", 404, "league_not_found"},
		{"a cursor of no standing", league.GetLeagueStandingsFunction, "/app/leagues/" + l.LeagueID + "/standings/2026?cursor=cat", "ann", "", 400, "bad_cursor"},
		{"leaving no league", league.LeaveLeagueFunction, "/app/leagues/" + nowhere + "/members/ann", "ann", "", 404, "league_not_found"},
		{"leaving a league of others", league.LeaveLeagueFunction, "/app/leagues/" + l.LeagueID + "/members/cat", "cat", "", 404, "league_not_found"},
		{"removing another", league.LeaveLeagueFunction, "/app/leagues/" + l.LeagueID + "/members/ann", "bob", "", 403, "not_the_owner"},
		{"removing somebody from a league of others", league.LeaveLeagueFunction, "/app/leagues/" + l.LeagueID + "/members/bob", "cat", "", 404, "league_not_found"},
		{"removing who is not in it", league.LeaveLeagueFunction, "/app/leagues/" + l.LeagueID + "/members/cat", "ann", "", 404, "member_not_found"},
		{"removing somebody from no league", league.LeaveLeagueFunction, "/app/leagues/" + nowhere + "/members/cat", "ann", "", 404, "league_not_found"},
		{"a new code for no league", league.RenewCodeFunction, "/app/leagues/" + nowhere + "/code", "ann", "", 404, "league_not_found"},
		{"a new code for another's league", league.RenewCodeFunction, "/app/leagues/" + l.LeagueID + "/code", "bob", "", 403, "not_the_owner"},
		{"a new code for a league of others", league.RenewCodeFunction, "/app/leagues/" + l.LeagueID + "/code", "cat", "", 404, "league_not_found"},
		{"ending no league", league.DeleteLeagueFunction, "/app/leagues/" + nowhere, "ann", "", 404, "league_not_found"},
		{"ending another's league", league.DeleteLeagueFunction, "/app/leagues/" + l.LeagueID, "bob", "", 403, "not_the_owner"},
		{"ending a league of others", league.DeleteLeagueFunction, "/app/leagues/" + l.LeagueID, "cat", "", 404, "league_not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := testkit.CheckProblemCode(w.Ask(c.fn, c.target, c.user, c.body), c.status, c.code); err != nil {
				t.Error(err)
			}
		})
	}
	if out := w.RequestJoin("bob", crowd.Code); out.StatusCode != http.StatusOK {
		t.Errorf("who is in a full league joins it again: %d %s", out.StatusCode, out.Body)
	}
}

// TestLeagueBlames has what cannot be read named.
func TestLeagueBlames(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	for _, c := range []struct {
		name   string
		fn     spec.Function
		target string
		body   string
		field  string
	}{
		{"a league without a name", league.CreateLeagueFunction, "/app/leagues", `{"name":" "}`, "body.name"},
		{"a name that is too long", league.CreateLeagueFunction, "/app/leagues", `{"name":"` + strings.Repeat("x", 41) + `"}`, "body.name"},
		{"no code", league.JoinLeagueFunction, "/app/leagues/join", `{"code":""}`, "body.code"},
		{"a code that is too long", league.JoinLeagueFunction, "/app/leagues/join", `{"code":"` + strings.Repeat("2", 33) + `"}`, "body.code"},
		{"no year", league.GetLeagueStandingsFunction, "/app/leagues/x/standings/last", "", "path.year"},
		{"an id that is too long", league.GetLeagueFunction, "/app/leagues/" + strings.Repeat("x", 37), "", "path.leagueId"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := testkit.CheckProblemField(w.Ask(c.fn, c.target, "ann", c.body), 422, c.field); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		code := league.NewCode()
		if len(code) != league.CodeLength || strings.Trim(code, league.CodeLetters) != "" || league.ReadCode(code) != code || seen[code] {
			t.Errorf("the code is %q", code)
		}
		seen[code] = true
	}
	for typed, want := range map[string]string{"7q2m-z0kd": "7Q2MZ0KD", "7Q2M ZOKD": "7Q2MZ0KD", "iIlL1": "11111", "": ""} {
		if got := league.ReadCode(typed); got != want {
			t.Errorf("%q is read as %q, want %q", typed, got, want)
		}
	}
}

func TestRenewCode(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	l := w.CreateLeague("ann", "Office")
	renewed := testkit.Decode[league.League](w.World, w.Ask(league.RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", ""))
	if renewed.Code == l.Code || renewed.Code == "" {
		t.Fatalf("the code is %q after %q", renewed.Code, l.Code)
	}
	if err := testkit.CheckProblemCode(w.RequestJoin("bob", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("by the code before: %v", err)
	}
	w.JoinLeague(renewed, "bob")

	// A code that is renewed while somebody joins by it invites nobody any more.
	env := pickemtest.InterruptBefore(w.Env(league.JoinLeagueFunction), "TransactWriteItems", 1, func() {
		w.Ask(league.RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", "")
	})
	in := &league.JoinLeague{User: auth.User{UserID: "cat"}}
	in.Body.Code = renewed.Code
	if _, err := testkit.OpenWith(w.World, env, league.OpenLeagues).JoinLeague(w.NewContext(), in); !errors.Is(err, league.ErrNoCode) {
		t.Errorf("joining by a code that is renewed meanwhile gave %v", err)
	}
	if got := pickemtest.LinesWith(w.Dump(), "cat"); len(got) != 1 {
		t.Errorf("of cat is kept %q, want the member alone", got)
	}
}

func TestLeaveLeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat", "dan")
	l := w.CreateLeague("ann", "Office")
	for _, user := range []string{"cat", "bob", "dan"} {
		w.MoveClock(w.Clock.Now().Add(time.Second))
		w.JoinLeague(l, user)
	}
	w.PlayEvent(1, "opening", map[string]int{"ann": 1, "bob": 2, "cat": 3, "dan": 0})
	leave := func(user, by, want string) {
		t.Helper()
		if out := w.LeaveLeague(l, user, by); out.StatusCode != http.StatusNoContent {
			t.Fatalf("%s takes %s out: %d %s", by, user, out.StatusCode, out.Body)
		}
		if got := w.LeagueLine("Office"); got != want {
			t.Errorf("after %s the league is %q, want %q", user, got, want)
		}
		if got := pickemtest.LinesWith(pickemtest.LinesWith(w.Dump(), "Office"), user); len(got) != 0 {
			t.Errorf("of %s is left: %q", user, got)
		}
	}
	leave("dan", "ann", "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 3")
	leave("ann", "ann", "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE cat 2") // who came before bob
	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 cat 60", "2 bob 30"}; !slices.Equal(got, want) {
		t.Errorf("the table (-want +got):\n%s", cmp.Diff(want, got))
	}
	leave("bob", "bob", "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE cat 1")
	leave("cat", "cat", "")
	if got := append(pickemtest.LinesWith(w.Dump(), l.LeagueID), pickemtest.LinesWith(w.Dump(), "CODE#")...); len(got) != 0 {
		t.Errorf("of the league is left: %q", got)
	}
	if err := testkit.CheckProblemCode(w.LeaveLeague(l, "cat", "cat"), 404, "league_not_found"); err != nil {
		t.Errorf("leaving again: %v", err)
	}
}

// TestStandingsOfLeague brings a member's points into a league, and takes them out.
func TestStandingsOfLeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	p := item.NewMember("ann", "ann")
	old := item.Standing{Row: item.Row{PK: p.PK, SK: item.StandingsRef("2025"), GSIPK: item.StandingsRef("2025"), GSISK: "SCORE#00007#ann", Type: item.StandingType}, BelongsTo: p.BelongsTo, Name: "formerly", Tally: item.Tally{Points: 7, Played: 1, LastEvent: "2025-01-01-x", LastPoints: 7}}
	testkit.PutRows(w.World, tables.Pickem, old)
	w.PlayEvent(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2})
	l := w.CreateLeague("bob", "Office")
	w.JoinLeague(l, "ann")
	for year, want := range map[string][]string{"2025": {"1 ann 7"}, "2026": {"1 bob 60", "2 ann 10"}, "2024": nil} {
		if got := leagueTable(w, l, year, "ann"); !slices.Equal(got, want) {
			t.Errorf("the table of %s (-want +got):\n%s", year, cmp.Diff(want, got))
		}
	}
	// Cat, who would be between them, is not in it; the next event goes round.
	w.PlayEvent(2, "summer", map[string]int{"ann": 3, "cat": 3})
	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 ann 70 +1", "2 bob 60 -1"}; !slices.Equal(got, want) {
		t.Errorf("the table (-want +got):\n%s", cmp.Diff(want, got))
	}
	w.JoinLeague(l, "cat")
	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 cat 90 +1", "2 ann 70 +1", "3 bob 60 -2"}; !slices.Equal(got, want) {
		t.Errorf("the table with cat (-want +got):\n%s", cmp.Diff(want, got))
	}
	w.Ask(member.UpdateMeFunction, "/app/me", "ann", `{"name":"Anna"}`)
	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 cat 90 +1", "2 Anna 70 +1", "3 bob 60 -2"}; !slices.Equal(got, want) {
		t.Errorf("the table after the renaming (-want +got):\n%s", cmp.Diff(want, got))
	}
	w.LeaveLeague(l, "ann", "ann")
	if got := pickemtest.LinesWith(w.Dump(), "STANDINGS#Office#"); len(got) != 2 {
		t.Errorf("without ann the league's tables are %q", got)
	}
	if got := pickemtest.LinesWith(pickemtest.LinesWith(w.Dump(), "USER#ann"), "STANDINGS#20"); len(got) != 2 {
		t.Errorf("ann keeps the standings %q, want those of two years", got)
	}
}

// TestScoringMeanwhile has members join and leave while an event is scored, in
// every order of what either reads and writes.
func TestScoringMeanwhile(t *testing.T) {
	t.Parallel()
	const scores = "USER#bob STANDINGS#2026#Office STANDINGS#Office#2026 SCORE#00010#bob 10"
	for _, c := range []struct {
		name  string
		fn    spec.Function
		first bool // bob is in the league before
		want  []string
	}{
		{"join", league.JoinLeagueFunction, false, []string{scores}},
		{"leave", league.LeaveLeagueFunction, true, nil},
	} {
		change := func(w *pickemtest.Room, l league.League, env app.Env) error {
			s := testkit.OpenWith(w.World, env, league.OpenLeagues)
			if c.first {
				return s.Leave(w.NewContext(), l.LeagueID, "bob", "bob")
			}
			in := &league.JoinLeague{User: auth.User{UserID: "bob"}}
			in.Body.Code = l.Code
			_, err := s.JoinLeague(w.NewContext(), in)
			return err
		}
		runScoring := func(w *pickemtest.Room, env app.Env) error {
			return testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: pickemtest.Show})
		}
		for name, both := range map[string]func(*pickemtest.Room, league.League) (first, then error){
			"the scoring comes between": func(w *pickemtest.Room, l league.League) (first, then error) {
				first = change(w, l, pickemtest.InterruptBefore(w.Env(c.fn), "TransactWriteItems", 1, func() { then = runScoring(w, w.Env(score.ScoreEventFunction)) }))
				return first, then
			},
			"it comes between the scoring": func(w *pickemtest.Room, l league.League) (first, then error) {
				first = runScoring(w, pickemtest.InterruptBefore(w.Env(score.ScoreEventFunction), "TransactWriteItems", 1, func() { then = change(w, l, w.Env(c.fn)) }))
				return first, then
			},
		} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				t.Parallel()
				w := pickemtest.New(t)
				w.AddMembers("ann", "bob")
				l := w.CreateLeague("ann", "Office")
				if c.first {
					w.JoinLeague(l, "bob")
				}
				w.CreateShow(3)
				w.Pick("bob", pickemtest.Show, 0)
				w.LockEvent(pickemtest.Show)
				w.EnterResults(pickemtest.Show, 0, 1, 1)
				w.MustAdmin(event.RequestScoreFunction, "/admin/events/"+pickemtest.Show+"/score", "")
				first, then := both(w, l)
				testkit.Must(t, errors.Join(first, then))
				if got := pickemtest.LinesWith(w.Dump(), "STANDINGS#Office#2026"); !slices.Equal(got, c.want) {
					t.Errorf("the league's table (-want +got):\n%s", cmp.Diff(c.want, got))
				}
				if got := w.Standings("2026"); len(got) != 1 || got[0].Points != 10 {
					t.Errorf("the table is %+v, want bob's 10 points", got)
				}
			})
		}
	}
}

// TestLeaguesMeanwhile has two things happen to a league at once: the second when
// the first has read all it looks at.
func TestLeaguesMeanwhile(t *testing.T) {
	t.Parallel()
	joining := func(w *pickemtest.Room, user, code string) func(app.Env) error {
		return func(env app.Env) error {
			in := &league.JoinLeague{User: auth.User{UserID: user}}
			in.Body.Code = code
			_, err := testkit.OpenWith(w.World, env, league.OpenLeagues).JoinLeague(w.NewContext(), in)
			return err
		}
	}
	leaving := func(w *pickemtest.Room, l league.League, user, by string) func(app.Env) error {
		return func(env app.Env) error {
			in := &league.LeaveLeague{User: auth.User{UserID: by}, LeagueID: l.LeagueID, MemberID: user}
			_, err := testkit.OpenWith(w.World, env, league.OpenLeagues).LeaveLeague(w.NewContext(), in)
			return err
		}
	}
	for _, c := range []struct {
		name  string
		fn    spec.Function
		first func(*pickemtest.Room, league.League) func(app.Env) error
		then  func(*pickemtest.Room, league.League)
		err   error
		want  string // of the league
	}{
		{"the last place goes to another", league.JoinLeagueFunction,
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				full := testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(l.LeagueID), league.LeagueSK)
				full.Members = league.MaxMembers - 1
				testkit.PutRows(w.World, tables.Pickem, full)
				return joining(w, "dan", l.Code)
			},
			func(w *pickemtest.Room, l league.League) { w.JoinLeague(l, "cat") },
			league.ErrLeagueFull, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 1000"},
		{"the twentieth league is another", league.JoinLeagueFunction,
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				for i := range league.MaxLeagues - 1 {
					w.CreateLeague("dan", fmt.Sprint(i))
				}
				return joining(w, "dan", l.Code)
			},
			func(w *pickemtest.Room, _ league.League) { w.CreateLeague("dan", "another") },
			league.ErrTooManyLeagues, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 2"},
		{"the heir leaves too", league.LeaveLeagueFunction,
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				w.JoinLeague(l, "cat")
				return leaving(w, l, "ann", "ann")
			},
			func(w *pickemtest.Room, l league.League) { w.LeaveLeague(l, "bob", "bob") },
			nil, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE cat 1"},
		{"somebody joins when the last is about to end it", league.LeaveLeagueFunction,
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				w.LeaveLeague(l, "bob", "bob")
				return leaving(w, l, "ann", "ann")
			},
			func(w *pickemtest.Room, l league.League) { w.JoinLeague(l, "cat") },
			nil, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE cat 1"},
		{"who leaves becomes the owner", league.LeaveLeagueFunction,
			func(w *pickemtest.Room, l league.League) func(app.Env) error { return leaving(w, l, "bob", "bob") },
			func(w *pickemtest.Room, l league.League) { w.LeaveLeague(l, "ann", "ann") },
			nil, ""},
		{"the owner who removes another is none any more", league.LeaveLeagueFunction,
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				w.JoinLeague(l, "cat")
				return leaving(w, l, "cat", "ann")
			},
			func(w *pickemtest.Room, l league.League) { w.LeaveLeague(l, "ann", "ann") },
			league.ErrNoLeague, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE bob 2"},
		{"who is removed has left", league.LeaveLeagueFunction,
			func(w *pickemtest.Room, l league.League) func(app.Env) error { return leaving(w, l, "bob", "ann") },
			func(w *pickemtest.Room, l league.League) { w.LeaveLeague(l, "bob", "bob") },
			league.ErrNotIn, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 1"},
		{"the code is renewed before it ends", league.DeleteLeagueFunction,
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				return func(env app.Env) error {
					_, err := testkit.OpenWith(w.World, env, league.OpenLeagues).DeleteLeague(w.NewContext(), &league.DeleteLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID})
					return err
				}
			},
			func(w *pickemtest.Room, l league.League) {
				w.Ask(league.RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", "")
			},
			item.ErrChanged, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			w.AddMembers("ann", "bob", "cat", "dan")
			l := w.CreateLeague("ann", "Office")
			w.JoinLeague(l, "bob")
			do := c.first(w, l)
			if err := do(pickemtest.InterruptBefore(w.Env(c.fn), "TransactWriteItems", 1, func() { c.then(w, l) })); !errors.Is(err, c.err) {
				t.Errorf("the first gave %v, want %v", err, c.err)
			}
			if got := w.LeagueLine("Office"); got != c.want {
				t.Errorf("the league is %q, want %q", got, c.want)
			}
		})
	}
}

// TestLeaguesNeverStill has a member's standings change each time that something
// is about to be written.
func TestLeaguesNeverStill(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob")
	again := w.CreateLeague("bob", "Family")
	unquiet := func(fn spec.Function, user string) *league.Leagues {
		return testkit.OpenWith(w.World, pickemtest.InterruptBefore(w.Env(fn), "TransactWriteItems", item.MaxTries, func() {
			p := testkit.Row[item.Member](w.World, tables.Pickem, item.UserRef(user), item.UserTag)
			p.Rev++
			testkit.PutRows(w.World, tables.Pickem, p)
		}), league.OpenLeagues)
	}
	was := w.Dump()
	for fn, do := range map[string]func() error{
		league.CreateLeagueFunction.Name: func() error {
			_, err := unquiet(league.CreateLeagueFunction, "bob").CreateLeague(w.NewContext(), &league.CreateLeague{User: auth.User{UserID: "bob"}})
			return err
		},
		league.JoinLeagueFunction.Name: func() error {
			in := &league.JoinLeague{User: auth.User{UserID: "ann"}}
			in.Body.Code = again.Code
			_, err := unquiet(league.JoinLeagueFunction, "ann").JoinLeague(w.NewContext(), in)
			return err
		},
		league.LeaveLeagueFunction.Name: func() error {
			_, err := unquiet(league.LeaveLeagueFunction, "bob").LeaveLeague(w.NewContext(), &league.LeaveLeague{User: auth.User{UserID: "bob"}, LeagueID: l.LeagueID, MemberID: "bob"})
			return err
		},
	} {
		if err := do(); !errors.Is(err, item.ErrChanged) {
			t.Errorf("%s gave %v, want %v", fn, err, item.ErrChanged)
		}
	}
	renewing := testkit.OpenWith(w.World, pickemtest.InterruptBefore(w.Env(league.RenewCodeFunction), "TransactWriteItems", item.MaxTries, func() {
		w.Ask(league.RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", "")
	}), league.OpenLeagues)
	if _, err := renewing.RenewCode(w.NewContext(), &league.RenewCode{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID}); !errors.Is(err, item.ErrChanged) {
		t.Errorf("%s gave %v, want %v", league.RenewCodeFunction.Name, err, item.ErrChanged)
	}
	if got := w.Dump(); !slices.Equal(got, was) {
		t.Errorf("there is now %q, and was %q", got, was)
	}
}

// TestDeleteLeague ends a league, and leaves everything else as it was.
func TestDeleteLeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	other := w.CreateLeague("bob", "Family")
	w.JoinLeague(other, "ann")
	w.PlayEvent(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2})
	was := w.Dump()
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob", "cat")
	if out := w.Ask(league.DeleteLeagueFunction, "/app/leagues/"+l.LeagueID, "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("ending it: %d %s", out.StatusCode, out.Body)
	}
	if got := w.Dump(); !slices.Equal(got, was) {
		t.Errorf("the rows (-want +got):\n%s", cmp.Diff(was, got))
	}
	w.PlayEvent(2, "summer", map[string]int{"ann": 3, "bob": 1})
	if got, want := leagueTable(w, other, "2026", "ann"), []string{"1 ann 70 +1", "1 bob 70 +0"}; !slices.Equal(got, want) {
		t.Errorf("the table of the other league (-want +got):\n%s", cmp.Diff(want, got))
	}
	if err := testkit.CheckProblemCode(w.RequestJoin("cat", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("joining it: %v", err)
	}
	if err := testkit.CheckProblemCode(w.Ask(league.DeleteLeagueFunction, "/app/leagues/"+l.LeagueID, "ann", ""), 404, "league_not_found"); err != nil {
		t.Errorf("ending it again: %v", err)
	}
}

// TestEndedLeague breaks off the end of a league when nobody is out yet.
func TestEndedLeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat", "dan")
	was := w.Dump()
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob", "cat")
	w.EndLeagueHalfway(l, "ann")
	if got := pickemtest.LinesWith(w.Dump(), "Office MEMBER#"); len(got) != 6 {
		t.Fatalf("the members are %q, want all three as before", got)
	}
	for _, c := range []struct {
		name string
		out  events.APIGatewayV2HTTPResponse
		code string
	}{
		{"nobody joins it", w.RequestJoin("dan", l.Code), "code_not_found"},
		{"nobody sees it", w.Ask(league.GetLeagueFunction, "/app/leagues/"+l.LeagueID, "bob", ""), "league_not_found"},
		{"it gets no code", w.Ask(league.RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", ""), "league_not_found"},
	} {
		if err := testkit.CheckProblemCode(c.out, 404, c.code); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if out := w.LeaveLeague(l, "bob", "bob"); out.StatusCode != http.StatusNoContent {
		t.Errorf("bob leaves it: %d %s", out.StatusCode, out.Body)
	}
	if out := w.LeaveLeague(l, "ann", "ann"); out.StatusCode != http.StatusNoContent {
		t.Errorf("its owner leaves it: %d %s", out.StatusCode, out.Body)
	}
	if got := w.Dump(); !slices.Equal(got, was) {
		t.Errorf("the rows (-want +got):\n%s", cmp.Diff(was, got))
	}
}

// TestCrowd has many join at once, and ends the league with all of them in it.
func TestCrowd(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	users := []string{"ann"}
	for i := range 60 {
		users = append(users, fmt.Sprint("fan", i))
	}
	w.AddMembers(users...)
	was := w.Dump()
	l := w.CreateLeague("ann", "Crowd")
	var all sync.WaitGroup
	for _, u := range users[1:] {
		all.Go(func() {
			if out := w.RequestJoin(u, l.Code); out.StatusCode != http.StatusOK {
				t.Errorf("%s joins: %d %s", u, out.StatusCode, out.Body)
			}
		})
	}
	all.Wait()
	if got, want := w.LeagueLine("Crowd"), "LEAGUE#Crowd LEAGUE LEAGUE#Crowd LEAGUE ann 61"; got != want {
		t.Errorf("the league is %q, want %q", got, want)
	}
	if out := w.Ask(league.DeleteLeagueFunction, "/app/leagues/"+l.LeagueID, "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("ending it: %d %s", out.StatusCode, out.Body)
	}
	if got := w.Dump(); !slices.Equal(got, was) {
		t.Errorf("the rows (-want +got):\n%s", cmp.Diff(was, got))
	}
}

func TestLeagueCrashes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fn   spec.Function
		do   func(*pickemtest.Room, *league.Leagues, league.League) error
	}{
		{"join", league.JoinLeagueFunction, func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			in := &league.JoinLeague{User: auth.User{UserID: "dan"}}
			in.Body.Code = l.Code
			_, err := s.JoinLeague(w.NewContext(), in)
			return err
		}},
		{"leave", league.LeaveLeagueFunction, func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			return s.Leave(w.NewContext(), l.LeagueID, "bob", "bob")
		}},
		{"remove", league.LeaveLeagueFunction, func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			_, err := s.LeaveLeague(w.NewContext(), &league.LeaveLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID, MemberID: "bob"})
			return err
		}},
		{"hand over", league.LeaveLeagueFunction, func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			return s.Leave(w.NewContext(), l.LeagueID, "ann", "ann")
		}},
		{"delete", league.DeleteLeagueFunction, func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			_, err := s.DeleteLeague(w.NewContext(), &league.DeleteLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
				w := pickemtest.New(t)
				w.AddMembers("ann", "bob", "cat", "dan")
				l := w.CreateLeague("ann", "Office")
				w.JoinLeague(l, "bob", "cat")
				w.PlayEvent(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2, "dan": 1})
				c.do(w, testkit.OpenWith(w.World, w.CrashingEnv(c.fn, p), league.OpenLeagues), l)
				err := c.do(w, testkit.Open(w.World, c.fn, league.OpenLeagues), l)
				if err != nil && !errors.Is(err, league.ErrNoLeague) && !errors.Is(err, league.ErrNotIn) {
					t.Error(err)
				}
				return w.Dump()
			})
		})
	}
	t.Run("last", func(t *testing.T) {
		t.Parallel()
		dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
			w := pickemtest.New(t)
			w.AddMembers("ann")
			l := w.CreateLeague("ann", "Office")
			testkit.OpenWith(w.World, w.CrashingEnv(league.LeaveLeagueFunction, p), league.OpenLeagues).Leave(w.NewContext(), l.LeagueID, "ann", "ann")
			if out := w.LeaveLeague(l, "ann", "ann"); out.StatusCode != 204 && out.StatusCode != 404 {
				t.Errorf("leaving: %d %s", out.StatusCode, out.Body)
			}
			return w.Dump()
		})
	})
}
