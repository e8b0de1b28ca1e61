package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Balls are a table with a sort key and an index, clubs one without.
var (
	balls = spec.Table{
		Name: "balls", Key: spec.Key{Partition: "match", Sort: "ball"},
		Indexes: []spec.Index{{Name: "bowler-index", Key: spec.Key{Partition: "bowler", Sort: "ball"}}},
	}
	clubs = spec.Table{Name: "clubs", Key: spec.Key{Partition: "club"}}

	getBall    = balls.On("Get ball", "match, ball", spec.Rate{}, spec.GetItem)
	getBalls   = balls.On("Get balls", "match, ball", spec.Rate{}, spec.BatchGetItem)
	putBall    = balls.On("Put ball", "match, ball", spec.Rate{}, spec.PutItem)
	putBalls   = balls.On("Put balls", "match, ball", spec.Rate{}, spec.BatchWriteItem)
	updateBall = balls.On("Update ball", "match, ball", spec.Rate{}, spec.UpdateItem)
	deleteBall = balls.On("Delete ball", "match, ball", spec.Rate{}, spec.DeleteItem)
	ofMatch    = balls.On("Balls of a match", "match", spec.Rate{}, spec.Query)
	ofBowler   = balls.OnIndex("bowler-index", "Balls of a bowler", "bowler", spec.Rate{}, spec.Query)
	allBalls   = balls.On("All balls", "", spec.Rate{}, spec.Scan)
	allBowled  = balls.OnIndex("bowler-index", "All that were bowled", "", spec.Rate{}, spec.Scan)
	getClub    = clubs.On("Get club", "club", spec.Rate{}, spec.GetItem)
	getClubs   = clubs.On("Get clubs", "club", spec.Rate{}, spec.BatchGetItem)
	putClub    = clubs.On("Put club", "club", spec.Rate{}, spec.PutItem)
	deleteClub = clubs.On("Delete club", "club", spec.Rate{}, spec.DeleteItem)
)

var scorer = spec.Function{Name: "test/score", Uses: []spec.Access{
	getBall, getBalls, putBall, putBalls, updateBall, deleteBall, ofMatch, ofBowler, allBalls, allBowled, getClub,
	getClubs, putClub, deleteClub,
}}

type ball struct {
	Match  string `dynamodbav:"match"`
	Ball   string `dynamodbav:"ball"`
	Bowler string `dynamodbav:"bowler,omitempty"`
	Runs   int    `dynamodbav:"runs"`
}

type club struct {
	Club   string `dynamodbav:"club"`
	Status string `dynamodbav:"status"` // a reserved word
}

func open(t *testing.T) dynamo.DB {
	t.Helper()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls, clubs})

	return dynamo.Open(dynamotest.WithGuard(t, cfg, scorer), prefix)
}

func must(t *testing.T, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
}

// over is n balls of a match, ball 000 first.
func over(match string, n int) []ball {
	all := make([]ball, n)
	for i := range all {
		all[i] = ball{Match: match, Ball: fmt.Sprintf("%03d", i), Runs: i}
	}

	return all
}

func keysOf(all []ball) []dynamo.Item {
	keys := make([]dynamo.Item, len(all))
	for i, b := range all {
		keys[i] = dynamo.Key(getBalls, b.Match, b.Ball)
	}

	return keys
}

func inOrder(all []ball) []ball {
	slices.SortFunc(all, func(a, b ball) int { return strings.Compare(a.Match+a.Ball, b.Match+b.Ball) })
	return all
}

func TestGet(t *testing.T) {
	t.Parallel()
	db := open(t)
	want := ball{Match: "m", Ball: "001", Bowler: "warne", Runs: 4}
	must(t, dynamo.Put(t.Context(), db, putBall, want))
	must(t, dynamo.Put(t.Context(), db, putClub, club{Club: "mcc", Status: "old"}))

	got, ok, err := dynamo.Get[ball](t.Context(), db, getBall, "m", "001")
	if diff := cmp.Diff(want, got); err != nil || !ok || diff != "" {
		t.Errorf("found %t, %v; the item differs (-want +got):\n%s", ok, err, diff)
	}

	if c, ok, err := dynamo.Get[club](t.Context(), db, getClub, "mcc"); err != nil || !ok || c.Status != "old" {
		t.Errorf("by a partition key alone: got %+v, %v, %v", c, ok, err)
	}

	if got, ok, err := dynamo.Get[ball](t.Context(), db, getBall, "m", "002"); err != nil || ok || got != (ball{}) {
		t.Errorf("of an absent item: got %+v, %v, %v", got, ok, err)
	}

	if _, _, err := dynamo.Get[struct {
		Runs []string `dynamodbav:"runs"`
	}](t.Context(), db, getBall, "m", "001"); err == nil || !strings.Contains(err.Error(), "balls: Get ball") {
		t.Errorf("an item of another shape: got %v, want an error that names the pattern", err)
	}
}

