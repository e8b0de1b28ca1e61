package ranking_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// rows returns so many rows with different points.
func rows(n int) (all []ranking.Row) {
	for i := range n {
		all = append(all, ranking.Row{
			UserID:  fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", i),
			Name:    fmt.Sprint("Member ", i),
			Rank:    i + 1,
			Points:  2*n - i,
			Correct: 9,
			Played:  3,
		})
	}

	return all
}

// complete writes the table of a draft.
func complete(w *pickemtest.Room, db dynamo.DB, d ranking.Draft, all []ranking.Row) error {
	return pickemtest.CompleteRanking(w.NewContext(), db, d, "2026", nil, all)
}

// readAll reads all pages of a table as a user.
func readAll(w *pickemtest.Room, scope, user string, limit int) (all []ranking.Row, mine *ranking.Row) {
	w.T.Helper()

	for next, page := "", 0; page == 0 || next != ""; page++ {
		t, err := ranking.Read(w.NewContext(), w.DB(), scope, user, next, limit)
		testkit.Must(w.T, err)

		all, mine, next = append(all, t.Rows...), t.Mine, t.Next
	}

	return all, mine
}

// TestPagesHoldTheWholeTable: for every limit, after a table becomes longer and shorter. The row
// of a user is on every page.
func TestPagesHoldTheWholeTable(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)

	for _, n := range []int{1, 50, 51, 240, 3, 0} {
		want := rows(n)
		w.PublishRanking("2026", nil, want)

		for _, limit := range []int{50, 7} {
			got, mine := readAll(w, "2026", fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", n/2), limit)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d rows, %d at a time (-want +got):\n%s", n, limit, diff)
			}

			if n > 0 && (mine == nil || mine.Rank != n/2+1) {
				t.Errorf("%d rows: the user's row is %+v, want rank %d", n, mine, n/2+1)
			}
		}
	}

	if left := testkit.Rows[item.Row](w.World, tables.Pickem); len(left) != 1 {
		t.Errorf("an empty table has the items %+v, want its head", left)
	}

	w.PublishRanking("2026", nil, rows(60))

	for _, cursor := range []string{"x", "0.50", "1.10", "2.0", "-1.0", "0.1 ", "9999999.0"} {
		if _, err := ranking.Read(w.NewContext(), w.DB(), "2026", "ann", cursor, 50); err != httpapi.ErrBadCursor {
			t.Errorf("the cursor %q: %v, want bad_cursor", cursor, err)
		}
	}
}

// TestPageCostsOneUnit: also with long names and a full card.
func TestPageCostsOneUnit(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)

	var card []string
	for n := range item.MaxMatches {
		card = append(card, pickemtest.MatchID(n))
	}

	all := rows(300)
	for i := range all {
		all[i].Name, all[i].Picks = strings.Repeat("\U0001F3C6", 40), make([]int, len(card))
	}

	w.PublishRanking("long", card, all)

	got, _ := readAll(w, "long", "", 50)
	if len(got) != len(all) {
		t.Errorf("the table has %d rows, want %d", len(got), len(all))
	}

	for _, p := range testkit.Rows[item.Row](w.World, tables.Pickem) {
		if !strings.HasPrefix(p.SK, "PAGE#") {
			continue
		}

		units := w.CountUnits(func() {
			db := dynamo.Open(w.Env(score.ScoreEventFunction()).AWS, w.Prefix)
			_, err := dynamo.QueryAll[item.Row](w.NewContext(), db, tables.WriteRanking,
				dynamo.Range{Key: dynamo.KeyBetween(tables.WriteRanking, p.PK, p.SK, p.SK)})
			testkit.Must(t, err)
		})
		if units.Reads > 1 {
			t.Errorf("%s costs %v units, want at most 1", p.SK, units.Reads)
		}
	}
}

