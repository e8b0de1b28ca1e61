package milestone

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/oklog/ulid/v2"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/outbox"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// States of a milestone.
const (
	Active    = "ACTIVE"
	Paused    = "PAUSED"
	Completed = "COMPLETED"
)

// Errors of the package.
var (
	errNotFound = problem.New(problem.NotFound, "milestone_not_found", "there is no such milestone")
	errInactive = problem.New(problem.Invalid, "model_not_active", "milestones cannot be started with this model")
	errParts    = problem.New(problem.Invalid, "parts_total_must_match_model", "partsTotal must be that of the model")
	errPeriod   = problem.New(problem.Invalid, "invalid_period", "the period must end after it begins")
	errEarly    = problem.New(problem.Invalid, "invalid_period", "the period must begin after 1970-01-01")
	errVersion  = problem.New(problem.Conflict, "milestone_version_conflict", "the milestone changes at this moment: try again")
	errTooMany  = problem.New(problem.Conflict, "too_many_workouts_for_mvp_recompute",
		"there are too many workouts to read them all: the milestone is up to date without")
	errPart     = errors.New("model_part_missing: the model lacks a part that is to be minted")
	errComplete = problem.New(problem.Conflict, "milestone_completed", "the milestone is completed")
)

// MaxInspect bounds the workouts that a recomputation reads.
const MaxInspect = 3000

// milestones limits those of a user.
var milestones = spec.Limit{Name: "milestones per user", Max: 50, Code: "too_many_milestones"}

// Row is a milestone.
type Row struct {
	PK          string       `dynamodbav:"PK"`
	SK          string       `dynamodbav:"SK"`
	EntityType  string       `dynamodbav:"entityType"`
	MilestoneID string       `dynamodbav:"milestoneId"`
	UserID      string       `dynamodbav:"userId"`
	ModelID     string       `dynamodbav:"modelId"`
	Sport       tally.Family `dynamodbav:"sport"`
	TargetType  tally.Target `dynamodbav:"targetType"`
	TotalTarget int64        `dynamodbav:"totalTarget"` // m
	PartTarget  int64        `dynamodbav:"partTarget"`  // m, for display: the thresholds are tally.Goal's
	PartsTotal  int          `dynamodbav:"partsTotal"`
	Period      string       `dynamodbav:"period"`
	Start       int64        `dynamodbav:"periodStartAtUtc"` // epoch s
	StartDay    string       `dynamodbav:"periodStartDay,omitempty"`
	EndDay      string       `dynamodbav:"periodEndDay,omitempty"`
	Status      string       `dynamodbav:"status"`
	Progress    int64        `dynamodbav:"progressValue"` // m, never less than it was
	Raw         int64        `dynamodbav:"rawProgress"`   // m, of the workouts as they are
	Awarded     int          `dynamodbav:"partsAwardedCount"`
	Noticed     int          `dynamodbav:"partsNoticedCount"`
	Version     int          `dynamodbav:"version"`
	Unsent      bool         `dynamodbav:"unsent,omitempty"` // until the request that created it has sent its message
	CreatedAt   int64        `dynamodbav:"createdAtUtc"`     // epoch s
	AwardedAt   *int64       `dynamodbav:"lastAwardedAtUtc"`
	CompletedAt *int64       `dynamodbav:"completedAtUtc"`
}

// Goal returns what the milestone counts.
func (r Row) Goal() tally.Goal {
	return tally.Goal{
		Family:   r.Sport,
		Target:   r.TargetType,
		Total:    r.TotalTarget,
		Parts:    r.PartsTotal,
		Start:    r.Start,
		StartDay: r.StartDay,
		EndDay:   r.EndDay,
	}
}

// award is a part that was minted.
type award struct {
	PK          string `dynamodbav:"PK"`
	SK          string `dynamodbav:"SK"`
	EntityType  string `dynamodbav:"entityType"`
	MilestoneID string `dynamodbav:"milestoneId"`
	ModelID     string `dynamodbav:"modelId"`
	PartIndex   int    `dynamodbav:"partIndex"`
	PartName    string `dynamodbav:"partName"`
	MeshFile    string `dynamodbav:"meshFile"`
	AttachPoint string `dynamodbav:"attachPoint"`
	AwardedAt   int64  `dynamodbav:"awardedAtUtc"`         // epoch s
	Progress    int64  `dynamodbav:"progressValueAtAward"` // m
}

