package commitcollect_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/spec"
)

// TestTablesOfTheSeed: the four tables have the names, keys, indexes and TTL of the seed.
func TestTablesOfTheSeed(t *testing.T) {
	t.Parallel()

	pk := spec.Key{Partition: "PK", Sort: "SK"}
	gsi := func(n string) spec.Key { return spec.Key{Partition: "GSI" + n + "PK", Sort: "GSI" + n + "SK"} }
	own := slices.DeleteFunc(commitcollect.Room().Spec.Tables(), func(t spec.Table) bool { return t.Shared })
	same(t, "the tables", own, []spec.Table{
		{Name: "CommitCollect", Key: pk, TTL: "ttl", Indexes: []spec.Index{{Name: "GSI1", Key: gsi("1"), KeysOnly: true}}},
		{
			Name:    "CommitCollectAudit",
			Key:     pk,
			TTL:     "ExpiresAt",
			Indexes: []spec.Index{{Name: "GSI1", Key: gsi("1")}, {Name: "GSI2", Key: gsi("2")}},
		},
		{Name: "CommitCollectIdempotency", Key: spec.Key{Partition: "IdempotencyKey"}, TTL: "ttlEpoch"},
		{
			Name:    "CommitCollectSessions",
			Key:     pk,
			TTL:     "expiresAtUtc",
			Indexes: []spec.Index{{Name: "GSI_UserSessions", Key: gsi("1"), KeysOnly: true}},
		},
	})
}

// TestNothingScans: no function may read a table as a whole, and every query names its
// partition.
func TestNothingScans(t *testing.T) {
	t.Parallel()

	for _, a := range commitcollect.Room().Spec.Access() {
		if slices.Contains(a.Ops, spec.Scan) {
			t.Errorf("%s scans", a.ID())
		}

		if slices.Contains(a.Ops, spec.Query) && !strings.Contains(a.Key, "PK=") {
			t.Errorf("%s queries by %s", a.ID(), a.Key)
		}
	}
}

// TestAccessPatternsOfTheSeed: each has a function.
func TestAccessPatternsOfTheSeed(t *testing.T) {
	t.Parallel()

	used := map[string]bool{}
	for _, a := range commitcollect.Room().Spec.Access() {
		used[a.ID()] = true
	}

	for name, a := range map[string]spec.Access{
		"profile": tables.GetProfile, "connection": tables.GetConnection, "workouts by prefix": tables.ListWorkouts,
		"milestones by prefix": tables.ListMilestones, "milestone": tables.ReadMilestone, "awards by prefix": tables.GetAwards,
		"model and its parts": tables.ReadModel, "owner of an athlete": tables.FindOwner, "athlete in GSI1": tables.AthleteLookup,
		"session": tables.ResolveSession, "session at logout": tables.DropSession, "sessions at the deletion": tables.DropSessions,
		"trail of a user": tables.ReadTrail, "trail of a correlation": tables.Correlation, "trail of an event type and month": tables.EventsOf,
		"event of Strava": tables.ClaimEvent,
	} {
		if !used[a.ID()] {
			t.Errorf("%s: no function uses %s", name, a.ID())
		}
	}
}

