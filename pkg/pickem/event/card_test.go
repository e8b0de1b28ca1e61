package event_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// cardNumbers is the card of an event as ann sees it, by the numbers of its matches.
func cardNumbers(w *pickemtest.Room, eventID string) (numbers []int) {
	w.T.Helper()
	var seen event.EventScreen
	w.Read(event.GetEventFunction, pickemtest.AppEvent(eventID), "ann", &seen.Body)
	for _, m := range seen.Body.Card {
		var n int
		fmt.Sscanf(m.ID, "00000000-0000-4000-8000-%d", &n)
		numbers = append(numbers, n)
	}
	return numbers
}

// queuedNotices are the members whom the notices go to, by the notice's id.
func queuedNotices(w *pickemtest.Room) map[string][]string {
	w.T.Helper()
	told := map[string][]string{}
	for _, n := range testkit.Messages[notice.Notice](w.World, notice.Queue) {
		told[n.ID] = append(told[n.ID], n.UserIDs...)
	}
	for _, users := range told {
		slices.Sort(users)
	}
	return told
}

// TestAddMatch: matches come to the end of a card, and each once.
func TestAddMatch(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(0)
	const matches = "/admin/events/" + pickemtest.Show + "/matches"
	body := map[string]any{
		"id": strings.ToUpper("abcdef00-0000-4000-8000-000000000001"), "name": "Tornado Tag Team", "championships": []string{"Tag Team"}, "points": 25, "preshow": true,
		"teams": []map[string]any{{"champion": true, "members": []string{"Sting", "Darby"}}, {"name": "Bucks", "members": []string{"Matthew", "Nicholas"}}},
	}
	first := w.MustAdmin(event.AddMatchFunction, matches, body)
	was := w.Rows()
	again := w.MustAdmin(event.AddMatchFunction, matches, body)
	want := `{"id":"abcdef00-0000-4000-8000-000000000001","name":"Tornado Tag Team","championships":["Tag Team"],"points":25,"preshow":true,` +
		`"teams":[{"champion":true,"members":["Sting","Darby"]},{"name":"Bucks","members":["Matthew","Nicholas"]}]}`
	for _, out := range []string{first.Body, again.Body} {
		if strings.TrimSpace(out) != want {
			t.Errorf("the match is %s, want %s", out, want)
		}
	}
	if first.StatusCode != http.StatusCreated || again.StatusCode != http.StatusCreated || !reflect.DeepEqual(w.Rows(), was) {
		t.Errorf("it was added twice: %d, %d", first.StatusCode, again.StatusCode)
	}
	row := testkit.Row[map[string]any](w.World, tables.Pickem, "EVENT#"+pickemtest.Show, "MATCH#abcdef00-0000-4000-8000-000000000001")
	for attribute, want := range map[string]any{"GSI_PK": "EVENT#" + pickemtest.Show, "GSI_SK": "MATCH#01", "type": "match", "points": 25.0, "preshow": true, "result": nil} {
		if row[attribute] != want {
			t.Errorf("the item's %s is %v, want %v", attribute, row[attribute], want)
		}
	}
	ids := map[string]bool{}
	for range 2 {
		m := testkit.Decode[event.Match](w.World, w.MustAdmin(event.AddMatchFunction, matches, pickemtest.Without(pickemtest.MatchOf(2, 1), "id")))
		if ids[m.ID] = true; !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(m.ID) {
			t.Errorf("our id is %s", m.ID)
		}
	}
	if len(ids) != 2 {
		t.Error("two matches without an id are one")
	}
}

