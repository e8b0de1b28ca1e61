package commitcollect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/commitcollect/userdata"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
)

// row is an item of the main table, nil if there is none.
func row(w *commitcollecttest.World, pk, sk string) map[string]any {
	w.T.Helper()

	for _, r := range testkit.Rows[map[string]any](w.World, tables.Main) {
		if r["PK"] == pk && r["SK"] == sk {
			return r
		}
	}

	return nil
}

// workoutOf returns the item of an activity.
func workoutOf(w *commitcollecttest.World, user string, id int64) map[string]any {
	w.T.Helper()
	return row(w, "USER#"+user, fmt.Sprint("WORKOUT#STRAVA#", id))
}

// trailOf returns the events of a user with their results, in the order of their keys.
func trailOf(w *commitcollecttest.World, user string) (all []string) {
	w.T.Helper()
	rows := testkit.Rows[trail.Row](w.World, tables.Audit)
	slices.SortFunc(rows, func(a, b trail.Row) int { return strings.Compare(a.SK, b.SK) })

	for _, r := range rows {
		if r.PK == "USER#"+user {
			all = append(all, string(r.EventType)+" "+string(r.Result))
		}
	}

	return all
}

// TestFaultsOfTheForerunner: the eleven faults of the system that the seed describes.
func TestFaultsOfTheForerunner(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]func(t *testing.T){
		"1 a renewed token is written, though status is a reserved word": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			before := row(w, "USER#ann", "STRAVA#CONNECTION")
			w.Pass(7 * time.Hour)
			id := w.Upload(77, "Run", w.Clock.Now().Add(-time.Hour), 5000)
			w.Pass(time.Minute)

			after := row(w, "USER#ann", "STRAVA#CONNECTION")
			if after["expiresAtUtc"].(float64) <= before["expiresAtUtc"].(float64) || after["refreshToken"] == before["refreshToken"] ||
				after["status"] != link.Connected || after["refreshLock"] != nil {
				t.Errorf("the connection is %v, want a renewed one", after)
			}

			if workoutOf(w, "ann", id)["distanceMeters"] != 5000.0 {
				t.Error("the workout is not stored")
			}
		},
		"2 ascent is written, and elevation milestones progress": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			id := w.Start("ann", commitcollecttest.Goal{Target: "ELEVATION_METERS", Total: 1200})
			a := w.Strava.Upload(77, strava.Activity{SportType: "TrailRun", StartDate: noon.Add(-time.Hour), Distance: 9000, ElevationGain: 349.6})
			w.Pass(time.Minute)

			if got := workoutOf(w, "ann", a)["total_elevation_gain"]; got != 350.0 {
				t.Errorf("total_elevation_gain is %v, want 350", got)
			}

			if got := w.Show("ann", id); got.ProgressValue != 350 || got.PartsAwardedCount != 3 {
				t.Errorf("the milestone is %+v, want 350 m and 3 parts", got)
			}
		},
		"3 a deleted workout keeps its distance, and does not count": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			id := w.Start("ann", commitcollecttest.Goal{})
			a := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
			w.Pass(time.Minute)
			w.Strava.Delete(a)
			w.Pass(time.Minute)

			got := workoutOf(w, "ann", a)
			if got["isDeleted"] != true || got["deletedAtUtc"] == nil || got["distanceMeters"] != 5000.0 || got["sportType"] != "Run" {
				t.Errorf("the workout is %v, want isDeleted, and all that it had", got)
			}

			if m := w.Show("ann", id); m.RawProgress != 0 || m.ProgressValue != 5000 {
				t.Errorf("the milestone is %+v, want nothing counted, and the progress kept", m)
			}
		},
		"4 an event is not lost by a crash after it was claimed": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			a := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
			w.MoveClock(noon.Add(time.Minute))

			p := dynamotest.CrashAt(3, false) // after the claim
			m := testkit.Messages[workout.Event](w.World, workout.EventQueue)[0]

			crashed := testkit.OpenWith(w.World, w.CrashingEnv(workout.IngestEventsFunction(), p), workout.OpenIngester)
			if err := crashed.IngestEvent(w.NewContext(), m); err == nil {
				t.Fatal("the crashed run reports success")
			}

			whole := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)
			testkit.Must(t, whole.IngestEvent(w.NewContext(), m)) // sent again for when the first worker must be dead
			same(t, "the delay of the event", waiting(w, workout.EventQueue.Name)[1:], []time.Duration{2*time.Minute + time.Second})

			w.Pass(15 * time.Minute)

			if workoutOf(w, "ann", a)["distanceMeters"] != 5000.0 {
				t.Error("the event is lost")
			}
		},
		"5 an expired session is refused, while its item is there": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			w.MoveClock(noon.Add(30*24*time.Hour - time.Second))

			if out := w.Ask("ann", http.MethodGet, "/session", nil); out.StatusCode != 200 {
				t.Errorf("a second before the end: %d %s", out.StatusCode, out.Body)
			}

			w.MoveClock(noon.Add(30 * 24 * time.Hour))
			refused(t, "at the end", w.Ask("ann", http.MethodGet, "/session", nil), 401, "invalid_session")

			if out := w.Ask("ann", http.MethodGet, "/viewer", nil); out.StatusCode != 200 || !strings.Contains(out.Body, `"signedIn":false`) {
				t.Errorf("the viewer: %d %s", out.StatusCode, out.Body)
			}

			if n := len(testkit.Rows[map[string]any](w.World, tables.Sessions)); n == 0 {
				t.Error("there is no item of the session")
			}
		},
		"6 the deletion of an account can be repeated, and ends all sessions": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			w.SignInAgain("ann", "ann's phone")

			p := dynamotest.CrashAt(2, false) // the message is not sent

			s := testkit.OpenWith(w.World, w.CrashingEnv(userdata.DeleteAccountFunction(), p), userdata.OpenDeleter)
			if _, err := s.DeleteAccount(w.NewContext(), &userdata.DeleteAccount{User: user("ann")}); err == nil {
				t.Fatal("the crashed request reports success")
			}

			if out := w.Ask("ann", http.MethodDelete, "/account", nil); out.StatusCode != http.StatusAccepted ||
				!strings.Contains(fmt.Sprint(out.Cookies), "Max-Age=0") {
				t.Errorf("the second request: %d %s %v, want it accepted and the cookie cleared", out.StatusCode, out.Body, out.Cookies)
			}

			same(t, "the messages to the accounts", testkit.Messages[account.Deletion](w.World, account.DeleteQueue),
				[]account.Deletion{{UserID: "ann"}})
			testkit.Must(t, forget(w, "ann"))
			refused(t, "the other session", w.Ask("ann's phone", http.MethodGet, "/session", nil), 401, "invalid_session")
		},
		"7 the last part is minted exactly when the milestone completes": func(t *testing.T) {
			for _, total := range []int64{1_000, 1_000_000, 42_195, 100_000, 7} {
				g := tally.Goal{Total: total, Parts: 12}
				if g.Earned(total) != 12 || g.Earned(total-1) != 11 && total > 12 {
					t.Errorf("%d m of %d earn %d parts, and %d m %d", total, total, g.Earned(total), total-1, g.Earned(total-1))
				}
			}

			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			id := w.Start("ann", commitcollecttest.Goal{Total: 1_000_000})
			w.Upload(77, "Run", noon.Add(-time.Hour), 999_999)
			w.Pass(time.Minute)

			if m := w.Show("ann", id); m.Status != "ACTIVE" || m.PartsAwardedCount != 11 || m.RemainingToNextPart != 1 {
				t.Errorf("after 999,999 m: %+v", m)
			}

			w.Upload(77, "Run", noon.Add(-2*time.Hour), 1)
			w.Pass(time.Minute)

			if m := w.Show("ann", id); m.Status != "COMPLETED" || m.PartsAwardedCount != 12 || len(m.Awards) != 12 {
				t.Errorf("after 1,000,000 m: %+v, want 12 parts", m)
			}
		},
		"8 all sport types of a family count": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")

			run, ride := w.Start("ann", commitcollecttest.Goal{}), w.Start("ann", commitcollecttest.Goal{Sport: "RIDE"})
			for i, sport := range []string{"Run", "TrailRun", "VirtualRun", "Ride", "MountainBikeRide", "GravelRide", "VirtualRide",
				"EBikeRide", "Handcycle", "Walk"} {
				w.Upload(77, sport, noon.Add(-time.Duration(i+1)*time.Hour), 1000)
			}

			w.Pass(time.Minute)

			if a, b := w.Show("ann", run).ProgressValue, w.Show("ann", ride).ProgressValue; a != 3000 || b != 4000 {
				t.Errorf("runs count %d m, rides %d m, want 3,000 and 4,000", a, b)
			}
		},
		"9 the recent workouts are the latest by their start, whatever their ids": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{})
			w.SignIn("ann")

			for n := range 230 {
				w.Upload(77, "Run", noon.Add(-time.Duration(n+2)*6*time.Hour), 1000)
			}

			w.Strava.Upload(77, strava.Activity{
				ID:        999_999_999,
				Name:      "The latest",
				SportType: "Run",
				StartDate: noon.Add(-time.Hour),
				Distance:  1000,
			})
			w.Connect("ann", 77)
			w.Work()

			got := testkit.Decode[struct {
				Workouts []struct{ ActivityID, Name string }
			}](w.World, w.Ask("ann", http.MethodGet, "/activities/recent?limit=3", nil)).Workouts
			if len(got) != 3 || got[0].Name != "The latest" {
				t.Errorf("the recent workouts are %v", got)
			}

			if out := w.Ask("ann", http.MethodGet, "/strava/status", nil); !strings.Contains(out.Body, `"workoutCount":231`) {
				t.Errorf("the status is %s, want 231 workouts", out.Body)
			}
		},
		"10 two entries of the trail in one second of one request are two": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			w.Start("ann", commitcollecttest.Goal{})
			w.Upload(77, "Run", noon.Add(-time.Hour), 35_000)
			w.Pass(time.Minute)

			got := slices.DeleteFunc(trailOf(w, "ann"), func(e string) bool { return e != "MILESTONE_PART_MINTED success" })
			if len(got) != 3 {
				t.Errorf("the trail has %d minted parts, want 3", len(got))
			}
		},
		"11 progress never falls": func(t *testing.T) {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			id := w.Start("ann", commitcollecttest.Goal{})
			a := w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
			w.Pass(time.Minute)
			w.Strava.Edit(a, map[string]any{}, func(a *strava.Activity) { a.Distance = 2500 })
			w.Pass(time.Minute)

			m := w.Show("ann", id)
			if m.ProgressValue != 25_000 || m.RawProgress != 2_500 || m.PartsAwardedCount != 2 {
				t.Errorf("the milestone is %+v, want 25,000 m kept, and 2,500 m now", m)
			}

			w.Upload(77, "Run", noon.Add(-3*time.Hour), 22_500)
			w.Pass(time.Minute)

			if m := w.Show("ann", id); m.ProgressValue != 25_000 || m.PartsAwardedCount != 2 {
				t.Errorf("the milestone is %+v: what was lost is to be run again", m)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}
