package cricket

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/queue"
)

// scorebook takes a match from the provider's words to what is stored and
// pushed. One that is used again remembers what it wrote, which saves reads but
// decides nothing: what it remembers counts only while the match's row still
// bears its mark.
type scorebook struct {
	db    dynamo.DB
	queue queue.Sender
	locks *lock.Locks
	now   func() time.Time

	mu    sync.Mutex
	pages map[string]page
}

// page is what is stored of one match.
type page struct {
	sum    string // of the provider's words, and the slot they came in
	slot   int64
	state  score.State
	head   head
	ledger ledger
	events []score.Event     // in the words; nil when they are another's to know
	hashes map[string]string // by perspective
	blamed string            // the problems that were logged last
}

// entry is what the provider says of a match in a slot.
type entry struct {
	sum     string // of the words
	read    func() (sportmonks.Fixture, error)
	slot    int64
	at      time.Time // the slot's, or when the provider was asked
	last    bool      // the match has left the feed
	settled bool      // with last: the provider is taken at its word
}

// lease is how long a match is one worker's without a sign of life, and so how
// long it rests when one dies.
const lease = 10 * time.Second

func newScorebook(db dynamo.DB, q queue.Sender, now func() time.Time) *scorebook {
	return &scorebook{
		db: db, queue: q, now: now, pages: map[string]page{},
		locks: &lock.Locks{DB: db, Acquire: acquireLock, Release: releaseLock, TTL: lease, Now: now},
	}
}

// touch says that a match was polled and its words were those that the
// scorebook dealt with last: one write, and no read. It returns false when there
// is more to do: that is not so, somebody dealt with other words since, the score
// waits to hear the same words again before it believes them, or has now heard an
// event often enough to tell it.
func (b *scorebook) touch(ctx context.Context, matchID, sum string, slot int64) (bool, error) {
	b.mu.Lock()
	p := b.pages[matchID]
	b.mu.Unlock()
	if p.sum != sum || p.state.Held != 0 {
		return false, nil
	}
	set := expression.Set(expression.Name("lastSlot"), expression.Value(slot)).Add(expression.Name("polls"), expression.Value(1))
	cond := dynamo.Exists[fixture]("matchId").And(notAfter(slot), notEnding(), expression.Equal(expression.Name("bodySum"), expression.Value(sum)))
	if p.state.Phase != sportmonks.Upcoming {
		set = set.Set(expression.Name("liveUpdatedAt"), expression.Value(b.now().UnixMilli()))
		cond = cond.And(dynamo.Exists[fixture]("live"))
	}
	was, err := dynamo.Replace[fixture](ctx, b.db, updateFixture, dynamo.Key(updateFixture, matchID), set, cond)
	if err != nil {
		return dynamo.Applied(err)
	}
	due := p.ledger.ripe(was.Polls + 1)
	if due && was.LastSlot != p.slot { // another polled since, and may have told it
		b.forget(matchID)
		return false, nil
	}
	p.slot = slot
	b.remember(matchID, p)
	return !due, nil
}

// notEnding holds for a match whose end is not decided.
func notEnding() expression.ConditionBuilder {
	return expression.AttributeNotExists(expression.Name("endingAt"))
}

// errPassed says that a match needs nothing: it is not ours, it is over, or it
// has seen a later slot.
var errPassed = errors.New("the match needs nothing")

// enter deals with the provider's words about a match, under its lease, and
// returns the state they amount to. Its second run writes the same again.
//
// It returns errPassed when there is nothing to do, and lock.ErrHeld when
// another worker is at it.
func (b *scorebook) enter(ctx context.Context, matchID, holder string, e entry) (score.State, error) {
	l, err := b.locks.Take(ctx, "match:"+matchID, holder)
	if err != nil {
		return score.State{}, err
	}
	state, err := b.enterHeld(ctx, matchID, e)
	return state, errors.Join(err, l.Release(context.WithoutCancel(ctx)))
}

