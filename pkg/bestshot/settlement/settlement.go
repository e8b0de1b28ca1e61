// Package settlement turns results into points.
//
// The backlog is in the database: the matches that have ended or are void, and whose result is not
// applied. A message of the queue only starts the work, and may come late, twice or not at all.
//
// A match is settled in ranges of 5,000 guesses, by the ids of the members, each in a transaction
// under the lock of the tournament. The transaction writes a row of the ledger for each guess, the
// points, and how far the settlement has come, so that a crash repeats at most one range. The last
// range writes the settlement under its key, and marks the match as settled. A second run finds the
// same result settled and changes nothing. A message works for a part of its time, and is then sent
// again for the rest. A tournament that another message is working on makes it wait in the queue.
//
// A correction, another rule, another kick-off and a void match are settlements of the same match with
// the next version. Their rows in the ledger are differences: the ledger of a match always sums to what
// its guesses earn by the latest settlement.
//
// A guess counts as it was before play began: a later change of it, and a guess that was first stored
// later, earn nothing. The time is match.began_at: see ingest.
//
// Each message writes the first page of the leaderboard, and makes the others stale, also if there was
// nothing to settle, because the run before may have crashed after its commit.
package settlement

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

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
	ListGroup, PrepareRange, PrepareRepair, LockTournament, LockMatch, MarkApplied, GetSettling, BeginSettling,
	MoveSettling, EndSettling, BeginRound, SettleRange, AddSettlement, MarkSettled, RaiseLeaderboard, AddMessage,
	ClaimUnsettledMatches, ReopenSettledMatches, LockMessages, DeleteMessages, ListSettlements, ListPending,
	LockTournamentOfMatch, LockMatchToCorrect, CorrectMatch, ReopenMatch, SetKickOff, PostponeMatch, RaiseRound,
	GetSettledRound, AddDeadLetter,
	ListDeadLetters, GetDeadLetter, CountReplay, ListActiveTournaments, TournamentExists, GetRepair, PutRepair,
	EndRepair, FindRangeEnd, RepairPoints, CountMembers, CloseSettledLetters, CloseDeadLetter string
}](file)

// Queue has the matches to settle. A message that fails is delivered again after 30, 60 and 120 s,
// and then goes to the dead-letter queue.
var Queue = spec.Queue{
	Name: "bestshot-settlement", MaxReceiveCount: 4, Batch: 1, Concurrency: 2,
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
	case !view.IsID(m.MatchID):
		return bad("matchId", "a UUID")
	case !view.IsID(m.TournamentID):
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

// Key is the idempotency key of the first settlement of a match.
func Key(matchID string, finishedAt time.Time) string {
	return matchID + "#" + finishedAt.UTC().Format(time.RFC3339)
}

const (
	// RangeSize is the number of guesses that a transaction settles: 0.3 s on a vCPU.
	RangeSize = 5000
	// maxRanges bounds the ranges that a message settles before it is sent again: half of the time
	// limit of the function, on a vCPU.
	maxRanges = 100
	// reserve is the time before the limit of the function at which no range is begun.
	reserve = 15 * time.Second
	// maxWait is how long a range waits for the lock of its tournament, in PostgreSQL's terms, and
	// busyDelay when its message comes back after that.
	maxWait   = "1s"
	busyDelay = 5 * time.Second
)

// Worker is the service that settles.
type Worker struct {
	view.Views
	queue     queue.Sender
	now       func() time.Time
	rangeSize int
	maxRanges int
}

// Open opens the service that settles.
func Open(ctx context.Context, env app.Env) (*Worker, error) {
	return OpenWith(ctx, env, RangeSize, maxRanges)
}

// OpenWith is Open with another size and number of ranges.
func OpenWith(ctx context.Context, env app.Env, size, most int) (*Worker, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Worker{view.New(db, cache, env.Clock), queue.Open(env.AWS, env.Queues), env.Now, size, most}, err
}

// SettleMatchesFunction turns the results of matches into points.
func SettleMatchesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/settle-matches",
		Does:   "Turns the results of matches into points, and writes the leaderboards.",
		IfDown: "Points do not arrive.",
		On:     Queue,
		SQL:    []spec.SQLLogin{tables.Settler},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Sends:  []spec.Queue{Queue},
		Emits:  []spec.Metric{Settled, Guesses},
		Memory: 256, Timeout: time.Minute,
	}, Open, (*Worker).SettleMatch)
}

