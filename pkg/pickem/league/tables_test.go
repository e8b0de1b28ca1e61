package league_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/pickem/userdata"
)

// fans are the ids of so many members, ann first.
func fans(n int) []string {
	all := []string{"ann"}
	for i := 1; i < n; i++ {
		all = append(all, fmt.Sprintf("fan%02d", i))
	}

	return all
}

// addClub stores a league with tables of so many fans, and two scored events with ties of all kinds,
// which one more fan has played, too.
func addClub(w *pickemtest.Room, members int) (l league.League, events []string) {
	w.T.Helper()
	return addClubOf(w, members, "first", "second")
}

// addClubOf is addClub with these events.
func addClubOf(w *pickemtest.Room, members int, slugs ...string) (l league.League, events []string) {
	w.T.Helper()

	users := fans(members + 1)
	w.AddMembers(users...)
	l = w.CreateLeague("ann", "Club")

	for i, u := range users[1:members] {
		m := item.Membership{
			Row:      item.Row{PK: item.UserRef(u), SK: item.LeagueRef(l.LeagueID), Type: item.MembershipType},
			LeagueID: l.LeagueID, LeagueName: l.Name, BelongsTo: item.UserRef(u),
			JoinedAt: item.FormatTime(pickemtest.Noon.Add(time.Duration(i) * time.Minute)),
		}
		testkit.PutRows(w.World, tables.Pickem, m, m.Seat(u))
	}

	row := testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(l.LeagueID), item.LeagueTag).WithTables()
	row.Members = members
	testkit.PutRows(w.World, tables.Pickem, row)
	testkit.PutRows(w.World, tables.Pickem, item.NewChangeOfAll(l.LeagueID))

	for day, slug := range slugs {
		right := map[string]int{}

		for i, u := range users {
			if (i+day)%5 > 0 { // the others do not play
				right[u] = (i * (day + 2)) % 4
			}
		}

		events = append(events, playQuickly(w, day+1, slug, right))
	}

	return l, events
}

// playQuickly is Room.PlayEvent with rows of the picks.
func playQuickly(w *pickemtest.Room, days int, slug string, right map[string]int) (eventID string) {
	w.T.Helper()

	id := w.CreateEvent(pickemtest.Noon.AddDate(0, 0, days), slug, 3)

	var picks []item.Prediction

	for user, n := range right {
		teams := []int{1, 1, 1}
		for i := range n {
			teams[i] = 0
		}

		sk, err := item.ScoreSK(0, item.MaxEventPoints, user)
		testkit.Must(w.T, err)

		picks = append(picks, item.Prediction{
			Row:     item.Row{PK: item.UserRef(user), SK: item.EventRef(id), GSIPK: item.EventRef(id), GSISK: sk, Type: item.PredictionType},
			EventID: id, BelongsTo: item.UserRef(user), Predictions: pickemtest.PicksOf(teams...), CardRev: 3,
			SavedAt: item.FormatTime(w.Clock.Now()),
		})
	}

	testkit.PutRows(w.World, tables.Pickem, picks...)
	w.LockEvent(id)
	w.EnterResults(id, 0, 0, 0)
	w.Score(id)

	return id
}

// follow has the tables of leagues written that have changed.
func follow(w *pickemtest.Room) {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))
	w.ScoreQueued()
}

// isStored reports whether all tables of a league are stored.
func isStored(w *pickemtest.Room, l league.League) bool {
	return testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(l.LeagueID), item.LeagueTag).Stored
}

// setStored has the tables of a league read, or ranked when they are read.
func setStored(w *pickemtest.Room, l league.League, stored bool) {
	row := testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(l.LeagueID), item.LeagueTag)
	row.Stored = stored
	testkit.PutRows(w.World, tables.Pickem, row)
}

