package event_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
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
	"matchday/pkg/pickem/tables"
)

// TestEventLocksAnHourBeforeItsStart: lockAt in the request overrides the default. A repeated
// request creates no second event.
func TestEventLocksAnHourBeforeItsStart(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)

	const id = "2026-03-08-clash-of-tides"

	body := map[string]any{
		"name":     "Clash of Tides",
		"date":     "2026-03-08",
		"slug":     "clash-of-tides",
		"startsAt": "2026-03-09T01:00:00.9+01:00",
		"bonus":    5,
	}

	var got event.Event

	for range 2 {
		out := w.MustAdmin(event.CreateEventFunction(), "/admin/events", body)
		got = testkit.Decode[event.Event](w.World, out)

		starts := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
		if want := (event.Event{
			ID:       id,
			Name:     "Clash of Tides",
			Date:     "2026-03-08",
			StartsAt: starts,
			LockAt:   starts.Add(-time.Hour),
			State:    item.Upcoming,
			Bonus:    5,
		}); got != want || out.StatusCode != http.StatusCreated {
			t.Errorf("status %d, want 201; event (-want +got):\n%s", out.StatusCode, cmp.Diff(want, got))
		}
	}

	row := testkit.Row[map[string]any](w.World, tables.Pickem, "EVENT", "EVENT#"+id)
	for attribute, want := range map[string]any{
		"GSI_PK": "EVENT#" + id,
		"GSI_SK": "EVENT",
		"type":   "event",
		"date":   "2026/03/08",
		"name":   "Clash of Tides",
		"state":  "upcoming",
	} {
		if row[attribute] != want {
			t.Errorf("attribute %s is %v, want %v", attribute, row[attribute], want)
		}
	}

	w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(id)+"/matches", pickemtest.MatchOf(1, 1))
	w.MustAdmin(event.CreateEventFunction(), "/admin/events", body)

	body["lockAt"] = "2026-03-08T12:00:00Z"
	if got, want := pickemtest.RefusalOf(w.Ask(event.CreateEventFunction(), "/admin/events", testkit.Administrator, body)),
		(pickemtest.Refusal{Status: 409, Code: "event_exists", Field: ""}); got != want {
		t.Errorf("another event with the same id: %v, want %v", got, want)
	}

	body["slug"] = "another"
	if got := testkit.Decode[event.Event](w.World,
		w.MustAdmin(event.CreateEventFunction(), "/admin/events", body)); !got.LockAt.Equal(time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("lockAt is %v, want that of the request", got.LockAt)
	}
}

// TestUpdateEventChangesTheGivenFields: a repeated request changes nothing.
func TestUpdateEventChangesTheGivenFields(t *testing.T) {
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
			w := pickemtest.New(t)
			w.AddMembers("ann")
			w.CreateShow(1)

			var was map[string]map[string]any

			for i := range 2 {
				e := testkit.Decode[event.Event](w.World, w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), c.body))

				const short = "02T15:04"
				if got := fmt.Sprint(e.Name, " ", e.Date, " ", e.StartsAt.Format(short), " ", e.LockAt.Format(short), " ", e.State,
					" ", e.Bonus); got != c.want {
					t.Errorf("the event is %s, want %s", got, c.want)
				}

				if i == 1 && !reflect.DeepEqual(w.Rows(), was) {
					t.Errorf("rows changed by a repeated request (-was +is):\n%s", cmp.Diff(was, w.Rows()))
				}

				was = w.Rows()
			}

			var seen event.EventScreen
			if w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body); !strings.HasPrefix(c.want,
				seen.Body.Name+" "+seen.Body.Date) {
				t.Errorf("get-event returns %+v, want %s", seen.Body.Event, c.want)
			}
		})
	}
}

