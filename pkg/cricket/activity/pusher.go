package activity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
)

// OpenPusher opens the service of push-activities and sweep-channels.
func OpenPusher(ctx context.Context, env app.Env) (*Pusher, error) {
	sender, err := OpenSender(ctx, env)
	if err != nil {
		return nil, err
	}
	return NewPusher(env, sender), nil
}

// NewPusher is the service with a sender of the caller's.
func NewPusher(env app.Env, sender *push.Sender) *Pusher {
	return &Pusher{db: dynamo.Open(env.AWS, env.Prefix), sender: sender, queue: queue.Open(env.AWS, env.Queues), now: env.Now, patience: pageTimeout}
}

// OpenSender reads Apple's key. It dials nothing.
func OpenSender(ctx context.Context, env app.Env) (*push.Sender, error) {
	c, err := push.ConfigOf(ctx, env, tables.APNSKey, tables.APNSBundle)
	if err != nil {
		return nil, err
	}
	return push.Open(c)
}

// MatchChanged says that what is shown of a match has changed, or that some of
// its activities need what is shown now. It carries no state: the pusher reads
// what is current.
type MatchChanged struct {
	MatchID string   `json:"matchId"`
	Slot    int64    `json:"slot,omitempty"`    // in which it changed; what changed again since is left to the later message
	Changed []string `json:"changed,omitempty"` // perspectives
	Tokens  []string `json:"tokens,omitempty"`  // only these activities, in whatever perspective
	Ended   int64    `json:"ended,omitempty"`   // the match is over since (epoch s): end the activities
	Try     int      `json:"try,omitempty"`     // how often this was tried before

	IDRange         // of the tokens; without bounds and Tokens, the channels too
	Channels string `json:"channels,omitempty"` // do this with the channels, and nothing else
}

// What may be done with the channels of a match that is over.
const (
	tellChannels  = "tell"  // that it is
	closeChannels = "close" // and then delete them
)

const (
	// perMessage is how many activities one message pushes to: a second's work at
	// four connections. What is more in its range, messages of their own get, for
	// about perPart each, so that chance fills few parts up, and at most
	// MaxParts at once, of which each may be cut again. A million activities are
	// about 580 messages three deep, or 1,800 requests of SQS for each change;
	// 50 at once take half a minute, longer than a ball. Such a match is what the
	// channels are for: they take one request.
	perMessage = 2000
	perPart    = perMessage * 9 / 10
	MaxParts   = 32
	perPage    = 500 // pushes between two looks at what is shown now

	// pageTimeout is how long Apple may take for a page, which takes it a quarter of
	// a second: who was not reached by then is tried again later. All pages together
	// may take twice as long, so that a run which has also waited for a connection
	// and for broadcasts stays well within the function's 30 s.
	pageTimeout = 5 * time.Second

	// broadcastTimeout is how long Apple may take for one broadcast.
	broadcastTimeout = 5 * time.Second
	// closeAfter is how long a channel outlives its match. A channel keeps nothing,
	// so a phone that was away hears of the end when it is told again, then.
	closeAfter = 10 * time.Minute
)

const (
	// StaleAfter is when a phone greys out a score that nobody renewed: longer
	// than any pause within an innings.
	StaleAfter = 30 * time.Minute
	// dismissAfter is how long a result stays on the lock screen.
	dismissAfter = 30 * time.Minute
	// keptEnd is for how long Apple keeps an end for a phone that is away: as long as
	// the system leaves an activity that hears nothing, 8 h running and 4 h more on
	// the lock screen. No other message comes, and what is past its dismissal when it
	// comes is dismissed at once.
	keptEnd = 12 * time.Hour
	// keptPause is for how long Apple keeps a state in which nothing is played: no
	// other may come for that long.
	keptPause    = time.Hour
	maxTries     = 10              // of one update, retryDelay apart
	maxEndTries  = 24              // of one end, ever longer apart: for four hours nothing else makes up for it
	retryDelay   = 5 * time.Second // enough for a hiccup to pass
	LongestDelay = 15 * time.Minute
	retryBatch   = 500 // tokens in a message: 100 kB at most
)

// Pusher pushes states to Live Activities.
type Pusher struct {
	db       dynamo.DB
	sender   *push.Sender
	queue    queue.Sender
	now      func() time.Time
	patience time.Duration // with Apple, for a page
}

