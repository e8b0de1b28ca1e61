package bench

import (
	"fmt"
	"time"

	"matchday/infra/tools/bench/measure"
)

// Targets.
const (
	tickTarget  = 500 * time.Millisecond // 50 matches with a ball in each
	manyTarget  = time.Second            // 100 of them
	matchCalls  = 8                      // of DynamoDB, for a match with a ball
	pushTarget  = slot                   // 100,000 subscriptions
	pushCPU     = 4400 * time.Nanosecond // of a push among 100,000, where the server is fast
	readCPU     = 8 * time.Microsecond   // of a subscription among 100,000, read and pushed to
	readAllocs  = 4                      // of it
	callsOfTick = 2                      // the claim, and the scan of live-index
	leagueScans = 0.1                    // of a tick, at most: the inactive leagues are read once a minute
	unparsed    = 0.1                    // by how much the allocations of a tick that parses nothing may depend on the body
	flatness    = 0.1                    // by how much the cost of a broadcast may depend on the listeners
)

// tickRows are the ticks without and with changes. young is an unchanged tick of
// one match that has few balls.
func tickRows(ticks []tickCost, young tickCost) (rows []measure.Row) {
	for _, changed := range []bool{false, true} {
		by := map[int]tickCost{}

		for _, t := range ticks {
			if t.Changed != changed {
				continue
			}

			by[t.Matches] = t
			n := float64(t.Matches)

			what := "unchanged"
			if changed {
				what = "a ball in each"
			}

			r := measure.RowOf(fmt.Sprintf("tick, %s, %s", measure.Counted(t.Matches, "match"), what), t.Usage, t.Sum()+t.SQS+t.Provider)
			r.Compared = fmt.Sprintf("%s of DynamoDB a match, %s", measure.Grouped(t.Sum()/n),
				measure.Capacity{Reads: t.Reads / n, Writes: t.Writes / n})
			r.Details = fmt.Sprintf("%s; %s SQS, %s provider; %s new connections; %.1f MB body; a call to the engine open %.0f %% of the time; "+
				"fastest %s",
				t.Counters, measure.Grouped(t.SQS), measure.Grouped(t.Provider), measure.Grouped(t.Connections), float64(t.body)/1e6,
				100*t.engine, measure.Short(t.Fastest))

			switch {
			case !changed:
				r.Target = "≤ 1 read, 1 write each, + claim, + leagues"
				reads := t.Sum("GetItem", "BatchGetItem", "Query", "Scan")
				r.Met = reads <= n+leagueScans && t.Sum()-reads-1 <= n
			default:
				r.Target = fmt.Sprintf("≤ %d calls a match, + %d a tick", matchCalls, callsOfTick)

				r.Met = t.Sum()-callsOfTick-leagueScans <= matchCalls*n
				if limit := map[int]time.Duration{50: tickTarget, 100: manyTarget}[t.Matches]; limit > 0 {
					r.Target, r.Met = r.Target+", "+measure.Short(limit), r.Met && t.Wall <= limit
				}
			}

			rows = append(rows, r)
		}

		if one := by[1]; !changed && one.Matches > 0 && young.Matches > 0 {
			rows = append(rows, measure.RatioRow(fmt.Sprintf("  its allocs, %.2f v. %.2f MB of body",
				float64(one.body)/1e6, float64(young.body)/1e6),
				float64(one.Allocs)/float64(max(young.Allocs, 1)), unparsed))
		}

		if ten, fifty := by[10], by[50]; ten.Matches > 0 && fifty.Matches > 0 {
			r := measure.RatioRow("  CPU of a match among 50 v. 10", measure.Share(fifty.CPU, ten.CPU)/5, measure.Linear)
			r.Compared += fmt.Sprintf(", time × %.2f", measure.Share(fifty.Wall, ten.Wall)/5)
			rows = append(rows, r)
		}
	}

	return rows
}

func parseRows(parses []parseCost) (rows []measure.Row) {
	for _, p := range parses {
		r := measure.Row{Name: p.name, Time: measure.Short(p.time), Allocs: measure.Grouped(float64(p.allocs))}
		if p.bytes > 0 {
			r.Compared = fmt.Sprintf("%.1f MB; %.0f MB/s", float64(p.bytes)/1e6, float64(p.bytes)/1e6/p.time.Seconds())
		}

		rows = append(rows, r)
	}

	return rows
}

