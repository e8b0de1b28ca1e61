package activity

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/telemetry"
)

// Channel is a row of cricket-channels: the broadcast channel of a match in one
// perspective. A row without a channel id is a claim: a process is creating the
// channel. Listeners are not stored, so the cost of a broadcast does not depend on
// their number.
type Channel struct {
	MatchID   string `dynamodbav:"matchId"`
	View      string `dynamodbav:"view"` // a team id, or match.Neutral
	ChannelID string `dynamodbav:"channelId,omitempty"`
	ClaimedAt int64  `dynamodbav:"claimedAt"` // epoch ms
}

const (
	// channelClaim is how long a claim is valid. It is longer than an invocation
	// of start-activity, so a process that exceeds it has crashed.
	channelClaim = 30 * time.Second
	// channelTimeout bounds the creation of a channel at Apple.
	channelTimeout = 5 * time.Second
	// channelWait is how long Open waits for a channel that another process
	// creates. It reads the row every channelPoll.
	channelWait = 5 * time.Second
	channelPoll = 100 * time.Millisecond
)

// reasonChannelUnknown is APNs' reason for a channel that does not exist.
const reasonChannelUnknown = "ChannelNotRegistered"

// recent reports whether the row was claimed less than channelClaim ago. Some of
// Apple's servers may not know the channel yet.
func (c Channel) recent(now time.Time) bool {
	return now.Sub(time.UnixMilli(c.ClaimedAt)) < channelClaim
}

// remove deletes the row, unless it has changed since it was read.
func (c Channel) remove(ctx context.Context, db dynamo.DB) error {
	unchanged := dynamo.Unchanged(c, "claimedAt", "channelId")
	_, err := dynamo.Delete(ctx, db, tables.RemoveChannel, dynamo.Key(tables.RemoveChannel, c.MatchID, c.View), unchanged)

	return dynamo.IgnoreRefused(err)
}

// readChannels reads the channels of a match. The read is consistent: the result
// contains every row that was stored before the call.
func readChannels(ctx context.Context, db dynamo.DB, matchID string) ([]Channel, error) {
	rows, _, err := dynamo.Query[Channel](ctx, db, tables.ChannelsOfMatch,
		dynamo.Range{Key: dynamo.KeyIs(tables.ChannelsOfMatch, matchID), Consistent: true})
	return rows, err
}

// Channels opens broadcast channels.
type Channels struct {
	db      dynamo.DB
	Sender  func(context.Context) (*push.Sender, error) // called when a channel is created
	timeout time.Duration                               // of the creation
	app.Clock
}

// NewChannels returns the channels of an environment, with the sender that creates them.
func NewChannels(env app.Env, sender func(context.Context) (*push.Sender, error)) Channels {
	return Channels{dynamo.Open(env.AWS, env.Prefix), sender, env.Limit(channelTimeout), env.Clock}
}

// senderOnce returns a function that opens the sender at its first call and returns
// the same sender later. After an error the next call tries again. A process that
// opens no channel therefore does not read the secret.
func senderOnce(env app.Env) func(context.Context) (*push.Sender, error) {
	var (
		mu     sync.Mutex
		sender *push.Sender
	)

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
	errChannelRefused = problem.New(problem.Conflict, "channel_refused",
		"Apple refused to create a channel for this match: send the activity's pushToken")
	errChannelDown = problem.New(problem.Unavailable, "channel_unavailable",
		"no channel can be opened now: try again, or send the activity's pushToken")
	// errChannelBusy means that another process is creating the channel.
	errChannelBusy = problem.New(problem.Unavailable, "channel_busy",
		"another request is opening the channel of this match: try again, or send the activity's pushToken")
)

// Open returns the id of the channel of a match and perspective, and creates the
// channel if there is none. It claims the row before it calls Apple, so of several
// concurrent calls one creates the channel and the others wait for it, at most
// channelWait.
//
// Conflict: Apple refused. Unavailable: Apple cannot be reached, or another process
// takes too long. After a crash the next call takes the claim over when channelClaim
// has passed; sweep-channels deletes a channel whose id was not stored.
func (c *Channels) Open(ctx context.Context, matchID, view string) (string, error) {
	for deadline := c.Now().Add(channelWait); ; {
		row, ok, err := dynamo.Get[Channel](ctx, c.db, tables.ClaimChannel, matchID, view)
		if err != nil || ok && row.ChannelID != "" {
			return row.ChannelID, err
		}

		row = Channel{MatchID: matchID, View: view, ClaimedAt: c.Now().UnixMilli()}

		err = c.claim(ctx, row)
		if err == nil {
			return c.create(ctx, row)
		}

		next := c.Now().Add(channelPoll)
		switch {
		case !dynamo.IsRefused(err):
			return "", err
		case next.After(deadline):
			return "", errChannelBusy
		}

		if err := c.Sleep(ctx, next); err != nil {
			return "", err
		}
	}
}

// claim writes the row. The write is refused if the stored row has a channel, or a
// claim that is younger than channelClaim.
func (c *Channels) claim(ctx context.Context, row Channel) error {
	expired := dynamo.Absent[Channel]("channelId").And(dynamo.AtMost[Channel]("claimedAt", row.ClaimedAt-channelClaim.Milliseconds()))
	available := dynamo.Absent[Channel]("matchId").Or(expired)

	return dynamo.Update(ctx, c.db, tables.ClaimChannel, dynamo.Key(tables.ClaimChannel, row.MatchID, row.View),
		dynamo.Set(row, "claimedAt"), available)
}

