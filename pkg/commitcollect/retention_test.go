package commitcollect_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
)

// keeping returns a world as commitcollecttest.Ready, whose stage keeps workouts for some days.
func keeping(t testing.TB, days string, history func(*commitcollecttest.World)) *commitcollecttest.World {
	t.Helper()
	w := commitcollecttest.New(t, strava.Faults{})
	w.Settings[link.RetentionDays] = days
	w.AddModel("trike", 12)
	w.Subscribe()
	w.SignIn("ann")
	history(w)
	w.Connect("ann", 77)
	w.Pass(time.Minute)

	return w
}

func noHistory(*commitcollecttest.World) {}

// carry has the workouts expire twice: the first time has the history of milestones fetched that need it.
func carry(w *commitcollecttest.World) {
	w.T.Helper()

	for range 2 {
		w.Pass(time.Hour)
		reconcile(w)
	}
}

// oldest returns the time since which the oldest workout is stored, and the number of workouts and of entries of
// ledgers.
func oldest(w *commitcollecttest.World) (at time.Time, rows, entries int) {
	at = w.Clock.Now()

	for _, r := range testkit.Rows[stored](w.World, tables.Main) {
		switch r["entityType"] {
		case "Workout":
			rows++

			if in := time.Unix(int64(r["ingestedAtUtc"].(float64)), 0).UTC(); in.Before(at) {
				at = in
			}
		case "Ledger":
			entries += len(r["entries"].([]any))
		}
	}

	return at, rows, entries
}

// TestKeptForSevenDaysCountsLikeAll: two months of an athlete, in a stage that keeps workouts for seven days and
// in one that keeps all. The milestones are the same on every day.
func TestKeptForSevenDaysCountsLikeAll(t *testing.T) {
	t.Parallel()

	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()

			play := func(days string) (seen []string) {
				dice := rand.New(rand.NewPCG(seed, 1))
				last := map[int64]time.Time{} // the starts of activities that may be edited
				sport := func() string { return []string{"Run", "Run", "Ride", "VirtualRun"}[dice.IntN(4)] }

				w := keeping(t, days, func(w *commitcollecttest.World) {
					for n := range 40 {
						w.Upload(77, sport(), noon.Add(-time.Duration(n*31+dice.IntN(20))*time.Hour), float64(1000+dice.IntN(5000)))
					}
				})

				var ids []string

				start := func(g commitcollecttest.Goal) {
					g.Start = noon.AddDate(0, 0, -30-dice.IntN(20))
					ids = append(ids, w.Start("ann", g))
					w.Work()
				}
				start(commitcollecttest.Goal{Total: 400_000})
				start(commitcollecttest.Goal{Target: "STREAK_DAYS", Total: 60})
				start(commitcollecttest.Goal{Target: "WORKOUTS", Total: 120, Sport: "RIDE"})

				begin := w.Clock.Now().Truncate(24 * time.Hour)
				for day := 1; day <= 40; day++ {
					w.MoveClock(begin.AddDate(0, 0, day).Add(3 * time.Hour))
					w.SignIn("ann")
					reconcile(w)
					w.MoveClock(begin.AddDate(0, 0, day).Add(15 * time.Hour))
					reconcile(w)

					for range dice.IntN(3) {
						at := w.Clock.Now().Add(-time.Duration(dice.IntN(70*60)) * time.Minute)
						last[w.Upload(77, sport(), at, float64(1000+dice.IntN(9000)))] = at
					}

					w.Pass(time.Hour)

					for id := int64(0); id == 0 && len(last) > 0; {
						for of, at := range last { // the lowest, because the order of a map is not that of the dice
							if w.Clock.Now().Sub(at) > 4*24*time.Hour {
								delete(last, of)
							} else if id == 0 || of < id {
								id = of
							}
						}

						switch dice.IntN(4) {
						case 0:
							w.Strava.Edit(id, map[string]any{"title": "x"}, func(a *strava.Activity) { a.Distance += 3000 })
						case 1:
							w.Strava.Delete(id)
							delete(last, id)
						}

						break
					}

					w.Pass(time.Hour)

					switch day {
					case 9:
						start(commitcollecttest.Goal{Target: "MOVING_SECONDS", Total: 100_000})
					case 15:
						w.Ask("ann", http.MethodPatch, "/milestones/"+ids[0], map[string]any{"status": "PAUSED"})
					case 24:
						w.Ask("ann", http.MethodPatch, "/milestones/"+ids[0], map[string]any{"status": "ACTIVE"})
						w.Ask("ann", http.MethodPatch, "/preferences", map[string]any{
							"counts": map[string]any{"virtual": false, "eBike": true, "handcycle": true, "manual": true, "private": true},
						})
					case 33:
						w.Ask("ann", http.MethodPost, "/milestones/"+ids[1]+"/recompute", nil)
					}

					w.Pass(time.Hour)

					for _, id := range ids {
						seen = append(seen, fmt.Sprint("day ", day, ": ", progress(w.Show("ann", id))))
					}

					if at, _, _ := oldest(w); days == "7" && w.Clock.Now().Sub(at) > 7*24*time.Hour {
						t.Errorf("on day %d a workout is stored since %s", day, at)
					}
				}

				if _, rows, entries := oldest(w); days == "7" && (rows > 20 || entries > 20) {
					t.Errorf("%d workouts and %d entries are kept, want those of a week", rows, entries)
				}

				w.Logs.TakeWarnings()

				return seen
			}

			same(t, "the milestones", play("7"), play("0"))
		})
	}
}

