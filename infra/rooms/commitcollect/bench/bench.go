// Package bench measures the CommitCollect room: its screens, a workout from a webhook,
// and the milestones that are computed after it.
package bench

import (
	"context"
	"strings"
	"time"

	"matchday/infra/sim/clock"
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
	measure.Cost
	Workouts int     `json:"workouts"`
	target   float64 // read units; 0 for none
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
	uses := []struct {
		measure.Use
		target float64
	}{
		{Use: screen(getHealth, profile.GetHealthFunction(), "", token)},
		{screen("get-viewer", profile.GetViewerFunction(), "", token), 4},
		{Use: screen("list-recent", workout.ListRecentFunction(), "", token)},
		{screen("list-milestones", milestone.ListMilestonesFunction(), "", token), 4},
		{screen("get-milestone", milestone.GetMilestoneFunction(), milestoneID(0), token), 4},
		{Use: measure.Use{
			What: ingest,
			Before: func() error {
				uploaded++
				id := server.Upload(athlete, sim.Activity{
					Name: "Run", SportType: "Run", StartDate: yearsEnd.Add(time.Duration(uploaded-100) * time.Minute * 5),
					Distance: 1000, ElevationGain: 5, MovingTime: 300, ElapsedTime: 310,
				})
				event = workout.Event{Event: strava.Event{
					ObjectType: "activity", ObjectID: id, AspectType: "create", OwnerID: athlete, EventTime: yearsEnd.Unix() + int64(uploaded),
				}}

				return nil
			},
			Open: func(ctx context.Context, env app.Env) (measure.Call, error) {
				s, err := workout.OpenIngester(ctx, env)
				return func(ctx context.Context) (int, error) { return 0, s.IngestEvent(ctx, event) }, err
			},
		}},
		{Use: measure.Use{What: evaluate, Open: func(ctx context.Context, env app.Env) (measure.Call, error) {
			s, err := milestone.Open(ctx, env)

			return func(ctx context.Context) (int, error) {
				return 0, s.EvaluateMilestones(ctx, workout.Changed{UserID: user})
			}, err
		}}},
	}

	var measured []measure.Use
	for _, u := range uses {
		measured = append(measured, u.Use)
	}

	costs, err := w.Uses(ctx, rounds, measured)
	if err != nil {
		return nil, err
	}

	all := make([]useCost, len(costs))
	for i, c := range costs {
		all[i] = useCost{c, workouts, uses[i].target}
	}

	return all, nil
}

// screen returns the use of a function with a route, which may have an id in its path, with
// the cookie of a session.
func screen(what string, fn app.Function, id, token string) measure.Use {
	route := fn.On.(spec.Route)
	path, _, _ := strings.Cut(route.Path, "{")
	request := measure.SignedRequest(route, path+id, "", "")
	request.RequestContext.Authorizer = nil
	request.Cookies = []string{signin.Cookie.FullName() + "=" + token}

	return measure.Use{What: what, Open: measure.Ask(fn, measure.Same(request))}
}
