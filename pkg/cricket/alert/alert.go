package alert

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/words"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// Alert is the message of send-alerts: an event of a match. Its text is fixed when
// it is sent, except for the minutes of a reminder. Its recipients are determined
// when it is handled. Match, Title, Body and Plain are in English.
type Alert struct {
	MatchID string     `json:"matchId"`
	Key     string     `json:"key"` // of the event in its match; an alert with the same key is sent once
	Kind    event.Kind `json:"kind"`
	Match   string     `json:"match"` // "India v Pakistan"
	Title   string     `json:"title"`
	Body    string     `json:"body"`
	Plain   string     `json:"plain,omitempty"` // the body for spoiler-free users; empty: they get no alert
	At      int64      `json:"at"`              // of the event, epoch s
	Slot    int64      `json:"slot,omitempty"`  // whose poll confirmed the event; 0 for an event without a poll
	// Says has the texts in all languages. A message of an earlier version has none: everybody gets English.
	Says  *event.Says `json:"says,omitempty"`
	Quiet bool        `json:"quiet,omitempty"` // of a start: start activities without a sound, and send nothing else

	activity.IDRange          // of the followers' user ids
	Users            []string `json:"users,omitempty"` // only these followers of the range, sorted: a retry
	Try              int      `json:"try,omitempty"`   // earlier attempts that did not reach the service
	// Service is push.APNs or push.FCM for a retry of what that service did not accept; "" for all phones.
	Service string `json:"service,omitempty"`
}

// NewAlert returns the message for an event. at is the time of the event, epoch s.
func NewAlert(matchID string, e event.Event, at int64) Alert {
	if e.Quiet {
		e.Title, e.Body = e.Match, e.Score.In(words.English)
		e.Says.Title, e.Says.Body = e.Says.Match, e.Score
	}

	return Alert{
		MatchID: matchID,
		Key:     e.Key,
		Kind:    e.Kind,
		Match:   e.Match,
		Title:   e.Title,
		Body:    e.Body,
		Plain:   e.Plain,
		At:      at,
		Says:    &e.Says,
		Quiet:   e.Quiet,
	}
}

// Two kinds of alerts have rules of their own, and claim each user in
// cricket-prematch-notifications: reminders, and those for which event.IsStart holds. These
// start a Live Activity on the phones that support it, once on each day of play, and once more
// before iOS ends it after 8 h.

// reminderKey and the start of the match are the key of a reminder. Its body is the number
// of minutes to the start.
const reminderKey = "reminder:"

// isReminder reports whether m is a reminder of a start.
func (m Alert) isReminder() bool { return strings.HasPrefix(m.Key, reminderKey) }

// remindsOf returns the start that a reminder is for, in tables.TimeLayout.
func (m Alert) remindsOf() string { return strings.TrimPrefix(m.Key, reminderKey) }

// maxKey is the maximum length of a key in bytes, so that the name of a part fits a
// sort key.
const maxKey = 200

// validate returns Invalid for a message that can never be sent.
func (m Alert) validate() error {
	switch {
	case !match.ValidID(m.MatchID):
		return problem.In("matchId", "%.32q is not a match id: valid are 1 to 19 digits", m.MatchID)
	case m.Key == "" || len(m.Key) > maxKey:
		return problem.In("key", "the key has %d bytes: valid are 1 to %d", len(m.Key), maxKey)
	case !slices.Contains(follower.Kinds(), m.Kind):
		return problem.In("kind", "%.32q is not a kind of alert: valid are %v", m.Kind, follower.Kinds())
	case m.Title == "":
		return problem.In("title", "the title is missing")
	}

	return nil
}

// part is the sort key of the message in cricket-alerts: the event and the followers
// that the message is for. It contains Try only for a retry of some followers: when
// Apple was not reached at all, the followers of the next attempt are the same.
func (m Alert) part() string {
	switch {
	case len(m.Users) > 0 && m.Service == push.FCM:
		return strings.Join([]string{m.Key, m.From, m.Until, strconv.Itoa(m.Try), m.Service}, "#")
	case len(m.Users) > 0:
		return strings.Join([]string{m.Key, m.From, m.Until, strconv.Itoa(m.Try)}, "#")
	case m.IDRange != activity.IDRange{}:
		return strings.Join([]string{m.Key, m.From, m.Until}, "#")
	}

	return m.Key
}

// collapseID returns the apns-collapse-id of all notifications of the event: a phone
// that receives two of them shows one. APNs allows 64 bytes. It has no effect on the
// start of an activity.
func (m Alert) collapseID() string {
	if id := m.MatchID + ":" + m.Key; len(id) <= 64 {
		return id
	}

	sum := sha256.Sum256([]byte(m.Key))

	return m.MatchID + ":" + hex.EncodeToString(sum[:16])
}