// shownTables returns all answers with the tables of a league as a user gets them, as JSON: of 2026
// and of events. Pages of 7 are put together, without their cursors.
func shownTables(w *pickemtest.Room, l league.League, user string, events ...string) map[string]string {
	w.T.Helper()

	standings := league.GetLeagueStandingsFunction()
	paths := map[string]app.Function{"/standings/2026": standings, "/standings/2025": standings}

	for _, id := range events {
		paths["/events/"+id] = league.GetLeagueResultsFunction()
	}

	out := map[string]string{}

	for path, fn := range paths {
		var rows []json.RawMessage

		for next, page := "", 0; page == 0 || next != ""; page++ {
			target := "/app/leagues/" + l.LeagueID + path + "?limit=7"
			if next != "" {
				target += "&cursor=" + next
			}

			answer := w.Ask(fn, target, user, "")
			if answer.StatusCode != 200 {
				w.T.Fatalf("%s as %s: %d %s", target, user, answer.StatusCode, answer.Body)
			}

			var body struct {
				Count              int
				Standings, Entries []json.RawMessage
				Mine               json.RawMessage
				Next               string
			}
			testkit.Must(w.T, json.Unmarshal([]byte(answer.Body), &body))

			rows, next = slices.Concat(rows, body.Standings, body.Entries), body.Next
			out[path+" count"], out[path+" mine"] = fmt.Sprint(body.Count), string(body.Mine)
		}

		text, err := json.MarshalIndent(rows, "", " ")
		testkit.Must(w.T, err)

		out[path] = string(text)
	}

	return out
}

// checkTables compares the stored tables of a league with those that are ranked when they are read.
func checkTables(w *pickemtest.Room, when string, l league.League, user string, events ...string) {
	w.T.Helper()

	if !isStored(w, l) {
		w.T.Fatalf("%s: the league has no stored tables", when)
	}

	stored := shownTables(w, l, user, events...)

	setStored(w, l, false)
	defer setStored(w, l, true)

	if diff := cmp.Diff(shownTables(w, l, user, events...), stored); diff != "" {
		w.T.Errorf("%s: tables (-ranked on read +stored):\n%s", when, diff)
	}
}

// TestStoredTablesAreThoseRankedOnRead: for two users, whatever changes the points, the members or
// their names.
func TestStoredTablesAreThoseRankedOnRead(t *testing.T) {
	t.Parallel()

	const members = 14

	w := pickemtest.New(t)
	l, events := addClub(w, members-1)
	follow(w)
	checkTables(w, "after two events", l, "ann", events...)

	// ask calls a route as a user.
	ask := func(fn app.Function, target, user string, body any) {
		t.Helper()

		if out := w.Ask(fn, target, user, body); out.StatusCode >= 300 {
			t.Fatalf("%s %s as %s: %d %s", fn.Name, target, user, out.StatusCode, out.Body)
		}
	}

	for _, c := range []struct {
		what string
		do   func()
	}{
		{"a third event is scored", func() {
			right := map[string]int{}
			for i, u := range fans(members) {
				right[u] = i % 3
			}

			events = append(events, w.PlayEvent(3, "third", right))
		}},
		{"a result is corrected", func() {
			w.EnterResults(events[0], 1, 0)
			w.Score(events[0])
		}},
		{"points are withdrawn", func() {
			w.MustAdmin(event.PutResultFunction(), "/admin/events/"+events[2]+"/matches/"+pickemtest.MatchID(2)+"/result", `{"result":null}`)
			w.ScoreQueued()

			events = events[:2]
		}},
		{"a member is renamed", func() { ask(member.UpdateMeFunction(), "/app/me", "fan03", `{"name":"AAA"}`) }},
		{"a member joins who has played", func() { w.JoinLeague(l, "fan13"); follow(w) }},
		{"a member leaves", func() { w.LeaveLeague(l, "fan02", "fan02"); follow(w) }},
		{"a member is removed from the league", func() { w.LeaveLeague(l, "fan04", "ann"); follow(w) }},
		{"a member is removed", func() {
			ask(userdata.DeleteUserFunction(), "/admin/users/fan05", testkit.Administrator, "")
			follow(w)
		}},
		{"the owner leaves", func() { w.LeaveLeague(l, "ann", "ann"); follow(w) }},
		{"picks are revealed at the lock", func() {
			id := w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 20), "fourth", 2)
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(id), `{"revealAtLock":true}`)

			for i, u := range fans(members)[6:] {
				w.Pick(u, id, i%2, 0)
			}

			w.LockEvent(id)
			w.ScoreQueued()

			events = append(events, id)
		}},
		{"standings are rebuilt", func() {
			w.CorruptStandings()

			_, err := testkit.Open(w.World, score.RebuildStandingsFunction(), score.OpenScorer).RebuildStandings(w.NewContext(),
				score.RebuildStandings{Year: 2026})
			testkit.Must(t, err)
		}},
	} {
		c.do()

		for _, user := range []string{"fan01", "fan11"} {
			checkTables(w, c.what, l, user, events...)
		}
	}
}

