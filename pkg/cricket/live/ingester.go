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

// ingester turns the provider's payload of a match into rows and messages. It
// caches the last stored rows of each match, which only saves reads:
// a cached match is used only while the match's row has the same checksum and slot.
type ingester struct {
	db    dynamo.DB
	queue queue.Sender
	locks *lock.Locks
	now   func() time.Time

	mu    sync.Mutex
	cache map[string]cachedMatch // by match id
}

// cachedMatch is what is stored of one match.
type cachedMatch struct {
	sum      string // the checksum of the payload that was ingested last
	slot     int64  // the slot of the last poll
	state    score.State
	balls    match.BallIndex
	ledger   ledger
	events   []event.Event     // of that payload; nil if another process ingested it
	hashes   map[string]string // of the displays that were pushed last, by perspective
	problems string            // those that were logged last
}

// payload is what the provider returned for a match in a slot.
type payload struct {
	sum     string // checksum
	decode  func() (sportmonks.Fixture, error)
	slot    int64
	at      time.Time // when the slot is due, or when the finisher sent its request
	final   bool      // the match has left the feed; no poll follows
	settled bool      // with final: accept a result that the payload contradicts
	deleted bool      // with final: the provider has deleted the match; the stored balls are kept
}

// lease is how long a worker may hold a match without renewal. When a worker dies,
// the match is not ingested for so long.
const lease = 10 * time.Second

func newIngester(db dynamo.DB, q queue.Sender, now func() time.Time) *ingester {
	return &ingester{
		db: db, queue: q, now: now, cache: map[string]cachedMatch{},
		locks: &lock.Locks{DB: db, Acquire: tables.AcquireLock, Release: tables.ReleaseLock, TTL: lease, Now: now},
	}
}

// markUnchanged records a poll whose payload was ingested before, in one write and
// without a read. It returns false if the payload must be ingested:
//
//   - This process did not ingest it, or another payload was ingested since.
//   - The score withholds a partial payload until it has been polled often enough.
//   - Enough polls have now contained an event that was not sent.
func (i *ingester) markUnchanged(ctx context.Context, matchID, sum string, slot int64) (bool, error) {
	cached, _ := i.cached(matchID)
	if cached.sum != sum || cached.state.Held != 0 {
		return false, nil
	}
	set := dynamo.Set(match.Fixture{LastSlot: slot}, "lastSlot").Add("polls", 1)
	cond := dynamo.Exists[match.Fixture]("matchId").And(match.NotAfter(slot), match.NotEnding(), dynamo.Equal[match.Fixture]("bodySum", sum))
	if cached.state.Phase != sportmonks.Upcoming {
		set = set.Set(match.Fixture{LiveUpdatedAt: i.now().UnixMilli()}, "liveUpdatedAt")
		cond = cond.And(dynamo.Exists[match.Fixture]("live"))
	}
	before, err := dynamo.Replace[match.Fixture](ctx, i.db, tables.UpdateFixture, dynamo.Key(tables.UpdateFixture, matchID), set, cond)
	if err != nil {
		return dynamo.Applied(err)
	}
	due := cached.ledger.confirmed(before.Polls + 1)
	if due && before.LastSlot != cached.slot { // another process polled since and may have sent the event
		i.forget(matchID)
		return false, nil
	}
	cached.slot = slot
	i.remember(matchID, cached)
	return !due, nil
}

// errNothingToDo reports a match that is not stored, has ended, or was polled in a
// later slot.
var errNothingToDo = errors.New("the match is unknown, has ended, or was polled in a later slot")

// ingest stores a payload of a match under the match's lease, sends the messages
// that follow from it, and returns the score. A second run stores the same again.
//
// It returns errNothingToDo, and lock.ErrHeld if another worker holds the lease. An
// error for which dynamo.IsRefused holds means that a later slot was stored
// meanwhile.
func (i *ingester) ingest(ctx context.Context, matchID, holder string, p payload) (score.State, error) {
	l, err := i.locks.Take(ctx, "match:"+matchID, holder)
	if err != nil {
		return score.State{}, err
	}
	state, err := i.ingestHeld(ctx, matchID, p)
	return state, errors.Join(err, l.Release(context.WithoutCancel(ctx)))
}

