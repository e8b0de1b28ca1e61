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
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
)

// Alert is an event to be sent to the followers of a match. Its text is fixed
// when the message is sent, except for the minutes in a reminder. Who receives
// it is decided when it is handled.
type Alert struct {
	MatchID string     `json:"matchId"`
	Key     string     `json:"key"` // of the event in its match: each is sent once
	Kind    event.Kind `json:"kind"`
	Match   string     `json:"match"` // "India v Pakistan"
	Title   string     `json:"title"`
	Body    string     `json:"body"`
	Plain   string     `json:"plain,omitempty"` // the body for the spoiler-free
	At      int64      `json:"at"`              // when it happened, epoch s

	activity.IDRange          // of the followers it is for
	Users            []string `json:"users,omitempty"` // only these of them, sorted: those who were not reached
	Try              int      `json:"try,omitempty"`   // retries because Apple was not reached
}

// NewAlert is the message of an event.
func NewAlert(matchID string, e event.Event, at int64) Alert {
	return Alert{MatchID: matchID, Key: e.Key, Kind: e.Kind, Match: e.Match, Title: e.Title, Body: e.Body, Plain: e.Plain, At: at}
}

// Keys of alerts that are sent in a way of their own.
const (
	startKey    = "start"    // starts a Live Activity where possible; each user is claimed in cricket-prematch-notifications
	reminderKey = "reminder" // each user is claimed likewise
)

// maxKey bounds a key, so that the name of a part fits a sort key.
const maxKey = 200

func (m Alert) check() error {
	switch {
	case !match.ValidID(m.MatchID):
		return problem.In("matchId", "%.32q is no match id", m.MatchID)
	case m.Key == "" || len(m.Key) > maxKey:
		return problem.In("key", "the key must have 1 to %d bytes", maxKey)
	case !slices.Contains(follower.DefaultPreferences().Alerts, m.Kind):
		return problem.In("kind", "%.32q is no kind of alert", m.Kind)
	case m.Title == "":
		return problem.In("title", "the title is missing")
	}
	return nil
}

// part is the name of the followers that the message is for, among those of its
// event. It does not depend on Try, unless the message names users.
func (m Alert) part() string {
	switch {
	case len(m.Users) > 0:
		return strings.Join([]string{m.Key, m.From, m.Until, strconv.Itoa(m.Try)}, "#")
	case m.IDRange != activity.IDRange{}:
		return strings.Join([]string{m.Key, m.From, m.Until}, "#")
	}
	return m.Key
}

// collapse is the collapse id of all notifications of an event: a phone that
// receives the event twice shows it once. It does not apply to the start of an
// activity. Apple allows 64 bytes.
func (m Alert) collapse() string {
	if id := m.MatchID + ":" + m.Key; len(id) <= 64 {
		return id
	}
	sum := sha256.Sum256([]byte(m.Key))
	return m.MatchID + ":" + hex.EncodeToString(sum[:16])
}

const (
	// alertLife is how old an event may be when it is sent.
	alertLife = 6 * time.Hour
	// keepAlerts is how long the progress of an alert is kept: longer than any
	// match lasts.
	keepAlerts = 7 * 24 * time.Hour
	// keepReminder is how long the claim of a reminder is kept.
	keepReminder = 48 * time.Hour
	// keptByApple is how long Apple keeps an alert for a phone that is offline.
	keptByApple = time.Hour

	// alertLease is how long a worker may hold a part: longer than a page takes.
	alertLease = 2 * time.Minute
	// sendTime is how long sending one text to a page may take. A page takes a
	// second; after sendTime Apple does not answer.
	sendTime = 5 * time.Second
	// runTime is the time after which no page is begun. A page takes up to a minute
	// if Apple answers none of its eight texts and three channels: together they
	// stay below the timeout of two minutes.
	runTime = 45 * time.Second

	readsAtOnce  = 32 // of phones
	claimsAtOnce = 32

	// Followers who were not reached are retried after 10 s, 20 s, 40 s and so on,
	// up to 15 min: for 51 minutes in all.
	maxAlertTries   = 9
	alertRetryDelay = 10 * time.Second
)

