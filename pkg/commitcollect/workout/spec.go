package workout

import (
	"net/http"
	"slices"
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
	// ChangeQueue receives Changed, in turn for each user. Package milestone handles it.
	ChangeQueue = spec.Queue{Name: "commitcollect-changes.fifo", MaxReceiveCount: 5, Batch: 1, Concurrency: 5}
)

// Changed is a message that workouts of a user may have changed.
type Changed struct {
	UserID string `json:"userId"`
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
var ToStrava = []spec.Access{tables.GetConnection, tables.LockRefresh, tables.TakeBudget, tables.WriteAudit}

// stores is what a function uses that stores workouts.
var stores = []spec.Access{tables.GetWorkouts, tables.GetLedger, tables.StoreWorkouts, account.CheckDeleted}

var secrets = []string{link.StravaApp, link.TokenKeys}

// What users do.
var (
	ListRecentFunction = spec.Function{
		Name:   "commitcollect/list-recent",
		Does:   "Returns the caller's latest workouts.",
		IfDown: "The list of workouts does not open.",
		On:     spec.Route{Method: "GET", Path: "/activities/recent", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.LatestLedgers, tables.GetWorkouts},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetStatusFunction = spec.Function{
		Name:   "commitcollect/get-status",
		Does:   "Returns the state of the caller's connection to Strava.",
		IfDown: "The app does not show whether Strava is connected.",
		On:     spec.Route{Method: "GET", Path: "/strava/status", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetConnection, tables.ReadLedgers},
		Memory: 256, Timeout: 5 * time.Second,
	}
	SyncActivitiesFunction = spec.Function{
		Name:   "commitcollect/sync-activities",
		Does:   "Has the caller's latest activities fetched from Strava.",
		IfDown: "Users cannot fetch activities themselves; webhooks and the night do.",
		On:     spec.Route{Method: "POST", Path: "/activities/sync", Auth: spec.Session, Answers: []int{http.StatusAccepted}},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetConnection, tables.MarkSync, account.CheckDeleted}, Sends: []spec.Queue{link.BackfillQueue},
		Limits: []spec.Limit{syncs},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// What Strava does.
var (
	VerifyWebhookFunction = spec.Function{
		Name:    "commitcollect/verify-webhook",
		Does:    "Tells Strava that the webhook is ours.",
		IfDown:  "The webhook cannot be subscribed.",
		On:      spec.Route{Method: "GET", Path: "/webhooks/strava/{secret}", Auth: spec.Secret, OthersCall: true},
		Secrets: []string{Webhook},
		Memory:  256, Timeout: 5 * time.Second,
	}
	ReceiveWebhookFunction = spec.Function{
		Name:   "commitcollect/receive-webhook",
		Does:   "Takes the events of Strava.",
		IfDown: "Workouts appear in the night only.",
		On:     spec.Route{Method: "POST", Path: "/webhooks/strava/{secret}", Auth: spec.Secret, Answers: []int{http.StatusOK}},
		Uses:   []spec.Access{tables.GetSubscription}, Sends: []spec.Queue{EventQueue}, Secrets: []string{Webhook},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// The jobs.
var (
	IngestEventsFunction = spec.Function{
		Name:   "commitcollect/ingest-events",
		Does:   "Fetches the activities that Strava's events name, and stores them.",
		IfDown: "Workouts appear late.",
		On:     EventQueue,
		Uses:   slices.Concat([]spec.Access{tables.ClaimEvent, tables.FinishEvent, tables.FindOwner, tables.UnlinkAthlete, tables.MarkSync, tables.TakeCalls}, stores, ToStrava),
		Sends:  []spec.Queue{EventQueue, ChangeQueue, link.PurgeQueue}, Secrets: secrets,
		Memory: 256, Timeout: time.Minute,
	}
	BackfillFunction = spec.Function{
		Name:   "commitcollect/backfill",
		Does:   "Fetches the history of a user from Strava.",
		IfDown: "Workouts before the connection, and those whose webhooks were lost, do not appear.",
		On:     link.BackfillQueue,
		Uses:   slices.Concat([]spec.Access{tables.ListMilestones, tables.ReadLedgers, tables.MarkSync, tables.TakeCalls}, stores, ToStrava),
		Sends:  []spec.Queue{link.BackfillQueue, EventQueue, ChangeQueue}, Secrets: secrets,
		Memory: 512, Timeout: 5 * time.Minute,
	}
	ReconcileFunction = spec.Function{
		Name:   "commitcollect/reconcile",
		Does:   "Has the latest activities of every connected user fetched in the night, and ends connections that are broken.",
		IfDown: "Workouts whose webhooks were lost do not appear, or are kept after a revocation.",
		On:     spec.Schedule("cron(0 3,15 * * ? *)"),
		Uses:   []spec.Access{tables.AllConnected}, Sends: []spec.Queue{link.BackfillQueue, link.PurgeQueue},
		Memory: 256, Timeout: 5 * time.Minute,
	}
	PurgeWorkoutsFunction = spec.Function{
		Name:   "commitcollect/purge-workouts",
		Does:   "Deletes the workouts of a user that are of no connected athlete.",
		IfDown: "Workouts are kept that Strava requires to be deleted within 48 hours.",
		On:     link.PurgeQueue,
		Uses: []spec.Access{
			tables.GetConnection, tables.GetProfile, tables.UnlinkAthlete, tables.DropWorkouts, tables.GetWorkouts, tables.GetLedger, tables.WriteAudit, account.CheckDeleted,
		},
		Sends:  []spec.Queue{ChangeQueue, link.BackfillQueue},
		Memory: 256, Timeout: time.Minute,
	}
)
