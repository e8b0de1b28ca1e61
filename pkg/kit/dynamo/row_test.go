package dynamo_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// keys are what the rows of a table share, embedded as in a single-table design.
type keys struct {
	PK string
}

// spell is a row with every sort of attribute that updates treat apart.
type spell struct {
	keys
	Bowler  string   `dynamodbav:"bowler,omitempty"`
	Umpire  string   `dynamodbav:"umpire"`
	Runs    int      `dynamodbav:"runs,omitempty"`
	Wickets int      `dynamodbav:"wickets"`
	Maiden  bool     `dynamodbav:"maiden,omitempty"`
	Notes   []string `dynamodbav:"notes,omitempty"`
	Result  outcome  `dynamodbav:"result,omitempty"`
	Cached  string   `dynamodbav:"-"`
}

type outcome string

var (
	spells      = spec.Table{Name: "spells", Key: spec.Key{Partition: "PK"}}
	getSpell    = spells.On("Get spell", "PK", spec.Rate{}, spec.GetItem)
	putSpell    = spells.On("Put spell", "PK", spec.Rate{}, spec.PutItem)
	updateSpell = spells.On("Update spell", "PK", spec.Rate{}, spec.UpdateItem)
	writeSpell  = spells.On("Change spells", "PK", spec.Rate{}, spec.UpdateItem, spec.ConditionCheckItem)

	recorder = spec.Function{Name: "test/record", Uses: []spec.Access{getSpell, putSpell, updateSpell, writeSpell}}
)

// TestChanges: an item holds after an update what the struct's tags say.
func TestChanges(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{spells})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, recorder), prefix)
	full := map[string]any{"PK": "o", "bowler": "Bumrah", "umpire": "Dar", "runs": 6., "wickets": 1., "maiden": true, "result": "won"}

	for name, c := range map[string]struct {
		changes dynamo.Changes
		want    map[string]any // that differ from full; nil for an attribute that is gone
	}{
		"Set": {dynamo.Set(spell{Bowler: "Starc", Runs: 4, Wickets: 2}, "bowler", "runs", "wickets"),
			map[string]any{"bowler": "Starc", "runs": 4., "wickets": 2.}},
		"Set removes the empty": {dynamo.Set(spell{}, "bowler", "runs", "maiden", "notes", "result"),
			map[string]any{"bowler": nil, "runs": nil, "maiden": nil, "result": nil}},
		"Set keeps other zeros": {dynamo.Set(spell{}, "umpire", "wickets"), map[string]any{"umpire": "", "wickets": 0.}},
		"SetZero": {dynamo.SetZero(spell{}, "bowler", "runs", "maiden"),
			map[string]any{"bowler": "", "runs": 0., "maiden": false}},
		"SetIfAbsent, present": {dynamo.SetIfAbsent(spell{Runs: 9}, "runs"), nil},
		"SetIfAbsent, absent":  {dynamo.SetIfAbsent(spell{Notes: []string{"rain"}}, "notes"), map[string]any{"notes": []any{"rain"}}},
		"Remove":               {dynamo.Remove[spell]("bowler", "notes"), map[string]any{"bowler": nil}},
		"Add":                  {dynamo.Add[spell]("wickets", 2), map[string]any{"wickets": 3.}},
		"SetNumber": {dynamo.Remove[spell]("bowler").SetNumber("wickets", 4).SetNumber("runs", 0),
			map[string]any{"bowler": nil, "wickets": 4., "runs": 0.}},
		"an empty slice is kept": {dynamo.Set(spell{Notes: []string{}}, "notes"), map[string]any{"notes": []any{}}},
		"a pointer to a row":     {dynamo.Set(spell{}, "runs").Set(&spell{Wickets: 5}, "wickets"), map[string]any{"runs": nil, "wickets": 5.}},
		"all at once": {
			dynamo.Set(spell{Bowler: "Starc"}, "bowler").SetZero(spell{}, "umpire").SetIfAbsent(spell{Notes: []string{"rain"}},
				"notes").Remove("maiden").Add("runs", -2),
			map[string]any{"bowler": "Starc", "umpire": "", "notes": []any{"rain"}, "maiden": nil, "runs": 4.},
		},
	} {
		t.Run(name, func(t *testing.T) {
			key := strings.ReplaceAll(name, " ", "-")
			must(t, dynamo.Put(t.Context(), db, putSpell,
				spell{keys: keys{key}, Bowler: "Bumrah", Umpire: "Dar", Runs: 6, Wickets: 1, Maiden: true, Result: "won"}))

			want := map[string]any{}
			for _, attributes := range []map[string]any{full, {"PK": key}, c.want} {
				for k, v := range attributes {
					if want[k] = v; v == nil {
						delete(want, k)
					}
				}
			}

			must(t, dynamo.Update(t.Context(), db, updateSpell, dynamo.Key(updateSpell, key), c.changes, dynamo.Exists[spell]("PK")))
			got, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, key)
			must(t, err)

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the item differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSetIsPut: an update of all attributes leaves what Put writes.
func TestSetIsPut(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{spells})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, recorder), prefix)

	for _, row := range []spell{
		{},
		{Notes: []string{}},
		{Bowler: "b", Umpire: "u", Runs: 1, Wickets: 2, Maiden: true, Notes: []string{"n"}, Result: "r"},
	} {
		row.PK = "put"
		must(t, dynamo.Put(t.Context(), db, putSpell, row))
		must(t, dynamo.Put(t.Context(), db, putSpell,
			spell{keys: keys{"set"}, Bowler: "x", Runs: 9, Maiden: true, Notes: []string{"x"}, Result: "x"}))
		must(t, dynamo.Transact(t.Context(), db, writeSpell,
			dynamo.UpdateWrite(dynamo.Key(writeSpell, "set"), dynamo.Set(row, "bowler", "umpire", "runs", "wickets", "maiden", "notes", "result"))))
		want, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, "put")
		must(t, err)
		got, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, "set")
		must(t, err)

		want["PK"] = "set"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: Set and Put differ (-put +set):\n%s", row, diff)
		}
	}
}

