package event_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// cardNumbers returns the numbers of the matches on a card, in the order that ann sees.
func cardNumbers(w *pickemtest.Room, eventID string) (numbers []int) {
	w.T.Helper()

	var seen event.EventScreen
	w.Read(event.GetEventFunction(), pickemtest.AppEvent(eventID), "ann", &seen.Body)

	for _, m := range seen.Body.Card {
		var n int
		fmt.Sscanf(m.ID, "00000000-0000-4000-8000-%d", &n)
		numbers = append(numbers, n)
	}

	return numbers
}

// queuedNotices returns the recipients of the queued notices by notice id, sorted.
func queuedNotices(w *pickemtest.Room) map[string][]string {
	w.T.Helper()

	users := map[string][]string{}
	for _, n := range testkit.Messages[notice.Notice](w.World, notice.Queue) {
		users[n.ID] = append(users[n.ID], n.UserIDs...)
	}

	for _, ids := range users {
		slices.Sort(ids)
	}

	return users
}

// TestAddMatchAppendsItOnce: a match is added to the end of the card. A repeated request
// with the same id changes nothing.
func TestAddMatchAppendsItOnce(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(0)

	const matches = "/admin/events/" + pickemtest.Show + "/matches"

	body := map[string]any{
		"id":            strings.ToUpper("abcdef00-0000-4000-8000-000000000001"),
		"name":          "Tornado Tag Team",
		"championships": []string{"Tag Team"},
		"points":        25,
		"preshow":       true,
		"teams": []map[string]any{
			{"champion": true, "members": []string{"Sting", "Darby"}},
			{"name": "Bucks", "members": []string{"Matthew", "Nicholas"}},
		},
	}
	first := w.MustAdmin(event.AddMatchFunction(), matches, body)
	was := w.Rows()
	again := w.MustAdmin(event.AddMatchFunction(), matches, body)

	want := `{"id":"abcdef00-0000-4000-8000-000000000001","name":"Tornado Tag Team","championships":["Tag Team"],"points":25,"preshow":true,` +
		`"teams":[{"id":"t1","champion":true,"members":["Sting","Darby"]},{"id":"t2","name":"Bucks","members":["Matthew","Nicholas"]}]}`
	for _, out := range []string{first.Body, again.Body} {
		if strings.TrimSpace(out) != want {
			t.Errorf("the answer is %s, want %s", out, want)
		}
	}

	if first.StatusCode != http.StatusCreated || again.StatusCode != http.StatusCreated || !reflect.DeepEqual(w.Rows(), was) {
		t.Errorf("statuses %d and %d, want 201 twice; rows changed by the second request (-was +is):\n%s", first.StatusCode,
			again.StatusCode, cmp.Diff(was, w.Rows()))
	}

	row := testkit.Row[map[string]any](w.World, tables.Pickem, "EVENT#"+pickemtest.Show, "MATCH#abcdef00-0000-4000-8000-000000000001")
	for attribute, want := range map[string]any{
		"GSI_PK":  "EVENT#" + pickemtest.Show,
		"GSI_SK":  "MATCH#01",
		"type":    "match",
		"points":  25.0,
		"preshow": true,
		"result":  nil,
	} {
		if row[attribute] != want {
			t.Errorf("attribute %s is %v, want %v", attribute, row[attribute], want)
		}
	}

	ids := map[string]bool{}

	for range 2 {
		m := testkit.Decode[event.Match](w.World,
			w.MustAdmin(event.AddMatchFunction(), matches, pickemtest.WithoutKey(pickemtest.MatchOf(2, 1), "id")))
		if ids[m.ID] = true; !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(m.ID) {
			t.Errorf("the generated id is %s, want a random UUID", m.ID)
		}
	}

	if len(ids) != 2 {
		t.Error("two matches without an id got the same id")
	}
}

