package event_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

const myPicks = "/app/events/" + pickemtest.Show + "/predictions"

// TestPutPredictions: a prediction replaces the one before as a whole, is answered
// as it was saved, and is nobody's but its owner's.
func TestPutPredictions(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	others := w.Rows()
	delete(others, item.UserRef("ann")+" "+item.EventRef(pickemtest.Show))
	for _, picks := range []map[string]int{
		{pickemtest.MatchID(1): 0, pickemtest.MatchID(2): 1, pickemtest.MatchID(3): 39},
		{pickemtest.MatchID(1): 0, pickemtest.MatchID(2): 1, pickemtest.MatchID(3): 39},
		{pickemtest.MatchID(1): 1},
		{},
	} {
		saved := testkit.Decode[event.Prediction](w.World, w.Ask(event.PutPredictionsFunction, myPicks, "ann", map[string]any{"predictions": picks}))
		want := event.Prediction{Predictions: picks, SavedAt: pickemtest.Noon.Add(time.Hour)}
		var seen event.EventScreen
		w.Read(event.GetEventFunction, pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)
		if !reflect.DeepEqual(saved, want) || !reflect.DeepEqual(*seen.Body.Prediction, want) {
			t.Errorf("saved is %+v, and shown %+v, want %+v", saved, seen.Body.Prediction, want)
		}
	}
	row := testkit.Row[map[string]any](w.World, tables.Pickem, "USER#ann", "EVENT#"+pickemtest.Show)
	for attribute, want := range map[string]any{"GSI_PK": "EVENT#" + pickemtest.Show, "GSI_SK": "SCORE#000#ann", "type": "prediction", "belongsto": "USER#ann", "mcorrect": 0.0, "points": 0.0} {
		if row[attribute] != want {
			t.Errorf("the item's %s is %v, want %v", attribute, row[attribute], want)
		}
	}
	all := w.Rows()
	if delete(all, item.UserRef("ann")+" "+item.EventRef(pickemtest.Show)); !reflect.DeepEqual(all, others) {
		t.Error("ann has changed what is not hers")
	}
	if got, want := pickemtest.RefusalOf(w.Ask(event.PutPredictionsFunction, myPicks, "eve", `{"predictions":{}}`)), (pickemtest.Refusal{Status: 403, Code: "not_a_member", Field: ""}); got != want {
		t.Errorf("who is no member: %v, want %v", got, want)
	}
	gone := item.NewMember("bob", "bob")
	gone.DeletedAt = item.FormatTime(pickemtest.Noon)
	testkit.Put(w.World, tables.Pickem, gone)
	if got, want := pickemtest.RefusalOf(w.Ask(event.PutPredictionsFunction, myPicks, "bob", `{"predictions":{}}`)), (pickemtest.Refusal{Status: 403, Code: "not_a_member", Field: ""}); got != want {
		t.Errorf("who was deleted: %v, want %v", got, want)
	}
}

// TestPicksOfAnotherCard: who has seen another card than there is picks again.
func TestPicksOfAnotherCard(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(2)
	var seen event.EventScreen
	w.Read(event.GetEventFunction, pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)
	pick := map[string]any{"predictions": map[string]int{pickemtest.MatchID(1): 0}, "cardRev": seen.Body.CardRev}
	testkit.Decode[event.Prediction](w.World, w.Ask(event.PutPredictionsFunction, myPicks, "ann", pick))
	changed := pickemtest.MatchOf(1, 10)
	delete(changed, "id")
	changed["teams"] = []map[string]any{{"members": []string{"Somebody else"}}, {"members": []string{"Right 1"}}}
	w.MustAdmin(event.UpdateMatchFunction, "/admin/events/"+pickemtest.Show+"/matches/"+pickemtest.MatchID(1), changed)
	if err := testkit.Refuses(w.Ask(event.PutPredictionsFunction, myPicks, "ann", pick), 409, "card_changed"); err != nil {
		t.Error(err)
	}
}

