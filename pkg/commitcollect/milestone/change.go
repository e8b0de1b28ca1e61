package milestone

import (
	"cmp"
	"context"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// UpdateMilestone is the request to change a milestone of the caller.
type UpdateMilestone struct {
	auth.User
	ID   string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
	Body struct {
		Status string `json:"status,omitempty" enum:"ACTIVE,PAUSED,ABANDONED" doc:"Whether it mints parts. An abandoned one keeps its parts, and cannot be resumed."`

		// The goal can change until the first part is minted.
		Sport       tally.Family   `json:"sport,omitempty" enum:"RIDE,RUN,SWIM,WALK,HIKE,ROW,WHEELCHAIR" doc:"The family of sports that count."`
		Sports      []tally.Family `json:"sports,omitempty" enum:"RIDE,RUN,SWIM,WALK,HIKE,ROW,WHEELCHAIR" minItems:"1" maxItems:"7" uniqueItems:"true" nullable:"false" doc:"Several, in place of sport."`
		TargetType  tally.Target   `json:"targetType,omitempty" enum:"DISTANCE_METERS,ELEVATION_METERS,MOVING_SECONDS,WORKOUTS,STREAK_DAYS,STREAK_WEEKS" doc:"What is measured."`
		TotalTarget int64          `json:"totalTarget,omitempty" minimum:"1" maximum:"1000000000" doc:"Metres, seconds, workouts, days or weeks."`
		Start       int64          `json:"periodStartAtUtc,omitempty" minimum:"1" maximum:"4102444800" doc:"Epoch seconds, in place of the first day."`
		StartDay    string         `json:"periodStartDay,omitempty" format:"date" doc:"The first day, where a workout took place, in place of the time."`
		EndDay      string         `json:"periodEndDay,omitempty" format:"date" doc:"The last day, where a workout took place."`
		NoEnd       bool           `json:"noEnd,omitempty" doc:"Whether the last day is removed."`
	}
}

// Changed is the answer with a changed milestone.
type Changed struct {
	Body Milestone
}

// UpdateMilestoneFunction changes a milestone of the caller.
func UpdateMilestoneFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/update-milestone",
		Does:    "Pauses, resumes or abandons a milestone of the caller, or changes its goal before a part is minted.",
		IfDown:  "Milestones cannot be paused or changed.",
		On:      spec.Route{Method: "PATCH", Path: "/milestones/{milestoneId}", Auth: spec.Session},
		Uses:    signin.Caller(tables.ReadMilestone, tables.SaveMilestone),
		Sends:   []spec.Queue{link.BackfillQueue, workout.ChangeQueue},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).UpdateMilestone, errClosed, errComplete, errEarly, errMinted, errNotFound, errPeriod, errVersion)
}

// UpdateMilestone pauses, resumes or abandons a milestone, or changes its goal while no part is
// minted; its progress is then computed anew. One that is active is computed at once. A second run
// changes nothing, and has it computed again. Errors: milestone_not_found, milestone_completed,
// milestone_closed, milestone_minted, invalid_period, milestone_version_conflict.
func (s *Service) UpdateMilestone(ctx context.Context, in *UpdateMilestone) (*Changed, error) {
	return dynamo.RetryValue(ctx, attempts, func() (*Changed, error) {
		r, err := s.read(ctx, in.UserID, in.ID)
		if err != nil {
			return nil, err
		}

		next, err := r.changed(in)

		now := s.now()
		switch state := r.State(now); {
		case err != nil:
			return nil, err
		case state == Completed:
			return nil, errComplete
		case state == Abandoned && next.Status == Abandoned && next.Goal() == r.Goal():
			return &Changed{s.shown(r, now)}, nil
		case state == Abandoned, state == Ended && next.Status != Abandoned:
			return nil, errClosed
		case next.Goal() != r.Goal() && r.Awarded > 0:
			return nil, errMinted
		}

		if next.Status != r.Status || next.Goal() != r.Goal() {
			if next.Goal() != r.Goal() {
				next.Progress, next.Raw, next.Settled, next.DueAt, next.PartAt = 0, 0, new(int64), 0, 0
				next.Carried, next.AnewAt = nil, now.Unix()
			}

			if next.Goal() != r.Goal() || r.Status == Paused && next.Status == Active { // it is open for a week at least
				next.ResumedAt, next.HeldUntil = now.Unix(), 0
			}

			next.Version++
			err = dynamo.Update(ctx, s.db, tables.SaveMilestone, dynamo.Key(tables.SaveMilestone, r.PK, r.SK),
				dynamo.Set(next, "status", "version", "sport", "sports", "phoneSports", "targetType", "totalTarget", "partTarget",
					"periodStartAtUtc", "periodStartDay", "periodEndDay", "progressValue", "rawProgress", "settledValue",
					"settleDueAtUtc", "partDueAtUtc", "carried", "countsAnewAtUtc", "resumedAtUtc", "heldUntilUtc"),
				dynamo.Equal[Row]("version", r.Version))
		}

		if err == nil && next.Status == Active {
			err = s.requestCount(ctx, next)
		}

		return &Changed{s.shown(next, now)}, err
	})
}