// SettleMatch settles the match of a message, and the unsettled matches of the tournament that ended
// in the same second. Then it writes the projections of their rounds and of the leaderboard. If the
// time or maxRanges is over, or another message is at work on the tournament, it sends the message
// again. In the end it closes the letters of settled matches. A second run settles nothing and writes the
// projections again. Errors: Invalid for a message
// that does not follow the contract, Unavailable while the database or the cache does not answer.
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

	var rounds []string

	left := s.maxRanges

	for _, one := range group {
		if !slices.Contains(rounds, one.Round) {
			rounds = append(rounds, one.Round)
		}

		for done := false; !done; left-- {
			if left == 0 || AtEnd(ctx) {
				return s.queue.Send(ctx, Queue, m, 0)
			}

			p, err := s.settleRange(ctx, m.TournamentID, one.ID)
			if err != nil {
				return err
			}

			if p.busy {
				return s.queue.Send(ctx, Queue, m, busyDelay)
			}

			if p.settled {
				telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(Settled, 1), telemetry.Count(Guesses, p.guesses)},
					slog.String("match", one.ID))
			}

			done = p.done
		}
	}

	for _, round := range rounds {
		if err := s.RefreshMatches(ctx, m.TournamentID, round); err != nil {
			return err
		}
	}

	if err := s.RefreshLeaderboard(ctx, m.TournamentID); err != nil {
		return err
	}

	_, err = pg.Do(ctx, s.DB, sql.CloseSettledLetters)

	return err
}

// AtEnd reports whether the time of the invocation is nearly over. The deadline of an invocation is a time of
// the machine's clock, also in the local fleet, whose clock is simulated: the functions' clock may be years
// from it.
func AtEnd(ctx context.Context) bool {
	end, limited := ctx.Deadline()
	return limited && time.Until(end) < reserve
}

// The metrics.
var (
	Settled = spec.Metric{Name: "MatchesSettled", Unit: spec.Count}
	Guesses = spec.Metric{Name: "GuessesSettled", Unit: spec.Count}
	Kept    = spec.Metric{Name: "LettersKept", Unit: spec.Count}
)

// state is a match with its latest settlement, and what the next settlement would use.
type state struct {
	Round       string     `db:"round_slug"`
	Status      string     `db:"status"`
	Home        *int       `db:"home_score"`
	Away        *int       `db:"away_score"`
	FinishedAt  *time.Time `db:"finished_at"`
	BeganAt     *time.Time `db:"began_at"`
	Corrected   bool       `db:"corrected"`
	KickOff     bool       `db:"kick_off_corrected"` // whether an administrator has set it
	CorrectedBy *string    `db:"corrected_by"`
	JokersMoved bool       `db:"jokers_moved"`
	Version     int        `db:"settled_version"`
	Rule        int        `db:"rule_version"`
	Current     *string    `db:"current_round"`
	Multiplier  int        `db:"multiplier"`

	WasVoid       *bool      `db:"was_void"`
	WasBeganAt    *time.Time `db:"was_began_at"`
	WasHome       *int       `db:"was_home"`
	WasAway       *int       `db:"was_away"`
	WasRule       *int       `db:"was_rule"`
	WasMultiplier *int       `db:"was_multiplier"`
}

func (s state) void() bool { return s.Status == "void" }