func (b *scorebook) enterHeld(ctx context.Context, matchID string, e entry) (score.State, error) {
	f, ok, err := dynamo.Get[fixture](ctx, b.db, getFixture, matchID)
	switch {
	case err != nil:
		return score.State{}, err
	case !ok || f.EndingAt != 0 || f.LastSlot > e.slot:
		return score.State{}, errPassed
	}
	was, err := b.page(ctx, f)
	if err != nil {
		return score.State{}, err
	}
	if f.LastSlot != e.slot {
		f.Polls++ // this one
	}
	if f.BodySum == e.sum && was.state.Held == 0 && !e.last {
		return was.state, b.again(ctx, f, e, was)
	}
	said, err := e.read()
	if err != nil {
		return score.State{}, err
	}
	is := page{sum: e.sum, slot: e.slot, head: was.head, ledger: was.ledger, hashes: maps.Clone(was.hashes)}
	var problems []score.Problem
	if e.settled {
		is.state, problems = score.Final(said, was.state)
	} else {
		is.state, problems = score.Read(said, was.state)
	}
	is.blamed = blame(ctx, matchID, was.blamed, problems)
	is.events = score.Events(said, is.state)
	if _, known := said.Phase(); known {
		f.Status = said.Status
	}
	if err := b.write(ctx, f, e, score.Balls(said), was, &is); err != nil {
		return score.State{}, err
	}
	b.remember(matchID, is)
	return is.state, nil
}

// again deals with words that were dealt with before, perhaps by another and
// perhaps before the match was archived. An event may now have been seen often
// enough to be told.
func (b *scorebook) again(ctx context.Context, f fixture, e entry, was page) error {
	if was.ledger.ripe(f.Polls) {
		if was.events == nil {
			said, err := e.read()
			if err != nil {
				return err
			}
			was.events = score.Events(said, was.state)
		}
		seen := was.sighting(f, e, b.now())
		seen.same = true
		next, due := was.ledger.enter(seen)
		if err := b.tell(ctx, f.MatchID, e.at, due); err != nil {
			return err
		}
		if err := dynamo.Put(ctx, b.db, putProcessed, next, notAfter(e.slot)); err != nil {
			return err
		}
		was.ledger = next
	}
	was.slot = e.slot
	b.remember(f.MatchID, was)
	return b.mark(ctx, f, e, was.state.Phase)
}

// sighting is what the page's words say has happened.
func (p page) sighting(f fixture, e entry, now time.Time) sighting {
	balls := 0
	for _, in := range p.state.Innings {
		balls += in.Balls
	}
	return sighting{
		matchID: f.MatchID, events: p.events, agreed: f.Polls, final: e.last, old: balls > oldNews,
		slot: e.slot, ttl: now.Add(keepBalls).Unix(),
	}
}

func (b *scorebook) remember(matchID string, p page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages[matchID] = p
}

func (b *scorebook) forget(matchID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pages, matchID)
}

