package league_test

import (
	"errors"
	"fmt"
	"maps"
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
	"matchday/pkg/kit/code"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/tables"
)

// leagueTable returns the standings of a league as a member sees them: "1 ann 30 +1".
func leagueTable(w *pickemtest.Room, l league.League, year, user string) (all []string) {
	w.T.Helper()

	out := w.Ask(league.GetLeagueStandingsFunction(), "/app/leagues/"+l.LeagueID+"/standings/"+year, user, "")
	for _, s := range testkit.Decode[struct{ Standings []league.Standing }](w.World, out).Standings {
		text := fmt.Sprint(s.Rank, " ", s.Name, " ", s.Points)
		if s.Movement != nil {
			text += fmt.Sprintf(" %+d", *s.Movement)
		}

		all = append(all, text)
	}

	return all
}

// TestLeagueIsSeenByItsMembersOnly: a league takes one Query, and its standings one batch more.
func TestLeagueIsSeenByItsMembersOnly(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat", "dan")

	l := w.CreateLeague("ann", "Office")
	if want := (league.League{LeagueID: l.LeagueID, Name: "Office", OwnerID: "ann", Code: l.Code, Count: 1}); l != want ||
		len(l.Code) != code.Length {
		t.Errorf("created league (-want +got):\n%s", cmp.Diff(want, l))
	}

	if got, want := testkit.Decode[league.League](w.World, w.RequestJoin("bob", l.Code)),
		(league.League{LeagueID: l.LeagueID, Name: "Office", OwnerID: "ann", Code: l.Code, Count: 2}); got != want {
		t.Errorf("joined league (-want +got):\n%s", cmp.Diff(want, got))
	}

	w.JoinLeague(l, "cat")
	w.CreateLeague("bob", "Family")

	out := w.Ask(league.ListLeaguesFunction(), "/app/leagues", "bob", "")

	var names []string
	for _, m := range testkit.Decode[struct{ Leagues []league.Membership }](w.World, out).Leagues {
		names = append(names, m.Name)
		if !m.JoinedAt.Equal(pickemtest.Noon) {
			t.Errorf("bob joined at %v, want %v", m.JoinedAt, pickemtest.Noon)
		}
	}

	if want := []string{"Family", "Office"}; !slices.Equal(names, want) || testkit.Header(out).Get("Cache-Control") != "no-store" {
		t.Errorf("leagues of bob: %q, want %q with Cache-Control no-store", names, want)
	}

	me := testkit.Decode[struct{ Leagues []league.Membership }](w.World, w.Ask(member.GetMeFunction(), "/app/me", "bob", ""))
	if len(me.Leagues) != 2 || me.Leagues[1].LeagueID != l.LeagueID {
		t.Errorf("get-me of bob has the leagues %+v, want two", me.Leagues)
	}

	other := w.Ask(member.GetUserFunction(), "/app/users/bob", "dan", "")
	if other.StatusCode != http.StatusOK || strings.Contains(other.Body, "leagues") {
		t.Errorf("get-user of bob: %d %s, want 200 without leagues", other.StatusCode, other.Body)
	}

	type page struct {
		league.League
		Members []league.LeagueMember
	}

	screen := "/app/leagues/" + l.LeagueID

	calls := w.CountCalls(func() {
		got := testkit.Decode[page](w.World, w.Ask(league.GetLeagueFunction(), screen, "cat", ""))
		if got.Name != "Office" || got.Count != 3 || len(got.Members) != 3 || got.Members[0].Name != "ann" || got.Members[2].UserID != "cat" {
			t.Errorf("the league is %+v, want three members", got)
		}
	})
	if want := (map[string]int{"Query": 1}); !maps.Equal(calls, want) {
		t.Errorf("calls of get-league (-want +got):\n%s", cmp.Diff(want, calls))
	}

	calls = w.CountCalls(func() { leagueTable(w, l, "2026", "bob") })
	if want := (map[string]int{"Query": 1, "GetItem": 1, "BatchGetItem": 1}); !maps.Equal(calls, want) {
		t.Errorf("calls of get-league-standings (-want +got):\n%s", cmp.Diff(want, calls))
	}
}

