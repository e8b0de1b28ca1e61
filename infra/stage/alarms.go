package stage

import (
	"time"

	"matchday/pkg/kit/obs"
	"matchday/pkg/spec"
)

// Alarm wakes the on-call when the sum of its metrics was out of bounds in
// Points of the last Of periods.
type Alarm struct {
	Name     string
	Function string // whose it is, "" for the room's
	Watches  string // what, for the reader
	IfDown   string // what a user notices
	Metrics  []Metric
	While    *Metric // the alarm rests while its last value is 0; nil for never
	Below    bool    // Bound is a floor, else a ceiling
	Bound    float64
	Period   time.Duration
	Points   int
	Of       int
}

// Metric is a metric of CloudWatch. Of its dimensions, those that only a
// deployment knows are APIID and the name of a state machine in braces.
type Metric struct {
	Namespace, Name, Stat string
	Dimensions            map[string]string
}

// APIID stands for the id of the room's API.
const APIID = "{api}"

// MachineARN stands for the ARN of a state machine.
func MachineARN(m spec.Machine) string { return "{" + m.Name + "}" }

// Errors are the metrics of a function's failures.
func (s Stage) Errors(f spec.Function) []Metric {
	of := map[string]string{"FunctionName": s.Function(f)}
	return []Metric{{"AWS/Lambda", "Errors", "Sum", of}, {"AWS/Lambda", "Throttles", "Sum", of}}
}

// Waiting is the metric of the messages that wait in a queue.
func Waiting(queue string) Metric {
	return Metric{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", map[string]string{"QueueName": queue}}
}

// Alarms are all alarms of a room: of its functions in the order of the spec, of
// its API, its state machines, and those that it asks for.
func (s Stage) Alarms(room spec.Room) (all []Alarm) {
	routes := false
	for _, f := range room.Functions {
		failing := Alarm{
			Name: s.Function(f) + "-failing", Function: f.Name, Watches: "errors and throttles, in 2 of 3 times 5 minutes", IfDown: f.IfDown,
			Metrics: s.Errors(f), Period: 5 * time.Minute, Points: 2, Of: 3,
		}
		if _, job := f.On.(spec.Schedule); job { // it may run once a day
			failing.Watches, failing.Points, failing.Of = "errors and throttles, in 5 minutes", 1, 1
		}
		all = append(all, failing)
		if dead := s.Dead(f); dead != "" {
			all = append(all, lost(dead, f.Name, "events that could not be handled", f.IfDown))
		}
		_, route := f.On.(spec.Route)
		routes = routes || route
	}
	if routes {
		all = append(all, Alarm{
			Name: s.API(room.Name) + "-failing", Watches: "more than 1 % of requests answered 5xx, in 2 of 3 times 5 minutes", IfDown: "The app shows errors.",
			Metrics: []Metric{{"AWS/ApiGateway", "5xx", "Average", map[string]string{"ApiId": APIID}}},
			Bound:   0.01, Period: 5 * time.Minute, Points: 2, Of: 3,
		})
	}
	for _, m := range room.Machines {
		failing := Alarm{
			Name: s.Machine(m) + "-failing", Watches: "executions that failed, were aborted or throttled, or took too long", IfDown: m.IfDown,
			Period: time.Minute, Points: 1, Of: 1,
		}
		for _, name := range []string{"ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted", "ExecutionThrottled"} {
			failing.Metrics = append(failing.Metrics, Metric{"AWS/States", name, "Sum", map[string]string{"StateMachineArn": MachineARN(m)}})
		}
		all = append(all, failing, lost(s.MachineDead(m), "", "executions that could not be started", m.IfDown))
	}
	for _, a := range room.Alarms {
		metric := func(name, stat string) Metric {
			return Metric{obs.Namespace, name, stat, map[string]string{obs.Dimension: s.Function(spec.Function{Name: a.Function})}}
		}
		own := Alarm{
			Name: s.Prefix() + room.Name + "-" + a.Name, Function: a.Function, Watches: a.Watches, IfDown: a.IfDown,
			Below: a.Below, Bound: a.Bound, Period: time.Minute, Points: a.Minutes, Of: 5,
		}
		for _, name := range a.Metrics {
			own.Metrics = append(own.Metrics, metric(name, a.Stat))
		}
		if a.While != "" {
			own.While = new(metric(a.While, "Minimum"))
		}
		all = append(all, own)
	}
	return all
}

func lost(queue, function, watches, ifDown string) Alarm {
	return Alarm{
		Name: queue + "-filled", Function: function, Watches: watches, IfDown: ifDown,
		Metrics: []Metric{Waiting(queue)}, Period: time.Minute, Points: 1, Of: 1,
	}
}