// TestReadsOfKeysAreConsistent: a read by key, and a scan of a table, see every write
// before them, unless the tables are Eventual. An index has no consistent reads, and
// refuses to be asked for one.
func TestReadsOfKeysAreConsistent(t *testing.T) {
	t.Parallel()

	got := map[string]bool{}
	db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(_ context.Context, in any, _ func(any) (any, error)) (any, error) {
		switch in := in.(type) {
		case *dynamodb.GetItemInput:
			got["get"] = aws.ToBool(in.ConsistentRead)
			return &dynamodb.GetItemOutput{}, nil
		case *dynamodb.BatchGetItemInput:
			_, keys := only(in.RequestItems)
			got["batch"] = aws.ToBool(keys.ConsistentRead)

			return &dynamodb.BatchGetItemOutput{}, nil
		case *dynamodb.ScanInput:
			got["scan "+aws.ToString(in.IndexName)] = aws.ToBool(in.ConsistentRead)
			return &dynamodb.ScanOutput{}, nil
		case *dynamodb.QueryInput:
			got[fmt.Sprint("query ", aws.ToInt32(in.Limit))] = aws.ToBool(in.ConsistentRead)
			return &dynamodb.QueryOutput{}, nil
		}

		return nil, fmt.Errorf("%T is not expected", in)
	}), "")
	read := func(db dynamo.DB) {
		_, _, err := dynamo.Get[ball](t.Context(), db, getBall, "m", "000")
		must(t, err)
		_, err = dynamo.GetAll[ball](t.Context(), db, getBalls, keysOf(over("m", 1)))
		must(t, err)

		for _, a := range []spec.Access{allBalls, allBowled} {
			_, _, err = dynamo.Scan[ball](t.Context(), db, a, nil, nil, 0)
			must(t, err)
		}
	}
	read(db)

	for i, consistent := range []bool{false, true} {
		_, _, err := dynamo.Query[ball](t.Context(), db, ofMatch,
			dynamo.Range{Key: dynamo.KeyIs(ofMatch, "m"), Limit: int32(i + 1), Consistent: consistent})
		must(t, err)
	}

	want := map[string]bool{"get": true, "batch": true, "scan ": true, "scan bowler-index": false, "query 1": false, "query 2": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("consistent reads (-want +got):\n%s", diff)
	}

	clear(got)
	read(db.Eventual())

	want = map[string]bool{"get": false, "batch": false, "scan ": false, "scan bowler-index": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reads of eventual tables (-want +got):\n%s", diff)
	}
}

func TestBatchesOfAnySize(t *testing.T) {
	t.Parallel()
	db := open(t)
	want := over("m", 257)
	must(t, dynamo.PutAll(t.Context(), db, putBalls, want))
	got, err := dynamo.GetAll[ball](t.Context(), db, getBalls, append(keysOf(want), dynamo.Key(getBalls, "m", "absent")))
	must(t, err)

	if !slices.Equal(inOrder(got), want) {
		t.Errorf("read %d balls, want the %d that were written", len(got), len(want))
	}

	must(t, dynamo.DeleteAll(t.Context(), db, putBalls, keysOf(want[1:])))
	got, err = dynamo.GetAll[ball](t.Context(), db, getBalls, keysOf(want))
	must(t, err)

	if !slices.Equal(got, want[:1]) {
		t.Errorf("after deleting all but the first: %v", got)
	}

	none, err := dynamo.GetAll[ball](t.Context(), db, getBalls, nil)
	if err != nil || len(none) != 0 {
		t.Errorf("of no keys: got %v, %v", none, err)
	}

	must(t, dynamo.PutAll[ball](t.Context(), db, putBalls, nil))
}