// TestLeagueRequestsAreRefused: a league of others looks like one that does not exist.
func TestLeagueRequestsAreRefused(t *testing.T) {
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
		fn     app.Function
		target string
		user   string
		body   any
		status int
		code   string
	}{
		{"create without membership", league.CreateLeagueFunction(), "/app/leagues", "nobody",
			map[string]any{"name": "Mine"}, 403, "not_a_member"},
		{"create a 21st league", league.CreateLeagueFunction(), "/app/leagues", "busy",
			map[string]any{"name": "One more"}, 409, "too_many_leagues"},
		{"join a 21st league", league.JoinLeagueFunction(), "/app/leagues/join", "busy", code(l.Code), 409, "too_many_leagues"},
		{"join without membership", league.JoinLeagueFunction(), "/app/leagues/join", "nobody", code(l.Code), 403, "not_a_member"},
		{"join by an unknown code", league.JoinLeagueFunction(), "/app/leagues/join", "cat", code("22222222"), 404, "code_not_found"},
		{"join by an empty code", league.JoinLeagueFunction(), "/app/leagues/join", "cat", code("----"), 404, "code_not_found"},
		{"join a full league", league.JoinLeagueFunction(), "/app/leagues/join", "cat", code(crowd.Code), 409, "league_full"},
		{"get an unknown league", league.GetLeagueFunction(), "/app/leagues/" + nowhere, "ann", "", 404, "league_not_found"},
		{"get a league of others", league.GetLeagueFunction(), "/app/leagues/" + l.LeagueID, "cat", "", 404, "league_not_found"},
		{"standings of an unknown league", league.GetLeagueStandingsFunction(), "/app/leagues/" + nowhere + "/standings/2026",
			"ann", "", 404, "league_not_found"},
		{"standings of a league of others", league.GetLeagueStandingsFunction(), "/app/leagues/" + l.LeagueID + "/standings/2026",
			"cat", "", 404, "league_not_found"},
		{"leave an unknown league", league.LeaveLeagueFunction(), "/app/leagues/" + nowhere + "/members/ann", "ann", "", 404, "league_not_found"},
		{"leave a league of others", league.LeaveLeagueFunction(), "/app/leagues/" + l.LeagueID + "/members/cat",
			"cat", "", 404, "league_not_found"},
		{"remove a member as a member", league.LeaveLeagueFunction(), "/app/leagues/" + l.LeagueID + "/members/ann",
			"bob", "", 403, "not_the_owner"},
		{"remove a member of a league of others", league.LeaveLeagueFunction(), "/app/leagues/" + l.LeagueID + "/members/bob",
			"cat", "", 404, "league_not_found"},
		{"remove a user who is not in the league", league.LeaveLeagueFunction(), "/app/leagues/" + l.LeagueID + "/members/cat",
			"ann", "", 404, "member_not_found"},
		{"remove a member of an unknown league", league.LeaveLeagueFunction(), "/app/leagues/" + nowhere + "/members/cat",
			"ann", "", 404, "league_not_found"},
		{"renew the code of an unknown league", league.RenewCodeFunction(), "/app/leagues/" + nowhere + "/code",
			"ann", "", 404, "league_not_found"},
		{"renew the code as a member", league.RenewCodeFunction(), "/app/leagues/" + l.LeagueID + "/code", "bob", "", 403, "not_the_owner"},
		{"renew the code of a league of others", league.RenewCodeFunction(), "/app/leagues/" + l.LeagueID + "/code",
			"cat", "", 404, "league_not_found"},
		{"delete an unknown league", league.DeleteLeagueFunction(), "/app/leagues/" + nowhere, "ann", "", 404, "league_not_found"},
		{"delete a league as a member", league.DeleteLeagueFunction(), "/app/leagues/" + l.LeagueID, "bob", "", 403, "not_the_owner"},
		{"delete a league of others", league.DeleteLeagueFunction(), "/app/leagues/" + l.LeagueID, "cat", "", 404, "league_not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := testkit.CheckProblemCode(w.Ask(c.fn, c.target, c.user, c.body), c.status, c.code); err != nil {
				t.Error(err)
			}
		})
	}

	if out := w.RequestJoin("bob", crowd.Code); out.StatusCode != http.StatusOK {
		t.Errorf("a member of a full league joins it again: %d %s, want 200", out.StatusCode, out.Body)
	}
}

