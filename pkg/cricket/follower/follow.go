package follower

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
)

// Follow says that a user follows a match.
type Follow struct {
	MatchID string `dynamodbav:"matchId"`
	UserID  string `dynamodbav:"userId"`
}

// FollowRow is a row of cricket-match-follows in full.
type FollowRow struct {
	Follow
	TeamID    string `dynamodbav:"teamId,omitempty"` // whose fan; "" for neither's
	CreatedAt int64  `dynamodbav:"createdAt"`        // epoch ms
	ExpiresAt int64  `dynamodbav:"expiresAt"`

	HasActivity bool `dynamodbav:"hasActivity,omitempty"` // one of the match was registered: none is started
}

// Follows keeps which matches users follow.
type Follows struct {
	db  dynamo.DB
	now func() time.Time
}

// OpenFollows opens the service of the matches that a user follows.
func OpenFollows(_ context.Context, env app.Env) (*Follows, error) {
	return &Follows{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}

var errNotFollowed = problem.New(problem.NotFound, "not_followed", "you do not follow this match")

// FollowPage is the answer with a match that is followed.
type FollowPage struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		MatchID   string    `json:"matchId"`
		TeamID    string    `json:"teamId,omitempty" doc:"The team whose fan the user is, absent for neither's."`
		ExpiresAt time.Time `json:"expiresAt" doc:"When the user stops following by itself."`
	}
}

func followPage(status int, matchID, teamID string, expires int64) *FollowPage {
	out := &FollowPage{Status: status, CacheControl: httpapi.NoStore}
	out.Body.MatchID, out.Body.TeamID, out.Body.ExpiresAt = matchID, teamID, time.Unix(expires, 0).UTC()
	return out
}

// FollowMatch asks for the alerts of a match.
type FollowMatch struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The match."`
	Body    *struct {
		TeamID string `json:"teamId,omitempty" pattern:"^([0-9]{1,19}|neutral)$" doc:"The team whose fan the user is; neutral, or none, for neither's."`
	}
}

// FollowMatch has the caller follow a match, or changes the team and renews it.
// A match that is not there is NotFound, and one that is over a Conflict.
func (s *Follows) FollowMatch(ctx context.Context, in *FollowMatch) (*FollowPage, error) {
	team := ""
	if in.Body != nil && in.Body.TeamID != match.Neutral {
		team = in.Body.TeamID
	}
	f, err := s.match(ctx, in.MatchID, team)
	if err != nil {
		return nil, err
	}
	done, err := match.Ended(ctx, s.db, f)
	if err != nil {
		return nil, err
	}
	if done {
		return nil, match.ErrMatchOver
	}
	now := s.now()
	set := expression.Set(expression.Name("teamId"), expression.Value(team)).
		Set(expression.Name("expiresAt"), expression.Value(f.Expiry(now, match.KeepFollow))).
		Set(expression.Name("createdAt"), expression.IfNotExists(expression.Name("createdAt"), expression.Value(now.UnixMilli())))
	if err := dynamo.Update(ctx, s.db, tables.FollowMatch, dynamo.Key(tables.FollowMatch, in.MatchID, in.UserID), set); err != nil {
		return nil, err
	}
	return followPage(http.StatusCreated, in.MatchID, team, f.Expiry(now, match.KeepFollow)), nil
}

// match reads a match in which the team plays, unless that is "".
func (s *Follows) match(ctx context.Context, id, teamID string) (match.Fixture, error) {
	f, ok, err := dynamo.Get[match.Fixture](ctx, s.db, tables.GetFixture, id)
	if err != nil {
		return match.Fixture{}, err
	}
	if !ok {
		return match.Fixture{}, match.ErrNotFound
	}
	if teamID != "" && f.Perspective(teamID) == match.Neutral {
		return match.Fixture{}, match.ErrTeamNotInMatch.In("body.teamId")
	}
	return f, nil
}

// GetFollow asks whether the caller follows a match.
type GetFollow struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The match."`
}

