package workout

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

const (
	// DueAfter is how long after a fetch a user is due again. The runs are twelve hours apart, so what
	// a lost webhook said is found after 36 hours. Strava requires deletions within 48 hours.
	DueAfter = 35 * time.Hour
	// lateAfter is how old the last fetch of a user may be whom a run leaves to the next one: beyond it,
	// that run is later than 48 hours.
	lateAfter = 36 * time.Hour
	// wholeAfter is how long after a fetch of the whole history the next one is due, because an old
	// workout may have been changed or deleted.
	wholeAfter = 7*24*time.Hour - time.Hour
)

// The calls of a backfill: its pages, of which the last is empty.
const (
	latestCalls = 2
	wholeCalls  = 3
)

// Sync chooses the users whose activities a run requests.
type Sync struct {
	now   time.Time
	calls int // that the run may cause
	due   []link.Listed
	late  bool
}

// NewSync returns a run that may cause a number of calls to Strava.
func NewSync(now time.Time, calls int) *Sync { return &Sync{now: now, calls: max(calls, 0)} }

// Consider adds a connected user. A user is due for whom an event was given up, or whose last fetch
// was DueAfter ago. A user whose first import may still go on is not, and neither is one whose
// connection is broken.
func (s *Sync) Consider(u link.Listed) {
	importing := u.FetchedAt < u.AskedAt && s.age(u.AskedAt) < Patience
	if u.BrokenAt != 0 || importing || !isSuspect(u) && s.age(u.FetchedAt) < DueAfter {
		return
	}

	s.due = append(s.due, u)

	if keep := s.calls/latestCalls + 1; len(s.due) > 2*keep+1000 { // bounds the memory
		s.sort()
		s.drop(keep)
	}
}

// Choose returns the messages of the users that the calls reach: first those for whom an event was
// given up, then those whose last fetch is the oldest. late reports whether another user would wait
// longer than 48 hours for the next run.
func (s *Sync) Choose() (all []link.Backfill, late bool) {
	s.sort()

	calls, n := s.calls, 0

	for _, u := range s.due {
		m := link.Backfill{
			UserID: u.UserID,
			Whole:  isSuspect(u) || s.age(u.WholeAt) >= wholeAfter,
			Asked:  s.now.Truncate(time.Hour).Unix(),
			Seen:   u.FetchedAt,
		}

		cost := latestCalls
		if m.Whole {
			cost = wholeCalls
		}

		if cost > calls {
			break
		}

		calls -= cost
		n++

		all = append(all, m)
	}

	s.drop(n)

	return all, s.late
}

func (s *Sync) age(at int64) time.Duration { return s.now.Sub(time.Unix(at, 0)) }

// isSuspect reports whether an event of the user was given up since the last fetch of all began.
func isSuspect(u link.Listed) bool { return u.SuspectAt > u.WholeAt }

func (s *Sync) sort() {
	slices.SortFunc(s.due, func(a, b link.Listed) int {
		if x, y := isSuspect(a), isSuspect(b); x != y {
			if x {
				return -1
			}

			return 1
		}

		return cmp.Or(cmp.Compare(a.FetchedAt, b.FetchedAt), cmp.Compare(a.UserID, b.UserID))
	})
}

// drop leaves all users but the first n to the next run.
func (s *Sync) drop(n int) {
	for _, u := range s.due[min(n, len(s.due)):] {
		s.late = s.late || s.age(u.FetchedAt) >= lateAfter
	}

	s.due = s.due[:min(n, len(s.due))]
}

// Reconciler is the service of the sync.
type Reconciler struct {
	db      dynamo.DB
	queue   queue.Sender
	now     func() time.Time
	allowed Allowed       // by Strava, if its answers do not say otherwise
	keeps   time.Duration // workouts, 0 for as long as the connection
}

// OpenReconciler opens the service.
func OpenReconciler(_ context.Context, env app.Env) (*Reconciler, error) {
	allowed, err := ParseLimits(env.Setting(Limits))
	return &Reconciler{dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues), env.Now, allowed, link.Retention(env)}, err
}

// FetchesLate counts the runs of Reconcile that leave users whose fetches are late, as others have for
// two days before.
var FetchesLate = spec.Metric{Name: "FetchesLate", Unit: spec.Count}

// lateFor is for how long fetches are late before an operator is told: on the third day.
const lateFor = 2 * 24 * time.Hour

