package league

import (
	"context"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/member"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Errors of administrators.
var (
	errNotInside = problem.New(problem.NotFound, "member_not_found", "the league has no such member")
	errOneself   = problem.New(problem.Conflict, "cannot_remove_oneself",
		"an administrator leaves the league instead, which then has another one")
)

// administer returns a function for the administrator of a league.
func administer(name, does, ifDown, method, path string) spec.Function {
	f := own(name, does, ifDown, method, "/{leagueId}"+path, checked, nil)
	f.Reserved = 2

	return f
}

// lockAsAdmin locks the caller's member and then a league, until the transaction ends, and returns the id of
// the member. Every change of a role locks the league, so that of two requests at once the second finds what
// the first has left. Errors: member_not_found, league_not_found, not_league_admin.
func lockAsAdmin(ctx context.Context, tx pgx.Tx, userID, leagueID string) (me string, err error) {
	me, role, err := lockWithRole(ctx, tx, userID, leagueID)
	if err == nil && role != "admin" {
		err = errNotAdmin
	}

	return me, err
}

// lockWithRole is lockAsAdmin for any member of the league.
func lockWithRole(ctx context.Context, tx pgx.Tx, userID, leagueID string) (me, role string, err error) {
	if me, _, err = lockMember(ctx, tx, userID); err != nil {
		return "", "", err
	}

	if _, _, err := pg.Value[bool](ctx, tx, sql.LockLeague, leagueID); err != nil {
		return "", "", err
	}

	l, err := find(ctx, tx, userID, leagueID)

	return me, l.Role, err
}

// setCode gives a league a code that no league has.
func setCode(ctx context.Context, tx pgx.Tx, leagueID string) error {
	for {
		if n, err := pg.Do(ctx, tx, sql.SetCode, leagueID, code.New()); n > 0 || err != nil {
			return err
		}
	}
}

// RenameLeague is the request for another name of a league.
type RenameLeague struct {
	ByID
	Body struct {
		Name string `json:"name" format:"display-name" doc:"The name of the league." example:"Office"`
	}
}

// RenameLeagueFunction gives a league another name.
func RenameLeagueFunction() app.Function {
	return app.API(
		administer("rename-league", "Gives a league another name.", "Nobody can rename a league.", "PATCH", ""),
		Open, (*Leagues).RenameLeague, errNoLeague, errNotAdmin, member.ErrNoMember)
}

// RenameLeague gives a league of which the caller is the administrator another name. A second run changes
// nothing. Errors: account_deleted, league_not_found, not_league_admin, member_not_found.
func (s *Leagues) RenameLeague(ctx context.Context, in *RenameLeague) (*Page, error) {
	return s.change(ctx, in.ByID, func(tx pgx.Tx, _ string) error {
		_, err := pg.Do(ctx, tx, sql.SetName, in.LeagueID, in.Body.Name)
		return err
	})
}

// RenewCode is the request for a new invitation code.
type RenewCode struct{ ByID }

// RenewCodeFunction replaces the invitation code of a league.
func RenewCodeFunction() app.Function {
	return app.API(
		administer("renew-code", "Replaces the invitation code of a league.", "A code that strangers know goes on to work.", "POST", "/code"),
		Open, (*Leagues).RenewCode, errNoLeague, errNotAdmin, member.ErrNoMember)
}

// RenewCode replaces the invitation code of a league of which the caller is the administrator. Nobody joins
// by the code of before from then on. A second run replaces the code again: the league has that of the last
// answer. Errors: account_deleted, league_not_found, not_league_admin, member_not_found.
func (s *Leagues) RenewCode(ctx context.Context, in *RenewCode) (*Page, error) {
	return s.change(ctx, in.ByID, func(tx pgx.Tx, _ string) error { return setCode(ctx, tx, in.LeagueID) })
}

// RemoveMember is the request to remove a member from a league.
type RemoveMember struct {
	ByID
	MemberID string `path:"memberId" format:"uuid" doc:"The id of the member."`
}

// RemoveMemberFunction removes a member from a league.
func RemoveMemberFunction() app.Function {
	return app.API(
		administer("remove-league-member", "Removes a member from a league, which gets a new code.", "Nobody can remove a member.", "DELETE",
			"/members/{memberId}"),
		Open, (*Leagues).RemoveMember, errNoLeague, errNotAdmin, errOneself, member.ErrNoMember)
}

// RemoveMember removes a member from a league of which the caller is the administrator. A removal gives the
// league a new code, because the removed member knows the old one. A second run changes nothing. Errors:
// account_deleted, league_not_found, not_league_admin, cannot_remove_oneself, member_not_found if the caller
// has not registered.
func (s *Leagues) RemoveMember(ctx context.Context, in *RemoveMember) (*Page, error) {
	return s.change(ctx, in.ByID, func(tx pgx.Tx, me string) error {
		if strings.EqualFold(me, in.MemberID) {
			return errOneself.In("path.memberId")
		}

		n, err := pg.Do(ctx, tx, sql.RemoveMember, in.LeagueID, in.MemberID)
		if err != nil || n == 0 {
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.CountMemberOut, in.LeagueID); err != nil {
			return err
		}

		return setCode(ctx, tx, in.LeagueID)
	})
}

// change runs do in a transaction for the administrator of a league, whose member is me, and answers with the
// league. Errors: account_deleted, league_not_found, not_league_admin, member_not_found; those of do.
func (s *Leagues) change(ctx context.Context, in ByID, do func(tx pgx.Tx, me string) error) (*Page, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	err := s.DB.Tx(ctx, func(tx pgx.Tx) error {
		me, err := lockAsAdmin(ctx, tx, in.UserID, in.LeagueID)
		if err != nil {
			return err
		}

		return do(tx, me)
	})
	if err != nil {
		return nil, err
	}

	return s.page(ctx, http.StatusOK, in.UserID, in.LeagueID)
}

// HandOver is the request to make another member the administrator.
type HandOver struct {
	ByID
	Body struct {
		MemberID string `json:"memberId" format:"uuid" doc:"The id of the member who becomes the administrator." example:"58de2f1b-1374-4c92-bd53-23a81943de4b"`
	}
}

// HandOverFunction makes another member the administrator of a league.
func HandOverFunction() app.Function {
	return app.API(
		administer("put-league-admin", "Makes another member the administrator of a league.", "Nobody can hand over a league.", "PUT", "/admin"),
		Open, (*Leagues).HandOver, errNoLeague, errNotAdmin, errNotInside, member.ErrNoMember)
}

// HandOver makes another member the administrator of a league, in place of the caller, who stays a member: a
// league has one administrator, as after AppointAdmin. A second run changes nothing. Errors: account_deleted,
// league_not_found, not_league_admin, member_not_found.
func (s *Leagues) HandOver(ctx context.Context, in *HandOver) (*Page, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	err := s.DB.Tx(ctx, func(tx pgx.Tx) error {
		me, mine, err := lockWithRole(ctx, tx, in.UserID, in.LeagueID)
		if err != nil {
			return err
		}

		role, inside, err := pg.Value[string](ctx, tx, sql.GetRole, in.LeagueID, in.Body.MemberID)
		switch {
		case err != nil:
			return err
		case role == "admin": // the run before, or the caller
			return nil
		case mine != "admin":
			return errNotAdmin
		case !inside:
			return errNotInside.In("body.memberId")
		}

		if _, err := pg.Do(ctx, tx, sql.SetRole, in.LeagueID, in.Body.MemberID, "admin"); err != nil {
			return err
		}

		_, err = pg.Do(ctx, tx, sql.SetRole, in.LeagueID, me, "member")

		return err
	})
	if err != nil {
		return nil, err
	}

	return s.page(ctx, http.StatusOK, in.UserID, in.LeagueID)
}
