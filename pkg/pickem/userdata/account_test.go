package userdata_test

import (
	"errors"
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
	"matchday/pkg/pickem/userdata"
)

// TestDeleteUserDeletesAllItsItems: nothing remains, and a token that is still valid creates
// and reads nothing.
func TestDeleteUserDeletesAllItsItems(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewBusy(t)

	remove := func(user string) events.APIGatewayV2HTTPResponse {
		return w.Ask(userdata.DeleteUserFunction(), "/admin/users/"+user, testkit.Administrator, "")
	}
	if out := remove("ann"); out.StatusCode != http.StatusNoContent {
		t.Fatalf("deleting ann: %d %s, want 204", out.StatusCode, out.Body)
	}

	if got, want := pickemtest.LinesWith(w.Dump(), "ann"), []string(nil); !slices.Equal(got, want) {
		t.Errorf("rows that name ann (-want +got):\n%s", cmp.Diff(want, got))
	}

	got := append(w.RegisteredPhones("red", "blue", "green"), w.LeagueLine("Office"), w.LeagueLine("Family"), w.LeagueLine("Alone"))

	want := []string{"green of bob", "LEAGUE#Office LEAGUE bob 2", "LEAGUE#Family LEAGUE bob 1", ""}
	if !slices.Equal(got, want) {
		t.Errorf("phones and leagues (-want +got):\n%s", cmp.Diff(want, got))
	}

	// Requests with a token of ann that is still valid create nothing, and read nothing.
	const played = "2026-03-02-opening"

	l := testkit.Decode[league.League](w.World, w.Ask(league.CreateLeagueFunction(), "/app/leagues", "bob", `{"name":"New"}`))
	for name, c := range map[string]struct {
		out    events.APIGatewayV2HTTPResponse
		status int
		code   string
	}{
		"sets a name":       {w.Ask(member.UpdateMeFunction(), "/app/me", "ann", `{"name":"Ann"}`), 403, "not_a_member"},
		"reads her profile": {w.Ask(member.GetMeFunction(), "/app/me", "ann", ""), 403, "not_a_member"},
		"picks": {w.Ask(event.PutPredictionsFunction(), "/app/events/"+pickemtest.Show+"/predictions", "ann", `{"predictions":{}}`),
			403, "not_a_member"},
		"joins a league":    {w.RequestJoin("ann", l.Code), 403, "not_a_member"},
		"creates a league":  {w.Ask(league.CreateLeagueFunction(), "/app/leagues", "ann", `{"name":"Back"}`), 403, "not_a_member"},
		"lists events":      {w.Ask(event.ListEventsFunction(), "/app/events", "ann", ""), 403, "not_a_member"},
		"reads an event":    {w.Ask(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", ""), 403, "not_a_member"},
		"reads no event":    {w.Ask(event.GetEventFunction(), pickemtest.AppEvent("2026-03-08-none"), "ann", ""), 403, "not_a_member"},
		"reads results":     {w.Ask(event.GetResultsFunction(), pickemtest.AppEvent(played)+"/results", "ann", ""), 403, "not_a_member"},
		"reads corrections": {w.Ask(event.ListCorrectionsFunction(), pickemtest.AppEvent(played)+"/corrections", "ann", ""), 403, "not_a_member"},
		"reads standings":   {w.Ask(league.GetStandingsFunction(), "/app/standings/2026", "ann", ""), 403, "not_a_member"},
		"reads a profile":   {w.Ask(member.GetUserFunction(), "/app/users/bob", "ann", ""), 403, "not_a_member"},
		"registers a phone": {w.Ask(notice.RegisterDeviceFunction(), "/app/devices", "ann",
			map[string]string{"deviceToken": pickemtest.TokenOf("red")}), 403, "not_a_member"},
	} {
		if err := testkit.CheckProblemCode(c.out, c.status, c.code); err != nil {
			t.Errorf("ann %s: %v", name, err)
		}
	}

	if got := pickemtest.LinesWith(w.Dump(), "ann"); len(got) != 0 {
		t.Errorf("rows with ann after her requests: %q, want none", got)
	}

	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.Score(pickemtest.Show)

	if got := pickemtest.LinesWith(w.Dump(), "ann"); len(got) != 0 {
		t.Errorf("rows with ann after a scoring: %q, want none", got)
	}

	for _, user := range []string{"ann", "stranger"} {
		if err := testkit.CheckProblemCode(remove(user), 404, "user_not_found"); err != nil {
			t.Errorf("removing %s: %v", user, err)
		}
	}
}

// TestScoringSkipsADeletedMember: the member is deleted during the scoring.
func TestScoringSkipsADeletedMember(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewBusy(t)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.MustAdmin(event.RequestScoreFunction(), "/admin/events/"+pickemtest.Show+"/score", "")
	env := pickemtest.InterruptBefore(w.Env(score.ScoreEventFunction()), "TransactWriteItems", 1, func() {
		w.Ask(userdata.DeleteUserFunction(), "/admin/users/ann", testkit.Administrator, "")
	})
	testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: pickemtest.Show}))

	if got, want := pickemtest.LinesWith(w.Dump(), "ann"), []string(nil); !slices.Equal(got, want) {
		t.Errorf("rows that name ann (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestDeleteUserDeletesConcurrentItems: the member joins a league and picks just before the
// mark is written.
func TestDeleteUserDeletesConcurrentItems(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewBusy(t)
	l := w.CreateLeague("bob", "New")
	other := w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 8), "second", 1)
	env := pickemtest.InterruptBefore(w.Env(userdata.DeleteUserFunction()), "UpdateItem", 1, func() {
		w.JoinLeague(l, "ann")
		w.Pick("ann", other, 0)
	})
	_, err := testkit.OpenWith(w.World, env, userdata.Open).DeleteUser(w.NewContext(), &userdata.DeleteUser{ID: "ann"})
	testkit.Must(t, err)

	if got, want := pickemtest.LinesWith(w.Dump(), "ann"), []string(nil); !slices.Equal(got, want) {
		t.Errorf("rows that name ann (-want +got):\n%s", cmp.Diff(want, got))
	}

	if got, want := w.LeagueLine("New"), "LEAGUE#New LEAGUE bob 1"; got != want {
		t.Errorf("the league is %q, want %q", got, want)
	}
}