// TestCardIsFull: a card holds 99 matches and 999 points, its bonus included.
func TestCardIsFull(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(0)
	w.AddMatches(pickemtest.Show, item.MaxMatches-1)
	w.MustAdmin(event.AddMatchFunction, pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(item.MaxMatches, 3))
	w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"bonus":800}`) // 98 × 2 + 3 + 800
	overflow := func(field string) pickemtest.Refusal {
		return pickemtest.Refusal{Status: 422, Code: "card_overflow", Field: field}
	}
	more := pickemtest.MatchOf(1, 3)
	more["teams"] = []map[string]any{{"members": []string{"a"}}, {"members": []string{"b"}}}
	if got, want := pickemtest.RefusalOf(w.Ask(event.UpdateMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), testkit.Administrator, pickemtest.Without(more, "id"))), overflow("body.points"); got != want {
		t.Errorf("a match worth one more: %v, want %v", got, want)
	}
	if got, want := pickemtest.RefusalOf(w.Ask(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator, `{"bonus":801}`)), overflow("body.bonus"); got != want {
		t.Errorf("a bonus of one more: %v, want %v", got, want)
	}
	w.MustAdmin(event.DeleteMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), "") // the transaction with the most writes
	want := slices.Collect(func(yield func(int) bool) {
		for n := item.MaxMatches; n > 1 && yield(n); n-- {
		}
	})
	w.MustAdmin(event.OrderCardFunction, pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(want...))
	if got := cardNumbers(w, pickemtest.Show); !slices.Equal(got, want) {
		t.Errorf("the card (-want +got):\n%s", cmp.Diff(want, got))
	}
	w.MustAdmin(event.AddMatchFunction, pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(1, 1))
	want = append(want, 1)
	slices.Reverse(want)
	w.MustAdmin(event.OrderCardFunction, pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(want...))
	if got := cardNumbers(w, pickemtest.Show); !slices.Equal(got, want) {
		t.Errorf("order of 99 matches (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestOrderCard: a card can be put into an order at any time, and picks stay.
func TestOrderCard(t *testing.T) {
	t.Parallel()
	for _, id := range []string{pickemtest.Show, pickemtest.LockedShow, pickemtest.ScoredShow} {
		w := pickemtest.NewSeason(t)
		var want []int
		for n := len(cardNumbers(w, id)); n > 0; n-- {
			want = append(want, n)
		}
		var was map[string]map[string]any
		for i := range 2 {
			out := w.MustAdmin(event.OrderCardFunction, pickemtest.AdminEvent(id)+"/card", pickemtest.OrderOf(want...))
			if first := strings.Index(out.Body, pickemtest.MatchID(want[0])); first < 0 || first > strings.Index(out.Body, pickemtest.MatchID(want[1])) {
				t.Errorf("%s is answered with %s", id, out.Body)
			}
			if i == 1 && !reflect.DeepEqual(w.Rows(), was) {
				t.Errorf("%s: the same order again has changed something", id)
			}
			was = w.Rows()
		}
		var seen event.EventScreen
		if w.Read(event.GetEventFunction, pickemtest.AppEvent(id), "ann", &seen.Body); !slices.Equal(cardNumbers(w, id), want) || len(seen.Body.Prediction.Predictions) != len(want) {
			t.Errorf("%s is %v, and ann's prediction %+v", id, cardNumbers(w, id), seen.Body.Prediction)
		}
	}
}

// TestUpdateMatch: what changes of a match decides what becomes of picks.
func TestUpdateMatch(t *testing.T) {
	t.Parallel()
	side := func(name string, members ...string) map[string]any {
		return map[string]any{"name": name, "members": members}
	}
	two := func(sides ...map[string]any) map[string]any {
		return map[string]any{"name": "Match 1", "points": 10, "teams": sides}
	}
	left, right := side("", "Left 1"), side("", "Right 1")
	for _, c := range []struct {
		name string
		body map[string]any
		void bool
	}{
		{"the same", two(left, right), false},
		{"its name", map[string]any{"name": "Steel Cage", "points": 10, "teams": []any{left, right}}, false},
		{"its points", map[string]any{"name": "Match 1", "points": 11, "teams": []any{left, right}}, false},
		{"for what it is, and when", map[string]any{"name": "Match 1", "points": 10, "preshow": true, "championships": []string{"World"}, "teams": []any{left, right}}, false},
		{"the name of a team", two(side("Lefts", "Left 1"), right), false},
		{"a member", two(side("", "Another"), right), true},
		{"one member more", two(left, side("", "Right 1", "Another")), true},
		{"the teams' order", two(right, left), true},
		{"one team more", two(left, right, side("", "Another")), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)
			var was map[string]map[string]any
			for i := range 2 {
				got := testkit.Decode[map[string]any](w.World, w.MustAdmin(event.UpdateMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), c.body))
				if got["id"] != pickemtest.MatchID(1) || got["name"] != c.body["name"] || fmt.Sprint(got["points"]) != fmt.Sprint(c.body["points"]) {
					t.Errorf("the match is %v", got)
				}
				if i == 1 && !reflect.DeepEqual(w.Rows(), was) {
					t.Errorf("the same again has changed something")
				}
				was = w.Rows()
			}
			picks, void, told := []int{1, 2, 3}, []string(nil), map[string][]string{}
			if c.void {
				picks, void = []int{2, 3}, []string{pickemtest.MatchID(1)}
				told[fmt.Sprintf("%s#%s#%d", pickemtest.Show, pickemtest.MatchID(1), pickemtest.Noon.UnixMilli()+4)] = []string{"ann", "ann", "bob", "bob"} // asked for twice; each gets it once
			}
			var seen event.EventScreen
			w.Read(event.GetEventFunction, pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)
			p := seen.Body.Prediction
			for _, n := range picks {
				if _, ok := p.Predictions[pickemtest.MatchID(n)]; !ok || len(p.Predictions) != len(picks) {
					t.Errorf("of ann's picks there are %v, want those of %v", p.Predictions, picks)
				}
			}
			if !slices.Equal(p.Void, void) || !reflect.DeepEqual(queuedNotices(w), told) {
				t.Errorf("void are %q, and told is %v, want %q and %v", p.Void, queuedNotices(w), void, told)
			}
			w.Pick("ann", pickemtest.Show, 1, 1, 1)
			var again event.EventScreen
			if w.Read(event.GetEventFunction, pickemtest.AppEvent(pickemtest.Show), "ann", &again.Body); len(again.Body.Prediction.Predictions) != 3 || again.Body.Prediction.Void != nil {
				t.Errorf("picked again: %+v", again.Body.Prediction)
			}
		})
	}
}

// TestVoidPicksScoreNothing: a pick of teams that are no longer, and of a match
// that is off and on again under its id, counts for nothing.
func TestVoidPicksScoreNothing(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	w.AnnounceClash(3)
	w.Pick("ann", pickemtest.Show, 0, 0, 0)
	w.Pick("bob", pickemtest.Show, 0, 0, 0)
	w.MustAdmin(event.UpdateMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.Without(pickemtest.MatchOf(9, 10), "id"))
	w.MustAdmin(event.DeleteMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 2), "")
	w.MustAdmin(event.AddMatchFunction, pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(2, 20))
	w.Pick("bob", pickemtest.Show, 0, 0, 0)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0, 0, 0)
	w.Score(pickemtest.Show)
	table := w.Standings("2026")
	if len(table) != 2 || table[0].Name != "bob" || table[0].Points != 60 || table[1].Points != 30 {
		t.Errorf("the standings are %+v", table)
	}
}

// TestPointsAfterResults: what a match is worth can change when results are in, is
// logged, and changes the points of a scored event.
func TestPointsAfterResults(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	body := pickemtest.Without(pickemtest.MatchOf(1, 100), "id")
	for range 2 {
		w.MustAdmin(event.UpdateMatchFunction, pickemtest.AdminMatch(pickemtest.ScoredShow, 1), body)
		w.ScoreQueued()
	}
	if top := w.Standings("2026")[0]; top.Name != "ann" || top.Points != 100 {
		t.Errorf("the first is %+v", top)
	}
	var log event.CorrectionList
	w.Read(event.ListCorrectionsFunction, pickemtest.AppEvent(pickemtest.ScoredShow)+"/corrections", "bob", &log.Body)
	want := event.Correction{At: pickemtest.Noon.Add(time.Hour), MatchID: pickemtest.MatchID(1), Match: "Match 1", From: "10 points", To: "100 points", By: testkit.Administrator}
	if got := log.Body.Corrections; len(got) != 3 || got[0] != want {
		t.Errorf("the log is %+v, want first %+v", got, want)
	}
	if got := queuedNotices(w); len(got) != 0 {
		t.Errorf("told: %v", got)
	}
}

// TestDeleteMatch: those behind a match that is off move up, and who had picked it
// is told, until all have picked again.
func TestDeleteMatch(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	off := func() (int, string) {
		out := w.Ask(event.DeleteMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), testkit.Administrator, "")
		return out.StatusCode, pickemtest.RefusalOf(out).Code
	}
	for range 2 {
		if status, _ := off(); status != http.StatusNoContent {
			t.Errorf("taken off: %d", status)
		}
		if got := cardNumbers(w, pickemtest.Show); !slices.Equal(got, []int{2, 3}) || testkit.Row[item.Match](w.World, tables.Pickem, item.EventRef(pickemtest.Show), item.MatchSK(pickemtest.MatchID(3))).GSISK != "MATCH#02" {
			t.Errorf("the card is %v", got)
		}
	}
	notices := testkit.Messages[notice.Notice](w.World, notice.Queue)
	if len(notices) != 2 || !reflect.DeepEqual(notices[0], notices[1]) {
		t.Errorf("the second time told is another: %+v", notices)
	}
	n := notices[0]
	if slices.Sort(n.UserIDs); !slices.Equal(n.UserIDs, []string{"ann", "bob"}) || n.EventID != pickemtest.Show || n.Title != "clash-of-tides" || !n.Until.Equal(pickemtest.Noon.AddDate(0, 0, 7).Add(-time.Hour)) {
		t.Errorf("told is %+v", n)
	}
	var seen event.EventScreen
	if w.Read(event.GetEventFunction, pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body); !slices.Equal(seen.Body.Prediction.Void, []string{pickemtest.MatchID(1)}) {
		t.Errorf("ann's prediction is %+v", seen.Body.Prediction)
	}
	for _, user := range []string{"ann", "bob"} {
		w.Pick(user, pickemtest.Show)
	}
	if status, code := off(); status != 404 || code != "match_not_found" {
		t.Errorf("taken off when nobody picks it: %d %s", status, code)
	}
}

// TestManyAreTold: a notice is for a hundred members at most.
func TestManyAreTold(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AnnounceClash(1)
	var all []item.Prediction
	for i := range 2*notice.MaxUsers + 1 {
		id := fmt.Sprintf("user-%03d", i)
		all = append(all, item.Prediction{
			Row:     item.Row{PK: item.UserRef(id), SK: item.EventRef(pickemtest.Show), GSIPK: item.EventRef(pickemtest.Show), GSISK: "SCORE#000#" + id, Type: item.PredictionType},
			EventID: pickemtest.Show, BelongsTo: item.UserRef(id), Predictions: map[string]int{pickemtest.MatchID(1): 0}, CardRev: 1,
		})
	}
	testkit.Put(w.World, tables.Pickem, all...)
	w.MustAdmin(event.DeleteMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), "")
	users := map[string]bool{}
	var sizes []int
	for _, n := range testkit.Messages[notice.Notice](w.World, notice.Queue) {
		sizes = append(sizes, len(n.UserIDs))
		for _, u := range n.UserIDs {
			users[u] = true
		}
	}
	if !slices.Equal(sizes, []int{notice.MaxUsers, notice.MaxUsers, 1}) || len(users) != len(all) {
		t.Errorf("the notices are for %v, in all for %d", sizes, len(users))
	}
}

// TestPutResult: a result is a winner's place or void, is entered once, and can be
// changed at any time; whoever changed it is on record.
func TestPutResult(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	put := func(body string) string {
		return w.MustAdmin(event.PutResultFunction, pickemtest.AdminMatch(pickemtest.LockedShow, 1)+"/result", body).Body
	}
	for _, c := range []struct{ body, want string }{
		{`{"result":0}`, `"result":0}`},
		{`{"result":0}`, `"result":0}`},
		{`{"result":1,"reason":"we saw it again"}`, `"result":1}`},
		{`{"result":"void","reason":"no contest"}`, `"result":"void"}`},
		{`{"result":"void"}`, `"result":"void"}`},
		{`{"result":0}`, `"result":0}`},
	} {
		if got := strings.TrimSpace(put(c.body)); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s is answered with %s", c.body, got)
		}
		w.To(w.Clock.Now().Add(time.Minute))
	}
	entry := func(minute int, from, to, reason string) event.Correction {
		return event.Correction{At: pickemtest.Noon.Add(time.Hour + time.Duration(minute)*time.Minute), MatchID: pickemtest.MatchID(1), Match: "Match 1", From: from, To: to, By: testkit.Administrator, Reason: reason}
	}
	var log event.CorrectionList
	w.Read(event.ListCorrectionsFunction, pickemtest.AppEvent(pickemtest.LockedShow)+"/corrections", "ann", &log.Body)
	want := []event.Correction{entry(5, "void", "Left 1", ""), entry(3, "Right 1", "void", "no contest"), entry(2, "Left 1", "Right 1", "we saw it again"), entry(0, "", "Left 1", "")}
	if !slices.Equal(log.Body.Corrections, want) {
		t.Errorf("the log (-want +got):\n%s", cmp.Diff(want, log.Body.Corrections))
	}
	if got := testkit.Messages[score.Request](w.World, score.Queue); got != nil {
		t.Errorf("scored before anybody asked: %v", got)
	}
	if out := w.Ask(event.ListCorrectionsFunction, pickemtest.AppEvent(pickemtest.Show)+"/corrections", "ann", ""); !strings.Contains(out.Body, `{"corrections":[]}`) {
		t.Errorf("an empty log is %s", out.Body)
	}
}

// TestResultWithoutTheJob: from the lock on, by the clock alone, results go in, and
// the event cannot be opened again.
func TestResultWithoutTheJob(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(1)
	w.Pick("ann", pickemtest.Show, 0)
	early := func() pickemtest.Refusal {
		return pickemtest.RefusalOf(w.Ask(event.PutResultFunction, pickemtest.AdminMatch(pickemtest.Show, 1)+"/result", testkit.Administrator, `{"result":0}`))
	}
	lock := pickemtest.Noon.AddDate(0, 0, 7).Add(-time.Hour)
	w.To(lock.Add(-time.Second))
	if got, want := early(), (pickemtest.Refusal{Status: 409, Code: "event_upcoming", Field: ""}); got != want {
		t.Errorf("before the lock: %v, want %v", got, want)
	}
	w.To(lock)
	if got, want := pickemtest.RefusalOf(w.Ask(event.RequestScoreFunction, pickemtest.AdminEvent(pickemtest.Show)+"/score", testkit.Administrator, "")), (pickemtest.Refusal{Status: 409, Code: "results_missing", Field: ""}); got != want {
		t.Errorf("to be scored: %v, want %v", got, want)
	}
	w.EnterResults(pickemtest.Show, 0)
	if got, want := pickemtest.RefusalOf(w.Ask(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator, `{"state":"upcoming","startsAt":"2026-04-08T12:00:00Z"}`)), (pickemtest.Refusal{Status: 409, Code: "bad_transition", Field: ""}); got != want {
		t.Errorf("opened again: %v, want %v", got, want)
	}
	w.Score(pickemtest.Show)
	if got := w.Standings("2026"); len(got) != 1 || got[0].Points != 10 {
		t.Errorf("the standings are %+v", got)
	}
}

// TestRequestScore: an event is scored when it has a result for each match; which
// it has not is said.
func TestRequestScore(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	request := func() (status int, doc struct {
		JobID    string
		MatchIDs []string
	}) {
		out := w.Ask(event.RequestScoreFunction, pickemtest.AdminEvent(pickemtest.LockedShow)+"/score", testkit.Administrator, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &doc))
		return out.StatusCode, doc
	}
	w.EnterResults(pickemtest.LockedShow, item.Void)
	if status, doc := request(); status != 409 || !slices.Equal(doc.MatchIDs, []string{pickemtest.MatchID(2)}) {
		t.Errorf("without a result: %d, missing %q", status, doc.MatchIDs)
	}
	w.MustAdmin(event.PutResultFunction, pickemtest.AdminMatch(pickemtest.LockedShow, 2)+"/result", `{"result":1}`)
	for range 2 {
		if status, doc := request(); status != 202 || doc.JobID != pickemtest.LockedShow+"@2" {
			t.Errorf("to be scored: %d, job %s", status, doc.JobID)
		}
	}
	w.ScoreQueued()
	w.EnterResults(pickemtest.LockedShow, 0)
	if _, doc := request(); doc.JobID != pickemtest.LockedShow+"@3" {
		t.Errorf("with another result it is the job %s", doc.JobID)
	}
}

// TestCardMeanwhile: of two who change a card at once one is asked to look again,
// so that no card is worth more than fits, and nothing is lost.
func TestCardMeanwhile(t *testing.T) {
	t.Parallel()
	add := func(w *pickemtest.Room) {
		w.MustAdmin(event.AddMatchFunction, pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(8, 900))
	}
	raise := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 2), pickemtest.Without(pickemtest.MatchOf(2, 900), "id"))
	}
	bonus := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"bonus":900}`)
	}
	order := func(w *pickemtest.Room) {
		w.MustAdmin(event.OrderCardFunction, pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(3, 2, 1))
	}
	off := func(w *pickemtest.Room) {
		w.MustAdmin(event.DeleteMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 2), "")
	}
	opened := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.LockedShow), `{"state":"upcoming","startsAt":"2026-03-02T14:00:00Z"}`)
	}
	result := func(w *pickemtest.Room) { w.EnterResults(pickemtest.LockedShow, 1) }
	rename := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.LockedShow), `{"name":"High"}`)
	}
	addOne := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.AddMatch{EventID: pickemtest.Show}
		in.Body.MatchFields = event.MatchFields{Name: "New", Points: 100, Teams: []item.Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
		_, err := s.AddMatch(w.Ctx(), in)
		return err
	}
	raiseOne := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.UpdateMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)}
		in.Body = event.MatchFields{Name: "Match 1", Points: 100, Teams: []item.Team{{Members: []string{"Left 1"}}, {Members: []string{"Right 1"}}}}
		_, err := s.UpdateMatch(w.Ctx(), in)
		return err
	}
	replace := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.UpdateMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)}
		in.Body = event.MatchFields{Name: "Match 1", Points: 10, Teams: []item.Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
		_, err := s.UpdateMatch(w.Ctx(), in)
		return err
	}
	takeOff := func(w *pickemtest.Room, s *event.Events) error {
		_, err := s.DeleteMatch(w.Ctx(), &event.DeleteMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(2)})
		return err
	}
	reorder := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.OrderCard{EventID: pickemtest.Show}
		in.Body.MatchIDs = []string{pickemtest.MatchID(2), pickemtest.MatchID(1), pickemtest.MatchID(3)}
		_, err := s.OrderCard(w.Ctx(), in)
		return err
	}
	ask := func(w *pickemtest.Room, s *event.Events) error {
		_, err := s.RequestScore(w.Ctx(), &event.RequestScore{EventID: pickemtest.ScoredShow})
		return err
	}
	correct := func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }
	enter := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.PutResult{EventID: pickemtest.LockedShow, MatchID: pickemtest.MatchID(1)}
		_, err := s.PutResult(w.Ctx(), in)
		return err
	}
	const changed, reordered = "changed", "card_changed"
	for _, c := range []struct {
		name string
		do   func(*pickemtest.Room)
		fn   spec.Function
		call func(*pickemtest.Room, *event.Events) error
		want string
	}{
		{"asked for points, and corrected", correct, event.RequestScoreFunction, ask, changed},
		{"added twice", add, event.AddMatchFunction, addOne, changed},
		{"added, and another raised", raise, event.AddMatchFunction, addOne, changed},
		{"added, with a bonus", bonus, event.AddMatchFunction, addOne, changed},
		{"raised, and another added", add, event.UpdateMatchFunction, raiseOne, changed},
		{"raised, and another too", raise, event.UpdateMatchFunction, raiseOne, changed},
		{"raised, with a bonus", bonus, event.UpdateMatchFunction, raiseOne, changed},
		{"replaced, and another too", raise, event.UpdateMatchFunction, replace, changed},
		{"taken off, and another added", add, event.DeleteMatchFunction, takeOff, changed},
		{"taken off twice", off, event.DeleteMatchFunction, takeOff, changed},
		{"ordered, and one added", add, event.OrderCardFunction, reorder, reordered},
		{"ordered, and one taken off", off, event.OrderCardFunction, reorder, reordered},
		{"ordered twice", order, event.OrderCardFunction, reorder, reordered},
		{"a result, and another", result, event.PutResultFunction, enter, changed},
		{"a result of what is open again", opened, event.PutResultFunction, enter, changed},
		{"a result, and another name", rename, event.PutResultFunction, enter, changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)
			var want map[string]map[string]any
			writes := map[bool]string{true: "UpdateItem", false: "TransactWriteItems"}[c.fn.Name == event.RequestScoreFunction.Name]
			env := w.InterruptEach(c.fn, writes, func() {
				c.do(w)
				want = w.Rows()
			})
			err := c.call(w, testkit.OpenWith(w.World, env, event.OpenEvents))
			if pickemtest.CodeOf(err) != c.want {
				t.Errorf("the answer is %v, want %s", err, c.want)
			}
			if got := w.Rows(); want == nil || !reflect.DeepEqual(got, want) {
				t.Errorf("the table is %v, want %v", got, want)
			}
		})
	}
}

