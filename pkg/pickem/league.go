package pickem

import (
	"context"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
)

const (
	leagueType     = "league"
	membershipType = "membership"
)

// league is the item of a league.
type league struct {
	row
	ID      string `dynamodbav:"id"`
	Name    string `dynamodbav:"name"`
	OwnerID string `dynamodbav:"ownerId"`
	Code    string `dynamodbav:"code"` // invites to it
}

// membership is the item of a member's place in a league.
type membership struct {
	row
	LeagueID   string `dynamodbav:"leagueId"`
	LeagueName string `dynamodbav:"leagueName"`
	BelongsTo  string `dynamodbav:"belongsto"`
	Name       string `dynamodbav:"name"` // the member's
	JoinedAt   string `dynamodbav:"joinedAt"`
}

// Leagues are those that members make among themselves.
type Leagues struct {
	db  dynamo.DB
	now func() time.Time
}

// OpenLeagues opens the service of leagues.
func OpenLeagues(_ context.Context, env app.Env) (*Leagues, error) {
	return &Leagues{db: tableIn(env), now: env.Now}, nil
}
