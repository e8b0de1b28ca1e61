package ranking

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Row is a member's place in a table.
type Row struct {
	UserID   string `dynamodbav:"userId"`
	Name     string `dynamodbav:"name"`
	Rank     int    `dynamodbav:"rank"`
	Points   int    `dynamodbav:"points"`
	Correct  int    `dynamodbav:"mcorrect"`
	Played   int    `dynamodbav:"eplayed,omitempty"`  // of a year
	Movement *int   `dynamodbav:"movement,omitempty"` // of a year
	Picks    []int  `dynamodbav:"picks,omitempty"`    // of an event: places of teams, in the order of Table.Card, -1 for none

	Weights []int `dynamodbav:"weights,omitempty"` // of the picks, 0 for none; of an event with confidence points
	Joker   int   `dynamodbav:"joker,omitempty"`   // the place on the card of the pick that counts double, from 1; 0 for none

	Lower  string `dynamodbav:"-"` // the name in lower case, for Order; "" if it is not known
	Before int    `dynamodbav:"-"` // the rank before the latest event, from which Write sets Movement; 0 for none
}

// Compare orders rows by rank, then by name without regard to case, then by id.
func (r Row) Compare(o Row) int {
	return cmp.Or(cmp.Compare(r.Rank, o.Rank), cmp.Compare(strings.ToLower(r.Name), strings.ToLower(o.Name)), cmp.Compare(r.UserID, o.UserID))
}

// Order orders rows that have no rank yet: by totals, the greatest first, then as Compare does.
func (r Row) Order(o Row) int {
	if by := cmp.Compare(o.Total(), r.Total()); by != 0 {
		return by
	}

	return cmp.Or(strings.Compare(r.lower(), o.lower()), strings.Compare(r.UserID, o.UserID))
}

func (r Row) lower() string {
	if r.Lower != "" {
		return r.Lower
	}

	return strings.ToLower(r.Name)
}

// Place is where a member is in a table.
type Place struct {
	Page int `dynamodbav:"page"`
	Rank int `dynamodbav:"rank"`
}

// head is the item that writers claim.
type head struct {
	item.Row
	Rev    int  `dynamodbav:"rev"`            // the number of the latest claim
	Open   bool `dynamodbav:"open,omitempty"` // it is of a writer of the whole table that has not ended
	Places int  `dynamodbav:"places"`         // the number of items with places

	Names   int    `dynamodbav:"names,omitempty"`   // amendments while a writer was under way
	Step    int    `dynamodbav:"step,omitempty"`    // the latest message of the writer that has begun, 0 for its first
	Message string `dynamodbav:"message,omitempty"` // its id; absent for the first
	At      string `dynamodbav:"at,omitempty"`      // when it began; absent for the first
}

// page is the item of a page.
type page struct {
	item.Row
	Rev    int      `dynamodbav:"rev"`   // the number of its writer
	Number int      `dynamodbav:"page"`  // from 0
	Count  int      `dynamodbav:"count"` // of the rows on all pages
	Pages  int      `dynamodbav:"pages"` // this one, those before, and the next if there is one
	Places int      `dynamodbav:"places"`
	Edits  int      `dynamodbav:"edits,omitempty"` // amendments of the page
	Card   []string `dynamodbav:"card,omitempty"`
	Rows   []Row    `dynamodbav:"rows"`
}

// places is an item that maps members to their pages.
type places struct {
	item.Row
	Rev int              `dynamodbav:"rev"`
	Of  map[string]Place `dynamodbav:"of"` // by user id
}

// Limits of a page. An eventually consistent read of it costs one unit.
const (
	MaxRows  = 50
	maxBytes = 7_500
)

const (
	headSK       = "HEAD"
	pagePrefix   = "PAGE#"
	placesPrefix = "PLACES#"
	kind         = "ranking"
)

// Ref returns the partition key of a table.
func Ref(scope string) string { return "RANKING#" + scope }

func pageSK(n int) string       { return fmt.Sprintf("%s%06d", pagePrefix, n) }
func placesSK(n int) string     { return fmt.Sprintf("%s%06d", placesPrefix, n) }
func headKey(s string) item.Row { return item.Row{PK: Ref(s), SK: headSK, Type: kind} }
func bucket(id string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(id))

	return int(h.Sum32() % uint32(max(n, 1)))
}