// TestDeletePredictions: what is withdrawn is gone, and withdrawing it twice is no
// different.
func TestDeletePredictions(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	want := w.Rows()
	delete(want, item.UserRef("ann")+" "+item.EventRef(pickemtest.Show))
	for range 2 {
		if out := w.Ask(event.DeletePredictionsFunction, myPicks, "ann", ""); out.StatusCode != http.StatusNoContent || out.Body != "" {
			t.Errorf("withdrawn: %d %s", out.StatusCode, out.Body)
		}
		if got := w.Rows(); !reflect.DeepEqual(got, want) {
			t.Errorf("left are %v", got)
		}
	}
	var seen event.EventScreen
	if w.Read(event.GetEventFunction, pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body); seen.Body.Prediction != nil {
		t.Errorf("ann sees %+v", seen.Body.Prediction)
	}
}

// TestLock: picks are taken until the second of the lock, by our clock, whether or
// not the job has locked the event, and who comes late is told when it was.
func TestLock(t *testing.T) {
	t.Parallel()
	nobody := func(*pickemtest.Room) {}
	for _, c := range []struct {
		name   string
		before func(*pickemtest.Room)
		at     time.Time
		lockAt time.Time // zero if it takes picks
		state  string
	}{
		{"a second before", nobody, pickemtest.ShowLocks.Add(-time.Second), time.Time{}, item.Upcoming},
		{"a moment before", nobody, pickemtest.ShowLocks.Add(-time.Nanosecond), time.Time{}, item.Upcoming},
		{"at the lock, and the job never ran", nobody, pickemtest.ShowLocks, pickemtest.ShowLocks, item.Broadcast},
		{"long after, and the job never ran", nobody, pickemtest.ShowLocks.AddDate(0, 0, 30), pickemtest.ShowLocks, item.Broadcast},
		{"locked by the job", func(w *pickemtest.Room) { w.LockEvent(pickemtest.Show) }, pickemtest.ShowLocks, pickemtest.ShowLocks, item.Broadcast},
		{"locked by hand, early", func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"state":"broadcast"}`)
		}, pickemtest.Noon.Add(time.Hour), pickemtest.ShowLocks, item.Broadcast},
		{"moved ahead", func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"lockAt":"2026-03-02T00:00:00Z"}`)
		},
			time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), item.Broadcast},
		{"moved back", func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"lockAt":"2026-03-08T12:00:00Z"}`)
		},
			pickemtest.ShowLocks.Add(time.Hour - time.Second), time.Time{}, item.Upcoming},
		{"locked, and opened again", func(w *pickemtest.Room) {
			w.LockEvent(pickemtest.Show)
			w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"state":"upcoming","lockAt":"2026-03-08T11:30:00Z"}`)
		}, pickemtest.ShowLocks.Add(time.Hour/2 - time.Second), time.Time{}, item.Upcoming},
		{"scored", func(w *pickemtest.Room) {
			w.LockEvent(pickemtest.Show)
			w.EnterResults(pickemtest.Show, 0, 0, 0)
			w.Score(pickemtest.Show)
		}, pickemtest.ShowLocks, pickemtest.ShowLocks, item.Scored},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)
			c.before(w)
			w.To(c.at)
			was := w.Rows()
			for fn, body := range map[*spec.Function]string{&event.PutPredictionsFunction: `{"predictions":{}}`, &event.DeletePredictionsFunction: ""} {
				out := w.Ask(*fn, myPicks, "ann", body)
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
				if got, want := pickemtest.RefusalOf(out), (pickemtest.Refusal{Status: 409, Code: "event_locked", Field: ""}); got != want || !doc.LockAt.Equal(c.lockAt) || doc.State != c.state {
					t.Errorf("%s: %v, %+v, want %v, of %v, %s", fn.Name, got, doc, want, c.lockAt, c.state)
				}
			}
			if now := w.Rows(); !c.lockAt.IsZero() && !reflect.DeepEqual(now, was) {
				t.Error("a late request has changed something")
			}
			var seen event.EventScreen
			if w.Read(event.GetEventFunction, pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body); seen.Body.State != c.state {
				t.Errorf("the event is said to be %s, want %s", seen.Body.State, c.state)
			}
		})
	}
}

