package live

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
	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/queue"
)

// ingester stores what the provider says of a match, and sends what follows
// from it. It caches what it wrote, to save reads. A cached match is used only
// while the fixture row has the same bodySum and lastSlot.
type ingester struct {
	db    dynamo.DB
	queue queue.Sender
	locks *lock.Locks
	now   func() time.Time

	mu    sync.Mutex
	cache map[string]cachedMatch
}

// cachedMatch is what is stored of one match.
type cachedMatch struct {
	sum    string // of the payload, which came in slot
	slot   int64
	state  score.State
	head   match.BallIndex
	ledger ledger
	events []event.Event     // in the payload; nil if another worker read it
	hashes map[string]string // by perspective
	blamed string            // the problems that were logged last
}

// payload is what the provider says of a match in a slot.
type payload struct {
	sum     string // checksum of the payload
	read    func() (sportmonks.Fixture, error)
	slot    int64
	at      time.Time // the slot's, or when the provider's page was requested
	last    bool      // the match has left the feed
	settled bool      // with last: accept the provider's result even if its parts disagree
}

// lease is how long a worker may hold a match. A match whose worker dies is not
// processed for that long.
const lease = 10 * time.Second

func newIngester(db dynamo.DB, q queue.Sender, now func() time.Time) *ingester {
	return &ingester{
		db: db, queue: q, now: now, cache: map[string]cachedMatch{},
		locks: &lock.Locks{DB: db, Acquire: tables.AcquireLock, Release: tables.ReleaseLock, TTL: lease, Now: now},
	}
}

// markUnchanged records an unchanged poll in one write, without a read. It
// returns false if the payload must be processed: its checksum differs from the
// stored one, another worker stored another payload, the score waits for a
// second identical payload before it is used, or an event is now confirmed and
// must be sent.
func (b *ingester) markUnchanged(ctx context.Context, matchID, sum string, slot int64) (bool, error) {
	b.mu.Lock()
	p := b.cache[matchID]
	b.mu.Unlock()
	if p.sum != sum || p.state.Held != 0 {
		return false, nil
	}
	set := expression.Set(expression.Name("lastSlot"), expression.Value(slot)).Add(expression.Name("polls"), expression.Value(1))
	cond := dynamo.Exists[match.Fixture]("matchId").And(match.NotAfter(slot), match.NotEnding(), expression.Equal(expression.Name("bodySum"), expression.Value(sum)))
	if p.state.Phase != sportmonks.Upcoming {
		set = set.Set(expression.Name("liveUpdatedAt"), expression.Value(b.now().UnixMilli()))
		cond = cond.And(dynamo.Exists[match.Fixture]("live"))
	}
	was, err := dynamo.Replace[match.Fixture](ctx, b.db, tables.UpdateFixture, dynamo.Key(tables.UpdateFixture, matchID), set, cond)
	if err != nil {
		return dynamo.Applied(err)
	}
	due := p.ledger.confirmed(was.Polls + 1)
	if due && was.LastSlot != p.slot { // another worker polled since, and may have sent it
		b.forget(matchID)
		return false, nil
	}
	p.slot = slot
	b.remember(matchID, p)
	return !due, nil
}

// errPassed reports that a match needs no work: it is not in our tables, its
// end is decided, or it has a later slot.
var errPassed = errors.New("the match needs nothing")

// ingest processes a payload under the lease of its match, and returns the new
// state. A second run writes the same again.
//
// It returns errPassed if there is nothing to do, and lock.ErrHeld if another
// worker holds the match.
func (b *ingester) ingest(ctx context.Context, matchID, holder string, e payload) (score.State, error) {
	l, err := b.locks.Take(ctx, "match:"+matchID, holder)
	if err != nil {
		return score.State{}, err
	}
	state, err := b.ingestHeld(ctx, matchID, e)
	return state, errors.Join(err, l.Release(context.WithoutCancel(ctx)))
}

func (b *ingester) ingestHeld(ctx context.Context, matchID string, e payload) (score.State, error) {
	f, ok, err := dynamo.Get[match.Fixture](ctx, b.db, tables.GetFixture, matchID)
	switch {
	case err != nil:
		return score.State{}, err
	case !ok || f.EndingAt != 0 || f.LastSlot > e.slot:
		return score.State{}, errPassed
	}
	was, err := b.load(ctx, f)
	if err != nil {
		return score.State{}, err
	}
	if f.LastSlot != e.slot {
		f.Polls++ // this poll
	}
	if f.BodySum == e.sum && was.state.Held == 0 && !e.last {
		return was.state, b.again(ctx, f, e, was)
	}
	said, err := e.read()
	if err != nil {
		return score.State{}, err
	}
	is := cachedMatch{sum: e.sum, slot: e.slot, head: was.head, ledger: was.ledger, hashes: maps.Clone(was.hashes)}
	var problems []scorer.Problem
	if e.settled {
		is.state, problems = scorer.Final(said, was.state)
	} else {
		is.state, problems = scorer.Read(said, was.state)
	}
	is.blamed = logProblems(ctx, matchID, was.blamed, problems)
	is.events = event.List(said, is.state)
	if _, known := said.Phase(); known {
		f.Status = said.Status
	}
	if err := b.write(ctx, f, e, scorer.Balls(said), was, &is); err != nil {
		return score.State{}, err
	}
	b.remember(matchID, is)
	return is.state, nil
}

