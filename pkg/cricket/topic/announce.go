package topic

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/kit/queue"
)

// Announcer sends the changes of matches to push-activities and, if the stage has Android phones, to
// push-topics.
type Announcer struct {
	queue   queue.Sender
	android bool
}

// NewAnnouncer returns the announcer of an environment.
func NewAnnouncer(env app.Env) Announcer {
	return Announcer{queue.Open(env.AWS, env.Queues), env.Setting(fcm.SettingProject) != ""}
}

// Announce sends a change to both. important is whether it is a key event or the end of an over. A second run
// after an error sends both again.
func (a Announcer) Announce(ctx context.Context, m activity.MatchChanged, important bool) error {
	if !a.android {
		return a.queue.Send(ctx, tables.ActivityQueue, m, 0)
	}

	var both errgroup.Group
	both.Go(func() error { return a.queue.Send(ctx, tables.ActivityQueue, m, 0) })
	both.Go(func() error {
		return a.send(ctx, Change{
			MatchID: m.MatchID, Slot: m.Slot, Changed: m.Changed, Important: important, Again: m.Again, Ended: m.Ended,
		}, 0)
	})

	return both.Wait()
}

// AnnounceStart tells Android phones that play begins. A push starts the activities of iPhones: see package alert.
func (a Announcer) AnnounceStart(ctx context.Context, matchID string, slot int64) error {
	if !a.android {
		return nil
	}

	return a.send(ctx, Change{MatchID: matchID, Slot: slot, Start: true}, 0)
}

func (a Announcer) send(ctx context.Context, c Change, delay time.Duration) error {
	return a.queue.Send(ctx, tables.TopicQueue, c, delay)
}