// TestVerdictsOfWhatIsNotKept: what counted is listed with what Strava has. If Strava cannot be asked, the sums
// are the same, and the answer says from when it lists.
func TestVerdictsOfWhatIsNotKept(t *testing.T) {
	t.Parallel()
	w := keeping(t, "7", func(w *commitcollecttest.World) {
		for n := range 10 {
			w.Upload(77, "Run", noon.AddDate(0, 0, -3*n).Add(-time.Hour), 1000)
		}
	})
	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -20)}) // seven of them
	w.Work()

	type verdicts struct {
		RawProgress, CountedTotal, WorkoutsTotal int
		ListedFrom                               *time.Time
		Workouts                                 []struct{ Name string }
	}

	list := func() verdicts {
		return testkit.Decode[verdicts](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id+"/workouts", nil))
	}

	all := list()
	same(t, "before", []int{all.RawProgress, all.CountedTotal, all.WorkoutsTotal}, []int{7000, 7, 7})
	carry(w)
	same(t, "workouts that are kept", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 2)
	same(t, "what counted", list(), all)

	calls := fail(w, "/api/v3/", 503, htmlType, "")
	down := list()
	same(t, "what counted, while Strava is down", []int{down.RawProgress, down.CountedTotal, down.WorkoutsTotal, *calls}, []int{7000, 7, 2, 1})

	if down.ListedFrom == nil || down.ListedFrom.After(noon.AddDate(0, 0, -5)) {
		t.Errorf("it is listed from %v", down.ListedFrom)
	}

	same(t, "a recomputation", progress(testkit.Decode[commitcollecttest.Milestone](w.World,
		w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil))), [3]int64{7000, 7000, 0})

	w.Outage = nil
	w.Strava.Edit(w.Strava.Activities(77)[4].ID, nil, func(a *strava.Activity) { a.Distance = 50_000 })
	same(t, "a recomputation, after an edit of a workout that is not kept", progress(testkit.Decode[commitcollecttest.Milestone](w.World,
		w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil))), [3]int64{56_000, 56_000, 5})
	w.Upload(77, "Run", noon.Add(time.Minute), 2000)
	w.Pass(time.Hour)
	same(t, "the next workout", progress(w.Show("ann", id)), [3]int64{58_000, 58_000, 5})

	for range 40 { // more than a user may call within a quarter of an hour
		list()
	}

	if last := list(); last.ListedFrom == nil || last.RawProgress != 58_000 {
		t.Errorf("without calls: %+v", last)
	}

	w.Logs.TakeWarnings()
}

