package accounts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit"
	"matchday/pkg/accounts"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// deployWith has the fleet keep data of users in these rooms only, as a deployment does.
func (w world) deployWith(keepers ...string) {
	w.Settings[spec.EnvKeepers] = account.FormatKeepers(keepers)
}

// TestJobsEndWithFewerRooms: a deletion and an export that began with more rooms end after a
// deployment with fewer, without a message of the room that is gone. Nothing that it has handed
// out before stays.
func TestJobsEndWithFewerRooms(t *testing.T) {
	t.Parallel()

	for name, gone := range map[string]struct{ confirmed bool }{"before it has confirmed": {false}, "after it has confirmed": {true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)

			testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", "")
			testkit.Must(t, w.finish(w.opened(), account.Export, rooms...))
			w.MoveClock(noon.Add(25 * time.Hour))
			testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", "")
			testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "bob", "")

			if gone.confirmed {
				testkit.Must(t, w.finish(w.opened(), account.Export, "pickem"))
				testkit.Must(t, w.finish(w.opened(), account.Forget, "pickem"))
			}

			w.deployWith("cricket")
			testkit.Must(t, w.finish(w.opened(), account.Export, "cricket"))
			testkit.Must(t, w.finish(w.opened(), account.Forget, "cricket"))

			if diff := cmp.Diff([]string{"tombstone that expires"}, w.rows("bob")); diff != "" {
				t.Errorf("what is left of the deleted user (-want +got):\n%s", diff)
			}

			export := w.requests(account.Export)["cricket"].Job
			if !slices.Contains(w.files(), "exports/ann/"+export+".json") {
				t.Errorf("the export has not ended: there are the files %q", w.files())
			}

			testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "ann", "")
			testkit.Must(t, w.finish(w.opened(), account.Forget, "cricket"))

			if left := w.files(); len(left) > 0 {
				t.Errorf("after the deletion there are %q", left)
			}
		})
	}
}

// TestResumedDeletionAsksTheRoomsOfNow: resume-jobs asks the rooms of the fleet, whichever there
// were when the deletion began, and ends a deletion that waits for none of them.
func TestResumedDeletionAsksTheRoomsOfNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deployWith("cricket")
	testkit.Call(w.routes, accounts.DeleteAccountFunction("cricket"), "/account", "ann", "")

	resume := func(after time.Duration) {
		w.MoveClock(noon.Add(after))
		testkit.Must(t, testkit.Open(w.World, accounts.ResumeJobsFunction(rooms...), accounts.OpenJobs).ResumeJobs(w.NewContext()))
	}

	w.deployWith(rooms...) // with a room more
	resume(time.Hour)

	if got := w.requests(account.Forget); got["pickem"].Job == "" || got["pickem"] != got["cricket"] {
		t.Errorf("the rooms have the requests %v, want the same for both", got)
	}

	w.deployWith() // without any
	resume(2 * time.Hour)

	if diff := cmp.Diff([]string{"tombstone that expires"}, w.rows("ann")); diff != "" {
		t.Errorf("what is left of the deleted user (-want +got):\n%s", diff)
	}

	w.Logs.TakeWarnings()
}

// TestUnknownRoomsAreAnError: without the variable no account is deleted, because the data in the
// rooms would stay.
func TestUnknownRoomsAreAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	delete(w.Settings, spec.EnvKeepers)

	if _, err := accounts.OpenJobs(t.Context(), w.Env(accounts.FinishJobFunction())); err == nil ||
		!strings.Contains(err.Error(), spec.EnvKeepers+" is not set") {
		t.Errorf("the service opens with %v", err)
	}
}
