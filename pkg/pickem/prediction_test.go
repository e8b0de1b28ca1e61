package pickem

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/pkg/spec"
)

const myPicks = "/app/events/" + show + "/predictions"

// showLocks is when show does.
var showLocks = noon.AddDate(0, 0, 7).Add(-time.Hour)

// TestPutPredictions: a prediction replaces the one before as a whole, is answered
// as it was saved, and is nobody's but its owner's.
func TestPutPredictions(t *testing.T) {
	t.Parallel()
	w := season(t)
	others := w.rows()
	delete(others, ofUser("ann")+" "+ofEvent(show))
	for _, picks := range []map[string]int{
		{matchID(1): 0, matchID(2): 1, matchID(3): 39},
		{matchID(1): 0, matchID(2): 1, matchID(3): 39},
		{matchID(1): 1},
		{},
	} {
		saved := testkit.Decode[Prediction](w.World, w.ask(PutPredictionsFunction, myPicks, "ann", map[string]any{"predictions": picks}))
		want := Prediction{Predictions: picks, SavedAt: noon.Add(time.Hour)}
		var seen EventScreen
		w.see(GetEventFunction, appEvent(show), "ann", &seen.Body)
		if !reflect.DeepEqual(saved, want) || !reflect.DeepEqual(*seen.Body.Prediction, want) {
			t.Errorf("saved is %+v, and shown %+v, want %+v", saved, seen.Body.Prediction, want)
		}
	}
	row := testkit.Row[map[string]any](w.World, table, "USER#ann", "EVENT#"+show)
	for attribute, want := range map[string]any{"GSI_PK": "EVENT#" + show, "GSI_SK": "SCORE#000#ann", "type": "prediction", "belongsto": "USER#ann", "mcorrect": 0.0, "points": 0.0} {
		if row[attribute] != want {
			t.Errorf("the item's %s is %v, want %v", attribute, row[attribute], want)
		}
	}
	all := w.rows()
	if delete(all, ofUser("ann")+" "+ofEvent(show)); !reflect.DeepEqual(all, others) {
		t.Error("ann has changed what is not hers")
	}
	if got, want := refusalOf(w.ask(PutPredictionsFunction, myPicks, "eve", `{"predictions":{}}`)), (refusal{403, "not_a_member", ""}); got != want {
		t.Errorf("who is no member: %v, want %v", got, want)
	}
	gone := newPerson("bob", "bob")
	gone.DeletedAt = stamp(noon)
	testkit.Put(w.World, table, gone)
	if got, want := refusalOf(w.ask(PutPredictionsFunction, myPicks, "bob", `{"predictions":{}}`)), (refusal{403, "not_a_member", ""}); got != want {
		t.Errorf("who was deleted: %v, want %v", got, want)
	}
}

// TestPicksOfAnotherCard: who has seen another card than there is picks again.
func TestPicksOfAnotherCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	w.clash(2)
	var seen EventScreen
	w.see(GetEventFunction, appEvent(show), "ann", &seen.Body)
	pick := map[string]any{"predictions": map[string]int{matchID(1): 0}, "cardRev": seen.Body.CardRev}
	testkit.Decode[Prediction](w.World, w.ask(PutPredictionsFunction, myPicks, "ann", pick))
	changed := matchOf(1, 10)
	delete(changed, "id")
	changed["teams"] = []map[string]any{{"members": []string{"Somebody else"}}, {"members": []string{"Right 1"}}}
	w.admin(UpdateMatchFunction, "/admin/events/"+show+"/matches/"+matchID(1), changed)
	if err := testkit.Refuses(w.ask(PutPredictionsFunction, myPicks, "ann", pick), 409, "card_changed"); err != nil {
		t.Error(err)
	}
}

// TestDeletePredictions: what is withdrawn is gone, and withdrawing it twice is no
// different.
func TestDeletePredictions(t *testing.T) {
	t.Parallel()
	w := season(t)
	want := w.rows()
	delete(want, ofUser("ann")+" "+ofEvent(show))
	for range 2 {
		if out := w.ask(DeletePredictionsFunction, myPicks, "ann", ""); out.StatusCode != http.StatusNoContent || out.Body != "" {
			t.Errorf("withdrawn: %d %s", out.StatusCode, out.Body)
		}
		if got := w.rows(); !reflect.DeepEqual(got, want) {
			t.Errorf("left are %v", got)
		}
	}
	var seen EventScreen
	if w.see(GetEventFunction, appEvent(show), "ann", &seen.Body); seen.Body.Prediction != nil {
		t.Errorf("ann sees %+v", seen.Body.Prediction)
	}
}

