package member_test

import (
	"net/http"
	"slices"
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
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// TestDeleteUserDeletesAllItsItems: only a mark remains, so that a token that is still valid
// cannot create the member again.
func TestDeleteUserDeletesAllItsItems(t *testing.T) {
	t.Parallel()
	w, p := pickemtest.NewBusy(t)
	remove := func(user string) events.APIGatewayV2HTTPResponse {
		return w.Ask(member.DeleteUserFunction, "/admin/users/"+user, testkit.Administrator, "")
	}
	if out := remove("ann"); out.StatusCode != http.StatusNoContent {
		t.Fatalf("deleting ann: %d %s, want 204", out.StatusCode, out.Body)
	}
	if got, want := pickemtest.LinesWith(w.Dump(), "ann"), []string{"USER#ann USER"}; !slices.Equal(got, want) {
		t.Errorf("rows that name ann (-want +got):\n%s", cmp.Diff(want, got))
	}
	left := testkit.Row[map[string]any](w.World, tables.Pickem, item.UserRef("ann"), item.UserTag)
	if left["ttl"] != float64(w.Clock.Now().Add(member.KeepDeleted).Unix()) || left["deletedAt"] != item.FormatTime(w.Clock.Now()) || left["name"] != nil {
		t.Errorf("the mark is %v, want one without a name that expires after two days", left)
	}
	if got, want := p.Subjects(), []string{"bob", "cat"}; !slices.Equal(got, want) {
		t.Errorf("accounts (-want +got):\n%s", cmp.Diff(want, got))
	}
	got := append(w.RegisteredPhones("red", "blue", "green"), w.LeagueLine("Office"), w.LeagueLine("Family"), w.LeagueLine("Alone"))
	want := []string{"green of bob", "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE bob 2", "LEAGUE#Family LEAGUE LEAGUE#Family LEAGUE bob 1", ""}
	if !slices.Equal(got, want) {
		t.Errorf("phones and leagues (-want +got):\n%s", cmp.Diff(want, got))
	}

	// Requests with a token of ann that is still valid create nothing.
	l := testkit.Decode[league.League](w.World, w.Ask(league.CreateLeagueFunction, "/app/leagues", "bob", `{"name":"New"}`))
	for name, c := range map[string]struct {
		out    events.APIGatewayV2HTTPResponse
		status int
		code   string
	}{
		"sets a name":       {w.Ask(member.UpdateMeFunction, "/app/me", "ann", `{"name":"Ann"}`), 404, "user_not_found"},
		"reads her profile": {w.Ask(member.GetMeFunction, "/app/me", "ann", ""), 404, "user_not_found"},
		"picks":             {w.Ask(event.PutPredictionsFunction, "/app/events/"+pickemtest.Show+"/predictions", "ann", `{"predictions":{}}`), 403, "not_a_member"},
		"joins a league":    {w.RequestJoin("ann", l.Code), 403, "not_a_member"},
		"creates a league":  {w.Ask(league.CreateLeagueFunction, "/app/leagues", "ann", `{"name":"Back"}`), 403, "not_a_member"},
		"registers a phone": {w.Ask(notice.RegisterDeviceFunction, "/app/devices/"+pickemtest.TokenOf("red"), "ann", ""), 403, "not_a_member"},
	} {
		if err := testkit.CheckProblemCode(c.out, c.status, c.code); err != nil {
			t.Errorf("ann %s: %v", name, err)
		}
	}
	if got := pickemtest.LinesWith(w.Dump(), "ann"); len(got) != 1 {
		t.Errorf("rows with ann after her requests: %q, want only the mark", got)
	}
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.Score(pickemtest.Show)
	if got := pickemtest.LinesWith(w.Dump(), "ann"); len(got) != 1 {
		t.Errorf("rows with ann after a scoring: %q, want only the mark", got)
	}

	for user, status := range map[string]int{"ann": 204, "stranger": 404} {
		if out := remove(user); out.StatusCode != status || status == 404 && testkit.CheckProblemCode(out, 404, "user_not_found") != nil {
			t.Errorf("deleting %s: %d %s, want %d", user, out.StatusCode, out.Body, status)
		}
	}
	testkit.Must(t, w.DeleteRow(tables.Pickem, item.UserRef("ann"), item.UserTag)) // as its ttl does
	if err := testkit.CheckProblemCode(remove("ann"), 404, "user_not_found"); err != nil {
		t.Errorf("deleting ann after the mark has expired: %v", err)
	}
}

// TestDeleteUserDeletesAnAccountWithoutMember: the user cannot become a member afterwards.
func TestDeleteUserDeletesAnAccountWithoutMember(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	p := w.WithUserPool("dan")
	if out := w.Ask(member.DeleteUserFunction, "/admin/users/dan", testkit.Administrator, ""); out.StatusCode != http.StatusNoContent || len(p.Subjects()) != 0 {
		t.Errorf("deleting dan: %d %s with the accounts %q, want 204 and no account", out.StatusCode, out.Body, p.Subjects())
	}
	if err := testkit.CheckProblemCode(w.Ask(member.UpdateMeFunction, "/app/me", "dan", `{"name":"Dan"}`), 404, "user_not_found"); err != nil {
		t.Errorf("dan sets a name: %v", err)
	}
	p.Broken = true
	for _, user := range []string{"dan", "stranger"} {
		if out := w.Ask(member.DeleteUserFunction, "/admin/users/"+user, testkit.Administrator, ""); out.StatusCode != 500 {
			t.Errorf("deleting %s while Cognito fails: %d %s, want 500", user, out.StatusCode, out.Body)
		}
	}
}

// TestScoringSkipsADeletedMember: the member is deleted during the scoring.
func TestScoringSkipsADeletedMember(t *testing.T) {
	t.Parallel()
	w, _ := pickemtest.NewBusy(t)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.MustAdmin(event.RequestScoreFunction, "/admin/events/"+pickemtest.Show+"/score", "")
	env := pickemtest.InterruptBefore(w.Env(score.ScoreEventFunction), "TransactWriteItems", 1, func() {
		w.Ask(member.DeleteUserFunction, "/admin/users/ann", testkit.Administrator, "")
	})
	testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: pickemtest.Show}))
	if got, want := pickemtest.LinesWith(w.Dump(), "ann"), []string{"USER#ann USER"}; !slices.Equal(got, want) {
		t.Errorf("rows that name ann (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestDeleteUserDeletesConcurrentItems: the member joins a league and picks just before the
// mark is written.
func TestDeleteUserDeletesConcurrentItems(t *testing.T) {
	t.Parallel()
	w, _ := pickemtest.NewBusy(t)
	l := w.CreateLeague("bob", "New")
	other := w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 8), "second", 1)
	env := pickemtest.InterruptBefore(w.Env(member.DeleteUserFunction), "UpdateItem", 1, func() {
		w.JoinLeague(l, "ann")
		w.Pick("ann", other, 0)
	})
	_, err := testkit.OpenWith(w.World, env, member.OpenMembers).DeleteUser(w.NewContext(), &member.DeleteUser{ID: "ann"})
	testkit.Must(t, err)
	if got, want := pickemtest.LinesWith(w.Dump(), "ann"), []string{"USER#ann USER"}; !slices.Equal(got, want) {
		t.Errorf("rows that name ann (-want +got):\n%s", cmp.Diff(want, got))
	}
	if got, want := w.LeagueLine("New"), "LEAGUE#New LEAGUE LEAGUE#New LEAGUE bob 1"; got != want {
		t.Errorf("the league is %q, want %q", got, want)
	}
}

