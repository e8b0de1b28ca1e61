// Package account is what rooms share about the accounts of users: that a deleted user
// writes nothing, and the messages by which the room that owns the accounts has the
// others delete or hand out what they keep of a user.
//
// A user is deleted at once and forgotten later. DELETE /account writes a tombstone,
// which the condition of every write of the user checks from then on: an access token
// stays valid for up to 15 minutes, and writes nothing. The table of tombstones is in
// the shared stack, so that one write ends the user in all rooms, and no room reads a
// table of another. Then each room deletes its rows, by a message to a queue of its own.
package account

import (
	"context"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Deleted has a tombstone for each user whose account is deleted, until no token of
// the user can be valid.
var Deleted = spec.Table{Name: "deleted-users", Key: spec.Key{Partition: "userId"}, TTL: "ttl", Shared: true}

// CheckDeleted is the check in each write of a user. A function of a user's route that
// writes lists it in Uses; httpapi then requires it: see Require.
var CheckDeleted = Deleted.On("Check that a user is not deleted", "PK=userId, absent, in each write of the user", spec.Rate{Driver: spec.UserAction}, spec.ConditionCheckItem)

// Tombstone is a row of Deleted.
type Tombstone struct {
	UserID    string `dynamodbav:"userId"`
	DeletedAt string `dynamodbav:"deletedAt"`
	TTL       int64  `dynamodbav:"ttl,omitempty"` // epoch seconds, once the account is gone
}

// ErrDeleted refuses what a deleted user writes.
var ErrDeleted = problem.New(problem.Unauthenticated, "account_deleted", "this account is deleted")

// ErrDeleting refuses the invitation of a deleted user, whose account is about to disappear.
// Then the address can get another.
var ErrDeleting = problem.New(problem.Conflict, "account_deleting", "the account with this address is being deleted: invite again in a few minutes")

// Require returns a context whose writes fail with ErrDeleted once the user is deleted.
func Require(ctx context.Context, userID string) context.Context {
	return dynamo.Require(ctx, dynamo.Requirement{
		Access: CheckDeleted, Key: dynamo.Key(CheckDeleted, userID), Cond: dynamo.Absent[Tombstone]("userId"), Err: ErrDeleted,
	})
}

// Kind is what a room is asked to do with what it keeps of a user.
type Kind string

const (
	Forget Kind = "forget" // delete it
	Export Kind = "export" // hand it out
)

// Request asks a room for the data of a user. A room may get it more than once.
type Request struct {
	Job    string `json:"job"`
	UserID string `json:"userId"`
}

// Done tells the room of the accounts that a room has done what it was asked.
type Done struct {
	Kind Kind   `json:"kind"`
	Room string `json:"room"`
	Request
}

// Queue is the queue of a room for requests of a kind: "cricket-forget-user".
func Queue(room string, k Kind) spec.Queue {
	return spec.Queue{Name: room + "-" + string(k) + "-user", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true}
}

// DoneQueue receives Done.
var DoneQueue = spec.Queue{Name: "accounts-done", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true}

// Deletion asks the room of the accounts to delete an account, for a room whose users have
// sessions instead of tokens.
type Deletion struct {
	UserID string `json:"userId"`
}

// DeleteQueue receives Deletion.
var DeleteQueue = spec.Queue{Name: "accounts-delete", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true}

// Apps are the rooms that keep something of users: the apps that lose their data with an
// account.
var Apps = []string{"cricket", "pickem", "commitcollect", "threefc", "bestshot"}

// KeepExport is how long an export is kept.
const KeepExport = 7 * 24 * time.Hour

// Exports holds the files of exports: what each room hands out, and the whole.
var Exports = spec.Bucket{Name: "account-exports", Expires: KeepExport, Shared: true}

// PartKey is the key of what a room hands out for a job.
func PartKey(room, job string) string { return "parts/" + room + "/" + job + ".json" }