// again processes a payload that was processed before, perhaps by another
// worker or before the match was archived. It sends the events that are
// confirmed by now.
func (b *ingester) again(ctx context.Context, f match.Fixture, e payload, was cachedMatch) error {
	if was.ledger.confirmed(f.Polls) {
		if was.events == nil {
			said, err := e.read()
			if err != nil {
				return err
			}
			was.events = event.List(said, was.state)
		}
		seen := was.observation(f, e, b.now())
		seen.same = true
		next, due := was.ledger.record(seen)
		if err := b.sendAlerts(ctx, f.MatchID, e.at, due); err != nil {
			return err
		}
		if err := dynamo.Put(ctx, b.db, tables.PutProcessed, next, match.NotAfter(e.slot)); err != nil {
			return err
		}
		was.ledger = next
	}
	was.slot = e.slot
	b.remember(f.MatchID, was)
	return b.mark(ctx, f, e, was.state.Phase)
}

// observation is what the payload says has happened.
func (p cachedMatch) observation(f match.Fixture, e payload, now time.Time) observation {
	balls := 0
	for _, in := range p.state.Innings {
		balls += in.Balls
	}
	return observation{
		matchID: f.MatchID, events: p.events, agreed: f.Polls, final: e.last, old: balls > oldNews,
		slot: e.slot, ttl: now.Add(match.KeepBalls).Unix(),
	}
}

func (b *ingester) remember(matchID string, p cachedMatch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cache[matchID] = p
}

func (b *ingester) forget(matchID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.cache, matchID)
}

// load returns what is stored of the match, from the cache if the row has the
// same mark. A row without a mark was left by a crash: its balls and displays
// then count as unknown, so that all of them are written and pushed again.
func (b *ingester) load(ctx context.Context, f match.Fixture) (cachedMatch, error) {
	b.mu.Lock()
	p, ok := b.cache[f.MatchID]
	b.mu.Unlock()
	if ok && p.sum == f.BodySum && p.slot == f.LastSlot {
		return p, nil
	}
	p = cachedMatch{sum: f.BodySum, slot: f.LastSlot, hashes: map[string]string{}}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		c, _, err := match.ReadScore(ctx, b.db, f.MatchID)
		p.state = c.State
		return err
	})
	g.Go(func() (err error) {
		p.head, _, err = dynamo.Get[match.BallIndex](ctx, b.db, tables.GetProcessed, f.MatchID)
		return err
	})
	g.Go(func() (err error) {
		p.ledger, err = readLedger(ctx, b.db, f.MatchID)
		return err
	})
	if f.BodySum == "" {
		err := g.Wait()
		for i := range p.head.Chunks {
			p.head.Chunks[i].Sum = ""
		}
		return p, err
	}
	var mu sync.Mutex
	for _, view := range f.Perspectives() {
		g.Go(func() error {
			h, _, err := dynamo.Get[StateHash](ctx, b.db, tables.GetHash, hashKey(f.MatchID, view))
			mu.Lock()
			defer mu.Unlock()
			p.hashes[view] = h.Hash
			return err
		})
	}
	return p, g.Wait()
}

