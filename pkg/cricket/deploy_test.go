package cricket_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/cricket"
)

// TestAlarms: what each alarm watches, its bound, and how many of five minutes must be out of
// bounds. Three, so that one hiccup wakes nobody; two for missed slots, because a lock screen
// then stands still; one for phones that Apple refuses, because a wrong bundle id does so at
// once.
func TestAlarms(t *testing.T) {
	t.Parallel()

	var got []string

	for _, a := range cricket.Room().Spec.Alarms {
		var metrics []string
		for _, m := range a.Metrics {
			metrics = append(metrics, m.Name)
		}

		bound := "over"
		if a.Below {
			bound = "under"
		}

		text := fmt.Sprintf("%s: %s of %s %s %g in %d of 5 minutes", a.Name, a.Stat, strings.Join(metrics, ", "), bound, a.Bound, a.Minutes)
		if a.While.Name != "" {
			text += ", while " + a.While.Name
		}

		if a.When.Function != "" {
			text += ", when " + a.When.Function + " emits " + a.When.Metric.Name
		}

		got = append(got, text+", by "+a.Function)
	}

	want := []string{
		"slots-missed: Sum of SlotsClaimed under 22 in 2 of 5 minutes, while MatchesLive, by cricket/tick",
		"ticks-late: p99 of TickLag over 1000 in 3 of 5 minutes, by cricket/tick",
		"pushes-stopped: SampleCount of PushesDelivered under 1 in 3 of 5 minutes, when cricket/tick emits ChangesQueued, " +
			"by cricket/push-activities",
		"pushes-late: p99 of PushDelay over 10000 in 3 of 5 minutes, by cricket/push-activities",
		"provider-failing: Sum of ProviderFaults over 6 in 3 of 5 minutes, by cricket/tick",
		"matches-failing: Sum of MatchesFailed over 12 in 3 of 5 minutes, by cricket/tick",
		"matches-stale: Sum of MatchesStale over 0 in 3 of 5 minutes, by cricket/tick",
		"pushes-unreached: Sum of PushesUnreached over 20 in 3 of 5 minutes, by cricket/push-activities",
		"broadcasts-failing: Sum of BroadcastsFailed over 5 in 3 of 5 minutes, by cricket/push-activities",
		"apple-failing: Sum of AppleFailed over 2 in 3 of 5 minutes, by cricket/push-activities",
		"google-failing: Sum of GoogleFailed over 2 in 3 of 5 minutes, by cricket/push-topics",
		"android-alerts-failing: Sum of GoogleFailed over 0 in 3 of 5 minutes, by cricket/send-alerts",
		"alerts-failing: Sum of AppleFailed over 0 in 3 of 5 minutes, by cricket/send-alerts",
		"phones-refused: Sum of PushesGone over 500 in 1 of 5 minutes, by cricket/push-activities",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("alarms (-want +got):\n%s", diff)
	}
}
