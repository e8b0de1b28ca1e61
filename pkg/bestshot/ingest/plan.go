package ingest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/question"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/spec"
)

// Planner is the service that plans polls.
type Planner struct {
	db    pg.DB
	queue queue.Sender
	now   func() time.Time
	live  time.Duration // between two polls of a round in play
	rest  *view.Rest
}

const (
	// LiveSeconds is the setting with the seconds between two polls of a round in play.
	LiveSeconds = "BESTSHOT_LIVE_SECONDS"
	// defaultLive is what they are if it is absent.
	defaultLive = time.Minute
	// planned is the time between two plans. The alarm of the queue lets a message be as old.
	planned = 5 * time.Minute
)

// LiveSetting is LiveSeconds.
func LiveSetting() spec.Setting {
	return spec.Setting{
		Name:      LiveSeconds,
		Functions: []string{PlanPollsFunction().Name},
		Does: "the seconds between two requests to the provider for a round with a match in play: 60, the default, 100, 150, or 300 " +
			"for a fifth of the requests",
		Like: "^(60|100|150|300)$",
	}
}

// OpenPlanner opens the service that plans polls.
func OpenPlanner(ctx context.Context, env app.Env) (*Planner, error) {
	live := defaultLive

	if text := env.Setting(LiveSeconds); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 60 {
			return nil, fmt.Errorf("%s is %q, want seconds from 60 on", LiveSeconds, text)
		}

		live = time.Duration(seconds) * time.Second
	}

	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Planner{db, queue.Open(env.AWS, env.Queues), env.Now, live, view.NewRest(cache)}, err
}

// roundRow is a round whose matches can be asked for.
type roundRow struct {
	TournamentID string        `db:"tournament_id"`
	Provider     provider.Name `db:"provider"`
	Tournament   string        `db:"tournament"`
	Season       string        `db:"season"`
	Slug         string        `db:"slug"`
	Label        string        `db:"label"`
	Order        int           `db:"order"`
	Type         string        `db:"type"`
	Path         string        `db:"path"`
}

// dueRound is a round whose matches are to be asked for.
type dueRound struct {
	roundRow
	InPlay bool `db:"in_play"` // whether a match of it is in play, or interrupted
}

// poll returns the poll that asks for the matches of the round.
func (r roundRow) poll() Poll {
	return Poll{
		Kind:         Matches,
		Provider:     r.Provider,
		TournamentID: r.TournamentID,
		Tournament:   r.Tournament,
		Season:       r.Season,
		Round:        provider.Round{Slug: r.Slug, Label: r.Label, Order: r.Order, Type: r.Type, Path: r.Path},
	}
}

// tournamentRow is a tournament whose rounds or standings can be asked for.
type tournamentRow struct {
	TournamentID string        `db:"tournament_id"`
	Provider     provider.Name `db:"provider"`
	Tournament   string        `db:"tournament"`
	Season       string        `db:"season"`
	Standings    bool          `db:"standings"` // whether the standings may have changed
	Rounds       bool          `db:"rounds"`    // whether the rounds may have changed
}

// poll returns the poll that asks for the rounds or the standings.
func (r tournamentRow) poll(kind Kind) Poll {
	return Poll{Kind: kind, Provider: r.Provider, TournamentID: r.TournamentID, Tournament: r.Tournament, Season: r.Season}
}

// PlanPollsFunction asks for what may have changed.
func PlanPollsFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "bestshot/plan-polls",
		Does:   "Every 5 minutes asks for the matches in play, each minute until the next run, for what else may have changed, and for images.",
		IfDown: "Results do not arrive.",
		On:     spec.Schedule("rate(5 minutes)"),
		SQL:    []spec.SQLLogin{tables.Worker},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Sends:  []spec.Queue{PollQueue, AssetQueue, DeletionQueue, settlement.Queue, question.Queue},
		Memory: 256, Timeout: time.Minute, Reserved: 1,
	}, OpenPlanner, (*Planner).PlanPolls)
}

// PlanPolls asks for what may have changed. About a match in play it asks each minute, or as LiveSeconds
// says: the polls until the next plan wait in the queue. About a match that begins within a day it asks once an hour,
// and about a later one once a day: until then a match that was called off takes guesses, which count if
// they were stored before play began. It also posts matches that were not settled in time, sends what a
// crash has left in the outbox, and asks again for questions and deletions that do not go on. A second run asks again,
// which changes nothing. While no tournament is upcoming or active, and none is being deleted, it does all
// this once in tables.IdleInterval: until one is made, see view.Rest.
func (s *Planner) PlanPolls(ctx context.Context) error {
	began := s.now()

	if !s.rest.Over(ctx, began) {
		return nil
	}

	if err := errors.Join(
		settlement.Recover(ctx, s.db),
		settlement.Relay(ctx, s.db, s.queue),
		question.Resend(ctx, s.db, s.queue),
	); err != nil {
		return err
	}

	rounds, err := pg.All[dueRound](ctx, s.db, sql.ListDueRounds)
	if err != nil {
		return err
	}

	tournaments, err := pg.All[tournamentRow](ctx, s.db, sql.ListPlayedTournaments)
	if err != nil {
		return err
	}

	going, err := s.planDeletions(ctx)
	if err != nil {
		return err
	}

	if len(tournaments) == 0 && !going {
		s.rest.Begin(began)
	}

	var polls []Poll

	for _, t := range tournaments {
		if t.Rounds {
			polls = append(polls, t.poll(Rounds))
		}

		if t.Standings {
			polls = append(polls, t.poll(Standings))
		}
	}

	for _, r := range rounds {
		polls = append(polls, r.poll())
	}

	if err := queue.SendAll(ctx, s.queue, PollQueue, polls); err != nil {
		return err
	}

	if err := s.planLive(ctx, rounds); err != nil {
		return err
	}

	return s.planImages(ctx)
}

// planLive asks for the rounds in play between this plan and the next one.
func (s *Planner) planLive(ctx context.Context, rounds []dueRound) error {
	for after := s.live; after < planned; after += s.live {
		for _, r := range rounds {
			if !r.InPlay {
				continue
			}

			if err := s.queue.Send(ctx, PollQueue, r.poll(), after); err != nil {
				return err
			}
		}
	}

	return nil
}
