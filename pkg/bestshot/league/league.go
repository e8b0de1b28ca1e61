// Package league has private leagues: members compare their points in the tournaments that their
// league follows. A league has no rule of points of its own.
package league

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/limit"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

//go:embed league.sql
var file string

// sql are the statements of league.sql.
var sql = pg.MustParse[struct {
	LockMember, ListLeagues, CreateLeague, AddMember, CountWrongCodes, DeleteWrongCodes,
	AddWrongCode, LockLeagueByCode, CountMemberIn, CountTournaments, LockLeague, UnfollowTournaments,
	FollowTournaments, LockLeagueForDeletion, RemoveMember, CountMemberOut, AppointAdmin, DeleteEmptyLeague,
	SetName, SetCode, GetRole, SetRole, ListHistory string
}](file)

// Limits of leagues.
var (
	maxLeagues = spec.Limit{Name: "leagues per member", Max: 20, Code: "too_many_leagues"}
	maxMembers = spec.Limit{Name: "members per league", Max: 10_000, Code: "league_full"}
	maxCodes   = spec.Limit{Name: "wrong codes per member", Max: 10, Per: time.Hour, Code: "too_many_codes"}
	// maxJoins is counted first: the requests of one user wait for each other, and would take the
	// reserved concurrency of the function for all others.
	maxJoins = spec.Limit{Name: "requests to join per user", Max: 20 * reserved, Per: time.Minute, Code: "too_many_requests"}
)

// Errors of leagues.
var (
	errNoLeague = problem.New(problem.NotFound, "league_not_found", "there is no such league, or you are not in it")
	errNoCode   = problem.New(problem.NotFound, "code_not_found", "no league has this code")
	errNotAdmin = problem.New(problem.Denied, "not_league_admin", "only an administrator of the league may do this")
)

// Leagues is the service of leagues.
type Leagues struct {
	member.Store
	now   func() time.Time
	joins *limit.Local
}

// Open opens the service of leagues.
func Open(ctx context.Context, env app.Env) (*Leagues, error) {
	store, err := member.OpenStore(ctx, env)
	return &Leagues{store, env.Now, limit.NewLocal(reserved)}, err
}

// OpenReader opens the service of leagues for functions that only read.
func OpenReader(ctx context.Context, env app.Env) (*Leagues, error) {
	store, err := member.OpenReader(ctx, env)
	return &Leagues{Store: store}, err
}

// League is a league as its members see it.
type League struct {
	ID      string `json:"id" db:"id" format:"uuid" doc:"The id of the league."`
	Name    string `json:"name" db:"name" doc:"The name of the league."`
	Code    string `json:"code" db:"code" example:"7Q2MZ0KD" doc:"The invitation code. Anyone who has it can join."`
	Role    string `json:"role" db:"role" enum:"admin,member" doc:"What the caller is in it."`
	Members int    `json:"members" db:"members" doc:"How many members it has."`

	Tournaments []string `json:"tournaments" db:"tournaments" nullable:"false" format:"uuid" doc:"The ids of the tournaments that it follows."`
}

// Page is the answer with a league.
type Page struct {
	Status int
	Body   League
}

// find returns a league that a user is in. Errors: league_not_found.
func find(ctx context.Context, s pg.Session, userID, leagueID string) (League, error) {
	l, ok, err := pg.One[League](ctx, s, sql.ListLeagues, userID, leagueID)
	if err == nil && !ok {
		err = errNoLeague
	}

	return l, err
}

// CreateLeague is the request for a new league.
type CreateLeague struct {
	auth.User
	idem.Key
	Body struct {
		Name        string   `json:"name" format:"display-name" doc:"The name of the league." example:"Office"`
		Tournaments []string `json:"tournaments,omitempty" nullable:"false" format:"uuid" maxItems:"20" uniqueItems:"true" doc:"The ids of the tournaments that the league follows; none if absent."`
	}
}

// lockMember locks a user's member until the transaction ends, so that two requests at once cannot
// exceed a limit. It returns the id of the member, and the number of leagues. Errors:
// member_not_found.
func lockMember(ctx context.Context, tx pgx.Tx, userID string) (id string, leagues int, err error) {
	r, ok, err := pg.One[struct {
		ID      string `db:"id"`
		Leagues int    `db:"leagues"`
	}](ctx, tx, sql.LockMember, userID)
	if err == nil && !ok {
		err = member.ErrNoMember
	}

	return r.ID, r.Leagues, err
}

// CreateLeagueFunction creates a league of the caller.
func CreateLeagueFunction() app.Function {
	return app.API(
		own("create-league", "Creates a league of the caller.", "Nobody can create a league.", "POST", "", checked,
			[]spec.Limit{maxLeagues}, 201),
		Open, (*Leagues).CreateLeague, errNoLeague, idem.ErrConflict, member.ErrNoMember, view.ErrNoTournament)
}

