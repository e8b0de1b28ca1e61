package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"matchday/infra/rooms/cricket/audience"
	"matchday/infra/sim/clock"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket/live"
	"matchday/pkg/kit/telemetry"
)

// delayCost is how long a ball takes to Apple, in each of so many matches with so many
// followers each: from the time at which its slot is due to Apple's acceptance of a push.
// It is the metric PushDelay.
type delayCost struct {
	matches, followers int
	pushes             int
	p50, p99           time.Duration
	provider           time.Duration // of them, the work of the simulated provider in each slot
}

// delays collects the delays that functions log. It is what the default logger writes to.
type delays struct {
	match string // only those of this match; "" for all

	mu     sync.Mutex
	pushes int
	values []float64 // ms
}

func (d *delays) Write(line []byte) (int, error) {
	if !bytes.Contains(line, []byte(`"PushDelay"`)) {
		return len(line), nil
	}

	var in struct {
		PushDelay       []float64
		PushesDelivered int
		Match           string
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return 0, err
	}

	if d.match != "" && in.Match != d.match {
		return len(line), nil
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	d.pushes += in.PushesDelivered
	d.values = append(d.values, in.PushDelay...)

	return len(line), nil
}

// quantile returns the delay that a share of the pushes does not exceed.
func (d *delays) quantile(share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d.values))
	return time.Duration(sorted[min(int(share*float64(len(sorted))), len(sorted)-1)] * float64(time.Millisecond))
}

// benchDelay measures so many slots in real time: in each, every match has a ball, and
// each of its followers an activity with a push token. The next slot begins when all are
// pushed to.
func benchDelay(ctx context.Context, apns *measure.APNs, matches, followers, slots int) (cost delayCost, err error) {
	dir, err := os.MkdirTemp("", "matchday-bench-")
	if err != nil {
		return cost, err
	}
	defer os.RemoveAll(dir)

	settings, err := apns.Settings(dir)
	if err != nil {
		return cost, err
	}

	w, err := newWorld(ctx, clock.New(time.Now(), 1))
	if err != nil {
		return cost, err
	}
	defer w.Close()

	maps.Copy(w.Settings, settings)

	playing, err := w.play(ctx, matches, played)
	if err != nil {
		return cost, err
	}

	tokens := measure.PushTokens(matches * followers)

	for i, m := range playing {
		teams := []string{strconv.FormatInt(m.Local.ID, 10), strconv.FormatInt(m.Visitor.ID, 10), ""}
		if err := w.subscribe(ctx, strconv.FormatInt(m.ID, 10), teams, tokens[i*followers:][:followers]); err != nil {
			return cost, err
		}
	}

	ticker, err := live.OpenTicker(ctx, w.Env())
	if err != nil {
		return cost, err
	}

	if err := w.pollPushes(ctx); err != nil {
		return cost, err
	}

	var seen delays

	before := slog.Default()
	defer slog.SetDefault(before)

	slog.SetDefault(telemetry.Logger(io.Discard, "bench", "bench"))
	w.Reset()

	for n := range slots + 1 { // the first writes everything, and connects
		if n == 1 {
			slog.SetDefault(telemetry.Logger(&seen, "bench", "bench"))
			w.Reset()
		}

		if _, err := w.tick(ctx, ticker); err != nil {
			return cost, err
		}

		for {
			if left, _ := w.pushDepth(); left == 0 {
				break
			}

			if err := w.Clock.Sleep(ctx, w.Clock.Now().Add(5*time.Millisecond)); err != nil {
				return cost, err
			}
		}
	}

	seen.mu.Lock()
	defer seen.mu.Unlock()

	if want := matches * followers * slots; seen.pushes < want/2 { // a few frames change no display
		return cost, fmt.Errorf("%d pushes in %d slots, want about %d", seen.pushes, slots, want)
	}

	return delayCost{
		matches: matches, followers: followers, pushes: seen.pushes, p50: seen.quantile(0.5), p99: seen.quantile(0.99),
		provider: w.Provider.Spent().Wall / time.Duration(slots),
	}, nil
}

// besideCost is how long a ball of a match takes to Apple while the parts of another match, with
// so many tokens, are pushed.
type besideCost struct {
	tokens, waiting int // waiting: parts of the other match, when there were most
	delayCost
}

const (
	million      = 1_000_000
	delayTarget  = time.Second
	besideTarget = time.Second
)