// TestGetEach reads from two tables at once, and what the engine leaves unread again.
func TestGetEach(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls, clubs})
	calls := 0
	db := dynamo.Open(meddled(dynamotest.WithGuard(t, cfg, scorer), func(_ context.Context, in any, next func(any) (any, error)) (any, error) {
		ask, ok := in.(*dynamodb.BatchGetItemInput)
		if !ok {
			return next(in)
		}

		table, keys := only(ask.RequestItems)
		calls++
		out, err := next(&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: keys}})
		rest := maps.Clone(ask.RequestItems)
		delete(rest, table)

		if err == nil {
			out.(*dynamodb.BatchGetItemOutput).UnprocessedKeys = rest
		}

		return out, err
	}), prefix)
	want := ball{Match: "m", Ball: "001", Runs: 4}
	must(t, dynamo.Put(t.Context(), db, putBall, want))

	var got ball

	none := club{Status: "as before"}
	must(t, dynamo.GetEach(t.Context(), db, dynamo.Read{Access: getBalls, Key: []string{"m", "001"}, Into: &got},
		dynamo.Read{Access: getClubs, Key: []string{"absent"}, Into: &none}))

	if got != want || none.Status != "as before" || calls != 2 {
		t.Errorf("got %+v and %+v in %d calls, want %+v, an absent club and 2", got, none, calls, want)
	}
}

// TestBatchesAreFinished has the engine leave a part of each batch undone.
func TestBatchesAreFinished(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls, clubs})

	var undone atomic.Int64

	db := dynamo.Open(meddled(cfg, func(ctx context.Context, in any, next func(any) (any, error)) (any, error) {
		switch in := in.(type) {
		case *dynamodb.BatchGetItemInput:
			table, keys := only(in.RequestItems)
			n := (len(keys.Keys) + 1) / 2

			out, err := next(&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys.Keys[:n]}}})
			if rest := keys.Keys[n:]; err == nil && len(rest) > 0 {
				undone.Add(int64(len(rest)))
				out.(*dynamodb.BatchGetItemOutput).UnprocessedKeys = map[string]types.KeysAndAttributes{table: {Keys: rest}}
			}

			return out, err
		case *dynamodb.BatchWriteItemInput:
			table, writes := only(in.RequestItems)
			n := (len(writes) + 1) / 2

			out, err := next(&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes[:n]}})
			if rest := writes[n:]; err == nil && len(rest) > 0 {
				undone.Add(int64(len(rest)))
				out.(*dynamodb.BatchWriteItemOutput).UnprocessedItems = map[string][]types.WriteRequest{table: rest}
			}

			return out, err
		}

		return next(in)
	}), prefix)
	want := over("m", 3)
	must(t, dynamo.PutAll(t.Context(), db, putBalls, want))
	got, err := dynamo.GetAll[ball](t.Context(), db, getBalls, keysOf(want))
	must(t, err)

	if diff := cmp.Diff(want, inOrder(got)); diff != "" {
		t.Errorf("the items differ (-want +got):\n%s", diff)
	}

	must(t, dynamo.DeleteAll(t.Context(), db, putBalls, keysOf(want)))

	if got, err = dynamo.GetAll[ball](t.Context(), db, getBalls, keysOf(want)); err != nil || len(got) != 0 {
		t.Errorf("after DeleteAll: got %v, %v", got, err)
	}

	if undone.Load() < 4 {
		t.Errorf("only %d keys and items were left undone: the test tests nothing", undone.Load())
	}
}