// TestOlderWriterIsRefused: whatever it has read, it replaces nothing of a newer writer, and gets
// *dynamo.Refused.
func TestOlderWriterIsRefused(t *testing.T) {
	t.Parallel()

	for _, n := range []int{3, 70} {
		w := pickemtest.New(t)
		ctx := w.NewContext()
		older, err := ranking.Claim(ctx, w.DB(), "2026", time.Time{})
		testkit.Must(t, err)
		writer, err := older.Resume(ctx, w.DB(), "2026")
		testkit.Must(t, err)
		w.PublishRanking("2026", nil, rows(60))

		if err := complete(w, w.DB(), older, rows(n)); !dynamo.IsRefused(err) {
			t.Errorf("the older writer of %d rows got %v, want a refusal", n, err)
		}

		testkit.Must(t, writer.Write(ctx, rows(n)[:3]))

		if err := writer.Flush(ctx, false); !dynamo.IsRefused(err) {
			t.Errorf("the older writer that had begun to write %d rows got %v, want a refusal", n, err)
		}

		if diff := cmp.Diff(rows(60)[:50], must(ranking.Read(ctx, w.DB(), "2026", "", "", 50)).Rows); diff != "" {
			t.Errorf("the first page after the older writer of %d rows (-want +got):\n%s", n, diff)
		}
	}
}

// TestAmendedNameIsInTheTable: whenever a member is renamed or removed while a table is written that
// has read the member before, the table has the new name, or no row, at the end.
func TestAmendedNameIsInTheTable(t *testing.T) {
	t.Parallel()

	const user = "7f6c1f0e-5d0a-4c5e-9b57-000000000001"

	for name, want := range map[string]string{"Zoe": "Zoe", "": ""} {
		for at, calls := 1, 2; at <= calls; at++ {
			w := pickemtest.New(t)
			for _, r := range rows(60) {
				testkit.PutRows(w.World, tables.Pickem, item.NewMember(r.UserID, r.Name))
			}

			w.PublishRanking("2026", nil, rows(55))

			env, wire := w.Observe(score.ScoreEventFunction(), at, func() {
				m := item.NewMember(user, name)
				if name == "" {
					m.DeletedAt = "2026-03-01T12:00:00Z"
				}

				testkit.PutRows(w.World, tables.Pickem, m)

				if name == "" {
					_, err := ranking.Remove(w.NewContext(), w.DB(), "2026", user)
					testkit.Must(t, err)
				} else {
					testkit.Must(t, ranking.Rename(w.NewContext(), w.DB(), "2026", user, name))
				}
			}, func(pickemtest.Write) {})

			d, err := ranking.Claim(w.NewContext(), w.DB(), "2026", time.Time{})
			testkit.Must(t, err)
			testkit.Must(t, complete(w, dynamo.Open(env.AWS, w.Prefix), d, rows(60)))

			if at == 1 { // before Resume, and so before names are read
				calls = wire.Calls
				continue
			}

			got, _ := readAll(w, "2026", "", 50)

			i := slices.IndexFunc(got, func(r ranking.Row) bool { return r.UserID == user })
			if want == "" && i >= 0 || want != "" && (i < 0 || got[i].Name != want) || len(got) < 59 {
				t.Errorf("%q before call %d of %d: %d rows, and the member's is number %d: %+v", name, at, calls, len(got), i, got[max(i, 0)])
			}
		}
	}
}

func must(t ranking.Table, err error) ranking.Table {
	if err != nil {
		panic(err)
	}

	return t
}

// TestRenameAndRemove: equals stay in order of name, the row is found also if it is not where its
// place says, and other scopes and users do not matter.
func TestRenameAndRemove(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	all := []ranking.Row{
		{UserID: "ann", Name: "ann", Rank: 1, Points: 5},
		{UserID: "bob", Name: "bob", Rank: 1, Points: 5},
		{UserID: "cat", Name: "cat", Rank: 1, Points: 5},
		{UserID: "dan", Name: "dan", Rank: 2},
	}
	w.PublishRanking("2026", nil, all)

	names := func() (got []string) {
		rows, _ := readAll(w, "2026", "", 50)
		for _, r := range rows {
			got = append(got, fmt.Sprint(r.Rank, " ", r.Name))
		}

		return got
	}
	rename := func(user, name string) {
		t.Helper()
		testkit.Must(t, ranking.Rename(w.NewContext(), w.DB(), "2026", user, name))
	}
	rename("ann", "Zoe")
	rename("eve", "Eve")

	if diff := cmp.Diff([]string{"1 bob", "1 cat", "1 Zoe", "2 dan"}, names()); diff != "" {
		t.Errorf("after a new name (-want +got):\n%s", diff)
	}

	testkit.Must(t, w.DeleteRow(tables.Pickem, "RANKING#2026", "PLACES#000000"))
	rename("dan", "Dan")

	for _, user := range []string{"bob", "bob", "eve"} {
		if written, err := ranking.Remove(w.NewContext(), w.DB(), "2026", user); err != nil || !written {
			t.Errorf("removing %s: %v, %v", user, written, err)
		}
	}

	if diff := cmp.Diff([]string{"1 cat", "1 Zoe", "2 Dan"}, names()); diff != "" {
		t.Errorf("without bob (-want +got):\n%s", diff)
	}

	if written, err := ranking.Remove(w.NewContext(), w.DB(), "2027", "ann"); err != nil || written {
		t.Errorf("removing from no table: %v, %v", written, err)
	}

	if left := testkit.Rows[item.Row](w.World, tables.Pickem); len(left) != 3 {
		t.Errorf("the items are %+v, want a head, a page and totals", left)
	}
}

