package activity

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// Subscription is a row of cricket-activity-subscriptions: one Live Activity on
// one phone, updated by its own push token. The token is valid as long as the
// activity exists. It is not the device token.
type Subscription struct {
	MatchID   string `dynamodbav:"matchId"`
	PushToken string `dynamodbav:"pushToken"`
	UserID    string `dynamodbav:"userId"`
	TeamID    string `dynamodbav:"teamId,omitempty"` // the team that the user supports; "" is neutral
	// Environment is that of Apple's push service that issued the token. Without it the activity is of the stage's.
	Environment string `dynamodbav:"environment,omitempty"`
	// Frequent is whether the user's registered phone allowed frequent updates when the
	// activity was registered.
	Frequent  bool  `dynamodbav:"frequentPushesEnabled"`
	CreatedAt int64 `dynamodbav:"createdAt"` // epoch ms
	UpdatedAt int64 `dynamodbav:"updatedAt"` // of the last registration, epoch ms
	ExpiresAt int64 `dynamodbav:"expiresAt"` // epoch s
}

// Activities registers and removes the Live Activities of users.
type Activities struct {
	db       dynamo.DB
	channels Channels
	now      func() time.Time
	stage    string
	android  bool // whether the stage has Android phones
}

// StartActivity is a request for updates of a Live Activity: by its push token or,
// without a token, by the broadcast channel of the match. An Android phone gets the topic of the match.
type StartActivity struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	Body    struct {
		Platform    string     `json:"platform,omitempty" enum:"ios,ipados,android" doc:"The operating system of the phone. Absent: ios."`
		PushToken   push.Token `json:"pushToken,omitempty" doc:"The activity's push token, in hexadecimal. Without it the activity must listen to the channel in the answer, which requires iOS 18 or later on the caller's registered phone. An Android phone has none."`
		Environment string     `json:"environment,omitempty" enum:"production,sandbox" doc:"The environment of Apple's push service that issued pushToken: sandbox for an app that Xcode has installed. An activity of another environment than the stage's is not updated. Absent: that of the stage."`
		TeamID      string     `json:"teamId,omitempty" pattern:"^[0-9]{1,19}$" example:"11" doc:"The team that the user supports. Without it the activity is neutral."`
	}
}

// Started is the answer to StartActivity.
type Started struct {
	Status int
	Body   struct {
		MatchID         string       `json:"matchId" doc:"The id of the match."`
		TeamID          string       `json:"teamId,omitempty" doc:"The team that the user supports. Absent: the activity is neutral."`
		ActivityID      push.TokenID `json:"activityId,omitempty" doc:"Names the activity in URLs. Absent if the request has no push token."`
		Channel         string       `json:"channel,omitempty" doc:"The broadcast channel that the activity must listen to. Absent if the request has a push token, and for an Android phone."`
		Topic           string       `json:"topic,omitempty" doc:"The FCM topic that an Android phone must subscribe to. Absent for other phones."`
		SubscribeWithin int          `json:"subscribeWithin,omitempty" doc:"The app subscribes to the topic at a random moment within so many seconds, because many fans may follow a match at once."`
		Current         *Current     `json:"current,omitempty" doc:"What the activity must show until the first push. Absent before the match has a score."`
		ExpiresAt       time.Time    `json:"expiresAt" doc:"The updates end at this time at the latest."`
	}
}

// Current is the content state of a Live Activity at a time.
type Current struct {
	_ struct{} `schema:"CurrentDisplay"`

	At      time.Time     `json:"at" doc:"The timestamp of the update by the app: iOS then ignores the update if a later push arrived first."`
	Display score.Display `json:"display" doc:"The state of the lock screen at the start."`
}

// maxActivities bounds the activities that have a push token. A phone shows one of a
// match.
var maxActivities = spec.Limit{Name: "activities per user and match", Max: 10, Code: "too_many_activities"}

