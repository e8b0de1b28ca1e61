package workout

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
)

// Row is a workout.
type Row struct {
	PK         string `dynamodbav:"PK"`
	SK         string `dynamodbav:"SK"`
	EntityType string `dynamodbav:"entityType"`
	ActivityID string `dynamodbav:"activityId"`
	AthleteID  int64  `dynamodbav:"athleteId"`
	Name       string `dynamodbav:"name,omitempty"`
	SportType  string `dynamodbav:"sportType,omitempty"`
	StartedAt  int64  `dynamodbav:"startDateUtc,omitempty"` // epoch s; 0 if only the deletion is known
	UTCOffset  int32  `dynamodbav:"utcOffsetSec,omitempty"`
	Distance   int64  `dynamodbav:"distanceMeters"`
	Moving     int64  `dynamodbav:"movingTimeSec"`
	Elapsed    int64  `dynamodbav:"elapsedTimeSec"`
	Elevation  int64  `dynamodbav:"total_elevation_gain"` // m
	Manual     bool   `dynamodbav:"manual,omitempty"`
	Flagged    bool   `dynamodbav:"flagged,omitempty"`
	Private    bool   `dynamodbav:"private,omitempty"`
	Aspect     string `dynamodbav:"aspectType"`
	EventTime  int64  `dynamodbav:"eventTimeUtc"` // of the newest event that was stored, epoch s
	IsDeleted  bool   `dynamodbav:"isDeleted"`
	DeletedAt  int64  `dynamodbav:"deletedAtUtc,omitempty"` // epoch s
	IngestedAt int64  `dynamodbav:"ingestedAtUtc"`          // epoch s
	UpdatedAt  int64  `dynamodbav:"updatedAtUtc"`           // epoch s
	CountedAt  int64  `dynamodbav:"countedAtUtc,omitempty"` // when what the rules need of it was last changed, epoch s
}

// Entry returns what the rules need of the workout.
func (r Row) Entry() tally.Entry {
	return tally.Entry{
		ActivityID: r.ActivityID, SportType: r.SportType, StartedAt: r.StartedAt, UTCOffset: r.UTCOffset,
		Distance: r.Distance, Elevation: r.Elevation, Moving: r.Moving, Elapsed: r.Elapsed,
		Manual: r.Manual, Flagged: r.Flagged, Private: r.Private, Deleted: r.IsDeleted, StoredAt: r.CountedAt,
	}
}

// change is the state of an activity in an event, or on a page of the history. Either all changes
// of one call of store are purges, or none is.
type change struct {
	id        string
	athlete   int64            // who did it
	activity  *strava.Activity // nil if it is deleted
	aspect    string
	eventTime int64 // epoch s
	listed    bool  // from a page of the history, in which most activities are unchanged
	bare      bool  // of a deleted workout, nothing is kept but that it is deleted
	purged    bool  // the workout is not kept at all
	start     int64 // of a purged workout, epoch s
}

// perTransaction is the number of workouts that are written in one transaction. Each takes
// at most three writes: its own, and the ledgers of its old and its new month. One more
// checks the user. A transaction may have 100.
const perTransaction = 30

// store writes the workouts of changes, and their ledgers. A change that is older than the stored
// workout has no effect. A deleted user gets account.ErrDeleted.
func store(ctx context.Context, db dynamo.DB, userID string, changes []change, now time.Time) error {
	ctx = account.Require(ctx, userID)

	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(startOf(a), startOf(b)) }) // few months in a transaction

	for part := range slices.Chunk(changes, perTransaction) {
		if err := storePart(ctx, db, userID, part, now); err != nil {
			return err
		}
	}

	return nil
}

func startOf(c change) int64 {
	if c.activity == nil {
		return c.start
	}

	return c.activity.StartDate.Unix()
}

// storePart writes some changes in one transaction. If a concurrent writer comes first, it reads
// again.
func storePart(ctx context.Context, db dynamo.DB, userID string, part []change, now time.Time) error {
	return dynamo.Retry(ctx, dynamo.DefaultAttempts, func() error {
		writes, err := plan(ctx, db, userID, part, now)
		if err != nil || len(writes) == 0 {
			return err
		}

		a := tables.StoreWorkouts
		if part[0].purged {
			a = tables.DropWorkouts
		}

		return dynamo.Transact(ctx, db, a, writes...)
	})
}

