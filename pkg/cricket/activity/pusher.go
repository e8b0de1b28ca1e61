package activity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sideshow/apns2"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// OpenPusher opens the service of push-activities, push-parts and sweep-channels.
func OpenPusher(ctx context.Context, env app.Env) (*Pusher, error) {
	sender, err := OpenSender(ctx, env)
	if err != nil {
		return nil, err
	}

	return NewPusher(env, sender), nil
}

// NewPusher returns the service with the caller's sender.
func NewPusher(env app.Env, sender *push.Sender) *Pusher {
	return &Pusher{
		db:               dynamo.Open(env.AWS, env.Prefix),
		sender:           sender,
		queue:            queue.Open(env.AWS, env.Queues),
		now:              env.Now,
		environment:      push.EnvironmentOf(env),
		perMessage:       perMessage,
		pageTimeout:      env.Limit(pageTimeout),
		broadcastTimeout: env.Limit(broadcastTimeout),
	}
}

// OpenSender reads Apple's key and returns a sender. It opens no connection.
func OpenSender(ctx context.Context, env app.Env) (*push.Sender, error) {
	c, err := push.ConfigOf(ctx, env, tables.APNSKey, tables.APNSBundle)
	if err != nil {
		return nil, err
	}

	return push.Open(c)
}

// MatchChanged is the message of push-activities and push-parts: a display of a match has
// changed, or a push to some activities is retried. It contains no display: the Pusher reads
// the current one.
type MatchChanged struct {
	MatchID string   `json:"matchId"`
	Slot    int64    `json:"slot,omitempty"`    // of the change; a display with a later slot is skipped, because it has its own message
	Changed []string `json:"changed,omitempty"` // the perspectives that changed; empty means all
	Tokens  []string `json:"tokens,omitempty"`  // only these activities, in any perspective
	Ended   int64    `json:"ended,omitempty"`   // when the match ended, epoch s; not 0: end the activities
	Try     int      `json:"try,omitempty"`     // earlier attempts

	IDRange         // of the tokens; without bounds and Tokens the message is for the channels, too
	Channels string `json:"channels,omitempty"` // broadcastEnd or closeChannels: act on the channels only
	Ends     int    `json:"ends,omitempty"`     // of closeChannels: how often the end was broadcast again
	Again    bool   `json:"again,omitempty"`    // broadcast the present state again, at a low priority, unless the match is over
}

// What MatchChanged.Channels requests when a match is over.
const (
	broadcastEnd  = "broadcast" // broadcast the end
	closeChannels = "close"     // broadcast the end again, and delete the channels after the last time
)

// Rebroadcast returns the message that broadcasts the present state of a match to its channels again.
// Apple keeps no message of a channel, so a phone that was offline shows an older state until then.
func Rebroadcast(matchID string) MatchChanged {
	return MatchChanged{MatchID: matchID, Again: true}
}

const (
	// perMessage is the number of activities that one message pushes to: one second
	// of work with four connections. The rest of its range is divided into at most
	// MaxParts parts of about nine tenths of perMessage activities, which may be divided
	// again. They are less than perMessage, so that an uneven distribution fills few
	// parts. A million activities are about 580 messages in three levels, or 1,800
	// SQS requests for each change. With 50 concurrent messages that takes half a
	// minute, longer than a ball. Channels serve such a match with one request.
	perMessage = 2000
	// MaxParts is the maximum number of messages into which one range is divided.
	MaxParts = 32
	perPage  = 1000 // activities; the displays are read again before each page

	// pageTimeout bounds the pushes of a page, which normally take 500 ms. Tokens
	// that were not reached are retried later. All pages together may take twice as
	// long, so that a run that also waited for a connection and for broadcasts ends
	// before the function's timeout of 30 s.
	pageTimeout = 5 * time.Second

	// broadcastTimeout bounds one broadcast.
	broadcastTimeout = 5 * time.Second
)