var (
	errNoActivity = problem.New(problem.NotFound, "activity_not_found", "you have not registered this activity for this match")

	errOtherUser = problem.New(problem.Conflict, "activity_of_another_user", "another user has registered this activity")

	errAndroidToken = problem.New(problem.Unprocessable, "platform_mismatch",
		"an Android phone has no pushToken: it subscribes to the topic in the answer").In("body.pushToken")

	errNoListener = problem.New(problem.Conflict, "push_token_required",
		"broadcast channels require a registered phone with iOS 18 or later: send the activity's pushToken")
)

// StartActivityFunction registers a Live Activity of the caller for updates.
func StartActivityFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/start-activity",
		Does:   "Registers a Live Activity of the caller for updates, by its push token or by the channel of the match.",
		IfDown: "New activities are not updated. Running activities are.",
		On:     spec.Route{Method: "POST", Path: "/user/activity/{matchId}", Auth: spec.User, Answers: []int{201, 200}},
		Uses: []spec.Access{tables.GetFixture, tables.GetCached, tables.GetDisplay, tables.RegisterActivity, tables.GetDevice,
			tables.ClaimChannel, tables.RemoveChannel, tables.UpdateFollow, tables.MarkOwnActivity, tables.CountPhones, account.CheckDeleted},
		Limits: []spec.Limit{maxActivities}, Secrets: []string{tables.APNSKey},
		Memory: 256, Timeout: 15 * time.Second, // a call that opens a channel waits for Apple
	}, OpenActivities, (*Activities).StartActivity,
		device.ErrNoAndroid, errAndroidToken, errChannelBusy, errChannelDown, errChannelRefused, errNoListener, errOtherUser, match.ErrMatchOver,
		match.ErrNotFound, match.ErrTeamNotInMatch)
}

// StartActivity registers an activity, or changes its team. The answer contains the current state,
// which the app displays; later states are pushed. An activity without a push token is not stored:
// the answer contains the channel of the match, which the first such request opens. A repeated call
// returns the same channel.
//
// If the caller follows the match, now or later, send-alerts starts no other activity before iOS
// has removed this one.
//
// An Android phone gets the topic of its perspective, and is counted. It displays an activity by itself, so
// it does not keep send-alerts from starting one on the caller's iPhone.
//
// NotFound: the match does not exist. Invalid: the team does not play in it. Conflict: the match is
// over, another user has registered the token, the caller has maxActivities other activities of the
// match, or the phone does not support channels. Unavailable: no channel can be opened now.
func (a *Activities) StartActivity(ctx context.Context, in *StartActivity) (*Started, error) {
	isAndroid := push.KindOf(in.Body.Platform) == push.FCM

	switch {
	case isAndroid && !a.android:
		return nil, device.ErrNoAndroid
	case isAndroid && in.Body.PushToken != "":
		return nil, errAndroidToken
	}

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

	out := &Started{Status: http.StatusCreated}
	out.Body.MatchID, out.Body.TeamID, out.Body.ExpiresAt = in.MatchID, in.Body.TeamID,
		time.Unix(f.Expiry(a.now(), match.KeepActivity), 0).UTC()

	view := f.Perspective(in.Body.TeamID)

	switch {
	case isAndroid:
		out.Body.Topic = follower.Topic(a.stage, in.MatchID, view)
		out.Body.SubscribeWithin = int(follower.SubscribeWithin.Seconds())
		err = follower.CountPhone(ctx, a.db, f, in.UserID, a.now())
	case in.Body.PushToken == "":
		out.Body.Channel, err = a.openChannel(ctx, in.UserID, f, view)
	default:
		out.Body.ActivityID = in.Body.PushToken.ID()
		err = a.register(ctx, in, f)
	}

	if err == nil && !isAndroid {
		err = a.markActivity(ctx, in, out.Body.ExpiresAt.Unix())
	}

	if err == nil {
		err = a.checkOpen(ctx, in.MatchID)
	}

	if err == nil {
		out.Body.Current, err = a.current(ctx, in.MatchID, view)
	}

	if err != nil {
		return nil, err
	}

	return out, nil
}

// checkOpen returns match.ErrMatchOver if the end of the match is decided. It is called
// after the activity was stored or the channel opened: push-activities reads both after
// that decision, so it ends every activity whose caller got another answer.
func (a *Activities) checkOpen(ctx context.Context, matchID string) error {
	switch f, ok, err := dynamo.Get[match.Fixture](ctx, a.db, tables.GetFixture, matchID); {
	case err != nil:
		return err
	case !ok:
		return match.ErrNotFound
	case f.EndingAt != 0:
		return match.ErrMatchOver
	}

	return nil
}