// plan returns the writes of changes, none if all are known.
func plan(ctx context.Context, db dynamo.DB, userID string, part []change, now time.Time) (writes []dynamo.Write, err error) {
	pk := item.User(userID)

	keys := make([]dynamo.Item, len(part))
	for i, c := range part {
		keys[i] = dynamo.Key(tables.GetWorkouts, pk, item.Workout(c.id))
	}

	rows, err := dynamo.GetAll[Row](ctx, db, tables.GetWorkouts, keys)
	if err != nil {
		return nil, err
	}

	stored := map[string]Row{}
	for _, r := range rows {
		stored[r.ActivityID] = r
	}

	ledgers := ChangeLedgers(db, userID, item.Strava)

	for i, c := range part {
		was, known := stored[c.id]
		same := dynamo.Equal[Row]("eventTimeUtc", was.EventTime).And(dynamo.Equal[Row]("updatedAtUtc", was.UpdatedAt))

		if c.purged {
			if !known {
				continue
			}

			writes = append(writes, dynamo.DeleteWrite(keys[i], same))

			if was.StartedAt != 0 {
				if err := ledgers.Remove(ctx, c.id, was.StartedAt); err != nil {
					return nil, err
				}
			}

			continue
		}

		next, ok := was.apply(c, pk, now)
		if known && !ok {
			continue
		}

		if known {
			writes = append(writes, dynamo.PutWrite(next, same))
		} else {
			writes = append(writes, dynamo.PutWrite(next, dynamo.Absent[Row]("PK")))
		}

		if known && was.Entry() == next.Entry() {
			continue // a new title, for example
		}

		if next.StartedAt == 0 { // only the deletion is known
			if was.StartedAt != 0 {
				if err := ledgers.Remove(ctx, c.id, was.StartedAt); err != nil {
					return nil, err
				}
			}

			continue
		}

		fits, err := ledgers.Put(ctx, next.Entry(), was.StartedAt)
		if err != nil {
			return nil, err
		}

		if !fits {
			slog.WarnContext(ctx, "a workout is not counted: the month has too many", "user", userID, "activity", c.id)
		}
	}

	return append(writes, ledgers.Writes(part[0].purged)...), nil
}

// apply returns the workout after a change. ok is false if the change is older than the workout, or
// changes nothing. The time of an event that changes nothing is stored all the same, so that an
// older one that comes later is ignored.
func (r Row) apply(c change, pk string, now time.Time) (next Row, ok bool) {
	if r.PK != "" && (c.eventTime < r.EventTime || c.listed && c.eventTime == r.EventTime) {
		return r, false
	}

	next = r

	next.PK, next.SK, next.EntityType, next.ActivityID, next.AthleteID = pk, item.Workout(c.id), "Workout", c.id, c.athlete
	if a := c.activity; a != nil {
		next.Name, next.SportType = a.Name, a.Sport()
		next.StartedAt, next.UTCOffset = a.StartDate.Unix(), int32(a.UTCOffset)
		next.Distance, next.Elevation, next.Moving, next.Elapsed = strava.Metres(a.Distance), strava.Metres(a.ElevationGain), max(0,
			a.MovingTime), max(0, a.ElapsedTime)
		next.Manual, next.Flagged, next.Private = a.Manual, a.Flagged, a.OnlyMe()
		next.IsDeleted, next.DeletedAt = false, 0
	} else {
		if c.bare {
			next = Row{PK: pk, SK: next.SK, EntityType: next.EntityType, ActivityID: c.id, AthleteID: c.athlete, IngestedAt: r.IngestedAt}
		}

		next.IsDeleted, next.DeletedAt = true, cmp.Or(r.DeletedAt, now.Unix())
	}

	if r.PK != "" && next == r && (c.listed || c.eventTime == r.EventTime) {
		return r, false
	}

	next.Aspect, next.EventTime, next.UpdatedAt = c.aspect, c.eventTime, now.Unix()
	next.IngestedAt = cmp.Or(r.IngestedAt, now.Unix())

	if next.Entry() != r.Entry() {
		next.CountedAt = now.Unix()
	}

	return next, true
}

// Entries returns the entries of all workouts of Strava that began at or after a time, in the order
// of months.
func Entries(ctx context.Context, db dynamo.DB, userID string, from int64) (all []tally.Entry, err error) {
	return EntriesOf(ctx, db, item.Strava, userID, from, EndOfTime)
}

// EndOfTime is later than any workout, and has a month of four digits for its year.
const EndOfTime = 253_402_300_799

// EntriesOf returns the entries of the workouts of a source, of the months from one time to another.
func EntriesOf(ctx context.Context, db dynamo.DB, source item.Source, userID string, from, to int64) (all []tally.Entry, err error) {
	first, last := source.Ledger(item.Month(from)), source.Ledger(item.Month(to))

	ledgers, err := dynamo.QueryAll[ledger](ctx, db, tables.ReadLedgers, dynamo.Range{
		Key:        dynamo.KeyBetween(tables.ReadLedgers, item.User(userID), first, last),
		Consistent: true,
	})
	for _, l := range ledgers {
		all = append(all, l.Entries...)
	}

	return all, err
}

// Get returns a workout of a source. It returns ErrNoWorkout if there is none.
func Get(ctx context.Context, db dynamo.DB, source item.Source, userID, id string) (Row, error) {
	r, ok, err := dynamo.Get[Row](ctx, db, tables.GetWorkout, item.User(userID), source.Workout(id))
	if err == nil && !ok {
		err = ErrNoWorkout
	}

	return r, err
}
