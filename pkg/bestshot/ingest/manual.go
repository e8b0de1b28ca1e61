package ingest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/redis"
	"matchday/pkg/spec"
)

// maxRounds bounds the rounds of a manual tournament, maxEntered its matches.
const maxRounds = 100

var maxEntered = spec.Limit{Name: "matches per manual tournament", Max: 1000, Code: "too_many_matches"}

var errMatchExists = problem.New(problem.Conflict, "match_exists",
	"the round has a match of these teams with another kick-off: correct the kick-off of that match")

// NewRound is a round of a manual tournament.
type NewRound struct {
	Slug  string `json:"slug" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"Its name in addresses." example:"round-1"`
	Label string `json:"label" format:"display-name" maxLength:"60" doc:"Its name." example:"Round 1"`
	Type  string `json:"type,omitempty" enum:"season,knockout" default:"season" doc:"What kind of round it is."`
}

// checkRounds returns a problem unless a manual tournament has rounds, each once, and another has none.
func checkRounds(from provider.Name, rounds []NewRound) error {
	switch {
	case from != provider.Manual && len(rounds) > 0:
		return problem.In("body.rounds", "expected none: the provider has the rounds")
	case from == provider.Manual && len(rounds) == 0:
		return problem.In("body.rounds", "expected the rounds, in the order in which they are played")
	}

	seen := map[string]bool{}
	for _, r := range rounds {
		if seen[r.Slug] {
			return problem.In("body.rounds", "expected each slug once: %s", r.Slug)
		}

		seen[r.Slug] = true
	}

	return nil
}

// putRounds stores the rounds of a manual tournament, in their order. It deletes none.
func putRounds(ctx context.Context, tx pgx.Tx, tournamentID string, rounds []NewRound) error {
	if len(rounds) == 0 {
		return nil
	}

	if _, err := lockTournament(ctx, tx, tournamentID); err != nil {
		return err
	}

	var all pgx.Batch

	for i, r := range rounds {
		all.Queue(sql.AddRound, tournamentID, r.Slug, i+1, r.Label, r.Type, "")
		all.Queue(sql.UpdateRound, tournamentID, r.Slug, i+1, r.Label, "")
	}

	if err := tx.SendBatch(ctx, &all).Close(); err != nil {
		return err
	}

	known, err := pg.Values[string](ctx, tx, sql.ListRoundSlugs, tournamentID)
	if err == nil && len(known) > maxRounds {
		err = problem.In("body.rounds", "expected at most %d rounds in all: the tournament would have %d", maxRounds, len(known))
	}

	return err
}

// CreateMatch is the request of an administrator to enter a match.
type CreateMatch struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Round        string `path:"roundSlug" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The slug of the round." example:"round-1"`
	Body         struct {
		Home    string    `json:"home" format:"display-name" maxLength:"60" doc:"The name of the home team. Manual tournaments share teams by their names." example:"Rovers"`
		Away    string    `json:"away" format:"display-name" maxLength:"60" doc:"The name of the away team." example:"United"`
		KickOff time.Time `json:"kickOff" doc:"The kick-off, until which the match can be guessed." example:"2026-06-11T19:00:00Z"`
	}
}

// CreateMatchFunction enters a match of a manual tournament.
func CreateMatchFunction() app.Function {
	return app.API(
		editor("create-match", "Enters a match of a manual tournament.", "No match can be entered.", "POST",
			"/tournaments/{tournamentId}/rounds/{roundSlug}/matches", 201),
		Open, (*Ingester).CreateMatch,
		view.ErrNoTournament, view.ErrNoRound, settlement.ErrHasProvider, errMatchExists, redis.ErrAway)
}

// CreateMatch enters a match. A round has one match of two teams at the home of the first, so a second run
// gets the same id, and changes nothing but the copies in the cache. Errors: tournament_not_found,
// round_not_found, has_provider, match_exists, too_many_matches, Unavailable while the cache does not answer:
// the match may be entered then, and a second run ends what is left.
func (s *Ingester) CreateMatch(ctx context.Context, in *CreateMatch) (*Created, error) {
	if err := settlement.CheckKickOff(in.Body.KickOff); err != nil {
		return nil, err
	}

	if in.Body.Home == in.Body.Away {
		return nil, problem.In("body.away", "expected another team than the home team")
	}

	out := &Created{Status: http.StatusCreated}

	var stale staleKeys

	err := s.db.Tx(ctx, func(tx pgx.Tx) (err error) {
		stale = nil
		out.Body.ID, err = enterMatch(ctx, tx, in, &stale)

		return err
	})
	if err != nil {
		return nil, err
	}

	slog.InfoContext(ctx, "a match is entered by an administrator", "match", out.Body.ID, "by", in.UserID)

	for _, p := range stale {
		err = errors.Join(err, s.cache.Invalidate(ctx, p.key, p.version))
	}

	if err != nil {
		return nil, err
	}

	return out, nil
}

// enterMatch stores a match, unless it is stored, and returns its id.
func enterMatch(ctx context.Context, tx pgx.Tx, in *CreateMatch, stale *staleKeys) (id string, err error) {
	if _, err := lockTournament(ctx, tx, in.TournamentID); err != nil {
		return "", err
	}

	t, ok, err := pg.One[tournamentRow](ctx, tx, sql.GetTournament, in.TournamentID)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", view.ErrNoTournament
	case t.Provider != provider.Manual:
		return "", settlement.ErrHasProvider
	}

	version, ok, err := pg.Value[int64](ctx, tx, sql.GetRoundVersion, in.TournamentID, in.Round)
	if err == nil && !ok {
		err = view.ErrNoRound
	}

	if err != nil {
		return "", err
	}

	b := in.Body
	kickOff := b.KickOff.Truncate(time.Second)

	teams, err := storeTeams(ctx, tx, provider.Manual, []provider.Team{{ID: b.Home, Name: b.Home}, {ID: b.Away, Name: b.Away}}, stale)
	if err != nil {
		return "", err
	}

	key := strings.Join([]string{in.TournamentID, in.Round, teams[b.Home], teams[b.Away]}, "/")

	known, ok, err := pg.One[struct {
		ID   string    `db:"id"`
		Date time.Time `db:"date"`
	}](ctx, tx, sql.FindEnteredMatch, key)

	switch {
	case err != nil:
		return "", err
	case ok && !known.Date.Equal(kickOff):
		return "", errMatchExists
	case ok:
		stale.add(view.MatchesKey(in.TournamentID, in.Round), version)
		return known.ID, nil
	}

	n, _, err := pg.Value[int](ctx, tx, sql.CountMatches, in.TournamentID)
	if err == nil && n >= maxEntered.Max {
		err = problem.Beyond(maxEntered)
	}

	if err != nil {
		return "", err
	}

	id, _, err = pg.Value[string](ctx, tx, sql.EnterMatch,
		in.TournamentID, in.Round, key, kickOff, teams[b.Home], teams[b.Away], in.UserID)
	if err != nil {
		return "", err
	}

	version, _, err = pg.Value[int64](ctx, tx, sql.RaiseRound, in.TournamentID, in.Round)
	stale.add(view.MatchesKey(in.TournamentID, in.Round), version)

	return id, err
}
