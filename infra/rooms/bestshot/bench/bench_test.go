package bench

import "testing"

// TestRun measures a small tournament.
func TestRun(t *testing.T) {
	t.Parallel()
	rows, _, err := run(t.Context(), 150, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Logf("%s: %s, %s; %s", r.Name, r.Time, r.Compared, r.Details)
	}
	if len(rows) != 5 {
		t.Errorf("%d rows, want 5", len(rows))
	}
}
