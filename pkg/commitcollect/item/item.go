// Package item has the keys of the room's items, and the items that several use cases share.
package item

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
)

// Sort keys of items that have one only.
const (
	Meta       = "META"
	Profile    = "PROFILE"
	Connection = "STRAVA#CONNECTION"
	Calls      = "STRAVA#CALLS"
	EventCalls = "STRAVA#EVENTS"
	Owner      = "OWNER"
	Export     = "EXPORT"
	// MilestoneList has the ids of a user's milestones that are open, or have been so lately.
	MilestoneList = "LIST#MILESTONES"
)

// Partitions that have one item, or are a list.
const (
	Models       = "MODEL#INDEX"
	Budget       = "STRAVA#BUDGET"
	Subscription = "STRAVA#SUBSCRIPTION"
)

// Prefixes of sort keys.
const (
	Workouts   = "WORKOUT#STRAVA#"
	Ledgers    = "LEDGER#"
	Milestones = "MILESTONE#"
)

// Partition keys.
func User(userID string) string      { return "USER#" + userID }
func Session(id string) string       { return "SESSION#" + id }
func Athlete(athleteID int64) string { return "STRAVA#ATHLETE#" + strconv.FormatInt(athleteID, 10) }
func Model(modelID string) string    { return "MODEL#" + modelID }
func Shelf(shareID string) string    { return "SHELF#" + shareID }
func Connected(shard int) string     { return fmt.Sprintf("STRAVA#CONNECTED#%x", shard) }

// Sort keys.
func Workout(activityID string) string    { return Workouts + activityID }
func Ledger(month string) string          { return Ledgers + month }
func Milestone(milestoneID string) string { return Milestones + milestoneID }
func Part(n int) string                   { return fmt.Sprintf("PART#%02d", n) }

// Award returns the sort key of the award of part n of a milestone.
func Award(milestoneID string, n int) string { return Awards(milestoneID) + fmt.Sprintf("%02d", n) }

// Awards returns the prefix of the sort keys of a milestone's awards.
func Awards(milestoneID string) string { return Milestone(milestoneID) + "#AWARD#" }

// Shards is the number of partitions that list the connected users, so that none of them
// is written or read too often.
const Shards = 16

// Shard returns the partition that lists a user.
func Shard(userID string) int {
	h := fnv.New32a()
	h.Write([]byte(userID))

	return int(h.Sum32() % Shards)
}

// Month returns the month of a time, as ledgers have it: 2026-03.
func Month(epoch int64) string { return time.Unix(epoch, 0).UTC().Format("2006-01") }

// ErrNoUser refuses a user without a profile. The account was deleted, and the session still
// exists.
var ErrNoUser = problem.New(problem.NotFound, "user_not_found", "there is no such user")

// UserRow is the item PROFILE of a user.
type UserRow struct {
	PK         string       `dynamodbav:"PK"`
	SK         string       `dynamodbav:"SK"`
	EntityType string       `dynamodbav:"entityType"`
	UserID     string       `dynamodbav:"userId"`
	Email      string       `dynamodbav:"email"`
	Role       string       `dynamodbav:"role"`
	Plan       string       `dynamodbav:"plan"`
	CreatedAt  string       `dynamodbav:"createdAtUtc"`
	Units      string       `dynamodbav:"units"`
	Counts     tally.Choice `dynamodbav:"counts"`
	CountsAt   int64        `dynamodbav:"countsAtUtc,omitempty"` // when the user chose Counts last, epoch s; rows of before lack it
}

// NewUser returns the profile of a user who signs in for the first time.
func NewUser(userID, email string, now time.Time) UserRow {
	return UserRow{
		PK: User(userID), SK: Profile, EntityType: "Profile", UserID: userID, Email: email, Role: "user", Plan: "free",
		CreatedAt: now.UTC().Format(time.RFC3339), Units: "km", Counts: tally.DefaultChoice,
	}
}

// ReadUser returns the profile of a user. It returns ErrNoUser if there is none.
func ReadUser(ctx context.Context, db dynamo.DB, userID string) (UserRow, error) {
	u, ok, err := dynamo.Get[UserRow](ctx, db, tables.GetProfile, User(userID), Profile)
	if err == nil && !ok {
		err = ErrNoUser
	}

	return u, err
}

// Flow is what a browser has begun at another site, and must finish.
type Flow string

// The flows.
const (
	SignIn Flow = "SIGNIN"
	Link   Flow = "LINK" // to Strava
)

// State is the partition of a flow that has begun. The state of one flow is unknown to another.
func State(f Flow, state string) string { return "STATE#" + string(f) + "#" + state }
