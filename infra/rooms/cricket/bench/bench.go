// Package bench measures the cricket room: the ticks of the live loop, parsing,
// pushes, and the functions that a user waits for.
package bench

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/kit/app"
)

// Suite is the room's part of the benchmark.
var Suite = measure.Suite{
	Run:      run,
	Binaries: []app.Function{live.TickFunction(), activity.PushActivitiesFunction(), match.GetMatchFunction()},
	Prepare:  prepare,
}

// slot is the time between two polls of the provider.
const slot = 2500 * time.Millisecond

const (
	providerURL   = "http://provider/api/v2.0"
	providerToken = "provider-token"
)

// How many frames (a ball or an event each) old matches are when they are first
// polled. Every generated T20 has over 150.
const (
	played    = 120
	justBegun = 5
)

// figures are all that is measured.
type figures struct {
	ticks  []tickCost
	young  tickCost // unchanged, of one match that has just begun
	parses []parseCost
	push   pushCosts
	alerts []alertCost
	delays []delayCost
	beside besideCost
	google androidDelay
	uses   []useCost
}

func run(ctx context.Context) ([]measure.Row, any, error) {
	var f figures

	for _, c := range []struct{ matches, rounds int }{{1, 25}, {10, 15}, {50, 9}, {100, 5}} {
		measure.Say("ticks of %s", measure.Counted(c.matches, "match"))

		costs, err := benchTick(ctx, c.matches, played, c.rounds)
		if err != nil {
			return nil, nil, fmt.Errorf("ticks of %d matches: %w", c.matches, err)
		}

		f.ticks = append(f.ticks, costs...)
	}

	young, err := benchTick(ctx, 1, justBegun, 25)
	if err != nil {
		return nil, nil, fmt.Errorf("ticks of a match that has begun: %w", err)
	}

	f.young = young[0]

	for _, format := range []cricsheet.Format{cricsheet.T20, cricsheet.Test} {
		measure.Say("parsing a %s", format)

		costs, err := benchParse(ctx, format)
		if err != nil {
			return nil, nil, fmt.Errorf("parsing a %s: %w", format, err)
		}

		f.parses = append(f.parses, costs...)
	}

	if f.push, err = benchPush(ctx); err != nil {
		return nil, nil, fmt.Errorf("pushes: %w", err)
	}

	if f.alerts, err = benchAlerts(ctx); err != nil {
		return nil, nil, fmt.Errorf("alerts: %w", err)
	}

	if f.delays, f.beside, err = benchDelays(ctx); err != nil {
		return nil, nil, fmt.Errorf("delays of pushes: %w", err)
	}

	measure.Say("a ball to %d Android phones", many)

	if f.google, err = benchAndroidDelay(ctx, many, 4); err != nil {
		return nil, nil, fmt.Errorf("delays of topics: %w", err)
	}

	if f.uses, err = benchUsers(ctx); err != nil {
		return nil, nil, fmt.Errorf("requests of users: %w", err)
	}

	return f.rows(), map[string]any{"tick": f.ticks, "push": f.push.pushers, "channel": f.push.channels, "uses": f.uses}, nil
}

func (f figures) rows() []measure.Row {
	return slices.Concat(tickRows(f.ticks, f.young), parseRows(f.parses), f.push.rows(), alertRows(f.alerts), delayRows(f.delays),
		[]measure.Row{f.beside.row(), f.google.row()}, useRows(f.uses))
}

// prepare returns a world with one live match, which has been polled once.
func prepare(ctx context.Context) (*measure.Prepared, error) {
	dir, err := os.MkdirTemp("", "matchday-bench-")
	if err != nil {
		return nil, err
	}

	apns, err := measure.StartAPNs() // for its key and its certificate
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	defer apns.Close()

	w, match, err := liveMatch(ctx, apns, dir, time.Now())
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}

	return &measure.Prepared{
		World: w.World, Close: func() { w.Close(); os.RemoveAll(dir) },
		Requests: []measure.Request{
			{Name: "get-match, refused: no I/O", Path: "/matches/none", Status: http.StatusUnprocessableEntity},
			{Name: "get-match, a live T20", Path: "/matches/" + strconv.FormatInt(match.ID, 10), Status: http.StatusOK},
		},
	}, nil
}

// world is a world with a simulated SportMonks.
type world struct {
	*measure.World
	feed *sportmonks.Server
}

// newWorld returns a world whose tables, queues and feed are empty.
func newWorld(ctx context.Context, c *clock.Clock) (*world, error) {
	base, err := measure.NewWorld(ctx, cricket.Room().Spec, c)
	if err != nil {
		return nil, err
	}

	w := &world{base, sportmonks.New(base.Clock, providerToken)}
	w.Provider = &measure.Provider{Handler: w.feed}
	w.Settings["SPORTMONKS_URL"], w.Settings["SPORTMONKS_TOKEN"] = providerURL, providerToken

	return w, nil
}

// liveMatch returns a world with one live match that has been polled once, and
// whose functions push to the push service. dir gets its certificate.
func liveMatch(ctx context.Context, apns *measure.APNs, dir string, now time.Time) (*world, *script.Match, error) {
	settings, err := apns.Settings(dir)
	if err != nil {
		return nil, nil, err
	}

	w, err := newWorld(ctx, clock.New(now, clock.Free))
	if err != nil {
		return nil, nil, err
	}

	maps.Copy(w.Settings, settings)

	match, err := w.playOne(ctx)
	if err != nil {
		w.Close()
		return nil, nil, err
	}

	return w, match, nil
}

// playOne adds one match and polls it once.
func (w *world) playOne(ctx context.Context) (*script.Match, error) {
	matches, err := w.play(ctx, 1, played)
	if err != nil {
		return nil, err
	}

	ticker, err := live.OpenTicker(ctx, w.Env())
	if err != nil {
		return nil, err
	}

	_, err = w.tick(ctx, ticker)

	return matches[0], err
}

// play adds n T20 matches to the feed and to the tables. They began so many frames
// ago, and each has one more in the middle of every slot.
func (w *world) play(ctx context.Context, n, frames int) ([]*script.Match, error) {
	matches := make([]*script.Match, n)
	start := w.Clock.Now().Truncate(slot).Add(-time.Duration(frames)*slot - slot/2)

	for i := range matches {
		matches[i] = script.Generate(int64(i+1), cricsheet.T20)
		w.feed.Play(matches[i], start, sportmonks.Pace{Every: slot})
	}

	syncer, err := catalog.OpenSyncer(ctx, w.Env())
	if err != nil {
		return nil, err
	}

	if err := syncer.SyncLeagues(ctx); err != nil {
		return nil, err
	}

	fixtures, err := schedule.OpenSyncer(ctx, w.Env())
	if err != nil {
		return nil, err
	}

	return matches, fixtures.SyncFixtures(ctx)
}

// tick runs the tick of the next slot and returns how many matches changed.
func (w *world) tick(ctx context.Context, t *live.Ticker) (changed int, err error) {
	for {
		due := w.Clock.Now().Truncate(slot).Add(slot)

		done, err := t.Tick(ctx, live.Tick{Slot: due.UnixMilli() / slot.Milliseconds(), Due: due.UnixMilli()})
		switch {
		case err == nil && done.Skipped == "late": // the machine did something else for a slot
			continue
		case err == nil && done.Skipped != "":
			err = fmt.Errorf("the tick was skipped: %s", done.Skipped)
		}

		return done.Changed, err
	}
}