// current returns the current display of a perspective, nil if there is none. It is
// called after the activity was stored or the channel opened, so that every later
// display is pushed.
func (a *Activities) current(ctx context.Context, matchID, view string) (*Current, error) {
	row, ok, err := match.ReadDisplay(ctx, a.db, matchID, view)
	if err != nil || !ok {
		return nil, err
	}

	now := &Current{At: time.Unix(row.At, 0).UTC()}

	return now, json.Unmarshal([]byte(row.Display), &now.Display)
}

// markActivity records that the caller has an activity of the match, so that send-alerts starts no
// other one. It records it in the list of activities, for a later follow, and then as MarkActivity does.
func (a *Activities) markActivity(ctx context.Context, in *StartActivity, expires int64) error {
	now := a.now().Unix()
	list := follower.ActivityRow{List: dynamo.List{ExpiresAt: expires, TTL: expires}, ActivityAt: now}

	key := dynamo.Key(tables.RegisterActivity, follower.ActivityList(in.UserID, in.MatchID)...)
	if err := dynamo.Update(ctx, a.db, tables.RegisterActivity, key, dynamo.Set(list, "activityAt", "expiresAt", "ttl")); err != nil {
		return err
	}

	return follower.MarkActivity(ctx, a.db, in.MatchID, in.UserID, a.now(), false)
}

// register stores an activity under its push token. It returns errOtherUser if another
// user has registered the token.
func (a *Activities) register(ctx context.Context, in *StartActivity, f match.Fixture) error {
	now := a.now()

	phones, err := follower.ReadDevices(ctx, a.db, in.UserID, now)
	if err != nil {
		return err
	}

	phones = follower.IPhones(phones)
	token := in.Body.PushToken.Lower()
	row := Subscription{
		UserID: in.UserID, TeamID: in.Body.TeamID, Environment: in.Body.Environment,
		Frequent:  len(phones) > 0 && phones[0].Frequent, // of the phone that was used last
		CreatedAt: now.UnixMilli(), UpdatedAt: now.UnixMilli(), ExpiresAt: f.Expiry(now, match.KeepActivity),
	}
	set := dynamo.Set(row, "userId", "teamId", "environment", "frequentPushesEnabled", "updatedAt", "expiresAt").SetIfAbsent(row, "createdAt")
	available := dynamo.Absent[Subscription]("userId").Or(dynamo.Equal[Subscription]("userId", in.UserID))
	activity := dynamo.Entry{
		Access:    tables.RegisterActivity,
		List:      follower.ActivityList(in.UserID, in.MatchID),
		ID:        token,
		ExpiresAt: row.ExpiresAt,
		Limit:     maxActivities,
		Existing: func(ctx context.Context, tokens []string) ([]string, error) {
			return a.existing(ctx, tables.RegisterActivity, in.UserID, in.MatchID, tokens)
		},
	}

	err = activity.Write(ctx, a.db, dynamo.UpdateWrite(dynamo.Key(tables.RegisterActivity, in.MatchID, token), set, available))
	if err != nil {
		return dynamo.RefusedAs(err, errOtherUser.Because(err))
	}

	return nil
}

// existing returns those of the tokens that have an activity of the user, in the same order.
func (a *Activities) existing(ctx context.Context, access spec.Access, userID, matchID string, tokens []string) ([]string, error) {
	keys := make([]dynamo.Item, len(tokens))
	for i, token := range tokens {
		keys[i] = dynamo.Key(access, matchID, token)
	}

	rows, err := dynamo.GetAll[Subscription](ctx, a.db, access, keys)
	if err != nil {
		return nil, err
	}

	now := a.now().Unix()

	return slices.DeleteFunc(slices.Clone(tokens), func(token string) bool {
		return !slices.ContainsFunc(rows, func(s Subscription) bool {
			return s.PushToken == token && s.UserID == userID && s.ExpiresAt > now
		})
	}), nil
}

