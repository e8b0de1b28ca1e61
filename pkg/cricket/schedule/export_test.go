package schedule

import (
	"context"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
)

// What the tests of the package may see.

const (
	AskEndAgain = askEndAgain
)

func (x *Syncer) Rescore(ctx context.Context, c match.ScoreRow) error { return x.rescore(ctx, c) }

func (x *Syncer) Move(ctx context.Context, was, is match.Fixture) error { return x.move(ctx, was, is) }

func (x *Syncer) Provider() **sportmonks.Client { return &x.provider }