// TestLock: picks are taken until the second of the lock, by our clock, whether or
// not the job has locked the event, and who comes late is told when it was.
func TestLock(t *testing.T) {
	t.Parallel()
	nobody := func(*world) {}
	for _, c := range []struct {
		name   string
		before func(*world)
		at     time.Time
		lockAt time.Time // zero if it takes picks
		state  string
	}{
		{"a second before", nobody, showLocks.Add(-time.Second), time.Time{}, upcoming},
		{"a moment before", nobody, showLocks.Add(-time.Nanosecond), time.Time{}, upcoming},
		{"at the lock, and the job never ran", nobody, showLocks, showLocks, broadcast},
		{"long after, and the job never ran", nobody, showLocks.AddDate(0, 0, 30), showLocks, broadcast},
		{"locked by the job", func(w *world) { w.lock(show) }, showLocks, showLocks, broadcast},
		{"locked by hand, early", func(w *world) { w.admin(UpdateEventFunction, adminEvent(show), `{"state":"broadcast"}`) }, noon.Add(time.Hour), showLocks, broadcast},
		{"moved ahead", func(w *world) { w.admin(UpdateEventFunction, adminEvent(show), `{"lockAt":"2026-03-02T00:00:00Z"}`) },
			time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), broadcast},
		{"moved back", func(w *world) { w.admin(UpdateEventFunction, adminEvent(show), `{"lockAt":"2026-03-08T12:00:00Z"}`) },
			showLocks.Add(time.Hour - time.Second), time.Time{}, upcoming},
		{"locked, and opened again", func(w *world) {
			w.lock(show)
			w.admin(UpdateEventFunction, adminEvent(show), `{"state":"upcoming","lockAt":"2026-03-08T11:30:00Z"}`)
		}, showLocks.Add(time.Hour/2 - time.Second), time.Time{}, upcoming},
		{"scored", func(w *world) { w.lock(show); w.results(show, 0, 0, 0); w.score(show) }, showLocks, showLocks, scored},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := season(t)
			c.before(w)
			w.To(c.at)
			was := w.rows()
			for fn, body := range map[*spec.Function]string{&PutPredictionsFunction: `{"predictions":{}}`, &DeletePredictionsFunction: ""} {
				out := w.ask(*fn, myPicks, "ann", body)
				if c.lockAt.IsZero() {
					if out.StatusCode >= 300 {
						t.Errorf("%s: %d %s", fn.Name, out.StatusCode, out.Body)
					}
					continue
				}
				var doc struct {
					LockAt time.Time
					State  string
				}
				testkit.Must(t, json.Unmarshal([]byte(out.Body), &doc))
				if got, want := refusalOf(out), (refusal{409, "event_locked", ""}); got != want || !doc.LockAt.Equal(c.lockAt) || doc.State != c.state {
					t.Errorf("%s: %v, %+v, want %v, of %v, %s", fn.Name, got, doc, want, c.lockAt, c.state)
				}
			}
			if now := w.rows(); !c.lockAt.IsZero() && !reflect.DeepEqual(now, was) {
				t.Error("a late request has changed something")
			}
			var seen EventScreen
			if w.see(GetEventFunction, appEvent(show), "ann", &seen.Body); seen.Body.State != c.state {
				t.Errorf("the event is said to be %s, want %s", seen.Body.State, c.state)
			}
		})
	}
}

