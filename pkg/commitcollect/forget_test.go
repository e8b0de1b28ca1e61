package commitcollect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/userdata"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/object"
	"matchday/pkg/spec"
)

func user(id string) auth.User { return auth.User{UserID: id} }

// forget has the room forget a user.
func forget(w *commitcollecttest.World, id string) error {
	w.T.Helper()
	s := testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.OpenForgetter)

	return s.ForgetUser(w.NewContext(), account.Request{Job: "J", UserID: id})
}

// busy returns a world in which a user has something of everything.
func busy(t testing.TB, users ...string) *commitcollecttest.World {
	t.Helper()

	w := commitcollecttest.Ready(t, strava.Faults{}, users...)
	for i, u := range users {
		share(w, u, w.Start(u, commitcollecttest.Goal{}))
		w.Upload(77+int64(i), "Run", noon.Add(-time.Hour), 25_000)
		w.Ask(u, http.MethodPost, "/devices", map[string]any{"deviceToken": strings.Repeat(fmt.Sprintf("a%d", i), 32)})
		w.Ask(u, http.MethodGet, "/strava/connect", nil)
		put(w, u, phoneRun("A", noon.Add(-time.Hour), 5000, 1))
	}

	w.Pass(time.Minute)

	return w
}

// mentions returns the keys of the items of all tables that mention a user, except the
// states of a sign-in, which last ten minutes.
func mentions(w *commitcollecttest.World, user string) (all []string) {
	w.T.Helper()

	for _, table := range commitcollect.Room().Spec.Tables() {
		for _, r := range testkit.Rows[map[string]any](w.World, table) {
			text, err := json.Marshal(r)
			testkit.Must(w.T, err)

			if strings.Contains(string(text), user) && !strings.HasPrefix(fmt.Sprint(r["PK"]), "STATE#") && !table.Shared {
				all = append(all, fmt.Sprint(table.Name, " ", r["PK"], " ", r["SK"]))
			}
		}
	}

	return all
}

// TestDeletionEndsWrites: the tombstone is there when the answer is.
func TestDeletionEndsWrites(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")

	for range 2 { // the second by the cookie of a browser that has lost the answer
		if out := w.Ask("ann", http.MethodDelete, "/account", nil); out.StatusCode != http.StatusAccepted {
			t.Fatalf("the deletion: %d %s", out.StatusCode, out.Body)
		}
	}

	refused(t, "a write with the session", w.Ask("ann", http.MethodPatch, "/preferences", map[string]any{
		"keepWorkouts": false,
		"counts":       map[string]any{"virtual": true, "eBike": true, "handcycle": true, "manual": true, "private": true},
	}), 401, "account_deleted")
	same(t, "the tombstones", len(testkit.Rows[account.Tombstone](w.World, account.Deleted)), 1)
}

// TestForgottenUserLeavesNothing: no item of any table mentions the user, Strava has no
// access, and the other user keeps everything.
func TestForgottenUserLeavesNothing(t *testing.T) {
	t.Parallel()
	w := busy(t, "annabel", "bob")

	others := mentions(w, "bob")
	if len(mentions(w, "annabel")) < 15 {
		t.Fatalf("the user has %v only", mentions(w, "annabel"))
	}

	testkit.Must(t, forget(w, "annabel"))

	if left := mentions(w, "annabel"); left != nil {
		t.Errorf("left: %v", left)
	}

	if w.Strava.Connected(77) || !w.Strava.Connected(78) {
		t.Error("the access to Strava is not that of the other user only")
	}

	same(t, "of the other user", mentions(w, "bob"), others)
	same(t, "the confirmations", testkit.Messages[account.Done](w.World, account.DoneQueue), []account.Done{
		{Kind: account.Forget, Room: "commitcollect", Request: account.Request{Job: "J", UserID: "annabel"}},
	})

	if got := trailOf(w, "SYSTEM"); len(got) != 1 || got[0] != "ACCOUNT_DELETE success" {
		t.Errorf("the trail of the system is %v", got)
	}

	w.Pass(time.Hour) // Strava's own event of the end

	if left := mentions(w, "annabel"); left != nil {
		t.Errorf("an hour later: %v", left)
	}
}

// TestForgettingCrashes: a deletion that dies at any step is completed by the next run.
func TestForgettingCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := busy(t, "annabel")
		request := account.Request{Job: "J", UserID: "annabel"}
		s := testkit.OpenWith(w.World, w.CrashingEnv(userdata.ForgetUserFunction(), p), userdata.OpenForgetter)
		// The access may be revoked at Strava twice, and the trail may be lost.
		if p.Ended(s.ForgetUser(w.NewContext(), request), "PutItem *CommitCollectAudit",
			"TransactWriteItems *CommitCollectAudit", "/oauth/revoke") {
			testkit.Must(t, forget(w, "annabel"))
		}

		if len(testkit.Messages[account.Done](w.World, account.DoneQueue)) == 0 {
			t.Error("the deletion is not confirmed")
		}

		return mentions(w, "annabel")
	})
}