// shared has an attribute that an outer field has, too.
type shared struct {
	Inner string `dynamodbav:"umpire"`
}

// TestOuterFieldHidesEmbedded: of two fields with one name, updates write the less embedded,
// whichever is declared first, as Put does.
func TestOuterFieldHidesEmbedded(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{spells})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, recorder), prefix)

	type first struct {
		keys
		Outer string `dynamodbav:"umpire"`
		shared
	}

	type last struct {
		keys
		shared
		Outer string `dynamodbav:"umpire"`
	}
	for name, changes := range map[string]dynamo.Changes{
		"first": dynamo.Set(first{Outer: "Dar", shared: shared{"Bowden"}}, "umpire"),
		"last":  dynamo.Set(last{Outer: "Dar", shared: shared{"Bowden"}}, "umpire"),
	} {
		must(t, dynamo.Put(t.Context(), db, putSpell, last{keys: keys{name}, Outer: "Dar", shared: shared{"Bowden"}}))
		put, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, name)
		must(t, err)
		must(t, dynamo.Update(t.Context(), db, updateSpell, dynamo.Key(updateSpell, name), changes))
		set, _, err := dynamo.Get[map[string]any](t.Context(), db, getSpell, name)
		must(t, err)

		if put["umpire"] != "Dar" || set["umpire"] != "Dar" {
			t.Errorf("%s: Put writes %v and Set %v, want Dar", name, put["umpire"], set["umpire"])
		}
	}
}

