package spec_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"matchday/pkg/spec"
)

var (
	matches = spec.Table{
		Name: "matches", Key: spec.Key{Partition: "id"},
		Indexes: []spec.Index{{Name: "by-day", Key: spec.Key{Partition: "day", Sort: "id"}}, {Name: "live", Key: spec.Key{Partition: "live"}, KeysOnly: true}},
	}
	balls = spec.Table{Name: "balls", Key: spec.Key{Partition: "match", Sort: "ball"}, TTL: "expiresAt"}

	getMatch  = matches.On("Get match", "id", "per request", spec.GetItem)
	editMatch = matches.On("Edit match", "id", "rare", spec.UpdateItem, spec.ConditionCheckItem)
	ofDay     = matches.OnIndex("by-day", "Matches of a day", "day", "per request", spec.Query)
	ofDayOld  = matches.OnIndex("by-day", "Old matches of a day", "day", "rare", spec.Query)
	allLive   = matches.OnIndex("live", "All live", "", "every 2.5 s", spec.Scan)
	putBalls  = balls.On("Put balls", "match, ball", "per change", spec.BatchWriteItem, spec.PutItem)
)

func TestAccess(t *testing.T) {
	t.Parallel()
	want := spec.Access{Name: "Matches of a day", Table: matches, Index: "by-day", Ops: []spec.Op{spec.Query}, Key: "day", Often: "per request"}
	if !reflect.DeepEqual(ofDay, want) {
		t.Errorf("got %+v, want %+v", ofDay, want)
	}
	if got := getMatch.ID(); got != "matches: Get match" || getMatch.Index != "" {
		t.Errorf("got %q of the index %q", got, getMatch.Index)
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		uses []spec.Access
		want []spec.Grant
	}{
		{"nothing", nil, nil},
		{"a table and its indexes apart, in order", []spec.Access{putBalls, allLive, ofDay, getMatch, ofDayOld, editMatch, getMatch}, []spec.Grant{
			{"balls", "", []spec.Op{spec.BatchWriteItem, spec.PutItem}},
			{"matches", "", []spec.Op{spec.ConditionCheckItem, spec.GetItem, spec.UpdateItem}},
			{"matches", "by-day", []spec.Op{spec.Query}},
			{"matches", "live", []spec.Op{spec.Scan}},
		}},
		{"an index without its table", []spec.Access{ofDay}, []spec.Grant{{"matches", "by-day", []spec.Op{spec.Query}}}},
	} {
		if got := (spec.Function{Uses: c.uses}).Grants(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGrantsAreExact: a function may do what its patterns do, and nothing else,
// whatever their order; and asking does not change the patterns.
func TestGrantsAreExact(t *testing.T) {
	t.Parallel()
	type right struct {
		table, index string
		op           spec.Op
	}
	ops := []spec.Op{spec.GetItem, spec.BatchGetItem, spec.Query, spec.Scan, spec.PutItem, spec.UpdateItem, spec.DeleteItem, spec.BatchWriteItem}
	rapid.Check(t, func(t *rapid.T) {
		uses := rapid.SliceOf(rapid.Custom(func(t *rapid.T) spec.Access {
			table := spec.Table{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "table")}
			return table.OnIndex(rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "index"), "", "", "", rapid.SliceOf(rapid.SampledFrom(ops)).Draw(t, "ops")...)
		})).Draw(t, "uses")
		want := map[right]bool{}
		var before [][]spec.Op
		for _, a := range uses {
			before = append(before, slices.Clone(a.Ops))
			for _, op := range a.Ops {
				want[right{a.Table.Name, a.Index, op}] = true
			}
		}
		got := map[right]bool{}
		for _, g := range (spec.Function{Uses: uses}).Grants() {
			for _, op := range g.Ops {
				if r := (right{g.Table, g.Index, op}); got[r] {
					t.Fatalf("%v is granted twice", r)
				} else {
					got[r] = true
				}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for i, a := range uses {
			if !slices.Equal(a.Ops, before[i]) {
				t.Fatalf("the pattern's operations became %v from %v", a.Ops, before[i])
			}
		}
		shuffled := rapid.Permutation(uses).Draw(t, "shuffled")
		if a, b := (spec.Function{Uses: uses}).Grants(), (spec.Function{Uses: shuffled}).Grants(); !reflect.DeepEqual(a, b) {
			t.Fatalf("the order of patterns changes the grants from %v to %v", a, b)
		}
	})
}

func TestDead(t *testing.T) {
	t.Parallel()
	if got := (spec.Queue{Name: "cricket-push"}).Dead(); got != "cricket-push-dead" {
		t.Errorf("got %q", got)
	}
}
