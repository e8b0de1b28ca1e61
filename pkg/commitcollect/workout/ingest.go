package workout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Event is a message with a webhook of Strava.
type Event struct {
	strava.Event
	Missing int `json:"missing,omitempty"` // how often the activity was not found
	strava.Wait
}

// Key names the event. Strava repeats an event with the same key.
func (e Event) Key() string {
	return fmt.Sprintf("STRAVA#EVT#%s#%s#%d#%d", e.ObjectType, e.AspectType, e.ObjectID, e.EventTime)
}

// correlation returns the id that joins the entries of the trail about the event.
func (e Event) correlation() string {
	return fmt.Sprintf("strava:%d:%d:%d:%d", e.SubscriptionID, e.OwnerID, e.ObjectID, e.EventTime)
}

// States of an event.
const (
	inProgress = "IN_PROGRESS"
	done       = "DONE"
	retry      = "RETRY"
)

const (
	lease     = 2 * time.Minute // longer than the function's timeout
	keepEvent = 7 * 24 * time.Hour
	// early is how much earlier than it was sent for a message may come, because clocks differ and SQS counts in seconds.
	early = 10 * time.Second
	// MissingTries and MissingDelay are how often and how long apart an activity is looked
	// for. A new one may not be found at first, in the experience of others for seconds.
	MissingTries = 3
	MissingDelay = time.Minute
	// Patience is how long an event or a first import waits for Strava. Then the next sync of all users
	// fetches the whole history of the user, in which it finds what the event is about: so the event
	// is not a dead letter, with which an operator could do no more.
	Patience = 24 * time.Hour
	// maxAhead is how far Strava's clock may be ahead of ours.
	maxAhead = time.Hour
)

// claim is an event that is handled or was.
type claim struct {
	Key        string `dynamodbav:"IdempotencyKey"`
	State      string `dynamodbav:"state"`
	LeaseUntil int64  `dynamodbav:"leaseUntil"`      // epoch ms
	DueAt      int64  `dynamodbav:"dueAt,omitempty"` // of RETRY: when the message that was sent again is due, epoch ms
	Event      Event  `dynamodbav:"event"`
	TTL        int64  `dynamodbav:"ttlEpoch"` // epoch s
}

// Ingester handles webhooks.
type Ingester struct {
	link  link.Vault
	db    dynamo.DB
	queue queue.Sender
	trail trail.Writer
	clock app.Clock
	keeps time.Duration // workouts, 0 for as long as the connection

	allowed Allowed // by Strava, if its answers do not say otherwise
	meter   *meter
	resting resting
}

// OpenIngester opens the service.
func OpenIngester(ctx context.Context, env app.Env) (*Ingester, error) {
	allowed, err := ParseLimits(env.Setting(Limits))
	if err != nil {
		return nil, err
	}

	m := &meter{next: env.HTTP}
	if m.next == nil {
		m.next = http.DefaultTransport
	}

	env.HTTP = m

	v, err := link.OpenVault(ctx, env)
	if err != nil {
		return nil, err
	}

	db := dynamo.Open(env.AWS, env.Prefix)

	return &Ingester{
		link: v, db: db, queue: queue.Open(env.AWS, env.Queues), trail: trail.Open(db, env.Now), clock: env.Clock,
		allowed: allowed, meter: m, keeps: link.Retention(env),
	}, nil
}

// IngestEventsFunction fetches the activities that Strava's events name, and stores them.
func IngestEventsFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/ingest-events",
		Does:   "Fetches the activities that Strava's events name, and stores them.",
		IfDown: "Workouts appear late.",
		On:     EventQueue,
		Uses: slices.Concat([]spec.Access{tables.ClaimEvent, tables.FinishEvent, tables.FindOwner, tables.UnlinkAthlete, tables.MarkFetch,
			tables.TakeCalls}, stores, ToStrava),
		Sends: []spec.Queue{EventQueue, ChangeQueue, link.PurgeQueue}, Secrets: secrets,
		Budgets: slices.Concat(EventReads.Shares(), userEvents.shares), Emits: []spec.Metric{link.StravaInactive},
		Memory: 256, Timeout: time.Minute,
	}, OpenIngester, (*Ingester).IngestEvent)
}