// TestConditions tries each condition on items that do and do not meet it.
func TestConditions(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{spells})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, recorder), prefix)
	full := spell{keys: keys{"full"}, Bowler: "Bumrah", Umpire: "Dar", Runs: 6, Wickets: 1}
	must(t, dynamo.Put(t.Context(), db, putSpell, full))
	must(t, dynamo.Put(t.Context(), db, putSpell, spell{keys: keys{"bare"}}))

	changed := full

	changed.Runs++
	for name, c := range map[string]struct {
		cond             expression.ConditionBuilder
		full, bare, none bool
	}{
		"Exists":              {dynamo.Exists[spell]("runs"), true, false, false},
		"Absent":              {dynamo.Absent[spell]("runs"), false, true, true},
		"Equal":               {dynamo.Equal[spell]("runs", 6), true, false, false},
		"Equal to another":    {dynamo.Equal[spell]("bowler", "Starc"), false, false, false},
		"NotEqual":            {dynamo.NotEqual[spell]("runs", 6), false, true, true},
		"Less":                {dynamo.Less[spell]("runs", 7), true, false, false},
		"Less than itself":    {dynamo.Less[spell]("runs", 6), false, false, false},
		"AtMost":              {dynamo.AtMost[spell]("runs", 6), true, false, false},
		"Greater":             {dynamo.Greater[spell]("bowler", "Broad"), true, false, false},
		"Greater than itself": {dynamo.Greater[spell]("runs", 6), false, false, false},
		"Unchanged":           {dynamo.Unchanged(full, "runs", "bowler", "wickets"), true, false, false},
		"Unchanged, bare":     {dynamo.Unchanged(spell{}, "runs", "umpire", "wickets"), false, true, false},
		"first changed":       {dynamo.Unchanged(changed, "runs", "bowler"), false, false, false},
		"changed":             {dynamo.Unchanged(changed, "bowler", "runs"), false, false, false},
		"a named type":        {dynamo.Equal[spell]("result", outcome("won")), false, false, false},
	} {
		for key, want := range map[string]bool{"full": c.full, "bare": c.bare, "none": c.none} {
			err := dynamo.Transact(t.Context(), db, writeSpell, dynamo.CheckWrite(dynamo.Key(writeSpell, key), c.cond))
			if got, err := dynamo.Applied(err); err != nil || got != want {
				t.Errorf("%s on %s: got %t, %v, want %t", name, key, got, err, want)
			}
		}
	}
}

// TestMistakesPanic: what no item can have is found by the first call.
func TestMistakesPanic(t *testing.T) {
	t.Parallel()

	type badTag struct {
		At int64 `dynamodbav:"at,unixtime"`
	}

	for name, c := range map[string]struct {
		do   func()
		want string
	}{
		"Set": {func() { dynamo.Set(spell{}, "rusn") },
			`spell has no attribute "rusn"; it has PK, bowler, maiden, notes, result, runs, umpire, wickets`},
		"a field's name":  {func() { dynamo.Set(spell{}, "Runs") }, `no attribute "Runs"`},
		"not stored":      {func() { dynamo.Set(spell{}, "Cached") }, `no attribute "Cached"`},
		"SetZero":         {func() { dynamo.SetZero(spell{}, "x") }, `no attribute "x"`},
		"SetIfAbsent":     {func() { dynamo.SetIfAbsent(spell{}, "x") }, `no attribute "x"`},
		"Remove":          {func() { dynamo.Remove[spell]("x") }, `no attribute "x"`},
		"Add":             {func() { dynamo.Add[spell]("x", 1) }, `no attribute "x"`},
		"Add to a string": {func() { dynamo.Add[spell]("bowler", 1) }, `"bowler" of dynamo_test.spell is a string, and is never 1`},
		"SetNumber": {func() { dynamo.Remove[spell]("runs").SetNumber("bowler", 1) },
			`"bowler" of dynamo_test.spell is a string, and is never 1`},
		"Exists":         {func() { dynamo.Exists[spell]("x") }, `no attribute "x"`},
		"Absent":         {func() { dynamo.Absent[spell]("x") }, `no attribute "x"`},
		"Unchanged":      {func() { dynamo.Unchanged(spell{}, "x") }, `no attribute "x"`},
		"Equal":          {func() { dynamo.Equal[spell]("x", 1) }, `no attribute "x"`},
		"another kind":   {func() { dynamo.Equal[spell]("runs", "6") }, `"runs" of dynamo_test.spell is a number, and is never "6"`},
		"another struct": {func() { dynamo.Set(spell{}, "runs").Set(ball{}, "runs") }, "changes of a dynamo_test.spell take no dynamo_test.ball"},
		"no struct":      {func() { dynamo.Exists[int]("x") }, "int is not a struct"},
		"another option": {func() { dynamo.Exists[badTag]("at") }, `has "unixtime": only omitempty is supported`},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, c.want) {
					t.Errorf("it panics with %q, want %q", got, c.want)
				}
			}()

			c.do()
		})
	}
}

