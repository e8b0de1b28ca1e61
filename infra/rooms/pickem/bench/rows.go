package bench

import (
	"fmt"
	"slices"
	"time"

	"matchday/infra/tools/bench/measure"
	"matchday/infra/tools/cost/price"
)

// memberCPU is the target of the own CPU of the scoring of a member.
const memberCPU = 300 * time.Microsecond

func (f figures) rows() (rows []measure.Row) {
	for _, u := range f.uses {
		if u.Members < f.uses[len(f.uses)-1].Members && !u.ranked {
			continue // it is measured for the cost of a member
		}

		health := f.uses[slices.IndexFunc(f.uses, func(o useCost) bool { return o.What == getHealth && o.Members == u.Members })]

		r := u.Row("pick'em, "+measure.Counted(u.Members, "member")+", ", health.Cost)
		if u.ranked {
			r.Target, r.Met = "≤ 4 read units", u.Reads <= 4
		}

		rows = append(rows, r)
	}

	for _, c := range f.scores {
		n := float64(c.Members)
		r := measure.RowOf("pick'em, "+measure.Counted(c.Members, "member")+", an event scored", c.Usage, c.Sum())
		r.Compared = fmt.Sprintf("%s; %s: $%.4f", measure.Rate(n, c.Wall), c.Capacity, c.dollars(price.Listed()))
		r.Details = fmt.Sprintf("%s; a member: %s of CPU, %.0f allocs; a call to the engine open %.0f %% of the time; fastest %s",
			c.Counters, measure.Short(c.CPU/time.Duration(c.Members)), float64(c.Allocs)/n, 100*c.engine, measure.Short(c.Fastest))
		_, most := transactions(c.Members)
		calls := 2*float64(most) + 50 + 7*n/50
		r.Target, r.Met = "1 read, 1 write per 33, + ≤ 50, + ≤ 7 per 50", c.Sum() <= calls
		rows = append(rows, r, measure.Row{
			Name: "  CPU of a member", CPU: measure.Short(c.CPU / time.Duration(c.Members)), Target: "≤ " + measure.Short(memberCPU),
			Met: c.CPU <= memberCPU*time.Duration(c.Members), Compared: "a bare UpdateItem takes some 280µs here",
		})
	}

	if n := len(f.scores); n > 1 {
		a, b := f.scores[0], f.scores[n-1]
		rows = append(rows, measure.RatioRow(fmt.Sprintf("  CPU of one among %s v. %s", measure.Grouped(float64(b.Members)),
			measure.Grouped(float64(a.Members))),
			measure.Share(b.CPU, a.CPU)*float64(a.Members)/float64(b.Members), measure.Linear))
	}

	return rows
}