// Service is the service of milestones.
type Service struct {
	session.Sessions
	db    dynamo.DB
	queue queue.Sender
	trail trail.Writer
	now   func() time.Time
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Service{
		Sessions: signin.Sessions(env, db),
		db:       db,
		queue:    queue.Open(env.AWS, env.Queues),
		trail:    trail.Open(db, env.Now),
		now:      env.Now,
	}, nil
}

// Milestone is a milestone in an answer.
type Milestone struct {
	MilestoneID string       `json:"milestoneId" doc:"The id of the milestone."`
	ModelID     string       `json:"modelId" doc:"The id of the model."`
	Sport       tally.Family `json:"sport" doc:"The family of sports that count."`
	TargetType  tally.Target `json:"targetType" doc:"What is measured."`
	TotalTarget int64        `json:"totalTarget" doc:"Metres."`
	PartsTotal  int          `json:"partsTotal" doc:"The number of parts."`
	PartTarget  int64        `json:"partTarget" doc:"Metres between two parts, rounded up."`
	Start       int64        `json:"periodStartAtUtc" doc:"Epoch seconds of the begin of the period."`
	StartDay    string       `json:"periodStartDay,omitempty" doc:"The first day of the period, where a workout took place."`
	EndDay      string       `json:"periodEndDay,omitempty" doc:"The last day of the period, where a workout took place."`
	Status      string       `json:"status" enum:"ACTIVE,PAUSED,COMPLETED" doc:"Whether it mints parts."`
	Progress    int64        `json:"progressValue" doc:"Metres; never less than it was."`
	Raw         int64        `json:"rawProgress" doc:"Metres of the workouts as they are now."`
	Percent     float64      `json:"percentComplete" doc:"Of the total, with two decimals."`
	Awarded     int          `json:"partsAwardedCount" doc:"The parts that are minted."`
	Remaining   int64        `json:"remainingToNextPart" doc:"Metres; 0 if all parts are minted."`
	Version     int          `json:"version" doc:"Increases with each change."`
}

func (r Row) view() Milestone {
	g := r.Goal()

	return Milestone{
		r.MilestoneID, r.ModelID, r.Sport, r.TargetType, r.TotalTarget, r.PartsTotal, r.PartTarget, r.Start, r.StartDay, r.EndDay,
		r.Status, r.Progress, r.Raw, g.Percent(r.Progress), r.Awarded, g.Remaining(r.Progress), r.Version,
	}
}

// Award is a part that was minted, in an answer.
type Award struct {
	PartIndex   int       `json:"partIndex" doc:"From 1."`
	PartName    string    `json:"partName" doc:"The name of the part."`
	MeshFile    string    `json:"meshFile" doc:"The file with its shape."`
	AttachPoint string    `json:"attachPoint" doc:"Where it is attached to the model."`
	AwardedAt   time.Time `json:"awardedAt" doc:"When it was minted."`
	Progress    int64     `json:"progressValueAtAward" doc:"Metres."`
}

func (a award) view() Award {
	return Award{a.PartIndex, a.PartName, a.MeshFile, a.AttachPoint, time.Unix(a.AwardedAt, 0).UTC(), a.Progress}
}