// TestPicksMeanwhile: what becomes of picks when something happens between the read
// and the write of a request.
func TestPicksMeanwhile(t *testing.T) {
	t.Parallel()
	update := func(body string) func(*world) {
		return func(w *world) { w.admin(UpdateEventFunction, adminEvent(show), body) }
	}
	match := func(n int) func(*world) {
		return func(w *world) {
			w.admin(UpdateMatchFunction, adminMatch(show, 1), without(matchOf(n, 10), "id"))
		}
	}
	for _, c := range []struct {
		name   string
		do     func(*world)
		put    string // the problem of a pick; "" for none
		drop   string // of a withdrawal
		always bool
	}{
		{"locked", update(`{"state":"broadcast"}`), "event_locked", "event_locked", false},
		{"the lock moved ahead of now", update(`{"lockAt":"2026-03-01T13:00:00Z"}`), "event_locked", "event_locked", false},
		{"the lock moved ahead, and still to come", update(`{"lockAt":"2026-03-01T13:00:01Z"}`), "", "", false},
		{"the lock moved back", update(`{"lockAt":"2026-03-08T12:00:00Z"}`), "", "", false},
		{"the job locks it", func(w *world) { w.lock(show) }, "event_locked", "event_locked", false},
		{"it is called off", func(w *world) { w.admin(DeleteEventFunction, adminEvent(show), "") }, "event_not_found", "event_not_found", false},
		{"a match comes", func(w *world) { w.admin(AddMatchFunction, adminEvent(show)+"/matches", matchOf(4, 1)) }, "", "", false},
		{"the picked match goes", func(w *world) { w.admin(DeleteMatchFunction, adminMatch(show, 1), "") }, "unknown_match", "", false},
		{"the picked match changes", match(9), "", "", false},
		{"the card is put into order", func(w *world) { w.admin(OrderCardFunction, adminEvent(show)+"/card", orderOf(3, 2, 1)) }, "", "", false},
		{"the member goes", func(w *world) {
			gone := newPerson("ann", "ann")
			gone.DeletedAt = stamp(noon)
			testkit.Put(w.World, table, gone)
		}, "not_a_member", "", false},
		{"the card changes every time", func(w *world) {
			e := testkit.Row[event](w.World, table, eventKey, ofEvent(show))
			match(10 + e.CardRev)(w)
		}, "changed", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, drops := range []bool{false, true} {
				w := season(t)
				done, want := 0, map[string]map[string]any(nil)
				do := func() {
					if done++; done == 1 || c.always {
						c.do(w)
						want = w.rows()
					}
				}
				var err error
				code := c.put
				if drops {
					code = c.drop
					in := &DeletePredictions{EventID: show}
					in.UserID = "ann"
					_, err = testkit.OpenWith(w.World, w.inTheWay(DeletePredictionsFunction, "TransactWriteItems", do), OpenEvents).DeletePredictions(w.Ctx(), in)
				} else {
					in := &PutPredictions{EventID: show}
					in.UserID, in.Body.Predictions = "ann", map[string]int{matchID(1): 1}
					_, err = testkit.OpenWith(w.World, w.inTheWay(PutPredictionsFunction, "TransactWriteItems", do), OpenEvents).PutPredictions(w.Ctx(), in)
				}
				if codeOf(err) != code || want == nil {
					t.Fatalf("withdrawn %v: %v, want %q", drops, err, code)
				}
				got := w.rows()
				if mine := got[ofUser("ann")+" "+ofEvent(show)]; code == "" {
					if drops && mine != nil || !drops && !reflect.DeepEqual(mine["predictions"], map[string]any{matchID(1): 1.0}) {
						t.Errorf("withdrawn %v: saved is %v", drops, mine)
					}
				} else if !reflect.DeepEqual(got, want) {
					t.Errorf("withdrawn %v, and refused: the table is %v, want %v", drops, got, want)
				}
			}
		})
	}
}

// TestLateBetweenReadAndWrite: the clock that counts is that of the write.
func TestLateBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	w := season(t)
	w.To(showLocks.Add(-time.Second))
	env := w.inTheWay(PutPredictionsFunction, "Query", func() { w.To(showLocks) })
	in := &PutPredictions{EventID: show}
	in.UserID = "ann"
	was := w.rows()
	_, err := testkit.OpenWith(w.World, env, OpenEvents).PutPredictions(w.Ctx(), in)
	if codeOf(err) != "event_locked" || !reflect.DeepEqual(w.rows(), was) {
		t.Errorf("a pick that takes until the lock: %v", err)
	}
}

// TestNobodySeesPicks: no route shows anybody's picks to others, in whatever state
// an event is, but the results of one that is scored.
func TestNobodySeesPicks(t *testing.T) {
	t.Parallel()
	w := season(t)
	picks := regexp.MustCompile(fmt.Sprintf(`:%d\b`, secret))
	shown := func() (where []string) {
		fill := strings.NewReplacer("{eventId}", show, "{userId}", "ann", "{year}", "2026", "{leagueId}", "none")
		for _, fn := range Room.Functions {
			route, ok := fn.On.(spec.Route)
			if !ok || route.Method != http.MethodGet || w.routes[fn.Name] == nil {
				continue
			}
			for _, user := range []string{"bob", testkit.Administrator} {
				out := w.ask(fn, fill.Replace(route.Path), user, "")
				if out.StatusCode >= 500 {
					t.Errorf("%s: %d %s", fn.Name, out.StatusCode, out.Body)
				}
				if picks.MatchString(out.Body) {
					where = append(where, fn.Name+" "+user)
				}
			}
		}
		return where
	}
	scorer := testkit.Open(w.World, ScoreEventFunction, OpenScorer)
	for _, step := range []struct {
		state string
		do    func()
		want  []string
	}{
		{"open", func() {}, nil},
		{"locked by the clock", func() { w.To(showLocks) }, nil},
		{"locked", func() { w.lock(show) }, nil},
		{"all results in", func() { w.results(show, 0, 0, 0) }, nil},
		{"half scored", func() {
			on, err := readStage(w.Ctx(), scorer.db, show)
			testkit.Must(t, err)
			testkit.Must(t, scorer.score(w.Ctx(), on, "ann"))
		}, nil},
		{"scored", func() { w.score(show) }, []string{"pickem/get-results bob", "pickem/get-results " + testkit.Administrator}},
		{"being scored again", func() { w.results(show, 1) }, []string{"pickem/get-results bob", "pickem/get-results " + testkit.Administrator}},
	} {
		step.do()
		if got := shown(); !slices.Equal(got, step.want) {
			t.Errorf("%s: ann's pick is shown by %q, want %q", step.state, got, step.want)
		}
		for _, fn := range []spec.Function{GetEventFunction, GetMeFunction} {
			target := map[string]string{GetEventFunction.Name: appEvent(show), GetMeFunction.Name: "/app/me"}[fn.Name]
			if out := w.ask(fn, target, "ann", ""); !picks.MatchString(out.Body) {
				t.Errorf("%s: %s does not show ann her own pick: %s", step.state, fn.Name, out.Body)
			}
		}
	}
}

