package commitcollect_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/app"
)

// settling returns a world whose parts settle for an hour, with a user who has connected Strava.
func settling(t testing.TB) *commitcollecttest.World {
	t.Helper()

	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Settings[milestone.SettlingMinutes] = "60"

	return w
}

// settled is what a milestone shows of its parts: those that are reached and minted, and when the next one
// is minted, "" if none waits.
type settled struct {
	Progress       int64
	Earned, Minted int
	SettlesAt      string
	State          string
}

// shows returns what a milestone of ann shows of its parts.
func shows(w *commitcollecttest.World, id string) settled {
	w.T.Helper()

	got := testkit.Decode[struct {
		milestone.Milestone
		Awards []any
	}](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id, nil))
	at := ""

	if got.SettlesAt != nil {
		at = got.SettlesAt.Format(time.TimeOnly)
	}

	if len(got.Awards) != got.Awarded {
		w.T.Errorf("%d parts, %d awards", got.Awarded, len(got.Awards))
	}

	return settled{got.Progress, got.Earned, got.Awarded, at, got.State}
}

// TestPartIsMintedOnceItsWorkoutHasSettled: progress shows at once, the part an hour later.
func TestPartIsMintedOnceItsWorkoutHasSettled(t *testing.T) {
	t.Parallel()
	w := settling(t)
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})
	put(w, "ann", phoneRun("A", noon.Add(-5*time.Hour), 25_000, 1))
	stored := w.Clock.Now().Truncate(time.Second)
	at := stored.Add(time.Hour).Format(time.TimeOnly)

	for _, seconds := range []int{10, 901, 1802, 2703, 3530} {
		w.MoveClock(stored.Add(time.Duration(seconds) * time.Second))
		w.Work()
		same(t, "within the hour", shows(w, id), settled{25_000, 2, 0, at, "ACTIVE"})
	}

	w.MoveClock(stored.Add(time.Hour))
	w.Work()
	same(t, "an hour later", shows(w, id), settled{25_000, 2, 2, "", "ACTIVE"})
	same(t, "messages that wait", len(testkit.Messages[milestone.Settling](w.World, milestone.SettleQueue)), 0)

	remove(w, "ann", "A")
	w.Pass(time.Minute)
	same(t, "after its deletion", shows(w, id), settled{25_000, 2, 2, "", "ACTIVE"})
}

// TestBogusWorkoutLeavesNothing: one that is deleted within the hour, of Strava or of the phone, and one
// that is corrected: neither progress nor a part stays, and the milestone is not complete.
func TestBogusWorkoutLeavesNothing(t *testing.T) {
	t.Parallel()
	w := settling(t)
	phone, ofStrava := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"}), w.Start("ann", commitcollecttest.Goal{})
	put(w, "ann", phoneRun("A", noon.Add(-150*time.Hour), 11_000, 1))
	w.Upload(77, "Run", noon.Add(-150*time.Hour), 11_000)
	w.Pass(time.Minute)
	w.Pass(2 * time.Hour)

	for _, id := range []string{phone, ofStrava} {
		same(t, "before", shows(w, id), settled{11_000, 1, 1, "", "ACTIVE"})
	}

	put(w, "ann", phoneRun("B", noon.Add(-100*time.Hour), 500_000, 1), phoneRun("C", noon.Add(-30*time.Hour), 200_000, 1))
	drive := w.Upload(77, "Run", noon.Add(-30*time.Hour), 400_000)
	w.Pass(10 * time.Minute)

	for id, metres := range map[string]int64{phone: 711_000, ofStrava: 411_000} {
		got := shows(w, id)
		same(t, "while it is there", []any{got.Progress, got.Earned, got.Minted, got.SettlesAt != "", got.State},
			[]any{metres, 12, 1, true, "ACTIVE"})
	}

	remove(w, "ann", "B")
	put(w, "ann", phoneRun("C", noon.Add(-30*time.Hour), 2000, 2))
	w.Strava.Delete(drive)
	w.Pass(10 * time.Minute)

	want := map[string]settled{phone: {13_000, 1, 1, "", "ACTIVE"}, ofStrava: {11_000, 1, 1, "", "ACTIVE"}}
	for id := range want {
		same(t, "after its deletion", shows(w, id), want[id])
	}

	w.Pass(5 * time.Hour)
	w.Pass(time.Minute)

	for id := range want {
		same(t, "hours later", shows(w, id), want[id])
	}

	same(t, "parts in the trail", entriesOf(w, "ann")["MILESTONE_PART_MINTED success"], 2)
}

