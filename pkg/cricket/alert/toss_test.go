package alert_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/words"
)

// activateLeague stores the active league of the matches and an inactive one.
func activateLeague(w *crickettest.World) {
	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true},
		catalog.ProvidedLeague{LeagueID: "4", Code: "ODI"})
}

// addMatch stores an upcoming match that starts after the duration.
func addMatch(w *crickettest.World, id string, in time.Duration, edits ...func(*match.Fixture)) match.Fixture {
	w.T.Helper()

	f := match.Fixture{
		MatchID: id, LeagueCode: "T20", LeagueID: "3", SeasonID: "5", Type: "T20", Status: "NS", LocalTeamID: "11", VisitorTeamID: "12",
		StartTime: w.Clock.Now().Add(in).UTC().Format(tables.TimeLayout),
	}
	for _, edit := range edits {
		edit(&f)
	}

	testkit.PutRows(w.World, tables.Fixtures, f)

	return f
}

// provideToss sets the toss that the provider answers for each match; winner 0 is no
// toss. The result counts the requests by match id.
func provideToss(w *crickettest.World, winner int, elected string) (asked map[string]int) {
	var mu sync.Mutex

	asked = map[string]int{}
	w.Override = func(path string) (int, string) {
		id, ok := strings.CutPrefix(path, "/fixtures/")
		if !ok {
			return 0, ""
		}

		mu.Lock()
		asked[id]++
		mu.Unlock()

		f := crickettest.Payload(match.Fixture{
			MatchID:       id,
			LeagueID:      "3",
			SeasonID:      "5",
			LocalTeamID:   "11",
			VisitorTeamID: "12",
			Type:          "T20",
			StartTime:     crickettest.KickOff.Format(tables.TimeLayout),
		}, "NS")
		if winner != 0 {
			f = strings.TrimSuffix(f, "}") + fmt.Sprintf(`,"toss_won_team_id":%d,"elected":%s,"lineup":[{"id":1,"fullname":"A Captain",`+
				`"lineup":{"team_id":11,"captain":true}}]}`, winner, elected)
		}

		return http.StatusOK, `{"data":` + f + `}`
	}

	return asked
}

// TestElevensAreSentWithTheToss: both, once, if the provider has both elevens.
func TestElevensAreSentWithTheToss(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		visitors int
		want     []string
	}{
		"both elevens": {11, []string{"toss:12:field", "lineup"}},
		"one eleven":   {0, []string{"toss:12:field"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			activateLeague(w)
			addMatch(w, "7", time.Hour)

			var players []string
			for n := range 11 + c.visitors {
				players = append(players, fmt.Sprintf(`{"id":%d,"fullname":"P","lineup":{"team_id":%d}}`, n+1, 11+n/11))
			}

			w.Override = func(string) (int, string) {
				f := crickettest.Payload(match.Fixture{
					MatchID: "7", LeagueID: "3", SeasonID: "5", LocalTeamID: "11", VisitorTeamID: "12", Type: "T20",
					StartTime: crickettest.KickOff.Format(tables.TimeLayout),
				}, "NS")

				return http.StatusOK, `{"data":` + strings.TrimSuffix(f, "}") + `,"toss_won_team_id":12,"elected":"bowling","lineup":[` +
					strings.Join(players, ",") + `]}}`
			}

			d := testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector)
			for range 4 {
				testkit.Must(t, d.DetectToss(w.NewContext()))
				w.MoveClock(w.Clock.Now().Add(time.Minute))
			}

			var got []string
			for _, m := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
				got = append(got, m.Key)
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("alerts (-want +got):\n%s", diff)
			}
		})
	}
}

// candidate is a match that starts after the duration. alerted reports whether the job
// must send an alert of it.
type candidate struct {
	in      time.Duration
	edit    func(*match.Fixture)
	alerted bool
}

// expectAlerts stores matches, by id, runs a job, and fails the test unless the job
// sent alerts of the expected matches.
func expectAlerts(w *crickettest.World, matches map[string]candidate, job func(context.Context) error) {
	w.T.Helper()

	for id, c := range matches {
		addMatch(w, id, c.in, c.edit)
	}

	testkit.Must(w.T, job(w.NewContext()))

	alerts := testkit.Messages[alert.Alert](w.World, tables.AlertQueue)
	for id, c := range matches {
		if alerted := slices.ContainsFunc(alerts, func(m alert.Alert) bool { return m.MatchID == id }); alerted != c.alerted {
			w.T.Errorf("an alert of match %s: %v, want %v", id, alerted, c.alerted)
		}
	}
}

