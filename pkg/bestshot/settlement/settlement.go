// Package settlement turns results into points.
//
// The database is the truth: a match that has ended, or is void, and has not been applied is
// the backlog. A message of the queue is a wake-up, which may come late, twice or not at
// all. A match is settled in one transaction, under the lock of its tournament: the record
// of the settlement under its key, a row of the ledger for each guess, the points and the
// mark. A repeat finds the same result settled and changes nothing.
//
// A correction, another rule and a void match are settlements of the same match with the
// next version: the ledger gets the differences, so that the ledger of a match always sums
// to what the guesses earn now.
//
// The projection of the leaderboard is written after each message, also if there was nothing
// to settle: the run before may have crashed in between.
package settlement

import (
	"context"
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

// Queue has the matches to settle. A message that fails is tried again after 30, 60 and
// 120 s, and then goes to the dead-letter queue.
var Queue = spec.Queue{
	Name: "bestshot-settlement", MaxReceiveCount: 4, Batch: 10, Concurrency: 2,
	Backoff: []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute},
}

// EventType and Ended are the only values of their fields.
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

// check returns what is wrong with a message for ever.
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
	var u pgtype.UUID // which reads anything between the digits
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
		SQL:    []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Emits: []spec.Metric{Settled, Guesses},
		Memory: 512, Timeout: 30 * time.Second,
	}, Open, (*Worker).SettleMatch)
}

// SettleMatch settles the match of a message, and those of the tournament that ended in the
// same second and are not settled, and writes their rounds and the leaderboard. A second run
// settles nothing and writes them again. Errors: an Invalid problem for a message that does not
// follow the contract, Unavailable while the database or the cache does not answer.
func (s *Worker) SettleMatch(ctx context.Context, m MatchFinished) error {
	if err := m.check(); err != nil {
		return err
	}

	group, err := pg.All[struct {
		ID    string `db:"id"`
		Round string `db:"round_slug"`
	}](ctx, s.DB, `SELECT id::text, round_slug FROM match WHERE tournament_id = $1 AND (id = $2
		OR finished_at = $3 AND status IN ('ended', 'void') AND scoreboard_applied_at IS NULL) ORDER BY date, id`,
		m.TournamentID, m.MatchID, m.FinishedAt)
	if err != nil {
		return err
	}

	settled, points := 0, 0

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
			points += n
		}
	}

	if settled > 0 {
		telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(Settled, settled), telemetry.Count(Guesses, points)},
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

// state is a match and what it was settled with.
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

// reason returns why a match is to be settled, "" if it is settled as it is.
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