// portions are the numbers of followers that are handled together.
type portions struct {
	Message int32 // the most that one message handles, which takes some seconds
	Part    int   // the aim for a part, so that few parts exceed Message
	Page    int   // sent before progress is recorded: a crash sends so many again
}

// Alerter sends alerts to followers.
type Alerter struct {
	db          dynamo.DB
	queue       queue.Sender
	sender      *push.Sender
	locks       *lock.Locks
	channels    activity.Channels
	now         func() time.Time
	environment string // of the phones that Apple's host reaches; "" for all
	attributes  string // name of the app's ActivityAttributes
	portions    portions
	patience    time.Duration // how long Apple may take for one text to a page
}

// OpenAlerter opens the service of send-alerts.
func OpenAlerter(ctx context.Context, env app.Env) (*Alerter, error) {
	sender, err := activity.OpenSender(ctx, env)
	if err != nil {
		return nil, err
	}
	return NewAlerter(env, sender), nil
}

// NewAlerter is the service with a given sender.
func NewAlerter(env app.Env, sender *push.Sender) *Alerter {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Alerter{
		db: db, queue: queue.Open(env.AWS, env.Queues), sender: sender, now: env.Now,
		locks:       &lock.Locks{DB: db, Acquire: tables.AcquireLock, Extend: tables.ExtendLock, Release: tables.ReleaseLock, TTL: alertLease, Now: env.Now},
		channels:    activity.Channels{DB: db, Sender: func(context.Context) (*push.Sender, error) { return sender, nil }, Clock: env.Clock},
		environment: push.EnvironmentOf(env), attributes: cmp.Or(env.Setting(tables.APNSType), tables.AttributesType),
		portions: portions{Message: 2000, Part: 1600, Page: 500}, patience: sendTime,
	}
}

// alertRow is a row of cricket-alerts: the progress of one part of an alert.
type alertRow struct {
	MatchID string             `dynamodbav:"matchId"`
	Part    string             `dynamodbav:"part"`
	After   string             `dynamodbav:"after,omitempty"` // the last follower who was handled
	Parts   []activity.IDRange `dynamodbav:"parts,omitempty"` // what was given to other messages, in order
	Done    bool               `dynamodbav:"done,omitempty"`
	TTL     int64              `dynamodbav:"ttl"`
}

// SendAlert sends an event to the followers of a match, or to the part of them
// that the message names: to those who want it now, on their registered phones.
// It leaves followers beyond 2,000 to messages of their own.
//
// A second run continues after the last page that the first one recorded. After
// a crash at most one page is sent again: a phone shows a notification once,
// and each user is claimed before an activity is started, so it is started at
// most once. A user who was claimed before receives a notification instead.
// While another worker holds the part, the message waits in the queue.
// Followers who were not reached are retried by a message of their own. If the
// time does not suffice, the message is sent again for the rest.
//
// A message that cannot be sent at all is Invalid. One that is too old is
// dropped.
func (a *Alerter) SendAlert(ctx context.Context, m Alert) error {
	if err := m.check(); err != nil {
		return err
	}
	f, ok, err := dynamo.Get[match.Fixture](ctx, a.db, tables.GetFixture, m.MatchID)
	if err != nil {
		return err
	}
	if !ok {
		return problem.New(problem.Invalid, "match_not_found", "there is no match %s", m.MatchID)
	}
	now := a.now()
	if now.Sub(time.Unix(m.At, 0)) > alertLife || m.Key == reminderKey && !now.Before(f.Start()) {
		slog.WarnContext(ctx, "an alert came too late", "match", m.MatchID, "key", m.Key)
		return nil
	}
	if m.Key == reminderKey {
		m.Body = startsIn(f.Start().Sub(now))
		m.Plain = m.Body
	}
	lease, err := a.locks.Take(ctx, "alert:"+m.MatchID+":"+m.part(), lock.Holder(ctx, "alerts"))
	if err == nil {
		err = errors.Join(a.sendHeld(ctx, lease, f, m), lease.Release(context.WithoutCancel(ctx)))
	}
	if errors.Is(err, lock.ErrHeld) { // an error would count as a receive
		return a.queue.Send(ctx, tables.AlertQueue, m, alertLease)
	}
	return err
}