func TestTossIsSentOnce(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	activateLeague(w)
	addMatch(w, "7", time.Hour)
	asked := provideToss(w, 0, "")
	d := testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector)

	minute := func() { testkit.Must(t, d.DetectToss(w.NewContext())); w.MoveClock(w.Clock.Now().Add(time.Minute)) }
	for range 10 {
		minute()
	}

	if len(testkit.Messages[alert.Alert](w.World, tables.AlertQueue)) > 0 || asked["7"] != 5 {
		t.Errorf("before the toss the alerts are %+v, and the provider got %v requests in ten minutes; want none and 5",
			testkit.Messages[alert.Alert](w.World, tables.AlertQueue), asked["7"])
	}

	provideToss(w, 12, `null`) // the choice is not known yet
	minute()
	minute()

	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) > 0 {
		t.Errorf("an incomplete toss gives the alerts %+v, want none", got)
	}

	asked = provideToss(w, 12, `"bowling"`)

	for range 10 {
		minute()
	}

	at := crickettest.KickOff.Add(-time.Hour + 13*time.Minute).Unix() // the detector requests match 7 in odd minutes

	want := []alert.Alert{{
		MatchID: "7", Key: "toss:12:field", Kind: event.Toss, Match: "Harbour v Valley", Title: "Toss: Valley chose to field",
		Body: "Harbour v Valley", Plain: "Toss: Valley chose to field", At: at,
		Says: &event.Says{
			Match: words.Say("%@ v %@", "Harbour", "Valley"), Title: words.Say("Toss: %@ chose to field", "Valley"),
			Body: words.Say("%@ v %@", "Harbour", "Valley"), Plain: words.Say("Toss: %@ chose to field", "Valley"),
		},
	}}
	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); !cmp.Equal(want, got) || asked["7"] != 1 {
		t.Errorf("the provider got %d requests, want 1; the alerts differ:\n%s", asked["7"], cmp.Diff(want, got))
	}
}

func TestWhichMatchesAreRequestedForTheToss(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	activateLeague(w)
	provideToss(w, 11, `"batting"`)
	expectAlerts(w, map[string]candidate{
		"100": {75 * time.Minute, func(*match.Fixture) {}, true},
		"102": {75*time.Minute + time.Second, func(*match.Fixture) {}, false},
		"104": {-3 * time.Hour, func(f *match.Fixture) { f.Status = "Delayed" }, true},
		"106": {-3*time.Hour - time.Second, func(f *match.Fixture) { f.Status = "Delayed" }, false},
		"108": {time.Hour, func(f *match.Fixture) { f.TossKey = "toss:11:bat" }, false},
		"110": {-time.Minute, func(f *match.Fixture) { f.Live, f.LiveUpdatedAt, f.Status = match.Live, 1, "1st Innings" }, false},
		"112": {-time.Hour, func(f *match.Fixture) { f.Status, f.ArchivedAt = "1st Innings", 1 }, false},
		"114": {-time.Hour, func(f *match.Fixture) { f.EndingAt = 1 }, false},
		"116": {-time.Hour, func(f *match.Fixture) { f.Status = "Aban." }, false},
		"118": {time.Hour, func(f *match.Fixture) { f.LeagueCode = "ODI" }, false},
		"120": {time.Hour, func(f *match.Fixture) { f.LastSlot, f.BodySum = 5, "polled, not begun" }, true},
	}, testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector).DetectToss)
}

// For any number of matches, the requests of an hour stay within the share of the function,
// and every match is requested.
func TestTossRequestsStayWithinTheProvidersLimit(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ matches, step int }{{1, 1}, {60, 1}, {60, 2}, {61, 1}, {150, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			activateLeague(w)

			for i := range c.matches {
				addMatch(w, fmt.Sprint(1000+c.step*i), time.Hour)
			}

			asked := provideToss(w, 0, "")

			d := testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector)
			for range 15 { // minutes, a quarter of an hour
				testkit.Must(t, d.DetectToss(w.NewContext()))
				w.MoveClock(w.Clock.Now().Add(time.Minute))
			}

			calls := 0
			for _, n := range asked {
				calls += n
			}

			if len(asked) != c.matches || 4*calls > tables.TossShare.UpTo || calls < 2*c.matches {
				t.Errorf("%d of %d matches were requested, in %d calls", len(asked), c.matches, calls)
			}
		})
	}
}

