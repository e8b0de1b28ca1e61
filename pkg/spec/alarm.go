package spec

// Unit is the unit of a metric, spelled as CloudWatch spells it.
type Unit string

const (
	Count        Unit = "Count"
	Milliseconds Unit = "Milliseconds"
	Bytes        Unit = "Bytes"
)

// Metric is a number that functions emit to CloudWatch. An alarm refers to the same value.
type Metric struct {
	Name   string
	Unit   Unit
	OfRoom bool `json:"-"` // one metric of the room, whichever of its functions emits it; otherwise each function has its own
}

// Emitted is a metric of a function.
type Emitted struct {
	Function string
	Metric   Metric
}

// Alarm notifies the on-call engineer when the sum of some metrics is out of bounds.
type Alarm struct {
	Name     string   // "slots-missed"
	Function string   // that emits the metrics
	Metrics  []Metric // whose sum is watched
	Stat     string   // of a minute: "Sum", "p99"
	While    Metric   // the alarm is on while this metric is above 0; none for always
	When     Emitted  // only minutes count in which the sum of this metric is above 0; none for all minutes
	Below    bool     // alarm below Bound; otherwise above
	Bound    float64
	Minutes  int    // of the last Of that must be out of bounds
	Of       int    // how many minutes it looks at, 0 for five: more than lie between two values while the cause lasts
	Notice   bool   // it can wait for the next working day; otherwise it is urgent
	Watches  string // what is watched, for the on-call engineer
	IfDown   string // what a user notices
}
