package game

import (
	"context"
	"log/slog"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/threefc/item"
)

// ReorderWrite returns the write that puts a season with other rules into the outbox, in the place of a game.
func ReorderWrite(x item.Season, rev int, now time.Time) dynamo.Write {
	return putOutbox(item.Game{ID: x.ID, SeasonID: x.ID}, rev, now)
}

// Reorder requests the tables of a season, after the transaction with ReorderWrite. If it fails, or the process
// dies before it, the sweep of the outbox requests them.
func Reorder(ctx context.Context, q queue.Sender, seasonID string) {
	m := Changed{SeasonID: seasonID, GameID: seasonID}
	if err := q.SendFIFO(ctx, AggregateQueue, seasonID, m); err != nil {
		slog.WarnContext(ctx, "the sweep of the outbox will compute the standings", "season", seasonID, "err", err)
	}
}
