package activity

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/telemetry"
)

// Channel is a row of cricket-channels: the broadcast channel of a match as one
// perspective sees it. A row without an id says that one is being made. Who
// listens is nowhere, so a broadcast costs the same for one phone and a million.
type Channel struct {
	MatchID   string `dynamodbav:"matchId"`
	View      string `dynamodbav:"view"` // a team's id, or neutral
	ChannelID string `dynamodbav:"channelId,omitempty"`
	ClaimedAt int64  `dynamodbav:"claimedAt"` // epoch ms
}

const (
	// channelClaim is how long one may take to make a channel before another
	// tries: longer than an invocation of start-activity.
	channelClaim = 30 * time.Second
	// channelTimeout is how long Apple may take to make one.
	channelTimeout = 5 * time.Second
	// channelWait is how long one waits for the channel that another is making,
	// looking every channelPoll.
	channelWait = 5 * time.Second
	channelPoll = 100 * time.Millisecond
)

// being reports whether a row's channel may be being made at this moment.
func (c Channel) being(now time.Time) bool {
	return c.ChannelID == "" && c.young(now)
}

// channelUnknown is Apple's word for a channel that it does not have.
const channelUnknown = "ChannelNotRegistered"

// young reports whether a row's channel is so new that not all of Apple may know
// it.
func (c Channel) young(now time.Time) bool {
	return now.Sub(time.UnixMilli(c.ClaimedAt)) < channelClaim
}

// same holds for the row as it was read.
func (c Channel) same() expression.ConditionBuilder {
	same := expression.Equal(expression.Name("claimedAt"), expression.Value(c.ClaimedAt))
	if c.ChannelID == "" {
		return same.And(expression.AttributeNotExists(expression.Name("channelId")))
	}
	return same.And(expression.Equal(expression.Name("channelId"), expression.Value(c.ChannelID)))
}

// forget removes the row, unless it has changed since it was read.
func (c Channel) forget(ctx context.Context, db dynamo.DB) error {
	_, err := dynamo.Delete(ctx, db, tables.RemoveChannel, dynamo.Key(tables.RemoveChannel, c.MatchID, c.View), c.same())
	return dynamo.IgnoreRefused(err)
}

// readChannels reads the channels of a match, with every one that was stored
// before.
func readChannels(ctx context.Context, db dynamo.DB, matchID string) ([]Channel, error) {
	key := expression.Key("matchId").Equal(expression.Value(matchID))
	rows, _, err := dynamo.Query[Channel](ctx, db, tables.ChannelsOfMatch, dynamo.Range{Key: key, Consistent: true})
	return rows, err
}

// Channels opens broadcast channels.
type Channels struct {
	DB     dynamo.DB
	Sender func(context.Context) (*push.Sender, error)
	app.Clock
}

// senderOnce opens the sender when it is first asked for, and again after it
// failed: who never needs Apple reads no secret.
func senderOnce(env app.Env) func(context.Context) (*push.Sender, error) {
	var mu sync.Mutex
	var sender *push.Sender
	return func(ctx context.Context) (_ *push.Sender, err error) {
		mu.Lock()
		defer mu.Unlock()
		if sender == nil {
			sender, err = OpenSender(ctx, env)
		}
		return sender, err
	}
}

var (
	errChannelRefused = problem.New(problem.Conflict, "channel_refused", "Apple gives no channel for this match: give the activity's pushToken")
	errChannelDown    = problem.New(problem.Unavailable, "channel_unavailable", "no channel can be opened at the moment: try again, or give the activity's pushToken")
	// errChannelBusy says that another is making the channel at this moment.
	errChannelBusy = problem.New(problem.Unavailable, "channel_busy", "the match's channel is being opened: try again, or give the activity's pushToken")
)

// Open returns the channel of the match and perspective, and makes it if there
// is none. The row is claimed before Apple is asked, so that of many at once one
// makes it and the others wait for that one.
//
// It is a Conflict if Apple refuses one, and Unavailable if Apple cannot be
// reached or another takes too long. The second run of one that crashed takes
// its claim over after channelClaim; a channel whose id was not stored is no
// row's, and sweep-channels deletes it.
func (c *Channels) Open(ctx context.Context, matchID, view string) (string, error) {
	for last := c.Now().Add(channelWait); ; {
		row, ok, err := dynamo.Get[Channel](ctx, c.DB, tables.ClaimChannel, matchID, view)
		if err != nil || ok && row.ChannelID != "" {
			return row.ChannelID, err
		}
		row = Channel{MatchID: matchID, View: view, ClaimedAt: c.Now().UnixMilli()}
		err = c.claim(ctx, row)
		if err == nil {
			return c.make(ctx, row)
		}
		again := c.Now().Add(channelPoll)
		switch {
		case !dynamo.IsRefused(err):
			return "", err
		case again.After(last):
			return "", errChannelBusy
		}
		if err := c.Sleep(ctx, again); err != nil {
			return "", err
		}
	}
}