// IngestEvent fetches the activity of an event, and stores it or its deletion. An event that was
// handled changes nothing. If another worker handles the event, IngestEvent sends it again for when
// the lease of that worker is over, in case it dies. While an event waits, a message that comes before the one that
// was sent last is a copy, and is dropped. A worker that dies between sending and storing leaves such a copy, which
// would otherwise be sent again every 15 minutes, too.
func (s *Ingester) IngestEvent(ctx context.Context, e Event) error {
	key := dynamo.Key(tables.ClaimEvent, e.Key())
	now := s.clock.Now()
	mine := claim{State: inProgress, LeaseUntil: now.Add(lease).UnixMilli(), Event: e, TTL: now.Add(keepEvent).Unix()}
	free := dynamo.Absent[claim]("state").Or(
		dynamo.Equal[claim]("state", retry).And(dynamo.Absent[claim]("dueAt").Or(dynamo.AtMost[claim]("dueAt", now.UnixMilli()))),
		dynamo.Equal[claim]("state", inProgress).And(dynamo.Less[claim]("leaseUntil", now.UnixMilli())),
	)

	err := dynamo.Update(ctx, s.db, tables.ClaimEvent, key, dynamo.Set(mine, "state", "leaseUntil", "event", "ttlEpoch"), free)
	if refused, ok := errors.AsType[*dynamo.Refused](err); ok {
		var is claim
		if err := attributevalue.UnmarshalMap(refused.Item, &is); err != nil || is.State == done || is.State == retry {
			return err
		}

		return s.queue.Send(ctx, EventQueue, e, time.UnixMilli(is.LeaseUntil).Sub(now)+time.Second)
	}

	if err != nil {
		return err
	}

	end := claim{State: done}
	err = s.handle(ctx, e)

	if s.clock.Now().Sub(now) > slow {
		s.resting.begin(s.clock.Now())
	}

	if err != nil {
		again, ok := errors.AsType[*repeat](err)
		if !ok {
			return errors.Join(err, s.suspectOwner(ctx, e)) // the lease ends, and SQS delivers the message again
		}

		if err := s.queue.Send(ctx, EventQueue, again.event, again.after); err != nil {
			return err
		}

		end.State, end.DueAt = retry, now.Add(again.after-early).UnixMilli()
	}

	return dynamo.IgnoreRefused(dynamo.Update(ctx, s.db, tables.FinishEvent, key, dynamo.Set(end, "state", "dueAt"),
		dynamo.Equal[claim]("leaseUntil", mine.LeaseUntil)))
}

// repeat is the error of an event that is to be handled later.
type repeat struct {
	event Event
	after time.Duration
}

func (r *repeat) Error() string { return fmt.Sprintf("the event is handled again in %s", r.after) }

// handle handles an event that is claimed.
func (s *Ingester) handle(ctx context.Context, e Event) error {
	userID, err := link.OwnerOf(ctx, s.db, e.OwnerID)
	if err != nil {
		return err
	}

	if userID == "" {
		slog.InfoContext(ctx, "an event of an athlete whom nobody has connected", "event", e.Key())
		return nil
	}

	if e.AspectType != "delete" { // of which Strava is not asked
		err := s.takeOfUser(ctx, userID, userEvents)

		limited, _ := errors.AsType[*strava.Error](err)
		switch {
		case errors.Is(err, account.ErrDeleted):
			return nil
		case strava.Is(err, strava.Limited) && limited.RetryAfter > readsOfQuarter.Per:
			return s.giveUp(ctx, userID, "a user's events have used the calls of the day")
		case strava.Is(err, strava.Limited):
			return &repeat{e, limited.RetryAfter}
		case err != nil:
			return err
		}
	}

	if e.ObjectType == "athlete" {
		return s.revoke(ctx, userID, e)
	}
	// With a time in the far future, all later events would be ignored.
	c := change{
		id:        strconv.FormatInt(e.ObjectID, 10),
		athlete:   e.OwnerID,
		aspect:    e.AspectType,
		eventTime: min(e.EventTime, s.clock.Now().Add(maxAhead).Unix()),
		bare:      s.keeps > 0,
	}
	if e.AspectType != "delete" {
		a, err := s.fetch(ctx, userID, c.id)
		switch {
		case errors.Is(err, link.ErrBroken), errors.Is(err, link.ErrNotConnected):
			slog.WarnContext(ctx, "an event of a connection that has ended", "user", userID, "event", e.Key())
			return nil // once connected again, the history has it
		case strava.Is(err, strava.NotFound) && e.Missing < MissingTries:
			e.Missing++
			return &repeat{e, time.Duration(e.Missing) * MissingDelay}
		case strava.Cause(err) != nil:
			return s.later(ctx, userID, e, strava.Cause(err))
		case strava.Is(err, strava.NotFound):
			if c.aspect == "create" { // Strava may show it later, without another event
				if err := s.suspect(ctx, userID, s.clock.Now().Unix()); err != nil {
					return err
				}
			}

			c.aspect = "delete"
		case err != nil:
			return err
		case a.Athlete.ID != e.OwnerID:
			slog.WarnContext(ctx, "an event names an activity of another athlete", "event", e.Key())
			return nil
		default:
			c.activity = &a
		}
	}

	if err := store(ctx, s.db, userID, []change{c}, s.clock.Now()); err != nil {
		if errors.Is(err, account.ErrDeleted) {
			return nil
		}

		return err
	}

	event := map[string]trail.Event{"create": trail.ActivityCreate, "delete": trail.ActivityDelete}[c.aspect]
	if event == "" {
		event = trail.ActivityUpdate
	}

	s.trail.Write(ctx, trail.Entry{
		Event:         event,
		Result:        trail.Success,
		UserID:        userID,
		CorrelationID: e.correlation(),
		Data:          map[string]string{"activityId": c.id},
	})
	// Also if nothing was stored: the worker that stored it may have died before its message.
	return s.queue.SendFIFO(ctx, ChangeQueue, userID, Changed{UserID: userID})
}

