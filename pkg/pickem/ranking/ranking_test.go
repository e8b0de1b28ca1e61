package ranking_test

import (
	"fmt"
	"strings"
	"testing"

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

// publish writes a table.
func publish(w *pickemtest.Room, scope string, card []string, all []ranking.Row) {
	w.T.Helper()
	rev, err := ranking.Claim(w.NewContext(), w.DB(), scope)
	testkit.Must(w.T, err)
	testkit.Must(w.T, ranking.Publish(w.NewContext(), w.DB(), scope, rev, card, all))
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
		publish(w, "2026", nil, want)

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

	publish(w, "2026", nil, rows(60))

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

	publish(w, "long", card, all)

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
		older, err := ranking.Claim(ctx, w.DB(), "2026")
		testkit.Must(t, err)
		publish(w, "2026", nil, rows(60))

		if err := ranking.Publish(ctx, w.DB(), "2026", older, nil, rows(n)); !dynamo.IsRefused(err) {
			t.Errorf("the older writer of %d rows got %v, want a refusal", n, err)
		}

		if diff := cmp.Diff(rows(60)[:50], must(ranking.Read(ctx, w.DB(), "2026", "", "", 50)).Rows); diff != "" {
			t.Errorf("the first page after the older writer of %d rows (-want +got):\n%s", n, diff)
		}
	}
	// So does a writer that only lost its claim.
	w := pickemtest.New(t)
	rev, err := ranking.Claim(w.NewContext(), w.DB(), "2026")
	testkit.Must(t, err)
	testkit.Must(t, ranking.Rename(w.NewContext(), w.DB(), "2026", "ann", "Anna"))

	if err := ranking.Publish(w.NewContext(), w.DB(), "2026", rev, nil, rows(1)); !dynamo.IsRefused(err) {
		t.Errorf("a writer who may have read the old name got %v, want a refusal", err)
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
		{UserID: "ann", Name: "ann", Rank: 1},
		{UserID: "bob", Name: "bob", Rank: 1},
		{UserID: "cat", Name: "cat", Rank: 1},
		{UserID: "dan", Name: "dan", Rank: 2},
	}
	publish(w, "2026", nil, all)

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

	if left := testkit.Rows[item.Row](w.World, tables.Pickem); len(left) != 2 {
		t.Errorf("the items are %+v, want a head and a page", left)
	}
}

// TestMemberWithoutARowClaimsNothing: unless a writer is under way, which may have read the old
// name. That writer starts again once, not for each request.
func TestMemberWithoutARowClaimsNothing(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	ctx := w.NewContext()
	claims := func() int {
		return testkit.Row[struct{ Rev int }](w.World, tables.Pickem, "RANKING#2026", "HEAD").Rev
	}
	ask := func() {
		t.Helper()
		testkit.Must(t, ranking.Rename(ctx, w.DB(), "2026", "eve", "Eve"))
		_, err := ranking.Remove(ctx, w.DB(), "2026", "fay")
		testkit.Must(t, err)
	}

	publish(w, "2026", nil, rows(3))
	ask()

	if got := claims(); got != 1 {
		t.Errorf("%d claims on a table that nobody writes, want 1 of its writer", got)
	}

	for range 2 {
		rev, err := ranking.Claim(ctx, w.DB(), "2026")
		testkit.Must(t, err)

		for range 3 {
			ask()
		}

		if got := claims(); got != rev+1 {
			t.Errorf("%d claims while a writer is under way, want %d", got, rev+1)
		}

		if err := ranking.Publish(ctx, w.DB(), "2026", rev, nil, rows(3)); !dynamo.IsRefused(err) {
			t.Errorf("the writer got %v, want a refusal", err)
		}
	}
	// A row that has the name already may yet be replaced by a writer that has read another.
	rev, err := ranking.Claim(ctx, w.DB(), "2026")
	testkit.Must(t, err)
	testkit.Must(t, ranking.Rename(ctx, w.DB(), "2026", rows(1)[0].UserID, rows(1)[0].Name))

	if err := ranking.Publish(ctx, w.DB(), "2026", rev, nil, rows(3)); !dynamo.IsRefused(err) {
		t.Errorf("the writer of another name got %v, want a refusal", err)
	}
}

func TestPublishCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := pickemtest.New(t)
		publish(w, "2026", nil, rows(120))

		write := func(db dynamo.DB) error {
			rev, err := ranking.Claim(w.NewContext(), db, "2026")
			if err != nil {
				return err
			}

			return ranking.Publish(w.NewContext(), db, "2026", rev, nil, rows(55))
		}
		p.Ended(write(dynamo.Open(w.CrashingEnv(score.ScoreEventFunction(), p).AWS, w.Prefix)))
		testkit.Must(t, write(w.DB()))

		return w.Rows()
	})
}