// TestPicksMeanwhile: what becomes of picks when something happens between the read
// and the write of a request.
func TestPicksMeanwhile(t *testing.T) {
	t.Parallel()
	update := func(body string) func(*pickemtest.Room) {
		return func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), body)
		}
	}
	match := func(n int) func(*pickemtest.Room) {
		return func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.Without(pickemtest.MatchOf(n, 10), "id"))
		}
	}
	for _, c := range []struct {
		name   string
		do     func(*pickemtest.Room)
		put    string // the problem of a pick; "" for none
		drop   string // of a withdrawal
		always bool
	}{
		{"locked", update(`{"state":"broadcast"}`), "event_locked", "event_locked", false},
		{"the lock moved ahead of now", update(`{"lockAt":"2026-03-01T13:00:00Z"}`), "event_locked", "event_locked", false},
		{"the lock moved ahead, and still to come", update(`{"lockAt":"2026-03-01T13:00:01Z"}`), "", "", false},
		{"the lock moved back", update(`{"lockAt":"2026-03-08T12:00:00Z"}`), "", "", false},
		{"the job locks it", func(w *pickemtest.Room) { w.LockEvent(pickemtest.Show) }, "event_locked", "event_locked", false},
		{"it is called off", func(w *pickemtest.Room) {
			w.MustAdmin(event.DeleteEventFunction, pickemtest.AdminEvent(pickemtest.Show), "")
		}, "event_not_found", "event_not_found", false},
		{"a match comes", func(w *pickemtest.Room) {
			w.MustAdmin(event.AddMatchFunction, pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(4, 1))
		}, "", "", false},
		{"the picked match goes", func(w *pickemtest.Room) {
			w.MustAdmin(event.DeleteMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), "")
		}, "unknown_match", "", false},
		{"the picked match changes", match(9), "", "", false},
		{"the card is put into order", func(w *pickemtest.Room) {
			w.MustAdmin(event.OrderCardFunction, pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(3, 2, 1))
		}, "", "", false},
		{"the member goes", func(w *pickemtest.Room) {
			gone := item.NewMember("ann", "ann")
			gone.DeletedAt = item.FormatTime(pickemtest.Noon)
			testkit.Put(w.World, tables.Pickem, gone)
		}, "not_a_member", "", false},
		{"the card changes every time", func(w *pickemtest.Room) {
			e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(pickemtest.Show))
			match(10 + e.CardRev)(w)
		}, "changed", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, drops := range []bool{false, true} {
				w := pickemtest.NewSeason(t)
				done, want := 0, map[string]map[string]any(nil)
				do := func() {
					if done++; done == 1 || c.always {
						c.do(w)
						want = w.Rows()
					}
				}
				var err error
				code := c.put
				if drops {
					code = c.drop
					in := &event.DeletePredictions{EventID: pickemtest.Show}
					in.UserID = "ann"
					_, err = testkit.OpenWith(w.World, w.InterruptEach(event.DeletePredictionsFunction, "TransactWriteItems", do), event.OpenEvents).DeletePredictions(w.Ctx(), in)
				} else {
					in := &event.PutPredictions{EventID: pickemtest.Show}
					in.UserID, in.Body.Predictions = "ann", map[string]int{pickemtest.MatchID(1): 1}
					_, err = testkit.OpenWith(w.World, w.InterruptEach(event.PutPredictionsFunction, "TransactWriteItems", do), event.OpenEvents).PutPredictions(w.Ctx(), in)
				}
				if pickemtest.CodeOf(err) != code || want == nil {
					t.Fatalf("withdrawn %v: %v, want %q", drops, err, code)
				}
				got := w.Rows()
				if mine := got[item.UserRef("ann")+" "+item.EventRef(pickemtest.Show)]; code == "" {
					if drops && mine != nil || !drops && !reflect.DeepEqual(mine["predictions"], map[string]any{pickemtest.MatchID(1): 1.0}) {
						t.Errorf("withdrawn %v: saved is %v", drops, mine)
					}
				} else if !reflect.DeepEqual(got, want) {
					t.Errorf("rows after a refused request (withdrawal: %v) (-want +got):\n%s", drops, cmp.Diff(want, got))
				}
			}
		})
	}
}