// paginate divides rows into pages, each within the limits. The card is on every page.
func paginate(card []string, rows []Row) (pages [][]Row) {
	fixed := 0
	for _, id := range card {
		fixed += len(id) + 1
	}

	size := 0

	for i, r := range rows {
		n := 80 + len(r.UserID) + len(r.Name) + 3*len(r.Picks) + 3*len(r.Weights) // the names of the attributes, and numbers
		if i == 0 || len(pages[len(pages)-1]) == MaxRows || fixed+size+n > maxBytes {
			pages, size = append(pages, nil), 0
		}

		last := len(pages) - 1
		pages[last], size = append(pages[last], r), size+n
	}

	return pages
}

// Table is a part of a table, with the caller's row.
type Table struct {
	Count int      // of the rows of the whole table
	Card  []string // of an event: the ids of its matches
	Rows  []Row
	Mine  *Row   // nil if there is none
	Next  string // the cursor of the rows that follow, "" at the end
}

// Of returns the whole table of rows.
func Of(rows []Row, userID string) Table {
	t := Table{Count: len(rows), Rows: rows}
	if i := find(rows, userID); i >= 0 {
		t.Mine = &rows[i]
	}

	return t
}

var cursors = regexp.MustCompile(`^([0-9]{1,6})\.([0-9]{1,2})$`)

// Read returns at most limit rows of a table from a cursor on, which is "" for the first,
// or bad_cursor. It returns fewer rows at the end of a page. It reads three items at most,
// eventually consistently. A table that was never written is empty.
func Read(ctx context.Context, db dynamo.DB, scope, userID, cursor string, limit int) (t Table, err error) {
	t, p, err := readRows(ctx, db, scope, cursor, limit)
	if err == nil {
		t.Mine, err = readMine(ctx, db, scope, userID, p)
	}

	return t, err
}

// maxPages is how many pages ReadMore reads: as many as 100 rows with the longest names take.
const maxPages = 8

// ReadMore is Read that goes on with the next pages until it has limit rows: 100 rows are on two
// pages, or on some more if names are long.
func ReadMore(ctx context.Context, db dynamo.DB, scope, userID, cursor string, limit int) (t Table, err error) {
	t, p, err := readRows(ctx, db, scope, cursor, limit)
	if err != nil {
		return t, err
	}

	for read := 1; t.Next != "" && len(t.Rows) < limit && read < maxPages; read++ {
		more, next, err := readRows(ctx, db, scope, t.Next, limit-len(t.Rows))
		if err == httpapi.ErrBadCursor { // the table has become shorter
			t.Next = ""
			break
		}

		if err != nil {
			return t, err
		}

		t.Rows, t.Next = append(slices.Clip(t.Rows), more.Rows...), more.Next
		p.Rows = append(slices.Clip(p.Rows), next.Rows...)
	}

	t.Mine, err = readMine(ctx, db, scope, userID, p)

	return t, err
}

// readRows is Read of one page, which it also returns, without Mine.
func readRows(ctx context.Context, db dynamo.DB, scope, cursor string, limit int) (t Table, p page, err error) {
	n, from := 0, 0

	if cursor != "" {
		at := cursors.FindStringSubmatch(cursor)
		if at == nil {
			return t, p, httpapi.ErrBadCursor
		}

		n, _ = strconv.Atoi(at[1])
		from, _ = strconv.Atoi(at[2])
	}

	p, ok, err := get[page](ctx, db, tables.GetRanking, scope, pageSK(n), false)
	switch {
	case err != nil:
		return t, p, err
	case !ok && cursor == "":
		return t, p, nil
	case from >= len(p.Rows) && cursor != "":
		return t, p, httpapi.ErrBadCursor
	}

	t.Count, t.Card, t.Rows = p.Count, p.Card, p.Rows[from:min(from+limit, len(p.Rows))]
	if next := from + limit; next < len(p.Rows) {
		t.Next = fmt.Sprintf("%d.%d", n, next)
	} else if n+1 < p.Pages {
		t.Next = fmt.Sprintf("%d.0", n+1)
	}

	return t, p, nil
}

// readMine returns the row of a user, nil if there is none: one of a page that was read, or the one
// at the user's place.
func readMine(ctx context.Context, db dynamo.DB, scope, userID string, p page) (*Row, error) {
	if i := find(p.Rows, userID); i >= 0 {
		return &p.Rows[i], nil
	}

	if p.PK == "" {
		return nil, nil
	}

	in, _, err := get[places](ctx, db, tables.GetRanking, scope, placesSK(bucket(userID, p.Places)), false)

	place, ranked := in.Of[userID]
	if err != nil || !ranked {
		return nil, err
	}

	at, _, err := get[page](ctx, db, tables.GetRanking, scope, pageSK(place.Page), false)
	if i := find(at.Rows, userID); i >= 0 {
		return &at.Rows[i], err
	}

	return nil, err
}

