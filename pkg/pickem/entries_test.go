package pickem_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
)

// addEntries stores an open event with predictions of so many users.
func addEntries(w *pickemtest.Room, members int) (eventID string) {
	w.T.Helper()

	eventID = w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 3), "open", 1)

	var all []item.Prediction

	for n := range members {
		user := fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", n)
		sk, err := item.ScoreSK(0, item.MaxEventPoints, user)
		testkit.Must(w.T, err)

		all = append(all, item.Prediction{
			Row: item.Row{PK: item.UserRef(user), SK: item.EventRef(eventID), GSIPK: item.EventRef(eventID), GSISK: sk, Type: item.PredictionType},

			EventID: eventID, BelongsTo: item.UserRef(user), Predictions: pickemtest.PicksOf(0), CardRev: 1,
			SavedAt: item.FormatTime(pickemtest.Noon),
		})
	}

	testkit.PutRows(w.World, tables.Pickem, all...)

	return eventID
}

// TestEntriesCostTheSame: a first page, and those after it, whatever the number of members. Up to 1,000
// of them are counted in the index, and all in the ranking. A cursor of an earlier deployment is valid.
func TestEntriesCostTheSame(t *testing.T) {
	t.Parallel()

	cost := map[string]float64{}

	for _, members := range []int{1000, 1001, 1400} {
		w := pickemtest.New(t)
		id := addEntries(w, members)

		page := func(query string, count int, atLeast bool, first int) (next string) {
			t.Helper()

			var got event.EntryList

			units := w.CountUnits(func() {
				w.Read(event.ListEntriesFunction(), pickemtest.AdminEvent(id)+"/entries?limit=50"+query, testkit.Administrator, &got.Body)
			})

			b := got.Body
			if want := fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", first); len(b.UserIDs) != 50 || b.UserIDs[0] != want ||
				b.Count != count || b.AtLeast != atLeast {
				t.Errorf("%d members: %q has %d ids from %q on of %d (at least: %v), want 50 from %s on of %d (%v)",
					members, query, len(b.UserIDs), b.UserIDs[0], b.Count, b.AtLeast, want, count, atLeast)
			}

			kind := fmt.Sprint(query != "", " ", w.Clock.Now().After(pickemtest.Noon))
			if known, ok := cost[kind]; ok && units.Reads > known+0.5 {
				t.Errorf("%d members: %q costs %v units, and %v among fewer", members, query, units.Reads, known)
			} else if !ok {
				cost[kind] = units.Reads
			}

			return b.Next
		}

		next := page("", min(members, 1000), members > 1000, 0)
		next = page("&cursor="+next, min(members, 1000), members > 1000, 50)
		page("&cursor="+next, min(members, 1000), members > 1000, 100)
		page("&cursor=7_000_7f6c1f0e-5d0a-4c5e-9b57-000000000049", 7, false, 50)

		for n := range members {
			testkit.PutRows(w.World, tables.Pickem, item.NewMember(fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", n), "Member"))
		}

		w.LockEvent(id)
		w.EnterResults(id, 0)
		w.Score(id)

		next = page("", members, false, 0)
		page("&cursor="+next, members, false, 50)
	}

	if diff := cmp.Diff([]bool{true, true}, []bool{cost["false false"] < 90, cost["false true"] < 12}); diff != "" {
		t.Errorf("a first page costs %v", cost)
	}
}

// TestProfileWithOpenEvents: costs at most 4 units once what all members share is known, with ids and
// picks as long as they are, 40 events of which one is open, among 1,000 members, and in three leagues.
func TestProfileWithOpenEvents(t *testing.T) {
	t.Parallel()

	const user = "7f6c1f0e-5d0a-4c5e-9b57-000000000500"

	w, last := crowd(t, 2, 40)
	testkit.PutRows(w.World, tables.Pickem, item.NewMember(user, "Caller"))

	var rows []ranking.Row
	for n := range 1000 {
		id := fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", n)
		rows = append(rows, ranking.Row{UserID: id, Name: fmt.Sprint("Member ", n), Points: 5000 - n})
	}

	w.PublishRanking("2026", nil, rows)

	mine := testkit.Row[item.Standing](w.World, tables.Pickem, item.UserRef("ann"), item.StandingsRef("2026"))
	mine.PK, mine.BelongsTo = item.UserRef(user), item.UserRef(user)
	testkit.PutRows(w.World, tables.Pickem, mine)

	// The picks of crowd's last event are those of ten matches.
	pick := testkit.Row[item.Prediction](w.World, tables.Pickem, item.UserRef("ann"), item.EventRef(last))
	pick.PK, pick.BelongsTo = item.UserRef(user), item.UserRef(user)

	for i := range 40 {
		day := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(day+"-show"))
		e.ID += "-of-tides"
		e.SK, e.GSIPK = item.EventRef(e.ID), item.EventRef(e.ID)
		pick.EventID, pick.SK, pick.GSIPK, pick.GSISK = e.ID, e.SK, e.GSIPK, "SCORE#100#"+user
		testkit.PutRows(w.World, tables.Pickem, e)
		testkit.PutRows(w.World, tables.Pickem, pick)
		w.PublishRanking(e.ID, nil, []ranking.Row{{UserID: user, Name: "Caller", Points: 1}})
	}

	id := w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 3), "clash-of-tides", 10)
	w.Pick(user, id, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1)

	for n := range 3 {
		w.CreateLeague(user, fmt.Sprint("The lads ", n))
	}

	for read := range 2 {
		var me member.UserScreen

		units := w.CountUnits(func() { w.Read(member.GetMeFunction(), "/app/me", user, &me.Body) })
		if b := me.Body; len(b.Events) != item.ShownEvents+1 || b.Events[0].Name != "clash-of-tides" || b.Events[1].Name != "Show" ||
			b.Next == "" || len(b.Standings) != 1 || b.Standings[0].Rank != 501 {
			t.Errorf("get-me is %+v, want the open event, %d of the others and the rank 501", b, item.ShownEvents)
		}

		if read > 0 && units.Reads > 4 {
			t.Errorf("get-me costs %v units, want at most 4", units.Reads)
		}
	}
}
