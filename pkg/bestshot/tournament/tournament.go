// Package tournament answers what members read: tournaments, rounds, matches, standings, teams,
// leaderboards and the matches of a day.
package tournament

import (
	"context"
	_ "embed"
	"time"

	"matchday/pkg/bestshot/asset"
	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/score"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
)

//go:embed tournament.sql
var file string

// sql are the statements of tournament.sql.
var sql = pg.MustParse[struct {
	ListTournaments, GetTournament, ListRounds, ListWinners, ListTeams, ListMatchesOfDay, GetNextDeadline string
}](file)

// Tournaments is the service of tournaments.
type Tournaments struct {
	view.Views
	now func() time.Time
}

// Open opens the service of tournaments.
func Open(ctx context.Context, env app.Env) (*Tournaments, error) {
	v, err := view.Open(ctx, env)
	return &Tournaments{v, env.Now}, err
}

// Tournament is a tournament.
type Tournament struct {
	ID           string     `json:"id" format:"uuid" doc:"The id of the tournament."`
	Slug         string     `json:"slug" doc:"Its name in addresses."`
	Label        string     `json:"label" doc:"Its name."`
	Season       string     `json:"season" doc:"The season, as the provider calls it."`
	Status       string     `json:"status" enum:"upcoming,active,completed,cancelled" doc:"Where it is."`
	CurrentRound *string    `json:"currentRound" doc:"The slug of the last round of which a match has earned points; null before."`
	Logo         *string    `json:"logo" doc:"The path of its logo below the address of the API; null while there is none."`
	Rule         score.Rule `json:"rule" doc:"What the parts of a guess earn. They add up, and a round may multiply them. Extra time counts, penalties never do."`
}

type row struct {
	ID           string  `db:"id"`
	Slug         string  `db:"slug"`
	Label        string  `db:"label"`
	Season       string  `db:"season"`
	Status       string  `db:"status"`
	CurrentRound *string `db:"current_round"`
	Logo         *string `db:"logo"`
	score.Rule
}

// tournament returns the tournament as the API answers it.
func (r row) tournament() Tournament {
	return Tournament{r.ID, r.Slug, r.Label, r.Season, r.Status, r.CurrentRound, asset.Path(r.Logo), r.Rule.WithName()}
}

// ListTournaments is the request for tournaments.
type ListTournaments struct {
	auth.User
	Status string `query:"status" enum:"upcoming,active,completed,cancelled" doc:"Only those with the status."`
	Cursor string `query:"cursor" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The next of the page before."`
}

