package replay

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/testkit"
	"matchday/pkg/pickem"
)

const root = "../../../.."

// TestReplay plays small worlds through the fleet, the last with faults, and twice.
func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	program := testkit.Program(t, root)

	var wrong bytes.Buffer // what went wrong in the runs with faults

	run := func(t *testing.T, shows int, seed uint64, faults *uint64) string {
		t.Helper()

		var out bytes.Buffer

		cfg := replay.Config{Root: root, Program: program, Seed: seed, Faults: faults, Out: &out}
		if faults != nil {
			cfg.Progress = &wrong
		}

		room := fleet.Room{
			Room:     pickem.Room(),
			App:      "app",
			Simulate: func(fleet.Host) ([]string, error) { return []string{"PICKEM_BUNDLE=app"}, nil },
		}

		err := Run(t.Context(), Config{Config: cfg, Rooms: []fleet.Room{room}, Shows: shows})
		if err != nil || strings.Count("\n"+out.String(), "\nok ") != shows {
			t.Errorf("%v\n%s", err, &out)
		}

		return out.String()
	}
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		run(t, 4, 4, nil)
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()

		seed := uint64(7)
		out := run(t, 3, 5, &seed)

		for _, kind := range []string{"throttled", "failed", "cut after effect", "failed for good"} {
			if !strings.Contains(wrong.String(), " × "+kind) {
				t.Errorf("the fault %q is missing: %s", kind, &wrong)
			}
		}

		if diff := cmp.Diff(out, run(t, 3, 5, &seed)); diff != "" {
			t.Errorf("the same seed gives another run (-first +second):\n%s", diff)
		}
	})
}

// TestTable: equal members share a rank, of equal points fewer shows lead, void matches bring nothing, and the bonus needs all
// others.
func TestTable(t *testing.T) {
	t.Parallel()

	left, right := &side{}, &side{}
	one := &match{points: 10, sides: []*side{left, right}, winner: left}
	two := &match{points: 5, sides: []*side{left, right}, winner: void}
	ann, bob, cleo, dan := &member{name: "Ann"}, &member{name: "bob"}, &member{name: "Cleo"}, &member{name: "Dan"}
	members := []*member{dan, cleo, bob, ann}
	first := &show{id: "2026-01-01-a", bonus: 3, card: []*match{one, two}, picks: map[*member]map[*match]*side{
		ann: {one: left, two: left}, bob: {one: right, two: right}, cleo: {},
	}}
	second := &show{id: "2026-01-02-b", card: []*match{{points: 13, sides: one.sides, winner: right}}, picks: map[*member]map[*match]*side{}}
	second.picks[bob] = map[*match]*side{second.card[0]: right}

	up := func(n int) *int { return &n }
	for _, c := range []struct {
		what      string
		got, want []row
	}{
		{"a show", table(members, []*show{first}),
			[]row{{1, "Ann", 13, 1, 1, 3, nil}, {2, "bob", 0, 0, 1, 0, nil}, {2, "Cleo", 0, 0, 1, 0, nil}}},
		{"the year", year(members, []*show{second, first}),
			[]row{{1, "Ann", 13, 1, 1, 0, up(0)}, {2, "bob", 13, 1, 2, 0, up(0)}, {3, "Cleo", 0, 0, 1, 0, up(-1)}}},
		{"nothing", year(members, nil), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}

	if got := differences("it", []row{{Rank: 1, Name: "Ann"}}, nil); len(got) != 1 || !strings.Contains(got[0], "line 1: got 1. Ann") {
		t.Errorf("the differences are %q", got)
	}
}

// TestWorldsDiffer: another seed is another world, and the same seed the same.
func TestWorldsDiffer(t *testing.T) {
	t.Parallel()

	times := func(seed uint64) (all []time.Time) {
		for _, s := range newWorld(seed, 26).shows {
			all = append(all, s.starts)
		}

		return all
	}
	if cmp.Diff(times(1), times(1)) != "" || cmp.Diff(times(1), times(2)) == "" {
		t.Error("a seed must give one world")
	}
}
