package usage

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/cost/price"
	"matchday/pkg/spec"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()

	if math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

func TestDollars(t *testing.T) {
	t.Parallel()

	p := price.Listed()
	for what, c := range map[string]struct {
		u    Usage
		want float64
	}{
		"nothing":              {Usage{}, 0},
		"5 M invocations":      {Usage{LambdaRequests: 5e6}, 1},
		"1 M GB-s":             {Usage{LambdaGBSeconds: 1e6}, 13.3334},
		"half of it cold":      {Usage{LambdaGBSeconds: 5e5, InitGBSeconds: 5e5}, 13.3334},
		"2 M executions":       {Usage{ExpressRequests: 2e6}, 2},
		"1,000 GB-h waiting":   {Usage{ExpressGBSeconds: 3.6e6}, 60.012},
		"43,800 starts":        {Usage{Schedules: 43_800}, 0.0438},
		"8 M writes":           {Usage{WriteUnits: 8e6}, 5},
		"8 M reads":            {Usage{ReadUnits: 8e6}, 1},
		"5 M requests of SQS":  {Usage{SQSRequests: 5e6}, 2},
		"3 M requests":         {Usage{APIRequests: 3e6}, 3},
		"100 GB of logs":       {Usage{LogGB: 100}, 53},
		"10 alarms, 10 names":  {Usage{AlarmMetrics: 10, CustomMetrics: 10}, 4},
		"2 secrets, a page":    {Usage{Secrets: 2, Dashboards: 1}, 3.80},
		"1 M traces":           {Usage{Traces: 1e6}, 5},
		"100 GB out":           {Usage{EgressGB: 100}, 9},
		"10 TB out":            {Usage{EgressGB: 10_240}, 921.60},
		"11 TB out":            {Usage{EgressGB: 11_264}, 921.60 + 87.04},
		"50,000 users":         {Usage{Users: 50e3}, 275},
		"1.5 M users":          {Usage{Users: 1.5e6}, 550 + 4140 + 1625},
		"60 TB out":            {Usage{EgressGB: 61_440}, 921.60 + 3481.60 + 716.80},
		"a month of 0.5 ACU":   {Usage{SQLHours: 365, SQLStorageGB: 1, SQLPages: 1e6}, 43.80 + 0.10 + 0.20},
		"the least cache":      {Usage{CacheGBHours: 73, CacheUnits: 1e9}, 6.132 + 2.30},
		"an endpoint":          {Usage{EndpointHours: 1460, EndpointGB: 2}, 14.62},
		"50,000 mails":         {Usage{Mails: 50e3}, 5},
		"all of two of a kind": {Usage{LambdaRequests: 5e6, Mails: 1e3}.Plus(Usage{LambdaRequests: 5e6, Secrets: 1, Mails: 1e3}), 2.60},
	} {
		near(t, what, c.u.Dollars(p), c.want)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()

	for on, want := range map[spec.Schedule]float64{
		"cron(* * * * ? *)": 43_800, "rate(1 minute)": 43_800, "rate(15 minutes)": 2920, "rate(1 hour)": 730, "cron(10 3 * * ? *)": 730.0 / 24,
	} {
		if got, err := runs(on); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s fires %v times a month, %v, want %v", on, got, err, want)
		}
	}

	if _, err := runs("now and then"); err == nil {
		t.Error("an invalid schedule is accepted")
	}
}

// TestFixedOfIdleMachine: an idle execution calls the smallest of its functions.
func TestFixedOfIdleMachine(t *testing.T) {
	t.Parallel()

	u, err := Fixed(spec.Room{
		Functions: []spec.Function{{Name: "lab/plan", Memory: 128}, {Name: "lab/work", Memory: 512}},
		Machines:  []spec.Machine{{Every: "cron(* * * * ? *)", Calls: map[string]string{"WorkArn": "lab/work", "PlanArn": "lab/plan"}}},
	}, 8)
	if err != nil {
		t.Fatal(err)
	}

	near(t, "starts", u.Schedules, 43_800)
	near(t, "time", u.LambdaGBSeconds, 43_800*0.1/8)
	near(t, "cold starts", u.InitGBSeconds, 43_800*0.01*0.1/8)
	near(t, "reads", u.ReadUnits, 43_800*8)
	near(t, "idle executions", u.ExpressGBSeconds, 43_800*0.2/16)
}

// TestJobsStartCold: a job that runs every 5 minutes or less often finds no warm process.
func TestJobsStartCold(t *testing.T) {
	t.Parallel()

	for on, want := range map[spec.Schedule]float64{
		"rate(1 minute)":   43_800 * 0.01,
		"rate(4 minutes)":  10_950 * 0.01,
		"rate(15 minutes)": 2920,
		"rate(1 hour)":     730,
	} {
		u, err := Fixed(spec.Room{Functions: []spec.Function{{Name: "lab/job", On: on, Memory: 256}}}, 8)
		if err != nil {
			t.Fatal(err)
		}

		near(t, string(on), u.InitGBSeconds, want*0.1/4)
	}
}

// TestEachSourceIsPolled: Lambda polls a queue, and a queue of dead letters that a function takes.
func TestEachSourceIsPolled(t *testing.T) {
	t.Parallel()

	work := spec.Queue{Name: "lab-work"}

	u, err := Fixed(spec.Room{Functions: []spec.Function{{Name: "lab/work", On: work}, {Name: "lab/keep", On: spec.DeadLetters{Of: work}}}}, 8)
	if err != nil {
		t.Fatal(err)
	}

	near(t, "polls", u.SQSRequests, 2*15*43_800)
}

// TestMetrics: a metric is counted for each function that emits it, or once for the room, and in the hours in
// which the room is in use. The filter counts failures.
func TestMetrics(t *testing.T) {
	t.Parallel()

	sent, lag := spec.Metric{Name: "Sent"}, spec.Metric{Name: "Lag", OfRoom: true}
	room := spec.Room{Name: "lab", Functions: []spec.Function{
		{Name: "lab/push", Emits: []spec.Metric{sent, lag}}, {Name: "lab/mail", Emits: []spec.Metric{sent, lag}},
	}}

	near(t, "metrics", Metrics(room), 2+1+1)
	near(t, "half of the month", Emitted(room, HoursOfMonth/2).CustomMetrics, 2)

	u, err := Fixed(room, 8)
	if err != nil {
		t.Fatal(err)
	}

	near(t, "metrics at rest", u.CustomMetrics, 0)
}

func TestReportAlignsColumns(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	err := Report{
		Title: "A room.",
		Rows:  [][]string{{"members", "TOTAL"}, {Grouped(10_000), Dollars(1234.5)}, {"7", Dollars(0.125)}},
		Notes: "TOTAL  all\n",
	}.Write(&out)
	if err != nil {
		t.Fatal(err)
	}

	want := `A room.

members  TOTAL
 10,000  1,234
      7   0.12

TOTAL  all
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
