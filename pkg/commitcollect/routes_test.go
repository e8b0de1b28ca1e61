package commitcollect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// TestFailedCallOfARouteIsReported: no answer hides that a call has failed, except that of
// the trail, and that to Strava at the end of a connection. A sign-out always succeeds, and
// what browsers bring from other sites is valid once: these have tests of their own.
func TestFailedCallOfARouteIsReported(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id, kept := w.Start("ann", commitcollecttest.Goal{}), w.Start("ann", commitcollecttest.Goal{})
	run := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
	w.Pass(time.Minute)

	path := share(w, "ann", id)

	var key string
	for _, r := range testkit.Rows[stored](w.World, tables.Idempotency) {
		key = r["IdempotencyKey"].(string)
	}

	phone := push.Token(strings.Repeat("a1", 32))
	tried := map[string]bool{
		signin.FinishLoginFunction().Name:     true,
		signin.LogoutFunction().Name:          true,
		signin.FollowLogoutFunction().Name:    true,
		link.FinishConnectFunction().Name:     true,
		profile.GetHealthFunction().Name:      true,
		workout.VerifyWebhookFunction().Name:  true,
		workout.ReceiveWebhookFunction().Name: true, // the last is TestWebhookIsRepeatedUnlessItIsQueued
	}

	for _, c := range []struct {
		admin bool
		route string
		path  string
		body  any
	}{
		{false, "GET /session", "/session", nil},
		{false, "GET /viewer", "/viewer", nil},
		{false, "GET /auth/login", "/auth/login", nil},
		{false, "GET /strava/connect", "/strava/connect", nil},
		{false, "GET /strava/status", "/strava/status", nil},
		{false, "GET /activities/recent", "/activities/recent", nil},
		{false, "GET /activities/{activityId}/eligibility", fmt.Sprintf("/activities/%d/eligibility?milestoneId=%s", run, id), nil},
		{false, "PUT /workouts", "/workouts", map[string]any{"workouts": []any{phoneRun("A", noon.Add(-time.Hour), 5000, 1)}}},
		{false, "DELETE /workouts/{workoutId}", "/workouts/A", nil},
		{false, "POST /activities/sync", "/activities/sync", nil},
		{false, "GET /models", "/models", nil},
		{false, "GET /models/{modelId}", "/models/trike", nil},
		{false, "POST /milestones", "/milestones",
			map[string]any{
				"modelId":          "trike",
				"sport":            "RUN",
				"targetType":       "DISTANCE_METERS",
				"totalTarget":      1000,
				"periodStartAtUtc": 1767225600,
			}},
		{false, "GET /milestones", "/milestones", nil},
		{false, "GET /milestones/{milestoneId}", "/milestones/" + id, nil},
		{false, "GET /milestones/{milestoneId}/awards", "/milestones/" + id + "/awards", nil},
		{false, "GET /milestones/{milestoneId}/workouts", "/milestones/" + id + "/workouts", nil},
		{false, "POST /milestones/{milestoneId}/recompute", "/milestones/" + id + "/recompute", nil},
		{false, "PATCH /milestones/{milestoneId}", "/milestones/" + id, map[string]any{"status": "ACTIVE"}},
		{false, "PUT /milestones/{milestoneId}/share", "/milestones/" + kept + "/share", nil},
		{false, "GET /shelf/{shareId}/picture.png", path, nil},
		{false, "DELETE /milestones/{milestoneId}/share", "/milestones/" + id + "/share", nil},
		{false, "DELETE /milestones/{milestoneId}", "/milestones/" + id, nil},
		{false, "PATCH /preferences", "/preferences",
			map[string]any{
				"keepWorkouts": false,
				"counts":       map[string]any{"virtual": true, "eBike": true, "handcycle": true, "manual": true, "private": true},
			}},
		{false, "POST /devices", "/devices", map[string]any{"deviceToken": phone}},
		{false, "DELETE /devices/{deviceId}", "/devices/" + string(phone.ID()), nil},
		{false, "GET /audit", "/audit", nil},
		{false, "DELETE /strava/connection", "/strava/connection", nil},
		{false, "GET /account/export", "/account/export", nil},
		{false, "DELETE /account", "/account", nil},
		{true, "GET /admin/strava/subscription", "/admin/strava/subscription", nil},
		{true, "POST /admin/strava/subscription", "/admin/strava/subscription", nil},
		{true, "DELETE /admin/strava/subscription", "/admin/strava/subscription", nil},
		{true, "POST /admin/replay/{idempotencyKey}", "/admin/replay/" + key, nil},
		{true, "PUT /admin/models/{modelId}", "/admin/models/kite", map[string]any{"name": "Kite", "year": 2026, "partsTotal": 1}},
		{true, "PUT /admin/models/{modelId}/parts/{partIndex}", "/admin/models/kite/parts/1",
			map[string]any{"partName": "Tail", "meshFile": "a.glb", "attachPoint": "a", "displayOrder": 1}},
		{true, "POST /admin/models/{modelId}/activate", "/admin/models/kite/activate", nil},
		{true, "GET /admin/models", "/admin/models", nil},
		{true, "GET /admin/users/{userId}", "/admin/users/ann", nil},
		{true, "POST /admin/users/{userId}/replay", "/admin/users/ann/replay", nil},
		{true, "GET /admin/users/{userId}/milestones/{milestoneId}/workouts", "/admin/users/ann/milestones/" + kept + "/workouts", nil},
		{true, "POST /admin/models/{modelId}/retire", "/admin/models/kite/retire", nil},
		{true, "GET /admin/audit/correlations/{correlationId}", "/admin/audit/correlations/x", nil},
		{true, "GET /admin/audit/events/{type}/{month}", "/admin/audit/events/AUTH_LOGIN/202606", nil},
	} {
		method, _, _ := strings.Cut(c.route, " ")
		for _, f := range commitcollect.Room().Functions {
			if on, ok := f.On.(spec.Route); ok && on.Method+" "+on.Path == c.route {
				tried[f.Name] = true
			}
		}

		var last events.APIGatewayV2HTTPResponse

		run := func() error {
			w.MoveClock(w.Clock.Now().Add(15 * time.Minute)) // a user may sync again

			if last = w.Ask("ann", method, c.path, c.body); c.admin {
				last = w.AskAdmin(method, c.path, c.body)
			}

			return testkit.Failed(last)
		}

		t.Log(c.route)
		dynamotest.CheckFailures(t, &w.IO, run, "TransactWriteItems *CommitCollectAudit", "/oauth/token", "/oauth/revoke")

		if last.StatusCode >= 400 {
			t.Errorf("%s: got %d %s after all failures, want success", c.route, last.StatusCode, last.Body)
		}

		w.Logs.TakeWarnings()
	}

	for _, f := range commitcollect.Room().Functions {
		if _, ok := f.On.(spec.Route); ok && !tried[f.Name] {
			t.Errorf("%s is not tried", f.Name)
		}
	}
}
