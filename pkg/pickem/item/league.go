package item

import (
	"slices"
	"strings"
)

const (
	LeagueType     = "league"
	MembershipType = "membership"
)

// League is the item of a league. One that its owner has ended is as good as none,
// but that it is there until all members are out.
type League struct {
	Row
	ID      string `dynamodbav:"id"`
	Name    string `dynamodbav:"name"`
	OwnerID string `dynamodbav:"ownerId"`
	Code    string `dynamodbav:"code"`    // invites to it
	Members int    `dynamodbav:"members"` // how many they are, until it is ended
	EndedAt string `dynamodbav:"endedAt,omitempty"`
}

// Membership is the item of a member's place in a league.
type Membership struct {
	Row
	LeagueID   string `dynamodbav:"leagueId"`
	LeagueName string `dynamodbav:"leagueName"`
	BelongsTo  string `dynamodbav:"belongsto"`
	Name       string `dynamodbav:"name"` // the member's
	JoinedAt   string `dynamodbav:"joinedAt"`
}

func (m Membership) UserID() string { return strings.TrimPrefix(m.BelongsTo, "USER#") }

// Membership is the group's membership of a league.
func (g Collection) Membership(leagueID string) (Membership, bool) {
	i := slices.IndexFunc(g.Memberships, func(m Membership) bool { return m.LeagueID == leagueID })
	if i < 0 {
		return Membership{}, false
	}
	return g.Memberships[i], true
}

const (
	LeaguePrefix = "LEAGUE#"
)
