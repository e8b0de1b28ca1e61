package ranking

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

// Draft is how far a table is written. It is all that the next message of its writer needs.
type Draft struct {
	Rev     int  `json:"rev"`     // the number of the writer
	Count   int  `json:"count"`   // of the rows that the table will have
	Rank    int  `json:"rank"`    // of the last row
	Last    *Row `json:"last"`    // the last row, without picks; nil before the first
	Pages   int  `json:"pages"`   // that are written
	Totals  int  `json:"totals"`  // items with totals that are written
	Buckets int  `json:"buckets"` // items with places that are written
	Frozen  int  `json:"frozen"`  // items with the totals of before: see Freeze
	Full    bool `json:"full"`    // all rows are written

	Counted   bool   `json:"counted"`   // Count and LastEvent are known, and what Thaw returns
	LastEvent string `json:"lastEvent"` // of a year: the latest event that any member has points of
}

// Writer writes a table of a scope, row by row in their order, and then the items that map members
// to pages. Card is the order of the picks of the rows. It holds MaxRows rows that are not written
// yet, the totals since the last Flush, and the places of placesAtOnce items.
type Writer struct {
	Draft
	Card    []string
	Results int // the revision of the results that the points are of; 0 for a year

	// Pace waits until so many write units more may be used; nil for no bound.
	Pace func(ctx context.Context, units int) error

	db     dynamo.DB
	scope  string
	names  int // amendments of which the names of all rows know
	rows   []Row
	totals []Total
}

// Quiet is how long after its last sign a writer is taken for dead: longer than a message takes.
const Quiet = 2 * time.Minute

// Claim begins a table, with the number of a new writer. It returns *dynamo.Refused if another
// writer has continued it in a later message since a time, unless that is zero.
func Claim(ctx context.Context, db dynamo.DB, scope string, since time.Time) (d Draft, err error) {
	key := headKey(scope)
	set := dynamo.Add[head]("rev", 1).Set(head{Row: key, Open: true}, "type", "open", "step", "message", "at")

	if since.IsZero() {
		was, err := dynamo.Replace[head](ctx, db, tables.WriteRanking, key.Key(), set)
		return Draft{Rev: was.Rev + 1}, err
	}

	free := dynamo.Absent[head]("at").Or(dynamo.Less[head]("at", item.FormatTime(since)))
	was, err := dynamo.Replace[head](ctx, db, tables.WriteRanking, key.Key(), set, free)

	return Draft{Rev: was.Rev + 1}, err
}

// Continue marks that a message of a writer begins, the step-th from 1. It returns *dynamo.Refused
// if another writer has begun since, or a later message of this writer, or one with the same step and
// another id: a message that was handled twice has sent two successors, of which one goes on.
func (d Draft) Continue(ctx context.Context, db dynamo.DB, scope string, step int, id string, now time.Time) error {
	first := dynamo.Absent[head]("step").Or(dynamo.Less[head]("step", step))
	same := dynamo.Equal[head]("step", step).And(dynamo.Equal[head]("message", id))

	return dynamo.Update(ctx, db, tables.WriteRanking, headKey(scope).Key(),
		dynamo.Set(head{Step: step, Message: id, At: item.FormatTime(now)}, "step", "message", "at"),
		dynamo.Equal[head]("rev", d.Rev).And(first.Or(same)))
}

// End removes what Continue has marked: from now on a request begins another table.
func (d Draft) End(ctx context.Context, db dynamo.DB, scope string) error {
	return dynamo.Update(ctx, db, tables.WriteRanking, headKey(scope).Key(), dynamo.Set(head{}, "step", "message", "at"),
		dynamo.Equal[head]("rev", d.Rev))
}

// Overtaken reports whether a writer of whom a write was refused has to stop: a later message of it,
// or another writer, has begun. Otherwise the table was amended by a function of an earlier
// deployment, which claims a number for that, and the writer must begin again.
func (d Draft) Overtaken(ctx context.Context, db dynamo.DB, scope string) (bool, error) {
	h, _, err := get[head](ctx, db, tables.WriteRanking, scope, headSK, true)
	return h.Open || h.Rev == d.Rev, err
}

// Resume returns the writer of a draft. Call it before names are read.
func (d Draft) Resume(ctx context.Context, db dynamo.DB, scope string) (*Writer, error) {
	w := &Writer{Draft: d, db: db, scope: scope}

	return w, w.check(ctx)
}