// TournamentList is the answer with tournaments.
type TournamentList struct {
	Body struct {
		Data []Tournament `json:"data" doc:"In the order of their slugs, 100 a page."`
		Next string       `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// ListTournamentsFunction returns the tournaments.
func ListTournamentsFunction() app.Function {
	return app.API(
		reader("list-tournaments", "Returns the tournaments.", "Members find no tournament.",
			"/tournaments", 8),
		Open, (*Tournaments).ListTournaments)
}

// ListTournaments returns a page of the tournaments, by slug.
func (s *Tournaments) ListTournaments(ctx context.Context, in *ListTournaments) (*TournamentList, error) {
	all, err := pg.All[row](ctx, s.DB, sql.ListTournaments, in.Status, in.Cursor, view.PageSize+1)
	if err != nil {
		return nil, err
	}

	out := &TournamentList{}
	all, out.Body.Next = view.Cut(all, func(r row) string { return r.Slug })

	out.Body.Data = make([]Tournament, len(all))
	for i, r := range all {
		out.Body.Data[i] = r.tournament()
	}

	return out, nil
}

// ByID is the part of a request that names a tournament.
type ByID struct {
	auth.User
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
}

// GetTournament is the request for a tournament.
type GetTournament struct{ ByID }

// Page is the answer with a tournament.
type Page struct {
	Body Tournament
}

// GetTournamentFunction returns a tournament.
func GetTournamentFunction() app.Function {
	return app.API(
		reader("get-tournament", "Returns a tournament with its rule.", "Members do not see what a guess earns.",
			"/tournaments/{tournamentId}", 8),
		Open, (*Tournaments).GetTournament, view.ErrNoTournament)
}

// GetTournament returns a tournament. Errors: tournament_not_found.
func (s *Tournaments) GetTournament(ctx context.Context, in *GetTournament) (*Page, error) {
	r, ok, err := pg.One[row](ctx, s.DB, sql.GetTournament, in.TournamentID)
	if err == nil && !ok {
		err = view.ErrNoTournament
	}

	if err != nil {
		return nil, err
	}

	return &Page{r.tournament()}, nil
}

// ListRounds is the request for the rounds of a tournament.
type ListRounds struct{ ByID }

// Round is a round of a tournament.
type Round struct {
	Slug       string  `json:"slug" db:"slug" doc:"The name of the round in addresses."`
	Label      string  `json:"label" db:"label" doc:"The name of the round."`
	Type       string  `json:"type" db:"type" enum:"season,knockout" doc:"What kind of round it is."`
	Multiplier int     `json:"multiplier" db:"multiplier" doc:"What the points of its matches are multiplied by."`
	Winners    []Score `json:"winners" db:"-" doc:"Who has the most points in the round, at most ten, in the order of their ids; empty until a match has earned points."`
}

// Score is the points of a member in a round.
type Score struct {
	_ struct{} `schema:"MemberPoints"`

	Round    string `json:"-" db:"round_slug"`
	MemberID string `json:"memberId" db:"member_id" format:"uuid" doc:"The id of the member."`
	NickName string `json:"nickName" db:"nick_name" doc:"The name of the member."`
	Points   int    `json:"points" db:"points" doc:"The points in the round."`
}

// Rounds is the answer with rounds.
type Rounds struct {
	Body struct {
		Data []Round `json:"data" doc:"In the order in which they are played."`
	}
}

// ListRoundsFunction returns the rounds of a tournament.
func ListRoundsFunction() app.Function {
	return app.API(
		reader("list-rounds", "Returns the rounds of a tournament with their winners.", "Members find no round.",
			"/tournaments/{tournamentId}/rounds", 8),
		Open, (*Tournaments).ListRounds, view.ErrNoTournament)
}

// ListRounds returns the rounds of a tournament with their winners. Errors: tournament_not_found.
func (s *Tournaments) ListRounds(ctx context.Context, in *ListRounds) (*Rounds, error) {
	all, err := pg.All[Round](ctx, s.DB, sql.ListRounds, in.TournamentID)
	if err != nil {
		return nil, err
	}

	if len(all) == 0 {
		if _, err := s.GetTournament(ctx, &GetTournament{in.ByID}); err != nil {
			return nil, err
		}
	}

	winners, err := pg.All[Score](ctx, s.DB, sql.ListWinners, in.TournamentID)
	if err != nil {
		return nil, err
	}

	byRound := map[string][]Score{}
	for _, w := range winners {
		byRound[w.Round] = append(byRound[w.Round], w)
	}

	out := &Rounds{}

	out.Body.Data = make([]Round, len(all))
	for i, r := range all {
		r.Winners = append([]Score{}, byRound[r.Slug]...)
		out.Body.Data[i] = r
	}

	return out, nil
}

// ListMatches is the request for the matches of a round.
type ListMatches struct {
	ByID
	Round string `path:"roundSlug" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The slug of the round." example:"5"`
}

// Matches is the answer with matches.
type Matches struct {
	Body struct {
		Data []view.Match `json:"data" doc:"In the order of their kick-offs."`
	}
}

// ListMatchesFunction returns the matches of a round.
func ListMatchesFunction() app.Function {
	return app.API(
		reader("list-matches", "Returns the matches of a round.", "Members see no matches.",
			"/tournaments/{tournamentId}/matches/{roundSlug}", 12),
		Open, (*Tournaments).ListMatches, view.ErrNoRound)
}

// ListMatches returns the matches of a round. Errors: round_not_found.
func (s *Tournaments) ListMatches(ctx context.Context, in *ListMatches) (*Matches, error) {
	all, err := s.Matches(ctx, in.TournamentID, in.Round)
	if err != nil {
		return nil, err
	}

	out := &Matches{}
	out.Body.Data = all

	return out, nil
}

// ListStandings is the request for the standings.
type ListStandings struct{ ByID }

// Standings is the answer with standings.
type Standings struct {
	Body struct {
		Data []view.Standing `json:"data" doc:"By group and position."`
	}
}

// ListStandingsFunction returns the standings of a tournament.
func ListStandingsFunction() app.Function {
	return app.API(
		reader("list-standings", "Returns the standings of a tournament.", "Members see no standings.",
			"/tournaments/{tournamentId}/standings", 8),
		Open, (*Tournaments).ListStandings, view.ErrNoTournament)
}

// ListStandings returns the standings. Errors: tournament_not_found.
func (s *Tournaments) ListStandings(ctx context.Context, in *ListStandings) (*Standings, error) {
	all, err := s.Standings(ctx, in.TournamentID)
	if err != nil {
		return nil, err
	}

	out := &Standings{}
	out.Body.Data = all

	return out, nil
}

// ListTeams is the request for the teams of a tournament.
type ListTeams struct{ ByID }

// Team is a team of a tournament.
type Team struct {
	ID    string  `json:"id" db:"id" format:"uuid" doc:"The id of the team."`
	Name  string  `json:"name" db:"name" doc:"The name of the team."`
	Badge *string `json:"badge" db:"badge" doc:"The path of its badge below the address of the API; null while there is none."`
}

// Teams is the answer with teams.
type Teams struct {
	Body struct {
		Data []Team `json:"data" doc:"Those with a match or a place in the standings, in the order of their names."`
	}
}

// ListTeamsFunction returns the teams of a tournament.
func ListTeamsFunction() app.Function {
	return app.API(
		reader("list-teams", "Returns the teams of a tournament with their badges.", "Members see no badges.",
			"/tournaments/{tournamentId}/teams", 8),
		Open, (*Tournaments).ListTeams, view.ErrNoTournament)
}

// ListTeams returns the teams of a tournament. Errors: tournament_not_found.
func (s *Tournaments) ListTeams(ctx context.Context, in *ListTeams) (*Teams, error) {
	all, err := pg.All[Team](ctx, s.DB, sql.ListTeams, in.TournamentID)
	if err != nil {
		return nil, err
	}

	if len(all) == 0 {
		if _, err := s.GetTournament(ctx, &GetTournament{in.ByID}); err != nil {
			return nil, err
		}
	}

	out := &Teams{}

	out.Body.Data = make([]Team, len(all))
	for i, t := range all {
		out.Body.Data[i] = Team{t.ID, t.Name, asset.Path(t.Badge)}
	}

	return out, nil
}

// ListLeaderboard is the request for a page of the leaderboard.
type ListLeaderboard struct {
	ByID
	view.Paging
}

// ListLeaderboardFunction returns a page of the leaderboard.
func ListLeaderboardFunction() app.Function {
	return app.API(
		reader("list-leaderboard", "Returns a page of the leaderboard.", "Members see no leaderboard.",
			"/tournaments/{tournamentId}/leaderboard", 12),
		Open, (*Tournaments).ListLeaderboard, view.ErrNoTournament, member.ErrNoMember, httpapi.ErrBadCursor)
}

// ListLeaderboard returns a page of the leaderboard: the members with a settled guess. With around it
// is the page around the caller, with the caller's place in meta.me. Its cost does not depend on the
// number of members. Errors: tournament_not_found, bad_cursor.
func (s *Tournaments) ListLeaderboard(ctx context.Context, in *ListLeaderboard) (*view.Leaderboard, error) {
	if in.Around == "" {
		return s.Leaderboard(ctx, in.TournamentID, in.Cursor)
	}

	id, err := member.ID(ctx, s.DB, in.UserID)
	if err != nil {
		return nil, err
	}

	return s.LeaderboardAround(ctx, in.TournamentID, id)
}
