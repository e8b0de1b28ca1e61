package live

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
)

// OpenTicker opens the service of tick.
func OpenTicker(ctx context.Context, env app.Env) (*Ticker, error) {
	provider, err := catalog.OpenProvider(ctx, env)
	if err != nil {
		return nil, err
	}
	db, q := dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues)
	return &Ticker{db: db, queue: q, provider: provider, ingester: newIngester(db, q, env.Now), Clock: env.Clock}, nil
}

// Ticker runs the ticks of the live loop.
type Ticker struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	ingester *ingester
	app.Clock

	mu    sync.Mutex
	last  snapshot // the last body that was read
	fault string   // kind of the provider's failure that was logged last
}

// snapshot is one body of the provider, divided into matches.
type snapshot struct {
	body    []byte
	entries []sportmonks.Entry
}

const (
	// matchesAtOnce is how many matches one tick processes in parallel.
	matchesAtOnce = 16
	// grace is how long a match must be missing from the feed before it is
	// archived: four polls. longerGrace applies while the feed has an entry whose
	// match cannot be identified.
	grace       = 3 * match.SlotLength // since the first of them
	longerGrace = 15 * time.Minute
)

// TickDone is the result of a tick.
type TickDone struct {
	Slot    int64  `json:"slot"`
	Skipped string `json:"skipped,omitempty"` // why nothing was done: "late" or "claimed"
	Matches int    `json:"matches"`
	Changed int    `json:"changed"`
}

// Tick polls the provider when the slot is due, and processes every match in
// the answer. One tick claims each slot: a second run finds the slot claimed or
// past, and does nothing.
//
// If the provider fails or its answer cannot be read, the slot is lost and the
// last state stands. An error of one match is logged; the other matches are
// processed.
func (t *Ticker) Tick(ctx context.Context, in Tick) (TickDone, error) {
	done := TickDone{Slot: in.Slot}
	due := time.UnixMilli(in.Due).UTC()
	if err := t.Sleep(ctx, due); err != nil {
		return done, err
	}
	start := t.Now()
	if start.After(due.Add(match.SlotLength)) {
		done.Skipped = "late"
		return done, nil
	}
	claimed, err := t.claim(ctx, in.Slot)
	if err != nil {
		return done, err
	}
	if !claimed {
		done.Skipped = "claimed"
		return done, nil
	}
	telemetry.Emit(ctx, start, []telemetry.Sample{telemetry.Count(tables.SlotsClaimed, 1)}, slog.Int64("slot", in.Slot)) // before the provider can fail
	body, err := t.provider.Livescores(ctx)
	var now snapshot
	if err == nil {
		now, err = t.read(body)
	}
	if t.logProviderFault(ctx, err); err != nil {
		return done, nil
	}
	done.Matches = len(now.entries)
	var changed, failed atomic.Int64
	var g errgroup.Group
	g.SetLimit(matchesAtOnce)
	for _, e := range now.entries {
		g.Go(func() error {
			switch did, err := t.match(ctx, e, in.Slot, due); {
			case err != nil:
				failed.Add(1)
				slog.ErrorContext(ctx, "match failed", "match", e.ID, "slot", in.Slot, "err", err)
			case did:
				changed.Add(1)
			}
			return nil
		})
	}
	g.Wait()
	done.Changed = int(changed.Load())
	if failed.Load() == 0 {
		t.keep(now)
	}
	live, archived, err := t.reconcile(ctx, now)
	telemetry.Emit(ctx, t.Now(), []telemetry.Sample{
		telemetry.Millis(tables.TickLag, start.Sub(due)), telemetry.Millis(tables.TickTime, t.Now().Sub(start)),
		telemetry.Count(tables.MatchesLive, live), telemetry.Count(tables.MatchesChanged, done.Changed), telemetry.Count(tables.MatchesFailed, int(failed.Load())),
		telemetry.Count(tables.MatchesArchived, archived),
	}, slog.Int64("slot", in.Slot))
	return done, err
}

// claim claims the slot for this tick. It returns false if this slot or a later
// one was claimed before.
func (t *Ticker) claim(ctx context.Context, slot int64) (bool, error) {
	free := expression.AttributeNotExists(expression.Name("slot")).
		Or(expression.LessThan(expression.Name("slot"), expression.Value(slot)))
	set := expression.Set(expression.Name("slot"), expression.Value(slot)).
		Set(expression.Name("holder"), expression.Value(lock.Holder(ctx, "tick")))
	err := dynamo.Update(ctx, t.db, tables.ClaimSlot, dynamo.Key(tables.ClaimSlot, "tick"), set, free)
	return dynamo.Applied(err)
}

// read divides body into matches. It returns the last snapshot if the body is
// unchanged.
func (t *Ticker) read(body []byte) (snapshot, error) {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	if len(last.entries) > 0 && bytes.Equal(body, last.body) {
		return last, nil
	}
	entries, err := sportmonks.Split(body)
	return snapshot{body, entries}, err
}

// keep remembers a body that was processed.
func (t *Ticker) keep(s snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = s
}