const (
	// maxAlertAge is the maximum age of an event. An older alert is dropped: nobody wants to
	// be woken for it. AlertQueue gives a message up earlier; an operator may send it again.
	maxAlertAge = 2 * time.Hour
	// Longest is the time after an event in which its followers may still be needed:
	// maxAlertAge, and that of a run.
	Longest = maxAlertAge + 15*time.Minute
	// keepAlerts is how long the rows of cricket-alerts are kept: longer than any
	// match lasts.
	keepAlerts = 7 * 24 * time.Hour
	// alertExpiration is how long Apple stores an alert for a phone that is offline.
	alertExpiration = time.Hour

	// alertLease is how long a worker holds the lock of a part without extending it.
	// It is longer than a page takes.
	alertLease = 2 * time.Minute
	// sendTimeout bounds the pushes of one text to a page. They normally take a
	// second, so Apple does not answer if they take longer.
	sendTimeout = 5 * time.Second
	// pageSends bounds the pushes of a page, in sendTimeout. Whoever is not reached until then
	// is retried, so that many texts, in as many languages, do not take longer than few.
	pageSends = 8
	// runTimeout is the time after which a run begins no further page. A page takes a
	// minute if Apple answers for none of its texts and 3 channels, so the run ends
	// before the function's timeout of 2 min.
	runTimeout = 45 * time.Second

	readConcurrency  = 32 // reads of devices
	claimConcurrency = 32 // writes of claims

	// Followers who were not reached are retried after 10 s, 20 s, 40 s and so on up
	// to 15 min, for 51 min in total.
	maxAlertTries   = 9
	alertRetryDelay = 10 * time.Second
)

// batchSizes are numbers of followers.
type batchSizes struct {
	Message int32 // maximum of one message, which takes some seconds
	Part    int   // target of a part, less than Message so that few parts exceed it
	Page    int   // between two records of the progress: a crash repeats at most so many
}

// Alerter sends alerts to followers.
type Alerter struct {
	db          dynamo.DB
	queue       queue.Sender
	sender      *push.Sender
	google      *fcm.Sender // nil: the stage has no Android phones
	locks       *lock.Locks
	channels    activity.Channels
	leagues     *catalog.Leagues
	now         func() time.Time
	environment string // APNs environment of the phones that the sender reaches; "" for all
	attributes  string // name of the app's ActivityAttributes type
	sizes       batchSizes
	sendTimeout time.Duration
}

// OpenAlerter opens the service of send-alerts.
func OpenAlerter(ctx context.Context, env app.Env) (*Alerter, error) {
	apple, err := activity.OpenSender(ctx, env)
	if err != nil {
		return nil, err
	}

	return NewAlerter(env, apple, fcm.OpenEnv(env)), nil
}

// NewAlerter returns the service with the caller's senders. google is nil at a stage without Android phones.
func NewAlerter(env app.Env, apple *push.Sender, google *fcm.Sender) *Alerter {
	db := dynamo.Open(env.AWS, env.Prefix)

	return &Alerter{
		db: db, queue: queue.Open(env.AWS, env.Queues), sender: apple, google: google, now: env.Now,
		locks: &lock.Locks{
			DB:      db,
			Acquire: tables.AcquireLock,
			Extend:  tables.ExtendLock,
			Release: tables.ReleaseLock,
			TTL:     alertLease,
			Now:     env.Now,
		},
		leagues:     catalog.NewLeagues(db, env.Now),
		channels:    activity.NewChannels(env, func(context.Context) (*push.Sender, error) { return apple, nil }),
		environment: push.EnvironmentOf(env), attributes: cmp.Or(env.Setting(tables.APNSType), tables.AttributesType),
		sizes: batchSizes{Message: 2000, Part: 1600, Page: 500}, sendTimeout: env.Limit(sendTimeout),
	}
}

// alertRow is a row of cricket-alerts: the progress of one part of an alert. A part that
// is done has no user ids: they would outlive the accounts of the users.
type alertRow struct {
	MatchID string             `dynamodbav:"matchId"`
	Part    string             `dynamodbav:"part"`
	After   string             `dynamodbav:"after,omitempty"` // user id of the last follower handled
	Parts   []activity.IDRange `dynamodbav:"parts,omitempty"` // the ranges that were given to other messages, in order
	Done    bool               `dynamodbav:"done,omitempty"`
	TTL     int64              `dynamodbav:"ttl"`
}

// SendAlertsFunction sends an event of a match to its followers.
func SendAlertsFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "cricket/send-alerts",
		Does:   "Sends an alert about one event of a match to each follower once.",
		IfDown: "Users get no alerts and no reminders. Lock screens are updated.",
		On:     tables.AlertQueue,
		Uses: []spec.Access{
			tables.GetFixture, tables.AllLeagues, tables.GetCached, tables.GetDisplay, tables.GetAlert, tables.RecordAlert, tables.AcquireLock,
			tables.ExtendLock, tables.ReleaseLock,
			tables.AllFollowers, tables.AllSubscribers, tables.BatchGetPreferences, tables.GetDevice, tables.DeleteDevice,
			tables.UpdatePushToStart, tables.MarkReminder, tables.ClaimReminders, tables.ClaimChannel, tables.RemoveChannel,
		},
		Sends: []spec.Queue{tables.AlertQueue}, Secrets: []string{tables.APNSKey, fcm.Key},
		Emits: []spec.Metric{tables.AlertsDelivered, tables.AlertsSuppressed, tables.AlertsGone, tables.AlertsRetried,
			tables.AppleFailures, tables.GoogleFailures, tables.PushDelay, tables.AndroidDelay},
		Memory: 512, Timeout: 2 * time.Minute,
	}, OpenAlerter, (*Alerter).SendAlert)
}

