package cricket

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/score"
)

// scored stores the score of a match, and so the names of its teams.
func (w *world) scored(f fixture) {
	w.T.Helper()
	state := score.State{ID: f.MatchID, Local: score.Team{ID: "11", Name: "Harbour"}, Visitor: score.Team{ID: "12", Name: "Valley"}}
	c, err := newCached(f, state, 0, w.Clock.Now())
	testkit.Must(w.T, err)
	testkit.Put(w.World, fixtureCache, c)
}

func TestReminderOfAMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.active()
	w.scored(w.due("7", 16*time.Minute))
	r := testkit.Open(w.World, RemindPrematchFunction, OpenReminder)
	for range 20 {
		testkit.Must(t, r.RemindPrematch(w.Ctx()))
		w.To(w.Clock.Now().Add(time.Minute))
	}
	began := kickOff.Add(-time.Hour)
	want := []Alert{{
		MatchID: "7", Key: reminderKey, Kind: score.StartEvent, Match: "Harbour v Valley", Title: "Harbour v Valley",
		At: began.Add(time.Minute).Unix(),
	}}
	if got := testkit.Messages[Alert](w.World, alertQueue); !reflect.DeepEqual(got, want) {
		t.Errorf("the alerts are\n%+v, want\n%+v", got, want)
	}
	mark := testkit.Row[reminded](w.World, prematch, "7", wholeMatch)
	if want := (reminded{"7", wholeMatch, "", began.Add(time.Minute + keepReminder).Unix()}); mark != want {
		t.Errorf("the mark is %+v, want %+v", mark, want)
	}
	w.scored(w.due("7", 10*time.Minute)) // moved
	testkit.Must(t, r.RemindPrematch(w.Ctx()))
	if got := testkit.Messages[Alert](w.World, alertQueue); len(got) != 1 {
		t.Errorf("after the match was moved the alerts are %+v", got)
	}
}

func TestReminderOfWhichMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.active()
	w.tellsOf(map[string]candidate{
		"1":  {15 * time.Minute, func(*fixture) {}, true},
		"2":  {15*time.Minute + time.Second, func(*fixture) {}, false},
		"4":  {time.Second, func(*fixture) {}, true},
		"5":  {0, func(*fixture) {}, false},
		"6":  {-time.Minute, func(*fixture) {}, false},
		"7":  {5 * time.Minute, func(f *fixture) { f.Status = "Delayed" }, false},
		"8":  {5 * time.Minute, func(f *fixture) { f.Status = "Postp." }, false},
		"9":  {5 * time.Minute, func(f *fixture) { f.Status = "Cancl." }, false},
		"10": {5 * time.Minute, func(f *fixture) { f.Status, f.Live, f.LiveUpdatedAt = "1st Innings", live, 1 }, false},
		"11": {5 * time.Minute, func(f *fixture) { f.EndingAt = 1 }, false},
		"12": {5 * time.Minute, func(f *fixture) { f.LeagueCode = "ODI" }, false},
	}, testkit.Open(w.World, RemindPrematchFunction, OpenReminder).RemindPrematch)
	for _, m := range testkit.Messages[Alert](w.World, alertQueue) {
		if m.Title != "Your match" { // without a score
			t.Errorf("the alert is %+v", m)
		}
	}
}

func TestStartsIn(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]string{
		15 * time.Minute: "Starts in 15 minutes", 61 * time.Second: "Starts in 2 minutes",
		time.Minute: "Starts in 1 minute", time.Second: "Starts in 1 minute",
	} {
		if got := startsIn(in); got != want {
			t.Errorf("%v before the start is said %q, want %q", in, got, want)
		}
	}
}

// TestReminderTellsTheMinutesLeft has a reminder that Apple could not take tell
// how long it is then.
func TestReminderTellsTheMinutesLeft(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.active()
	w.scored(w.due("7", 12*time.Minute))
	w.fan("ann", "11")
	w.fan("spoiler-free", "11")
	prefers := defaults()
	prefers.SpoilerFree = true
	w.prefer("spoiler-free", prefers)
	testkit.Must(t, testkit.Open(w.World, RemindPrematchFunction, OpenReminder).RemindPrematch(w.Ctx()))
	w.To(w.Clock.Now().Add(2*time.Minute + time.Second))
	w.phones.Answer("", apns.Refuse(apns2.ReasonServiceUnavailable))
	a := w.alerter(w.Env(SendAlertsFunction))
	testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert)
	w.phones.Answer("")
	w.To(w.Clock.Now().Add(2 * time.Minute))
	testkit.Drain(w.World, alertQueue, 5*time.Minute, a.SendAlert)
	for _, name := range []string{"ann", "spoiler-free"} {
		if got := w.told(name); len(got) != 1 || got[0] == "Harbour v Valley|Starts in 12 minutes" || !strings.HasPrefix(got[0], "Harbour v Valley|Starts in ") {
			t.Errorf("%s is told %q", name, got)
		}
	}
}

