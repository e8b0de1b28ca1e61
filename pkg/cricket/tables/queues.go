package tables

import (
	"matchday/pkg/spec"
)

// The queues of the room. The messages of each belong to the function it wakes.
var (
	ActivityQueue = spec.Queue{Name: "cricket-push-activities", MaxReceiveCount: 5, Batch: 1, Concurrency: 50}
	FinishQueue   = spec.Queue{Name: "cricket-finish-match", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}
)

// AlertQueue gives an alert up after two hours: ten times the twelve minutes for
// which one that failed is invisible. What another worker has in hand has not
// failed, and is put back by its handler.
var AlertQueue = spec.Queue{Name: "cricket-send-alerts", MaxReceiveCount: 10, Batch: 1, Concurrency: 20}
