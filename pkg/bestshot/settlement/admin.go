package settlement

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// Admin is the service of administrators for settlements.
type Admin struct {
	view.Views
	queue queue.Sender
	now   func() time.Time
}

// OpenAdmin opens the service of administrators for settlements.
func OpenAdmin(ctx context.Context, env app.Env) (*Admin, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Admin{view.New(db, cache, env.Clock), queue.Open(env.AWS, env.Queues), env.Now}, err
}

var (
	errNoMatch   = problem.New(problem.NotFound, "match_not_found", "there is no such match")
	errNotBegun  = problem.New(problem.Conflict, "match_not_begun", "the match has not begun: it has no result")
	errNoMessage = problem.New(problem.NotFound, "message_not_found", "there is no such message")
)

// ListSettlements is the request for settlements.
type ListSettlements struct {
	auth.Admin
	Status string `query:"status" enum:"applied,pending" default:"applied" doc:"applied: what was settled, the newest first. pending: matches that have ended and are not settled."`
	Cursor string `query:"cursor" maxLength:"80" doc:"The next of the page before."`
}

// Settlement is the settlement of a match.
type Settlement struct {
	MatchID      string    `json:"matchId" db:"match_id" format:"uuid" doc:"The id of the match."`
	TournamentID string    `json:"tournamentId" db:"tournament_id" format:"uuid" doc:"The id of its tournament."`
	Version      int       `json:"version" db:"version" doc:"1 for the first settlement of the match, 2 for the next, and so on. Of a match that is pending: that of its last settlement, 0 if there is none."`
	Key          *string   `json:"idempotencyKey" db:"idempotency_key" doc:"The key of the settlement; null while it is pending."`
	Reason       *string   `json:"reason" db:"reason" enum:"result,correction,kick-off,rule,void" doc:"Why the match was settled; null while it is pending. kick-off: other guesses or jokers count, because play began at another time."`
	Home         *int      `json:"home" db:"home_score" doc:"The goals that count; null for a void match."`
	Away         *int      `json:"away" db:"away_score" doc:"The goals that count; null for a void match."`
	Guesses      *int      `json:"guesses" db:"guesses" doc:"How many rows of the ledger the settlement added: the first one for each guess, a later one for each guess whose points changed; null while it is pending."`
	CorrectedBy  *string   `json:"correctedBy" db:"corrected_by" doc:"The user id of the administrator who entered the result or the kick-off, or made the match void; null if it is the provider's result, and while it is pending."`
	At           time.Time `json:"at" db:"at" doc:"When it was applied; when the match ended while it is pending."`
}

