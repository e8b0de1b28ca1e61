package score_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// addLeague stores a league with tables of some members of addCrowd, from a number on.
func addLeague(w *pickemtest.Room, id string, from, members int) {
	w.T.Helper()

	l := item.League{
		Row: item.Row{PK: item.LeagueRef(id), SK: item.LeagueTag, Type: item.LeagueType},
		ID:  id, Name: id, OwnerID: "u00000", Code: id, Members: members, Stored: true,
	}
	testkit.PutRows(w.World, tables.Pickem, l.WithTables())

	var seats []item.Membership

	for n := from; n < from+members; n++ {
		user := fmt.Sprintf("u%05d", n)
		seats = append(seats, item.Membership{LeagueID: id, BelongsTo: item.UserRef(user)}.Seat(user))
	}

	testkit.PutRows(w.World, tables.Pickem, seats...)
}

// leagueTables returns the rows of the tables of leagues.
func leagueTables(w *pickemtest.Room, ids []string, scopes ...string) map[string][]ranking.Row {
	w.T.Helper()

	out := map[string][]ranking.Row{}

	for _, id := range ids {
		for _, scope := range scopes {
			t, err := ranking.Read(w.NewContext(), w.DB(), item.TableScope(id, scope), "", "", 50)
			testkit.Must(w.T, err)

			out[id+" "+scope] = t.Rows
		}
	}

	return out
}

// TestLeaguesAreRankedInMessages: messages that each end after a league, and are handled once or twice,
// leave the tables that one message leaves, and the event is scored after them.
func TestLeaguesAreRankedInMessages(t *testing.T) {
	t.Parallel()

	leagues := []string{"a", "b", "c"}
	build := func() (w *pickemtest.Room, id string) {
		w = pickemtest.New(t)
		id = addCrowd(w, 16, 1)

		for i, l := range leagues {
			addLeague(w, l, 2*i, 12)
		}

		return w, id
	}

	whole, id := build()
	testkit.Must(t, testkit.Open(whole.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(whole.NewContext(),
		score.Request{EventID: id}))

	want := leagueTables(whole, leagues, id, "2026")
	if got := want["b "+id]; len(got) != 12 || got[0].Rank != 1 || len(got[0].Picks) != 10 {
		t.Fatalf("the table of the league b has the rows %+v, want 12 with picks", got)
	}

	for _, times := range []int{1, 2} {
		w, _ := build()
		s := small(w, w.Env(score.ScoreEventFunction()))

		for waiting := []score.Request{{EventID: id}}; len(waiting) > 0; {
			for range times {
				testkit.Must(t, s.ScoreEvent(w.NewContext(), waiting[0]))
			}

			if e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(id)); e.State == item.Scored {
				if diff := cmp.Diff(want, leagueTables(w, leagues, id, "2026")); diff != "" {
					t.Errorf("handled %d times, the tables of a scored event (-one message +many):\n%s", times, diff)
				}
			}

			waiting = append(waiting[1:], take(w)...)
		}

		if diff := cmp.Diff(want, leagueTables(w, leagues, id, "2026")); diff != "" {
			t.Errorf("handled %d times (-one message +many):\n%s", times, diff)
		}
	}
}

// TestChangesAreShownInMessages: of which each writes one table. The last one deletes the changes that
// the first one has found, and no other. A removal of a member has no league ranked.
func TestChangesAreShownInMessages(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	id := addCrowd(w, 16, 1)
	addLeague(w, "a", 0, 12)
	testkit.Must(t, testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: id}))

	was := leagueTables(w, []string{"a"}, id, "2026")

	addLeague(w, "a", 0, 13) // u00012 has joined
	testkit.PutRows(w.World, tables.Pickem, item.NewChange("a", "u00012", []string{id, "2026", "2026-01-01-gone"}))

	for _, in := range []score.Request{{EventID: id, Removed: true}, {Year: "2026", Removed: true}} {
		if n := finish(w, in); n == 0 {
			t.Error("no message")
		}
	}

	if diff := cmp.Diff(was, leagueTables(w, []string{"a"}, id, "2026")); diff != "" {
		t.Errorf("after the removal of a member (-want +got):\n%s", diff)
	}

	s := small(w, w.Env(score.ScoreEventFunction()))
	testkit.Must(t, s.ScoreEvent(w.NewContext(), score.Request{League: "a"}))

	left := take(w)
	if len(left) != 1 || left[0].League != "a" {
		t.Fatalf("the first message sends %+v, want its successor", left)
	}

	later := item.NewChange("a", "u00001", []string{"2026"})
	testkit.PutRows(w.World, tables.Pickem, later)

	if n := finish(w, left...); n != 3 {
		t.Errorf("%d more messages, want 3: two tables, and the end", n)
	}

	for scope, rows := range leagueTables(w, []string{"a"}, id, "2026") {
		if len(rows) != 13 {
			t.Errorf("the table %s has %d rows, want 13", scope, len(rows))
		}
	}

	var ids []string

	for _, c := range testkit.Rows[item.Change](w.World, tables.Pickem) {
		if c.Type == item.ChangeType {
			ids = append(ids, c.ID)
		}
	}

	if diff := cmp.Diff([]string{later.ID}, ids); diff != "" {
		t.Errorf("the changes that are left (-want +got):\n%s", diff)
	}
}
