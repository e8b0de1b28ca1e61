package member_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/pickem/userdata"
)

// TestAddressIsInvitedOnce: a confirmed account is made a member once, and again after a
// removal that is complete.
func TestAddressIsInvitedOnce(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	pool := w.WithUserPool()
	_, err := pool.SignIn(t.Context(), "dan", "", nil)
	testkit.Must(t, err)

	invite := func(name string) events.APIGatewayV2HTTPResponse {
		return w.Ask(member.InviteUserFunction(), "/admin/users", testkit.Administrator,
			map[string]string{"name": name, "email": "dan@example.com"})
	}
	if out := invite("Dan"); out.StatusCode != 201 || !strings.Contains(out.Body, `{"userId":"dan","name":"Dan"}`) {
		t.Errorf("an invitation: %d %s, want 201", out.StatusCode, out.Body)
	}

	if err := testkit.CheckProblemCode(invite("Daniel"), 409, "user_exists"); err != nil {
		t.Errorf("a second invitation: %v", err)
	}

	gone := item.NewMember("dan", "")
	gone.DeletedAt = item.FormatTime(pickemtest.Noon)
	testkit.PutRows(w.World, tables.Pickem, gone)

	if err := testkit.CheckProblemCode(invite("Dan"), 409, "user_removed"); err != nil {
		t.Errorf("an invitation during a removal: %v", err)
	}

	w.MustAdmin(userdata.DeleteUserFunction(), "/admin/users/dan", "")

	if out := invite("Dan"); out.StatusCode != 201 {
		t.Errorf("an invitation after the removal: %d %s, want 201", out.StatusCode, out.Body)
	}

	if mails := pool.Invitations("dan@example.com"); mails != 0 {
		t.Errorf("%d mails to an account that is confirmed, want none", mails)
	}
}

func TestInvitationCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := pickemtest.New(t)
		_, err := w.WithUserPool().SignIn(t.Context(), "dan", "", nil)
		testkit.Must(t, err)

		ask := func(s *member.Members) error {
			var in member.InviteUser

			in.Body.Name, in.Body.Email = "Dan", "dan@example.com"
			_, err := s.InviteUser(w.NewContext(), &in)

			return err
		}
		p.Ended(ask(testkit.OpenWith(w.World, w.CrashingEnv(member.InviteUserFunction(), p), member.OpenMembers)))
		ask(testkit.Open(w.World, member.InviteUserFunction(), member.OpenMembers)) // refused if the first run has invited dan

		return w.Rows()
	})
}

// TestNewNameReplacesTheOldEverywhere: the name of a member, and of nobody else.
func TestNewNameReplacesTheOldEverywhere(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	rename := func(user, name string) string {
		return w.Ask(member.UpdateMeFunction(), "/app/me", user, map[string]string{"name": name}).Body
	}
	first := rename("ann", "Zoe")

	was := w.Rows()
	if second := rename("ann", "Zoe"); second != first || !reflect.DeepEqual(w.Rows(), was) {
		t.Errorf("a repeated request: %s, want %s; rows (-was +is):\n%s", second, first, cmp.Diff(was, w.Rows()))
	}

	for _, c := range []struct{ where, body string }{
		{"get-me", w.Ask(member.GetMeFunction(), "/app/me", "ann", "").Body},
		{"get-user", w.Ask(member.GetUserFunction(), "/app/users/ann", "bob", "").Body},
		{"get-standings", w.Ask(league.GetStandingsFunction(), "/app/standings/2026", "bob", "").Body},
		{"get-results", w.Ask(event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow)+"/results", "bob", "").Body},
	} {
		if !strings.Contains(c.body, `"name":"Zoe"`) || strings.Contains(c.body, `"name":"ann"`) {
			t.Errorf("%s has the old name: %s", c.where, c.body)
		}
	}

	w.EnterResults(pickemtest.ScoredShow, 1)
	w.ScoreQueued()

	if got := w.Standings("2026")[2]; got.Name != "Zoe" {
		t.Errorf("the name after a new scoring is %s, want Zoe", got.Name)
	}

	l := w.CreateLeague("ann", "Office")

	rename("ann", "Ann")

	for where, body := range map[string]string{
		"get-league":           w.Ask(league.GetLeagueFunction(), "/app/leagues/"+l.LeagueID, "ann", "").Body,
		"get-league-standings": w.Ask(league.GetLeagueStandingsFunction(), "/app/leagues/"+l.LeagueID+"/standings/2026", "ann", "").Body,
	} {
		if !strings.Contains(body, `"name":"Ann"`) || strings.Contains(body, `"name":"Zoe"`) {
			t.Errorf("%s has the old name: %s", where, body)
		}
	}

	gone := item.NewMember("gone", "")
	gone.DeletedAt = item.FormatTime(pickemtest.Noon)
	testkit.PutRows(w.World, tables.Pickem, gone)

	was = w.Rows()
	for _, user := range []string{"eve", "gone"} {
		if err := testkit.CheckProblemCode(w.Ask(member.UpdateMeFunction(), "/app/me", user, `{"name":"Eve"}`), 403, "not_a_member"); err != nil {
			t.Errorf("a name of %s: %v", user, err)
		}
	}

	if diff := cmp.Diff(was, w.Rows()); diff != "" {
		t.Errorf("names of users who are no members changed rows (-was +is):\n%s", diff)
	}
}