// TestInvalidLeagueRequestsNameTheField: the problem has the invalid field.
func TestInvalidLeagueRequestsNameTheField(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")

	for _, c := range []struct {
		name   string
		fn     app.Function
		target string
		body   string
		field  string
	}{
		{"blank name", league.CreateLeagueFunction(), "/app/leagues", `{"name":" "}`, "body.name"},
		{"long name", league.CreateLeagueFunction(), "/app/leagues", `{"name":"` + strings.Repeat("x", 41) + `"}`, "body.name"},
		{"empty code", league.JoinLeagueFunction(), "/app/leagues/join", `{"code":""}`, "body.code"},
		{"long code", league.JoinLeagueFunction(), "/app/leagues/join", `{"code":"` + strings.Repeat("2", 33) + `"}`, "body.code"},
		{"invalid year", league.GetLeagueStandingsFunction(), "/app/leagues/x/standings/last", "", "path.year"},
		{"long id", league.GetLeagueFunction(), "/app/leagues/" + strings.Repeat("x", 37), "", "path.leagueId"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := testkit.CheckProblemField(w.Ask(c.fn, c.target, "ann", c.body), 422, c.field); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRenewedCodeInvalidatesTheOld: also for a request that has already read the old code.
func TestRenewedCodeInvalidatesTheOld(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	l := w.CreateLeague("ann", "Office")

	renewed := testkit.Decode[league.League](w.World, w.Ask(league.RenewCodeFunction(), "/app/leagues/"+l.LeagueID+"/code", "ann", ""))
	if renewed.Code == l.Code || renewed.Code == "" {
		t.Fatalf("the code is %q after %q, want a new one", renewed.Code, l.Code)
	}

	if err := testkit.CheckProblemCode(w.RequestJoin("bob", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("joining by the old code: %v", err)
	}

	w.JoinLeague(renewed, "bob")

	// The code is renewed between the read and the write of join-league.
	env := pickemtest.InterruptBefore(w.Env(league.JoinLeagueFunction()), "TransactWriteItems", 1, func() {
		w.Ask(league.RenewCodeFunction(), "/app/leagues/"+l.LeagueID+"/code", "ann", "")
	})
	in := &league.JoinLeague{User: auth.User{UserID: "cat"}}

	in.Body.Code = renewed.Code
	if _, err := testkit.OpenWith(w.World, env, league.OpenLeagues).JoinLeague(w.NewContext(), in); !errors.Is(err, league.ErrNoCode) {
		t.Errorf("joining by a code that is renewed during the request: %v, want %v", err, league.ErrNoCode)
	}

	if got, want := pickemtest.LinesWith(w.Dump(), "cat"), []string{"USER#cat CODES",
		"USER#cat USER USER USER#cat"}; !slices.Equal(got, want) {
		t.Errorf("rows of cat (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestLeavingPassesOwnership: to the member who joined first. The last member deletes the
// league by leaving.
func TestLeavingPassesOwnership(t *testing.T) {
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
			t.Fatalf("%s removes %s: %d %s, want 204", by, user, out.StatusCode, out.Body)
		}

		if got := w.LeagueLine("Office"); got != want {
			t.Errorf("the league without %s is %q, want %q", user, got, want)
		}

		if got := pickemtest.LinesWith(pickemtest.LinesWith(w.Dump(), "Office"), user); len(got) != 0 {
			t.Errorf("rows of %s in the league: %q, want none", user, got)
		}
	}
	leave("dan", "ann", "LEAGUE#Office LEAGUE ann 3")
	leave("ann", "ann", "LEAGUE#Office LEAGUE cat 2") // cat joined before bob

	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 cat 60", "2 bob 30"}; !slices.Equal(got, want) {
		t.Errorf("standings (-want +got):\n%s", cmp.Diff(want, got))
	}

	leave("bob", "bob", "LEAGUE#Office LEAGUE cat 1")
	leave("cat", "cat", "")

	if got := append(pickemtest.LinesWith(w.Dump(), l.LeagueID), pickemtest.LinesWith(w.Dump(), "CODE#")...); len(got) != 0 {
		t.Errorf("rows of the league: %q, want none", got)
	}

	if err := testkit.CheckProblemCode(w.LeaveLeague(l, "cat", "cat"), 404, "league_not_found"); err != nil {
		t.Errorf("leaving twice: %v", err)
	}
}

// TestLeagueStandingsFollowMembership: the table shows the present members with their present
// names, and their movement among each other.
func TestLeagueStandingsFollowMembership(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")

	p := item.NewMember("ann", "ann")
	old := item.Standing{
		Row: item.Row{
			PK:    p.PK,
			SK:    item.StandingsRef("2025"),
			GSIPK: item.StandingsRef("2025"),
			GSISK: "SCORE#00007#ann",
			Type:  item.StandingType,
		},
		BelongsTo: p.BelongsTo,
		Tally:     item.Tally{Points: 7, Played: 1, LastEvent: "2025-01-01-x", LastPoints: 7},
	}
	testkit.PutRows(w.World, tables.Pickem, old)
	w.PlayEvent(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2})
	l := w.CreateLeague("bob", "Office")
	w.JoinLeague(l, "ann")

	for year, want := range map[string][]string{"2025": {"1 ann 7"}, "2026": {"1 bob 60", "2 ann 10"}, "2024": nil} {
		if got := leagueTable(w, l, year, "ann"); !slices.Equal(got, want) {
			t.Errorf("standings of %s (-want +got):\n%s", year, cmp.Diff(want, got))
		}
	}
	// Cat is not in the league and does not count for the movement of its members.
	w.PlayEvent(2, "summer", map[string]int{"ann": 3, "cat": 3})

	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 ann 70 +1", "2 bob 60 -1"}; !slices.Equal(got, want) {
		t.Errorf("standings (-want +got):\n%s", cmp.Diff(want, got))
	}

	w.JoinLeague(l, "cat")

	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 cat 90 +1", "2 ann 70 +1", "3 bob 60 -2"}; !slices.Equal(got, want) {
		t.Errorf("standings with cat (-want +got):\n%s", cmp.Diff(want, got))
	}

	w.Ask(member.UpdateMeFunction(), "/app/me", "ann", `{"name":"Anna"}`)

	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 cat 90 +1", "2 Anna 70 +1", "3 bob 60 -2"}; !slices.Equal(got, want) {
		t.Errorf("standings after the new name (-want +got):\n%s", cmp.Diff(want, got))
	}

	w.LeaveLeague(l, "ann", "ann")

	if got, want := leagueTable(w, l, "2026", "bob"), []string{"1 cat 90 +1", "2 bob 60 -1"}; !slices.Equal(got, want) {
		t.Errorf("standings without Anna (-want +got):\n%s", cmp.Diff(want, got))
	}

	if got := pickemtest.LinesWith(pickemtest.LinesWith(w.Dump(), "USER#ann"), "STANDINGS#20"); len(got) != 2 {
		t.Errorf("standings of ann after leaving: %q, want two years", got)
	}
}

