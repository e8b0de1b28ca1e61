package workout

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/limit"
	"matchday/pkg/kit/outbox"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// Errors of the package.
var (
	ErrNoWorkout   = problem.New(problem.NotFound, "activity_not_found", "there is no such activity")
	errSecret      = problem.New(problem.Unauthenticated, "invalid_secret", "this address is for Strava")
	errUnknown     = problem.New(problem.Denied, "unknown_subscription", "the event is of another subscription")
	errNoEvent     = problem.New(problem.NotFound, "event_not_found", "there is no such event")
	errSubscribed  = problem.New(problem.Conflict, "already_exists", "there is a subscription: delete it first")
	errSubscribing = problem.New(problem.Upstream, "subscription_failed", "Strava did not accept the subscription")
)

// Service is the service of the requests about workouts.
type Service struct {
	session.Sessions
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
	keeps time.Duration // workouts, 0 for as long as the connection
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Service{Sessions: signin.Sessions(env, db), db: db, queue: queue.Open(env.AWS, env.Queues), now: env.Now,
		keeps: link.Retention(env)}, nil
}

// Workout is a workout in an answer.
type Workout struct {
	ActivityID string    `json:"activityId" doc:"The id of the activity at Strava, or of the workout on the phone." example:"12345678901"`
	Name       string    `json:"name" doc:"What the user calls it: empty of a phone's."`
	SportType  string    `json:"sportType" doc:"Strava's sport type." example:"GravelRide"`
	StartedAt  time.Time `json:"startedAt" doc:"When it began."`
	UTCOffset  int32     `json:"utcOffset" doc:"Seconds that the local time was ahead of UTC."`
	Distance   int64     `json:"distance" doc:"Metres."`
	Elevation  int64     `json:"elevation" doc:"Metres of ascent."`
	MovingTime int64     `json:"movingTime" doc:"Seconds."`

	// Only of the phone:
	App      string `json:"app,omitempty" enum:"HEALTHKIT,HEALTH_CONNECT" doc:"Which store of the phone it is from."`
	Revision *int64 `json:"revision,omitempty" doc:"The revision that is stored."`
	Indoor   bool   `json:"indoor,omitempty" doc:"Whether it took place indoors."`
	Manual   bool   `json:"manual,omitempty" doc:"Whether it was entered by hand."`
}

func (r Row) view() Workout {
	return Workout{
		ActivityID: r.ActivityID,
		Name:       r.Name,
		SportType:  r.SportType,
		StartedAt:  time.Unix(r.StartedAt, 0).UTC(),
		UTCOffset:  r.UTCOffset,
		Distance:   r.Distance,
		Elevation:  r.Elevation,
		MovingTime: r.Moving,
	}
}

// listed is a workout of any source.
type listed struct {
	Row
	App      string `dynamodbav:"app"`
	Revision int64  `dynamodbav:"revision"`
	Indoor   bool   `dynamodbav:"indoor"`
	Entered  bool   `dynamodbav:"isEntered"`
}

func (l listed) view() Workout {
	w := l.Row.view()
	if l.App != "" {
		w.App, w.Revision, w.Indoor, w.Manual = l.App, &l.Revision, l.Indoor, l.Entered
	}

	return w
}

// ListRecent is the request for the caller's latest workouts.
type ListRecent struct {
	auth.User
	Source item.Source `query:"source" enum:"STRAVA,PHONE" default:"STRAVA" doc:"Where the workouts come from."`
	Cursor string      `query:"cursor" pattern:"^[0-9]{10}-[A-Za-z0-9-]{1,64}$" doc:"The next of the page before." example:"1780729200-12345678901"`
	Limit  int         `query:"limit" minimum:"1" maximum:"50" default:"20"`
}

// WorkoutList is the answer with workouts.
type WorkoutList struct {
	Body struct {
		Workouts []Workout `json:"workouts" doc:"The workouts, the latest first."`
		Next     string    `json:"next,omitempty" doc:"The cursor of the next page. Absent on the last."`
	}
}