// TestBatchesGiveUp never lets the engine do anything.
func TestBatchesGiveUp(t *testing.T) {
	t.Parallel()

	for name, batch := range map[string]func(context.Context, dynamo.DB) error{
		"read": func(ctx context.Context, db dynamo.DB) error {
			_, err := dynamo.GetAll[ball](ctx, db, getBalls, keysOf(over("m", 2)))
			return err
		},
		"read of several tables": func(ctx context.Context, db dynamo.DB) error {
			return dynamo.GetEach(ctx, db, dynamo.Read{Access: getBalls, Key: []string{"m", "001"}, Into: &ball{}})
		},
		"write": func(ctx context.Context, db dynamo.DB) error {
			return dynamo.PutAll(ctx, db, putBalls, over("m", 2))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(_ context.Context, in any, _ func(any) (any, error)) (any, error) {
					calls++

					if in, ok := in.(*dynamodb.BatchGetItemInput); ok {
						return &dynamodb.BatchGetItemOutput{UnprocessedKeys: in.RequestItems}, nil
					}

					return &dynamodb.BatchWriteItemOutput{UnprocessedItems: in.(*dynamodb.BatchWriteItemInput).RequestItems}, nil
				}), "")
				began := time.Now()

				err := batch(t.Context(), db)
				if err == nil || !strings.Contains(err.Error(), "too busy") || !strings.HasPrefix(err.Error(), "balls: ") {
					t.Errorf("got %v, want that the table is too busy, and which", err)
				}

				if kind := problem.Of(err); kind != problem.Unavailable { // a job tries its message again
					t.Errorf("the problem is %v, want %v", kind, problem.Unavailable)
				}

				if took := time.Since(began); calls != 11 || took > 10*time.Second {
					t.Errorf("tried %d times in %v, want the first and ten more in 10 s at most", calls, took)
				}

				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()

				if err := batch(ctx, db); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the context's error", err)
				}
			})
		})
	}
}

func TestPutCondition(t *testing.T) {
	t.Parallel()
	db := open(t)
	first, second := ball{Match: "m", Ball: "001", Runs: 1}, ball{Match: "m", Ball: "001", Runs: 2}
	absent := expression.AttributeNotExists(expression.Name("match"))
	must(t, dynamo.Put(t.Context(), db, putBall, first, absent))
	err := dynamo.Put(t.Context(), db, putBall, second, absent)
	refused(t, err, "balls: Put ball", "1")

	got, _, _ := dynamo.Get[ball](t.Context(), db, getBall, "m", "001")
	if got != first {
		t.Errorf("a refused write left %+v", got)
	}

	must(t, dynamo.Put(t.Context(), db, putBall, second))

	if got, _, _ = dynamo.Get[ball](t.Context(), db, getBall, "m", "001"); got != second {
		t.Errorf("a put without a condition left %+v", got)
	}

	refused(t, dynamo.Put(t.Context(), db, putBall, ball{Match: "m", Ball: "other"}, expression.AttributeExists(expression.Name("match"))),
		"balls: Put ball", "")
}