// openChannel returns the channel of a perspective, for a user whose registered
// iPhones all support channels. It returns errNoListener for any other user.
func (a *Activities) openChannel(ctx context.Context, userID string, f match.Fixture, view string) (string, error) {
	phones, err := follower.ReadDevices(ctx, a.db, userID, a.now())
	if err != nil {
		return "", err
	}

	phones = follower.IPhones(phones)
	if len(phones) == 0 || slices.ContainsFunc(phones, func(d follower.DeviceRow) bool { return !d.HasBroadcasts() }) {
		return "", errNoListener
	}

	return a.channels.Open(ctx, f.MatchID, view)
}

// EndActivity is a request to stop the updates of a Live Activity.
type EndActivity struct {
	auth.User
	MatchID    string       `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	ActivityID push.TokenID `path:"activityId" doc:"The activityId in the answer to the registration of the activity."`
}

// EndActivityFunction stops updating a Live Activity of the caller.
func EndActivityFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/end-activity",
		Does:   "Stops updating a Live Activity of the caller.",
		IfDown: "Dismissed activities still get pushes, which users do not see.",
		On:     spec.Route{Method: "DELETE", Path: "/user/activity/{matchId}/{activityId}", Auth: spec.User},
		Uses: []spec.Access{tables.ListActivities, tables.RemoveActivity, tables.UpdateFollow, tables.MarkOwnActivity,
			account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenActivities, (*Activities).EndActivity, errNoActivity)
}

// EndActivity removes the caller's registration of an activity. It is NotFound if
// there is none, or if another user has registered the activity.
func (a *Activities) EndActivity(ctx context.Context, in *EndActivity) (*httpapi.Removed, error) {
	list, _, err := dynamo.Get[dynamo.List](ctx, a.db, tables.ListActivities, follower.ActivityList(in.UserID, in.MatchID)...)
	if err != nil {
		return nil, err
	}

	i := slices.IndexFunc(list.IDs, func(token string) bool { return push.Token(token).ID() == in.ActivityID })
	if i < 0 {
		return nil, errNoActivity
	}

	if err := a.markEnded(ctx, in, slices.Delete(slices.Clone(list.IDs), i, i+1)); err != nil {
		return nil, err
	}

	own := dynamo.Equal[Subscription]("userId", in.UserID)

	_, err = dynamo.Delete(ctx, a.db, tables.RemoveActivity, dynamo.Key(tables.RemoveActivity, in.MatchID, list.IDs[i]), own)
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoActivity.Because(err))
	}

	return httpapi.NewRemoved(), nil
}

// markEnded records, as MarkActivity does, that an activity has ended, unless one of
// the others has not: the app ends the older of two when it shows the newer. So the next day of play
// starts an activity, and the day that lasts does not.
func (a *Activities) markEnded(ctx context.Context, in *EndActivity, others []string) error {
	left, err := a.existing(ctx, tables.ListActivities, in.UserID, in.MatchID, others)
	if err != nil || len(left) > 0 {
		return err
	}

	return follower.MarkActivity(ctx, a.db, in.MatchID, in.UserID, a.now(), true)
}

// OpenActivities opens the service of start-activity and end-activity. It reads
// Apple's key when the first channel is opened.
func OpenActivities(_ context.Context, env app.Env) (*Activities, error) {
	return NewActivities(env, senderOnce(env)), nil
}

// NewActivities returns the service with the caller's sender.
func NewActivities(env app.Env, sender func(context.Context) (*push.Sender, error)) *Activities {
	return &Activities{
		db: dynamo.Open(env.AWS, env.Prefix), now: env.Now, channels: NewChannels(env, sender),
		stage: env.Stage, android: env.Setting(fcm.SettingProject) != "",
	}
}

// Attributes are what never changes of a Live Activity: the attributes that a push starts it with.
type Attributes struct {
	MatchID string `json:"matchId" doc:"The id of the match."`
	TeamID  string `json:"teamId,omitzero" doc:"The id of the side that the user supports. Absent: neither."`
	Local   string `json:"local" doc:"The name of the home side."`
	Visitor string `json:"visitor" doc:"The name of the visiting side."`
}
