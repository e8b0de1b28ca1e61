package upload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// Errors of the package.
var (
	errFuture = problem.New(problem.Invalid, "workout_in_future", "the workout must have ended")
	errMoving = problem.New(problem.Invalid, "invalid_workout", "movingSeconds must not exceed elapsedSeconds")
	errTwice  = problem.New(problem.Invalid, "repeated_workout", "a request must have an id once")
)

// maxAhead is how far a phone's clock may be ahead of ours.
const maxAhead = 10 * time.Minute

// The limits of a user: of workouts that are stored or changed in a day, and of those that are kept. A
// phone that uploads its history for the first time has some hundred of a year.
var (
	perDay       = spec.Limit{Name: "uploaded workouts", Max: 1000, Per: 24 * time.Hour, Code: "too_many_uploads"}
	keptWorkouts = spec.Limit{Name: "uploaded workouts per user", Max: 10_000, Code: "too_many_workouts"}
)

// Service is the service of uploads.
type Service struct {
	session.Sessions
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Service{Sessions: signin.Sessions(env, db), db: db, queue: queue.Open(env.AWS, env.Queues), now: env.Now}, nil
}

// Workout is a workout of a phone in a request.
type Workout struct {
	_ struct{} `schema:"UploadedWorkout"`

	ID        string `json:"id" pattern:"^[A-Za-z0-9-]{1,64}$" doc:"Its id on the phone: HealthKit's UUID, or Health Connect's id." example:"5E0B7B2C-9E0E-4F0B-8C7B-3F1C2B6D9A10"`
	App       string `json:"app" enum:"HEALTHKIT,HEALTH_CONNECT" doc:"Which store of the phone it is from."`
	Sport     string `json:"sport" pattern:"^[A-Z][A-Za-z]{1,39}$" doc:"The sport type, as Strava names it. One that no milestone counts is kept." example:"TrailRun"`
	StartedAt int64  `json:"startDateUtc" minimum:"1" maximum:"4102444800" doc:"When it began, epoch seconds." example:"1780729200"`
	UTCOffset int32  `json:"utcOffsetSeconds" minimum:"-64800" maximum:"64800" doc:"Seconds that the local time was ahead of UTC."`
	Distance  int64  `json:"distanceMeters" minimum:"0" maximum:"2000000" doc:"Metres."`
	Elapsed   int64  `json:"elapsedSeconds" minimum:"1" maximum:"172800" doc:"From the begin to the end, pauses included."`
	Moving    int64  `json:"movingSeconds" minimum:"0" maximum:"172800" doc:"Without pauses; 0 if unknown."`
	Elevation int64  `json:"elevationMeters" minimum:"0" maximum:"100000" doc:"Metres of ascent."`
	Indoor    bool   `json:"indoor" doc:"Whether it took place indoors."`
	Manual    bool   `json:"manual" doc:"Whether it was entered by hand."`
	Revision  int64  `json:"revision" minimum:"0" maximum:"9007199254740991" doc:"Increases when the phone changes the workout."`
}

// PutWorkouts is the request to store workouts of the caller's phone.
type PutWorkouts struct {
	auth.User
	Body struct {
		Workouts []Workout `json:"workouts" minItems:"1" maxItems:"100" nullable:"false" doc:"The workouts, each once."`
	}
}

// Result is what became of an uploaded workout.
type Result string

// The results.
const (
	Stored    Result = "stored"
	Unchanged Result = "unchanged" // the revision was stored before
	Older     Result = "older"     // a higher revision is stored
	Removed   Result = "removed"   // the workout was removed before
)

// Outcome is a workout in the answer.
type Outcome struct {
	_ struct{} `schema:"UploadOutcome"`

	ID     string `json:"id" doc:"The id of the workout."`
	Result Result `json:"result" enum:"stored,unchanged,older,removed" doc:"Whether it is stored: unchanged, if its revision was; older, if a higher one is; removed, if the user has removed it."`
}

// Outcomes is the answer with what became of the workouts.
type Outcomes struct {
	Body struct {
		Workouts []Outcome `json:"workouts" doc:"What became of each, in the order of the request."`
	}
}