// endAgainAfter are the times between the broadcasts of the end of a match to its channels. Apple keeps
// no message of a channel, so the end is broadcast again for phones that were offline. With the last
// time, half an hour after the end, the channels are deleted.
var endAgainAfter = [...]time.Duration{2 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute}

// EndAgain returns the time until an end that was sent n times before, after the first, is sent again. ok is
// false after the last time.
func EndAgain(n int) (wait time.Duration, ok bool) {
	if n >= len(endAgainAfter) {
		return 0, false
	}

	return endAgainAfter[n], true
}

const (
	// StaleAfter is the age at which a phone marks a score as stale. It is longer
	// than any interruption of play within an innings.
	StaleAfter = 30 * time.Minute
	// dismissAfter is the time that a result stays on the lock screen.
	dismissAfter = 30 * time.Minute
	// EndExpiration is how long Apple stores an end for a phone that is offline: iOS
	// keeps an activity without updates for 8 h, and for 4 h more on the lock
	// screen. No later message replaces the end. A phone that receives it after the
	// dismissal date dismisses the activity at once.
	EndExpiration = 12 * time.Hour
	// PauseExpiration is how long Apple stores a state without play: the next state
	// may come that late.
	PauseExpiration = time.Hour
	maxTries        = 10 // retries of an update, retryDelay apart
	// maxEndTries is the maximum number of retries of an end. Their delays grow to
	// LongestDelay, so that they cover four hours: no later message replaces an end.
	maxEndTries = 24
	retryDelay  = 5 * time.Second
	// LongestDelay is the maximum delay of an SQS message.
	LongestDelay = 15 * time.Minute
	retryBatch   = 500 // tokens in one message: 100 kB at most
)

// Pusher pushes states to Live Activities.
type Pusher struct {
	db               dynamo.DB
	sender           *push.Sender
	queue            queue.Sender
	now              func() time.Time
	environment      string // of Apple
	perMessage       int
	pageTimeout      time.Duration
	broadcastTimeout time.Duration
}

// PushActivitiesFunction pushes what changed in one match to its channels and to the first of
// its Live Activities.
func PushActivitiesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "cricket/push-activities",
		Does:   "Pushes the current display of a match to its channels and to its first 2,000 Live Activities.",
		IfDown: "Lock screens are not updated. The API works.",
		On:     tables.ActivityQueue,
		Uses: []spec.Access{
			tables.GetFixture, tables.BatchGetDisplays, tables.GetCached, tables.AllSubscriptions, tables.RemoveActivity,
			tables.RemoveActivities, tables.ChannelsOfMatch, tables.RemoveChannel,
		},
		Sends: []spec.Queue{tables.ActivityQueue, tables.PartQueue}, Secrets: []string{tables.APNSKey},
		Emits: []spec.Metric{tables.PushesDelivered, tables.PushesGone, tables.PushesRetried, tables.PushesUnreached, tables.Broadcasts,
			tables.BroadcastsFailed, tables.AppleFailures, tables.PushDelay},
		Memory: 512, Timeout: 30 * time.Second,
	}, OpenPusher, (*Pusher).PushActivities)
}

