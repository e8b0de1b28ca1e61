package game

import (
	"context"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/outbox"
	"matchday/pkg/kit/queue"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// NewRenamed returns the row of the outbox of a player who has another name. It is written in the transaction with the
// name.
func NewRenamed(p item.Row[item.Player], now time.Time) item.Row[item.Renamed] {
	return item.New(item.OutboxKey, item.PlayerKey(p.V().ID), "Outbox",
		item.Renamed{PlayerID: p.V().ID, LeagueID: p.V().LeagueID, Rev: p.Rev}, now)
}

// Rename requests the tables that contain a player of the outbox, and removes the player from it. If it fails, or the
// process dies before it, the sweep of the outbox does so.
func Rename(ctx context.Context, db dynamo.DB, q queue.Sender, row item.Row[item.Renamed]) error {
	return outbox.Deliver(func() error {
		return Recompute(ctx, db, q, row.V().LeagueID)
	}, func() error {
		same := dynamo.Equal[item.Row[item.Renamed]]("data", row.Data)
		_, err := dynamo.Delete(ctx, db, tables.TakeOutbox, item.Key(row.PK, row.SK), same)

		return err
	})
}
