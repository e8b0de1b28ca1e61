package live

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
	"matchday/pkg/spec"
)

// OpenTicker opens the service of tick.
func OpenTicker(ctx context.Context, env app.Env) (*Ticker, error) {
	provider, err := catalog.OpenProvider(ctx, env)
	if err != nil {
		return nil, err
	}

	db, q := dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues)

	return &Ticker{
		db:       db,
		queue:    q,
		provider: provider,
		leagues:  catalog.NewLeagues(db, env.Now),
		ingester: newIngester(env, db, q),
		Clock:    env.Clock,
	}, nil
}

// Ticker runs ticks: it polls the provider and ingests the matches.
type Ticker struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	leagues  *catalog.Leagues
	ingester *ingester
	app.Clock

	mu    sync.Mutex
	last  snapshot // of the poll before, so that an unchanged body is not split again
	fault string   // the kind of the provider's last fault; "" if the last request succeeded
}

// snapshot is the provider's answer to one poll: its hash, its entries, one for each match,
// and where in the body each begins and ends.
type snapshot struct {
	sum     uint64
	entries []sportmonks.Entry
	spans   [][2]int
}

// seed is the seed of the hashes of this process.
var seed = maphash.MakeSeed()

const (
	// matchesAtOnce is how many matches a tick ingests concurrently.
	matchesAtOnce = 16
	// archiveAfter is how long after the first poll without it a match is archived:
	// with the fourth such poll.
	archiveAfter = 3 * match.SlotLength
	// archiveAfterUnnamed replaces archiveAfter while the feed has an entry without an
	// id, which may be the missing match.
	archiveAfterUnnamed = 15 * time.Minute
)

// TickDone is the result of a tick.
type TickDone struct {
	Slot    int64  `json:"slot"`
	Skipped string `json:"skipped,omitempty"` // why nothing was polled: "late" or "claimed"
	Matches int    `json:"matches"`           // in the feed
	Changed int    `json:"changed"`           // of them, those ingested
}

// TickFunction polls the provider once and ingests every match that changed.
func TickFunction() app.Function {
	return app.Task(spec.Function{
		Name:   "cricket/tick",
		Does:   "Polls the provider once for all matches, stores the changes and queues their pushes.",
		IfDown: "No lock screen is updated. The first tick after the recovery catches up.",
		On:     spec.Task{},
		Uses: []spec.Access{
			tables.ClaimSlot, tables.AllLeagues, tables.GetFixture, tables.UpdateFixture, tables.ScanLive,
			tables.ArchiveFixture, tables.DeleteReplay,
			tables.BatchGetCached, tables.PutCached, tables.BatchGetProcessed, tables.PutProcessed, tables.GetHash,
			tables.PutHash, tables.PutDisplay, tables.PutCard, tables.UpdateSummary, tables.MarkSummary, tables.SeePlayers,
		},
		Sends:   []spec.Queue{tables.ActivityQueue, tables.TopicQueue, tables.AlertQueue, tables.FinishQueue},
		Secrets: []string{tables.SportMonksToken},
		Emits: []spec.Metric{tables.SlotsClaimed, tables.TickLag, tables.TickTime, tables.MatchesLive, tables.MatchesChanged,
			tables.MatchesFailed, tables.MatchesArchived, tables.ProviderFaults, tables.ChangesQueued, tables.MatchesStale},
		Memory: 512, Timeout: 8 * time.Second, Reserved: 10,
	}, OpenTicker, (*Ticker).Tick)
}

