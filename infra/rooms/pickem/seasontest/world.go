// Package seasontest gives a test a season in a pick'em room in one process: its API, the
// scoring queue and the job that locks events, on a clock that only the test moves.
package seasontest

import (
	"matchday/infra/testkit/pooltest"

	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/local/fleet"
	pickemsim "matchday/infra/rooms/pickem"
	"matchday/infra/sim/scheduler"
	"matchday/infra/sim/sqs"
	"matchday/infra/testkit"
	"matchday/pkg/pickem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/score"
	"matchday/pkg/spec"
)

// World is a room with its season.
type World struct {
	*testkit.World
	Season *pickemsim.Season

	routes *http.ServeMux
}

// New makes a world at a time, in which nothing has happened.
func New(t testing.TB, now time.Time) *World {
	t.Helper()
	w := &World{World: testkit.New(t, pickem.Room(), now), routes: http.NewServeMux()}
	users := pooltest.Attach(w.World, "http://pool/identity", "app")
	w.Season = &pickemsim.Season{Clock: w.Clock, Call: w.call, SignIn: func(ctx context.Context, user, name string) error {
		_, err := users.SignIn(ctx, user, name, nil)
		return err
	}}

	for _, fn := range pickem.Room().Functions {
		if on, ok := fn.On.(spec.Route); ok {
			w.serve(on, testkit.Serve(w.World, fn))
		}
	}

	scorer := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer)
	scoreQueue := score.ScoreEventFunction().On.(spec.Queue)
	testkit.Must(t, w.Queues.Poll(sqs.Mapping{Queue: scoreQueue.Name, BatchSize: scoreQueue.Batch, MaxConcurrency: scoreQueue.Concurrency},
		func(_ context.Context, event []byte) ([]byte, error) {
			var e events.SQSEvent
			if err := json.Unmarshal(event, &e); err != nil {
				return nil, err
			}

			for _, r := range e.Records {
				var m score.Request
				if err := json.Unmarshal([]byte(r.Body), &m); err != nil {
					return nil, err
				}

				if err := scorer.ScoreEvent(w.NewContext(), m); err != nil {
					return nil, err
				}
			}

			return nil, nil
		}))

	every, err := scheduler.Parse(string(event.LockEventsFunction().On.(spec.Schedule)), "UTC")
	testkit.Must(t, err)

	locker := testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents)
	t.Cleanup(scheduler.Run(w.Clock, every, nil, func(time.Time) {
		if err := locker.LockEvents(w.NewContext()); err != nil {
			t.Error(err)
		}
	}))

	return w
}

// serve adds a route to those of call.
func (w *World) serve(on spec.Route, answer testkit.Route) {
	w.routes.HandleFunc(on.Method+" /"+pickem.Room().Spec.Name+on.Path, func(rw http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		body, err := io.ReadAll(r.Body)
		testkit.Must(w.T, err)

		out := answer(testkit.Request(r.Method, strings.TrimPrefix(r.URL.RequestURI(), "/"+pickem.Room().Spec.Name), user, string(body)))
		rw.WriteHeader(out.StatusCode)
		io.WriteString(rw, out.Body)
	})
}

// call is fleet.Fleet's Call.
func (w *World) call(ctx context.Context, user, method, path string, in, out any) error {
	var body io.Reader = http.NoBody

	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}

		body = strings.NewReader(string(text))
	}

	r := httptest.NewRequestWithContext(ctx, method, path, body)
	r.SetBasicAuth(user, "")

	answer := httptest.NewRecorder()
	w.routes.ServeHTTP(answer, r)

	if answer.Code > 299 {
		return &fleet.Refusal{Request: method + " " + path, Status: answer.Code, Body: answer.Body.Bytes()}
	}

	if out == nil {
		return nil
	}

	return json.Unmarshal(answer.Body.Bytes(), out)
}
