// Package settlement turns results into points.
//
// The backlog is in the database: the matches that have ended or are void, and whose result is not
// applied. A message of the queue only starts the work, and may come late, twice or not at all. A
// match is settled in one transaction, under the lock of its tournament. The transaction writes the
// settlement under its key, a row of the ledger for each guess, and the points, and marks the match as
// settled. A second run finds the same result settled and changes nothing.
//
// A correction, another rule and a void match are settlements of the same match with the next
// version. Their rows in the ledger are differences: the ledger of a match always sums to what its
// guesses earn by the latest settlement.
//
// Each message writes the projection of the leaderboard, also if there was nothing to settle, because
// the run before may have crashed after its commit.
package settlement

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

//go:embed settlement.sql
var file string

// sql are the statements of settlement.sql.
var sql = pg.MustParse[struct {
	ListGroup, LockTournament, LockMatch, MarkApplied, Ledger, AddSettlement, MarkSettled, RaiseLeaderboard,
	AddMessage, ClaimUnsettledMatches, ReopenSettledMatches, LockMessages, DeleteMessages, ListSettlements,
	ListPending, LockTournamentOfMatch, LockMatchToCorrect, CorrectMatch, RaiseRound, GetSettledRound,
	AddDeadLetter, ListDeadLetters, GetDeadLetter, CountReplay, ListActiveTournaments, TournamentExists,
	RepairPoints, DeletePointsWithoutLedger, RaiseRepairedLeaderboard, CountMembers string
}](file)

// Queue has the matches to settle. A message that fails is delivered again after 30, 60 and 120 s,
// and then goes to the dead-letter queue.
var Queue = spec.Queue{
	Name: "bestshot-settlement", MaxReceiveCount: 4, Batch: 10, Concurrency: 2,
	Backoff: []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute},
}

// The only valid values of EventType and InternalStatus.
const (
	EventType = "match_finished"
	Ended     = "ended"
)

// MatchFinished is a message of Queue.
type MatchFinished struct {
	EventType      string    `json:"eventType"`
	MatchID        string    `json:"matchId"`
	TournamentID   string    `json:"tournamentId"`
	FinishedAt     time.Time `json:"finishedAt"`
	Provider       string    `json:"provider"`
	ProviderStatus string    `json:"providerStatus"`
	InternalStatus string    `json:"internalStatus"`
	DetectedAt     time.Time `json:"detectedAt"`
	SourceVersion  string    `json:"sourceVersion,omitempty"`
}

// check returns an Invalid problem that names the first field which does not follow the contract.
func (m MatchFinished) check() error {
	bad := func(field, want string) error {
		return problem.New(problem.Invalid, "bad_settlement", "%s: expected %s", field, want)
	}

	switch {
	case m.EventType != EventType:
		return bad("eventType", EventType)
	case !isID(m.MatchID):
		return bad("matchId", "a UUID")
	case !isID(m.TournamentID):
		return bad("tournamentId", "a UUID")
	case m.FinishedAt.IsZero():
		return bad("finishedAt", "an ISO date and time")
	case m.Provider == "":
		return bad("provider", "the name of a provider")
	case m.ProviderStatus == "":
		return bad("providerStatus", "the status at the provider")
	case m.InternalStatus != Ended:
		return bad("internalStatus", Ended)
	case m.DetectedAt.IsZero():
		return bad("detectedAt", "an ISO date and time")
	}

	return nil
}

func isID(text string) bool {
	var u pgtype.UUID // Scan accepts any separators
	return u.Scan(text) == nil && strings.EqualFold(u.String(), text)
}

// Key is the idempotency key of the first settlement of a match.
func Key(matchID string, finishedAt time.Time) string {
	return matchID + "#" + finishedAt.UTC().Format(time.RFC3339)
}

// Worker is the service that settles.
type Worker struct {
	view.Views
	queue queue.Sender
	now   func() time.Time
}

