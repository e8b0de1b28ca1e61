package pickem_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// crowd stores a season with so many members and scored events: the standings of all members,
// their picks of the last event, and those of ann of every event. Member n has n modulo 500
// points of the last event.
func crowd(t testing.TB, members, shows int) (w *pickemtest.Room, last string) {
	t.Helper()
	w = pickemtest.New(t)

	var days []item.Event

	for i := range shows {
		day := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		id := day.Format(time.DateOnly) + "-show"
		days = append(days, item.Event{
			Row:        item.Row{PK: item.EventTag, SK: item.EventRef(id), GSIPK: item.EventRef(id), GSISK: item.EventTag, Type: item.EventType},
			ID:         id,
			Name:       "Show",
			Date:       day.Format("2006/01/02"),
			StartsAt:   item.FormatTime(day),
			LockAt:     item.FormatTime(day),
			State:      item.Scored,
			ScoringAt:  item.FormatTime(day),
			ResultsRev: 10,
			ScoredRev:  1,
		})
		last = id
	}

	testkit.PutRows(w.World, tables.Pickem, days...)
	w.AddMatches(last, 10)

	picks := map[string]string{}
	for n := range 10 {
		picks[pickemtest.MatchID(n+1)] = pickemtest.TeamID(n % 2)
	}

	var entries []item.Prediction

	played := func(user, id string, points int) {
		sk, err := item.ScoreSK(points, item.MaxEventPoints, user)
		testkit.Must(t, err)

		entries = append(entries, item.Prediction{
			Row:         item.Row{PK: item.UserRef(user), SK: item.EventRef(id), GSIPK: item.EventRef(id), GSISK: sk, Type: item.PredictionType},
			EventID:     id,
			BelongsTo:   item.UserRef(user),
			Predictions: picks,
			CardRev:     10,
			SavedAt:     item.FormatTime(pickemtest.Noon),
			Points:      points,
			ScoredAt:    item.FormatTime(pickemtest.Noon),
			ScoredRev:   1,
		})
	}

	var table26 []item.Standing

	names := map[string]string{}

	for n := range members {
		user, name, points := fmt.Sprintf("user-%04d", n), fmt.Sprintf("Name %04d", members-n), n%500
		if n == members/2 {
			user = "ann"
			testkit.PutRows(w.World, tables.Pickem, item.NewMember(user, name))

			for _, d := range days[:shows-1] {
				played(user, d.ID, 1)
				w.PublishRanking(d.ID, nil, []ranking.Row{{UserID: user, Name: name, Points: 1}})
			}
		}

		names[user] = name
		played(user, last, points)
		sk, err := item.ScoreSK(points, item.MaxYearPoints, user)
		testkit.Must(t, err)

		table26 = append(table26, item.Standing{
			Row: item.Row{
				PK:    item.UserRef(user),
				SK:    item.StandingsRef("2026"),
				GSIPK: item.StandingsRef("2026"),
				GSISK: sk,
				Type:  item.StandingType,
			},
			BelongsTo: item.UserRef(user),
			Tally:     item.Tally{Points: points, Played: 1, LastEvent: last, LastPoints: points},
		})
	}

	testkit.PutRows(w.World, tables.Pickem, entries...)
	testkit.PutRows(w.World, tables.Pickem, table26...)
	card := testkit.Rows[item.Match](w.World, tables.Pickem)
	card = slices.DeleteFunc(card, func(m item.Match) bool { return m.Type != item.MatchType })
	slices.SortFunc(card, func(a, b item.Match) int { return strings.Compare(a.GSISK, b.GSISK) })

	entries = slices.DeleteFunc(entries, func(p item.Prediction) bool { return p.EventID != last })
	for scope, rows := range map[string][]ranking.Row{
		"2026": score.RankStandings(table26, names),
		last:   score.RankEntries(item.Event{}, card, entries, names),
	} {
		w.PublishRanking(scope, score.CardIDs(card), rows)
	}

	return w, last
}

// ranked is a row of standings or results.
type ranked struct {
	Rank         int
	UserID, Name string
	Points       int
}

// crowned returns the expected standings of a crowd.
func crowned(members int) (all []ranked) {
	for points := min(members, 500) - 1; points >= 0; points-- {
		var tied []ranked

		for n := points; n < members; n += 500 {
			r := ranked{min(members, 500) - points, fmt.Sprintf("user-%04d", n), fmt.Sprintf("Name %04d", members-n), points}
			if n == members/2 {
				r.UserID = "ann"
			}

			tied = append(tied, r)
		}

		slices.Reverse(tied) // the later a member, the earlier the name
		all = append(all, tied...)
	}

	return all
}