// TestCardCrashes: what an administrator does to a card again, because an answer
// was lost, ends as it would have ended.
func TestCardCrashes(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Rows map[string]map[string]any
		Told map[string]map[string]bool // by notice
	}
	for name, c := range map[string]struct {
		fn   spec.Function
		call func(*pickemtest.Room, *event.Events)
	}{
		"update-match": {event.UpdateMatchFunction, func(w *pickemtest.Room, s *event.Events) {
			in := &event.UpdateMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)}
			in.Body = event.MatchFields{Name: "Match 1", Points: 10, Teams: []item.Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
			s.UpdateMatch(w.Ctx(), in)
		}},
		"update-points": {event.UpdateMatchFunction, func(w *pickemtest.Room, s *event.Events) {
			in := &event.UpdateMatch{EventID: pickemtest.ScoredShow, MatchID: pickemtest.MatchID(1)}
			in.UserID = testkit.Administrator
			in.Body = event.MatchFields{Name: "Match 1", Points: 50, Teams: []item.Team{{Members: []string{"Left 1"}}, {Members: []string{"Right 1"}}}}
			s.UpdateMatch(w.Ctx(), in)
		}},
		"delete-match": {event.DeleteMatchFunction, func(w *pickemtest.Room, s *event.Events) {
			s.DeleteMatch(w.Ctx(), &event.DeleteMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)})
		}},
		"put-result": {event.PutResultFunction, func(w *pickemtest.Room, s *event.Events) {
			in := &event.PutResult{EventID: pickemtest.ScoredShow, MatchID: pickemtest.MatchID(1)}
			in.Body.Result = 1
			s.PutResult(w.Ctx(), in)
		}},
		"request-score": {event.RequestScoreFunction, func(w *pickemtest.Room, s *event.Events) {
			s.RequestScore(w.Ctx(), &event.RequestScore{EventID: pickemtest.LockedShow})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
				w := pickemtest.NewSeason(t)
				w.EnterResults(pickemtest.LockedShow, 0, 1)
				c.call(w, testkit.OpenWith(w.World, w.Crashing(c.fn, p), event.OpenEvents))
				c.call(w, testkit.Open(w.World, c.fn, event.OpenEvents))
				w.ScoreQueued()
				out := outcome{w.Rows(), map[string]map[string]bool{}}
				for id, users := range queuedNotices(w) {
					out.Told[id] = map[string]bool{}
					for _, u := range users {
						out.Told[id][u] = true
					}
				}
				return out
			})
		})
	}
}

// FuzzResult: a result is what it writes itself as, and nothing else is one.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{`0`, `1`, `39`, `"void"`, `-1`, `-0`, `00`, `1.0`, `1e1`, `null`, `"0"`, `""`, `true`, `[]`, `{}`, `9223372036854775808`, `"void\n"`, ` 7 `, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := item.Result(-7)
		if err := json.Unmarshal(text, &got); err != nil {
			return
		}
		written, err := json.Marshal(got)
		if err != nil || got < item.Void || string(written) != strings.Trim(string(text), " \t\r\n") {
			t.Fatalf("%q is the result %d, which writes itself as %s, %v", text, got, written, err)
		}
	})
}
