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
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
)

// athletes counts the workouts of a user, and the entries of the ledgers, by athlete.
func athletes(w *commitcollecttest.World, user string) map[string]int {
	w.T.Helper()

	of, n := map[any]any{}, map[string]int{}

	rows := testkit.Rows[stored](w.World, tables.Main)
	for _, r := range rows {
		if r["PK"] == "USER#"+user && r["entityType"] == "Workout" {
			of[r["activityId"]] = r["athleteId"]

			n[fmt.Sprint("workouts of ", r["athleteId"])]++
			if r["isDeleted"] == true {
				n["deleted"]++
			}
		}
	}

	for _, r := range rows {
		if r["PK"] != "USER#"+user || r["entityType"] != "Ledger" {
			continue
		}

		n["ledgers"]++
		for _, e := range r["entries"].([]any) {
			n[fmt.Sprint("entries of ", of[e.(stored)["i"]])]++
		}
	}

	return n
}

// reconcile runs the job of the night.
func reconcile(w *commitcollecttest.World) {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler).Reconcile(w.NewContext()))
	w.Work()
}

// TestAnotherAthleteIsPurged: who connects another athlete keeps the progress and the parts
// that the first one has earned, and no workouts. Those of both athletes never count together.
func TestAnotherAthleteIsPurged(t *testing.T) {
	t.Parallel()

	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint("keep: ", keep), func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			id := w.Start("ann", commitcollecttest.Goal{})

			if keep {
				keepWorkouts(w)
			}

			for n := range 35 {
				w.Upload(77, "Run", noon.AddDate(0, 0, -2*n).Add(-time.Hour), 1000)
			}

			w.Upload(99, "Run", noon.Add(-3*time.Hour), 12_000)
			w.Pass(time.Hour)
			w.Pass(time.Hour)
			w.Connect("ann", 99)
			w.Work()
			w.Pass(2 * time.Minute)

			want, left := [3]int64{35_000, 12_000, 3}, map[string]int{"ledgers": 1, "workouts of 99": 1, "entries of 99": 1}
			same(t, "what is stored", athletes(w, "ann"), left)
			same(t, "the milestone", progress(w.Show("ann", id)), want)
			silence(w)
			testkit.Must(t, testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester).Backfill(w.NewContext(),
				link.Backfill{UserID: "ann", Whole: true}))

			for range 4 { // what the list lacks is looked for three times
				w.Pass(5 * time.Minute)
			}

			same(t, "what is stored after the whole history is fetched", athletes(w, "ann"), left)
		})
	}
}

// TestAnotherAthleteCrashes: wherever connecting another athlete crashes, the workouts are
// those of the athlete who is connected in the end. A deletion is proven only if there was one.
func TestAnotherAthleteCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) bool {
		w := small(t)
		for n := range 3 {
			ingest(w, eventOf("create", w.Upload(77, "Run", noon.Add(-time.Duration(n+4)*time.Hour), 1000), noon))
		}

		w.SignIn("ann")
		w.Upload(99, "Run", noon.Add(-3*time.Hour), 12_000)
		q := w.Consent("ann", 99, "yes", "activity:read").Query()
		s := testkit.OpenWith(w.World, w.CrashingEnv(link.FinishConnectFunction(), p), link.Open)
		_, err := s.FinishConnect(w.NewContext(),
			&link.FinishConnect{User: user("ann"), Code: q.Get("code"), State: q.Get("state"), Scope: q.Get("scope")})
		p.Ended(err, "TransactWriteItems *CommitCollectAudit", "/oauth/token", "/oauth/revoke")

		for range 3 {
			w.Pass(2 * time.Minute)
		}

		w.Logs.TakeWarnings()
		got := athletes(w, "ann")

		want, proven := map[string]int{"workouts of 77": 3, "entries of 77": 3, "ledgers": 1}, 0
		if fmt.Sprint(connection(w, "ann")["athleteId"]) == "99" {
			want, proven = map[string]int{"workouts of 99": 1, "entries of 99": 1, "ledgers": 1}, 1
		}

		same(t, "what is stored", got, want)
		same(t, "proofs of a deletion", len(proofs(w)), proven)

		return true
	})
}

// keepWorkouts has the profile of ann as it was stored when workouts could be kept without a connection.
func keepWorkouts(w *commitcollecttest.World) {
	w.T.Helper()

	u := testkit.Row[stored](w.World, tables.Main, "USER#ann", "PROFILE")
	u["keepWorkouts"] = true
	testkit.PutRows(w.World, tables.Main, u)
}

// TestChoiceToKeepHasNoEffect: the field is accepted, nothing is stored of it, and the answer is false.
func TestChoiceToKeepHasNoEffect(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")

	for _, keep := range []bool{true, false} {
		out := w.Ask("ann", http.MethodPatch, "/preferences", map[string]any{"keepWorkouts": keep})
		if out.StatusCode != 200 || !strings.Contains(out.Body, `"keepWorkouts":false`) {
			t.Errorf("got %d %s", out.StatusCode, out.Body)
		}
	}

	same(t, "the profile", testkit.Row[stored](w.World, tables.Main, "USER#ann", "PROFILE")["keepWorkouts"], nil)
	same(t, "purges", len(testkit.Messages[link.Purge](w.World, link.PurgeQueue)), 0)
}

