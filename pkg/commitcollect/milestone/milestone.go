package milestone

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
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

// States of a milestone. Workouts count for one that is active, and for a paused one when it is resumed.
const (
	Active    = item.Active
	Paused    = item.Paused
	Completed = item.Completed
	Abandoned = item.Abandoned
	Ended     = item.Ended
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
	errClosed   = problem.New(problem.Conflict, "milestone_closed", "the milestone was abandoned or has ended: start another one")
	errMinted   = problem.New(problem.Conflict, "milestone_minted", "parts are minted: only the status can change")
	errSport    = problem.New(problem.Invalid, "missing_sport", "give sport or sports")
	errNoStart  = problem.New(problem.Invalid, "invalid_period", "give periodStartAtUtc or periodStartDay")
)

// MaxInspect bounds the workouts that a recomputation reads.
const MaxInspect = 3000

// The limits of a user: of milestones that are open, and of all that are kept.
var (
	milestones = spec.Limit{Name: "open milestones per user", Max: 50, Code: "too_many_milestones"}
	kept       = spec.Limit{Name: "milestones per user", Max: 200, Code: "too_many_milestones_kept"}
)

// Row is a milestone.
type Row struct {
	PK          string       `dynamodbav:"PK"`
	SK          string       `dynamodbav:"SK"`
	EntityType  string       `dynamodbav:"entityType"`
	MilestoneID string       `dynamodbav:"milestoneId"`
	UserID      string       `dynamodbav:"userId"`
	ModelID     string       `dynamodbav:"modelId"`
	Sport       tally.Family `dynamodbav:"sport"` // the first, of Strava
	TargetType  tally.Target `dynamodbav:"targetType"`
	TotalTarget int64        `dynamodbav:"totalTarget"` // in the unit of the target, as all that follow
	PartTarget  int64        `dynamodbav:"partTarget"`  // for display: the thresholds are tally.Goal's
	PartsTotal  int          `dynamodbav:"partsTotal"`
	Period      string       `dynamodbav:"period"`
	Start       int64        `dynamodbav:"periodStartAtUtc"` // epoch s
	StartDay    string       `dynamodbav:"periodStartDay,omitempty"`
	Progress    int64        `dynamodbav:"progressValue"` // the higher of settledValue and rawProgress
	Raw         int64        `dynamodbav:"rawProgress"`   // of the workouts as they are
	Awarded     int          `dynamodbav:"partsAwardedCount"`
	Noticed     int          `dynamodbav:"partsNoticedCount"`
	Version     int          `dynamodbav:"version"`
	Unsent      bool         `dynamodbav:"unsent,omitempty"` // until the request that created it has sent its message
	AwardedAt   *int64       `dynamodbav:"lastAwardedAtUtc"`
	CompletedAt *int64       `dynamodbav:"completedAtUtc"`

	Sports []tally.Family `dynamodbav:"sports,omitempty"` // if they are several
	Source item.Source    `dynamodbav:"source,omitempty"` // "" of a row of before there were several

	// PhoneSports are the sports of a milestone of the phone, which has no sport: code of before there were
	// sources counts Strava's workouts of that.
	PhoneSports []tally.Family `dynamodbav:"phoneSports,omitempty"`

	// Settled is the highest progress of settled workouts so far. Rows of before parts had to settle have none.
	Settled *int64 `dynamodbav:"settledValue,omitempty"`
	DueAt   int64  `dynamodbav:"settleDueAtUtc,omitempty"` // when the next workouts settle, epoch s: a message was sent
	PartAt  int64  `dynamodbav:"partDueAtUtc,omitempty"`   // when the next part is minted, if no workout changes, epoch s

	// The recomputations of a period: when it began, epoch s, and their number.
	RecomputedFrom int64 `dynamodbav:"recomputedFromUtc,omitempty"`
	Recomputes     int   `dynamodbav:"recomputes,omitempty"`

	ShareID string `dynamodbav:"shareId,omitempty"` // of its public picture
	// What is counted of workouts that are not kept any more, nil if all are kept; and since when the milestone
	// counts anew, epoch s, 0 for one of before this was stored.
	Carried *tally.Carried `dynamodbav:"carried,omitempty"`
	AnewAt  int64          `dynamodbav:"countsAnewAtUtc,omitempty"`

	item.Life
}

