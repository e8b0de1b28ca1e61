package score

import (
	"matchday/pkg/spec"
)

// Queue delivers the messages of this package's function.
var Queue = spec.Queue{Name: "pickem-score-event.fifo", MaxReceiveCount: 5, Batch: 1, Concurrency: 5}
