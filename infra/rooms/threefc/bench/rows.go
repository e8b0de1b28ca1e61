package bench

import (
	"fmt"
	"slices"

	"matchday/infra/tools/bench/measure"
)

func rows(all []useCost) (rows []measure.Row) {
	for _, u := range all {
		health := all[slices.IndexFunc(all, func(o useCost) bool { return o.What == getHealth && o.Players == u.Players })]

		r := u.Row("3FC, "+measure.Counted(u.Players, "player")+", ", health.Cost)
		if u.reads > 0 {
			r.Target, r.Met = fmt.Sprintf("≤ %.0f read, ≤ %.0f write units", u.reads, u.writes), u.Reads <= u.reads && u.Writes <= u.writes
		}

		rows = append(rows, r)
	}

	return rows
}
