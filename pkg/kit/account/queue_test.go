package account_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// TestWhatRoomsShare: the queues of a room, the files of exports, which are kept for a week, and
// the check of a tombstone, are agreed on by all rooms.
func TestWhatRoomsShare(t *testing.T) {
	t.Parallel()

	queue := func(name string) spec.Queue { // ten deliveries, and two jobs at once: nobody waits for them
		return spec.Queue{Name: name, MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true}
	}
	for _, c := range []struct{ got, want any }{
		{account.Queue("cricket", account.Forget), queue("cricket-forget-user")},
		{account.Queue("pickem", account.Export), queue("pickem-export-user")},
		{account.DoneQueue, queue("accounts-done")},
		{account.DeleteQueue, queue("accounts-delete")},
		{account.Exports, spec.Bucket{Name: "account-exports", Expires: 7 * 24 * time.Hour, Shared: true}},
		{account.KeepExport, 168 * time.Hour},
		{account.PartKey("cricket", "j1"), "parts/cricket/j1.json"},
		{account.Deleted, spec.Table{Name: "deleted-users", Key: spec.Key{Partition: "userId"}, TTL: "ttl", Shared: true}},
		{account.CheckDeleted.ID(), "deleted-users: Check that a user is not deleted"},
		{account.CheckDeleted.Ops, []spec.Op{spec.ConditionCheckItem}},
		{*account.ErrDeleted, problem.Error{Kind: problem.Unauthenticated, Code: "account_deleted", Text: "this account is deleted"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
