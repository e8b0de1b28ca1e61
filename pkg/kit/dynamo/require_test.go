package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

var (
	checkClub = clubs.On("Check club", "club", spec.Rate{}, spec.ConditionCheckItem)
	setBall   = balls.On("Set ball", "match, ball", spec.Rate{}, spec.PutItem, spec.UpdateItem)

	member = spec.Function{Name: "test/member", Uses: []spec.Access{checkClub, setBall, getBall, putClub, deleteBall, putBalls}}
)

var errClosed = errors.New("the club is closed")

// TestRequirementIsCheckedByEachWrite: Put, Update and Transact write only while the requirement
// holds; Delete does not check, and what no transaction can do panics.
func TestRequirementIsCheckedByEachWrite(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls, clubs})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, member), prefix)
	required := dynamo.Requirement{
		Access: checkClub,
		Key:    dynamo.Key(checkClub, "mcc"),
		Cond:   dynamo.Equal[club]("status", "open"),
		Err:    errClosed,
	}

	ctx := dynamo.Require(t.Context(), required)
	if _, ok := dynamo.Required(t.Context()); ok {
		t.Error("a context without a requirement has one")
	}

	if got, ok := dynamo.Required(ctx); !ok || got.Err != errClosed {
		t.Errorf("the requirement is %+v, %t", got, ok)
	}

	key := dynamo.Key(setBall, "m", "001")
	none := dynamo.Absent[ball]("match")
	writes := map[string]func(runs int) error{
		"put":    func(n int) error { return dynamo.Put(ctx, db, setBall, ball{Match: "m", Ball: "001", Runs: n}) },
		"update": func(n int) error { return dynamo.Update(ctx, db, setBall, key, dynamo.Set(ball{Runs: n}, "runs")) },
		"transact": func(n int) error {
			return dynamo.Transact(ctx, db, setBall, dynamo.UpdateWrite(key, dynamo.Set(ball{Runs: n}, "runs")))
		},
		"check": func(n int) error {
			if err := dynamo.Check(ctx, db, setBall); err != nil {
				return err
			}

			return dynamo.Update(t.Context(), db, setBall, key, dynamo.Set(ball{Runs: n}, "runs"))
		},
	}
	last := 0

	for i, status := range []string{"closed", "open", ""} {
		must(t, dynamo.Put(t.Context(), db, putClub, club{Club: "mcc", Status: status}))

		for j, name := range []string{"put", "update", "transact", "check"} {
			n := 10*i + j + 1

			err := writes[name](n)
			if status == "open" {
				last = n
			}

			if (status == "open") != (err == nil) ||
				err != nil && (!errors.Is(err, errClosed) || dynamo.IsRefused(err) || !strings.HasPrefix(err.Error(), setBall.ID()+": ")) {
				t.Errorf("%s while the club is %q: %v", name, status, err)
			}

			if got, _, err := dynamo.Get[ball](t.Context(), db, getBall, "m", "001"); err != nil || got.Runs != last {
				t.Errorf("after %s while the club is %q: %+v, %v; want %d runs", name, status, got, err, last)
			}
		}
	}

	must(t, dynamo.Put(t.Context(), db, putClub, club{Club: "mcc", Status: "open"}))
	refused(t, dynamo.Put(ctx, db, setBall, ball{Match: "m", Ball: "001"}, none), setBall.ID(), fmt.Sprint(last))
	refused(t, dynamo.Update(ctx, db, setBall, key, dynamo.Set(ball{Runs: 1}, "runs"), none), setBall.ID(), fmt.Sprint(last))
	must(t, dynamo.Put(t.Context(), db, putClub, club{Club: "mcc"}))

	if _, err := dynamo.Delete(ctx, db, deleteBall, key); err != nil {
		t.Errorf("a deletion: %v", err)
	}

	must(t, dynamo.DeleteAll(ctx, db, putBalls, []dynamo.Item{key}))

	for name, do := range map[string]func(){
		"Replace": func() { dynamo.Replace[ball](ctx, db, setBall, key, dynamo.Set(ball{Runs: 1}, "runs")) },
		"PutAll":  func() { dynamo.PutAll(ctx, db, putBalls, over("m", 1)) },
	} {
		func() {
			defer func() {
				if got, want := recover(), "dynamo: "+name+" cannot check a requirement"; got != want {
					t.Errorf("%s panics with %v, want %s", name, got, want)
				}
			}()

			do()
		}()
	}

	var many []dynamo.Write
	for _, b := range over("m", dynamo.MaxWrites) {
		many = append(many, dynamo.PutWrite(b))
	}

	if err := dynamo.Transact(ctx, db, setBall, many...); err == nil ||
		!strings.Contains(err.Error(), "a transaction of 101 writes: 100 is the limit") {
		t.Errorf("%d writes and the check: %v", len(many), err)
	}

	bad := required

	bad.Cond = dynamo.Unchanged(club{})
	if err := dynamo.Put(dynamo.Require(t.Context(), bad), db, setBall, ball{Match: "m", Ball: "001"}); err == nil ||
		!strings.HasPrefix(err.Error(), setBall.ID()+": ") {
		t.Errorf("a requirement without a condition: %v", err)
	}
}