func (p pushCosts) rows() (rows []measure.Row) {
	for _, s := range p.sends {
		n := float64(s.tokens)
		each := func(client string, u measure.Usage) measure.Row {
			r := measure.RowOf(fmt.Sprintf("%s pushes by %s", measure.Grouped(n), client), u, n)
			r.Compared = measure.Rate(n, u.Wall)
			r.Details = fmt.Sprintf("fastest %s; a push: %.1f µs of CPU, %.1f allocs, %.0f bytes on the wire", measure.Short(u.Fastest),
				u.CPU.Seconds()*1e6/n, float64(u.Allocs)/n, float64(u.Wire)/n)

			return r
		}

		ours := each("push.Sender", s.ours)
		if s.tokens == many {
			ours.Target, ours.Met = "≤ "+measure.Short(pushTarget), s.ours.Wall <= pushTarget
		}

		ours.Details += fmt.Sprintf("; %s of CPU by the simulated phones in all", measure.Short(s.apnsCPU))
		rows = append(rows, ours, each("apns2, 64 in flight", s.apns2), measure.Row{
			Name: "  ours v. apns2",
			Compared: fmt.Sprintf("rate × %.2f, CPU × %.2f, bytes × %.2f", measure.Share(s.apns2.Wall, s.ours.Wall),
				measure.Share(s.ours.CPU, s.apns2.CPU), float64(s.ours.Wire)/float64(max(s.apns2.Wire, 1))),
		})
	}

	if n := float64(many); p.sink.Wall > 0 {
		r := measure.RowOf(measure.Grouped(n)+" pushes, accepted at once", p.sink, n)
		r.Compared = measure.Rate(n, p.sink.Wall)
		r.Details = fmt.Sprintf("by push.Sender; a push: %.1f µs of CPU, %.1f allocs", p.sink.CPU.Seconds()*1e6/n, float64(p.sink.Allocs)/n)
		r.Target = fmt.Sprintf("≤ %.1f µs of CPU, 1 alloc each", pushCPU.Seconds()*1e6)
		r.Met = p.sink.CPU <= many*pushCPU && p.sink.Allocs < many
		rows = append(rows, r)
	}

	rows = append(rows, p.android.rows()...)

	if n := len(p.sends); n > 1 {
		a, b := p.sends[0], p.sends[n-1]
		rows = append(rows, measure.RatioRow(fmt.Sprintf("  CPU of a push among %s v. %s", measure.Grouped(float64(b.tokens)),
			measure.Grouped(float64(a.tokens))),
			measure.Share(b.ours.CPU, a.ours.CPU)*float64(a.tokens)/float64(b.tokens), measure.Linear))
	}

	for _, c := range p.pushers {
		n := float64(c.Subscriptions)
		r := measure.RowOf(fmt.Sprintf("%s subscriptions by the Pusher", measure.Grouped(n)), c.Usage, c.Sum()+c.SQS+c.Pushes)
		r.Compared = measure.Rate(n, c.Wall)

		r.Details = fmt.Sprintf("a subscription: %.1f µs of CPU, %.1f allocs, %.4f I/O calls beside its push; %s; %s pushes; %s off the queue, "+
			"%s onto it; the CPU is ours with the simulated SQS, without the engine and the phones; a call to the engine open %.0f %% of the "+
			"time; %s of CPU by the phones; fastest %s",
			c.CPU.Seconds()*1e6/n, float64(c.Allocs)/n, (c.Sum()+c.SQS)/n, c.Counters, measure.Grouped(c.Pushes),
			measure.Counted(c.Messages, "message"), measure.Grouped(c.SQS), 100*c.engine, measure.Short(c.apnsCPU), measure.Short(c.Fastest))
		if c.Subscriptions == many {
			r.Target = fmt.Sprintf("≤ %s, %.0f µs of CPU, %d allocs each", measure.Short(pushTarget), readCPU.Seconds()*1e6, readAllocs)
			r.Met = c.Wall <= pushTarget && c.CPU <= many*readCPU && c.Allocs <= many*readAllocs
		}

		rows = append(rows, r)
	}

	if n := len(p.pushers); n > 1 {
		a, b := p.pushers[0], p.pushers[n-1]
		rows = append(rows, measure.RatioRow(fmt.Sprintf("  CPU of one among %s v. %s", measure.Grouped(float64(b.Subscriptions)),
			measure.Grouped(float64(a.Subscriptions))),
			measure.Share(b.CPU, a.CPU)*float64(a.Subscriptions)/float64(b.Subscriptions), measure.Linear))
	}

	for _, c := range p.channels {
		r := measure.RowOf(fmt.Sprintf("channel push, %s", measure.Counted(c.Listeners, "listener")), c.Usage, c.Pushes)
		r.Compared = fmt.Sprintf("%s of CPU by the phones", measure.Short(c.apnsCPU))
		rows = append(rows, r)
	}

	if n := len(p.channels); n > 1 {
		a, b := p.channels[0], p.channels[n-1]
		rows = append(rows, measure.RatioRow(fmt.Sprintf("  its pushes and allocs, %s v. %s", measure.Grouped(float64(b.Listeners)),
			measure.Grouped(float64(a.Listeners))),
			(b.Pushes+float64(b.Allocs))/(a.Pushes+float64(a.Allocs)), flatness))
	}

	return rows
}
