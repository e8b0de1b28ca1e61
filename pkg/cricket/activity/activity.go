package activity

import (
	"context"
	"net/http"
	"slices"
	"time"

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

// Subscription is a row of cricket-activity-subscriptions: one Live Activity on
// one phone, updated by its own push token. The token is valid as long as the
// activity exists. It is not the device token.
type Subscription struct {
	MatchID   string `dynamodbav:"matchId"`
	PushToken string `dynamodbav:"pushToken"`
	UserID    string `dynamodbav:"userId"`
	TeamID    string `dynamodbav:"teamId,omitempty"` // the team that the user supports; "" is neutral
	CreatedAt int64  `dynamodbav:"createdAt"`        // epoch ms
	UpdatedAt int64  `dynamodbav:"updatedAt"`        // of the last registration, epoch ms
	ExpiresAt int64  `dynamodbav:"expiresAt"`        // epoch s
}

// Activities registers and removes the Live Activities of users.
type Activities struct {
	db       dynamo.DB
	queue    queue.Sender
	channels Channels
	now      func() time.Time
}

// StartActivity is a request for updates of a Live Activity: by its push token or,
// without a token, by the broadcast channel of the match.
type StartActivity struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	Body    struct {
		PushToken push.Token `json:"pushToken,omitempty" doc:"The activity's push token, in hexadecimal. Without it the activity must listen to the channel in the answer, which requires iOS 18 or later on the caller's registered phone."`
		TeamID    string     `json:"teamId,omitempty" pattern:"^[0-9]{1,19}$" doc:"The team that the user supports. Without it the activity is neutral."`
	}
}

// Started is the answer to StartActivity.
type Started struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		MatchID   string    `json:"matchId"`
		TeamID    string    `json:"teamId,omitempty"`
		Channel   string    `json:"channel,omitempty" doc:"The broadcast channel that the activity must listen to. Absent if the request has a push token. The channel carries later changes only: until the first one, show the answer of /matches/{id}/display."`
		ExpiresAt time.Time `json:"expiresAt" doc:"The updates end at this time at the latest."`
	}
}

// maxActivities is the maximum number of Live Activities of a user in one match. A phone
// shows one.
const maxActivities = 10

var (
	errTooManyActivities = problem.New(problem.Conflict, "too_many_activities", "you have %d activities of this match, which is the maximum: end one first", maxActivities)

	errNoActivity = problem.New(problem.NotFound, "activity_not_found", "you have not registered this activity for this match")

	errOtherUser = problem.New(problem.Conflict, "activity_of_another_user", "another user has registered this activity")

	errNoListener = problem.New(problem.Conflict, "push_token_required", "broadcast channels require a registered phone with iOS 18 or later: send the activity's pushToken")
)