// TestRestoredTablesHaveAnotherName: a table that was restored is found under its new name.
func TestRestoredTablesHaveAnotherName(t *testing.T) {
	t.Parallel()

	var asked []string

	cfg := meddled(dynamodbsim.Config("http://nowhere"), func(_ context.Context, in any, _ func(any) (any, error)) (any, error) {
		asked = append(asked, aws.ToString(in.(*dynamodb.GetItemInput).TableName))
		return &dynamodb.GetItemOutput{}, nil
	})
	for _, list := range []string{"", "balls:2", "no list"} {
		c := cfg.Copy()
		c.ConfigSources = []any{"another source", restored(list)}
		db := dynamo.Open(c, "stage-")
		_, _, err := dynamo.Get[ball](t.Context(), db, getBall, "m", "001")
		must(t, err)
		_, _, err = dynamo.Get[club](t.Context(), db, getClub, "mcc")
		must(t, err)
	}

	if diff := cmp.Diff([]string{"stage-balls", "stage-clubs", "stage-balls-2", "stage-clubs", "stage-balls", "stage-clubs"},
		asked); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

type restored string

func (r restored) Restored() string { return string(r) }

// TestPatternsOfACall: a call has the patterns that it performs.
func TestPatternsOfACall(t *testing.T) {
	t.Parallel()

	if got := dynamo.Patterns(t.Context()); got != nil {
		t.Errorf("no call has the patterns %v", got)
	}

	var got []string

	db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(ctx context.Context, in any, _ func(any) (any, error)) (any, error) {
		for _, a := range dynamo.Patterns(ctx) {
			got = append(got, a.Name)
		}

		if in, ok := in.(*dynamodb.BatchGetItemInput); ok {
			for _, keys := range in.RequestItems {
				got = append(got, fmt.Sprint("consistent ", aws.ToBool(keys.ConsistentRead)))
			}
		}

		return &dynamodb.BatchGetItemOutput{}, nil
	}), "")

	var (
		b ball
		c club
	)

	reads := []dynamo.Read{{Access: getBalls, Key: []string{"m", "001"}, Into: &b}, {Access: getClubs, Key: []string{"mcc"}, Into: &c}}
	must(t, dynamo.GetEach(t.Context(), db, reads...))
	must(t, dynamo.GetEach(t.Context(), db.Eventual(), reads...))

	want := []string{"Get balls", "Get clubs", "consistent true", "consistent true", "Get balls", "Get clubs",
		"consistent false", "consistent false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("patterns (-want +got):\n%s", diff)
	}
}