// Tick waits until the tick is due, polls the provider and ingests every match in
// the feed. A second run of a slot does nothing: the slot is claimed, or is over.
//
// An error of the provider, or of one match, is logged and counted. Of an answer that is
// cut short Tick ingests the matches that it has whole, and leaves the others to the next
// slot. Tick returns the errors of its own reads and writes.
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

	// before the request, so that a slot counts although the provider fails
	telemetry.Emit(ctx, start, []telemetry.Sample{telemetry.Count(tables.SlotsClaimed, 1)}, slog.Int64("slot", in.Slot))

	polled, err := t.poll(ctx)
	if t.logProviderFault(ctx, err); err != nil && len(polled.entries) == 0 {
		return done, nil
	}

	complete := err == nil

	inactive, err := t.leagues.Inactive(ctx)
	if err != nil {
		return done, err
	}

	done.Matches = len(polled.entries)

	var (
		changed, failed atomic.Int64
		g               errgroup.Group
	)
	g.SetLimit(matchesAtOnce)

	for _, e := range polled.entries {
		if inactive[e.League] {
			continue
		}

		g.Go(func() error {
			switch ingested, err := t.ingest(ctx, e, in.Slot, due); {
			case err != nil:
				failed.Add(1)
				slog.ErrorContext(ctx, "match failed", "match", e.ID, "slot", in.Slot, "err", err)
			case ingested:
				changed.Add(1)
			}

			return nil
		})
	}

	g.Wait()

	done.Changed = int(changed.Load())
	samples := []telemetry.Sample{telemetry.Count(tables.MatchesChanged, done.Changed),
		telemetry.Count(tables.MatchesFailed, int(failed.Load()))}

	if complete { // otherwise nobody knows which matches are missing
		t.remember(polled)

		var live, archived int

		live, archived, err = t.reconcile(ctx, polled, inactive)
		samples = append(samples, telemetry.Count(tables.MatchesLive, live), telemetry.Count(tables.MatchesArchived, archived))
	}

	samples = append(samples, telemetry.Millis(tables.TickLag, start.Sub(due)), telemetry.Millis(tables.TickTime, t.Now().Sub(start)))
	telemetry.Emit(ctx, t.Now(), samples, slog.Int64("slot", in.Slot))

	return done, err
}

// slotClaim is the row "tick" of cricket-locks: the newest claimed slot.
type slotClaim struct {
	Slot   int64  `dynamodbav:"slot"`
	Holder string `dynamodbav:"holder"`
}

// claim claims the slot. It returns false if that slot or a later one was claimed
// before.
func (t *Ticker) claim(ctx context.Context, slot int64) (bool, error) {
	set := dynamo.Set(slotClaim{Slot: slot, Holder: lock.Holder(ctx, "tick")}, "slot", "holder")
	free := dynamo.Absent[slotClaim]("slot").Or(dynamo.Less[slotClaim]("slot", slot))
	err := dynamo.Update(ctx, t.db, tables.ClaimSlot, dynamo.Key(tables.ClaimSlot, "tick"), set, free)

	return dynamo.Applied(err)
}

// poll requests all live matches. If the body equals that of the poll before it is not
// split again. With the error of a body that is cut short poll returns the matches that
// it has whole.
func (t *Ticker) poll(ctx context.Context) (snapshot, error) {
	body, err := t.provider.Livescores(ctx)
	if err != nil && len(body) == 0 {
		return snapshot{}, err
	}

	sum := maphash.Bytes(seed, body)

	t.mu.Lock()
	last := t.last
	t.mu.Unlock()

	if err == nil && len(last.entries) > 0 && last.sum == sum {
		entries := slices.Clone(last.entries)
		for n := range entries {
			entries[n].Raw = body[last.spans[n][0]:last.spans[n][1]]
		}

		return snapshot{sum: sum, entries: entries, spans: last.spans}, nil
	}

	entries, malformed := sportmonks.Split(body)

	spans := make([][2]int, len(entries))
	for n, e := range entries {
		spans[n] = [2]int{e.At, e.At + len(e.Raw)}
	}

	return snapshot{sum: sum, entries: entries, spans: spans}, cmp.Or(err, malformed)
}

// remember stores the snapshot for poll, without the body, which may be large.
func (t *Ticker) remember(s snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if len(t.last.entries) > 0 && t.last.sum == s.sum {
		return
	}

	for n := range s.entries {
		s.entries[n].Raw = nil
	}

	t.last = s
}

// logProviderFault counts err, the provider's, and logs it if the poll before had no
// error of that kind. It takes nil for a poll that succeeded.
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
		slog.WarnContext(ctx, "the provider failed; the stored state stands", "kind", kind, "err", err)
	}

	t.fault = kind
}

// ingest stores one match of the feed, and reports whether it was more than an
// unchanged payload.
func (t *Ticker) ingest(ctx context.Context, e sportmonks.Entry, slot int64, due time.Time) (ingested bool, err error) {
	if e.Err != nil {
		return false, e.Err
	}

	if marked, err := t.ingester.markUnchanged(ctx, e.ID, e.Sum, slot); marked || err != nil {
		return false, err
	}

	_, err = t.ingester.ingest(ctx, e.ID, lock.Holder(ctx, "tick"), payload{
		sum: e.Sum, decode: func() (sportmonks.Fixture, error) { return sportmonks.Decode(e.Raw) }, slot: slot, at: due,
	})
	switch {
	case errors.Is(err, errNothingToDo), errors.Is(err, lock.ErrHeld), dynamo.IsRefused(err):
		return false, nil // the match is not ours, or another worker ingests it
	}

	return err == nil, err
}

