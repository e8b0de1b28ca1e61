package commitcollect_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/spec"
)

// TestFunctionsListTheirShares: what reads from Strava has a share of the limits of a quarter
// of an hour and of a day, and another one of what a user may cause, and may count both.
func TestFunctionsListTheirShares(t *testing.T) {
	t.Parallel()

	got := map[string][]string{}

	for _, f := range commitcollect.Room().Spec.Functions {
		for _, a := range []spec.Access{tables.TakeBudget, tables.TakeCalls} {
			counts := slices.ContainsFunc(f.Uses, func(u spec.Access) bool { return u.ID() == a.ID() })
			if counts != (len(f.Budgets) > 0) {
				t.Errorf("%s has %d shares, and uses %q: %v", f.Name, len(f.Budgets), a.ID(), counts)
			}
		}

		for _, s := range f.Budgets {
			got[f.Name] = append(got[f.Name], s.String())
		}
	}

	const (
		ofQuarter = " requests in 15m0s, reads of Strava; the same part of what COMMITCOLLECT_STRAVA_LIMITS sets"
		ofDay     = " requests in 24h0m0s, reads of Strava; the same part of what COMMITCOLLECT_STRAVA_LIMITS sets"
	)

	want := map[string][]string{
		"commitcollect/ingest-events": {
			"100 of 100" + ofQuarter, "1000 of 1000" + ofDay,
			"20 of 20 requests in 15m0s, reads of Strava for a user's events", "100 of 100 requests in 24h0m0s, reads of Strava for a user's events",
		},
		"commitcollect/backfill": {
			"85 of 100" + ofQuarter, "850 of 1000" + ofDay, "70 of 100" + ofQuarter, "600 of 1000" + ofDay,
			"30 of 30 requests in 15m0s, reads of Strava for a user's backfills",
			"100 of 100 requests in 24h0m0s, reads of Strava for a user's backfills",
		},
	}

	// They read what is not kept after all others, within the calls of the user's backfills.
	views := append([]string{"60 of 100" + ofQuarter, "500 of 1000" + ofDay}, want["commitcollect/backfill"][4:]...)
	want["commitcollect/list-verdicts"], want["commitcollect/recompute-milestone"] = views, views

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}
