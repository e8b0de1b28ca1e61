package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/topic"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// ingester makes rows and messages from the provider's payload of a match. It caches the last
// stored rows of each match, which only saves reads: a cached match is used only while the match's
// row has the same checksum and slot.
type ingester struct {
	db        dynamo.DB
	queue     queue.Sender
	announcer topic.Announcer
	now       func() time.Time

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
	away    bool      // the page of a match that is missing from the feed: the match does not become live
}

// lease is how long a worker may hold a match without renewal. When a worker dies,
// the match is not ingested for so long.
const lease = 10 * time.Second

func newIngester(env app.Env, db dynamo.DB, q queue.Sender) *ingester {
	return &ingester{db: db, queue: q, announcer: topic.NewAnnouncer(env), now: env.Now, cache: map[string]cachedMatch{}}
}

// markUnchanged records a poll whose payload was ingested before, in one write and
// without a read. It returns false if the payload must be ingested:
//
//   - This process did not ingest it, or another payload was ingested since.
//   - The score withholds a partial payload until it has been polled often enough.
//   - Enough polls have now contained an event that was not sent.
//   - A poll before was without the match: a run that began to archive it may have marked its summary.
func (i *ingester) markUnchanged(ctx context.Context, matchID, sum string, slot int64) (bool, error) {
	cached, _ := i.cached(matchID)
	if cached.sum != sum || cached.state.Held != 0 {
		return false, nil
	}

	set := dynamo.Set(match.Fixture{LastSlot: slot}, "lastSlot").Add("polls", 1)
	cond := dynamo.Exists[match.Fixture]("matchId").And(match.NotAfter(slot), match.NotEnding(), dynamo.Equal[match.Fixture]("bodySum", sum))

	if cached.state.Phase != sportmonks.Upcoming {
		set = set.Set(match.Fixture{LiveUpdatedAt: i.now().UnixMilli()}, "liveUpdatedAt")
		cond = cond.And(dynamo.Exists[match.Fixture]("live"), dynamo.Absent[match.Fixture]("missingSince"))
	}

	before, err := dynamo.Replace[match.Fixture](ctx, i.db, tables.UpdateFixture, dynamo.Key(tables.UpdateFixture, matchID), set, cond)
	if err != nil {
		return dynamo.Applied(err)
	}

	countStale(ctx, i.now(), matchID, cached.state.Phase, before.Polls+1)

	if err := i.pollAgain(ctx, matchID, cached.state, before.Polls+1); err != nil {
		return false, err
	}

	due := cached.ledger.confirmed(before.Polls + 1)
	if due && before.LastSlot != cached.slot { // another process polled since and may have sent the event: load reads what it stored
		return false, nil
	}

	cached.slot = slot
	i.remember(matchID, cached)

	return !due, nil
}

const (
	// listedAfter is how long a match may be over and listed by the feed before finish-match requests
	// its page.
	listedAfter = 5 * time.Minute
	listedPolls = int(listedAfter / match.SlotLength)
	// listedAgain is the number of polls after which it is reported again, in case the message was lost.
	listedAgain = 6 * listedPolls
)

// rebroadcastPolls are the polls of an unchanged payload after which channels, which keep no message,
// get the present state again: after 2, 10 and 30 minutes.
var rebroadcastPolls = []int{48, 240, 720}

// pollAgain does what is due when so many polls in a row have had the same payload. A second run of
// a poll does not come here: the poll is counted. Both are repeated later if a message is lost.
func (i *ingester) pollAgain(ctx context.Context, matchID string, s score.State, polls int) error {
	if slices.Contains(rebroadcastPolls, polls) {
		if err := i.announcer.Announce(ctx, activity.Rebroadcast(matchID), false); err != nil {
			return err
		}
	}

	if (s.Phase.Over() || s.Pending) && polls%listedAgain == listedPolls {
		return i.queue.Send(ctx, tables.FinishQueue, MatchLeft{MatchID: matchID, Since: i.now().Unix(), Listed: true}, 0)
	}

	return nil
}

const (
	// staleAfter is how long the provider may answer the same about a match in play. In the
	// recording of SportMonks the longest time between two balls of an innings is 100 s. A drinks
	// break, which has no status of its own, lasts up to five minutes, with such a silence before
	// and after it.
	staleAfter = 10 * time.Minute
	stalePolls = int(staleAfter / match.SlotLength)
)

