package topic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// Change is the message of push-topics: a display of a match has changed, play begins, or the match is over.
// It contains no display: the Pusher reads the current one.
type Change struct {
	MatchID string   `json:"matchId"`
	Slot    int64    `json:"slot,omitempty"`    // of the change; a display with a later slot has a message of its own
	Changed []string `json:"changed,omitempty"` // the perspectives that changed; empty means all

	Important bool  `json:"important,omitempty"` // a key event, or the end of an over: sent to an audience of any size
	Start     bool  `json:"start,omitempty"`     // play begins, of the match or of a day
	Again     bool  `json:"again,omitempty"`     // send the present state again, at a low priority
	Ended     int64 `json:"ended,omitempty"`     // when the match ended, epoch s
	Ends      int   `json:"ends,omitempty"`      // how often the end was sent again
	Try       int   `json:"try,omitempty"`       // earlier attempts of a start or an end
}

const (
	// sendTimeout bounds the requests of a change, which Google normally answers in 350 ms.
	sendTimeout = 15 * time.Second
	// countEvery is how long a process uses what it has read of the audience.
	countEvery = 30 * time.Second
	// retryDelay is the first delay of a start or an end that Google did not take: Google asks for ten seconds
	// at least. It doubles up to activity.LongestDelay. 24 tries of an end take four hours; a start is of no use
	// after some minutes.
	retryDelay                 = 10 * time.Second
	maxEndTries, maxStartTries = 24, 5
)

// Pusher sends states to topics.
type Pusher struct {
	db        dynamo.DB
	announcer Announcer
	google    *fcm.Sender // nil: the stage has no Android phones
	now       func() time.Time
	stage     string
	everyBall int
	timeout   time.Duration

	mu      sync.Mutex
	phones  int // Android phones of the matches in play
	counted time.Time
}

// OpenPusher opens the service of push-topics.
func OpenPusher(_ context.Context, env app.Env) (*Pusher, error) {
	p := &Pusher{
		db: dynamo.Open(env.AWS, env.Prefix), announcer: NewAnnouncer(env), now: env.Now, stage: env.Stage, everyBall: tables.MaxEveryBall,
		timeout: env.Limit(sendTimeout), google: fcm.OpenEnv(env),
	}

	if text := env.Setting(tables.EveryBall); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s is %q: valid is a number of phones", tables.EveryBall, text)
		}

		p.everyBall = n
	}

	return p, nil
}

// PushTopicsFunction sends what changed in one match to its topics.
func PushTopicsFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "cricket/push-topics",
		Does:   "Sends the current display of a match to its topics, for Android phones.",
		IfDown: "The match is not updated on Android phones. Alerts, iPhones and the API work.",
		On:     tables.TopicQueue,
		Uses:   []spec.Access{tables.GetFixture, tables.BatchGetDisplays, tables.GetCached, tables.ScanLive, tables.ReadPhones},
		Sends:  []spec.Queue{tables.TopicQueue}, Secrets: []string{fcm.Key},
		Emits:  []spec.Metric{tables.TopicsSent, tables.TopicsFailed, tables.GoogleFailures, tables.AndroidDelay},
		Memory: 256, Timeout: 30 * time.Second,
	}, OpenPusher, (*Pusher).PushTopics)
}

// PushTopics sends the current state to the topics of the changed perspectives. It may run any number of
// times for one message: the app orders states by their rev.
//
// It skips a change that is not important if the display has changed again, because the later message sends
// that change, or while the audience is larger than EveryBall. An update that Google does not take is
// dropped, because the next one replaces it. A start or an end is retried, and an end repeated at the times
// of activity.EndAgain; the message that repeats it is sent before the end. The end of a match that is open
// again is dropped.
//
// Invalid: the message has no valid match id, or the match does not exist.
func (p *Pusher) PushTopics(ctx context.Context, m Change) error {
	if !match.ValidID(m.MatchID) {
		return problem.In("matchId", "%.32q is not a match id: valid are 1 to 19 digits", m.MatchID)
	}

	if p.google == nil {
		return nil // the setting was taken away
	}

	f, ok, err := dynamo.Get[match.Fixture](ctx, p.db, tables.GetFixture, m.MatchID)
	if err != nil {
		return err
	}

	if !ok {
		return problem.New(problem.Invalid, "match_not_found", "match %s does not exist", m.MatchID)
	}

	if (m.Ended != 0) != (f.EndingAt != 0) {
		return nil // the end was withdrawn; or it was decided since, and has a message of its own
	}

	if m.Ended = f.EndingAt; m.Ended != 0 && m.Try == 0 {
		if wait, ok := activity.EndAgain(m.Ends); ok {
			if err := p.announcer.send(ctx, Change{MatchID: m.MatchID, Ended: m.Ended, Ends: m.Ends + 1}, wait); err != nil {
				return err
			}
		}
	}

	states, err := p.states(ctx, f, m)
	if err != nil || len(states) == 0 {
		return err
	}

	return p.send(ctx, m, states)
}