// TestDeleteUserCompletesTheDeletionOfALeague: the owner is deleted after an interrupted
// delete-league.
func TestDeleteUserCompletesTheDeletionOfALeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	l := w.CreateLeague("ann", "Office")
	w.JoinLeague(l, "bob")
	w.EndLeagueHalfway(l, "ann")
	w.Ask(userdata.DeleteUserFunction(), "/admin/users/ann", testkit.Administrator, "")

	if got := append(pickemtest.LinesWith(w.Dump(), l.LeagueID), pickemtest.LinesWith(w.Dump(), "Office")...); len(got) != 0 {
		t.Errorf("rows of the league: %q, want none", got)
	}
}

func TestDeleteUserCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := pickemtest.NewBusy(t)
		in := &userdata.DeleteUser{ID: "ann"}
		_, first := testkit.OpenWith(w.World, w.CrashingEnv(userdata.DeleteUserFunction(), p), userdata.Open).DeleteUser(w.NewContext(), in)
		p.Ended(first)
		w.MoveClock(w.Clock.Now().Add(time.Minute))

		_, err := testkit.Open(w.World, userdata.DeleteUserFunction(), userdata.Open).DeleteUser(w.NewContext(), in)
		if err != nil && (!errors.Is(err, item.ErrNoUser) || len(pickemtest.LinesWith(w.Dump(), "ann")) > 0) {
			t.Errorf("the second run after %v: %v", first, err)
		}

		return w.Dump()
	})
}