// ListRecentFunction returns the caller's latest workouts.
func ListRecentFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-recent",
		Does:   "Returns the caller's latest workouts.",
		IfDown: "The list of workouts does not open.",
		On:     spec.Route{Method: "GET", Path: "/activities/recent", Auth: spec.Session},
		Uses:   signin.Caller(tables.LatestLedgers, tables.GetWorkouts),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListRecent)
}

// ListRecent returns a page of the workouts of a source that are not deleted, by their start. It reads
// ledgers, the latest month of the page first, until it has enough, and then these workouts.
func (s *Service) ListRecent(ctx context.Context, in *ListRecent) (*WorkoutList, error) {
	latest, err := s.latest(ctx, in)
	if err != nil {
		return nil, err
	}

	out := &WorkoutList{}
	out.Body.Workouts = []Workout{}

	latest, out.Body.Next = CutPage(latest, in.Cursor, in.Limit)

	keys := make([]dynamo.Item, len(latest))
	for i, e := range latest {
		keys[i] = dynamo.Key(tables.GetWorkouts, item.User(in.UserID), in.Source.Workout(e.ActivityID))
	}

	rows, err := dynamo.GetAll[listed](ctx, s.db.Eventual(), tables.GetWorkouts, keys)
	if err != nil {
		return nil, err
	}

	slices.SortFunc(rows, func(a, b listed) int { return LatestFirst(a.Entry(), b.Entry()) })

	for _, r := range rows {
		if !r.IsDeleted { // deleted since the ledger was read
			out.Body.Workouts = append(out.Body.Workouts, r.view())
		}
	}

	return out, nil
}

// latest returns the workouts of the months of a page, the latest first: one more than the page has, if
// there are as many.
func (s *Service) latest(ctx context.Context, in *ListRecent) (all []tally.Entry, err error) {
	a, pk := tables.LatestLedgers, item.User(in.UserID)

	r := dynamo.Range{Key: dynamo.KeyBeginsWith(a, pk, in.Source.Ledgers()), Backward: true, Limit: 2}
	if in.Cursor != "" {
		r.Key = dynamo.KeyBetween(a, pk, in.Source.Ledgers(), in.Source.Ledger(monthOf(in.Cursor)))
	}

	for page, err := range dynamo.Pages(func(after dynamo.Item) ([]ledger, dynamo.Item, error) {
		r.After = after
		return dynamo.Query[ledger](ctx, s.db, a, r)
	}) {
		if err != nil {
			return nil, err
		}

		for _, l := range page {
			slices.SortFunc(l.Entries, LatestFirst)

			for _, e := range l.Entries {
				if !e.Deleted && isAfter(e, in.Cursor) {
					all = append(all, e)
				}
			}
		}

		if len(all) > in.Limit {
			break
		}
	}

	return all, nil
}

// GetStatus is the request for the state of the connection to Strava.
type GetStatus struct{ auth.User }

// Status is the answer with the state of the connection.
type Status struct {
	Body struct {
		_ struct{} `schema:"StravaStatusBody"`

		Connected bool       `json:"connected" doc:"Whether Strava is connected. If it is broken, too, the user must connect again."`
		Broken    bool       `json:"broken" doc:"Whether Strava has ended the connection."`
		AthleteID int64      `json:"athleteId,omitempty" doc:"The athlete's id at Strava."`
		ExpiresAt *time.Time `json:"expiresAt,omitempty" doc:"When the access token expires. It is renewed before."`
		Importing bool       `json:"isImporting" doc:"Whether the first import goes on: workoutCount grows."`
		SyncedAt  *time.Time `json:"syncedAt,omitempty" doc:"When the activities were last fetched as a whole."`
		Workouts  int        `json:"workoutCount" doc:"The number of workouts that are not deleted."`
		Latest    *time.Time `json:"latestActivityAt,omitempty" doc:"When the latest workout began."`
		Fresh     bool       `json:"isFresh" doc:"Whether that is at most 7 days ago."`

		Unavailable     bool         `json:"unavailable" doc:"Whether Strava refuses this app as a whole. No user must connect again: workouts come later."`
		Reason          string       `json:"unavailableReason,omitempty" doc:"Why: application_inactive." example:"application_inactive"`
		Consent         link.Consent `json:"consent" doc:"What the user agrees to by connecting Strava. An app shows it before."`
		ConsentVersion  int          `json:"consentVersion" doc:"The version that the user has agreed to; 0 for none."`
		ConsentOutdated bool         `json:"consentOutdated" doc:"Whether the connection is of another version: the app asks the user to connect again."`
	}
}

