package cricket

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/fault"
	"matchday/pkg/kit/queue"
)

// subscription is one Live Activity on one phone. Its token lives as long as
// the activity, and is not the phone's.
type subscription struct {
	MatchID   string `dynamodbav:"matchId"`
	PushToken string `dynamodbav:"pushToken"`
	UserID    string `dynamodbav:"userId"`
	TeamID    string `dynamodbav:"teamId,omitempty"` // whose fan; "" for neither's
	CreatedAt int64  `dynamodbav:"createdAt"`        // epoch ms, as UpdatedAt
	UpdatedAt int64  `dynamodbav:"updatedAt"`        // when its owner last registered it
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// Activities registers the Live Activities of users.
type Activities struct {
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
}

// StartActivity asks for a Live Activity to be updated.
type StartActivity struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The match."`
	Body    struct {
		PushToken string `json:"pushToken" pattern:"^([0-9a-fA-F]{2})+$" minLength:"32" maxLength:"200" doc:"The activity's push token, in hexadecimal."`
		TeamID    string `json:"teamId,omitempty" pattern:"^[0-9]{1,19}$" doc:"The team whose fan the user is; without it the activity is neutral."`
	}
}

// Started is the answer to StartActivity.
type Started struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		MatchID   string    `json:"matchId"`
		TeamID    string    `json:"teamId,omitempty"`
		ExpiresAt time.Time `json:"expiresAt" doc:"When the registration ends by itself."`
	}
}

// StartActivity registers an activity, or changes its team, and has the present
// state pushed to it. A match that is not there is NotFound; one that is over,
// and a token that is another user's, is a Conflict.
func (a *Activities) StartActivity(ctx context.Context, in *StartActivity) (*Started, error) {
	f, ok, err := dynamo.Get[fixture](ctx, a.db, getFixture, in.MatchID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNoMatch
	}
	if in.Body.TeamID != "" && f.perspective(in.Body.TeamID) == neutral {
		return nil, fault.In("body.teamId", "this team does not play in the match")
	}
	done, err := ended(ctx, a.db, f)
	if err != nil {
		return nil, err
	}
	if done {
		return nil, fault.New(fault.Conflict, "the match is over")
	}
	now := a.now()
	token := strings.ToLower(in.Body.PushToken)
	set := expression.Set(expression.Name("userId"), expression.Value(in.UserID)).
		Set(expression.Name("teamId"), expression.Value(in.Body.TeamID)).
		Set(expression.Name("expiresAt"), expression.Value(f.expiry(now))).
		Set(expression.Name("updatedAt"), expression.Value(now.UnixMilli())).
		Set(expression.Name("createdAt"), expression.IfNotExists(expression.Name("createdAt"), expression.Value(now.UnixMilli())))
	free := expression.AttributeNotExists(expression.Name("userId")).
		Or(expression.Equal(expression.Name("userId"), expression.Value(in.UserID)))
	err = dynamo.Update(ctx, a.db, registerActivity, dynamo.Key(registerActivity, in.MatchID, token), set, free)
	if dynamo.IsRefused(err) {
		return nil, fault.New(fault.Conflict, "this activity is registered by another user").Because(err)
	}
	if err != nil {
		return nil, err
	}
	if err := a.queue.Send(ctx, activityQueue, MatchChanged{MatchID: in.MatchID, Tokens: []string{token}}, 0); err != nil {
		return nil, err
	}
	out := &Started{Status: http.StatusCreated, CacheControl: noStore}
	out.Body.MatchID, out.Body.TeamID, out.Body.ExpiresAt = in.MatchID, in.Body.TeamID, time.Unix(f.expiry(now), 0).UTC()
	return out, nil
}

// EndActivity asks for a Live Activity to be left alone.
type EndActivity struct {
	auth.User
	MatchID   string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The match."`
	PushToken string `query:"pushToken" required:"true" pattern:"^([0-9a-fA-F]{2})+$" minLength:"32" maxLength:"200" doc:"The activity's push token, in hexadecimal."`
}

// Ended is the answer to EndActivity: 204.
type Ended struct{ Status int }

// EndActivity removes the caller's registration of an activity. That of another
// user is as NotFound as none at all.
func (a *Activities) EndActivity(ctx context.Context, in *EndActivity) (*Ended, error) {
	mine := expression.Equal(expression.Name("userId"), expression.Value(in.UserID))
	_, err := dynamo.Delete(ctx, a.db, removeActivity, dynamo.Key(removeActivity, in.MatchID, strings.ToLower(in.PushToken)), mine)
	if dynamo.IsRefused(err) {
		return nil, fault.New(fault.NotFound, "no such activity").Because(err)
	}
	return &Ended{Status: http.StatusNoContent}, err
}