// Restart has the writer begin again, before its first row.
func (w *Writer) Restart() {
	d := w.Draft
	w.Draft = Draft{Rev: d.Rev, Count: d.Count, Frozen: d.Frozen, Counted: d.Counted, LastEvent: d.LastEvent}
	w.rows, w.totals = nil, nil
}

// check reads how many amendments there were. It returns *dynamo.Refused if another number was
// claimed.
func (w *Writer) check(ctx context.Context) error {
	h, _, err := get[head](ctx, w.db, tables.WriteRanking, w.scope, headSK, true)
	if err == nil && h.Rev != w.Rev {
		err = &dynamo.Refused{}
	}

	w.names = h.Names

	return err
}

// buckets returns the number of items with places.
func (w *Writer) buckets() int { return (w.Count + MaxRows - 1) / MaxRows }

// Write writes the next rows in order, with their ranks. It keeps rows of a page that is not full.
func (w *Writer) Write(ctx context.Context, rows []Row) error {
	for _, r := range rows {
		if w.Last == nil || w.Last.Total() != r.Total() {
			w.Rank++
			w.totals = append(w.totals, r.Total())
		}

		r.Rank = w.Rank

		if r.Before > 0 {
			up := r.Before - r.Rank
			r.Movement, r.Before = &up, 0
		}

		r.Lower = ""
		w.rows = append(w.rows, r)
		r.Picks, r.Weights, r.Movement = nil, nil, nil
		w.Last = &r
	}

	pages := paginate(w.Card, w.rows)
	if len(pages) == 0 {
		return nil
	}

	w.rows = slices.Clone(pages[len(pages)-1])

	return w.put(ctx, pages[:len(pages)-1], true)
}

// Flush writes what Write has kept. more is whether rows follow: a page of fewer rows may precede
// others.
func (w *Writer) Flush(ctx context.Context, more bool) error {
	if len(w.rows) > 0 {
		if err := w.put(ctx, [][]Row{w.rows}, more); err != nil {
			return err
		}

		w.rows = nil
	} else if !more && w.Pages > 0 { // the last page may say that another follows
		err := dynamo.Update(ctx, w.db, tables.WriteRanking, item.Key(Ref(w.scope), pageSK(w.Pages-1)), dynamo.Set(page{Pages: w.Pages}, "pages"),
			dynamo.Equal[page]("rev", w.Rev))
		if err != nil {
			return err
		}
	}

	w.Full = !more
	if len(w.totals) == 0 {
		return nil
	}

	err := putTotals(ctx, w, totalsPrefix, w.Totals, w.totals, more)
	w.Totals, w.totals = w.Totals+1, nil

	return err
}

// put writes pages. If a name was amended since the names were read, it reads them again, until
// none was: an amendment after that finds the pages.
func (w *Writer) put(ctx context.Context, pages [][]Row, more bool) error {
	if len(pages) == 0 {
		return nil
	}

	if err := w.putPages(ctx, pages, more); err != nil {
		return err
	}

	for {
		before := w.names
		if err := w.check(ctx); err != nil {
			return err
		}

		if w.names == before {
			break
		}

		var users []string
		for _, some := range append(slices.Clone(pages), w.rows) {
			for _, r := range some {
				users = append(users, r.UserID)
			}
		}

		names, err := item.ReadNames(ctx, w.db, users)
		if err != nil {
			return err
		}

		for i := range pages {
			pages[i] = renamed(pages[i], names)
		}

		w.rows = renamed(w.rows, names)
		if err := w.putPages(ctx, pages, more); err != nil {
			return err
		}
	}

	w.Pages += len(pages)

	return nil
}

// renamed returns the rows of those who have a name, with the names, in order.
func renamed(rows []Row, names map[string]string) []Row {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { _, ok := names[r.UserID]; return !ok })
	for i, r := range rows {
		rows[i].Name, rows[i].Lower = names[r.UserID], ""
	}

	slices.SortFunc(rows, Row.Compare)

	return rows
}

// putPages writes pages behind those that are written.
func (w *Writer) putPages(ctx context.Context, pages [][]Row, more bool) error {
	items := make([]any, len(pages))
	for i, some := range pages {
		n := w.Pages + i
		p := page{
			Row: item.Row{PK: Ref(w.scope), SK: pageSK(n), Type: kind}, Rev: w.Rev, Number: n,
			Count: w.Count, Pages: n + 1, Places: w.buckets(), Card: w.Card, Rows: some,
		}

		if more || i+1 < len(pages) {
			p.Pages++ // the next one
		}

		items[i] = p
	}

	return w.putAll(ctx, items, 8)
}

