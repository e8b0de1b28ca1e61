package workout

import (
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// The queues.
var (
	EventQueue = spec.Queue{Name: "commitcollect-events", MaxReceiveCount: 5, Batch: 10, Concurrency: 5}
	// ChangeQueue receives Changed, in order for each user. Package milestone handles it.
	ChangeQueue = spec.Queue{Name: "commitcollect-changes.fifo", MaxReceiveCount: 5, Batch: 1, Concurrency: 5}
)

// NoticeQueue receives Notice. Package notice handles it.
var NoticeQueue = spec.Queue{Name: "commitcollect-notices", MaxReceiveCount: 5, Batch: 1, Concurrency: 2}

// Notice is a message to notify a user: of minted parts, or that Strava must be connected again.
type Notice struct {
	UserID      string `json:"userId"`
	MilestoneID string `json:"milestoneId,omitempty"`
	PartIndex   int    `json:"partIndex,omitempty"` // the last of the parts
	From        int    `json:"from,omitempty"`      // the first of several parts; 0 for one
	Complete    bool   `json:"complete,omitempty"`  // with these parts the model is complete
	Reconnect   bool   `json:"reconnect,omitempty"` // it is about the connection, and of no milestone
}

// Changed is a message that workouts of a user may have changed.
type Changed struct {
	UserID string `json:"userId"`
	// Anew has open milestones forget what they have carried forward, and the history fetched for them.
	Anew bool `json:"anew,omitempty"`
	// Expire has open milestones carry forward what is not to be kept any longer.
	Expire bool `json:"expire,omitempty"`
}

// syncs limits the syncs that a user asks for.
var syncs = spec.Limit{Name: "syncs", Max: 1, Per: 15 * time.Minute, Code: "sync_too_soon"}

// Webhook is the secret of the webhook's address, and its token.
const Webhook = "STRAVA_WEBHOOK"

// MilestonesOf is the range of a user's milestones, without their awards.
func MilestonesOf(userID string) dynamo.Range {
	only := dynamo.Equal[struct {
		EntityType string `dynamodbav:"entityType"`
	}]("entityType", "Milestone")

	return dynamo.Range{Key: dynamo.KeyBeginsWith(tables.ListMilestones, item.User(userID), item.Milestones), Filter: &only, Consistent: true}
}

// ToStrava is what a function uses that calls Strava for a user.
var ToStrava = []spec.Access{tables.GetConnection, tables.LockRefresh, tables.ReadBudget, tables.TakeBudget, tables.WriteAudit}

// stores is what a function uses that stores workouts.
var stores = []spec.Access{tables.GetWorkouts, tables.GetLedger, tables.StoreWorkouts, account.CheckDeleted}

var secrets = []string{link.StravaApp, link.TokenKeys}