// Count returns the number of rows of a table, 0 for one that was never written. It costs one unit.
func Count(ctx context.Context, db dynamo.DB, scope string) (int, error) {
	first, _, err := get[page](ctx, db, tables.GetRanking, scope, pageSK(0), false)
	return first.Count, err
}

// Rename writes a member's new name into a table, and orders the rows of the page. Equals on
// several pages are in order once the table is next written. A second run changes nothing.
func Rename(ctx context.Context, db dynamo.DB, scope, userID, name string) error {
	_, err := amend(ctx, db, scope, userID, name)
	return err
}

// Remove deletes a member's row from a table. Ranks and counts stay until the table is
// next written. It returns false if the table was never written. A second run changes
// nothing.
func Remove(ctx context.Context, db dynamo.DB, scope, userID string) (written bool, err error) {
	return amend(ctx, db, scope, userID, "")
}

// amend changes the name in a member's row, or deletes the row if the name is "". While a writer is
// under way it counts the amendment first: the writer then reads again the names of rows that it has
// written since it read them.
func amend(ctx context.Context, db dynamo.DB, scope, userID, name string) (written bool, err error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (bool, error) {
		h, ok, err := get[head](ctx, db, tables.AmendRanking, scope, headSK, true)
		if err != nil || !ok {
			return false, err
		}

		if h.Open {
			if err := dynamo.Update(ctx, db, tables.AmendRanking, h.Key(), dynamo.Add[head]("names", 1),
				dynamo.Exists[head]("rev")); err != nil {
				return true, err
			}
		}

		p, i, err := locate(ctx, db, h, userID)
		if err != nil || i < 0 || p.Rows[i].Name == name {
			return true, err
		}

		unchanged := dynamo.Unchanged(p, "rev", "edits")

		p.Edits++
		if name == "" {
			p.Rows = slices.Delete(p.Rows, i, i+1)
		} else {
			p.Rows[i].Name = name
			slices.SortFunc(p.Rows, Row.Compare)
		}

		return true, dynamo.Put(ctx, db, tables.AmendRanking, p, unchanged)
	})
}

// locate returns the page with a member's row and its index, -1 if there is none. If the row is not
// where its place says, which may be so while the table is written, locate reads all pages, and
// prefers that of the latest writer.
func locate(ctx context.Context, db dynamo.DB, h head, userID string) (at page, index int, err error) {
	scope := strings.TrimPrefix(h.PK, Ref(""))

	in, _, err := get[places](ctx, db, tables.AmendRanking, scope, placesSK(bucket(userID, h.Places)), true)
	if err != nil {
		return page{}, -1, err
	}

	if place, ok := in.Of[userID]; ok {
		p, _, err := get[page](ctx, db, tables.AmendRanking, scope, pageSK(place.Page), true)
		if i := find(p.Rows, userID); err != nil || i >= 0 && (!h.Open || p.Rev == h.Rev) {
			return p, i, err
		}
	}

	index = -1

	for pages, err := range dynamo.Pages(func(after dynamo.Item) ([]page, dynamo.Item, error) {
		return dynamo.Query[page](ctx, db, tables.AmendRanking, dynamo.Range{
			Key:   dynamo.KeyBeginsWith(tables.AmendRanking, Ref(scope), pagePrefix),
			After: after, Consistent: true,
		})
	}) {
		if err != nil {
			return page{}, -1, err
		}

		for _, p := range pages {
			if i := find(p.Rows, userID); i >= 0 && (index < 0 || p.Rev > at.Rev) {
				at, index = p, i
			}
		}
	}

	return at, index, nil
}

// find returns the index of a member's row, -1 if there is none.
func find(rows []Row, userID string) int {
	return slices.IndexFunc(rows, func(r Row) bool { return r.UserID == userID })
}

// get reads an item of a table.
func get[T any](ctx context.Context, db dynamo.DB, a spec.Access, scope, sk string, consistent bool) (one T, ok bool, err error) {
	all, err := dynamo.QueryAll[T](ctx, db, a, dynamo.Range{Key: dynamo.KeyBetween(a, Ref(scope), sk, sk), Consistent: consistent})
	if len(all) > 0 {
		one, ok = all[0], true
	}

	return one, ok, err
}