// CreateLeague creates a league with the caller as its administrator. A second run creates another
// league, unless it has the same Idempotency-Key. Errors: account_deleted, too_many_leagues,
// member_not_found, tournament_not_found, idempotency_conflict.
func (s *Leagues) CreateLeague(ctx context.Context, in *CreateLeague) (*Page, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	var l League

	err := s.DB.Tx(ctx, func(tx pgx.Tx) error {
		me, leagues, err := lockMember(ctx, tx, in.UserID)
		if err != nil {
			return err
		}

		l, err = member.Once(ctx, tx, "create-league", me, in, func() (League, error) {
			if leagues >= maxLeagues.Max {
				return League{}, problem.Beyond(maxLeagues)
			}

			return create(ctx, tx, in.UserID, me, in.Body.Name, in.Body.Tournaments)
		})

		return err
	})
	if err != nil {
		return nil, err
	}

	return &Page{http.StatusCreated, l}, nil
}

// create creates a league of a user, whose member has the id me. Errors: tournament_not_found.
func create(ctx context.Context, tx pgx.Tx, userID, me, name string, tournaments []string) (l League, err error) {
	if err := checkTournaments(ctx, tx, tournaments); err != nil {
		return l, err
	}

	var id string

	for ok := false; !ok; { // until the code is not taken
		if id, ok, err = pg.Value[string](ctx, tx, sql.CreateLeague, name, code.New()); err != nil {
			return l, err
		}
	}

	if _, err := pg.Do(ctx, tx, sql.AddMember, id, me, "admin"); err != nil {
		return l, err
	}

	if _, err := pg.Do(ctx, tx, sql.FollowTournaments, id, tournaments); err != nil {
		return l, err
	}

	return find(ctx, tx, userID, id)
}

// checkTournaments returns tournament_not_found, with the field of the body, unless all tournaments exist.
func checkTournaments(ctx context.Context, tx pgx.Tx, ids []string) error {
	known, _, err := pg.Value[int](ctx, tx, sql.CountTournaments, ids)
	if err == nil && known < len(ids) {
		err = view.ErrNoTournament.In("body.tournaments")
	}

	return err
}

// page answers with a league that a user is in. Errors: league_not_found.
func (s *Leagues) page(ctx context.Context, status int, userID, id string) (*Page, error) {
	l, err := find(ctx, s.DB, userID, id)
	if err != nil {
		return nil, err
	}

	return &Page{status, l}, nil
}

// ListLeagues is the request for the caller's leagues.
type ListLeagues struct{ auth.User }

// LeagueList is the answer with leagues.
type LeagueList struct {
	Body struct {
		Data []League `json:"data" doc:"In the order of their names."`
	}
}

// ListLeaguesFunction returns the caller's leagues.
func ListLeaguesFunction() app.Function {
	return app.API(
		read("list-leagues", "Returns the caller's leagues.", "Members do not see their leagues.", ""),
		OpenReader, (*Leagues).ListLeagues)
}

// ListLeagues returns the caller's leagues, by name.
func (s *Leagues) ListLeagues(ctx context.Context, in *ListLeagues) (*LeagueList, error) {
	all, err := pg.All[League](ctx, s.DB, sql.ListLeagues, in.UserID, "")
	if err != nil {
		return nil, err
	}

	out := &LeagueList{}
	out.Body.Data = append([]League{}, all...)

	return out, nil
}

// ByID is the part of a request that names a league.
type ByID struct {
	auth.User
	LeagueID string `path:"leagueId" format:"uuid" doc:"The id of the league."`
}

// GetLeague is the request for a league.
type GetLeague struct{ ByID }

// GetLeagueFunction returns a league of the caller.
func GetLeagueFunction() app.Function {
	return app.API(
		read("get-league", "Returns a league of the caller.", "Members do not see a league.", "/{leagueId}"),
		OpenReader, (*Leagues).GetLeague, errNoLeague)
}

// GetLeague returns a league that the caller is in. Errors: league_not_found.
func (s *Leagues) GetLeague(ctx context.Context, in *GetLeague) (*Page, error) {
	return s.page(ctx, http.StatusOK, in.UserID, in.LeagueID)
}

// JoinLeague is the request to join a league.
type JoinLeague struct {
	auth.User
	Body struct {
		Code string `json:"code" minLength:"1" maxLength:"20" pattern:"^[0-9A-Za-z -]+$" doc:"The invitation code. Case, spaces and hyphens do not matter." example:"7Q2MZ0KD"`
	}
}