// SendAlert sends an event to the audience of a match, or to the message's part of it:
// to the followers of the match, of its teams and of its league whose preferences allow
// it now, on each of their phones. If there are more than 2,000, it sends messages for
// the others.
//
// It records its progress after each page. A second run continues there, and does
// nothing after the last page. After a crash at most one page is repeated: a phone
// shows a repeated notification once, and an activity is started at most once,
// because each user is claimed before. A user who was claimed by an earlier run gets
// the notification, whether or not the activity started.
//
// While another worker holds the lock of the part, the message is sent again with a
// delay. Followers who were not reached are retried by a message of their own. If the
// time of the run is over, the message is sent again and continues.
//
// iPhones get the alert from Apple, Android phones from Google, at the same time. A service that
// fails, or that has answered for no phone of a page, is not tried again in the run: its phones are
// retried by messages of that service alone. So it costs the phones of the other at most one
// sendTimeout.
//
// Invalid: the message can never be sent. An alert that is too old, or of a match whose
// league is inactive, is dropped. Any other error: the message is handled again.
func (a *Alerter) SendAlert(ctx context.Context, m Alert) error {
	if err := m.validate(); err != nil {
		return err
	}

	f, ok, err := dynamo.Get[match.Fixture](ctx, a.db, tables.GetFixture, m.MatchID)
	if err != nil {
		return err
	}

	if !ok {
		return problem.New(problem.Invalid, "match_not_found", "match %s does not exist", m.MatchID)
	}

	switch inactive, err := a.leagues.Inactive(ctx); {
	case err != nil:
		return err
	case inactive[f.LeagueID]:
		slog.InfoContext(ctx, "dropped an alert of an inactive league", "match", m.MatchID, "key", m.Key)
		return nil
	}

	now := a.now()
	if now.Sub(time.Unix(m.At, 0)) > maxAlertAge || m.isReminder() && (!now.Before(f.Start()) || Moved(m.remindsOf(), f.StartTime)) {
		slog.WarnContext(ctx, "dropped an alert that is too old", "match", m.MatchID, "key", m.Key)
		return nil
	}

	if m.isReminder() {
		m.setBody(startsIn(f.Start().Sub(now)))
	}

	lease, err := a.locks.Take(ctx, "alert:"+m.MatchID+":"+m.part(), lock.Holder(ctx, "alerts"))
	if err == nil {
		err = errors.Join(a.sendLocked(ctx, lease, f, m), lease.Release(context.WithoutCancel(ctx)))
	}

	if errors.Is(err, lock.ErrHeld) { // an error would use up a receive of the message
		return a.queue.Send(ctx, tables.AlertQueue, m, alertLease)
	}

	return err
}

// sendLocked sends an alert whose part the caller has locked.
func (a *Alerter) sendLocked(ctx context.Context, lease *lock.Lease, f match.Fixture, m Alert) error {
	row, _, err := dynamo.Get[alertRow](ctx, a.db, tables.GetAlert, m.MatchID, m.part())
	if err != nil || row.Done {
		return err
	}

	down := map[string]bool{}

	if m.Service != push.FCM {
		if err := a.sender.Ready(ctx); err != nil {
			slog.WarnContext(ctx, "cannot connect to Apple", "err", err)
			activity.AppleFailed(ctx, a.now())

			if !a.both(m) {
				return a.retry(ctx, m, 0)
			}

			down[push.APNs] = true
		}
	}

	now := a.now()

	run := alertRun{
		Alerter: a, alert: m, match: f, lease: lease, deadline: now.Add(runTimeout), expires: now.Add(alertExpiration),
		messages: map[audience]message{}, down: down,
	}
	if m.isReminder() {
		run.expires = f.Start()
	}

	defer func() { run.emitCounts(ctx) }()

	err = run.sendPages(ctx, row)
	if _, ok := errors.AsType[*push.Refused](err); ok {
		activity.AppleFailed(ctx, a.now())
	}

	if m.Service == push.FCM && isOfGoogle(err) {
		googleFailed(ctx, a.now())
	}

	return err
}

// both reports whether m is for the phones of both services.
func (a *Alerter) both(m Alert) bool { return a.google != nil && m.Service == "" }

// isOfGoogle reports whether Google refuses every message, or no more of them for now, or cannot be asked without
// a key.
func isOfGoogle(err error) bool {
	_, refused := errors.AsType[*fcm.Refused](err)
	_, limited := errors.AsType[*fcm.Limited](err)

	return refused || limited || errors.Is(err, fcm.ErrKey)
}

// googleFailed counts a message for which Google accepted nothing.
func googleFailed(ctx context.Context, now time.Time) {
	telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(tables.GoogleFailures, 1)})
}

// recordProgress stores the progress of m's part: row.After and the named attributes
// of row; or, when the part is done, that it is. It returns lock.ErrHeld if another
// worker has recorded a later follower, or the end of the part.
func (a *Alerter) recordProgress(ctx context.Context, m Alert, row alertRow, names ...string) error {
	row.TTL = a.now().Add(keepAlerts).Unix()
	set := dynamo.Set(row, "ttl").Set(row, names...)

	notLater := dynamo.Absent[alertRow]("after")
	if row.After != "" {
		notLater = notLater.Or(dynamo.AtMost[alertRow]("after", row.After))
	}

	if row.Done {
		set = set.Set(row, "done").Remove("after", "parts")
	} else {
		set = set.Set(row, "after")
		notLater = notLater.And(dynamo.Absent[alertRow]("done"))
	}

	err := dynamo.Update(ctx, a.db, tables.RecordAlert, dynamo.Key(tables.RecordAlert, m.MatchID, m.part()), set, notLater)
	if dynamo.IsRefused(err) {
		return fmt.Errorf("%w: %w", lock.ErrHeld, err)
	}

	return err
}

