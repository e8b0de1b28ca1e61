package workout

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Purger is the service that deletes workouts.
type Purger struct {
	link  link.Vault
	db    dynamo.DB
	queue queue.Sender
	trail trail.Writer
	now   func() time.Time
}

// OpenPurger opens the service.
func OpenPurger(ctx context.Context, env app.Env) (*Purger, error) {
	v, err := link.OpenVault(ctx, env)
	if err != nil {
		return nil, err
	}

	db := dynamo.Open(env.AWS, env.Prefix)

	return &Purger{v, db, queue.Open(env.AWS, env.Queues), trail.Open(db, env.Now), env.Now}, nil
}

// PurgeWorkoutsFunction deletes the workouts of a user whose connection to Strava has ended.
func PurgeWorkoutsFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/purge-workouts",
		Does:   "Deletes the workouts of a user that are of no connected athlete, and ends the access to that athlete at Strava.",
		IfDown: "Workouts are kept that Strava requires to be deleted within 48 hours.",
		On:     link.PurgeQueue,
		Uses: []spec.Access{
			tables.GetConnection, tables.FindOwner, tables.OpenMilestones, tables.UnlinkAthlete, tables.DropWorkouts,
			tables.GetWorkouts, tables.GetLedger, tables.WriteAudit, account.CheckDeleted,
		},
		Sends: []spec.Queue{ChangeQueue, link.BackfillQueue, link.PurgeQueue}, Secrets: secrets,
		Memory: 256, Timeout: time.Minute,
	}, OpenPurger, (*Purger).PurgeWorkouts)
}

// PurgeWorkouts ends the access at Strava to which m.Token belongs, and deletes the workouts that are not of
// the user's connected athlete. If m.Broken is set, it also ends the broken connection. Milestones keep
// their progress and their parts, and are computed again. When nothing is left of an athlete it writes the proof
// of that, and has the history fetched if m.Fetch is set. It deletes and proves nothing while that athlete is
// connected. A second run deletes what is left. Strava requires the deletion within 48 hours.
func (s *Purger) PurgeWorkouts(ctx context.Context, m link.Purge) error {
	if m.Before != 0 {
		return s.expire(ctx, m)
	}

	if err := s.revoke(ctx, m); err != nil || m.Again {
		return err
	}

	if err := s.purge(ctx, m); err != nil {
		if errors.Is(err, account.ErrDeleted) { // all rows of the user are deleted
			return nil
		}

		return err
	}

	if m.Broken {
		if err := s.end(ctx, m.UserID); err != nil {
			return err
		}
	}

	c, err := s.connected(ctx, m)
	if err != nil {
		return err
	}

	// The athlete of the message is still connected if another one was refused, and is again if the user was quick:
	// nothing was deleted. A message of a change of athletes, which does not name one, is of before it did.
	left := c.AthleteID == 0 || (m.Fetch || m.AthleteID != 0) && c.AthleteID != m.AthleteID
	if left {
		if err := s.trail.Prove(ctx, m.UserID, trail.WorkoutsDelete); err != nil {
			return err
		}
	}

	// What milestones have carried forward goes with the workouts.
	anew := Changed{UserID: m.UserID, Anew: left}
	if err := s.queue.SendFIFO(ctx, ChangeQueue, m.UserID, anew); err != nil || !left || !m.Fetch {
		return err
	}

	return s.queue.Send(ctx, link.BackfillQueue, link.Backfill{UserID: m.UserID, Whole: true}, 0)
}

// revoke ends the access at Strava of the token of a message. If Strava does not revoke it, a message has it
// tried again, for link.RevokeFor; then revoke returns the error.
func (s *Purger) revoke(ctx context.Context, m link.Purge) error {
	if m.Token == "" {
		return nil
	}

	owner, err := link.OwnerOf(ctx, s.db, m.AthleteID)
	if err != nil || owner != "" { // connected again: the access is in use
		return err
	}

	err = s.link.Revoke(ctx, m.UserID, m.Token)
	if err == nil || s.now().Sub(time.Unix(m.Since, 0)) > link.RevokeFor {
		return err
	}

	slog.WarnContext(ctx, "the access at Strava was not revoked", "user", m.UserID, "err", err)

	again := link.Purge{UserID: m.UserID, Token: m.Token, AthleteID: m.AthleteID, Since: m.Since, Again: true}

	return s.queue.Send(ctx, link.PurgeQueue, again, link.RevokeDelay)
}

// end ends a broken connection. The user may have connected again meanwhile.
func (s *Purger) end(ctx context.Context, userID string) error {
	c, err := link.Read(ctx, s.db, userID)
	if errors.Is(err, link.ErrNotConnected) || err == nil && c.Status != link.Broken {
		return nil
	}

	if err == nil {
		err = link.Unlink(ctx, s.db, c)
	}

	if err == nil {
		s.trail.Write(ctx, trail.Entry{
			Event:  trail.StravaDeauthorize,
			Result: trail.Success,
			UserID: userID,
			Data:   link.Ended(c),
		})
	}

	return err
}

// purged is what a purge reads of a workout.
var purged = expression.NamesList(expression.Name("activityId"), expression.Name("athleteId"), expression.Name("startDateUtc"),
	expression.Name("ingestedAtUtc"))

// purge deletes the workouts that are not of the connected athlete. It looks before each page which athlete is
// connected, because the user may connect again meanwhile.
func (s *Purger) purge(ctx context.Context, m link.Purge) error {
	return s.drop(ctx, m.UserID, func() (func(Row) bool, error) {
		c, err := s.connected(ctx, m)
		return func(w Row) bool { return c.AthleteID == 0 || w.AthleteID != c.AthleteID }, err
	})
}

// connected returns the connection of a user, without an athlete if it is or will be none.
func (s *Purger) connected(ctx context.Context, m link.Purge) (link.Connection, error) {
	c, err := link.Read(ctx, s.db, m.UserID)
	if m.Broken && c.Status == link.Broken {
		c.AthleteID = 0
	}

	if errors.Is(err, link.ErrNotConnected) {
		err = nil
	}

	return c, err
}

// drop deletes workouts page by page, with their entries in the ledgers. Before each page it calls which,
// which returns the workouts that go.
func (s *Purger) drop(ctx context.Context, userID string, which func() (func(Row) bool, error)) error {
	r := dynamo.Range{
		Key:        dynamo.KeyBeginsWith(tables.DropWorkouts, item.User(userID), item.Workouts),
		Project:    &purged,
		Consistent: true,
		Limit:      500,
	}

	for page, err := range dynamo.Pages(func(after dynamo.Item) ([]Row, dynamo.Item, error) {
		r.After = after
		return dynamo.Query[Row](ctx, s.db, tables.DropWorkouts, r)
	}) {
		if err != nil {
			return err
		}

		goes, err := which()
		if err != nil {
			return err
		}

		var changes []change

		for _, w := range page {
			if goes(w) {
				changes = append(changes, change{id: w.ActivityID, purged: true, start: w.StartedAt})
			}
		}

		if err := store(ctx, s.db, userID, changes, s.now()); err != nil {
			return err
		}
	}

	return nil
}
