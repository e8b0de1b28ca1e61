package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// kinds is a row with attributes of every kind that is compared, and of some that are not.
type kinds struct {
	PK     string
	Bool   bool
	Float  float64
	Small  uint8
	Ptr    uintptr
	List   []string
	Own    own
	OwnPtr ownPtr
	Any    types.AttributeValue
	Array  [0]int          `dynamodbav:",omitempty"`
	Struct struct{ X int } `dynamodbav:",omitempty"`
	Map    map[string]int  `dynamodbav:",omitempty"`
	Number *int            `dynamodbav:",omitempty"`
	hidden string
}

type own bool

func (own) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	return &types.AttributeValueMemberS{Value: "own"}, nil
}

type ownPtr int

func (*ownPtr) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	return &types.AttributeValueMemberS{Value: "own"}, nil
}

// TestKindsAreCompared: a value of another kind than the attribute's panics; a kind that DynamoDB's
// values do not show is not checked.
func TestKindsAreCompared(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name  string
		value any
		want  string // the panic, "" for none
	}{
		{"Bool", true, ""},
		{"Bool", "x", "is a bool"},
		{"Bool", 1, "is a bool"},
		{"Bool", nil, ""},
		{"Bool", own(true), ""},
		{"Bool", []string{}, ""},
		{"Float", 1, ""},
		{"Float", uint16(1), ""},
		{"Float", float32(1), ""},
		{"Float", "x", "is a number"},
		{"Float", true, "is a number"},
		{"Small", 1.5, ""},
		{"Small", "x", "is a number"},
		{"PK", "x", ""},
		{"PK", 1, "is a string"},
		{"PK", uintptr(1), ""},
		{"PK", complex(1, 1), ""},
		{"Ptr", "x", ""},
		{"List", "x", ""},
		{"Own", "x", ""},
		{"OwnPtr", "x", ""},
		{"Any", "x", ""},
		{"hidden", "x", "no attribute"},
	} {
		func() {
			defer func() {
				got := fmt.Sprint(recover())
				if c.want == "" && got != "<nil>" || !strings.Contains(got, c.want) {
					t.Errorf("%s compared with %#v: %s, want %q", c.name, c.value, got, c.want)
				}
			}()

			dynamo.Equal[kinds](c.name, c.value)
		}()
	}
}

// TestSetLeavesOutWhatPutDoes: an attribute that Put leaves out for omitempty is removed by Set, and
// no other.
func TestSetLeavesOutWhatPutDoes(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{spells})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, recorder), prefix)

	for i, row := range []kinds{
		{hidden: "x"},
		{Map: map[string]int{}, Number: new(0)},
		{Map: map[string]int{"a": 1}, Number: new(1), Struct: struct{ X int }{1}},
	} {
		row.PK = "put"
		must(t, dynamo.Put(t.Context(), db, putSpell, row))
		must(t, dynamo.Update(t.Context(), db, updateSpell, dynamo.Key(updateSpell, "set"), dynamo.Set(row, "Array", "Struct", "Map", "Number")))
		want, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, "put")
		must(t, err)
		got, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, "set")
		must(t, err)

		for _, name := range []string{"Array", "Struct", "Map", "Number", "hidden"} {
			if diff := cmp.Diff(want[name], got[name]); diff != "" {
				t.Errorf("row %d: %s (-put +set):\n%s", i, name, diff)
			}
		}
	}
}

// shallow and deep have an attribute twice: that of the outer struct counts, wherever it stands.
type (
	inner struct {
		Runs int `dynamodbav:"runs"`
	}
	shallow struct {
		Runs int `dynamodbav:"runs"`
		inner
	}
	deep struct {
		inner
		Runs int `dynamodbav:"runs"`
	}
)

func TestOuterAttributeCounts(t *testing.T) {
	t.Parallel()

	db := open(t)
	for i, changes := range []dynamo.Changes{dynamo.Set(shallow{Runs: 1, inner: inner{9}}, "runs"),
		dynamo.Set(deep{Runs: 2, inner: inner{9}}, "runs")} {
		must(t, dynamo.Update(t.Context(), db, updateBall, dynamo.Key(updateBall, "m", "001"), changes))

		if got, _, err := dynamo.Get[ball](t.Context(), db, getBall, "m", "001"); err != nil || got.Runs != i+1 {
			t.Errorf("got %+v, %v; want %d runs", got, err, i+1)
		}
	}
}

