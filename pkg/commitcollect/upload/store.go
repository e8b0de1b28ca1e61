package upload

import (
	"context"
	"log/slog"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/limit"
	"matchday/pkg/kit/problem"
)

// Row is an uploaded workout. The attributes that it shares with a workout of Strava have the same names,
// because both are read as a workout.Row.
type Row struct {
	PK         string `dynamodbav:"PK"`
	SK         string `dynamodbav:"SK"`
	EntityType string `dynamodbav:"entityType"`
	ActivityID string `dynamodbav:"activityId"`
	App        string `dynamodbav:"app,omitempty"`
	SportType  string `dynamodbav:"sportType,omitempty"`
	StartedAt  int64  `dynamodbav:"startDateUtc,omitempty"` // epoch s
	UTCOffset  int32  `dynamodbav:"utcOffsetSec,omitempty"`
	Distance   int64  `dynamodbav:"distanceMeters"`
	Elapsed    int64  `dynamodbav:"elapsedTimeSec"`
	Moving     int64  `dynamodbav:"movingTimeSec"`
	Elevation  int64  `dynamodbav:"total_elevation_gain"` // m
	Indoor     bool   `dynamodbav:"indoor,omitempty"`
	Entered    bool   `dynamodbav:"isEntered,omitempty"` // by hand, as the phone says
	Manual     bool   `dynamodbav:"manual"`              // always: an upload counts as an entry by hand
	Flagged    bool   `dynamodbav:"flagged,omitempty"`   // nobody is so fast
	Revision   int64  `dynamodbav:"revision"`
	IsDeleted  bool   `dynamodbav:"isDeleted"`
	IngestedAt int64  `dynamodbav:"ingestedAtUtc"`          // epoch s
	UpdatedAt  int64  `dynamodbav:"updatedAtUtc"`           // epoch s
	CountedAt  int64  `dynamodbav:"countedAtUtc,omitempty"` // when what the rules need of it was last changed, epoch s
	TTL        int64  `dynamodbav:"ttl,omitempty"`          // of a removed one, epoch s
}

// Entry returns what the rules need of the workout.
func (r Row) Entry() tally.Entry {
	return tally.Entry{
		ActivityID: r.ActivityID, SportType: r.SportType, StartedAt: r.StartedAt, UTCOffset: r.UTCOffset,
		Distance: r.Distance, Elevation: r.Elevation, Moving: r.Moving, Elapsed: r.Elapsed,
		Manual: r.Manual, Flagged: r.Flagged, Deleted: r.IsDeleted, StoredAt: r.CountedAt,
	}
}

// keepRemoved is how long a removed id is known. No phone has a request in its queue for longer.
const keepRemoved = 90 * 24 * time.Hour

// count is what is counted of a user's uploads. Each transaction changes it under its rev, so nothing
// of them has changed since it was read.
type count struct {
	PK         string `dynamodbav:"PK"`
	SK         string `dynamodbav:"SK"`
	EntityType string `dynamodbav:"entityType"`
	Kept       int    `dynamodbav:"kept"`         // the workouts that are not removed
	DayFrom    int64  `dynamodbav:"dayBeginsUtc"` // epoch s
	OfDay      int    `dynamodbav:"storedOfDay"`
	Rev        int64  `dynamodbav:"rev"`
}

// take counts workouts that are stored: some of them are new. Errors: problem.Beyond of the limits.
func (c *count) take(stored, added int, now time.Time) error {
	w := limit.Window{Begins: time.Unix(c.DayFrom, 0), Count: c.OfDay}

	left := w.Left(perDay, now)
	if left == 0 {
		w = limit.Window{Begins: now.Truncate(time.Second)}
	}

	switch {
	case w.Count+stored > perDay.Max:
		return problem.Beyond(perDay).WithRetryAfter(left)
	case added > 0 && c.Kept+added > keptWorkouts.Max:
		return problem.Beyond(keptWorkouts)
	}

	c.Kept, c.DayFrom, c.OfDay = c.Kept+added, w.Begins.Unix(), w.Count+stored

	return nil
}

// perTransaction is the number of workouts that are written in one transaction. Each takes at most three
// writes: its own, and the ledgers of its old and its new month. Two more are the count and the check of
// the user. A transaction may have 100.
const perTransaction = 30

// store writes workouts with their ledgers, and returns what became of each. After an error the results
// of those that were not reached are "". A deleted user gets account.ErrDeleted.
func (s *Service) store(ctx context.Context, userID string, all []Workout) ([]Result, error) {
	ctx = account.Require(ctx, userID)

	results := make([]Result, len(all))
	for from := 0; from < len(all); from += perTransaction {
		to := min(from+perTransaction, len(all))

		part, err := dynamo.RetryValue(ctx, dynamo.DefaultAttempts, func() ([]Result, error) { return s.storePart(ctx, userID, all[from:to]) })
		if err != nil {
			return results, err
		}

		copy(results[from:], part)
	}

	return results, nil
}

// transaction is what a transaction of a user's uploads needs: what they were, as nothing else of them
// changes meanwhile.
type transaction struct {
	count   count
	rows    map[string]Row
	ledgers *workout.Ledgers
	writes  []dynamo.Write
}