// CreateMilestone is the request to start a milestone.
type CreateMilestone struct {
	auth.User
	idem.Key
	Body struct {
		ModelID     string       `json:"modelId" maxLength:"64" doc:"The id of an active model." example:"trike-2026"`
		Sport       tally.Family `json:"sport" enum:"RIDE,RUN,SWIM" doc:"The family of sports that count."`
		TargetType  tally.Target `json:"targetType" enum:"DISTANCE_METERS,ELEVATION_METERS" doc:"What is measured."`
		TotalTarget int64        `json:"totalTarget" minimum:"1" maximum:"1000000000" doc:"Metres." example:"1000000"`
		Start       int64        `json:"periodStartAtUtc" minimum:"1" maximum:"4102444800" doc:"Epoch seconds. Workouts that begin before do not count." example:"1767225600"`
		StartDay    string       `json:"periodStartDay,omitempty" format:"date" doc:"The first day, where a workout took place, in place of the time."`
		EndDay      string       `json:"periodEndDay,omitempty" format:"date" doc:"The last day, where a workout took place. Absent: no end."`
		PartsTotal  int          `json:"partsTotal,omitempty" minimum:"1" maximum:"12" doc:"That of the model, if given."`
	}
}

// Created is the answer with a new milestone.
type Created struct {
	Body struct {
		MilestoneID string `json:"milestoneId" doc:"The id of the milestone."`
		Status      string `json:"status" doc:"ACTIVE."`
	}
}

// CreateMilestoneFunction starts a milestone of the caller.
func CreateMilestoneFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/create-milestone",
		Does:    "Starts a milestone of the caller.",
		IfDown:  "Nobody can start a milestone.",
		On:      spec.Route{Method: "POST", Path: "/milestones", Auth: spec.Session},
		Uses:    []spec.Access{tables.ResolveSession, tables.GetModel, tables.PutMilestone, tables.ReadMilestone, account.CheckDeleted},
		Sends:   []spec.Queue{link.BackfillQueue, workout.ChangeQueue},
		Limits:  []spec.Limit{milestones},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).CreateMilestone, errEarly, errInactive, errParts, errPeriod, idem.ErrConflict, model.ErrNotFound)
}

// CreateMilestone starts a milestone, and requests that the workouts of its period are counted;
// those of earlier years are fetched first. A second run with the same key finds the milestone, and
// sends the message only if the first may not have sent it, because each fetch costs calls of
// Strava's limits, which all users share. Errors: model_not_found, model_not_active,
// parts_total_must_match_model, invalid_period, too_many_milestones, idempotency_conflict.
func (s *Service) CreateMilestone(ctx context.Context, in *CreateMilestone) (*Created, error) {
	b := in.Body

	m, err := model.Get(ctx, s.db, b.ModelID)
	switch {
	case err != nil:
		return nil, err
	case !m.IsActive:
		return nil, errInactive.In("body.modelId")
	case b.PartsTotal != 0 && b.PartsTotal != m.PartsTotal:
		return nil, errParts.In("body.partsTotal")
	}

	start := b.Start
	if b.StartDay != "" {
		day, err := time.Parse(time.DateOnly, b.StartDay)
		if err != nil {
			return nil, errPeriod.In("body.periodStartDay")
		}

		if start = day.Add(-dayAhead).Unix(); start < 1 { // as periodStartAtUtc
			return nil, errEarly.In("body.periodStartDay")
		}
	}

	if first := time.Unix(start, 0).UTC().Format(time.DateOnly); b.EndDay != "" && b.EndDay < max(first, b.StartDay) {
		return nil, errPeriod.In("body.periodEndDay")
	}

	now := s.now()
	id := newID(now, in.UserID, in.IdempotencyKey)
	r := Row{
		PK:          item.User(in.UserID),
		SK:          item.Milestone(id),
		EntityType:  "Milestone",
		MilestoneID: id,
		UserID:      in.UserID,
		ModelID:     b.ModelID,
		Sport:       b.Sport,
		TargetType:  b.TargetType,
		TotalTarget: b.TotalTarget,
		PartTarget:  (b.TotalTarget + int64(m.PartsTotal) - 1) / int64(m.PartsTotal),
		PartsTotal:  m.PartsTotal,
		Period:      "YEAR",
		Start:       start,
		StartDay:    b.StartDay,
		EndDay:      b.EndDay,
		Status:      Active,
		Version:     1,
		Unsent:      true,
		CreatedAt:   now.Unix(),
	}
	entry := dynamo.Entry{
		Access: tables.PutMilestone, List: []string{r.PK, item.MilestoneList}, ID: id, ExpiresAt: now.AddDate(50, 0, 0).Unix(), Limit: milestones,
		Existing: func(_ context.Context, ids []string) ([]string, error) { return ids, nil },
	}

	err = entry.Write(ctx, s.db, dynamo.PutWrite(r, dynamo.Absent[Row]("PK")))
	if dynamo.IsRefused(err) {
		r, err = s.same(ctx, r)
	}

	if err != nil {
		return nil, err
	}

	out := &Created{}

	out.Body.MilestoneID, out.Body.Status = id, Active
	if !r.Unsent {
		return out, nil
	}

	err = outbox.Deliver(func() error {
		if start < workout.HistoryFrom(now) { // a user without a connection gets the history with it
			return s.queue.Send(ctx, link.BackfillQueue, link.Backfill{UserID: in.UserID, Whole: true}, 0)
		}

		return s.queue.SendFIFO(ctx, workout.ChangeQueue, in.UserID, workout.Changed{UserID: in.UserID})
	}, func() error {
		key := dynamo.Key(tables.PutMilestone, r.PK, r.SK)
		return dynamo.Update(ctx, s.db, tables.PutMilestone, key, dynamo.Remove[Row]("unsent"), dynamo.Exists[Row]("PK"))
	})
	if err != nil {
		return nil, err
	}

	return out, nil
}