// correctedBy is the administrator who has entered the result, or the kick-off that is the reason of a
// settlement; nil if they are the provider's.
func (s state) correctedBy(reason string) *string {
	if s.Corrected || s.KickOff && reason == kickOff {
		return s.CorrectedBy
	}

	return nil
}

// kickOff is the reason of a settlement after which other guesses count.
const kickOff = "kick-off"

// reason returns the reason for the next settlement: result, correction, kick-off, rule or void. It
// returns "" if the match has not ended, or the latest settlement still applies. A kick-off may be that of
// another match of the round, from which jokers were moved here while it was already played.
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
	case !sameTime(s.BeganAt, s.WasBeganAt) || s.JokersMoved:
		return kickOff
	case *s.WasRule != s.Rule || *s.WasMultiplier != s.Multiplier:
		return "rule"
	}

	return ""
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// next returns the settlement that the match needs.
func (s state) next(reason string) settling {
	n := settling{Version: s.Version + 1, Reason: reason, Void: s.void(), Rule: s.Rule, Multiplier: s.Multiplier}

	if !n.Void {
		n.Home, n.Away, n.BeganAt = s.Home, s.Away, s.BeganAt
	}

	return n
}

// settling is a settlement that goes on. It uses what the match had when it began.
type settling struct {
	Version    int        `db:"version"`
	Reason     string     `db:"reason"`
	Void       bool       `db:"void"`
	Home       *int       `db:"home_score"`
	Away       *int       `db:"away_score"`
	Rule       int        `db:"rule_version"`
	Multiplier int        `db:"multiplier"`
	BeganAt    *time.Time `db:"began_at"`
	MemberID   string     `db:"member_id"` // the last one of the range before
	Guesses    int        `db:"guesses"`   // rows of the ledger
}

// progress is what a transaction has done.
type progress struct {
	busy    bool // another transaction has had the lock of the tournament for maxWait
	done    bool // nothing is left to settle
	settled bool // it was the last range of a settlement
	guesses int  // rows of the ledger that the settlement has added
}

// settleRange settles the next range of a match in one transaction. It begins the settlement if the
// latest one no longer applies, and ends it with the last range.
func (s *Worker) settleRange(ctx context.Context, tournamentID, matchID string) (p progress, err error) {
	err = s.DB.Tx(ctx, func(tx pgx.Tx) error {
		p = progress{}

		locked, err := LockForRange(ctx, tx, tournamentID)
		if err != nil || !locked {
			p.done = true
			return err
		}

		m, ok, err := pg.One[state](ctx, tx, sql.LockMatch, matchID, tournamentID)
		if err != nil || !ok {
			p.done = true
			return err
		}

		run, ok, err := begin(ctx, tx, tournamentID, matchID, &m)
		if err != nil {
			return err
		}

		if !ok {
			p.done = true
			_, err = pg.Do(ctx, tx, sql.MarkApplied, matchID)

			return err
		}

		p, err = s.apply(ctx, tx, tournamentID, matchID, m, run)

		return err
	})
	switch {
	case pg.IsLockTimeout(err):
		return progress{busy: true}, nil
	case err != nil:
		return progress{}, fmt.Errorf("settle the match %s: %w", matchID, err)
	}

	return p, nil
}

// LockForRange prepares a transaction for a range of members, and locks the tournament until it ends. ok is false
// if there is no such tournament. It waits for one second at most: see pg.IsLockTimeout.
func LockForRange(ctx context.Context, tx pgx.Tx, tournamentID string) (ok bool, err error) {
	if _, err := pg.Do(ctx, tx, sql.PrepareRange, maxWait); err != nil {
		return false, err
	}

	_, ok, err = pg.Value[bool](ctx, tx, sql.LockTournament, tournamentID)

	return ok, err
}

// RaiseLeaderboard raises the version of a tournament's leaderboard, in the transaction that ends a change of it.
func RaiseLeaderboard(ctx context.Context, tx pgx.Tx, tournamentID string) error {
	_, err := pg.Do(ctx, tx, sql.RaiseLeaderboard, tournamentID)
	return err
}

