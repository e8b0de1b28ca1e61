package commitcollect_test

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

var noon = commitcollecttest.Noon

// same reports a difference.
func same(t *testing.T, what string, got, want any) {
	t.Helper()

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// refused checks that an answer is a problem.
func refused(t *testing.T, what string, out events.APIGatewayV2HTTPResponse, status int, code string) {
	t.Helper()

	if err := testkit.CheckProblemCode(out, status, code); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestRunMintsParts is the whole way: sign-in, consent, a webhook, and two parts.
func TestRunMintsParts(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{Start: noon})
	w.Pass(time.Hour)
	w.Strava.Upload(77, strava.Activity{
		Name:          "Along the canal",
		SportType:     "TrailRun",
		StartDate:     noon.Add(time.Minute),
		Distance:      21_097.5,
		ElevationGain: 80,
	})
	w.Pass(time.Minute)
	got := w.Show("ann", id)
	want := commitcollecttest.Milestone{
		Status: "ACTIVE", State: "ACTIVE", ProgressValue: 21_098, RawProgress: 21_098, RemainingToNextPart: 8_902, PercentComplete: 17.58,
		PartsAwardedCount: 2, Awards: []struct{ PartIndex int }{{1}, {2}},
	}
	same(t, "the milestone", got, want)

	out := w.Ask("ann", http.MethodGet, "/milestones/"+id+"/awards", nil)

	type part struct {
		PartIndex, ProgressValueAtAward int
		PartName, MeshFile, AttachPoint string
	}

	same(t, "the awards", testkit.Decode[struct{ Awards []part }](w.World, out).Awards, []part{
		{1, 21_098, "Part 1", "trike/01.glb", "frame"}, {2, 21_098, "Part 2", "trike/02.glb", "frame"},
	})
}
