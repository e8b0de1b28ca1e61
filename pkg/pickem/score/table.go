package score

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

const (
	// maxGroup is how many rows of equal points are ordered at once. More take several walks.
	maxGroup = 50_000

	// maxWalks is how often a table is written while the index is behind: see errBehind. The last
	// walk takes the index as it is; LockEvents has the event scored again later.
	maxWalks = 4
)

// table is what differs between the rankings of events and of years.
type table struct {
	scope     string
	index     spec.Access
	partition string // of the index
	sk        string // of the rows
	card      []string
	results   int
	maxPoints int

	// counts reports whether a row is ranked.
	counts func(e entry) bool
	// fill fills a row from what is stored.
	fill func(row *ranking.Row, of stored)
}

// tableOf returns the ranking of an event.
func tableOf(on item.EventWithCard) table {
	return table{
		scope: on.ID, index: tables.EntriesOf, partition: item.EventRef(on.ID), sk: item.EventRef(on.ID),
		card: CardIDs(on.Card), results: on.ResultsRev, maxPoints: item.MaxEventPoints,
		counts: func(e entry) bool { return e.ScoredAt != "" || on.RevealAtLock },
		fill:   func(row *ranking.Row, of stored) { fillPicks(row, on.Rules, on.Card, of.prediction(on.ID)) },
	}
}

// yearTable returns the ranking of a year.
func yearTable(year string) table {
	return table{
		scope: year, index: tables.GetStandings, partition: item.StandingsRef(year), sk: item.StandingsRef(year),
		maxPoints: item.MaxYearPoints,
		counts:    func(e entry) bool { return e.Played > 0 },
	}
}

// rankYear writes the ranking of a year, from where its draft stands, nil for the start. It leaves
// YearRanked false if the time of the message is over before it is written. If another writer has
// begun, that one writes it.
func (s *Scorer) rankYear(ctx context.Context, r *run, year string, p *Progress) (err error) {
	if p.YearRanked {
		return nil
	}

	// Other events of the year may be scored at the same time.
	p.YearRanked, err = dynamo.RetryValue(ctx, dynamo.DefaultAttempts, func() (bool, error) {
		if p.Year == nil {
			begun, err := ranking.Claim(ctx, s.db, year, s.now().Add(-ranking.Quiet))
			if dynamo.IsRefused(err) {
				return true, nil
			}

			if err != nil {
				return false, err
			}

			p.Year = &begun
		}

		done, err := s.rank(ctx, r, yearTable(year), p.Year)
		if !dynamo.IsRefused(err) {
			return done, err
		}

		over, lost := p.Year.Overtaken(ctx, s.db, year)
		if lost != nil || over {
			return over, lost
		}

		p.Year = nil

		return false, err
	})

	return err
}

// rank writes a ranking from where its draft stands, and returns whether all of it is written or
// the time of the message is over. It returns *dynamo.Refused if another writer has begun.
func (s *Scorer) rank(ctx context.Context, r *run, t table, d *ranking.Draft) (done bool, err error) {
	w, err := d.Resume(ctx, s.db, t.scope)
	if err != nil {
		return false, err
	}

	w.Card, w.Results, w.Pace = t.card, t.results, r.pace
	defer func() { *d = w.Draft }()

	if !w.Full {
		if done, err := s.write(ctx, r, t, w); err != nil || !done {
			return false, err
		}
	}

	if done, err := w.Place(ctx, func() bool { return r.over(ctx) }); err != nil || !done {
		return false, err
	}

	return true, w.Close(ctx)
}

// write writes the rows of a ranking. It returns false if the time of the message is over before
// all are written.
func (s *Scorer) write(ctx context.Context, r *run, t table, w *ranking.Writer) (done bool, err error) {
	var before []ranking.Total

	if w.Counted {
		before, err = w.Thaw(ctx)
	} else {
		before, err = s.count(ctx, t, w)
	}

	if err != nil {
		return false, err
	}

	if t.fill == nil {
		t.fill = func(row *ranking.Row, of stored) { move(row, of.Tally, w.LastEvent, before) }
	}

	for walk := 1; ; walk++ {
		done, err = s.walk(ctx, r, t, w, walk < maxWalks)
		if !errors.Is(err, errBehind) {
			break
		}

		w.Restart()

		if err := dynamo.BackOff(ctx, walk); err != nil {
			return false, err
		}
	}

	if err == nil && !done && !w.Counted {
		w.Counted = true
		err = w.Freeze(ctx, before)
	}

	return done, err
}

