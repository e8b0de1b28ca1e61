package live

import (
	"context"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// What the tests of the package may see.

const (
	Believed     = believed
	CalledOff    = calledOff
	Grace        = grace
	LastWords    = lastWords
	Lease        = lease
	LongerGrace  = longerGrace
	LongestMatch = longestMatch
	PlanEnd      = planEnd
	PlanLead     = planLead
	SettleBy     = settleBy
)

var (
	ErrPassed = errPassed
)

func (x *Finisher) Decide(ctx context.Context, f *match.Fixture, now time.Time) (bool, error) {
	return x.decide(ctx, f, now)
}

func (x *Finisher) Ingest(ctx context.Context, matchID string, page sportmonks.Fixture, now time.Time, settled bool) (score.State, error) {
	return x.ingest(ctx, matchID, page, now, settled)
}

func (x *Finisher) Provider() **sportmonks.Client { return &x.provider }

func (x *Ticker) ArchiveMissing(ctx context.Context, matchID string, missing time.Duration) (bool, error) {
	return x.archiveMissing(ctx, matchID, missing)
}
