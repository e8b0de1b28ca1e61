package activity

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

const (
	// sweepAfter is the time from the end of a match to the deletion of its channels
	// by the sweep. Until then they are left to the message that closes them.
	sweepAfter = time.Hour
	// maxSwept is the maximum number of channels that one sweep deletes, which takes
	// half a minute.
	maxSwept = 500
)

// SweepChannelsFunction deletes broadcast channels that no match uses.
func SweepChannelsFunction() app.Function {
	return app.Job(spec.Function{
		Name:    "cricket/sweep-channels",
		Does:    "Deletes broadcast channels that no match uses.",
		IfDown:  "Channels that a crash left accumulate. At Apple's limit of 10,000 channels, new activities need a push token.",
		On:      spec.Schedule("rate(1 hour)"),
		Uses:    []spec.Access{tables.AllChannels, tables.GetFixture, tables.BatchGetDisplays, tables.GetCached, tables.RemoveChannel},
		Secrets: []string{tables.APNSKey},
		Emits:   []spec.Metric{tables.Broadcasts, tables.BroadcastsFailed},
		Memory:  256,
		Timeout: tables.JobTimeout,
	}, OpenPusher, (*Pusher).SweepChannels)
}

// SweepChannels deletes broadcast channels that are no longer used: those that no
// row refers to, those of matches that ended sweepAfter ago, that expired without an
// end or that do not exist, and expired claims. It deletes at most maxSwept; the next
// run continues. A run after a complete one deletes nothing. It returns the errors of
// all channels it could not delete; the next run tries them again.
//
// It never deletes the channel of a live match. Apple's list is read before the rows,
// and a process that creates a channel claims its row first. So for each channel on
// the list, either a row refers to it, or its row is still a claim. While there is a
// claim, SweepChannels deletes no unreferenced channel, because each may be the
// claimed one.
func (p *Pusher) SweepChannels(ctx context.Context) error {
	if err := p.sender.Ready(ctx); err != nil {
		return err
	}

	ids, err := p.sender.Channels(ctx)
	if err != nil {
		return err
	}

	rows, err := dynamo.ScanAll[Channel](ctx, p.db, tables.AllChannels, nil)
	if err != nil {
		return err
	}

	ofEnded, err := p.channelsOfEnded(ctx, rows)
	if err != nil {
		return err
	}

	unused := append(unreferenced(ids, rows, p.now()), ofEnded...)
	slog.InfoContext(ctx, "sweeping channels", "channels", len(ids), "rows", len(rows), "unused", len(unused))

	deleted := 0

	var errs error

	for _, c := range unused[:min(len(unused), maxSwept)] {
		err := p.close(ctx, c)
		if err == nil {
			deleted++
		}

		errs = errors.Join(errs, err)
		if errors.Is(err, push.ErrUnavailable) || ctx.Err() != nil {
			break // Apple cannot be reached, or the time is over; any other error concerns one channel only
		}
	}

	slog.InfoContext(ctx, "channels swept", "deleted", deleted, "left", len(unused)-deleted)

	return errs
}

// unreferenced returns the expired claims and, unless there is a valid claim, the
// channels of ids that no row refers to.
func unreferenced(ids []string, rows []Channel, now time.Time) (unused []Channel) {
	referenced, claimed := map[string]bool{}, false

	for _, row := range rows {
		switch {
		case row.ChannelID != "":
			referenced[row.ChannelID] = true
		case row.recent(now): // a process may be creating its channel now
			claimed = true
		default:
			unused = append(unused, row)
		}
	}

	for _, id := range ids {
		if !claimed && !referenced[id] {
			unused = append(unused, Channel{ChannelID: id})
		}
	}

	return unused
}

// channelsOfEnded returns the channels of matches for which expired holds, or that do
// not exist. It broadcasts the end to those of ended matches once more.
func (p *Pusher) channelsOfEnded(ctx context.Context, rows []Channel) (unused []Channel, err error) {
	byMatch := map[string][]Channel{}

	for _, row := range rows {
		if row.ChannelID != "" {
			byMatch[row.MatchID] = append(byMatch[row.MatchID], row)
		}
	}

	for _, matchID := range slices.Sorted(maps.Keys(byMatch)) {
		rows := byMatch[matchID]

		f, ok, err := dynamo.Get[match.Fixture](ctx, p.db, tables.GetFixture, matchID)
		if err != nil {
			return nil, err
		}

		if ok && !expired(f, p.now()) {
			continue
		}

		unused = append(unused, rows...)

		if f.EndingAt == 0 {
			continue
		}

		messages, err := p.messages(ctx, f, MatchChanged{MatchID: matchID, Ended: f.EndingAt})
		if err != nil {
			return nil, err
		}

		if _, err := p.broadcast(ctx, rows, messages); err != nil {
			return nil, err
		}
	}

	return unused, nil
}

// expired reports whether the channels of a match are no longer used: the match
// ended sweepAfter ago, or it has no end and its subscriptions have expired.
func expired(f match.Fixture, now time.Time) bool {
	if f.EndingAt != 0 {
		return now.Sub(time.Unix(f.EndingAt, 0)) >= sweepAfter
	}

	return f.Live == "" && now.Unix() > f.Expiry(f.Start(), match.KeepActivity)
}