// PushActivities pushes the current state to the activities the message is
// about: by one broadcast to those on each channel, and to each of the others. It
// may run any number of times for one message: a phone orders what it gets by the
// state's time, and an activity that was ended is removed.
//
// A state that has changed again since the message was sent is left to the
// later message. What is more than one run's work is sent to the queue in parts
// first. Tokens that Apple calls dead are removed unless they were registered
// since; those that could not be reached are tried again by messages of their
// own, page by page. While nobody can be reached the others are not tried. An
// update that cannot be broadcast is dropped, for the next makes up for it; an end
// is tried again, and told again when the channels are closed, which a message
// does that is sent before anything else.
func (p *Pusher) PushActivities(ctx context.Context, m MatchChanged) error {
	if !match.ValidID(m.MatchID) {
		return problem.In("matchId", "%.32q is no match id", m.MatchID)
	}
	if m.Until != "" && m.Until <= m.From {
		return problem.In("until", "there is nothing after %.8q up to %.8q", m.From, m.Until)
	}
	f, ok, err := dynamo.Get[match.Fixture](ctx, p.db, tables.GetFixture, m.MatchID)
	if err != nil {
		return err
	}
	if !ok {
		return problem.New(problem.Invalid, "match_not_found", "there is no match %s", m.MatchID)
	}
	if m.Channels != "" && f.EndingAt == 0 {
		return problem.In("channels", "match %s is not over", m.MatchID)
	}
	if m.Ended == 0 {
		m.Ended = f.EndingAt // an activity that was registered while its match ended
	}
	messages, err := p.messages(ctx, f, m)
	if err != nil || len(messages) == 0 && m.Ended == 0 {
		return err
	}
	if err := p.sender.Ready(ctx); err != nil {
		slog.WarnContext(ctx, "Apple cannot be reached", "err", err)
		AppleFailed(ctx, p.now())
		return p.again(ctx, m, m.Tokens)
	}
	err = p.push(ctx, f, m, messages)
	if _, ok := errors.AsType[*push.Refused](err); ok {
		AppleFailed(ctx, p.now())
	}
	return err
}

// AppleFailed counts a message whose pushes Apple took none of.
func AppleFailed(ctx context.Context, now time.Time) {
	telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(tables.AppleFailures, 1)})
}

// push pushes the messages to the channels and the tokens that m is for.
func (p *Pusher) push(ctx context.Context, f match.Fixture, m MatchChanged, messages map[string]*update) error {
	if m.Channels != "" || m.IDRange == (IDRange{}) && len(m.Tokens) == 0 {
		if err := p.pushChannels(ctx, m, messages); err != nil || m.Channels != "" {
			return err
		}
	}
	return p.pushTokens(ctx, f, m, messages)
}

// pushTokens pushes the messages to the activities that have a token.
func (p *Pusher) pushTokens(ctx context.Context, f match.Fixture, m MatchChanged, messages map[string]*update) error {
	all, err := p.subscriptions(ctx, m)
	if err != nil {
		return err
	}
	run := pushRun{Pusher: p, change: m, registered: map[string]int64{}}
	defer func() { run.report(ctx) }()
	trying, giveUp := context.WithTimeout(ctx, 2*p.patience)
	defer giveUp()
	now := p.now().Unix()
	for start := 0; start < len(all); start += perPage {
		if start > 0 {
			if messages, err = p.messages(ctx, f, m); err != nil {
				return err
			}
		}
		groups := map[string][]string{}
		for _, s := range all[start:min(start+perPage, len(all))] {
			if s.ExpiresAt > now {
				view := f.Perspective(s.TeamID)
				groups[view] = append(groups[view], s.PushToken)
				run.registered[s.PushToken] = s.UpdatedAt
			}
		}
		before := run.counts
		if err := run.page(ctx, trying, messages, groups); err != nil {
			return err
		}
		if len(run.unreached) > 0 && run.counts.Delivered == before.Delivered && run.counts.Gone == before.Gone {
			giveUp()
		}
	}
	return nil
}

// update is one perspective's message. What goes to a token Apple keeps while no
// other makes up for it; for a channel it keeps nothing.
type update struct{ token, channel *push.Message }

// newUpdate encodes a state, and encode says as what.
func newUpdate(s push.State, kept time.Time, encode func(push.State) (*push.Message, error)) (*update, error) {
	channel, err := encode(s)
	if err != nil || kept.IsZero() {
		return &update{channel, channel}, err
	}
	s.Expires = kept
	token, err := encode(s)
	return &update{token, channel}, err
}

