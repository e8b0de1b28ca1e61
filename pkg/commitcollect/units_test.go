package commitcollect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
)

// seedWorkouts stores runs of 1,000 m with their ledgers, one every two hours before noon.
func seedWorkouts(w *commitcollecttest.World, user string, n int) {
	w.T.Helper()

	ledgers := map[string][]tally.Entry{}

	var rows []workout.Row

	for i := range n {
		at := noon.Add(-time.Duration(i+1) * time.Hour).Unix()
		r := workout.Row{
			PK:         item.User(user),
			SK:         item.Workout(fmt.Sprint(9_000_000_000 - i)),
			EntityType: "Workout",
			ActivityID: fmt.Sprint(9_000_000_000 - i),
			AthleteID:  77,
			Name:       "Run",
			SportType:  "Run",
			StartedAt:  at,
			Distance:   1000,
			Moving:     300,
			Elapsed:    310,
			Elevation:  5,
			Aspect:     "create",
			EventTime:  at,
			IngestedAt: at,
			UpdatedAt:  at,
		}
		rows = append(rows, r)
		ledgers[item.Month(at)] = append(ledgers[item.Month(at)], r.Entry())
	}

	testkit.PutRows(w.World, tables.Main, rows...)

	for month, entries := range ledgers {
		testkit.PutRows(w.World, tables.Main, map[string]any{
			"PK":         item.User(user),
			"SK":         item.Ledger(month),
			"entityType": "Ledger",
			"rev":        1,
			"entries":    entries,
		})
	}
}

// TestUnits counts what requests and a workout cost, with 100 workouts and with 3,000 of 125
// days. Only a recomputation, which reads all workouts, may grow much.
func TestUnits(t *testing.T) {
	t.Parallel()

	type cost struct{ reads, writes float64 }

	measure := func(workouts int) map[string]cost {
		w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
		id := w.Start("ann", commitcollecttest.Goal{Total: 100_000_000})
		w.Work()
		seedWorkouts(w, "ann", workouts)

		all := map[string]cost{}

		count := func(name string, do func()) {
			u := w.CountUnits(do)
			all[name] = cost{u.Reads, u.Writes}
		}
		for _, path := range []string{
			"/session", "/viewer", "/strava/status", "/activities/recent", "/milestones", "/milestones/" + id, "/milestones/" + id + "/awards",
			"/activities/9000000000/eligibility?milestoneId=" + id, "/models", "/models/trike", "/audit",
		} {
			count("GET "+strings.ReplaceAll(path, id, "{id}"), func() {
				if out := w.Ask("ann", http.MethodGet, path, nil); out.StatusCode != 200 {
					t.Errorf("%s: %d %s", path, out.StatusCode, out.Body)
				}
			})
		}

		count("recompute", func() { w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil) })
		w.Upload(77, "Run", noon, 1000)
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		count("a webhook, stored and counted", w.Work)
		count("a part minted", func() {
			w.Upload(77, "Run", noon.Add(time.Hour), 9_000_000)
			w.MoveClock(w.Clock.Now().Add(time.Minute))
			w.Work()
		})

		return all
	}

	few, many := measure(100), measure(3000)
	for name, a := range few {
		b, measured := many[name]
		t.Logf("%-50s %5.1f reads %5.1f writes with 100 workouts, %6.1f and %5.1f with 3,000", name, a.reads, a.writes, b.reads, b.writes)

		most := 60.0 // of 5 ledgers of 70 kB each
		if name == "recompute" {
			most = 800
		}

		if !measured || b.reads > most || b.writes > 260 {
			t.Errorf("%s costs %.1f reads and %.1f writes with 3,000 workouts, more than %.0f and 260", name, b.reads, b.writes, most)
		}
	}
}
