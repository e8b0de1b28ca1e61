package milestone

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/limit"
	"matchday/pkg/spec"
)

// ListAwards is the request for the parts of a milestone of the caller.
type ListAwards struct {
	auth.User
	ID string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
}

// AwardList is the answer with parts.
type AwardList struct {
	Body struct {
		Awards []Award `json:"awards" doc:"The parts that are minted, by their index."`
	}
}

// ListAwardsFunction returns the parts that a milestone of the caller has minted.
func ListAwardsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-awards",
		Does:   "Returns the parts that a milestone of the caller has minted.",
		IfDown: "The model does not show its parts.",
		On:     spec.Route{Method: "GET", Path: "/milestones/{milestoneId}/awards", Auth: spec.Session},
		Uses:   signin.Caller(tables.GetAwards, tables.ReadMilestone),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListAwards, errNotFound)
}

// ListAwards returns the parts that are minted. If there are none it reads the milestone, because
// one that does not exist is milestone_not_found.
func (s *Service) ListAwards(ctx context.Context, in *ListAwards) (*AwardList, error) {
	rows, err := dynamo.QueryAll[award](ctx, s.db, tables.GetAwards, dynamo.Range{
		Key: dynamo.KeyBeginsWith(tables.GetAwards, item.User(in.UserID), item.Awards(in.ID)), Consistent: true,
	})
	if err == nil && len(rows) == 0 {
		_, err = s.read(ctx, in.UserID, in.ID)
	}

	if err != nil {
		return nil, err
	}

	out := &AwardList{}

	out.Body.Awards = []Award{}
	for _, a := range rows {
		out.Body.Awards = append(out.Body.Awards, a.view())
	}

	return out, nil
}

// RecomputeMilestone is the request to compute a milestone of the caller from all workouts.
type RecomputeMilestone struct {
	auth.User
	ID string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
}

// Recomputed is the answer with a computed milestone.
type Recomputed struct {
	Body struct {
		Milestone
		Parts       int `json:"partsDelta" doc:"The parts that were minted now."`
		BeforeStart int `json:"excludedBeforeStartCount" doc:"Workouts that only began too early."`
	}
}

// recomputes limits the recomputations of a milestone, each of which reads all workouts.
var recomputes = spec.Limit{Name: "recomputations of a milestone", Max: 10, Per: time.Hour, Code: "recompute_too_soon"}

// pageSize is the number of workouts that a recomputation reads at once.
const pageSize = 200

// RecomputeMilestoneFunction computes a milestone of the caller from all workouts.
func RecomputeMilestoneFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/recompute-milestone",
		Does:    "Computes a milestone of the caller from all workouts.",
		IfDown:  "Users cannot have a milestone computed; each workout does.",
		On:      spec.Route{Method: "POST", Path: "/milestones/{milestoneId}/recompute", Auth: spec.Session},
		Uses:    slices.Concat(signin.Caller(tables.ListWorkouts, tables.ReadLedgers), workout.Reads, evaluates),
		Secrets: workout.ReadsSecrets,
		Budgets: workout.ReadsBudgets,
		Sends:   []spec.Queue{workout.NoticeQueue, SettleQueue},
		Emits:   append([]spec.Metric{PartsMissing}, workout.ReadsMetrics...),
		Limits:  []spec.Limit{recomputes},
		Memory:  512,
		Timeout: 25 * time.Second,
	}, OpenReading, (*Service).RecomputeMilestone,
		errNotFound, errTooMany, errVersion, item.ErrNoUser, model.ErrNotFound, account.ErrDeleted)
}

// RecomputeMilestone computes a milestone from the workouts themselves instead of their
// ledgers, at most MaxInspect of them. Those that the milestone has carried forward it reads from Strava, within
// the calls of the user's backfills; if that is not possible now, it counts what was carried, and leaves a completed
// milestone as it is. A second run mints nothing new. Errors:
// milestone_not_found, recompute_too_soon, too_many_workouts_for_mvp_recompute,
// milestone_version_conflict.
func (s *Service) RecomputeMilestone(ctx context.Context, in *RecomputeMilestone) (*Recomputed, error) {
	r, err := s.read(ctx, in.UserID, in.ID)
	if err != nil {
		return nil, err
	}

	if r, err = s.takeRecompute(ctx, r); err != nil {
		return nil, err
	}

	u, err := item.ReadUser(ctx, s.db, in.UserID)
	if err != nil {
		return nil, err
	}

	entries, err := s.inspect(ctx, r)
	if err != nil {
		return nil, err
	}

	counts := r.counts(s.now())
	if counts {
		if r, counts, err = s.carryAnew(ctx, r, entries, u.Counts); err != nil {
			return nil, err
		}
	}

	out, parts := &Recomputed{}, 0

	sum := s.sum(r, entries, u.Counts)
	if counts {
		again := func() ([]tally.Entry, tally.Choice, error) {
			entries, err := s.inspect(ctx, r)
			return entries, u.Counts, err
		}
		if r, parts, err = s.evaluate(ctx, r, sum, again, map[int64]bool{}); err != nil {
			return nil, err
		}
	}

	out.Body.Milestone, out.Body.Parts, out.Body.BeforeStart = s.shown(r, s.now()), parts, sum.BeforeStart

	return out, nil
}