// TestConcurrentLeagueChanges: each case runs a second request between the reads and the write
// of the first.
func TestConcurrentLeagueChanges(t *testing.T) {
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
		fn    app.Function
		first func(*pickemtest.Room, league.League) func(app.Env) error
		then  func(*pickemtest.Room, league.League)
		err   error
		want  string // of the league
	}{
		{"join, concurrent join of the last place", league.JoinLeagueFunction(),
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				full := testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(l.LeagueID), league.LeagueSK)
				full.Members = league.MaxMembers - 1
				testkit.PutRows(w.World, tables.Pickem, full)

				return joining(w, "dan", l.Code)
			},
			func(w *pickemtest.Room, l league.League) { w.JoinLeague(l, "cat") },
			league.ErrLeagueFull, "LEAGUE#Office LEAGUE LEAGUES LEAGUE#Office ann 1000"},
		{"join, concurrent creation of the twentieth league", league.JoinLeagueFunction(),
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				for i := range league.MaxLeagues - 1 {
					w.CreateLeague("dan", fmt.Sprint(i))
				}

				return joining(w, "dan", l.Code)
			},
			func(w *pickemtest.Room, _ league.League) { w.CreateLeague("dan", "another") },
			league.ErrTooManyLeagues, "LEAGUE#Office LEAGUE ann 2"},
		{"owner leaves, concurrent leave of the next owner", league.LeaveLeagueFunction(),
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				w.JoinLeague(l, "cat")
				return leaving(w, l, "ann", "ann")
			},
			func(w *pickemtest.Room, l league.League) { w.LeaveLeague(l, "bob", "bob") },
			nil, "LEAGUE#Office LEAGUE cat 1"},
		{"last member leaves, concurrent join", league.LeaveLeagueFunction(),
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				w.LeaveLeague(l, "bob", "bob")
				return leaving(w, l, "ann", "ann")
			},
			func(w *pickemtest.Room, l league.League) { w.JoinLeague(l, "cat") },
			nil, "LEAGUE#Office LEAGUE cat 1"},
		{"member leaves, concurrent leave of the owner", league.LeaveLeagueFunction(),
			func(w *pickemtest.Room, l league.League) func(app.Env) error { return leaving(w, l, "bob", "bob") },
			func(w *pickemtest.Room, l league.League) { w.LeaveLeague(l, "ann", "ann") },
			nil, ""},
		{"owner removes a member, concurrent leave of the owner", league.LeaveLeagueFunction(),
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				w.JoinLeague(l, "cat")
				return leaving(w, l, "cat", "ann")
			},
			func(w *pickemtest.Room, l league.League) { w.LeaveLeague(l, "ann", "ann") },
			league.ErrNotOwner, "LEAGUE#Office LEAGUE bob 2"},
		{"owner removes a member, concurrent leave of the member", league.LeaveLeagueFunction(),
			func(w *pickemtest.Room, l league.League) func(app.Env) error { return leaving(w, l, "bob", "ann") },
			func(w *pickemtest.Room, l league.League) { w.LeaveLeague(l, "bob", "bob") },
			league.ErrNotIn, "LEAGUE#Office LEAGUE ann 1"},
		{"delete, concurrent new code", league.DeleteLeagueFunction(),
			func(w *pickemtest.Room, l league.League) func(app.Env) error {
				return func(env app.Env) error {
					_, err := testkit.OpenWith(w.World, env, league.OpenLeagues).DeleteLeague(w.NewContext(),
						&league.DeleteLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID})
					return err
				}
			},
			func(w *pickemtest.Room, l league.League) {
				w.Ask(league.RenewCodeFunction(), "/app/leagues/"+l.LeagueID+"/code", "ann", "")
			},
			item.ErrChanged, "LEAGUE#Office LEAGUE ann 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			w.AddMembers("ann", "bob", "cat", "dan")
			l := w.CreateLeague("ann", "Office")
			w.JoinLeague(l, "bob")

			do := c.first(w, l)
			if err := do(pickemtest.InterruptBefore(w.Env(c.fn), "TransactWriteItems", 1, func() { c.then(w, l) })); !errors.Is(err, c.err) {
				t.Errorf("the first request returned %v, want %v", err, c.err)
			}

			if got := w.LeagueLine("Office"); got != c.want {
				t.Errorf("the league is %q, want %q", got, c.want)
			}
		})
	}
}

