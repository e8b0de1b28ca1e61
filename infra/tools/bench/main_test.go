package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// TestRoomAndMembersChooseTheBenchmark: ROOM runs the suite of a room, with MEMBERS its growth.
// What no room has is refused with the valid values.
func TestRoomAndMembersChooseTheBenchmark(t *testing.T) {
	t.Parallel()

	named := func(name string, suite measure.Suite) rooms.Room {
		return rooms.Room{Room: app.Room{Spec: spec.Room{Name: name}}, Bench: suite}
	}
	all := func(context.Context) ([]measure.Row, any, error) { return []measure.Row{{Name: "all"}}, nil, nil }
	grown := func(_ context.Context, members int) ([]measure.Row, error) {
		return []measure.Row{{Name: measure.Counted(members, "member")}}, nil
	}
	known := []rooms.Room{
		named("lab", measure.Suite{Run: all}),
		named("yard", measure.Suite{Run: all, Scale: grown}),
		named("shed", measure.Suite{}),
	}

	for _, c := range []struct{ room, members, row, message string }{
		{"lab", "", "all", ""},
		{"yard", "20000", "20,000 members", ""},
		{"lab", "20000", "", "ROOM=lab has no such benchmark; rooms with one: yard"},
		{"shed", "", "", "ROOM=shed has no such benchmark; rooms with one: lab, yard"},
		{"", "20000", "", "rooms with one: yard"},
		{"yard", "many", "", "MEMBERS=many: valid are 1 to 10000000"},
		{"yard", "0", "", "MEMBERS=0: valid are 1 to 10000000"},
	} {
		suite, err := choose(known, c.room, c.members)
		if c.message != "" {
			if err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("ROOM=%s MEMBERS=%s: got the error %v, want one with %q", c.room, c.members, err, c.message)
			}

			continue
		}

		if err != nil {
			t.Errorf("ROOM=%s MEMBERS=%s: %v", c.room, c.members, err)
			continue
		}

		rows, err := suite(t.Context())
		if diff := cmp.Diff([]measure.Row{{Name: c.row}}, rows); diff != "" || err != nil {
			t.Errorf("ROOM=%s MEMBERS=%s: %v (-want +got):\n%s", c.room, c.members, err, diff)
		}
	}
}
