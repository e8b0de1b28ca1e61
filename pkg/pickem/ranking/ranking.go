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

	"golang.org/x/sync/errgroup"

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
}

// Compare orders rows by rank, then by name without regard to case, then by id.
func (r Row) Compare(o Row) int {
	return cmp.Or(cmp.Compare(r.Rank, o.Rank), cmp.Compare(strings.ToLower(r.Name), strings.ToLower(o.Name)), cmp.Compare(r.UserID, o.UserID))
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
}

// page is the item of a page.
type page struct {
	item.Row
	Rev    int      `dynamodbav:"rev"`   // the number of its writer
	Number int      `dynamodbav:"page"`  // from 0
	Count  int      `dynamodbav:"count"` // of the rows on all pages
	Pages  int      `dynamodbav:"pages"`
	Places int      `dynamodbav:"places"`
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

// Claim returns the number of a new writer of a table.
func Claim(ctx context.Context, db dynamo.DB, scope string) (rev int, err error) {
	key := headKey(scope)
	was, err := dynamo.Replace[head](ctx, db, tables.WriteRanking, key.Key(),
		dynamo.Add[head]("rev", 1).Set(head{Row: key, Open: true}, "type", "open"))

	return was.Rev + 1, err
}

// Publish writes a table of rows in order of rank. The picks of the rows are in the order
// of card. It returns *dynamo.Refused if a higher number than rev was claimed: claim, read
// and rank again. A second run with another number writes the same.
func Publish(ctx context.Context, db dynamo.DB, scope string, rev int, card []string, rows []Row) error {
	pages := paginate(card, rows)

	var items []any

	buckets := make([]places, len(pages))
	for i := range buckets {
		buckets[i] = places{Row: item.Row{PK: Ref(scope), SK: placesSK(i), Type: kind}, Rev: rev, Of: map[string]Place{}}
	}

	for n, some := range pages {
		items = append(items, page{
			Row: item.Row{PK: Ref(scope), SK: pageSK(n), Type: kind}, Rev: rev, Number: n,
			Count: len(rows), Pages: len(pages), Places: len(buckets), Card: card, Rows: some,
		})
		for _, r := range some {
			buckets[bucket(r.UserID, len(buckets))].Of[r.UserID] = Place{n, r.Rank}
		}
	}

	for _, b := range buckets {
		items = append(items, b)
	}

	older := dynamo.Absent[page]("PK").Or(dynamo.AtMost[page]("rev", rev))
	work, wctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for _, it := range items {
		work.Go(func() error { return dynamo.Put(wctx, db, tables.WriteRanking, it, older) })
	}

	if err := work.Wait(); err != nil {
		return err
	}

	for _, left := range []struct{ from, to string }{{pageSK(len(pages)), pageSK(999_999)}, {placesSK(len(buckets)), placesSK(999_999)}} {
		rest, err := dynamo.QueryAll[item.Row](ctx, db, tables.WriteRanking,
			dynamo.Range{Key: dynamo.KeyBetween(tables.WriteRanking, Ref(scope), left.from, left.to), Consistent: true})
		if err != nil {
			return err
		}

		for _, k := range rest {
			if _, err := dynamo.Delete(ctx, db, tables.WriteRanking, k.Key(), older); err != nil {
				return err
			}
		}
	}

	key := headKey(scope)

	return dynamo.Update(ctx, db, tables.WriteRanking, key.Key(), dynamo.Set(head{Places: len(buckets)}, "open", "places"),
		dynamo.Equal[head]("rev", rev))
}

// paginate divides rows into pages, each within the limits. The card is on every page.
func paginate(card []string, rows []Row) (pages [][]Row) {
	fixed := 0
	for _, id := range card {
		fixed += len(id) + 1
	}

	size := 0

	for i, r := range rows {
		n := 80 + len(r.UserID) + len(r.Name) + 3*len(r.Picks) // the names of the attributes, and numbers
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
	n, from := 0, 0

	if cursor != "" {
		at := cursors.FindStringSubmatch(cursor)
		if at == nil {
			return t, httpapi.ErrBadCursor
		}

		n, _ = strconv.Atoi(at[1])
		from, _ = strconv.Atoi(at[2])
	}

	p, ok, err := get[page](ctx, db, tables.GetRanking, scope, pageSK(n), false)
	switch {
	case err != nil:
		return t, err
	case !ok && cursor == "":
		return t, nil
	case from >= len(p.Rows) && cursor != "":
		return t, httpapi.ErrBadCursor
	}

	t.Count, t.Card, t.Rows = p.Count, p.Card, p.Rows[from:min(from+limit, len(p.Rows))]
	if next := from + limit; next < len(p.Rows) {
		t.Next = fmt.Sprintf("%d.%d", n, next)
	} else if n+1 < p.Pages {
		t.Next = fmt.Sprintf("%d.0", n+1)
	}

	in, _, err := get[places](ctx, db, tables.GetRanking, scope, placesSK(bucket(userID, p.Places)), false)

	place, ranked := in.Of[userID]
	if err != nil || !ranked {
		return t, err
	}

	if place.Page != n {
		if p, _, err = get[page](ctx, db, tables.GetRanking, scope, pageSK(place.Page), false); err != nil {
			return t, err
		}
	}

	if i := find(p.Rows, userID); i >= 0 {
		t.Mine = &p.Rows[i]
	}

	return t, nil
}

// Ranks returns a member's rank in each of the tables that has the member.
func Ranks(ctx context.Context, db dynamo.DB, userID string, scopes []string) (map[string]int, error) {
	keys := make([]dynamo.Item, len(scopes))
	for i, s := range scopes {
		keys[i] = headKey(s).Key()
	}

	heads, err := dynamo.GetAll[head](ctx, db, tables.GetRanks, keys)
	if err != nil {
		return nil, err
	}

	keys = nil
	for _, h := range heads {
		keys = append(keys, item.Key(h.PK, placesSK(bucket(userID, h.Places))))
	}

	all, err := dynamo.GetAll[places](ctx, db, tables.GetRanks, keys)
	if err != nil {
		return nil, err
	}

	ranks := map[string]int{}

	for _, in := range all {
		if place, ok := in.Of[userID]; ok {
			ranks[strings.TrimPrefix(in.PK, Ref(""))] = place.Rank
		}
	}

	return ranks, nil
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

// amend changes the name in a member's row, or deletes the row if the name is "". It claims no
// number if there is nothing to change and no writer that may have read the state before. Otherwise
// a member could keep a table from being written by repeated requests.
func amend(ctx context.Context, db dynamo.DB, scope, userID, name string) (written bool, err error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (bool, error) {
		h, ok, err := get[head](ctx, db, tables.AmendRanking, scope, headSK, true)
		if err != nil || !ok {
			return false, err
		}

		was, at, err := locate(ctx, db, h, userID)
		if err != nil || !h.Open && (at < 0 || was.Rows[at].Name == name) {
			return true, err
		}
		// Once the number is claimed, a writer that has read the old name writes no row that
		// locate does not find, or starts again.
		next := head{Rev: h.Rev + 1}
		if err := dynamo.Update(ctx, db, tables.AmendRanking, h.Key(), dynamo.Set(next, "rev", "open"), dynamo.Unchanged(h, "rev")); err != nil {
			return true, err
		}

		p, i, err := locate(ctx, db, h, userID)
		if err != nil || i < 0 || p.Rows[i].Name == name {
			return true, err
		}

		unchanged := dynamo.Unchanged(p, "rev")

		p.Rev = next.Rev
		if name == "" {
			p.Rows = slices.Delete(p.Rows, i, i+1)
		} else {
			p.Rows[i].Name = name
			slices.SortFunc(p.Rows, Row.Compare)
		}

		return true, dynamo.Put(ctx, db, tables.AmendRanking, p, unchanged)
	})
}

// locate returns the page with a member's row and its index, -1 if there is none.
func locate(ctx context.Context, db dynamo.DB, h head, userID string) (page, int, error) {
	scope := strings.TrimPrefix(h.PK, Ref(""))

	in, _, err := get[places](ctx, db, tables.AmendRanking, scope, placesSK(bucket(userID, h.Places)), true)
	if err != nil {
		return page{}, -1, err
	}

	if place, ok := in.Of[userID]; ok {
		p, _, err := get[page](ctx, db, tables.AmendRanking, scope, pageSK(place.Page), true)
		if i := find(p.Rows, userID); err != nil || i >= 0 {
			return p, i, err
		}
	}
	// The table is being written, or a writer was interrupted.
	all, err := dynamo.QueryAll[page](ctx, db, tables.AmendRanking,
		dynamo.Range{Key: dynamo.KeyBeginsWith(tables.AmendRanking, Ref(scope), pagePrefix), Consistent: true})
	for _, p := range all {
		if i := find(p.Rows, userID); i >= 0 {
			return p, i, err
		}
	}

	return page{}, -1, err
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