// TestRequestDoesNotSettleWhatIsNotKept: what a recomputation finds to have changed at Strava earns parts an hour later.
func TestRequestDoesNotSettleWhatIsNotKept(t *testing.T) {
	t.Parallel()
	w := keeping(t, "7", func(w *commitcollecttest.World) {
		for n := range 4 {
			w.Upload(77, "Run", noon.AddDate(0, 0, -3*n).Add(-time.Hour), 1000)
		}
	})
	w.Settings[milestone.SettlingMinutes] = "60"
	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -20)})
	w.Work()
	carry(w)
	w.Strava.Edit(w.Strava.Activities(77)[3].ID, nil, func(a *strava.Activity) { a.Distance = 50_000 })

	recompute := func() int {
		out := w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil)
		return testkit.Decode[commitcollecttest.Milestone](w.World, out).PartsDelta
	}

	same(t, "asked at once", recompute(), 0)
	w.Pass(30 * time.Minute)
	same(t, "asked half an hour later", recompute(), 0)
	same(t, "the milestone", progress(w.Show("ann", id)), [3]int64{53_000, 53_000, 0})
	reconcile(w) // which carries what was settled, too
	same(t, "the milestone, after a night", progress(w.Show("ann", id)), [3]int64{53_000, 53_000, 0})
	w.MoveClock(w.Clock.Now().Add(31 * time.Minute))
	same(t, "asked an hour later, before the message", recompute(), 5)
	w.Pass(15 * time.Minute)
	same(t, "the milestone, an hour later", progress(w.Show("ann", id)), [3]int64{53_000, 53_000, 5})
	w.Logs.TakeWarnings()
}

// TestListSaysFromWhenItIsComplete: while a milestone counts anew and its history cannot be fetched, the list has what
// is kept, and says so. The list of an administrator, who does not read the history, says it whenever it is not whole.
func TestListSaysFromWhenItIsComplete(t *testing.T) {
	t.Parallel()
	w := keeping(t, "7", func(w *commitcollecttest.World) {
		for n := range 10 {
			w.Upload(77, "Run", noon.AddDate(0, 0, -3*n).Add(-time.Hour), 1000)
		}
	})
	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -20)}) // seven of them
	w.Work()

	type list struct {
		ListedFrom *time.Time
		Workouts   []struct{ ActivityID string }
	}

	check := func(what string, of, operators int, whole, operatorsWhole bool) {
		t.Helper()

		user := testkit.Decode[list](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id+"/workouts", nil))
		same(t, what, []any{len(user.Workouts), user.ListedFrom == nil}, []any{of, whole})

		operator := testkit.Decode[list](w.World, w.AskAdmin(http.MethodGet, "/admin/users/ann/milestones/"+id+"/workouts", nil))
		same(t, what+", for an administrator", []any{len(operator.Workouts), operator.ListedFrom == nil}, []any{operators, operatorsWhole})
	}

	w.MoveClock(w.Clock.Now().Add(time.Second)) // a fetch of the second of the creation may have begun before it
	backfill(w, true)
	check("at first", 7, 7, true, true)
	carry(w)
	check("carried", 7, 2, true, false)

	fail(w, "/api/v3/", 503, htmlType, "")
	w.Ask("ann", http.MethodPatch, "/preferences", map[string]any{
		"counts": map[string]any{"virtual": false, "eBike": true, "handcycle": true, "manual": true, "private": true},
	})
	w.Work()
	check("counting anew, while Strava is down", 2, 2, false, false)

	w.Outage = nil
	check("counting anew, before the history is fetched", 7, 2, true, false)
	w.Pass(time.Hour)
	backfill(w, true)
	check("once it is fetched", 7, 7, true, true)
	w.Logs.TakeWarnings()
}

