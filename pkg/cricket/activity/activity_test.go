package activity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// TestStartActivityAnswersWithTheCurrentState: the app shows the state in the answer, and
// no message is queued. Later states are pushed.
func TestStartActivityAnswersWithTheCurrentState(t *testing.T) {
	t.Parallel()
	w, f, want := worldWithActivities(t)
	a := testkit.Open(w.World, activity.StartActivityFunction(), activity.OpenActivities)
	p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
	testkit.Drain(w.World, tables.ActivityQueue, 0, func(_ context.Context, _ activity.MatchChanged) error { return nil })

	in := crickettest.StartRequest("7", "fan", "12")
	in.Body.PushToken = push.Token(strings.ToUpper(string(in.Body.PushToken)))
	out, err := a.StartActivity(w.NewContext(), in)
	testkit.Must(t, err)

	until := crickettest.KickOff.Add(match.SlotLength + 24*time.Hour + 48*time.Hour).Truncate(time.Second)
	if out.Status != http.StatusCreated || out.Body.MatchID != "7" || out.Body.TeamID != "12" || !out.Body.ExpiresAt.Equal(until) {
		t.Errorf("the answer is %+v, want status 201 and ExpiresAt %v", out, until)
	}

	first := testkit.Row[activity.Subscription](w.World, tables.Subscriptions, "7", crickettest.Token("fan"))

	if got, want := out.Body.ActivityID, push.TokenID(crickettest.TokenID("fan")); got != want {
		t.Errorf("the activity has the id %q, want %q", got, want)
	}

	list := follower.ActivityRow{
		List:       dynamo.List{IDs: []string{crickettest.Token("fan")}, ExpiresAt: until.Unix(), TTL: until.Unix()},
		ActivityAt: w.Clock.Now().Unix(),
	}
	if diff := cmp.Diff(list, testkit.Row[follower.ActivityRow](w.World, tables.Subscriptions,
		follower.ActivityList("fan", "7")...)); diff != "" {
		t.Errorf("the list of the caller's activities (-want +got):\n%s", diff)
	}

	check := func(when string, out *activity.Started, state string) {
		t.Helper()

		var display score.Display
		testkit.Must(t, json.Unmarshal([]byte(state), &display))

		if diff := cmp.Diff(&activity.Current{At: crickettest.At(1).Truncate(time.Second), Display: display}, out.Body.Current); diff != "" {
			t.Errorf("%s, the current state (-want +got):\n%s", when, diff)
		}

		if m := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue); len(m) > 0 {
			t.Errorf("%s, the queue of the live pushes has %+v", when, m)
		}
	}
	check("after the start", out, want["visitor"])

	// A second registration, for the other team and by a phone that now allows frequent
	// updates, updates the same row.
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	testkit.PutRows(w.World, tables.Devices,
		follower.DeviceRow{
			UserID:      "fan",
			DeviceToken: crickettest.Token("phone"),
			Frequent:    true,
			ExpiresAt:   w.Clock.Now().Add(time.Hour).Unix(),
		})
	out, err = a.StartActivity(w.NewContext(), crickettest.StartRequest("7", "fan", "11"))
	testkit.Must(t, err)
	check("for the other team", out, want["local"])

	second := testkit.Row[activity.Subscription](w.World, tables.Subscriptions, "7", crickettest.Token("fan"))
	if first.Frequent || !second.Frequent {
		t.Errorf("the registrations allow frequent updates: %v and then %v, want false and true", first.Frequent, second.Frequent)
	}

	if second.CreatedAt != first.CreatedAt || second.UpdatedAt <= first.UpdatedAt || second.ExpiresAt <= first.ExpiresAt ||
		second.TeamID != "11" {
		t.Errorf("the second registration changed the row, want only the team and the times:\n%s", cmp.Diff(first, second))
	}

	testkit.Must(t, p.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))
	w.ExpectPhones("after the next push", map[string]string{"fan": want["local"]}, false)

	over := w.AddFixture("8")
	w.SetPayload(crickettest.Payload(f, "1st Innings"), crickettest.Payload(over, "Aban."))
	w.TickAt(w.Ticker(), 60)
	finished := w.AddFixture("9")
	finished.EndingAt, finished.FinishedAt = 1, 1
	testkit.PutRows(w.World, tables.Fixtures, finished)

	upcoming := w.AddFixture("10")
	for name, c := range map[string]struct {
		in    *activity.StartActivity
		kind  problem.Kind
		field string
	}{
		"no match":                {crickettest.StartRequest("1", "fan", ""), problem.NotFound, ""},
		"over by its score":       {crickettest.StartRequest(over.MatchID, "fan", ""), problem.Conflict, ""},
		"over by its row":         {crickettest.StartRequest(finished.MatchID, "fan", ""), problem.Conflict, ""},
		"a team of another match": {crickettest.StartRequest("7", "fan", "99"), problem.Invalid, "body.teamId"},
		"another user's token": {&activity.StartActivity{
			User:    auth.User{UserID: "thief"},
			MatchID: "7",
			Body:    crickettest.StartRequest("7", "fan", "").Body,
		}, problem.Conflict, ""},
		"an upcoming match": {crickettest.StartRequest(upcoming.MatchID, "fan", ""), problem.Internal, ""},
	} {
		started, err := a.StartActivity(w.NewContext(), c.in)
		if c.kind == problem.Internal {
			testkit.Must(t, err)

			if started.Body.Current != nil {
				t.Errorf("%s has the current state %+v, want none", name, started.Body.Current)
			}

			continue
		}

		if problem.Of(err) != c.kind || c.field != "" && !isErrorOf(err, c.field) {
			t.Errorf("%s: error %v, want %v of field %q", name, err, c.kind, c.field)
		}
	}

	if s := testkit.Row[activity.Subscription](w.World, tables.Subscriptions, "7",
		crickettest.Token("fan")); s.UserID != "fan" || s.TeamID != "11" {
		t.Errorf("the subscription is %+v, want user fan and team 11", s)
	}
}