// TestLeagueGetsTables: a league has tables with more than item.RankedOnRead members. One of before
// with 100 members gets them with the next member who joins, or when standings are rebuilt. Until they
// are written it is ranked when it is read, and small leagues always are.
func TestLeagueGetsTables(t *testing.T) {
	t.Parallel()

	rebuild := func(w *pickemtest.Room) {
		_, err := testkit.Open(w.World, score.RebuildStandingsFunction(), score.OpenScorer).RebuildStandings(w.NewContext(),
			score.RebuildStandings{Year: 2026})
		testkit.Must(w.T, err)
	}

	for name, add := range map[string]func(*pickemtest.Room, league.League){
		"join":    func(w *pickemtest.Room, l league.League) { w.JoinLeague(l, "fan10") },
		"rebuild": func(w *pickemtest.Room, _ league.League) { rebuild(w); rebuild(w) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)

			users := fans(item.RankedOnRead + 1)
			w.AddMembers(users...)
			l := w.CreateLeague("ann", "Club")
			w.JoinLeague(l, users[1:item.RankedOnRead]...)

			events := []string{w.PlayEvent(1, "first", map[string]int{"ann": 2, "fan01": 1, "fan10": 3})}

			rebuild(w)
			follow(w)

			if isStored(w, l) {
				t.Errorf("a league of %d members has stored tables", item.RankedOnRead)
			}

			// The former league has the items that were written before there were tables.
			row := testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(l.LeagueID), item.LeagueTag)
			row.Members = 100

			for n := range 90 {
				user := fmt.Sprintf("old%02d", n)
				m := item.Membership{
					Row:      item.Row{PK: item.UserRef(user), SK: row.PK, Type: item.MembershipType},
					LeagueID: l.LeagueID, LeagueName: l.Name, BelongsTo: item.UserRef(user), JoinedAt: item.FormatTime(pickemtest.Noon),
				}
				testkit.PutRows(w.World, tables.Pickem, m, m.Seat("Old "+user))
				testkit.PutRows(w.World, tables.Pickem, item.NewMember(user, "Old "+user))
			}

			testkit.PutRows(w.World, tables.Pickem, row)
			follow(w)

			was := shownTables(w, l, "ann", events...)

			add(w, l)

			now := shownTables(w, l, "ann", events...)
			if joined := name == "join"; cmp.Equal(was, now) == joined {
				t.Errorf("before the tables are stored (-want +got):\n%s", cmp.Diff(was, now))
			}

			follow(w)
			checkTables(w, name, l, "fan01", events...)

			if diff := cmp.Diff(now, shownTables(w, l, "ann", events...)); diff != "" {
				t.Errorf("stored tables (-want +got):\n%s", diff)
			}

			if left := pickemtest.LinesWith(w.Dump(), "CHANGE#"); len(left) > 0 {
				t.Errorf("changes are left: %q", left)
			}
		})
	}
}