// retry sends a message again with a delay, which is at least least. It drops the message after maxAlertTries.
func (a *Alerter) retry(ctx context.Context, m Alert, least time.Duration) error {
	if m.Try >= maxAlertTries {
		slog.ErrorContext(ctx, "gave up: followers were not reached", "match", m.MatchID, "key", m.Key, "users", len(m.Users), "tries", m.Try)
		return nil
	}

	delay := max(alertRetryDelay<<m.Try, least)
	m.Try++

	return a.queue.Send(ctx, tables.AlertQueue, m, min(delay, activity.LongestDelay))
}

// alertRun is the state of one call of SendAlert.
type alertRun struct {
	*Alerter
	alert    Alert
	match    match.Fixture
	lease    *lock.Lease
	deadline time.Time // no page begins after it
	expires  time.Time // Apple and Google store the pushes until then
	messages map[audience]message

	pageDeadline time.Time // of the pushes of the current page

	mu        sync.Mutex          // of what follows, which concurrent pushes change
	down      map[string]bool     // services that are not tried again in the run
	unreached map[string][]string // user ids of the current page to retry, by service
	answered  map[string]bool     // services that have answered for a phone of the current page
	pause     time.Duration       // for which Google takes nothing

	delivered, suppressed, unregistered, retried int
	delays, androidDelays                        telemetry.Histogram // of the pushes that Apple and Google accepted, from the alert's slot
}

// message is a push message of one of the services.
type message struct {
	apple  *push.Message
	google *fcm.Message
}

// service returns the kind of the tokens that the message can be sent to.
func (m message) service() string {
	if m.google != nil {
		return push.FCM
	}

	return push.APNs
}

// isDown reports whether a service is not tried again in the run.
func (r *alertRun) isDown(service string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.down[service]
}

// emitCounts emits the metrics of the run.
func (r *alertRun) emitCounts(ctx context.Context) {
	telemetry.Emit(ctx, r.now(), append([]telemetry.Sample{
		telemetry.Count(tables.AlertsDelivered, r.delivered), telemetry.Count(tables.AlertsSuppressed, r.suppressed),
		telemetry.Count(tables.AlertsGone, r.unregistered), telemetry.Count(tables.AlertsRetried, r.retried),
	}, slices.Concat(r.delays.Samples(tables.PushDelay), r.androidDelays.Samples(tables.AndroidDelay))...),
		slog.String("match", r.alert.MatchID), slog.String("key", r.alert.Key), slog.String("part", r.alert.part()))
}

// sendPages sends the alert to the followers of the part, page by page, from the
// recorded progress on. At the deadline it sends the message again for the rest. If
// the part is too large, it stores the ranges into which it divides the part before
// it sends their messages, so that a second run divides it in the same way.
func (r *alertRun) sendPages(ctx context.Context, row alertRow) error {
	own := r.alert.IDRange

	own.From = max(own.From, row.After)
	if err := r.sendParts(ctx, row.Parts, &own); err != nil {
		return err
	}

	for more := true; more; {
		var (
			found []follower.Member
			err   error
		)

		if found, more, err = follower.ReadAudience(ctx, r.db, r.match, own.Query, r.sizes.Message, r.now()); err != nil {
			return err
		}

		if more && len(row.Parts) == 0 {
			if row.Parts, err = r.splitRange(ctx, own, found); err != nil {
				return err
			}

			if err := r.recordProgress(ctx, r.alert, row, "parts"); err != nil {
				return err
			}

			if err := r.sendParts(ctx, row.Parts, &own); err != nil {
				return err
			}

			more = false
		}

		for page := range slices.Chunk(found, r.sizes.Page) {
			if r.now().After(r.deadline) { // the next run continues here
				return r.queue.Send(ctx, tables.AlertQueue, r.alert, alertRetryDelay)
			}

			end := page[len(page)-1].UserID
			if err := r.sendPage(ctx, page, activity.IDRange{From: own.From, Until: end}); err != nil {
				return err
			}

			own.From = end
			if err := r.recordProgress(ctx, r.alert, alertRow{After: end}); err != nil {
				return err
			}
		}
	}

	return r.recordProgress(ctx, r.alert, alertRow{After: own.From, Done: true})
}

// splitRange divides the audience in the range after found, which are its first.
func (r *alertRun) splitRange(ctx context.Context, all activity.IDRange, found []follower.Member) ([]activity.IDRange, error) {
	top, err := follower.LastOfAudience(ctx, r.db, r.match, activity.IDRange{Until: all.Until}.Query)
	if err != nil || top == "" {
		return nil, err
	}

	seen := make([]string, len(found))
	for i, f := range found {
		seen[i] = f.UserID
	}

	return all.Split(seen, top, r.sizes.Part, activity.MaxParts), nil
}

// sendParts sends a message for each part, and ends own where the first part begins.
func (r *alertRun) sendParts(ctx context.Context, parts []activity.IDRange, own *activity.IDRange) error {
	for i, part := range parts {
		if i == 0 {
			own.Until = part.From
		}

		m := r.alert

		m.IDRange = part
		if err := r.queue.Send(ctx, tables.AlertQueue, m, 0); err != nil {
			return err
		}
	}

	return nil
}

