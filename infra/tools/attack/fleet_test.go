package attack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"matchday/infra/testkit/pgtest"
	"matchday/infra/tools/binaries"
	"matchday/infra/tools/mutation"
)

const root = "../../.."

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestAttack calls every operation of every room as every caller, then attacks it, on
// a fleet. It records the counts in $MATCHDAY_COVERAGE.
func TestAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	program, err := binaries.Local(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}

	m := newMatrix(program)
	m.visit = func(ctx context.Context, o mutation.Operation, s Sample) error {
		if err := m.row(ctx, o, s); err != nil {
			return err
		}

		return m.storm(ctx, o, s)
	}

	a, err := m.walk(t.Context(), Config{Seed: 1, Most: 120})
	if err != nil {
		t.Fatal(err)
	}

	t.Run("authorization", m.report)
	t.Run("requests", func(t *testing.T) { report(t, m.Fleet, a) })
}

// report prints what the attack found, and records its counts.
func report(t *testing.T, w *Fleet, a *Attack) {
	t.Log(a.Summary())

	for _, f := range a.Findings() {
		t.Error(f)
	}

	for _, s := range a.Slow() {
		t.Log("slow: ", s)
	}

	reads := map[string]int{}
	for _, r := range w.reads {
		reads[r.Room]++
	}

	for name, o := range w.operations {
		if !a.operations[name] {
			t.Errorf("%s was not attacked", name)
		}

		if got := a.kinds["read after "+name]; o.Changes() && got < reads[o.Room] {
			t.Errorf("what %s writes is read by %d of the %d reads of its room", name, got, reads[o.Room])
		}
	}

	if dir := os.Getenv("MATCHDAY_COVERAGE"); dir != "" {
		operations, mutations, requests := a.Counts()

		line := fmt.Sprintf("%d operations x %d mutations attacked, %d requests\n", operations, mutations, requests)
		if err := os.WriteFile(filepath.Join(dir, "attack"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