// TestChangesOfALeagueAreShownAMinuteLater: a member who leaves is in no table at once. The job that
// runs every minute sends one message, whatever the number of changes, and none if there are none.
func TestChangesOfALeagueAreShownAMinuteLater(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	l, events := addClub(w, 14)
	follow(w)

	for _, u := range []string{"fan03", "fan06"} {
		w.LeaveLeague(l, u, u)

		for path, text := range shownTables(w, l, "ann", events...) {
			if strings.Contains(text, u) {
				t.Errorf("%s lists %s, who has left: %s", path, u, text)
			}
		}
	}

	w.JoinLeague(l, "fan14", "fan03")

	jobs := testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents)
	testkit.Must(t, jobs.LockEvents(w.NewContext()))

	var sent []score.Request

	scorer := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer)
	testkit.Drain(w.World, score.Queue, 0, func(ctx context.Context, in score.Request) error {
		sent = append(sent, in)
		return scorer.ScoreEvent(ctx, in)
	})

	if want := []score.Request{{League: l.LeagueID, Year: "2026"}}; !cmp.Equal(want, sent) {
		t.Errorf("messages (-want +got):\n%s", cmp.Diff(want, sent))
	}

	checkTables(w, "a minute later", l, "fan14", events...)
	testkit.Must(t, jobs.LockEvents(w.NewContext()))

	if left := w.Queues.Messages(score.Queue.Name); len(left) > 0 {
		t.Errorf("a message without a change: %+v", left)
	}

	if left := pickemtest.LinesWith(w.Dump(), "CHANGE#"); len(left) > 0 {
		t.Errorf("changes that are shown are left: %q", left)
	}
}

// TestDeletedLeagueLeavesNoTables: if the owner deletes it, or the last member leaves, also while its
// tables are written, before every second call of that.
func TestDeletedLeagueLeavesNoTables(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(*pickemtest.Room, league.League) int{
		"deleted": func(w *pickemtest.Room, l league.League) int {
			return w.Ask(league.DeleteLeagueFunction(), "/app/leagues/"+l.LeagueID, "ann", "").StatusCode
		},
		"left by all": func(w *pickemtest.Room, l league.League) (status int) {
			for _, u := range slices.Backward(fans(3)) {
				status = max(status, w.LeaveLeague(l, u, u).StatusCode)
			}

			return status
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for at, calls := 1, 2; at <= calls; at += 2 {
				w := pickemtest.New(t)
				l, events := addClubOf(w, 3, "first")

				if at%4 == 1 {
					follow(w)
				}

				env, wire := w.Observe(score.ScoreEventFunction(), at, func() {
					if status := end(w, l); status != 204 {
						t.Errorf("before call %d: status %d, want 204", at, status)
					}
				}, func(pickemtest.Write) {})
				testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{League: l.LeagueID}))
				testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: events[0]}))
				calls = wire.Calls

				if at > calls { // it was never deleted
					continue
				}

				follow(w)

				if left := pickemtest.LinesWith(w.Dump(), l.LeagueID); len(left) > 0 {
					t.Fatalf("before call %d of %d: items of the league are left: %q", at, calls, left)
				}
			}
		})
	}
}

