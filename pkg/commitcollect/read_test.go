package commitcollect_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
)

// TestRecomputationReadsWhatTheRulesNeed: pages of 200 workouts, strongly consistently, and of
// each only some attributes: not what Strava has sent.
func TestRecomputationReadsWhatTheRulesNeed(t *testing.T) {
	t.Parallel()
	w := small(t)
	reached(w)
	env := w.Env(milestone.RecomputeMilestoneFunction())
	env.AWS = env.AWS.Copy()
	pages := 0

	env.AWS.APIOptions = append(slices.Clone(env.AWS.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("pages",
			func(ctx context.Context, in middleware.InitializeInput,
				next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				if q, ok := in.Parameters.(*dynamodb.QueryInput); ok && q.ProjectionExpression != nil {
					pages++

					same(t, "limit, consistent, attributes", []any{*q.Limit, *q.ConsistentRead, len(q.ExpressionAttributeNames) >= 10},
						[]any{int32(200), true, true})

					for _, name := range q.ExpressionAttributeNames {
						if name == "payloadJson" || name == "name" {
							t.Errorf("the attribute %s is read", name)
						}
					}
				}

				return next.HandleInitialize(ctx, in)
			}), middleware.Before)
	})
	testkit.Must(t, jobs["parts are minted on request"].run(w, env))
	same(t, "pages", pages, 1)
}

// TestSignInCrashes: after a crash anywhere the user begins again, and has one profile and a
// session.
func TestSignInCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []any {
		w := commitcollecttest.New(t, strava.Faults{})
		fn := signin.FinishLoginFunction()
		back := w.Begin("ann", "ann").RequestURI()
		whole := w.Routes[fn.Name]
		w.Routes[fn.Name] = testkit.ServeWith(w.World, fn, w.CrashingEnv(fn, p))

		var err error
		if out := w.Ask("ann", http.MethodGet, back, nil); !strings.HasSuffix(testkit.Header(out).Get("Location"), "?login=success") {
			err = fmt.Errorf("%d %s", out.StatusCode, out.Body)
		}

		p.Ended(err, "TransactWriteItems *CommitCollectAudit")

		w.Routes[fn.Name] = whole
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		w.SignInAgain("ann", "ann")
		w.Logs.TakeWarnings()
		signUps := entriesOf(w, "ann")["AUTH_SIGNUP success"]

		return []any{w.Count(tables.Main, "USER#ann", ""), row(w, "USER#ann", "PROFILE")["email"], signUps <= 1,
			w.Ask("ann", http.MethodGet, "/session", nil).Body}
	})
}

// TestSyncThatCannotBeQueuedMayBeRepeated once the function's timeout is over.
func TestSyncThatCannotBeQueuedMayBeRepeated(t *testing.T) {
	t.Parallel()
	w := small(t)
	s := testkit.Open(w.World, workout.SyncActivitiesFunction(), workout.Open)

	var last error

	dynamotest.CheckFailures(t, &w.IO, func() error {
		w.MoveClock(w.Clock.Now().Add(workout.SyncActivitiesFunction().Timeout))
		_, last = s.SyncActivities(w.NewContext(), &workout.SyncActivities{User: user("ann")})

		return last
	})
	testkit.Must(t, last)

	sent := slices.Compact(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)) // repeated if the mark fails after it
	same(t, "messages", sent, []link.Backfill{{UserID: "ann"}})
}