// TestClosedMilestoneCountsWhatIsNotKept: a closed milestone carries nothing forward. What counted since it did so
// last, and what came later, is read from Strava. If Strava cannot be asked, its sum stays.
func TestClosedMilestoneCountsWhatIsNotKept(t *testing.T) {
	t.Parallel()
	w := keeping(t, "7", func(w *commitcollecttest.World) {
		for n := range 10 {
			w.Upload(77, "Run", noon.AddDate(0, 0, -3*n).Add(-time.Hour), 1000)
		}
	})
	day := func(n int) string { return noon.AddDate(0, 0, n).Format(time.DateOnly) }
	first := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -20), Total: 7500})
	second := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -4), Total: 1500}) // closed before anything is carried
	third := w.Start("ann", commitcollecttest.Goal{StartDay: day(-10), EndDay: day(1)})
	w.Work()
	carry(w)

	w.Upload(77, "Run", noon.Add(time.Minute), 1000) // not kept later
	w.Pass(2 * time.Hour)

	for day := 1; day <= 20; day++ {
		w.MoveClock(noon.AddDate(0, 0, day))
		reconcile(w)
	}

	w.SignIn("ann")
	w.Upload(77, "Run", noon.AddDate(0, 0, 20).Add(-time.Hour), 2000) // after the completion
	w.Pass(time.Hour)
	same(t, "workouts that are kept", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 1)

	type verdicts struct {
		RawProgress, CountedTotal, WorkoutsTotal int
		ListedFrom                               *time.Time
	}

	for id, want := range map[string]struct {
		state      string
		verdicts   verdicts
		recomputed [3]int64
	}{
		first:  {"COMPLETED", verdicts{10_000, 9, 9, nil}, [3]int64{10_000, 10_000, 12}},
		second: {"COMPLETED", verdicts{5000, 4, 4, nil}, [3]int64{5000, 5000, 12}},
		third:  {"ENDED", verdicts{5000, 5, 6, nil}, [3]int64{5000, 5000, 0}}, // one came after its last day
	} {
		list := func() verdicts {
			return testkit.Decode[verdicts](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id+"/workouts", nil))
		}
		recomputed := func() [3]int64 {
			return progress(testkit.Decode[commitcollecttest.Milestone](w.World,
				w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil)))
		}
		before := w.Show("ann", id)
		same(t, "the state", before.State, want.state)

		fail(w, "/api/v3/", 503, htmlType, "")
		same(t, "a recomputation, while Strava is down", recomputed(), progress(before))

		if down := list(); down.ListedFrom == nil || !down.ListedFrom.After(noon.AddDate(0, 0, 1)) {
			t.Errorf("while Strava is down: %+v", down)
		}

		w.Outage = nil

		same(t, "what counted", list(), want.verdicts)

		for range 2 {
			same(t, "a recomputation", recomputed(), want.recomputed)
		}

		same(t, "what counted, after it", list(), want.verdicts)
	}

	w.Logs.TakeWarnings()
}

// TestMovedWorkoutCountsOnce: the date of a workout that is carried changes to one of the last days. A row of before lacks
// the ids, and counts as it did.
func TestMovedWorkoutCountsOnce(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]int64{"now": 10_000, "before": 20_000} {
		w := keeping(t, "7", func(w *commitcollecttest.World) {
			w.Upload(77, "Run", noon.Add(-156*time.Hour), 10_000) // six days and a half
		})
		id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -20)})
		w.Work()
		carry(w)

		if name == "before" {
			old := testkit.Row[stored](w.World, tables.Main, "USER#ann", "MILESTONE#"+id)
			delete(old["carried"].(stored), "last")
			delete(old["carried"].(stored), "seen")
			testkit.PutRows(w.World, tables.Main, old)
		}

		w.Strava.Edit(w.Strava.Activities(77)[0].ID, nil, func(a *strava.Activity) { a.StartDate = noon })
		w.Ask("ann", http.MethodPost, "/activities/sync", nil)

		for range 3 {
			w.Pass(20 * time.Minute)
		}

		same(t, "the milestone of "+name, w.Show("ann", id).RawProgress, want)
		carry(w)
		same(t, "the milestone of "+name+", after a night", w.Show("ann", id).RawProgress, want)
		w.Logs.TakeWarnings()
	}
}

// TestPreferencesOutliveTheirMessage: a milestone counts by them what it has carried forward, once, also if the message
// of the change is lost.
func TestPreferencesOutliveTheirMessage(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		counts *tally.Choice
		want   int // fetches of the history
	}{
		"what counts":      {&tally.Choice{EBike: true}, 1},
		"the same as ever": {&tally.DefaultChoice, 0},
		"the units":        {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			inCarried(w)
			testkit.Must(t, prefer(w, w.Env(profile.UpdatePreferencesFunction()), c.counts))
			w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(workout.ChangeQueue.Name)}, nil)

			for range 2 { // the next two workouts
				testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
			}

			m := testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+theMilestone(w))
			same(t, "the milestone counts anew", m.Carried == nil, c.want == 1)
			same(t, "fetches", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), c.want)
		})
	}
}