// refused wants err to be a *Refused of the pattern, with the row whose runs are
// given, or no row.
func refused(t *testing.T, err error, pattern, runs string) {
	t.Helper()

	r, ok := errors.AsType[*dynamo.Refused](err)
	if !ok || !dynamo.IsRefused(err) {
		t.Fatalf("got %v, want *Refused", err)
	}

	if !strings.HasPrefix(err.Error(), pattern+": ") {
		t.Errorf("%q does not name the pattern %q", err, pattern)
	}

	n, _ := r.Item["runs"].(*types.AttributeValueMemberN)
	switch {
	case runs == "" && r.Item != nil:
		t.Errorf("the row in the way is %v, though there is none", r.Item)
	case runs != "" && (n == nil || n.Value != runs):
		t.Errorf("the row in the way is %v, want the one with %s runs", r.Item, runs)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	db := open(t)
	key := dynamo.Key(updateBall, "m", "001")
	runs := func(n int) dynamo.Changes { return dynamo.SetZero(ball{Runs: n}, "runs") }
	there := expression.AttributeExists(expression.Name("match"))
	refused(t, dynamo.Update(t.Context(), db, updateBall, key, runs(1), there), "balls: Update ball", "")
	must(t, dynamo.Update(t.Context(), db, updateBall, key, runs(1)))
	must(t, dynamo.Update(t.Context(), db, updateBall, key, runs(2), there))
	refused(t, dynamo.Update(t.Context(), db, updateBall, key, runs(3), expression.Equal(expression.Name("runs"), expression.Value(1))),
		"balls: Update ball", "2")

	got, _, _ := dynamo.Get[ball](t.Context(), db, getBall, "m", "001")
	if got.Runs != 2 {
		t.Errorf("got %+v, want 2 runs", got)
	}

	more := dynamo.Add[ball]("runs", 4)

	was, err := dynamo.Replace[ball](t.Context(), db, updateBall, key, more, there)
	if must(t, err); was != (ball{Match: "m", Ball: "001", Runs: 2}) {
		t.Errorf("got %+v, want the ball with 2 runs", was)
	}

	_, err = dynamo.Replace[ball](t.Context(), db, updateBall, dynamo.Key(updateBall, "m", "002"), more, there)
	refused(t, err, "balls: Update ball", "")
}

func TestDelete(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, dynamo.Put(t.Context(), db, putBall, ball{Match: "m", Ball: "001", Runs: 6}))

	key := dynamo.Key(deleteBall, "m", "001")
	four := expression.Equal(expression.Name("runs"), expression.Value(4))
	_, err := dynamo.Delete(t.Context(), db, deleteBall, key, four)
	refused(t, err, "balls: Delete ball", "6")
	was, err := dynamo.Delete(t.Context(), db, deleteBall, key)
	must(t, err)

	if n, ok := was["runs"].(*types.AttributeValueMemberN); !ok || n.Value != "6" {
		t.Errorf("the deleted item was %v", was)
	}

	if was, err = dynamo.Delete(t.Context(), db, deleteBall, key); err != nil || was != nil {
		t.Errorf("of an absent item: got %v, %v", was, err)
	}

	_, err = dynamo.Delete(t.Context(), db, deleteBall, key, four)
	refused(t, err, "balls: Delete ball", "")
	must(t, dynamo.Put(t.Context(), db, putClub, club{Club: "mcc"}))

	if was, err := dynamo.Delete(t.Context(), db, deleteClub, dynamo.Key(deleteClub, "mcc")); err != nil || was == nil {
		t.Errorf("by a partition key alone: got %v, %v", was, err)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	db := open(t)

	all := over("m", 7)
	for i := range all {
		all[i].Bowler = []string{"warne", "murali"}[i%2]
	}

	must(t, dynamo.PutAll(t.Context(), db, putBalls, append(over("other", 2), all...)))

	match, warne := expression.Key("match").Equal(expression.Value("m")), expression.Key("bowler").Equal(expression.Value("warne"))

	odd := expression.Equal(expression.Name("bowler"), expression.Value("murali"))
	for _, c := range []struct {
		name  string
		a     spec.Access
		r     dynamo.Range
		pages [][]int // the runs on each
	}{
		{"whole partition", ofMatch, dynamo.Range{Key: match}, [][]int{{0, 1, 2, 3, 4, 5, 6}}},
		{"pages", ofMatch, dynamo.Range{Key: match, Limit: 3}, [][]int{{0, 1, 2}, {3, 4, 5}, {6}}},
		{"backward", ofMatch, dynamo.Range{Key: match, Limit: 4, Backward: true}, [][]int{{6, 5, 4, 3}, {2, 1, 0}}},
		{"sort key", ofMatch, dynamo.Range{Key: match.And(expression.Key("ball").Between(expression.Value("002"), expression.Value("004")))},
			[][]int{{2, 3, 4}}},
		{"filter counts after the limit", ofMatch, dynamo.Range{Key: match, Filter: &odd, Limit: 3}, [][]int{{1}, {3, 5}, nil}},
		{"after a key", ofMatch, dynamo.Range{Key: match, After: dynamo.Key(ofMatch, "m", "004")}, [][]int{{5, 6}}},
		{"index", ofBowler, dynamo.Range{Key: warne, Limit: 3}, [][]int{{0, 2, 4}, {6}}},
		{"index backward", ofBowler, dynamo.Range{Key: warne, Backward: true}, [][]int{{6, 4, 2, 0}}},
		{"empty", ofMatch, dynamo.Range{Key: expression.Key("match").Equal(expression.Value("none"))}, [][]int{nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			var pages [][]int

			for page, err := range dynamo.Pages(func(after dynamo.Item) ([]ball, dynamo.Item, error) {
				r := c.r
				if after != nil {
					r.After = after
				}

				return dynamo.Query[ball](t.Context(), db, c.a, r)
			}) {
				must(t, err)

				pages = append(pages, runsOf(page))
			}

			if diff := cmp.Diff(c.pages, pages); diff != "" {
				t.Errorf("the pages differ (-want +got):\n%s", diff)
			}

			whole, err := dynamo.QueryAll[ball](t.Context(), db, c.a, c.r)
			must(t, err)

			if got, want := runsOf(whole), slices.Concat(c.pages...); !slices.Equal(got, want) {
				t.Errorf("all are %v, want %v", got, want)
			}
		})
	}
}

func runsOf(all []ball) (runs []int) {
	for _, b := range all {
		runs = append(runs, b.Runs)
	}

	return runs
}

func TestScan(t *testing.T) {
	t.Parallel()
	db := open(t)
	all := over("m", 5)
	all[1].Bowler, all[3].Bowler = "warne", "murali" // the index holds no others
	must(t, dynamo.PutAll(t.Context(), db, putBalls, all))

	few := expression.LessThan(expression.Name("runs"), expression.Value(2))
	for _, c := range []struct {
		name   string
		a      spec.Access
		filter *expression.ConditionBuilder
		limit  int32
		want   []int
		pages  int
	}{
		{"table", allBalls, nil, 0, []int{0, 1, 2, 3, 4}, 1},
		{"pages", allBalls, nil, 2, []int{0, 1, 2, 3, 4}, 3},
		{"filter", allBalls, &few, 0, []int{0, 1}, 1},
		{"index", allBowled, nil, 0, []int{1, 3}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			var got []int

			pages := 0

			for page, err := range dynamo.Pages(func(after dynamo.Item) ([]ball, dynamo.Item, error) {
				return dynamo.Scan[ball](t.Context(), db, c.a, c.filter, after, c.limit)
			}) {
				must(t, err)

				got = append(got, runsOf(page)...)
				pages++
			}

			slices.Sort(got)

			if !slices.Equal(got, c.want) || pages != c.pages {
				t.Errorf("got %v in %d pages, want %v in %d", got, pages, c.want, c.pages)
			}

			whole, err := dynamo.ScanAll[ball](t.Context(), db, c.a, c.filter)
			must(t, err)

			if got := slices.Sorted(slices.Values(runsOf(whole))); !slices.Equal(got, c.want) {
				t.Errorf("all are %v, want %v", got, c.want)
			}
		})
	}
}

