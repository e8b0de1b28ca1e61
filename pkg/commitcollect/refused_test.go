package commitcollect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/notice"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/userdata"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// client sends the requests to AWS.
type client func(*http.Request) (*http.Response, error)

func (c client) Do(r *http.Request) (*http.Response, error) { return c(r) }

// before returns env with do run before each of the first n calls of an operation.
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

// codeOf returns the code of an error, or its text.
func codeOf(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Code
	}

	return fmt.Sprint(err)
}

// TestSecretsAreNeeded: a function does not begin without them, and its error does not have
// what they hold.
func TestSecretsAreNeeded(t *testing.T) {
	t.Parallel()

	const app4711 = `{"clientId":"4711","clientSecret":"app-s3cret"}`

	openers := map[string]struct {
		fn   app.Function
		open func(context.Context, app.Env) error
	}{
		"vault": {workout.IngestEventsFunction(),
			func(ctx context.Context, env app.Env) error { _, err := link.OpenVault(ctx, env); return err }},
		"link": {link.ConnectStravaFunction(), func(ctx context.Context, env app.Env) error { _, err := link.Open(ctx, env); return err }},
		"ingester": {workout.IngestEventsFunction(),
			func(ctx context.Context, env app.Env) error { _, err := workout.OpenIngester(ctx, env); return err }},
		"hooks": {workout.ReceiveWebhookFunction(),
			func(ctx context.Context, env app.Env) error { _, err := workout.OpenHooks(ctx, env); return err }},
		"subscriptions": {workout.GetSubscriptionFunction(), func(ctx context.Context, env app.Env) error {
			_, err := workout.OpenSubscriptions(ctx, env)
			return err
		}},
		"forgetter": {userdata.ForgetUserFunction(),
			func(ctx context.Context, env app.Env) error { _, err := userdata.OpenForgetter(ctx, env); return err }},
		"notifier": {notice.SendNoticesFunction(),
			func(ctx context.Context, env app.Env) error { _, err := notice.OpenNotifier(ctx, env); return err }},
	}

	const notJSON = "the secret of the Strava application is not JSON with clientId and clientSecret"
	for _, c := range []struct{ opener, secret, value, want string }{
		{"vault", link.StravaApp, "", "the secret STRAVA_APP is not set"},
		{"vault", link.StravaApp, "s3cret", notJSON},
		{"vault", link.StravaApp, `{"clientId":"4711"}`, notJSON},
		{"vault", link.StravaApp, `{"clientSecret":"s3cret"}`, notJSON},
		{"vault", link.TokenKeys, "", "the secret COMMITCOLLECT_TOKEN_KEYS is not set"},
		{"vault", link.TokenKeys, "s3cret", "the keyset is not JSON of the form that Keyset describes"},
		{"vault", link.StravaApp, app4711, "<nil>"},
		{"link", link.TokenKeys, "", "the secret COMMITCOLLECT_TOKEN_KEYS is not set"},
		{"ingester", link.TokenKeys, "", "the secret COMMITCOLLECT_TOKEN_KEYS is not set"},
		{"forgetter", link.TokenKeys, "", "the secret COMMITCOLLECT_TOKEN_KEYS is not set"},
		{"hooks", workout.Webhook, "", "the secret STRAVA_WEBHOOK is not set"},
		{"subscriptions", link.StravaApp, "", "the secret STRAVA_APP is not set"},
		{"notifier", notice.APNSKey, "", "the secret APNS_KEY is not set"},
	} {
		w := commitcollecttest.New(t, strava.Faults{})
		w.Settings[c.secret] = c.value

		o := openers[c.opener]
		if got := fmt.Sprint(o.open(t.Context(), w.Env(o.fn))); got != c.want {
			t.Errorf("%s with %s=%q: got %q, want %q", c.opener, c.secret, c.value, got, c.want)
		}
	}
}

// TestStravaIsCalledInProduction unless a setting has another address.
func TestStravaIsCalledInProduction(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Settings[link.StravaURL] = ""

	w.Routes[link.ConnectStravaFunction().Name] = testkit.Serve(w.World, link.ConnectStravaFunction())
	if to := testkit.Header(w.Ask("ann", http.MethodGet, "/strava/connect", nil)).Get("Location"); !strings.HasPrefix(to,
		"https://www.strava.com/oauth/authorize?") {
		t.Errorf("the browser goes to %s", to)
	}
}

