package pickem

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

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/spec"
)

// card is the card of an event as ann sees it, by the numbers of its matches.
func (w *world) card(eventID string) (numbers []int) {
	w.T.Helper()
	var seen EventScreen
	w.see(GetEventFunction, appEvent(eventID), "ann", &seen.Body)
	for _, m := range seen.Body.Card {
		var n int
		fmt.Sscanf(m.ID, "00000000-0000-4000-8000-%d", &n)
		numbers = append(numbers, n)
	}
	return numbers
}

// told are the members whom the notices go to, by the notice's id.
func (w *world) told() map[string][]string {
	w.T.Helper()
	told := map[string][]string{}
	for _, n := range testkit.Messages[Notice](w.World, noticeQueue) {
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
	w := newWorld(t)
	w.join("ann")
	w.clash(0)
	const matches = "/admin/events/" + show + "/matches"
	body := map[string]any{
		"id": strings.ToUpper("abcdef00-0000-4000-8000-000000000001"), "name": "Tornado Tag Team", "championships": []string{"Tag Team"}, "points": 25, "preshow": true,
		"teams": []map[string]any{{"champion": true, "members": []string{"Sting", "Darby"}}, {"name": "Bucks", "members": []string{"Matthew", "Nicholas"}}},
	}
	first := w.admin(AddMatchFunction, matches, body)
	was := w.rows()
	again := w.admin(AddMatchFunction, matches, body)
	want := `{"id":"abcdef00-0000-4000-8000-000000000001","name":"Tornado Tag Team","championships":["Tag Team"],"points":25,"preshow":true,` +
		`"teams":[{"champion":true,"members":["Sting","Darby"]},{"name":"Bucks","members":["Matthew","Nicholas"]}]}`
	for _, out := range []string{first.Body, again.Body} {
		if strings.TrimSpace(out) != want {
			t.Errorf("the match is %s, want %s", out, want)
		}
	}
	if first.StatusCode != http.StatusCreated || again.StatusCode != http.StatusCreated || !reflect.DeepEqual(w.rows(), was) {
		t.Errorf("it was added twice: %d, %d", first.StatusCode, again.StatusCode)
	}
	row := testkit.Row[map[string]any](w.World, table, "EVENT#"+show, "MATCH#abcdef00-0000-4000-8000-000000000001")
	for attribute, want := range map[string]any{"GSI_PK": "EVENT#" + show, "GSI_SK": "MATCH#01", "type": "match", "points": 25.0, "preshow": true, "result": nil} {
		if row[attribute] != want {
			t.Errorf("the item's %s is %v, want %v", attribute, row[attribute], want)
		}
	}
	ids := map[string]bool{}
	for range 2 {
		m := testkit.Decode[Match](w.World, w.admin(AddMatchFunction, matches, without(matchOf(2, 1), "id")))
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
	w := newWorld(t)
	w.join("ann")
	w.clash(0)
	w.fill(show, maxCard-1)
	w.admin(AddMatchFunction, adminEvent(show)+"/matches", matchOf(maxCard, 3))
	w.admin(UpdateEventFunction, adminEvent(show), `{"bonus":800}`) // 98 × 2 + 3 + 800
	overflow := func(field string) refusal { return refusal{422, "card_overflow", field} }
	more := matchOf(1, 3)
	more["teams"] = []map[string]any{{"members": []string{"a"}}, {"members": []string{"b"}}}
	if got, want := refusalOf(w.ask(UpdateMatchFunction, adminMatch(show, 1), testkit.Administrator, without(more, "id"))), overflow("body.points"); got != want {
		t.Errorf("a match worth one more: %v, want %v", got, want)
	}
	if got, want := refusalOf(w.ask(UpdateEventFunction, adminEvent(show), testkit.Administrator, `{"bonus":801}`)), overflow("body.bonus"); got != want {
		t.Errorf("a bonus of one more: %v, want %v", got, want)
	}
	w.admin(DeleteMatchFunction, adminMatch(show, 1), "") // the transaction with the most writes
	want := slices.Collect(func(yield func(int) bool) {
		for n := maxCard; n > 1 && yield(n); n-- {
		}
	})
	w.admin(OrderCardFunction, adminEvent(show)+"/card", orderOf(want...))
	if got := w.card(show); !slices.Equal(got, want) {
		t.Errorf("the card is %v, want %v", got, want)
	}
	w.admin(AddMatchFunction, adminEvent(show)+"/matches", matchOf(1, 1))
	want = append(want, 1)
	slices.Reverse(want)
	w.admin(OrderCardFunction, adminEvent(show)+"/card", orderOf(want...))
	if got := w.card(show); !slices.Equal(got, want) {
		t.Errorf("99 matches are in the order %v, want %v", got, want)
	}
}

// TestOrderCard: a card can be put into an order at any time, and picks stay.
func TestOrderCard(t *testing.T) {
	t.Parallel()
	for _, id := range []string{show, lockedShow, scoredShow} {
		w := season(t)
		var want []int
		for n := len(w.card(id)); n > 0; n-- {
			want = append(want, n)
		}
		var was map[string]map[string]any
		for i := range 2 {
			out := w.admin(OrderCardFunction, adminEvent(id)+"/card", orderOf(want...))
			if first := strings.Index(out.Body, matchID(want[0])); first < 0 || first > strings.Index(out.Body, matchID(want[1])) {
				t.Errorf("%s is answered with %s", id, out.Body)
			}
			if i == 1 && !reflect.DeepEqual(w.rows(), was) {
				t.Errorf("%s: the same order again has changed something", id)
			}
			was = w.rows()
		}
		var seen EventScreen
		if w.see(GetEventFunction, appEvent(id), "ann", &seen.Body); !slices.Equal(w.card(id), want) || len(seen.Body.Prediction.Predictions) != len(want) {
			t.Errorf("%s is %v, and ann's prediction %+v", id, w.card(id), seen.Body.Prediction)
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
			w := season(t)
			var was map[string]map[string]any
			for i := range 2 {
				got := testkit.Decode[map[string]any](w.World, w.admin(UpdateMatchFunction, adminMatch(show, 1), c.body))
				if got["id"] != matchID(1) || got["name"] != c.body["name"] || fmt.Sprint(got["points"]) != fmt.Sprint(c.body["points"]) {
					t.Errorf("the match is %v", got)
				}
				if i == 1 && !reflect.DeepEqual(w.rows(), was) {
					t.Errorf("the same again has changed something")
				}
				was = w.rows()
			}
			picks, void, told := []int{1, 2, 3}, []string(nil), map[string][]string{}
			if c.void {
				picks, void = []int{2, 3}, []string{matchID(1)}
				told[fmt.Sprintf("%s#%s#%d", show, matchID(1), noon.UnixMilli()+4)] = []string{"ann", "ann", "bob", "bob"} // asked for twice; each gets it once
			}
			var seen EventScreen
			w.see(GetEventFunction, appEvent(show), "ann", &seen.Body)
			p := seen.Body.Prediction
			for _, n := range picks {
				if _, ok := p.Predictions[matchID(n)]; !ok || len(p.Predictions) != len(picks) {
					t.Errorf("of ann's picks there are %v, want those of %v", p.Predictions, picks)
				}
			}
			if !slices.Equal(p.Void, void) || !reflect.DeepEqual(w.told(), told) {
				t.Errorf("void are %q, and told is %v, want %q and %v", p.Void, w.told(), void, told)
			}
			w.pick("ann", show, 1, 1, 1)
			var again EventScreen
			if w.see(GetEventFunction, appEvent(show), "ann", &again.Body); len(again.Body.Prediction.Predictions) != 3 || again.Body.Prediction.Void != nil {
				t.Errorf("picked again: %+v", again.Body.Prediction)
			}
		})
	}
}

// TestVoidPicksScoreNothing: a pick of teams that are no longer, and of a match
// that is off and on again under its id, counts for nothing.
func TestVoidPicksScoreNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob")
	w.clash(3)
	w.pick("ann", show, 0, 0, 0)
	w.pick("bob", show, 0, 0, 0)
	w.admin(UpdateMatchFunction, adminMatch(show, 1), without(matchOf(9, 10), "id"))
	w.admin(DeleteMatchFunction, adminMatch(show, 2), "")
	w.admin(AddMatchFunction, adminEvent(show)+"/matches", matchOf(2, 20))
	w.pick("bob", show, 0, 0, 0)
	w.lock(show)
	w.results(show, 0, 0, 0)
	w.score(show)
	table := w.standings("2026")
	if len(table) != 2 || table[0].Name != "bob" || table[0].Points != 60 || table[1].Points != 30 {
		t.Errorf("the standings are %+v", table)
	}
}

