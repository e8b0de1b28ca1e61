package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// TestSizesOfBatches: a batch is as large as DynamoDB allows: 100 keys, or 25 writes.
func TestSizesOfBatches(t *testing.T) {
	t.Parallel()

	for n, want := range map[int]struct{ reads, writes []int }{
		1:   {[]int{1}, []int{1}},
		25:  {[]int{25}, []int{25}},
		26:  {[]int{26}, []int{25, 1}},
		100: {[]int{100}, []int{25, 25, 25, 25}},
		101: {[]int{100, 1}, []int{25, 25, 25, 25, 1}},
	} {
		var reads, writes []int

		db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(_ context.Context, in any, _ func(any) (any, error)) (any, error) {
			if in, ok := in.(*dynamodb.BatchGetItemInput); ok {
				_, keys := only(in.RequestItems)
				reads = append(reads, len(keys.Keys))

				return &dynamodb.BatchGetItemOutput{}, nil
			}

			_, items := only(in.(*dynamodb.BatchWriteItemInput).RequestItems)
			writes = append(writes, len(items))

			return &dynamodb.BatchWriteItemOutput{}, nil
		}), "")
		_, err := dynamo.GetAll[ball](t.Context(), db, getBalls, keysOf(over("m", n)))
		must(t, err)
		must(t, dynamo.PutAll(t.Context(), db, putBalls, over("m", n)))

		if diff := cmp.Diff([][]int{want.reads, want.writes}, [][]int{reads, writes}); diff != "" {
			t.Errorf("batches of %d (-want +got):\n%s", n, diff)
		}
	}
}

// TestLastReadOfSeveral: GetEach reads what is left, also if that is one item.
func TestLastReadOfSeveral(t *testing.T) {
	t.Parallel()
	db := open(t)
	want := ball{Match: "m", Ball: "001", Runs: 4}
	must(t, dynamo.Put(t.Context(), db, putBall, want))

	var got ball
	must(t, dynamo.GetEach(t.Context(), db, dynamo.Read{Access: getBalls, Key: []string{"m", "001"}, Into: &got}))

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestScanOfOne: a page may have one item, and no limit means as many as fit.
func TestScanOfOne(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, dynamo.PutAll(t.Context(), db, putBalls, over("m", 3)))

	for limit, want := range map[int32]int{0: 3, 1: 1, 2: 2} {
		got, last, err := dynamo.Scan[ball](t.Context(), db, allBalls, nil, nil, limit)
		if err != nil || len(got) != want || (last == nil) != (want == 3) {
			t.Errorf("limit %d: %d items and the key %v, %v; want %d", limit, len(got), last, err, want)
		}
	}

	var limits []int32

	one := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(_ context.Context, in any, _ func(any) (any, error)) (any, error) {
		limits = append(limits, aws.ToInt32(in.(*dynamodb.ScanInput).Limit))
		return &dynamodb.ScanOutput{}, nil
	}), "")
	_, err := dynamo.ScanAll[ball](t.Context(), one, allBalls, nil)
	must(t, err)

	if diff := cmp.Diff([]int32{0}, limits); diff != "" {
		t.Errorf("limits of ScanAll (-want +got):\n%s", diff)
	}
}

// TestPagesEndWithAnError, whatever the reader does then.
func TestPagesEndWithAnError(t *testing.T) {
	t.Parallel()

	broken, reads := errors.New("broken"), 0
	for _, err := range dynamo.Pages(func(dynamo.Item) ([]int, dynamo.Item, error) {
		reads++
		return nil, dynamo.Item{}, broken
	}) {
		if err != broken || reads > 1 {
			t.Fatalf("read %d fails with %v", reads, err)
		}
	}
}

// TestBusy: the errors of a table that throttles, and of a user with too many concurrent requests.
func TestBusy(t *testing.T) {
	t.Parallel()

	want := problem.Error{Kind: problem.Unavailable, Code: "table_busy", Text: "the table is too busy: try again"}
	if diff := cmp.Diff(&want, dynamo.BackOff(t.Context(), 11)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}

	db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(_ context.Context, in any, _ func(any) (any, error)) (any, error) {
		if _, ok := in.(*dynamodb.GetItemInput); ok {
			return &dynamodb.GetItemOutput{}, nil
		}

		return nil, canceled("ConditionalCheckFailed")
	}), "")

	want = problem.Error{Kind: problem.Conflict, Code: "user_busy", Text: "other requests of this user are in progress: try again"}
	if diff := cmp.Diff(&want, dynamo.Entry{
		Access: changeBalls,
		List:   []string{"list", "x"},
		ID:     "a",
		Limit:  spec.Limit{Max: 1},
	}.Write(t.Context(), db)); diff != "" {
		t.Errorf("user (-want +got):\n%s", diff)
	}
}