// PushActivities pushes the current state to the activities of the message: one
// broadcast to each channel, and one push to each token. It may run any number of
// times for one message: a phone orders states by their time, and the subscription
// of an ended activity is removed.
//
// It skips a display that has changed again since the message was sent, because the
// later message pushes that change. If the match has more than perMessage activities,
// it first sends parts for the others to PartQueue. Retries of tokens are parts, too.
// It accepts a part: before there was PartQueue, parts were in its queue.
//
// It removes tokens that are unregistered, unless they were registered again.
// After each page it sends messages that retry the tokens it did not reach. When a
// page reached no token, the remaining pages are not tried but left to retries. A
// broadcast of an update that fails is dropped, because the next update replaces it.
// A broadcast of an end is retried, and repeated at the times of endAgainAfter; the
// message that repeats it is sent before the first broadcast of the end. The end of a
// match that is open again is dropped.
//
// Invalid: the message has no valid match id or range, or the match does not exist. *push.Refused: Apple refuses every
// push, for example because of the key.
func (p *Pusher) PushActivities(ctx context.Context, m MatchChanged) error {
	if !match.ValidID(m.MatchID) {
		return problem.In("matchId", "%.32q is not a match id: valid are 1 to 19 digits", m.MatchID)
	}

	if m.Until != "" && m.Until <= m.From {
		return problem.In("until", "the range after %.8q up to %.8q is empty: until must be greater than from", m.From, m.Until)
	}

	f, ok, err := dynamo.Get[match.Fixture](ctx, p.db, tables.GetFixture, m.MatchID)
	if err != nil {
		return err
	}

	if !ok {
		return problem.New(problem.Invalid, "match_not_found", "match %s does not exist", m.MatchID)
	}

	if m.Again && f.EndingAt != 0 || m.Ended != 0 && f.EndingAt == 0 {
		return nil // the end is broadcast by messages of its own; or it was withdrawn since
	}

	m.Ended = f.EndingAt // the match has ended since, or once more

	if m.Again {
		if rows, err := readChannels(ctx, p.db, m.MatchID); err != nil || len(rows) == 0 {
			return err
		}
	}

	messages, err := p.messages(ctx, f, m)
	if err != nil || len(messages) == 0 && m.Ended == 0 {
		return err
	}

	if err := p.sender.Ready(ctx); err != nil {
		slog.WarnContext(ctx, "cannot connect to Apple", "err", err)
		p.appleFailed(ctx, m)

		return p.retry(ctx, m, m.Tokens)
	}

	err = p.push(ctx, f, m, messages)
	if _, ok := errors.AsType[*push.Refused](err); ok {
		p.appleFailed(ctx, m)
	}

	return err
}

// appleFailed counts a change for which Apple accepted no push. Its parts do not count: a change
// counts once, whatever its audience.
func (p *Pusher) appleFailed(ctx context.Context, m MatchChanged) {
	if !m.isPart() {
		AppleFailed(ctx, p.now())
	}
}

// AppleFailed counts a message for which Apple accepted no push.
func AppleFailed(ctx context.Context, now time.Time) {
	telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(tables.AppleFailures, 1)})
}

// push pushes the messages to the channels and the tokens of m.
func (p *Pusher) push(ctx context.Context, f match.Fixture, m MatchChanged, messages map[string]*update) error {
	if !m.isPart() {
		if err := p.pushChannels(ctx, m, messages); err != nil || m.Channels != "" || m.Again {
			return err
		}
	}

	return p.pushTokens(ctx, f, m, messages)
}

// pushTokens pushes the messages to the tokens of m, page by page.
func (p *Pusher) pushTokens(ctx context.Context, f match.Fixture, m MatchChanged, messages map[string]*update) error {
	all, err := p.subscriptions(ctx, m)
	if err != nil {
		return err
	}

	run := pushRun{Pusher: p, change: m, all: all}
	defer func() { run.emitCounts(ctx) }()

	sending, stopSending := context.WithTimeout(ctx, 2*p.pageTimeout)
	defer stopSending()

	now := p.now().Unix()

	for start := 0; start < len(all); start += perPage {
		if start > 0 {
			if messages, err = p.messages(ctx, f, m); err != nil {
				return err
			}
		}

		groups := map[group][]string{}

		for _, s := range all[start:min(start+perPage, len(all))] {
			if s.ExpiresAt > now {
				foreign := !push.Phone{Environment: s.Environment}.Takes(p.environment)
				to := group{f.Perspective(s.TeamID), s.Frequent, foreign}
				groups[to] = append(groups[to], s.PushToken)
			}
		}

		before := run.counts
		if err := run.pushPage(ctx, sending, messages, groups); err != nil {
			return err
		}

		if len(run.unreached) > 0 && run.counts.Delivered == before.Delivered && run.counts.Gone == before.Gone {
			stopSending() // the remaining pages are left to retries
		}
	}

	return nil
}