// putAll writes items of the table that are not newer, of so many write units each.
func (w *Writer) putAll(ctx context.Context, items []any, units int) error {
	older := dynamo.Absent[page]("PK").Or(dynamo.AtMost[page]("rev", w.Rev))

	for some := range slices.Chunk(items, item.MaxConcurrent) {
		work, wctx := errgroup.WithContext(ctx)
		for _, it := range some {
			work.Go(func() error { return dynamo.Put(wctx, w.db, tables.WriteRanking, it, older) })
		}

		if err := work.Wait(); err != nil {
			return err
		}

		if w.Pace != nil {
			if err := w.Pace(ctx, units*len(some)); err != nil {
				return err
			}
		}
	}

	return nil
}

// placesAtOnce is how many items with places are made from one walk of the pages: those of 100,000
// members.
const placesAtOnce = 2_000

// Place writes the items that map members to pages, until over returns true. It reads the pages
// once for placesAtOnce items, which take some nine seconds at the pace of one partition. It returns
// whether all are written.
func (w *Writer) Place(ctx context.Context, over func() bool) (done bool, err error) {
	for w.Buckets < w.buckets() {
		first := w.Buckets
		some := make([]places, min(placesAtOnce, w.buckets()-first))

		for i := range some {
			some[i] = places{
				Row: item.Row{PK: Ref(w.scope), SK: placesSK(first + i), Type: kind}, Rev: w.Rev, Of: map[string]Place{},
			}
		}

		for pages, err := range w.pages(ctx) {
			if err != nil {
				return false, err
			}

			for _, p := range pages {
				for user, rank := range p.ranks {
					if at := bucket(user, w.buckets()) - first; at >= 0 && at < len(some) {
						some[at].Of[user] = Place{p.number, rank}
					}
				}
			}
		}

		for part := range slices.Chunk(some, 4*item.MaxConcurrent) {
			items := make([]any, len(part))
			for i, p := range part {
				items[i] = p
			}

			if err := w.putAll(ctx, items, 4); err != nil {
				return false, err
			}

			w.Buckets += len(part)
		}

		if over() && w.Buckets < w.buckets() {
			return false, nil
		}
	}

	return true, nil
}

// ranksOfPage are the ranks of the members on a page. They are decoded without the rest of the rows.
type ranksOfPage struct {
	number int
	ranks  map[string]int
}

// UnmarshalDynamoDBAttributeValue decodes the item of a page.
func (p *ranksOfPage) UnmarshalDynamoDBAttributeValue(av types.AttributeValue) error {
	of, _ := av.(*types.AttributeValueMemberM)
	if of == nil {
		return fmt.Errorf("a page must be a map, not %T", av)
	}

	rows, _ := of.Value["rows"].(*types.AttributeValueMemberL)
	if rows == nil {
		return fmt.Errorf("the rows of a page must be a list, not %T", of.Value["rows"])
	}

	if err := attributevalue.Unmarshal(of.Value["page"], &p.number); err != nil {
		return err
	}

	p.ranks = make(map[string]int, len(rows.Value))

	for _, row := range rows.Value {
		var user, rank = "", 0

		if m, ok := row.(*types.AttributeValueMemberM); ok {
			if err := errors.Join(attributevalue.Unmarshal(m.Value["userId"], &user), attributevalue.Unmarshal(m.Value["rank"], &rank)); err != nil {
				return err
			}
		}

		p.ranks[user] = rank
	}

	return nil
}

// pages reads the pages of the table.
func (w *Writer) pages(ctx context.Context) iter.Seq2[[]ranksOfPage, error] {
	return dynamo.Pages(func(after dynamo.Item) ([]ranksOfPage, dynamo.Item, error) {
		return dynamo.Query[ranksOfPage](ctx, w.db, tables.WriteRanking, dynamo.Range{
			Key:   dynamo.KeyBetween(tables.WriteRanking, Ref(w.scope), pageSK(0), pageSK(max(w.Pages-1, 0))),
			After: after, Consistent: true,
		})
	})
}