// countStale counts a match in play about which so many polls in a row have answered the same, ball
// times and all. In a break, in rain and before the start no balls are due: the provider's
// status says so. Polls that fail are not among them.
func countStale(ctx context.Context, now time.Time, matchID string, phase sportmonks.Phase, polls int) {
	if phase != sportmonks.Live || polls < stalePolls {
		return
	}

	if polls == stalePolls {
		slog.WarnContext(ctx, "the provider's answer about a match in play does not change", "match", matchID, "for", staleAfter.String())
	}

	telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(tables.MatchesStale, 1)}, slog.String("match", matchID))
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
	fixture, err := p.decode()
	if err != nil {
		return score.State{}, err
	}

	l, err := i.take(ctx, matchID, holder, p)
	if err != nil {
		return score.State{}, err
	}

	state, err := i.ingestHeld(ctx, l, fixture, p)
	if err != nil { // otherwise the last write has ended the lease
		err = errors.Join(err, i.release(context.WithoutCancel(ctx), l))
	}

	return state, err
}

// leased is a match whose lease was taken.
type leased struct {
	match.Fixture // its row before
	holder        string
	incomplete    bool // the checksum was removed from its row
}

// take leases a match. Unless the row has the checksum of the payload, it also removes
// the checksum: until markIngested the row is incomplete, and any payload is ingested in
// full.
func (i *ingester) take(ctx context.Context, matchID, holder string, p payload) (leased, error) {
	now := i.now()
	key := dynamo.Key(tables.UpdateFixture, matchID)
	own := func() dynamo.Changes {
		return dynamo.Set(match.Fixture{LeaseHolder: holder, LeaseUntil: now.Add(lease).UnixMilli()}, "leaseHolder", "leaseUntil")
	}
	// A holder takes again what it holds: the answer to its first call may have been lost.
	free := dynamo.Absent[match.Fixture]("leaseHolder").Or(dynamo.Less[match.Fixture]("leaseUntil", now.UnixMilli()),
		dynamo.Equal[match.Fixture]("leaseHolder", holder))
	open := dynamo.Exists[match.Fixture]("matchId").And(match.NotAfter(p.slot), match.NotEnding(), free)

	changed := open
	if !p.final {
		changed = open.And(dynamo.NotEqual[match.Fixture]("bodySum", p.sum))
	}

	was, err := dynamo.Replace[match.Fixture](ctx, i.db, tables.UpdateFixture, key, own().Remove("bodySum", "polls"), changed)

	refused, ok := errors.AsType[*dynamo.Refused](err)
	if !ok {
		return leased{was, holder, true}, err
	}

	var there match.Fixture
	switch err := attributevalue.UnmarshalMap(refused.Item, &there); {
	case err != nil:
		return leased{}, err
	case there.MatchID == "" || there.EndingAt != 0 || there.LastSlot > p.slot:
		return leased{}, errNothingToDo
	case p.final || there.BodySum != p.sum:
		return leased{}, lock.ErrHeld
	}

	was, err = dynamo.Replace[match.Fixture](ctx, i.db, tables.UpdateFixture, key, own(),
		open.And(dynamo.Equal[match.Fixture]("bodySum", p.sum)))

	return leased{was, holder, false}, dynamo.RefusedAs(err, lock.ErrHeld)
}

// release ends the lease, if l still has it.
func (i *ingester) release(ctx context.Context, l leased) error {
	ended := dynamo.Remove[match.Fixture]("leaseHolder", "leaseUntil")
	err := dynamo.Update(ctx, i.db, tables.UpdateFixture, dynamo.Key(tables.UpdateFixture, l.MatchID), ended,
		dynamo.Equal[match.Fixture]("leaseHolder", l.holder))

	return dynamo.IgnoreRefused(err)
}