// Goal returns what the milestone counts.
func (r Row) Goal() tally.Goal {
	return tally.Goal{
		Sports:   tally.SetOf(r.families()...),
		Target:   r.TargetType,
		Total:    r.TotalTarget,
		Parts:    r.PartsTotal,
		Start:    r.Start,
		StartDay: r.StartDay,
		EndDay:   r.EndDay,
		Once:     r.From() == item.Phone,
	}
}

// From returns where the workouts come from that count.
func (r Row) From() item.Source { return cmp.Or(r.Source, item.Strava) }

// families returns the sports that count, at least one.
func (r Row) families() []tally.Family {
	switch {
	case len(r.PhoneSports) > 0:
		return r.PhoneSports
	case len(r.Sports) > 0:
		return r.Sports
	}

	return []tally.Family{r.Sport}
}

// withSports returns the milestone with the sports of a request, or its own if the request names none.
func (r Row) withSports(one tally.Family, several []tally.Family) Row {
	if len(several) == 0 && one != "" {
		several = []tally.Family{one}
	}

	switch {
	case len(several) == 0:
	case r.From() == item.Phone:
		r.PhoneSports = several
	case len(several) == 1:
		r.Sport, r.Sports = several[0], nil
	default:
		r.Sport, r.Sports = several[0], several
	}

	return r
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
	api   string // base URL of the room's API

	settling time.Duration // how long a workout must be unchanged before it mints parts

	keeps   time.Duration     // workouts, 0 for as long as the connection
	history *workout.Ingester // nil in functions that do not read it, and in a stage that keeps all
}

// Open opens the service. It returns an error if the settling time is none.
func Open(_ context.Context, env app.Env) (*Service, error) {
	settling, err := settlingOf(env)
	if err != nil {
		return nil, err
	}

	db := dynamo.Open(env.AWS, env.Prefix)

	return &Service{
		Sessions: signin.Sessions(env, db),
		db:       db,
		queue:    queue.Open(env.AWS, env.Queues),
		trail:    trail.Open(db, env.Now),
		now:      env.Now,
		api:      env.Setting(spec.EnvAPI),
		settling: settling,
		keeps:    link.Retention(env),
	}, nil
}

// OpenReading opens the service for functions that read from Strava what is not kept.
func OpenReading(ctx context.Context, env app.Env) (*Service, error) {
	s, err := Open(ctx, env)
	if err == nil {
		s.history, err = workout.OpenHistory(ctx, env)
	}

	return s, err
}

