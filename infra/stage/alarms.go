package stage

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// Alarm notifies the on-call engineer if the sum of its metrics was out of bounds in Points of
// the last Of periods.
type Alarm struct {
	Name     string // ends with the severity
	Severity Severity
	Function string // whose own metric it watches, "" for the room
	Store    string // the database or cache whose metric it watches, "" for none
	Watches  string // description of the condition
	IfDown   string // what a user notices
	Metrics  []Metric
	Math     string  // metric math of the metrics m1, m2, …; "" for their sum
	While    *Metric // the alarm is suppressed while this metric's last value is 0; nil for never
	Below    bool    // Bound is a floor, else a ceiling
	Bound    float64
	Period   time.Duration
	Points   int
	Of       int
	// TreatMissingData is how CloudWatch treats a period without data.
	TreatMissingData string
}

// Severity says how soon somebody must look at an alarm. Each has a topic of the stage.
type Severity string

const (
	Urgent Severity = "urgent" // at once: users notice it
	Notice Severity = "notice" // on the next working day
)

// Severities are all of them.
var Severities = []Severity{Urgent, Notice}

// The values of TreatMissingData, as CloudWatch spells them.
const (
	NotBreaching = "notBreaching" // no data means that nothing failed
	Breaching    = "breaching"    // data always arrives, so its absence is a failure
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

// Filter counts the lines of a log group that match a pattern.
type Filter struct {
	Metric         Metric
	Group, Pattern string
	Value          string // what a line counts: a number, or the field with it
}

// Refused returns the metric of the requests that a room's API answers by 429.
func (s Stage) Refused(room string) Metric {
	return Metric{telemetry.Namespace, s.Prefix() + room + "-refused", "Sum", nil}
}

func routed(room spec.Room) bool {
	return slices.ContainsFunc(room.Functions, func(f spec.Function) bool { _, ok := f.On.(spec.Route); return ok })
}

// Failures returns the metric of all failures of a room's functions and state machines.
// Filters count it, so that it costs the same for any number of functions.
func (s Stage) Failures(room string) Metric {
	return Metric{telemetry.Namespace, s.Prefix() + room + "-failures", "Sum", nil}
}

// Filters returns what counts as a failure of a room: the requests, messages and runs
// that a function reports as failed; the invocations that end by a timeout, by lack of
// memory or by a crash, of which only Lambda can report; and the executions of state
// machines. Some failures count twice, which does not matter to the alarm. The last filter
// is that of Refused.
func (s Stage) Filters(room spec.Room) []Filter {
	failures := s.Failures(room.Name)

	all := []Filter{
		{failures, s.LogGroup(room.Name), "{ $." + telemetry.Failed.Name + " > 0 }", "$." + telemetry.Failed.Name},
		{failures, s.LogGroup(room.Name), `{ $.type = "platform.report" && $.record.status != "success" }`, "1"},
	}
	for _, m := range room.Machines {
		all = append(all, Filter{failures, s.MachineLogs(m),
			`{ $.type = "ExecutionFailed" || $.type = "ExecutionTimedOut" || $.type = "ExecutionAborted" }`, "1"})
	}

	if routed(room) {
		all = append(all, Filter{s.Refused(room.Name), s.APILogs(room.Name), `{ $.status = "429" }`, "1"})
	}

	return all
}

// WhichFailed is the query of Logs Insights that returns the failures of a room by
// function, with the last error of each. In a room's log group the name of the function is
// in that of the log stream.
const WhichFailed = `filter level = "ERROR" or (type = "platform.report" and record.status != "success") | ` +
	`parse @logStream /(?<name>[^\/\[]+)\[/ | ` +
	`stats count(*) as failures, latest(err) as lastError by name | sort failures desc`

func (s Stage) ofLambda(f spec.Function, name string) Metric {
	return Metric{"AWS/Lambda", name, "Sum", map[string]string{"FunctionName": s.Function(f)}}
}

// emitted returns the CloudWatch metric of a metric that a function of the room emits.
func (s Stage) emitted(room, function string, m spec.Metric, stat string) Metric {
	by := map[string]string{telemetry.Dimension: s.Function(spec.Function{Name: function})}
	if m.OfRoom {
		by = map[string]string{telemetry.RoomDimension: s.Prefix() + room}
	}

	return Metric{telemetry.Namespace, m.Name, stat, by}
}

// Waiting returns the metric of the visible messages in a queue.
func Waiting(queue string) Metric { return ofQueue(queue, "ApproximateNumberOfMessagesVisible") }

func ofQueue(queue, name string) Metric {
	return Metric{"AWS/SQS", name, "Maximum", map[string]string{"QueueName": queue}}
}

// untouched returns the metrics of the visible messages that a queue has throughout a minute, and
// of the messages that are received from it in the minute.
func untouched(queue string) []Metric {
	visible, received := Waiting(queue), ofQueue(queue, "NumberOfMessagesReceived")
	visible.Stat, received.Stat = "Minimum", "Sum"

	return []Metric{visible, received}
}

func ofMachine(m spec.Machine, name string) Metric {
	return Metric{"AWS/States", name, "Sum", map[string]string{"StateMachineArn": MachineARN(m)}}
}

// Capacity returns the metric of the capacity that a database uses, in percent of the maximum to
// which it scales.
func (s Stage) Capacity(d spec.SQLDatabase) Metric {
	cluster := s.Prefix() + d.Name
	if other, ok := s.RestoredSQL[d.Name]; ok {
		cluster = other.Cluster()
	}

	return Metric{"AWS/RDS", "ACUUtilization", "Average", map[string]string{"DBClusterIdentifier": cluster}}
}

// Throttled returns the metric of the commands that a cache refuses, because it is used more
// than its limit allows, or its use grows faster than it scales. Its dimension is the name of
// the serverless cache.
func (s Stage) Throttled(c spec.Cache) Metric {
	return Metric{"AWS/ElastiCache", "ThrottledCmds", "Sum", map[string]string{"clusterId": s.Prefix() + c.Name}}
}

// throttles returns the metric of the reads that DynamoDB throttles on a table: of all its
// operations together. ThrottledRequests would be one metric for each operation. Writes are those of
// requests, which then fail: the API's alarm notices.
func (s Stage) throttles(t spec.Table) Metric {
	return Metric{"AWS/DynamoDB", "ReadThrottleEvents", "Sum", map[string]string{"TableName": spec.TableIn(s.Prefix(), t.Name)}}
}

// ofStores returns the alarms of a room's tables, databases and caches. A paused database has no
// load.
func (s Stage) ofStores(room spec.Room) (all []Alarm) {
	var throttled []Metric

	for _, t := range room.Tables() {
		if t.Busy {
			throttled = append(throttled, s.throttles(t))
		}
	}

	for i, some := range parts(throttled) {
		all = append(all, Alarm{
			Name:             s.Prefix() + room.Name + "-tables-throttled" + i,
			Watches:          "reads that DynamoDB throttles on a table whose load grows with the users, in 3 of 5 minutes",
			IfDown:           "Requests and messages are retried: they are slow, and fail if it lasts. The graph shows the table.",
			Metrics:          some,
			Period:           time.Minute,
			Points:           3,
			Of:               5,
			TreatMissingData: NotBreaching,
		})
	}

	for _, d := range room.Databases() {
		all = append(all, Alarm{
			Name:             s.Prefix() + d.Name + "-database-full",
			Store:            d.Name,
			Watches:          "the database " + d.Name + " uses more than 90 % of its maximum capacity, in 3 of 3 times 5 minutes",
			IfDown:           "Requests become slow, and fail if the load grows.",
			Metrics:          []Metric{s.Capacity(d)},
			Bound:            90,
			Period:           5 * time.Minute,
			Points:           3,
			Of:               3,
			TreatMissingData: NotBreaching,
		})
	}

	seen := map[string]bool{}
	for _, l := range room.CacheLogins() {
		if seen[l.Cache.Name] {
			continue
		}

		seen[l.Cache.Name] = true
		all = append(all, Alarm{
			Name:             s.Prefix() + l.Cache.Name + "-cache-throttled",
			Severity:         Notice,
			Store:            l.Cache.Name,
			Watches:          "commands that the cache " + l.Cache.Name + " refuses, in 5 of 5 minutes",
			IfDown:           "Reads are slower, because they go to the database.",
			Metrics:          []Metric{s.Throttled(l.Cache)},
			Period:           time.Minute,
			Points:           5,
			Of:               5,
			TreatMissingData: NotBreaching,
		})
	}

	return all
}

// lateness returns the maximum age of a message of the function's queue. A failed message
// is invisible until its visibility timeout ends, and a function may delay a message
// for up to the 15 minutes that SQS allows. Both times count towards the age.
func lateness(f spec.Function) time.Duration {
	age := max(5*time.Minute, f.VisibilityTimeout())
	if f.SendsToItself() {
		age += 15 * time.Minute
	}

	return age
}

// maxMetrics is the largest number of metrics in an alarm with metric math.
const maxMetrics = 10

// Watched returns the number of metrics that the alarms of a room watch, by which they cost.
func (s Stage) Watched(room spec.Room) (n int) {
	for _, a := range s.Alarms(room) {
		if n += len(a.Metrics); a.While != nil {
			n++
		}
	}

	return n
}

// Alarms returns all alarms of a room: of all its functions together, of its API, of its queues,
// schedules, databases and caches, and those that its spec lists. Their number does not depend
// on the number of functions: another queue, or another job of every minute, adds a metric to an
// alarm. The dashboard and the logs identify the function.
func (s Stage) Alarms(room spec.Room) []Alarm {
	all := s.alarms(room)
	for i := range all {
		all[i].Severity = cmp.Or(all[i].Severity, Urgent)
		all[i].Name += "-" + string(all[i].Severity)
	}

	return all
}

func (s Stage) alarms(room spec.Room) (all []Alarm) {
	name := s.Prefix() + room.Name

	minutes := 5 * time.Minute
	if len(room.Functions)+len(room.Machines) > 0 {
		all = append(all, Alarm{
			Name: name + "-failing", Watches: "failed requests, messages, jobs or executions, in 2 of 3 times 5 minutes",
			IfDown: "The description of the function says it. Which fails, in Logs Insights, log group " + s.LogGroup(room.Name) + ": " +
				WhichFailed,
			Metrics: []Metric{s.Failures(room.Name)}, Period: minutes, Points: 2, Of: 3, TreatMissingData: NotBreaching,
		})
	}

	if room.WatchesConcurrency {
		all = append(all, Alarm{
			Name:             name + "-throttled",
			Watches:          "invocations that Lambda refuses, of any function of the account and region, in 2 of 3 times 5 minutes",
			IfDown:           "Everything is slow, and the app shows errors: the account's concurrency is used up.",
			Metrics:          []Metric{{"AWS/Lambda", "Throttles", "Sum", nil}},
			Period:           minutes,
			Points:           2,
			Of:               3,
			TreatMissingData: NotBreaching,
		})
	}

	var (
		dead, late, held, starts []Metric
		limits                   []time.Duration
		holds                    []int
	)

	for _, f := range room.Functions {
		switch on := f.On.(type) {
		case spec.Queue:
			if !on.Answered {
				dead = append(dead, Waiting(s.DeadLetter(f)))
			}

			if !on.Unhurried && on.Holds == 0 {
				late, limits = append(late, ofQueue(s.Prefix()+on.Name, "ApproximateAgeOfOldestMessage")), append(limits, lateness(f))
			}

			if on.Holds > 0 {
				held, holds = append(held, untouched(s.Prefix()+on.Name)...), append(holds, on.Holds)
			}
		case spec.Schedule:
			if everyMinute(on) {
				starts = append(starts, s.ofLambda(f, "Invocations"))
			}
		}
	}

	for _, m := range room.Machines {
		if everyMinute(m.Every) {
			starts = append(starts, ofMachine(m, "ExecutionsStarted"))
		}
	}

	if s.HasJobs(room) {
		dead = append(dead, Waiting(s.JobsDead(room.Name)))
	}

	for i, some := range parts(dead) {
		all = append(all, Alarm{
			Name:             name + "-dead" + i,
			Severity:         Notice,
			Watches:          "messages or jobs that were given up",
			IfDown:           "The graph shows the queue; the runbook says it for the function of the queue.",
			Metrics:          some,
			Period:           time.Minute,
			Points:           1,
			Of:               1,
			TreatMissingData: NotBreaching,
		})
	}

	for i, some := range parts(late) {
		var ages []string
		for i := range some {
			ages = append(ages, fmt.Sprintf("m%d/%g", i+1, limits[i].Seconds()))
		}

		limits = limits[len(some):]
		all = append(all, Alarm{
			Name:    name + "-late" + i,
			Watches: "messages that are older than they should ever be, in 3 of 5 minutes",
			IfDown: "The graph shows the queue, and its age in parts of the longest that is right; the runbook says it for the function of " +
				"the queue.",
			Metrics:          some,
			Math:             "MAX([" + strings.Join(ages, ", ") + "])",
			Bound:            1,
			Period:           time.Minute,
			Points:           3,
			Of:               5,
			TreatMissingData: NotBreaching,
		})
	}

	for i, some := range parts(held) {
		var stuck []string

		for i := range len(some) / 2 {
			stuck = append(stuck, fmt.Sprintf("IF(m%[1]d > %[3]d OR (m%[1]d > 0 AND FILL(SUM([m%[2]d]), 0) == 0), 1, 0)", 2*i+1, 2*i+2, holds[i]))
		}

		holds = holds[len(some)/2:]
		all = append(all, Alarm{
			Name:             name + "-waiting" + i,
			Watches:          "messages that no function receives, or more than the queue ever holds, in 2 of 2 minutes",
			IfDown:           "The graph shows the queue; the runbook says it for the function of the queue. Is its event source enabled?",
			Metrics:          some,
			Math:             "MAX([" + strings.Join(stuck, ", ") + "])",
			Period:           time.Minute,
			Points:           2,
			Of:               2,
			TreatMissingData: NotBreaching,
		})
	}
	// A start may happen at any second of a minute, so one minute may have none. A disabled
	// schedule causes no failure.
	for i, some := range parts(starts) {
		var ran []string
		for i := range some {
			ran = append(ran, fmt.Sprintf("IF(m%d > 0, 1, 0)", i+1))
		}

		all = append(all, Alarm{
			Name:             name + "-stopped" + i,
			Watches:          "something that starts every minute does not start, in 3 of 5 minutes",
			IfDown:           "The graph shows what; the runbook says it for the function or the state machine.",
			Metrics:          some,
			Math:             "SUM([" + strings.Join(ran, ", ") + "])",
			Below:            true,
			Bound:            float64(len(some)),
			Period:           time.Minute,
			Points:           3,
			Of:               5,
			TreatMissingData: Breaching,
		})
	}

	if routed(room) {
		all = append(all, Alarm{
			Name:             s.API(room.Name) + "-failing",
			Watches:          "more than 1 % of requests answered 5xx, in 2 of 3 times 5 minutes",
			IfDown:           "The app shows errors.",
			Metrics:          []Metric{{"AWS/ApiGateway", "5xx", "Average", map[string]string{"ApiId": APIID}}},
			Bound:            0.01,
			Period:           minutes,
			Points:           2,
			Of:               3,
			TreatMissingData: NotBreaching,
		}, Alarm{
			Name: s.API(room.Name) + "-refusing", Severity: Notice, Watches: "more than 100 requests answered 429, in 2 of 3 times 5 minutes",
			IfDown:  "The app must wait: the stage's limit is too low for its users, or somebody floods the API.",
			Metrics: []Metric{s.Refused(room.Name)}, Bound: 100, Period: minutes, Points: 2, Of: 3, TreatMissingData: NotBreaching,
		})
	}

	all = append(all, s.ofStores(room)...)
	for _, a := range room.Alarms {
		own := Alarm{
			Name: s.Prefix() + room.Name + "-" + a.Name, Function: a.Function, Watches: a.Watches, IfDown: a.IfDown,
			Below: a.Below, Bound: a.Bound, Period: time.Minute, Points: a.Minutes, Of: cmp.Or(a.Of, 5), TreatMissingData: NotBreaching,
		}
		for _, m := range a.Metrics {
			own.Metrics = append(own.Metrics, s.emitted(room.Name, a.Function, m, a.Stat))
		}

		if a.Notice {
			own.Severity = Notice
		}

		switch {
		case a.When != spec.Emitted{}: // without data nothing was due
			own.Metrics = append(own.Metrics, s.emitted(room.Name, a.When.Function, a.When.Metric, "Sum"))
			own.Math = fmt.Sprintf("IF(FILL(SUM([m2]), 0) > 0, FILL(SUM([m1]), 0), %v)", a.Bound)
		case a.While != spec.Metric{}: // there is no data while nothing runs, nor during a complete outage
			own.While, own.TreatMissingData = new(s.emitted(room.Name, a.Function, a.While, "Minimum")), Ignore
		case a.Below:
			own.TreatMissingData = Breaching
		}

		all = append(all, own)
	}

	return all
}

// parts splits metrics into those of one alarm each, with the end of the alarm's name.
func parts(all []Metric) iter.Seq2[string, []Metric] {
	return func(yield func(string, []Metric) bool) {
		n := 1

		for some := range slices.Chunk(all, maxMetrics) {
			suffix := ""
			if n > 1 {
				suffix = fmt.Sprintf("-%d", n)
			}

			if n++; !yield(suffix, some) {
				return
			}
		}
	}
}

func everyMinute(on spec.Schedule) bool { return on == "rate(1 minute)" || on == "cron(* * * * ? *)" }