// TestDisconnectionForgetsWhatIsCarried: the sum of workouts goes with them, and the progress stays. Connecting
// again fetches the history, and another athlete's workouts never count with the first's.
func TestDisconnectionForgetsWhatIsCarried(t *testing.T) {
	t.Parallel()

	for athlete, want := range map[int64][2]int64{77: {6000, 6000}, 99: {6000, 5000}} {
		w := keeping(t, "7", func(w *commitcollecttest.World) {
			for n := range 6 {
				w.Upload(77, "Run", noon.AddDate(0, 0, -3*n).Add(-time.Hour), 1000)
			}

			w.Upload(99, "Run", noon.AddDate(0, 0, -9), 5000)
		})
		id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -20)})
		w.Work()
		carry(w)
		same(t, "what is carried", testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+id).Carried.Sum, int64(4000))

		if athlete == 77 {
			w.End("ann")

			for range 3 {
				w.Pass(2 * time.Minute)
			}

			same(t, "the milestone without a connection", progress(w.Show("ann", id)), [3]int64{6000, 0, 0})
			same(t, "what is carried", testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+id).Carried, (*tally.Carried)(nil))
			reconcile(w)
		}

		w.Connect("ann", athlete)

		for range 3 {
			w.Pass(2 * time.Minute)
		}

		for range 2 {
			is := w.Show("ann", id)
			same(t, fmt.Sprint("the milestone with ", athlete), [2]int64{is.ProgressValue, is.RawProgress}, want)
			reconcile(w)
		}

		w.Logs.TakeWarnings()
	}
}

// TestHistoryIsNotCarriedBeforeItIsComplete: a milestone whose history cannot be fetched carries nothing, and
// nothing is kept for longer for it. Once the history is fetched, it counts all of it.
func TestHistoryIsNotCarriedBeforeItIsComplete(t *testing.T) {
	t.Parallel()
	w := keeping(t, "7", func(w *commitcollecttest.World) {
		for n := range 10 {
			w.Upload(77, "Run", noon.AddDate(0, 0, -3*n).Add(-time.Hour), 1000)
		}
	})
	reconcile(w)
	same(t, "workouts that are kept without a milestone", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 2)

	// The calls of the user are used up, day by day.
	spend := func() {
		day := w.Clock.Now().Truncate(24 * time.Hour).Unix()
		testkit.PutRows(w.World, tables.Main, stored{"PK": "USER#ann", "SK": "STRAVA#CALLS", "day": day, "usedDay": 100,
			"quarter": w.Clock.Now().Truncate(15 * time.Minute).Unix(), "used": 0})
	}
	spend()

	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -20)})
	w.Work()
	same(t, "the milestone", progress(w.Show("ann", id)), [3]int64{})

	for day := 1; day <= 9; day++ {
		w.MoveClock(noon.AddDate(0, 0, day))
		spend()
		reconcile(w)

		if at, rows, _ := oldest(w); w.Clock.Now().Sub(at) > 7*24*time.Hour {
			t.Errorf("on day %d, %d workouts are stored since %s", day, rows, at)
		}
	}

	same(t, "what is carried", testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+id).Carried, (*tally.Carried)(nil))
	w.MoveClock(noon.AddDate(0, 0, 10))

	for range 3 {
		w.Pass(15 * time.Minute)
		reconcile(w)
	}

	same(t, "the milestone with its history", progress(w.Show("ann", id)), [3]int64{7000, 7000, 0})
	same(t, "workouts that are kept", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 0)
	w.Logs.TakeWarnings()
}