// TestOneQueryPerScreen: the list of events takes one query, beside the read of the caller's row, for
// two members and for a thousand with forty events. All pages of every screen are complete.
func TestOneQueryPerScreen(t *testing.T) {
	t.Parallel()

	for _, size := range []struct{ members, shows int }{{2, 1}, {1000, 40}} {
		t.Run(fmt.Sprint(size.members), func(t *testing.T) {
			t.Parallel()
			w, last := crowd(t, size.members, size.shows)
			screen := func(fn app.Function, target string, body any) {
				t.Helper()

				calls := w.CountCalls(func() { w.Read(fn, target, "ann", body) })
				if want := map[string]int{"GetItem": 1, "Query": 1}; !maps.Equal(calls, want) {
					t.Errorf("%s calls (-want +got):\n%s", fn.Name, cmp.Diff(want, calls))
				}
			}

			var events []string

			for next, page := "", 0; page == 0 || next != ""; page++ {
				var list event.EventList
				screen(event.ListEventsFunction(), "/app/events?limit=7&cursor="+next, &list.Body)

				for _, e := range list.Body.Events {
					events = append(events, e.ID)
				}

				next = list.Body.Next
			}

			if len(events) != size.shows || events[0] != last ||
				!slices.IsSortedFunc(events, func(a, b string) int { return strings.Compare(b, a) }) {
				t.Errorf("list-events returns %d events: %q", len(events), events)
			}

			var (
				table, results []ranked
				mine           *league.Standing
			)

			for next, page := "", 0; page == 0 || next != ""; page++ {
				var s league.StandingsScreen
				w.Read(league.GetStandingsFunction(), "/app/standings/2026?cursor="+next, "ann", &s.Body)

				for _, s := range s.Body.Standings {
					table = append(table, ranked{s.Rank, s.UserID, s.Name, s.Points})
				}

				if mine, next = s.Body.Mine, s.Body.Next; s.Body.Count != size.members {
					t.Errorf("get-standings returns the count %d", s.Body.Count)
				}
			}

			var entry *score.Entry

			for next, page := "", 0; page == 0 || next != ""; page++ {
				var s event.ResultsScreen
				w.Read(event.GetResultsFunction(), pickemtest.AppEvent(last)+"/results?cursor="+next, "ann", &s.Body)

				for _, e := range s.Body.Entries {
					results = append(results, ranked{e.Rank, e.UserID, e.Name, e.Points})
				}

				if entry, next = s.Body.Mine, s.Body.Next; s.Body.Count != size.members || len(s.Body.Card) != 10 {
					t.Errorf("get-results returns the count %d and %d matches", s.Body.Count, len(s.Body.Card))
				}
			}

			want := crowned(size.members)
			if !slices.Equal(table, want) || !slices.Equal(results, want) {
				t.Errorf("standings %v and results %v, want %v", table, results, want)
			}

			i := slices.IndexFunc(want, func(r ranked) bool { return r.UserID == "ann" })
			if mine.UserID != "ann" || mine.Rank != want[i].Rank || entry.UserID != "ann" || entry.Rank != want[i].Rank {
				t.Errorf("mine in standings and results: %+v and %+v, want %+v", mine, entry, want[i])
			}

			var (
				seen     event.EventScreen
				profiles []string // the events of ann's profile
			)

			w.Read(event.GetEventFunction(), pickemtest.AppEvent(last), "ann", &seen.Body)

			if b := seen.Body; b.ID != last || len(b.Card) != 10 || b.Card[9].ID != pickemtest.MatchID(10) || len(b.Prediction.Predictions) != 10 {
				t.Errorf("get-event returns %+v", b)
			}

			// A profile costs the same among any number of members and events: what all members share
			// is read once a minute.
			for range 2 {
				var played []string

				for next, page := "", 0; page == 0 || next != ""; page++ {
					var me member.UserScreen

					units := w.CountUnits(func() { w.Read(member.GetMeFunction(), "/app/me?cursor="+next, "ann", &me.Body) })
					if b := me.Body; b.UserID != "ann" || len(b.Standings) != 1 || b.Standings[0].Points != want[i].Points ||
						b.Standings[0].Rank != want[i].Rank || len(b.Events) == 0 || len(b.Events) > item.ShownEvents {
						t.Errorf("page %d of get-me is %+v", page, b)
					}

					for _, e := range me.Body.Events {
						played = append(played, e.EventID)
					}

					if known := len(profiles) > 0; known && units.Reads > 4 {
						t.Errorf("page %d of get-me costs %v units, want at most 4", page, units.Reads)
					}

					next = me.Body.Next
				}

				profiles = played
				if len(played) != size.shows || played[0] != last ||
					!slices.IsSortedFunc(played, func(a, b string) int { return strings.Compare(b, a) }) {
					t.Errorf("get-me returns %d events: %q, want %d", len(played), played, size.shows)
				}
			}

			var theirs []string

			for next, page := "", 0; page == 0 || next != ""; page++ {
				var her member.UserScreen
				w.Read(member.GetUserFunction(), "/app/users/ann?cursor="+next, "ann", &her.Body)

				for _, e := range her.Body.Events {
					theirs = append(theirs, e.EventID)
				}

				next = her.Body.Next
			}

			if !slices.Equal(theirs, profiles) {
				t.Errorf("get-user of ann returns the events %q, want %q", theirs, profiles)
			}
		})
	}
}

