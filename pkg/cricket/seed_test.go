package cricket_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/cricket"
	"matchday/pkg/spec"
)

// seed is the list of tables and access patterns that the room was built from, with the
// names of keys that the comment of package tables explains.
var seed = []struct {
	table   string
	key     spec.Key
	ttl     string
	indexes map[string]spec.Key
	rows    []seedRow
}{
	{"cricket-fixtures", spec.Key{Partition: "matchId"}, "", map[string]spec.Key{
		"leagueCode-startTime-index": {Partition: "leagueCode", Sort: "startTime"},
		"live-index":                 {Partition: "live", Sort: "startTime"},
	}, []seedRow{
		{"Get fixture by ID", "", ops(spec.GetItem)},
		{"Batch get fixtures", "", ops(spec.BatchGetItem)},
		{"Get matches by date range", "leagueCode-startTime-index", ops(spec.Query)},
		{"Get starting-soon matches", "leagueCode-startTime-index", ops(spec.Query)},
		{"Scan live fixtures", "live-index", ops(spec.Scan)},
		{"Batch write fixtures", "", ops(spec.BatchWriteItem)},
		{"Update fixture fields", "", ops(spec.UpdateItem)},
		{"Archive fixture", "", ops(spec.UpdateItem)},
		{"Delete replay fixture", "", ops(spec.DeleteItem)},
		{"Get fixtures by league (admin)", "", ops(spec.Scan)},
	}},
	{"cricket-teams", spec.Key{Partition: "teamId"}, "", nil, []seedRow{
		{"Get team by ID", "", ops(spec.GetItem)},
		{"Get all teams", "", ops(spec.Scan)},
		{"Batch write teams", "", ops(spec.BatchWriteItem)},
		{"Update team fields", "", ops(spec.UpdateItem)},
	}},
	{"cricket-team-seasons", spec.Key{Partition: "seasonId", Sort: "teamId"}, "", nil, []seedRow{
		{"Get teams for a season", "", ops(spec.Query)},
		{"Write season-team records", "", ops(spec.BatchWriteItem)},
	}},
	{"cricket-leagues", spec.Key{Partition: "leagueId"}, "", nil, []seedRow{
		{"Get league by ID", "", ops(spec.GetItem)},
		{"Get all leagues", "", ops(spec.Scan)},
		{"Get active leagues", "", ops(spec.Scan)},
		{"Create/replace league", "", ops(spec.PutItem)},
		{"Update league fields", "", ops(spec.UpdateItem)},
		{"Delete league", "", ops(spec.DeleteItem)},
	}},
	{"cricket-devices", spec.Key{Partition: "userId", Sort: "deviceToken"}, "expiresAt", nil, []seedRow{
		{"Get device for user", "", ops(spec.Query)},
		{"Register device (upsert)", "", ops(spec.Query, spec.DeleteItem, spec.UpdateItem)},
		{"Update push-to-start token", "", ops(spec.GetItem, spec.UpdateItem)},
		{"Delete device", "", ops(spec.DeleteItem)},
	}},
	{"cricket-match-follows", spec.Key{Partition: "matchId", Sort: "userId"}, "expiresAt", nil, []seedRow{
		{"Check if user follows match", "", ops(spec.GetItem)},
		{"Get all followers for match", "", ops(spec.Query)},
		{"Follow a match", "", ops(spec.UpdateItem)},
		{"Unfollow a match", "", ops(spec.DeleteItem)},
		{"Update follow team", "", ops(spec.UpdateItem)},
		{"Remove all follows for match", "", ops(spec.Query, spec.BatchWriteItem)},
	}},
	{"cricket-activity-subscriptions", spec.Key{Partition: "matchId", Sort: "pushToken"}, "expiresAt", nil, []seedRow{
		{"Get all subscriptions for match", "", ops(spec.Query)},
		{"Register LA subscription", "", ops(spec.UpdateItem)},
		{"Remove single subscription", "", ops(spec.DeleteItem)},
		// The seed queries the match, which costs as much as the audience is large.
		{"Remove user's subscriptions for match", "", ops(spec.GetItem, spec.DeleteItem)},
		{"Remove all subscriptions for match", "", ops(spec.Query, spec.BatchWriteItem)},
	}},
	{"cricket-prematch-notifications", spec.Key{Partition: "matchId", Sort: "userId"}, "ttl", nil, []seedRow{
		{"Check if notification sent", "", ops(spec.GetItem)},
		{"Mark notification sent", "", ops(spec.PutItem)},
	}},
	{"cricket-locks", spec.Key{Partition: "lockKey"}, "expiresAt", nil, []seedRow{
		{"Acquire lock", "", ops(spec.PutItem)},
		{"Release lock", "", ops(spec.DeleteItem)},
		{"Extend lock", "", ops(spec.UpdateItem)},
	}},
	{"cricket-state-hashes", spec.Key{Partition: "matchTeamKey"}, "", nil, []seedRow{
		{"Get stored hash", "", ops(spec.BatchGetItem)}, // in the seed a read of its own
		{"Update stored hash", "", ops(spec.PutItem)},
		{"Delete hash", "", ops(spec.DeleteItem)},
	}},
	{"DisplayStateCache", spec.Key{Partition: "cacheKey"}, "ttl", nil, []seedRow{
		{"Get cached display state", "", ops(spec.GetItem)},
		{"Set cached display state", "", ops(spec.PutItem)},
	}},
	{"cricket-fixture-cache", spec.Key{Partition: "matchId"}, "ttl", map[string]spec.Key{
		"leagueId-startingAt-index": {Partition: "leagueId", Sort: "startingAt"},
	}, []seedRow{
		{"Get cached fixture", "", ops(spec.GetItem)},
		{"Batch get cached fixtures", "", ops(spec.BatchGetItem)},
		{"Get fixtures by league", "leagueId-startingAt-index", ops(spec.Query)},
		{"Get all cached fixtures", "", ops(spec.Scan)},
		{"Put single fixture", "", ops(spec.PutItem)},
		{"Batch put fixtures", "", ops(spec.BatchWriteItem)},
		{"Update enrichment only", "", ops(spec.UpdateItem)},
	}},
	{"match-processing-state", spec.Key{Partition: "matchId"}, "ttl", nil, []seedRow{
		{"Get last processed ball ID", "", ops(spec.GetItem)},
		{"Set last processed ball ID", "", ops(spec.PutItem)},
		{"Hydrate cache from DynamoDB", "", ops(spec.GetItem)}, // or, in the seed, a scan
	}},
}

