// Package seasontest gives a test a season in a pick'em room without processes: its
// use cases answer, are woken by the queue and lock events on a clock that moves
// only when the test says so.
package seasontest

import (
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
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
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
	w := &World{World: testkit.New(t, pickem.Room, now), routes: http.NewServeMux()}
	w.Season = &pickemsim.Season{Clock: w.Clock, Call: w.call}
	route(w, pickem.ListEventsFunction, pickem.OpenEvents, (*pickem.Events).ListEvents)
	route(w, pickem.GetEventFunction, pickem.OpenEvents, (*pickem.Events).GetEvent)
	route(w, pickem.GetResultsFunction, pickem.OpenEvents, (*pickem.Events).GetResults)
	route(w, pickem.GetStandingsFunction, pickem.OpenEvents, (*pickem.Events).GetStandings)
	route(w, pickem.ListCorrectionsFunction, pickem.OpenEvents, (*pickem.Events).ListCorrections)
	route(w, pickem.GetMeFunction, pickem.OpenMembers, (*pickem.Members).GetMe)
	route(w, pickem.UpdateMeFunction, pickem.OpenMembers, (*pickem.Members).UpdateMe)
	route(w, pickem.PutPredictionsFunction, pickem.OpenEvents, (*pickem.Events).PutPredictions)
	route(w, pickem.CreateEventFunction, pickem.OpenEvents, (*pickem.Events).CreateEvent)
	route(w, pickem.UpdateEventFunction, pickem.OpenEvents, (*pickem.Events).UpdateEvent)
	route(w, pickem.DeleteEventFunction, pickem.OpenEvents, (*pickem.Events).DeleteEvent)
	route(w, pickem.AddMatchFunction, pickem.OpenEvents, (*pickem.Events).AddMatch)
	route(w, pickem.PutResultFunction, pickem.OpenEvents, (*pickem.Events).PutResult)
	route(w, pickem.RequestScoreFunction, pickem.OpenEvents, (*pickem.Events).RequestScore)
	route(w, pickem.ListEntriesFunction, pickem.OpenEvents, (*pickem.Events).ListEntries)
	route(w, pickem.CreateLeagueFunction, pickem.OpenLeagues, (*pickem.Leagues).CreateLeague)
	route(w, pickem.ListLeaguesFunction, pickem.OpenLeagues, (*pickem.Leagues).ListLeagues)
	route(w, pickem.JoinLeagueFunction, pickem.OpenLeagues, (*pickem.Leagues).JoinLeague)
	route(w, pickem.GetLeagueFunction, pickem.OpenLeagues, (*pickem.Leagues).GetLeague)
	route(w, pickem.GetLeagueStandingsFunction, pickem.OpenLeagues, (*pickem.Leagues).GetLeagueStandings)

	scorer := testkit.Open(w.World, pickem.ScoreEventFunction, pickem.OpenScorer)
	scoreQueue := pickem.ScoreEventFunction.On.(spec.Queue)
	testkit.Must(t, w.Queues.Poll(sqs.Mapping{Queue: scoreQueue.Name, BatchSize: scoreQueue.Batch, MaxConcurrency: scoreQueue.Concurrency},
		func(_ context.Context, event []byte) ([]byte, error) {
			var e events.SQSEvent
			if err := json.Unmarshal(event, &e); err != nil {
				return nil, err
			}
			for _, r := range e.Records {
				var m pickem.ScoreEvent
				if err := json.Unmarshal([]byte(r.Body), &m); err != nil {
					return nil, err
				}
				if err := scorer.ScoreEvent(w.Ctx(), m); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}))
	every, err := scheduler.Parse(string(pickem.LockEventsFunction.On.(spec.Schedule)), "UTC")
	testkit.Must(t, err)
	locker := testkit.Open(w.World, pickem.LockEventsFunction, pickem.OpenEvents)
	t.Cleanup(scheduler.Run(w.Clock, every, nil, func(time.Time) {
		if err := locker.LockEvents(w.Ctx()); err != nil {
			t.Error(err)
		}
	}))
	return w
}

func route[S, In, Out any](w *World, fn spec.Function, open app.Opener[S], do func(S, context.Context, *In) (*Out, error)) {
	on, answer := fn.On.(spec.Route), testkit.Serve(w.World, fn, open, do)
	w.routes.HandleFunc(on.Method+" /"+pickem.Room.Name+on.Path, func(rw http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		body, err := io.ReadAll(r.Body)
		testkit.Must(w.T, err)
		out := answer(testkit.Request(r.Method, strings.TrimPrefix(r.URL.RequestURI(), "/"+pickem.Room.Name), user, string(body)))
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