// TestEventReopensUntilItsFirstResult: it also needs a lockAt in the future.
func TestEventReopensUntilItsFirstResult(t *testing.T) {
	t.Parallel()

	const (
		opens   = `{"state":"upcoming"}`
		moves   = `{"state":"upcoming","startsAt":"2026-03-09T12:00:00Z"}`
		locks   = `{"state":"broadcast"}`
		past    = `{"state":"upcoming","lockAt":"2026-03-01T00:00:00Z"}`
		refused = "bad_transition"
	)

	toLock := func(w *pickemtest.Room) { w.MoveClock(pickemtest.Noon.AddDate(0, 0, 7).Add(-time.Hour)) }
	locked := func(w *pickemtest.Room) { w.LockEvent(pickemtest.Show) }
	result := func(w *pickemtest.Room) { w.LockEvent(pickemtest.Show); w.EnterResults(pickemtest.Show, 0) }

	scoredNow := func(w *pickemtest.Room) {
		w.LockEvent(pickemtest.Show)
		w.EnterResults(pickemtest.Show, 0)
		w.Score(pickemtest.Show)
	}
	for _, c := range []struct {
		name  string
		until func(*pickemtest.Room)
		body  string
		want  string // the state, or the refusal
	}{
		{"open an open event", func(*pickemtest.Room) {}, opens, item.Upcoming},
		{"lock an open event", func(*pickemtest.Room) {}, locks, item.Broadcast},
		{"open an open event with lockAt in the past", func(*pickemtest.Room) {}, past, refused},
		{"open an event after lockAt", toLock, opens, refused},
		{"open an event after lockAt with a new start", toLock, moves, item.Upcoming},
		{"lock an event after lockAt", toLock, locks, item.Broadcast},
		{"open a locked event", locked, opens, refused},
		{"open a locked event with a new start", locked, moves, item.Upcoming},
		{"lock a locked event", locked, locks, item.Broadcast},
		{"move a locked event to next week", locked, `{"startsAt":"2026-03-15T12:00:00Z"}`, item.Upcoming},
		{"move the lock of a locked event to the future", locked, `{"lockAt":"2026-03-08T11:30:00Z"}`, item.Upcoming},
		{"move a locked event to next week, and keep it locked", locked,
			`{"startsAt":"2026-03-15T12:00:00Z","state":"broadcast"}`, item.Broadcast},
		{"move the lock of a locked event to the past", locked, `{"lockAt":"2026-03-08T09:00:00Z"}`, item.Broadcast},
		{"rename a locked event", locked, `{"name":"Tides"}`, item.Broadcast},
		{"rename an event that was locked early", func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), locks)
		}, `{"name":"Tides"}`, item.Broadcast},
		{"move an event with a result to next week", result, `{"startsAt":"2026-03-15T12:00:00Z"}`, item.Broadcast},
		{"move a scored event to next week", scoredNow, `{"startsAt":"2026-03-15T12:00:00Z"}`, item.Scored},
		{"open an event with a result", result, moves, refused},
		{"lock an event with a result", result, locks, item.Broadcast},
		{"open a scored event", scoredNow, moves, refused},
		{"lock a scored event", scoredNow, locks, refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			w.CreateShow(1)
			c.until(w)

			for range 2 {
				out := w.Ask(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator, c.body)
				if c.want == refused {
					if got, want := pickemtest.RefusalOf(out), (pickemtest.Refusal{Status: 409, Code: refused, Field: ""}); got != want {
						t.Errorf("the answer is %v, want %v", got, want)
					}
				} else if got := testkit.Decode[event.Event](w.World, out); got.State != c.want {
					t.Errorf("the state is %s, want %s", got.State, c.want)
				}
			}
		})
	}
}

// TestNewBonusScoresAgain: a new bonus of a scored event changes the points of all members.
func TestNewBonusScoresAgain(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	was := testkit.Row[item.Standing](w.World, tables.Pickem, item.UserRef("ann"), item.StandingsRef("2026"))
	w.EnterResults(pickemtest.ScoredShow, 0, 0)
	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.ScoredShow), `{"bonus":7}`)

	var seen event.EventScreen
	if w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.ScoredShow), "ann", &seen.Body); !seen.Body.Updating {
		t.Error("updating is false before the new scoring")
	}

	w.ScoreQueued()

	if got := testkit.Row[item.Standing](w.World, tables.Pickem, item.UserRef("ann"),
		item.StandingsRef("2026")); was.Points != 10 || got.Points != 10+20+7 {
		t.Errorf("ann has %d points after %d, want 37 after 10", got.Points, was.Points)
	}

	if w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.ScoredShow), "ann", &seen.Body); seen.Body.Updating ||
		seen.Body.Prediction.Score.Bonus != 7 {
		t.Errorf("get-event returns %+v, want a bonus of 7 and updating false", seen.Body)
	}
}

// TestDateOfANewEventIsRecent: LockEvents does not read older events, so that a deletion would
// not end.
func TestDateOfANewEventIsRecent(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)

	for days, want := range map[int]pickemtest.Refusal{
		400: {Status: http.StatusCreated},
		401: {Status: 400, Code: "bad_request", Field: "body.date"},
	} {
		day := pickemtest.Noon.AddDate(0, 0, -days)

		out := w.Ask(event.CreateEventFunction(), "/admin/events", testkit.Administrator,
			map[string]any{"name": "Old", "date": day.Format(time.DateOnly), "slug": "old", "startsAt": day})
		if got := pickemtest.RefusalOf(out); got != want {
			t.Errorf("an event of %d days ago: %v %s, want %v", days, got, out.Body, want)
		}
	}
}