// TestEachWorkoutSettles: a part that two workouts earn is minted an hour after the later, and one that the
// earlier earns alone before. A change of what counts begins the hour anew, a new revision of the same does
// not.
func TestEachWorkoutSettles(t *testing.T) {
	t.Parallel()
	w := settling(t)
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})
	began := w.Clock.Now().Truncate(time.Second)
	clock := func(minutes int) string { return began.Add(time.Duration(minutes) * time.Minute).Format(time.TimeOnly) }

	for _, c := range []struct {
		at   int // minutes
		do   func()
		want settled
	}{
		{1, func() { put(w, "ann", phoneRun("A", noon.Add(-50*time.Hour), 6000, 1)) }, settled{6000, 0, 0, "", "ACTIVE"}},
		{11, func() { put(w, "ann", phoneRun("B", noon.Add(-30*time.Hour), 6000, 1)) }, settled{12_000, 1, 0, clock(71), "ACTIVE"}},
		{21, func() { put(w, "ann", phoneRun("C", noon.Add(-10*time.Hour), 9000, 1)) }, settled{21_000, 2, 0, clock(71), "ACTIVE"}},
		{31, func() { put(w, "ann", phoneRun("B", noon.Add(-30*time.Hour), 6000, 2)) }, settled{21_000, 2, 0, clock(71), "ACTIVE"}},
		{62, func() {}, settled{21_000, 2, 0, clock(71), "ACTIVE"}},
		{65, func() { put(w, "ann", phoneRun("B", noon.Add(-30*time.Hour), 6500, 3)) }, settled{21_500, 2, 0, clock(81), "ACTIVE"}},
		{82, func() {}, settled{21_500, 2, 1, clock(125), "ACTIVE"}},
		{120, func() {}, settled{21_500, 2, 1, clock(125), "ACTIVE"}},
		{126, func() {}, settled{21_500, 2, 2, "", "ACTIVE"}},
	} {
		w.MoveClock(began.Add(time.Duration(c.at) * time.Minute))
		c.do()
		w.Work()
		same(t, fmt.Sprint("after minutes: ", c.at), shows(w, id), c.want)
	}

	same(t, "messages that wait", len(testkit.Messages[milestone.Settling](w.World, milestone.SettleQueue)), 0)
}

// TestOneMessageWaits: however many workouts arrive within an hour, and however many milestones count them,
// a message waits for the next that settles, and no other. Without a change none is sent.
func TestOneMessageWaits(t *testing.T) {
	t.Parallel()
	w := settling(t)
	for range 5 {
		w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})
	}

	w.Work()

	for i := range 20 {
		put(w, "ann", phoneRun(fmt.Sprint("W", i), noon.Add(-time.Duration(10*i+10)*time.Hour), 5000, 1))
		w.Pass(time.Minute)
		same(t, fmt.Sprint("messages that wait after ", i), len(testkit.Messages[milestone.Settling](w.World, milestone.SettleQueue)), 1)
	}

	for range 6 {
		w.Pass(15 * time.Minute)
	}

	same(t, "messages that wait", len(testkit.Messages[milestone.Settling](w.World, milestone.SettleQueue)), 0)
}

// TestRequestDoesNotSettle: a recomputation that the user asks for mints what is settled only.
func TestRequestDoesNotSettle(t *testing.T) {
	t.Parallel()
	w := settling(t)
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Upload(77, "Run", noon.Add(-5*time.Hour), 25_000)
	w.Pass(time.Minute)
	same(t, "asked at once",
		testkit.Decode[commitcollecttest.Milestone](w.World, w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil)).PartsDelta, 0)
	same(t, "the milestone", shows(w, id).Minted, 0)
	w.MoveClock(w.Clock.Now().Add(time.Hour))
	same(t, "asked an hour later, before the message",
		testkit.Decode[commitcollecttest.Milestone](w.World, w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil)).PartsDelta, 2)
	w.Work()
	same(t, "the milestone, after the message", shows(w, id), settled{25_000, 2, 2, "", "ACTIVE"})
}