// takeRecompute counts a recomputation of a milestone. It returns problem.Beyond of the limit if as many
// were counted in the period, and milestone_version_conflict if others are counted at this moment.
func (s *Service) takeRecompute(ctx context.Context, r Row) (Row, error) {
	return dynamo.RetryValue(ctx, attempts, func() (Row, error) {
		next, err := s.read(ctx, r.UserID, r.MilestoneID)
		if err != nil {
			return next, err
		}

		was := next

		w, err := limit.Window{Begins: time.Unix(was.RecomputedFrom, 0), Count: was.Recomputes}.Take(recomputes, s.now())
		if err != nil {
			return next, err
		}

		next.RecomputedFrom, next.Recomputes = w.Begins.Unix(), w.Count

		return next, dynamo.Update(ctx, s.db, tables.SaveMilestone, dynamo.Key(tables.SaveMilestone, was.PK, was.SK),
			dynamo.Set(next, "recomputedFromUtc", "recomputes"),
			dynamo.Exists[Row]("PK").And(dynamo.Unchanged(was, "recomputedFromUtc", "recomputes")))
	})
}

// inspected is what a recomputation reads of a workout.
var inspected = expression.NamesList(
	expression.Name("activityId"), expression.Name("sportType"), expression.Name("startDateUtc"), expression.Name("utcOffsetSec"),
	expression.Name("distanceMeters"), expression.Name("movingTimeSec"), expression.Name("elapsedTimeSec"),
	expression.Name("total_elevation_gain"), expression.Name("manual"), expression.Name("flagged"),
	expression.Name("private"), expression.Name("isDeleted"), expression.Name("countedAtUtc"),
)

// inspect reads the workouts of a milestone's source, page by page. It returns errTooMany if there are
// more than MaxInspect.
func (s *Service) inspect(ctx context.Context, of Row) (entries []tally.Entry, err error) {
	r := dynamo.Range{
		Key:        dynamo.KeyBeginsWith(tables.ListWorkouts, item.User(of.UserID), of.From().Workouts()),
		Project:    &inspected,
		Limit:      pageSize,
		Consistent: true,
	}

	for page, err := range dynamo.Pages(func(after dynamo.Item) ([]workout.Row, dynamo.Item, error) {
		r.After = after
		return dynamo.Query[workout.Row](ctx, s.db, tables.ListWorkouts, r)
	}) {
		if err != nil {
			return nil, err
		}

		for _, w := range page {
			entries = append(entries, w.Entry())
		}

		if len(entries) > MaxInspect {
			return nil, errTooMany
		}
	}

	return entries, nil
}