// TestListEventsLatestFirst: a page is in order of start. Events that are being deleted are
// omitted.
func TestListEventsLatestFirst(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")

	ids := func(query string) (ids []string) {
		var list event.EventList
		w.Read(event.ListEventsFunction(), "/app/events"+query, "ann", &list.Body)

		for _, e := range list.Body.Events {
			ids = append(ids, e.ID)
		}

		return ids
	}

	if out := w.Ask(event.ListEventsFunction(), "/app/events", "ann", ""); !strings.Contains(out.Body, `{"events":[]}`) {
		t.Errorf("without events the answer is %s, want an empty list", out.Body)
	}

	w.CreateEvent(pickemtest.Noon.AddDate(-1, 0, 0), "old", 0)

	for i, slug := range []string{"a", "b", "c"} {
		w.CreateEvent(pickemtest.Noon.AddDate(0, 0, i+1), slug, 0)
	}

	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent("2026-03-02-a"), `{"startsAt":"2026-03-09T12:00:00Z"}`)
	testkit.PutRows(w.World, tables.Pickem, item.Event{
		Row:   item.Row{PK: item.EventTag, SK: item.EventRef("2026-03-05-off"), Type: item.EventType},
		ID:    "2026-03-05-off",
		State: item.Deleting,
	})

	for query, want := range map[string][]string{
		"":                            {"2026-03-02-a", "2026-03-04-c", "2026-03-03-b", "2025-03-01-old"},
		"?year=2026":                  {"2026-03-02-a", "2026-03-04-c", "2026-03-03-b"},
		"?year=2025":                  {"2025-03-01-old"},
		"?year=2024":                  nil,
		"?limit=2":                    {"2026-03-04-c"}, // and the event that is being deleted
		"?cursor=2026-03-03-b":        {"2026-03-02-a", "2025-03-01-old"},
		"?cursor=2026-03-03-there-is": {"2026-03-02-a", "2026-03-03-b", "2025-03-01-old"}, // an event that does not exist
	} {
		if got := ids(query); !slices.Equal(got, want) {
			t.Errorf("ids for the query %q (-want +got):\n%s", query, cmp.Diff(want, got))
		}
	}
}

// TestDeleteEventDeletesAllItsItems: afterwards all requests for the event are refused.
func TestDeleteEventDeletesAllItsItems(t *testing.T) {
	t.Parallel()

	for _, id := range []string{pickemtest.Show, pickemtest.LockedShow} {
		w := pickemtest.NewSeason(t)
		if id == pickemtest.LockedShow {
			w.EnterResults(id, 0)
		} else {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(id), `{"revealAtLock":true}`)
			w.LockEvent(id)
			w.ScoreQueued()
		}

		want := w.Rows()
		if _, revealed := want["RANKING#"+id+" HEAD"]; revealed != (id == pickemtest.Show) {
			t.Errorf("%s has a ranking: %v", id, revealed)
		}

		maps.DeleteFunc(want, func(key string, _ map[string]any) bool { return strings.Contains(key, id) && key != "EVENT EVENT#"+id })

		want["EVENT EVENT#"+id]["state"], want["EVENT EVENT#"+id]["deletedAt"] = item.Deleting, item.FormatTime(w.Clock.Now())
		if out := w.MustAdmin(event.DeleteEventFunction(), pickemtest.AdminEvent(id),
			""); out.StatusCode != http.StatusNoContent || out.Body != "" {
			t.Errorf("the answer is %d %q, want 204 without a body", out.StatusCode, out.Body)
		}

		if got := w.Rows(); len(want) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("rows (-want +got):\n%s", cmp.Diff(want, got))
		}

		none := pickemtest.Refusal{Status: 404, Code: "event_not_found", Field: ""}

		w.MoveClock(w.Clock.Now().Add(time.Minute))
		w.MustAdmin(event.DeleteEventFunction(), pickemtest.AdminEvent(id), "")

		if got := w.Rows(); !reflect.DeepEqual(got, want) {
			t.Errorf("rows after a second delete (-want +got):\n%s", cmp.Diff(want, got))
		}

		if got := pickemtest.RefusalOf(w.Ask(event.PutPredictionsFunction(), pickemtest.AppEvent(id)+"/predictions", "ann",
			`{"predictions":{}}`)); got != none {
			t.Errorf("a prediction of a deleted event: %v, want %v", got, none)
		}
	}
}

