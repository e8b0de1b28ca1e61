package pickem

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
)

// TestCreateEvent: an event locks an hour before it begins unless it is said
// otherwise, and is announced once.
func TestCreateEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const id = "2026-03-08-clash-of-tides"
	body := map[string]any{"name": "Clash of Tides", "date": "2026-03-08", "slug": "clash-of-tides", "startsAt": "2026-03-09T01:00:00.9+01:00", "bonus": 5}
	var got Event
	for range 2 {
		out := w.admin(CreateEventFunction, "/admin/events", body)
		got = testkit.Decode[Event](w.World, out)
		starts := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
		if want := (Event{ID: id, Name: "Clash of Tides", Date: "2026-03-08", StartsAt: starts, LockAt: starts.Add(-time.Hour), State: upcoming, Bonus: 5}); got != want || out.StatusCode != http.StatusCreated {
			t.Errorf("announced: %d %+v, want %+v", out.StatusCode, got, want)
		}
	}
	row := testkit.Row[map[string]any](w.World, table, "EVENT", "EVENT#"+id)
	for attribute, want := range map[string]any{"GSI_PK": "EVENT#" + id, "GSI_SK": "EVENT", "type": "event", "date": "2026/03/08", "name": "Clash of Tides", "state": "upcoming"} {
		if row[attribute] != want {
			t.Errorf("the item's %s is %v, want %v", attribute, row[attribute], want)
		}
	}
	w.admin(AddMatchFunction, adminEvent(id)+"/matches", matchOf(1, 1))
	w.admin(CreateEventFunction, "/admin/events", body)
	body["lockAt"] = "2026-03-08T12:00:00Z"
	if got, want := refusalOf(w.ask(CreateEventFunction, "/admin/events", testkit.Administrator, body)), (refusal{409, "event_exists", ""}); got != want {
		t.Errorf("another event of the same name and date: %v, want %v", got, want)
	}
	body["slug"] = "another"
	if got := testkit.Decode[Event](w.World, w.admin(CreateEventFunction, "/admin/events", body)); !got.LockAt.Equal(time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("it locks at %v", got.LockAt)
	}
}

// TestUpdateEvent: what is given changes, and the same again changes nothing.
func TestUpdateEvent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{ // name, date, startsAt, lockAt, state, bonus
		{`{}`, "clash-of-tides 2026-03-08 08T12:00 08T11:00 upcoming 0"},
		{`{"name":"Tides"}`, "Tides 2026-03-08 08T12:00 08T11:00 upcoming 0"},
		{`{"bonus":10}`, "clash-of-tides 2026-03-08 08T12:00 08T11:00 upcoming 10"},
		{`{"lockAt":"2026-03-07T00:00:00Z"}`, "clash-of-tides 2026-03-08 08T12:00 07T00:00 upcoming 0"},
		{`{"lockAt":"2026-03-08T12:00:00Z"}`, "clash-of-tides 2026-03-08 08T12:00 08T12:00 upcoming 0"},
		{`{"lockAt":"2026-03-01T12:00:00Z"}`, "clash-of-tides 2026-03-08 08T12:00 01T12:00 broadcast 0"}, // now
		{`{"startsAt":"2026-03-08T10:00:00Z"}`, "clash-of-tides 2026-03-08 08T10:00 08T09:00 upcoming 0"},
		{`{"startsAt":"2026-03-15T13:00:00Z"}`, "clash-of-tides 2026-03-15 15T13:00 15T12:00 upcoming 0"},
		{`{"startsAt":"2026-03-07T11:00:00Z"}`, "clash-of-tides 2026-03-07 07T11:00 07T10:00 upcoming 0"},
		{`{"startsAt":"2026-03-10T02:00:00Z","date":"2026-03-09"}`, "clash-of-tides 2026-03-09 10T02:00 10T01:00 upcoming 0"},
		{`{"startsAt":"2026-03-15T12:00:00Z","lockAt":"2026-03-14T12:00:00Z"}`, "clash-of-tides 2026-03-15 15T12:00 14T12:00 upcoming 0"},
		{`{"date":"2026-03-07"}`, "clash-of-tides 2026-03-07 08T12:00 08T11:00 upcoming 0"},
		{`{"state":"broadcast"}`, "clash-of-tides 2026-03-08 08T12:00 08T11:00 broadcast 0"},
		{`{"state":"upcoming"}`, "clash-of-tides 2026-03-08 08T12:00 08T11:00 upcoming 0"},
	} {
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.join("ann")
			w.clash(1)
			var was map[string]map[string]any
			for i := range 2 {
				e := testkit.Decode[Event](w.World, w.admin(UpdateEventFunction, adminEvent(show), c.body))
				const short = "02T15:04"
				if got := fmt.Sprint(e.Name, " ", e.Date, " ", e.StartsAt.Format(short), " ", e.LockAt.Format(short), " ", e.State, " ", e.Bonus); got != c.want {
					t.Errorf("the event is %s, want %s", got, c.want)
				}
				if i == 1 && !reflect.DeepEqual(w.rows(), was) {
					t.Errorf("the same again has changed something: %v, was %v", w.rows(), was)
				}
				was = w.rows()
			}
			var seen EventScreen
			if w.see(GetEventFunction, appEvent(show), "ann", &seen.Body); !strings.HasPrefix(c.want, seen.Body.Name+" "+seen.Body.Date) {
				t.Errorf("ann sees %+v", seen.Body.Event)
			}
		})
	}
}