// count counts the rows of a ranking in one walk of the index, and finds the latest event. It returns
// the totals of all members before that event, in descending order.
func (s *Scorer) count(ctx context.Context, t table, w *ranking.Writer) ([]ranking.Total, error) {
	earlier, latest, before := map[ranking.Total]bool{}, map[ranking.Total]bool{}, map[ranking.Total]bool{}
	q := dynamo.Range{Key: t.above(item.ScorePrefix), Limit: readSize}
	w.Count, w.LastEvent = 0, ""

	for {
		entries, last, err := dynamo.QueryFlat[entry](ctx, s.db, t.index, q)
		if err != nil {
			return nil, err
		}

		for _, e := range entries {
			if !t.counts(e) {
				continue
			}

			w.Count++

			if e.LastEvent == "" {
				continue
			}

			if e.LastEvent > w.LastEvent {
				maps.Copy(earlier, latest)
				clear(latest)
				clear(before)

				w.LastEvent = e.LastEvent
			}

			if e.LastEvent < w.LastEvent {
				earlier[ranking.NewTotal(e.Points, e.Correct, e.Played)] = true
				continue
			}

			latest[ranking.NewTotal(e.Points, e.Correct, e.Played)] = true
			if e.Played > 1 {
				before[ranking.NewTotal(e.Points-e.LastPoints, e.Correct-e.LastCorrect, e.Played-1)] = true
			}
		}

		if last == nil {
			break
		}

		q.After = last
	}

	maps.Copy(before, earlier)

	return slices.SortedFunc(maps.Keys(before), func(a, b ranking.Total) int { return cmp.Compare(b, a) }), nil
}

// move sets the movement of a row of a year: the change of rank by the latest event that any member
// has points of. A new member has none.
func move(row *ranking.Row, t item.Tally, last string, before []ranking.Total) {
	was := row.Total()
	if t.LastEvent == last {
		if t.Played < 2 {
			return
		}

		was = ranking.NewTotal(t.Points-t.LastPoints, t.Correct-t.LastCorrect, t.Played-1)
	}

	row.Before = ranking.RankOf(was, before)
}

// above returns the key condition of the rows from a sort key on, up to a bound: without one, to the
// last.
func (t table) above(from string, to ...string) expression.KeyConditionBuilder {
	bound := strings.TrimSuffix(item.ScorePrefix, "#") + "$" // the character after #
	if len(to) > 0 {
		bound = to[0]
	}

	return dynamo.KeyBetween(t.index, t.partition, from, bound)
}

// errBehind reports that the index has not what is stored: it is written a moment later.
var errBehind = errors.New("the index is behind the table")

// walk reads the rows from the most points on, and writes them in order: from the top, or after the
// last row that is written. It returns false if the time of the message is over before. If strict,
// it returns errBehind for a row whose points in the index are not those that are stored.
//
// It stops where the totals of rows differ, or within 20,000 equal ones. In the latter case a member
// who is renamed before the next message may be missing, or listed twice, until the ranking is
// written again.
func (s *Scorer) walk(ctx context.Context, r *run, t table, w *ranking.Writer, strict bool) (done bool, err error) {
	for {
		again, done, err := s.walkOn(ctx, r, t, w, strict)
		if err != nil || !again {
			return done, err
		}
	}
}