// later returns the error of an event that waits for Strava. Waiting does not use up the calls of the
// user.
func (s *Ingester) later(ctx context.Context, userID string, e Event, cause *strava.Error) error {
	if err := s.giveBack(ctx, userID, userEvents); err != nil {
		return err
	}

	next, delay, ok := e.Next(cause, s.clock.Now(), Patience)
	if !ok {
		return s.giveUp(ctx, userID, "an event has waited too long for Strava")
	}

	e.Wait = next

	return &repeat{e, delay}
}

// giveUp leaves an event to the next sync of all users, which fetches the user's whole history.
// Otherwise more and more events would wait. The sync also finds a connection that was revoked.
func (s *Ingester) giveUp(ctx context.Context, userID, why string) error {
	slog.WarnContext(ctx, why, "user", userID)
	return s.suspect(ctx, userID, s.clock.Now().Unix())
}

// suspectOwner has the next sync of all users fetch what a failed event is about, which may become a
// dead letter.
func (s *Ingester) suspectOwner(ctx context.Context, e Event) error {
	userID, err := link.OwnerOf(ctx, s.db, e.OwnerID)
	if err != nil || userID == "" {
		return err
	}

	return s.suspect(ctx, userID, s.clock.Now().Unix())
}

// fetch returns an activity. A token that Strava refuses is renewed once.
func (s *Ingester) fetch(ctx context.Context, userID, id string) (a strava.Activity, err error) {
	err = s.call(ctx, userID, EventReads, func(access string) error {
		a, err = s.link.Strava.Activity(ctx, access, id)
		return err
	})

	return a, err
}

// revoke ends a connection that the user has ended at Strava. The webhook may be forged, so it
// makes a call to Strava, which refuses a revoked access.
func (s *Ingester) revoke(ctx context.Context, userID string, e Event) error {
	if e.Updates["authorized"] != "false" {
		return nil
	}

	c, err := link.Read(ctx, s.db, userID)
	if errors.Is(err, link.ErrNotConnected) {
		return s.queue.Send(ctx, link.PurgeQueue, link.Purge{UserID: userID}, 0)
	}

	if err != nil {
		return err
	}

	err = s.call(ctx, userID, EventReads, func(access string) error {
		_, err := s.link.Strava.Activities(ctx, access, s.clock.Now(), 1)
		return err
	})
	switch {
	case err == nil:
		slog.WarnContext(ctx, "a revocation that Strava does not confirm", "user", userID, "event", e.Key())
		return nil
	case strava.Cause(err) != nil:
		return s.later(ctx, userID, e, strava.Cause(err))
	case !errors.Is(err, link.ErrBroken) && !strava.Is(err, strava.Unauthorized):
		return err
	}
	// The message first: once the connection is gone, a second run would not know the owner.
	if err := s.queue.Send(ctx, link.PurgeQueue, link.Purge{UserID: userID, AthleteID: c.AthleteID}, link.PurgeDelay); err != nil {
		return err
	}

	if err := link.Unlink(ctx, s.db, c); err != nil {
		return err
	}

	s.trail.Write(ctx, trail.Entry{Event: trail.StravaDeauthorize, Result: trail.Success, UserID: userID, CorrelationID: e.correlation(),
		Data: link.Ended(c)})

	return nil
}