// Open opens the service that settles.
func Open(ctx context.Context, env app.Env) (*Worker, error) {
	db, err := pg.Open(ctx, env, tables.Worker)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Worker{view.New(db, cache, env.Clock), queue.Open(env.AWS, env.Queues), env.Now}, err
}

// SettleMatchesFunction turns the results of matches into points.
func SettleMatchesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/settle-matches",
		Does:   "Turns the results of matches into points, and writes the leaderboards.",
		IfDown: "Points do not arrive.",
		On:     Queue,
		SQL:    []spec.SQLLogin{tables.Worker},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Emits:  []spec.Metric{Settled, Guesses},
		Memory: 512, Timeout: 30 * time.Second,
	}, Open, (*Worker).SettleMatch)
}

// SettleMatch settles the match of a message, and the unsettled matches of the tournament that ended
// in the same second. Then it writes the projections of their rounds and of the leaderboard. A second
// run settles nothing and writes the projections again. Errors: Invalid for a message that does not
// follow the contract, Unavailable while the database or the cache does not answer.
func (s *Worker) SettleMatch(ctx context.Context, m MatchFinished) error {
	if err := m.check(); err != nil {
		return err
	}

	group, err := pg.All[struct {
		ID    string `db:"id"`
		Round string `db:"round_slug"`
	}](ctx, s.DB, sql.ListGroup, m.TournamentID, m.MatchID, m.FinishedAt)
	if err != nil {
		return err
	}

	settled, guesses := 0, 0

	var rounds []string

	for _, one := range group {
		if !slices.Contains(rounds, one.Round) {
			rounds = append(rounds, one.Round)
		}

		n, applied, err := s.settle(ctx, m.TournamentID, one.ID)
		if err != nil {
			return err
		}

		if applied {
			settled++
			guesses += n
		}
	}

	if settled > 0 {
		telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(Settled, settled), telemetry.Count(Guesses, guesses)},
			slog.String("match", m.MatchID))
	}

	for _, round := range rounds {
		if err := s.RefreshMatches(ctx, m.TournamentID, round); err != nil {
			return err
		}
	}

	return s.RefreshLeaderboard(ctx, m.TournamentID)
}

// The metrics.
var (
	Settled = spec.Metric{Name: "MatchesSettled", Unit: spec.Count}
	Guesses = spec.Metric{Name: "GuessesSettled", Unit: spec.Count}
	Kept    = spec.Metric{Name: "LettersKept", Unit: spec.Count}
)

// state is a match with its latest settlement, and what the next settlement would use.
type state struct {
	Round      string     `db:"round_slug"`
	Status     string     `db:"status"`
	Home       *int       `db:"home_score"`
	Away       *int       `db:"away_score"`
	FinishedAt *time.Time `db:"finished_at"`
	Version    int        `db:"settled_version"`
	Rule       int        `db:"rule_version"`
	Multiplier int        `db:"multiplier"`

	WasVoid       *bool `db:"was_void"`
	WasHome       *int  `db:"was_home"`
	WasAway       *int  `db:"was_away"`
	WasRule       *int  `db:"was_rule"`
	WasMultiplier *int  `db:"was_multiplier"`
}

func (s state) void() bool { return s.Status == "void" }

// reason returns the reason for the next settlement: result, correction, rule or void. It returns ""
// if the match has not ended, or the latest settlement still applies.
func (s state) reason() string {
	switch {
	case s.Status != "ended" && s.Status != "void":
		return ""
	case s.WasVoid == nil && s.void():
		return "void"
	case s.WasVoid == nil:
		return "result"
	case s.void() && *s.WasVoid:
		return ""
	case s.void():
		return "void"
	case *s.WasVoid || *s.WasHome != *s.Home || *s.WasAway != *s.Away:
		return "correction"
	case *s.WasRule != s.Rule || *s.WasMultiplier != s.Multiplier:
		return "rule"
	}

	return ""
}

