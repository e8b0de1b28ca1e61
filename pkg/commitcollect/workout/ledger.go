package workout

import (
	"context"
	"slices"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/kit/dynamo"
)

// ledger is what the rules need of the workouts of a month.
type ledger struct {
	PK         string        `dynamodbav:"PK"`
	SK         string        `dynamodbav:"SK"`
	EntityType string        `dynamodbav:"entityType"`
	Entries    []tally.Entry `dynamodbav:"entries"`
	Rev        int64         `dynamodbav:"rev"`
}

// maxEntries bounds a ledger, whose item may have 400 kB, to about half of it. It is 80
// workouts a day.
const maxEntries = 2500

// set puts an entry in place of the one with its id.
func (l *ledger) set(e tally.Entry) bool {
	i := slices.IndexFunc(l.Entries, func(o tally.Entry) bool { return o.ActivityID == e.ActivityID })
	switch {
	case i >= 0:
		l.Entries[i] = e
	case len(l.Entries) >= maxEntries:
		return false
	default:
		l.Entries = append(l.Entries, e)
	}

	return true
}

// Ledgers are the ledgers of a user's workouts of one source that a transaction changes. Each is read
// when it is first changed.
type Ledgers struct {
	db     dynamo.DB
	userID string
	source item.Source
	months map[string]*ledger
}

// ChangeLedgers returns the ledgers of a user, of which none is changed yet.
func ChangeLedgers(db dynamo.DB, userID string, source item.Source) *Ledgers {
	return &Ledgers{db, userID, source, map[string]*ledger{}}
}

// of returns the ledger of the month of a time, epoch s.
func (l *Ledgers) of(ctx context.Context, at int64) (*ledger, error) {
	month := item.Month(at)
	if l.months[month] == nil {
		pk, sk := item.User(l.userID), l.source.Ledger(month)

		row, _, err := dynamo.Get[ledger](ctx, l.db, tables.GetLedger, pk, sk)
		if err != nil {
			return nil, err
		}

		row.PK, row.SK, row.EntityType = pk, sk, "Ledger"
		l.months[month] = &row
	}

	return l.months[month], nil
}

// Put puts an entry in place of the one of the same workout, which began at a time, epoch s, 0 if there
// was none. fits is false if the month has too many entries.
func (l *Ledgers) Put(ctx context.Context, e tally.Entry, began int64) (fits bool, err error) {
	if began != 0 && item.Month(began) != item.Month(e.StartedAt) {
		if err := l.Remove(ctx, e.ActivityID, began); err != nil {
			return false, err
		}
	}

	month, err := l.of(ctx, e.StartedAt)
	if err != nil {
		return false, err
	}

	return month.set(e), nil
}

// Remove removes the entry of a workout that began at a time, epoch s.
func (l *Ledgers) Remove(ctx context.Context, id string, began int64) error {
	month, err := l.of(ctx, began)
	if err == nil {
		month.Entries = slices.DeleteFunc(month.Entries, func(o tally.Entry) bool { return o.ActivityID == id })
	}

	return err
}

// Writes returns the writes of the changed ledgers, each on condition that nobody has changed it since it
// was read. With drop an empty ledger is deleted.
func (l *Ledgers) Writes(drop bool) (writes []dynamo.Write) {
	for _, month := range l.months {
		unchanged := dynamo.Absent[ledger]("PK")
		if month.Rev > 0 {
			unchanged = dynamo.Equal[ledger]("rev", month.Rev)
		}

		month.Rev++

		write := dynamo.PutWrite(*month, unchanged)
		if len(month.Entries) == 0 && drop {
			write = dynamo.DeleteWrite(dynamo.Key(tables.DropWorkouts, month.PK, month.SK), unchanged)
		}

		writes = append(writes, write)
	}

	return writes
}