// update is the message of one perspective, for its tokens and for its channel.
// Apple may store the message to a token; it never stores one to a channel.
type update struct {
	token    *push.Message
	frequent *push.Message // to tokens of phones that allow frequent updates: of high priority
	channel  *push.Message
	due      time.Time // of the slot that found the state; zero for an end
}

// group identifies the tokens of a page that get the same message.
type group struct {
	view     string
	frequent bool // the phones allow frequent updates
	foreign  bool // of another environment of Apple: they get no message
}

// accepted adds the time from the update's slot to now, when Apple has accepted a push of
// it.
func (u *update) accepted(delays *telemetry.Histogram, now time.Time) {
	if !u.due.IsZero() {
		delays.Add(now.Sub(u.due))
	}
}

// newUpdate encodes a state. Apple stores the message to a token until expires, and
// does not store it if expires is zero. A message that is not urgent has a low priority,
// which does not count against the budget of an activity, except to phones that allow
// frequent updates.
func newUpdate(s push.State, urgent bool, expires time.Time, encode func(push.State) (*push.Message, error)) (*update, error) {
	var (
		u    update
		errs [3]error
	)

	s.Priority = apns2.PriorityHigh
	if !urgent {
		s.Priority = apns2.PriorityLow
	}

	u.channel, errs[0] = encode(s)
	s.Expires = expires
	u.token, errs[1] = encode(s)
	s.Priority = apns2.PriorityHigh
	u.frequent, errs[2] = encode(s)

	return &u, errors.Join(errs[:]...)
}

// messages returns the update of each perspective of m that has a display. At the
// end of the match it returns those of all perspectives.
func (p *Pusher) messages(ctx context.Context, f match.Fixture, m MatchChanged) (map[string]*update, error) {
	views := m.Changed
	if len(views) == 0 || m.Ended != 0 {
		views = f.Perspectives()
	}

	views = slices.Compact(slices.Sorted(slices.Values(views)))

	displays, err := match.ReadDisplays(ctx, p.db, f.MatchID, views)
	if err != nil {
		return nil, err
	}

	messages := map[string]*update{}

	for _, view := range views {
		display, ok := displays[view]
		if !ok && m.Ended != 0 {
			if display, ok, err = match.DisplayFromScore(ctx, p.db, f.MatchID, view); err != nil {
				return nil, err
			}
		}

		if !ok || m.Slot != 0 && m.Ended == 0 && display.Slot > m.Slot {
			continue
		}

		state := push.State{Content: display.Display, Time: time.Unix(display.At, 0)}
		switch {
		case m.Ended != 0:
			// newer than the last display, so that the phone discards that one if it comes later
			state.Time = time.Unix(max(m.Ended, display.At+1), 0)
			messages[view], err = newUpdate(state, true, state.Time.Add(EndExpiration), func(s push.State) (*push.Message, error) {
				return push.End(s, s.Time.Add(dismissAfter))
			})
		case display.Playing:
			state.Stale = state.Time.Add(StaleAfter)
			messages[view], err = newUpdate(state, display.Key && !m.Again, time.Time{}, push.Update)
		default:
			messages[view], err = newUpdate(state, !m.Again, p.now().Add(PauseExpiration), push.Update)
		}

		if err != nil {
			return nil, fmt.Errorf("display of match %s for %s: %w", f.MatchID, view, err)
		}

		if m.Ended == 0 {
			messages[view].due = match.SlotTime(display.Slot)
		}
	}

	return messages, nil
}

// target is what a push needs of a Subscription.
type target struct {
	PushToken   string `dynamodbav:"pushToken"`
	TeamID      string `dynamodbav:"teamId,omitempty"`
	Environment string `dynamodbav:"environment,omitempty"`
	Frequent    bool   `dynamodbav:"frequentPushesEnabled"`
	UpdatedAt   int64  `dynamodbav:"updatedAt"` // epoch ms
	ExpiresAt   int64  `dynamodbav:"expiresAt"` // epoch s
}