// TestRemovalRenewsTheCode: a member who is removed sees no code that is still valid, neither
// before the removal nor after it.
func TestRemovalRenewsTheCode(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob", "cat")

	seen := map[string]bool{}
	env := pickemtest.InterruptBefore(w.Env(league.LeaveLeagueFunction()), "TransactWriteItems", 2, func() {
		if out := w.Ask(league.GetLeagueFunction(), "/app/leagues/"+l.LeagueID, "bob", ""); out.StatusCode == http.StatusOK {
			seen[testkit.Decode[league.League](w.World, out).Code] = true
		}
	})
	in := &league.LeaveLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID, MemberID: "bob"}
	_, err := testkit.OpenWith(w.World, env, league.OpenLeagues).LeaveLeague(w.NewContext(), in)
	testkit.Must(t, err)

	if !seen[l.Code] {
		t.Errorf("the member saw the codes %v before the removal, want %s", seen, l.Code)
	}

	for code := range seen {
		if err := testkit.CheckProblemCode(w.RequestJoin("bob", code), 404, "code_not_found"); err != nil {
			t.Errorf("joining by the code %s: %v", code, err)
		}
	}

	if got, want := w.LeagueLine("Office"), "LEAGUE#Office LEAGUE ann 2"; got != want {
		t.Errorf("the league is %q, want %q", got, want)
	}

	renewed := testkit.Decode[league.League](w.World, w.Ask(league.GetLeagueFunction(), "/app/leagues/"+l.LeagueID, "cat", ""))
	w.JoinLeague(renewed, "bob") // whom the owner has given the new code
}