func (i *ingester) ingestHeld(ctx context.Context, l leased, fixture sportmonks.Fixture, p payload) (score.State, error) {
	before, err := i.load(ctx, l.Fixture)
	if err != nil {
		return score.State{}, err
	}

	if l.LastSlot != p.slot {
		l.Polls++ // count this one
	}

	switch {
	case l.incomplete:
	case before.state.Held == 0:
		return before.state, i.ingestUnchanged(ctx, l, fixture, p, before)
	default:
		incomplete := dynamo.Remove[match.Fixture]("bodySum", "polls")
		if err := l.Update(ctx, i.db, tables.UpdateFixture, incomplete, match.NotAfter(p.slot).And(match.NotEnding())); err != nil {
			return score.State{}, err
		}
	}

	after := cachedMatch{sum: p.sum, slot: p.slot, balls: before.balls, ledger: before.ledger, hashes: maps.Clone(before.hashes)}
	fixture.AskedAt = p.at

	var problems []scorer.Problem
	if p.settled {
		after.state, problems = scorer.Final(fixture, before.state)
	} else {
		after.state, problems = scorer.Read(fixture, before.state)
	}

	if p.final {
		correct(&after.state, l.Fixture)
	}

	l.Rename(&after.state)
	after.problems = logProblems(ctx, l.MatchID, before.problems, problems)

	after.events = event.List(fixture, after.state)
	if p.deleted { // the page confirms nothing of what waits for confirmation
		after.events = slices.DeleteFunc(after.events, func(e event.Event) bool { return e.Kind != event.Result })
	}

	if _, known := fixture.Phase(); known {
		l.Status = fixture.Status
	}

	if err := i.store(ctx, l, p, fixture, before, &after); err != nil {
		return score.State{}, err
	}

	i.remember(l.MatchID, after)

	return after.state, nil
}

// ingestUnchanged ingests a payload that was stored before, perhaps by another
// process and perhaps before the match was archived. It sends the events that
// enough polls have now contained.
func (i *ingester) ingestUnchanged(ctx context.Context, l leased, fixture sportmonks.Fixture, p payload, stored cachedMatch) error {
	if stored.ledger.confirmed(l.Polls) {
		if stored.events == nil {
			stored.events = event.List(fixture, stored.state)
		}

		o := stored.observation(l, p)
		o.unchanged = true

		next, due := stored.ledger.record(o)
		if err := i.sendAlerts(ctx, l.MatchID, p, due); err != nil {
			return err
		}

		stored.ledger = next
		if err := i.putSent(ctx, l.MatchID, p.slot, stored); err != nil {
			return err
		}
	}

	if l.Live == "" || l.MissingSince != 0 { // it was archived, at least in its summary, and is back
		err := dynamo.IgnoreRefused(dynamo.Transact(ctx, i.db, tables.UpdateSummary, l.summaryWrite(p, stored.state)))
		if err != nil {
			return err
		}
	}

	stored.slot = p.slot
	i.remember(l.MatchID, stored)

	return i.markIngested(ctx, l, p, stored.state.Phase)
}