// write stores the new state of a match. The order of the writes lets the next
// run repair a crash at any point: see the documentation of package cricket.
func (b *ingester) write(ctx context.Context, f match.Fixture, e payload, balls []score.Ball, was cachedMatch, is *cachedMatch) error {
	now := b.now()
	changed, rows, err := b.changed(f, e, is, now)
	if err != nil {
		return err
	}
	var chunks []match.BallChunk
	var due []event.Event
	if is.state.Held == 0 { // otherwise the list of balls is partial
		if chunks, err = is.head.Record(f.MatchID, balls, e.slot, now); err != nil {
			return err
		}
		is.ledger, due = was.ledger.record(is.observation(f, e, now))
	}
	c, err := match.NewScoreRow(f, is.state, e.slot, now)
	if err != nil {
		return err
	}
	if f.BodySum != "" {
		unmark := expression.Remove(expression.Name("bodySum")).Remove(expression.Name("polls"))
		if err := f.Update(ctx, b.db, tables.UpdateFixture, unmark, match.NotAfter(e.slot).And(match.NotEnding())); err != nil {
			return err
		}
	}

	g, gctx := errgroup.WithContext(ctx)
	for _, ch := range chunks {
		g.Go(func() error { return dynamo.Put(gctx, b.db, tables.PutProcessed, ch, match.NotAfter(e.slot)) })
	}
	g.Go(func() error { return dynamo.Put(gctx, b.db, tables.PutCached, c, match.NotAfter(e.slot)) })
	for _, row := range rows {
		g.Go(func() error { return dynamo.Put(gctx, b.db, tables.PutDisplay, row, match.NotAfter(e.slot)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(changed) > 0 {
		if err := b.queue.Send(ctx, tables.ActivityQueue, activity.MatchChanged{MatchID: f.MatchID, Slot: e.slot, Changed: changed}, 0); err != nil {
			return err
		}
	}
	if err := b.sendAlerts(ctx, f.MatchID, e.at, due); err != nil {
		return err
	}
	g, gctx = errgroup.WithContext(ctx)
	for _, view := range changed {
		row := StateHash{Key: hashKey(f.MatchID, view), Hash: is.hashes[view], LastSlot: e.slot}
		g.Go(func() error { return dynamo.Put(gctx, b.db, tables.PutHash, row, match.NotAfter(e.slot)) })
	}
	if !slices.Equal(is.head.Chunks, was.head.Chunks) {
		g.Go(func() error { return dynamo.Put(gctx, b.db, tables.PutProcessed, is.head, match.NotAfter(e.slot)) })
	}
	if is.ledger.differs(was.ledger) {
		g.Go(func() error { return dynamo.Put(gctx, b.db, tables.PutProcessed, is.ledger, match.NotAfter(e.slot)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	f.Polls = 0
	return b.mark(ctx, f, e, is.state.Phase)
}

// sendAlerts sends events to send-alerts, in order.
func (b *ingester) sendAlerts(ctx context.Context, matchID string, at time.Time, events []event.Event) error {
	for _, e := range events {
		if err := b.queue.Send(ctx, tables.AlertQueue, alert.NewAlert(matchID, e, at.Unix()), 0); err != nil {
			return err
		}
	}
	return nil
}

// changed returns the perspectives whose display has changed, and their new
// rows.
func (b *ingester) changed(f match.Fixture, e payload, is *cachedMatch, now time.Time) (views []string, rows []match.DisplayRow, err error) {
	for _, view := range f.Perspectives() {
		d := is.state.For(view)
		hash := d.Hash()
		if is.hashes[view] == hash {
			continue
		}
		is.hashes[view] = hash
		text, err := json.Marshal(d)
		if err != nil {
			return nil, nil, err
		}
		views = append(views, view)
		rows = append(rows, match.DisplayRow{
			CacheKey: match.DisplayKey(f.MatchID, view), Display: match.RawJSON(text), Hash: hash, Slot: e.slot, At: e.at.Unix(),
			Playing: is.state.Phase == sportmonks.Live, TTL: now.Add(match.KeepShown).Unix(),
		})
	}
	return views, rows, nil
}

// mark stores the checksum of the payload. It is the last write: the payload is
// processed.
func (b *ingester) mark(ctx context.Context, f match.Fixture, e payload, phase sportmonks.Phase) error {
	set := expression.Set(expression.Name("bodySum"), expression.Value(e.sum)).
		Set(expression.Name("lastSlot"), expression.Value(e.slot)).
		Set(expression.Name("polls"), expression.Value(f.Polls)).
		Set(expression.Name("status"), expression.Value(f.Status))
	if phase != sportmonks.Upcoming && !e.last {
		set = set.Set(expression.Name("live"), expression.Value(match.Live)).
			Set(expression.Name("liveUpdatedAt"), expression.Value(b.now().UnixMilli())).
			Remove(expression.Name("archivedAt"))
	}
	return f.Update(ctx, b.db, tables.UpdateFixture, set, match.NotAfter(e.slot).And(match.NotEnding()))
}

// logProblems logs the problems of a match if they differ from those of the
// last payload.
func logProblems(ctx context.Context, matchID, before string, problems []scorer.Problem) string {
	if len(problems) == 0 {
		return ""
	}
	now := fmt.Sprint(problems)
	if now != before {
		slog.WarnContext(ctx, "the provider's data is at fault", "match", matchID, "problems", now)
	}
	return now
}

// StateHash is a row of cricket-state-hashes: the hash of the display that was
// pushed last.
type StateHash struct {
	Key      string `dynamodbav:"matchTeamKey"`
	Hash     string `dynamodbav:"hash"`
	LastSlot int64  `dynamodbav:"lastSlot"`
}

func hashKey(matchID, view string) string { return matchID + "#" + view }