// TestSealedByAnotherKey: tokens that cannot be read have an event repeated, and do not keep
// a user from disconnecting. Without the refresh token the access is not revoked at Strava, and the trail has that.
func TestSealedByAnotherKey(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"accessToken", "refreshToken"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			c := connection(w, "ann")
			c[name] = "old.AAAA"
			testkit.PutRows(w.World, tables.Main, c)
			w.MoveClock(noon.Add(7 * time.Hour)) // the access token has expired

			err := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester).IngestEvent(w.NewContext(),
				eventOf("create", 5, noon))
			if err == nil || !strings.Contains(err.Error(), "a stored token cannot be decrypted") {
				t.Errorf("an event: got %v", err)
			}

			w.MoveClock(w.Clock.Now().Add(time.Minute)) // nobody renews the tokens any more
			_, err = testkit.Open(w.World, link.DisconnectStravaFunction(), link.Open).DisconnectStrava(w.NewContext(),
				&link.DisconnectStrava{User: user("ann")})
			testkit.Must(t, err)
			same(t, "rows of the connection", w.Count(tables.Main, "USER#ann", "STRAVA#CONNECTION"), 0)

			result, got := "success", w.Logs.TakeWarnings()
			if name == "refreshToken" {
				result = "partial"

				if len(got) != 1 || !strings.Contains(got[0], "the access at Strava was not revoked") {
					t.Errorf("the warnings are %q, want that the access was not revoked", got)
				}
			}

			same(t, "the trail", entriesOf(w, "ann"), map[string]int{"STRAVA_DEAUTHORIZE " + result: 1})
			same(t, "messages", len(testkit.Messages[link.Purge](w.World, link.PurgeQueue)), 1) // no revocation to try again
		})
	}
}

// TestConnectIsOvertaken: whoever connects while another request of the same user changes
// the connection succeeds, or is asked to try again.
func TestConnectIsOvertaken(t *testing.T) {
	t.Parallel()

	for changes, want := range map[int64]string{2: "<nil>", 3: "strava_busy"} {
		w := small(t)
		w.SignIn("ann")
		q := w.Consent("ann", 77, "yes", "activity:read").Query()
		athlete := 100
		env := before(w.Env(link.FinishConnectFunction()), "TransactWriteItems", changes, func() {
			athlete++
			c := connection(w, "ann")
			c["athleteId"], c["GSI1PK"] = athlete, item.Athlete(int64(athlete))
			testkit.PutRows(w.World, tables.Main, c)
		})
		_, err := testkit.OpenWith(w.World, env, link.Open).FinishConnect(w.NewContext(),
			&link.FinishConnect{User: user("ann"), Code: q.Get("code"), State: q.Get("state"), Scope: q.Get("scope")})
		same(t, fmt.Sprint("the error after ", changes, " changes"), codeOf(err), want)
		w.Logs.TakeWarnings()
	}
}

// TestRefusedConnectionIsRecordedOnce for each user, also while the index still shows the
// athlete as connected to whoever is refused.
func TestRefusedConnectionIsRecordedOnce(t *testing.T) {
	t.Parallel()
	w := small(t)
	owner := testkit.Row[stored](w.World, tables.Main, "STRAVA#ATHLETE#77", "OWNER")
	owner["userId"] = "bob"
	testkit.PutRows(w.World, tables.Main, owner)
	before := connection(w, "ann")
	w.SignIn("ann")
	refused(t, "ann's old athlete", w.Ask("ann", http.MethodGet, w.Consent("ann", 77, "yes", "activity:read").RequestURI(), nil),
		409, "athlete_already_connected")
	same(t, "entries of the trail", entriesOf(w, "ann")["STRAVA_AUTHORIZE failed"], 1)
	same(t, "the connection", connection(w, "ann"), before)
}

// TestRefusedAthleteLeavesTheFirst: the purge that was requested before the other athlete was refused deletes nothing,
// proves nothing, and has nothing counted anew or fetched.
func TestRefusedAthleteLeavesTheFirst(t *testing.T) {
	t.Parallel()
	w := small(t)
	expiring(w)
	carried(w, tally.Carried{To: noon.AddDate(0, 0, -7).Unix(), Sum: 4000, Counted: 1})
	testkit.PutRows(w.World, tables.Main, stored{"PK": "STRAVA#ATHLETE#99", "SK": "OWNER", "entityType": "StravaOwner", "userId": "bob"})

	before := testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+theMilestone(w)).Carried
	workouts := w.Count(tables.Main, "USER#ann", "WORKOUT#")

	w.SignIn("ann")
	refused(t, "bob's athlete", w.Ask("ann", http.MethodGet, w.Consent("ann", 99, "yes", "activity:read").RequestURI(), nil),
		409, "athlete_already_connected")

	fetches := fail(w, "/api/v3/athlete/activities", 503, htmlType, "")
	w.Pass(2 * link.PurgeDelay)

	same(t, "workouts", w.Count(tables.Main, "USER#ann", "WORKOUT#"), workouts)
	same(t, "proofs of a deletion", len(proofs(w)), 0)
	same(t, "what is carried", testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+theMilestone(w)).Carried, before)
	same(t, "fetches", *fetches, 0)
}