// TestPages reads what there is, page by page, whatever the pages' sizes.
func TestPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.SliceOf(rapid.Int())).Draw(t, "pages")
		failing := rapid.IntRange(0, len(want)).Draw(t, "fails at")
		stop := rapid.IntRange(0, len(want)).Draw(t, "reader stops at")
		broken := errors.New("broken")
		next, reads := 0, 0

		var got [][]int

		for page, err := range dynamo.Pages(func(after dynamo.Item) ([]int, dynamo.Item, error) {
			if (after == nil) != (next == 0) {
				t.Fatalf("page %d is read after %v", next, after)
			}

			reads++

			if next == failing {
				return nil, nil, broken
			}

			next++
			if next == len(want) {
				return want[next-1], nil, nil
			}

			return want[next-1], dynamo.Item{}, nil
		}) {
			if err != nil {
				if err != broken || len(got) != failing {
					t.Fatalf("page %d fails with %v", len(got), err)
				}

				break
			}

			if len(got) == stop {
				break
			}

			got = append(got, page)
		}

		if n := min(failing, stop, len(want)); !slices.EqualFunc(got, want[:n], slices.Equal) {
			t.Fatalf("got %v, want %v", got, want[:n])
		}

		if reads > len(got)+1 {
			t.Fatalf("%d reads for %d pages", reads, len(got))
		}
	})
}

