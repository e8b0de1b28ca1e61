package activity

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
)

// Subscription is one Live Activity on one phone. Its token lives as long as
// the activity, and is not the phone's.
type Subscription struct {
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
	db       dynamo.DB
	queue    queue.Sender
	channels Channels
	now      func() time.Time
}

// StartActivity asks for a Live Activity to be updated: by its push token, or,
// without one, by the match's broadcast channel.
type StartActivity struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The match."`
	Body    struct {
		PushToken push.Token `json:"pushToken,omitempty" doc:"The activity's push token, in hexadecimal. Without it the activity is to listen to the channel in the answer, which needs iOS 18 or later on the caller's registered phone."`
		TeamID    string     `json:"teamId,omitempty" pattern:"^[0-9]{1,19}$" doc:"The team whose fan the user is; without it the activity is neutral."`
	}
}

// Started is the answer to StartActivity.
type Started struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		MatchID   string    `json:"matchId"`
		TeamID    string    `json:"teamId,omitempty"`
		Channel   string    `json:"channel,omitempty" doc:"The broadcast channel that the activity is to listen to, unless it has a push token. It brings what changes from now on: until then show what /matches/{id}/display gives."`
		ExpiresAt time.Time `json:"expiresAt" doc:"When the updates end at the latest."`
	}
}

var (
	errNoActivity = problem.New(problem.NotFound, "activity_not_found", "no such activity")

	errOtherUser = problem.New(problem.Conflict, "activity_of_another_user", "this activity is registered by another user")

	errNoListener = problem.New(problem.Conflict, "push_token_required", "your registered phone is not known to have iOS 18 or later: give the activity's pushToken")
)

// StartActivity registers an activity, or changes its team, and has the present
// state pushed to it. One without a push token is not registered: it is told the
// channel of the match, which the first such activity opens. A caller who follows
// the match gets no other activity at its start. Its second run gives the same
// channel.
//
// A match that is not there is NotFound; one that is over, a token that is
// another user's, and a phone that cannot listen to a channel is a Conflict. It
// is Unavailable while no channel can be opened.
func (a *Activities) StartActivity(ctx context.Context, in *StartActivity) (*Started, error) {
	f, ok, err := dynamo.Get[match.Fixture](ctx, a.db, tables.GetFixture, in.MatchID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, match.ErrNotFound
	}
	if in.Body.TeamID != "" && f.Perspective(in.Body.TeamID) == match.Neutral {
		return nil, match.ErrTeamNotInMatch.In("body.teamId")
	}
	done, err := match.Ended(ctx, a.db, f)
	if err != nil {
		return nil, err
	}
	if done {
		return nil, match.ErrMatchOver
	}
	out := &Started{Status: http.StatusCreated, CacheControl: httpapi.NoStore}
	out.Body.MatchID, out.Body.TeamID, out.Body.ExpiresAt = in.MatchID, in.Body.TeamID, time.Unix(f.Expiry(a.now(), match.KeepActivity), 0).UTC()
	if in.Body.PushToken == "" {
		out.Body.Channel, err = a.listen(ctx, in.UserID, f, f.Perspective(in.Body.TeamID))
	} else {
		err = a.register(ctx, in, f)
	}
	if err == nil {
		err = a.follow(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// follow notes with the caller's following of the match, if there is one, that an
// activity runs, so that send-alerts starts no other.
func (a *Activities) follow(ctx context.Context, in *StartActivity) error {
	set := expression.Set(expression.Name("hasActivity"), expression.Value(true))
	err := dynamo.Update(ctx, a.db, tables.UpdateFollow, dynamo.Key(tables.UpdateFollow, in.MatchID, in.UserID), set, dynamo.Exists[follower.FollowRow]("matchId"))
	return dynamo.IgnoreRefused(err)
}

// register stores an activity under its push token.
func (a *Activities) register(ctx context.Context, in *StartActivity, f match.Fixture) error {
	now := a.now()
	token := in.Body.PushToken.Lower()
	set := expression.Set(expression.Name("userId"), expression.Value(in.UserID)).
		Set(expression.Name("teamId"), expression.Value(in.Body.TeamID)).
		Set(expression.Name("expiresAt"), expression.Value(f.Expiry(now, match.KeepActivity))).
		Set(expression.Name("updatedAt"), expression.Value(now.UnixMilli())).
		Set(expression.Name("createdAt"), expression.IfNotExists(expression.Name("createdAt"), expression.Value(now.UnixMilli())))
	free := expression.AttributeNotExists(expression.Name("userId")).
		Or(expression.Equal(expression.Name("userId"), expression.Value(in.UserID)))
	err := dynamo.Update(ctx, a.db, tables.RegisterActivity, dynamo.Key(tables.RegisterActivity, in.MatchID, token), set, free)
	if err != nil {
		return dynamo.RefusedAs(err, errOtherUser.Because(err))
	}
	return a.queue.Send(ctx, tables.ActivityQueue, MatchChanged{MatchID: in.MatchID, Tokens: []string{token}}, 0)
}

// listen returns the channel of a perspective to a user whose phone can listen
// to it.
//
// The match is read once more after the channel, and by then its end must not be
// decided: push-activities looks for channels after that decision, so it finds
// each one that anybody was told of.
func (a *Activities) listen(ctx context.Context, userID string, f match.Fixture, view string) (string, error) {
	phone, ok, err := follower.ReadDevice(ctx, a.db, userID, a.now())
	if err != nil {
		return "", err
	}
	if !ok || !phone.HasBroadcasts() {
		return "", errNoListener
	}
	id, err := a.channels.Open(ctx, f.MatchID, view)
	if err != nil {
		return "", err
	}
	switch f, ok, err = dynamo.Get[match.Fixture](ctx, a.db, tables.GetFixture, f.MatchID); {
	case err != nil:
		return "", err
	case !ok:
		return "", match.ErrNotFound
	case f.EndingAt != 0:
		return "", match.ErrMatchOver
	}
	return id, nil
}

// EndActivity asks for a Live Activity to be left alone.
type EndActivity struct {
	auth.User
	MatchID   string     `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The match."`
	PushToken push.Token `query:"pushToken" required:"true" doc:"The activity's push token, in hexadecimal."`
}

// EndActivity removes the caller's registration of an activity. That of another
// user is as NotFound as none at all.
func (a *Activities) EndActivity(ctx context.Context, in *EndActivity) (*httpapi.Removed, error) {
	mine := expression.Equal(expression.Name("userId"), expression.Value(in.UserID))
	_, err := dynamo.Delete(ctx, a.db, tables.RemoveActivity, dynamo.Key(tables.RemoveActivity, in.MatchID, in.PushToken.Lower()), mine)
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoActivity.Because(err))
	}
	return httpapi.NewRemoved(), nil
}

// OpenActivities opens the service of a user's Live Activities.
func OpenActivities(_ context.Context, env app.Env) (*Activities, error) {
	return NewActivities(env, senderOnce(env)), nil
}

// NewActivities is the service with a sender of the caller's.
func NewActivities(env app.Env, sender func(context.Context) (*push.Sender, error)) *Activities {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Activities{
		db: db, queue: queue.Open(env.AWS, env.Queues), now: env.Now,
		channels: Channels{DB: db, Sender: sender, Clock: env.Clock},
	}
}
