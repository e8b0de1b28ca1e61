package alert_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
)

// active makes the leagues of matches active, and of none else.
func active(w *crickettest.World) {
	testkit.Put(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true}, catalog.ProvidedLeague{LeagueID: "4", Code: "ODI"})
}

// due stores a match that starts after the duration, and is neither live nor over.
func due(w *crickettest.World, id string, in time.Duration, edits ...func(*match.Fixture)) match.Fixture {
	w.T.Helper()
	f := match.Fixture{
		MatchID: id, LeagueCode: "T20", LeagueID: "3", SeasonID: "5", Type: "T20", Status: "NS", LocalTeamID: "11", VisitorTeamID: "12",
		StartTime: w.Clock.Now().Add(in).UTC().Format(tables.TimeLayout),
	}
	for _, edit := range edits {
		edit(&f)
	}
	testkit.Put(w.World, tables.Fixtures, f)
	return f
}

// tossed has the provider say of each match that is asked for who won the toss,
// and count in asked how often it was.
func tossed(w *crickettest.World, winner int, elected string) (asked map[string]int) {
	var mu sync.Mutex
	asked = map[string]int{}
	w.Said = func(path string) (int, string) {
		id, ok := strings.CutPrefix(path, "/fixtures/")
		if !ok {
			return 0, ""
		}
		mu.Lock()
		asked[id]++
		mu.Unlock()
		f := crickettest.Payload(match.Fixture{MatchID: id, LeagueID: "3", SeasonID: "5", LocalTeamID: "11", VisitorTeamID: "12", Type: "T20", StartTime: crickettest.KickOff.Format(tables.TimeLayout)}, "NS")
		if winner != 0 {
			f = strings.TrimSuffix(f, "}") + fmt.Sprintf(`,"toss_won_team_id":%d,"elected":%s}`, winner, elected)
		}
		return http.StatusOK, `{"data":` + f + `}`
	}
	return asked
}

// candidate is a match that starts after the duration, and whether it is told of.
type candidate struct {
	in   time.Duration
	edit func(*match.Fixture)
	told bool
}

// tellsOf stores matches, by id, and has a job send alerts of those to be told of.
func tellsOf(w *crickettest.World, matches map[string]candidate, job func(context.Context) error) {
	w.T.Helper()
	for id, c := range matches {
		due(w, id, c.in, c.edit)
	}
	testkit.Must(w.T, job(w.Ctx()))
	alerts := testkit.Messages[alert.Alert](w.World, tables.AlertQueue)
	for id, c := range matches {
		if told := slices.ContainsFunc(alerts, func(m alert.Alert) bool { return m.MatchID == id }); told != c.told {
			w.T.Errorf("match %s is told of: %v, want %v", id, told, c.told)
		}
	}
}

func TestTossIsTold(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	active(w)
	due(w, "7", time.Hour)
	asked := tossed(w, 0, "")
	d := testkit.Open(w.World, alert.DetectTossFunction, alert.OpenTossDetector)
	minute := func() { testkit.Must(t, d.DetectToss(w.Ctx())); w.To(w.Clock.Now().Add(time.Minute)) }
	for range 10 {
		minute()
	}
	if len(testkit.Messages[alert.Alert](w.World, tables.AlertQueue)) > 0 || asked["7"] != 5 {
		t.Errorf("before the toss there are %+v, and the provider was asked %v times in ten minutes", testkit.Messages[alert.Alert](w.World, tables.AlertQueue), asked["7"])
	}
	tossed(w, 12, `null`) // nobody says yet what was chosen
	minute()
	minute()
	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); len(got) > 0 {
		t.Errorf("half a toss gives %+v", got)
	}
	asked = tossed(w, 12, `"bowling"`)
	for range 10 {
		minute()
	}
	at := crickettest.KickOff.Add(-time.Hour + 13*time.Minute).Unix() // the next odd minute
	want := []alert.Alert{{
		MatchID: "7", Key: "toss:12:field", Kind: event.Toss, Match: "Harbour v Valley", Title: "Toss: Valley chose to field",
		Body: "Harbour v Valley", Plain: "Toss: Valley chose to field", At: at,
	}}
	if got := testkit.Messages[alert.Alert](w.World, tables.AlertQueue); !reflect.DeepEqual(got, want) || asked["7"] != 1 {
		t.Errorf("the provider was asked %d times, and the alerts are\n%+v, want\n%+v", asked["7"], got, want)
	}
}

func TestTossOfWhichMatches(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	active(w)
	tossed(w, 11, `"batting"`)
	tellsOf(w, map[string]candidate{
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
	}, testkit.Open(w.World, alert.DetectTossFunction, alert.OpenTossDetector).DetectToss)
}

