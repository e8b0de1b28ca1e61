package alert_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sideshow/apns2"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/words"
)

// storeScore stores the score of a match, which contains the names of its teams.
func storeScore(w *crickettest.World, f match.Fixture) {
	w.T.Helper()

	state := score.State{ID: f.MatchID, Local: score.Team{ID: "11", Name: "Harbour"}, Visitor: score.Team{ID: "12", Name: "Valley"}}
	c, err := match.NewScoreRow(f, state, 0, w.Clock.Now())
	testkit.Must(w.T, err)
	testkit.PutRows(w.World, tables.FixtureCache, c)
}

func TestMatchIsRemindedOnce(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	activateLeague(w)
	storeScore(w, addMatch(w, "7", 16*time.Minute))

	r := testkit.Open(w.World, alert.RemindPrematchFunction(), alert.OpenReminder)
	for range 20 {
		testkit.Must(t, r.RemindPrematch(w.NewContext()))
		w.MoveClock(w.Clock.Now().Add(time.Minute))
	}

	began := crickettest.KickOff.Add(-time.Hour)

	want := []alert.Alert{{
		MatchID: "7",
		Key:     alert.ReminderKey + began.Add(16*time.Minute).Format(tables.TimeLayout),
		Kind:    event.Start,
		Match:   "Harbour v Valley",
		Title:   "Harbour v Valley",
		Says:    &event.Says{Match: words.Say("%@ v %@", "Harbour", "Valley"), Title: words.Say("%@ v %@", "Harbour", "Valley")},
		At:      began.Add(time.Minute).Unix(),
	}}
	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); !cmp.Equal(want, got) {
		t.Errorf("the alerts differ:\n%s", cmp.Diff(want, got))
	}

	mark := testkit.Row[alert.PrematchRow](w.World, tables.Prematch, "7", alert.WholeMatch)
	if want := (alert.PrematchRow{
		MatchID: "7",
		UserID:  alert.WholeMatch,
		Start:   began.Add(16 * time.Minute).Format(tables.TimeLayout),
		TTL:     began.Add(time.Minute + alert.KeepReminder).Unix(),
	}); mark != want {
		t.Errorf("the mark differs:\n%s", cmp.Diff(want, mark))
	}

	storeScore(w, addMatch(w, "7", 10*time.Minute)) // moved
	testkit.Must(t, r.RemindPrematch(w.NewContext()))

	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 {
		t.Errorf("after the match was moved the alerts are %+v, want no second one", got)
	}
}

func TestWhichMatchesAreReminded(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	activateLeague(w)
	expectAlerts(w, map[string]candidate{
		"1":  {15 * time.Minute, func(*match.Fixture) {}, true},
		"2":  {15*time.Minute + time.Second, func(*match.Fixture) {}, false},
		"4":  {time.Second, func(*match.Fixture) {}, true},
		"5":  {0, func(*match.Fixture) {}, false},
		"6":  {-time.Minute, func(*match.Fixture) {}, false},
		"7":  {5 * time.Minute, func(f *match.Fixture) { f.Status = "Delayed" }, false},
		"8":  {5 * time.Minute, func(f *match.Fixture) { f.Status = "Postp." }, false},
		"9":  {5 * time.Minute, func(f *match.Fixture) { f.Status = "Cancl." }, false},
		"10": {5 * time.Minute, func(f *match.Fixture) { f.Status, f.Live, f.LiveUpdatedAt = "1st Innings", match.Live, 1 }, false},
		"11": {5 * time.Minute, func(f *match.Fixture) { f.EndingAt = 1 }, false},
		"12": {5 * time.Minute, func(f *match.Fixture) { f.LeagueCode = "ODI" }, false},
	}, testkit.Open(w.World, alert.RemindPrematchFunction(), alert.OpenReminder).RemindPrematch)

	for _, m := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
		if m.Title != "Your match" { // without a score
			t.Errorf("the alert is %+v, want the title of a match without a score", m)
		}
	}
}

func TestStartsInRoundsUpToMinutes(t *testing.T) {
	t.Parallel()

	for in, want := range map[time.Duration]string{
		15 * time.Minute: "Starts in 15 minutes", 61 * time.Second: "Starts in 2 minutes",
		time.Minute: "Starts in 1 minute", time.Second: "Starts in 1 minute",
		1: "Starts in 1 minute", time.Minute + 1: "Starts in 2 minutes", 2 * time.Minute: "Starts in 2 minutes", 0: "Starts in 0 minutes",
	} {
		if got := alert.StartsIn(in); got != want {
			t.Errorf("%v before the start: %q, want %q", in, got, want)
		}
	}
}