// TestDeleteUserCompletesTheDeletionOfALeague: the owner is deleted after an interrupted
// delete-league.
func TestDeleteUserCompletesTheDeletionOfALeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.WithUserPool("ann")
	w.AddMembers("ann", "bob")
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob")
	w.EndLeagueHalfway(l, "ann")
	w.Ask(member.DeleteUserFunction, "/admin/users/ann", testkit.Administrator, "")
	if got := append(pickemtest.LinesWith(w.Dump(), l.LeagueID), pickemtest.LinesWith(w.Dump(), "Office")...); len(got) != 0 {
		t.Errorf("rows of the league: %q, want none", got)
	}
}

func TestDeleteUserCrashes(t *testing.T) {
	t.Parallel()
	type outcome struct{ Kept, Accounts []string }
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w, accounts := pickemtest.NewBusy(t)
		in := &member.DeleteUser{ID: "ann"}
		testkit.OpenWith(w.World, w.CrashingEnv(member.DeleteUserFunction, p), member.OpenMembers).DeleteUser(w.NewContext(), in)
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		if _, err := testkit.Open(w.World, member.DeleteUserFunction, member.OpenMembers).DeleteUser(w.NewContext(), in); err != nil {
			t.Error(err)
		}
		return outcome{w.Dump(), accounts.Subjects()}
	})
}