// changed returns the milestone as a request wants it. Errors: invalid_period.
func (r Row) changed(in *UpdateMilestone) (next Row, err error) {
	next, b := r, in.Body
	next.Status = cmp.Or(b.Status, r.Status)
	next = next.withSports(b.Sport, b.Sports)
	next.TargetType = cmp.Or(b.TargetType, r.TargetType)
	next.TotalTarget = cmp.Or(b.TotalTarget, r.TotalTarget)
	next.PartTarget = (next.TotalTarget + int64(r.PartsTotal) - 1) / int64(r.PartsTotal)

	if b.Start != 0 || b.StartDay != "" {
		next.Start, next.StartDay = b.Start, b.StartDay
	}

	if next.EndDay = cmp.Or(b.EndDay, r.EndDay); b.NoEnd {
		next.EndDay = ""
	}

	next.Start, err = period(next.Start, next.StartDay, next.EndDay)

	return next, err
}

// requestCount has the workouts of a milestone counted; those of Strava that are not kept, or of earlier
// years, are fetched first.
func (s *Service) requestCount(ctx context.Context, r Row) error {
	first := workout.HistoryFrom(s.now())
	if s.keeps > 0 {
		first = s.now().Add(workout.Margin - s.keeps).Unix()
	}

	if r.From() == item.Strava && r.Start < first { // a user without a connection gets the history with it
		return s.queue.Send(ctx, link.BackfillQueue, link.Backfill{UserID: r.UserID, Whole: true}, 0)
	}

	return s.queue.SendFIFO(ctx, workout.ChangeQueue, r.UserID, workout.Changed{UserID: r.UserID})
}

// DeleteMilestone is the request to delete a milestone of the caller.
type DeleteMilestone struct {
	auth.User
	ID string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
}

// DeleteMilestoneFunction deletes a milestone of the caller with its parts.
func DeleteMilestoneFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/delete-milestone",
		Does:   "Deletes a milestone of the caller with its parts.",
		IfDown: "Milestones cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/milestones/{milestoneId}", Auth: spec.Session},
		Uses:   signin.Caller(tables.DropMilestone),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DeleteMilestone)
}

// DeleteMilestone deletes a milestone, its parts and its public picture, in one transaction, whatever its state. Its id
// stays in the list of open milestones until the next computation. A second run finds nothing, and
// succeeds.
func (s *Service) DeleteMilestone(ctx context.Context, in *DeleteMilestone) (*httpapi.Removed, error) {
	a := tables.DropMilestone

	err := dynamo.Retry(ctx, dynamo.DefaultAttempts, func() error {
		rows, err := dynamo.QueryAll[Row](ctx, s.db, a, dynamo.Range{
			Key: dynamo.KeyBeginsWith(a, item.User(in.UserID), item.Milestone(in.ID)), Consistent: true,
		})
		if err != nil {
			return err
		}

		i := slices.IndexFunc(rows, func(r Row) bool { return r.EntityType == "Milestone" })
		if i < 0 {
			return nil
		}

		var writes []dynamo.Write

		for n, r := range rows {
			w := dynamo.DeleteWrite(dynamo.Key(a, r.PK, r.SK))
			if n == i {
				w = dynamo.DeleteWrite(dynamo.Key(a, r.PK, r.SK), dynamo.Unchanged(r, "version", "shareId"))
			}

			writes = append(writes, w)
		}

		if id := rows[i].ShareID; id != "" {
			writes = append(writes, dynamo.DeleteWrite(dynamo.Key(a, item.Shelf(id), item.Meta)))
		}

		return dynamo.Transact(ctx, s.db, a, writes...)
	})
	if err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}