// TestPausedMilestoneSettles: one that is paused within the hour mints nothing, and when it is resumed what
// has settled meanwhile, also if the message has come in the pause.
func TestPausedMilestoneSettles(t *testing.T) {
	t.Parallel()
	w := settling(t)
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})
	put(w, "ann", phoneRun("A", noon.Add(-5*time.Hour), 25_000, 1))
	w.Pass(time.Minute)
	patch(w, id, map[string]any{"status": "PAUSED"})
	w.Pass(30 * time.Minute)
	put(w, "ann", phoneRun("B", noon.Add(-25*time.Hour), 10_000, 1))
	w.Pass(40 * time.Minute)
	same(t, "in the pause", shows(w, id), settled{25_000, 2, 0, "", "PAUSED"})
	patch(w, id, map[string]any{"status": "ACTIVE"})
	w.Work()
	got := shows(w, id)
	same(t, "resumed", []any{got.Progress, got.Earned, got.Minted, got.SettlesAt != ""}, []any{int64(35_000), 3, 2, true})
	w.Pass(20 * time.Minute)
	same(t, "when all are settled", shows(w, id), settled{35_000, 3, 3, "", "ACTIVE"})
}

// TestWorkoutOfTheLastHourSettles: one that arrives before the milestone closes settles afterwards, and one
// that arrives meanwhile does not count.
func TestWorkoutOfTheLastHourSettles(t *testing.T) {
	t.Parallel()
	w := settling(t)
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE", StartDay: "2026-06-01", EndDay: "2026-06-08", Total: 36_000})
	closes := time.Date(2026, 6, 16, 12, 0, 0, 0, time.UTC)
	day := time.Date(2026, 6, 7, 6, 0, 0, 0, time.UTC)

	w.MoveClock(closes.Add(-20 * time.Minute))
	put(w, "ann", phoneRun("A", day, 36_000, 1))
	w.Work()
	w.MoveClock(closes.Add(10 * time.Minute))
	w.Work()
	put(w, "ann", phoneRun("B", day.Add(10*time.Hour), 9000, 1))
	w.Work()
	same(t, "closed", shows(w, id), settled{36_000, 12, 0, "", "ENDED"})
	w.MoveClock(closes.Add(41 * time.Minute))
	w.Work()
	same(t, "settled", shows(w, id), settled{36_000, 12, 12, "", "COMPLETED"})
	w.Pass(2 * time.Hour)
	same(t, "later", shows(w, id), settled{36_000, 12, 12, "", "COMPLETED"})
}

// TestCompletedMilestoneCountsWhatWasEditedLater: a recomputation counts what the list of its workouts says. The other
// recording of a workout that was edited after the milestone closed does not count in its place.
func TestCompletedMilestoneCountsWhatWasEditedLater(t *testing.T) {
	t.Parallel()
	w := settling(t)
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE", StartDay: "2026-06-01", EndDay: "2026-06-08", Total: 12_000})
	day := time.Date(2026, 6, 7, 6, 0, 0, 0, time.UTC)

	w.MoveClock(day.Add(20 * time.Hour))
	put(w, "ann", phoneRun("A", day, 10_000, 1), phoneRun("B", day.Add(time.Minute), 10_200, 1), phoneRun("C", day.Add(9*time.Hour), 5000, 1))
	w.Pass(2 * time.Hour)
	same(t, "completed", shows(w, id), settled{15_000, 12, 12, "", "COMPLETED"})

	w.MoveClock(day.AddDate(0, 0, 30))
	w.SignIn("ann")
	put(w, "ann", phoneRun("A", day, 9800, 2))
	w.Pass(2 * time.Hour)

	out := w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil)
	same(t, "a recomputation", testkit.Decode[commitcollecttest.Milestone](w.World, out).RawProgress, int64(14_800))
	same(t, "what counted", reasonsOf(w, "ann", id)["B"], "duplicate")
}

