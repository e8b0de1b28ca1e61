package milestone

import (
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/spec"
)

// PartsMissing counts the parts that are earned and that their model lacks.
var PartsMissing = spec.Metric{Name: "PartsMissing", Unit: spec.Count, OfRoom: true}

// evaluates is what a function uses that computes milestones and mints parts.
var evaluates = []spec.Access{tables.GetProfile, tables.ReadMilestone, tables.SaveMilestone, tables.ReadModel, tables.MintParts,
	tables.MarkNoticed, tables.WriteAudit}
