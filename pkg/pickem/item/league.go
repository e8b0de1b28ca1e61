package item

import (
	"slices"
	"strings"
)

// League is the item of a league. After EndedAt no request finds it; the item stays
// until all members are removed.
type League struct {
	Row
	ID      string `dynamodbav:"id"`
	Name    string `dynamodbav:"name"`
	OwnerID string `dynamodbav:"ownerId"`
	Code    string `dynamodbav:"code"`    // invites to it
	Members int    `dynamodbav:"members"` // the number of members, until EndedAt
	EndedAt string `dynamodbav:"endedAt,omitempty"`
}

// Membership is the member's item of a membership in a league.
type Membership struct {
	Row
	LeagueID   string `dynamodbav:"leagueId"`
	LeagueName string `dynamodbav:"leagueName"`
	BelongsTo  string `dynamodbav:"belongsto"`
	Name       string `dynamodbav:"name"` // the member's
	JoinedAt   string `dynamodbav:"joinedAt"`
}

// UserID returns the id of the member.
func (m Membership) UserID() string { return strings.TrimPrefix(m.BelongsTo, "USER#") }

// Membership returns the collection's membership of a league.
func (g Collection) Membership(leagueID string) (Membership, bool) {
	i := slices.IndexFunc(g.Memberships, func(m Membership) bool { return m.LeagueID == leagueID })
	if i < 0 {
		return Membership{}, false
	}
	return g.Memberships[i], true
}