// A reminder that is retried states the minutes left at that time.
func TestDelayedReminderStatesTheMinutesLeft(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	activateLeague(w)
	storeScore(w, addMatch(w, "7", 12*time.Minute))
	addFollower(w, "ann", "11")
	addFollower(w, "spoiler-free", "11")

	prefers := follower.DefaultPreferences()
	prefers.SpoilerFree = true
	setPreferences(w, "spoiler-free", prefers)
	testkit.Must(t, testkit.Open(w.World, alert.RemindPrematchFunction(), alert.OpenReminder).RemindPrematch(w.NewContext()))
	w.MoveClock(w.Clock.Now().Add(2*time.Minute + time.Second))
	w.Phones.Answer("", apns.Refuse(apns2.ReasonServiceUnavailable))
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert)
	w.Phones.Answer("")
	w.MoveClock(w.Clock.Now().Add(2 * time.Minute))
	testkit.Drain(w.World, tables.AlertQueue, 5*time.Minute, a.SendAlert)

	for _, name := range []string{"ann", "spoiler-free"} {
		if got := alertsOf(w, name); len(got) != 1 || got[0] == "Harbour v Valley|Starts in 12 minutes" ||
			!strings.HasPrefix(got[0], "Harbour v Valley|Starts in ") {
			t.Errorf("%s got the alerts %q, want one with less than 12 minutes", name, got)
		}
	}
}

func TestErrorOfOneMatchDoesNotBlockOtherReminders(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	activateLeague(w)
	broken := addMatch(w, "7", 5*time.Minute)
	testkit.PutRows(w.World, tables.FixtureCache,
		match.ScoreRow{MatchID: broken.MatchID, LeagueID: "3", StartingAt: broken.StartTime, StateJSON: "{"})
	storeScore(w, addMatch(w, "8", 10*time.Minute))

	if err := testkit.Open(w.World, alert.RemindPrematchFunction(), alert.OpenReminder).RemindPrematch(w.NewContext()); err == nil {
		t.Error("no error for a score that cannot be decoded")
	}

	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) != 1 || got[0].MatchID != "8" {
		t.Errorf("the alerts are %+v, want that of match 8", got)
	}
}

// A reminder reaches each phone once, from the schedule to the phone, also if the job
// is repeated.
func TestReminderReachesPhones(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	activateLeague(w)
	storeScore(w, addMatch(w, "7", 12*time.Minute))
	addFollower(w, "ann", "11")
	addFollower(w, "bob", "", func(f *follower.FollowRow, _ *follower.DeviceRow) { f.MatchID = "8" })

	r, a := testkit.Open(w.World, alert.RemindPrematchFunction(), alert.OpenReminder), openAlerter(w, w.Env(alert.SendAlertsFunction()))
	for range 3 {
		testkit.Must(t, r.RemindPrematch(w.NewContext()))
		testkit.Must(t, w.DeleteRow(tables.Prematch, "7", alert.WholeMatch)) // as after a crash before the mark
	}

	if n := testkit.Drain(w.World, tables.AlertQueue, time.Minute, a.SendAlert); n != 3 {
		t.Errorf("%d messages were handled, want 3", n)
	}

	if got := alertsOf(w, "ann"); ringCount(w, "ann") != 1 || !slices.Equal(got, []string{"Harbour v Valley|Starts in 12 minutes"}) ||
		ringCount(w, "bob") != 0 {
		t.Errorf("the phone rang %d times and has %q, want 1 and one reminder; the other follower got none", ringCount(w, "ann"), got)
	}
}

func TestRemindPrematchIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := worldWithFollowedMatch(t)
		activateLeague(w)
		storeScore(w, addMatch(w, "7", 12*time.Minute))
		addFollower(w, "ann", "11")

		r := testkit.OpenWith(w.World, w.CrashingEnv(alert.RemindPrematchFunction(), p), alert.OpenReminder)
		if p.Ended(r.RemindPrematch(w.NewContext())) {
			testkit.Must(t, testkit.Open(w.World, alert.RemindPrematchFunction(), alert.OpenReminder).RemindPrematch(w.NewContext()))
		}

		testkit.Drain(w.World, tables.AlertQueue, time.Hour, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert)

		if n := ringCount(w, "ann"); n != 1 {
			t.Errorf("the phone rang %d times, want 1", n)
		}

		return outcomeOf(w)
	})
}

