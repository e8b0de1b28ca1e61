package activity

import (
	"context"
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// PushPartsFunction pushes to the other Live Activities of a match with a large audience, and
// retries the pushes that did not reach Apple.
func PushPartsFunction() app.Function {
	return app.Queue(spec.Function{
		Name: "cricket/push-parts",
		Does: "Pushes the current display of a match to a part of its Live Activities: those after the first 2,000, and those " +
			"that a push did not reach.",
		IfDown: "Of a match with more than 2,000 Live Activities some are not updated. Pushes that fail are not retried.",
		On:     tables.PartQueue,
		Uses: []spec.Access{
			tables.GetFixture, tables.BatchGetDisplays, tables.GetCached, tables.AllSubscriptions, tables.RemoveActivity,
			tables.RemoveActivities,
		},
		Sends: []spec.Queue{tables.PartQueue}, Secrets: []string{tables.APNSKey},
		Emits:  []spec.Metric{tables.PushesDelivered, tables.PushesGone, tables.PushesRetried, tables.PushesUnreached, tables.PushDelay},
		Memory: 512, Timeout: 30 * time.Second,
	}, OpenPusher, (*Pusher).PushParts)
}

// PushParts pushes the current state to the activities of a part, as PushActivities does.
//
// Invalid: as for PushActivities, or the message is not a part.
func (p *Pusher) PushParts(ctx context.Context, m MatchChanged) error {
	if !m.isPart() {
		return problem.New(problem.Invalid, "not_a_part", "the message has neither a range nor tokens: %s takes it", tables.ActivityQueue.Name)
	}

	return p.PushActivities(ctx, m)
}

// isPart reports whether m is for some activities of the match only. A part does not push to
// channels.
func (m MatchChanged) isPart() bool {
	return m.Channels == "" && (m.IDRange != IDRange{} || len(m.Tokens) > 0)
}

// send puts a message into the queue for its kind: a part into PartQueue, as one of the group
// of its match, anything else into ActivityQueue. So the parts of one match are never in front
// of another match's change.
func (p *Pusher) send(ctx context.Context, m MatchChanged, delay time.Duration) error {
	if m.isPart() {
		return p.queue.SendFair(ctx, tables.PartQueue, m.MatchID, m, delay)
	}

	return p.queue.Send(ctx, tables.ActivityQueue, m, delay)
}

// split sends parts for the activities in the range of m after first, which were read.
func (p *Pusher) split(ctx context.Context, m MatchChanged, first []target) error {
	greatest := IDRange{Until: m.Until}.Query(tables.AllSubscriptions, m.MatchID)
	greatest.Backward, greatest.Limit = true, 1

	top, _, err := dynamo.QueryFlat[target](ctx, p.db, tables.AllSubscriptions, greatest)
	if err != nil {
		return err
	}

	seen := make([]string, len(first))
	for i, s := range first {
		seen[i] = s.PushToken
	}

	if len(top) == 0 || top[0].PushToken <= seen[len(seen)-1] {
		return nil // an activity that was registered since has got the current state in the answer
	}

	for _, part := range m.Split(seen, top[0].PushToken, p.perMessage*9/10, MaxParts) {
		part := MatchChanged{MatchID: m.MatchID, Slot: m.Slot, Changed: m.Changed, Ended: m.Ended, IDRange: part}
		if err := p.send(ctx, part, 0); err != nil {
			return err
		}
	}

	return nil
}