// TestKeyConditions reads parts of a partition of a table and of an index.
func TestKeyConditions(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls})

	db := dynamo.Open(dynamotest.WithGuard(t, cfg, scorer), prefix)
	for _, b := range []string{"1.1", "1.2", "2.1", "2.2"} {
		must(t, dynamo.Put(t.Context(), db, putBall, ball{Match: "m", Ball: b, Bowler: "x"}))
	}

	for name, c := range map[string]struct {
		access spec.Access
		r      dynamo.Range
		want   []string
	}{
		"KeyIs":         {ofMatch, dynamo.Range{Key: dynamo.KeyIs(ofMatch, "m")}, []string{"1.1", "1.2", "2.1", "2.2"}},
		"KeyBeginsWith": {ofMatch, dynamo.Range{Key: dynamo.KeyBeginsWith(ofMatch, "m", "2.")}, []string{"2.1", "2.2"}},
		"KeyBetween":    {ofMatch, dynamo.Range{Key: dynamo.KeyBetween(ofMatch, "m", "1.2", "2.1")}, []string{"1.2", "2.1"}},
		"KeyLess":       {ofMatch, dynamo.Range{Key: dynamo.KeyLess(ofMatch, "m", "1.2")}, []string{"1.1"}},
		"KeyAtMost":     {ofMatch, dynamo.Range{Key: dynamo.KeyAtMost(ofMatch, "m", "1.2")}, []string{"1.1", "1.2"}},
		"KeyAtLeast":    {ofMatch, dynamo.Range{Key: dynamo.KeyAtLeast(ofMatch, "m", "1.2")}, []string{"1.2", "2.1", "2.2"}},
		"of an index":   {ofBowler, dynamo.Range{Key: dynamo.KeyBeginsWith(ofBowler, "x", "1.")}, []string{"1.1", "1.2"}},
		"StartKey": {ofBowler, dynamo.Range{Key: dynamo.KeyIs(ofBowler, "x"), After: dynamo.StartKey(ofBowler, "x", "1.2", "m", "1.2")},
			[]string{"2.1", "2.2"}},
	} {
		found, err := dynamo.QueryAll[ball](t.Context(), db, c.access, c.r)
		must(t, err)

		var got []string
		for _, b := range found {
			got = append(got, b.Ball)
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s finds others (-want +got):\n%s", name, diff)
		}
	}

	defer func() {
		if recover() == nil {
			t.Error("an index that the table does not have is queried")
		}
	}()

	dynamo.KeyIs(spec.Access{Table: balls, Index: "none"}, "m")
}

// benchRow is as wide as the widest row of the fleet.
type benchRow struct {
	A, B, C, D, E, F, G, H, I, J, K, L string
	Holder                             string `dynamodbav:"holder"`
	ExpiresAt                          int64  `dynamodbav:"expiresAt"`
	Slot                               int64  `dynamodbav:"slot,omitempty"`
	M, N, O, P, Q, R, S, T, U, V       int64
}

// BenchmarkUpdate compares an update and its condition with the same in the SDK's
// builder, each with the expression that is sent.
func BenchmarkUpdate(b *testing.B) {
	build := func(b *testing.B, set expression.UpdateBuilder, cond expression.ConditionBuilder) {
		if _, err := expression.NewBuilder().WithUpdate(set).WithCondition(cond).Build(); err != nil {
			b.Fatal(err)
		}
	}
	row := benchRow{Holder: "tick", ExpiresAt: 1780315200, Slot: 7}

	b.Run("expression", func(b *testing.B) {
		b.ReportAllocs()

		for b.Loop() {
			build(b, expression.Set(expression.Name("holder"), expression.Value(row.Holder)).
				Set(expression.Name("expiresAt"), expression.Value(row.ExpiresAt)).
				Set(expression.Name("slot"), expression.Value(row.Slot)),
				expression.AttributeExists(expression.Name("A")).And(expression.Equal(expression.Name("holder"), expression.Value("tick"))))
		}
	})
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()

		for b.Loop() {
			build(b, dynamo.BuilderOf(dynamo.Set(row, "holder", "expiresAt", "slot")),
				dynamo.Exists[benchRow]("A").And(dynamo.Equal[benchRow]("holder", "tick")))
		}
	})
	b.Run("row alone", func(b *testing.B) {
		b.ReportAllocs()

		for b.Loop() {
			dynamo.Set(row, "holder", "expiresAt", "slot")
			dynamo.Exists[benchRow]("A").And(dynamo.Equal[benchRow]("holder", "tick"))
		}
	})
	b.Run("marshal the row", func(b *testing.B) {
		b.ReportAllocs()

		for b.Loop() {
			if _, err := attributevalue.MarshalMap(row); err != nil {
				b.Fatal(err)
			}
		}
	})
}
