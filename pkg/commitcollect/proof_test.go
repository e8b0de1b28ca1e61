package commitcollect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/commitcollect/workout"
)

// proofs returns the proofs of deletions, as the table has them.
func proofs(w *commitcollecttest.World) (all []stored) {
	w.T.Helper()

	for _, r := range testkit.Rows[stored](w.World, tables.Audit) {
		if r["PK"] == "USER#SYSTEM" {
			all = append(all, r)
		}
	}

	return all
}

// TestDeletionsLeaveAProof: the day, the kind and a receipt that the user has. Nothing in it names the user, and
// administrators find it by the month, and by the receipt.
func TestDeletionsLeaveAProof(t *testing.T) {
	t.Parallel()

	type receipt struct{ Receipt string }

	for name, c := range map[string]struct {
		kind trail.Event
		end  func(w *commitcollecttest.World) string // returns the receipt
	}{
		"a disconnection": {trail.WorkoutsDelete, func(w *commitcollecttest.World) string {
			w.End("annabel")
			return testkit.Decode[struct{ Entries []struct{ Data receipt } }](w.World, w.Ask("annabel", http.MethodGet, "/audit", nil)).Entries[0].Data.Receipt
		}},
		"a revocation at Strava": {trail.WorkoutsDelete, func(w *commitcollecttest.World) string {
			w.Strava.Revoke(77)
			w.Pass(time.Minute)

			return testkit.Decode[struct{ Entries []struct{ Data receipt } }](w.World, w.Ask("annabel", http.MethodGet, "/audit", nil)).Entries[0].Data.Receipt
		}},
		"the deletion of the account": {trail.AccountDelete, func(w *commitcollecttest.World) string {
			out := testkit.Decode[receipt](w.World, w.Ask("annabel", http.MethodDelete, "/account", nil))
			testkit.Must(w.T, forget(w, "annabel"))

			return out.Receipt
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := busy(t, "annabel")
			same(t, "proofs before", len(proofs(w)), 0)
			asked := w.Clock.Now()
			receipt := c.end(w)

			for range 3 { // once for the end of the connection, once for the webhook about it
				w.Pass(link.PurgeDelay)
			}

			rows := proofs(w)
			if len(rows) != 1 || len(receipt) != 32 {
				t.Fatalf("the proofs are %v, the receipt is %q, want one of the day", rows, receipt)
			}

			text, err := json.Marshal(rows)
			testkit.Must(t, err)

			for _, part := range []string{"annabel", "77", "request-", "http", "client"} {
				if strings.Contains(strings.ReplaceAll(string(text), receipt, ""), part) {
					t.Errorf("the proof has %q: %s", part, text)
				}
			}

			day, err := time.Parse(time.RFC3339, rows[0]["occurredAtUtc"].(string))
			if err != nil || day != day.Truncate(24*time.Hour) || day.Sub(asked) > 30*24*time.Hour {
				t.Errorf("the proof is of %v, want a day within thirty", rows[0]["occurredAtUtc"])
			}

			if left := time.Unix(int64(rows[0]["ExpiresAt"].(float64)), 0).Sub(asked); left < 3*365*24*time.Hour {
				t.Errorf("the proof is kept for %s", left)
			}

			for _, path := range []string{fmt.Sprintf("events/%s/202606", c.kind), "correlations/" + receipt} {
				out := testkit.Decode[struct {
					Entries []struct{ Event, CorrelationID, UserID string }
				}](w.World, w.AskAdmin(http.MethodGet, "/admin/audit/"+path, nil))
				same(t, path, out.Entries[len(out.Entries)-1], struct{ Event, CorrelationID, UserID string }{string(c.kind), receipt, "SYSTEM"})
			}

			w.Logs.TakeWarnings()
		})
	}
}

// TestProofComesLast: wherever a deletion crashes, there is no proof before nothing is left, and one after it has
// run again.
func TestProofComesLast(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) int {
		w := small(t)
		seedWorkouts(w, "ann", 40)
		testkit.Must(t, w.DeleteRow(tables.Main, "USER#ann", "STRAVA#CONNECTION"))

		purge := func(s *workout.Purger) error { return s.PurgeWorkouts(w.NewContext(), link.Purge{UserID: "ann"}) }
		ended := p.Ended(purge(testkit.OpenWith(w.World, w.CrashingEnv(workout.PurgeWorkoutsFunction(), p), workout.OpenPurger)))

		if left := w.Count(tables.Main, "USER#ann", "WORKOUT#") + w.Count(tables.Main, "USER#ann", "LEDGER#"); left > 0 && len(proofs(w)) > 0 {
			t.Errorf("there is a proof, and %d items are left", left)
		}

		if ended {
			testkit.Must(t, purge(testkit.Open(w.World, workout.PurgeWorkoutsFunction(), workout.OpenPurger)))
		}

		return len(proofs(w))
	})
}

// TestReceiptNamesNobody: another user, and another kind, has another receipt.
func TestReceiptNamesNobody(t *testing.T) {
	t.Parallel()

	all := map[string]bool{}
	for _, user := range []string{"ann", "bob"} {
		for range 2 {
			all[trail.Receipt(user, trail.AccountDelete)] = true
			all[trail.Receipt(user, trail.WorkoutsDelete)] = true
		}
	}

	same(t, "receipts", len(all), 4)
}

// TestConsentIsRecorded: the version that the app has shown is kept with the connection. A connection without one,
// such as those of before, is fetched, and the app asks for consent.
func TestConsentIsRecorded(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.Subscribe()
	w.SignIn("ann")

	type status struct {
		Connected, ConsentOutdated   bool
		ConsentVersion, WorkoutCount int
		Consent                      link.Consent
	}

	is := func() status {
		w.Work()
		return testkit.Decode[status](w.World, w.Ask("ann", http.MethodGet, "/strava/status", nil))
	}
	connect := func(query string) {
		t.Helper()

		to, err := url.Parse(testkit.Header(w.Ask("ann", http.MethodGet, "/strava/connect"+query, nil)).Get("Location"))
		testkit.Must(t, err)

		out := comeBack(w, "ann", to.Query().Get("state"), w.Strava.Grant(77, allScopes...), "read,activity:read")
		same(t, "the connection", out.StatusCode, http.StatusFound)
		w.Pass(time.Minute)
	}

	first := is()
	same(t, "without a connection", []any{first.Connected, first.ConsentOutdated, first.Consent.Version}, []any{false, false, link.ConsentVersion})

	for _, text := range []string{first.Consent.How, first.Consent.Kept, first.Consent.Withdraw, strings.Join(first.Consent.Data, "; ")} {
		if len(text) < 30 {
			t.Errorf("the text is %q", text)
		}
	}

	refused(t, "another version", w.Ask("ann", http.MethodGet, "/strava/connect?consent=2", nil), 409, "consent_outdated")

	w.Upload(77, "Run", noon.Add(-time.Hour), 1000)
	connect("")

	old := is()
	same(t, "without consent", []any{old.Connected, old.ConsentOutdated, old.ConsentVersion, old.WorkoutCount}, []any{true, true, 0, 1})
	connect("?consent=1")

	now := is()
	same(t, "with consent", []any{now.Connected, now.ConsentOutdated, now.ConsentVersion, now.WorkoutCount}, []any{true, false, 1, 1})
}
