package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"matchday/infra/tools/cost/price"
)

// figures are all that was measured.
type figures struct {
	ticks  []tickCost
	young  tickCost // unchanged, of one match that has just begun
	parses []parseCost
	push   pushCosts
	pickem pickemCosts
	warm   []requestCost
	cold   []functionCost
}

// Targets.
const (
	tickTarget   = 500 * time.Millisecond // 50 matches with a ball in each
	pushTarget   = slot                   // 100,000 subscriptions
	linear       = 0.5                    // the cost of one among many v. among few may differ by so much from × 1
	unparsed     = 0.1                    // and the allocations of a tick that parses nothing, whatever the body
	flatness     = 0.1                    // and what a channel costs, whoever listens
	coldTimes    = 2                      // hello's cold start, and a margin
	coldMargin   = 5 * time.Millisecond
	binaryTarget = 12_000_000 // bytes, for arm64
)

// row is a line of the table, and what there is to add below it.
type row struct {
	what, time, cpu, allocs, calls, beside, target string
	met                                            bool // the target
	more                                           string
}

// cells are the row's columns.
func (r row) cells() [columns]string {
	verdict := ""
	if r.target != "" {
		verdict = "MISS"
		if r.met {
			verdict = "ok"
		}
	}
	return [columns]string{r.what, r.time, r.cpu, r.allocs, r.calls, r.beside, r.target, verdict}
}

const columns = 8