// TestTossWithinTheProvidersLimit has no hour see more calls than the provider
// allows, and no match forgotten, however many there are.
func TestTossWithinTheProvidersLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ matches, step int }{{1, 1}, {60, 1}, {60, 2}, {61, 1}, {150, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			active(w)
			for i := range c.matches {
				due(w, fmt.Sprint(1000+c.step*i), time.Hour)
			}
			asked := tossed(w, 0, "")
			d := testkit.Open(w.World, alert.DetectTossFunction, alert.OpenTossDetector)
			for range 12 { // minutes: a fifth of an hour
				testkit.Must(t, d.DetectToss(w.Ctx()))
				w.To(w.Clock.Now().Add(time.Minute))
			}
			calls := 0
			for _, n := range asked {
				calls += n
			}
			if len(asked) != c.matches || 5*calls > 1800 || calls < 2*c.matches {
				t.Errorf("%d of %d matches are asked about, in %d calls", len(asked), c.matches, calls)
			}
		})
	}
}

func TestTossSurvivesTheProvider(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	active(w)
	due(w, "102", time.Hour)
	due(w, "104", time.Hour)
	tossed(w, 11, `"batting"`)
	fine := w.Said
	for name, fault := range map[string]struct {
		status int
		body   string
	}{
		"down": {503, ""}, "limited": {429, ""}, "gone": {404, `{}`}, "garbled": {200, `<html>`}, "cut short": {200, `{"data":{"id":102,`},
	} {
		w.Said = func(path string) (int, string) {
			if path == "/fixtures/102" {
				return fault.status, fault.body
			}
			return fine(path)
		}
		testkit.Must(t, testkit.Open(w.World, alert.DetectTossFunction, alert.OpenTossDetector).DetectToss(w.Ctx()))
		if got := w.Logs.Complaints(); !slices.Equal(got, []string{"the provider's page of the match cannot be read"}) {
			t.Errorf("%s: the log complains %q", name, got)
		}
	}
	w.Said = fine
	testkit.Must(t, testkit.Open(w.World, alert.DetectTossFunction, alert.OpenTossDetector).DetectToss(w.Ctx()))
	var told []string
	for _, m := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
		told = append(told, m.MatchID)
	}
	if !slices.Equal(told, []string{"104", "102"}) {
		t.Errorf("the tosses of %q are told, want each once", told)
	}
}

// TestTossMarkIsKept has the sync of the schedule neither take the mark away nor
// see a change in it.
func TestTossMarkIsKept(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture)
	w.Sync()
	f := testkit.Rows[match.Fixture](w.World, tables.Fixtures)[0]
	f.TossKey = "toss:1:bat"
	testkit.Put(w.World, tables.Fixtures, f)
	if calls := w.Count(w.Sync); calls["UpdateItem"]+calls["BatchWriteItem"] > 0 {
		t.Errorf("syncing what has not changed makes the calls %v", calls)
	}
	f.Round = "an old round"
	testkit.Put(w.World, tables.Fixtures, f)
	w.Sync()
	if got := testkit.Rows[match.Fixture](w.World, tables.Fixtures)[0]; got.TossKey != "toss:1:bat" || got.Round == f.Round {
		t.Errorf("after a change the match is %+v", got)
	}
}

func TestTossCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		active(w)
		due(w, "8", time.Hour)
		fan(w, "ann", "", func(f *follower.FollowRow, _ *follower.DeviceRow) { f.MatchID = "8" })
		tossed(w, 11, `"batting"`)
		d := testkit.OpenWith(w.World, w.Crashing(alert.DetectTossFunction, p), alert.OpenTossDetector)
		d.DetectToss(w.Ctx())
		w.Logs.Complaints()
		w.To(w.Clock.Now().Add(2 * time.Minute))
		testkit.Must(t, testkit.Open(w.World, alert.DetectTossFunction, alert.OpenTossDetector).DetectToss(w.Ctx()))
		a := alerter(w, w.Env(alert.SendAlertsFunction))
		testkit.Drain(w.World, tables.AlertQueue, time.Hour, a.SendAlert)
		if n := rung(w, "ann"); n != 1 || testkit.Row[match.Fixture](w.World, tables.Fixtures, "8").TossKey != "toss:11:bat" {
			t.Errorf("the phone rang %d times, and the match is %+v", n, testkit.Row[match.Fixture](w.World, tables.Fixtures, "8"))
		}
		return tellingOf(w)
	})
}