// TestTransitions: an event can be opened again until the first result is in, and
// with a lock that is still to come.
func TestTransitions(t *testing.T) {
	t.Parallel()
	const (
		opens   = `{"state":"upcoming"}`
		moves   = `{"state":"upcoming","startsAt":"2026-03-09T12:00:00Z"}`
		locks   = `{"state":"broadcast"}`
		past    = `{"state":"upcoming","lockAt":"2026-03-01T00:00:00Z"}`
		refused = "bad_transition"
	)
	toLock := func(w *world) { w.To(noon.AddDate(0, 0, 7).Add(-time.Hour)) }
	locked := func(w *world) { w.lock(show) }
	result := func(w *world) { w.lock(show); w.results(show, 0) }
	scoredNow := func(w *world) { w.lock(show); w.results(show, 0); w.score(show) }
	for _, c := range []struct {
		name  string
		until func(*world)
		body  string
		want  string // the state, or the refusal
	}{
		{"open stays open", func(*world) {}, opens, upcoming},
		{"open is locked", func(*world) {}, locks, broadcast},
		{"open with a lock that is over", func(*world) {}, past, refused},
		{"locked by the clock alone stays locked", toLock, opens, refused},
		{"locked by the clock alone is opened by a move", toLock, moves, upcoming},
		{"locked by the clock alone is locked", toLock, locks, broadcast},
		{"locked stays locked", locked, opens, refused},
		{"locked is opened by a move", locked, moves, upcoming},
		{"locked again", locked, locks, broadcast},
		{"not with a result", result, moves, refused},
		{"a result leaves it locked", result, locks, broadcast},
		{"scored is not opened", scoredNow, moves, refused},
		{"scored is not locked", scoredNow, locks, refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.clash(1)
			c.until(w)
			for range 2 {
				out := w.ask(UpdateEventFunction, adminEvent(show), testkit.Administrator, c.body)
				if c.want == refused {
					if got, want := refusalOf(out), (refusal{409, refused, ""}); got != want {
						t.Errorf("the answer is %v, want %v", got, want)
					}
				} else if got := testkit.Decode[Event](w.World, out); got.State != c.want {
					t.Errorf("the state is %s, want %s", got.State, c.want)
				}
			}
		})
	}
}

// TestBonus: a new bonus of a scored event changes everybody's points.
func TestBonus(t *testing.T) {
	t.Parallel()
	w := season(t)
	was := testkit.Row[standing](w.World, table, ofUser("ann"), ofYear("2026"))
	w.results(scoredShow, 0, 0)
	w.admin(UpdateEventFunction, adminEvent(scoredShow), `{"bonus":7}`)
	var seen EventScreen
	if w.see(GetEventFunction, appEvent(scoredShow), "ann", &seen.Body); !seen.Body.Updating {
		t.Error("the event does not say that its points are being worked out")
	}
	w.work()
	if got := testkit.Row[standing](w.World, table, ofUser("ann"), ofYear("2026")); was.Points != 10 || got.Points != 10+20+7 {
		t.Errorf("ann has %d points, before %d", got.Points, was.Points)
	}
	if w.see(GetEventFunction, appEvent(scoredShow), "ann", &seen.Body); seen.Body.Updating || seen.Body.Prediction.Score.Bonus != 7 {
		t.Errorf("ann sees %+v", seen.Body)
	}
}