// TestKeysOfTheSeed: whatever happens, the items have the seed's keys, or those that the
// package describes beside them.
func TestKeysOfTheSeed(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Hour)
	w.Ask("ann", http.MethodPost, "/devices", map[string]any{"deviceToken": strings.Repeat("a1", 32)})
	w.Ask("ann", http.MethodGet, "/strava/connect", nil)

	key := func(r map[string]any) string { return fmt.Sprint(r["PK"], " ", r["SK"]) }

	for _, c := range []struct {
		table spec.Table
		want  []string // the first six are in the seed
		seen  int
	}{
		{tables.Main, []string{
			"USER#ann PROFILE", "USER#ann STRAVA#CONNECTION", "USER#ann WORKOUT#STRAVA#[0-9]+", "USER#ann MILESTONE#" + id,
			"USER#ann MILESTONE#" + id + "#AWARD#0[12]",
			"MODEL#trike META", "MODEL#trike PART#(0[1-9]|1[0-2])", "STRAVA#ATHLETE#77 OWNER",
			"USER#ann LEDGER#2026-06", "USER#ann STRAVA#(CALLS|EVENTS)", "USER#ann (DEVICES|LIST#MILESTONES)", "DEVICE#[0-9a-f]{64} DEVICE",
			"STRAVA#CONNECTED#[0-9a-f] USER#ann", "STRAVA#(SUBSCRIPTION|BUDGET) META", "MODEL#INDEX MODEL#trike",
		}, 15},
		{tables.Sessions, []string{"SESSION#[A-Za-z0-9_-]{43} META", "STATE#(SIGNIN|LINK)#[A-Za-z0-9_-]{43} META"}, 2},
		{tables.Audit, []string{`USER#ann AUDIT#[0-9]{10}#request-[0-9]+-[0-9]+`, `USER#ann AUDIT#[0-9]{10}#` + id + `-0[12]`}, 2},
	} {
		seen := map[string]bool{}

		for _, r := range testkit.Rows[map[string]any](w.World, c.table) {
			i := slices.IndexFunc(c.want, func(p string) bool { return regexp.MustCompile("^" + p + "$").MatchString(key(r)) })
			if i < 0 {
				t.Errorf("%s has an item %s", c.table.Name, key(r))
				continue
			}

			seen[c.want[i]] = true
			if inGSI1 := r["GSI1PK"] != nil; c.table.Name == tables.Main.Name && inGSI1 != (r["SK"] == "STRAVA#CONNECTION") {
				t.Errorf("%s is in GSI1: %v", key(r), inGSI1)
			}
		}

		if len(seen) != c.seen {
			t.Errorf("%s has %d kinds of items, want %d: %v", c.table.Name, len(seen), c.seen, seen)
		}
	}

	for _, r := range testkit.Rows[map[string]any](w.World, tables.Audit) {
		if at, expires := r["occurredAtUtc"].(string),
			r["ExpiresAt"].(float64); at[:10] != "2026-06-06" || int64(expires)-w.Clock.Now().Unix() > 90*86400 ||
			int64(expires)-w.Clock.Now().Unix() < 89*86400 {
			t.Errorf("an entry of %s expires at %v, want 90 days later", at, expires)
		}
	}

	for _, r := range testkit.Rows[map[string]any](w.World, tables.Idempotency) {
		if r["state"] != "DONE" || !strings.HasPrefix(r["IdempotencyKey"].(string), "STRAVA#EVT#activity#create#") {
			t.Errorf("the event %v", r)
		}
	}

	connection := testkit.Row[map[string]any](w.World, tables.Main, "USER#ann", "STRAVA#CONNECTION")
	for _, name := range []string{"accessToken", "refreshToken"} {
		if text := connection[name].(string); !strings.HasPrefix(text, "now.") || len(text) < 40 {
			t.Errorf("%s is stored as %s, want it sealed", name, text)
		}
	}
}

// TestPurgeDeletesInBatches: workouts are deleted 30 at a time, with their ledgers, and a
// second run finds none. All items of a user are deleted 25 at a time.
func TestPurgeDeletesInBatches(t *testing.T) {
	t.Parallel()

	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	for n := range 60 {
		w.Upload(77, "Run", noon.Add(-time.Duration(n)*time.Hour), 1000)
	}

	for range 4 { // 20 events in each
		w.Pass(15 * time.Minute)
	}

	w.End("ann")
	purger := testkit.Open(w.World, workout.PurgeWorkoutsFunction(), workout.OpenPurger)

	calls := w.CountCalls(func() { testkit.Must(t, purger.PurgeWorkouts(w.NewContext(), link.Purge{UserID: "ann"})) })
	if got := calls["TransactWriteItems"]; got != 2 {
		t.Errorf("60 workouts are deleted by %d transactions: %v", got, calls)
	}

	if n := w.Count(tables.Main, "USER#ann", "WORKOUT#") + w.Count(tables.Main, "USER#ann", "LEDGER#"); n != 0 {
		t.Errorf("%d items are left", n)
	}

	testkit.Must(t, purger.PurgeWorkouts(w.NewContext(), link.Purge{UserID: "ann"}))
	seedWorkouts(w, "bob", 60)

	calls = w.CountCalls(func() { testkit.Must(t, forget(w, "bob")) })
	if got := calls["BatchWriteItem"]; got != 3 {
		t.Errorf("61 items are deleted by %d batches: %v", got, calls)
	}
}