// settle settles a match in one transaction, and returns the number of its guesses.
func (s *Worker) settle(ctx context.Context, tournamentID, matchID string) (guesses int, applied bool, err error) {
	err = s.DB.Tx(ctx, func(tx pgx.Tx) error {
		applied = false
		// Settlements of a tournament are in turn: they change the same rows.
		if _, _, err := pg.Value[bool](ctx, tx, `SELECT true FROM tournament WHERE id = $1 FOR NO KEY UPDATE`, tournamentID); err != nil {
			return err
		}

		m, ok, err := pg.One[state](ctx, tx, `SELECT m.round_slug, m.status::text, m.home_score, m.away_score, m.finished_at, m.settled_version, t.rule_version, o.multiplier,
				z.void AS was_void, z.home_score AS was_home, z.away_score AS was_away, z.rule_version AS was_rule, z.multiplier AS was_multiplier
			FROM match m JOIN tournament t ON t.id = m.tournament_id JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
			LEFT JOIN settlement z ON z.match_id = m.id AND z.version = m.settled_version
			WHERE m.id = $1 AND m.tournament_id = $2 FOR NO KEY UPDATE OF m`, matchID, tournamentID)
		if err != nil || !ok {
			return err
		}

		if reason := m.reason(); reason != "" {
			if guesses, err = apply(ctx, tx, tournamentID, matchID, m, reason); err != nil {
				return err
			}

			applied = true
		}

		_, err = pg.Do(ctx, tx, `UPDATE match SET scoreboard_applied_at = now() WHERE id = $1 AND status IN ('ended', 'void') AND scoreboard_applied_at IS NULL`, matchID)

		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("settle the match %s: %w", matchID, err)
	}

	return guesses, applied, nil
}

// Ledger is the statement that gives the members the points of a match. Its parameters:
//
//	$1, $2  the match and its tournament
//	$3      the version of the settlement
//	$4, $5  the goals of the home and the away team
//	$6, $7  the version of the rule, and the multiplier of the round
//	$8      whether the match is void
//	$9      the slug of the round
//
// A void match earns nothing: its guesses lose what they had. The first settlement has a
// row for each guess, so that its member is in the leaderboard; later ones have the
// differences. What the ledger gets, the scoreboards get.
const Ledger = `WITH want AS (
		SELECT g.member_id, guess_points(g.home_score, g.away_score, $4, $5, r, $7) AS points FROM guess g JOIN rule r ON r.tournament_id = $2 AND r.version = $6
		WHERE g.match_id = $1 AND NOT $8),
	had AS (SELECT member_id, sum(points_earned)::int AS points FROM scoreboard_ledger WHERE match_id = $1 GROUP BY member_id),
	earned AS (
		INSERT INTO scoreboard_ledger (match_id, member_id, version, tournament_id, points_earned)
		SELECT $1, member_id, $3, $2, coalesce(want.points, 0) - coalesce(had.points, 0) FROM want FULL JOIN had USING (member_id)
		WHERE had.points IS NULL OR coalesce(want.points, 0) <> had.points RETURNING member_id, points_earned),
	round AS (
		INSERT INTO round_score AS s (tournament_id, round_slug, member_id, points) SELECT $2, $9, member_id, points_earned FROM earned
		ON CONFLICT (tournament_id, round_slug, member_id) DO UPDATE SET points = s.points + excluded.points)
	INSERT INTO tournament_scoreboard AS s (tournament_id, member_id, points) SELECT $2, member_id, points_earned FROM earned
	ON CONFLICT (tournament_id, member_id) DO UPDATE SET points = s.points + excluded.points`

// apply writes the next settlement of a match.
func apply(ctx context.Context, tx pgx.Tx, tournamentID, matchID string, m state, reason string) (guesses int, err error) {
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

	n, err := pg.Do(ctx, tx, Ledger, matchID, tournamentID, version, home, away, m.Rule, m.Multiplier, m.void(), m.Round)
	if err != nil {
		return 0, err
	}

	for _, w := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO settlement (match_id, version, idempotency_key, reason, void, home_score, away_score, rule_version, multiplier, guesses) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			[]any{matchID, version, key, reason, m.void(), home, away, m.Rule, m.Multiplier, n}},
		{`UPDATE match SET settled_version = $2, scoreboard_applied_at = now() WHERE id = $1`, []any{matchID, version}},
		// The current round is the latest of which a match has earned points.
		{`UPDATE tournament t SET scoreboard_version = scoreboard_version + 1, status = CASE WHEN status = 'upcoming' THEN 'active' ELSE status END,
			current_round = CASE WHEN $3 THEN current_round ELSE (SELECT o.slug FROM tournament_round o WHERE o.tournament_id = t.id AND (o.slug = $2 OR o.slug = t.current_round) ORDER BY o."order" DESC, o.slug DESC LIMIT 1) END
			WHERE id = $1`, []any{tournamentID, m.Round, m.void()}},
	} {
		if _, err := pg.Do(ctx, tx, w.sql, w.args...); err != nil {
			return 0, err
		}
	}

	return int(n), nil
}

// Post puts a message for a match into the outbox, in the transaction of what it is about.
func Post(ctx context.Context, tx pgx.Tx, m MatchFinished) error {
	m.EventType, m.InternalStatus = EventType, Ended

	body, err := json.Marshal(m)
	if err != nil {
		return err
	}

	_, err = pg.Do(ctx, tx, `INSERT INTO outbox (payload) VALUES ($1)`, string(body))

	return err
}

// Recover posts the matches that have ended and are not settled, and about which nothing has
// happened for 15 minutes, longer than Queue tries a message: their message was given up.
func Recover(ctx context.Context, db pg.DB) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		all, err := pg.All[ended](ctx, tx, `UPDATE match SET updated_at = now() WHERE status IN ('ended', 'void') AND scoreboard_applied_at IS NULL AND updated_at < now() - interval '15 minutes' RETURNING `+endedColumns)
		if err != nil {
			return err
		}

		return postAll(ctx, tx, all)
	})
}

// Relay sends what is in the outbox to Queue. What was sent and could not be deleted is sent
// again, which settles nothing twice.
func Relay(ctx context.Context, db pg.DB, q queue.Sender) error {
	for {
		sent := 0

		err := db.Tx(ctx, func(tx pgx.Tx) error {
			all, err := pg.All[struct {
				ID      int64  `db:"id"`
				Payload string `db:"payload"`
			}](ctx, tx, `SELECT id, payload::text FROM outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED`, relayed)
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
			_, err = pg.Do(ctx, tx, `DELETE FROM outbox WHERE id = ANY($1)`, ids)

			return err
		})
		if err != nil || sent < relayed {
			return err
		}
	}
}

// relayed is how many messages are sent in one transaction.
const relayed = 50