// fresh is the maximum age of the latest workout of a user who trains.
const fresh = 7 * 24 * time.Hour

// GetStatusFunction returns the state of the caller's connection to Strava.
func GetStatusFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/get-status",
		Does:   "Returns the state of the caller's connection to Strava.",
		IfDown: "The app does not show whether Strava is connected.",
		On:     spec.Route{Method: "GET", Path: "/strava/status", Auth: spec.Session},
		Uses:   signin.Caller(tables.GetConnection, tables.ReadLedgers, tables.ReadBudget),
		Sends:  []spec.Queue{link.PurgeQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetStatus, link.ErrNotConnected)
}

// GetStatus returns the state of the connection, and counts the workouts by their ledgers. The
// application is unavailable from a refusal of Strava until a call succeeds. Workouts that are left
// without a connection, because the user had chosen so when that was possible, it has deleted.
func (s *Service) GetStatus(ctx context.Context, in *GetStatus) (*Status, error) {
	out := &Status{}

	c, err := link.Read(ctx, s.db, in.UserID)
	if err != nil && !errors.Is(err, link.ErrNotConnected) {
		return nil, err
	}

	out.Body.Consent, out.Body.ConsentVersion = link.NewConsent(int(s.keeps/(24*time.Hour))), c.Consent
	out.Body.ConsentOutdated = err == nil && c.Consent != link.ConsentVersion

	moment := func(epoch int64) *time.Time {
		if epoch == 0 {
			return nil
		}

		t := time.Unix(epoch, 0).UTC()

		return &t
	}
	out.Body.Connected, out.Body.Broken, out.Body.AthleteID = err == nil, c.Status == link.Broken, c.AthleteID
	out.Body.Importing = out.Body.Connected && !out.Body.Broken && c.FetchedAt == 0
	out.Body.ExpiresAt, out.Body.SyncedAt = moment(c.ExpiresAt), moment(c.FetchedAt)

	all, err := readBudget(ctx, s.db)
	if err != nil {
		return nil, err
	}

	if all.InactiveAt != 0 {
		out.Body.Unavailable, out.Body.Reason = true, "application_inactive"
	}

	entries, err := Entries(ctx, s.db, in.UserID, 0)
	if err != nil {
		return nil, err
	}

	var latest int64

	for _, e := range entries {
		if !e.Deleted {
			out.Body.Workouts++
			latest = max(latest, e.StartedAt)
		}
	}

	if !out.Body.Connected && len(entries) > 0 {
		if err := s.queue.Send(ctx, link.PurgeQueue, link.Purge{UserID: in.UserID}, link.PurgeDelay); err != nil {
			return nil, err
		}
	}

	out.Body.Latest = moment(latest)
	out.Body.Fresh = latest > 0 && s.now().Sub(time.Unix(latest, 0)) <= fresh

	return out, nil
}

// SyncActivities is the request to fetch the caller's activities.
type SyncActivities struct{ auth.User }

// Accepted is the answer to a request that a job carries out.
type Accepted struct {
	Status int
}

// SyncActivitiesFunction requests the caller's latest activities from Strava.
func SyncActivitiesFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/sync-activities",
		Does:    "Has the caller's latest activities fetched from Strava.",
		IfDown:  "Users cannot fetch activities themselves; webhooks and the night do.",
		On:      spec.Route{Method: "POST", Path: "/activities/sync", Auth: spec.Session, Answers: []int{http.StatusAccepted}},
		Uses:    signin.Caller(tables.GetConnection, tables.MarkSync),
		Sends:   []spec.Queue{link.BackfillQueue},
		Limits:  []spec.Limit{syncs},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).SyncActivities, link.ErrBroken, link.ErrNotConnected)
}