// TestEventIsNotFoundDuringItsDeletion: requests for an event are refused while its items are
// deleted.
func TestEventIsNotFoundDuringItsDeletion(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	none := pickemtest.Refusal{Status: 404, Code: "event_not_found", Field: ""}
	seen := 0

	env := w.InterruptEach(event.DeleteEventFunction(), "BatchWriteItem", func() {
		seen++

		for _, got := range []pickemtest.Refusal{
			pickemtest.RefusalOf(w.Ask(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", "")),
			pickemtest.RefusalOf(w.Ask(event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/predictions",
				"ann", `{"predictions":{}}`)),
			pickemtest.RefusalOf(w.Ask(event.DeletePredictionsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/predictions", "ann", "")),
			pickemtest.RefusalOf(w.Ask(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches",
				testkit.Administrator, pickemtest.MatchOf(4, 1))),
			pickemtest.RefusalOf(w.Ask(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator, `{}`)),
			pickemtest.RefusalOf(w.Ask(event.ListEntriesFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/entries", testkit.Administrator, "")),
		} {
			if got != none {
				t.Errorf("a request during the deletion: %v, want %v", got, none)
			}
		}
	})
	if _, err := testkit.OpenWith(w.World, env, event.OpenEvents).DeleteEvent(w.NewContext(),
		&event.DeleteEvent{EventID: pickemtest.Show}); err != nil || seen == 0 {
		t.Errorf("the deletion returned %v after %d batches, want no error and at least one batch", err, seen)
	}
}

func TestDeleteEventCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := pickemtest.NewSeason(t)
		in := &event.DeleteEvent{EventID: pickemtest.Show}
		_, err := testkit.OpenWith(w.World, w.CrashingEnv(event.DeleteEventFunction(), p), event.OpenEvents).DeleteEvent(w.NewContext(), in)
		p.Ended(err)
		testkit.Open(w.World, event.DeleteEventFunction(), event.OpenEvents).DeleteEvent(w.NewContext(), in)

		return w.Rows()
	})
}

// TestBonusCrashes: after a crash at any call, a repeated request queues the scoring.
func TestBonusCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := pickemtest.NewSeason(t)
		bonus := 9
		in := &event.UpdateEvent{EventID: pickemtest.ScoredShow}
		in.Body.Bonus = &bonus
		_, err := testkit.OpenWith(w.World, w.CrashingEnv(event.UpdateEventFunction(), p), event.OpenEvents).UpdateEvent(w.NewContext(), in)
		p.Ended(err)
		_, err = testkit.Open(w.World, event.UpdateEventFunction(), event.OpenEvents).UpdateEvent(w.NewContext(), in)
		testkit.Must(t, err)
		w.ScoreQueued()

		return w.Rows()
	})
}

// TestListEntriesSortsMemberIDs: the list has the members with a prediction.
func TestListEntriesSortsMemberIDs(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)

	var list event.EntryList
	w.Read(event.ListEntriesFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/entries", testkit.Administrator, &list.Body)

	if b := list.Body; b.Count != 3 || !slices.Equal(b.UserIDs, []string{"ann", "bob", "cat"}) || b.Next != "" {
		t.Errorf("the entries are %+v, want ann, bob and cat on one page", b)
	}

	w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 9), "quiet", 1)

	if out := w.Ask(event.ListEntriesFunction(), pickemtest.AdminEvent("2026-03-10-quiet")+"/entries", testkit.Administrator,
		""); !strings.Contains(out.Body, `{"count":0,"userIds":[]}`) {
		t.Errorf("without predictions the answer is %s, want an empty list", out.Body)
	}
}