// TestErrorsOfSeveralTables: an error of GetEach, of a batch and of Replace names its pattern.
func TestErrorsOfSeveralTables(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")
	item := func(av types.AttributeValue) dynamo.Item { return dynamo.Item{"status": av, "runs": av} }
	wrong := item(&types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberBOOL{}}})

	var answer any

	db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(context.Context, any, func(any) (any, error)) (any, error) {
		if answer == nil {
			return nil, broken
		}

		return answer, nil
	}), "")

	var (
		b ball
		c club
	)

	each := func(ctx context.Context) error {
		return dynamo.GetEach(ctx, db, dynamo.Read{Access: getBalls, Key: []string{"m", "001"}, Into: &b},
			dynamo.Read{Access: getClubs, Key: []string{"mcc"}, Into: &c})
	}
	all := func(ctx context.Context) error {
		_, err := dynamo.GetAll[ball](ctx, db, getBalls, keysOf(over("m", 1)))
		return err
	}
	replace := func(ctx context.Context) error {
		_, err := dynamo.Replace[ball](ctx, db, updateBall, keyOf(1), runs(1))
		return err
	}

	undone := map[string]types.KeysAndAttributes{"balls": {Keys: keysOf(over("m", 1))}}
	for name, try := range map[string]struct {
		answer any
		do     func(context.Context) error
		want   string
		is     error
	}{
		"a call of GetEach": {nil, each, getBalls.ID(), broken},
		"a wait of GetEach": {&dynamodb.BatchGetItemOutput{UnprocessedKeys: undone}, each, getBalls.ID(), context.DeadlineExceeded},
		"an item of GetEach": {&dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{"clubs": {wrong}}},
			each, getClubs.ID(), nil},
		"an item of GetAll": {&dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{"balls": {wrong}}},
			all, getBalls.ID(), nil},
		"a call of Replace":         {nil, replace, updateBall.ID(), broken},
		"the item that is replaced": {&dynamodb.UpdateItemOutput{Attributes: wrong}, replace, updateBall.ID(), nil},
		"an item of PutAll": {nil, func(ctx context.Context) error { return dynamo.PutAll(ctx, db, putBalls, []noItem{{}}) },
			putBalls.ID(), nil},
		"a call of DeleteAll": {nil, func(ctx context.Context) error { return dynamo.DeleteAll(ctx, db, putBalls, keysOf(over("m", 1))) },
			putBalls.ID(), broken},
		"an item of Query": {&dynamodb.QueryOutput{Items: []map[string]types.AttributeValue{wrong}}, func(ctx context.Context) error {
			_, _, err := dynamo.Query[ball](ctx, db, ofMatch, dynamo.Range{Key: dynamo.KeyIs(ofMatch, "m")})
			return err
		}, ofMatch.ID(), nil},
		"an item of Scan": {&dynamodb.ScanOutput{Items: []map[string]types.AttributeValue{wrong}}, func(ctx context.Context) error {
			_, _, err := dynamo.Scan[ball](ctx, db, allBalls, nil, nil, 0)
			return err
		}, allBalls.ID(), nil},
		"a page of QueryAll": {nil, func(ctx context.Context) error {
			items, err := dynamo.QueryAll[ball](ctx, db, ofMatch, dynamo.Range{Key: dynamo.KeyIs(ofMatch, "m")})
			if items != nil {
				t.Errorf("a failed QueryAll returns %v", items)
			}

			return err
		}, ofMatch.ID(), broken},
		"a condition of Put": {nil, func(ctx context.Context) error { return dynamo.Put(ctx, db, putBall, ball{}, dynamo.Unchanged(ball{})) },
			putBall.ID(), nil},
	} {
		answer = try.answer

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if try.is == context.DeadlineExceeded {
			cancel()
			ctx, cancel = context.WithDeadline(t.Context(), time.Now())
		}

		err := try.do(ctx)

		cancel()

		if err == nil || !strings.HasPrefix(err.Error(), try.want+": ") || try.is != nil && !errors.Is(err, try.is) ||
			try.is != broken && errors.Is(err, broken) {
			t.Errorf("%s: got %v, want an error of %s", name, err, try.want)
		}
	}
}

// TestRefusals: what a failed condition becomes, and what another error stays.
func TestRefusals(t *testing.T) {
	t.Parallel()

	broken, other := errors.New("broken"), errors.New("other")
	failed := fmt.Errorf("balls: Put ball: %w", &dynamo.Refused{})

	type results struct {
		Refused, Applied    bool
		Ignored, As, Failed error
	}
	for _, c := range []struct {
		err  error
		want results
	}{
		{nil, results{Applied: true}},
		{failed, results{Refused: true, As: other}},
		{broken, results{Ignored: broken, As: broken, Failed: broken}},
	} {
		applied, err := dynamo.Applied(c.err)

		got := results{dynamo.IsRefused(c.err), applied, dynamo.IgnoreRefused(c.err), dynamo.RefusedAs(c.err, other), err}
		if got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.err, got, c.want)
		}
	}

	if got := (&dynamo.Refused{}).Error(); got != "the condition of the write did not hold" {
		t.Errorf("the error reads %q", got)
	}
}

