package bench

import (
	"fmt"
	"slices"

	"matchday/infra/tools/bench/measure"
)

// mostReads and mostWrites bound the units with 3,000 workouts in a year: of a job that
// reads the ledgers of the year, of 8 KB each, and of one that writes a ledger in a
// transaction, with the workout.
const (
	mostReads  = 40
	mostWrites = 40
)

func rows(all []useCost) (rows []measure.Row) {
	for _, u := range all {
		health := all[slices.IndexFunc(all, func(o useCost) bool { return o.What == getHealth && o.Workouts == u.Workouts })]

		r := u.Row("CommitCollect, "+measure.Counted(u.Workouts, "workout")+", ", health.Cost)
		switch {
		case u.target > 0:
			r.Target, r.Met = fmt.Sprintf("≤ %.0f read units", u.target), u.Reads <= u.target
		case u.What != getHealth:
			r.Target, r.Met = fmt.Sprintf("≤ %d read, ≤ %d write units", mostReads, mostWrites), u.Reads <= mostReads && u.Writes <= mostWrites
		}

		rows = append(rows, r)
	}

	return rows
}