// TestDeletedUserGetsNoPart: a computation that ends while the user's rows are deleted leaves no part.
func TestDeletedUserGetsNoPart(t *testing.T) {
	t.Parallel()
	w := small(t)
	id := reached(w)
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann", DeletedAt: "2026-06-06T12:00:00Z"})
	testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
	same(t, "parts", w.Count(tables.Main, "USER#ann", "MILESTONE#"+id+"#AWARD#"), 0)
}

// TestDeletedUserWritesNothing: from the tombstone on, neither the user nor a job writes
// an item for the user.
func TestDeletedUserWritesNothing(t *testing.T) {
	t.Parallel()
	w := busy(t, "ann")
	id := w.Start("ann", commitcollecttest.Goal{Sport: "RIDE"})
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann", DeletedAt: "2026-06-06T12:00:00Z"})
	refused(t, "a milestone", w.Ask("ann", http.MethodPost, "/milestones", map[string]any{
		"modelId": "trike", "sport": "RUN", "targetType": "DISTANCE_METERS", "totalTarget": 1, "periodStartAtUtc": 1,
	}), 401, "account_deleted")
	refused(t, "a pause", w.Ask("ann", http.MethodPatch, "/milestones/"+id, map[string]any{"status": "PAUSED"}), 401, "account_deleted")
	refused(t, "preferences", w.Ask("ann", http.MethodPatch, "/preferences", map[string]any{"units": "mi"}), 401, "account_deleted")
	w.Work()
	before := w.Count(tables.Main, "USER#ann", "")
	w.Upload(77, "Run", noon, 5000)
	w.Pass(time.Hour)

	if n := w.Count(tables.Main, "USER#ann", ""); n != before {
		t.Errorf("the user had %d items, and has %d", before, n)
	}

	for _, state := range testkit.Rows[struct {
		State string `dynamodbav:"state"`
	}](w.World, tables.Idempotency) {
		if state.State != "DONE" {
			t.Errorf("an event of the user is %s, want DONE: it is never to be handled", state.State)
		}
	}
}

// TestLateEntryOfADeletedUserIsNotKept: a job that is about to write to the trail when the
// room forgets the user leaves nothing of the user.
func TestLateEntryOfADeletedUserIsNotKept(t *testing.T) {
	t.Parallel()

	for _, name := range []string{
		"parts are minted", "a workout is stored", "a workout is deleted", "an access is revoked",
		"a broken connection ends", "a connection breaks",
		"Strava is disconnected", "the deletion of an account is requested",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, j := small(t), jobs[name]
			j.before(w)
			env, forgotten := w.Env(j.fn), false
			next := env.AWS.HTTPClient
			env.AWS.HTTPClient = client(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				testkit.Must(t, err)

				r.Body = io.NopCloser(bytes.NewReader(body))
				if bytes.Contains(body, []byte(tables.Audit.Name+`"`)) && !forgotten {
					forgotten = true

					testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann"})
					testkit.Must(t, forget(w, "ann"))
				}

				return next.Do(r)
			})
			testkit.Must(t, j.run(w, env))
			same(t, "the user is forgotten at an entry", forgotten, true)

			for _, table := range []spec.Table{tables.Main, tables.Audit} {
				same(t, "items in "+table.Name, w.Count(table, "USER#ann", ""), 0)
			}

			w.Logs.TakeWarnings()
		})
	}
}

// TestExportHasEverythingButTokens.
func TestExportHasEverythingButTokens(t *testing.T) {
	t.Parallel()
	w := busy(t, "ann")
	s := testkit.Open(w.World, userdata.ExportUserFunction(), userdata.Open)
	testkit.Must(t, s.ExportUser(w.NewContext(), account.Request{Job: "J", UserID: "ann"}))
	server := httptest.NewServer(w.Files)
	t.Cleanup(server.Close)

	cfg := w.AWS.Copy()
	cfg.BaseEndpoint = &server.URL
	text, err := object.Open(cfg, account.Exports.Name).Get(t.Context(), account.PartKey("commitcollect", "J"))
	testkit.Must(t, err)

	for _, part := range []string{"PROFILE", "STRAVA#CONNECTION", "WORKOUT#STRAVA#", "MILESTONE#", "#AWARD#01", "AUTH_SIGNUP",
		"MILESTONE_PART_MINTED", "distanceMeters", "25000", "\"SK\": \"DEVICE\"", "seenAt"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the export lacks %s", part)
		}
	}

	var document struct {
		Items, Trail []struct{ SK string }
	}
	testkit.Must(t, json.Unmarshal(text, &document))

	kept := map[string]bool{}
	for _, i := range slices.Concat(document.Items, document.Trail) {
		kept[i.SK] = true
	}

	for _, table := range []spec.Table{tables.Main, tables.Audit} {
		for _, r := range testkit.Rows[struct{ PK, SK string }](w.World, table) {
			if r.PK == item.User("ann") && !kept[r.SK] {
				t.Errorf("the export lacks %s of %s", r.SK, table.Name)
			}
		}
	}

	for _, part := range []string{"accessToken", "refreshToken", "now."} {
		if strings.Contains(string(text), part) {
			t.Errorf("the export has %s", part)
		}
	}

	same(t, "the confirmations", testkit.Messages[account.Done](w.World, account.DoneQueue), []account.Done{
		{Kind: account.Export, Room: "commitcollect", Request: account.Request{Job: "J", UserID: "ann"}},
	})
}