// TestListEntriesCountsOnce: the first page counts all members, and those after it read only what they show. They are
// in the order of their points.
func TestListEntriesCountsOnce(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)

	read := func(query string) (b event.EntryList) {
		t.Helper()
		w.Read(event.ListEntriesFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/entries?limit=1"+query, testkit.Administrator, &b.Body)

		return b
	}

	first := read("").Body
	testkit.Must(t, w.DeleteRow(tables.Pickem, "USER#ann", "EVENT#"+pickemtest.Show))
	second := read("&cursor=" + first.Next).Body
	third := read("&cursor=" + second.Next).Body

	got := [][]any{{first.Count, first.UserIDs}, {second.Count, second.UserIDs}, {third.Count, third.UserIDs, third.Next}}

	want := [][]any{{3, []string{"ann"}}, {3, []string{"bob"}}, {3, []string{"cat"}, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the pages (-want +got):\n%s", diff)
	}

	if again := read("").Body; again.Count != 2 {
		t.Errorf("the first page counts %d members after one has gone, want 2", again.Count)
	}
}

// TestConcurrentEventChangeIsRefused: a request that read an event before another changed it
// is refused, so that no change is lost.
func TestConcurrentEventChangeIsRefused(t *testing.T) {
	t.Parallel()

	rename := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.LockedShow), `{"name":"High"}`)
	}
	result := func(w *pickemtest.Room) { w.EnterResults(pickemtest.LockedShow, 0, 0) }
	reopen := func(w *pickemtest.Room) {
		w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.LockedShow),
			`{"state":"upcoming","startsAt":"2026-03-02T14:00:00Z"}`)
	}

	var update event.UpdateEvent

	update.EventID = pickemtest.LockedShow
	update.Body.StartsAt = new(pickemtest.Noon.AddDate(0, 0, 1))

	for name, do := range map[string]func(*pickemtest.Room){"renamed": rename, "result": result, "reopened": reopen} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)

			var want map[string]map[string]any

			env := w.InterruptEach(event.UpdateEventFunction(), "UpdateItem", func() {
				do(w)
				want = w.Rows()
			})
			if _, err := testkit.OpenWith(w.World, env, event.OpenEvents).UpdateEvent(w.NewContext(),
				&update); pickemtest.CodeOf(err) != item.ErrChanged.Code || want == nil {
				t.Errorf("the error is %v, want %v", err, item.ErrChanged)
			}

			if got := w.Rows(); !reflect.DeepEqual(got, want) {
				t.Errorf("rows (-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

// TestListCountsTheCallersPicks: of open events, valid ones only.
func TestListCountsTheCallersPicks(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	w.CreateShow(2)
	w.Pick("ann", w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 9), "empty", 0))
	locked := w.CreateEvent(pickemtest.Noon.Add(2*time.Hour), "locked", 1)
	w.Pick("ann", locked, 0)
	w.MoveClock(pickemtest.Noon.Add(time.Hour))

	lines := func(user string) (lines []string) {
		var list event.EventList
		w.Read(event.ListEventsFunction(), "/app/events", user, &list.Body)

		for _, e := range list.Body.Events {
			line := e.Name
			if p := e.Picks; p != nil {
				line += fmt.Sprintf(" %d of %d %v", p.Valid, p.Matches, p.Complete)
			}

			lines = append(lines, line)
		}

		return lines
	}

	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"without a prediction", func() {}, "clash-of-tides 0 of 2 false"},
		{"with one pick", func() { w.Pick("ann", pickemtest.Show, 0) }, "clash-of-tides 1 of 2 false"},
		{"with all picks", func() { w.Pick("ann", pickemtest.Show, 0, 0) }, "clash-of-tides 2 of 2 true"},
		{"after a match was added", func() {
			w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(3, 1))
		}, "clash-of-tides 2 of 3 false"},
		{"after other teams compete", func() {
			w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1),
				pickemtest.WithoutKey(pickemtest.MatchOf(9, 10), "id"))
		}, "clash-of-tides 1 of 3 false"},
		{"after that match was removed", func() {
			w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), "")
		}, "clash-of-tides 1 of 2 false"},
		{"after the rest was removed", func() {
			w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 3), "")
		}, "clash-of-tides 1 of 1 true"},
	} {
		step.do()

		want := []string{"empty 0 of 0 false", step.want, "locked"}
		if got := lines("ann"); !slices.Equal(got, want) {
			t.Errorf("%s: events (-want +got):\n%s", step.name, cmp.Diff(want, got))
		}
	}

	if got, want := lines("bob"), []string{"empty 0 of 0 false", "clash-of-tides 0 of 1 false", "locked"}; !slices.Equal(got, want) {
		t.Errorf("for a member without a prediction (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestListReadsNoCardOfPicksMadeSince: only picks that a change of the teams can have made
// void are compared with the card.
func TestListReadsNoCardOfPicksMadeSince(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(1)
	w.Pick("ann", pickemtest.Show, 0)

	list := func() map[string]int {
		return w.CountCalls(func() { w.Ask(event.ListEventsFunction(), "/app/events", "ann", "") })
	}
	before := list()

	w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.WithoutKey(pickemtest.MatchOf(9, 10), "id"))

	if during := list(); during["Query"] != before["Query"]+1 {
		t.Errorf("calls with picks of before a change: %v, want one query more than %v", during, before)
	}

	w.Pick("ann", pickemtest.Show, 1)

	if diff := cmp.Diff(before, list()); diff != "" {
		t.Errorf("calls with picks of after a change (-want +got):\n%s", diff)
	}
}