// brokenFor is how long a connection may be broken before its workouts are deleted. A
// connection that was revoked is found broken after 36 hours at most, and purged by the run
// after that, twelve hours later.
const brokenFor = 11 * time.Hour

// ReconcileFunction requests the latest activities of the connected users who are due.
func ReconcileFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "commitcollect/reconcile",
		Does:   "Has the activities fetched of the connected users for whom a webhook may be lost, and ends connections that are broken.",
		IfDown: "Workouts whose webhooks were lost do not appear, or are kept after a revocation or for longer than the operator has set.",
		On:     spec.Schedule("cron(0 3,15 * * ? *)"),
		Uses:   []spec.Access{tables.AllConnected, tables.ReadBudget, tables.MarkNight},
		Sends:  []spec.Queue{link.BackfillQueue, link.PurgeQueue, NoticeQueue, ChangeQueue},
		Emits:  []spec.Metric{FetchesLate},
		Memory: 256, Timeout: 5 * time.Minute,
	}, OpenReconciler, (*Reconciler).Reconcile)
}

// Reconcile requests the activities of users who are due, as Sync chooses them: within the part of
// Strava's limits that is left to it today. It stores nothing of those whom it leaves to the next run.
// In each run it notifies users whose connection is broken, and ends those connections that have
// been broken for long, because the event of their revocation may have been lost; and it has workouts
// expire, if the stage keeps them for some days only. It reads the list of connected users once, and
// sends at most one message for two calls of its part.
//
// A second run in the same hour sends the same messages again. Of two messages of one run, the later makes no calls; a
// phone displays a notice once.
func (s *Reconciler) Reconcile(ctx context.Context) error {
	now := s.now().UTC()

	row, err := readBudget(ctx, s.db)
	if err != nil {
		return err
	}

	_, used := row.now(now)

	calls := SyncReads.Of(row.allowed(s.allowed))[1].UpTo - used
	if row.InactiveAt != 0 { // one finds out whether it still is
		calls = min(calls, wholeCalls)
	}

	sync := NewSync(now, calls)

	for shard := range item.Shards {
		r := dynamo.Range{Key: dynamo.KeyIs(tables.AllConnected, item.Connected(shard))}

		for users, err := range dynamo.Pages(func(after dynamo.Item) ([]link.Listed, dynamo.Item, error) {
			r.After = after
			return dynamo.Query[link.Listed](ctx, s.db, tables.AllConnected, r)
		}) {
			if err == nil {
				err = s.expire(ctx, users)
			}

			if err != nil {
				return err
			}

			var (
				purges  []link.Purge
				notices []Notice
			)

			for _, u := range users {
				sync.Consider(u)

				if u.BrokenAt != 0 && u.BrokenAt <= now.Add(-brokenFor).Unix() {
					purges = append(purges, link.Purge{UserID: u.UserID, Broken: true})
				}

				if u.BrokenAt != 0 {
					notices = append(notices, Notice{UserID: u.UserID, Reconnect: true})
				}
			}

			// The notices first: they are only of connections that exist.
			err := errors.Join(queue.SendAll(ctx, s.queue, NoticeQueue, notices), queue.SendAll(ctx, s.queue, link.PurgeQueue, purges))
			if err != nil {
				return err
			}
		}
	}

	fetches, late := sync.Choose()

	return errors.Join(queue.SendAll(ctx, s.queue, link.BackfillQueue, fetches), s.watch(ctx, row, now, late))
}

// watch stores since when users have waited too long, and emits FetchesLate after lateFor. They wait for
// link.StravaInactive, and not for the limits, while the application is inactive.
func (s *Reconciler) watch(ctx context.Context, row reads, now time.Time, late bool) error {
	is := row

	switch {
	case !late, row.InactiveAt != 0:
		is.LateSince = 0
	case is.LateSince == 0:
		is.LateSince = now.Unix()
	case now.Sub(time.Unix(is.LateSince, 0)) >= lateFor:
		slog.WarnContext(ctx, "Strava's limits are too small: users wait too long for what webhooks have lost", "since", is.LateSince)
		telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(FetchesLate, 1)})
	}

	if is == row {
		return nil
	}

	return dynamo.Update(ctx, s.db, tables.MarkNight, dynamo.Key(tables.MarkNight, item.Budget, item.Meta), dynamo.Set(is, "lateSinceUtc"))
}