// SyncActivities requests the activities since the last sync, once in 15 minutes for a user. A
// request that fails or dies can be repeated once the function's timeout is over. Errors:
// not_connected, reconnect_required, sync_too_soon.
func (s *Service) SyncActivities(ctx context.Context, in *SyncActivities) (*Accepted, error) {
	c, err := link.Read(ctx, s.db, in.UserID)
	if err == nil && c.Status == link.Broken {
		err = link.ErrBroken
	}

	if err != nil {
		return nil, err
	}

	now, period := s.now(), syncs
	if c.Unsent { // the request that set the mark has died, unless it is still running
		period.Per = SyncActivitiesFunction().Timeout
	}

	key := dynamo.Key(tables.MarkSync, item.User(in.UserID), item.Connection)
	mark := dynamo.Set(link.Connection{SyncedAt: now.Unix(), Unsent: true}, "lastSyncAtUtc", "syncUnsent")

	// The limit is in the condition of the write only: the write of a deleted user is refused as such.
	due := dynamo.Absent[link.Connection]("lastSyncAtUtc").
		Or(dynamo.AtMost[link.Connection]("lastSyncAtUtc", now.Add(-period.Per).Unix()))
	same := dynamo.Exists[link.Connection]("PK").And(dynamo.Unchanged(c, "lastSyncAtUtc"), due)

	err = dynamo.Update(ctx, s.db, tables.MarkSync, key, mark, same)
	if dynamo.IsRefused(err) {
		refusal := problem.Beyond(syncs)

		last := limit.Window{Begins: time.Unix(c.SyncedAt, 0), Count: syncs.Max}
		if left := last.Left(period, now); left > 0 { // else another request was first, and the whole period is left
			refusal = refusal.WithRetryAfter(left)
		}

		return nil, refusal
	}

	if err != nil {
		return nil, err
	}

	err = outbox.Deliver(func() error {
		return s.queue.Send(ctx, link.BackfillQueue, link.Backfill{UserID: in.UserID}, 0)
	}, func() error {
		mine := dynamo.Equal[link.Connection]("lastSyncAtUtc", now.Unix())
		return dynamo.Update(ctx, s.db, tables.MarkSync, key, dynamo.Remove[link.Connection]("syncUnsent"), mine)
	})
	if err != nil {
		return nil, err
	}

	return &Accepted{Status: http.StatusAccepted}, nil
}

// Hooks is the service of the webhook.
type Hooks struct {
	db     dynamo.DB
	queue  queue.Sender
	verify string // token and secret of the webhook's address
}

// subscription is what this application is subscribed to.
type subscription struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	ID       int64  `dynamodbav:"subscriptionId"`
	Callback string `dynamodbav:"callbackUrl"`
}

// isSecret reports whether a text is the secret. Its time does not depend on the secret.
func (h *Hooks) isSecret(text string) bool {
	got, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(h.verify))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// VerifyWebhook is Strava's question whether the webhook is ours.
type VerifyWebhook struct {
	Secret    string `path:"secret" maxLength:"128" doc:"The secret of the address."`
	Mode      string `query:"hub.mode" maxLength:"64" doc:"subscribe"`
	Challenge string `query:"hub.challenge" required:"true" pattern:"^[0-9A-Za-z_.-]{1,256}$" doc:"What the answer must repeat."`
	Token     string `query:"hub.verify_token" required:"true" maxLength:"128" doc:"The token that the subscription was created with."`
}

// Challenge is the answer that Strava expects.
type Challenge struct {
	Body struct {
		Challenge string `json:"hub.challenge" doc:"The challenge of the question."`
	}
}

// VerifyWebhookFunction confirms to Strava that the webhook is ours.
func VerifyWebhookFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/verify-webhook",
		Does:    "Confirms to Strava that the webhook is ours.",
		IfDown:  "The webhook cannot be subscribed.",
		On:      spec.Route{Method: "GET", Path: "/webhooks/strava/{secret}", Auth: spec.Secret, OthersCall: true},
		Secrets: []string{Webhook},
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenHooks, (*Hooks).VerifyWebhook, errSecret)
}