// TestWorkoutsWithoutAConnectionAreDeleted: those of a user who had chosen to keep them, when the app is opened,
// when a milestone of an earlier year starts, or when an administrator has everything fetched again.
func TestWorkoutsWithoutAConnectionAreDeleted(t *testing.T) {
	t.Parallel()

	for name, meet := range map[string]func(w *commitcollecttest.World){
		"the app is opened": func(w *commitcollecttest.World) { w.Ask("ann", http.MethodGet, "/strava/status", nil) },
		"a milestone starts": func(w *commitcollecttest.World) {
			w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(-2, 0, 0)})
		},
		"an administrator":    func(w *commitcollecttest.World) { w.AskAdmin(http.MethodPost, "/admin/users/ann/replay", nil) },
		"a connected user":    func(w *commitcollecttest.World) { w.Ask("ann", http.MethodGet, "/strava/status", nil) },
		"a user without them": func(w *commitcollecttest.World) { w.Ask("ann", http.MethodGet, "/strava/status", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, want := busy(t, "ann"), 0

			switch name {
			case "a connected user":
				want = 1
			case "a user without them":
				w.End("ann")
				w.Pass(2 * link.PurgeDelay)
			default:
				for _, key := range [][2]string{{"USER#ann", "STRAVA#CONNECTION"}, {"STRAVA#ATHLETE#77", "OWNER"}} {
					testkit.Must(t, w.DeleteRow(tables.Main, key[0], key[1]))
				}
			}

			meet(w)

			if purges := len(testkit.Messages[link.Purge](w.World, link.PurgeQueue)); want == 1 && purges > 0 {
				t.Errorf("there are %d purges of a connected user", purges)
			}

			w.Pass(link.PurgeDelay)
			same(t, "workouts", w.Count(tables.Main, "USER#ann", "WORKOUT#"), want)
			w.Logs.TakeWarnings()
		})
	}
}

// TestBrokenConnectionEnds: Strava has lost the webhook of a revocation. The app asks the
// user to connect again, and after a day, within the 48 hours that Strava allows, it
// disconnects and deletes the workouts. What they have earned stays.
func TestBrokenConnectionEnds(t *testing.T) {
	t.Parallel()

	type seen struct {
		Connected, Broken bool
		Workouts          int
	}

	for name, c := range map[string]struct {
		keep, again bool
		want        []seen // at once, in the first night, at noon of the next day, and then
		rows        int    // of the connection in the end
	}{
		"workouts are not kept": {false, false, []seen{{true, false, 1}, {true, true, 1}, {false, false, 0}, {false, false, 0}}, 0},
		"an older choice":       {true, false, []seen{{true, false, 1}, {true, true, 1}, {false, false, 0}, {false, false, 0}}, 0},
		"the user returns":      {false, true, []seen{{true, false, 1}, {true, false, 1}, {true, false, 1}, {true, false, 1}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := busy(t, "ann")
			id := testkit.Decode[struct {
				Milestones []struct{ MilestoneID string }
			}](w.World, w.Ask("ann", http.MethodGet, "/milestones", nil)).Milestones[0].MilestoneID

			if c.keep {
				keepWorkouts(w)
			}

			before := w.Show("ann", id)
			revoked := time.Date(2026, 6, 7, 3, 5, 0, 0, time.UTC) // just after the night's job
			w.MoveClock(revoked)
			reconcile(w)
			w.Strava.Revoke(77)
			silence(w)

			for i, at := range []time.Time{revoked.Add(time.Hour), revoked.AddDate(0, 0, 1), revoked.Add(36 * time.Hour),
				revoked.Add(47 * time.Hour)} {
				w.MoveClock(at)

				if i > 0 && i < 3 {
					reconcile(w)
				}

				if i == 1 && c.again {
					w.Connect("ann", 77)
					w.Work()
				}

				is := testkit.Decode[struct {
					Connected, Broken bool
					WorkoutCount      int
				}](w.World, w.Ask("ann", http.MethodGet, "/strava/status", nil))
				same(t, at.String(), seen{is.Connected, is.Broken, is.WorkoutCount}, c.want[i])
			}

			same(t, "the parts", w.Show("ann", id).Awards, before.Awards)

			rows := 0

			for _, r := range testkit.Rows[struct{ PK, SK string }](w.World, tables.Main) {
				if r.SK == "STRAVA#CONNECTION" || r.SK == "OWNER" || strings.HasPrefix(r.PK, "STRAVA#CONNECTED#") {
					rows++
				}
			}

			same(t, "rows of the connection", rows, c.rows)
			w.Logs.TakeWarnings()
		})
	}
}

// TestPurgeKeepsAConnectionThatWorksAgain: the user may have connected again since the purge
// of a broken connection was requested.
func TestPurgeKeepsAConnectionThatWorksAgain(t *testing.T) {
	t.Parallel()
	w := small(t)
	before := connection(w, "ann")
	testkit.Must(t, testkit.Open(w.World, workout.PurgeWorkoutsFunction(), workout.OpenPurger).PurgeWorkouts(w.NewContext(),
		link.Purge{UserID: "ann", Broken: true}))
	same(t, "the connection", connection(w, "ann"), before)
}
