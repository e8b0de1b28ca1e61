package bench

import (
	"fmt"
	"slices"

	"matchday/infra/tools/bench/measure"
)

func rows(all []useCost) (rows []measure.Row) {
	for _, u := range all {
		r := measure.RowOf("3FC, "+measure.Counted(u.Players, "player")+", "+u.What, u.Usage, u.Sum())
		if u.What != getHealth {
			health := all[slices.IndexFunc(all, func(o useCost) bool { return o.What == getHealth && o.Players == u.Players })]
			r.Compared = fmt.Sprintf("× %.0f %s; %s", measure.Share(u.Wall, health.Wall), getHealth, u.Capacity)
			r.Details = fmt.Sprintf("%s; %.1f KB answer; fastest %s", u.Counters, u.Answer/1e3, measure.Short(u.Fastest))
		}
		if u.reads > 0 {
			r.Target, r.Met = fmt.Sprintf("≤ %.0f read, ≤ %.0f write units", u.reads, u.writes), u.Reads <= u.reads && u.Writes <= u.writes
		}
		rows = append(rows, r)
	}
	return rows
}