// TestConditionsWithValues: each write sends the values of its condition.
func TestConditionsWithValues(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls})
	db := dynamo.Open(cfg, prefix)
	b := ball{Match: "m", Ball: "001", Runs: 4}
	must(t, dynamo.Put(t.Context(), db, putBall, b))

	four, five := dynamo.Equal[ball]("runs", 4), dynamo.Equal[ball]("runs", 5)

	for name, write := range map[string]func(ok bool) error{
		"Put": func(ok bool) error {
			if ok {
				return dynamo.Put(t.Context(), db, putBall, b, four)
			}

			return dynamo.Put(t.Context(), db, putBall, b, five)
		},
		"PutWrite": func(ok bool) error {
			if ok {
				return dynamo.Transact(t.Context(), db, changeBalls, dynamo.PutWrite(b, four))
			}

			return dynamo.Transact(t.Context(), db, changeBalls, dynamo.PutWrite(b, five))
		},
	} {
		if err := write(true); err != nil {
			t.Errorf("%s of four runs: %v", name, err)
		}

		if err := write(false); !dynamo.IsRefused(err) {
			t.Errorf("%s of five runs: %v, want a refusal", name, err)
		}
	}
}

// TestWrongWritesAreNotSent: a write without a valid item or condition fails before the call.
func TestWrongWritesAreNotSent(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")
	calls := 0
	db := dynamo.Open(meddled(dynamodbsim.Config("http://nowhere"), func(context.Context, any, func(any) (any, error)) (any, error) {
		calls++
		return nil, broken
	}), "")

	unset := dynamo.Unchanged(ball{})
	for name, w := range map[string]dynamo.Write{
		"item": dynamo.PutWrite(noItem{}), "put": dynamo.PutWrite(ball{}, unset), "update": dynamo.UpdateWrite(keyOf(1), runs(1), unset),
		"delete": dynamo.DeleteWrite(keyOf(1), unset), "check": dynamo.CheckWrite(keyOf(1), unset),
	} {
		if err := dynamo.Transact(t.Context(), db, changeBalls,
			w); err == nil || !strings.HasPrefix(err.Error(), changeBalls.ID()+": ") || calls > 0 {
			t.Errorf("%s: %v after %d calls", name, err, calls)
		}
	}

	ctx := dynamo.Require(t.Context(), dynamo.Requirement{Access: getClub, Key: dynamo.Key(getClub, "mcc"), Cond: dynamo.Unchanged(club{})})
	if err := dynamo.Transact(ctx, db, changeBalls, dynamo.DeleteWrite(keyOf(1))); err == nil || calls > 0 {
		t.Errorf("a requirement without a condition: %v after %d calls", err, calls)
	}

	if err := (dynamo.Entry{Access: getBall, List: []string{"list", "x"}}).Write(t.Context(), db); !errors.Is(err, broken) || calls != 1 {
		t.Errorf("a list that cannot be read: %v after %d calls, want one", err, calls)
	}
}

// TestStartKeyOfAnIndex: it has the key of the index and that of the table.
func TestStartKeyOfAnIndex(t *testing.T) {
	t.Parallel()

	table := spec.Table{
		Name:    "t",
		Key:     spec.Key{Partition: "p", Sort: "s"},
		Indexes: []spec.Index{{Name: "i", Key: spec.Key{Partition: "ip", Sort: "is"}}},
	}

	got := map[string]string{}
	for name, v := range dynamo.StartKey(table.OnIndex("i", "", "", spec.Rate{}), "a", "b", "c", "d") {
		got[name] = v.(*types.AttributeValueMemberS).Value
	}

	if diff := cmp.Diff(map[string]string{"ip": "a", "is": "b", "p": "c", "s": "d"}, got); diff != "" {
		t.Errorf("key (-want +got):\n%s", diff)
	}
	defer func() {
		if got := recover(); got != "dynamo: t has no index x" {
			t.Errorf("an index that the table does not have: %v", got)
		}
	}()

	dynamo.KeyIs(table.OnIndex("x", "", "", spec.Rate{}), "a")
}
