// Package ingest stores tournaments as their providers have them. Which provider a tournament has is in its
// row, in its polls and in its feeds: what is particular to one is in package provider.
//
//	plan-polls, every 5 minutes ─▶ polls ─▶ poll-provider ─▶ feeds ─▶ ingest-feed ─▶ settlement
//	                            ─▶ assets ─▶ sync-assets ─▶ feeds
//
// plan-polls and ingest-feed run inside the VPC, where the database is. poll-provider and sync-assets
// run outside the VPC, where they can reach the provider. If the provider does not answer, the next
// plan asks again, and for an image after a day. While the database does not answer, the provider's
// answers wait in a queue.
package ingest

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/spec"
)

//go:embed ingest.sql
var file string

// sql are the statements of ingest.sql.
var sql = pg.MustParse[struct {
	ListDueRounds, ListPlayedTournaments, ListDueImages, MarkBadgeAsked, MarkLogoAsked, PutBadge, PutLogo,
	LockTournament, AnswerExecution, ListRoundSlugs, UpdateRound, MarkRoundsChecked, PutTeams,
	RaiseProjectionsOfTeams, GetStandingsCheckedAt, ListStandings, DeleteStandings, AddStanding,
	MarkStandingsChecked, AddRound, LockMatches, LockMatchWithoutDate, HasNewerAnswer, GetRoundVersion,
	RaiseRound, MarkMatchesChecked, PutExternalID, AddMatch, SwapGuesses, ReassignMatch, MarkMatchChecked,
	UpdateMatch, EndMatch, CreateTournament, FindSameTournament, AddRule, LockRule, UpdateTournament, PutRuleVersion,
	LockMultiplier, PutMultiplier, LockTournamentForDeletion, DeleteTournament, GetTournament,
	FailLostExecution, BeginExecution, AwaitRounds, ListRounds, FailExecutionWithoutRounds, GetRoundOfMatch, ListExecutions,
	TournamentExists, ListAllTournaments, ListAllMatches, FindEnteredMatch, CountMatches, EnterMatch,
	PrepareDeletion, HideTournament, HideMatches, CloseLettersOfTournament, ListProjections,
	BeginDeletion, FindMatchToDelete, DeleteGuesses, DeleteLedger, DeleteReminders, DeleteMatch, FindRoundToDelete,
	DeleteRoundScores, DeleteJokers, DeleteRound, DeleteScoreboard, DeleteFollows, DeleteFinished,
	DeleteAnswers, DeleteQuestionLedger, ListDeletions string
}](file)

// Kind is what a poll asks for.
type Kind string

// The kinds.
const (
	Rounds    Kind = "rounds"
	Matches   Kind = "matches"
	Standings Kind = "standings"
	Badge     Kind = "badge" // of a team
	Logo      Kind = "logo"  // of a tournament, for all its seasons
)

// Poll asks poll-provider for a part of a tournament, or sync-assets for an image. A poll of a Badge
// has only Provider and Team, and a poll of a Logo only Provider and Tournament.
type Poll struct {
	Kind         Kind           `json:"kind"`
	Provider     provider.Name  `json:"provider,omitempty"` // read it with source
	TournamentID string         `json:"tournamentId,omitempty"`
	Tournament   string         `json:"tournament,omitempty"` // the provider's id
	Season       string         `json:"season,omitempty"`     // the provider's id
	Team         string         `json:"team,omitempty"`       // the provider's id
	Round        provider.Round `json:"round,omitzero"`       // of Matches
	Execution    string         `json:"execution,omitempty"`  // the execution that waits for the answer
}

// source returns the provider that is asked. Messages that are older than the second provider name none.
func (p Poll) source() provider.Name { return cmp.Or(p.Provider, provider.Default) }

// Feed is what the provider has answered to a poll.
type Feed struct {
	Poll
	FetchedAt time.Time           `json:"fetchedAt"`
	Error     string              `json:"error,omitempty"` // why the answer, or a part of it, is missing
	Rounds    []provider.Round    `json:"rounds,omitempty"`
	Fixtures  []provider.Fixture  `json:"fixtures,omitempty"`
	Standings []provider.Standing `json:"standings,omitempty"`
	Asset     string              `json:"asset,omitempty"` // the name of the image
}