// TestChecks: without a requirement there is nothing to check; one that cannot be expressed is
// not sent, and an answer without reasons is an error as any other.
func TestChecks(t *testing.T) {
	t.Parallel()

	calls := 0

	db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(context.Context, any, func(any) (any, error)) (any, error) {
		calls++
		return nil, canceled()
	}), "")
	if err := dynamo.Check(t.Context(), db, setBall); err != nil || calls != 0 {
		t.Errorf("nothing to check: %v, %d calls", err, calls)
	}

	required := dynamo.Requirement{Access: checkClub, Key: dynamo.Key(checkClub, "mcc"), Err: errClosed}
	if err := dynamo.Check(dynamo.Require(t.Context(), required), db,
		setBall); err == nil || !strings.Contains(err.Error(), "unset parameter") || calls != 0 {
		t.Errorf("no condition: %v, %d calls", err, calls)
	}

	required.Cond = dynamo.Exists[club]("status")
	if err := dynamo.Check(dynamo.Require(t.Context(), required), db, setBall); err == nil || errors.Is(err, errClosed) || calls != 1 {
		t.Errorf("canceled without a reason: %v, %d calls", err, calls)
	}
}

// Match and Player are rows whose attributes meet in one.
type (
	Match struct {
		Runs  int `dynamodbav:"runs"`
		Place int
	}
	Player struct { // its runs are those of the outer struct, by another name
		Match
		Score int `dynamodbav:"runs"`
	}
	Guest struct {
		Score int   `dynamodbav:"runs"`
		Of    Match `dynamodbav:"of"`
		Match
	}
	Tagged struct {
		Match `dynamodbav:"match"`
		Name  string
	}
)

// TestAttributesOfEmbeddedStructs: Set writes the attributes that Put does, whatever the order
// and the names of the fields.
func TestAttributesOfEmbeddedStructs(t *testing.T) {
	t.Parallel()

	set := func(row any, changes dynamo.Changes) string {
		e, err := expression.NewBuilder().WithUpdate(dynamo.BuilderOf(changes)).Build()
		must(t, err)

		for _, v := range e.Values() {
			if n, ok := v.(*types.AttributeValueMemberN); ok {
				return n.Value
			}
		}

		return fmt.Sprintf("%T: %v", row, e.Values())
	}
	p := Player{Match: Match{Runs: 9}, Score: 1}

	g := Guest{Score: 2, Match: Match{Runs: 9}}
	for want, got := range map[string]string{"1": set(p, dynamo.Set(p, "runs")), "2": set(g, dynamo.Set(g, "runs"))} {
		if got != want {
			t.Errorf("the runs are %s, want %s", got, want)
		}
	}

	names := func(compare func()) (text string) {
		defer func() { text = fmt.Sprint(recover()) }()

		compare()

		return ""
	}
	for of, c := range map[string]struct {
		compare func()
		want    string
	}{
		"Player": {func() { dynamo.Equal[Player]("?", 1) }, "it has Place, runs"},
		"Guest":  {func() { dynamo.Equal[Guest]("?", 1) }, "it has Place, of, runs"},
		"Tagged": {func() { dynamo.Equal[Tagged]("Name", "x") }, "Tagged embeds Match with a tag, which is not supported"},
	} {
		if got := names(c.compare); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %q", of, got, c.want)
		}
	}
}

// arrayRow is a row with an array, which Put never leaves out.
type arrayRow struct {
	PK    string
	Spell [2]int `dynamodbav:",omitempty"`
}

func TestArraysAreKept(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{spells})
	db := dynamo.Open(cfg, prefix)
	must(t, dynamo.Put(t.Context(), db, putSpell, arrayRow{PK: "put"}))
	must(t, dynamo.Update(t.Context(), db, updateSpell, dynamo.Key(updateSpell, "set"), dynamo.Set(arrayRow{}, "Spell")))
	put, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, "put")
	must(t, err)
	set, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, "set")
	must(t, err)

	if diff := cmp.Diff(put["Spell"], set["Spell"]); diff != "" {
		t.Errorf("-put +set:\n%s", diff)
	}
}

// TestProjection: only the attributes that are asked for are returned.
func TestProjection(t *testing.T) {
	t.Parallel()
	db := open(t)
	must(t, dynamo.Put(t.Context(), db, putBall, ball{Match: "m", Ball: "001", Bowler: "warne", Runs: 4}))

	runs := expression.NamesList(expression.Name("runs"))
	got, _, err := dynamo.Query[map[string]any](t.Context(), db, ofMatch, dynamo.Range{Key: dynamo.KeyIs(ofMatch, "m"), Project: &runs})
	must(t, err)

	if diff := cmp.Diff([]map[string]any{{"runs": 4.0}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