// GetEligibility is the request for the reasons why a workout of the caller does not count for a
// milestone.
type GetEligibility struct {
	auth.User
	ActivityID  string `path:"activityId" pattern:"^[A-Za-z0-9-]{1,64}$" doc:"The id of the activity at Strava, or of the workout on the phone."`
	MilestoneID string `query:"milestoneId" required:"true" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
}

// Eligibility is the answer with the reasons why a workout does not count, none if it counts.
type Eligibility struct {
	Body struct {
		Counts      bool           `json:"counts" doc:"Whether the workout counts."`
		Value       int64          `json:"value" doc:"What it adds, or would add, in the unit of the milestone."`
		Reasons     []tally.Reason `json:"reasons" doc:"Why it does not count: codes."`
		Texts       []string       `json:"texts" doc:"The same for the user."`
		DuplicateOf string         `json:"duplicateOf,omitempty" doc:"The id of the activity that counts instead."`
	}
}

// texts are the reasons why a workout does not count, for users.
var texts = map[tally.Reason]string{
	tally.Deleted:      "It was deleted at Strava, or cannot be seen there any more.",
	tally.OtherSport:   "It is another sport than the milestone counts.",
	tally.BeforeStart:  "It began before the milestone's period.",
	tally.AfterEnd:     "It began after the milestone's period.",
	tally.VirtualOff:   "You chose not to count workouts on a simulator.",
	tally.EBikeOff:     "You chose not to count rides with an electric motor.",
	tally.HandcycleOff: "You chose not to count handcycles and velomobiles.",
	tally.ManualOff:    "You chose not to count workouts that were entered by hand.",
	tally.PrivateOff:   "You chose not to count workouts that only you can see.",
	tally.IsFlagged:    "Strava has flagged it.",
	tally.NoValue:      "It has no distance, no ascent or no time, which the milestone counts.",
	tally.Duplicate:    "It is the same workout as another one, recorded by a second device.",
	tally.Overlap:      "It took place at the same time as another workout, which counts.",
	tally.IsPaused:     "The milestone is paused: it counts when the milestone is resumed.",
	tally.IsAbandoned:  "The milestone was abandoned.",
	tally.IsCompleted:  "The milestone was completed before.",
	tally.IsEnded:      "It arrived, or was changed, after the milestone had ended.",
}

// phoneTexts are those of workouts of a phone where they differ.
var phoneTexts = map[tally.Reason]string{
	tally.Deleted:   "It was removed.",
	tally.ManualOff: "You chose not to count workouts that were entered by hand, and those of a phone are treated the same.",
	tally.IsFlagged: "It is faster, or climbs faster, than its sport allows.",
}

// textOf returns a reason for the user.
func textOf(reason tally.Reason, source item.Source) string {
	if text := phoneTexts[reason]; source == item.Phone && text != "" {
		return text
	}

	return texts[reason]
}

// countInTime is tally.CountFrom without the workouts that have arrived after the milestone ended, of which the last
// reason is tally.IsEnded. When workouts arrived that were fetched by a later connection is not known: these count.
func (s *Service) countInTime(
	ctx context.Context, r Row, from tally.Carried, entries []tally.Entry, choice tally.Choice,
) (sum tally.Sum, err error) {
	g, closes := r.Goal(), r.ClosesAt().Unix()
	if r.State(s.now()) != Ended {
		return tally.CountFrom(from, entries, g, choice), nil
	}

	if r.From() == item.Strava {
		c, err := link.Read(ctx, s.db, r.UserID)
		if err != nil && !errors.Is(err, link.ErrNotConnected) {
			return sum, err
		}

		if c.ConnectedAt > closes {
			return tally.CountFrom(from, entries, g, choice), nil
		}
	}

	sum = tally.CountFrom(from, tally.StoredUntil(entries, closes), g, choice)

	for _, e := range entries {
		if e.StoredAt > closes {
			sum.Why[e.ActivityID] = append(tally.Why(e, g, choice), tally.IsEnded)
		}
	}

	return sum, nil
}

// against returns why the milestone counts no workout that began at a time, epoch s, nil if it does.
func (r Row) against(startedAt int64, now time.Time) []tally.Reason {
	switch state := r.State(now); {
	case state == Paused:
		return []tally.Reason{tally.IsPaused}
	case state == Abandoned:
		return []tally.Reason{tally.IsAbandoned}
	case state == Completed && r.CompletedAt != nil && startedAt > *r.CompletedAt:
		return []tally.Reason{tally.IsCompleted}
	}

	return nil
}

// GetEligibilityFunction returns why a workout of the caller counts for a milestone, or why it does
// not.
func GetEligibilityFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/get-eligibility",
		Does:   "Returns why a workout of the caller counts for a milestone, or why not.",
		IfDown: "Users cannot see why a workout does not count.",
		On:     spec.Route{Method: "GET", Path: "/activities/{activityId}/eligibility", Auth: spec.Session},
		Uses:   signin.Caller(tables.GetWorkout, tables.ReadMilestone, tables.ReadLedgers, tables.GetConnection),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetEligibility, errNotFound, item.ErrNoUser, workout.ErrNoWorkout)
}

// GetEligibility returns all reasons why a workout does not count. It reads the ledgers of
// the workout's days, where its duplicates are. Errors: activity_not_found,
// milestone_not_found.
func (s *Service) GetEligibility(ctx context.Context, in *GetEligibility) (*Eligibility, error) {
	r, err := s.read(ctx, in.UserID, in.MilestoneID)
	if err != nil {
		return nil, err
	}

	w, err := workout.Get(ctx, s.db, r.From(), in.UserID, in.ActivityID)
	if err != nil {
		return nil, err
	}

	u, err := item.ReadUser(ctx, s.db, in.UserID)
	if err != nil {
		return nil, err
	}

	g := r.Goal()

	near := int64(time.Hour / time.Second)
	if g.Once {
		near = tally.MaxElapsed
	}

	entries, err := workout.EntriesOf(ctx, s.db, r.From(), in.UserID, w.StartedAt-near, w.StartedAt+near)
	if err != nil {
		return nil, err
	}

	sum, err := s.countInTime(ctx, r, tally.Carried{}, entries, u.Counts)
	if err != nil {
		return nil, err
	}

	out := &Eligibility{}
	out.Body.Reasons, out.Body.Texts, out.Body.Value = []tally.Reason{}, []string{}, w.Entry().Value(g.Target)

	reasons, listed := sum.Why[in.ActivityID]
	if !listed && w.StartedAt == 0 {
		reasons = []tally.Reason{tally.Deleted}
	}

	reasons = append(reasons, r.against(w.StartedAt, s.now())...)
	for _, reason := range reasons {
		out.Body.Reasons, out.Body.Texts = append(out.Body.Reasons, reason), append(out.Body.Texts, textOf(reason, r.From()))
	}

	out.Body.Counts, out.Body.DuplicateOf = len(reasons) == 0, sum.TwinOf[in.ActivityID]

	return out, nil
}