func (a *Alerter) sendHeld(ctx context.Context, lease *lock.Lease, f match.Fixture, m Alert) error {
	row, _, err := dynamo.Get[alertRow](ctx, a.db, tables.GetAlert, m.MatchID, m.part())
	if err != nil || row.Done {
		return err
	}
	if err := a.sender.Ready(ctx); err != nil {
		slog.WarnContext(ctx, "Apple cannot be reached", "err", err)
		activity.AppleFailed(ctx, a.now())
		return a.again(ctx, m)
	}
	now := a.now()
	run := alertRun{
		Alerter: a, alert: m, match: f, lease: lease, until: now.Add(runTime), expires: now.Add(keptByApple),
		messages: map[audience]*push.Message{},
	}
	if m.Key == reminderKey {
		run.expires = f.Start()
	}
	defer func() { run.report(ctx) }()
	err = run.pages(ctx, row)
	if _, ok := errors.AsType[*push.Refused](err); ok {
		activity.AppleFailed(ctx, a.now())
	}
	return err
}

// record stores the progress of the part. It returns lock.ErrHeld if another
// worker is further.
func (a *Alerter) record(ctx context.Context, m Alert, set expression.UpdateBuilder, after string) error {
	set = set.Set(expression.Name("ttl"), expression.Value(a.now().Add(keepAlerts).Unix()))
	first := expression.AttributeNotExists(expression.Name("after"))
	if after != "" {
		set = set.Set(expression.Name("after"), expression.Value(after))
		first = first.Or(expression.LessThanEqual(expression.Name("after"), expression.Value(after)))
	}
	err := dynamo.Update(ctx, a.db, tables.RecordAlert, dynamo.Key(tables.RecordAlert, m.MatchID, m.part()), set, first)
	if dynamo.IsRefused(err) {
		return fmt.Errorf("%w: %w", lock.ErrHeld, err)
	}
	return err
}

// again sends the message again for later, at most maxAlertTries times.
func (a *Alerter) again(ctx context.Context, m Alert) error {
	if m.Try >= maxAlertTries {
		slog.ErrorContext(ctx, "followers were not reached", "match", m.MatchID, "key", m.Key, "users", len(m.Users), "tries", m.Try)
		return nil
	}
	delay := alertRetryDelay << m.Try
	m.Try++
	return a.queue.Send(ctx, tables.AlertQueue, m, min(delay, activity.LongestDelay))
}

// alertRun is one run of SendAlert.
type alertRun struct {
	*Alerter
	alert     Alert
	match     match.Fixture
	lease     *lock.Lease
	until     time.Time // no page is begun later
	expires   time.Time
	messages  map[audience]*push.Message
	unreached []string // users of this page

	delivered, suppressed, gone, retried int
}

func (r *alertRun) report(ctx context.Context) {
	telemetry.Emit(ctx, r.now(), []telemetry.Sample{
		telemetry.Count(tables.AlertsDelivered, r.delivered), telemetry.Count(tables.AlertsSuppressed, r.suppressed),
		telemetry.Count(tables.AlertsGone, r.gone), telemetry.Count(tables.AlertsRetried, r.retried),
	}, slog.String("match", r.alert.MatchID), slog.String("key", r.alert.Key), slog.String("part", r.alert.part()))
}