// No log line contains a token or a user id.
func TestLogsContainNoSecrets(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	activateLeague(w)
	addMatch(w, "8", time.Hour)
	addFollower(w, "user-4711", "11", withPushToStart(18))
	w.Override = func(string) (int, string) { return http.StatusForbidden, crickettest.APIToken }
	testkit.Must(t, testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector).DetectToss(w.NewContext()))
	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	testkit.Must(t, a.SendAlert(w.NewContext(), startAlert(w)))

	lines := w.Logs.Lines()
	if len(lines) < 2 {
		t.Fatalf("the log is %+v, want 2 or more lines", lines)
	}

	for _, l := range lines {
		text := fmt.Sprint(l.Text, l.Attrs)
		for _, secret := range []string{crickettest.APIToken, crickettest.Token("user-4711"),
			crickettest.Token("user-4711 starts"), "user-4711"} {
			if strings.Contains(text, secret) {
				t.Errorf("the log line %q contains a secret or a user id", text)
			}
		}
	}
}

// TestMovedAlert: its text has the new start, and the same move is the same alert.
func TestMovedAlert(t *testing.T) {
	t.Parallel()

	was, is := match.Fixture{MatchID: "7", StartTime: "2026-06-01T12:00:00Z"}, match.Fixture{MatchID: "7", StartTime: "2026-06-03T09:30:00Z"}
	at := time.Unix(1_780_000_000, 0)

	const body = "Moved to Wednesday, 3 June, 09:30 UTC"

	moved := words.Say("Moved to %@ UTC", "2026-06-03, 09:30")

	for name, c := range map[string]struct {
		score score.State
		title string
		says  words.Text
	}{
		"with a score": {score.State{Local: score.Team{Name: "Harbour"}, Visitor: score.Team{Name: "Valley"}}, "Harbour v Valley",
			words.Say("%@ v %@", "Harbour", "Valley")},
		"without a score":         {score.State{}, "Your match", words.Say("Your match")},
		"without a local team":    {score.State{Visitor: score.Team{Name: "Valley"}}, "Your match", words.Say("Your match")},
		"without a visiting team": {score.State{Local: score.Team{Name: "Harbour"}}, "Your match", words.Say("Your match")},
	} {
		want := alert.Alert{
			MatchID: "7", Key: "moved:2026-06-01T12:00:00Z:2026-06-03T09:30:00Z", Kind: event.Start,
			Match: c.title, Title: c.title, Body: body, Plain: body, At: at.Unix(),
			Says: &event.Says{Match: c.says, Title: c.says, Body: moved, Plain: moved},
		}
		if diff := cmp.Diff(want, alert.NewMoved(was, is, c.score, at)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A match that is moved by days after its reminder is reminded of again, on each phone. A
// reminder of the old start that comes late is dropped.
func TestMovedMatchIsRemindedAgain(t *testing.T) {
	t.Parallel()

	for _, days := range []time.Duration{1, 2, 3} {
		t.Run(fmt.Sprint(int(days)), func(t *testing.T) {
			t.Parallel()
			w := worldWithFollowedMatch(t)
			activateLeague(w)
			storeScore(w, addMatch(w, "7", 12*time.Minute))
			addFollower(w, "ann", "11")
			r, a := testkit.Open(w.World, alert.RemindPrematchFunction(), alert.OpenReminder), openAlerter(w, w.Env(alert.SendAlertsFunction()))
			testkit.Must(t, r.RemindPrematch(w.NewContext()))
			testkit.Drain(w.World, tables.AlertQueue, 0, a.SendAlert)
			late := testkit.Row[alert.PrematchRow](w.World, tables.Prematch, "7", alert.WholeMatch)
			addMatch(w, "7", days*24*time.Hour)
			w.MoveClock(w.Clock.Now().Add(days*24*time.Hour - 10*time.Minute))
			old := reminderAlert(w)
			old.Key = alert.ReminderKey + late.Start
			testkit.Must(t, a.SendAlert(w.NewContext(), old))

			for range 2 {
				testkit.Must(t, r.RemindPrematch(w.NewContext()))
				testkit.Drain(w.World, tables.AlertQueue, 0, a.SendAlert)
			}

			if n := ringCount(w, "ann"); n != 2 {
				t.Errorf("the phone rang %d times, want 2", n)
			}
		})
	}
}