// TestMembersChangeDuringTheirTables: a new name, a member who leaves and one who joins, before any
// call of the job that writes the tables, are in all of them a minute later, and the name at once.
func TestMembersChangeDuringTheirTables(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*pickemtest.Room, league.League) int
		old    string // what no table has at once
	}{
		"rename": {func(w *pickemtest.Room, _ league.League) int {
			return w.Ask(member.UpdateMeFunction(), "/app/me", "fan03", `{"name":"Zoe"}`).StatusCode
		}, `"name": "fan03"`},
		"leave":  {func(w *pickemtest.Room, l league.League) int { return w.LeaveLeague(l, "fan03", "fan03").StatusCode }, ""},
		"join":   {func(w *pickemtest.Room, l league.League) int { return w.RequestJoin("fan04", l.Code).StatusCode }, ""},
		"rejoin": {func(w *pickemtest.Room, l league.League) int { return w.RequestJoin("fan01", l.Code).StatusCode }, ""},
		"removal": {func(w *pickemtest.Room, _ league.League) int {
			return w.Ask(userdata.DeleteUserFunction(), "/admin/users/fan03", testkit.Administrator, "").StatusCode
		}, "fan03"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for at, calls := 1, 2; at <= calls; at++ {
				w := pickemtest.New(t)
				l, events := addClubOf(w, 4, "first")
				follow(w)

				w.LeaveLeague(l, "fan01", "fan01") // a change of most tables

				env, wire := w.Observe(score.ScoreEventFunction(), at, func() {
					if status := c.change(w, l); status >= 300 {
						t.Errorf("before call %d: status %d", at, status)
					}
				}, func(pickemtest.Write) {})
				testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{League: l.LeagueID}))

				calls = wire.Calls

				if at > calls {
					continue
				}

				for path, text := range shownTables(w, l, "ann", events...) {
					if c.old != "" && strings.Contains(text, c.old) {
						t.Errorf("before call %d of %d: %s has %s: %s", at, calls, path, c.old, text)
					}
				}

				follow(w)
				checkTables(w, fmt.Sprintf("before call %d of %d", at, calls), l, "ann", events...)
			}
		})
	}
}

// TestChangesOfTablesCrash: a request or a message that crashes at any call, and then runs again,
// leaves with the job of the next minute what one leaves that does not crash.
func TestChangesOfTablesCrash(t *testing.T) {
	t.Parallel()

	ranking := func(in func(league.League) score.Request) func(*pickemtest.Room, app.Env, league.League) error {
		return func(w *pickemtest.Room, env app.Env, l league.League) error {
			return testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), in(l))
		}
	}
	changed := ranking(func(l league.League) score.Request { return score.Request{League: l.LeagueID} })
	leaving := func(user string) func(*pickemtest.Room, app.Env, league.League) error {
		return func(w *pickemtest.Room, env app.Env, l league.League) error {
			return testkit.OpenWith(w.World, env, league.OpenLeagues).Leave(w.NewContext(), l.LeagueID, user, user)
		}
	}

	for _, c := range []struct {
		name    string
		fn      app.Function
		members int
		first   bool // no table is written
		do      func(*pickemtest.Room, app.Env, league.League) error
	}{
		{"a first message", score.ScoreEventFunction(), 3, true, changed},
		{"a message", score.ScoreEventFunction(), 3, false, changed},
		{"a scoring", score.ScoreEventFunction(), 3, false, ranking(func(league.League) score.Request {
			return score.Request{EventID: pickemtest.Noon.AddDate(0, 0, 1).Format(time.DateOnly) + "-first"}
		})},
		{"a rebuilding", score.RebuildStandingsFunction(), 3, true, func(w *pickemtest.Room, env app.Env, l league.League) error {
			if row := testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(l.LeagueID), item.LeagueTag); row.Members == 3 {
				row.Row, row.Members = item.Row{PK: row.PK, SK: row.SK, Type: row.Type}, item.RankedOnRead+1 // one of before

				testkit.PutRows(w.World, tables.Pickem, row)
				testkit.Must(w.T, w.DeleteRow(tables.Pickem, row.PK, item.NewChangeOfAll(l.LeagueID).SK))
			}

			_, err := testkit.OpenWith(w.World, env, score.OpenScorer).RebuildStandings(w.NewContext(), score.RebuildStandings{Year: 2026})

			return err
		}},
		{"join", league.JoinLeagueFunction(), 3, false, func(w *pickemtest.Room, env app.Env, l league.League) error {
			in := &league.JoinLeague{User: auth.User{UserID: "fan03"}}
			in.Body.Code = l.Code
			_, err := testkit.OpenWith(w.World, env, league.OpenLeagues).JoinLeague(w.NewContext(), in)

			return err
		}},
		{"leave", league.LeaveLeagueFunction(), 3, false, leaving("fan01")},
		{"hand over", league.LeaveLeagueFunction(), 3, false, leaving("ann")},
		{"last", league.LeaveLeagueFunction(), 1, false, leaving("ann")},
		{"delete", league.DeleteLeagueFunction(), 3, false, func(w *pickemtest.Room, env app.Env, l league.League) error {
			_, err := testkit.OpenWith(w.World, env, league.OpenLeagues).DeleteLeague(w.NewContext(),
				&league.DeleteLeague{User: auth.User{UserID: "ann"}, LeagueID: l.LeagueID})
			return err
		}},
		{"rename", member.UpdateMeFunction(), 3, false, func(w *pickemtest.Room, env app.Env, _ league.League) error {
			in := &member.UpdateMe{User: auth.User{UserID: "fan01"}}
			in.Body.Name = "Zoe"
			_, err := testkit.OpenWith(w.World, env, member.OpenMembers).UpdateMe(w.NewContext(), in)

			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
				w := pickemtest.New(t)
				l, events := addClubOf(w, c.members, "first")

				if !c.first { // there are tables, and some of them are to be changed
					follow(w)
					w.LeaveLeague(l, "fan02", "fan02")
					w.EnterResults(events[0], 1)
					w.MustAdmin(event.RequestScoreFunction(), "/admin/events/"+events[0]+"/score", "")
				}

				p.Ended(c.do(w, w.CrashingEnv(c.fn, p), l))

				if err := c.do(w, w.Env(c.fn), l); err != nil && !errors.Is(err, item.ErrNoLeague) {
					t.Error(err)
				}

				follow(w)

				var out []string

				for _, row := range testkit.Rows[map[string]any](w.World, tables.Pickem) {
					delete(row, "rev")
					delete(row, "code")

					text, err := json.Marshal(row)
					testkit.Must(t, err)

					if row["type"] != "code" && row["SK"] != "CODES" {
						out = append(out, strings.ReplaceAll(string(text), l.LeagueID, "club"))
					}
				}

				slices.Sort(out)

				return out
			})
		})
	}
}