// TestCardHas99MatchesAnd999Points: the bonus counts as points.
func TestCardHas99MatchesAnd999Points(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(0)
	w.AddMatches(pickemtest.Show, item.MaxMatches-1)
	w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(item.MaxMatches, 3))
	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"bonus":800}`) // 98 × 2 + 3 + 800

	overflow := func(field string) pickemtest.Refusal {
		return pickemtest.Refusal{Status: 422, Code: "card_overflow", Field: field}
	}
	more := pickemtest.MatchOf(1, 3)
	more["teams"] = []map[string]any{{"members": []string{"a"}}, {"members": []string{"b"}}}
	same := pickemtest.MatchOf(1, 2)
	same["name"] = "Another name"
	// a full card can be edited
	w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.WithoutKey(same, "id"))

	if got, want := pickemtest.RefusalOf(w.Ask(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), testkit.Administrator,
		pickemtest.WithoutKey(more, "id"))), overflow("body.points"); got != want {
		t.Errorf("a match with one point too many: %v, want %v", got, want)
	}

	if got, want := pickemtest.RefusalOf(w.Ask(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator,
		`{"bonus":801}`)), overflow("body.bonus"); got != want {
		t.Errorf("a bonus with one point too many: %v, want %v", got, want)
	}

	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), "") // the transaction with the most writes

	want := slices.Collect(func(yield func(int) bool) {
		for n := item.MaxMatches; n > 1 && yield(n); n-- {
		}
	})
	w.MustAdmin(event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(want...))

	if got := cardNumbers(w, pickemtest.Show); !slices.Equal(got, want) {
		t.Errorf("order of the card (-want +got):\n%s", cmp.Diff(want, got))
	}

	w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(1, 1))

	want = append(want, 1)
	slices.Reverse(want)
	w.MustAdmin(event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(want...))

	if got := cardNumbers(w, pickemtest.Show); !slices.Equal(got, want) {
		t.Errorf("order of 99 matches (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestOrderCardKeepsPicks: the card of an event can be ordered in every state.
func TestOrderCardKeepsPicks(t *testing.T) {
	t.Parallel()

	for _, id := range []string{pickemtest.Show, pickemtest.LockedShow, pickemtest.ScoredShow} {
		w := pickemtest.NewSeason(t)

		var want []int
		for n := len(cardNumbers(w, id)); n > 0; n-- {
			want = append(want, n)
		}

		var was map[string]map[string]any

		for i := range 2 {
			out := w.MustAdmin(event.OrderCardFunction(), pickemtest.AdminEvent(id)+"/card", pickemtest.OrderOf(want...))
			if first := strings.Index(out.Body, pickemtest.MatchID(want[0])); first < 0 ||
				first > strings.Index(out.Body, pickemtest.MatchID(want[1])) {
				t.Errorf("%s: the answer is %s, want the matches in the order %v", id, out.Body, want)
			}

			if i == 1 && !reflect.DeepEqual(w.Rows(), was) {
				t.Errorf("%s: rows changed by a repeated request (-was +is):\n%s", id, cmp.Diff(was, w.Rows()))
			}

			was = w.Rows()
		}

		var seen event.EventScreen
		if w.Read(event.GetEventFunction(), pickemtest.AppEvent(id), "ann", &seen.Body); !slices.Equal(cardNumbers(w, id), want) ||
			len(seen.Body.Prediction.Predictions) != len(want) {
			t.Errorf("%s: the order is %v, want %v; ann's prediction is %+v, want all picks", id, cardNumbers(w, id), want, seen.Body.Prediction)
		}
	}
}

// TestChangedTeamsMakePicksVoid: a change of the teams of a match makes picks on it void and
// notifies the members who made them. Other changes keep the picks.
func TestChangedTeamsMakePicksVoid(t *testing.T) {
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
		{"no change", two(left, right), false},
		{"name", map[string]any{"name": "Steel Cage", "points": 10, "teams": []any{left, right}}, false},
		{"points", map[string]any{"name": "Match 1", "points": 11, "teams": []any{left, right}}, false},
		{"championships and preshow", map[string]any{
			"name":          "Match 1",
			"points":        10,
			"preshow":       true,
			"championships": []string{"World"},
			"teams":         []any{left, right},
		}, false},
		{"name of a team", two(side("Lefts", "Left 1"), right), false},
		{"member of a team", two(side("", "Another"), right), true},
		{"additional member", two(left, side("", "Right 1", "Another")), true},
		{"order of the teams", two(right, left), false},
		{"additional team", two(left, right, side("", "Another")), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)

			var was map[string]map[string]any

			for i := range 2 {
				got := testkit.Decode[map[string]any](w.World,
					w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), c.body))
				if got["id"] != pickemtest.MatchID(1) || got["name"] != c.body["name"] || fmt.Sprint(got["points"]) != fmt.Sprint(c.body["points"]) {
					t.Errorf("the answer is %v, want the fields of %v", got, c.body)
				}

				if i == 1 && !reflect.DeepEqual(w.Rows(), was) {
					t.Errorf("rows changed by a repeated request (-was +is):\n%s", cmp.Diff(was, w.Rows()))
				}

				was = w.Rows()
			}

			picks, void, notified := []int{1, 2, 3}, []string(nil), map[string][]string{}
			if c.void {
				picks, void = []int{2, 3}, []string{pickemtest.MatchID(1)}
				// queued twice, with the same id
				notified[fmt.Sprintf("%s#%s#%d", pickemtest.Show, pickemtest.MatchID(1),
					pickemtest.Noon.UnixMilli()+4)] = []string{"ann", "ann", "bob", "bob"}
			}

			var seen event.EventScreen
			w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)

			p := seen.Body.Prediction
			for _, n := range picks {
				if _, ok := p.Predictions[pickemtest.MatchID(n)]; !ok || len(p.Predictions) != len(picks) {
					t.Errorf("ann's valid picks are %v, want those of the matches %v", p.Predictions, picks)
				}
			}

			if !slices.Equal(p.Void, void) || !reflect.DeepEqual(queuedNotices(w), notified) {
				t.Errorf("void picks (-want +got):\n%s\nrecipients by notice (-want +got):\n%s", cmp.Diff(void, p.Void),
					cmp.Diff(notified, queuedNotices(w)))
			}

			w.Pick("ann", pickemtest.Show, 1, 1, 1)

			var again event.EventScreen
			if w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann",
				&again.Body); len(again.Body.Prediction.Predictions) != 3 || again.Body.Prediction.Void != nil {
				t.Errorf("the prediction after new picks is %+v, want three valid picks", again.Body.Prediction)
			}
		})
	}
}

// TestTeamIDsAreNotUsedAgain: a team that replaces another never has the id of an earlier
// one, so that no pick on that counts for it.
func TestTeamIDsAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.CreateShow(1)

	var ids []string

	for _, name := range []string{"Second", "Third", "Fourth"} {
		body := map[string]any{
			"name":   "Match 1",
			"points": 10,
			"teams":  []any{map[string]any{"members": []string{"Left 1"}}, map[string]any{"members": []string{name}}},
		}
		m := testkit.Decode[event.Match](w.World, w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), body))
		ids = append(ids, m.Teams[1].ID)
	}

	if want := []string{"t3", "t4", "t5"}; !slices.Equal(ids, want) {
		t.Errorf("ids of the new teams (-want +got):\n%s", cmp.Diff(want, ids))
	}
}

// TestVoidPicksScoreNothing: a pick on changed teams, and a pick on a match that was deleted
// and added again under its id, bring no points.
func TestVoidPicksScoreNothing(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	w.CreateShow(3)
	w.Pick("ann", pickemtest.Show, 0, 0, 0)
	w.Pick("bob", pickemtest.Show, 0, 0, 0)
	w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.WithoutKey(pickemtest.MatchOf(9, 10), "id"))
	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 2), "")
	w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(2, 20))
	w.Pick("bob", pickemtest.Show, 0, 0, 0)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0, 0, 0)
	w.Score(pickemtest.Show)

	table := w.Standings("2026")
	if len(table) != 2 || table[0].Name != "bob" || table[0].Points != 60 || table[1].Points != 30 {
		t.Errorf("the standings are %+v, want bob with 60 points and ann with 30", table)
	}
}

// TestPointsOfAScoredMatchCanChange: a change of the points of a match after its result is
// logged, and the scored event is scored again.
func TestPointsOfAScoredMatchCanChange(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)

	body := pickemtest.WithoutKey(pickemtest.MatchOf(1, 100), "id")
	for range 2 {
		w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.ScoredShow, 1), body)
		w.ScoreQueued()
	}

	if top := w.Standings("2026")[0]; top.Name != "ann" || top.Points != 100 {
		t.Errorf("the first of the standings is %+v, want ann with 100 points", top)
	}

	var log event.CorrectionList
	w.Read(event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow)+"/corrections", "bob", &log.Body)

	want := event.Correction{
		At:      pickemtest.Noon.Add(time.Hour),
		MatchID: pickemtest.MatchID(1),
		Match:   "Match 1",
		From:    "10 points",
		To:      "100 points",
		By:      testkit.Administrator,
	}
	if got := log.Body.Corrections; len(got) != 3 || got[0] != want {
		t.Errorf("the log is %+v, want 3 entries, the first %+v", got, want)
	}

	if got := queuedNotices(w); len(got) != 0 {
		t.Errorf("the notices are %v, want none", got)
	}
}

// TestDeleteMatchNotifiesItsPickers: the matches after a deleted match move up, and the members
// who picked it are notified. A repeated request notifies those who have not picked again.
func TestDeleteMatchNotifiesItsPickers(t *testing.T) {
	t.Parallel()

	w := pickemtest.NewSeason(t)
	for range 2 {
		w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), "")

		if got := cardNumbers(w, pickemtest.Show); !slices.Equal(got, []int{2, 3}) ||
			testkit.Row[item.Match](w.World, tables.Pickem, item.EventRef(pickemtest.Show),
				item.MatchSK(pickemtest.MatchID(3))).GSISK != "MATCH#02" {
			t.Errorf("the card is %v, want matches 2 and 3 without a gap", got)
		}
	}

	notices := testkit.Messages[notice.Notice](w.World, notice.Queue)
	if len(notices) != 2 || !reflect.DeepEqual(notices[0], notices[1]) {
		t.Fatalf("the notices are %+v, want the same notice twice", notices)
	}

	n := notices[0]
	if slices.Sort(n.UserIDs); !slices.Equal(n.UserIDs, []string{"ann", "bob"}) || n.EventID != pickemtest.Show ||
		n.Title != "clash-of-tides" || !n.Until.Equal(pickemtest.Noon.AddDate(0, 0, 7).Add(-time.Hour)) {
		t.Errorf("the notice is %+v, want one to ann and bob until the event locks", n)
	}

	var seen event.EventScreen
	if w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body); !slices.Equal(seen.Body.Prediction.Void,
		[]string{pickemtest.MatchID(1)}) {
		t.Errorf("ann's prediction is %+v, want a void pick of match 1", seen.Body.Prediction)
	}

	for _, user := range []string{"ann", "bob"} {
		w.Pick(user, pickemtest.Show)
	}

	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), "")

	if n := len(testkit.Messages[notice.Notice](w.World, notice.Queue)); n != 2 {
		t.Errorf("%d notices are queued after all have picked again, want the 2 of before", n)
	}
}

// TestNoticeHasAtMost100Recipients: more recipients are divided into several messages.
func TestNoticeHasAtMost100Recipients(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.CreateShow(1)

	var all []item.Prediction

	for i := range 2*notice.MaxUsers + 1 {
		id := fmt.Sprintf("user-%03d", i)
		all = append(all, item.Prediction{
			Row: item.Row{
				PK:    item.UserRef(id),
				SK:    item.EventRef(pickemtest.Show),
				GSIPK: item.EventRef(pickemtest.Show),
				GSISK: "SCORE#000#" + id,
				Type:  item.PredictionType,
			},
			EventID: pickemtest.Show, BelongsTo: item.UserRef(id), Predictions: pickemtest.PicksOf(0), CardRev: 1,
		})
	}

	testkit.PutRows(w.World, tables.Pickem, all...)
	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), "")

	users := map[string]bool{}

	var sizes []int
	for _, n := range testkit.Messages[notice.Notice](w.World, notice.Queue) {
		sizes = append(sizes, len(n.UserIDs))
		for _, u := range n.UserIDs {
			users[u] = true
		}
	}

	if !slices.Equal(sizes, []int{notice.MaxUsers, notice.MaxUsers, 1}) || len(users) != len(all) {
		t.Errorf("the notices have %v recipients, together %d members; want 100, 100, 1 and %d", sizes, len(users), len(all))
	}
}

// TestResultCanBeChangedAndIsLogged: each change of a result has an entry in the log with its
// administrator. A repeated request has none.
func TestResultCanBeChangedAndIsLogged(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)

	put := func(body string) string {
		return w.MustAdmin(event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1)+"/result", body).Body
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
			t.Errorf("%s: the answer is %s, want it to end with %s", c.body, got, c.want)
		}

		w.MoveClock(w.Clock.Now().Add(time.Minute))
	}

	entry := func(minute int, from, to, reason string) event.Correction {
		return event.Correction{
			At:      pickemtest.Noon.Add(time.Hour + time.Duration(minute)*time.Minute),
			MatchID: pickemtest.MatchID(1),
			Match:   "Match 1",
			From:    from,
			To:      to,
			By:      testkit.Administrator,
			Reason:  reason,
		}
	}

	var log event.CorrectionList
	w.Read(event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.LockedShow)+"/corrections", "ann", &log.Body)

	want := []event.Correction{entry(5, "void", "Left 1", ""), entry(3, "Right 1", "void", "no contest"),
		entry(2, "Left 1", "Right 1", "we saw it again"), entry(0, "", "Left 1", "")}
	if !slices.Equal(log.Body.Corrections, want) {
		t.Errorf("log of results (-want +got):\n%s", cmp.Diff(want, log.Body.Corrections))
	}

	if got := testkit.Messages[score.Request](w.World, score.Queue); got != nil {
		t.Errorf("scoring requests before request-score: %v, want none", got)
	}

	if out := w.Ask(event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/corrections", "ann",
		""); !strings.Contains(out.Body, `{"corrections":[]}`) {
		t.Errorf("an empty log is %s, want an empty list", out.Body)
	}
}

// TestResultsAreAcceptedFromLockAt: lockAt decides, also if lock-events has not run. An event
// with a result cannot be opened again.
func TestResultsAreAcceptedFromLockAt(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(1)
	w.Pick("ann", pickemtest.Show, 0)

	enter := func() pickemtest.Refusal {
		return pickemtest.RefusalOf(w.Ask(event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.Show, 1)+"/result",
			testkit.Administrator, `{"result":0}`))
	}
	lock := pickemtest.Noon.AddDate(0, 0, 7).Add(-time.Hour)
	w.MoveClock(lock.Add(-time.Second))

	if got, want := enter(), (pickemtest.Refusal{Status: 409, Code: "event_upcoming", Field: ""}); got != want {
		t.Errorf("a result before lockAt: %v, want %v", got, want)
	}

	w.MoveClock(lock)

	if got, want := pickemtest.RefusalOf(w.Ask(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/score",
		testkit.Administrator, "")), (pickemtest.Refusal{
		Status: 409,
		Code:   "results_missing",
		Field:  "",
	}); got != want {
		t.Errorf("request-score without results: %v, want %v", got, want)
	}

	w.EnterResults(pickemtest.Show, 0)

	if got, want := pickemtest.RefusalOf(w.Ask(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator,
		`{"state":"upcoming","startsAt":"2026-04-08T12:00:00Z"}`)), (pickemtest.Refusal{
		Status: 409,
		Code:   "bad_transition",
		Field:  "",
	}); got != want {
		t.Errorf("reopening with a result: %v, want %v", got, want)
	}

	w.Score(pickemtest.Show)

	if got := w.Standings("2026"); len(got) != 1 || got[0].Points != 10 {
		t.Errorf("the standings are %+v, want ann with 10 points", got)
	}
}

// TestRequestScoreNeedsAllResults: the refusal lists the matches without a result. The job id
// contains the revision of the results.
func TestRequestScoreNeedsAllResults(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	request := func() (status int, doc struct {
		JobID    string
		MatchIDs []string
	}) {
		out := w.Ask(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.LockedShow)+"/score", testkit.Administrator, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &doc))

		return out.StatusCode, doc
	}

	w.EnterResults(pickemtest.LockedShow, item.Void)

	if status, doc := request(); status != 409 || !slices.Equal(doc.MatchIDs, []string{pickemtest.MatchID(2)}) {
		t.Errorf("without a result of match 2: %d with the matches %q, want 409 with match 2", status, doc.MatchIDs)
	}

	w.MustAdmin(event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 2)+"/result", `{"result":1}`)

	for range 2 {
		if status, doc := request(); status != 202 || doc.JobID != pickemtest.LockedShow+"@2" {
			t.Errorf("with all results: %d, job %s; want 202, job %s@2", status, doc.JobID, pickemtest.LockedShow)
		}
	}

	w.ScoreQueued()
	w.EnterResults(pickemtest.LockedShow, 0)

	if _, doc := request(); doc.JobID != pickemtest.LockedShow+"@3" {
		t.Errorf("after a changed result: job %s, want %s@3", doc.JobID, pickemtest.LockedShow)
	}
}

// TestEmptyCardIsNotScored: the refusal names no match.
func TestEmptyCardIsNotScored(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.CreateShow(0)
	w.LockEvent(pickemtest.Show)

	out := w.Ask(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/score", testkit.Administrator, "")
	if err := testkit.CheckProblemCode(out, 409, "results_missing"); err != nil || !strings.Contains(out.Body, `"matchIds":[]`) {
		t.Errorf("%v; the answer is %s, want no matchIds", err, out.Body)
	}
}

// TestConcurrentAddsSucceed: each match gets a place of its own.
func TestConcurrentAddsSucceed(t *testing.T) {
	t.Parallel()

	const matches = 8 // fewer than the tries of a request

	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(0)

	var adding sync.WaitGroup
	for n := range matches {
		adding.Go(func() {
			if out := w.Ask(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", testkit.Administrator,
				pickemtest.MatchOf(n+1, 10)); out.StatusCode != http.StatusCreated {
				t.Errorf("match %d: %d %s", n+1, out.StatusCode, out.Body)
			}
		})
	}

	adding.Wait()

	e, card := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(pickemtest.Show)), cardNumbers(w, pickemtest.Show)
	places := map[string]bool{}

	for _, m := range testkit.Rows[item.Match](w.World, tables.Pickem) {
		if m.Type == item.MatchType {
			places[m.GSISK] = true
		}
	}

	if e.Matches != matches || len(card) != matches || len(places) != matches {
		t.Errorf("the event counts %d matches, the card has %v on %d places; want %d", e.Matches, card, len(places), matches)
	}
}

// TestConcurrentCardChangeIsRefused: a request that read a card before another changed it is
// refused, or begins again, so that no change is lost and no card exceeds its limits.
func TestConcurrentCardChangeIsRefused(t *testing.T) {
	t.Parallel()

	add := func(w *pickemtest.Room) {
		w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(8, 900))
	}
	raise := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 2),
			pickemtest.WithoutKey(pickemtest.MatchOf(2, 900), "id"))
	}
	bonus := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"bonus":900}`)
	}
	order := func(w *pickemtest.Room) {
		w.MustAdmin(event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(3, 2, 1))
	}
	remove := func(w *pickemtest.Room) {
		w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 2), "")
	}
	reopen := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.LockedShow),
			`{"state":"upcoming","startsAt":"2026-03-02T14:00:00Z"}`)
	}
	result := func(w *pickemtest.Room) { w.EnterResults(pickemtest.LockedShow, 1) }
	rename := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.LockedShow), `{"name":"High"}`)
	}
	addOne := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.AddMatch{EventID: pickemtest.Show}
		in.Body.MatchFields = event.MatchFields{Name: "New", Points: 100, Teams: []item.Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
		_, err := s.AddMatch(w.NewContext(), in)

		return err
	}
	raiseOne := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.UpdateMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)}
		in.Body = event.MatchFields{
			Name:   "Match 1",
			Points: 100,
			Teams:  []item.Team{{Members: []string{"Left 1"}}, {Members: []string{"Right 1"}}},
		}
		_, err := s.UpdateMatch(w.NewContext(), in)

		return err
	}
	replace := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.UpdateMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)}
		in.Body = event.MatchFields{Name: "Match 1", Points: 10, Teams: []item.Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
		_, err := s.UpdateMatch(w.NewContext(), in)

		return err
	}
	removeOne := func(w *pickemtest.Room, s *event.Events) error {
		_, err := s.DeleteMatch(w.NewContext(), &event.DeleteMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(2)})
		return err
	}
	reorder := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.OrderCard{EventID: pickemtest.Show}
		in.Body.MatchIDs = []string{pickemtest.MatchID(2), pickemtest.MatchID(1), pickemtest.MatchID(3)}
		_, err := s.OrderCard(w.NewContext(), in)

		return err
	}
	ask := func(w *pickemtest.Room, s *event.Events) error {
		_, err := s.RequestScore(w.NewContext(), &event.RequestScore{EventID: pickemtest.ScoredShow})
		return err
	}
	correct := func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }
	enter := func(w *pickemtest.Room, s *event.Events) error {
		in := &event.PutResult{EventID: pickemtest.LockedShow, MatchID: pickemtest.MatchID(1)}
		_, err := s.PutResult(w.NewContext(), in)

		return err
	}

	const changed, reordered, overflow = "changed", "card_changed", "card_overflow"
	for _, c := range []struct {
		name string
		do   func(*pickemtest.Room)
		fn   app.Function
		call func(*pickemtest.Room, *event.Events) error
		want string
	}{
		{"request-score, concurrent result", correct, event.RequestScoreFunction(), ask, changed},
		{"add, concurrent add", add, event.AddMatchFunction(), addOne, overflow},
		{"add, concurrent points", raise, event.AddMatchFunction(), addOne, overflow},
		{"add, concurrent bonus", bonus, event.AddMatchFunction(), addOne, overflow},
		{"points, concurrent add", add, event.UpdateMatchFunction(), raiseOne, changed},
		{"points, concurrent points", raise, event.UpdateMatchFunction(), raiseOne, changed},
		{"points, concurrent bonus", bonus, event.UpdateMatchFunction(), raiseOne, changed},
		{"teams, concurrent points", raise, event.UpdateMatchFunction(), replace, changed},
		{"delete, concurrent add", add, event.DeleteMatchFunction(), removeOne, changed},
		{"delete, concurrent delete", remove, event.DeleteMatchFunction(), removeOne, changed},
		{"order, concurrent add", add, event.OrderCardFunction(), reorder, reordered},
		{"order, concurrent delete", remove, event.OrderCardFunction(), reorder, reordered},
		{"order, concurrent order", order, event.OrderCardFunction(), reorder, reordered},
		{"result, concurrent result", result, event.PutResultFunction(), enter, changed},
		{"result, concurrent reopening", reopen, event.PutResultFunction(), enter, changed},
		{"result, concurrent name", rename, event.PutResultFunction(), enter, changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)

			var want map[string]map[string]any

			writes := map[bool]string{true: "UpdateItem", false: "TransactWriteItems"}[c.fn.Name == event.RequestScoreFunction().Name]
			env := w.InterruptEach(c.fn, writes, func() {
				c.do(w)
				want = w.Rows()
			})

			err := c.call(w, testkit.OpenWith(w.World, env, event.OpenEvents))
			if pickemtest.CodeOf(err) != c.want {
				t.Errorf("the error is %v, want %s", err, c.want)
			}

			if got := w.Rows(); want == nil || !reflect.DeepEqual(got, want) {
				t.Errorf("rows (-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

// TestCardCrashes: after a crash at any call, a repeated request completes the first.
func TestCardCrashes(t *testing.T) {
	t.Parallel()

	type outcome struct {
		Rows     map[string]map[string]any
		Notified map[string]map[string]bool // members by notice
	}

	for name, c := range map[string]struct {
		fn   app.Function
		call func(*pickemtest.Room, *event.Events) error
	}{
		"update-match": {event.UpdateMatchFunction(), func(w *pickemtest.Room, s *event.Events) error {
			in := &event.UpdateMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)}
			in.Body = event.MatchFields{Name: "Match 1", Points: 10, Teams: []item.Team{{Members: []string{"a"}}, {Members: []string{"b"}}}}
			_, err := s.UpdateMatch(w.NewContext(), in)

			return err
		}},
		"update-points": {event.UpdateMatchFunction(), func(w *pickemtest.Room, s *event.Events) error {
			in := &event.UpdateMatch{EventID: pickemtest.ScoredShow, MatchID: pickemtest.MatchID(1)}
			in.UserID = testkit.Administrator
			in.Body = event.MatchFields{
				Name:   "Match 1",
				Points: 50,
				Teams:  []item.Team{{Members: []string{"Left 1"}}, {Members: []string{"Right 1"}}},
			}
			_, err := s.UpdateMatch(w.NewContext(), in)

			return err
		}},
		"delete-match": {event.DeleteMatchFunction(), func(w *pickemtest.Room, s *event.Events) error {
			_, err := s.DeleteMatch(w.NewContext(), &event.DeleteMatch{EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)})
			return err
		}},
		"put-result": {event.PutResultFunction(), func(w *pickemtest.Room, s *event.Events) error {
			in := &event.PutResult{EventID: pickemtest.ScoredShow, MatchID: pickemtest.MatchID(1)}
			in.Body.Result = 1
			_, err := s.PutResult(w.NewContext(), in)

			return err
		}},
		"request-score": {event.RequestScoreFunction(), func(w *pickemtest.Room, s *event.Events) error {
			_, err := s.RequestScore(w.NewContext(), &event.RequestScore{EventID: pickemtest.LockedShow})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
				w := pickemtest.NewSeason(t)
				w.EnterResults(pickemtest.LockedShow, 0, 1)
				p.Ended(c.call(w, testkit.OpenWith(w.World, w.CrashingEnv(c.fn, p), event.OpenEvents)))
				c.call(w, testkit.Open(w.World, c.fn, event.OpenEvents))
				w.ScoreQueued()

				out := outcome{w.Rows(), map[string]map[string]bool{}}
				for id, users := range queuedNotices(w) {
					out.Notified[id] = map[string]bool{}
					for _, u := range users {
						out.Notified[id][u] = true
					}
				}

				return out
			})
		})
	}
}

// FuzzResult: UnmarshalJSON accepts exactly the output of MarshalJSON.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{`0`, `1`, `39`, `"void"`, `-1`, `-0`, `00`, `1.0`, `1e1`, `null`, `"0"`, `""`, `true`, `[]`, `{}`,
		`9223372036854775808`, `"void\n"`, ` 7 `, ``} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, text []byte) {
		got := item.Result(-7)
		if err := json.Unmarshal(text, &got); err != nil {
			return
		}

		written, err := json.Marshal(got)
		if err != nil || got < item.Void || string(written) != strings.Trim(string(text), " \t\r\n") {
			t.Fatalf("%q is read as %d, which is written as %s, %v", text, got, written, err)
		}
	})
}
