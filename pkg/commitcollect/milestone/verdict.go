package milestone

import (
	"cmp"
	"context"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// ListVerdicts is the request for what counts for a milestone of the caller, and why the rest does not.
type ListVerdicts struct {
	auth.User
	ID     string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
	Cursor string `query:"cursor" pattern:"^[0-9]{10}-[A-Za-z0-9-]{1,64}$" doc:"The next of the page before." example:"1780729200-12345678901"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// Verdict is whether a workout counts for a milestone, in an answer.
type Verdict struct {
	ActivityID  string         `json:"activityId" doc:"The id of the activity at Strava." example:"12345678901"`
	Name        string         `json:"name,omitempty" doc:"What the user calls it. Absent if it is not kept any more."`
	SportType   string         `json:"sportType" doc:"Strava's sport type." example:"GravelRide"`
	StartedAt   time.Time      `json:"startedAt" doc:"When it began."`
	Counts      bool           `json:"counts" doc:"Whether it counts."`
	Value       int64          `json:"value" doc:"What it adds, or would add, in the unit of the milestone."`
	Reasons     []tally.Reason `json:"reasons" doc:"Why it does not count: codes."`
	Texts       []string       `json:"texts" doc:"The same for the user."`
	DuplicateOf string         `json:"duplicateOf,omitempty" doc:"The id of the activity that counts instead."`
}

// VerdictList is the answer with verdicts.
type VerdictList struct {
	Body struct {
		Status   string    `json:"milestoneStatus" enum:"ACTIVE,PAUSED,COMPLETED,ABANDONED,ENDED" doc:"Only an active one counts new workouts."`
		Progress int64     `json:"rawProgress" doc:"What the workouts add up to now, all pages together."`
		Counted  int       `json:"countedTotal" doc:"The workouts that count, of all pages."`
		Total    int       `json:"workoutsTotal" doc:"The workouts of all pages."`
		Verdicts []Verdict `json:"workouts" doc:"The workouts since the start of the period, to the end of its last month, the latest first."`
		Next     string    `json:"next,omitempty"`

		ListedFrom *time.Time `json:"listedFrom,omitempty" doc:"If given, earlier workouts cannot be listed now: they are not kept, and Strava cannot be asked. Try again later. Those that count are in rawProgress and countedTotal while the milestone is open."`
	}
}

// ListVerdictsFunction returns what counts for a milestone of the caller, and why the rest does not.
func ListVerdictsFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/list-verdicts",
		Does:    "Returns what counts for a milestone of the caller, how much of it, and why the rest does not.",
		IfDown:  "Users cannot see what counted.",
		On:      spec.Route{Method: "GET", Path: "/milestones/{milestoneId}/workouts", Auth: spec.Session},
		Uses:    append(signin.Caller(tables.ReadMilestone, tables.ReadLedgers, tables.GetWorkouts), workout.Reads...),
		Secrets: workout.ReadsSecrets, Budgets: workout.ReadsBudgets, Emits: workout.ReadsMetrics,
		Memory: 256, Timeout: 25 * time.Second,
	}, OpenReading, (*Service).ListVerdicts, errNotFound, item.ErrNoUser)
}

// ListVerdicts returns a page of the workouts of a milestone's period. Each page reads the ledgers of its
// months, because a duplicate is known from all workouts, and the workouts of the
// page for their names. What is not kept any more it reads from Strava, within the calls of the user's
// backfills. Errors: milestone_not_found.
func (s *Service) ListVerdicts(ctx context.Context, in *ListVerdicts) (*VerdictList, error) {
	out, source, err := s.verdicts(ctx, in.UserID, in.ID, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	keys := make([]dynamo.Item, len(out.Body.Verdicts))
	for i, v := range out.Body.Verdicts {
		keys[i] = dynamo.Key(tables.GetWorkouts, item.User(in.UserID), source.Workout(v.ActivityID))
	}

	rows, err := dynamo.GetAll[workout.Row](ctx, s.db.Eventual(), tables.GetWorkouts, keys)
	names := map[string]string{}

	for _, w := range rows {
		names[w.ActivityID] = w.Name
	}

	for i, v := range out.Body.Verdicts {
		out.Body.Verdicts[i].Name = cmp.Or(v.Name, names[v.ActivityID])
	}

	return out, err
}

// verdicts returns a page of the workouts of a milestone's period, without the names of those that are kept, and their source.
func (s *Service) verdicts(ctx context.Context, userID, id, cursor string, limit int) (*VerdictList, item.Source, error) {
	r, err := s.read(ctx, userID, id)
	if err != nil {
		return nil, "", err
	}

	u, err := item.ReadUser(ctx, s.db, userID)
	if err != nil {
		return nil, "", err
	}

	known, err := s.kept(ctx, r)
	if err == nil {
		known, err = s.withHistory(ctx, r, known)
	}

	if err != nil {
		return nil, "", err
	}

	g, entries := r.Goal(), known.entries

	sum, err := s.countInTime(ctx, r, known.carried, entries, u.Counts)
	if err != nil {
		return nil, "", err
	}

	entries = slices.DeleteFunc(entries, func(e tally.Entry) bool { return e.StartedAt < r.Start })
	slices.SortFunc(entries, workout.LatestFirst)

	out := &VerdictList{}
	out.Body.Status, out.Body.Progress = r.State(s.now()), sum.Progress
	out.Body.Counted, out.Body.Total, out.Body.ListedFrom = sum.Counted, len(entries), moment(known.from)

	entries, out.Body.Next = workout.CutPage(entries, cursor, limit)

	out.Body.Verdicts = []Verdict{}
	for _, e := range entries {
		reasons := append(slices.Clone(sum.Why[e.ActivityID]), r.against(e.StartedAt, s.now())...)
		v := Verdict{
			ActivityID:  e.ActivityID,
			Name:        known.names[e.ActivityID],
			SportType:   e.SportType,
			StartedAt:   time.Unix(e.StartedAt, 0).UTC(),
			Counts:      len(reasons) == 0,
			Value:       e.Value(g.Target),
			Reasons:     []tally.Reason{},
			Texts:       []string{},
			DuplicateOf: sum.TwinOf[e.ActivityID],
		}

		for _, reason := range reasons {
			v.Reasons, v.Texts = append(v.Reasons, reason), append(v.Texts, textOf(reason, r.From()))
		}

		out.Body.Verdicts = append(out.Body.Verdicts, v)
	}

	return out, r.From(), nil
}

// entriesOf returns the workouts of the months of a milestone's period.
func (s *Service) entriesOf(ctx context.Context, r Row) ([]tally.Entry, error) {
	to := int64(workout.EndOfTime)
	if end := r.EndsAt(); !end.IsZero() {
		to = end.Unix()
	}

	return workout.EntriesOf(ctx, s.db, r.From(), r.UserID, r.Start, to)
}

// ListUserVerdicts is the request of an administrator for what counts for a milestone of a user.
type ListUserVerdicts struct {
	auth.Admin
	Of     string `path:"userId" maxLength:"64" doc:"The id of the user."`
	ID     string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
	Cursor string `query:"cursor" pattern:"^[0-9]{10}-[A-Za-z0-9-]{1,64}$" doc:"The next of the page before." example:"1780729200-12345678901"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// UserVerdict is whether a workout of a user counts, without what the user did.
type UserVerdict struct {
	ActivityID  string         `json:"activityId" doc:"The id of the activity at Strava." example:"12345678901"`
	StartedAt   time.Time      `json:"startedAt" doc:"When it began."`
	Counts      bool           `json:"counts" doc:"Whether it counts."`
	Reasons     []tally.Reason `json:"reasons" doc:"Why it does not count: codes."`
	DuplicateOf string         `json:"duplicateOf,omitempty" doc:"The id of the activity that counts instead."`
}

// UserVerdictList is the answer with verdicts for an administrator.
type UserVerdictList struct {
	Body struct {
		Verdicts []UserVerdict `json:"workouts" doc:"The workouts of the period, the latest first."`
		Next     string        `json:"next,omitempty"`

		ListedFrom *time.Time `json:"listedFrom,omitempty" doc:"If given, earlier workouts are not all listed: they are not kept. The user's own list has them from Strava."`
	}
}

// ListUserVerdictsFunction returns to an administrator what counts for a milestone of a user.
func ListUserVerdictsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-user-verdicts",
		Does:   "Returns to an administrator which workouts of a user count for a milestone, and why the rest does not.",
		IfDown: "Administrators cannot answer why a workout does not count.",
		On:     spec.Route{Method: "GET", Path: "/admin/users/{userId}/milestones/{milestoneId}/workouts", Auth: spec.Admin},
		Uses:   []spec.Access{tables.ReadMilestone, tables.GetProfile, tables.ReadLedgers, tables.GetConnection},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).ListUserVerdicts, errNotFound, item.ErrNoUser)
}

// ListUserVerdicts returns ids, verdicts and times: an administrator does not see what a user did, how
// far or where. Errors: milestone_not_found, user_not_found.
func (s *Service) ListUserVerdicts(ctx context.Context, in *ListUserVerdicts) (*UserVerdictList, error) {
	all, _, err := s.verdicts(ctx, in.Of, in.ID, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	out := &UserVerdictList{}
	out.Body.Next, out.Body.Verdicts, out.Body.ListedFrom = all.Body.Next, []UserVerdict{}, all.Body.ListedFrom

	for _, v := range all.Body.Verdicts {
		out.Body.Verdicts = append(out.Body.Verdicts, UserVerdict{v.ActivityID, v.StartedAt, v.Counts, v.Reasons, v.DuplicateOf})
	}

	return out, nil
}