// JoinLeagueFunction makes the caller a member of a league.
func JoinLeagueFunction() app.Function {
	return app.API(
		own("join-league", "Makes the caller a member of the league with a code.", "Nobody can join a league.", "POST", "/invitation", checked,
			[]spec.Limit{maxLeagues, maxMembers, maxCodes, maxJoins}),
		Open, (*Leagues).JoinLeague, errNoCode, errNoLeague, member.ErrNoMember)
}

// JoinLeague makes the caller a member of the league with a code. A second run changes nothing.
// Errors: too_many_requests, account_deleted, code_not_found, too_many_codes after ten wrong codes in an
// hour, too_many_leagues, league_full, member_not_found.
func (s *Leagues) JoinLeague(ctx context.Context, in *JoinLeague) (*Page, error) {
	if err := s.joins.Take(maxJoins, in.UserID, s.now()); err != nil {
		return nil, err
	}

	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	var (
		id    string
		found bool
	)

	err := s.DB.Tx(ctx, func(tx pgx.Tx) error {
		me, leagues, err := lockMember(ctx, tx, in.UserID)
		if err != nil {
			return err
		}

		wrong, _, err := pg.Value[int](ctx, tx, sql.CountWrongCodes, me, maxCodes.Per.Seconds())
		if err != nil {
			return err
		}

		if wrong >= maxCodes.Max {
			return problem.Beyond(maxCodes)
		}

		l, ok, err := pg.One[struct {
			ID      string `db:"id"`
			Members int    `db:"members"`
			Inside  bool   `db:"inside"`
		}](ctx, tx, sql.LockLeagueByCode, code.Read(in.Body.Code), me)

		id, found = l.ID, ok

		switch {
		case err != nil:
			return err
		case !ok:
			return addWrongCode(ctx, tx, me) // the refusal follows the commit
		case l.Inside:
			return nil
		case leagues >= maxLeagues.Max:
			return problem.Beyond(maxLeagues)
		case l.Members >= maxMembers.Max:
			return problem.Beyond(maxMembers)
		}

		if _, err := pg.Do(ctx, tx, sql.AddMember, id, me, "member"); err != nil {
			return err
		}

		_, err = pg.Do(ctx, tx, sql.CountMemberIn, id)

		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, errNoCode.In("body.code")
	}

	return s.page(ctx, http.StatusOK, in.UserID, id)
}

// addWrongCode counts a wrong code of a member, and deletes those that count no more.
func addWrongCode(ctx context.Context, tx pgx.Tx, memberID string) error {
	if _, err := pg.Do(ctx, tx, sql.DeleteWrongCodes, memberID, maxCodes.Per.Seconds()); err != nil {
		return err
	}

	_, err := pg.Do(ctx, tx, sql.AddWrongCode, memberID)

	return err
}

// PatchTournaments is the request to change the tournaments that a league follows.
type PatchTournaments struct {
	ByID
	Body struct {
		Tournaments []string `json:"tournaments" nullable:"false" format:"uuid" maxItems:"20" uniqueItems:"true" doc:"The ids of all tournaments that the league follows."`
	}
}

// PatchTournamentsFunction changes the tournaments that a league follows.
func PatchTournamentsFunction() app.Function {
	return app.API(
		own("patch-tournaments", "Changes the tournaments that a league follows.", "A league follows the tournaments of before.", "PATCH",
			"/{leagueId}/tournaments", checked, nil),
		Open, (*Leagues).PatchTournaments, errNoLeague, errNotAdmin, view.ErrNoTournament)
}

// PatchTournaments replaces the tournaments that a league follows. A second run changes nothing.
// Errors: account_deleted, league_not_found, not_league_admin, tournament_not_found.
func (s *Leagues) PatchTournaments(ctx context.Context, in *PatchTournaments) (*Page, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	err := s.DB.Tx(ctx, func(tx pgx.Tx) error {
		l, err := find(ctx, tx, in.UserID, in.LeagueID)
		switch {
		case err != nil:
			return err
		case l.Role != "admin":
			return errNotAdmin
		}

		if err := checkTournaments(ctx, tx, in.Body.Tournaments); err != nil {
			return err
		}

		_, ok, err := pg.Value[bool](ctx, tx, sql.LockLeague, in.LeagueID)
		if err == nil && !ok { // it was deleted after find
			err = errNoLeague
		}

		if err != nil {
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.UnfollowTournaments, in.LeagueID, in.Body.Tournaments); err != nil {
			return err
		}

		_, err = pg.Do(ctx, tx, sql.FollowTournaments, in.LeagueID, in.Body.Tournaments)

		return err
	})
	if err != nil {
		return nil, err
	}

	return s.page(ctx, http.StatusOK, in.UserID, in.LeagueID)
}

// LeaveLeague is the request to leave a league.
type LeaveLeague struct{ ByID }

// LeaveLeagueFunction ends the caller's membership in a league.
func LeaveLeagueFunction() app.Function {
	return app.API(
		own("leave-league", "Ends the caller's membership in a league.", "Nobody can leave a league.", "DELETE",
			"/{leagueId}/membership", nil, nil),
		Open, (*Leagues).LeaveLeague)
}

// LeaveLeague ends the caller's membership: see Leave. A second run changes nothing.
func (s *Leagues) LeaveLeague(ctx context.Context, in *LeaveLeague) (*httpapi.Removed, error) {
	err := s.DB.Tx(ctx, func(tx pgx.Tx) error {
		id, ok, err := member.Find(ctx, tx, in.UserID)
		if err != nil || !ok {
			return err
		}

		return Leave(ctx, tx, in.LeagueID, id)
	})
	if err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

// Leave ends the membership of a member in a league. If the league has no other administrator, the
// member who has been in it longest becomes one. A league without members is deleted.
func Leave(ctx context.Context, tx pgx.Tx, leagueID, memberID string) error {
	if _, _, err := pg.Value[bool](ctx, tx, sql.LockLeagueForDeletion, leagueID); err != nil {
		return err
	}

	n, err := pg.Do(ctx, tx, sql.RemoveMember, leagueID, memberID)
	if err != nil || n == 0 {
		return err
	}

	for _, statement := range []string{sql.CountMemberOut, sql.AppointAdmin, sql.DeleteEmptyLeague} {
		if _, err := pg.Do(ctx, tx, statement, leagueID); err != nil {
			return err
		}
	}

	return nil
}

// GetScore is the request for a page of the table of a league.
type GetScore struct {
	ByID
	view.Paging
	TournamentID string `query:"tournament" format:"uuid" doc:"The id of a tournament: the table sums its points alone."`
	Round        string `query:"round" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The slug of a round of the tournament: the table sums its points alone." example:"5"`
	Live         bool   `query:"live" doc:"Whether the points of the matches in play are in the table, as if they ended now. It is marked as provisional, and at most 30 s older than the scores that the matches show."`
	Final        bool   `query:"final" doc:"Whether the table is the final one of a tournament in the history of the league: with the members of the time when it ended."`
}

// Tables is the service of the tables of leagues.
type Tables struct{ view.Views }

// OpenTables opens the service of the tables of leagues.
func OpenTables(ctx context.Context, env app.Env) (*Tables, error) {
	v, err := view.Open(ctx, env)
	return &Tables{v}, err
}

// GetScoreFunction returns a page of the table of a league.
func GetScoreFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/get-league-score",
		Does:   "Returns a page of the table of a league.",
		IfDown: "Members do not see the tables of their leagues.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/leagues/{leagueId}/score", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 8,
	}, OpenTables, (*Tables).GetScore, errNoLeague, member.ErrNoMember, httpapi.ErrBadCursor)
}

