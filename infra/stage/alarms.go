package stage

import (
	"fmt"
	"slices"
	"time"

	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// Alarm notifies the on-call if the sum of its metrics was out of bounds in Points of
// the last Of periods.
type Alarm struct {
	Name     string
	Function string // the function or queue, "" for the room
	Watches  string // description of the condition
	IfDown   string // what a user notices
	Metrics  []Metric
	While    *Metric // the alarm is suppressed while this metric's last value is 0; nil for never
	Below    bool    // Bound is a floor, else a ceiling
	Bound    float64
	Period   time.Duration
	Points   int
	Of       int
	// TreatMissingData is how CloudWatch treats a period without data.
	TreatMissingData string
}

// The values of TreatMissingData, as CloudWatch spells them.
const (
	NotBreaching = "notBreaching" // no data means that nothing failed
	Breaching    = "breaching"    // data always comes, so its absence is a failure
	Ignore       = "ignore"       // the alarm keeps its state
)

// Metric is a metric of CloudWatch. Dimensions whose value is known only after a
// deployment hold a placeholder: APIID, or the name of a state machine in braces.
type Metric struct {
	Namespace, Name, Stat string
	Dimensions            map[string]string
}

// APIID stands for the id of the room's API.
const APIID = "{api}"

// MachineARN stands for the ARN of a state machine.
func MachineARN(m spec.Machine) string { return "{" + m.Name + "}" }

// Errors returns the metrics of a function's failures: those that Lambda counts, and
// the failed requests and messages that Lambda counts as successes.
func (s Stage) Errors(f spec.Function) []Metric {
	all := []Metric{s.ofLambda(f, "Errors"), s.ofLambda(f, "Throttles")}
	switch f.On.(type) {
	case spec.Route, spec.Queue:
		all = append(all, s.emitted(f.Name, telemetry.Failed, "Sum"))
	}
	return all
}

func (s Stage) ofLambda(f spec.Function, name string) Metric {
	return Metric{"AWS/Lambda", name, "Sum", map[string]string{"FunctionName": s.Function(f)}}
}

// emitted returns the CloudWatch metric of a metric that a function emits.
func (s Stage) emitted(function string, m spec.Metric, stat string) Metric {
	return Metric{telemetry.Namespace, m.Name, stat, map[string]string{telemetry.Dimension: s.Function(spec.Function{Name: function})}}
}

// Waiting returns the metric of the visible messages in a queue.
func Waiting(queue string) Metric { return ofQueue(queue, "ApproximateNumberOfMessagesVisible") }

func ofQueue(queue, name string) Metric {
	return Metric{"AWS/SQS", name, "Maximum", map[string]string{"QueueName": queue}}
}

func ofMachine(m spec.Machine, name string) Metric {
	return Metric{"AWS/States", name, "Sum", map[string]string{"StateMachineArn": MachineARN(m)}}
}

// late returns the maximum age of a message of the function's queue. A failed message
// is invisible until its visibility timeout ends, and a function may delay a message
// for up to the 15 minutes that SQS allows. Both times count towards the age.
func late(f spec.Function) time.Duration {
	age := max(5*time.Minute, f.VisibilityTimeout())
	if slices.Contains(f.Sends, f.On.(spec.Queue)) {
		age += 15 * time.Minute
	}
	return age
}

// Alarms returns all alarms of a room: those of its functions in the order of the spec,
// of its API, of its state machines, and those that its spec lists.
func (s Stage) Alarms(room spec.Room) (all []Alarm) {
	routes := false
	for _, f := range room.Functions {
		failing := Alarm{
			Name: s.Function(f) + "-failing", Function: f.Name, Watches: "failures and throttles, in 2 of 3 times 5 minutes", IfDown: f.IfDown,
			Metrics: s.Errors(f), Period: 5 * time.Minute, Points: 2, Of: 3, TreatMissingData: NotBreaching,
		}
		if _, job := f.On.(spec.Schedule); job { // it may run once a day
			failing.Watches, failing.Points, failing.Of = "failures and throttles, in 5 minutes", 1, 1
		}
		all = append(all, failing)
		if dead := s.DeadLetter(f); dead != "" {
			all = append(all, lost(dead, f.Name, "events that could not be handled", f.IfDown))
		}
		switch on := f.On.(type) {
		case spec.Queue:
			all = append(all, Alarm{
				Name: s.Prefix() + on.Name + "-late", Function: f.Name, IfDown: f.IfDown,
				Watches: fmt.Sprintf("messages that are older than %g minutes, in 3 of 5 minutes", late(f).Minutes()),
				Metrics: []Metric{ofQueue(s.Prefix()+on.Name, "ApproximateAgeOfOldestMessage")},
				Bound:   late(f).Seconds(), Period: time.Minute, Points: 3, Of: 5, TreatMissingData: NotBreaching,
			})
		case spec.Schedule:
			if everyMinute(on) {
				all = append(all, stopped(s.Function(f), f.Name, f.IfDown, s.ofLambda(f, "Invocations")))
			}
		case spec.Route:
			routes = true
		}
	}
	if routes {
		all = append(all, Alarm{
			Name: s.API(room.Name) + "-failing", Watches: "more than 1 % of requests answered 5xx, in 2 of 3 times 5 minutes", IfDown: "The app shows errors.",
			Metrics: []Metric{{"AWS/ApiGateway", "5xx", "Average", map[string]string{"ApiId": APIID}}},
			Bound:   0.01, Period: 5 * time.Minute, Points: 2, Of: 3, TreatMissingData: NotBreaching,
		})
	}
	for _, m := range room.Machines {
		failing := Alarm{
			Name: s.Machine(m) + "-failing", Watches: "executions that failed, were aborted or throttled, or took too long", IfDown: m.IfDown,
			Period: time.Minute, Points: 1, Of: 1, TreatMissingData: NotBreaching,
		}
		for _, name := range []string{"ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted", "ExecutionThrottled"} {
			failing.Metrics = append(failing.Metrics, ofMachine(m, name))
		}
		all = append(all, failing, lost(s.MachineDead(m), "", "executions that could not be started", m.IfDown))
		if everyMinute(m.Every) {
			all = append(all, stopped(s.Machine(m), "", m.IfDown, ofMachine(m, "ExecutionsStarted")))
		}
	}
	for _, a := range room.Alarms {
		own := Alarm{
			Name: s.Prefix() + room.Name + "-" + a.Name, Function: a.Function, Watches: a.Watches, IfDown: a.IfDown,
			Below: a.Below, Bound: a.Bound, Period: time.Minute, Points: a.Minutes, Of: 5, TreatMissingData: NotBreaching,
		}
		for _, m := range a.Metrics {
			own.Metrics = append(own.Metrics, s.emitted(a.Function, m, a.Stat))
		}
		switch {
		case a.While != spec.Metric{}: // there is no data while nothing runs, nor during a complete outage
			own.While, own.TreatMissingData = new(s.emitted(a.Function, a.While, "Minimum")), Ignore
		case a.Below:
			own.TreatMissingData = Breaching
		}
		all = append(all, own)
	}
	return all
}

func lost(queue, function, watches, ifDown string) Alarm {
	return Alarm{
		Name: queue + "-filled", Function: function, Watches: watches, IfDown: ifDown,
		Metrics: []Metric{Waiting(queue)}, Period: time.Minute, Points: 1, Of: 1, TreatMissingData: NotBreaching,
	}
}

// stopped notifies if something that must start every minute does not start: a disabled
// schedule causes no failure. A start may come at any second of a minute, so one minute
// may have none.
func stopped(name, function, ifDown string, starts Metric) Alarm {
	return Alarm{
		Name: name + "-stopped", Function: function, Watches: "no start in 3 of 5 minutes", IfDown: ifDown,
		Metrics: []Metric{starts}, Below: true, Bound: 1, Period: time.Minute, Points: 3, Of: 5, TreatMissingData: Breaching,
	}
}

func everyMinute(on spec.Schedule) bool { return on == "rate(1 minute)" || on == "cron(* * * * ? *)" }
