package tables

import (
	"matchday/pkg/spec"
)

// The queues of the room. The message type of each is declared in the package of the
// function that receives it.
var (
	// ActivityQueue has one message for each change of a match. It keeps the name of the queue
	// that also had the parts: tick and finish-match of an earlier deployment send their changes
	// to it, and parts that are in it at a deployment are handled by push-activities.
	ActivityQueue = spec.Queue{Name: "cricket-push-activities", MaxReceiveCount: 5, Batch: 1, Concurrency: 50}
	// PartQueue has the parts of changes with a large audience, and the retries. The group of a
	// message is its match, so that SQS prefers matches with few messages in flight (fair queue).
	PartQueue   = spec.Queue{Name: "cricket-push-parts", MaxReceiveCount: 5, Batch: 1, Concurrency: 50}
	FinishQueue = spec.Queue{Name: "cricket-finish-match", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}
)

// AlertQueue drops an alert after two hours: ten receives with a visibility timeout
// of twelve minutes. The handler returns a message to the queue if another worker
// holds the alert; that is not a failure.
var AlertQueue = spec.Queue{Name: "cricket-send-alerts", MaxReceiveCount: 10, Batch: 1, Concurrency: 20}