// TestLateBetweenReadAndWrite: the clock that counts is that of the write.
func TestLateBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	w.To(pickemtest.ShowLocks.Add(-time.Second))
	env := w.InterruptEach(event.PutPredictionsFunction, "Query", func() { w.To(pickemtest.ShowLocks) })
	in := &event.PutPredictions{EventID: pickemtest.Show}
	in.UserID = "ann"
	was := w.Rows()
	_, err := testkit.OpenWith(w.World, env, event.OpenEvents).PutPredictions(w.Ctx(), in)
	if pickemtest.CodeOf(err) != "event_locked" || !reflect.DeepEqual(w.Rows(), was) {
		t.Errorf("a pick that takes until the lock: %v", err)
	}
}

// TestGetResults: a scored event shows what every pick brought, the highest first.
func TestGetResults(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	var seen event.ResultsScreen
	w.Read(event.GetResultsFunction, pickemtest.AppEvent(pickemtest.ScoredShow)+"/results", "bob", &seen.Body)
	b := seen.Body
	if b.ID != pickemtest.ScoredShow || b.State != item.Scored || b.Updating || b.Count != 3 || b.Next != "" || len(b.Card) != 2 || *b.Card[0].Result != 0 || *b.Card[1].Result != 1 {
		t.Errorf("the results are of %+v", b)
	}
	var got []string
	for _, e := range b.Entries {
		said := fmt.Sprintf("%d %s %d %d:", e.Rank, e.Name, e.Points, e.Correct)
		for i, p := range e.Picks {
			if p.MatchID != pickemtest.MatchID(i+1) || *p.Result != *b.Card[i].Result || p.Correct != (p.Points > 0) {
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
		t.Errorf("the entries (-want +got):\n%s", cmp.Diff(want, got))
	}
	if b.Mine == nil || !reflect.DeepEqual(*b.Mine, b.Entries[0]) {
		t.Errorf("bob's own is %+v", b.Mine)
	}
	var own event.EventScreen
	w.Read(event.GetEventFunction, pickemtest.AppEvent(pickemtest.ScoredShow), "bob", &own.Body)
	if !reflect.DeepEqual(*own.Body.Prediction.Score, b.Mine.Sheet) {
		t.Errorf("bob's own event shows %+v", own.Body.Prediction.Score)
	}
	var other event.ResultsScreen
	if w.Read(event.GetResultsFunction, pickemtest.AppEvent(pickemtest.ScoredShow)+"/results", "eve", &other.Body); other.Body.Mine != nil {
		t.Errorf("who did not play has %+v", other.Body.Mine)
	}
}

// FuzzPutPredictions: whatever the body, the answer is a problem or what was saved.
func FuzzPutPredictions(f *testing.F) {
	id := pickemtest.MatchID(1)
	for _, seed := range []string{
		`{"predictions":{}}`, `{"predictions":{"` + id + `":1}}`, `{"predictions":{"` + id + `":2}}`, `{"predictions":{"` + id + `":-1}}`, `{"predictions":{"` + id + `":1e300}}`,
		`{"predictions":{"` + id + `":null}}`, `{"predictions":{"":0}}`, `{"predictions":{"\u0000":0}}`, `{"predictions":null}`, `{"predictions":[]}`, `{"Predictions":{}}`,
		`{"predictions":{"` + id + `":1},"predictions":{}}`, `{"predictions":{"` + id + `":1,"` + id + `":0}}`, `{}`, `null`, `[]`, `{`, "\xff", ``,
	} {
		f.Add(seed)
	}
	w := pickemtest.NewSeason(f)
	f.Fuzz(func(t *testing.T, body string) {
		w.T = t
		out := w.Ask(event.PutPredictionsFunction, myPicks, "ann", body)
		switch {
		case out.StatusCode == http.StatusOK:
			saved := testkit.Row[item.Prediction](w.World, tables.Pickem, item.UserRef("ann"), item.EventRef(pickemtest.Show)).Predictions
			if got := testkit.Decode[event.Prediction](w.World, out).Predictions; !maps.Equal(got, saved) {
				t.Fatalf("%q is answered with %v, and saved as %v", body, got, saved)
			}
			for id, team := range saved {
				if team < 0 || id != pickemtest.MatchID(3) && team > 1 || team > 39 {
					t.Fatalf("%q is saved as %v", body, saved)
				}
			}
		case out.StatusCode >= 500 || pickemtest.RefusalOf(out).Code == "" && pickemtest.RefusalOf(out).Status < 400:
			t.Fatalf("%q is answered with %d %s", body, out.StatusCode, out.Body)
		}
	})
}