// subscriptions reads the activities of m, in the order of their tokens: those of its tokens if it
// has any, or the first perMessage of its range. It sends parts for the others of the range.
func (p *Pusher) subscriptions(ctx context.Context, m MatchChanged) (all []target, err error) {
	wanted := m.Query(tables.AllSubscriptions, m.MatchID)

	wanted.Consistent = m.Ended != 0 // no later message would reach an activity that the read misses
	if len(m.Tokens) > 0 {
		wanted.Key = dynamo.KeyBetween(tables.AllSubscriptions, m.MatchID, slices.Min(m.Tokens), slices.Max(m.Tokens))
	}

	for more := true; more; {
		if len(m.Tokens) == 0 {
			wanted.Limit = int32(p.perMessage - len(all))
		}

		page, last, err := dynamo.QueryFlat[target](ctx, p.db, tables.AllSubscriptions, wanted)
		if err != nil {
			return nil, err
		}

		if len(m.Tokens) > 0 {
			page = slices.DeleteFunc(page, func(s target) bool { return !slices.Contains(m.Tokens, s.PushToken) })
		}

		all = append(all, page...)

		if len(m.Tokens) == 0 && len(all) == p.perMessage {
			return all, p.split(ctx, m, all)
		}

		wanted.After, more = last, last != nil
	}

	return all, nil
}

// pushRun is the state of one call of PushActivities or PushParts.
type pushRun struct {
	*Pusher
	change MatchChanged
	all    []target // in the order of their tokens

	mu        sync.Mutex
	remove    []string // tokens of the current page to remove: unregistered or ended
	unreached []string // tokens of the current page to retry
	counts    push.Counts
	delays    telemetry.Histogram // of the pushes that Apple accepted
}

// pushPage pushes the message of each group to its tokens until sending ends, removes
// the tokens that are unregistered or ended, and sends messages that retry the unreached. It
// pushes nothing to foreign tokens, and removes them if the match is over. If the match is
// over and has no display, it removes the tokens without a push: iOS ends their activities
// after some hours.
func (r *pushRun) pushPage(ctx, sending context.Context, messages map[string]*update, groups map[group][]string) error {
	r.remove, r.unreached = nil, nil

	sending, cancel := context.WithTimeout(sending, r.pageTimeout)
	defer cancel()

	var sends errgroup.Group

	for to, tokens := range groups {
		switch message := messages[to.view]; {
		case to.foreign && r.change.Ended != 0:
			r.markForRemoval(tokens...)
		case to.foreign:
		case message != nil:
			sends.Go(func() error { return r.send(sending, message, to.frequent, tokens) })
		case r.change.Ended != 0:
			slog.ErrorContext(ctx, "the match is over and has no display: its activities are removed without a push", "match",
				r.change.MatchID, "activities", len(tokens))
			r.markForRemoval(tokens...)
		}
	}

	errs := []error{sends.Wait()}
	if r.change.Ended != 0 {
		errs = append(errs, r.removeAll(ctx))
	} else {
		errs = append(errs, r.removeUnregistered(ctx))
	}

	if err := errors.Join(errs...); err != nil {
		return err
	}

	return r.requeue(ctx)
}

// markForRemoval adds tokens to those that are removed after the page.
func (r *pushRun) markForRemoval(tokens ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.remove = append(r.remove, tokens...)
}

