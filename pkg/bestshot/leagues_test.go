package bestshot_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/pg"
)

// office is a league of ann, the administrator, and of others, with the ids of its members by name.
type office struct {
	*bestshottest.World
	league.League
	ids map[string]string
}

// newOffice returns a league of ann, bob and cyd. dan is a member of the room, and a stranger to the league.
func newOffice(t testing.TB) *office {
	t.Helper()
	w := bestshottest.New(t)
	o := &office{World: w, ids: map[string]string{}}

	users := []string{"ann", "bob", "cyd", "dan"}
	for i, id := range w.Register(users...) {
		o.ids[users[i]] = id
	}

	o.League = testkit.Decode[league.League](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Office"}))
	o.join("bob")
	o.join("cyd")

	return o
}

// join adds a member, by the code that the league has now.
func (o *office) join(user string) {
	o.T.Helper()
	o.Do(user, "POST", "/leagues/invitation", map[string]string{"code": o.now().Code})
}

// now returns the league as ann sees it, or else as the first of the others who is in it.
func (o *office) now() (l league.League) {
	o.T.Helper()

	for _, user := range []string{"ann", "bob", "cyd", "dan"} {
		if out := o.Ask(user, "GET", "/api/v2/leagues/"+o.ID, nil); out.StatusCode == http.StatusOK {
			return testkit.Decode[league.League](o.World.World, out)
		}
	}

	return l
}

// roles returns the members with their roles: "ann admin".
func (o *office) roles() []string {
	o.T.Helper()
	all, err := pg.Values[string](o.T.Context(), o.DB, `
SELECT p.nick_name || ' ' || r.role
FROM league_role r
JOIN member p ON p.id = r.member_id
WHERE r.league_id = $1
ORDER BY 1`, o.ID)
	testkit.Must(o.T, err)

	if n := o.now().Members; n != len(all) {
		o.T.Errorf("the league counts %d members and has %d", n, len(all))
	}

	return all
}

// asks are requests for which the caller must be the administrator of the league.
func (o *office) asks() map[string]func(user string) (int, string) {
	ask := func(method, path string, body any) func(string) (int, string) {
		return func(user string) (int, string) {
			out := o.Ask(user, method, "/api/v2/leagues/"+o.ID+path, body)
			return out.StatusCode, out.Body
		}
	}

	return map[string]func(string) (int, string){
		"rename":    ask("PATCH", "", map[string]string{"name": "Pub"}),
		"new code":  ask("POST", "/code", nil),
		"removal":   ask("DELETE", "/members/"+o.ids["cyd"], nil),
		"hand over": ask("PUT", "/admin", map[string]string{"memberId": o.ids["cyd"]}),
	}
}

// TestOnlyTheAdministratorChangesALeague: a member is refused, a stranger finds no league, and a deleted user
// writes nothing.
func TestOnlyTheAdministratorChangesALeague(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	before := o.now()

	testkit.PutRows(o.World.World, account.Deleted, account.Tombstone{UserID: "gone"})

	for name, ask := range o.asks() {
		for user, want := range map[string]string{
			"bob": "403 not_league_admin", "dan": "404 league_not_found", "zed": "404 member_not_found", "gone": "401 account_deleted", "": "401 ",
		} {
			status, body := ask(user)
			if got := fmt.Sprint(status, " "); !strings.HasPrefix(want, got) || !strings.Contains(body, strings.TrimPrefix(want, got)) {
				t.Errorf("%s by %q: %d %s, want %s", name, user, status, body, want)
			}
		}
	}

	if diff := cmp.Diff(before, o.now()); diff != "" {
		t.Errorf("the league has changed (-before +now):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"ann admin", "bob member", "cyd member"}, o.roles()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRenamedLeague: a name as that of a new league. A second run changes nothing.
func TestRenamedLeague(t *testing.T) {
	t.Parallel()
	o := newOffice(t)

	for range 2 {
		got := testkit.Decode[league.League](o.World.World, o.Do("ann", "PATCH", "/leagues/"+o.ID, map[string]string{"name": "Pub"}))
		if got.Name != "Pub" || got.Code != o.Code || got.Members != 3 {
			t.Errorf("got %+v", got)
		}
	}

	for _, name := range []string{"", " ", "a\u202eb", strings.Repeat("x", 41), "see example.com"} {
		if out := o.Ask("ann", "PATCH", "/api/v2/leagues/"+o.ID, map[string]string{"name": name}); out.StatusCode != 422 {
			t.Errorf("%q: %d %s", name, out.StatusCode, out.Body)
		}
	}
}

// TestNewCodeEndsTheOldOne: nobody joins by the old code from then on, and members stay.
func TestNewCodeEndsTheOldOne(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	got := testkit.Decode[league.League](o.World.World, o.Do("ann", "POST", "/leagues/"+o.ID+"/code", nil))

	if err := testkit.CheckProblemCode(o.Ask("dan", "POST", "/api/v2/leagues/invitation", map[string]string{"code": o.Code}), 404,
		"code_not_found"); err != nil {
		t.Error(err)
	}

	o.Do("dan", "POST", "/leagues/invitation", map[string]string{"code": got.Code})

	if diff := cmp.Diff([]string{"ann admin", "bob member", "cyd member", "dan member"}, o.roles()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRemovedMember: reads nothing of the league, and does not come back by the code that he knows. A second
// run changes nothing, and leaves the code.
func TestRemovedMember(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	m := noMatch

	var code string

	for n := range 2 {
		l := testkit.Decode[league.League](o.World.World, o.Do("ann", "DELETE", "/leagues/"+o.ID+"/members/"+strings.ToUpper(o.ids["bob"]), nil))
		if l.Members != 2 || l.Code == o.Code || n > 0 && l.Code != code {
			t.Errorf("run %d: %+v, after code %s", n+1, l, code)
		}

		code = l.Code
	}

	for _, path := range []string{"", "/score", "/score?around=me", "/history", "/matches/" + m + "/guesses"} {
		if err := testkit.CheckProblemCode(o.Ask("bob", "GET", "/api/v2/leagues/"+o.ID+path, nil), 404, "league_not_found"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}

	if err := testkit.CheckProblemCode(o.Ask("bob", "POST", "/api/v2/leagues/invitation", map[string]string{"code": o.Code}), 404,
		"code_not_found"); err != nil {
		t.Error(err)
	}

	o.Do("bob", "DELETE", "/leagues/"+o.ID+"/membership", nil)

	if diff := cmp.Diff([]string{"ann admin", "cyd member"}, o.roles()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	for id, want := range map[string]int{o.ids["ann"]: 409, o.ids["dan"]: 200, noMatch: 200} {
		if out := o.Ask("ann", "DELETE", "/api/v2/leagues/"+o.ID+"/members/"+id, nil); out.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", id, out.StatusCode, out.Body, want)
		}
	}

	if got := o.now().Code; got != code {
		t.Errorf("the code is %s after removals of nobody, want %s", got, code)
	}
}

// TestHandedOverLeague: the new administrator is the only one. A second run changes nothing. The league goes
// to a member only.
func TestHandedOverLeague(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	hand := func(user, to string) (int, string) {
		out := o.Ask(user, "PUT", "/api/v2/leagues/"+o.ID+"/admin", map[string]string{"memberId": o.ids[to]})
		return out.StatusCode, out.Body
	}

	for _, s := range []struct {
		user, to string
		status   int
		problem  string
		want     []string
	}{
		{"ann", "dan", 404, "member_not_found", []string{"ann admin", "bob member", "cyd member"}},
		{"ann", "ann", 200, "", []string{"ann admin", "bob member", "cyd member"}},
		{"ann", "bob", 200, "", []string{"ann member", "bob admin", "cyd member"}},
		{"ann", "bob", 200, "", []string{"ann member", "bob admin", "cyd member"}},
		{"ann", "cyd", 403, "not_league_admin", []string{"ann member", "bob admin", "cyd member"}},
		{"ann", "dan", 403, "not_league_admin", []string{"ann member", "bob admin", "cyd member"}},
		{"bob", "cyd", 200, "", []string{"ann member", "bob member", "cyd admin"}},
	} {
		if status, body := hand(s.user, s.to); status != s.status || !strings.Contains(body, s.problem) {
			t.Errorf("%s to %s: %d %s, want %d %s", s.user, s.to, status, body, s.status, s.problem)
		}

		if diff := cmp.Diff(s.want, o.roles()); diff != "" {
			t.Errorf("%s to %s (-want +got):\n%s", s.user, s.to, diff)
		}
	}
}

// TestRequestsAtOnceLeaveOneAdministrator: whatever comes first, a league with members has one administrator,
// and counts its members.
func TestRequestsAtOnceLeaveOneAdministrator(t *testing.T) {
	t.Parallel()

	put := func(o *office, user, to string) {
		o.Ask(user, "PUT", "/api/v2/leagues/"+o.ID+"/admin", map[string]string{"memberId": o.ids[to]})
	}
	remove := func(o *office, user, whom string) {
		o.Ask(user, "DELETE", "/api/v2/leagues/"+o.ID+"/members/"+o.ids[whom], nil)
	}
	leave := func(o *office, user string) { o.Do(user, "DELETE", "/leagues/"+o.ID+"/membership", nil) }

	for name, all := range map[string][]func(o *office){
		"handed to two": {func(o *office) { put(o, "ann", "bob") }, func(o *office) { put(o, "ann", "cyd") }},
		"handed to one who is removed": {
			func(o *office) { put(o, "ann", "bob") }, func(o *office) { remove(o, "ann", "bob") },
		},
		"handed to one who leaves": {func(o *office) { put(o, "ann", "bob") }, func(o *office) { leave(o, "bob") }},
		"handed over by one who leaves": {
			func(o *office) { put(o, "ann", "bob") }, func(o *office) { leave(o, "ann") },
		},
		"each removes the other": {
			func(o *office) { put(o, "ann", "bob"); remove(o, "bob", "ann") }, func(o *office) { remove(o, "ann", "bob") },
		},
		"all leave": {func(o *office) { leave(o, "ann") }, func(o *office) { leave(o, "bob") }, func(o *office) { leave(o, "cyd") }},
		"removed and joins": {
			func(o *office) { remove(o, "ann", "bob") },
			func(o *office) { o.Ask("dan", "POST", "/api/v2/leagues/invitation", map[string]string{"code": o.Code}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			done := make(chan bool)

			for _, do := range all {
				go func() {
					do(o)
					done <- true
				}()
			}

			for range all {
				<-done
			}

			roles := o.roles()
			admins := len(slices.DeleteFunc(slices.Clone(roles), func(s string) bool { return !strings.HasSuffix(s, " admin") }))

			if want := min(1, len(roles)); admins != want {
				t.Errorf("%d administrators of %q, want %d", admins, roles, want)
			}
		})
	}
}

// TestRemovalCrashes: a removal that crashes before or after any call, and is sent again, removes the member
// once, and the league has a new code.
func TestRemovalCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) any {
		o := newOffice(t)
		in := &league.RemoveMember{ByID: league.ByID{User: auth.User{UserID: "ann"}, LeagueID: o.ID}, MemberID: o.ids["bob"]}

		_, err := testkit.OpenWith(o.World.World, o.CrashingEnv(league.RemoveMemberFunction(), p), league.Open).RemoveMember(o.NewContext(), in)
		if p.Ended(err) {
			_, err := testkit.Open(o.World.World, league.RemoveMemberFunction(), league.Open).RemoveMember(o.NewContext(), in)
			testkit.Must(t, err)
		}

		return []any{o.roles(), o.now().Code == o.Code}
	})
}

// TestLeagueWithTournaments: a new league follows tournaments that exist, and none is created otherwise.
func TestLeagueWithTournaments(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")

	ids := []string{w.Found("cup").ID, w.Found("other").ID}
	slices.Sort(ids)

	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf("58de2f1b-1374-4c92-bd53-%012d", i)
	}

	for name, c := range map[string]struct {
		tournaments any
		status      int
		want        string
	}{
		"two":      {[]string{ids[1], ids[0]}, 201, `"tournaments":["` + ids[0] + `","` + ids[1] + `"]`},
		"none":     {[]string{}, 201, `"tournaments":[]`},
		"unknown":  {[]string{ids[0], noMatch}, 404, "tournament_not_found"},
		"null":     {nil, 422, "body.tournaments"},
		"twice":    {[]string{ids[0], ids[0]}, 422, "body.tournaments"},
		"no id":    {[]string{"cup"}, 422, "body.tournaments[0]"},
		"too many": {many, 422, "body.tournaments"},
	} {
		out := w.Ask("ann", "POST", "/api/v2/leagues", map[string]any{"name": name, "tournaments": c.tournaments})
		if out.StatusCode != c.status || !strings.Contains(out.Body, c.want) {
			t.Errorf("%s: %d %s, want %d %s", name, out.StatusCode, out.Body, c.status, c.want)
		}
	}

	if n := len(testkit.Decode[struct{ Data []league.League }](w.World, w.Do("ann", "GET", "/leagues", nil)).Data); n != 2 {
		t.Errorf("%d leagues, want 2", n)
	}
}

// TestGuessesOfALeague: those of its members alone, in pages, once the match has begun. A stranger finds no
// league, whatever the match.
func TestGuessesOfALeague(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	c := o.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	o.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))

	m := o.MatchID(1)
	for i, user := range []string{"ann", "bob", "dan"} {
		o.Guess(user, m, i, 0)
	}

	target := "/api/v2/leagues/" + o.ID + "/matches/" + m + "/guesses"
	check := func(user, target string, status int, code string) {
		t.Helper()

		if err := testkit.CheckProblemCode(o.Ask(user, "GET", target, nil), status, code); err != nil {
			t.Errorf("%s: %v", user, err)
		}
	}

	check("ann", target, 409, "guess_window_open")
	check("dan", target, 404, "league_not_found")
	check("zed", target, 404, "league_not_found")
	check("ann", strings.Replace(target, m, noMatch, 1), 404, "match_not_found")

	hidden, err := guess.List(o.NewContext(), o.DB, "ann", []string{m}, []string{o.ids["ann"], o.ids["bob"]})
	testkit.Must(t, err)

	if len(hidden) != 1 || hidden[0].NickName != "ann" {
		t.Errorf("before the kick-off ann sees %+v, want the own guess alone", hidden)
	}

	o.MoveClock(kickOff)

	type page struct {
		Data []guess.Other
		Next string
	}

	var got []string
	for _, g := range testkit.Decode[page](o.World.World, o.Ask("cyd", "GET", target, nil)).Data {
		got = append(got, fmt.Sprintf("%s %s:%s", g.NickName, ints(g.Home.Value), ints(g.Away.Value)))
	}

	slices.Sort(got)

	if diff := cmp.Diff([]string{"ann 0:0", "bob 1:0"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	check("dan", target, 404, "league_not_found")

	_, err = pg.Do(t.Context(), o.DB, `
WITH added AS (
    INSERT INTO member (public_id, nick_name)
    SELECT 'u' || n, 'nick' || n
    FROM generate_series(1, 99) n
    RETURNING id
),
guessed AS (
    INSERT INTO guess (match_id, member_id, home_score, away_score)
    SELECT $1, id, 1, 0
    FROM added
)
INSERT INTO league_role (league_id, member_id, role)
SELECT $2, id, 'member'
FROM added`, m, o.ID)
	testkit.Must(t, err)

	first := testkit.Decode[page](o.World.World, o.Ask("ann", "GET", target, nil))
	second := testkit.Decode[page](o.World.World, o.Ask("ann", "GET", target+"?cursor="+first.Next, nil))

	if len(first.Data) != 100 || len(second.Data) != 1 || second.Next != "" || second.Data[0].MemberID <= first.Data[99].MemberID {
		t.Errorf("%d and %d guesses, then %q", len(first.Data), len(second.Data), second.Next)
	}

	o.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff.Add(24*hour), provider.Open)))
	check("ann", target, 409, "guess_window_open")
}

// TestRequestWithoutTournamentsIsAsBefore: a request whose answer the code before the field has stored is the
// same request.
func TestRequestWithoutTournamentsIsAsBefore(t *testing.T) {
	t.Parallel()

	type before struct {
		auth.User
		idem.Key
		Body struct {
			Name string `json:"name"`
		}
	}

	old := &before{Key: idem.Key{IdempotencyKey: "k"}}
	old.Body.Name = "Office"

	in := &league.CreateLeague{Key: idem.Key{IdempotencyKey: "k"}}
	in.Body.Name = "Office"

	oldID, oldHash, _ := idem.Identify("create-league", old)
	id, hash, _ := idem.Identify("create-league", in)

	if id != oldID || hash != oldHash {
		t.Errorf("got %s %s, want %s %s", id, hash, oldID, oldHash)
	}

	in.Body.Tournaments = []string{noMatch}
	if _, other, _ := idem.Identify("create-league", in); other == hash {
		t.Error("a request with tournaments is the same as without")
	}
}
