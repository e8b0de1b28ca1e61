package cricket

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/fault"
	"matchday/pkg/kit/obs"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
)

// MatchChanged says that what is shown of a match has changed, or that some of
// its activities need what is shown now. It carries no state: the pusher reads
// what is current.
type MatchChanged struct {
	MatchID string   `json:"matchId"`
	Slot    int64    `json:"slot,omitempty"`    // in which it changed; what changed again since is left to the later message
	Changed []string `json:"changed,omitempty"` // perspectives
	Tokens  []string `json:"tokens,omitempty"`  // only these activities, in whatever perspective
	Ended   int64    `json:"ended,omitempty"`   // the match is over since (epoch s): end the activities
	Try     int      `json:"try,omitempty"`     // how often Tokens were tried before
}

const (
	// staleAfter is when a phone greys out a score that nobody renewed: longer
	// than any pause within an innings.
	staleAfter = 30 * time.Minute
	// dismissAfter is how long a result stays on the lock screen.
	dismissAfter = 30 * time.Minute
	maxTries     = 10              // of one update, retryDelay apart
	maxEndTries  = 24              // of one end, ever longer apart: for four hours nothing else makes up for it
	retryDelay   = 5 * time.Second // enough for a hiccup to pass
	longestDelay = 15 * time.Minute
	retryBatch   = 500 // tokens in a message: 100 kB at most
)

// Pusher pushes states to Live Activities.
type Pusher struct {
	db     dynamo.DB
	sender *push.Sender
	queue  queue.Sender
	now    func() time.Time
}

// PushActivities pushes the current state to the activities the message is
// about. It may run any number of times for one message: a phone orders what it
// gets by the state's time, and an activity that was ended is removed.
//
// A state that has changed again since the message was sent is left to the
// later message. Tokens that Apple calls dead are removed unless they were
// registered since; those that could not be reached are tried again by a
// message of their own.
func (p *Pusher) PushActivities(ctx context.Context, m MatchChanged) error {
	if !isMatchID(m.MatchID) {
		return fault.In("matchId", "%.32q is no match id", m.MatchID)
	}
	f, ok, err := dynamo.Get[fixture](ctx, p.db, getFixture, m.MatchID)
	if err != nil {
		return err
	}
	if !ok {
		return fault.New(fault.Invalid, "there is no match %s", m.MatchID)
	}
	if m.Ended == 0 {
		m.Ended = f.EndingAt // an activity that was registered while its match ended
	}
	messages, err := p.messages(ctx, f, m)
	if err != nil || len(messages) == 0 {
		return err
	}
	run := pushRun{Pusher: p, change: m, registered: map[string]int64{}}
	if err := p.sender.Ready(ctx); err != nil {
		slog.WarnContext(ctx, "Apple cannot be reached", "err", err)
		return p.again(ctx, m, m.Tokens)
	}
	for page, err := range p.subscriptions(ctx, m) {
		if err != nil {
			return err
		}
		groups := map[string][]string{}
		for _, s := range page {
			if len(m.Tokens) > 0 && !slices.Contains(m.Tokens, s.PushToken) {
				continue
			}
			groups[f.perspective(s.TeamID)] = append(groups[f.perspective(s.TeamID)], s.PushToken)
			run.registered[s.PushToken] = s.UpdatedAt
		}
		if err := run.page(ctx, messages, groups); err != nil {
			return err
		}
	}
	return run.finish(ctx)
}

// messages are what to push, by perspective.
func (p *Pusher) messages(ctx context.Context, f fixture, m MatchChanged) (map[string]*push.Message, error) {
	views := m.Changed
	if len(views) == 0 {
		views = f.perspectives()
	}
	messages := map[string]*push.Message{}
	for _, view := range views {
		shown, ok, err := readShown(ctx, p.db, f.MatchID, view)
		if err != nil {
			return nil, err
		}
		if !ok || m.Slot != 0 && m.Ended == 0 && shown.Slot > m.Slot {
			continue
		}
		state := push.State{Content: shown.Display, Time: time.Unix(shown.At, 0)}
		if m.Ended != 0 {
			state.Time = time.Unix(max(m.Ended, shown.At), 0)
			messages[view], err = push.End(state, state.Time.Add(dismissAfter))
		} else {
			if shown.Playing {
				state.Stale = state.Time.Add(staleAfter)
			}
			messages[view], err = push.Update(state)
		}
		if err != nil {
			return nil, fmt.Errorf("match %s as %s: %w", f.MatchID, view, err)
		}
	}
	return messages, nil
}