// benchBeside measures so many slots in real time: in each, a match with many tokens and a match
// with few have a ball. The next slot begins when the second is pushed to; the parts of the first
// wait, as they do where a change comes before the last is pushed to all. One pusher takes parts:
// in the cloud each has a processor of its own, and here it shares the two of the machine.
func benchBeside(ctx context.Context, apns *measure.APNs, tokens, slots int) (cost besideCost, err error) {
	dir, err := os.MkdirTemp("", "matchday-bench-")
	if err != nil {
		return cost, err
	}
	defer os.RemoveAll(dir)

	settings, err := apns.Settings(dir)
	if err != nil {
		return cost, err
	}

	w, err := newWorld(ctx, clock.New(time.Now(), 1))
	if err != nil {
		return cost, err
	}
	defer w.Close()

	maps.Copy(w.Settings, settings)

	playing, err := w.play(ctx, 2, played)
	if err != nil {
		return cost, err
	}

	large, small := playing[0], playing[1]
	seen := delays{match: strconv.FormatInt(small.ID, 10)}

	teams := []string{strconv.FormatInt(small.Local.ID, 10), strconv.FormatInt(small.Visitor.ID, 10), ""}
	if err := w.subscribe(ctx, seen.match, teams, measure.PushTokens(few)); err != nil {
		return cost, err
	}

	ticker, err := live.OpenTicker(ctx, w.Env())
	if err != nil {
		return cost, err
	}

	env := w.Env()
	env.AWS.HTTPClient = audience.Audience{
		Next: env.AWS.HTTPClient, MatchID: strconv.FormatInt(large.ID, 10), N: tokens, Expires: time.Now().Add(time.Hour).Unix(),
	}

	if err := w.pollWith(ctx, env, 1); err != nil {
		return cost, err
	}

	before := slog.Default()
	defer slog.SetDefault(before)

	slog.SetDefault(telemetry.Logger(io.Discard, "bench", "bench"))

	for n := range slots + 1 { // the first writes everything, and connects
		if n == 1 {
			slog.SetDefault(telemetry.Logger(&seen, "bench", "bench"))
			w.Reset()
		}

		if _, err := w.tick(ctx, ticker); err != nil {
			return cost, err
		}

		for {
			cost.waiting = max(cost.waiting, w.Queues.Depth(partQueue).Visible)

			if d := w.Queues.Depth(pushQueue); d.Visible+d.Delayed+d.InFlight == 0 {
				break
			}

			if err := w.Clock.Sleep(ctx, w.Clock.Now().Add(5*time.Millisecond)); err != nil {
				return cost, err
			}
		}
	}

	slog.SetDefault(telemetry.Logger(io.Discard, "bench", "bench"))
	seen.mu.Lock()
	defer seen.mu.Unlock()

	if seen.pushes < few*slots/2 || cost.waiting == 0 { // a few frames change no display
		return cost, fmt.Errorf("%d pushes in %d slots, and %d parts of the other match, want about %d, and some", seen.pushes, slots,
			cost.waiting, few*slots)
	}

	cost.tokens = tokens
	cost.delayCost = delayCost{matches: 1, followers: few, pushes: seen.pushes, p50: seen.quantile(0.5), p99: seen.quantile(0.99)}

	return cost, nil
}

// row is the row of a ball beside a match with many tokens.
func (c besideCost) row() measure.Row {
	return measure.Row{
		Name: fmt.Sprintf("ball to Apple beside %s tokens of another match", measure.Grouped(float64(c.tokens))),
		Time: measure.Short(c.p50), Compared: "p99 " + measure.Short(c.p99), Target: "p99 ≤ " + measure.Short(besideTarget),
		Met: c.p99 <= besideTarget,
		Details: fmt.Sprintf("from the slot's due time to Apple's acceptance; %s pushes; up to %s of the other match waited in their own queue",
			measure.Grouped(float64(c.pushes)), measure.Counted(c.waiting, "part")),
	}
}

// benchDelays measures the delays of 10 and of 50 matches with 1,000 followers each, and of a
// match beside one with a million tokens.
func benchDelays(ctx context.Context) (all []delayCost, beside besideCost, err error) {
	apns, err := measure.StartAPNs()
	if err != nil {
		return nil, beside, err
	}
	defer apns.Close()

	for _, matches := range []int{10, 50} {
		measure.Say("a ball to the followers of %s", measure.Counted(matches, "match"))

		cost, err := benchDelay(ctx, apns, matches, few, 8)
		if err != nil {
			return nil, beside, fmt.Errorf("%d matches: %w", matches, err)
		}

		all = append(all, cost)
	}

	measure.Say("a ball beside a match with %d tokens", million)

	beside, err = benchBeside(ctx, apns, million, 8)

	return all, beside, err
}

// delayRows are the delays.
func delayRows(delays []delayCost) (rows []measure.Row) {
	for _, d := range delays {
		rows = append(rows, measure.Row{
			Name: fmt.Sprintf("ball to Apple, %s of %s", measure.Counted(d.matches, "match"), measure.Counted(d.followers, "follower")),
			Time: measure.Short(d.p50), Compared: "p99 " + measure.Short(d.p99), Target: "p99 ≤ " + measure.Short(delayTarget),
			Met: d.p99 <= delayTarget,
			Details: fmt.Sprintf("from the slot's due time to Apple's acceptance; %s pushes; the simulated provider works %s of each slot",
				measure.Grouped(float64(d.pushes)), measure.Short(d.provider)),
		})
	}

	return rows
}
