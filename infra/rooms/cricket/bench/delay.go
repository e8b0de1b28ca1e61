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
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return 0, err
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
			if d := w.Queues.Depth(pushQueue); d.Visible+d.Delayed+d.InFlight == 0 {
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

// benchDelays measures the delays of 10 and of 50 matches with 1,000 followers each.
func benchDelays(ctx context.Context) (all []delayCost, err error) {
	apns, err := measure.StartAPNs()
	if err != nil {
		return nil, err
	}
	defer apns.Close()

	for _, matches := range []int{10, 50} {
		measure.Say("a ball to the followers of %s", measure.Counted(matches, "match"))

		cost, err := benchDelay(ctx, apns, matches, few, 8)
		if err != nil {
			return nil, fmt.Errorf("%d matches: %w", matches, err)
		}

		all = append(all, cost)
	}

	return all, nil
}

// delayRows are the delays. A ball must be with Apple before the next slot.
func delayRows(delays []delayCost) (rows []measure.Row) {
	for _, d := range delays {
		rows = append(rows, measure.Row{
			Name: fmt.Sprintf("ball to Apple, %s of %s", measure.Counted(d.matches, "match"), measure.Counted(d.followers, "follower")),
			Time: measure.Short(d.p50), Compared: "p99 " + measure.Short(d.p99), Target: "p99 ≤ " + measure.Short(slot), Met: d.p99 <= slot,
			Details: fmt.Sprintf("from the slot's due time to Apple's acceptance; %s pushes; the simulated provider works %s of each slot",
				measure.Grouped(float64(d.pushes)), measure.Short(d.provider)),
		})
	}

	return rows
}
