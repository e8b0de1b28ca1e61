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
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
)

const (
	// sweepAfter is how long after the end of a match its channels are left to
	// the messages that close them.
	sweepAfter = time.Hour
	// maxSwept is how many channels one sweep deletes: half a minute's work.
	maxSwept = 500
)

// SweepChannels deletes what is left of broadcast channels: those that no row
// names, those of matches that ended an hour ago, never ended or are gone, and
// claims that were given up. What it cannot delete now, and what is more than
// maxSwept, the next run deletes; a second run finds nothing.
//
// A channel of a match that goes on is safe: Apple's list is read before the
// rows, and whoever made a channel on that list had claimed its row before. So
// the row names the channel, or it is being made, and then no unnamed channel is
// deleted, for each may be that one.
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
	over, err := p.over(ctx, rows)
	if err != nil {
		return err
	}
	doomed := append(unnamed(ids, rows, p.now()), over...)
	slog.InfoContext(ctx, "sweeping channels", "channels", len(ids), "rows", len(rows), "doomed", len(doomed))
	deleted := 0
	var errs error
	for _, c := range doomed[:min(len(doomed), maxSwept)] {
		err := p.close(ctx, c)
		if err == nil {
			deleted++
		}
		errs = errors.Join(errs, err)
		if errors.Is(err, push.ErrUnavailable) || ctx.Err() != nil {
			break // Apple is away, or the time is up; any other error is of one channel
		}
	}
	slog.InfoContext(ctx, "channels swept", "deleted", deleted, "left", len(doomed)-deleted)
	return errs
}

// unnamed are the claims that were given up, and, unless a channel is being made,
// those of ids that no row names.
func unnamed(ids []string, rows []Channel, now time.Time) (doomed []Channel) {
	named, making := map[string]bool{}, false
	for _, row := range rows {
		switch {
		case row.ChannelID != "":
			named[row.ChannelID] = true
		case row.being(now):
			making = true
		default:
			doomed = append(doomed, row)
		}
	}
	for _, id := range ids {
		if !making && !named[id] {
			doomed = append(doomed, Channel{ChannelID: id})
		}
	}
	return doomed
}

// over are the channels of matches that are long over, which are told so for the
// last time.
func (p *Pusher) over(ctx context.Context, rows []Channel) (doomed []Channel, err error) {
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
		if ok && !past(f, p.now()) {
			continue
		}
		doomed = append(doomed, rows...)
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
	return doomed, nil
}

// past reports whether the channels of a match are of no more use: it ended
// sweepAfter ago, or it never did and what fans left at it has expired.
func past(f match.Fixture, now time.Time) bool {
	if f.EndingAt != 0 {
		return now.Sub(time.Unix(f.EndingAt, 0)) >= sweepAfter
	}
	return f.Live == "" && now.Unix() > f.Expiry(f.Start(), match.KeepActivity)
}