func (i *ingester) ingestHeld(ctx context.Context, matchID string, p payload) (score.State, error) {
	f, ok, err := dynamo.Get[match.Fixture](ctx, i.db, tables.GetFixture, matchID)
	switch {
	case err != nil:
		return score.State{}, err
	case !ok || f.EndingAt != 0 || f.LastSlot > p.slot:
		return score.State{}, errNothingToDo
	}
	before, err := i.load(ctx, f)
	if err != nil {
		return score.State{}, err
	}
	if f.LastSlot != p.slot {
		f.Polls++ // count this one
	}
	if f.BodySum == p.sum && before.state.Held == 0 && !p.final {
		return before.state, i.ingestUnchanged(ctx, f, p, before)
	}
	fixture, err := p.decode()
	if err != nil {
		return score.State{}, err
	}
	after := cachedMatch{sum: p.sum, slot: p.slot, balls: before.balls, ledger: before.ledger, hashes: maps.Clone(before.hashes)}
	var problems []scorer.Problem
	if p.settled {
		after.state, problems = scorer.Final(fixture, before.state)
	} else {
		after.state, problems = scorer.Read(fixture, before.state)
	}
	after.problems = logProblems(ctx, matchID, before.problems, problems)
	after.events = event.List(fixture, after.state)
	if p.deleted { // the page confirms nothing of what waits for confirmation
		after.events = slices.DeleteFunc(after.events, func(e event.Event) bool { return e.Kind != event.Result })
	}
	if _, known := fixture.Phase(); known {
		f.Status = fixture.Status
	}
	if err := i.store(ctx, f, p, scorer.Balls(fixture), before, &after); err != nil {
		return score.State{}, err
	}
	i.remember(matchID, after)
	return after.state, nil
}

// ingestUnchanged ingests a payload that was stored before, perhaps by another
// process and perhaps before the match was archived. It sends the events that
// enough polls have now contained.
func (i *ingester) ingestUnchanged(ctx context.Context, f match.Fixture, p payload, stored cachedMatch) error {
	if stored.ledger.confirmed(f.Polls) {
		if stored.events == nil {
			fixture, err := p.decode()
			if err != nil {
				return err
			}
			stored.events = event.List(fixture, stored.state)
		}
		o := stored.observation(f, p, i.now())
		o.unchanged = true
		next, due := stored.ledger.record(o)
		if err := i.sendAlerts(ctx, f.MatchID, p, due); err != nil {
			return err
		}
		if err := dynamo.Put(ctx, i.db, tables.PutProcessed, next, match.NotAfter(p.slot)); err != nil {
			return err
		}
		stored.ledger = next
	}
	stored.slot = p.slot
	i.remember(f.MatchID, stored)
	return i.markIngested(ctx, f, p, stored.state.Phase)
}

// observation returns what the ledger needs to know of a poll.
func (c cachedMatch) observation(f match.Fixture, p payload, now time.Time) observation {
	balls := 0
	for _, in := range c.state.Innings {
		balls += in.Balls
	}
	return observation{
		matchID: f.MatchID, events: c.events, polls: f.Polls, final: p.final, settled: p.settled, late: balls > maxEarlyBalls,
		slot: p.slot, ttl: now.Add(match.KeepBalls).Unix(),
	}
}

func (i *ingester) cached(matchID string) (cachedMatch, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	c, ok := i.cache[matchID]
	return c, ok
}

func (i *ingester) remember(matchID string, c cachedMatch) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.cache[matchID] = c
}

func (i *ingester) forget(matchID string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.cache, matchID)
}

