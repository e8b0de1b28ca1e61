package alert

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// TossDetector detects tosses. The provider's live feed does not contain a match
// before it is live, so the match itself must be requested.
type TossDetector struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	now      func() time.Time
}

// OpenTossDetector opens the service of detect-toss.
func OpenTossDetector(ctx context.Context, env app.Env) (*TossDetector, error) {
	provider, err := catalog.OpenProvider(ctx, env, tables.TossShare)
	return &TossDetector{db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues), provider: provider, now: env.Now}, err
}

const (
	tossAhead = 75 * time.Minute // earliest time of a toss before the start
	tossBack  = 3 * time.Hour    // latest time of a toss after the scheduled start
	// Each match is requested every tossEvery minutes, or less often, so that there
	// are at most tossCalls requests a minute on average: 1,320 an hour, less than
	// tables.TossShare.
	tossEvery       = 2
	tossCalls       = 22
	tossConcurrency = 8
)

// DetectTossFunction asks the provider for the toss of the matches that are about to start.
func DetectTossFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "cricket/detect-toss",
		Does:   "Requests the matches that start soon from the provider, and sends an alert for each new toss.",
		IfDown: "Users get the alert about a toss only after the match has started.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses: []spec.Access{
			tables.ActiveLeagues, tables.StartingSoon, tables.UpdateFixture, tables.PutCard, tables.PutPlayers,
			tables.CountRequest,
		},
		Sends: []spec.Queue{tables.AlertQueue}, Secrets: []string{tables.SportMonksToken}, Budgets: []spec.Share{tables.TossShare},
		Memory: 256, Timeout: tables.JobTimeout,
	}, OpenTossDetector, (*TossDetector).DetectToss)
}

// DetectToss requests the matches that start soon from the provider, and sends an alert for each
// new toss. A match for which the provider does not answer is logged and requested again in a later
// run.
//
// With the toss it stores the players of both sides, and sends an alert that both elevens are named. If
// they are named later, package live stores them and sends it when the match is live.
// DetectToss marks the toss in the match last. After a crash it sends the alerts again with the same keys, so followers
// get each once.
func (d *TossDetector) DetectToss(ctx context.Context) error {
	now := d.now()

	active, err := catalog.ActiveLeagues(ctx, d.db)
	if err != nil {
		return err
	}

	var pending []match.Fixture

	for _, l := range active {
		due, err := match.Due(ctx, d.db, l.Code, now.Add(-tossBack), now.Add(tossAhead))
		if err != nil {
			return err
		}

		for _, f := range due {
			if f.Phase() == sportmonks.Upcoming && f.EndingAt == 0 && f.TossKey == "" {
				pending = append(pending, f)
			}
		}
	}

	every := uint64(max(tossEvery, (len(pending)+tossCalls-1)/tossCalls))
	minute := uint64(now.Unix() / 60)

	var g errgroup.Group
	g.SetLimit(tossConcurrency)

	for _, f := range pending {
		if id, _ := strconv.ParseUint(f.MatchID, 10, 64); id%every == minute%every {
			g.Go(func() error { return d.detect(ctx, f) })
		}
	}

	return g.Wait()
}

// detect requests one match. If its toss is complete, it stores the sides in the scorecard and sends
// the alerts.
func (d *TossDetector) detect(ctx context.Context, f match.Fixture) error {
	provided, err := d.provider.Fixture(ctx, f.MatchID)
	if err != nil {
		slog.WarnContext(ctx, "cannot read the match from the provider", "match", f.MatchID, "err", err)
		return nil
	}

	state, _ := scorer.Read(provided, score.State{})
	f.Rename(&state)
	events := event.List(provided, state)

	i := slices.IndexFunc(events, func(e event.Event) bool { return e.Kind == event.Toss })
	if i < 0 {
		return nil
	}

	c, ok := card.Of(&provided, &state)
	if ok {
		if err := match.PutCard(ctx, d.db, f, c, match.SlotOf(d.now()), d.now()); err != nil {
			return err
		}
	}

	for _, e := range events {
		if e.Kind != event.Toss && e.Kind != event.Lineup {
			continue
		}

		if err := d.queue.Send(ctx, tables.AlertQueue, NewAlert(f.MatchID, e, d.now().Unix()), 0); err != nil {
			return err
		}
	}

	f.Retitle(c.Match.Teams)

	if err := player.PutProfiles(ctx, d.db, c); err != nil {
		return err
	}

	set := dynamo.Set(match.Fixture{TossKey: events[i].Key}, "tossKey")
	err = f.Update(ctx, d.db, tables.UpdateFixture, set, dynamo.Absent[match.Fixture]("tossKey"))

	return dynamo.IgnoreRefused(err)
}