// create creates the channel of a claimed row at Apple, and stores its id. It
// returns errChannelBusy if another process took the claim over meanwhile.
func (c *Channels) create(ctx context.Context, row Channel) (string, error) {
	sender, err := c.Sender(ctx)
	if err != nil {
		return "", errors.Join(errChannelDown.Because(err), row.remove(ctx, c.db))
	}

	id, err := c.createAtApple(ctx, sender)
	if err != nil {
		return "", errors.Join(err, row.remove(ctx, c.db))
	}

	set, own := dynamo.Set(Channel{ChannelID: id}, "channelId"), dynamo.Unchanged(row, "claimedAt")

	err = dynamo.Update(ctx, c.db, tables.ClaimChannel, dynamo.Key(tables.ClaimChannel, row.MatchID, row.View), set, own)
	switch {
	case err == nil:
		return id, nil
	case !dynamo.IsRefused(err):
		return "", err // the id may be stored, so the channel must not be deleted
	}

	if err := sender.DeleteChannel(ctx, id); err != nil { // the claim was lost, so no caller gets this channel
		slog.WarnContext(ctx, "an unused channel could not be deleted: sweep-channels will delete it", "match", row.MatchID, "err", err)
	}

	return "", errChannelBusy
}

// createAtApple creates a channel at Apple, which stores no message for it.
func (c *Channels) createAtApple(ctx context.Context, sender *push.Sender) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	err := sender.Ready(ctx)
	if err == nil {
		var id string
		if id, err = sender.CreateChannel(ctx, push.KeepNothing); err == nil {
			return id, nil
		}
	}

	if _, refused := errors.AsType[*push.Refused](err); refused {
		slog.ErrorContext(ctx, "Apple refused to create a channel", "err", err)
		return "", errChannelRefused.Because(err)
	}

	return "", errChannelDown.Because(err)
}

// pushChannels broadcasts the messages to the channels of the match. At the end of
// the match it first sends the message that broadcasts the end again, at the times of
// endAgainAfter, and closes the channels at the last of them. An update that fails is
// dropped, because the next one replaces it. An end that fails is retried.
func (p *Pusher) pushChannels(ctx context.Context, m MatchChanged, messages map[string]*update) error {
	rows, err := readChannels(ctx, p.db, m.MatchID)
	if err != nil || len(rows) == 0 {
		return err
	}

	again, closing := MatchChanged{MatchID: m.MatchID, Ended: m.Ended, Channels: closeChannels}, false

	switch {
	case m.Ended != 0 && m.Channels == "":
		m = MatchChanged{MatchID: m.MatchID, Ended: m.Ended, Channels: broadcastEnd}
		err = p.send(ctx, again, endAgainAfter[0])
	case m.Channels == closeChannels && m.Ends+1 < len(endAgainAfter):
		again.Ends = m.Ends + 1
		err = p.send(ctx, again, endAgainAfter[again.Ends])
		m.Channels = broadcastEnd // a retry repeats no more than this broadcast
	case m.Channels == closeChannels:
		closing = true
	}

	if err != nil {
		return err
	}

	failed, err := p.broadcast(ctx, rows, messages)
	switch {
	case err != nil:
		return err
	case m.Ended != 0 && failed:
		return p.retry(ctx, m, nil)
	case !closing:
		return nil
	}

	for _, row := range rows {
		if err := p.close(ctx, row); err != nil {
			return err
		}
	}

	return nil
}

// broadcast sends the message of each perspective to its channel. It reports
// whether a broadcast failed. The row of a channel that Apple does not know is
// removed, so that the next activity opens a new channel; this is not a failure.
func (p *Pusher) broadcast(ctx context.Context, rows []Channel, messages map[string]*update) (anyFailed bool, err error) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(c Channel) bool { return c.ChannelID == "" || messages[c.View] == nil })
	errs, answered := make([]error, len(rows)), make([]time.Time, len(rows))

	var broadcasts sync.WaitGroup
	for i, row := range rows {
		broadcasts.Go(func() {
			errs[i] = p.broadcastTo(ctx, row.ChannelID, messages[row.View].channel)
			answered[i] = p.now()
		})
	}

	broadcasts.Wait()

	sent, failed := 0, 0

	var delays telemetry.Histogram

	for i, row := range rows {
		if errs[i] == nil {
			sent++

			messages[row.View].accepted(&delays, answered[i])

			continue
		}

		slog.ErrorContext(ctx, "a broadcast failed", "match", row.MatchID, "view", row.View, "err", errs[i])

		if r, ok := errors.AsType[*push.Refused](errs[i]); !ok || r.Reason != reasonChannelUnknown || row.recent(p.now()) {
			failed++
			continue
		}

		if err := row.remove(ctx, p.db); err != nil {
			return false, err
		}
	}

	counts := []telemetry.Sample{telemetry.Count(tables.Broadcasts, sent), telemetry.Count(tables.BroadcastsFailed, failed)}
	telemetry.Emit(ctx, p.now(), append(counts, delays.Samples(tables.PushDelay)...))

	return failed > 0, nil
}

func (p *Pusher) broadcastTo(ctx context.Context, id string, message *push.Message) error {
	ctx, cancel := context.WithTimeout(ctx, p.broadcastTimeout)
	defer cancel()

	return p.sender.Broadcast(ctx, id, message)
}

// close deletes a channel at Apple and then its row, so that a second run finds a
// channel that the first did not delete. A row without a match id is not stored. A
// row that has changed since it was read is left to sweep-channels.
func (p *Pusher) close(ctx context.Context, row Channel) error {
	if row.ChannelID != "" {
		if err := p.sender.DeleteChannel(ctx, row.ChannelID); err != nil {
			return err
		}
	}

	if row.MatchID == "" {
		return nil
	}

	return row.remove(ctx, p.db)
}