// TestRetentionBegins in a stage that has kept all: what is stored is carried without a call to Strava. When it
// ends, nothing is counted twice.
func TestRetentionBegins(t *testing.T) {
	t.Parallel()
	w := keeping(t, "0", noHistory)
	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, -2, 0), Total: 100_000_000})
	w.Work()
	seedWorkouts(w, "ann", 400)

	old := testkit.Row[stored](w.World, tables.Main, "USER#ann", "MILESTONE#"+id) // of before the attribute
	delete(old, "countsAnewAtUtc")
	testkit.PutRows(w.World, tables.Main, old)
	reconcile(w)
	same(t, "workouts that are kept for good", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 400)

	w.Settings[link.RetentionDays] = "7"
	calls := fail(w, "/api/v3/", 503, htmlType, "")
	w.MoveClock(noon.Add(time.Hour))
	reconcile(w)
	same(t, "workouts of six days", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 143)
	same(t, "calls", *calls, 0)
	same(t, "the milestone", w.Show("ann", id).ProgressValue, int64(400_000))

	w.Settings[link.RetentionDays] = "0"
	w.Outage = nil
	reconcile(w)
	w.Upload(77, "Run", noon.Add(time.Hour), 1000)
	w.Pass(2 * time.Hour)
	same(t, "the next workout", w.Show("ann", id).ProgressValue, int64(401_000))
	w.Logs.TakeWarnings()
}

// TestDeletedWorkoutLeavesItsID in a stage that keeps workouts for some days: what is gone at Strava goes at once. If
// it comes back, it counts again.
func TestDeletedWorkoutLeavesItsID(t *testing.T) {
	t.Parallel()
	w := keeping(t, "7", noHistory)
	id := w.Start("ann", commitcollecttest.Goal{})
	run := w.Upload(77, "Run", noon.Add(-time.Hour), 15_000)
	w.Pass(time.Minute)
	w.Strava.Delete(run)
	w.Pass(time.Minute)

	is := workoutOf(w, "ann", run)
	same(t, "the workout", []any{is["name"], is["distanceMeters"], is["startDateUtc"], is["isDeleted"]}, []any{nil, 0.0, nil, true})

	_, rows, entries := oldest(w)
	same(t, "rows and entries", [2]int{rows, entries}, [2]int{1, 0})
	same(t, "the milestone", progress(w.Show("ann", id)), [3]int64{15_000, 0, 1})

	w.Strava.Upload(77, strava.Activity{ID: run, Name: "Run", SportType: "Run", StartDate: noon.Add(-time.Hour), Distance: 15_000})
	w.Pass(time.Minute)
	same(t, "the milestone, when it is back", progress(w.Show("ann", id)), [3]int64{15_000, 15_000, 1})
	w.Strava.Delete(run)
	w.Pass(time.Minute)
	w.MoveClock(noon.AddDate(0, 0, 1))
	reconcile(w)
	_, rows, _ = oldest(w)
	same(t, "rows in the end", rows, 0)
}

// TestPayloadsGo: what was once stored of an activity beside the attributes of a workout goes with the next fetch
// of the history.
func TestPayloadsGo(t *testing.T) {
	t.Parallel()
	w := busy(t, "ann")

	var key [2]string

	for _, r := range testkit.Rows[stored](w.World, tables.Main) {
		if r["entityType"] == "Workout" {
			r["payloadJson"] = `{"start_latlng":[51.5,-0.1]}`
			key = [2]string{r["PK"].(string), r["SK"].(string)}
			testkit.PutRows(w.World, tables.Main, r)
		}
	}

	backfiller := testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester)
	testkit.Must(t, backfiller.Backfill(w.NewContext(), link.Backfill{UserID: "ann", Whole: true}))

	is := testkit.Row[stored](w.World, tables.Main, key[0], key[1])
	same(t, "the workout", []any{is["payloadJson"], is["distanceMeters"]}, []any{nil, 25_000.0})
}

// TestOutageIsLongerThanTheDays: what came while Strava answered nobody, for longer than workouts are kept, counts
// once it answers. Until then nothing is kept for longer either.
func TestOutageIsLongerThanTheDays(t *testing.T) {
	t.Parallel()
	w := keeping(t, "7", func(w *commitcollecttest.World) { w.Upload(77, "Run", noon.AddDate(0, 0, -9), 1000) })
	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -10)})
	w.Work()
	carry(w)
	carry(w)

	last := w.Upload(77, "Run", w.Clock.Now().Add(time.Minute), 1000) // after the last complete fetch: it cannot be carried
	w.Pass(2 * time.Minute)
	same(t, "the last before it is stored", workoutOf(w, "ann", last)["isDeleted"], any(false))
	w.Strava.SetInactive(true)

	day := 0
	night := func() {
		day++

		for _, after := range []time.Duration{3 * time.Hour, 15 * time.Hour} { // 15:00, and 03:00 of the next day
			w.MoveClock(noon.AddDate(0, 0, day).Add(after))

			if at, rows, _ := oldest(w); rows > 0 && w.Clock.Now().Sub(at) > 7*24*time.Hour {
				t.Errorf("before the run at %s, a workout is stored since %s", w.Clock.Now(), at)
			}

			w.SignIn("ann")
			reconcile(w)
			w.Pass(time.Hour)
		}
	}

	for range 12 {
		w.Upload(77, "Run", w.Clock.Now().Add(-time.Hour), 1000)
		night()
	}

	same(t, "in the outage", progress(w.Show("ann", id))[0], int64(2000))
	w.Strava.SetInactive(false)

	for range 3 {
		night()
	}

	same(t, "after it", progress(w.Show("ann", id)), [3]int64{14_000, 14_000, 1})
	w.Logs.TakeWarnings()
}