// recipient is a follower who gets the alert.
type recipient struct {
	follower.DeviceRow
	view        string // perspective
	spoilerFree bool
	hasActivity bool // of the match: no other one is started
	silent      bool // start an activity without a sound, and send no notification
	subscribed  bool // follows the match through a team or its league alone
	// reregistered reports that the token is unregistered, but the phone has registered it
	// again since.
	reregistered bool
}

// audience identifies the recipients of one push message: a notification, or the
// start of an activity.
type audience struct {
	service     string // push.APNs or push.FCM
	spoilerFree bool
	view        string // perspective; "" for a notification
	channel     bool   // the activity listens to a channel
	silent      bool   // the activity starts without a sound
	language    words.Language
}

// sendPage sends the alert to the followers of a page. all is the range of the page,
// for the message that retries the unreached.
func (r *alertRun) sendPage(ctx context.Context, page []follower.Member, all activity.IDRange) error {
	if err := r.lease.Extend(ctx); err != nil {
		return err
	}

	to, err := r.recipients(ctx, page)
	if err != nil {
		return err
	}

	r.unreached, r.answered, r.pageDeadline = map[string][]string{}, map[string]bool{}, time.Now().Add(pageSends*r.sendTimeout)
	if event.IsStart(r.alert.Key) {
		if to, err = r.startActivities(ctx, to); err != nil {
			return err
		}
	}

	heard := filter(to, func(p recipient) bool { return !p.silent })
	if err := r.notify(ctx, heard); err != nil {
		return err
	}

	for _, service := range slices.Sorted(maps.Keys(r.unreached)) {
		m := r.alert
		m.IDRange, m.Users = all, slices.Compact(slices.Sorted(slices.Values(r.unreached[service])))
		r.retried += len(m.Users)

		if r.google != nil {
			m.Service = service
		}

		if r.both(r.alert) && !r.answered[service] && !r.isDown(service) {
			r.leave(ctx, service, nil)
		}

		least := time.Duration(0)
		if service == push.FCM {
			least = r.pause
		}

		if err := r.retry(ctx, m, least); err != nil {
			return err
		}
	}

	return nil
}

// recipients returns the followers of a page whose preferences allow the alert now, or the start of
// an activity, and who have a phone in the sender's environment. For a reminder it claims the
// users, and omits those whom another part has claimed. A second run of the same part
// gets the same claims.
//
// It reads preferences and phones with eventual consistency, at half the read units: a change of
// the last second may come too late for the alert, as it would a second later. Nothing is written
// by what it reads alone: a phone or a token is removed only if it is as it was read, and the start
// of an activity is claimed by a condition. Claims of reminders are written without one, and are
// read strongly.
func (r *alertRun) recipients(ctx context.Context, page []follower.Member) ([]recipient, error) {
	now := r.now()
	page = slices.DeleteFunc(slices.Clone(page), func(f follower.Member) bool {
		_, listed := slices.BinarySearch(r.alert.Users, f.UserID)
		return f.Off || len(r.alert.Users) > 0 && !listed
	})

	keys := make([]dynamo.Item, len(page))
	for i, f := range page {
		keys[i] = dynamo.Key(tables.BatchGetPreferences, f.UserID)
	}

	rows, err := dynamo.GetAll[follower.PreferencesRow](ctx, r.db.Eventual(), tables.BatchGetPreferences, keys)
	if err != nil {
		return nil, err
	}

	stored := make(map[string]follower.Preferences, len(rows))
	for _, p := range rows {
		stored[p.UserID] = p.Preferences
	}

	defaults := follower.DefaultPreferences()
	phones := make([][]recipient, len(page))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(readConcurrency)

	for i, f := range page {
		p, ok := stored[f.UserID]
		if !ok {
			p = defaults
		}

		p = f.Preferences(p)

		starts := event.IsStart(r.alert.Key) && p.StartsActivities(now)
		heard := !r.alert.Quiet && p.Allows(r.alert.Kind, now) && (!p.SpoilerFree || r.alert.Plain != "")

		if !heard && !starts {
			r.suppressed++
			continue
		}

		g.Go(func() error {
			found, err := follower.RecentDevices(gctx, r.db, f.UserID, now)
			if err != nil {
				return err
			}

			found = slices.DeleteFunc(found, func(d follower.DeviceRow) bool { return !r.serves(d) })
			starter := slices.IndexFunc(found, func(d follower.DeviceRow) bool { return d.PushToStart != "" })

			for n, d := range found {
				to := recipient{
					DeviceRow: d, view: r.match.Perspective(f.TeamID), spoilerFree: p.SpoilerFree, silent: !heard, subscribed: f.Subscribed,
				}

				// An end that was withdrawn has ended the activities of before.
				to.hasActivity = !starts || n != starter || f.ActivityAt > r.match.ReopenedAt && f.HasActivity(now)
				if starts && n == starter && event.IsRenewal(r.alert.Key) {
					to.hasActivity = !f.Subscribed && !f.NeedsRenewal(now)
				}

				phones[i] = append(phones[i], to)
			}

			return nil
		})
	}

	if err := g.Wait(); err != nil {
		return nil, err
	}

	all := slices.Concat(phones...)
	if r.alert.isReminder() && len(r.alert.Users) == 0 {
		return r.claimReminders(ctx, all)
	}

	return all, nil
}

