package tables

import (
	"matchday/pkg/spec"
)

// The queues of the room. The message type of each is declared in the package of the
// function that receives it.
var (
	ActivityQueue = spec.Queue{Name: "cricket-push-activities", MaxReceiveCount: 5, Batch: 1, Concurrency: 50}
	FinishQueue   = spec.Queue{Name: "cricket-finish-match", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}
)

// AlertQueue drops an alert after two hours: ten receives with a visibility timeout
// of twelve minutes. The handler returns a message to the queue if another worker
// holds the alert; that is not a failure.
var AlertQueue = spec.Queue{Name: "cricket-send-alerts", MaxReceiveCount: 10, Batch: 1, Concurrency: 20}