// TestListEvents: the latest come first, those of a page as they start, and what is
// called off is gone.
func TestListEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := func(query string) (ids []string) {
		var list EventList
		w.see(ListEventsFunction, "/app/events"+query, "ann", &list.Body)
		for _, e := range list.Body.Events {
			ids = append(ids, e.ID)
		}
		return ids
	}
	if out := w.ask(ListEventsFunction, "/app/events", "ann", ""); !strings.Contains(out.Body, `{"events":[]}`) {
		t.Errorf("no events are %s", out.Body)
	}
	w.announce(noon.AddDate(-1, 0, 0), "old", 0)
	for i, slug := range []string{"a", "b", "c"} {
		w.announce(noon.AddDate(0, 0, i+1), slug, 0)
	}
	w.admin(UpdateEventFunction, adminEvent("2026-03-02-a"), `{"startsAt":"2026-03-09T12:00:00Z"}`)
	testkit.Put(w.World, table, event{row: row{PK: eventKey, SK: ofEvent("2026-03-05-off"), Type: eventType}, ID: "2026-03-05-off", State: deleting})
	for query, want := range map[string][]string{
		"":                            {"2026-03-02-a", "2026-03-04-c", "2026-03-03-b", "2025-03-01-old"},
		"?year=2026":                  {"2026-03-02-a", "2026-03-04-c", "2026-03-03-b"},
		"?year=2025":                  {"2025-03-01-old"},
		"?year=2024":                  nil,
		"?limit=2":                    {"2026-03-04-c"}, // with the one that is off
		"?cursor=2026-03-03-b":        {"2026-03-02-a", "2025-03-01-old"},
		"?cursor=2026-03-03-there-is": {"2026-03-02-a", "2026-03-03-b", "2025-03-01-old"}, // an event that was removed meanwhile
	} {
		if got := ids(query); !slices.Equal(got, want) {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
}

// TestDeleteEvent: of an event that is called off nothing is left.
func TestDeleteEvent(t *testing.T) {
	t.Parallel()
	for _, id := range []string{show, lockedShow} {
		w := season(t)
		if id == lockedShow {
			w.results(id, 0)
		}
		want := w.rows()
		maps.DeleteFunc(want, func(key string, _ map[string]any) bool { return strings.Contains(key, id) })
		if out := w.admin(DeleteEventFunction, adminEvent(id), ""); out.StatusCode != http.StatusNoContent || out.Body != "" {
			t.Errorf("called off: %d %q", out.StatusCode, out.Body)
		}
		if got := w.rows(); len(want) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("left are %v, want %v", got, want)
		}
		none := refusal{404, "event_not_found", ""}
		if got := refusalOf(w.ask(DeleteEventFunction, adminEvent(id), testkit.Administrator, "")); got != none {
			t.Errorf("called off again: %v", got)
		}
		if got := refusalOf(w.ask(PutPredictionsFunction, appEvent(id)+"/predictions", "ann", `{"predictions":{}}`)); got != none {
			t.Errorf("picked: %v", got)
		}
	}
}