// addLeagueOf stores a league with tables of so many members who have played an event, of which "ann"
// is one, in the middle of the tables. Every second one has the same points as the one before.
func addLeagueOf(w *pickemtest.Room, members int) (l league.League, eventID string) {
	w.T.Helper()

	w.AddMembers("ann")
	l = w.CreateLeague("ann", "Crowd")
	eventID = w.PlayEvent(1, "opening", map[string]int{"ann": 2})

	var (
		people  []item.Member
		seats   []item.Membership
		points  []item.Standing
		entries []item.Prediction
	)

	mine := testkit.Row[item.Prediction](w.World, tables.Pickem, item.UserRef("ann"), item.EventRef(eventID))
	year := testkit.Row[item.Standing](w.World, tables.Pickem, item.UserRef("ann"), item.StandingsRef("2026"))

	for n := range members - 1 {
		user := fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", n)
		ref := item.UserRef(user)
		people = append(people, item.NewMember(user, "Member "+user[30:]))

		m := item.Membership{
			Row:      item.Row{PK: ref, SK: item.LeagueRef(l.LeagueID), Type: item.MembershipType},
			LeagueID: l.LeagueID, LeagueName: l.Name, BelongsTo: ref, JoinedAt: item.FormatTime(pickemtest.Noon),
		}
		seats = append(seats, m, m.Seat("Member "+user[30:]))

		s := year
		s.PK, s.BelongsTo, s.Points, s.GSISK = ref, ref, n/2*60/members, fmt.Sprintf("SCORE#%05d#%s", n/2*60/members, user)
		points = append(points, s)

		p := mine
		p.PK, p.BelongsTo, p.Points, p.GSISK = ref, ref, n/2*60/members, fmt.Sprintf("SCORE#%03d#%s", n/2*60/members, user)
		entries = append(entries, p)
	}

	testkit.PutRows(w.World, tables.Pickem, people...)
	testkit.PutRows(w.World, tables.Pickem, seats...)
	testkit.PutRows(w.World, tables.Pickem, points...)
	testkit.PutRows(w.World, tables.Pickem, entries...)

	row := testkit.Row[item.League](w.World, tables.Pickem, item.LeagueRef(l.LeagueID), item.LeagueTag).WithTables()
	row.Members = members
	testkit.PutRows(w.World, tables.Pickem, row)
	testkit.PutRows(w.World, tables.Pickem, item.NewChangeOfAll(l.LeagueID))
	follow(w)

	return l, eventID
}

