package live

import (
	"context"
	"time"

	"matchday/pkg/cricket/sportmonks"
)

// Enter has the ticker's scorebook deal with what the provider says in a slot.
func (t *Ticker) Ingest(ctx context.Context, matchID, sum string, slot int64, at time.Time, read func() (sportmonks.Fixture, error)) error {
	_, err := t.ingester.ingest(ctx, matchID, sum, payload{sum: sum, slot: slot, at: at, read: read})
	return err
}

// FirstEntry is the first match of the body that the ticker remembers.
func (t *Ticker) FirstEntry() *sportmonks.Entry { return &t.last.entries[0] }