// pages sends the part page by page, from the recorded progress, while there is
// time, and leaves the rest to another message. It records how the rest is
// divided before it sends those messages, so that a second run divides it the
// same way.
func (r *alertRun) pages(ctx context.Context, row alertRow) error {
	own := r.alert.IDRange
	own.From = max(own.From, row.After)
	if err := r.share(ctx, row.Parts, &own); err != nil {
		return err
	}
	for more := true; more; {
		q := own.Query(tables.AllFollowers, r.alert.MatchID)
		q.Limit = r.portions.Message
		found, last, err := dynamo.Query[follower.FollowRow](ctx, r.db, tables.AllFollowers, q)
		if err != nil {
			return err
		}
		if more = last != nil; more && len(row.Parts) == 0 {
			if row.Parts, err = r.split(ctx, own, found); err != nil {
				return err
			}
			set := expression.Set(expression.Name("parts"), expression.Value(row.Parts))
			if err := r.record(ctx, r.alert, set, row.After); err != nil {
				return err
			}
			if err := r.share(ctx, row.Parts, &own); err != nil {
				return err
			}
			more = false
		}
		for page := range slices.Chunk(found, r.portions.Page) {
			if r.now().After(r.until) { // a second run goes on here
				return r.queue.Send(ctx, tables.AlertQueue, r.alert, alertRetryDelay)
			}
			end := page[len(page)-1].UserID
			if err := r.page(ctx, page, activity.IDRange{From: own.From, Until: end}); err != nil {
				return err
			}
			own.From = end
			if err := r.record(ctx, r.alert, expression.UpdateBuilder{}, end); err != nil {
				return err
			}
		}
	}
	return r.record(ctx, r.alert, expression.Set(expression.Name("done"), expression.Value(true)), own.From)
}

// split divides what the range holds after the followers that were found.
func (r *alertRun) split(ctx context.Context, all activity.IDRange, found []follower.FollowRow) ([]activity.IDRange, error) {
	greatest := activity.IDRange{Until: all.Until}.Query(tables.AllFollowers, r.alert.MatchID)
	greatest.Backward, greatest.Limit = true, 1
	top, _, err := dynamo.Query[follower.FollowRow](ctx, r.db, tables.AllFollowers, greatest)
	if err != nil || len(top) == 0 {
		return nil, err
	}
	seen := make([]string, len(found))
	for i, f := range found {
		seen[i] = f.UserID
	}
	return all.Split(seen, top[0].UserID, r.portions.Part, activity.MaxParts), nil
}