// TestLeagueRequestsGiveUpAfterMaxTries: a change before every write makes a request fail with
// ErrChanged and without effect.
func TestLeagueRequestsGiveUpAfterMaxTries(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob")
	again := w.CreateLeague("bob", "Family")
	conflicting := func(fn app.Function, user string) *league.Leagues {
		return testkit.OpenWith(w.World, pickemtest.InterruptBefore(w.Env(fn), "TransactWriteItems", int64(item.Attempts.Max), func() {
			p := testkit.Row[item.Member](w.World, tables.Pickem, item.UserRef(user), item.UserTag)
			p.Rev++
			testkit.PutRows(w.World, tables.Pickem, p)
		}), league.OpenLeagues)
	}
	was := w.Dump()

	for fn, do := range map[string]func() error{
		league.CreateLeagueFunction().Name: func() error {
			_, err := conflicting(league.CreateLeagueFunction(), "bob").CreateLeague(w.NewContext(),
				&league.CreateLeague{User: auth.User{UserID: "bob"}})
			return err
		},
		league.JoinLeagueFunction().Name: func() error {
			in := &league.JoinLeague{User: auth.User{UserID: "ann"}}
			in.Body.Code = again.Code
			_, err := conflicting(league.JoinLeagueFunction(), "ann").JoinLeague(w.NewContext(), in)

			return err
		},
	} {
		if err := do(); !errors.Is(err, item.ErrChanged) {
			t.Errorf("%s returned %v, want %v", fn, err, item.ErrChanged)
		}
	}

	renewing := testkit.OpenWith(w.World, pickemtest.InterruptBefore(w.Env(league.RenewCodeFunction()), "TransactWriteItems",
		int64(item.Attempts.Max), func() {
			w.Ask(league.RenewCodeFunction(), "/app/leagues/"+l.LeagueID+"/code", "ann", "")
		}), league.OpenLeagues)
	if _, err := renewing.RenewCode(w.NewContext(),
		&league.RenewCode{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID}); !errors.Is(err, item.ErrChanged) {
		t.Errorf("%s returned %v, want %v", league.RenewCodeFunction().Name, err, item.ErrChanged)
	}

	if got := w.Dump(); !slices.Equal(got, was) {
		t.Errorf("rows (-was +is):\n%s", cmp.Diff(was, got))
	}
}

