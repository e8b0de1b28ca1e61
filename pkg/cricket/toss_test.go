package cricket

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/local/sportmonks"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/dynamo/dynamotest"
)

// active makes the leagues of matches active, and of none else.
func (w *world) active() {
	w.put(leagues, league{LeagueID: "3", Code: "T20", Active: true}, league{LeagueID: "4", Code: "ODI"})
}

// due stores a match that starts after the duration, and is neither live nor over.
func (w *world) due(id string, in time.Duration, edits ...func(*fixture)) fixture {
	w.t.Helper()
	f := fixture{
		MatchID: id, LeagueCode: "T20", LeagueID: "3", SeasonID: "5", Type: "T20", Status: "NS", LocalTeamID: "11", VisitorTeamID: "12",
		StartTime: w.clock.Now().Add(in).UTC().Format(timeLayout),
	}
	for _, edit := range edits {
		edit(&f)
	}
	w.put(fixtures, f)
	return f
}

// tossed has the provider say of each match that is asked for who won the toss,
// and count in asked how often it was.
func (w *world) tossed(winner int, elected string) (asked map[string]int) {
	asked = map[string]int{}
	w.said = func(path string) (int, string) {
		id, ok := strings.CutPrefix(path, "/fixtures/")
		if !ok {
			return 0, ""
		}
		w.mu.Lock()
		asked[id]++
		w.mu.Unlock()
		f := saidOf(fixture{MatchID: id, LeagueID: "3", SeasonID: "5", LocalTeamID: "11", VisitorTeamID: "12", Type: "T20", StartTime: kickOff.Format(timeLayout)}, "NS")
		if winner != 0 {
			f = strings.TrimSuffix(f, "}") + fmt.Sprintf(`,"toss_won_team_id":%d,"elected":%s}`, winner, elected)
		}
		return http.StatusOK, `{"data":` + f + `}`
	}
	return asked
}

func TestTossIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.active()
	w.due("7", time.Hour)
	asked := w.tossed(0, "")
	d := open(w, DetectTossFunction, OpenTossDetector)
	minute := func() { must(t, d.DetectToss(w.ctx())); w.to(w.clock.Now().Add(time.Minute)) }
	for range 10 {
		minute()
	}
	if len(messages[Alert](w, alertQueue)) > 0 || asked["7"] != 5 {
		t.Errorf("before the toss there are %+v, and the provider was asked %v times in ten minutes", messages[Alert](w, alertQueue), asked["7"])
	}
	w.tossed(12, `null`) // nobody says yet what was chosen
	minute()
	minute()
	if got := messages[Alert](w, alertQueue); len(got) > 0 {
		t.Errorf("half a toss gives %+v", got)
	}
	asked = w.tossed(12, `"bowling"`)
	for range 10 {
		minute()
	}
	at := kickOff.Add(-time.Hour + 13*time.Minute).Unix() // the next odd minute
	want := []Alert{{
		MatchID: "7", Key: "toss:12:field", Kind: score.TossEvent, Match: "Harbour v Valley", Title: "Toss: Valley chose to field",
		Body: "Harbour v Valley", Plain: "Toss: Valley chose to field", At: at,
	}}
	if got := messages[Alert](w, alertQueue); !reflect.DeepEqual(got, want) || asked["7"] != 1 {
		t.Errorf("the provider was asked %d times, and the alerts are\n%+v, want\n%+v", asked["7"], got, want)
	}
}

func TestTossOfWhichMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.active()
	for id, c := range map[string]struct {
		in   time.Duration
		edit func(*fixture)
		want bool
	}{
		"100": {75 * time.Minute, func(*fixture) {}, true},
		"102": {75*time.Minute + time.Second, func(*fixture) {}, false},
		"104": {-3 * time.Hour, func(f *fixture) { f.Status = "Delayed" }, true},
		"106": {-3*time.Hour - time.Second, func(f *fixture) { f.Status = "Delayed" }, false},
		"108": {time.Hour, func(f *fixture) { f.TossKey = "toss:11:bat" }, false},
		"110": {-time.Minute, func(f *fixture) { f.Live, f.LiveUpdatedAt, f.Status = live, 1, "1st Innings" }, false},
		"112": {-time.Hour, func(f *fixture) { f.Status, f.ArchivedAt = "1st Innings", 1 }, false},
		"114": {-time.Hour, func(f *fixture) { f.EndingAt = 1 }, false},
		"116": {-time.Hour, func(f *fixture) { f.Status = "Aban." }, false},
		"118": {time.Hour, func(f *fixture) { f.LeagueCode = "ODI" }, false},
		"120": {time.Hour, func(f *fixture) { f.LastSlot, f.BodySum = 5, "polled, not begun" }, true},
	} {
		w.due(id, c.in, c.edit)
		defer func() {
			told := slices.ContainsFunc(messages[Alert](w, alertQueue), func(m Alert) bool { return m.MatchID == id })
			if told != c.want {
				t.Errorf("the toss of match %s is told: %v, want %v", id, told, c.want)
			}
		}()
	}
	w.tossed(11, `"batting"`)
	must(t, open(w, DetectTossFunction, OpenTossDetector).DetectToss(w.ctx()))
}

