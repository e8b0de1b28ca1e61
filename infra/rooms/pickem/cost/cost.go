// Package cost is the cost model of the pick'em room: what a month costs for so many
// members.
package cost

import (
	"fmt"

	"matchday/infra/tools/cost/usage"
	"matchday/pkg/pickem"
)

// Model is the room's part of the cost model.
var Model = usage.Model{Kept: kept, AtRest: 3.00, Report: report}

func report(in usage.Input) (usage.Report, error) {
	c, err := parse(in.Counters)
	if err != nil {
		return usage.Report{}, err
	}

	rows := [][]string{
		{"members", "fixed", "metrics", "lists", "cards", "results", "standings", "picks", "scoring", "notices", "TOTAL", "a member"},
	}

	for _, members := range []float64{100, 1_000, 10_000, 100_000} {
		month, err := model{c, pickem.Room().Spec}.month(members)
		if err != nil {
			return usage.Report{}, err
		}

		row, total := []string{usage.Grouped(members)}, usage.Usage{}
		for _, u := range month.parts() {
			row, total = append(row, usage.Dollars(u.Dollars(in.Prices))), total.Plus(u)
		}

		dollars := total.Dollars(in.Prices)
		rows = append(rows, append(row, usage.Dollars(dollars), fmt.Sprintf("%.4f", dollars/members)))
	}

	return usage.Report{Title: "The pick'em room.", Rows: rows, Notes: notes()}, nil
}

// notes explains the columns and lists the assumptions.
func notes() string {
	return fmt.Sprintf(`fixed      as above; the job that locks events reads those of 400 days every minute
metrics    %s
lists      the list of events, and the own profile: each member looks at each of the five screens %g times a week
cards      an event that is open
results    a scored event, and standings a year's: a page of each
picks      %g saves of a prediction by each member and event, of which there is one a week
scoring    of an event once, at %d members a second, which one partition of the index takes
notices    %g pushes to each member and event: of what is forgotten, and what has changed
Units of DynamoDB are those that the engine reckons for calls with 10 and with 10,000 members; between they are in proportion, and beyond
they are those of 10,000, because screens read pages. A profile is one of a member who has played 38 events.
`, usage.EmittedNote, viewsOfWeek, savesOfEvent, scoredPerSec, noticesOfEvent)
}
