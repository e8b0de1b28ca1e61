package alert

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
)

// TossDetector detects tosses. The live feed lists a match only once it is in
// play, so the match itself must be requested.
type TossDetector struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	now      func() time.Time
}

// OpenTossDetector opens the service of detect-toss.
func OpenTossDetector(ctx context.Context, env app.Env) (*TossDetector, error) {
	provider, err := catalog.OpenProvider(ctx, env)
	return &TossDetector{db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues), provider: provider, now: env.Now}, err
}

const (
	tossAhead = 75 * time.Minute // the earliest toss before a start
	tossBack  = 3 * time.Hour    // the longest delay of a start that is covered
	// A match is requested every tossEvery minutes, or less often, so that a minute
	// has no more than tossCalls calls on average: 1,800 an hour of the 2,000 that
	// the provider allows.
	tossEvery  = 2
	tossCalls  = 30
	tossAtOnce = 8
)

// DetectToss requests the matches that are about to start from the provider,
// and sends an alert for a toss. A match for which the provider fails waits for
// its next turn.
//
// The toss is marked on the row after the alert was sent. After a crash in
// between the alert is sent again under the same key, and followers receive it
// once.
func (d *TossDetector) DetectToss(ctx context.Context) error {
	now := d.now()
	active, err := catalog.ActiveLeagues(ctx, d.db)
	if err != nil {
		return err
	}
	var untold []match.Fixture
	for _, l := range active {
		due, err := match.Due(ctx, d.db, l.Code, now.Add(-tossBack), now.Add(tossAhead))
		if err != nil {
			return err
		}
		for _, f := range due {
			if f.Phase() == sportmonks.Upcoming && f.EndingAt == 0 && f.TossKey == "" {
				untold = append(untold, f)
			}
		}
	}
	every := uint64(max(tossEvery, (len(untold)+tossCalls-1)/tossCalls))
	minute := uint64(now.Unix() / 60)
	var g errgroup.Group
	g.SetLimit(tossAtOnce)
	for _, f := range untold {
		if id, _ := strconv.ParseUint(f.MatchID, 10, 64); id%every == minute%every {
			g.Go(func() error { return d.detect(ctx, f) })
		}
	}
	return g.Wait()
}

func (d *TossDetector) detect(ctx context.Context, f match.Fixture) error {
	said, err := d.provider.Fixture(ctx, f.MatchID)
	if err != nil {
		slog.WarnContext(ctx, "the provider's page of the match cannot be read", "match", f.MatchID, "err", err)
		return nil
	}
	state, _ := scorer.Read(said, score.State{})
	events := event.List(said, state)
	i := slices.IndexFunc(events, func(e event.Event) bool { return e.Kind == event.Toss })
	if i < 0 {
		return nil
	}
	e := events[i]
	if err := d.queue.Send(ctx, tables.AlertQueue, NewAlert(f.MatchID, e, d.now().Unix()), 0); err != nil {
		return err
	}
	set := expression.Set(expression.Name("tossKey"), expression.Value(e.Key))
	err = f.Update(ctx, d.db, tables.UpdateFixture, set, expression.AttributeNotExists(expression.Name("tossKey")))
	return dynamo.IgnoreRefused(err)
}