// TestNewNamesAreLimited: to 10 within a day. The present name counts as none.
func TestNewNamesAreLimited(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")

	rename := func(user, name string) events.APIGatewayV2HTTPResponse {
		return w.Ask(member.UpdateMeFunction(), "/app/me", user, map[string]string{"name": name})
	}

	accepted := func(user, name string) {
		t.Helper()

		if out := rename(user, name); out.StatusCode != http.StatusOK {
			t.Errorf("%s takes the name %s: %d %s", user, name, out.StatusCode, out.Body)
		}
	}
	for n := range 10 {
		accepted("ann", fmt.Sprint("Ann ", n))
		accepted("ann", fmt.Sprint("Ann ", n))
	}

	w.MoveClock(pickemtest.Noon.Add(23 * time.Hour))

	out := rename("ann", "Anna")
	if err := testkit.CheckProblemCode(out, 429, "too_many_renames"); err != nil || testkit.Header(out).Get("Retry-After") != "3600" {
		t.Errorf("an eleventh name: %v, Retry-After %q, want an hour", err, testkit.Header(out).Get("Retry-After"))
	}

	if p := testkit.Row[item.Member](w.World, tables.Pickem, item.UserRef("ann"), item.UserTag); p.Name != "Ann 9" {
		t.Errorf("the name is %q, want that of the tenth request", p.Name)
	}

	accepted("ann", "Ann 9")
	accepted("bob", "Bo")
	w.MoveClock(pickemtest.Noon.Add(24 * time.Hour))
	accepted("ann", "Anna")
}

func TestUpdateMeCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := pickemtest.NewSeason(t)
		ask := func(s *member.Members) error {
			var in member.UpdateMe

			in.UserID, in.Body.Name = "ann", "Zoe"
			_, err := s.UpdateMe(w.NewContext(), &in)

			return err
		}
		p.Ended(ask(testkit.OpenWith(w.World, w.CrashingEnv(member.UpdateMeFunction(), p), member.OpenMembers)))
		testkit.Must(t, ask(testkit.Open(w.World, member.UpdateMeFunction(), member.OpenMembers)))

		return w.Rows()
	})
}