// load returns what is stored of the match, from the cache if the row has its
// checksum and slot. A row without a checksum was left by a crash between the
// writes of store: the stored balls and displays then count as unknown, so that all
// of them are written and pushed again.
func (i *ingester) load(ctx context.Context, f match.Fixture) (cachedMatch, error) {
	if c, ok := i.cached(f.MatchID); ok && c.sum == f.BodySum && c.slot == f.LastSlot {
		return c, nil
	}
	c := cachedMatch{sum: f.BodySum, slot: f.LastSlot, hashes: map[string]string{}}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		row, _, err := match.ReadScore(ctx, i.db, f.MatchID)
		c.state = row.State
		return err
	})
	g.Go(func() (err error) {
		c.balls, _, err = dynamo.Get[match.BallIndex](ctx, i.db, tables.GetProcessed, f.MatchID)
		return err
	})
	g.Go(func() (err error) {
		c.ledger, err = readLedger(ctx, i.db, f.MatchID)
		return err
	})
	if f.BodySum == "" {
		err := g.Wait()
		for n := range c.balls.Chunks {
			c.balls.Chunks[n].Sum = ""
		}
		return c, err
	}
	var mu sync.Mutex
	for _, view := range f.Perspectives() {
		g.Go(func() error {
			h, _, err := dynamo.Get[StateHash](ctx, i.db, tables.GetHash, hashKey(f.MatchID, view))
			mu.Lock()
			defer mu.Unlock()
			c.hashes[view] = h.Hash
			return err
		})
	}
	return c, g.Wait()
}