// states returns what is to be sent.
func (p *Pusher) states(ctx context.Context, f match.Fixture, m Change) ([]state, error) {
	thinned := false

	if m.Ended == 0 && !m.Start && !m.Again {
		phones, err := p.audience(ctx)
		if err != nil {
			return nil, err
		}

		if thinned = phones > p.everyBall; thinned && !m.Important {
			return nil, nil
		}
	}

	views := m.Changed
	if len(views) == 0 || m.Ended != 0 {
		views = f.Perspectives()
	}

	views = slices.Compact(slices.Sorted(slices.Values(views)))

	displays, err := match.ReadDisplays(ctx, p.db, f.MatchID, views)
	if err != nil {
		return nil, err
	}

	var all []state

	for _, view := range views {
		row, ok := displays[view]
		if !ok && m.Ended != 0 {
			if row, ok, err = match.DisplayFromScore(ctx, p.db, f.MatchID, view); err != nil {
				return nil, err
			}
		}

		// The message of a later change may be handled by a process for which the audience is larger, and is not
		// sent then.
		later := m.Slot != 0 && row.Slot > m.Slot && !m.Start && !m.Important
		if !ok || later && m.Ended == 0 {
			continue
		}

		s := state{matchID: f.MatchID, view: view, event: update, row: row, ended: m.Ended, urgent: row.Key && !m.Again, thinned: thinned}

		switch {
		case m.Ended != 0:
			s.event = end
		case m.Start:
			s.event = start
		}

		all = append(all, s)
	}

	return all, nil
}

// audience returns about how many Android phones the matches in play have, as of countEvery ago at most.
func (p *Pusher) audience(ctx context.Context) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	now := p.now()
	if !p.counted.IsZero() && now.Sub(p.counted) < countEvery {
		return p.phones, nil
	}

	n, err := follower.ReadPhones(ctx, p.db)
	if err == nil {
		p.phones, p.counted = n, now
	}

	return n, err
}

// send sends the states, each to its topic, at the same time.
func (p *Pusher) send(ctx context.Context, m Change, states []state) error {
	errs, answered := make([]error, len(states)), make([]time.Time, len(states))
	limited, cancel := context.WithTimeout(ctx, p.timeout)

	defer cancel()

	var all sync.WaitGroup

	for i, s := range states {
		message, err := s.message(p.now())
		if err != nil {
			return fmt.Errorf("display of match %s for %s: %w", m.MatchID, s.view, err)
		}

		all.Go(func() {
			errs[i] = p.google.Broadcast(limited, follower.Topic(p.stage, m.MatchID, s.view), message)
			answered[i] = p.now()
		})
	}

	all.Wait()

	var (
		delays telemetry.Histogram
		failed int
		wait   = retryDelay << min(m.Try, 10)
	)

	for i, s := range states {
		if errs[i] != nil {
			failed++

			slog.ErrorContext(ctx, "a topic was not sent to", "match", m.MatchID, "view", s.view, "event", s.event, "err", errs[i])

			if l, ok := errors.AsType[*fcm.Limited](errs[i]); ok {
				wait = max(wait, l.RetryAfter)
			}
		} else if s.event == update && !m.Again {
			delays.Add(answered[i].Sub(match.SlotTime(s.row.Slot)))
		}
	}

	samples := []telemetry.Sample{
		telemetry.Count(tables.TopicsSent, len(states)-failed), telemetry.Count(tables.TopicsFailed, failed),
	}
	if failed == len(states) {
		samples = append(samples, telemetry.Count(tables.GoogleFailures, 1))
	}

	telemetry.Emit(ctx, p.now(), append(samples, delays.Samples(tables.AndroidDelay)...), slog.String("match", m.MatchID))

	if failed == 0 {
		return nil
	}

	return p.retry(ctx, m, min(wait, activity.LongestDelay))
}

// retry sends a start or an end again. It drops an update, and gives the others up after their tries.
func (p *Pusher) retry(ctx context.Context, m Change, wait time.Duration) error {
	tries := 0

	switch {
	case m.Ended != 0:
		tries = maxEndTries
	case m.Start:
		tries = maxStartTries
	}

	if m.Try >= tries {
		return nil
	}

	m.Try++

	return p.announcer.send(ctx, m, wait)
}