// settle settles a match in one transaction, and returns the number of rows that the ledger gets.
// applied is false if the latest settlement still applies.
func (s *Worker) settle(ctx context.Context, tournamentID, matchID string) (rows int, applied bool, err error) {
	err = s.DB.Tx(ctx, func(tx pgx.Tx) error {
		applied = false

		if _, _, err := pg.Value[bool](ctx, tx, sql.LockTournament, tournamentID); err != nil {
			return err
		}

		m, ok, err := pg.One[state](ctx, tx, sql.LockMatch, matchID, tournamentID)
		if err != nil || !ok {
			return err
		}

		if reason := m.reason(); reason != "" {
			if rows, err = apply(ctx, tx, tournamentID, matchID, m, reason); err != nil {
				return err
			}

			applied = true
		}

		_, err = pg.Do(ctx, tx, sql.MarkApplied, matchID)

		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("settle the match %s: %w", matchID, err)
	}

	return rows, applied, nil
}

// Ledger is the statement that gives members the points of a match: see settlement.sql. The
// benchmark runs it alone.
var Ledger = sql.Ledger

// apply writes the next settlement of a match, and returns the number of its rows in the ledger.
func apply(ctx context.Context, tx pgx.Tx, tournamentID, matchID string, m state, reason string) (rows int, err error) {
	version := m.Version + 1

	key := matchID
	if m.FinishedAt != nil {
		key = Key(matchID, *m.FinishedAt)
	}

	if version > 1 {
		key = fmt.Sprintf("%s#%d", key, version)
	}

	home, away := m.Home, m.Away
	if m.void() {
		home, away = nil, nil
	}

	n, err := pg.Do(ctx, tx, sql.Ledger, matchID, tournamentID, version, home, away, m.Rule, m.Multiplier, m.void(), m.Round)
	if err != nil {
		return 0, err
	}

	if _, err := pg.Do(ctx, tx, sql.AddSettlement,
		matchID, version, key, reason, m.void(), home, away, m.Rule, m.Multiplier, n); err != nil {
		return 0, err
	}

	if _, err := pg.Do(ctx, tx, sql.MarkSettled, matchID, version); err != nil {
		return 0, err
	}

	_, err = pg.Do(ctx, tx, sql.RaiseLeaderboard, tournamentID, m.Round, m.void())

	return int(n), err
}

// Post puts a message about a match into the outbox, in the transaction that ends the match. Relay
// sends it.
func Post(ctx context.Context, tx pgx.Tx, m MatchFinished) error {
	m.EventType, m.InternalStatus = EventType, Ended

	body, err := json.Marshal(m)
	if err != nil {
		return err
	}

	_, err = pg.Do(ctx, tx, sql.AddMessage, string(body))

	return err
}

// Recover posts the matches that are over and not settled, and that nothing has changed for 15
// minutes. Queue delivers a message for less time than that, so that their messages are in the
// dead-letter queue, or were lost.
func Recover(ctx context.Context, db pg.DB) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		all, err := pg.All[overMatch](ctx, tx, sql.ClaimUnsettledMatches)
		if err != nil {
			return err
		}

		return postAll(ctx, tx, all)
	})
}

// maxRelayed bounds the messages that Relay sends in one transaction.
const maxRelayed = 50

// Relay sends the messages of the outbox to Queue, and deletes them. After a crash in between a
// message is sent again, which settles nothing twice.
func Relay(ctx context.Context, db pg.DB, q queue.Sender) error {
	for {
		sent := 0

		err := db.Tx(ctx, func(tx pgx.Tx) error {
			all, err := pg.All[struct {
				ID      int64  `db:"id"`
				Payload string `db:"payload"`
			}](ctx, tx, sql.LockMessages, maxRelayed)
			if err != nil || len(all) == 0 {
				return err
			}

			messages, ids := make([]json.RawMessage, len(all)), make([]int64, len(all))
			for i, m := range all {
				messages[i], ids[i] = json.RawMessage(m.Payload), m.ID
			}

			if err := queue.SendAll(ctx, q, Queue, messages); err != nil {
				return err
			}

			sent = len(all)
			_, err = pg.Do(ctx, tx, sql.DeleteMessages, ids)

			return err
		})
		if err != nil || sent < maxRelayed {
			return err
		}
	}
}