// TestDeleteEventMeanwhile: from when it begins to be called off nobody sees an
// event, nor picks it, and it is not announced again.
func TestDeleteEventMeanwhile(t *testing.T) {
	t.Parallel()
	w := season(t)
	none := refusal{404, "event_not_found", ""}
	seen := 0
	env := w.inTheWay(DeleteEventFunction, "BatchWriteItem", func() {
		seen++
		for _, got := range []refusal{
			refusalOf(w.ask(GetEventFunction, appEvent(show), "ann", "")),
			refusalOf(w.ask(PutPredictionsFunction, appEvent(show)+"/predictions", "ann", `{"predictions":{}}`)),
			refusalOf(w.ask(DeletePredictionsFunction, appEvent(show)+"/predictions", "ann", "")),
			refusalOf(w.ask(AddMatchFunction, adminEvent(show)+"/matches", testkit.Administrator, matchOf(4, 1))),
			refusalOf(w.ask(UpdateEventFunction, adminEvent(show), testkit.Administrator, `{}`)),
			refusalOf(w.ask(ListEntriesFunction, adminEvent(show)+"/entries", testkit.Administrator, "")),
		} {
			if got != none {
				t.Errorf("meanwhile: %v, want %v", got, none)
			}
		}
	})
	if _, err := testkit.OpenWith(w.World, env, OpenEvents).DeleteEvent(w.Ctx(), &DeleteEvent{EventID: show}); err != nil || seen == 0 {
		t.Errorf("called off: %v, in %d batches", err, seen)
	}
}

func TestDeleteEventCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := season(t)
		in := &DeleteEvent{EventID: show}
		testkit.OpenWith(w.World, w.Crashing(DeleteEventFunction, p), OpenEvents).DeleteEvent(w.Ctx(), in)
		testkit.Open(w.World, DeleteEventFunction, OpenEvents).DeleteEvent(w.Ctx(), in)
		return w.rows()
	})
}

// TestBonusCrashes: a bonus that is set again has the points follow whose message
// was lost.
func TestBonusCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := season(t)
		bonus := 9
		in := &UpdateEvent{EventID: scoredShow}
		in.Body.Bonus = &bonus
		testkit.OpenWith(w.World, w.Crashing(UpdateEventFunction, p), OpenEvents).UpdateEvent(w.Ctx(), in)
		testkit.Open(w.World, UpdateEventFunction, OpenEvents).UpdateEvent(w.Ctx(), in)
		w.work()
		return w.rows()
	})
}

// TestListEntries: an administrator sees who takes part, by id.
func TestListEntries(t *testing.T) {
	t.Parallel()
	w := season(t)
	var list EntryList
	w.see(ListEntriesFunction, adminEvent(show)+"/entries", testkit.Administrator, &list.Body)
	if b := list.Body; b.Count != 3 || !slices.Equal(b.UserIDs, []string{"ann", "bob", "cat"}) || b.Next != "" {
		t.Errorf("the entries are %+v", b)
	}
	w.announce(noon.AddDate(0, 0, 9), "quiet", 1)
	if out := w.ask(ListEntriesFunction, adminEvent("2026-03-10-quiet")+"/entries", testkit.Administrator, ""); !strings.Contains(out.Body, `{"count":0,"userIds":[]}`) {
		t.Errorf("no entries are %s", out.Body)
	}
}

// TestEventsMeanwhile: of two administrators who change an event at once, one is
// asked to look again, so that neither undoes what the other did.
func TestEventsMeanwhile(t *testing.T) {
	t.Parallel()
	rename := func(w *world) { w.admin(UpdateEventFunction, adminEvent(lockedShow), `{"name":"High"}`) }
	result := func(w *world) { w.results(lockedShow, 0, 0) }
	opened := func(w *world) {
		w.admin(UpdateEventFunction, adminEvent(lockedShow), `{"state":"upcoming","startsAt":"2026-03-02T14:00:00Z"}`)
	}
	var update UpdateEvent
	update.EventID = lockedShow
	update.Body.StartsAt = new(noon.AddDate(0, 0, 1))
	for name, do := range map[string]func(*world){"renamed": rename, "given a result": result, "opened": opened} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := season(t)
			var want map[string]map[string]any
			env := w.inTheWay(UpdateEventFunction, "UpdateItem", func() {
				do(w)
				want = w.rows()
			})
			if _, err := testkit.OpenWith(w.World, env, OpenEvents).UpdateEvent(w.Ctx(), &update); codeOf(err) != errChanged.Code || want == nil {
				t.Errorf("the answer is %v, want %v", err, errChanged)
			}
			if got := w.rows(); !reflect.DeepEqual(got, want) {
				t.Errorf("the table is %v, want %v", got, want)
			}
		})
	}
}
