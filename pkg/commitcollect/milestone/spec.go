package milestone

import (
	"time"

	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// NoticeQueue receives Minted. Package notice handles it.
var NoticeQueue = spec.Queue{Name: "commitcollect-notices", MaxReceiveCount: 5, Batch: 1, Concurrency: 2}

// Minted is a message that a part was minted.
type Minted struct {
	UserID      string `json:"userId"`
	MilestoneID string `json:"milestoneId"`
	PartIndex   int    `json:"partIndex"`
}

// PartsMissing counts the parts that are earned and that their model lacks.
var PartsMissing = spec.Metric{Name: "PartsMissing", Unit: spec.Count, OfRoom: true}

// evaluates is what a function uses that computes milestones and mints parts.
var evaluates = []spec.Access{tables.GetProfile, tables.ReadMilestone, tables.SaveMilestone, tables.ReadModel, tables.MintParts, tables.MarkNoticed, tables.WriteAudit}

// What users do.
var (
	CreateMilestoneFunction = spec.Function{
		Name:   "commitcollect/create-milestone",
		Does:   "Starts a milestone of the caller.",
		IfDown: "Nobody can start a milestone.",
		On:     spec.Route{Method: "POST", Path: "/milestones", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetModel, tables.PutMilestone, tables.ReadMilestone, account.CheckDeleted}, Sends: []spec.Queue{link.BackfillQueue, workout.ChangeQueue},
		Limits: []spec.Limit{milestones},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListMilestonesFunction = spec.Function{
		Name:   "commitcollect/list-milestones",
		Does:   "Returns the caller's milestones.",
		IfDown: "The app does not show progress.",
		On:     spec.Route{Method: "GET", Path: "/milestones", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.ListMilestones},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetMilestoneFunction = spec.Function{
		Name:   "commitcollect/get-milestone",
		Does:   "Returns a milestone of the caller with its parts.",
		IfDown: "Milestones do not open.",
		On:     spec.Route{Method: "GET", Path: "/milestones/{milestoneId}", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetMilestone},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListAwardsFunction = spec.Function{
		Name:   "commitcollect/list-awards",
		Does:   "Returns the parts that a milestone of the caller has minted.",
		IfDown: "The model does not show its parts.",
		On:     spec.Route{Method: "GET", Path: "/milestones/{milestoneId}/awards", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetAwards, tables.ReadMilestone},
		Memory: 256, Timeout: 5 * time.Second,
	}
	RecomputeMilestoneFunction = spec.Function{
		Name:   "commitcollect/recompute-milestone",
		Does:   "Computes a milestone of the caller from all workouts.",
		IfDown: "Users cannot have a milestone computed; each workout does.",
		On:     spec.Route{Method: "POST", Path: "/milestones/{milestoneId}/recompute", Auth: spec.Session},
		Uses:   append([]spec.Access{tables.ResolveSession, tables.ListWorkouts, account.CheckDeleted}, evaluates...), Sends: []spec.Queue{NoticeQueue},
		Emits:  []spec.Metric{PartsMissing},
		Memory: 512, Timeout: 20 * time.Second,
	}
	UpdateMilestoneFunction = spec.Function{
		Name:   "commitcollect/update-milestone",
		Does:   "Pauses or resumes a milestone of the caller.",
		IfDown: "Milestones cannot be paused.",
		On:     spec.Route{Method: "PATCH", Path: "/milestones/{milestoneId}", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.ReadMilestone, tables.SaveMilestone, account.CheckDeleted}, Sends: []spec.Queue{workout.ChangeQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetEligibilityFunction = spec.Function{
		Name:   "commitcollect/get-eligibility",
		Does:   "Returns why a workout of the caller counts for a milestone, or why not.",
		IfDown: "Users cannot see why a workout does not count.",
		On:     spec.Route{Method: "GET", Path: "/activities/{activityId}/eligibility", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetWorkout, tables.ReadMilestone, tables.GetProfile, tables.ReadLedgers},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// EvaluateMilestonesFunction computes milestones.
var EvaluateMilestonesFunction = spec.Function{
	Name:   "commitcollect/evaluate-milestones",
	Does:   "Computes the milestones of a user whose workouts have changed, and mints the parts that they earn.",
	IfDown: "Workouts earn no parts.",
	On:     workout.ChangeQueue,
	Uses:   append([]spec.Access{tables.ListMilestones, tables.ReadLedgers, account.CheckDeleted}, evaluates...), Sends: []spec.Queue{NoticeQueue},
	Emits:  []spec.Metric{PartsMissing},
	Memory: 256, Timeout: 30 * time.Second,
}