// page is what is stored of the match: from memory if the row bears its mark. A
// row without a mark was left half-way: of balls and displays, what is stored
// then counts as unknown, so that all of it is written and pushed again.
func (b *scorebook) page(ctx context.Context, f fixture) (page, error) {
	b.mu.Lock()
	p, ok := b.pages[f.MatchID]
	b.mu.Unlock()
	if ok && p.sum == f.BodySum && p.slot == f.LastSlot {
		return p, nil
	}
	p = page{sum: f.BodySum, slot: f.LastSlot, hashes: map[string]string{}}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		c, _, err := readCached(ctx, b.db, f.MatchID)
		p.state = c.State
		return err
	})
	g.Go(func() (err error) {
		p.head, _, err = dynamo.Get[head](ctx, b.db, getProcessed, f.MatchID)
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
	for _, view := range f.perspectives() {
		g.Go(func() error {
			h, _, err := dynamo.Get[stateHash](ctx, b.db, getHash, hashKey(f.MatchID, view))
			mu.Lock()
			defer mu.Unlock()
			p.hashes[view] = h.Hash
			return err
		})
	}
	return p, g.Wait()
}

// write stores what a match has become. The order lets a crash anywhere be
// mended by the next run: see the package's documentation.
func (b *scorebook) write(ctx context.Context, f fixture, e entry, balls []score.Ball, was page, is *page) error {
	now := b.now()
	changed, rows, err := b.changed(f, e, is, now)
	if err != nil {
		return err
	}
	var chunks []chunk
	var due []score.Event
	if is.state.Held == 0 { // else the list of balls is known to be partial
		if chunks, err = is.head.enter(f.MatchID, balls, e.slot, now); err != nil {
			return err
		}
		is.ledger, due = was.ledger.enter(is.sighting(f, e, now))
	}
	c, err := newCached(f, is.state, e.slot, now)
	if err != nil {
		return err
	}
	if f.BodySum != "" {
		unmark := expression.Remove(expression.Name("bodySum")).Remove(expression.Name("polls"))
		if err := f.update(ctx, b.db, updateFixture, unmark, notAfter(e.slot).And(notEnding())); err != nil {
			return err
		}
	}

	g, gctx := errgroup.WithContext(ctx)
	for _, ch := range chunks {
		g.Go(func() error { return dynamo.Put(gctx, b.db, putProcessed, ch, notAfter(e.slot)) })
	}
	g.Go(func() error { return dynamo.Put(gctx, b.db, putCached, c, notAfter(e.slot)) })
	for _, row := range rows {
		g.Go(func() error { return dynamo.Put(gctx, b.db, putDisplay, row, notAfter(e.slot)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(changed) > 0 {
		if err := b.queue.Send(ctx, activityQueue, MatchChanged{MatchID: f.MatchID, Slot: e.slot, Changed: changed}, 0); err != nil {
			return err
		}
	}
	if err := b.tell(ctx, f.MatchID, e.at, due); err != nil {
		return err
	}
	g, gctx = errgroup.WithContext(ctx)
	for _, view := range changed {
		row := stateHash{Key: hashKey(f.MatchID, view), Hash: is.hashes[view], LastSlot: e.slot}
		g.Go(func() error { return dynamo.Put(gctx, b.db, putHash, row, notAfter(e.slot)) })
	}
	if !slices.Equal(is.head.Chunks, was.head.Chunks) {
		g.Go(func() error { return dynamo.Put(gctx, b.db, putProcessed, is.head, notAfter(e.slot)) })
	}
	if is.ledger.differs(was.ledger) {
		g.Go(func() error { return dynamo.Put(gctx, b.db, putProcessed, is.ledger, notAfter(e.slot)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	f.Polls = 0
	return b.mark(ctx, f, e, is.state.Phase)
}

// tell has the followers of the match told of events, in order.
func (b *scorebook) tell(ctx context.Context, matchID string, at time.Time, events []score.Event) error {
	for _, e := range events {
		if err := b.queue.Send(ctx, alertQueue, newAlert(matchID, e, at.Unix()), 0); err != nil {
			return err
		}
	}
	return nil
}

// changed lists the perspectives that are shown something new, and the rows
// that show it.
func (b *scorebook) changed(f fixture, e entry, is *page, now time.Time) (views []string, rows []shown, err error) {
	for _, view := range f.perspectives() {
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
		rows = append(rows, shown{
			CacheKey: displayKey(f.MatchID, view), Display: raw(text), Hash: hash, Slot: e.slot, At: e.at.Unix(),
			Playing: is.state.Phase == sportmonks.Live, TTL: now.Add(keepShown).Unix(),
		})
	}
	return views, rows, nil
}

// mark says, last of all, that the provider's words are dealt with.
func (b *scorebook) mark(ctx context.Context, f fixture, e entry, phase sportmonks.Phase) error {
	set := expression.Set(expression.Name("bodySum"), expression.Value(e.sum)).
		Set(expression.Name("lastSlot"), expression.Value(e.slot)).
		Set(expression.Name("polls"), expression.Value(f.Polls)).
		Set(expression.Name("status"), expression.Value(f.Status))
	if phase != sportmonks.Upcoming && !e.last {
		set = set.Set(expression.Name("live"), expression.Value(live)).
			Set(expression.Name("liveUpdatedAt"), expression.Value(b.now().UnixMilli())).
			Remove(expression.Name("archivedAt"))
	}
	return f.update(ctx, b.db, updateFixture, set, notAfter(e.slot).And(notEnding()))
}

// blame logs the problems of a match when they are not those of last time.
func blame(ctx context.Context, matchID, before string, problems []score.Problem) string {
	if len(problems) == 0 {
		return ""
	}
	now := fmt.Sprint(problems)
	if now != before {
		slog.WarnContext(ctx, "the provider's data is at fault", "match", matchID, "problems", now)
	}
	return now
}

// head is the first row of a match in match-processing-state: how far the balls
// are stored, and in which chunks.
type head struct {
	MatchID           string      `dynamodbav:"matchId"`
	LastProcessedBall int         `dynamodbav:"lastProcessedBall"`
	Chunks            []chunkMeta `dynamodbav:"chunks"` // in the order of play
	LastSlot          int64       `dynamodbav:"lastSlot"`
	TTL               int64       `dynamodbav:"ttl"`
}

// chunkMeta is a chunk without its balls.
type chunkMeta struct {
	Key  string `dynamodbav:"k"` // "S1#00": innings, and overs divided by oversPerChunk
	Sum  string `dynamodbav:"s"` // of its balls
	Last int    `dynamodbav:"l"` // its highest ball id
}

// chunk is a further row of a match: the balls of some overs.
type chunk struct {
	MatchID  string `dynamodbav:"matchId"` // {matchId}#{key}
	Balls    raw    `dynamodbav:"balls"`   // []score.Ball
	LastSlot int64  `dynamodbav:"lastSlot"`
	TTL      int64  `dynamodbav:"ttl"`
}

// oversPerChunk keeps a chunk near 4 kB, so that a ball costs four write units,
// and a Test match, whose 2,700 balls exceed an item's 400 kB, about 90 chunks.
const oversPerChunk = 5

const keepBalls = 7 * 24 * time.Hour

// enter replaces the stored balls by these, and returns the chunks that differ.
// lastProcessedBall only moves forward, whatever the provider takes back.
func (h *head) enter(matchID string, balls []score.Ball, slot int64, now time.Time) ([]chunk, error) {
	ttl := now.Add(keepBalls).Unix()
	next := head{MatchID: matchID, LastProcessedBall: h.LastProcessedBall, LastSlot: slot, TTL: ttl}
	var differ []chunk
	for key, group := range chunksOf(balls) {
		text, err := json.Marshal(group)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		meta := chunkMeta{Key: key, Sum: base64.RawURLEncoding.EncodeToString(sum[:9])}
		for _, ball := range group {
			meta.Last = max(meta.Last, ball.ID)
		}
		next.LastProcessedBall = max(next.LastProcessedBall, meta.Last)
		next.Chunks = append(next.Chunks, meta)
		if !slices.Contains(h.Chunks, meta) {
			differ = append(differ, chunk{MatchID: matchID + "#" + key, Balls: raw(text), LastSlot: slot, TTL: ttl})
		}
	}
	*h = next
	return differ, nil
}

// chunksOf groups balls by innings and overs, in the order in which each group
// begins.
func chunksOf(balls []score.Ball) iter.Seq2[string, []score.Ball] {
	var keys []string
	groups := map[string][]score.Ball{}
	for _, b := range balls {
		over, _, _ := strings.Cut(b.At, ".")
		n, _ := strconv.Atoi(over) // a label is a number, or the ball goes to the first chunk
		key := fmt.Sprintf("S%d#%02d", b.Innings, n/oversPerChunk)
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], b)
	}
	return func(yield func(string, []score.Ball) bool) {
		for _, key := range keys {
			if !yield(key, groups[key]) {
				return
			}
		}
	}
}

// cursor is the chunk's key as it stands in a URL.
func (c chunkMeta) cursor() string { return strings.Replace(c.Key, "#", "-", 1) }

func (c chunkMeta) innings() int {
	n, _, _ := strings.Cut(strings.TrimPrefix(c.Key, "S"), "#")
	i, _ := strconv.Atoi(n) // we wrote it
	return i
}