// serves reports whether the alert goes to a phone: the stage has its service, and the message is not
// for the other one.
func (r *alertRun) serves(d follower.DeviceRow) bool {
	if d.Kind == push.FCM {
		return r.google != nil && r.alert.Service != push.APNs
	}

	return d.Takes(r.environment) && r.alert.Service != push.FCM
}

// prematchRow is a row of cricket-prematch-notifications: the claim of a user's
// reminder of a match, or of the start of a user's activity. With the user id wholeMatch it
// records that the reminder of the match was sent.
type prematchRow struct {
	MatchID   string `dynamodbav:"matchId"`             // of a claim {matchId}#{userId}
	UserID    string `dynamodbav:"userId"`              // of the start of an activity #START#{userId}
	ClaimedBy string `dynamodbav:"claimedBy,omitempty"` // the part of the alert that serves the user
	// Start is the start of the match that a reminder is for, in tables.TimeLayout, or the
	// key of the alert that starts an activity. A claim for another start is no claim.
	Start string `dynamodbav:"start,omitempty"`
	follower.OwnActivity
	TTL int64 `dynamodbav:"ttl"`
}

// ReminderClaim returns the key of the claim of a user's reminder. The claims of a user have
// a partition of their own, so that those of a match are not bounded by the 1,000 writes a
// second of one partition.
func ReminderClaim(matchID, userID string) []string { return []string{matchID + "#" + userID, userID} }

// claimReminders claims the users' reminders of the start for this part, and returns the
// users without those whom another part has claimed. The batches have no conditions: no
// other worker claims these users, because the caller holds the lock of the part, and
// every user is in one part.
func (r *alertRun) claimReminders(ctx context.Context, to []recipient) ([]recipient, error) {
	users := make([]string, len(to))
	for i, p := range to {
		users[i] = p.UserID
	}

	users = slices.Compact(users) // the phones of a user follow each other
	keys := make([]dynamo.Item, len(users))

	for i, id := range users {
		keys[i] = dynamo.Key(tables.ClaimReminders, ReminderClaim(r.alert.MatchID, id)...)
	}

	found, err := dynamo.GetAll[prematchRow](ctx, r.db, tables.ClaimReminders, keys)
	if err != nil {
		return nil, err
	}

	part, start := r.alert.part(), r.alert.remindsOf()
	claimed := map[string]prematchRow{} // for this start

	for _, row := range found {
		if row.Start == start {
			claimed[row.UserID] = row
		}
	}

	var fresh []prematchRow

	for _, id := range users {
		if _, ok := claimed[id]; !ok {
			fresh = append(fresh, r.claim(ReminderClaim(r.alert.MatchID, id), part, start))
		}
	}

	to = slices.DeleteFunc(to, func(p recipient) bool {
		row, ok := claimed[p.UserID]
		return ok && row.ClaimedBy != part
	})

	return to, dynamo.PutAll(ctx, r.db, tables.ClaimReminders, fresh)
}

// claim returns the row of a claim.
func (r *alertRun) claim(key []string, by, start string) prematchRow {
	return prematchRow{MatchID: key[0], UserID: key[1], ClaimedBy: by, Start: start, TTL: r.now().Add(follower.KeepClaims).Unix()}
}

// putStartClaim writes the claim of the start of a user's activity. It returns false if the
// condition does not hold for the stored row.
func (r *alertRun) putStartClaim(ctx context.Context, userID, by string, cond expression.ConditionBuilder) (bool, error) {
	row := r.claim(follower.StartClaim(r.alert.MatchID, userID), by, r.alert.Key)
	return dynamo.Applied(dynamo.Put(ctx, r.db, tables.MarkReminder, row, cond))
}

// notify sends the notification. It deletes the devices whose token is unregistered, unless
// they were registered again.
func (r *alertRun) notify(ctx context.Context, to []recipient) error {
	audiences := map[audience][]recipient{}
	for _, p := range to {
		who := audience{service: cmp.Or(p.Kind, push.APNs), spoilerFree: p.spoilerFree, language: r.alert.languageOf(p.Phone)}
		audiences[who] = append(audiences[who], p)
	}

	inTurn := slices.SortedFunc(maps.Keys(audiences), inOrder)
	unregistered := make([][]recipient, len(inTurn))

	var g errgroup.Group // so that a page of many languages takes no longer than one of a single language

	for i, who := range inTurn {
		m, err := r.notification(who)
		if err != nil {
			return errors.Join(err, g.Wait())
		}

		g.Go(func() (err error) {
			unregistered[i], _, err = r.send(ctx, m, audiences[who], func(p recipient) string { return p.DeviceToken })
			return err
		})
	}

	if err := g.Wait(); err != nil {
		return err
	}

	for _, p := range notReregistered(slices.Concat(unregistered...)) {
		err := follower.RemoveDevice(ctx, r.db, p.DeviceRow, dynamo.Unchanged(p.DeviceRow, "updatedAt"))
		if err := dynamo.IgnoreRefused(err); err != nil {
			return err
		}
	}

	return nil
}

// filter returns the recipients for whom keep returns true.
func filter(to []recipient, keep func(recipient) bool) []recipient {
	return slices.DeleteFunc(slices.Clone(to), func(p recipient) bool { return !keep(p) })
}