// TestPageOfALeagueCostsTheSame: of 60, of 100 and of 1,000 members, at most 4 units for 50 rows and
// 5 for 100. The tables of up to 100 members are those that are ranked on read.
func TestPageOfALeagueCostsTheSame(t *testing.T) {
	t.Parallel()

	costs := map[int]map[string]float64{}

	for _, n := range []int{102, 300, league.MaxMembers} {
		w := pickemtest.New(t)
		l, id := addLeagueOf(w, n)
		costs[n] = map[string]float64{}

		for target, c := range map[string]struct {
			fn   app.Function
			most float64
		}{
			"/standings/2026?limit=50": {league.GetLeagueStandingsFunction(), 4},
			"/standings/2026":          {league.GetLeagueStandingsFunction(), 5},
			"/events/" + id:            {league.GetLeagueResultsFunction(), 5}, // with the event and its card
		} {
			var body struct {
				Count              int
				Standings, Entries []json.RawMessage
			}

			units := w.CountUnits(func() { w.Read(c.fn, "/app/leagues/"+l.LeagueID+target, "ann", &body) }).Reads
			if costs[n][target] = units; units > c.most || body.Count != n {
				t.Errorf("%d members: %s costs %v units and counts %d, want at most %v", n, target, units, body.Count, c.most)
			}

			if shown := len(body.Standings) + len(body.Entries); shown != 50 && shown != 100 {
				t.Errorf("%d members: %s has %d rows, want a full page", n, target, shown)
			}
		}

		if n <= 300 {
			checkTables(w, fmt.Sprint(n, " members"), l, "ann", id)
		}
	}

	for n, cost := range costs {
		if diff := cmp.Diff(costs[league.MaxMembers], cost); diff != "" {
			t.Errorf("units (-%d members +%d):\n%s", league.MaxMembers, n, diff)
		}
	}
}

// TestScoringOfALeagueCosts: what the tables of an event and its year of the largest league take.
func TestScoringOfALeagueCosts(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	l, id := addLeagueOf(w, league.MaxMembers)
	before := readRows(w, l, id)

	units := w.CountUnits(func() {
		testkit.Must(t, testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(),
			score.Request{EventID: id, Removed: true}))
	})
	with := w.CountUnits(func() {
		testkit.Must(t, testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(),
			score.Request{EventID: id}))
	})

	if reads, writes := with.Reads-units.Reads, with.Writes-units.Writes; reads <= 0 || reads > 2300 || writes <= 0 || writes > 500 {
		t.Errorf("the tables of a league cost %v reads and %v writes, want at most 2,300 and 500", reads, writes)
	}

	if diff := cmp.Diff(before, readRows(w, l, id)); diff != "" {
		t.Errorf("a second scoring has changed the tables (-before +after):\n%s", diff)
	}
}

// readRows reads all rows of the table of a league in an event.
func readRows(w *pickemtest.Room, l league.League, eventID string) (all []ranking.Row) {
	w.T.Helper()

	for next, page := "", 0; page == 0 || next != ""; page++ {
		t, err := ranking.Read(w.NewContext(), w.DB(), item.TableScope(l.LeagueID, eventID), "ann", next, 50)
		testkit.Must(w.T, err)
		all, next = append(all, t.Rows...), t.Next
	}

	return all
}