// Milestone is a milestone in an answer.
type Milestone struct {
	MilestoneID string         `json:"milestoneId" doc:"The id of the milestone."`
	ModelID     string         `json:"modelId" doc:"The id of the model."`
	Sport       tally.Family   `json:"sport" doc:"The first of the sports that count."`
	TargetType  tally.Target   `json:"targetType" doc:"What is measured."`
	TotalTarget int64          `json:"totalTarget" doc:"Metres, seconds, workouts, days or weeks, as the targetType has it."`
	PartsTotal  int            `json:"partsTotal" doc:"The number of parts."`
	PartTarget  int64          `json:"partTarget" doc:"What is between two parts, rounded up."`
	Start       int64          `json:"periodStartAtUtc" doc:"Epoch seconds of the begin of the period."`
	StartDay    string         `json:"periodStartDay,omitempty" doc:"The first day of the period, where a workout took place."`
	EndDay      string         `json:"periodEndDay,omitempty" doc:"The last day of the period, where a workout took place."`
	Status      string         `json:"status" enum:"ACTIVE,PAUSED,COMPLETED" doc:"Whether it mints parts: PAUSED also for one that was abandoned or has ended."`
	Progress    int64          `json:"progressValue" doc:"In the unit of the target: the rawProgress, or what settled workouts once reached, if that is more."`
	Raw         int64          `json:"rawProgress" doc:"That of the workouts as they are now."`
	Percent     float64        `json:"percentComplete" doc:"Of the total, with two decimals."`
	Awarded     int            `json:"partsAwardedCount" doc:"The parts that are minted."`
	Remaining   int64          `json:"remainingToNextPart" doc:"In the unit of the target; 0 if all parts are reached."`
	Version     int            `json:"version" doc:"Increases with each change."`
	Sports      []tally.Family `json:"sports" doc:"The families of sports that count."`
	State       string         `json:"state" enum:"ACTIVE,PAUSED,COMPLETED,ABANDONED,ENDED" doc:"The status in full. ENDED: its last day was over a week ago."`
	CreatedAt   time.Time      `json:"createdAt" doc:"When it was started."`
	EndsAt      *time.Time     `json:"endsAt,omitempty" doc:"When its last day is over everywhere. Absent: no end."`
	EndsInDays  *int           `json:"endsInDays,omitempty" doc:"Days until its last day, 0 on it, in UTC. Absent: no end, or over."`
	PictureURL  string         `json:"pictureUrl,omitempty" doc:"Its public picture. Absent: there is none."`
	Source      item.Source    `json:"source" enum:"STRAVA,PHONE" doc:"Where the workouts come from that count."`
	Earned      int            `json:"partsEarnedCount" doc:"The parts that the progress reaches: those that are minted, and those whose workouts must settle."`
	SettlesAt   *time.Time     `json:"settlesAt,omitempty" doc:"When the next of the reached parts is minted, if none of its workouts changes or goes. Absent: none waits."`
}

// status returns the state as clients know it that were written before milestones could be abandoned or
// end: these are paused for them.
func (r Row) status(now time.Time) string {
	if state := r.State(now); state != Abandoned && state != Ended {
		return state
	}

	return Paused
}