// stores is what a function uses that changes uploads.
var stores = signin.Caller(tables.GetWorkouts, tables.GetLedger, tables.StoreUploads)

// PutWorkoutsFunction stores workouts of the caller's phone.
func PutWorkoutsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/put-workouts",
		Does:   "Stores workouts of the caller's phone.",
		IfDown: "Workouts of phones appear late: the app sends them again.",
		On:     spec.Route{Method: "PUT", Path: "/workouts", Auth: spec.Session},
		Uses:   stores,
		Sends:  []spec.Queue{workout.ChangeQueue},
		Limits: []spec.Limit{perDay, keptWorkouts},
		Memory: 256, Timeout: 15 * time.Second,
	}, Open, (*Service).PutWorkouts, errFuture, errMoving, errTwice)
}

// PutWorkouts stores workouts, and has the caller's milestones computed. If a limit refuses some of them,
// others may be stored. A second run finds the workouts unchanged, and has the milestones computed again,
// because the first may have died before its message. Errors: workout_in_future, invalid_workout,
// repeated_workout, too_many_uploads, too_many_workouts.
func (s *Service) PutWorkouts(ctx context.Context, in *PutWorkouts) (*Outcomes, error) {
	all := in.Body.Workouts
	if err := s.check(all); err != nil {
		return nil, err
	}

	results, err := s.store(ctx, in.UserID, all)

	isStored := func(r Result) bool { return r == Stored || r == Unchanged }
	if slices.ContainsFunc(results, isStored) {
		if err := s.requestCount(ctx, in.UserID); err != nil {
			return nil, err
		}
	}

	if err != nil {
		return nil, err
	}

	out := &Outcomes{}
	for i, w := range all {
		out.Body.Workouts = append(out.Body.Workouts, Outcome{ID: w.ID, Result: results[i]})
	}

	return out, nil
}

// requestCount has the milestones of a user computed.
func (s *Service) requestCount(ctx context.Context, userID string) error {
	return s.queue.SendFIFO(ctx, workout.ChangeQueue, userID, workout.Changed{UserID: userID})
}

// check returns why workouts are refused, nil if they are not.
func (s *Service) check(all []Workout) error {
	latest := s.now().Add(maxAhead).Unix()
	seen := map[string]bool{}

	for i, w := range all {
		field := func(name string) string { return fmt.Sprintf("body.workouts[%d].%s", i, name) }

		switch {
		case seen[w.ID]:
			return errTwice.In(field("id"))
		case w.StartedAt+w.Elapsed > latest:
			return errFuture.In(field("startDateUtc"))
		case w.Moving > w.Elapsed:
			return errMoving.In(field("movingSeconds"))
		}

		seen[w.ID] = true
	}

	return nil
}

// DeleteWorkout is the request to remove a workout of the caller's phone.
type DeleteWorkout struct {
	auth.User
	ID string `path:"workoutId" pattern:"^[A-Za-z0-9-]{1,64}$" doc:"The id of the workout on the phone."`
}

// DeleteWorkoutFunction removes a workout of the caller's phone.
func DeleteWorkoutFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/delete-workout",
		Does:   "Removes a workout of the caller's phone.",
		IfDown: "Workouts that were deleted on a phone still count.",
		On:     spec.Route{Method: "DELETE", Path: "/workouts/{workoutId}", Auth: spec.Session},
		Uses:   stores,
		Sends:  []spec.Queue{workout.ChangeQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DeleteWorkout)
}

// DeleteWorkout removes a workout, for good, and has the caller's milestones computed. A workout that is
// unknown is removed already. A second run has the milestones computed again.
func (s *Service) DeleteWorkout(ctx context.Context, in *DeleteWorkout) (*httpapi.Removed, error) {
	known, err := s.remove(ctx, in.UserID, in.ID)
	if err != nil {
		return nil, err
	}

	if known {
		if err := s.requestCount(ctx, in.UserID); err != nil {
			return nil, err
		}
	}

	return httpapi.NewRemoved(), nil
}
