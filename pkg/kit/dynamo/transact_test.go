package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// changeBalls is a pattern whose writes are transactions.
var changeBalls = balls.On("Change balls", "match, ball", spec.Rate{}, spec.PutItem, spec.UpdateItem,
	spec.DeleteItem, spec.ConditionCheckItem)

var umpire = spec.Function{Name: "test/judge", Uses: []spec.Access{changeBalls, putBalls, ofMatch}}

var (
	isThere = expression.AttributeExists(expression.Name("match"))
	isNot   = expression.AttributeNotExists(expression.Name("match"))
	ofMine  = dynamo.Range{Key: expression.Key("match").Equal(expression.Value("m")), Consistent: true}
)

func keyOf(n int) dynamo.Item { return dynamo.Key(changeBalls, "m", fmt.Sprintf("%03d", n)) }

func runs(n int) dynamo.Changes { return dynamo.SetZero(ball{Runs: n}, "runs") }

func TestTransact(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name   string
		writes []dynamo.Write
		want   []int // the runs of the balls afterwards; there were 0, 1 and 2
		at     int   // the write that is refused, or -1
		row    int   // the runs of the row that stands in its way, or -1
	}{
		{"nothing", nil, []int{0, 1, 2}, -1, -1},
		{"each kind", []dynamo.Write{
			dynamo.PutWrite(ball{Match: "m", Ball: "003", Runs: 3}, isNot),
			dynamo.UpdateWrite(keyOf(0), runs(6), isThere), dynamo.DeleteWrite(keyOf(1), isThere), dynamo.CheckWrite(keyOf(2), isThere),
		}, []int{6, 2, 3}, -1, -1},
		{"without conditions", []dynamo.Write{
			dynamo.PutWrite(ball{Match: "m", Ball: "000", Runs: 4}), dynamo.UpdateWrite(keyOf(3), runs(5)), dynamo.DeleteWrite(keyOf(9)),
		}, []int{4, 1, 2, 5}, -1, -1},
		{"put refused", []dynamo.Write{dynamo.DeleteWrite(keyOf(0)), dynamo.PutWrite(ball{Match: "m", Ball: "002"}, isNot)},
			[]int{0, 1, 2}, 1, 2},
		{"update refused", []dynamo.Write{dynamo.UpdateWrite(keyOf(7), runs(1), isThere), dynamo.DeleteWrite(keyOf(0))}, []int{0, 1, 2}, 0, -1},
		{"delete refused", []dynamo.Write{dynamo.UpdateWrite(keyOf(0), runs(6)),
			dynamo.DeleteWrite(keyOf(1), expression.Equal(expression.Name("runs"), expression.Value(4)))}, []int{0, 1, 2}, 1, 1},
		{"check refused", []dynamo.Write{dynamo.UpdateWrite(keyOf(0), runs(6)), dynamo.UpdateWrite(keyOf(1), runs(6)),
			dynamo.CheckWrite(keyOf(2), isNot)}, []int{0, 1, 2}, 2, 2},
		{"the first of two refused", []dynamo.Write{dynamo.DeleteWrite(keyOf(0)), dynamo.CheckWrite(keyOf(1), isNot),
			dynamo.CheckWrite(keyOf(2), isNot)}, []int{0, 1, 2}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls})
			db := dynamo.Open(dynamotest.WithGuard(t, cfg, umpire), prefix)
			must(t, dynamo.PutAll(t.Context(), db, putBalls, over("m", 3)))
			err := dynamo.Transact(t.Context(), db, changeBalls, c.writes...)

			r, refused := errors.AsType[*dynamo.Refused](err)
			switch {
			case refused != (c.at >= 0) || !refused && err != nil:
				t.Fatalf("got %v", err)
			case refused && (r.Write != c.at || (r.Item != nil) != (c.row >= 0) || !strings.HasPrefix(err.Error(), changeBalls.ID()+": ")):
				t.Errorf("got %v of write %d for the row %v", err, r.Write, r.Item)
			case refused && c.row >= 0 && r.Item["runs"].(*types.AttributeValueMemberN).Value != fmt.Sprint(c.row):
				t.Errorf("the row in the way is %v, want the one of %d runs", r.Item, c.row)
			}

			got, _, err := dynamo.Query[ball](t.Context(), db, ofMatch, ofMine)
			must(t, err)

			if !slices.Equal(runsOf(got), c.want) {
				t.Errorf("there are %v, want %v", runsOf(got), c.want)
			}
		})
	}
}

