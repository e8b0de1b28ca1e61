// Package account is what rooms share about the accounts of users: the tombstones of deleted
// users, and the messages by which the accounts room asks other rooms to delete or export the
// data of a user.
//
// A user is deleted at once, and the data later. DELETE /account writes a tombstone before it
// answers, in every room that has the route. From then on the condition of every write of the user
// checks it: an access token stays valid for up to 15 minutes, but cannot write. The table of
// tombstones is in the shared stack, so that one write ends the user in all rooms, and no room reads
// a table of another. Then each room deletes its rows when it receives a message in a queue of its
// own.
package account

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Deleted has a tombstone for each user whose account is deleted, until none of the user's
// tokens is valid any more.
var Deleted = spec.Table{Name: "deleted-users", Key: spec.Key{Partition: "userId"}, TTL: "ttl", Shared: true}

// CheckDeleted is the check in each write of a user. A function that writes for the user of its
// route lists it in Uses. httpapi then requires it: see Require.
var CheckDeleted = Deleted.On("Check that a user is not deleted", "PK=userId, absent, in each write of the user",
	spec.Rate{Driver: spec.UserAction}, spec.ConditionCheckItem)

// Bury is the write of a tombstone, by every function that answers a user who deletes the account.
var Bury = Deleted.On("Bury user", "PK=userId, absent", spec.Rate{Driver: spec.UserAction}, spec.PutItem)

// PutTombstone ends the writes of a user in all rooms. A second run changes nothing: the first
// tombstone stays.
func PutTombstone(ctx context.Context, db dynamo.DB, userID string, at time.Time) error {
	row := Tombstone{UserID: userID, DeletedAt: at.UTC().Format(time.RFC3339)}
	ctx = dynamo.WithoutRequirement(ctx) // which would be that there is no tombstone

	return dynamo.IgnoreRefused(dynamo.Put(ctx, db, Bury, row, dynamo.Absent[Tombstone]("userId")))
}

// Tombstone is a row of Deleted.
type Tombstone struct {
	UserID    string `dynamodbav:"userId"`
	DeletedAt string `dynamodbav:"deletedAt"`
	TTL       int64  `dynamodbav:"ttl,omitempty"` // epoch seconds, once the account is gone
}

// ErrDeleted refuses a write of a deleted user.
var ErrDeleted = problem.New(problem.Unauthenticated, "account_deleted", "this account is deleted")

// ErrDeleting refuses to invite a deleted user while the account still exists. Afterwards the
// address can get another account.
var ErrDeleting = problem.New(problem.Conflict, "account_deleting",
	"the account with this address is being deleted: invite again in a few minutes")

// Require returns a context whose writes fail with ErrDeleted once the user is deleted.
func Require(ctx context.Context, userID string) context.Context {
	return dynamo.Require(ctx, dynamo.Requirement{
		Access: CheckDeleted, Key: dynamo.Key(CheckDeleted, userID), Cond: dynamo.Absent[Tombstone]("userId"), Err: ErrDeleted,
	})
}

// Kind is what a room must do with the data of a user.
type Kind string

const (
	Forget Kind = "forget" // delete it
	Export Kind = "export" // export it
)

// Request asks a room to delete or export the data of a user. A room may receive it more than
// once.
type Request struct {
	Job    string `json:"job"`
	UserID string `json:"userId"`
}

// Done reports to the accounts room that a room has finished a Request.
type Done struct {
	Kind Kind   `json:"kind"`
	Room string `json:"room"`
	Request
}

// Queue is the queue of a room for requests of a kind: "cricket-forget-user".
func Queue(room string, k Kind) spec.Queue {
	return spec.Queue{Name: room + "-" + string(k) + "-user", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true, Answered: true}
}

// DoneQueue receives Done.
var DoneQueue = spec.Queue{Name: "accounts-done", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true}

// Deletion asks the accounts room to delete an account. Rooms whose users have sessions instead
// of tokens send it.
type Deletion struct {
	UserID string `json:"userId"`
}

// DeleteQueue receives Deletion.
var DeleteQueue = spec.Queue{Name: "accounts-delete", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true}

// Keepers returns the names of the rooms that keep data of users, in order: those with a
// function that receives Queue(room, Forget). A deletion and an export end when all of them have
// confirmed.
func Keepers(rooms []spec.Room) (names []string) {
	for _, room := range rooms {
		q := Queue(room.Name, Forget)
		if slices.ContainsFunc(room.Functions, func(f spec.Function) bool {
			on, ok := f.On.(spec.Queue)
			return ok && on.Name == q.Name
		}) {
			names = append(names, room.Name)
		}
	}

	return names
}

// noKeepers is the value of spec.EnvKeepers if no room keeps data of users. It is not empty, so
// that a missing variable is an error: an account would be deleted without its data.
const noKeepers = "none"

// FormatKeepers returns the value of spec.EnvKeepers.
func FormatKeepers(names []string) string { return cmp.Or(strings.Join(names, ","), noKeepers) }

// ParseKeepers reads the value of spec.EnvKeepers. It returns an error if the variable is not
// set.
func ParseKeepers(value string) (names []string, err error) {
	switch value {
	case "":
		return nil, errors.New(spec.EnvKeepers + " is not set")
	case noKeepers:
		return nil, nil
	}

	return strings.Split(value, ","), nil
}

// KeepExport is how long an export is kept.
const KeepExport = 7 * 24 * time.Hour

// Exports holds the files of exports: the part of each room, the whole, and what a room with sessions
// hands out itself, under rooms/.
var Exports = spec.Bucket{Name: "account-exports", Expires: KeepExport, Shared: true}

// PartKey is the key of a room's part of an export job.
func PartKey(room, job string) string { return "parts/" + room + "/" + job + ".json" }