// begin reads the workouts of ids. The count comes first: what is read after it is of its rev, or the
// transaction is refused.
func (s *Service) begin(ctx context.Context, userID string, ids []string) (*transaction, error) {
	pk := item.User(userID)

	c, _, err := dynamo.Get[count](ctx, s.db, tables.StoreUploads, pk, item.Uploads)
	if err != nil {
		return nil, err
	}

	c.PK, c.SK, c.EntityType = pk, item.Uploads, "Uploads"
	t := &transaction{count: c, rows: map[string]Row{}, ledgers: workout.ChangeLedgers(s.db, userID, item.Phone)}

	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = dynamo.Key(tables.GetWorkouts, pk, item.Phone.Workout(id))
	}

	rows, err := dynamo.GetAll[Row](ctx, s.db, tables.GetWorkouts, keys)
	for _, r := range rows {
		t.rows[r.ActivityID] = r
	}

	return t, err
}

// commit makes the writes, with those of the ledgers and the count.
func (s *Service) commit(ctx context.Context, t *transaction) error {
	unchanged := dynamo.Absent[count]("PK")
	if t.count.Rev > 0 {
		unchanged = dynamo.Equal[count]("rev", t.count.Rev)
	}

	t.count.Rev++

	writes := append(t.writes, t.ledgers.Writes(true)...)

	return dynamo.Transact(ctx, s.db, tables.StoreUploads, append(writes, dynamo.PutWrite(t.count, unchanged))...)
}

// storePart writes some workouts in one transaction, if any of them is new or changed.
func (s *Service) storePart(ctx context.Context, userID string, part []Workout) ([]Result, error) {
	ids := make([]string, len(part))
	for i, w := range part {
		ids[i] = w.ID
	}

	t, err := s.begin(ctx, userID, ids)
	if err != nil {
		return nil, err
	}

	results, added := make([]Result, len(part)), 0

	for i, w := range part {
		was, known := t.rows[w.ID]

		switch {
		case was.IsDeleted:
			results[i] = Removed
			continue
		case known && was.Revision > w.Revision:
			results[i] = Older
			continue
		case known && was.Revision == w.Revision:
			results[i] = Unchanged
			continue
		case !known:
			added++
		}

		results[i] = Stored
		next := was.with(w, userID, s.now())
		t.writes = append(t.writes, dynamo.PutWrite(next))

		if known && was.Entry() == next.Entry() {
			continue
		}

		fits, err := t.ledgers.Put(ctx, next.Entry(), was.StartedAt)
		if err != nil {
			return nil, err
		}

		if !fits {
			slog.WarnContext(ctx, "a workout is not counted: the month has too many", "user", userID, "workout", w.ID)
		}
	}

	if len(t.writes) == 0 {
		return results, nil
	}

	if err := t.count.take(len(t.writes), added, s.now()); err != nil {
		return nil, err
	}

	return results, s.commit(ctx, t)
}

// with returns the row with a workout of a request.
func (r Row) with(w Workout, userID string, now time.Time) Row {
	next := Row{
		PK:         item.User(userID),
		SK:         item.Phone.Workout(w.ID),
		EntityType: "Upload",
		ActivityID: w.ID,
		App:        w.App,
		SportType:  w.Sport,
		StartedAt:  w.StartedAt,
		UTCOffset:  w.UTCOffset,
		Distance:   w.Distance,
		Elapsed:    w.Elapsed,
		Moving:     w.Moving,
		Elevation:  w.Elevation,
		Indoor:     w.Indoor,
		Entered:    w.Manual,
		Manual:     true,
		Flagged:    isImplausible(w),
		Revision:   w.Revision,
		IngestedAt: r.IngestedAt,
		UpdatedAt:  now.Unix(),
		CountedAt:  r.CountedAt,
	}

	if r.PK == "" {
		next.IngestedAt = now.Unix()
	}

	if next.Entry() != r.Entry() {
		next.CountedAt = now.Unix()
	}

	return next
}

// remove removes a workout, and reports whether it is known. Of a removed one the id and the revision
// are kept for a while.
func (s *Service) remove(ctx context.Context, userID, id string) (known bool, err error) {
	ctx = account.Require(ctx, userID)

	return dynamo.RetryValue(ctx, dynamo.DefaultAttempts, func() (bool, error) {
		t, err := s.begin(ctx, userID, []string{id})
		if err != nil {
			return false, err
		}

		was, known := t.rows[id]
		if !known || was.IsDeleted {
			return known, nil
		}

		now := s.now()
		t.writes = []dynamo.Write{dynamo.PutWrite(Row{
			PK:         was.PK,
			SK:         was.SK,
			EntityType: was.EntityType,
			ActivityID: id,
			Manual:     true,
			Revision:   was.Revision,
			IsDeleted:  true,
			IngestedAt: was.IngestedAt,
			UpdatedAt:  now.Unix(),
			TTL:        now.Add(keepRemoved).Unix(),
		})}

		if err := t.ledgers.Remove(ctx, id, was.StartedAt); err != nil {
			return true, err
		}

		t.count.Kept--

		return true, s.commit(ctx, t)
	})
}
