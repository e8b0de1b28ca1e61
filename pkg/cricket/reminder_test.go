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

	"matchday/infra/local/apns"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/dynamo/dynamotest"
)

// scored stores the score of a match, and so the names of its teams.
func (w *world) scored(f fixture) {
	w.t.Helper()
	state := score.State{ID: f.MatchID, Local: score.Team{ID: "11", Name: "Harbour"}, Visitor: score.Team{ID: "12", Name: "Valley"}}
	c, err := newCached(f, state, 0, w.clock.Now())
	must(w.t, err)
	w.put(fixtureCache, c)
}

func TestReminderOfAMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.active()
	w.scored(w.due("7", 16*time.Minute))
	r := open(w, RemindPrematchFunction, OpenReminder)
	for range 20 {
		must(t, r.RemindPrematch(w.ctx()))
		w.to(w.clock.Now().Add(time.Minute))
	}
	began := kickOff.Add(-time.Hour)
	want := []Alert{{
		MatchID: "7", Key: reminderKey, Kind: score.StartEvent, Match: "Harbour v Valley", Title: "Harbour v Valley",
		At: began.Add(time.Minute).Unix(),
	}}
	if got := messages[Alert](w, alertQueue); !reflect.DeepEqual(got, want) {
		t.Errorf("the alerts are\n%+v, want\n%+v", got, want)
	}
	mark := row[reminded](w, checkReminder, "7", wholeMatch)
	if want := (reminded{"7", wholeMatch, "", began.Add(time.Minute + keepReminder).Unix()}); mark != want {
		t.Errorf("the mark is %+v, want %+v", mark, want)
	}
	w.scored(w.due("7", 10*time.Minute)) // moved
	must(t, r.RemindPrematch(w.ctx()))
	if got := messages[Alert](w, alertQueue); len(got) != 1 {
		t.Errorf("after the match was moved the alerts are %+v", got)
	}
}

func TestReminderOfWhichMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.active()
	for id, c := range map[string]struct {
		in   time.Duration
		edit func(*fixture)
		want bool
	}{
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
	} {
		w.due(id, c.in, c.edit)
		defer func() {
			got := false
			for _, m := range messages[Alert](w, alertQueue) {
				if m.MatchID == id {
					got = true
					if m.Title != "Your match" { // without a score
						t.Errorf("the alert is %+v", m)
					}
				}
			}
			if got != c.want {
				t.Errorf("match %s is reminded of: %v, want %v", id, got, c.want)
			}
		}()
	}
	must(t, open(w, RemindPrematchFunction, OpenReminder).RemindPrematch(w.ctx()))
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
	must(t, open(w, RemindPrematchFunction, OpenReminder).RemindPrematch(w.ctx()))
	w.to(w.clock.Now().Add(2*time.Minute + time.Second))
	w.phones.Answer("", apns.Refuse(apns2.ReasonServiceUnavailable))
	a := w.alerter(w.env(SendAlertsFunction))
	drain(w, alertQueue, time.Minute, a.SendAlert)
	w.phones.Answer("")
	w.to(w.clock.Now().Add(2 * time.Minute))
	drain(w, alertQueue, 5*time.Minute, a.SendAlert)
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
	w.put(fixtureCache, cached{MatchID: broken.MatchID, LeagueID: "3", StartingAt: broken.StartTime, StateJSON: "{"})
	w.scored(w.due("8", 10*time.Minute))
	if err := open(w, RemindPrematchFunction, OpenReminder).RemindPrematch(w.ctx()); err == nil {
		t.Error("no error tells of a score that cannot be read")
	}
	if got := messages[Alert](w, alertQueue); len(got) != 1 || got[0].MatchID != "8" {
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
	r, a := open(w, RemindPrematchFunction, OpenReminder), w.alerter(w.env(SendAlertsFunction))
	for range 3 {
		must(t, r.RemindPrematch(w.ctx()))
		must(t, w.drop2(prematch, "7", wholeMatch)) // as a crash before the mark would
	}
	if n := drain(w, alertQueue, time.Minute, a.SendAlert); n != 3 {
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
		r, err := OpenReminder(t.Context(), w.crashing(RemindPrematchFunction, p))
		must(t, err)
		r.RemindPrematch(w.ctx())
		must(t, open(w, RemindPrematchFunction, OpenReminder).RemindPrematch(w.ctx()))
		drain(w, alertQueue, time.Hour, w.alerter(w.env(SendAlertsFunction)).SendAlert)
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
	must(t, open(w, DetectTossFunction, OpenTossDetector).DetectToss(w.ctx()))
	a := w.alerter(w.env(SendAlertsFunction))
	must(t, a.SendAlert(w.ctx(), w.begun()))
	w.logs.mu.Lock()
	defer w.logs.mu.Unlock()
	if len(w.logs.lines) < 2 {
		t.Fatalf("the log is %+v", w.logs.lines)
	}
	for _, l := range w.logs.lines {
		text := fmt.Sprint(l.text, l.attrs)
		for _, secret := range []string{apiToken, token("user-4711"), token("user-4711 starts"), "user-4711"} {
			if strings.Contains(text, secret) {
				t.Errorf("the log says %q", text)
			}
		}
	}
}