// observation returns what the ledger needs to know of a poll.
func (c cachedMatch) observation(l leased, p payload) observation {
	balls := 0
	for _, in := range c.state.Innings {
		balls += in.Balls
	}

	return observation{
		events:   c.events,
		polls:    l.Polls,
		final:    p.final,
		settled:  p.settled,
		late:     balls > maxEarlyBalls,
		playing:  c.state.Phase == sportmonks.Live,
		reopened: l.Reopened,
		at:       p.at.Unix(),
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

	var (
		row  match.ScoreRow
		sent Sent
	)

	c := cachedMatch{sum: f.BodySum, slot: f.LastSlot}
	if err := dynamo.GetEach(ctx, i.db,
		dynamo.Read{Access: tables.BatchGetCached, Key: []string{f.MatchID}, Into: &row},
		dynamo.Read{Access: tables.BatchGetProcessed, Key: []string{f.MatchID}, Into: &c.balls},
		dynamo.Read{Access: tables.GetHash, Key: []string{f.MatchID}, Into: &sent},
	); err != nil {
		return c, err
	}

	if row.MatchID != "" {
		if err := row.Decode(); err != nil {
			return c, err
		}
	}

	c.state, c.ledger, c.hashes = row.State, sent.Ledger, sent.Hashes
	if f.BodySum == "" {
		c.hashes = nil
		c.balls.Forget()
	}

	return c, nil
}

// store writes the match and sends its messages, in an order that lets a second run
// repair a crash at any point. The fixture row is incomplete: take has removed its
// checksum.
//
//  1. Put the balls, the score, the displays, the scorecard and the summary.
//  2. Send MatchChanged and the alerts.
//  3. Put the index of balls and scorecard and what was sent, which mark 1 and 2 as done.
//  4. Write the checksum.
func (i *ingester) store(ctx context.Context, l leased, p payload, fixture sportmonks.Fixture, before cachedMatch,
	after *cachedMatch) error {
	now := i.now()

	changed, displays, err := changedDisplays(l.Fixture, p, after, now)
	if err != nil {
		return err
	}

	var (
		chunks  []match.BallChunk
		parts   []match.CardRow
		players []dynamo.Write
		due     []event.Event
	)

	if after.state.Held == 0 { // otherwise the list of balls is incomplete
		if !p.deleted {
			if chunks, err = after.balls.Record(l.Fixture, scorer.Balls(fixture), after.state.Phase.Over(), p.slot, now); err != nil {
				return err
			}

			if c, ok := card.Of(&fixture, &after.state); ok {
				if parts, err = after.balls.RecordCard(l.Fixture, c, after.state.Phase.Over(), p.slot, now); err != nil {
					return err
				}

				if slices.ContainsFunc(parts, match.CardRow.OfPlayers) {
					l.Retitle(c.Match.Teams)
					players = player.Writes(c, dynamo.MaxWrites-len(displays)-len(parts)-1)
				}
			}
		}

		after.ledger, due = before.ledger.record(after.observation(l, p))
	}

	scoreRow, err := match.NewScoreRow(l.Fixture, after.state, p.slot, now)
	if err != nil {
		return err
	}

	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return putAll(gctx, i.db, tables.PutProcessed, chunks, p.slot) })
	g.Go(func() error { return dynamo.Put(gctx, i.db, tables.PutCached, scoreRow, match.NotAfter(p.slot)) })
	g.Go(func() error {
		return putShown(gctx, i.db, displays, parts, players, l.summaryWrite(p, after.state), p.slot)
	})

	if err := g.Wait(); err != nil {
		return err
	}

	if len(changed) > 0 {
		m := activity.MatchChanged{MatchID: l.MatchID, Slot: p.slot, Changed: changed}
		important := before.sum == "" || isImportant(&before.state, &after.state) // a run that died may have stored the score, and sent nothing

		if err := i.announcer.Announce(ctx, m, important); err != nil {
			return err
		}

		changeQueued(ctx, i.now())
	}

	if err := i.sendAlerts(ctx, l.MatchID, p, due); err != nil {
		return err
	}

	g, gctx = errgroup.WithContext(ctx)
	if !after.balls.Equal(&before.balls) {
		g.Go(func() error { return dynamo.Put(gctx, i.db, tables.PutProcessed, after.balls, match.NotAfter(p.slot)) })
	}

	if len(changed) > 0 || after.ledger.differs(before.ledger) {
		g.Go(func() error { return i.putSent(gctx, l.MatchID, p.slot, *after) })
	}

	if err := g.Wait(); err != nil {
		return err
	}

	if after.state.Held != 0 && before.sum == "" { // the balls are still unknown
		p.sum, after.sum = "", ""
	}

	l.Polls = 0

	return i.markIngested(ctx, l, p, after.state.Phase)
}

// changeQueued counts a message to push-activities.
func changeQueued(ctx context.Context, now time.Time) {
	telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(tables.ChangesQueued, 1)})
}

// putAll puts rows of a match into one table, unless one of them has a later slot. Several
// rows are one call, a transaction, which costs twice the write units.
func putAll[T any](ctx context.Context, db dynamo.DB, a spec.Access, rows []T, slot int64) error {
	if len(rows) == 1 {
		return dynamo.Put(ctx, db, a, rows[0], match.NotAfter(slot))
	}

	for some := range slices.Chunk(rows, dynamo.MaxWrites) {
		if err := dynamo.Transact(ctx, db, a, putsOf(some, slot)...); err != nil {
			return err
		}
	}

	return nil
}

