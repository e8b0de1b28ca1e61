package item

import (
	"context"
	"strings"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/tables"
)

// Errors of Check.
var (
	ErrAccess      = problem.New(problem.Denied, "league_access_required", "this is for members of the league")
	ErrScorekeeper = problem.New(problem.Denied, "scorekeeper_required", "this is for scorekeepers and administrators of the league")
	ErrAdmin       = problem.New(problem.Denied, "admin_required", "this is for administrators of the league")
)

// Check returns the user's role in the league if it is at least the given one. Otherwise it returns
// 403, with the code league_access_required, scorekeeper_required or admin_required. A stored
// answer of the request is returned only to a caller who still has that role.
func Check(ctx context.Context, db dynamo.DB, leagueID, userID string, least Role) (Role, error) {
	return CheckIn(ctx, db, leagueID, "", userID, least)
}

// CheckIn is Check for what belongs to a session, whose games a guest may score by its PIN.
func CheckIn(ctx context.Context, db dynamo.DB, leagueID, sessionID, userID string, least Role) (Role, error) {
	if guest, ok := guestOf(userID); ok {
		return guest.check(ctx, db, leagueID, sessionID, least)
	}

	g, ok, err := dynamo.Get[Row[Grant]](ctx, db, tables.GetGrant, LeagueKey(leagueID), GrantKey(userID))

	role := g.V().Role
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", ErrAccess
	case role.AtLeast(least):
		idem.Guard(ctx, leagueID+" "+string(least))
		return role, nil
	}

	return "", tooLow(least)
}

// tooLow returns the error of a role that is not at least another.
func tooLow(least Role) error {
	if least == Admin {
		return ErrAdmin
	}

	return ErrScorekeeper
}

// CheckAgain repeats a check, from the text that Check has recorded.
func CheckAgain(ctx context.Context, db dynamo.DB, userID, right string) error {
	leagueID, rest, _ := strings.Cut(right, " ")
	least, sessionID, _ := strings.Cut(rest, " ") // only of a guest there is a session
	_, err := CheckIn(ctx, db, leagueID, sessionID, userID, Role(least))

	return err
}

// Kind is a kind of row that belongs to a league.
type Kind[T any] struct {
	access  spec.Access
	key     func(id string) string // the partition of the row
	sk      string
	league  func(T) string
	session func(T) string // to which the row belongs, "" for none
	missing error
}

// The kinds of rows that requests name by an id.
var (
	LeagueRow = Kind[League]{tables.GetLeague, LeagueKey, Metadata, func(l League) string { return l.ID }, none[League], ErrScope}
	SeasonRow = Kind[Season]{tables.GetSeason, SeasonKey, Metadata, func(s Season) string { return s.LeagueID }, none[Season], ErrScope}

	SessionRow = Kind[Session]{
		tables.GetSession, SessionKey, Metadata,
		func(s Session) string { return s.LeagueID }, func(s Session) string { return s.ID }, ErrScope,
	}
	GameRow = Kind[Game]{
		tables.GetGame, GameKey, Metadata,
		func(g Game) string { return g.LeagueID }, func(g Game) string { return g.SessionID }, ErrScope,
	}

	PlayerRow = Kind[Player]{tables.GetPlayer, PlayerKey, Profile, func(p Player) string { return p.LeagueID }, none[Player], ErrNoPlayer}
)

func none[T any](T) string { return "" }

// Errors of Kind: there is no such row.
var (
	ErrScope    = problem.New(problem.NotFound, "acl_scope_not_found", "there is nothing with this id")
	ErrNoPlayer = problem.New(problem.NotFound, "player_not_found", "the league has no such player")
)

// Read reads a row. If there is none, it returns ErrNoPlayer for a player, and ErrScope for any
// other kind.
func (k Kind[T]) Read(ctx context.Context, db dynamo.DB, id string) (Row[T], error) {
	return Read[T](ctx, db, k.access, k.key(id), k.sk, k.missing)
}

// ReadAs reads a row for a user, and the user's role in its league. Errors: those of Read, also for a stranger
// to a league that is for members, and of Check if the role is not at least one.
func (k Kind[T]) ReadAs(ctx context.Context, db dynamo.DB, id, userID string, least Role) (Row[T], Role, error) {
	row, err := k.Read(ctx, db, id)
	if err != nil {
		return row, "", err
	}

	leagueID := k.league(*row.V())
	role, err := CheckIn(ctx, db, leagueID, k.session(*row.V()), userID, least)

	return row, role, Conceal(ctx, db, leagueID, err, k.missing)
}
