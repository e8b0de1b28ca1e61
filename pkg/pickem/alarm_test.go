package pickem_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/pickem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/spec"
)

// TestAlarms: a single event whose scoring is overdue counts, in three of five minutes.
func TestAlarms(t *testing.T) {
	t.Parallel()

	var got []spec.Alarm

	for _, a := range pickem.Room().Spec.Alarms {
		a.Watches, a.IfDown = "", ""
		got = append(got, a)
	}

	want := []spec.Alarm{{
		Name:     "scores-behind",
		Function: "pickem/lock-events",
		Metrics:  []spec.Metric{event.ScoresBehind},
		Stat:     "Sum",
		Bound:    0,
		Minutes:  3,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("alarms (-want +got):\n%s", diff)
	}
}