func TestTransactLimits(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, umpire), prefix)

	var writes []dynamo.Write
	for _, b := range over("m", 101) {
		writes = append(writes, dynamo.PutWrite(b))
	}

	if err := dynamo.Transact(t.Context(), db, changeBalls, writes...); err == nil || !strings.Contains(err.Error(), "101 writes") {
		t.Errorf("got %v of 101 writes", err)
	}

	must(t, dynamo.Transact(t.Context(), db, changeBalls, writes[:dynamo.MaxWrites]...))
	got, _, err := dynamo.Query[ball](t.Context(), db, ofMatch, ofMine)
	must(t, err)

	if len(got) != dynamo.MaxWrites {
		t.Errorf("%d of %d writes were made", len(got), dynamo.MaxWrites)
	}

	if err := dynamo.Transact(t.Context(), db, changeBalls, dynamo.PutWrite(make(chan int))); err == nil ||
		!strings.HasPrefix(err.Error(), changeBalls.ID()) {
		t.Errorf("an item that is none: got %v", err)
	}
}

func canceled(codes ...string) error {
	e := &types.TransactionCanceledException{}
	for _, code := range codes {
		e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
	}

	return e
}

// TestTransactTriesAgain has other transactions in the way.
func TestTransactTriesAgain(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		fails []error // of the first calls
		tries int
		want  string // in the error, "" for none
	}{
		{"at once", nil, 1, ""},
		{"after a conflict", []error{canceled("None", "TransactionConflict")}, 2, ""},
		{"after being busy", []error{canceled("ThrottlingError"), canceled("ProvisionedThroughputExceeded")}, 3, ""},
		{"never", slices.Repeat([]error{canceled("TransactionConflict")}, 20), 11, "too busy"},
		{"refused beside a conflict", []error{canceled("TransactionConflict", "ConditionalCheckFailed")}, 1, "write 1: the condition"},
		{"not for another reason", []error{canceled("ItemCollectionSizeLimitExceeded")}, 1, "TransactionCanceled"},
		{"not after another error", []error{broken}, 1, "broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(context.Context, any, func(any) (any, error)) (any, error) {
					if tries++; tries <= len(c.fails) {
						return nil, c.fails[tries-1]
					}

					return &dynamodb.TransactWriteItemsOutput{}, nil
				}), "")

				err := dynamo.Transact(t.Context(), db, changeBalls, dynamo.DeleteWrite(keyOf(1)))
				if tries != c.tries || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("after %d tries: %v, want %q after %d", tries, err, c.want, c.tries)
				}
			})
		})
	}

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()

		db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(context.Context, any, func(any) (any, error)) (any, error) {
			return nil, canceled("TransactionConflict")
		}), "")
		if err := dynamo.Transact(ctx, db, changeBalls, dynamo.DeleteWrite(keyOf(1))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}

// TestTransactIsAtomic moves a run from one ball to another, many times at once.
func TestTransactIsAtomic(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, umpire), prefix)
	must(t, dynamo.PutAll(t.Context(), db, putBalls, []ball{{Match: "m", Ball: "000", Runs: 10}, {Match: "m", Ball: "001"}}))

	add := func(n int) dynamo.Changes { return dynamo.Add[ball]("runs", n) }
	some := expression.GreaterThan(expression.Name("runs"), expression.Value(0))

	var wg sync.WaitGroup

	refused := make(chan bool, 20)
	for range cap(refused) {
		wg.Go(func() {
			err := dynamo.Transact(t.Context(), db, changeBalls, dynamo.UpdateWrite(keyOf(0), add(-1), some), dynamo.UpdateWrite(keyOf(1), add(1)))
			if err := dynamo.IgnoreRefused(err); err != nil {
				t.Error(err)
			}

			refused <- err != nil
		})
	}

	wg.Wait()
	close(refused)

	n := 0

	for r := range refused {
		if r {
			n++
		}
	}

	got, _, err := dynamo.Query[ball](t.Context(), db, ofMatch, ofMine)
	must(t, err)

	if !slices.Equal(runsOf(got), []int{0, 10}) || n != 10 {
		t.Errorf("there are %v, and %d were refused, want [0 10] and 10", runsOf(got), n)
	}
}
