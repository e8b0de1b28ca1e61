package item

import (
	"context"
	"strings"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/tables"
)

// Errors of Check.
var (
	errAccess = problem.New(problem.Denied, "league_access_required", "this is for members of the league")
	errScorer = problem.New(problem.Denied, "scorekeeper_required", "this is for scorekeepers and administrators of the league")
	errAdmin  = problem.New(problem.Denied, "admin_required", "this is for administrators of the league")
)

// Check returns the user's role in the league if it is at least one: else 403, with the code
// league_access_required, scorekeeper_required or admin_required. The stored answer of a request
// is only for who still has that role.
func Check(ctx context.Context, db dynamo.DB, leagueID, userID string, least Role) (Role, error) {
	g, ok, err := dynamo.Get[Row[Grant]](ctx, db, tables.GetGrant, LeagueKey(leagueID), GrantKey(userID))
	role := g.V().Role
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", errAccess
	case role.AtLeast(least):
		idem.Guard(ctx, leagueID+" "+string(least))
		return role, nil
	case least == Scorekeeper:
		return "", errScorer
	}
	return "", errAdmin
}

// CheckAgain makes a check again, by what Check has noted of it.
func CheckAgain(ctx context.Context, db dynamo.DB, userID, right string) error {
	leagueID, least, _ := strings.Cut(right, " ")
	_, err := Check(ctx, db, leagueID, userID, Role(least))
	return err
}