// claim writes the row, unless there is one that has a channel, or whose claim is
// not given up.
func (c *Channels) claim(ctx context.Context, row Channel) error {
	free := expression.AttributeNotExists(expression.Name("matchId")).
		Or(expression.AttributeNotExists(expression.Name("channelId")).
			And(expression.LessThanEqual(expression.Name("claimedAt"), expression.Value(row.ClaimedAt-channelClaim.Milliseconds()))))
	set := expression.Set(expression.Name("claimedAt"), expression.Value(row.ClaimedAt))
	return dynamo.Update(ctx, c.DB, tables.ClaimChannel, dynamo.Key(tables.ClaimChannel, row.MatchID, row.View), set, free)
}

// make makes the channel of a row that is claimed, and stores it.
func (c *Channels) make(ctx context.Context, row Channel) (string, error) {
	sender, err := c.Sender(ctx)
	if err != nil {
		return "", errors.Join(errChannelDown.Because(err), row.forget(ctx, c.DB))
	}
	id, err := create(ctx, sender)
	if err != nil {
		return "", errors.Join(err, row.forget(ctx, c.DB))
	}
	set := expression.Set(expression.Name("channelId"), expression.Value(id))
	mine := expression.Equal(expression.Name("claimedAt"), expression.Value(row.ClaimedAt))
	err = dynamo.Update(ctx, c.DB, tables.ClaimChannel, dynamo.Key(tables.ClaimChannel, row.MatchID, row.View), set, mine)
	switch {
	case err == nil:
		return id, nil
	case !dynamo.IsRefused(err):
		return "", err // it may be stored, so it must not be deleted
	}
	if err := sender.DeleteChannel(ctx, id); err != nil { // the claim was lost: nobody will hear of the channel
		slog.WarnContext(ctx, "a channel that is nobody's is left to the sweep", "match", row.MatchID, "err", err)
	}
	return "", errChannelBusy
}

// create has Apple make a channel.
func create(ctx context.Context, sender *push.Sender) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, channelTimeout)
	defer cancel()
	err := sender.Ready(ctx)
	if err == nil {
		var id string
		if id, err = sender.CreateChannel(ctx, push.KeepNothing); err == nil {
			return id, nil
		}
	}
	if _, refused := errors.AsType[*push.Refused](err); refused {
		slog.ErrorContext(ctx, "Apple refuses a channel", "err", err)
		return "", errChannelRefused.Because(err)
	}
	return "", errChannelDown.Because(err)
}

// pushChannels broadcasts to the channels of the message's match.
func (p *Pusher) pushChannels(ctx context.Context, m MatchChanged, messages map[string]*update) error {
	rows, err := readChannels(ctx, p.db, m.MatchID)
	if err != nil || len(rows) == 0 {
		return err
	}
	if m.Ended != 0 && m.Channels == "" {
		last := MatchChanged{MatchID: m.MatchID, Ended: m.Ended, Channels: closeChannels}
		if err := p.queue.Send(ctx, tables.ActivityQueue, last, closeAfter); err != nil {
			return err
		}
		m = MatchChanged{MatchID: m.MatchID, Ended: m.Ended, Channels: tellChannels}
	}
	unreached, err := p.broadcast(ctx, rows, messages)
	switch {
	case err != nil:
		return err
	case m.Ended != 0 && unreached:
		return p.again(ctx, m, nil)
	case m.Channels != closeChannels:
		return nil
	}
	for _, row := range rows {
		if err := p.close(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// broadcast sends each perspective's message to its channel, and reports whether
// one could not be reached. A channel that Apple does not know is forgotten, so
// that the next activity opens another.
func (p *Pusher) broadcast(ctx context.Context, rows []Channel, messages map[string]*update) (unreached bool, err error) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(c Channel) bool { return c.ChannelID == "" || messages[c.View] == nil })
	errs := make([]error, len(rows))
	var casts sync.WaitGroup
	for i, row := range rows {
		casts.Go(func() { errs[i] = p.broadcastTo(ctx, row.ChannelID, messages[row.View].channel) })
	}
	casts.Wait()
	sent, failed := 0, 0
	for i, row := range rows {
		if errs[i] == nil {
			sent++
			continue
		}
		slog.ErrorContext(ctx, "a broadcast failed", "match", row.MatchID, "as", row.View, "err", errs[i])
		if r, ok := errors.AsType[*push.Refused](errs[i]); !ok || r.Reason != channelUnknown || row.young(p.now()) {
			failed++
			continue
		}
		if err := row.forget(ctx, p.db); err != nil {
			return false, err
		}
	}
	if len(rows) > 0 {
		telemetry.Emit(ctx, p.now(), []telemetry.Sample{telemetry.Count(tables.Broadcasts, sent), telemetry.Count(tables.BroadcastsFailed, failed)})
	}
	return failed > 0, nil
}

func (p *Pusher) broadcastTo(ctx context.Context, id string, message *push.Message) error {
	ctx, cancel := context.WithTimeout(ctx, broadcastTimeout)
	defer cancel()
	return p.sender.Broadcast(ctx, id, message)
}

// close deletes a channel, and then its row, if it has one: until then a second
// run finds it. A row that has changed since it was read is left to the sweep.
func (p *Pusher) close(ctx context.Context, row Channel) error {
	if row.ChannelID != "" {
		if err := p.sender.DeleteChannel(ctx, row.ChannelID); err != nil {
			return err
		}
	}
	if row.MatchID == "" {
		return nil
	}
	return row.forget(ctx, p.db)
}