// dayAhead is how much earlier than in UTC a day begins anywhere.
const dayAhead = 14 * time.Hour

// newID returns a new ULID. If the request has a key, it is always the same for the user and the
// key, so that a repeated request finds the milestone of the first.
func newID(now time.Time, userID, key string) string {
	if key == "" {
		return code.NewID(now)
	}

	sum := sha256.Sum256([]byte(userID + "\x00" + key))

	var id ulid.ULID
	copy(id[:], sum[:])
	id[0] &= 0x7f // the first character of a ULID has three bits

	return id.String()
}

// same returns the existing milestone of an id. It returns idem.ErrConflict if another request created it.
func (s *Service) same(ctx context.Context, r Row) (is Row, err error) {
	is, _, err = dynamo.Get[Row](ctx, s.db, tables.ReadMilestone, r.PK, r.SK)
	if err == nil && (is.ModelID != r.ModelID || is.Goal() != r.Goal()) {
		err = idem.ErrConflict
	}

	return is, err
}

// ListMilestones is the request for the caller's milestones.
type ListMilestones struct{ auth.User }

// MilestoneList is the answer with milestones.
type MilestoneList struct {
	Body struct {
		Milestones []Milestone `json:"milestones" doc:"The milestones."`
	}
}

// ListMilestonesFunction returns the caller's milestones.
func ListMilestonesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-milestones",
		Does:   "Returns the caller's milestones.",
		IfDown: "The app does not show progress.",
		On:     spec.Route{Method: "GET", Path: "/milestones", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.ListMilestones},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListMilestones)
}

// ListMilestones returns the caller's milestones, at most 50. It reads their awards, too,
// whose keys are between them.
func (s *Service) ListMilestones(ctx context.Context, in *ListMilestones) (*MilestoneList, error) {
	rows, err := dynamo.QueryAll[Row](ctx, s.db, tables.ListMilestones, workout.MilestonesOf(in.UserID))
	if err != nil {
		return nil, err
	}

	out := &MilestoneList{}

	out.Body.Milestones = []Milestone{}
	for _, r := range rows {
		out.Body.Milestones = append(out.Body.Milestones, r.view())
	}

	return out, nil
}

// GetMilestone is the request for a milestone of the caller.
type GetMilestone struct {
	auth.User
	ID string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
}

// Page is the answer with a milestone.
type Page struct {
	Body struct {
		_ struct{} `schema:"MilestonePageBody"`

		Milestone
		Awards []Award `json:"awards" doc:"The parts that are minted."`
	}
}

// GetMilestoneFunction returns a milestone of the caller with its parts.
func GetMilestoneFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/get-milestone",
		Does:   "Returns a milestone of the caller with its parts.",
		IfDown: "Milestones do not open.",
		On:     spec.Route{Method: "GET", Path: "/milestones/{milestoneId}", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetMilestone},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetMilestone, errNotFound)
}