// view returns the milestone in an answer of a time.
func (r Row) view(now time.Time) Milestone {
	g := r.Goal()

	out := Milestone{
		MilestoneID: r.MilestoneID,
		ModelID:     r.ModelID,
		Sport:       r.families()[0],
		TargetType:  r.TargetType,
		TotalTarget: r.TotalTarget,
		PartsTotal:  r.PartsTotal,
		PartTarget:  r.PartTarget,
		Start:       r.Start,
		StartDay:    r.StartDay,
		EndDay:      r.EndDay,
		Status:      r.status(now),
		Progress:    r.Progress,
		Raw:         r.Raw,
		Percent:     g.Percent(r.Progress),
		Awarded:     r.Awarded,
		Remaining:   g.Remaining(r.Progress),
		Version:     r.Version,
		Sports:      r.families(),
		State:       r.State(now),
		CreatedAt:   time.Unix(r.CreatedAt, 0).UTC(),
		Source:      r.From(),
		Earned:      g.Earned(r.Progress),
	}
	if at := time.Unix(r.PartAt, 0).UTC(); r.PartAt != 0 && out.State == Active {
		out.SettlesAt = &at
	}

	if end := r.EndsAt(); !end.IsZero() {
		out.EndsAt = &end
	}

	last, err := time.Parse(time.DateOnly, r.EndDay)
	if days := int(last.Sub(now.UTC().Truncate(24*time.Hour)) / (24 * time.Hour)); err == nil && days >= 0 {
		out.EndsInDays = &days
	}

	return out
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
		ModelID     string         `json:"modelId" maxLength:"64" doc:"The id of an active model." example:"trike-2026"`
		Sport       tally.Family   `json:"sport,omitempty" enum:"RIDE,RUN,SWIM,WALK,HIKE,ROW,WHEELCHAIR" doc:"The family of sports that count. Required without sports." example:"RIDE"`
		Sports      []tally.Family `json:"sports,omitempty" enum:"RIDE,RUN,SWIM,WALK,HIKE,ROW,WHEELCHAIR" minItems:"1" maxItems:"7" uniqueItems:"true" nullable:"false" doc:"Several, in place of sport."`
		TargetType  tally.Target   `json:"targetType" enum:"DISTANCE_METERS,ELEVATION_METERS,MOVING_SECONDS,WORKOUTS,STREAK_DAYS,STREAK_WEEKS" doc:"What is measured. A streak is the longest run of days or weeks with a workout."`
		TotalTarget int64          `json:"totalTarget" minimum:"1" maximum:"1000000000" doc:"Metres, seconds, workouts, days or weeks." example:"1000000"`
		Start       int64          `json:"periodStartAtUtc,omitempty" minimum:"1" maximum:"4102444800" doc:"Epoch seconds. Workouts that begin before do not count. Required without periodStartDay." example:"1767225600"`
		StartDay    string         `json:"periodStartDay,omitempty" format:"date" doc:"The first day, where a workout took place, in place of the time."`
		EndDay      string         `json:"periodEndDay,omitempty" format:"date" doc:"The last day, where a workout took place. Absent: no end."`
		PartsTotal  int            `json:"partsTotal,omitempty" minimum:"1" maximum:"12" doc:"That of the model, if given."`
		Source      item.Source    `json:"source,omitempty" enum:"STRAVA,PHONE" default:"STRAVA" doc:"Where the workouts come from that count. It cannot be changed."`
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
		Name:   "commitcollect/create-milestone",
		Does:   "Starts a milestone of the caller.",
		IfDown: "Nobody can start a milestone.",
		On:     spec.Route{Method: "POST", Path: "/milestones", Auth: spec.Session},
		Uses: signin.Caller(tables.GetModel, tables.PutMilestone, tables.ReadMilestone, tables.ListMilestones,
			tables.OpenMilestones),
		Sends:   []spec.Queue{link.BackfillQueue, workout.ChangeQueue},
		Limits:  []spec.Limit{milestones, kept},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).CreateMilestone, errEarly, errInactive, errNoStart, errParts, errPeriod, errSport, idem.ErrConflict, model.ErrNotFound)
}

// CreateMilestone starts a milestone, and requests that the workouts of its period are counted;
// those of earlier years are fetched first. A second run with the same key finds the milestone, and
// sends the message only if the first may not have sent it, because each fetch costs calls of
// Strava's limits, which all users share. Errors: model_not_found, model_not_active,
// parts_total_must_match_model, invalid_period, too_many_milestones, too_many_milestones_kept,
// missing_sport, idempotency_conflict.
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

	start, err := period(b.Start, b.StartDay, b.EndDay)
	if err != nil {
		return nil, err
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
		TargetType:  b.TargetType,
		TotalTarget: b.TotalTarget,
		PartTarget:  (b.TotalTarget + int64(m.PartsTotal) - 1) / int64(m.PartsTotal),
		PartsTotal:  m.PartsTotal,
		Period:      "YEAR",
		Start:       start,
		StartDay:    b.StartDay,
		Life:        item.Life{Status: Active, EndDay: b.EndDay, CreatedAt: now.Unix()},
		AnewAt:      now.Unix(),
		Version:     1,
		Unsent:      true,
		Source:      cmp.Or(b.Source, item.Strava),
	}

	if r = r.withSports(b.Sport, b.Sports); r.families()[0] == "" {
		return nil, errSport.In("body.sport")
	}

	if err := s.hasRoom(ctx, r); err != nil {
		return nil, err
	}

	entry := dynamo.Entry{
		Access: tables.PutMilestone, List: []string{r.PK, item.MilestoneList}, ID: id, ExpiresAt: now.AddDate(50, 0, 0).Unix(), Limit: milestones,
		Existing: func(ctx context.Context, _ []string) ([]string, error) { return s.open(ctx, in.UserID) },
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
		return s.requestCount(ctx, r)
	}, func() error {
		key := dynamo.Key(tables.PutMilestone, r.PK, r.SK)
		return dynamo.Update(ctx, s.db, tables.PutMilestone, key, dynamo.Remove[Row]("unsent"), dynamo.Exists[Row]("PK"))
	})
	if err != nil {
		return nil, err
	}

	return out, nil
}