// logProviderFault counts a failure of the provider, and logs it when its kind
// changes.
func (t *Ticker) logProviderFault(ctx context.Context, err error) {
	kind := ""
	if err != nil {
		kind = "Other"
		if f, ok := errors.AsType[*sportmonks.Error](err); ok {
			kind = f.Kind.String()
		}
		telemetry.Emit(ctx, t.Now(), []telemetry.Sample{telemetry.Count(tables.ProviderFaults, 1)}, slog.String("kind", kind))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if kind != "" && kind != t.fault {
		slog.WarnContext(ctx, "the provider fails; the last good state stands", "kind", kind, "err", err)
	}
	t.fault = kind
}

// match processes one match of the snapshot, and reports whether its payload
// was new.
func (t *Ticker) match(ctx context.Context, e sportmonks.Entry, slot int64, due time.Time) (changed bool, err error) {
	if e.Err != nil {
		return false, e.Err
	}
	if same, err := t.ingester.markUnchanged(ctx, e.ID, e.Sum, slot); same || err != nil {
		return false, err
	}
	_, err = t.ingester.ingest(ctx, e.ID, lock.Holder(ctx, "tick"), payload{
		sum: e.Sum, read: func() (sportmonks.Fixture, error) { return sportmonks.Decode(e.Raw) }, slot: slot, at: due,
	})
	switch {
	case errors.Is(err, errPassed), errors.Is(err, lock.ErrHeld), dynamo.IsRefused(err):
		return false, nil // not ours, or held by another worker: the next tick processes it
	}
	return err == nil, err
}

// reconcile archives matches that have left the feed, sends them to finish-
// match, deletes expired replays, and counts the matches that stay live. The
// message is sent before the row is changed, so a second run repeats what a
// crash left.
func (t *Ticker) reconcile(ctx context.Context, now snapshot) (live, archived int, err error) {
	pages := dynamo.Pages(func(after dynamo.Item) ([]match.Fixture, dynamo.Item, error) {
		return dynamo.Scan[match.Fixture](ctx, t.db, tables.ScanLive, nil, after, 0)
	})
	listed := func(id string) bool {
		return slices.ContainsFunc(now.entries, func(e sportmonks.Entry) bool { return e.ID == id })
	}
	missing := grace
	if listed("") {
		missing = longerGrace
	}
	for page, err := range pages {
		if err != nil {
			return live, archived, err
		}
		for _, f := range page {
			left := false
			if !listed(f.MatchID) {
				if left, err = t.archiveMissing(ctx, f.MatchID, missing); err != nil {
					return live, archived, err
				}
			}
			if left {
				archived++
			} else {
				live++
			}
		}
	}
	return live, archived, nil
}

// archiveMissing archives a match that has been missing from the feed for so
// long.
func (t *Ticker) archiveMissing(ctx context.Context, matchID string, missing time.Duration) (bool, error) {
	f, ok, err := dynamo.Get[match.Fixture](ctx, t.db, tables.GetFixture, matchID)
	if err != nil || !ok {
		return false, err
	}
	if f.Live == "" {
		return false, nil // archived already: an index may lag behind its table
	}
	now := t.Now()
	if f.IsReplay {
		if f.ReplayExpires > now.Unix() {
			return false, nil
		}
		expired := expression.Equal(expression.Name("isReplay"), expression.Value(true)).
			And(expression.LessThanEqual(expression.Name("replayExpiresAt"), expression.Value(now.Unix())))
		_, err := dynamo.Delete(ctx, t.db, tables.DeleteReplay, dynamo.Key(tables.DeleteReplay, matchID), expired)
		return dynamo.Applied(err)
	}
	if f.MissingSince < f.LiveUpdatedAt { // the first poll without it: failed polls do not count
		set := expression.Set(expression.Name("missingSince"), expression.Value(now.UnixMilli()))
		err := f.Update(ctx, t.db, tables.ArchiveFixture, set, expression.Equal(expression.Name("liveUpdatedAt"), expression.Value(f.LiveUpdatedAt)))
		return false, dynamo.IgnoreRefused(err)
	}
	if now.Sub(time.UnixMilli(f.MissingSince)) < missing {
		return false, nil
	}
	if err := t.queue.Send(ctx, tables.FinishQueue, MatchLeft{MatchID: matchID, Since: now.Unix()}, 0); err != nil {
		return false, err
	}
	t.ingester.forget(matchID)
	return true, archive(ctx, t.db, f, f.LiveUpdatedAt, now)
}

// archive takes a match out of live-index, unless it was polled since.
func archive(ctx context.Context, db dynamo.DB, f match.Fixture, polled int64, now time.Time) error {
	set := expression.Set(expression.Name("archivedAt"), expression.Value(now.Unix())).
		Remove(expression.Name("liveUpdatedAt")).Remove(expression.Name("live"))
	err := f.Update(ctx, db, tables.ArchiveFixture, set, expression.Equal(expression.Name("liveUpdatedAt"), expression.Value(polled)))
	return dynamo.IgnoreRefused(err)
}