// subscriptions are those of the message's match, page by page: at least those
// of its tokens, if it names any.
func (p *Pusher) subscriptions(ctx context.Context, m MatchChanged) iter.Seq2[[]subscription, error] {
	fresh := expression.GreaterThan(expression.Name("expiresAt"), expression.Value(p.now().Unix()))
	key := expression.Key("matchId").Equal(expression.Value(m.MatchID))
	if len(m.Tokens) > 0 {
		key = key.And(expression.Key("pushToken").Between(expression.Value(slices.Min(m.Tokens)), expression.Value(slices.Max(m.Tokens))))
	}
	return dynamo.Pages(func(after dynamo.Item) ([]subscription, dynamo.Item, error) {
		return dynamo.Query[subscription](ctx, p.db, allSubscriptions, dynamo.Range{Key: key, Filter: &fresh, After: after})
	})
}

// pushRun is one PushActivities.
type pushRun struct {
	*Pusher
	change     MatchChanged
	registered map[string]int64 // token: when it was last registered, epoch ms
	remove     []string         // of this page: dead, or done with
	unreached  []string
	counts     push.Counts
}

// page pushes each perspective's message to its group of tokens, and removes
// those that are dead or done with.
func (r *pushRun) page(ctx context.Context, messages map[string]*push.Message, groups map[string][]string) (err error) {
	r.remove = nil
	for _, view := range slices.Sorted(maps.Keys(groups)) {
		if message := messages[view]; message != nil && err == nil {
			err = r.send(ctx, message, groups[view])
		}
	}
	if r.change.Ended != 0 {
		return errors.Join(err, r.removeAll(ctx))
	}
	return errors.Join(err, r.removeDead(ctx))
}

func (r *pushRun) send(ctx context.Context, message *push.Message, tokens []string) error {
	counts, err := r.sender.Send(ctx, message, slices.Values(tokens), func(token string, o push.Outcome) {
		ended := r.change.Ended != 0
		switch o.Result {
		case push.Gone:
			if ended || o.Since.IsZero() || r.registered[token] <= o.Since.UnixMilli() {
				r.remove = append(r.remove, token)
			}
		case push.Delivered:
			if ended {
				r.remove = append(r.remove, token)
			}
		default:
			r.unreached = append(r.unreached, token)
		}
	})
	r.counts.Delivered += counts.Delivered
	r.counts.Gone += counts.Gone
	r.counts.Retries += counts.Retries
	return err
}

// removeAll deletes subscriptions to a match that is over.
func (r *pushRun) removeAll(ctx context.Context) error {
	keys := make([]dynamo.Item, len(r.remove))
	for i, token := range r.remove {
		keys[i] = dynamo.Key(removeActivities, r.change.MatchID, token)
	}
	return dynamo.DeleteAll(ctx, r.db, removeActivities, keys)
}

// removeDead deletes subscriptions, but not one that was registered again since
// it was read.
func (r *pushRun) removeDead(ctx context.Context) error {
	for _, token := range r.remove {
		same := expression.Equal(expression.Name("updatedAt"), expression.Value(r.registered[token]))
		_, err := dynamo.Delete(ctx, r.db, removeActivity, dynamo.Key(removeActivity, r.change.MatchID, token), same)
		if err != nil && !dynamo.IsRefused(err) {
			return err
		}
	}
	return nil
}

// finish has the tokens that could not be reached tried again, and says what
// the run did.
func (r *pushRun) finish(ctx context.Context) error {
	obs.Emit(ctx, r.now(), []obs.Metric{
		obs.Count("PushesDelivered", r.counts.Delivered), obs.Count("PushesGone", r.counts.Gone),
		obs.Count("PushesRetried", r.counts.Retries), obs.Count("PushesUnreached", len(r.unreached)),
	}, slog.String("match", r.change.MatchID), slog.Int64("slot", r.change.Slot))
	slices.Sort(r.unreached) // so that a batch is a narrow range of the partition
	for tokens := range slices.Chunk(r.unreached, retryBatch) {
		if err := r.again(ctx, r.change, tokens); err != nil {
			return err
		}
	}
	return nil
}

// again has the tokens of a message, all if there are none, tried again later.
// It gives an update up early, for the next makes up for it.
func (p *Pusher) again(ctx context.Context, m MatchChanged, tokens []string) error {
	limit, delay := maxTries, retryDelay
	if m.Ended != 0 {
		limit, delay = maxEndTries, min(retryDelay<<min(m.Try, 10), longestDelay)
	}
	if m.Try >= limit {
		slog.ErrorContext(ctx, "activities were not reached", "match", m.MatchID, "ended", m.Ended != 0, "tries", m.Try)
		return nil
	}
	m.Tokens = tokens
	m.Try++
	if len(tokens) > 0 {
		m.Slot, m.Changed = 0, nil // what is current then, in whatever perspective
	}
	return p.queue.Send(ctx, activityQueue, m, delay)
}
