package pickem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// founded has a member make a league.
func (w *world) founded(owner, name string) League {
	w.T.Helper()
	return testkit.Decode[League](w.World, w.ask(CreateLeagueFunction, "/app/leagues", owner, map[string]any{"name": name}))
}

// enters asks for a place in a league.
func (w *world) enters(user, code string) events.APIGatewayV2HTTPResponse {
	return w.ask(JoinLeagueFunction, "/app/leagues/join", user, map[string]any{"code": code})
}

// entered has members join a league.
func (w *world) entered(l League, users ...string) {
	w.T.Helper()
	for _, u := range users {
		testkit.Decode[League](w.World, w.enters(u, l.Code))
	}
}

// leaves takes a member out of a league by somebody's will.
func (w *world) leaves(l League, user, by string) events.APIGatewayV2HTTPResponse {
	return w.ask(LeaveLeagueFunction, "/app/leagues/"+l.LeagueID+"/members/"+user, by, "")
}

// ranked is the table of a league as a member of it sees it: "1 ann 30 +1".
func (w *world) ranked(l League, year, user string) (all []string) {
	w.T.Helper()
	out := w.ask(GetLeagueStandingsFunction, "/app/leagues/"+l.LeagueID+"/standings/"+year, user, "")
	for _, s := range testkit.Decode[struct{ Standings []Standing }](w.World, out).Standings {
		text := fmt.Sprint(s.Rank, " ", s.Name, " ", s.Points)
		if s.Movement != nil {
			text += fmt.Sprintf(" %+d", *s.Movement)
		}
		all = append(all, text)
	}
	return all
}

// played plays an event some days after noon: who picks the first n of its three
// matches right gets 0, 10, 30 or 60 points.
func (w *world) played(days int, slug string, right map[string]int) (eventID string) {
	w.T.Helper()
	id := w.announce(noon.AddDate(0, 0, days), slug, 3)
	for user, n := range right {
		teams := []int{1, 1, 1}
		for i := range n {
			teams[i] = 0
		}
		w.pick(user, id, teams...)
	}
	w.lock(id)
	w.results(id, 0, 0, 0)
	w.score(id)
	return id
}

// kept is what the table holds: each item's keys, and what a league's item says.
// Leagues are called by their names.
func (w *world) kept() (all []string) {
	w.T.Helper()
	rows := testkit.Rows[map[string]any](w.World, table)
	names := []string{}
	for _, r := range rows {
		if r["type"] == leagueType {
			names = append(names, r["id"].(string), r["name"].(string), r["code"].(string), r["name"].(string))
		}
	}
	for _, r := range rows {
		text := fmt.Sprint(r["PK"], " ", r["SK"])
		for _, attribute := range []string{"GSI_PK", "GSI_SK", "ownerId", "members", "points"} {
			if v, ok := r[attribute]; ok {
				text += fmt.Sprint(" ", v)
			}
		}
		all = append(all, strings.NewReplacer(names...).Replace(text))
	}
	slices.Sort(all)
	return all
}

// about are the lines that speak of something.
func about(lines []string, what string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.Contains(l, what) })
}

// says is the item of a league, "" if there is none.
func (w *world) says(name string) string {
	w.T.Helper()
	for _, line := range w.kept() {
		if strings.HasPrefix(line, "LEAGUE#"+name+" LEAGUE") {
			return line
		}
	}
	return ""
}

// before has do called before each of the first n calls of an operation that env
// makes.
func before(env app.Env, operation string, n int64, do func()) app.Env {
	next := env.AWS.HTTPClient
	var calls atomic.Int64
	env.AWS.HTTPClient = client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) && calls.Add(1) <= n {
			do()
		}
		return next.Do(r)
	})
	return env
}

type client func(*http.Request) (*http.Response, error)