// Close deletes the items of earlier tables that this one has not replaced, and ends the writer. It
// returns *dynamo.Refused if a higher number was claimed.
func (w *Writer) Close(ctx context.Context) error {
	older := dynamo.Absent[page]("PK").Or(dynamo.AtMost[page]("rev", w.Rev))

	for _, left := range []struct{ from, to string }{
		{pageSK(w.Pages), pageSK(last)}, {placesSK(w.buckets()), placesSK(last)},
		{totalsSK(totalsPrefix, w.Totals), totalsSK(totalsPrefix, last)}, {totalsSK(frozenPrefix, 0), totalsSK(frozenPrefix, last)},
	} {
		rest, err := dynamo.QueryAll[item.Row](ctx, w.db, tables.WriteRanking,
			dynamo.Range{Key: dynamo.KeyBetween(tables.WriteRanking, Ref(w.scope), left.from, left.to), Consistent: true})
		if err != nil {
			return err
		}

		for _, k := range rest {
			if _, err := dynamo.Delete(ctx, w.db, tables.WriteRanking, k.Key(), older); err != nil {
				return err
			}
		}
	}

	return dynamo.Update(ctx, w.db, tables.WriteRanking, headKey(w.scope).Key(),
		dynamo.Set(head{Places: w.buckets()}, "open", "places", "step", "message", "at"), dynamo.Equal[head]("rev", w.Rev))
}

// Freeze stores totals for the next messages of the writer: those of before the last event.
func (w *Writer) Freeze(ctx context.Context, before []Total) error {
	for some := range slices.Chunk(before, maxTotals) {
		if err := putTotals(ctx, w, frozenPrefix, w.Frozen, some, false); err != nil {
			return err
		}

		w.Frozen++
	}

	return nil
}

// Thaw reads the totals that Freeze has stored.
func (w *Writer) Thaw(ctx context.Context) (before []Total, err error) {
	all, err := dynamo.QueryAll[totals](ctx, w.db, tables.WriteRanking, dynamo.Range{
		Key:        dynamo.KeyBeginsWith(tables.WriteRanking, Ref(w.scope), frozenPrefix),
		Consistent: true,
	})
	for _, t := range all {
		if t.Rev == w.Rev {
			before = append(before, t.list()...)
		}
	}

	return before, err
}

// Total is what a row is ranked by: a greater total is a better rank, equal ones are the same rank.
type Total uint64

// Total returns what the row is ranked by: more points, then more correct picks, then fewer events
// played.
func (r Row) Total() Total { return NewTotal(r.Points, r.Correct, r.Played) }

// NewTotal returns the total of points, correct picks and events played.
func NewTotal(points, correct, played int) Total {
	const most = 1<<16 - 1
	return Total(points)<<32 | Total(min(correct, most))<<16 | Total(most-min(played, most))
}

// RankOf returns the rank of a total among totals in descending order: the number of greater ones,
// and one.
func RankOf(t Total, among []Total) int {
	n, _ := slices.BinarySearchFunc(among, t, func(a, b Total) int {
		if a > b {
			return -1
		}

		return 1
	})

	return n + 1
}

// totals is the item of totals that differ, in descending order.
type totals struct {
	item.Row
	Rev     int    `dynamodbav:"rev"`
	Results int    `dynamodbav:"results,omitempty"` // see Writer.Results
	More    bool   `dynamodbav:"more,omitempty"`    // another item follows
	Of      []byte `dynamodbav:"of"`                // 8 bytes each
}

const (
	totalsPrefix = "TOTALS#"
	frozenPrefix = "BEFORE#"
	maxTotals    = 45_000 // 360 KB
	last         = 999_999
)

func totalsSK(prefix string, n int) string { return fmt.Sprintf("%s%06d", prefix, n) }

func putTotals(ctx context.Context, w *Writer, prefix string, n int, all []Total, more bool) error {
	t := totals{
		Row: item.Row{PK: Ref(w.scope), SK: totalsSK(prefix, n), Type: kind},
		Rev: w.Rev, Results: w.Results, More: more, Of: make([]byte, 0, 8*len(all)),
	}
	for _, v := range all {
		t.Of = binary.BigEndian.AppendUint64(t.Of, uint64(v))
	}

	return w.putAll(ctx, []any{t}, 1+len(t.Of)/1024)
}

func (t totals) list() []Total {
	all := make([]Total, 0, len(t.Of)/8)
	for of := t.Of; len(of) >= 8; of = of[8:] {
		all = append(all, Total(binary.BigEndian.Uint64(of)))
	}

	return all
}
