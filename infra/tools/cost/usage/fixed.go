package usage

import (
	"fmt"
	"math"
	"slices"
	"time"

	"matchday/infra/sim/scheduler"
	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// A month, and sizes in bytes.
const (
	HoursOfMonth = 730.0
	WeeksOfMonth = HoursOfMonth / (7 * 24)

	Kilobyte, Gigabyte = 1 << 10, 1 << 30
)

// What is assumed of every room where nothing is measured. Logs include what Lambda
// and the API add.
const (
	JobSeconds     = 0.10 // of a scheduled job
	JobReads       = 8    // its read units, unless the room knows better
	JobLog         = 0.6 * Kilobyte
	RequestSeconds = 0.02 // of an HTTP request
	RequestLog     = 1.1 * Kilobyte
	PushBytes      = 0.9 * Kilobyte // on the wire
	NotifiedPerSec = 1000           // people notified by one function, with the reads
	ExpressGB      = 1.0 / 16       // memory of an execution of an Express state machine
	idleSeconds    = 0.2            // of an execution that finds nothing to do
	idleLog        = 4 * Kilobyte   // of the same, at level ALL
	// AWS counts cold starts in under 1 % of the invocations of its customers:
	// https://aws.amazon.com/blogs/compute/aws-lambda-standardizes-billing-for-init-phase
	ColdStarts  = 0.01
	InitSeconds = 0.10 // of a cold start of a Go binary; of an empty one 0.04 are measured
	// A job that runs less often than this in a month, every 5 minutes, always starts cold.
	alwaysCold      = 12 * HoursOfMonth
	pollsOfMinute   = 15 // of an idle queue by Lambda: five pollers, 20 s each
	minutesOfMonth  = 60 * HoursOfMonth
	dynamoReadBytes = 4 * Kilobyte // of a read unit
)

// Memory returns the memory of a room's function, in GB. It panics if the room has
// no such function.
func Memory(room spec.Room, function string) float64 {
	i := slices.IndexFunc(room.Functions, func(f spec.Function) bool { return f.Name == function })
	return float64(room.Functions[i].Memory) / 1024
}

// Fixed returns what a room uses in a month in which nothing happens, when each run
// of a scheduled job uses so many read units.
func Fixed(room spec.Room, jobReads float64) (u Usage, err error) {
	secrets := map[string]bool{}

	for _, f := range room.Functions {
		for _, s := range f.Secrets {
			secrets[s] = true
		}

		switch on := f.On.(type) {
		case spec.Schedule:
			n, err := runs(on)
			if err != nil {
				return u, fmt.Errorf("%s: %w", f.Name, err)
			}

			u = u.Plus(job(n, float64(f.Memory)/1024, jobReads))
		case spec.Queue, spec.DeadLetters: // each has an event source mapping
			u.SQSRequests += pollsOfMinute * minutesOfMonth
		}
	}

	for _, machine := range room.Machines {
		n, err := runs(machine.Every)
		if err != nil {
			return u, fmt.Errorf("%s: %w", machine.Name, err)
		}

		u = u.Plus(job(n, planner(room, machine), jobReads)).Plus(Usage{
			ExpressRequests:  n,
			ExpressGBSeconds: n * idleSeconds * ExpressGB,
			LogGB:            n * idleLog / Gigabyte,
		})
	}

	u.AlarmMetrics = float64(stage.Stage{Name: stage.Prod}.Watched(room))
	u = u.Plus(stores(room))
	// No metric is emitted while nothing happens: see Emitted.
	u.Secrets = float64(len(secrets))

	return u, nil
}

// Metrics returns the number of custom metrics that a room can emit: of each function those of its spec, or
// of the room if they have its dimension, and those of the filters of its logs. A filter has no default
// value, so it counts nothing in an hour without a matching line.
func Metrics(room spec.Room) float64 {
	all := map[string]bool{}

	for _, f := range room.Functions {
		for _, m := range f.Emits {
			by := f.Name
			if m.OfRoom {
				by = room.Name
			}

			all[by+" "+m.Name] = true
		}
	}

	for _, f := range (stage.Stage{Name: stage.Prod}).Filters(room) {
		all[f.Metric.Name] = true
	}

	return float64(len(all))
}

// Emitted returns the custom metrics of a room that is in use in so many hours of a month, at most: as if it
// emitted each of them in each of these hours. CloudWatch bills a metric for each hour in which it gets a value,
// and a job emits none while it finds nothing to do. The metric Failed of a function is left out: it is
// emitted only in an hour in which the function fails.
func Emitted(room spec.Room, hours float64) Usage {
	return Usage{CustomMetrics: Metrics(room) * hours / HoursOfMonth}
}

// EmittedNote explains a column of Emitted in the notes of a report.
const EmittedNote = "at most: as if each was emitted in every hour"

// What databases and caches use in production while nothing happens, as the stacks have it: the
// cluster's least ACUs, and the least storage that ElastiCache Serverless bills for Valkey.
const (
	leastACU     = 0.5
	leastSQLGB   = 1.0
	leastCacheGB = 0.1
	zones        = 2
)

// stores is what the databases and caches of a room use in a month in which nothing happens,
// with the endpoint through which functions beside them reach their queues.
func stores(room spec.Room) (u Usage) {
	n := float64(len(room.Databases()))
	u.SQLHours, u.SQLStorageGB = n*leastACU*HoursOfMonth, n*leastSQLGB

	caches := map[string]bool{}
	for _, l := range room.CacheLogins() {
		caches[l.Cache.Name] = true
	}

	u.CacheGBHours = float64(len(caches)) * leastCacheGB * HoursOfMonth
	if slices.ContainsFunc(room.Functions, func(f spec.Function) bool { return f.InVPC() && len(f.Sends) > 0 }) {
		u.EndpointHours = zones * HoursOfMonth
	}

	return u
}

// Shared returns what rooms share in a month in which nothing happens: the dashboard.
func Shared() Usage { return Usage{Dashboards: 1} }

// planner returns the memory, in GB, of the function that an idle execution calls:
// the smallest of the state machine's, which decides what there is to do.
func planner(room spec.Room, machine spec.Machine) float64 {
	least := math.Inf(1)
	for _, function := range machine.Calls {
		least = min(least, Memory(room, function))
	}

	return least
}

// job is what n runs of a scheduled job use, with the schedule's.
func job(n, memory, reads float64) Usage {
	init := Init(n, memory)
	if n < alwaysCold {
		init = n * InitSeconds * memory
	}

	return Usage{
		Schedules:       n,
		LambdaRequests:  n,
		LambdaGBSeconds: n * JobSeconds * memory,
		InitGBSeconds:   init,
		ReadUnits:       n * reads,
		LogGB:           n * JobLog / Gigabyte,
	}
}

// runs is how often a schedule fires in a month, extrapolated from one week.
func runs(on spec.Schedule) (float64, error) {
	s, err := scheduler.Parse(string(on), "UTC")
	if err != nil {
		return 0, err
	}

	begin := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

	n, days := 0, 7
	for at := s.Next(begin.Add(-time.Second)); at.Before(begin.AddDate(0, 0, days)); at = s.Next(at) {
		n++
	}

	return float64(n) * HoursOfMonth / float64(24*days), nil
}

// WriteUnits returns the write units of an item of so many bytes.
func WriteUnits(bytes float64) float64 { return math.Ceil(bytes / Kilobyte) }

// QueryUnits returns the read units of an eventually consistent query that reads so
// many bytes.
func QueryUnits(bytes float64) float64 { return bytes / dynamoReadBytes / 2 }
