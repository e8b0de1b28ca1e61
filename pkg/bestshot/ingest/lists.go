package ingest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
)

// ListAllTournaments is the request of an administrator for tournaments.
type ListAllTournaments struct {
	auth.Admin
	Status string `query:"status" enum:"upcoming,active,completed,cancelled" doc:"Only those with the status."`
	Cursor string `query:"cursor" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The next of the page before."`
}

// TournamentSource is a tournament with its ids.
type TournamentSource struct {
	ID           string  `json:"id" db:"id" format:"uuid" doc:"The id of the tournament."`
	Slug         string  `json:"slug" db:"slug" doc:"Its name in addresses."`
	Label        string  `json:"label" db:"label" doc:"Its name."`
	Status       string  `json:"status" db:"status" enum:"upcoming,active,completed,cancelled" doc:"Where it is."`
	Provider     string  `json:"provider" db:"provider" doc:"Who has its data."`
	ExternalID   string  `json:"externalId" db:"external_id" doc:"The provider's id of the tournament."`
	Season       string  `json:"season" db:"season" doc:"The provider's id of the season."`
	CurrentRound *string `json:"currentRound" db:"current_round" doc:"The slug of the last round of which a match has earned points; null before."`
}

// TournamentSources is the answer with tournaments.
type TournamentSources struct {
	Body struct {
		Data []TournamentSource `json:"data" doc:"In the order of their slugs, 100 a page."`
		Next string             `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// ListAllTournamentsFunction returns the tournaments with the ids of their providers.
func ListAllTournamentsFunction() app.Function {
	return app.API(
		admin("list-all-tournaments", "Returns the tournaments with the ids of their providers.",
			"Administrators do not find the ids of tournaments.", "GET", "/tournaments", nil),
		OpenAdmin, (*Admin).ListAllTournaments)
}

// ListAllTournaments returns a page of the tournaments, by slug. A page is a range of an index for each
// status, so its cost does not depend on the number of tournaments.
func (s *Admin) ListAllTournaments(ctx context.Context, in *ListAllTournaments) (*TournamentSources, error) {
	statuses := []string{"upcoming", "active", "completed", "cancelled"}
	if in.Status != "" {
		statuses = []string{in.Status}
	}

	all, err := pg.All[TournamentSource](ctx, s.db, sql.ListAllTournaments, statuses, in.Cursor, view.PageSize+1)
	if err != nil {
		return nil, err
	}

	out := &TournamentSources{}
	out.Body.Data, out.Body.Next = view.Cut(all, func(t TournamentSource) string { return t.Slug })

	return out, nil
}

// ListAllMatches is the request of an administrator for the matches of a tournament.
type ListAllMatches struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Status       string `query:"status" enum:"open,ended,not-defined,void" doc:"Only those with the status."`
	Round        string `query:"round" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"Only those of the round with this slug." example:"round-1"`
	Cursor       string `query:"cursor" maxLength:"80" doc:"The next of the page before."`
}

// MatchSource is a match with its ids, and with what was done to it.
type MatchSource struct {
	ID               string     `json:"id" db:"id" format:"uuid" doc:"The id of the match."`
	Round            string     `json:"roundSlug" db:"round_slug" doc:"The slug of its round."`
	Provider         string     `json:"provider" db:"provider" doc:"Who has its data."`
	ExternalID       string     `json:"externalId" db:"external_id" doc:"The provider's id of the match."`
	Status           string     `json:"status" db:"status" enum:"open,ended,not-defined,void" doc:"Where it is. Members see a void match as not-defined."`
	ProviderStatus   string     `json:"providerStatus" db:"provider_status" doc:"The status as the provider says it; corrected or reopened after an administrator has decided."`
	HomeID           string     `json:"homeId" db:"home_id" format:"uuid" doc:"The id of the home team."`
	HomeName         string     `json:"homeName" db:"home_name" doc:"The name of the home team."`
	Home             *int       `json:"home" db:"home_score" doc:"Its goals; null before the match."`
	AwayID           string     `json:"awayId" db:"away_id" format:"uuid" doc:"The id of the away team."`
	AwayName         string     `json:"awayName" db:"away_name" doc:"The name of the away team."`
	Away             *int       `json:"away" db:"away_score" doc:"Its goals; null before the match."`
	KickOff          time.Time  `json:"kickOff" db:"date" doc:"The kick-off."`
	KickOffCorrected bool       `json:"kickOffCorrected" db:"kick_off_corrected" doc:"Whether an administrator has set the kick-off: the provider does not change it."`
	BeganAt          *time.Time `json:"beganAt" db:"began_at" doc:"When play began by all that is known: guesses count that were stored before. Null while it has not begun, or if its kick-off is all that is known."`
	FinishedAt       *time.Time `json:"finishedAt" db:"finished_at" doc:"When it ended, also if it became void later; null before."`
	SettledVersion   int        `json:"settledVersion" db:"settled_version" doc:"The version of its latest settlement; 0 if there is none."`
	Pending          bool       `json:"pending" db:"pending" doc:"Whether it is to be settled."`
	Corrected        bool       `json:"corrected" db:"corrected" doc:"Whether its result is that of an administrator: the provider does not change it."`
	CorrectedBy      *string    `json:"correctedBy" db:"corrected_by" doc:"The user id of the administrator who has changed it last; null if none has."`
}

// MatchSources is the answer with matches.
type MatchSources struct {
	Body struct {
		Data []MatchSource `json:"data" doc:"In the order of their kick-offs, 100 a page."`
		Next string        `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// ListAllMatchesFunction returns the matches of a tournament with their ids.
func ListAllMatchesFunction() app.Function {
	return app.API(
		admin("list-all-matches", "Returns the matches of a tournament with their ids, and with what was done to them.",
			"Administrators do not find the ids of matches.", "GET", "/tournaments/{tournamentId}/matches", nil),
		OpenAdmin, (*Admin).ListAllMatches, view.ErrNoTournament, httpapi.ErrBadCursor)
}

// ListAllMatches returns a page of the matches of a tournament, by kick-off. A page is a range of an index;
// with a filter it reads on for matches of the same tournament, never of others. Errors:
// tournament_not_found, bad_cursor.
func (s *Admin) ListAllMatches(ctx context.Context, in *ListAllMatches) (*MatchSources, error) {
	date, id, err := parseKickOff(in.Cursor)
	if err != nil {
		return nil, err
	}

	all, err := pg.All[MatchSource](ctx, s.db, sql.ListAllMatches, in.TournamentID, in.Status, in.Round, date, id, view.PageSize+1)
	if err != nil {
		return nil, err
	}

	if len(all) == 0 {
		if err := s.find(ctx, in.TournamentID); err != nil {
			return nil, err
		}
	}

	for i := range all {
		all[i].inUTC()
	}

	out := &MatchSources{}
	out.Body.Data, out.Body.Next = view.Cut(all, func(m MatchSource) string { return fmt.Sprintf("%d_%s", m.KickOff.UnixMicro(), m.ID) })

	return out, nil
}

// find returns an error if there is no such tournament. Errors: tournament_not_found.
func (s *Admin) find(ctx context.Context, tournamentID string) error {
	_, ok, err := pg.Value[bool](ctx, s.db, sql.TournamentExists, tournamentID)
	if err == nil && !ok {
		err = view.ErrNoTournament
	}

	return err
}

// inUTC gives the times of a match the zone UTC.
func (m *MatchSource) inUTC() {
	m.KickOff = m.KickOff.UTC()

	for _, at := range []**time.Time{&m.BeganAt, &m.FinishedAt} {
		if *at != nil {
			utc := (*at).UTC()
			*at = &utc
		}
	}
}

// parseKickOff reads a cursor of matches: the place before the page, which for "" is before all matches.
// Errors: bad_cursor.
func parseKickOff(cursor string) (date time.Time, id string, err error) {
	if cursor == "" {
		return time.Time{}, "00000000-0000-0000-0000-000000000000", nil
	}

	at, id, _ := strings.Cut(cursor, "_")

	micros, err := strconv.ParseInt(at, 10, 54)
	if err != nil || !view.IsID(id) {
		return time.Time{}, "", httpapi.ErrBadCursor
	}

	return time.UnixMicro(micros).UTC(), id, nil
}