// GetFollow returns as whose fan the caller follows a match, or NotFound.
func (s *Follows) GetFollow(ctx context.Context, in *GetFollow) (*FollowPage, error) {
	row, ok, err := dynamo.Get[FollowRow](ctx, s.db, tables.CheckFollow, in.MatchID, in.UserID)
	if err != nil {
		return nil, err
	}
	if !ok || row.ExpiresAt <= s.now().Unix() {
		return nil, errNotFollowed
	}
	return followPage(http.StatusOK, in.MatchID, row.TeamID, row.ExpiresAt), nil
}

// UpdateFollow changes whose fan the caller is.
type UpdateFollow struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The match."`
	Body    struct {
		TeamID string `json:"teamId" pattern:"^([0-9]{1,19}|neutral)$" doc:"The team whose fan the user is, or neutral."`
	}
}

// UpdateFollow changes the team of a match that the caller follows; one that the
// caller does not follow is NotFound.
func (s *Follows) UpdateFollow(ctx context.Context, in *UpdateFollow) (*FollowPage, error) {
	team := in.Body.TeamID
	if team == match.Neutral {
		team = ""
	}
	f, err := s.match(ctx, in.MatchID, team)
	if err != nil {
		return nil, err
	}
	now := s.now()
	set := expression.Set(expression.Name("teamId"), expression.Value(team)).
		Set(expression.Name("expiresAt"), expression.Value(f.Expiry(now, match.KeepFollow)))
	followed := dynamo.Exists[FollowRow]("matchId").And(expression.GreaterThan(expression.Name("expiresAt"), expression.Value(now.Unix())))
	err = dynamo.Update(ctx, s.db, tables.UpdateFollow, dynamo.Key(tables.UpdateFollow, in.MatchID, in.UserID), set, followed)
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNotFollowed)
	}
	return followPage(http.StatusOK, in.MatchID, team, f.Expiry(now, match.KeepFollow)), nil
}

// activityKey is the key of a row of cricket-activity-subscriptions.
type activityKey struct {
	MatchID   string `dynamodbav:"matchId"`
	PushToken string `dynamodbav:"pushToken"`
}

// UnfollowMatch asks for no more of a match.
type UnfollowMatch struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The match."`
}

// UnfollowMatch ends the caller's following of a match, and then all of the
// caller's Live Activities of it. What a first run has left a second one removes;
// when nothing is there, it is NotFound.
func (s *Follows) UnfollowMatch(ctx context.Context, in *UnfollowMatch) (*httpapi.Removed, error) {
	was, err := dynamo.Delete(ctx, s.db, tables.UnfollowMatch, dynamo.Key(tables.UnfollowMatch, in.MatchID, in.UserID))
	if err != nil {
		return nil, err
	}
	some := was != nil
	mine := expression.Equal(expression.Name("userId"), expression.Value(in.UserID))
	started, err := dynamo.QueryAll[activityKey](ctx, s.db, tables.RemoveOfUser, dynamo.Range{
		Key: expression.Key("matchId").Equal(expression.Value(in.MatchID)), Filter: &mine, Consistent: true,
	})
	if err != nil {
		return nil, err
	}
	for _, a := range started {
		_, err := dynamo.Delete(ctx, s.db, tables.RemoveOfUser, dynamo.Key(tables.RemoveOfUser, a.MatchID, a.PushToken), mine)
		if err := dynamo.IgnoreRefused(err); err != nil { // refused: it ended meanwhile
			return nil, err
		}
		some = true
	}
	if !some {
		return nil, errNotFollowed
	}
	return httpapi.NewRemoved(), nil
}

// RemoveFollows has nobody follow the match any more.
func RemoveFollows(ctx context.Context, db dynamo.DB, matchID string) error {
	key := expression.Key("matchId").Equal(expression.Value(matchID))
	pages := dynamo.Pages(func(after dynamo.Item) ([]Follow, dynamo.Item, error) {
		return dynamo.Query[Follow](ctx, db, tables.RemoveFollows, dynamo.Range{Key: key, After: after})
	})
	for page, err := range pages {
		if err != nil {
			return err
		}
		keys := make([]dynamo.Item, len(page))
		for i, f := range page {
			keys[i] = dynamo.Key(tables.RemoveFollows, f.MatchID, f.UserID)
		}
		if err := dynamo.DeleteAll(ctx, db, tables.RemoveFollows, keys); err != nil {
			return err
		}
	}
	return nil
}