// TestPointsAfterResults: what a match is worth can change when results are in, is
// logged, and changes the points of a scored event.
func TestPointsAfterResults(t *testing.T) {
	t.Parallel()
	w := season(t)
	body := without(matchOf(1, 100), "id")
	for range 2 {
		w.admin(UpdateMatchFunction, adminMatch(scoredShow, 1), body)
		w.work()
	}
	if top := w.standings("2026")[0]; top.Name != "ann" || top.Points != 100 {
		t.Errorf("the first is %+v", top)
	}
	var log CorrectionList
	w.see(ListCorrectionsFunction, appEvent(scoredShow)+"/corrections", "bob", &log.Body)
	want := Correction{At: noon.Add(time.Hour), MatchID: matchID(1), Match: "Match 1", From: "10 points", To: "100 points", By: testkit.Administrator}
	if got := log.Body.Corrections; len(got) != 3 || got[0] != want {
		t.Errorf("the log is %+v, want first %+v", got, want)
	}
	if got := w.told(); len(got) != 0 {
		t.Errorf("told: %v", got)
	}
}

// TestDeleteMatch: those behind a match that is off move up, and who had picked it
// is told, until all have picked again.
func TestDeleteMatch(t *testing.T) {
	t.Parallel()
	w := season(t)
	off := func() (int, string) {
		out := w.ask(DeleteMatchFunction, adminMatch(show, 1), testkit.Administrator, "")
		return out.StatusCode, refusalOf(out).code
	}
	for range 2 {
		if status, _ := off(); status != http.StatusNoContent {
			t.Errorf("taken off: %d", status)
		}
		if got := w.card(show); !slices.Equal(got, []int{2, 3}) || testkit.Row[match](w.World, table, ofEvent(show), matchSK(matchID(3))).GSISK != "MATCH#02" {
			t.Errorf("the card is %v", got)
		}
	}
	notices := testkit.Messages[Notice](w.World, noticeQueue)
	if len(notices) != 2 || !reflect.DeepEqual(notices[0], notices[1]) {
		t.Errorf("the second time told is another: %+v", notices)
	}
	n := notices[0]
	if slices.Sort(n.UserIDs); !slices.Equal(n.UserIDs, []string{"ann", "bob"}) || n.EventID != show || n.Title != "clash-of-tides" || !n.Until.Equal(noon.AddDate(0, 0, 7).Add(-time.Hour)) {
		t.Errorf("told is %+v", n)
	}
	var seen EventScreen
	if w.see(GetEventFunction, appEvent(show), "ann", &seen.Body); !slices.Equal(seen.Body.Prediction.Void, []string{matchID(1)}) {
		t.Errorf("ann's prediction is %+v", seen.Body.Prediction)
	}
	for _, user := range []string{"ann", "bob"} {
		w.pick(user, show)
	}
	if status, code := off(); status != 404 || code != "match_not_found" {
		t.Errorf("taken off when nobody picks it: %d %s", status, code)
	}
}

