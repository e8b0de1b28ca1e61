package item

import (
	"cmp"
	"context"
	"errors"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/threefc/tables"
)

// Visibility is who may see a league.
type Visibility string

const (
	Public   Visibility = "public"   // everybody
	Unlisted Visibility = "unlisted" // who has the link: search engines are asked to leave it out
	Private  Visibility = "private"  // its members
)

// Shown returns the visibility that administrators have chosen. A league without one is Public.
func (l League) Shown() Visibility { return cmp.Or(l.Visibility, Public) }

// ForMembers reports whether the league does not exist for anybody but its members.
func (l League) ForMembers() bool { return l.Visibility == Private || l.Hidden }

// Listed reports whether search engines may list the pages of the league.
func (l League) Listed() bool { return l.Shown() == Public && !l.Hidden }

// Conceal returns missing in place of ErrAccess if the league is for members, or does not exist any more: the
// answer to strangers is the same as without it. It returns any other error as it is.
func Conceal(ctx context.Context, db dynamo.DB, leagueID string, err, missing error) error {
	if !errors.Is(err, ErrAccess) {
		return err
	}

	l, ok, failed := dynamo.Get[Row[League]](ctx, db, tables.GetLeague, LeagueKey(leagueID), Metadata)

	switch {
	case failed != nil:
		return failed
	case !ok || l.V().ForMembers():
		return missing
	}

	return err
}

// CheckStranger returns missing to a user who is no member of a league that is for members.
func CheckStranger(ctx context.Context, db dynamo.DB, leagueID, userID string, missing error) error {
	_, err := Check(ctx, db, leagueID, userID, Viewer)
	if err = Conceal(ctx, db, leagueID, err, missing); errors.Is(err, ErrAccess) {
		return nil
	}

	return err
}
