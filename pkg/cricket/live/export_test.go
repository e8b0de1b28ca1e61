package live

import (
	"context"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/kit/dynamo"
)

// What package live_test may use.

const (
	StalePolls          = stalePolls
	StaleAfter          = staleAfter
	ArchiveAfter        = archiveAfter
	ArchiveAfterUnnamed = archiveAfterUnnamed
	CalledOffAfter      = calledOffAfter
	ConfirmPolls        = confirmPolls
	Lease               = lease
	UnknownAfter        = unknownAfter
	ConfirmReviews      = confirmReviews
	PageInterval        = pageInterval
	PlanEnd             = planEnd
	PlanLead            = planLead
	SettleAfter         = settleAfter
)

var ErrNothingToDo = errNothingToDo

// KeepFollows is the time from the end of a match to the last review, after which its follows are
// removed.
var KeepFollows = reviewAfter[len(reviewAfter)-1]

var ReviewAfter = reviewAfter[:]

func (s *Finisher) DecideEnd(ctx context.Context, f *match.Fixture, now time.Time) (bool, error) {
	return s.decideEnd(ctx, f, now, false)
}

func (s *Finisher) Ingest(ctx context.Context, matchID string, page sportmonks.Fixture, now time.Time, settled bool) (score.State, error) {
	return s.ingest(ctx, matchID, page, now, settled, false)
}

func (s *Finisher) Now() *func() time.Time { return &s.now }

func (s *Finisher) Provider() *sportmonks.Client { return s.provider }

// Ingest ingests a payload whose checksum is sum.
func (t *Ticker) Ingest(ctx context.Context, matchID, sum string, slot int64, at time.Time,
	decode func() (sportmonks.Fixture, error)) error {
	_, err := t.ingester.ingest(ctx, matchID, sum, payload{sum: sum, slot: slot, at: at, decode: decode})
	return err
}

func (t *Ticker) ArchiveMissing(ctx context.Context, matchID string, after time.Duration) (bool, error) {
	return t.archiveMissing(ctx, matchID, after)
}

// FirstEntry returns the first entry that the ticker remembers.
func (t *Ticker) FirstEntry() *sportmonks.Entry { return &t.last.entries[0] }

// DB returns the database of the finisher.
func (s *Finisher) DB() dynamo.DB { return s.db }