// TestErrorsNameThePattern has the engine fail every call.
func TestErrorsNameThePattern(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")
	db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(context.Context, any, func(any) (any, error)) (any, error) {
		return nil, broken
	}), "")
	ctx, key := t.Context(), dynamo.Key(getBall, "m", "001")
	set := dynamo.Set(ball{Runs: 1}, "runs")

	for a, call := range map[*spec.Access]func() error{
		&getBall:    func() error { _, _, err := dynamo.Get[ball](ctx, db, getBall, "m", "001"); return err },
		&getBalls:   func() error { _, err := dynamo.GetAll[ball](ctx, db, getBalls, []dynamo.Item{key}); return err },
		&putBall:    func() error { return dynamo.Put(ctx, db, putBall, ball{}) },
		&putBalls:   func() error { return dynamo.PutAll(ctx, db, putBalls, over("m", 1)) },
		&updateBall: func() error { return dynamo.Update(ctx, db, updateBall, key, set) },
		&deleteBall: func() error { _, err := dynamo.Delete(ctx, db, deleteBall, key); return err },
		&ofMatch: func() error {
			_, _, err := dynamo.Query[ball](ctx, db, ofMatch, dynamo.Range{Key: expression.Key("match").Equal(expression.Value("m"))})
			return err
		},
		&allBalls: func() error { _, _, err := dynamo.Scan[ball](ctx, db, allBalls, nil, nil, 0); return err },
	} {
		err := call()
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), a.ID()+": ") {
			t.Errorf("%s: got %v", a.ID(), err)
		}

		if dynamo.IsRefused(err) {
			t.Errorf("%s: %v passes for a failed condition", a.ID(), err)
		}
	}
	// These are refused before the engine is called.
	for a, call := range map[*spec.Access]func() error{
		&putBall: func() error { return dynamo.Put(ctx, db, putBall, noItem{}) },
		&ofMatch: func() error { _, _, err := dynamo.Query[ball](ctx, db, ofMatch, dynamo.Range{}); return err },
		&allBalls: func() error {
			_, _, err := dynamo.Scan[ball](ctx, db, allBalls, new(expression.ConditionBuilder), nil, 0)
			return err
		},
		&updateBall: func() error { return dynamo.Update(ctx, db, updateBall, key, dynamo.Changes{}) },
		&deleteBall: func() error {
			_, err := dynamo.Delete(ctx, db, deleteBall, key, expression.ConditionBuilder{})
			return err
		},
	} {
		if err := call(); err == nil || errors.Is(err, broken) || !strings.HasPrefix(err.Error(), a.ID()+": ") {
			t.Errorf("%s without a valid item, key, condition or change: got %v", a.ID(), err)
		}
	}
}

// noItem is a value that is no item.
type noItem struct{}

func (noItem) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	return nil, errors.New("no item")
}

// meddled returns cfg with f in the way of each call.
func meddled(cfg aws.Config, f func(ctx context.Context, in any, next func(any) (any, error)) (any, error)) aws.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("meddle",
			func(ctx context.Context, in middleware.InitializeInput,
				next middleware.InitializeHandler) (out middleware.InitializeOutput, meta middleware.Metadata, err error) {
				if awsmiddleware.GetServiceID(ctx) != dynamodb.ServiceID {
					return next.HandleInitialize(ctx, in)
				}

				out.Result, err = f(ctx, in.Parameters, func(parameters any) (any, error) {
					o, m, err := next.HandleInitialize(ctx, middleware.InitializeInput{Parameters: parameters})
					meta = m

					return o.Result, err
				})

				return out, meta, err
			}), middleware.After)
	})

	return cfg
}

func only[V any](m map[string]V) (string, V) {
	for k, v := range m {
		return k, v
	}

	panic("an empty batch")
}

// TestWaitsAreBounded: no wait before the first try, then at random up to 50 ms, doubled for
// each try up to 1.6 s; after the tenth repetition an Unavailable problem.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for try, limit := range []time.Duration{0, 50, 100, 200, 400, 800, 1600, 1600, 1600, 1600, 1600} {
			limit *= time.Millisecond
			longest := time.Duration(0)

			for range 2000 {
				start := time.Now()

				must(t, dynamo.BackOff(t.Context(), try))

				longest = max(longest, time.Since(start))
			}

			if longest > limit || longest < limit*98/100 || try > 0 && longest == limit { // 2000 waits below 98 %: once in 10^17
				t.Errorf("the longest wait before try %d is %s, want just below %s", try, longest, limit)
			}
		}

		if err := dynamo.BackOff(t.Context(), 11); problem.Of(err) != problem.Unavailable {
			t.Errorf("the 11th repetition: %v, want an Unavailable problem", err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		start := time.Now()
		if err := dynamo.BackOff(ctx, 10); !errors.Is(err, context.Canceled) || time.Since(start) > 0 {
			t.Errorf("a cancelled wait: %v after %s, want the error at once", err, time.Since(start))
		}
	})
}