// TestRowsOfBeforeAreSettled: what is stored without times was counted and minted at once. It stays.
func TestRowsOfBeforeAreSettled(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.Settings[milestone.SettlingMinutes] = "60"
	id := reached(w) // 25 km, of which parts of 10 km are minted

	old := func() { // as the code of before has written them
		for _, r := range testkit.Rows[stored](w.World, tables.Main) {
			for _, name := range []string{"settledValue", "settleDueAtUtc", "partDueAtUtc", "countedAtUtc", "source"} {
				delete(r, name)
			}

			entries, _ := r["entries"].([]any)
			for _, e := range entries {
				delete(e.(stored), "c")
			}

			testkit.PutRows(w.World, tables.Main, r)
		}
	}

	row := func() []any {
		r := testkit.Row[stored](w.World, tables.Main, "USER#ann", item.Milestone(id))
		return []any{r["progressValue"], r["rawProgress"], r["partsAwardedCount"]}
	}

	old()
	testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
	same(t, "workouts of before earn at once", row(), []any{25_000.0, 25_000.0, 2.0})

	old()
	testkit.Must(t, w.DeleteRow(tables.Main, "USER#ann", "LEDGER#2026-06"))
	testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
	same(t, "progress of before stays", row(), []any{25_000.0, 0.0, 2.0})

	// The code of before mints a third part while both run.
	r := testkit.Row[stored](w.World, tables.Main, "USER#ann", item.Milestone(id))
	r["progressValue"], r["partsAwardedCount"], r["partsNoticedCount"], r["status"] = 30_500, 3, 3, "ACTIVE"
	testkit.PutRows(w.World, tables.Main, r)
	testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
	same(t, "what another has minted is reached", row(), []any{30_000.0, 0.0, 3.0})
}

// TestSettlingTime: what the setting may be.
func TestSettlingTime(t *testing.T) {
	t.Parallel()
	w := small(t)

	for text, ok := range map[string]bool{"": true, "0": true, "60": true, "1440": true, "1441": false, "-1": false, "an hour": false} {
		w.Settings[milestone.SettlingMinutes] = text
		if _, err := milestone.Open(t.Context(), w.Env(milestone.EvaluateMilestonesFunction())); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// reachedLately prepares a milestone of which a workout has earned two parts that settle for an hour.
func reachedLately(w *commitcollecttest.World) {
	w.Settings[milestone.SettlingMinutes] = "60"
	reached(w)
}

// settle handles the message that workouts of ann are settled at a time.
func settle(at func(*commitcollecttest.World) time.Time) func(*commitcollecttest.World, app.Env) error {
	return func(w *commitcollecttest.World, env app.Env) error {
		m := milestone.Settling{UserID: "ann", DueAt: at(w).Unix()}
		return testkit.OpenWith(w.World, env, milestone.Open).SettleMilestones(w.NewContext(), m)
	}
}

func init() {
	jobs["parts are earned and not settled"] = job{milestone.EvaluateMilestonesFunction(), reachedLately, evaluate}
	jobs["parts are earned, not settled, and computed on request"] = job{milestone.RecomputeMilestoneFunction(), reachedLately,
		jobs["parts are minted on request"].run}
	jobs["settled parts are minted"] = job{milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) {
		reachedLately(w)
		testkit.Must(w.T, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
		w.MoveClock(w.Clock.Now().Add(time.Hour))
	}, evaluate}
	jobs["a message waits for workouts to settle"] = job{milestone.SettleMilestonesFunction(), nothing,
		settle(func(*commitcollecttest.World) time.Time { return noon.AddDate(0, 0, 1) })}
	jobs["workouts have settled"] = job{milestone.SettleMilestonesFunction(), nothing,
		settle(func(*commitcollecttest.World) time.Time { return noon })}
}

// TestSettledPartIsMintedOnce: wherever a worker dies, before the workouts settle or after, each part is
// minted once, and one message has told of both.
func TestSettledPartIsMintedOnce(t *testing.T) {
	t.Parallel()

	for _, later := range []time.Duration{0, time.Hour} {
		crashes(func(p *dynamotest.Process) bool {
			w := small(t)
			reachedLately(w)

			if later > 0 {
				testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
				w.MoveClock(w.Clock.Now().Add(later))
			}

			err := evaluate(w, w.CrashingEnv(milestone.EvaluateMilestonesFunction(), p))
			again(w)
			testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))

			for range 5 {
				w.Pass(15 * time.Minute)
			}

			same(t, "entries of minted parts", entriesOf(w, "ann")["MILESTONE_PART_MINTED success"], 2)
			same(t, "messages that wait", len(testkit.Messages[milestone.Settling](w.World, milestone.SettleQueue)), 0)
			w.Logs.TakeWarnings()

			return err != nil
		})
	}
}