// notReregistered returns the recipients whose token is to be removed.
func notReregistered(unregistered []recipient) []recipient {
	return filter(unregistered, func(p recipient) bool { return !p.reregistered })
}

// inOrder compares audiences, so that a second run has the same order.
func inOrder(a, b audience) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }

// notification returns the notification of the alert for an audience. It is Invalid if the text is
// too long for a push.
func (r *alertRun) notification(who audience) (m message, err error) {
	if m, ok := r.messages[who]; ok {
		return m, nil
	}

	text := r.alert.banner(who.language, who.spoilerFree)
	text.Sound = "default"

	a := push.Alert{
		Terms: push.Terms{Expires: r.expires}, Banner: text, Collapse: r.alert.collapseID(), Thread: r.alert.MatchID,
		Custom: map[string]any{"matchId": r.alert.MatchID, "kind": string(r.alert.Kind)},
	}
	if who.service == push.FCM {
		m.google, err = fcm.Notify(r.now(), forAndroid(a))
	} else {
		m.apple, err = push.Notify(a)
	}

	switch {
	case errors.Is(err, push.ErrTooLarge), errors.Is(err, fcm.ErrTooLarge):
		return message{}, problem.New(problem.Invalid, "alert_too_long",
			"the alert is too long: a push has at most %d bytes", push.MaxPayload).Because(err)
	case err != nil:
		return message{}, err
	}

	r.messages[who] = m

	return m, nil
}

// startActivities starts a Live Activity, which shows the alert, on each phone that
// supports it and has no activity of the match. It returns the recipients who need a
// notification: all others, and those whose push-to-start token is unregistered. It removes
// such a token, unless the phone was registered again. It starts nothing when the
// match is over, because no push would end the activity.
func (r *alertRun) startActivities(ctx context.Context, to []recipient) (rest []recipient, err error) {
	audiences := map[audience][]recipient{}

	for _, p := range to {
		if p.PushToStart == "" || p.hasActivity || r.match.EndingAt != 0 || r.isDown(push.APNs) {
			rest = append(rest, p)
			continue
		}

		who := audience{service: push.APNs, view: p.view, channel: p.HasBroadcasts(), silent: p.silent, language: r.alert.languageOf(p.Phone)}
		audiences[who] = append(audiences[who], p)
	}

	for _, who := range slices.SortedFunc(maps.Keys(audiences), inOrder) {
		notStarted, err := r.startAudience(ctx, who, audiences[who])
		if err != nil {
			return nil, err
		}

		rest = append(rest, notStarted...)
	}

	return rest, nil
}

// startAudience starts the activities of an audience. It returns the recipients who get none.
//
// A phone starts an activity for each push it receives, so each user is claimed first, for this
// alert only: the next day of play claims again. The claim is released only if Apple certainly did
// not accept the push. So no user gets two activities, and a user who was claimed before gets a
// notification. A silent start has none: if the run that claimed it died before the push, the user has no
// activity until the next day of play. The match is read again after the channel was opened, as start-activity does.
func (r *alertRun) startAudience(ctx context.Context, who audience, to []recipient) (rest []recipient, err error) {
	m, err := r.startMessage(ctx, who)
	if err != nil {
		return nil, err
	}

	f, ok, err := dynamo.Get[match.Fixture](ctx, r.db, tables.GetFixture, r.alert.MatchID)
	if err != nil {
		return nil, err
	}

	if m.apple == nil || !ok || f.EndingAt != 0 {
		return to, nil
	}

	to, rest, err = r.claimStarts(ctx, to)
	if err != nil {
		return nil, err
	}

	unregistered, notSent, err := r.send(ctx, m, to, func(p recipient) string { return p.PushToStart })
	if err := errors.Join(err, r.releaseStarts(ctx, notSent)); err != nil {
		return nil, err
	}

	for _, p := range notReregistered(unregistered) {
		unchanged := dynamo.Unchanged(p.DeviceRow, "pushToStartToken")

		err := dynamo.Update(ctx, r.db, tables.UpdatePushToStart, dynamo.Key(tables.UpdatePushToStart, p.UserID, p.DeviceToken),
			dynamo.Remove[follower.DeviceRow]("pushToStartToken"), unchanged)
		if err := dynamo.IgnoreRefused(err); err != nil {
			return nil, err
		}
	}

	return append(rest, unregistered...), nil
}

// claimStarts claims the starts of users' activities. It returns the users it claimed,
// and those who were claimed before.
func (r *alertRun) claimStarts(ctx context.Context, to []recipient) (now, before []recipient, err error) {
	claimed := make([]bool, len(to))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(claimConcurrency)

	available := dynamo.Absent[prematchRow]("userId").Or(dynamo.Absent[prematchRow]("claimedBy"),
		dynamo.NotEqual[prematchRow]("start", r.alert.Key))
	needed := available.And(follower.NeedsStart(r.now(), event.IsRenewal(r.alert.Key), r.match.ReopenedAt))

	for i, p := range to {
		g.Go(func() (err error) {
			cond := available
			if p.subscribed {
				cond = needed
			}

			claimed[i], err = r.putStartClaim(ctx, p.UserID, r.alert.part(), cond)
			return err
		})
	}

	err = g.Wait()

	for i, p := range to {
		if claimed[i] {
			now = append(now, p)
		} else {
			before = append(before, p)
		}
	}

	return now, before, err
}