// messages are what to push, by perspective. At the end of the match they are for
// all of them.
func (p *Pusher) messages(ctx context.Context, f match.Fixture, m MatchChanged) (map[string]*update, error) {
	views := m.Changed
	if len(views) == 0 || m.Ended != 0 {
		views = f.Perspectives()
	}
	messages := map[string]*update{}
	for _, view := range views {
		shown, ok, err := match.ReadDisplay(ctx, p.db, f.MatchID, view)
		if !ok && err == nil && m.Ended != 0 {
			shown, ok, err = p.unshown(ctx, f, view)
		}
		if err != nil {
			return nil, err
		}
		if !ok || m.Slot != 0 && m.Ended == 0 && shown.Slot > m.Slot {
			continue
		}
		state := push.State{Content: shown.Display, Time: time.Unix(shown.At, 0)}
		switch {
		case m.Ended != 0:
			state.Time = time.Unix(max(m.Ended, shown.At+1), 0) // newer than what is shown, lest that comes after it
			messages[view], err = newUpdate(state, state.Time.Add(keptEnd), func(s push.State) (*push.Message, error) {
				return push.End(s, s.Time.Add(dismissAfter))
			})
		case shown.Playing:
			state.Stale = state.Time.Add(StaleAfter)
			messages[view], err = newUpdate(state, time.Time{}, push.Update)
		default:
			messages[view], err = newUpdate(state, p.now().Add(keptPause), push.Update)
		}
		if err != nil {
			return nil, fmt.Errorf("match %s as %s: %w", f.MatchID, view, err)
		}
	}
	return messages, nil
}

// unshown is what would be shown of a match that ended before it was ever shown,
// or long after: made from its score, if there is one.
func (p *Pusher) unshown(ctx context.Context, f match.Fixture, view string) (match.DisplayRow, bool, error) {
	c, ok, err := match.ReadScore(ctx, p.db, f.MatchID)
	if err != nil || !ok {
		return match.DisplayRow{}, false, err
	}
	text, err := json.Marshal(c.State.For(view))
	return match.DisplayRow{Display: match.RawJSON(text)}, true, err
}

// subscriptions are the activities of the message's tokens, if it names any, or
// else the first perMessage of its range. It has the others of the range pushed
// to by messages of their own.
func (p *Pusher) subscriptions(ctx context.Context, m MatchChanged) (all []Subscription, err error) {
	wanted := m.Query(tables.AllSubscriptions, m.MatchID)
	if len(m.Tokens) > 0 {
		wanted.Key = wanted.Key.And(expression.Key("pushToken").Between(expression.Value(slices.Min(m.Tokens)), expression.Value(slices.Max(m.Tokens))))
	}
	for more := true; more; {
		if len(m.Tokens) == 0 {
			wanted.Limit = int32(perMessage - len(all))
		}
		page, last, err := dynamo.Query[Subscription](ctx, p.db, tables.AllSubscriptions, wanted)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			if len(m.Tokens) == 0 || slices.Contains(m.Tokens, s.PushToken) {
				all = append(all, s)
			}
		}
		if len(m.Tokens) == 0 && len(all) == perMessage {
			return all, p.split(ctx, m, all)
		}
		wanted.After, more = last, last != nil
	}
	return all, nil
}

// split sends messages for what the range of a message holds behind the first,
// which were read.
func (p *Pusher) split(ctx context.Context, m MatchChanged, first []Subscription) error {
	greatest := IDRange{Until: m.Until}.Query(tables.AllSubscriptions, m.MatchID)
	greatest.Backward, greatest.Limit = true, 1
	top, _, err := dynamo.Query[Subscription](ctx, p.db, tables.AllSubscriptions, greatest)
	if err != nil {
		return err
	}
	seen := make([]string, len(first))
	for i, s := range first {
		seen[i] = s.PushToken
	}
	if len(top) == 0 || top[0].PushToken <= seen[len(seen)-1] {
		return nil // who comes now has a message of their own
	}
	for _, part := range m.Split(seen, top[0].PushToken, perPart, MaxParts) {
		part := MatchChanged{MatchID: m.MatchID, Slot: m.Slot, Changed: m.Changed, Ended: m.Ended, IDRange: part}
		if err := p.queue.Send(ctx, tables.ActivityQueue, part, 0); err != nil {
			return err
		}
	}
	return nil
}

// pushRun is one PushActivities.
type pushRun struct {
	*Pusher
	change     MatchChanged
	registered map[string]int64 // token: when it was last registered, epoch ms

	mu        sync.Mutex
	remove    []string // of this page: dead, or done with
	unreached []string // of this page
	counts    push.Counts
}

