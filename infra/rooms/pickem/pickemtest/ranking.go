package pickemtest

import (
	"context"
	"slices"
	"time"

	"matchday/infra/testkit"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/ranking"
)

// PublishRanking writes a ranking of rows in order.
func (w *Room) PublishRanking(scope string, card []string, rows []ranking.Row) {
	w.T.Helper()
	d, err := ranking.Claim(w.NewContext(), w.DB(), scope, time.Time{})
	testkit.Must(w.T, err)
	testkit.Must(w.T, CompleteRanking(w.NewContext(), w.DB(), d, scope, card, rows))
}

// CompleteRanking writes the ranking of a draft, with points of the first revision of the results.
func CompleteRanking(ctx context.Context, db dynamo.DB, d ranking.Draft, scope string, card []string, rows []ranking.Row) error {
	d.Count = len(rows)

	t, err := d.Resume(ctx, db, scope)
	if err != nil {
		return err
	}

	t.Card, t.Results = card, 1

	if err := t.Write(ctx, slices.Clone(rows)); err != nil {
		return err
	}

	if err := t.Flush(ctx, false); err != nil {
		return err
	}

	if _, err := t.Place(ctx, func() bool { return false }); err != nil {
		return err
	}

	return t.Close(ctx)
}