// TestTableIsWrittenByParts: a draft that goes through JSON between its parts, each of which begins a
// page, makes the same table. Its writer is not disturbed by a request, and a second message with the
// same step may repeat the last part.
func TestTableIsWrittenByParts(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	ctx := w.NewContext()
	all := rows(333)
	now := w.Clock.Now()

	d, err := ranking.Claim(ctx, w.DB(), "2026", now.Add(-ranking.Quiet))
	testkit.Must(t, err)

	d.Count = len(all)

	for step, part := range slices.Collect(slices.Chunk(all, 70)) {
		var next ranking.Draft

		for range 2 {
			again := overJSON(t, d)
			if step > 0 {
				testkit.Must(t, again.Continue(ctx, w.DB(), "2026", step, fmt.Sprint(step), now))

				if _, err := ranking.Claim(ctx, w.DB(), "2026", now.Add(-ranking.Quiet)); !dynamo.IsRefused(err) {
					t.Errorf("a request during step %d: %v, want a refusal", step, err)
				}
			}

			writer, err := again.Resume(ctx, w.DB(), "2026")
			testkit.Must(t, err)
			testkit.Must(t, writer.Write(ctx, slices.Clone(part)))
			testkit.Must(t, writer.Flush(ctx, step < 4))

			next = writer.Draft
		}

		d = next
	}

	if err := (ranking.Draft{Rev: d.Rev}).Continue(ctx, w.DB(), "2026", 1, "1", now); !dynamo.IsRefused(err) {
		t.Errorf("an earlier message: %v, want a refusal", err)
	}

	if err := d.Continue(ctx, w.DB(), "2026", 4, "another", now); !dynamo.IsRefused(err) {
		t.Errorf("a second message of the last step: %v, want a refusal", err)
	}

	writer, err := overJSON(t, d).Resume(ctx, w.DB(), "2026")
	testkit.Must(t, err)

	for range 2 { // the second run changes nothing
		for done := false; !done; {
			done, err = writer.Place(ctx, func() bool { return true })
			testkit.Must(t, err)
		}

		testkit.Must(t, writer.Close(ctx))
	}

	got, mine := readAll(w, "2026", all[100].UserID, 50)
	if diff := cmp.Diff(all, got); diff != "" || mine == nil || mine.Rank != 101 {
		t.Errorf("the user's row is %+v, and the table (-want +got):\n%s", mine, diff)
	}

	if _, err := ranking.Claim(ctx, w.DB(), "2026", now.Add(-ranking.Quiet)); err != nil {
		t.Errorf("a request after the end: %v", err)
	}
}

// overJSON returns a draft as the next message has it.
func overJSON(t *testing.T, d ranking.Draft) (next ranking.Draft) {
	t.Helper()

	text, err := json.Marshal(d)
	testkit.Must(t, err)
	testkit.Must(t, json.Unmarshal(text, &next))

	return next
}

func TestPublishCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := pickemtest.New(t)
		w.PublishRanking("2026", nil, rows(120))

		write := func(db dynamo.DB) error {
			d, err := ranking.Claim(w.NewContext(), db, "2026", time.Time{})
			if err != nil {
				return err
			}

			return complete(w, db, d, rows(55))
		}
		p.Ended(write(dynamo.Open(w.CrashingEnv(score.ScoreEventFunction(), p).AWS, w.Prefix)))
		testkit.Must(t, write(w.DB()))

		return w.Rows()
	})
}