func (f client) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestLeague(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat", "dan")
	l := w.founded("ann", "Office")
	if want := (League{l.LeagueID, "Office", "ann", l.Code, 1}); l != want || len(l.Code) != codeLength {
		t.Errorf("the league is %+v, want %+v", l, want)
	}
	if got, want := testkit.Decode[League](w.World, w.enters("bob", l.Code)), (League{l.LeagueID, "Office", "ann", l.Code, 2}); got != want {
		t.Errorf("bob joined %+v, want %+v", got, want)
	}
	w.entered(l, "cat")
	w.founded("bob", "Family")

	out := w.ask(ListLeaguesFunction, "/app/leagues", "bob", "")
	var names []string
	for _, m := range testkit.Decode[struct{ Leagues []Membership }](w.World, out).Leagues {
		names = append(names, m.Name)
		if !m.JoinedAt.Equal(noon) {
			t.Errorf("bob joined at %v, want %v", m.JoinedAt, noon)
		}
	}
	if want := []string{"Family", "Office"}; !slices.Equal(names, want) || testkit.Header(out).Get("Cache-Control") != "no-store" {
		t.Errorf("bob is in %q, want %q", names, want)
	}
	me := testkit.Decode[struct{ Leagues []Membership }](w.World, w.ask(GetMeFunction, "/app/me", "bob", ""))
	if len(me.Leagues) != 2 || me.Leagues[1].LeagueID != l.LeagueID {
		t.Errorf("bob's own page names the leagues %+v", me.Leagues)
	}
	other := w.ask(GetUserFunction, "/app/users/bob", "dan", "")
	if other.StatusCode != http.StatusOK || strings.Contains(other.Body, "leagues") {
		t.Errorf("dan sees of bob: %d %s", other.StatusCode, other.Body)
	}

	type page struct {
		League
		Members []LeagueMember
		Next    string
	}
	screen := "/app/leagues/" + l.LeagueID
	calls := w.Count(func() {
		got := testkit.Decode[page](w.World, w.ask(GetLeagueFunction, screen+"?limit=2", "cat", ""))
		if got.Name != "Office" || got.Count != 3 || len(got.Members) != 2 || got.Members[0].Name != "ann" || got.Next != "bob" {
			t.Errorf("cat sees %+v", got)
		}
	})
	if len(calls) != 2 || calls["Query"] != 1 || calls["GetItem"] != 1 {
		t.Errorf("the screen of a league took %v, want one Query, and at the same time one GetItem", calls)
	}
	got := testkit.Decode[page](w.World, w.ask(GetLeagueFunction, screen+"?limit=2&cursor=bob", "cat", ""))
	if len(got.Members) != 1 || got.Members[0].UserID != "cat" || got.Next != "" {
		t.Errorf("the second page is %+v", got)
	}

	calls = w.Count(func() { w.ranked(l, "2026", "bob") })
	if len(calls) != 2 || calls["Query"] != 1 || calls["GetItem"] != 1 {
		t.Errorf("the table of a league took %v, want a Query and a GetItem", calls)
	}
}

func TestLeagueProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat", "busy")
	l := w.founded("ann", "Office")
	w.entered(l, "bob")
	crowd := w.founded("ann", "Crowd")
	full := testkit.Row[league](w.World, table, ofLeague(crowd.LeagueID), leagueSK)
	w.entered(crowd, "bob")
	full.Members = maxMembers
	testkit.Put(w.World, table, full)
	for i := range maxLeagues {
		w.founded("busy", fmt.Sprint("League ", i))
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
		{"who has said no name makes none", CreateLeagueFunction, "/app/leagues", "nobody", map[string]any{"name": "Mine"}, 403, "not_a_member"},
		{"20 leagues are enough to make", CreateLeagueFunction, "/app/leagues", "busy", map[string]any{"name": "One more"}, 422, "too_many_leagues"},
		{"20 leagues are enough to join", JoinLeagueFunction, "/app/leagues/join", "busy", code(l.Code), 422, "too_many_leagues"},
		{"who has said no name joins none", JoinLeagueFunction, "/app/leagues/join", "nobody", code(l.Code), 403, "not_a_member"},
		{"a code that never was", JoinLeagueFunction, "/app/leagues/join", "cat", code("22222222"), 404, "code_not_found"},
		{"a code that is none", JoinLeagueFunction, "/app/leagues/join", "cat", code("----"), 404, "code_not_found"},
		{"a full league", JoinLeagueFunction, "/app/leagues/join", "cat", code(crowd.Code), 422, "league_full"},
		{"no such league", GetLeagueFunction, "/app/leagues/" + nowhere, "ann", "", 404, "league_not_found"},
		{"a league of others", GetLeagueFunction, "/app/leagues/" + l.LeagueID, "cat", "", 404, "league_not_found"},
		{"a cursor of no member", GetLeagueFunction, "/app/leagues/" + l.LeagueID + "?cursor=cat", "ann", "", 400, "bad_cursor"},
		{"the table of no league", GetLeagueStandingsFunction, "/app/leagues/" + nowhere + "/standings/2026", "ann", "", 404, "league_not_found"},
		{"the table of others", GetLeagueStandingsFunction, "/app/leagues/" + l.LeagueID + "/standings/2026", "cat", "", 404, "league_not_found"},
		{"a cursor of no standing", GetLeagueStandingsFunction, "/app/leagues/" + l.LeagueID + "/standings/2026?cursor=cat", "ann", "", 400, "bad_cursor"},
		{"leaving no league", LeaveLeagueFunction, "/app/leagues/" + nowhere + "/members/ann", "ann", "", 404, "league_not_found"},
		{"leaving a league of others", LeaveLeagueFunction, "/app/leagues/" + l.LeagueID + "/members/cat", "cat", "", 404, "league_not_found"},
		{"removing another", LeaveLeagueFunction, "/app/leagues/" + l.LeagueID + "/members/ann", "bob", "", 403, "not_the_owner"},
		{"removing somebody from a league of others", LeaveLeagueFunction, "/app/leagues/" + l.LeagueID + "/members/bob", "cat", "", 404, "league_not_found"},
		{"removing who is not in it", LeaveLeagueFunction, "/app/leagues/" + l.LeagueID + "/members/cat", "ann", "", 404, "member_not_found"},
		{"removing somebody from no league", LeaveLeagueFunction, "/app/leagues/" + nowhere + "/members/cat", "ann", "", 404, "league_not_found"},
		{"a new code for no league", RenewCodeFunction, "/app/leagues/" + nowhere + "/code", "ann", "", 404, "league_not_found"},
		{"a new code for another's league", RenewCodeFunction, "/app/leagues/" + l.LeagueID + "/code", "bob", "", 403, "not_the_owner"},
		{"a new code for a league of others", RenewCodeFunction, "/app/leagues/" + l.LeagueID + "/code", "cat", "", 404, "league_not_found"},
		{"ending no league", DeleteLeagueFunction, "/app/leagues/" + nowhere, "ann", "", 404, "league_not_found"},
		{"ending another's league", DeleteLeagueFunction, "/app/leagues/" + l.LeagueID, "bob", "", 403, "not_the_owner"},
		{"ending a league of others", DeleteLeagueFunction, "/app/leagues/" + l.LeagueID, "cat", "", 404, "league_not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := testkit.Refuses(w.ask(c.fn, c.target, c.user, c.body), c.status, c.code); err != nil {
				t.Error(err)
			}
		})
	}
	if out := w.enters("bob", crowd.Code); out.StatusCode != http.StatusOK {
		t.Errorf("who is in a full league joins it again: %d %s", out.StatusCode, out.Body)
	}
}

// TestLeagueBlames has what cannot be read named.
func TestLeagueBlames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	for _, c := range []struct {
		name   string
		fn     spec.Function
		target string
		body   string
		field  string
	}{
		{"a league without a name", CreateLeagueFunction, "/app/leagues", `{"name":" "}`, "body.name"},
		{"a name that is too long", CreateLeagueFunction, "/app/leagues", `{"name":"` + strings.Repeat("x", 41) + `"}`, "body.name"},
		{"no code", JoinLeagueFunction, "/app/leagues/join", `{"code":""}`, "body.code"},
		{"a code that is too long", JoinLeagueFunction, "/app/leagues/join", `{"code":"` + strings.Repeat("2", 33) + `"}`, "body.code"},
		{"no year", GetLeagueStandingsFunction, "/app/leagues/x/standings/last", "", "path.year"},
		{"an id that is too long", GetLeagueFunction, "/app/leagues/" + strings.Repeat("x", 37), "", "path.leagueId"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := testkit.Blames(w.ask(c.fn, c.target, "ann", c.body), 422, c.field); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		code := newCode()
		if len(code) != codeLength || strings.Trim(code, codeLetters) != "" || readCode(code) != code || seen[code] {
			t.Errorf("the code is %q", code)
		}
		seen[code] = true
	}
	for typed, want := range map[string]string{"7q2m-z0kd": "7Q2MZ0KD", "7Q2M ZOKD": "7Q2MZ0KD", "iIlL1": "11111", "": ""} {
		if got := readCode(typed); got != want {
			t.Errorf("%q is read as %q, want %q", typed, got, want)
		}
	}
}

func TestRenewCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat")
	l := w.founded("ann", "Office")
	renewed := testkit.Decode[League](w.World, w.ask(RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", ""))
	if renewed.Code == l.Code || renewed.Code == "" {
		t.Fatalf("the code is %q after %q", renewed.Code, l.Code)
	}
	if err := testkit.Refuses(w.enters("bob", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("by the code before: %v", err)
	}
	w.entered(renewed, "bob")

	// A code that is renewed while somebody joins by it invites nobody any more.
	env := before(w.Env(JoinLeagueFunction), "TransactWriteItems", 1, func() {
		w.ask(RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", "")
	})
	in := &JoinLeague{User: auth.User{UserID: "cat"}}
	in.Body.Code = renewed.Code
	if _, err := testkit.OpenWith(w.World, env, OpenLeagues).JoinLeague(w.Ctx(), in); !errors.Is(err, errNoCode) {
		t.Errorf("joining by a code that is renewed meanwhile gave %v", err)
	}
	if got := about(w.kept(), "cat"); len(got) != 1 {
		t.Errorf("of cat is kept %q, want the member alone", got)
	}
}

func TestLeaveLeague(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat", "dan")
	l := w.founded("ann", "Office")
	for _, user := range []string{"cat", "bob", "dan"} {
		w.To(w.Clock.Now().Add(time.Second))
		w.entered(l, user)
	}
	w.played(1, "opening", map[string]int{"ann": 1, "bob": 2, "cat": 3, "dan": 0})
	leave := func(user, by, want string) {
		t.Helper()
		if out := w.leaves(l, user, by); out.StatusCode != http.StatusNoContent {
			t.Fatalf("%s takes %s out: %d %s", by, user, out.StatusCode, out.Body)
		}
		if got := w.says("Office"); got != want {
			t.Errorf("after %s the league is %q, want %q", user, got, want)
		}
		if got := about(about(w.kept(), "Office"), user); len(got) != 0 {
			t.Errorf("of %s is left: %q", user, got)
		}
	}
	leave("dan", "ann", "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 3")
	leave("ann", "ann", "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE cat 2") // who came before bob
	if got, want := w.ranked(l, "2026", "bob"), []string{"1 cat 60", "2 bob 30"}; !slices.Equal(got, want) {
		t.Errorf("the table is %q, want %q", got, want)
	}
	leave("bob", "bob", "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE cat 1")
	leave("cat", "cat", "")
	if got := append(about(w.kept(), l.LeagueID), about(w.kept(), "CODE#")...); len(got) != 0 {
		t.Errorf("of the league is left: %q", got)
	}
	if err := testkit.Refuses(w.leaves(l, "cat", "cat"), 404, "league_not_found"); err != nil {
		t.Errorf("leaving again: %v", err)
	}
}

// TestStandingsOfLeague brings a member's points into a league, and takes them out.
func TestStandingsOfLeague(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat")
	p := newPerson("ann", "ann")
	old := standing{row: row{PK: p.PK, SK: ofYear("2025"), GSIPK: ofYear("2025"), GSISK: "SCORE#00007#ann", Type: standingType}, BelongsTo: p.BelongsTo, Name: "formerly", tally: tally{Points: 7, Played: 1, LastEvent: "2025-01-01-x", LastPoints: 7}}
	testkit.Put(w.World, table, old)
	w.played(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2})
	l := w.founded("bob", "Office")
	w.entered(l, "ann")
	for year, want := range map[string][]string{"2025": {"1 ann 7"}, "2026": {"1 bob 60", "2 ann 10"}, "2024": nil} {
		if got := w.ranked(l, year, "ann"); !slices.Equal(got, want) {
			t.Errorf("the table of %s is %q, want %q", year, got, want)
		}
	}
	// Cat, who would be between them, is not in it; the next event goes round.
	w.played(2, "summer", map[string]int{"ann": 3, "cat": 3})
	if got, want := w.ranked(l, "2026", "bob"), []string{"1 ann 70 +1", "2 bob 60 -1"}; !slices.Equal(got, want) {
		t.Errorf("the table is %q, want %q", got, want)
	}
	w.entered(l, "cat")
	if got, want := w.ranked(l, "2026", "bob"), []string{"1 cat 90 +1", "2 ann 70 +1", "3 bob 60 -2"}; !slices.Equal(got, want) {
		t.Errorf("with cat, the table is %q, want %q", got, want)
	}
	w.ask(UpdateMeFunction, "/app/me", "ann", `{"name":"Anna"}`)
	if got, want := w.ranked(l, "2026", "bob"), []string{"1 cat 90 +1", "2 Anna 70 +1", "3 bob 60 -2"}; !slices.Equal(got, want) {
		t.Errorf("renamed, the table is %q, want %q", got, want)
	}
	w.leaves(l, "ann", "ann")
	if got := about(w.kept(), "STANDINGS#Office#"); len(got) != 2 {
		t.Errorf("without ann the league's tables are %q", got)
	}
	if got := about(about(w.kept(), "USER#ann"), "STANDINGS#20"); len(got) != 2 {
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
		{"join", JoinLeagueFunction, false, []string{scores}},
		{"leave", LeaveLeagueFunction, true, nil},
	} {
		change := func(w *world, l League, env app.Env) error {
			s := testkit.OpenWith(w.World, env, OpenLeagues)
			if c.first {
				return s.leave(w.Ctx(), l.LeagueID, "bob", "bob")
			}
			in := &JoinLeague{User: auth.User{UserID: "bob"}}
			in.Body.Code = l.Code
			_, err := s.JoinLeague(w.Ctx(), in)
			return err
		}
		score := func(w *world, env app.Env) error {
			return testkit.OpenWith(w.World, env, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{EventID: show})
		}
		for name, both := range map[string]func(*world, League) (first, then error){
			"the scoring comes between": func(w *world, l League) (first, then error) {
				first = change(w, l, before(w.Env(c.fn), "TransactWriteItems", 1, func() { then = score(w, w.Env(ScoreEventFunction)) }))
				return first, then
			},
			"it comes between the scoring": func(w *world, l League) (first, then error) {
				first = score(w, before(w.Env(ScoreEventFunction), "TransactWriteItems", 1, func() { then = change(w, l, w.Env(c.fn)) }))
				return first, then
			},
		} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.join("ann", "bob")
				l := w.founded("ann", "Office")
				if c.first {
					w.entered(l, "bob")
				}
				w.clash(3)
				w.pick("bob", show, 0)
				w.lock(show)
				w.results(show, 0, 1, 1)
				w.admin(RequestScoreFunction, "/admin/events/"+show+"/score", "")
				first, then := both(w, l)
				testkit.Must(t, errors.Join(first, then))
				if got := about(w.kept(), "STANDINGS#Office#2026"); !slices.Equal(got, c.want) {
					t.Errorf("the league's table is %q, want %q", got, c.want)
				}
				if got := w.standings("2026"); len(got) != 1 || got[0].Points != 10 {
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
	joining := func(w *world, user, code string) func(app.Env) error {
		return func(env app.Env) error {
			in := &JoinLeague{User: auth.User{UserID: user}}
			in.Body.Code = code
			_, err := testkit.OpenWith(w.World, env, OpenLeagues).JoinLeague(w.Ctx(), in)
			return err
		}
	}
	leaving := func(w *world, l League, user, by string) func(app.Env) error {
		return func(env app.Env) error {
			in := &LeaveLeague{User: auth.User{UserID: by}, LeagueID: l.LeagueID, MemberID: user}
			_, err := testkit.OpenWith(w.World, env, OpenLeagues).LeaveLeague(w.Ctx(), in)
			return err
		}
	}
	for _, c := range []struct {
		name  string
		fn    spec.Function
		first func(*world, League) func(app.Env) error
		then  func(*world, League)
		err   error
		want  string // of the league
	}{
		{"the last place goes to another", JoinLeagueFunction,
			func(w *world, l League) func(app.Env) error {
				full := testkit.Row[league](w.World, table, ofLeague(l.LeagueID), leagueSK)
				full.Members = maxMembers - 1
				testkit.Put(w.World, table, full)
				return joining(w, "dan", l.Code)
			},
			func(w *world, l League) { w.entered(l, "cat") },
			errLeagueFull, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 1000"},
		{"the twentieth league is another", JoinLeagueFunction,
			func(w *world, l League) func(app.Env) error {
				for i := range maxLeagues - 1 {
					w.founded("dan", fmt.Sprint(i))
				}
				return joining(w, "dan", l.Code)
			},
			func(w *world, _ League) { w.founded("dan", "another") },
			errTooManyLeagues, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 2"},
		{"the heir leaves too", LeaveLeagueFunction,
			func(w *world, l League) func(app.Env) error {
				w.entered(l, "cat")
				return leaving(w, l, "ann", "ann")
			},
			func(w *world, l League) { w.leaves(l, "bob", "bob") },
			nil, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE cat 1"},
		{"somebody joins when the last is about to end it", LeaveLeagueFunction,
			func(w *world, l League) func(app.Env) error {
				w.leaves(l, "bob", "bob")
				return leaving(w, l, "ann", "ann")
			},
			func(w *world, l League) { w.entered(l, "cat") },
			nil, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE cat 1"},
		{"who leaves becomes the owner", LeaveLeagueFunction,
			func(w *world, l League) func(app.Env) error { return leaving(w, l, "bob", "bob") },
			func(w *world, l League) { w.leaves(l, "ann", "ann") },
			nil, ""},
		{"the owner who removes another is none any more", LeaveLeagueFunction,
			func(w *world, l League) func(app.Env) error {
				w.entered(l, "cat")
				return leaving(w, l, "cat", "ann")
			},
			func(w *world, l League) { w.leaves(l, "ann", "ann") },
			errNoLeague, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE bob 2"},
		{"who is removed has left", LeaveLeagueFunction,
			func(w *world, l League) func(app.Env) error { return leaving(w, l, "bob", "ann") },
			func(w *world, l League) { w.leaves(l, "bob", "bob") },
			errNotIn, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 1"},
		{"the code is renewed before it ends", DeleteLeagueFunction,
			func(w *world, l League) func(app.Env) error {
				return func(env app.Env) error {
					_, err := testkit.OpenWith(w.World, env, OpenLeagues).DeleteLeague(w.Ctx(), &DeleteLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID})
					return err
				}
			},
			func(w *world, l League) { w.ask(RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", "") },
			errChanged, "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE ann 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.join("ann", "bob", "cat", "dan")
			l := w.founded("ann", "Office")
			w.entered(l, "bob")
			do := c.first(w, l)
			if err := do(before(w.Env(c.fn), "TransactWriteItems", 1, func() { c.then(w, l) })); !errors.Is(err, c.err) {
				t.Errorf("the first gave %v, want %v", err, c.err)
			}
			if got := w.says("Office"); got != c.want {
				t.Errorf("the league is %q, want %q", got, c.want)
			}
		})
	}
}

// TestLeaguesNeverStill has a member's standings change each time that something
// is about to be written.
func TestLeaguesNeverStill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob")
	l := w.founded("ann", "Office")
	w.entered(l, "bob")
	again := w.founded("bob", "Family")
	unquiet := func(fn spec.Function, user string) *Leagues {
		return testkit.OpenWith(w.World, before(w.Env(fn), "TransactWriteItems", tries, func() {
			p := testkit.Row[person](w.World, table, ofUser(user), userKey)
			p.Rev++
			testkit.Put(w.World, table, p)
		}), OpenLeagues)
	}
	was := w.kept()
	for fn, do := range map[string]func() error{
		CreateLeagueFunction.Name: func() error {
			_, err := unquiet(CreateLeagueFunction, "bob").CreateLeague(w.Ctx(), &CreateLeague{User: auth.User{UserID: "bob"}})
			return err
		},
		JoinLeagueFunction.Name: func() error {
			in := &JoinLeague{User: auth.User{UserID: "ann"}}
			in.Body.Code = again.Code
			_, err := unquiet(JoinLeagueFunction, "ann").JoinLeague(w.Ctx(), in)
			return err
		},
		LeaveLeagueFunction.Name: func() error {
			_, err := unquiet(LeaveLeagueFunction, "bob").LeaveLeague(w.Ctx(), &LeaveLeague{User: auth.User{UserID: "bob"}, LeagueID: l.LeagueID, MemberID: "bob"})
			return err
		},
	} {
		if err := do(); !errors.Is(err, errChanged) {
			t.Errorf("%s gave %v, want %v", fn, err, errChanged)
		}
	}
	renewing := testkit.OpenWith(w.World, before(w.Env(RenewCodeFunction), "TransactWriteItems", tries, func() {
		w.ask(RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", "")
	}), OpenLeagues)
	if _, err := renewing.RenewCode(w.Ctx(), &RenewCode{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID}); !errors.Is(err, errChanged) {
		t.Errorf("%s gave %v, want %v", RenewCodeFunction.Name, err, errChanged)
	}
	if got := w.kept(); !slices.Equal(got, was) {
		t.Errorf("there is now %q, and was %q", got, was)
	}
}

// TestDeleteLeague ends a league, and leaves everything else as it was.
func TestDeleteLeague(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat")
	other := w.founded("bob", "Family")
	w.entered(other, "ann")
	w.played(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2})
	was := w.kept()
	l := w.founded("ann", "Office")
	w.entered(l, "bob", "cat")
	if out := w.ask(DeleteLeagueFunction, "/app/leagues/"+l.LeagueID, "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("ending it: %d %s", out.StatusCode, out.Body)
	}
	if got := w.kept(); !slices.Equal(got, was) {
		t.Errorf("there is %q, want %q", got, was)
	}
	w.played(2, "summer", map[string]int{"ann": 3, "bob": 1})
	if got, want := w.ranked(other, "2026", "ann"), []string{"1 ann 70 +1", "1 bob 70 +0"}; !slices.Equal(got, want) {
		t.Errorf("the table of the other league is %q, want %q", got, want)
	}
	if err := testkit.Refuses(w.enters("cat", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("joining it: %v", err)
	}
	if err := testkit.Refuses(w.ask(DeleteLeagueFunction, "/app/leagues/"+l.LeagueID, "ann", ""), 404, "league_not_found"); err != nil {
		t.Errorf("ending it again: %v", err)
	}
}

// TestEndedLeague breaks off the end of a league when nobody is out yet.
func TestEndedLeague(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat", "dan")
	was := w.kept()
	l := w.founded("ann", "Office")
	w.entered(l, "bob", "cat")
	w.halfEnded(l, "ann")
	if got := about(w.kept(), "Office MEMBER#"); len(got) != 6 {
		t.Fatalf("the members are %q, want all three as before", got)
	}
	for _, c := range []struct {
		name string
		out  events.APIGatewayV2HTTPResponse
		code string
	}{
		{"nobody joins it", w.enters("dan", l.Code), "code_not_found"},
		{"nobody sees it", w.ask(GetLeagueFunction, "/app/leagues/"+l.LeagueID, "bob", ""), "league_not_found"},
		{"it gets no code", w.ask(RenewCodeFunction, "/app/leagues/"+l.LeagueID+"/code", "ann", ""), "league_not_found"},
	} {
		if err := testkit.Refuses(c.out, 404, c.code); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if out := w.leaves(l, "bob", "bob"); out.StatusCode != http.StatusNoContent {
		t.Errorf("bob leaves it: %d %s", out.StatusCode, out.Body)
	}
	if out := w.leaves(l, "ann", "ann"); out.StatusCode != http.StatusNoContent {
		t.Errorf("its owner leaves it: %d %s", out.StatusCode, out.Body)
	}
	if got := w.kept(); !slices.Equal(got, was) {
		t.Errorf("there is %q, want %q", got, was)
	}
}

// halfEnded has the owner of a league end it, until it is marked.
func (w *world) halfEnded(l League, owner string) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.Ctx())
	defer cancel()
	marked := false
	env := before(w.Env(DeleteLeagueFunction), "TransactWriteItems", 2, func() {
		if marked {
			cancel()
		}
		marked = true
	})
	_, err := testkit.OpenWith(w.World, env, OpenLeagues).DeleteLeague(ctx, &DeleteLeague{User: auth.User{UserID: owner}, LeagueID: l.LeagueID})
	if !errors.Is(err, context.Canceled) {
		w.T.Fatalf("ending the league gave %v", err)
	}
}

// TestCrowd has many join at once, and ends the league with all of them in it.
func TestCrowd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	users := []string{"ann"}
	for i := range 60 {
		users = append(users, fmt.Sprint("fan", i))
	}
	w.join(users...)
	was := w.kept()
	l := w.founded("ann", "Crowd")
	var all sync.WaitGroup
	for _, u := range users[1:] {
		all.Go(func() {
			if out := w.enters(u, l.Code); out.StatusCode != http.StatusOK {
				t.Errorf("%s joins: %d %s", u, out.StatusCode, out.Body)
			}
		})
	}
	all.Wait()
	if got, want := w.says("Crowd"), "LEAGUE#Crowd LEAGUE LEAGUE#Crowd LEAGUE ann 61"; got != want {
		t.Errorf("the league is %q, want %q", got, want)
	}
	if out := w.ask(DeleteLeagueFunction, "/app/leagues/"+l.LeagueID, "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("ending it: %d %s", out.StatusCode, out.Body)
	}
	if got := w.kept(); !slices.Equal(got, was) {
		t.Errorf("there is %q, want %q", got, was)
	}
}

func TestLeagueCrashes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fn   spec.Function
		do   func(*world, *Leagues, League) error
	}{
		{"join", JoinLeagueFunction, func(w *world, s *Leagues, l League) error {
			in := &JoinLeague{User: auth.User{UserID: "dan"}}
			in.Body.Code = l.Code
			_, err := s.JoinLeague(w.Ctx(), in)
			return err
		}},
		{"leave", LeaveLeagueFunction, func(w *world, s *Leagues, l League) error { return s.leave(w.Ctx(), l.LeagueID, "bob", "bob") }},
		{"remove", LeaveLeagueFunction, func(w *world, s *Leagues, l League) error {
			_, err := s.LeaveLeague(w.Ctx(), &LeaveLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID, MemberID: "bob"})
			return err
		}},
		{"hand over", LeaveLeagueFunction, func(w *world, s *Leagues, l League) error { return s.leave(w.Ctx(), l.LeagueID, "ann", "ann") }},
		{"delete", DeleteLeagueFunction, func(w *world, s *Leagues, l League) error {
			_, err := s.DeleteLeague(w.Ctx(), &DeleteLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) []string {
				w := newWorld(t)
				w.join("ann", "bob", "cat", "dan")
				l := w.founded("ann", "Office")
				w.entered(l, "bob", "cat")
				w.played(1, "opening", map[string]int{"ann": 1, "bob": 3, "cat": 2, "dan": 1})
				c.do(w, testkit.OpenWith(w.World, w.Crashing(c.fn, p), OpenLeagues), l)
				err := c.do(w, testkit.Open(w.World, c.fn, OpenLeagues), l)
				if err != nil && !errors.Is(err, errNoLeague) && !errors.Is(err, errNotIn) {
					t.Error(err)
				}
				return w.kept()
			})
		})
	}
	t.Run("last", func(t *testing.T) {
		t.Parallel()
		dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) []string {
			w := newWorld(t)
			w.join("ann")
			l := w.founded("ann", "Office")
			testkit.OpenWith(w.World, w.Crashing(LeaveLeagueFunction, p), OpenLeagues).leave(w.Ctx(), l.LeagueID, "ann", "ann")
			if out := w.leaves(l, "ann", "ann"); out.StatusCode != 204 && out.StatusCode != 404 {
				t.Errorf("leaving: %d %s", out.StatusCode, out.Body)
			}
			return w.kept()
		})
	})
}
