package event

import (
	"matchday/pkg/spec"
)

// ScoresBehind is the number of events that have waited for their points for longer
// than lateScore.
var ScoresBehind = spec.Metric{Name: "ScoresBehind", Unit: spec.Count}
