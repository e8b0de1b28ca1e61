package cricket

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// starting is a user's request to have the activity of that name updated.
func starting(matchID, user, team string) *StartActivity {
	in := &StartActivity{User: auth.User{UserID: user}, MatchID: matchID}
	in.Body.PushToken, in.Body.TeamID = push.Token(token(user)), team
	return in
}

func TestStartActivity(t *testing.T) {
	t.Parallel()
	w, f, want := watched(t)
	a := testkit.Open(w.World, StartActivityFunction, OpenActivities)
	p := w.pusher(w.Env(PushActivitiesFunction))
	testkit.Drain(w.World, activityQueue, 0, func(_ context.Context, _ MatchChanged) error { return nil })

	in := starting("7", "fan", "12")
	in.Body.PushToken = push.Token(strings.ToUpper(string(in.Body.PushToken)))
	out, err := a.StartActivity(w.Ctx(), in)
	testkit.Must(t, err)
	until := kickOff.Add(slotLength + 24*time.Hour + 48*time.Hour).Truncate(time.Second)
	if out.Status != http.StatusCreated || out.Body.MatchID != "7" || out.Body.TeamID != "12" || !out.Body.ExpiresAt.Equal(until) {
		t.Errorf("the answer is %+v, want it to expire at %v", out, until)
	}
	first := testkit.Row[subscription](w.World, subscriptions, "7", token("fan"))
	if n := testkit.Drain(w.World, activityQueue, 0, p.PushActivities); n != 1 || w.pushes("neutral") != 0 {
		t.Errorf("%d messages were sent, and %d pushes to another", n, w.pushes("neutral"))
	}
	w.expect("after the start", map[string]string{"fan": want["visitor"]}, false)

	// Again, as a fan of the other team: the same row, and its view.
	w.To(w.Clock.Now().Add(time.Minute))
	_, err = a.StartActivity(w.Ctx(), starting("7", "fan", "11"))
	testkit.Must(t, err)
	second := testkit.Row[subscription](w.World, subscriptions, "7", token("fan"))
	if second.CreatedAt != first.CreatedAt || second.UpdatedAt <= first.UpdatedAt || second.ExpiresAt <= first.ExpiresAt || second.TeamID != "11" {
		t.Errorf("registered again, %+v became %+v", first, second)
	}
	testkit.Drain(w.World, activityQueue, 0, p.PushActivities)
	w.expect("as a fan of the other team", map[string]string{"fan": want["local"]}, false)

	over := w.scripted("8")
	w.says(saidOf(f, "1st Innings"), saidOf(over, "Aban."))
	w.tickAt(w.ticker(), 60)
	finished := w.scripted("9")
	finished.EndingAt, finished.FinishedAt = 1, 1
	testkit.Put(w.World, fixtures, finished)
	upcoming := w.scripted("10")
	for name, c := range map[string]struct {
		in    *StartActivity
		kind  problem.Kind
		field string
	}{
		"no match":              {starting("1", "fan", ""), problem.NotFound, ""},
		"over by its score":     {starting(over.MatchID, "fan", ""), problem.Conflict, ""},
		"over by its row":       {starting(finished.MatchID, "fan", ""), problem.Conflict, ""},
		"a team that is away":   {starting("7", "fan", "99"), problem.Invalid, "body.teamId"},
		"another user's token":  {&StartActivity{User: auth.User{UserID: "thief"}, MatchID: "7", Body: starting("7", "fan", "").Body}, problem.Conflict, ""},
		"a match still to come": {starting(upcoming.MatchID, "fan", ""), problem.Internal, ""},
	} {
		_, err := a.StartActivity(w.Ctx(), c.in)
		if c.kind == problem.Internal {
			testkit.Must(t, err)
			continue
		}
		if problem.Of(err) != c.kind || c.field != "" && !isIn(err, c.field) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if s := testkit.Row[subscription](w.World, subscriptions, "7", token("fan")); s.UserID != "fan" || s.TeamID != "11" {
		t.Errorf("the activity is now %+v", s)
	}
	testkit.Drain(w.World, activityQueue, 0, p.PushActivities) // that of the match to come finds nothing to show
}

func TestEndActivity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := testkit.Open(w.World, EndActivityFunction, OpenActivities)
	w.subscribe("7", "fan", "11")
	end := func(user string) error {
		out, err := a.EndActivity(w.Ctx(), &EndActivity{User: auth.User{UserID: user}, MatchID: "7", PushToken: push.Token(strings.ToUpper(token("fan")))})
		if err == nil && (out.Status != http.StatusNoContent || out.CacheControl != httpapi.NoStore) {
			t.Errorf("the answer is %+v", out)
		}
		return err
	}
	if err := end("thief"); problem.Of(err) != problem.NotFound || w.subscribed() == nil {
		t.Errorf("another user gets %v and leaves %q", err, w.subscribed())
	}
	if err := end("fan"); err != nil || w.subscribed() != nil {
		t.Errorf("its owner gets %v and leaves %q", err, w.subscribed())
	}
	if err := end("fan"); problem.Of(err) != problem.NotFound {
		t.Errorf("the second time its owner gets %v", err)
	}
}

// isIn reports whether err is the fault of a field.
func isIn(err error, field string) bool {
	f, ok := errors.AsType[*problem.Error](err)
	return ok && f.Field == field
}