// putShown puts displays and parts of the scorecard of a match as putAll does, and writes its players and its
// summary, in one call: a transaction unless the summary is alone.
func putShown(ctx context.Context, db dynamo.DB, displays []match.DisplayRow, parts []match.CardRow, players []dynamo.Write,
	summary dynamo.Write, slot int64) error {
	if len(displays)+len(parts) >= dynamo.MaxWrites {
		return errors.Join(putAll(ctx, db, tables.PutDisplay, displays, slot), putAll(ctx, db, tables.PutCard, parts, slot),
			dynamo.Transact(ctx, db, tables.UpdateSummary, summary))
	}

	return dynamo.TransactEach(ctx, db, dynamo.Batch{Access: tables.PutDisplay, Writes: putsOf(displays, slot)},
		dynamo.Batch{Access: tables.PutCard, Writes: putsOf(parts, slot)},
		dynamo.Batch{Access: tables.SeePlayers, Writes: players},
		dynamo.Batch{Access: tables.UpdateSummary, Writes: []dynamo.Write{summary}})
}

// putsOf returns the writes of rows, each of which is refused if its row has a later slot.
func putsOf[T any](rows []T, slot int64) []dynamo.Write {
	writes := make([]dynamo.Write, len(rows))
	for n, row := range rows {
		writes[n] = dynamo.PutWrite(row, match.NotAfter(slot))
	}

	return writes
}

// isImportant reports whether the change between two states is a key event or the end of an over. A poll
// may have the end of an over and the ball after it.
func isImportant(before, after *score.State) bool {
	if after.KeyEvent() {
		return true
	}

	was, is := before.InningsOf(before.Current), after.InningsOf(after.Current) // of a key event there is none
	if was == nil || was.Number != is.Number {
		return true
	}

	wholeWas, _, _ := strings.Cut(was.Overs, ".")
	whole, balls, _ := strings.Cut(is.Overs, ".")

	return balls == "" || whole != wholeWas
}

// sendAlerts sends one message to send-alerts for each event that p has confirmed, in
// order, and tells Android phones of a start of play.
func (i *ingester) sendAlerts(ctx context.Context, matchID string, p payload, events []event.Event) error {
	for _, e := range events {
		m := alert.NewAlert(matchID, e, p.at.Unix())

		m.Slot = p.slot
		if err := i.queue.Send(ctx, tables.AlertQueue, m, 0); err != nil {
			return err
		}

		if event.IsStart(e.Key) && !event.IsRenewal(e.Key) {
			if err := i.announcer.AnnounceStart(ctx, matchID, p.slot); err != nil {
				return err
			}
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

		if after.hashes == nil {
			after.hashes = map[string]string{}
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

// markIngested writes the checksum of the payload, which marks it as stored and sent,
// makes the match live if play has begun, and ends the lease. It is refused if the lease
// was lost.
func (i *ingester) markIngested(ctx context.Context, l leased, p payload, phase sportmonks.Phase) error {
	f := l.Fixture
	f.BodySum, f.LastSlot = p.sum, p.slot

	set := dynamo.Set(f, "bodySum", "lastSlot", "polls", "status").Remove("leaseHolder", "leaseUntil")
	if p.inPlay(phase) {
		f.Live, f.LiveUpdatedAt = match.Live, i.now().UnixMilli()
		set = set.Set(f, "live", "liveUpdatedAt").Remove("archivedAt", "missingSince")
	}

	mine := dynamo.Equal[match.Fixture]("leaseHolder", l.holder)

	return f.Update(ctx, i.db, tables.UpdateFixture, set, match.NotAfter(p.slot).And(match.NotEnding(), mine))
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

// Sent is a row of cricket-state-hashes: what was sent of a match.
type Sent struct {
	MatchID  string            `dynamodbav:"matchTeamKey"`
	Hashes   map[string]string `dynamodbav:"hashes"` // of the displays that were pushed last, by perspective
	Ledger   ledger            `dynamodbav:"ledger"`
	LastSlot int64             `dynamodbav:"lastSlot"`
}

func (i *ingester) putSent(ctx context.Context, matchID string, slot int64, c cachedMatch) error {
	return dynamo.Put(ctx, i.db, tables.PutHash, Sent{matchID, c.hashes, c.ledger, slot}, match.NotAfter(slot))
}