// reconcile archives the live matches that are missing from the feed, and those of
// inactive leagues, and deletes replays that have expired. It returns how many matches
// stay live, and how many do not.
func (t *Ticker) reconcile(ctx context.Context, polled snapshot, inactive map[string]bool) (live, archived int, err error) {
	pages := dynamo.Pages(func(start dynamo.Item) ([]match.Fixture, dynamo.Item, error) {
		return dynamo.Scan[match.Fixture](ctx, t.db, tables.ScanLive, nil, start, 0)
	})
	entry := func(id string) (e sportmonks.Entry, listed bool) {
		i := slices.IndexFunc(polled.entries, func(e sportmonks.Entry) bool { return e.ID == id })
		if i < 0 {
			return e, false
		}

		return polled.entries[i], true
	}

	grace := archiveAfter
	if _, unnamed := entry(""); unnamed {
		grace = archiveAfterUnnamed
	}

	for page, err := range pages {
		if err != nil {
			return live, archived, err
		}

		for _, f := range page {
			left, after := false, grace

			e, listed := entry(f.MatchID)
			if inactive[e.League] {
				listed, after = false, 0
			}

			if !listed {
				if left, err = t.archiveMissing(ctx, f.MatchID, after); err != nil {
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

// archiveMissing archives a match that is missing from the feed, and sends a MatchLeft, if the
// first poll without the match was at least after ago: at once for 0. It deletes a replay that has
// expired. It returns true if the match is no longer live.
//
// The message is sent first, so that a crash before the archiving does not lose it. A match that is
// archived after a second run has two messages, and ends once.
func (t *Ticker) archiveMissing(ctx context.Context, matchID string, after time.Duration) (bool, error) {
	f, ok, err := dynamo.Get[match.Fixture](ctx, t.db, tables.GetFixture, matchID)
	if err != nil || !ok {
		return false, err
	}

	if f.Live == "" {
		return false, nil // archived before: live-index may lag behind its table
	}

	now := t.Now()
	if f.IsReplay {
		if f.ReplayExpires > now.Unix() {
			return false, nil
		}

		expired := dynamo.Equal[match.Fixture]("isReplay", true).And(dynamo.AtMost[match.Fixture]("replayExpiresAt", now.Unix()))
		_, err := dynamo.Delete(ctx, t.db, tables.DeleteReplay, dynamo.Key(tables.DeleteReplay, matchID), expired)

		return dynamo.Applied(err)
	}

	if after > 0 && f.MissingSince < f.LiveUpdatedAt { // the first poll without it; those that failed do not count
		set := dynamo.Set(match.Fixture{MissingSince: now.UnixMilli()}, "missingSince")
		err := f.Update(ctx, t.db, tables.ArchiveFixture, set, dynamo.Equal[match.Fixture]("liveUpdatedAt", f.LiveUpdatedAt))

		return false, dynamo.IgnoreRefused(err)
	}

	if now.Sub(time.UnixMilli(f.MissingSince)) < after {
		return false, nil
	}

	if err := t.queue.Send(ctx, tables.FinishQueue, MatchLeft{MatchID: matchID, Since: now.Unix()}, 0); err != nil {
		return false, err
	}

	t.ingester.forget(matchID)

	return true, archive(ctx, t.db, f, now)
}

// archive removes f from live-index, unless it was polled after f was read. The summary comes first, so that
// a crash in between archives the match again.
func archive(ctx context.Context, db dynamo.DB, f match.Fixture, now time.Time) error {
	if err := match.SetLive(ctx, db, f, false); err != nil {
		return err
	}

	set := dynamo.Set(match.Fixture{ArchivedAt: now.Unix()}, "archivedAt").Remove("liveUpdatedAt", "live")
	err := f.Update(ctx, db, tables.ArchiveFixture, set, dynamo.Equal[match.Fixture]("liveUpdatedAt", f.LiveUpdatedAt))

	if dynamo.IsRefused(err) { // it is back
		return match.SetLive(ctx, db, f, true)
	}

	return err
}
