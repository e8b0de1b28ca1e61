// Command month prints how long users of CommitCollect wait under Strava's limits, from a simulated month:
// the rules are those of package workout, and the clock is virtual. `go run
// ./infra/rooms/commitcollect/month` starts it. docs/deploy.md has its table.
package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"matchday/pkg/commitcollect/workout"
)

func main() {
	if err := Print(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "month:", err)
		os.Exit(1)
	}
}

// tier is what Strava grants to an application:
// https://communityhub.strava.com/insider-journal-9/an-update-to-our-developer-program-13428
type tier struct {
	name     string
	setting  string // as workout.ParseLimits
	athletes int
}

var tiers = []tier{
	{"new", "200,2000,100,1000", 1},
	{"standard", "400,4000,200,2000", 10},
	{"reviewed", "600,6000,300,3000", 9999},
}

// Print writes the table of three numbers of users in each tier, and what each tier bears.
func Print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 1, ' ', tabwriter.DiscardEmptyColumns)

	row := func(cells ...any) {
		for _, c := range cells {
			fmt.Fprintf(w, "| %v\t", c)
		}

		fmt.Fprintln(w, "|")
	}
	row("tier", "users", "a workout", "a first import", "a lost webhook", "a lost deletion", "reads a day")
	row("---", "---", "---", "---", "---", "---", "---")

	var bears []string

	for _, t := range tiers {
		allowed, err := workout.ParseLimits(t.setting)
		if err != nil {
			return err
		}

		for _, users := range []int{100, 500, 5000} {
			r := Simulate(users, allowed)
			row(t.name, users, r.Workout, r.Import, r.Lost, r.Deletion, r.Reads)
		}

		bears = append(bears, fmt.Sprintf("* %s, %d reads a day: %d users by its reads; Strava connects %d.",
			t.name, allowed.Day, Most(allowed), t.athletes))
	}

	if err := w.Flush(); err != nil {
		return err
	}

	for _, line := range bears {
		if _, err := fmt.Fprintln(to, line); err != nil {
			return err
		}
	}

	return nil
}

// String is both quantiles for a reader.
func (q Quantiles) String() string { return short(q.P50) + ", " + short(q.P99) }

func short(d time.Duration) string {
	switch {
	case d > days*day:
		return "never"
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	default:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
}

// What a tier must keep to bear a number of users.
const (
	workoutWithin  = 15 * time.Minute // at p99: the next quarter of an hour
	importWithin   = time.Hour        // at p99
	deletionWithin = 48 * time.Hour   // at p99, as Strava requires
)

// bears reports whether so many users wait no longer than they may.
func bears(users int, allowed workout.Allowed) bool {
	r := Simulate(users, allowed)

	return r.Workout.P99 <= workoutWithin && r.Import.P99 <= importWithin && r.Deletion.P99 <= deletionWithin &&
		r.Lost.P99 <= deletionWithin
}

// Most returns the largest number of users, in steps of 50, that the limits bear.
func Most(allowed workout.Allowed) int {
	const step = 50

	low, high := 0, allowed.Day/step*2/3 // a user causes more than one and a half reads a day

	for low < high {
		middle := (low + high + 1) / 2
		if bears(middle*step, allowed) {
			low = middle
		} else {
			high = middle - 1
		}
	}

	return low * step
}