// TestListIsBounded: the rows of a user are listed up to the limit, in the order in which they were
// last written. A full list drops the rows that no longer exist, and expires with the last of its
// rows.
func TestListIsBounded(t *testing.T) {
	t.Parallel()

	gone := errors.New("broken")
	limit := spec.Limit{Name: "balls per match", Max: 3, Code: "too_many_balls"}

	list := func(ids ...string) dynamo.List { return dynamo.List{IDs: ids, ExpiresAt: 100, TTL: 100} }
	for name, c := range map[string]struct {
		before   dynamo.List
		id       string
		expires  int64
		existing []string // nil: Existing must not be called
		err      error
		want     dynamo.List
	}{
		"the first row":          {dynamo.List{}, "a", 50, nil, nil, dynamo.List{IDs: []string{"a"}, ExpiresAt: 50, TTL: 50}},
		"another row":            {list("a"), "b", 50, nil, nil, list("a", "b")},
		"a row that stays":       {list("a"), "b", 200, nil, nil, dynamo.List{IDs: []string{"a", "b"}, ExpiresAt: 200, TTL: 200}},
		"the last that has room": {list("a", "b"), "c", 50, nil, nil, list("a", "b", "c")},
		"the same row again":     {list("a", "b", "c"), "b", 50, nil, nil, list("a", "c", "b")},
		"again, and too many":    {list("a", "b", "c", "e"), "b", 50, nil, nil, list("a", "c", "e", "b")},
		"full":                   {list("a", "b", "c"), "d", 50, []string{"a", "b", "c"}, problem.Beyond(limit), list("a", "b", "c")},
		"full, one is gone":      {list("a", "b", "c"), "d", 50, []string{"a", "c"}, nil, list("a", "c", "d")},
		"full, all are gone":     {list("a", "b", "c"), "d", 50, []string{}, nil, list("d")},
		"more than the limit":    {list("a", "b", "c", "e"), "d", 50, []string{"a", "b", "c"}, problem.Beyond(limit), list("a", "b", "c", "e")},
		"which exist is unknown": {list("a", "b", "c"), "d", 50, []string{}, gone, list("a", "b", "c")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls})
			db := dynamo.Open(cfg, prefix)

			if c.before.IDs != nil {
				item, err := attributevalue.MarshalMap(c.before)
				must(t, err)

				for k, v := range dynamo.Key(putBall, "list", "x") {
					item[k] = v
				}

				must(t, dynamo.Put(t.Context(), db, putBall, item))
			}

			e := dynamo.Entry{
				Access:    changeBalls,
				List:      []string{"list", "x"},
				ID:        c.id,
				ExpiresAt: c.expires,
				Limit:     limit,
				Existing: func(_ context.Context, ids []string) ([]string, error) {
					if c.existing == nil || !slices.Equal(ids, c.before.IDs) {
						t.Errorf("asked which of %v exist", ids)
					}

					if c.err == gone {
						return nil, gone
					}

					return c.existing, nil
				},
			}

			err := e.Write(t.Context(), db, dynamo.PutWrite(ball{Match: "m", Ball: c.id}))
			if c.err == nil && err != nil || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}

			got, _, err := dynamo.Get[dynamo.List](t.Context(), db, getBall, "list", "x")
			must(t, err)

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}

			if _, ok, err := dynamo.Get[ball](t.Context(), db, getBall, "m", c.id); err != nil || ok != (c.err == nil) {
				t.Errorf("the row is written: %t, %v; want %t", ok, err, c.err == nil)
			}
		})
	}
}

// TestListIsTriedAgain: a write that another one of the user overtakes is tried again, ten times
// in all. A write of the row that is refused is not.
func TestListIsTriedAgain(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		overtaken int // how many attempts another write overtakes
		cond      bool
		err       string
		attempts  int
	}{
		"at once":                {0, false, "", 1},
		"overtaken nine times":   {9, false, "", 10},
		"overtaken ten times":    {10, false, "user_busy", 10},
		"the row itself refused": {0, true, "refused", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls})
			plain := dynamo.Open(cfg, prefix)
			attempts := 0
			db := dynamo.Open(meddled(cfg, func(_ context.Context, in any, next func(any) (any, error)) (any, error) {
				if _, ok := in.(*dynamodb.TransactWriteItemsInput); ok {
					if attempts++; attempts <= c.overtaken {
						must(t, dynamo.Update(t.Context(), plain, updateBall, dynamo.Key(updateBall, "list", "x"),
							dynamo.Set(dynamo.List{IDs: []string{fmt.Sprint(attempts)}}, "ids")))
					}
				}

				return next(in)
			}), prefix)
			e := dynamo.Entry{Access: changeBalls, List: []string{"list", "x"}, ID: "a", Limit: spec.Limit{Max: 20}}

			write := dynamo.PutWrite(ball{Match: "m", Ball: "a"})
			if c.cond {
				write = dynamo.PutWrite(ball{Match: "m", Ball: "a"}, isThere)
			}

			err := e.Write(t.Context(), db, write)

			got := ""
			if p, ok := errors.AsType[*problem.Error](err); ok {
				got = p.Code
			} else if dynamo.IsRefused(err) {
				got = "refused"
			} else if err != nil {
				got = err.Error()
			}

			if got != c.err || attempts != c.attempts {
				t.Errorf("got %q after %d attempts, want %q after %d", got, attempts, c.err, c.attempts)
			}
		})
	}
}