// addLeague stores a league of ann and 99 others of a crowd.
func addLeague(w *pickemtest.Room) (id string) {
	w.T.Helper()

	id = "league"
	testkit.PutRows(w.World, tables.Pickem, item.League{
		Row:     item.Row{PK: item.LeagueRef(id), SK: "LEAGUE", Type: item.LeagueType},
		ID:      id,
		Name:    "League",
		OwnerID: "ann",
		Code:    "TEST1234",
		Members: 100,
	})

	var seats []item.Membership

	for n := range 100 {
		user := fmt.Sprintf("user-%04d", n)
		if n == 99 {
			user = "ann"
		}

		seats = append(seats, item.Membership{
			LeagueID:   id,
			LeagueName: "League",
			BelongsTo:  item.UserRef(user),
			JoinedAt:   item.FormatTime(pickemtest.Noon),
		}.Seat("Name "+user))
	}

	testkit.PutRows(w.World, tables.Pickem, seats...)

	return id
}

// TestReadsDoNotGrowWithMembers: a screen costs as many read units among a thousand members as
// among two hundred, at most 4. A table of a league costs half a unit for each of its members,
// and the list of these.
func TestReadsDoNotGrowWithMembers(t *testing.T) {
	t.Parallel()

	units := func(members int) map[string]float64 {
		w, last := crowd(t, members, 2)
		id := addLeague(w)
		cost := map[string]float64{}

		for _, s := range []struct {
			fn     app.Function
			target string
		}{
			{event.GetEventFunction(), pickemtest.AppEvent(last)},
			{event.GetResultsFunction(), pickemtest.AppEvent(last) + "/results"},
			{league.GetStandingsFunction(), "/app/standings/2026"},
			{league.GetLeagueStandingsFunction(), "/app/leagues/" + id + "/standings/2026"},
			{league.GetLeagueResultsFunction(), "/app/leagues/" + id + "/events/" + last},
		} {
			var body any

			cost[s.fn.Name] = w.CountUnits(func() { w.Read(s.fn, s.target, "ann", &body) }).Reads
		}

		return cost
	}

	few, some, many := units(10), units(200), units(1000) // of ten, the caller is on the first page
	if diff := cmp.Diff(some, many); diff != "" {
		t.Errorf("read units (-200 members +1,000):\n%s", diff)
	}

	for screen, n := range many {
		most := 4.0
		if strings.Contains(screen, "league") {
			most = 60
		}

		if n == 0 || n > most || few[screen] > n {
			t.Errorf("%s costs %v read units among 10 and %v among 1,000, want at most %v", screen, few[screen], n, most)
		}
	}
}

// TestPagesAreCompleteAndInOrder: for every list and every page size.
func TestPagesAreCompleteAndInOrder(t *testing.T) {
	t.Parallel()
	w, last := crowd(t, 15, 10)
	w.AddMembers(testkit.Administrator)

	for i := range 10 {
		w.MoveClock(pickemtest.Noon.Add(time.Duration(i) * time.Minute))
		w.MustAdmin(event.PutResultFunction(), pickemtest.AdminMatch(last, 1)+"/result", map[string]any{"result": i % 2})
	}

	for _, c := range []struct {
		fn           app.Function
		target, list string
		most, want   int
	}{
		{event.ListEventsFunction(), "/app/events", "events", 100, 10},
		{event.ListEventsFunction(), "/app/events?year=2026", "events", 100, 10},
		{league.GetStandingsFunction(), "/app/standings/2026", "standings", 50, 15},
		{event.GetResultsFunction(), pickemtest.AppEvent(last) + "/results", "entries", 50, 15},
		{event.ListCorrectionsFunction(), pickemtest.AppEvent(last) + "/corrections", "corrections", 100, 10},
		{event.ListEntriesFunction(), pickemtest.AdminEvent(last) + "/entries", "userIds", 1000, 15},
	} {
		pages := func(limit int) (all []any) {
			and := map[bool]string{true: "&", false: "?"}[strings.Contains(c.target, "?")]
			for next, page := "", 0; page == 0 || next != ""; page++ {
				body := testkit.Decode[map[string]any](w.World,
					w.Ask(c.fn, fmt.Sprint(c.target, and, "limit=", limit, "&cursor=", strings.ReplaceAll(next, "#", "%23")), testkit.Administrator, ""))

				items := body[c.list].([]any)
				if len(items) > limit || len(items) < limit && body["next"] != nil || page > c.want {
					t.Fatalf("%s: a page of at most %d has %d items and next %v", c.target, limit, len(items), body["next"])
				}

				all = append(all, items...)
				next, _ = body["next"].(string)
			}

			return all
		}

		whole := pages(c.most)
		if len(whole) != c.want {
			t.Errorf("%s lists %d items, want %d", c.target, len(whole), c.want)
		}

		for _, limit := range []int{1, 7} {
			if got := pages(limit); !reflect.DeepEqual(got, whole) {
				t.Errorf("%s, %d at a time (-want +got):\n%s", c.target, limit, cmp.Diff(whole, got))
			}
		}
	}
}

