package events_test

import (
	"net/http"
	"os"
	"testing"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms/all"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/tools/binaries"
	"matchday/infra/tools/events/storyfleet"
	"matchday/pkg/kit/dynamo"
)

// TestEachRoomAlone: in a fleet of one room every function accepts its event, and the data of a
// user are exported and deleted. ROOMS chooses the rooms. MATCHDAY_DIST names the folder of
// deployed programs to run.
func TestEachRoomAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs fleets")
	}

	t.Parallel()

	cfg := fleet.Config{Root: root, Dist: os.Getenv("MATCHDAY_DIST")}

	var err error
	if cfg.Dist == "" {
		cfg.Program, err = binaries.Local(t.Context(), root)
		must(t, err)
	}

	chosen, err := all.Choose(os.Getenv("ROOMS"))
	must(t, err)

	for _, room := range chosen {
		t.Run(room.Spec.Name, func(t *testing.T) {
			t.Parallel()

			w := openAlone(t, room.Spec.Name, cfg)

			for _, c := range w.Cases {
				if c.Room != room.Spec.Name || c.Good == "" {
					continue
				}

				must(t, w.Until(t.Context(), c.Time))
				t.Run(c.Name(), func(t *testing.T) {
					w.t = t
					w.play(c)
				})
			}

			w.t = t
			w.endAccount()
		})
	}
}

// openAlone starts the fleet of one room.
func openAlone(t *testing.T, room string, cfg fleet.Config) *world {
	t.Helper()

	rooms, err := all.Choose(room)
	must(t, err)

	w := &world{t: t}
	w.Fleet, err = storyfleet.Start(t.Context(), rooms, cfg)
	must(t, err)
	t.Cleanup(w.Close)
	w.db = dynamo.Open(dynamodb.Config(*w.DB.Options().BaseEndpoint), prefix)

	return w
}

// endAccount has a user sign up, export the data and delete the account.
func (w *world) endAccount() {
	const user, account = "6f0a7c52-0b1d-4e0e-9a57-0000000a10e0", "/accounts/account"

	ctx := w.t.Context()
	must(w.t, w.SignIn(ctx, user, "Lea"))

	export := func() (out struct{ URL string }) {
		must(w.t, w.Call(ctx, user, http.MethodGet, account+"/export", nil, &out))
		w.finishJobs()

		return out
	}
	if export(); export().URL == "" {
		w.t.Error("the export does not end")
	}

	must(w.t, w.Call(ctx, user, http.MethodDelete, account, nil, nil))
	w.finishJobs()

	if w.holds("accounts", map[string]any{"userId": user}) ||
		!w.holds("deleted-users", map[string]any{"userId": user, "ttl": "*"}) {
		w.t.Error("the deletion of the account does not end")
	}
}

// finishJobs lets the rooms do their part of a job. In a fleet without them it ends when it is
// overdue.
func (w *world) finishJobs() {
	ctx := w.t.Context()
	must(w.t, w.Until(ctx, w.Clock.Now().Add(2*time.Minute)))

	if len(w.Keepers()) == 0 {
		must(w.t, w.Until(ctx, w.Clock.Now().Add(15*time.Minute)))
		must(w.t, w.Invoke(ctx, "accounts/resume-jobs"))
	}
}