// TestDeleteLeagueChangesNothingElse: other leagues keep their members and standings.
func TestDeleteLeagueChangesNothingElse(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	other := w.CreateLeague("bob", "Family")
	w.JoinLeague(other, "ann")
	w.PlayEvent(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2})
	was := w.Dump()
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob", "cat")

	if out := w.Ask(league.DeleteLeagueFunction(), "/app/leagues/"+l.LeagueID, "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("deleting the league: %d %s, want 204", out.StatusCode, out.Body)
	}

	if got := w.Dump(); !slices.Equal(got, was) {
		t.Errorf("rows (-want +got):\n%s", cmp.Diff(was, got))
	}

	w.PlayEvent(2, "summer", map[string]int{"ann": 3, "bob": 1})

	if got, want := leagueTable(w, other, "2026", "ann"), []string{"1 ann 70 +1", "1 bob 70 +0"}; !slices.Equal(got, want) {
		t.Errorf("standings of the other league (-want +got):\n%s", cmp.Diff(want, got))
	}

	if err := testkit.CheckProblemCode(w.RequestJoin("cat", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("joining the deleted league: %v", err)
	}

	if err := testkit.CheckProblemCode(w.Ask(league.DeleteLeagueFunction(), "/app/leagues/"+l.LeagueID, "ann", ""), 404,
		"league_not_found"); err != nil {
		t.Errorf("deleting the league twice: %v", err)
	}
}

// TestInterruptedDeletionHidesTheLeague: nobody can join or read it, and a member completes the
// deletion by leaving.
func TestInterruptedDeletionHidesTheLeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat", "dan")
	was := w.Dump()
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob", "cat")
	w.EndLeagueHalfway(l, "ann")

	if got := pickemtest.LinesWith(w.Dump(), "Office MEMBER#"); len(got) != 3 {
		t.Fatalf("the members are %q, want three", got)
	}

	for _, c := range []struct {
		name string
		out  events.APIGatewayV2HTTPResponse
		code string
	}{
		{"join-league", w.RequestJoin("dan", l.Code), "code_not_found"},
		{"get-league", w.Ask(league.GetLeagueFunction(), "/app/leagues/"+l.LeagueID, "bob", ""), "league_not_found"},
		{"renew-code", w.Ask(league.RenewCodeFunction(), "/app/leagues/"+l.LeagueID+"/code", "ann", ""), "league_not_found"},
	} {
		if err := testkit.CheckProblemCode(c.out, 404, c.code); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}

	if out := w.LeaveLeague(l, "bob", "bob"); out.StatusCode != http.StatusNoContent {
		t.Errorf("bob leaves, which completes the deletion: %d %s, want 204", out.StatusCode, out.Body)
	}

	tried := func(line string) bool { return line == "USER#dan CODES" }
	if got := slices.DeleteFunc(w.Dump(), tried); !slices.Equal(got, was) {
		t.Errorf("rows (-want +got):\n%s", cmp.Diff(was, got))
	}
}

// TestSixtyConcurrentJoinsSucceed: the league with all of them is deleted afterwards.
func TestSixtyConcurrentJoinsSucceed(t *testing.T) {
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
				t.Errorf("%s joins: %d %s, want 200", u, out.StatusCode, out.Body)
			}
		})
	}

	all.Wait()

	if got, want := w.LeagueLine("Crowd"), "LEAGUE#Crowd LEAGUE LEAGUES LEAGUE#Crowd ann 61"; got != want {
		t.Errorf("the league is %q, want %q", got, want)
	}

	if out := w.Ask(league.DeleteLeagueFunction(), "/app/leagues/"+l.LeagueID, "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("deleting the league: %d %s, want 204", out.StatusCode, out.Body)
	}

	if got := w.Dump(); !slices.Equal(got, was) {
		t.Errorf("rows (-want +got):\n%s", cmp.Diff(was, got))
	}
}