// send pushes to tokens until ctx ends. The end of ctx is not an error: tokens that
// were not reached by then are added to r.unreached.
func (r *pushRun) send(ctx context.Context, u *update, frequent bool, tokens []string) error {
	ended := r.change.Ended != 0

	message := u.token
	if frequent {
		message = u.frequent
	}

	var (
		delays    telemetry.Histogram
		unreached []string
	)

	taken := 0 // tokens that Send has taken
	take := func(yield func(string) bool) {
		for taken < len(tokens) && yield(tokens[taken]) {
			taken++
		}
	}

	counts, err := r.sender.Send(ctx, message, take, func(token string, o push.Outcome) {
		switch o.Result {
		case push.Unregistered:
			if ended || r.registered(token) <= o.Since.UnixMilli() {
				r.markForRemoval(token)
			}
		case push.Delivered:
			u.accepted(&delays, r.now())

			if ended {
				r.markForRemoval(token)
			}
		default:
			unreached = append(unreached, token)
		}
	})
	if errors.Is(err, context.Cause(ctx)) {
		err = nil
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.unreached = slices.Concat(r.unreached, unreached, tokens[taken:])
	r.counts.Delivered += counts.Delivered
	r.counts.Gone += counts.Gone
	r.counts.Retries += counts.Retries
	r.delays.Merge(&delays)

	return err
}

// registered returns the time of the last registration of a token, epoch ms.
func (r *pushRun) registered(token string) int64 {
	i, _ := slices.BinarySearchFunc(r.all, token, func(s target, token string) int { return strings.Compare(s.PushToken, token) })
	return r.all[i].UpdatedAt
}

// removeAll deletes the subscriptions marked for removal. It is for a match that is
// over: even one that was registered since it was read is deleted.
func (r *pushRun) removeAll(ctx context.Context) error {
	keys := make([]dynamo.Item, len(r.remove))
	for i, token := range r.remove {
		keys[i] = dynamo.Key(tables.RemoveActivities, r.change.MatchID, token)
	}

	return dynamo.DeleteAll(ctx, r.db, tables.RemoveActivities, keys)
}

// removeUnregistered deletes the subscriptions marked for removal, except those that were
// registered again since they were read.
func (r *pushRun) removeUnregistered(ctx context.Context) error {
	for _, token := range r.remove {
		unchanged := dynamo.Equal[Subscription]("updatedAt", r.registered(token))

		_, err := dynamo.Delete(ctx, r.db, tables.RemoveActivity, dynamo.Key(tables.RemoveActivity, r.change.MatchID, token), unchanged)
		if err := dynamo.IgnoreRefused(err); err != nil {
			return err
		}
	}

	return nil
}

// requeue sends messages that retry the unreached tokens of the page.
func (r *pushRun) requeue(ctx context.Context) error {
	r.counts.Requeued += len(r.unreached)
	slices.Sort(r.unreached) // a batch is then a narrow range of the partition

	for tokens := range slices.Chunk(r.unreached, retryBatch) {
		if err := r.retry(ctx, r.change, tokens); err != nil {
			return err
		}
	}

	return nil
}

// emitCounts emits the metrics of the run.
func (r *pushRun) emitCounts(ctx context.Context) {
	telemetry.Emit(ctx, r.now(), append([]telemetry.Sample{
		telemetry.Count(tables.PushesDelivered, r.counts.Delivered), telemetry.Count(tables.PushesGone, r.counts.Gone),
		telemetry.Count(tables.PushesRetried, r.counts.Retries), telemetry.Count(tables.PushesUnreached, r.counts.Requeued),
	}, r.delays.Samples(tables.PushDelay)...), slog.String("match", r.change.MatchID), slog.Int64("slot", r.change.Slot))
}

// retry sends m again with a delay, for these tokens only if there are any. It drops
// an update after maxTries and an end after maxEndTries: the next update replaces an
// update.
func (p *Pusher) retry(ctx context.Context, m MatchChanged, tokens []string) error {
	limit, delay := maxTries, retryDelay
	if m.Ended != 0 {
		limit, delay = maxEndTries, min(retryDelay<<min(m.Try, 10), LongestDelay)
	}

	if m.Try >= limit {
		slog.ErrorContext(ctx, "gave up: activities were not reached", "match", m.MatchID, "ended", m.Ended != 0, "tries", m.Try)
		return nil
	}

	m.Tokens = tokens

	m.Try++
	if len(tokens) > 0 {
		m.IDRange, m.Slot, m.Changed = IDRange{}, 0, nil // the retry pushes the current display of each token's perspective
	}

	return p.send(ctx, m, delay)
}