// SettleRange is the statement that gives the members of a range their points: see settlement.sql. The
// benchmark runs it alone.
var SettleRange = sql.SettleRange

// begin returns the settlement of a match that goes on, or the next one. ok is false if the match needs
// none. It makes the match's round the current one of m if a later one is not.
func begin(ctx context.Context, tx pgx.Tx, tournamentID, matchID string, m *state) (run settling, ok bool, err error) {
	run, ok, err = pg.One[settling](ctx, tx, sql.GetSettling, matchID)
	if err != nil || ok && run.Version > m.Version {
		return run, ok, err
	}

	if ok { // code that knows no ranges has settled the match meanwhile
		if _, err := pg.Do(ctx, tx, sql.EndSettling, matchID); err != nil {
			return run, false, err
		}
	}

	reason := m.reason()
	if reason == "" {
		return run, false, nil
	}

	n := m.next(reason)
	if !n.Void {
		if m.Current, _, err = pg.Value[*string](ctx, tx, sql.BeginRound, tournamentID, m.Round); err != nil {
			return run, false, err
		}
	}

	return pg.One[settling](ctx, tx, sql.BeginSettling,
		matchID, n.Version, n.Reason, n.Void, n.Home, n.Away, n.Rule, n.Multiplier, n.BeganAt)
}

// apply settles the next range of a settlement.
func (s *Worker) apply(ctx context.Context, tx pgx.Tx, tournamentID, matchID string, m state, run settling) (p progress, err error) {
	current := m.Current != nil && *m.Current == m.Round

	part, _, err := pg.One[struct {
		Seen     int     `db:"seen"`
		MemberID *string `db:"member_id"` // the last one; nil if there is none
		Guesses  int     `db:"guesses"`
	}](ctx, tx, sql.SettleRange, matchID, tournamentID, run.Version, run.Home, run.Away, run.Rule, run.Multiplier, run.Void,
		m.Round, current, run.BeganAt, run.MemberID, s.rangeSize)
	if err != nil {
		return p, err
	}

	if part.Seen == s.rangeSize {
		_, err = pg.Do(ctx, tx, sql.MoveSettling, matchID, part.MemberID, part.Seen, part.Guesses)
		return p, err
	}

	p.settled, p.guesses = true, run.Guesses+part.Guesses

	if _, err := pg.Do(ctx, tx, sql.EndSettling, matchID); err != nil {
		return p, err
	}

	key := matchID
	if m.FinishedAt != nil {
		key = Key(matchID, *m.FinishedAt)
	}

	if run.Version > 1 {
		key = fmt.Sprintf("%s#%d", key, run.Version)
	}

	if _, err := pg.Do(ctx, tx, sql.AddSettlement, matchID, run.Version, key, run.Reason, run.Void, run.Home, run.Away, run.Rule,
		run.Multiplier, p.guesses, run.BeganAt, m.correctedBy(run.Reason)); err != nil {
		return p, err
	}

	if err := RaiseLeaderboard(ctx, tx, tournamentID); err != nil {
		return p, err
	}

	if _, err := pg.Do(ctx, tx, sql.MarkSettled, matchID, run.Version); err != nil {
		return p, err
	}

	// The match may have changed since the settlement began. Then the next one follows.
	m, _, err = pg.One[state](ctx, tx, sql.LockMatch, matchID, tournamentID)
	if err != nil || m.reason() != "" {
		return p, err
	}

	p.done = true
	_, err = pg.Do(ctx, tx, sql.MarkApplied, matchID)

	return p, err
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
// dead-letter queue, or were lost. It also closes the letters of matches that were settled by code that did
// not close them.
func Recover(ctx context.Context, db pg.DB) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if _, err := pg.Do(ctx, tx, sql.CloseSettledLetters); err != nil {
			return err
		}

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