// page pushes each perspective's message to its group of tokens while trying
// lasts, removes those that are dead or done with, and has the unreached tried
// again. A match that is over and has nothing to show cannot end an activity,
// which the system does after some hours.
func (r *pushRun) page(ctx, trying context.Context, messages map[string]*update, groups map[string][]string) error {
	r.remove, r.unreached = nil, nil
	trying, cancel := context.WithTimeout(trying, r.patience)
	defer cancel()
	views := slices.Sorted(maps.Keys(groups))
	errs := make([]error, len(views))
	var sends sync.WaitGroup
	for i, view := range views {
		switch message := messages[view]; {
		case message != nil:
			sends.Go(func() { errs[i] = r.send(trying, message.token, groups[view]) })
		case r.change.Ended != 0:
			slog.ErrorContext(ctx, "the match is over and has nothing to show: its activities are forgotten", "match", r.change.MatchID, "activities", len(groups[view]))
			r.done(groups[view]...)
		}
	}
	sends.Wait()
	if r.change.Ended != 0 {
		errs = append(errs, r.removeAll(ctx))
	} else {
		errs = append(errs, r.removeDead(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.requeue(ctx)
}

// done has tokens removed.
func (r *pushRun) done(tokens ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove = append(r.remove, tokens...)
}

// send pushes to tokens until ctx ends. That it did is no error: who was not
// reached by then is unreached.
func (r *pushRun) send(ctx context.Context, message *push.Message, tokens []string) error {
	waiting := make(map[string]bool, len(tokens))
	for _, token := range tokens {
		waiting[token] = true
	}
	ended := r.change.Ended != 0
	counts, err := r.sender.Send(ctx, message, slices.Values(tokens), func(token string, o push.Outcome) {
		switch o.Result {
		case push.Gone:
			if ended || o.Since.IsZero() || r.registered[token] <= o.Since.UnixMilli() {
				r.done(token)
			}
		case push.Delivered:
			if ended {
				r.done(token)
			}
		default:
			return
		}
		delete(waiting, token)
	})
	if errors.Is(err, context.Cause(ctx)) {
		err = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unreached = slices.AppendSeq(r.unreached, maps.Keys(waiting))
	r.counts.Delivered += counts.Delivered
	r.counts.Gone += counts.Gone
	r.counts.Retries += counts.Retries
	return err
}

// removeAll deletes subscriptions to a match that is over.
func (r *pushRun) removeAll(ctx context.Context) error {
	keys := make([]dynamo.Item, len(r.remove))
	for i, token := range r.remove {
		keys[i] = dynamo.Key(tables.RemoveActivities, r.change.MatchID, token)
	}
	return dynamo.DeleteAll(ctx, r.db, tables.RemoveActivities, keys)
}

// removeDead deletes subscriptions, but not one that was registered again since
// it was read.
func (r *pushRun) removeDead(ctx context.Context) error {
	for _, token := range r.remove {
		same := expression.Equal(expression.Name("updatedAt"), expression.Value(r.registered[token]))
		_, err := dynamo.Delete(ctx, r.db, tables.RemoveActivity, dynamo.Key(tables.RemoveActivity, r.change.MatchID, token), same)
		if err := dynamo.IgnoreRefused(err); err != nil {
			return err
		}
	}
	return nil
}

// requeue has the page's tokens that could not be reached tried again.
func (r *pushRun) requeue(ctx context.Context) error {
	r.counts.Requeued += len(r.unreached)
	slices.Sort(r.unreached) // so that a batch is a narrow range of the partition
	for tokens := range slices.Chunk(r.unreached, retryBatch) {
		if err := r.again(ctx, r.change, tokens); err != nil {
			return err
		}
	}
	return nil
}

// report says what the run did.
func (r *pushRun) report(ctx context.Context) {
	telemetry.Emit(ctx, r.now(), []telemetry.Sample{
		telemetry.Count(tables.PushesDelivered, r.counts.Delivered), telemetry.Count(tables.PushesGone, r.counts.Gone),
		telemetry.Count(tables.PushesRetried, r.counts.Retries), telemetry.Count(tables.PushesUnreached, r.counts.Requeued),
	}, slog.String("match", r.change.MatchID), slog.Int64("slot", r.change.Slot))
}

// again has a message, of its tokens only these if there are any, tried again
// later. It gives an update up early, for the next makes up for it.
func (p *Pusher) again(ctx context.Context, m MatchChanged, tokens []string) error {
	limit, delay := maxTries, retryDelay
	if m.Ended != 0 {
		limit, delay = maxEndTries, min(retryDelay<<min(m.Try, 10), LongestDelay)
	}
	if m.Try >= limit {
		slog.ErrorContext(ctx, "activities were not reached", "match", m.MatchID, "ended", m.Ended != 0, "tries", m.Try)
		return nil
	}
	m.Tokens = tokens
	m.Try++
	if len(tokens) > 0 {
		m.IDRange, m.Slot, m.Changed = IDRange{}, 0, nil // what is current then, in whatever perspective
	}
	return p.queue.Send(ctx, tables.ActivityQueue, m, delay)
}