// VerifyWebhook answers Strava's question, for a caller who knows the secret.
func (h *Hooks) VerifyWebhook(_ context.Context, in *VerifyWebhook) (*Challenge, error) {
	if !h.isSecret(in.Secret) || !h.isSecret(in.Token) {
		return nil, errSecret
	}

	out := &Challenge{}
	out.Body.Challenge = in.Challenge

	return out, nil
}

// ReceiveWebhook is an event of Strava.
type ReceiveWebhook struct {
	Secret string `path:"secret" maxLength:"128" doc:"The secret of the address."`
	Body   struct {
		_              struct{}       `additionalProperties:"true"`
		ObjectType     string         `json:"object_type" maxLength:"64" doc:"activity or athlete; others are ignored." example:"activity"`
		ObjectID       int64          `json:"object_id" minimum:"1" doc:"The id of the activity or the athlete." example:"12345678901"`
		AspectType     string         `json:"aspect_type" maxLength:"64" doc:"create, update or delete; others are ignored." example:"create"`
		Updates        map[string]any `json:"updates,omitempty" doc:"What has changed."`
		OwnerID        int64          `json:"owner_id" minimum:"1" doc:"The athlete." example:"1234567"`
		SubscriptionID int64          `json:"subscription_id" minimum:"1" doc:"The subscription." example:"120475"`
		EventTime      int64          `json:"event_time" minimum:"1" maximum:"4102444800" doc:"Epoch seconds." example:"1780754400"`
	}
}

// Received is the answer that Strava expects.
type Received struct {
	Status int
}

// ReceiveWebhookFunction receives the events of Strava.
func ReceiveWebhookFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/receive-webhook",
		Does:   "Takes the events of Strava.",
		IfDown: "Workouts appear in the night only.",
		On:     spec.Route{Method: "POST", Path: "/webhooks/strava/{secret}", Auth: spec.Secret, Answers: []int{http.StatusOK}},
		Uses:   []spec.Access{tables.GetSubscription}, Sends: []spec.Queue{EventQueue}, Secrets: []string{Webhook},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenHooks, (*Hooks).ReceiveWebhook, errSecret, errUnknown)
}

// ReceiveWebhook puts an event into the queue, and does nothing else, because Strava waits for two
// seconds only. If it fails, Strava sends the event again. It accepts and drops events that the
// room does not use.
func (h *Hooks) ReceiveWebhook(ctx context.Context, in *ReceiveWebhook) (*Received, error) {
	if !h.isSecret(in.Secret) {
		return nil, errSecret
	}

	ours, ok, err := dynamo.Get[subscription](ctx, h.db, tables.GetSubscription, item.Subscription, item.Meta)
	if err != nil {
		return nil, err
	}

	b := in.Body
	if !ok || ours.ID != b.SubscriptionID {
		return nil, errUnknown
	}

	out := &Received{Status: http.StatusOK}

	e := Event{Event: strava.Event{
		ObjectType:     b.ObjectType,
		ObjectID:       b.ObjectID,
		AspectType:     b.AspectType,
		OwnerID:        b.OwnerID,
		SubscriptionID: b.SubscriptionID,
		EventTime:      b.EventTime,
	}}
	switch {
	case b.ObjectType == "athlete" && b.AspectType == "update":
		authorized, _ := b.Updates["authorized"].(string)
		e.Updates = map[string]string{"authorized": authorized}
	case b.ObjectType != "activity" || !slices.Contains([]string{"create", "update", "delete"}, b.AspectType):
		return out, nil
	}

	return out, h.queue.Send(ctx, EventQueue, e, 0)
}

// newEvent returns an event like Strava's, whose handler fetches the activity.
func newEvent(athleteID int64, activityID string, at int64) Event {
	id, _ := strconv.ParseInt(activityID, 10, 64)
	return Event{Event: strava.Event{ObjectType: "activity", ObjectID: id, AspectType: "update", OwnerID: athleteID, EventTime: at}}
}
