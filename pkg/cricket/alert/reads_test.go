package alert_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/tables"
)

// TestFailedAlertIsRetriedSoon: throttling lasts seconds, so an alert waits for seconds, and then
// for a minute each time.
func TestFailedAlertIsRetriedSoon(t *testing.T) {
	t.Parallel()

	want := []time.Duration{2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute}
	if diff := cmp.Diff(want, tables.AlertQueue.Backoff[:4]); diff != "" || len(tables.AlertQueue.Backoff) != tables.AlertQueue.MaxReceiveCount-1 {
		t.Errorf("%d receives with delays (-want +got):\n%s", tables.AlertQueue.MaxReceiveCount, diff)
	}
}

// TestFollowerCostsOneReadUnit: the preferences and the phone of a follower are read with eventual
// consistency, half a unit each. More followers cost a unit each, and a part of a page.
func TestFollowerCostsOneReadUnit(t *testing.T) {
	t.Parallel()

	units := func(followers int) float64 {
		w := worldWithFollowedMatch(t)
		for i := range followers {
			addFollower(w, fmt.Sprint("fan ", i), "")
		}

		a := openAlerter(w, w.Env(alert.SendAlertsFunction()))

		return w.CountUnits(func() { testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w))) }).Reads
	}

	if each := (units(60) - units(20)) / 40; each > 1.1 {
		t.Errorf("a follower costs %.2f read units, want at most 1.1", each)
	}
}