// TestReminderOfTheOthers has one match's trouble keep no other from being
// reminded of.
func TestReminderOfTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.active()
	broken := w.due("7", 5*time.Minute)
	testkit.Put(w.World, fixtureCache, cached{MatchID: broken.MatchID, LeagueID: "3", StartingAt: broken.StartTime, StateJSON: "{"})
	w.scored(w.due("8", 10*time.Minute))
	if err := testkit.Open(w.World, RemindPrematchFunction, OpenReminder).RemindPrematch(w.Ctx()); err == nil {
		t.Error("no error tells of a score that cannot be read")
	}
	if got := testkit.Messages[Alert](w.World, alertQueue); len(got) != 1 || got[0].MatchID != "8" {
		t.Errorf("the alerts are %+v", got)
	}
}

// TestReminderReachesPhones takes a reminder from the schedule to the phones,
// whatever is delivered or run again.
func TestReminderReachesPhones(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.active()
	w.scored(w.due("7", 12*time.Minute))
	w.fan("ann", "11")
	w.fan("bob", "", func(f *following, _ *device) { f.MatchID = "8" })
	r, a := testkit.Open(w.World, RemindPrematchFunction, OpenReminder), w.alerter(w.Env(SendAlertsFunction))
	for range 3 {
		testkit.Must(t, r.RemindPrematch(w.Ctx()))
		testkit.Must(t, w.Drop(prematch, "7", wholeMatch)) // as a crash before the mark would
	}
	if n := testkit.Drain(w.World, alertQueue, time.Minute, a.SendAlert); n != 3 {
		t.Errorf("%d messages were sent", n)
	}
	if got := w.told("ann"); w.rung("ann") != 1 || !slices.Equal(got, []string{"Harbour v Valley|Starts in 12 minutes"}) || w.rung("bob") != 0 {
		t.Errorf("the phone rang %d times, and shows %q", w.rung("ann"), got)
	}
}

func TestRemindPrematchCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		w.active()
		w.scored(w.due("7", 12*time.Minute))
		w.fan("ann", "11")
		r := testkit.OpenWith(w.World, w.Crashing(RemindPrematchFunction, p), OpenReminder)
		r.RemindPrematch(w.Ctx())
		testkit.Must(t, testkit.Open(w.World, RemindPrematchFunction, OpenReminder).RemindPrematch(w.Ctx()))
		testkit.Drain(w.World, alertQueue, time.Hour, w.alerter(w.Env(SendAlertsFunction)).SendAlert)
		if n := w.rung("ann"); n != 1 {
			t.Errorf("the phone rang %d times", n)
		}
		return w.telling()
	})
}

// TestAlertsKeepSecrets has no log line of the alerts hold a token, or say who a
// user is.
func TestAlertsKeepSecrets(t *testing.T) {
	t.Parallel()
	w := alerting(t)
	w.active()
	w.due("8", time.Hour)
	w.fan("user-4711", "11", starter(18))
	w.said = func(string) (int, string) { return http.StatusForbidden, apiToken }
	testkit.Must(t, testkit.Open(w.World, DetectTossFunction, OpenTossDetector).DetectToss(w.Ctx()))
	a := w.alerter(w.Env(SendAlertsFunction))
	testkit.Must(t, a.SendAlert(w.Ctx(), w.begun()))
	lines := w.Logs.Lines()
	if len(lines) < 2 {
		t.Fatalf("the log is %+v", lines)
	}
	for _, l := range lines {
		text := fmt.Sprint(l.Text, l.Attrs)
		for _, secret := range []string{apiToken, token("user-4711"), token("user-4711 starts"), "user-4711"} {
			if strings.Contains(text, secret) {
				t.Errorf("the log says %q", text)
			}
		}
	}
}