// empty reports whether the provider has answered nothing.
func (f Feed) empty() bool { return len(f.Rounds)+len(f.Fixtures)+len(f.Standings) == 0 }

// The queues.
var (
	PollQueue = spec.Queue{Name: "bestshot-polls", MaxReceiveCount: 5, Batch: 1, Concurrency: 5}
	FeedQueue = spec.Queue{Name: "bestshot-feeds", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}
)

// The metrics.
var (
	PollsFailed = spec.Metric{Name: "PollsFailed", Unit: spec.Count}
	Refused     = spec.Metric{Name: "ResultsRefused", Unit: spec.Count}
)

// Ingester is the service that stores what the provider has answered.
type Ingester struct {
	db    pg.DB
	cache redis.Cache
	queue queue.Sender
	now   func() time.Time
}

// Open opens the service that stores what the provider has answered.
func Open(ctx context.Context, env app.Env) (*Ingester, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Ingester{db, cache, queue.Open(env.AWS, env.Queues), env.Now}, err
}

// IngestFeedFunction stores what the provider has answered.
func IngestFeedFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "bestshot/ingest-feed",
		Does:    "Stores what the provider has answered, and posts the matches that have ended.",
		IfDown:  "Results wait in a queue.",
		On:      FeedQueue,
		SQL:     []spec.SQLLogin{tables.Worker},
		Caches:  []spec.CacheLogin{tables.CacheUser},
		Sends:   []spec.Queue{PollQueue, settlement.Queue},
		Emits:   []spec.Metric{Refused},
		Memory:  256,
		Timeout: 30 * time.Second,
	}, Open, (*Ingester).IngestFeed)
}

// IngestFeed stores an answer of the provider, invalidates the projections that it changes, and posts
// the matches that have ended. A second run finds nothing changed in the database, and invalidates
// all projections of the tournament: the first may have crashed before it invalidated those that it
// had changed. It sends what the first may not have.
func (s *Ingester) IngestFeed(ctx context.Context, f Feed) error {
	f.FetchedAt = f.FetchedAt.Truncate(time.Microsecond) // as the database has it, so that a second run finds it there

	if f.Kind == Badge || f.Kind == Logo {
		return s.storeImage(ctx, f)
	}

	var stale staleKeys

	err := s.db.Tx(ctx, func(tx pgx.Tx) error {
		stale = nil

		exists, err := lockTournament(ctx, tx, f.TournamentID)
		if err != nil || !exists {
			return err
		}

		if err := s.store(ctx, tx, f, &stale); err != nil || f.Execution == "" {
			return err
		}

		_, err = pg.Do(ctx, tx, sql.AnswerExecution, f.Execution, f.Error, f.Round.Slug)

		return err
	})
	if err != nil {
		return fmt.Errorf("ingest %s of the tournament %s: %w", f.Kind, f.TournamentID, err)
	}

	return errors.Join(stale.invalidate(ctx, s.cache), settlement.Relay(ctx, s.db, s.queue))
}

// store stores what an answer has of its kind. It stores nothing if the provider has failed.
func (s *Ingester) store(ctx context.Context, tx pgx.Tx, f Feed, stale *staleKeys) error {
	if f.Error != "" && f.empty() {
		return nil
	}

	switch f.Kind {
	case Rounds:
		return s.storeRounds(ctx, tx, f)
	case Matches:
		return s.storeMatches(ctx, tx, f, stale)
	case Standings:
		return storeStandings(ctx, tx, f, stale)
	}

	return nil
}

// lockTournament locks the tournament's row until the commit. ok is false if the tournament does not
// exist.
func lockTournament(ctx context.Context, tx pgx.Tx, tournamentID string) (ok bool, err error) {
	_, ok, err = pg.Value[bool](ctx, tx, sql.LockTournament, tournamentID)
	return ok, err
}

// staleKeys lists the keys of projections that are stale if they are older than a version.
type staleKeys []struct {
	key     string
	version int64
}

func (s *staleKeys) add(key string, version int64) {
	*s = append(*s, struct {
		key     string
		version int64
	}{key, version})
}

// invalidate invalidates the projections.
func (s staleKeys) invalidate(ctx context.Context, cache redis.Cache) (err error) {
	for _, p := range s {
		err = errors.Join(err, cache.Invalidate(ctx, p.key, p.version))
	}

	return err
}
