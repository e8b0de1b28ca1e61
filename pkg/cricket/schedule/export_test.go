package schedule

import (
	"context"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
)

// Exported for the tests of the package.

const (
	EndRetryInterval = endRetryInterval
	MaxChecks        = maxChecks
)

func (x *Syncer) Rescore(ctx context.Context, c match.ScoreRow) error { return x.rescore(ctx, c) }

func (x *Syncer) Reschedule(ctx context.Context, stored, scheduled match.Fixture) error {
	return x.reschedule(ctx, stored, scheduled)
}

func (x *Syncer) Provider() **sportmonks.Client { return &x.provider }