// write prints the rows in columns, numbers to the right.
func write(out io.Writer, rows []row) error {
	lines := [][columns]string{{"", "TIME", "OWN CPU", "ALLOCS", "I/O CALLS", "BESIDE", "TARGET", ""}}
	more := []string{""}
	for _, r := range rows {
		lines, more = append(lines, r.cells()), append(more, r.more)
	}
	var width [columns]int
	for _, cells := range lines {
		for i, c := range cells {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for n, cells := range lines {
		var b strings.Builder
		for i, c := range cells {
			w := width[i]
			if number := i >= 1 && i <= 4; !number {
				w = -w
			}
			fmt.Fprintf(&b, "%*s  ", w, c)
		}
		text := strings.TrimRight(b.String(), " ") + "\n"
		if more[n] != "" {
			text += "    " + more[n] + "\n"
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	return nil
}

func (f figures) rows() []row {
	return slices.Concat(tickRows(f.ticks, f.young), parseRows(f.parses), f.push.rows(), f.pickem.rows(), functionRows(f.warm, f.cold))
}

// of is a row with what it cost.
func of(what string, u usage, calls float64) row {
	return row{what: what, time: short(u.wall), cpu: short(u.cpu), allocs: grouped(float64(u.allocs)), calls: grouped(calls)}
}

// tickRows are the ticks without and with changes. young is an unchanged tick of
// one match that has few balls.
func tickRows(ticks []tickCost, young tickCost) (rows []row) {
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
			r := of(fmt.Sprintf("tick, %s, %s", counted(t.Matches, "match"), what), t.usage, t.sum()+t.SQS+t.Provider)
			r.beside = grouped(t.sum()/n) + " of DynamoDB a match"
			r.more = fmt.Sprintf("%s; %s SQS, %s provider; %s new connections; %.1f MB body; a call to the engine open %.0f %% of the time; fastest %s",
				t.counters, grouped(t.SQS), grouped(t.Provider), grouped(t.Connections), float64(t.body)/1e6, 100*t.engine, short(t.fastest))
			switch {
			case !changed:
				r.target = "≤ 1 read, 1 write each, + claim"
				reads := t.sum("GetItem", "BatchGetItem", "Query", "Scan")
				r.met = reads <= n && t.sum()-reads-1 <= n
			case t.Matches == 50:
				r.target, r.met = "≤ "+short(tickTarget), t.wall <= tickTarget
			}
			rows = append(rows, r)
		}
		if one := by[1]; !changed && one.Matches > 0 && young.Matches > 0 {
			rows = append(rows, flat(fmt.Sprintf("  its allocs, %.2f v. %.2f MB of body", float64(one.body)/1e6, float64(young.body)/1e6),
				float64(one.allocs)/float64(max(young.allocs, 1)), unparsed))
		}
		if ten, fifty := by[10], by[50]; ten.Matches > 0 && fifty.Matches > 0 {
			r := flat("  CPU of a match among 50 v. 10", share(fifty.cpu, ten.cpu)/5, linear)
			r.beside += fmt.Sprintf(", time × %.2f", share(fifty.wall, ten.wall)/5)
			rows = append(rows, r)
		}
	}
	return rows
}

// flat is a row of a ratio that should be 1, more or less.
func flat(what string, ratio, tolerance float64) row {
	return row{
		what: what, beside: fmt.Sprintf("× %.2f", ratio), target: fmt.Sprintf("× %.2f to %.2f", 1-tolerance, 1+tolerance),
		met: math.Abs(ratio-1) <= tolerance,
	}
}

func parseRows(parses []parseCost) (rows []row) {
	for _, p := range parses {
		r := row{what: p.what, time: short(p.time), allocs: grouped(float64(p.allocs))}
		if p.bytes > 0 {
			r.beside = fmt.Sprintf("%.1f MB; %.0f MB/s", float64(p.bytes)/1e6, float64(p.bytes)/1e6/p.time.Seconds())
		}
		rows = append(rows, r)
	}
	return rows
}

func (p pushCosts) rows() (rows []row) {
	for _, s := range p.sends {
		n := float64(s.tokens)
		each := func(client string, u usage) row {
			r := of(fmt.Sprintf("%s pushes by %s", grouped(n), client), u, n)
			r.beside = fmt.Sprintf("%s/s", grouped(math.Round(n/u.wall.Seconds())))
			r.more = fmt.Sprintf("fastest %s; a push: %s of CPU, %.1f allocs", short(u.fastest), short(u.cpu/time.Duration(s.tokens)), float64(u.allocs)/n)
			return r
		}
		ours := each("push.Sender", s.ours)
		if s.tokens == many {
			ours.target, ours.met = "≤ "+short(pushTarget), s.ours.wall <= pushTarget
		}
		ours.more += fmt.Sprintf("; %s of CPU by the simulated phones in all", short(s.apple))
		rows = append(rows, ours, each("apns2, 64 in flight", s.apns2), row{
			what: "  ours v. apns2", beside: fmt.Sprintf("rate × %.2f, CPU × %.2f", share(s.apns2.wall, s.ours.wall), share(s.ours.cpu, s.apns2.cpu)),
		})
	}
	if n := len(p.sends); n > 1 {
		a, b := p.sends[0], p.sends[n-1]
		rows = append(rows, flat(fmt.Sprintf("  CPU of a push among %s v. %s", grouped(float64(b.tokens)), grouped(float64(a.tokens))),
			share(b.ours.cpu, a.ours.cpu)*float64(a.tokens)/float64(b.tokens), linear))
	}
	for _, c := range p.pushers {
		r := of(fmt.Sprintf("%s subscriptions by the Pusher", grouped(float64(c.Subscriptions))), c.usage, c.sum()+c.SQS+c.Pushes)
		r.beside = fmt.Sprintf("%s/s", grouped(math.Round(float64(c.Subscriptions)/c.wall.Seconds())))
		r.more = fmt.Sprintf("%s; %s pushes; %s off the queue, %s onto it; a call to the engine open %.0f %% of the time; %s of CPU by the phones; fastest %s",
			c.counters, grouped(c.Pushes), counted(c.Messages, "message"), grouped(c.SQS), 100*c.engine, short(c.apple), short(c.fastest))
		if c.Subscriptions == many {
			r.target, r.met = "≤ "+short(pushTarget), c.wall <= pushTarget
		}
		rows = append(rows, r)
	}
	if n := len(p.pushers); n > 1 {
		a, b := p.pushers[0], p.pushers[n-1]
		rows = append(rows, flat(fmt.Sprintf("  CPU of one among %s v. %s", grouped(float64(b.Subscriptions)), grouped(float64(a.Subscriptions))),
			share(b.cpu, a.cpu)*float64(a.Subscriptions)/float64(b.Subscriptions), linear))
	}
	for _, c := range p.channels {
		r := of(fmt.Sprintf("channel push, %s", counted(c.Listeners, "listener")), c.usage, c.Pushes)
		r.beside = fmt.Sprintf("%s of CPU by the phones", short(c.apple))
		rows = append(rows, r)
	}
	if n := len(p.channels); n > 1 {
		a, b := p.channels[0], p.channels[n-1]
		rows = append(rows, flat(fmt.Sprintf("  its pushes and allocs, %s v. %s", grouped(float64(b.Listeners)), grouped(float64(a.Listeners))),
			(b.Pushes+float64(b.allocs))/(a.Pushes+float64(a.allocs)), flatness))
	}
	return rows
}

func (p pickemCosts) rows() (rows []row) {
	for _, u := range p.uses {
		if u.Members < p.uses[len(p.uses)-1].Members {
			continue // it is for what members cost
		}
		r := of("pick'em, "+counted(u.Members, "member")+", "+u.What, u.usage, u.sum())
		if health := p.uses[slices.IndexFunc(p.uses, func(o useCost) bool { return o.What == getHealth && o.Members == u.Members })]; u.What != getHealth {
			r.beside = fmt.Sprintf("× %.0f %s; %s", share(u.wall, health.wall), getHealth, units(u.capacity))
			r.more = fmt.Sprintf("%s; %.1f KB answer; fastest %s", u.counters, u.Answer/1e3, short(u.fastest))
		}
		if u.screen {
			r.target, r.met = "1 query", u.sum() == 1 && u.sum("Query") == 1
		}
		rows = append(rows, r)
	}
	for _, c := range p.scores {
		n := float64(c.Members)
		r := of("pick'em, "+counted(c.Members, "member")+", an event scored", c.usage, c.sum())
		r.beside = fmt.Sprintf("%s/s; %s: $%.4f", grouped(math.Round(n/c.wall.Seconds())), units(c.capacity), c.dollars(price.Listed()))
		r.more = fmt.Sprintf("%s; a member: %s of CPU, %.0f allocs; a call to the engine open %.0f %% of the time; fastest %s",
			c.counters, short(c.cpu/time.Duration(c.Members)), float64(c.allocs)/n, 100*c.engine, short(c.fastest))
		r.target, r.met = "1 read, 1 write each, + ≤ 30", c.sum("TransactWriteItems") == n && c.sum()-2*n <= 30
		rows = append(rows, r)
	}
	if n := len(p.scores); n > 1 {
		a, b := p.scores[0], p.scores[n-1]
		rows = append(rows, flat(fmt.Sprintf("  CPU of one among %s v. %s", grouped(float64(b.Members)), grouped(float64(a.Members))),
			share(b.cpu, a.cpu)*float64(a.Members)/float64(b.Members), linear))
	}
	return rows
}

// units are what DynamoDB bills.
func units(c capacity) string {
	var parts []string
	if c.Reads > 0 {
		parts = append(parts, grouped(c.Reads)+" read units")
	}
	if c.Writes > 0 {
		parts = append(parts, grouped(c.Writes)+" write units")
	}
	return strings.Join(parts, ", ")
}

func functionRows(warm []requestCost, cold []functionCost) (rows []row) {
	for i, w := range warm {
		r := row{what: "HTTP request, " + w.what, time: short(w.p50)}
		if i > 0 {
			r.beside = fmt.Sprintf("× %.2f %s", share(w.p50, warm[0].p50), warm[0].what)
		}
		rows = append(rows, r)
	}
	for i, c := range cold {
		r := row{what: "cold start, " + c.name, time: short(c.cold)}
		if i > 0 {
			limit := coldTimes*cold[0].cold + coldMargin
			r.beside = fmt.Sprintf("× %.2f %s", share(c.cold, cold[0].cold), cold[0].name)
			r.target, r.met = "≤ "+short(limit), c.cold <= limit
		}
		rows = append(rows, r)
	}
	for i, c := range cold {
		r := row{what: "binary for arm64, " + c.name, beside: fmt.Sprintf("%.1f MB", float64(c.bytes)/1e6)}
		if i > 0 {
			r.beside += fmt.Sprintf(", × %.2f %s", float64(c.bytes)/float64(max(cold[0].bytes, 1)), cold[0].name)
			r.target, r.met = fmt.Sprintf("≤ %d MB", binaryTarget/1_000_000), c.bytes > 0 && c.bytes <= binaryTarget
		}
		rows = append(rows, r)
	}
	return rows
}

func share(part, whole time.Duration) float64 { return float64(part) / float64(max(whole, 1)) }

// short is a duration in three digits.
func short(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// grouped is a number as a person reads it: 12,345, or 1.25 when it is small
// and no whole one.
func grouped(n float64) string {
	if n < 1000 && n != math.Trunc(n) {
		return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
	}
	text := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func counted(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "h"):
		noun += "es"
	default:
		noun += "s"
	}
	return grouped(float64(n)) + " " + noun
}

// String lists the calls of DynamoDB, the most frequent first.
func (c counters) String() string {
	names := slices.SortedFunc(maps.Keys(c.Dynamo), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Dynamo[b], c.Dynamo[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = grouped(c.Dynamo[name]) + " " + name
	}
	return strings.Join(parts, " + ")
}