// period returns the start of a period, epoch s. at is 0, or the days are "", if they are not given.
func period(at int64, firstDay, lastDay string) (start int64, err error) {
	switch start = at; {
	case firstDay != "":
		day, err := time.Parse(time.DateOnly, firstDay)
		if err != nil {
			return 0, errPeriod.In("body.periodStartDay")
		}

		if start = day.Add(-dayAhead).Unix(); start < 1 { // as periodStartAtUtc
			return 0, errEarly.In("body.periodStartDay")
		}
	case at == 0:
		return 0, errNoStart.In("body.periodStartAtUtc")
	}

	if first := time.Unix(start, 0).UTC().Format(time.DateOnly); lastDay != "" && lastDay < max(first, firstDay) {
		return 0, errPeriod.In("body.periodEndDay")
	}

	return start, nil
}

// hasRoom returns problem.Beyond if a user keeps as many milestones as may be listed, without r. It
// counts before the write, so that concurrent requests can exceed the limit by those that are open.
func (s *Service) hasRoom(ctx context.Context, r Row) error {
	rows, err := dynamo.QueryAll[Row](ctx, s.db, tables.ListMilestones, workout.MilestonesOf(r.UserID))
	if err == nil && len(rows) >= kept.Max && !slices.ContainsFunc(rows, func(o Row) bool { return o.SK == r.SK }) {
		err = problem.Beyond(kept)
	}

	return err
}

// open returns the ids of the open milestones of a user, in the order of the list.
func (s *Service) open(ctx context.Context, userID string) (ids []string, err error) {
	list, rows, err := item.Listed[Row](ctx, s.db, userID)
	if err != nil {
		return nil, err
	}

	is := map[string]bool{}
	for _, r := range rows {
		is[r.MilestoneID] = r.IsOpen(s.now())
	}

	return slices.DeleteFunc(list.IDs, func(id string) bool { return !is[id] }), nil
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
		Milestones []Milestone `json:"milestones" doc:"The milestones: the open ones first, and of these the newest first."`
	}
}

// ListMilestonesFunction returns the caller's milestones.
func ListMilestonesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-milestones",
		Does:   "Returns the caller's milestones.",
		IfDown: "The app does not show progress.",
		On:     spec.Route{Method: "GET", Path: "/milestones", Auth: spec.Session},
		Uses:   signin.Caller(tables.ListMilestones),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListMilestones)
}

// ListMilestones returns the caller's milestones, the open ones first, each kind by when it was
// started, the newest first. There are about 200 at most. It reads their awards, too, whose keys are
// between them.
func (s *Service) ListMilestones(ctx context.Context, in *ListMilestones) (*MilestoneList, error) {
	rows, err := dynamo.QueryAll[Row](ctx, s.db, tables.ListMilestones, workout.MilestonesOf(in.UserID))
	if err != nil {
		return nil, err
	}

	now := s.now()
	closed := func(r Row) int {
		if r.IsOpen(now) {
			return 0
		}

		return 1
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(closed(a)-closed(b), cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.MilestoneID, a.MilestoneID))
	})

	out := &MilestoneList{}

	out.Body.Milestones = []Milestone{}
	for _, r := range rows {
		out.Body.Milestones = append(out.Body.Milestones, s.shown(r, now))
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
		Uses:   signin.Caller(tables.GetMilestone),
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

	out.Body.Milestone, out.Body.Awards = s.shown(rows[0].Row, s.now()), []Award{}
	for _, a := range rows[1:] {
		out.Body.Awards = append(out.Body.Awards, Award{a.PartIndex, a.PartName, a.Mesh, a.Attach, time.Unix(a.At, 0).UTC(), a.Value})
	}

	return out, nil
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