// TestForeignCursorsRevealNothing: a cursor of another list, or an invented one, is refused or
// leads to items that the caller may read.
func TestForeignCursorsRevealNothing(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	w.AddMembers(testkit.Administrator)
	w.CreateEvent(pickemtest.Noon.AddDate(-1, 0, 0), "old", 0)
	w.EnterResults(pickemtest.ScoredShow, 1, 0)

	next := func(fn app.Function, target string) string {
		var body struct{ Next string }
		w.Read(fn, target, testkit.Administrator, &body)

		if body.Next == "" {
			t.Fatalf("%s has no next page", target)
		}

		return strings.ReplaceAll(body.Next, "#", "%23")
	}
	lists := map[string]app.Function{
		"/app/events?limit=1&cursor=":                                               event.ListEventsFunction(),
		"/app/events?limit=1&year=2026&cursor=":                                     event.ListEventsFunction(),
		"/app/standings/2026?limit=1&cursor=":                                       league.GetStandingsFunction(),
		pickemtest.AppEvent(pickemtest.ScoredShow) + "/results?limit=1&cursor=":     event.GetResultsFunction(),
		pickemtest.AppEvent(pickemtest.ScoredShow) + "/corrections?limit=1&cursor=": event.ListCorrectionsFunction(),
		"/admin/events/" + pickemtest.ScoredShow + "/entries?limit=1&cursor=":       event.ListEntriesFunction(),
		"/app/standings/2025?limit=1&cursor=":                                       league.GetStandingsFunction(),
		"/app/events?limit=1&year=2025&cursor=":                                     event.ListEventsFunction(),
		"/admin/events/" + "2025-03-01-old/entries?limit=1&cursor=":                 event.ListEntriesFunction(),
	}
	eventCursor, log, user := next(event.ListEventsFunction(), "/app/events?limit=1"), next(event.ListCorrectionsFunction(),
		pickemtest.AppEvent(pickemtest.ScoredShow)+"/corrections?limit=1"), next(league.GetStandingsFunction(), "/app/standings/2026?limit=1")

	forged := []string{"x", "..", "%20", "%00", "EVENT%23" + eventCursor, eventCursor + "%00", "2026-03-08", "2026-3-8-x", "2026-03-08-",
		strings.ToUpper(eventCursor), "LOG%23" + log, log + "0", "USER%23" + user, "eve", "%F0%9F%92%A5", "bnVsbA=="}
	for target, fn := range lists {
		refused := slices.Clone(forged)
		if fn.Name != event.ListEventsFunction().Name || strings.Contains(target, "2025") {
			refused = append(refused, eventCursor)
		}

		if fn.Name != event.ListCorrectionsFunction().Name {
			refused = append(refused, log)
		}

		if fn.Name == event.ListEventsFunction().Name || fn.Name == event.ListCorrectionsFunction().Name || strings.Contains(target, "2025") {
			refused = append(refused, user)
		}

		for _, cursor := range refused {
			out := w.Ask(fn, target+cursor, testkit.Administrator, "")
			if got, want := pickemtest.RefusalOf(out), (pickemtest.Refusal{Status: 400, Code: "bad_cursor", Field: "query.cursor"}); got != want {
				t.Errorf("%s%s: %d %s, want %v", target, cursor, out.StatusCode, out.Body, want)
			}
		}
	}
	// A log's cursor is a time: in another event's log it is one of it, or before it.
	out := w.Ask(event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.LockedShow)+"/corrections?cursor="+log, "ann", "")

	var got event.CorrectionList
	if err := json.Unmarshal([]byte(out.Body), &got.Body); err != nil || len(got.Body.Corrections) != 0 {
		t.Errorf("a log with the cursor of another event returns %s", out.Body)
	}
}
