package ingest

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/spec"
)

// What the functions of administrators send to.
var (
	polls       = []spec.Queue{PollQueue}
	settlements = []spec.Queue{settlement.Queue}
)