// TestManyAreTold: a notice is for a hundred members at most.
func TestManyAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.clash(1)
	var all []prediction
	for i := range 2*maxUsers + 1 {
		id := fmt.Sprintf("user-%03d", i)
		all = append(all, prediction{
			row:     row{PK: ofUser(id), SK: ofEvent(show), GSIPK: ofEvent(show), GSISK: "SCORE#000#" + id, Type: predictionType},
			EventID: show, BelongsTo: ofUser(id), Predictions: map[string]int{matchID(1): 0}, CardRev: 1,
		})
	}
	testkit.Put(w.World, table, all...)
	w.admin(DeleteMatchFunction, adminMatch(show, 1), "")
	users := map[string]bool{}
	var sizes []int
	for _, n := range testkit.Messages[Notice](w.World, noticeQueue) {
		sizes = append(sizes, len(n.UserIDs))
		for _, u := range n.UserIDs {
			users[u] = true
		}
	}
	if !slices.Equal(sizes, []int{maxUsers, maxUsers, 1}) || len(users) != len(all) {
		t.Errorf("the notices are for %v, in all for %d", sizes, len(users))
	}
}

// TestPutResult: a result is a winner's place or void, is entered once, and can be
// changed at any time; whoever changed it is on record.
func TestPutResult(t *testing.T) {
	t.Parallel()
	w := season(t)
	put := func(body string) string {
		return w.admin(PutResultFunction, adminMatch(lockedShow, 1)+"/result", body).Body
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
	entry := func(minute int, from, to, reason string) Correction {
		return Correction{At: noon.Add(time.Hour + time.Duration(minute)*time.Minute), MatchID: matchID(1), Match: "Match 1", From: from, To: to, By: testkit.Administrator, Reason: reason}
	}
	var log CorrectionList
	w.see(ListCorrectionsFunction, appEvent(lockedShow)+"/corrections", "ann", &log.Body)
	want := []Correction{entry(5, "void", "Left 1", ""), entry(3, "Right 1", "void", "no contest"), entry(2, "Left 1", "Right 1", "we saw it again"), entry(0, "", "Left 1", "")}
	if !slices.Equal(log.Body.Corrections, want) {
		t.Errorf("the log is %+v, want %+v", log.Body.Corrections, want)
	}
	if got := testkit.Messages[ScoreEvent](w.World, scoreQueue); got != nil {
		t.Errorf("scored before anybody asked: %v", got)
	}
	if out := w.ask(ListCorrectionsFunction, appEvent(show)+"/corrections", "ann", ""); !strings.Contains(out.Body, `{"corrections":[]}`) {
		t.Errorf("an empty log is %s", out.Body)
	}
}

// TestResultWithoutTheJob: from the lock on, by the clock alone, results go in, and
// the event cannot be opened again.
func TestResultWithoutTheJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	w.clash(1)
	w.pick("ann", show, 0)
	early := func() refusal {
		return refusalOf(w.ask(PutResultFunction, adminMatch(show, 1)+"/result", testkit.Administrator, `{"result":0}`))
	}
	lock := noon.AddDate(0, 0, 7).Add(-time.Hour)
	w.To(lock.Add(-time.Second))
	if got, want := early(), (refusal{409, "event_upcoming", ""}); got != want {
		t.Errorf("before the lock: %v, want %v", got, want)
	}
	w.To(lock)
	if got, want := refusalOf(w.ask(RequestScoreFunction, adminEvent(show)+"/score", testkit.Administrator, "")), (refusal{409, "results_missing", ""}); got != want {
		t.Errorf("to be scored: %v, want %v", got, want)
	}
	w.results(show, 0)
	if got, want := refusalOf(w.ask(UpdateEventFunction, adminEvent(show), testkit.Administrator, `{"state":"upcoming","startsAt":"2026-04-08T12:00:00Z"}`)), (refusal{409, "bad_transition", ""}); got != want {
		t.Errorf("opened again: %v, want %v", got, want)
	}
	w.score(show)
	if got := w.standings("2026"); len(got) != 1 || got[0].Points != 10 {
		t.Errorf("the standings are %+v", got)
	}
}