// TestMilestoneChangesMeanwhile: a pause is repeated while the milestone changes, and is
// refused after the third time; so is an evaluation.
func TestMilestoneChangesMeanwhile(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		fn  app.Function
		run func(*commitcollecttest.World, app.Env) error
		// operation is that of the write.
		operation string
	}{
		"a pause":       {milestone.UpdateMilestoneFunction(), set("PAUSED"), "UpdateItem"},
		"an evaluation": {milestone.EvaluateMilestonesFunction(), evaluate, "TransactWriteItems"},
	} {
		for changes, want := range map[int64]bool{2: true, 3: false} {
			w := small(t)
			id := reached(w)
			env := before(w.Env(c.fn), c.operation, changes, func() {
				m := testkit.Row[stored](w.World, tables.Main, "USER#ann", "MILESTONE#"+id)
				m["version"] = m["version"].(float64) + 1
				testkit.PutRows(w.World, tables.Main, m)
			})

			err := c.run(w, env)
			if (err == nil) != want || err != nil && !strings.Contains(err.Error()+codeOf(err), "milestone_version_conflict") {
				t.Errorf("%s after %d changes: got %v, want success: %v", name, changes, err, want)
			}
		}
	}
}

// TestNoticeOfAnOlderPartIsReported: a worker has died after it minted parts. The next one
// sends their notices first, and no failure of that is hidden.
func TestNoticeOfAnOlderPartIsReported(t *testing.T) {
	t.Parallel()
	w := small(t)
	id := reached(w)
	testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
	w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(workout.NoticeQueue.Name)}, nil)
	dynamotest.CheckFailures(t, &w.IO, func() error {
		m := testkit.Row[stored](w.World, tables.Main, "USER#ann", "MILESTONE#"+id)
		m["partsNoticedCount"] = 1
		testkit.PutRows(w.World, tables.Main, m)

		return evaluate(w, w.Env(milestone.EvaluateMilestonesFunction()))
	}, "TransactWriteItems *CommitCollectAudit")
	w.Logs.TakeWarnings()

	for _, m := range testkit.Messages[workout.Notice](w.World, workout.NoticeQueue) {
		same(t, "the notice", m, workout.Notice{UserID: "ann", MilestoneID: id, PartIndex: 2})
	}

	same(t, "notices", testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+id).Noticed, 2)
}

// TestUserWithoutAProfile: the account was deleted, and a session or a message outlived it.
func TestUserWithoutAProfile(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Start("ann", commitcollecttest.Goal{})
	testkit.Must(t, w.DeleteRow(tables.Main, "USER#ann", "PROFILE"))
	refused(t, "the session", w.Ask("ann", http.MethodGet, "/session", nil), 401, "invalid_session")
	same(t, "the viewer", strings.TrimSpace(w.Ask("ann", http.MethodGet, "/viewer", nil).Body), `{"signedIn":false}`)
	refused(t, "preferences", w.Ask("ann", http.MethodPatch, "/preferences", map[string]any{"units": "mi"}), 404, "user_not_found")
	testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
}

// TestSessionThatCannotBeEnded: the browser is signed out all the same, and an operator sees
// each call that fails.
func TestSessionThatCannotBeEnded(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	var session stored

	for _, r := range testkit.Rows[stored](w.World, tables.Sessions) {
		if strings.HasPrefix(r["PK"].(string), "SESSION#") {
			session = r
		}
	}

	ended := 0

	dynamotest.CheckFailures(t, &w.IO, func() error {
		testkit.PutRows(w.World, tables.Sessions, session)

		out := w.Ask("ann", http.MethodPost, "/logout", nil)
		if to := testkit.Header(out).Get("Location"); out.StatusCode != http.StatusFound || !strings.Contains(to, "/logout?") {
			t.Errorf("got %d %s to %q", out.StatusCode, out.Body, to)
		}

		if warnings := w.Logs.TakeWarnings(); len(warnings) > 0 {
			return errors.New(strings.Join(warnings, "; "))
		}

		ended++

		return nil
	})
	same(t, "sign-outs without a failure", ended, 1)
	same(t, "the trail", entriesOf(w, "ann"), map[string]int{"AUTH_SIGNUP success": 1, "AUTH_LOGOUT failed": 1, "AUTH_LOGOUT success": 1})
}

// TestAppleIsDown: the message fails, and is delivered again.
func TestAppleIsDown(t *testing.T) {
	t.Parallel()
	w, _, m := minted(t, "a")
	w.Settings[push.SettingURL] = "https://127.0.0.1:1"
	err := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier).SendNotice(w.NewContext(), m)
	same(t, "the error", codeOf(err), "apple_unavailable")
	w.Logs.TakeWarnings()
}

// TestDeletionOfAnUnknownActivity: only the deletion is known, and the answer has that.
func TestDeletionOfAnUnknownActivity(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	ingest(w, eventOf("delete", 5, noon))
	out := w.Ask("ann", http.MethodGet, "/activities/5/eligibility?milestoneId="+id, nil)
	same(t, "the answer", strings.TrimSpace(out.Body),
		`{"counts":false,"value":0,"reasons":["deleted"],"texts":["It was deleted at Strava, or cannot be seen there any more."]}`)
	same(t, "ledgers", w.Count(tables.Main, "USER#ann", "LEDGER#"), 0)
}