func TestProviderErrorDoesNotBlockOtherTosses(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	activateLeague(w)
	addMatch(w, "102", time.Hour)
	addMatch(w, "104", time.Hour)
	provideToss(w, 11, `"batting"`)

	fine := w.Override
	for name, fault := range map[string]struct {
		status int
		body   string
	}{
		"down": {503, ""}, "limited": {429, ""}, "gone": {404, `{}`}, "garbled": {200, `<html>`}, "cut short": {200, `{"data":{"id":102,`},
	} {
		w.Override = func(path string) (int, string) {
			if path == "/fixtures/102" {
				return fault.status, fault.body
			}

			return fine(path)
		}
		testkit.Must(t, testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector).DetectToss(w.NewContext()))

		if got := w.Logs.TakeWarnings(); !slices.Equal(got, []string{"cannot read the match from the provider"}) {
			t.Errorf("%s: the log has the complaints %q, want one", name, got)
		}
	}

	w.Override = fine
	testkit.Must(t, testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector).DetectToss(w.NewContext()))

	var alerted []string
	for _, m := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
		alerted = append(alerted, m.MatchID)
	}

	if !slices.Equal(alerted, []string{"104", "102"}) {
		t.Errorf("alerts of the tosses of %q, want one each of 104 and 102", alerted)
	}
}

// The sync of the schedule does not remove the toss of a match, and does not treat it
// as a change.
func TestSyncKeepsTheTossMark(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture)
	w.Sync()
	w.Sync() // the first sync of the fixtures knows no teams
	f := testkit.Rows[match.Fixture](w.World, tables.Fixtures)[0]
	f.TossKey = "toss:1:bat"
	testkit.PutRows(w.World, tables.Fixtures, f)

	if calls := w.CountCalls(w.Sync); calls["UpdateItem"] > 1 || calls["BatchWriteItem"] > 0 { // one request is counted
		t.Errorf("the sync of an unchanged schedule makes the calls %v, want no write of a row", calls)
	}

	f.Round = "an old round"
	testkit.PutRows(w.World, tables.Fixtures, f)
	w.Sync()

	if got := testkit.Rows[match.Fixture](w.World, tables.Fixtures)[0]; got.TossKey != "toss:1:bat" || got.Round == f.Round {
		t.Errorf("after a change the match is %+v, want its toss and the new round", got)
	}
}

func TestTossIsSentOnceAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := worldWithFollowedMatch(t)
		activateLeague(w)
		addMatch(w, "8", time.Hour)
		addFollower(w, "ann", "", func(f *follower.FollowRow, _ *follower.DeviceRow) { f.MatchID = "8" })
		provideToss(w, 11, `"batting"`)
		d := testkit.OpenWith(w.World, w.CrashingEnv(alert.DetectTossFunction(), p), alert.OpenTossDetector)
		p.Ended(d.DetectToss(w.NewContext()), "/api/*/fixtures/*", "UpdateItem *-cricket-locks") // the match is requested again in a later run
		w.Logs.TakeWarnings()
		w.MoveClock(w.Clock.Now().Add(2 * time.Minute))
		testkit.Must(t, testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector).DetectToss(w.NewContext()))
		a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
		testkit.Drain(w.World, tables.AlertQueue, time.Hour, a.SendAlert)

		if n := ringCount(w, "ann"); n != 1 || testkit.Row[match.Fixture](w.World, tables.Fixtures, "8").TossKey != "toss:11:bat" {
			t.Errorf("the phone rang %d times, and the match is %+v; want 1 and its toss", n,
				testkit.Row[match.Fixture](w.World, tables.Fixtures, "8"))
		}

		if cards := testkit.Rows[match.CardRow](w.World, tables.Cards); len(cards) != 1 {
			t.Errorf("the sides of the match are in %d rows, want 1", len(cards))
		}

		return outcomeOf(w)
	})
}
