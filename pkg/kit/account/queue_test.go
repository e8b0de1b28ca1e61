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

	asked := func(name string) spec.Queue {
		q := queue(name)
		q.Answered = true

		return q
	}

	for _, c := range []struct{ got, want any }{
		{account.Queue("cricket", account.Forget), asked("cricket-forget-user")},
		{account.Queue("pickem", account.Export), asked("pickem-export-user")},
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

// TestKeepers: the rooms with a function that deletes what is kept of a user are found.
func TestKeepers(t *testing.T) {
	t.Parallel()

	room := func(name string, on ...spec.Trigger) (r spec.Room) {
		r.Name = name
		for _, trigger := range on {
			r.Functions = append(r.Functions, spec.Function{On: trigger})
		}

		return r
	}

	got := account.Keepers([]spec.Room{
		room("b", spec.Task{}, account.Queue("b", account.Forget)), room("empty"), room("c", account.Queue("c", account.Export)),
		room("a", account.Queue("a", account.Forget)), room("d", account.Queue("a", account.Forget)),
	})
	if diff := cmp.Diff([]string{"b", "a"}, got); diff != "" {
		t.Errorf("the rooms that keep data of users (-want +got):\n%s", diff)
	}
}

// TestKeepersOfAnEnvironment: the variable has the names, also if there are none. A missing
// variable is an error.
func TestKeepersOfAnEnvironment(t *testing.T) {
	t.Parallel()

	for want, names := range map[string][]string{"a": {"a"}, "a,b": {"a", "b"}, "none": nil} {
		got := account.FormatKeepers(names)

		back, err := account.ParseKeepers(got)
		if diff := cmp.Diff(names, back); got != want || err != nil || diff != "" {
			t.Errorf("%q are formatted as %s, want %s, and read with %v as (-want +got):\n%s", names, got, want, err, diff)
		}
	}

	if _, err := account.ParseKeepers(""); err == nil || err.Error() != "MATCHDAY_KEEPERS is not set" {
		t.Errorf("a missing variable: %v", err)
	}
}