// seedRow is an access pattern of the seed. index is empty for the table itself.
type seedRow struct {
	name, index string
	ops         []spec.Op
}

func ops(all ...spec.Op) []spec.Op { return all }

// TestSeed: each table of the seed has its keys, and each access pattern of the seed is
// used by a function with the operations of the seed, and maybe more.
func TestSeed(t *testing.T) {
	t.Parallel()

	listed := 0
	for _, want := range seed {
		listed += len(want.rows)

		i := slices.IndexFunc(cricket.Room().Spec.Tables(), func(t spec.Table) bool { return t.Name == want.table })
		if i < 0 {
			t.Errorf("no function uses the table %s", want.table)
			continue
		}

		got := cricket.Room().Spec.Tables()[i]
		if diff := cmp.Diff([]any{want.key, want.ttl}, []any{got.Key, got.TTL}); diff != "" {
			t.Errorf("key and TTL of %s (-seed +room):\n%s", want.table, diff)
		}

		indexes := map[string]spec.Key{}
		for _, x := range got.Indexes {
			indexes[x.Name] = x.Key
		}

		for name, key := range want.indexes {
			if diff := cmp.Diff(key, indexes[name]); diff != "" {
				t.Errorf("key of the index %s of %s (-seed +room):\n%s", name, want.table, diff)
			}
		}

		for _, row := range want.rows {
			i := slices.IndexFunc(cricket.Room().Spec.Access(), func(a spec.Access) bool { return a.Table.Name == want.table && a.Name == row.name })
			if i < 0 {
				t.Errorf("no function uses the access pattern %q of %s", row.name, want.table)
				continue
			}

			a := cricket.Room().Spec.Access()[i]
			for _, op := range row.ops {
				if !slices.Contains(a.Ops, op) {
					t.Errorf("%q of %s has the operations %s, want %s among them", row.name, want.table, a.Ops, op)
				}
			}

			if a.Index != row.index {
				t.Errorf("%q of %s is of the index %q, want %q", row.name, want.table, a.Index, row.index)
			}
		}
	}

	if listed != 57 {
		t.Errorf("the test lists %d access patterns, want the 57 of the seed", listed)
	}
}
