package tables

import (
	"time"

	"matchday/pkg/spec"
)

// The queues of the room. The message type of each is declared in the package of the
// function that receives it.
var (
	// ActivityQueue has one message for each change of a match. It keeps the name of the queue
	// that also had the parts: tick and finish-match of an earlier deployment send their changes
	// to it, and parts that are in it at a deployment are handled by push-activities.
	//
	// A tick sends at most one message for a match, and 50 are handled at once: it holds one
	// change of each live match at most.
	ActivityQueue = spec.Queue{Name: "cricket-push-activities", MaxReceiveCount: 5, Batch: 1, Concurrency: 50, Holds: mostMatches}
	// PartQueue has the parts of changes with a large audience, and the retries. The group of a
	// message is its match, so that SQS prefers matches with few messages in flight (fair queue).
	//
	// It holds the parts of one change to a million activities: 576 by the test of package
	// activity. Parts of an older change need two reads each, and no push.
	PartQueue = spec.Queue{Name: "cricket-push-parts", MaxReceiveCount: 5, Batch: 1, Concurrency: 50, Holds: 600}
	// TopicQueue has one message for each change of a match, for the topics of Android phones, if the stage
	// has them. It is apart from ActivityQueue, so that neither waits for the service of the other.
	TopicQueue = spec.Queue{Name: "cricket-push-topics", MaxReceiveCount: 5, Batch: 1, Concurrency: 20, Holds: mostMatches}
	// FinishQueue holds a message for each match that ends. Those that wait for a time are
	// delayed, and do not count.
	FinishQueue = spec.Queue{Name: "cricket-finish-match", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Holds: mostMatches}
)

// mostMatches is the largest number of matches that are live at one time, as the benchmark of the
// ticks has them.
const mostMatches = 100

// AlertQueue retries an alert that fails, such as one whose table is throttled, after 2, 5, 15 and
// then 60 s, for six minutes. If the function crashes, the visibility timeout of twelve minutes
// passes instead, and ten receives take two hours. The handler returns a message to the queue if another worker
// holds the alert; that is not a failure.
//
// It holds the parts of one alert to a million followers, of 1,600 each.
var AlertQueue = spec.Queue{
	Name: "cricket-send-alerts", MaxReceiveCount: 10, Batch: 1, Concurrency: 20, Holds: 1_000_000 / 1600,
	Backoff: []time.Duration{
		2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute, time.Minute, time.Minute, time.Minute, time.Minute, time.Minute,
	},
}