// TestProfilesHideUnscoredPicks: only get-me returns picks and events that are not scored.
func TestProfilesHideUnscoredPicks(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	testkit.PutRows(w.World, tables.Pickem, item.Standing{
		Row: item.Row{
			PK:    item.UserRef("ann"),
			SK:    item.StandingsRef("2025"),
			GSIPK: item.StandingsRef("2025"),
			GSISK: "SCORE#00007#ann",
			Type:  item.StandingType,
		},
		BelongsTo: item.UserRef("ann"),
		Tally:     item.Tally{Points: 7, Correct: 1, Played: 1},
	})
	years := []member.YearPoints{{Year: "2026", Points: 10, Correct: 1, Played: 1}, {Year: "2025", Points: 7, Correct: 1, Played: 1}}
	ranked := slices.Clone(years)
	ranked[0].Rank = 2
	scored := member.Played{EventID: pickemtest.ScoredShow, Scored: true, Points: 10, Correct: 1}

	var mine, hers member.UserScreen
	w.Read(member.GetMeFunction(), "/app/me", "ann", &mine.Body)
	w.Read(member.GetUserFunction(), "/app/users/ann", "bob", &hers.Body)

	b := mine.Body
	if b.UserID != "ann" || b.Name != "ann" || !slices.Equal(b.Standings, ranked) || len(b.Events) != 3 {
		t.Errorf("get-me of ann returns %+v, want both years and three events", b)
	}

	for i, want := range []member.Played{
		{EventID: pickemtest.Show, Name: "clash-of-tides", Predictions: pickemtest.PicksOf(0, 0, pickemtest.SecretPick)},
		{EventID: pickemtest.ScoredShow, Name: "low-tide", Rank: 2, Scored: true, Points: 10, Correct: 1, Predictions: pickemtest.PicksOf(0, 0)},
		{EventID: pickemtest.LockedShow, Name: "high-tide", Predictions: pickemtest.PicksOf(0, 0)},
	} {
		if got := b.Events[i]; !maps.Equal(got.Predictions, want.Predictions) || !reflect.DeepEqual(got, want) {
			t.Errorf("event %d of ann (-want +got):\n%s", i, cmp.Diff(want, got))
		}
	}

	b = hers.Body
	if b.UserID != "ann" || !slices.Equal(b.Standings, years) || !reflect.DeepEqual(b.Events, []member.Played{scored}) {
		t.Errorf("get-user of ann returns %+v, want both years and only the scored event", b)
	}

	var own member.UserScreen
	w.Read(member.GetUserFunction(), "/app/users/ann", "ann", &own.Body)

	if !reflect.DeepEqual(own, hers) {
		t.Errorf("get-user of ann by ann (-by bob +by ann):\n%s", cmp.Diff(hers, own))
	}

	w.AddMembers("new")

	if out := w.Ask(member.GetMeFunction(), "/app/me", "new", ""); !strings.Contains(out.Body, `"standings":[],"events":[]`) {
		t.Errorf("get-me of a new member returns %s, want empty lists", out.Body)
	}

	gone := item.NewMember("gone", "")
	gone.DeletedAt = item.FormatTime(pickemtest.Noon)
	testkit.PutRows(w.World, tables.Pickem, gone)

	for _, user := range []string{"eve", "gone"} {
		if err := testkit.CheckProblemCode(w.Ask(member.GetMeFunction(), "/app/me", user, ""), 403, "not_a_member"); err != nil {
			t.Errorf("get-me of %s: %v", user, err)
		}

		if err := testkit.CheckProblemCode(w.Ask(member.GetUserFunction(), "/app/users/"+user, "ann", ""), 404, "user_not_found"); err != nil {
			t.Errorf("get-user of %s: %v", user, err)
		}
	}
}

// TestMembersAreListedByPage: a page costs the same, whatever the number of members.
func TestMembersAreListedByPage(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)

	var want []string

	cost := map[int]float64{}

	for n := 1; n <= 300; n++ {
		want = append(want, fmt.Sprintf("u%03d", n))
		w.AddMembers(want[n-1])

		if n != 30 && n != 300 {
			continue
		}

		var list member.UserList

		cost[n] = w.CountUnits(func() { w.Read(member.ListUsersFunction(), "/admin/users?limit=20", testkit.Administrator, &list.Body) }).Reads
		if len(list.Body.Users) != 20 || list.Body.Next != "u020" {
			t.Errorf("of %d members the page has %d and next %q, want 20 and u020", n, len(list.Body.Users), list.Body.Next)
		}
	}

	if cost[30] != cost[300] || cost[300] > 4 {
		t.Errorf("a page costs %v read units by the number of members, want the same, at most 4", cost)
	}

	w.MustAdmin(userdata.DeleteUserFunction(), "/admin/users/u007", "")

	want = slices.DeleteFunc(want, func(id string) bool { return id == "u007" })

	for _, limit := range []int{1, 7, 50, 100} {
		var got []string

		for next, page := "", 0; page == 0 || next != ""; page++ {
			var list member.UserList
			w.Read(member.ListUsersFunction(), fmt.Sprint("/admin/users?limit=", limit, "&cursor=", next), testkit.Administrator, &list.Body)

			for _, u := range list.Body.Users {
				if u.Name != u.UserID {
					t.Errorf("%s has the name %q", u.UserID, u.Name)
				}

				got = append(got, u.UserID)
			}

			next = list.Body.Next
		}

		if !slices.Equal(got, want) {
			t.Errorf("members, %d at a time (-want +got):\n%s", limit, cmp.Diff(want, got))
		}
	}
}