// GetScore returns a page of the table of a league that the caller is in, or with around the page that
// has the caller. With live it is provisional. Errors: league_not_found, bad_cursor.
func (s *Tables) GetScore(ctx context.Context, in *GetScore) (*view.Leaderboard, error) {
	if in.Round != "" && in.TournamentID == "" {
		return nil, problem.In("query.tournament", "expected the tournament of the round")
	}

	l, err := find(ctx, s.DB, in.UserID, in.LeagueID)
	if err != nil {
		return nil, err
	}

	in.TournamentID = strings.ToLower(in.TournamentID)
	if in.Final {
		err = s.checkFinal(ctx, in)
	} else if in.TournamentID != "" && !slices.Contains(l.Tournaments, in.TournamentID) {
		err = problem.In("query.tournament", "expected a tournament that the league follows")
	}

	if err != nil {
		return nil, err
	}

	t := view.Table{LeagueID: in.LeagueID, TournamentID: in.TournamentID, Round: in.Round, Live: in.Live, Final: in.Final}
	if in.Around == "" {
		out, err := s.LeagueTable(ctx, t, in.Cursor)
		return out, unknownRound(err)
	}

	id, err := member.ID(ctx, s.DB, in.UserID)
	if err != nil {
		return nil, err
	}

	out, err := s.LeagueTableAround(ctx, t, id)

	return out, unknownRound(err)
}

// unknownRound names the parameter if the tournament has no such round.
func unknownRound(err error) error {
	if errors.Is(err, view.ErrNoRound) {
		return problem.In("query.round", "expected a round of the tournament")
	}

	return err
}
