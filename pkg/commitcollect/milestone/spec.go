package milestone

import (
	"matchday/pkg/commitcollect/tables"
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
var evaluates = []spec.Access{tables.GetProfile, tables.ReadMilestone, tables.SaveMilestone, tables.ReadModel, tables.MintParts,
	tables.MarkNoticed, tables.WriteAudit}
