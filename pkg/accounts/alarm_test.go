package accounts

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/spec"
)

// TestAlarms: a single overdue job counts, at the first run that sees it.
func TestAlarms(t *testing.T) {
	t.Parallel()

	var got []spec.Alarm

	for _, a := range Room().Spec.Alarms {
		a.Watches, a.IfDown = "", ""
		got = append(got, a)
	}

	want := []spec.Alarm{{
		Name:     "jobs-behind",
		Function: "accounts/resume-jobs",
		Metrics:  []spec.Metric{jobsBehind},
		Stat:     "Sum",
		Bound:    0,
		Minutes:  1,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("alarms (-want +got):\n%s", diff)
	}
}