// walkOn is walk up to a group of more than maxGroup rows of equal points, of which it writes the
// first. Then it returns again.
func (s *Scorer) walkOn(ctx context.Context, r *run, t table, w *ranking.Writer, strict bool) (again, done bool, err error) {
	q := dynamo.Range{Key: t.above(item.ScorePrefix), Limit: readSize, Backward: true}

	if w.Last != nil {
		sk, err := item.ScoreSK(w.Last.Points, t.maxPoints, "")
		if err != nil {
			return false, false, err
		}

		q.Key = t.above(item.ScorePrefix, strings.TrimSuffix(sk, "#")+"$")
	}

	var (
		rows []ranking.Row // that are not written, in no order
		cut  bool          // rows of equal points that follow these were left out
	)

	for {
		entries, last, err := dynamo.QueryFlat[entry](ctx, s.db, t.index, q)
		if err != nil {
			return false, false, err
		}

		least := t.maxPoints // of an empty page
		if len(entries) > 0 {
			least = entries[len(entries)-1].Points
		}

		more, err := s.join(ctx, t, entries, strict)
		if err != nil {
			return false, false, err
		}

		for _, row := range more {
			if w.Last == nil || row.Order(*w.Last) > 0 {
				rows = append(rows, row)
			}
		}

		complete := last == nil || slices.ContainsFunc(rows, func(row ranking.Row) bool { return row.Points > least })
		if !complete && len(rows) <= 2*s.maxGroup {
			q.After = last
			continue
		}

		slices.SortFunc(rows, ranking.Row.Order)

		ready := len(rows)
		if last != nil { // the next entries may have as many points as the last one
			ready, _ = slices.BinarySearchFunc(rows, least, func(row ranking.Row, least int) int {
				if row.Points > least {
					return -1
				}

				return 1
			})
		}

		if cut && ready > 0 { // of these points only
			ready = slices.IndexFunc(rows, func(row ranking.Row) bool { return row.Points != rows[0].Points })
			if ready < 0 {
				ready = len(rows)
			}

			ready = min(ready, s.maxGroup)
		}

		for part := range parts(rows[:ready]) {
			if err := w.Write(ctx, part); err != nil {
				return false, false, err
			}

			if r.over(ctx) {
				return false, false, w.Flush(ctx, true)
			}
		}

		switch rows = slices.Delete(rows, 0, ready); {
		case cut && ready > 0:
			return true, false, nil
		case last == nil:
			return false, true, w.Flush(ctx, false)
		case len(rows) > 2*s.maxGroup:
			rows, cut = rows[:s.maxGroup], true
		}

		q.After = last
	}
}

// Rows are written in parts: up to where totals differ after leastPart rows, or mostPart rows.
const (
	leastPart = 1_000
	mostPart  = 20_000
)

// parts divides rows in order.
func parts(rows []ranking.Row) func(func([]ranking.Row) bool) {
	return func(yield func([]ranking.Row) bool) {
		from := 0
		for i := range rows {
			n := i + 1 - from
			if i+1 == len(rows) || n >= mostPart || n >= leastPart && rows[i].Total() != rows[i+1].Total() {
				if !yield(rows[from : i+1]) {
					return
				}

				from = i + 1
			}
		}
	}
}

// joinSize is how many members are read in one batch, with two items each.
const joinSize = 50

// join returns the rows of those of the entries that are ranked, and whose members are not removed.
func (s *Scorer) join(ctx context.Context, t table, entries []entry, strict bool) ([]ranking.Row, error) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !t.counts(e) })
	joined := make([][]ranking.Row, (len(entries)+joinSize-1)/joinSize)

	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for i := range joined {
		some := entries[i*joinSize : min((i+1)*joinSize, len(entries))]

		work.Go(func() (err error) {
			joined[i], err = s.joinSome(ctx, t, some, strict)
			return err
		})
	}

	err := work.Wait()

	return slices.Concat(joined...), err
}

func (s *Scorer) joinSome(ctx context.Context, t table, entries []entry, strict bool) (rows []ranking.Row, err error) {
	keys := make([]dynamo.Item, 0, 2*len(entries))
	for _, e := range entries {
		keys = append(keys, item.Key(e.BelongsTo, item.UserTag), item.Key(e.BelongsTo, t.sk))
	}

	all, err := dynamo.GetAll[stored](ctx, s.db, tables.MembersOf, keys)
	if err != nil {
		return nil, err
	}

	members, others := map[string]stored{}, map[string]stored{}

	for _, i := range all {
		if i.Type == item.MemberType {
			members[i.PK] = i
		} else {
			others[i.PK] = i
		}
	}

	for _, e := range entries {
		m, known := members[e.BelongsTo]

		of, there := others[e.BelongsTo]
		if !known || m.DeletedAt != "" || !there {
			continue
		}

		if strict && (of.Points != e.Points || of.Correct != e.Correct || of.Played != e.Played || of.ScoredRev != e.ScoredRev) {
			return nil, errBehind
		}

		row := ranking.Row{UserID: e.user(), Name: m.Name, Lower: strings.ToLower(m.Name), Points: e.Points, Correct: e.Correct, Played: e.Played}
		t.fill(&row, of)
		rows = append(rows, row)
	}

	return rows, nil
}