// StartActivity registers an activity, or changes its team, and sends a message that
// pushes the current state to it. An activity without a push token is not stored:
// the answer contains the channel of the match, which the first such request opens.
// If the caller follows the match, send-alerts starts no further activity. A
// repeated call returns the same channel.
//
// NotFound: the match does not exist. Invalid: the team does not play in it.
// Conflict: the match is over, another user has registered the token, the caller has
// maxActivities other activities of the match, or the phone does not support channels.
// Unavailable: no channel can be opened now.
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
	ended, err := match.Ended(ctx, a.db, f)
	if err != nil {
		return nil, err
	}
	if ended {
		return nil, match.ErrMatchOver
	}
	out := &Started{Status: http.StatusCreated, CacheControl: httpapi.NoStore}
	out.Body.MatchID, out.Body.TeamID, out.Body.ExpiresAt = in.MatchID, in.Body.TeamID, time.Unix(f.Expiry(a.now(), match.KeepActivity), 0).UTC()
	if in.Body.PushToken == "" {
		out.Body.Channel, err = a.openChannel(ctx, in.UserID, f, f.Perspective(in.Body.TeamID))
	} else {
		err = a.register(ctx, in, f)
	}
	if err == nil {
		err = a.markFollow(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// markFollow records in the caller's follow of the match, if it exists, that an
// activity runs, so that send-alerts does not start another.
func (a *Activities) markFollow(ctx context.Context, in *StartActivity) error {
	set := dynamo.Set(follower.FollowRow{HasActivity: true}, "hasActivity")
	err := dynamo.Update(ctx, a.db, tables.UpdateFollow, dynamo.Key(tables.UpdateFollow, in.MatchID, in.UserID), set, dynamo.Exists[follower.FollowRow]("matchId"))
	return dynamo.IgnoreRefused(err)
}

// register stores an activity under its push token and sends a message that
// pushes the current state to it. It returns errOtherUser if another user has
// registered the token.
func (a *Activities) register(ctx context.Context, in *StartActivity, f match.Fixture) error {
	now := a.now()
	token := in.Body.PushToken.Lower()
	row := Subscription{
		UserID: in.UserID, TeamID: in.Body.TeamID,
		CreatedAt: now.UnixMilli(), UpdatedAt: now.UnixMilli(), ExpiresAt: f.Expiry(now, match.KeepActivity),
	}
	set := dynamo.Set(row, "userId", "teamId", "updatedAt", "expiresAt").SetIfAbsent(row, "createdAt")
	available := dynamo.Absent[Subscription]("userId").Or(dynamo.Equal[Subscription]("userId", in.UserID))
	activity := follower.Entry{
		Access: tables.RegisterActivity, List: follower.ActivityList(in.UserID, in.MatchID), ID: token, ExpiresAt: row.ExpiresAt,
		Max: maxActivities, TooMany: errTooManyActivities,
		Existing: func(ctx context.Context, tokens []string) ([]string, error) { return a.existing(ctx, in, tokens) },
	}
	err := activity.Write(ctx, a.db, dynamo.UpdateWrite(dynamo.Key(tables.RegisterActivity, in.MatchID, token), set, available))
	if err != nil {
		return dynamo.RefusedAs(err, errOtherUser.Because(err))
	}
	return a.queue.Send(ctx, tables.ActivityQueue, MatchChanged{MatchID: in.MatchID, Tokens: []string{token}}, 0)
}

// existing returns those of the tokens that have an activity of the caller, in the same
// order.
func (a *Activities) existing(ctx context.Context, in *StartActivity, tokens []string) ([]string, error) {
	keys := make([]dynamo.Item, len(tokens))
	for i, token := range tokens {
		keys[i] = dynamo.Key(tables.RegisterActivity, in.MatchID, token)
	}
	rows, err := dynamo.GetAll[Subscription](ctx, a.db, tables.RegisterActivity, keys)
	if err != nil {
		return nil, err
	}
	now := a.now().Unix()
	return slices.DeleteFunc(slices.Clone(tokens), func(token string) bool {
		return !slices.ContainsFunc(rows, func(s Subscription) bool {
			return s.PushToken == token && s.UserID == in.UserID && s.ExpiresAt > now
		})
	}), nil
}

// openChannel returns the channel of a perspective, for a user whose registered
// phone supports channels. It returns errNoListener for any other phone.
//
// It reads the match again after it has opened the channel, and returns
// match.ErrMatchOver if the end is decided by then. push-activities reads the
// channels after that decision, so it finds every channel that a caller received.
func (a *Activities) openChannel(ctx context.Context, userID string, f match.Fixture, view string) (string, error) {
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

// EndActivity is a request to stop the updates of a Live Activity.
type EndActivity struct {
	auth.User
	MatchID   string     `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	PushToken push.Token `query:"pushToken" required:"true" doc:"The activity's push token, in hexadecimal."`
}

// EndActivity removes the caller's registration of an activity. It is NotFound if
// there is none, or if another user has registered the activity.
func (a *Activities) EndActivity(ctx context.Context, in *EndActivity) (*httpapi.Removed, error) {
	own := dynamo.Equal[Subscription]("userId", in.UserID)
	_, err := dynamo.Delete(ctx, a.db, tables.RemoveActivity, dynamo.Key(tables.RemoveActivity, in.MatchID, in.PushToken.Lower()), own)
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoActivity.Because(err))
	}
	return httpapi.NewRemoved(), nil
}

// OpenActivities opens the service of start-activity and end-activity. It reads
// Apple's key when the first channel is opened.
func OpenActivities(_ context.Context, env app.Env) (*Activities, error) {
	return NewActivities(env, senderOnce(env)), nil
}

// NewActivities returns the service with the caller's sender.
func NewActivities(env app.Env, sender func(context.Context) (*push.Sender, error)) *Activities {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Activities{
		db: db, queue: queue.Open(env.AWS, env.Queues), now: env.Now,
		channels: Channels{DB: db, Sender: sender, Clock: env.Clock},
	}
}