// releaseStarts releases claims, so that a retry can start the activities.
func (r *alertRun) releaseStarts(ctx context.Context, to []recipient) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(claimConcurrency)

	for _, p := range to {
		g.Go(func() error {
			_, err := r.putStartClaim(ctx, p.UserID, "", dynamo.Exists[prematchRow]("claimedBy"))
			return err
		})
	}

	return g.Wait()
}

// startMessage returns the push message that starts a Live Activity for an audience.
// It returns none if there is no display yet, or if the match is over, because no push
// would end the activity.
func (r *alertRun) startMessage(ctx context.Context, who audience) (none message, err error) {
	if m, ok := r.messages[who]; ok {
		return m, nil
	}

	d, ok, err := match.ReadDisplay(ctx, r.db, r.alert.MatchID, who.view)
	if err != nil || !ok {
		return none, err
	}

	c, _, err := match.ReadScore(ctx, r.db, r.alert.MatchID)
	if err != nil || c.State.Phase.Over() {
		return none, err
	}

	channel := ""
	if who.channel {
		if channel, err = r.channels.Open(ctx, r.alert.MatchID, who.view); err != nil {
			slog.WarnContext(ctx, "cannot open a channel: activities start without one", "match", r.alert.MatchID, "view", who.view, "err", err)

			channel = ""
		}
	}

	attributes := activity.Attributes{MatchID: r.alert.MatchID, Local: c.State.Local.Name, Visitor: c.State.Visitor.Name}
	if who.view != match.Neutral {
		attributes.TeamID = who.view
	}

	text := r.alert.banner(who.language, false)
	if !who.silent {
		text.Sound = "default"
	}

	state := push.State{Terms: push.Terms{Expires: r.expires}, Content: d.Display, Time: time.Unix(d.At, 0), Alert: &text}

	if d.Playing {
		state.Stale = state.Time.Add(activity.StaleAfter)
	}

	begin, err := push.Begin(push.Activity{Type: r.attributes, Attributes: attributes, Channel: channel}, state)
	if err != nil {
		return none, fmt.Errorf("display of match %s for %s: %w", r.alert.MatchID, who.view, err)
	}

	r.messages[who] = message{apple: begin}

	return r.messages[who], nil
}

// send pushes a message to recipients by their tokens. It returns those whose token is
// unregistered, and those to whom the message was certainly not delivered, also with an error. It
// adds all who were not reached to r.unreached. A fault of one of both services is no error: see
// SendAlert.
func (r *alertRun) send(ctx context.Context, m message, to []recipient,
	token func(recipient) string) (unregistered, notSent []recipient, err error) {
	service := m.service()
	waiting, unanswered := map[string]recipient{}, map[string]bool{}

	for _, p := range to {
		waiting[token(p)] = p
	}

	tokens := slices.Sorted(maps.Keys(waiting))

	outcome := func(token string, o push.Outcome) {
		p := waiting[token]

		r.mu.Lock()
		defer r.mu.Unlock()

		switch o.Result {
		case push.Delivered:
			r.delivered++
			r.accepted(service)
		case push.Unregistered:
			r.unregistered++
			p.reregistered = p.UpdatedAt > o.Since.UnixMilli()
			unregistered = append(unregistered, p)
		default:
			unanswered[token] = o.Reason == ""
			return
		}

		delete(waiting, token)
	}

	if !r.isDown(service) {
		ctx, cancel := context.WithTimeout(ctx, min(r.sendTimeout, time.Until(r.pageDeadline)))
		defer cancel()

		if service == push.FCM {
			_, err = r.google.Send(ctx, m.google, slices.Values(tokens), outcome)
		} else {
			_, err = r.sender.Send(ctx, m.apple, slices.Values(tokens), outcome)
		}

		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}

		_, refused := errors.AsType[*push.Refused](err)
		_, limited := errors.AsType[*fcm.Limited](err)

		if limited || r.both(r.alert) && (refused || isOfGoogle(err)) {
			r.leave(ctx, service, err)

			err = nil
		}
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.answered[service] = r.answered[service] || len(waiting) < len(tokens)

	for token, p := range waiting {
		r.unreached[service] = append(r.unreached[service], p.UserID)
		if !unanswered[token] {
			notSent = append(notSent, p)
		}
	}

	return unregistered, notSent, err
}

// accepted adds the delay of a push that a service has accepted now. The caller holds r.mu.
func (r *alertRun) accepted(service string) {
	if r.alert.Slot == 0 {
		return
	}

	delay := r.now().Sub(match.SlotTime(r.alert.Slot))
	if service == push.FCM {
		r.androidDelays.Add(delay)
	} else {
		r.delays.Add(delay)
	}
}

// leave leaves the phones of a service to messages of their own, for the rest of the run.
func (r *alertRun) leave(ctx context.Context, service string, err error) {
	slog.ErrorContext(ctx, "a push service takes nothing: its phones are retried", "service", service, "match", r.alert.MatchID,
		"key", r.alert.Key, "err", err)

	if service == push.FCM {
		googleFailed(ctx, r.now())
	} else {
		activity.AppleFailed(ctx, r.now())
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.down[service] = true

	if limited, ok := errors.AsType[*fcm.Limited](err); ok {
		r.pause = max(r.pause, limited.RetryAfter)
	}
}