// TestOutageIsLongerThanTheWeekAfterTheEnd: a milestone whose week for late uploads is over while Strava answers
// nobody counts what was uploaded meanwhile, and then ends.
func TestOutageIsLongerThanTheWeekAfterTheEnd(t *testing.T) {
	t.Parallel()

	for days, settles := range map[string]string{"0": "0", "7": "60"} {
		t.Run(days, func(t *testing.T) {
			t.Parallel()
			w := keeping(t, days, func(w *commitcollecttest.World) { w.Upload(77, "Run", noon.AddDate(0, 0, -5), 1000) })
			w.Settings[milestone.SettlingMinutes] = settles
			id := w.Start("ann", commitcollecttest.Goal{StartDay: "2026-06-01", EndDay: "2026-06-09"})
			w.Work()

			day := 0
			night := func() {
				day++
				w.MoveClock(noon.AddDate(0, 0, day).Add(15 * time.Hour))
				w.SignIn("ann")
				reconcile(w)
				w.Pass(2 * time.Hour)
			}

			w.Strava.SetInactive(true)

			for range 3 {
				w.Upload(77, "Run", w.Clock.Now().Add(-time.Hour), 10_000)
				night()
			}

			for range 11 {
				night()
			}

			same(t, "in the outage", progress(w.Show("ann", id))[0], int64(1000))
			w.Strava.SetInactive(false)

			for range 3 {
				night()
			}

			is := w.Show("ann", id)
			same(t, "after it", []any{is.State, progress(is)}, []any{"ENDED", [3]int64{31_000, 31_000, 3}})

			w.Upload(77, "Run", noon.Add(5*time.Hour), 10_000)
			night()
			is = w.Show("ann", id)
			same(t, "what is later still", []any{is.State, progress(is)}, []any{"ENDED", [3]int64{31_000, 31_000, 3}})
			same(t, "the open ones", len(listedOf(w)), 0)
			w.Logs.TakeWarnings()
		})
	}
}

// TestMilestoneIsNotHeldForGood: one that closes while Strava answers nobody counts what is fetched within 30 days,
// and nothing for a user who has disconnected.
func TestMilestoneIsNotHeldForGood(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		days  int
		ends  bool
		state string
		want  [3]int64
	}{
		"within 30 days": {36, false, "ENDED", [3]int64{25_000, 25_000, 2}},
		"later":          {40, false, "ENDED", [3]int64{0, 0, 0}},
		"disconnected":   {20, true, "ENDED", [3]int64{0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			id := w.Start("ann", commitcollecttest.Goal{StartDay: "2026-06-01", EndDay: "2026-06-08"})
			w.Strava.SetInactive(true)
			w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)

			for day := range c.days {
				w.MoveClock(noon.AddDate(0, 0, day+1))
				w.Work()
			}

			evaluated := func() { testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction()))) }
			evaluated()

			if c.ends {
				w.SignIn("ann")
				w.End("ann")
				w.Work()
			}

			w.Strava.SetInactive(false)
			w.MoveClock(noon.AddDate(0, 0, c.days+1))

			for range 4 {
				reconcile(w)
				w.Pass(12 * time.Hour)
			}

			w.SignIn("ann")
			is := w.Show("ann", id)
			same(t, "the milestone", []any{is.State, progress(is)}, []any{c.state, c.want})
			w.Logs.TakeWarnings()
		})
	}
}