// TestRequestScore: an event is scored when it has a result for each match; which
// it has not is said.
func TestRequestScore(t *testing.T) {
	t.Parallel()
	w := season(t)
	request := func() (status int, doc struct {
		JobID    string
		MatchIDs []string
	}) {
		out := w.ask(RequestScoreFunction, adminEvent(lockedShow)+"/score", testkit.Administrator, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &doc))
		return out.StatusCode, doc
	}
	w.results(lockedShow, void)
	if status, doc := request(); status != 409 || !slices.Equal(doc.MatchIDs, []string{matchID(2)}) {
		t.Errorf("without a result: %d, missing %q", status, doc.MatchIDs)
	}
	w.admin(PutResultFunction, adminMatch(lockedShow, 2)+"/result", `{"result":1}`)
	for range 2 {
		if status, doc := request(); status != 202 || doc.JobID != lockedShow+"@2" {
			t.Errorf("to be scored: %d, job %s", status, doc.JobID)
		}
	}
	w.work()
	w.results(lockedShow, 0)
	if _, doc := request(); doc.JobID != lockedShow+"@3" {
		t.Errorf("with another result it is the job %s", doc.JobID)
	}
}

// TestCardMeanwhile: of two who change a card at once one is asked to look again,
// so that no card is worth more than fits, and nothing is lost.
func TestCardMeanwhile(t *testing.T) {
	t.Parallel()
	add := func(w *world) { w.admin(AddMatchFunction, adminEvent(show)+"/matches", matchOf(8, 900)) }
	raise := func(w *world) { w.admin(UpdateMatchFunction, adminMatch(show, 2), without(matchOf(2, 900), "id")) }
	bonus := func(w *world) { w.admin(UpdateEventFunction, adminEvent(show), `{"bonus":900}`) }
	order := func(w *world) { w.admin(OrderCardFunction, adminEvent(show)+"/card", orderOf(3, 2, 1)) }
	off := func(w *world) { w.admin(DeleteMatchFunction, adminMatch(show, 2), "") }
	opened := func(w *world) {
		w.admin(UpdateEventFunction, adminEvent(lockedShow), `{"state":"upcoming","startsAt":"2026-03-02T14:00:00Z"}`)
	}
	result := func(w *world) { w.results(lockedShow, 1) }
	rename := func(w *world) { w.admin(UpdateEventFunction, adminEvent(lockedShow), `{"name":"High"}`) }
	addOne := func(w *world, s *Events) error {
		in := &AddMatch{EventID: show}
		in.Body.MatchFields = MatchFields{Name: "New", Points: 100, Teams: []Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
		_, err := s.AddMatch(w.Ctx(), in)
		return err
	}
	raiseOne := func(w *world, s *Events) error {
		in := &UpdateMatch{EventID: show, MatchID: matchID(1)}
		in.Body = MatchFields{Name: "Match 1", Points: 100, Teams: []Team{{Members: []string{"Left 1"}}, {Members: []string{"Right 1"}}}}
		_, err := s.UpdateMatch(w.Ctx(), in)
		return err
	}
	replace := func(w *world, s *Events) error {
		in := &UpdateMatch{EventID: show, MatchID: matchID(1)}
		in.Body = MatchFields{Name: "Match 1", Points: 10, Teams: []Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
		_, err := s.UpdateMatch(w.Ctx(), in)
		return err
	}
	takeOff := func(w *world, s *Events) error {
		_, err := s.DeleteMatch(w.Ctx(), &DeleteMatch{EventID: show, MatchID: matchID(2)})
		return err
	}
	reorder := func(w *world, s *Events) error {
		in := &OrderCard{EventID: show}
		in.Body.MatchIDs = []string{matchID(2), matchID(1), matchID(3)}
		_, err := s.OrderCard(w.Ctx(), in)
		return err
	}
	ask := func(w *world, s *Events) error {
		_, err := s.RequestScore(w.Ctx(), &RequestScore{EventID: scoredShow})
		return err
	}
	correct := func(w *world) { w.results(scoredShow, 1) }
	enter := func(w *world, s *Events) error {
		in := &PutResult{EventID: lockedShow, MatchID: matchID(1)}
		_, err := s.PutResult(w.Ctx(), in)
		return err
	}
	const changed, reordered = "changed", "card_changed"
	for _, c := range []struct {
		name string
		do   func(*world)
		fn   spec.Function
		call func(*world, *Events) error
		want string
	}{
		{"asked for points, and corrected", correct, RequestScoreFunction, ask, changed},
		{"added twice", add, AddMatchFunction, addOne, changed},
		{"added, and another raised", raise, AddMatchFunction, addOne, changed},
		{"added, with a bonus", bonus, AddMatchFunction, addOne, changed},
		{"raised, and another added", add, UpdateMatchFunction, raiseOne, changed},
		{"raised, and another too", raise, UpdateMatchFunction, raiseOne, changed},
		{"raised, with a bonus", bonus, UpdateMatchFunction, raiseOne, changed},
		{"replaced, and another too", raise, UpdateMatchFunction, replace, changed},
		{"taken off, and another added", add, DeleteMatchFunction, takeOff, changed},
		{"taken off twice", off, DeleteMatchFunction, takeOff, changed},
		{"ordered, and one added", add, OrderCardFunction, reorder, reordered},
		{"ordered, and one taken off", off, OrderCardFunction, reorder, reordered},
		{"ordered twice", order, OrderCardFunction, reorder, reordered},
		{"a result, and another", result, PutResultFunction, enter, changed},
		{"a result of what is open again", opened, PutResultFunction, enter, changed},
		{"a result, and another name", rename, PutResultFunction, enter, changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := season(t)
			var want map[string]map[string]any
			writes := map[bool]string{true: "UpdateItem", false: "TransactWriteItems"}[c.fn.Name == RequestScoreFunction.Name]
			env := w.inTheWay(c.fn, writes, func() {
				c.do(w)
				want = w.rows()
			})
			err := c.call(w, testkit.OpenWith(w.World, env, OpenEvents))
			if codeOf(err) != c.want {
				t.Errorf("the answer is %v, want %s", err, c.want)
			}
			if got := w.rows(); want == nil || !reflect.DeepEqual(got, want) {
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
		call func(*world, *Events)
	}{
		"update-match": {UpdateMatchFunction, func(w *world, s *Events) {
			in := &UpdateMatch{EventID: show, MatchID: matchID(1)}
			in.Body = MatchFields{Name: "Match 1", Points: 10, Teams: []Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
			s.UpdateMatch(w.Ctx(), in)
		}},
		"update-points": {UpdateMatchFunction, func(w *world, s *Events) {
			in := &UpdateMatch{EventID: scoredShow, MatchID: matchID(1)}
			in.UserID = testkit.Administrator
			in.Body = MatchFields{Name: "Match 1", Points: 50, Teams: []Team{{Members: []string{"Left 1"}}, {Members: []string{"Right 1"}}}}
			s.UpdateMatch(w.Ctx(), in)
		}},
		"delete-match": {DeleteMatchFunction, func(w *world, s *Events) {
			s.DeleteMatch(w.Ctx(), &DeleteMatch{EventID: show, MatchID: matchID(1)})
		}},
		"put-result": {PutResultFunction, func(w *world, s *Events) {
			in := &PutResult{EventID: scoredShow, MatchID: matchID(1)}
			in.Body.Result = 1
			s.PutResult(w.Ctx(), in)
		}},
		"request-score": {RequestScoreFunction, func(w *world, s *Events) {
			s.RequestScore(w.Ctx(), &RequestScore{EventID: lockedShow})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
				w := season(t)
				w.results(lockedShow, 0, 1)
				c.call(w, testkit.OpenWith(w.World, w.Crashing(c.fn, p), OpenEvents))
				c.call(w, testkit.Open(w.World, c.fn, OpenEvents))
				w.work()
				out := outcome{w.rows(), map[string]map[string]bool{}}
				for id, users := range w.told() {
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
		got := Result(-7)
		if err := json.Unmarshal(text, &got); err != nil {
			return
		}
		written, err := json.Marshal(got)
		if err != nil || got < void || string(written) != strings.Trim(string(text), " \t\r\n") {
			t.Fatalf("%q is the result %d, which writes itself as %s, %v", text, got, written, err)
		}
	})
}