// TestGetResults: a scored event shows what every pick brought, the highest first.
func TestGetResults(t *testing.T) {
	t.Parallel()
	w := season(t)
	var seen ResultsScreen
	w.see(GetResultsFunction, appEvent(scoredShow)+"/results", "bob", &seen.Body)
	b := seen.Body
	if b.ID != scoredShow || b.State != scored || b.Updating || b.Count != 3 || b.Next != "" || len(b.Card) != 2 || *b.Card[0].Result != 0 || *b.Card[1].Result != 1 {
		t.Errorf("the results are of %+v", b)
	}
	var got []string
	for _, e := range b.Entries {
		said := fmt.Sprintf("%d %s %d %d:", e.Rank, e.Name, e.Points, e.Correct)
		for i, p := range e.Picks {
			if p.MatchID != matchID(i+1) || *p.Result != *b.Card[i].Result || p.Correct != (p.Points > 0) {
				t.Errorf("%s's pick %d is %+v", e.Name, i, p)
			}
			if p.Pick == nil {
				said += " -"
			} else {
				said += fmt.Sprintf(" %d=%d", *p.Pick, p.Points)
			}
		}
		got = append(got, said)
	}
	if want := []string{"1 bob 20 1: 1=0 1=20", "2 ann 10 1: 0=10 0=0", "3 cat 0 0: 1=0 -"}; !slices.Equal(got, want) {
		t.Errorf("the entries are %q, want %q", got, want)
	}
	if b.Mine == nil || !reflect.DeepEqual(*b.Mine, b.Entries[0]) {
		t.Errorf("bob's own is %+v", b.Mine)
	}
	var own EventScreen
	w.see(GetEventFunction, appEvent(scoredShow), "bob", &own.Body)
	if !reflect.DeepEqual(*own.Body.Prediction.Score, b.Mine.Sheet) {
		t.Errorf("bob's own event shows %+v", own.Body.Prediction.Score)
	}
	var other ResultsScreen
	if w.see(GetResultsFunction, appEvent(scoredShow)+"/results", "eve", &other.Body); other.Body.Mine != nil {
		t.Errorf("who did not play has %+v", other.Body.Mine)
	}
}

// FuzzPutPredictions: whatever the body, the answer is a problem or what was saved.
func FuzzPutPredictions(f *testing.F) {
	id := matchID(1)
	for _, seed := range []string{
		`{"predictions":{}}`, `{"predictions":{"` + id + `":1}}`, `{"predictions":{"` + id + `":2}}`, `{"predictions":{"` + id + `":-1}}`, `{"predictions":{"` + id + `":1e300}}`,
		`{"predictions":{"` + id + `":null}}`, `{"predictions":{"":0}}`, `{"predictions":{"\u0000":0}}`, `{"predictions":null}`, `{"predictions":[]}`, `{"Predictions":{}}`,
		`{"predictions":{"` + id + `":1},"predictions":{}}`, `{"predictions":{"` + id + `":1,"` + id + `":0}}`, `{}`, `null`, `[]`, `{`, "\xff", ``,
	} {
		f.Add(seed)
	}
	w := season(f)
	f.Fuzz(func(t *testing.T, body string) {
		w.T = t
		out := w.ask(PutPredictionsFunction, myPicks, "ann", body)
		switch {
		case out.StatusCode == http.StatusOK:
			saved := testkit.Row[prediction](w.World, table, ofUser("ann"), ofEvent(show)).Predictions
			if got := testkit.Decode[Prediction](w.World, out).Predictions; !maps.Equal(got, saved) {
				t.Fatalf("%q is answered with %v, and saved as %v", body, got, saved)
			}
			for id, team := range saved {
				if team < 0 || id != matchID(3) && team > 1 || team > 39 {
					t.Fatalf("%q is saved as %v", body, saved)
				}
			}
		case out.StatusCode >= 500 || refusalOf(out).code == "" && refusalOf(out).status < 400:
			t.Fatalf("%q is answered with %d %s", body, out.StatusCode, out.Body)
		}
	})
}