// TestTossWithinTheProvidersLimit has no hour see more calls than the provider
// allows, and no match forgotten, however many there are.
func TestTossWithinTheProvidersLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ matches, step int }{{1, 1}, {60, 1}, {60, 2}, {61, 1}, {150, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.active()
			for i := range c.matches {
				w.due(fmt.Sprint(1000+c.step*i), time.Hour)
			}
			asked := w.tossed(0, "")
			d := open(w, DetectTossFunction, OpenTossDetector)
			for range 12 { // minutes: a fifth of an hour
				must(t, d.DetectToss(w.ctx()))
				w.to(w.clock.Now().Add(time.Minute))
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
	w := newWorld(t)
	w.active()
	w.due("102", time.Hour)
	w.due("104", time.Hour)
	w.tossed(11, `"batting"`)
	fine := w.said
	for name, fault := range map[string]struct {
		status int
		body   string
	}{
		"down": {503, ""}, "limited": {429, ""}, "gone": {404, `{}`}, "garbled": {200, `<html>`}, "cut short": {200, `{"data":{"id":102,`},
	} {
		w.said = func(path string) (int, string) {
			if path == "/fixtures/102" {
				return fault.status, fault.body
			}
			return fine(path)
		}
		must(t, open(w, DetectTossFunction, OpenTossDetector).DetectToss(w.ctx()))
		if got := w.logs.complaints(); !slices.Equal(got, []string{"the provider's page of the match cannot be read"}) {
			t.Errorf("%s: the log complains %q", name, got)
		}
	}
	w.said = fine
	must(t, open(w, DetectTossFunction, OpenTossDetector).DetectToss(w.ctx()))
	var told []string
	for _, m := range messages[Alert](w, alertQueue) {
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
	w := newWorld(t)
	w.feed.Announce(kickOff, sportmonks.Generate(1, sportmonks.T20).Fixture)
	w.sync()
	f := rows[fixture](w, fixtures)[0]
	f.TossKey = "toss:1:bat"
	w.put(fixtures, f)
	if calls := w.count(w.sync); calls["UpdateItem"]+calls["BatchWriteItem"] > 0 {
		t.Errorf("syncing what has not changed makes the calls %v", calls)
	}
	f.Round = "an old round"
	w.put(fixtures, f)
	w.sync()
	if got := rows[fixture](w, fixtures)[0]; got.TossKey != "toss:1:bat" || got.Round == f.Round {
		t.Errorf("after a change the match is %+v", got)
	}
}

func TestTossCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) telling {
		w := alerting(t)
		w.active()
		w.due("8", time.Hour)
		w.fan("ann", "", func(f *following, _ *device) { f.MatchID = "8" })
		w.tossed(11, `"batting"`)
		d, err := OpenTossDetector(t.Context(), w.crashing(DetectTossFunction, p))
		must(t, err)
		d.DetectToss(w.ctx())
		w.logs.complaints()
		w.to(w.clock.Now().Add(2 * time.Minute))
		must(t, open(w, DetectTossFunction, OpenTossDetector).DetectToss(w.ctx()))
		a := w.alerter(w.env(SendAlertsFunction))
		drain(w, alertQueue, time.Hour, a.SendAlert)
		if n := w.rung("ann"); n != 1 || row[fixture](w, getFixture, "8").TossKey != "toss:11:bat" {
			t.Errorf("the phone rang %d times, and the match is %+v", n, row[fixture](w, getFixture, "8"))
		}
		return w.telling()
	})
}