// share sends a message for each part, and ends own where the parts begin.
func (r *alertRun) share(ctx context.Context, parts []activity.IDRange, own *activity.IDRange) error {
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

// recipient is a follower who receives the alert.
type recipient struct {
	follower.DeviceRow
	view    string // perspective
	plain   bool   // spoiler-free
	watches bool   // an activity of the match
	// renewed reports that Apple called the token dead, but the phone was
	// registered again since.
	renewed bool
}

// audience is who receives the same push: a notification, or the start of an
// activity.
type audience struct {
	plain   bool
	view    string // "" for a notification
	listens bool   // to a channel
}

// page sends the alert to the followers of a page, all of whom are in the
// range.
func (r *alertRun) page(ctx context.Context, page []follower.FollowRow, all activity.IDRange) error {
	if err := r.lease.Extend(ctx); err != nil {
		return err
	}
	to, err := r.recipients(ctx, page)
	if err != nil {
		return err
	}
	r.unreached = nil
	if r.alert.Key == startKey {
		if to, err = r.begin(ctx, to); err != nil {
			return err
		}
	}
	if err := r.notify(ctx, to); err != nil || len(r.unreached) == 0 {
		return err
	}
	m := r.alert
	m.IDRange, m.Users = all, slices.Sorted(slices.Values(r.unreached))
	r.retried += len(m.Users)
	return r.again(ctx, m)
}

// recipients are the followers of a page who want the alert now and have a
// phone. For a reminder it claims each of them. A second run of the same part
// claims the same users again; users that another part claimed are left out.
func (r *alertRun) recipients(ctx context.Context, page []follower.FollowRow) ([]recipient, error) {
	now := r.now()
	page = slices.DeleteFunc(slices.Clone(page), func(f follower.FollowRow) bool {
		_, named := slices.BinarySearch(r.alert.Users, f.UserID)
		return f.ExpiresAt <= now.Unix() || len(r.alert.Users) > 0 && !named
	})
	keys := make([]dynamo.Item, len(page))
	for i, f := range page {
		keys[i] = dynamo.Key(tables.BatchGetPreferences, f.UserID)
	}
	stated, err := dynamo.GetAll[follower.PreferencesRow](ctx, r.db, tables.BatchGetPreferences, keys)
	if err != nil {
		return nil, err
	}
	prefers := make(map[string]follower.Preferences, len(stated))
	for _, p := range stated {
		prefers[p.UserID] = p.Preferences
	}
	unstated := follower.DefaultPreferences()
	all := make([]recipient, len(page))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for i, f := range page {
		p, ok := prefers[f.UserID]
		if !ok {
			p = unstated
		}
		if !p.Allows(r.alert.Kind, now) || p.SpoilerFree && r.alert.Plain == "" {
			r.suppressed++
			continue
		}
		g.Go(func() error {
			d, ok, err := follower.ReadDevice(ctx, r.db, f.UserID, now)
			if err != nil || !ok || r.environment != "" && d.Environment != r.environment {
				return err
			}
			if r.alert.Key == reminderKey && len(r.alert.Users) == 0 {
				if ok, err = r.claim(ctx, f.UserID); err != nil || !ok {
					return err
				}
			}
			all[i] = recipient{DeviceRow: d, view: r.match.Perspective(f.TeamID), plain: p.SpoilerFree, watches: f.HasActivity}
			return nil
		})
	}
	err = g.Wait()
	return slices.DeleteFunc(all, func(to recipient) bool { return to.UserID == "" }), err
}

// reminded is a row of cricket-prematch-notifications. UserID is the user of a
// claimed reminder, wholeMatch for the reminder of the match, or startOf a user
// for the start of an activity.
type reminded struct {
	MatchID   string `dynamodbav:"matchId"`
	UserID    string `dynamodbav:"userId"`
	ClaimedBy string `dynamodbav:"claimedBy,omitempty"` // the part that reminds the user
	TTL       int64  `dynamodbav:"ttl"`
}

// startOf is the key of a user's claim for the start of an activity.
func startOf(userID string) string { return "#START#" + userID }

// claim claims the user's reminder for this part. It returns false if another
// part has claimed it.
func (r *alertRun) claim(ctx context.Context, userID string) (bool, error) {
	part := r.alert.part()
	return r.mark(ctx, userID, part, unmarked().Or(expression.Equal(expression.Name("claimedBy"), expression.Value(part))))
}

func unmarked() expression.ConditionBuilder {
	return expression.AttributeNotExists(expression.Name("userId"))
}

// mark writes a row of cricket-prematch-notifications. It returns false if the
// condition refuses it.
func (r *alertRun) mark(ctx context.Context, userID, by string, cond expression.ConditionBuilder) (bool, error) {
	row := reminded{r.alert.MatchID, userID, by, r.now().Add(keepReminder).Unix()}
	err := dynamo.Put(ctx, r.db, tables.MarkReminder, row, cond)
	return dynamo.Applied(err)
}

// notify sends the notification, and deletes phones whose token is dead unless
// they were registered again.
func (r *alertRun) notify(ctx context.Context, to []recipient) error {
	for _, plain := range []bool{false, true} {
		some := those(to, func(p recipient) bool { return p.plain == plain })
		if len(some) == 0 {
			continue
		}
		m, err := r.notification(plain)
		if err != nil {
			return err
		}
		gone, _, err := r.send(ctx, m, some, func(p recipient) string { return p.DeviceToken })
		if err != nil {
			return err
		}
		for _, p := range dead(gone) {
			same := expression.Equal(expression.Name("updatedAt"), expression.Value(p.UpdatedAt))
			_, err := dynamo.Delete(ctx, r.db, tables.DeleteDevice, dynamo.Key(tables.DeleteDevice, p.UserID, p.DeviceToken), same)
			if err := dynamo.IgnoreRefused(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// those returns the recipients for whom keep holds.
func those(to []recipient, keep func(recipient) bool) []recipient {
	return slices.DeleteFunc(slices.Clone(to), func(p recipient) bool { return !keep(p) })
}

// dead returns the recipients whose token is dead and who have not registered
// again.
func dead(gone []recipient) []recipient {
	return those(gone, func(p recipient) bool { return !p.renewed })
}

func (r *alertRun) notification(plain bool) (*push.Message, error) {
	if m := r.messages[audience{plain: plain}]; m != nil {
		return m, nil
	}
	text := push.Banner{Title: r.alert.Title, Body: r.alert.Body, Sound: "default"}
	if plain {
		text.Title, text.Body = r.alert.Match, r.alert.Plain
	}
	m, err := push.Notify(push.Alert{
		Terms: push.Terms{Expires: r.expires}, Banner: text, Collapse: r.alert.collapse(), Thread: r.alert.MatchID,
		Custom: map[string]any{"matchId": r.alert.MatchID, "kind": r.alert.Kind},
	})
	if errors.Is(err, push.ErrTooLarge) {
		return nil, problem.New(problem.Invalid, "alert_too_long", "the alert is too long").Because(err)
	}
	r.messages[audience{plain: plain}] = m
	return m, err
}

// begin starts a Live Activity, which shows the alert, on each phone that can
// have one and has none. It returns the others, who need a notification, and
// those whose push-to-start token is dead; it deletes that token. After the end
// of the match it starts nothing, because nothing would end the activity.
func (r *alertRun) begin(ctx context.Context, to []recipient) (rest []recipient, err error) {
	can := func(p recipient) bool { return p.PushToStart != "" && !p.plain && !p.watches && r.match.EndingAt == 0 }
	rest = those(to, func(p recipient) bool { return !can(p) })
	for _, view := range r.match.Perspectives() {
		for _, listens := range []bool{false, true} {
			some := those(to, func(p recipient) bool {
				return can(p) && p.view == view && listens == p.HasBroadcasts()
			})
			if len(some) == 0 {
				continue
			}
			gone, err := r.beginAs(ctx, audience{view: view, listens: listens}, some)
			if err != nil {
				return nil, err
			}
			rest = append(rest, gone...)
		}
	}
	return rest, nil
}

// beginAs starts the activities of an audience, and returns the recipients who
// get none.
//
// A phone starts one activity for each push it receives, so each user is
// claimed first. The claim is given up only if the push certainly did not
// arrive: nobody gets two activities, and a user who was claimed before gets a
// notification. The match is read again after the channel was opened, for the
// reason given at listen in package activity.
func (r *alertRun) beginAs(ctx context.Context, who audience, to []recipient) (rest []recipient, err error) {
	m, err := r.activity(ctx, who)
	if err != nil {
		return nil, err
	}
	f, ok, err := dynamo.Get[match.Fixture](ctx, r.db, tables.GetFixture, r.alert.MatchID)
	if err != nil {
		return nil, err
	}
	if m == nil || !ok || f.EndingAt != 0 {
		return to, nil
	}
	to, rest, err = r.claimStarts(ctx, to)
	if err != nil {
		return nil, err
	}
	gone, without, err := r.send(ctx, m, to, func(p recipient) string { return p.PushToStart })
	if err != nil {
		return nil, err
	}
	if err := r.unclaimStarts(ctx, without); err != nil {
		return nil, err
	}
	for _, p := range dead(gone) {
		same := expression.Equal(expression.Name("pushToStartToken"), expression.Value(p.PushToStart))
		err := dynamo.Update(ctx, r.db, tables.UpdatePushToStart, dynamo.Key(tables.UpdatePushToStart, p.UserID, p.DeviceToken),
			expression.Remove(expression.Name("pushToStartToken")), same)
		if err := dynamo.IgnoreRefused(err); err != nil {
			return nil, err
		}
	}
	return append(rest, gone...), nil
}

// claimStarts claims the starts of activities. It returns the users claimed now
// and those claimed before.
func (r *alertRun) claimStarts(ctx context.Context, to []recipient) (now, before []recipient, err error) {
	claimed := make([]bool, len(to))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(claimsAtOnce)
	free := unmarked().Or(expression.AttributeNotExists(expression.Name("claimedBy")))
	for i, p := range to {
		g.Go(func() (err error) {
			claimed[i], err = r.mark(ctx, startOf(p.UserID), r.alert.part(), free)
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

// unclaimStarts gives claims up, so that the users are retried.
func (r *alertRun) unclaimStarts(ctx context.Context, to []recipient) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(claimsAtOnce)
	for _, p := range to {
		g.Go(func() error {
			_, err := r.mark(ctx, startOf(p.UserID), "", dynamo.Exists[reminded]("claimedBy"))
			return err
		})
	}
	return g.Wait()
}

// activityAttributes are the attributes of a Live Activity. They never change.
type activityAttributes struct {
	MatchID string `json:"matchId"`
	TeamID  string `json:"teamId,omitzero"` // whose fan; absent for neither's
	Local   string `json:"local"`
	Visitor string `json:"visitor"`
}

// activity is the push that starts a Live Activity for an audience. It is nil
// if there is no display yet or the match is over, because nothing would end
// the activity.
func (r *alertRun) activity(ctx context.Context, who audience) (*push.Message, error) {
	if m, ok := r.messages[who]; ok {
		return m, nil
	}
	d, ok, err := match.ReadDisplay(ctx, r.db, r.alert.MatchID, who.view)
	if err != nil || !ok {
		return nil, err
	}
	c, _, err := match.ReadScore(ctx, r.db, r.alert.MatchID)
	if err != nil || c.State.Phase.Over() {
		return nil, err
	}
	channel := ""
	if who.listens {
		if channel, err = r.channels.Open(ctx, r.alert.MatchID, who.view); err != nil {
			slog.WarnContext(ctx, "activities start without a channel", "match", r.alert.MatchID, "view", who.view, "err", err)
			channel = ""
		}
	}
	about := activityAttributes{MatchID: r.alert.MatchID, Local: c.State.Local.Name, Visitor: c.State.Visitor.Name}
	if who.view != match.Neutral {
		about.TeamID = who.view
	}
	state := push.State{
		Terms: push.Terms{Expires: r.expires}, Content: d.Display, Time: time.Unix(d.At, 0),
		Alert: &push.Banner{Title: r.alert.Title, Body: r.alert.Body, Sound: "default"},
	}
	if d.Playing {
		state.Stale = state.Time.Add(activity.StaleAfter)
	}
	m, err := push.Begin(push.Activity{Type: r.attributes, Attributes: about, Channel: channel}, state)
	if err != nil {
		return nil, fmt.Errorf("match %s as %s: %w", r.alert.MatchID, who.view, err)
	}
	r.messages[who] = m
	return m, nil
}

// send pushes a message to recipients by their tokens. It returns those whose
// token is dead, and those who certainly did not receive it. It adds those who
// were not reached to unreached.
func (r *alertRun) send(ctx context.Context, m *push.Message, to []recipient, token func(recipient) string) (gone, without []recipient, err error) {
	waiting, unanswered := map[string]recipient{}, map[string]bool{}
	for _, p := range to {
		waiting[token(p)] = p
	}
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	tokens := slices.Sorted(maps.Keys(waiting))
	_, err = r.sender.Send(ctx, m, slices.Values(tokens), func(token string, o push.Outcome) {
		p := waiting[token]
		switch o.Result {
		case push.Delivered:
			r.delivered++
		case push.Gone:
			r.gone++
			p.renewed = !o.Since.IsZero() && p.UpdatedAt > o.Since.UnixMilli()
			gone = append(gone, p)
		default:
			unanswered[token] = o.Reason == ""
			return
		}
		delete(waiting, token)
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, nil, err
	}
	for token, p := range waiting {
		r.unreached = append(r.unreached, p.UserID)
		if !unanswered[token] {
			without = append(without, p)
		}
	}
	return gone, without, nil
}