// TestStartActivityWhileTheMatchEnds: if the end is decided before the activity is
// stored, its push may have missed it. Then the answer is a refusal.
func TestStartActivityWhileTheMatchEnds(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	env := w.Env(activity.StartActivityFunction())
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			w.DecideEnd("7", 50)
		}

		return next.Do(r)
	})

	a := testkit.OpenWith(w.World, env, activity.OpenActivities)
	if _, err := a.StartActivity(w.NewContext(), crickettest.StartRequest("7", "fan", "")); !errors.Is(err, match.ErrMatchOver) {
		t.Errorf("got %v, want %v", err, match.ErrMatchOver)
	}
}

func TestEndActivityRemovesOnlyTheCallersRegistration(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	a := testkit.Open(w.World, activity.EndActivityFunction(), activity.OpenActivities)
	w.Subscribe("7", "fan", "11")

	end := func(user string) error {
		out, err := a.EndActivity(w.NewContext(),
			&activity.EndActivity{User: auth.User{UserID: user}, MatchID: "7", ActivityID: push.TokenID(crickettest.TokenID("fan"))})
		if err == nil && out.Status != http.StatusNoContent {
			t.Errorf("the answer is %+v, want 204 and no-store", out)
		}

		return err
	}
	if err := end("thief"); problem.Of(err) != problem.NotFound || w.Subscribers() == nil {
		t.Errorf("another user: error %v, subscriptions %q; want NotFound and fan's subscription", err, w.Subscribers())
	}

	if err := end("fan"); err != nil || w.Subscribers() != nil {
		t.Errorf("the owner: error %v, subscriptions %q; want neither", err, w.Subscribers())
	}

	if err := end("fan"); problem.Of(err) != problem.NotFound {
		t.Errorf("a second removal: error %v, want NotFound", err)
	}
}

// TestActivitiesAreLimited: a user with the maximum of activities in a match can renew
// one, and can register another after one has ended or was removed by a push. Concurrent
// requests do not exceed the maximum. Other matches and users have limits of their own.
func TestActivitiesAreLimited(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.AddFixture("7")
	w.AddFixture("8")
	a := testkit.Open(w.World, activity.StartActivityFunction(), activity.OpenActivities)

	start := func(matchID, user string, i int) string {
		in := &activity.StartActivity{User: auth.User{UserID: user}, MatchID: matchID}
		in.Body.PushToken = push.Token(crickettest.Token(fmt.Sprint(user, matchID, i)))

		_, err := a.StartActivity(w.NewContext(), in)
		if p, ok := errors.AsType[*problem.Error](err); ok {
			return p.Code
		}

		testkit.Must(t, err)

		return "started"
	}
	for i := range activity.MaxActivities - 1 {
		if got := start("7", "ann", i); got != "started" {
			t.Fatalf("activity %d: %s", i+1, got)
		}
	}

	var wg sync.WaitGroup

	answers := make([]string, 3)
	for i := range answers {
		wg.Go(func() { answers[i] = start("7", "ann", 100+i) })
	}

	wg.Wait()

	if slices.Sort(answers); !slices.Equal(answers, []string{"started", "too_many_activities", "too_many_activities"}) ||
		len(w.Subscriptions()) != activity.MaxActivities {
		t.Errorf("three concurrent requests for the last place: %q, %d activities; want one of them and %d", answers,
			len(w.Subscriptions()), activity.MaxActivities)
	}

	for _, c := range []struct {
		when, matchID, user string
		i                   int
		want                string
	}{
		{"a renewal", "7", "ann", 0, "started"},
		{"another match", "8", "ann", 0, "started"},
		{"another user", "7", "bob", 0, "started"},
		{"one too many", "7", "ann", 200, "too_many_activities"},
	} {
		if got := start(c.matchID, c.user, c.i); got != c.want {
			t.Errorf("%s: %s, want %s", c.when, got, c.want)
		}
	}

	testkit.Must(t, w.DeleteRow(tables.Subscriptions, "7", crickettest.Token("ann70"))) // as push-activities does when the token is unregistered

	if got := start("7", "ann", 200); got != "started" {
		t.Errorf("after a token was removed: %s", got)
	}

	if got := start("7", "ann", 201); got != "too_many_activities" {
		t.Errorf("one too many again: %s", got)
	}

	// An activity counts until it expires, and not if the token is another user's now.
	row := testkit.Row[activity.Subscription](w.World, tables.Subscriptions, "7", crickettest.Token("ann71"))
	for i, c := range []struct {
		user    string
		expires int64 // from now, in seconds
		want    string
	}{
		{"ann", 1, "too_many_activities"},
		{"ann", 0, "started"},
		{"bob", 1, "started"},
	} {
		row.UserID, row.ExpiresAt = c.user, w.Clock.Now().Unix()+c.expires
		testkit.PutRows(w.World, tables.Subscriptions, row)

		if got := start("7", "ann", 300+i); got != c.want {
			t.Errorf("with one of %s that expires in %d s: %s, want %s", c.user, c.expires, got, c.want)
		}

		if c.want == "started" {
			row = testkit.Row[activity.Subscription](w.World, tables.Subscriptions, "7", crickettest.Token(fmt.Sprint("ann7", 300+i)))
		}
	}
}

// isErrorOf reports whether err is a problem of a field.
func isErrorOf(err error, field string) bool {
	f, ok := errors.AsType[*problem.Error](err)
	return ok && f.Field == field
}
