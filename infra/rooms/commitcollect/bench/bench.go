// Package bench measures the CommitCollect room: its screens, a workout that Strava tells
// of, and the milestones that are computed after it.
package bench

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/dynamodb"
	sim "matchday/infra/sim/strava"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// Suite is the room's part of the benchmark.
var Suite = measure.Suite{Run: run, Binaries: []app.Function{workout.IngestEventsFunction()}}

// useCost is one call of a function in this process, for a user with so many workouts of a
// year and three milestones.
type useCost struct {
	What     string  `json:"what"`
	Workouts int     `json:"workouts"`
	Answer   float64 `json:"answer"` // bytes of it; 0 for a job
	target   float64 // read and write units; 0 for none
	measure.Counters
	measure.Capacity
	measure.Usage `json:"-"`
}

// The functions by name. The others are compared with the first.
const (
	getHealth = "get-health"
	ingest    = "ingest-events"
	evaluate  = "evaluate-milestones"
)

// few and many are the workouts of users. The second is the most that a live read may
// inspect.
const (
	few    = 100
	many   = milestone.MaxInspect
	rounds = 15
)

// yearsEnd is when the user has the workouts.
var yearsEnd = time.Date(2026, 12, 27, 20, 0, 0, 0, time.UTC)

func run(ctx context.Context) ([]measure.Row, any, error) {
	var all []useCost
	for _, n := range []int{few, many} {
		measure.Say("a user of CommitCollect with %d workouts", n)
		costs, err := benchUses(ctx, n)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, costs...)
	}
	return rows(all), map[string]any{"uses": all}, nil
}

// use is a function to measure. before is not measured.
type use struct {
	useCost
	before func() error
	open   func(app.Env) (call, error)
}

// call calls a function, and returns the size of the answer.
type call func(context.Context) (answer int, err error)

// benchUses measures the functions in turns. In each turn the user has a new workout, which
// is ingested and counted.
func benchUses(ctx context.Context, workouts int) ([]useCost, error) {
	c := clock.New(yearsEnd, clock.Free)
	w, err := measure.NewWorld(ctx, commitcollect.Room().Spec, c)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	server := sim.New(sim.Config{Clock: c, ID: appID, Secret: appSecret, Quarter: 1_000_000, Day: 1_000_000})
	w.Provider = &measure.Provider{Handler: server}
	token, err := seed(ctx, w, server, workouts)
	if err != nil {
		return nil, err
	}
	var event workout.Event
	uploaded := 0
	uses := []use{
		{useCost: useCost{What: getHealth}, open: screen(profile.GetHealthFunction(), "", token)},
		{useCost: useCost{What: "get-viewer", target: 4}, open: screen(profile.GetViewerFunction(), "", token)},
		{useCost: useCost{What: "list-recent"}, open: screen(workout.ListRecentFunction(), "", token)},
		{useCost: useCost{What: "list-milestones", target: 4}, open: screen(milestone.ListMilestonesFunction(), "", token)},
		{useCost: useCost{What: "get-milestone", target: 4}, open: screen(milestone.GetMilestoneFunction(), milestoneID(0), token)},
		{
			useCost: useCost{What: ingest},
			before: func() error {
				uploaded++
				id := server.Upload(athlete, sim.Activity{Name: "Run", SportType: "Run", StartDate: yearsEnd.Add(time.Duration(uploaded-100) * time.Minute * 5), Distance: 1000, ElevationGain: 5, MovingTime: 300, ElapsedTime: 310})
				event = workout.Event{Event: strava.Event{ObjectType: "activity", ObjectID: id, AspectType: "create", OwnerID: athlete, EventTime: yearsEnd.Unix() + int64(uploaded)}}
				return nil
			},
			open: func(env app.Env) (call, error) {
				s, err := workout.OpenIngester(ctx, env)
				return func(ctx context.Context) (int, error) { return 0, s.IngestEvent(ctx, event) }, err
			},
		},
		{useCost: useCost{What: evaluate}, open: func(env app.Env) (call, error) {
			s, err := milestone.Open(ctx, env)
			return func(ctx context.Context) (int, error) {
				return 0, s.EvaluateMilestones(ctx, workout.Changed{UserID: user})
			}, err
		}},
	}
	var m dynamodb.Meter
	costs, calls, spent := make([]useCost, len(uses)), make([]call, len(uses)), make([][]measure.Usage, len(uses))
	for i, u := range uses {
		metered := w.Env()
		metered.AWS = m.On(metered.AWS)
		do, err := u.open(metered)
		if err != nil {
			return nil, err
		}
		if u.before != nil {
			if err := u.before(); err != nil {
				return nil, err
			}
		}
		m.Take()
		answer, err := do(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.What, err)
		}
		u.Workouts, u.Capacity, u.Answer = workouts, measure.Capacity(m.Take()), float64(answer)
		costs[i] = u.useCost
		if calls[i], err = u.open(w.Env()); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		for i, u := range uses {
			if u.before != nil {
				if err := u.before(); err != nil {
					return nil, err
				}
			}
			w.Reset()
			each, err := measure.Run(func() error { _, err := calls[i](ctx); return err })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", u.What, err)
			}
			spent[i] = append(spent[i], each)
			if c := w.Counts(); round == 0 || c.Sum() < costs[i].Sum() { // the fewest, without retries
				costs[i].Counters = c
			}
		}
	}
	for i := range costs {
		costs[i].Usage = measure.MedianUsage(spent[i])
	}
	return costs, nil
}

// screen returns what calls a function of a route, which may have an id in its path, with the
// cookie of a session.
func screen(fn app.Function, id, token string) func(app.Env) (call, error) {
	route := fn.On.(spec.Route)
	path, _, _ := strings.Cut(route.Path, "{")
	request := measure.SignedRequest(route, path+id, "", "")
	request.RequestContext.Authorizer = nil
	request.Cookies = []string{signin.Cookie.Name + "=" + token}
	return func(env app.Env) (call, error) {
		handle, err := measure.Open(context.Background(), fn, env)
		return func(ctx context.Context) (int, error) {
			out, err := handle(ctx, request)
			if err == nil && out.StatusCode >= http.StatusMultipleChoices {
				err = failed(out)
			}
			return len(out.Body), err
		}, err
	}
}

func failed(out events.APIGatewayV2HTTPResponse) error {
	return fmt.Errorf("%d %s", out.StatusCode, out.Body)
}
