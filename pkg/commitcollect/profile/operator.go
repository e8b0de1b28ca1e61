package profile

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Operator is the service of users for administrators. It returns ids and times, and neither an address
// nor what a user did.
type Operator struct {
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
}

// OpenOperator opens the service.
func OpenOperator(_ context.Context, env app.Env) (*Operator, error) {
	return &Operator{dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues), env.Now}, nil
}

// GetUser is the request of an administrator for a user.
type GetUser struct {
	auth.Admin
	Of string `path:"userId" maxLength:"64" doc:"The id of the user."`
}

// UserPage is the answer with a user.
type UserPage struct {
	Body struct {
		_ struct{} `schema:"UserPageBody"`

		UserID      string          `json:"userId" doc:"The id of the user."`
		CreatedAt   string          `json:"createdAt" doc:"When the user signed in for the first time."`
		Connection  string          `json:"connection" enum:"NONE,CONNECTED,BROKEN" doc:"The state of the connection to Strava."`
		ConnectedAt *time.Time      `json:"connectedAt,omitempty" doc:"Since when it exists."`
		FetchedAt   *time.Time      `json:"fetchedAt,omitempty" doc:"When the last complete fetch of the activities began."`
		Milestones  []UserMilestone `json:"milestones" doc:"The milestones, the newest first."`
	}
}

// UserMilestone is a milestone of a user, in an answer to an administrator.
type UserMilestone struct {
	MilestoneID string     `json:"milestoneId" doc:"The id of the milestone."`
	ModelID     string     `json:"modelId" doc:"The id of the model."`
	Status      string     `json:"status" enum:"ACTIVE,PAUSED,COMPLETED,ABANDONED,ENDED" doc:"An active one mints parts."`
	CreatedAt   time.Time  `json:"createdAt" doc:"When it was started."`
	PartsTotal  int        `json:"partsTotal" doc:"The number of parts."`
	Awarded     int        `json:"partsAwardedCount" doc:"The parts that are minted."`
	Noticed     int        `json:"partsNoticedCount" doc:"The parts whose notice was sent."`
	AwardedAt   *time.Time `json:"lastAwardedAt,omitempty" doc:"When the last part was minted."`
	Version     int        `json:"version" doc:"Increases with each change."`

	Source    item.Source `json:"source" enum:"STRAVA,PHONE" doc:"Where the workouts come from that count."`
	SettlesAt *time.Time  `json:"settlesAt,omitempty" doc:"When the next part is minted, if no workout changes. Absent: none waits."`
}

// GetUserFunction returns a user to an administrator.
func GetUserFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/get-user",
		Does:   "Returns the connection and the milestones of a user to an administrator, without addresses and distances.",
		IfDown: "Administrators cannot look into a user's problem.",
		On:     spec.Route{Method: "GET", Path: "/admin/users/{userId}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.GetProfile, tables.GetConnection, tables.ListMilestones},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenOperator, (*Operator).GetUser, item.ErrNoUser)
}

// GetUser returns the connection and the milestones of a user. Errors: user_not_found.
func (s *Operator) GetUser(ctx context.Context, in *GetUser) (*UserPage, error) {
	u, err := item.ReadUser(ctx, s.db, in.Of)
	if err != nil {
		return nil, err
	}

	out := &UserPage{}
	out.Body.UserID, out.Body.CreatedAt, out.Body.Connection = u.UserID, u.CreatedAt, "NONE"

	c, err := link.Read(ctx, s.db, in.Of)
	if err != nil && !errors.Is(err, link.ErrNotConnected) {
		return nil, err
	}

	if err == nil {
		out.Body.Connection, out.Body.ConnectedAt, out.Body.FetchedAt = c.Status, moment(c.ConnectedAt), moment(c.FetchedAt)
	}

	rows, err := dynamo.QueryAll[milestone.Row](ctx, s.db, tables.ListMilestones, workout.MilestonesOf(in.Of))
	if err != nil {
		return nil, err
	}

	slices.SortFunc(rows, func(a, b milestone.Row) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.MilestoneID, a.MilestoneID))
	})

	out.Body.Milestones = []UserMilestone{}
	for _, r := range rows {
		m := UserMilestone{
			MilestoneID: r.MilestoneID,
			ModelID:     r.ModelID,
			Status:      r.State(s.now()),
			CreatedAt:   time.Unix(r.CreatedAt, 0).UTC(),
			PartsTotal:  r.PartsTotal,
			Awarded:     r.Awarded,
			Noticed:     r.Noticed,
			Version:     r.Version,
			Source:      r.From(),
			SettlesAt:   moment(r.PartAt),
		}
		if r.AwardedAt != nil {
			m.AwardedAt = moment(*r.AwardedAt)
		}

		out.Body.Milestones = append(out.Body.Milestones, m)
	}

	return out, nil
}

// moment returns a time, nil for 0.
func moment(epoch int64) *time.Time {
	if epoch == 0 {
		return nil
	}

	t := time.Unix(epoch, 0).UTC()

	return &t
}

// ReplayUser is the request of an administrator to fetch and compute everything of a user again.
type ReplayUser struct {
	auth.Admin
	Of string `path:"userId" maxLength:"64" doc:"The id of the user."`
}

// Accepted is the answer to a request that is carried out later.
type Accepted struct{ Status int }

// ReplayUserFunction has everything of a user fetched and computed again.
func ReplayUserFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/replay-user",
		Does:   "Has the history of a user fetched from Strava, and the milestones computed, on request of an administrator.",
		IfDown: "Administrators cannot repair a user's workouts before the next night.",
		On:     spec.Route{Method: "POST", Path: "/admin/users/{userId}/replay", Auth: spec.Admin, Answers: []int{202}},
		Uses:   []spec.Access{tables.GetProfile},
		Sends:  []spec.Queue{link.BackfillQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenOperator, (*Operator).ReplayUser, item.ErrNoUser)
}

// ReplayUser requests the whole history of a user, within the calls to Strava that the user has, and then
// the computation of the milestones. Without a connection only that is done. A second run does it
// again, and mints no part twice. Errors: user_not_found.
func (s *Operator) ReplayUser(ctx context.Context, in *ReplayUser) (*Accepted, error) {
	if _, err := item.ReadUser(ctx, s.db, in.Of); err != nil {
		return nil, err
	}

	return &Accepted{Status: 202}, s.queue.Send(ctx, link.BackfillQueue, link.Backfill{UserID: in.Of, Whole: true}, 0)
}
