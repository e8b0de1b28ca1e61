package item

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/tables"
)

// League is the item of a league. After EndedAt no request finds it; the item stays
// until all memberships are removed.
type League struct {
	Row
	ID      string `dynamodbav:"id"`
	Name    string `dynamodbav:"name"`
	OwnerID string `dynamodbav:"ownerId"`
	Code    string `dynamodbav:"code"`    // invites to it
	Members int    `dynamodbav:"members"` // the number of members, until EndedAt
	EndedAt string `dynamodbav:"endedAt,omitempty"`
	Stored  bool   `dynamodbav:"stored,omitempty"` // all of its tables are written: see HasTables
}

// Membership is a membership in a league. It is two items, one with the member and one
// with the league, because both lists must be consistent. They are written together.
type Membership struct {
	Row
	LeagueID   string `dynamodbav:"leagueId"`
	LeagueName string `dynamodbav:"leagueName"`
	BelongsTo  string `dynamodbav:"belongsto"`
	Name       string `dynamodbav:"name,omitempty"` // the member's, in the item with the league
	JoinedAt   string `dynamodbav:"joinedAt"`
}

// UserID returns the id of the member.
func (m Membership) UserID() string { return strings.TrimPrefix(m.BelongsTo, "USER#") }

// SeatKey returns the key of the item with the league.
func (m Membership) SeatKey() dynamo.Item { return Key(LeagueRef(m.LeagueID), seatPrefix+m.UserID()) }

// Seat returns the item with the league.
func (m Membership) Seat(name string) Membership {
	m.Row, m.Name = Row{PK: LeagueRef(m.LeagueID), SK: seatPrefix + m.UserID(), Type: MembershipType}, name
	return m
}

// Membership returns the collection's membership of a league.
func (g Collection) Membership(leagueID string) (Membership, bool) {
	i := slices.IndexFunc(g.Memberships, func(m Membership) bool { return m.LeagueID == leagueID })
	if i < 0 {
		return Membership{}, false
	}

	return g.Memberships[i], true
}

// ErrNoLeague reports that the league does not exist, or that the user is not in it.
var ErrNoLeague = problem.New(problem.NotFound, "league_not_found", "you are not a member of this league")

// ReadLeague reads a league of a user and its members in order of name, or returns
// ErrNoLeague. It costs one unit for some 30 members.
func ReadLeague(ctx context.Context, db dynamo.DB, leagueID, userID string) (League, []Membership, error) {
	g, err := Query(ctx, db, tables.ReadLeague, dynamo.Range{Key: dynamo.KeyIs(tables.ReadLeague, LeagueRef(leagueID)), Consistent: true})
	if err != nil {
		return League{}, nil, err
	}

	in := slices.ContainsFunc(g.Memberships, func(m Membership) bool { return m.UserID() == userID })
	if len(g.Leagues) == 0 || g.Leagues[0].EndedAt != "" || !in {
		return League{}, nil, ErrNoLeague
	}

	slices.SortFunc(g.Memberships, func(a, b Membership) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UserID(), b.UserID()))
	})

	return g.Leagues[0], g.Memberships, nil
}

// HasStoredTables reports whether all tables of a league are stored. If they are it returns
// ErrNoLeague for a user who is not a member; else ReadLeague does. It costs half a unit, and with
// stored tables one more. The league may be of a moment ago, and the membership is not.
func HasStoredTables(ctx context.Context, db dynamo.DB, leagueID, userID string) (bool, error) {
	l, _, err := dynamo.Get[League](ctx, db.Eventual(), tables.FindLeague, LeagueRef(leagueID), LeagueTag)
	if err != nil || !l.Stored {
		return false, err
	}

	_, in, err := dynamo.Get[Membership](ctx, db, tables.CheckMembership, UserRef(userID), LeagueRef(leagueID))
	if err == nil && (!in || l.EndedAt != "") {
		err = ErrNoLeague
	}

	return true, err
}

// NamesOf returns the names of members by id.
func NamesOf(members []Membership) map[string]string {
	names := map[string]string{}
	for _, m := range members {
		names[m.UserID()] = m.Name
	}

	return names
}