// GetMilestone returns a milestone with its awards, by one query.
func (s *Service) GetMilestone(ctx context.Context, in *GetMilestone) (*Page, error) {
	type both struct {
		Row
		PartIndex int    `dynamodbav:"partIndex"`
		PartName  string `dynamodbav:"partName"`
		Mesh      string `dynamodbav:"meshFile"`
		Attach    string `dynamodbav:"attachPoint"`
		At        int64  `dynamodbav:"awardedAtUtc"`
		Value     int64  `dynamodbav:"progressValueAtAward"`
	}

	rows, err := dynamo.QueryAll[both](ctx, s.db, tables.GetMilestone, dynamo.Range{
		Key: dynamo.KeyBeginsWith(tables.GetMilestone, item.User(in.UserID), item.Milestone(in.ID)), Consistent: true,
	})
	if err != nil {
		return nil, err
	}

	if len(rows) == 0 || rows[0].EntityType != "Milestone" {
		return nil, errNotFound
	}

	out := &Page{}

	out.Body.Milestone, out.Body.Awards = rows[0].Row.view(), []Award{}
	for _, a := range rows[1:] {
		out.Body.Awards = append(out.Body.Awards, Award{a.PartIndex, a.PartName, a.Mesh, a.Attach, time.Unix(a.At, 0).UTC(), a.Value})
	}

	return out, nil
}

// UpdateMilestone is the request to pause or resume a milestone of the caller.
type UpdateMilestone struct {
	auth.User
	ID   string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
	Body struct {
		Status string `json:"status" enum:"ACTIVE,PAUSED" doc:"Whether it mints parts."`
	}
}

// Changed is the answer with a changed milestone.
type Changed struct {
	Body Milestone
}

// UpdateMilestoneFunction pauses or resumes a milestone of the caller.
func UpdateMilestoneFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/update-milestone",
		Does:    "Pauses or resumes a milestone of the caller.",
		IfDown:  "Milestones cannot be paused.",
		On:      spec.Route{Method: "PATCH", Path: "/milestones/{milestoneId}", Auth: spec.Session},
		Uses:    []spec.Access{tables.ResolveSession, tables.ReadMilestone, tables.SaveMilestone, account.CheckDeleted},
		Sends:   []spec.Queue{workout.ChangeQueue},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).UpdateMilestone, errComplete, errNotFound)
}

// UpdateMilestone pauses or resumes a milestone. A resumed one is computed at once. A
// second run changes nothing. Errors: milestone_not_found, milestone_completed,
// milestone_version_conflict.
func (s *Service) UpdateMilestone(ctx context.Context, in *UpdateMilestone) (*Changed, error) {
	return dynamo.RetryValue(ctx, attempts, func() (*Changed, error) {
		r, err := s.read(ctx, in.UserID, in.ID)
		switch {
		case err != nil:
			return nil, err
		case r.Status == Completed:
			return nil, errComplete
		}

		if r.Status != in.Body.Status {
			was := r.Version
			r.Status, r.Version = in.Body.Status, r.Version+1
			err = dynamo.Update(ctx, s.db, tables.SaveMilestone, dynamo.Key(tables.SaveMilestone, r.PK, r.SK),
				dynamo.Set(r, "status", "version"), dynamo.Equal[Row]("version", was))
		}

		if err == nil && r.Status == Active {
			err = s.queue.SendFIFO(ctx, workout.ChangeQueue, in.UserID, workout.Changed{UserID: in.UserID})
		}

		return &Changed{r.view()}, err
	})
}

// attempts bounds the changes of a milestone while concurrent requests overtake them.
var attempts = dynamo.Attempts{Max: 3, Err: errVersion}

func (s *Service) read(ctx context.Context, userID, id string) (Row, error) {
	r, ok, err := dynamo.Get[Row](ctx, s.db, tables.ReadMilestone, item.User(userID), item.Milestone(id))
	if err == nil && !ok {
		err = errNotFound
	}

	return r, err
}