// store writes the match and sends its messages, in an order that lets a second run
// repair a crash at any point:
//
//  1. Remove the checksum from the fixture row. Until step 5 the row is incomplete,
//     and any payload is ingested in full.
//  2. Put the balls, the score and the displays.
//  3. Send MatchChanged and the alerts.
//  4. Put the hashes, the index of balls and the ledger, which mark 2 and 3 as done.
//  5. Write the checksum.
func (i *ingester) store(ctx context.Context, f match.Fixture, p payload, balls []score.Ball, before cachedMatch, after *cachedMatch) error {
	now := i.now()
	changed, displays, err := changedDisplays(f, p, after, now)
	if err != nil {
		return err
	}
	var chunks []match.BallChunk
	var due []event.Event
	if after.state.Held == 0 { // otherwise the list of balls is incomplete
		if !p.deleted {
			if chunks, err = after.balls.Record(f, balls, p.slot, now); err != nil {
				return err
			}
		}
		after.ledger, due = before.ledger.record(after.observation(f, p, now))
	}
	scoreRow, err := match.NewScoreRow(f, after.state, p.slot, now)
	if err != nil {
		return err
	}
	if f.BodySum != "" {
		incomplete := dynamo.Remove[match.Fixture]("bodySum", "polls")
		if err := f.Update(ctx, i.db, tables.UpdateFixture, incomplete, match.NotAfter(p.slot).And(match.NotEnding())); err != nil {
			return err
		}
	}

	g, gctx := errgroup.WithContext(ctx)
	for _, chunk := range chunks {
		g.Go(func() error { return dynamo.Put(gctx, i.db, tables.PutProcessed, chunk, match.NotAfter(p.slot)) })
	}
	g.Go(func() error { return dynamo.Put(gctx, i.db, tables.PutCached, scoreRow, match.NotAfter(p.slot)) })
	for _, row := range displays {
		g.Go(func() error { return dynamo.Put(gctx, i.db, tables.PutDisplay, row, match.NotAfter(p.slot)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(changed) > 0 {
		if err := i.queue.Send(ctx, tables.ActivityQueue, activity.MatchChanged{MatchID: f.MatchID, Slot: p.slot, Changed: changed}, 0); err != nil {
			return err
		}
	}
	if err := i.sendAlerts(ctx, f.MatchID, p, due); err != nil {
		return err
	}
	g, gctx = errgroup.WithContext(ctx)
	for _, view := range changed {
		row := StateHash{Key: hashKey(f.MatchID, view), Hash: after.hashes[view], LastSlot: p.slot}
		g.Go(func() error { return dynamo.Put(gctx, i.db, tables.PutHash, row, match.NotAfter(p.slot)) })
	}
	if !slices.Equal(after.balls.Chunks, before.balls.Chunks) {
		g.Go(func() error { return dynamo.Put(gctx, i.db, tables.PutProcessed, after.balls, match.NotAfter(p.slot)) })
	}
	if after.ledger.differs(before.ledger) {
		g.Go(func() error { return dynamo.Put(gctx, i.db, tables.PutProcessed, after.ledger, match.NotAfter(p.slot)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if after.state.Held != 0 && before.sum == "" { // the balls are still unknown
		p.sum, after.sum = "", ""
	}
	f.Polls = 0
	return i.markIngested(ctx, f, p, after.state.Phase)
}

// sendAlerts sends one message to send-alerts for each event that p has confirmed, in
// order.
func (i *ingester) sendAlerts(ctx context.Context, matchID string, p payload, events []event.Event) error {
	for _, e := range events {
		m := alert.NewAlert(matchID, e, p.at.Unix())
		m.Slot = p.slot
		if err := i.queue.Send(ctx, tables.AlertQueue, m, 0); err != nil {
			return err
		}
	}
	return nil
}

// changedDisplays returns the perspectives whose display differs from the one that
// was pushed last, and their rows. It sets their hashes in after.
func changedDisplays(f match.Fixture, p payload, after *cachedMatch, now time.Time) (changed []string, rows []match.DisplayRow, err error) {
	for _, view := range f.Perspectives() {
		d := after.state.For(view)
		hash := d.Hash()
		if after.hashes[view] == hash {
			continue
		}
		after.hashes[view] = hash
		text, err := json.Marshal(d)
		if err != nil {
			return nil, nil, err
		}
		changed = append(changed, view)
		rows = append(rows, match.DisplayRow{
			CacheKey: match.DisplayKey(f.MatchID, view), Display: match.RawJSON(text), Hash: hash, Slot: p.slot, At: p.at.Unix(),
			Playing: after.state.Phase == sportmonks.Live, Key: after.state.KeyEvent(), TTL: now.Add(match.KeepShown).Unix(),
		})
	}
	return changed, rows, nil
}

// markIngested writes the checksum of the payload, which marks it as stored and sent, and
// makes the match live if play has begun.
func (i *ingester) markIngested(ctx context.Context, f match.Fixture, p payload, phase sportmonks.Phase) error {
	f.BodySum, f.LastSlot = p.sum, p.slot
	set := dynamo.Set(f, "bodySum", "lastSlot", "polls", "status")
	if phase != sportmonks.Upcoming && !p.final {
		f.Live, f.LiveUpdatedAt = match.Live, i.now().UnixMilli()
		set = set.Set(f, "live", "liveUpdatedAt").Remove("archivedAt")
	}
	return f.Update(ctx, i.db, tables.UpdateFixture, set, match.NotAfter(p.slot).And(match.NotEnding()))
}

// logProblems logs the problems of a payload, unless they equal those that were
// logged last, and returns them as text.
func logProblems(ctx context.Context, matchID, last string, problems []scorer.Problem) string {
	if len(problems) == 0 {
		return ""
	}
	text := fmt.Sprint(problems)
	if text != last {
		slog.WarnContext(ctx, "the provider's payload has problems", "match", matchID, "problems", text)
	}
	return text
}

// StateHash is a row of cricket-state-hashes: the hash of the display of one
// perspective that was pushed last.
type StateHash struct {
	Key      string `dynamodbav:"matchTeamKey"` // {matchId}#{perspective}
	Hash     string `dynamodbav:"hash"`
	LastSlot int64  `dynamodbav:"lastSlot"`
}

func hashKey(matchID, view string) string { return matchID + "#" + view }