// Settlements is the answer with settlements.
type Settlements struct {
	Body struct {
		Data []Settlement `json:"data" doc:"The newest first, 100 a page."`
		Next string       `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// ListSettlementsFunction returns what was settled, or what is to be.
func ListSettlementsFunction() app.Function {
	return app.API(
		admin("list-settlements", "Returns what was settled, or what is to be.",
			"Administrators do not see the backlog.", "GET", "/settlements", nil),
		OpenAdmin, (*Admin).ListSettlements, httpapi.ErrBadCursor)
}

// ListSettlements returns a page of the settlements, or of the matches that are to be settled, the
// newest first. Errors: bad_cursor.
func (s *Admin) ListSettlements(ctx context.Context, in *ListSettlements) (*Settlements, error) {
	before := place{At: endOfTime, MatchID: strings.Repeat("f", 32)}

	if in.Cursor != "" {
		var err error
		if before, err = parsePlace(in.Cursor); err != nil {
			return nil, err
		}
	}

	list := sql.ListSettlements
	if in.Status == "pending" {
		list = sql.ListPending
	}

	all, err := pg.All[Settlement](ctx, s.DB, list, before.At, before.MatchID, before.Version, view.PageSize+1)
	if err != nil {
		return nil, err
	}

	for i := range all {
		all[i].At = all[i].At.UTC()
	}

	out := &Settlements{}

	if len(all) > view.PageSize {
		all = all[:view.PageSize]
		last := all[view.PageSize-1]
		out.Body.Next = place{last.At, last.MatchID, last.Version}.String()
	}

	out.Body.Data = append([]Settlement{}, all...)

	return out, nil
}

// endOfTime is later than all times in a list.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// place is the place of a settlement in the list. Its text is a cursor.
type place struct {
	At      time.Time
	MatchID string
	Version int
}

func (p place) String() string {
	return fmt.Sprintf("%d_%s_%d", p.At.UnixMicro(), p.MatchID, p.Version)
}

// parsePlace reads a cursor. Errors: bad_cursor.
func parsePlace(cursor string) (p place, err error) {
	parts := strings.Split(cursor, "_")
	if len(parts) != 3 || !view.IsID(parts[1]) {
		return p, httpapi.ErrBadCursor
	}

	at, err := strconv.ParseInt(parts[0], 10, 54)
	if err != nil {
		return p, httpapi.ErrBadCursor
	}

	version, err := strconv.ParseInt(parts[2], 10, 31)
	if err != nil {
		return p, httpapi.ErrBadCursor
	}

	return place{time.UnixMicro(at).UTC(), parts[1], int(version)}, nil
}

// CorrectMatch is the request to correct a result.
type CorrectMatch struct {
	auth.Admin
	MatchID string `path:"matchId" format:"uuid" doc:"The id of the match."`
	Body    struct {
		Void      bool       `json:"void,omitempty" doc:"The match earns nothing: it has no scores."`
		Reopen    bool       `json:"reopen,omitempty" doc:"Undo what administrators have decided about result and kick-off: the provider decides again, with its next answer. A void match is open until then. A match that has ended is settled now only if its kick-off was set. In a manual tournament only a void match is reopened."`
		Home      *int       `json:"home,omitempty" minimum:"0" maximum:"99" doc:"The goals of the home team that count." example:"2"`
		Away      *int       `json:"away,omitempty" minimum:"0" maximum:"99" doc:"The goals of the away team that count." example:"1"`
		KickOff   *time.Time `json:"kickOff,omitempty" doc:"The kick-off, which the provider cannot change until the match is reopened. If it has passed, play began then: guesses count that were stored before. A postponed match of a manual tournament is open again." example:"2026-06-11T19:00:00Z"`
		Postponed bool       `json:"postponed,omitempty" doc:"The match of a manual tournament is not played at its kick-off: it takes no guesses until it has another."`
	}
}

// Accepted is the answer that something will be done.
type Accepted struct {
	Status int
	Body   struct {
		MatchIDs []string `json:"matchIds" doc:"The matches that will be settled; none if the message names no match."`
	}
}

// CorrectMatchFunction corrects the result of a match.
func CorrectMatchFunction() app.Function {
	return app.API(
		admin("correct-match", "Corrects the result or the kick-off of a match, or makes it void.", "A wrong result stays.", "POST",
			"/settlements/{matchId}/correct", ownQueue, 202),
		OpenAdmin, (*Admin).CorrectMatch, errNoMatch, errNotBegun, errOver, errPending, ErrHasProvider, redis.ErrAway)
}

// check returns a problem unless the body has either void, or reopen, or postponed, or a kick-off, or the
// goals of both teams.
func (in *CorrectMatch) check() error {
	b := in.Body

	decisions := 0
	for _, given := range []bool{b.Void, b.Reopen, b.Postponed, b.KickOff != nil, b.Home != nil || b.Away != nil} {
		if given {
			decisions++
		}
	}

	switch {
	case decisions != 1:
		return problem.In("body.void", "expected void, or reopen, or postponed, or kickOff, or home and away")
	case b.KickOff != nil:
		return CheckKickOff(*b.KickOff)
	case b.Home == nil && b.Away != nil:
		return problem.In("body.home", "expected the goals of both teams")
	case b.Home != nil && b.Away == nil:
		return problem.In("body.away", "expected the goals of both teams")
	}

	return nil
}

// CorrectMatch sets the result or the kick-off of a match, makes it void or postpones it, or undoes that, and
// posts the match if its guesses may earn something else. From then on the provider cannot change what was
// set, until the match is reopened. A result is set while the cache does not answer, because the settlement
// writes the round. A second run changes nothing, and posts the match again. Errors: match_not_found,
// match_not_begun, match_over, settlement_pending, has_provider, Unavailable while the cache does not answer
// and nothing is settled.
func (s *Admin) CorrectMatch(ctx context.Context, in *CorrectMatch) (*Accepted, error) {
	if err := in.check(); err != nil {
		return nil, err
	}

	var (
		m       lockedMatch
		settle  bool
		version int64
	)

	err := s.DB.Tx(ctx, func(tx pgx.Tx) error {
		// Whatever locks several rows of a tournament locks the tournament first.
		if _, _, err := pg.Value[bool](ctx, tx, sql.LockTournamentOfMatch, in.MatchID); err != nil {
			return err
		}

		var (
			ok  bool
			err error
		)

		if m, ok, err = pg.One[lockedMatch](ctx, tx, sql.LockMatchToCorrect, in.MatchID); err == nil && !ok {
			err = errNoMatch
		}

		if err != nil {
			return err
		}

		if settle, err = in.apply(ctx, tx, m); err != nil {
			return err
		}

		if version, _, err = pg.Value[int64](ctx, tx, sql.RaiseRound, m.Tournament, m.Round); err != nil || !settle {
			return err
		}

		return Post(ctx, tx, MatchFinished{
			MatchID:        in.MatchID,
			TournamentID:   m.Tournament,
			FinishedAt:     m.FinishedAt,
			Provider:       m.Provider,
			ProviderStatus: "corrected",
			DetectedAt:     m.Now.UTC(),
		})
	})
	if err != nil {
		return nil, err
	}

	slog.InfoContext(ctx, "a match is corrected by an administrator", "match", in.MatchID, "by", in.UserID, "void", in.Body.Void,
		"reopen", in.Body.Reopen, "postponed", in.Body.Postponed, "kickOff", in.Body.KickOff)

	if err := s.Cache.Invalidate(ctx, view.MatchesKey(m.Tournament, m.Round), version); err != nil {
		if !settle { // nothing else writes the round: a second run does
			return nil, err
		}

		slog.WarnContext(ctx, "members see the corrected result after the settlement", "match", in.MatchID, "err", err)
	}

	if !settle {
		return accepted(), nil
	}

	if err := Relay(ctx, s.DB, s.queue); err != nil {
		return nil, err
	}

	return accepted(in.MatchID), nil
}

func accepted(ids ...string) *Accepted {
	out := &Accepted{Status: http.StatusAccepted}
	out.Body.MatchIDs = append([]string{}, ids...)

	return out
}

// overMatch is a match that has ended or is void.
type overMatch struct {
	ID         string    `db:"id"`
	Tournament string    `db:"tournament_id"`
	FinishedAt time.Time `db:"finished_at"`
	Provider   string    `db:"provider"`
	Status     string    `db:"provider_status"`
	Now        time.Time `db:"now"`
}

// postAll posts matches.
func postAll(ctx context.Context, tx pgx.Tx, all []overMatch) error {
	for _, m := range all {
		if err := Post(ctx, tx, MatchFinished{
			MatchID:        m.ID,
			TournamentID:   m.Tournament,
			FinishedAt:     m.FinishedAt.UTC(),
			Provider:       m.Provider,
			ProviderStatus: m.Status,
			DetectedAt:     m.Now.UTC(),
		}); err != nil {
			return err
		}
	}

	return nil
}

// Repost posts all settled matches of a tournament, or of one of its rounds if round is not "", in the
// transaction that changes what their guesses earn.
func Repost(ctx context.Context, tx pgx.Tx, tournamentID, round string) error {
	all, err := pg.All[overMatch](ctx, tx, sql.ReopenSettledMatches, tournamentID, round)
	if err != nil {
		return err
	}

	return postAll(ctx, tx, all)
}

// KeepDeadLettersFunction keeps the messages that could not be settled.
func KeepDeadLettersFunction() app.Function {
	return app.DeadLetters(spec.Function{
		Name:   "bestshot/keep-letters",
		Does:   "Keeps the messages that could not be settled, for the administrators.",
		IfDown: "They wait in the dead-letter queue.",
		On:     spec.DeadLetters{Of: Queue},
		SQL:    []spec.SQLLogin{tables.Settler},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Emits:  []spec.Metric{Kept},
		Memory: 256, Timeout: 30 * time.Second,
	}, OpenAdmin, (*Admin).KeepDeadLetter)
}

// noAnswer is the reason of a message whose last try has left none.
const noAnswer = "the last try ended without an answer: its time or memory was used up, or the function was stopped"

// KeepDeadLetter stores a message that could not be settled, with the reason. If its match is settled,
// and only the cache did not answer, it writes the round and the leaderboard instead. A second run
// changes nothing. Errors: Unavailable while the database or the cache does not answer.
func (s *Admin) KeepDeadLetter(ctx context.Context, m queue.DeadLetter) error {
	if of, ok := parse(m.Body); ok {
		round, settled, err := pg.Value[string](ctx, s.DB, sql.GetSettledRound, of.MatchID, of.TournamentID)
		if err != nil {
			return err
		}

		if settled {
			return errors.Join(s.RefreshMatches(ctx, of.TournamentID, round), s.RefreshLeaderboard(ctx, of.TournamentID))
		}
	}

	reason := cmp.Or(m.Reason, noAnswer)

	n, err := pg.Do(ctx, s.DB, sql.AddDeadLetter, m.ID, m.Body, reason)
	if n > 0 {
		telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(Kept, 1)}, slog.String("message", m.ID), slog.String("reason", reason))
	}

	return err
}

// parse reads a message of Queue. ok is false if the message does not follow the contract.
func parse(body string) (m MatchFinished, ok bool) {
	ok = json.Unmarshal([]byte(body), &m) == nil && m.check() == nil
	return m, ok
}

// ListDeadLetters is the request for the messages that could not be settled.
type ListDeadLetters struct {
	auth.Admin
	Status string `query:"status" enum:"open,closed" default:"open" doc:"open: whose match is not settled, and that no administrator has closed. closed: the others."`
	Cursor string `query:"cursor" maxLength:"120" pattern:"^[0-9]+_[0-9A-Za-z-]+$" doc:"The next of the page before."`
}

// DeadLetter is a message that could not be settled.
type DeadLetter struct {
	ID         string     `json:"id" db:"id" doc:"The id of the message."`
	Payload    string     `json:"payload" db:"payload" doc:"The message as it was."`
	Reason     string     `json:"reason" db:"reason" doc:"Why it was given up."`
	ReceivedAt time.Time  `json:"receivedAt" db:"received_at" doc:"When it was given up."`
	Replays    int        `json:"replays" db:"replays" doc:"How often it was sent again."`
	ReplayedAt *time.Time `json:"replayedAt" db:"replayed_at" doc:"When it was sent again last."`
	ClosedAt   *time.Time `json:"closedAt" db:"closed_at" doc:"When its match was settled, or an administrator closed it; null while it is open."`
}

// DeadLetters is the answer with messages that could not be settled.
type DeadLetters struct {
	Body struct {
		Data []DeadLetter `json:"data" doc:"The newest first, 100 a page."`
		Next string       `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// ListDeadLettersFunction returns the messages that could not be settled.
func ListDeadLettersFunction() app.Function {
	return app.API(
		admin("list-letters", "Returns the messages that could not be settled.", "Administrators do not see what has failed.",
			"GET", "/settlements/dlq", nil),
		OpenAdmin, (*Admin).ListDeadLetters, httpapi.ErrBadCursor)
}

// ListDeadLetters returns a page of the messages that could not be settled, the newest first: those that are
// open, or closed. Errors: bad_cursor.
func (s *Admin) ListDeadLetters(ctx context.Context, in *ListDeadLetters) (*DeadLetters, error) {
	before, id := endOfTime, ""

	if at, of, ok := strings.Cut(in.Cursor, "_"); ok {
		micros, err := strconv.ParseInt(at, 10, 54)
		if err != nil {
			return nil, httpapi.ErrBadCursor
		}

		before, id = time.UnixMicro(micros), of
	}

	all, err := pg.All[DeadLetter](ctx, s.DB, sql.ListDeadLetters, before, id, view.PageSize+1, in.Status == "closed")
	if err != nil {
		return nil, err
	}

	for i := range all {
		all[i].Reason = cmp.Or(all[i].Reason, noAnswer) // of rows without a reason
	}

	out := &DeadLetters{}

	if len(all) > view.PageSize {
		all = all[:view.PageSize]
		last := all[view.PageSize-1]
		out.Body.Next = fmt.Sprintf("%d_%s", last.ReceivedAt.UnixMicro(), last.ID)
	}

	out.Body.Data = append([]DeadLetter{}, all...)

	return out, nil
}

// ReplayDeadLetter is the request to send a message again.
type ReplayDeadLetter struct {
	auth.Admin
	ID string `path:"id" maxLength:"100" pattern:"^[0-9A-Za-z-]+$" doc:"The id of the message."`
}

// ReplayDeadLetterFunction sends a message that could not be settled again.
func ReplayDeadLetterFunction() app.Function {
	return app.API(
		admin("replay-letter", "Sends a message that could not be settled again.", "What has failed stays failed.", "POST",
			"/settlements/dlq/{id}/replay", ownQueue, 202),
		OpenAdmin, (*Admin).ReplayDeadLetter, errNoMessage)
}

// ReplayDeadLetter sends a message again, unchanged. A second run sends it once more, which settles
// nothing twice. Errors: message_not_found.
func (s *Admin) ReplayDeadLetter(ctx context.Context, in *ReplayDeadLetter) (*Accepted, error) {
	payload, ok, err := pg.Value[string](ctx, s.DB, sql.GetDeadLetter, in.ID)
	if err == nil && !ok {
		err = errNoMessage
	}

	if err != nil {
		return nil, err
	}

	if err := s.queue.SendText(ctx, Queue, payload); err != nil {
		return nil, err
	}

	if _, err := pg.Do(ctx, s.DB, sql.CountReplay, in.ID); err != nil {
		return nil, err
	}

	if of, ok := parse(payload); ok {
		return accepted(of.MatchID), nil
	}

	return accepted(), nil
}

// Hydrate is the request to rebuild leaderboards.
type Hydrate struct {
	auth.Admin
}

// HydrateOne is the request to rebuild the leaderboard of a tournament.
type HydrateOne struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
}

// Hydrated is the answer with what was rebuilt.
type Hydrated struct {
	Body struct {
		Tournaments []HydratedOne `json:"tournaments" doc:"What was rebuilt."`
		Partly      bool          `json:"partly,omitempty" doc:"Whether the time was not enough: the same request goes on where this one has ended."`
	}
}

// HydratedOne is a leaderboard that was rebuilt.
type HydratedOne struct {
	_ struct{} `schema:"HydratedTournament"`

	TournamentID string `json:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Members      int    `json:"members" doc:"How many members it has."`
	Repaired     int64  `json:"repaired" doc:"Of how many members points, or those of a round, differed from the ledger's sum."`
}

// HydrateScoreboardsFunction rebuilds the leaderboards of all active tournaments.
func HydrateScoreboardsFunction() app.Function {
	return app.API(
		admin("hydrate-scoreboards", "Rebuilds the leaderboards of all active tournaments.",
			"Wrong leaderboards stay until the next settlement.", "POST", "/hydrate/scoreboard", nil),
		OpenAdmin, (*Admin).HydrateScoreboards, view.ErrNoTournament)
}

// HydrateScoreboards rebuilds the leaderboards of all active tournaments. A second run does the same, or
// goes on where the first one has ended.
func (s *Admin) HydrateScoreboards(ctx context.Context, _ *Hydrate) (*Hydrated, error) {
	all, err := pg.Values[string](ctx, s.DB, sql.ListActiveTournaments)
	if err != nil {
		return nil, err
	}

	return s.hydrate(ctx, all)
}

// HydrateScoreboardFunction rebuilds the leaderboard of a tournament.
func HydrateScoreboardFunction() app.Function {
	return app.API(
		admin("hydrate-scoreboard", "Rebuilds the leaderboard of a tournament.", "A wrong leaderboard stays until the next settlement.", "POST",
			"/hydrate/scoreboard/{tournamentId}", nil),
		OpenAdmin, (*Admin).HydrateScoreboard, view.ErrNoTournament)
}

// HydrateScoreboard rebuilds the leaderboard of a tournament. A second run does the same, or goes on where
// the first one has ended. Errors: tournament_not_found.
func (s *Admin) HydrateScoreboard(ctx context.Context, in *HydrateOne) (*Hydrated, error) {
	_, ok, err := pg.Value[bool](ctx, s.DB, sql.TournamentExists, in.TournamentID)
	if err == nil && !ok {
		err = view.ErrNoTournament
	}

	if err != nil {
		return nil, err
	}

	return s.hydrate(ctx, []string{in.TournamentID})
}

// noMember is before all members.
const noMember = "00000000-0000-0000-0000-000000000000"

// hydrate rebuilds the leaderboards of tournaments, until the time is nearly over.
func (s *Admin) hydrate(ctx context.Context, tournaments []string) (*Hydrated, error) {
	out := &Hydrated{}
	out.Body.Tournaments = []HydratedOne{}

	for _, id := range tournaments {
		one, complete, err := s.rebuild(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("hydrate the tournament %s: %w", id, err)
		}

		out.Body.Tournaments = append(out.Body.Tournaments, one)

		if !complete {
			out.Body.Partly = true
			break
		}
	}

	return out, nil
}

// rebuild gives the members of a tournament the points of its ledger, in ranges, each in a transaction,
// and writes the projection of the leaderboard. It begins where a run has ended whose time was over.
// complete is false if the time is nearly over.
func (s *Admin) rebuild(ctx context.Context, tournamentID string) (one HydratedOne, complete bool, err error) {
	one.TournamentID = tournamentID

	after, found, err := pg.Value[string](ctx, s.DB, sql.GetRepair, tournamentID)
	if err != nil {
		return one, false, err
	}

	if !found {
		after = noMember
	}

	for !AtEnd(ctx) && !complete {
		last, more, err := pg.Value[string](ctx, s.DB, sql.FindRangeEnd, after, RangeSize)
		if err != nil {
			return one, false, err
		}

		if !more {
			complete = true
			break
		}

		repaired, err := s.repair(ctx, tournamentID, after, last)
		if err != nil {
			return one, false, err
		}

		one.Repaired += int64(repaired)
		after = last
	}

	statement, args := sql.EndRepair, []any{tournamentID}
	if !complete {
		statement, args = sql.PutRepair, []any{tournamentID, after}
	}

	if _, err := pg.Do(ctx, s.DB, statement, args...); err != nil {
		return one, false, err
	}

	if one.Members, _, err = pg.Value[int](ctx, s.DB, sql.CountMembers, tournamentID); err != nil {
		return one, false, err
	}

	if one.Repaired > 0 {
		slog.WarnContext(ctx, "a leaderboard differed from its ledger", "tournament", tournamentID, "members", one.Repaired)
	}

	return one, complete, s.RefreshLeaderboard(ctx, tournamentID)
}

// repair gives the members after one and up to another the points of the ledger, and returns the number
// of those that had others.
func (s *Admin) repair(ctx context.Context, tournamentID, after, last string) (repaired int, err error) {
	err = s.DB.Tx(ctx, func(tx pgx.Tx) error {
		if _, err := pg.Do(ctx, tx, sql.PrepareRepair); err != nil {
			return err
		}

		if _, _, err := pg.Value[bool](ctx, tx, sql.LockTournament, tournamentID); err != nil {
			return err
		}

		if repaired, _, err = pg.Value[int](ctx, tx, sql.RepairPoints, tournamentID, after, last); err != nil || repaired == 0 {
			return err
		}

		return RaiseLeaderboard(ctx, tx, tournamentID)
	})

	return repaired, err
}
