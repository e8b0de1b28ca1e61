package schedule

import (
	"context"
	"slices"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
)

// syncWords writes the words by which teams and active leagues are found, if they have changed. It deletes the
// checksum before the first write and writes it after the last one: after a crash the next sync compares
// all rows.
func (s *Syncer) syncWords(ctx context.Context, l *lock.Lease, teams []catalog.TeamRow, active []catalog.LeagueRow) error {
	words := catalog.Words(teams, active)
	sum := catalog.SumOf(words)

	stored, ok, err := dynamo.Get[catalog.WordsSum](ctx, s.db, tables.SyncWords, sum.Letter, sum.Key)
	if err != nil || ok && stored == sum {
		return err
	}

	if _, err := dynamo.Delete(ctx, s.db, tables.SyncWords, dynamo.Key(tables.SyncWords, sum.Letter, sum.Key)); err != nil {
		return err
	}

	all, err := dynamo.ScanAll[catalog.Word](ctx, s.db, tables.SyncWords, nil)
	if err != nil {
		return err
	}

	var fresh []catalog.Word

	type key struct{ letter, word string }

	was := map[key]catalog.Word{}
	for _, w := range all {
		was[key{w.Letter, w.Key}] = w
	}

	for _, w := range words {
		if was[key{w.Letter, w.Key}] != w {
			fresh = append(fresh, w)
		}

		delete(was, key{w.Letter, w.Key})
	}

	if err := putUnderLease(ctx, s.db, l, tables.SyncWords, fresh); err != nil {
		return err
	}

	gone := make([]dynamo.Item, 0, len(was))
	for _, w := range was {
		gone = append(gone, dynamo.Key(tables.SyncWords, w.Letter, w.Key))
	}

	for batch := range slices.Chunk(gone, 25) {
		if err := l.Extend(ctx); err != nil {
			return err
		}

		if err := dynamo.DeleteAll(ctx, s.db, tables.SyncWords, batch); err != nil {
			return err
		}
	}

	return dynamo.Put(ctx, s.db, tables.SyncWords, sum)
}