func TestLeagueCrashes(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name string
		fn   app.Function
		do   func(*pickemtest.Room, *league.Leagues, league.League) error
	}{
		{"join", league.JoinLeagueFunction(), func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			in := &league.JoinLeague{User: auth.User{UserID: "dan"}}
			in.Body.Code = l.Code
			_, err := s.JoinLeague(w.NewContext(), in)

			return err
		}},
		{"leave", league.LeaveLeagueFunction(), func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			return s.Leave(w.NewContext(), l.LeagueID, "bob", "bob")
		}},
		{"remove", league.LeaveLeagueFunction(), func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			_, err := s.LeaveLeague(w.NewContext(), &league.LeaveLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID, MemberID: "bob"})
			return err
		}},
		{"hand over", league.LeaveLeagueFunction(), func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
			return s.Leave(w.NewContext(), l.LeagueID, "ann", "ann")
		}},
		{"delete", league.DeleteLeagueFunction(), func(w *pickemtest.Room, s *league.Leagues, l league.League) error {
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
				p.Ended(c.do(w, testkit.OpenWith(w.World, w.CrashingEnv(c.fn, p), league.OpenLeagues), l))

				err := c.do(w, testkit.Open(w.World, c.fn, league.OpenLeagues), l)
				if err != nil && !errors.Is(err, item.ErrNoLeague) && !errors.Is(err, league.ErrNotIn) {
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
			p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(league.LeaveLeagueFunction(), p), league.OpenLeagues).Leave(w.NewContext(),
				l.LeagueID, "ann", "ann"))

			if out := w.LeaveLeague(l, "ann", "ann"); out.StatusCode != 204 && out.StatusCode != 404 {
				t.Errorf("leaving: %d %s, want 204 or 404", out.StatusCode, out.Body)
			}

			return w.Dump()
		})
	})
}

// TestLeagueResultsRankItsMembers: among each other, in one batch of reads.
func TestLeagueResultsRankItsMembers(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat", "dan")
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob", "dan")
	id := w.PlayEvent(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2})
	path := "/app/leagues/" + l.LeagueID + "/events/"
	page := func(query, user string) (lines []string, body league.LeagueResults) {
		calls := w.CountCalls(func() { w.Read(league.GetLeagueResultsFunction(), path+id+query, user, &body.Body) })
		if diff := cmp.Diff(map[string]int{"Query": 2, "GetItem": 1, "BatchGetItem": 1}, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}

		for _, e := range body.Body.Entries {
			lines = append(lines, fmt.Sprint(e.Rank, " ", e.Name, " ", e.Points, " ", len(e.Picks)))
		}

		return lines, body
	}

	all, body := page("", "ann")
	if want := []string{"1 bob 60 3", "2 ann 10 3"}; !slices.Equal(all, want) {
		t.Errorf("entries (-want +got):\n%s", cmp.Diff(want, all))
	}

	if b := body.Body; b.Count != 2 || b.Next != "" || b.Mine == nil || b.Mine.UserID != "ann" || b.Mine.Rank != 2 {
		t.Errorf("the page is %+v, want both entries, and that of ann with rank 2", b)
	}

	first, body := page("?limit=1", "dan")

	second, rest := page("?limit=1&cursor="+body.Body.Next, "dan")
	if got := append(first, second...); !slices.Equal(got, all) || rest.Body.Next != "" || rest.Body.Mine != nil {
		t.Errorf("two pages (-want +got):\n%s", cmp.Diff(all, got))
	}

	w.CreateShow(1)
	w.Pick("ann", pickemtest.Show, 0)

	for _, c := range []struct {
		target, user string
		want         pickemtest.Refusal
	}{
		{path + id, "cat", pickemtest.Refusal{Status: 404, Code: "league_not_found"}},
		{path + "2026-03-08-none", "ann", pickemtest.Refusal{Status: 404, Code: "event_not_found"}},
		{path + pickemtest.Show, "ann", pickemtest.Refusal{Status: 409, Code: "event_not_scored"}},
		{path + id + "?cursor=cat", "ann", pickemtest.Refusal{Status: 400, Code: "bad_cursor", Field: "query.cursor"}},
	} {
		if got := pickemtest.RefusalOf(w.Ask(league.GetLeagueResultsFunction(), c.target, c.user, "")); got != c.want {
			t.Errorf("%s as %s: %v, want %v", c.target, c.user, got, c.want)
		}
	}

	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"revealAtLock":true}`)
	w.LockEvent(pickemtest.Show)
	id = pickemtest.Show

	if got, _ := page("", "bob"); !slices.Equal(got, []string{"0 ann 0 1"}) {
		t.Errorf("entries of a locked event that reveals picks: %q", got)
	}
}
