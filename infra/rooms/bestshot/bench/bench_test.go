package bench

import (
	"strings"
	"testing"
)

// TestRun measures a small tournament.
func TestRun(t *testing.T) {
	t.Parallel()

	const members, runs = 150, 2

	w, err := newWorld(t.Context(), members)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close(t.Context())

	rows, err := w.measure(t.Context(), members, runs)
	if err != nil {
		t.Fatal(err)
	}

	var names []string

	for _, r := range rows {
		t.Logf("%s: %s, %s; %s", r.Name, r.Time, r.Compared, r.Details)
		names = append(names, r.Name)
	}

	if len(rows) != 6 {
		t.Errorf("%d rows, want 6", len(rows))
	}

	if all := strings.Join(names, "\n"); !strings.Contains(all, "rebuilt from 1,500 rows") {
		t.Errorf("no leaderboard is rebuilt from 1,500 rows:\n%s", all)
	}

	// Each run settles a match by the room and a match by pgx, and one run is not measured.
	if err := w.expectLedger(t.Context(), members*(matches+2*(runs+1))); err != nil {
		t.Error(err)
	}
}

// TestScale: a final of 20,000 members is settled, corrected, ruled anew and made void in ranges, and its
// pages, places and guesses are there.
func TestScale(t *testing.T) {
	t.Parallel()

	members := 20_000
	if testing.Short() {
		members = 6000 // two ranges
	}

	rows, err := grow(t.Context(), members)
	if err != nil {
		t.Fatal(err)
	}

	for _, r := range rows {
		t.Logf("%s: %s, %s; %s", r.Name, r.Time, r.Compared, r.Details)
	}

	if len(rows) != 14 {
		t.Errorf("%d rows, want 14", len(rows))
	}
}

// TestSettlementsAreCounted: a settlement that writes nothing is an error of the benchmark.
func TestSettlementsAreCounted(t *testing.T) {
	t.Parallel()

	w, err := newWorld(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close(t.Context())

	if err := w.expectLedger(t.Context(), 5*matches+5); err == nil {
		t.Error("a ledger without the rows of a settlement is accepted")
	}
}
