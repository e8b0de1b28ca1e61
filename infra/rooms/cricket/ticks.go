package cricket

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/stepfunctions"
	"matchday/pkg/spec"
)

const (
	tickFunction = "cricket/tick"
	slot         = 2500 // ms; due times are its multiples since the epoch
	window       = 48   // slots of the chart: two minutes
	minute       = 60   // s

	keptTicks      = 240 // ten minutes
	keptDelays     = 2000
	keptExecutions = 4
	keptIdle       = 16
)

// ticks records the live loop: the ticks and the executions of the state machine.
type ticks struct {
	mu       sync.Mutex
	all      []tick
	first    int64                   // slot of the first tick; 0 before it
	delays   []float64               // of pushes, ms; each stands for up to 20
	idle     map[int64]bool          // minutes without ticks because nothing is live, epoch minutes
	machines map[string][]*execution // the latest last
}

func newTicks() *ticks {
	return &ticks{idle: map[int64]bool{}, machines: map[string][]*execution{}}
}

// tick is one invocation of the tick function: what the runtime reports of it and
// the metrics that it logged, which come in either order.
type tick struct {
	request string
	slot    int64
	lag     float64 // ms after its due time at which it began
	took    float64 // ms
	changed int     // matches
	result  string  // done, fault or failed; "" while nothing is known, and if it found its slot taken
	why     string
}

// execution is a run of a state machine.
type execution struct {
	name         string
	began        time.Time
	open         int  // states entered and not left
	items        int  // that entered the Map
	waiting      int  // items whose time has not come
	done, missed int  // items whose Task ended, and failed
	idle         bool // nothing was planned
	failed       string
}

// line is what the panel reads in the metrics that functions log.
type line struct {
	Slot int64  `json:"slot"`
	Kind string `json:"kind"`

	Lag     *float64 `json:"TickLag"`
	Took    float64  `json:"TickTime"`
	Changed int      `json:"MatchesChanged"`
	Faults  int      `json:"ProviderFaults"`

	Delays []float64 `json:"PushDelay"`
}

// Log takes the metrics that a function logged.
func (h *ticks) Log(l lambda.Log) {
	if !strings.Contains(l.Line, `"_aws"`) || l.Function != tickFunction && !strings.Contains(l.Line, `"PushDelay"`) {
		return
	}

	var in line
	if json.Unmarshal([]byte(l.Line), &in) != nil {
		return
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	if l.Function != tickFunction {
		h.delays = append(h.delays, in.Delays...)
		h.delays = slices.Delete(h.delays, 0, max(len(h.delays)-keptDelays, 0))

		return
	}

	t := h.tick(l.RequestID, l.Time)

	switch {
	case in.Lag != nil:
		t.slot, t.lag, t.took, t.changed, t.result = in.Slot, *in.Lag, in.Took, in.Changed, "done"
		if h.first == 0 {
			h.first = t.slot
		}
	case in.Faults > 0:
		t.result, t.why = "fault", in.Kind
	}
}

// tick finds the tick of a request, or begins one. h.mu is held.
func (h *ticks) tick(request string, at time.Time) *tick {
	for i := len(h.all) - 1; i >= 0; i-- {
		if h.all[i].request == request {
			return &h.all[i]
		}
	}

	h.all = keep(h.all, tick{request: request, slot: at.UnixMilli() / slot}, keptTicks)

	return &h.all[len(h.all)-1]
}

// Invocation takes an invocation that is over.
func (h *ticks) Invocation(v lambda.Invocation) {
	if v.Function != tickFunction {
		return
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	t := h.tick(v.RequestID, v.Scheduled)
	if t.result == "done" {
		return
	}
	// A tick is called at the whole second of its due time, so up to half a
	// second before it.
	t.slot = v.Scheduled.Add(time.Second/2).UnixMilli() / slot
	if v.Err != nil {
		t.result, t.why = "failed", console.Text(v.Err.Error())
	}
}

// Transition takes a step of a state machine.
//
// What it counts has the names of the live loop's states.
func (h *ticks) Transition(machine string, t stepfunctions.Transition) {
	h.mu.Lock()
	defer h.mu.Unlock()

	x := h.execution(machine, t)
	switch t.Kind {
	case stepfunctions.Entered:
		x.open++
	case stepfunctions.Exited, stepfunctions.Caught, stepfunctions.Failed, stepfunctions.Aborted:
		x.open--
	}

	if t.Item < 0 {
		switch {
		case t.Kind == stepfunctions.Failed:
			x.failed = t.Failure.Code
		case t.Kind == stepfunctions.Entered && t.State == "Idle":
			x.idle = true
			if len(h.idle) >= keptIdle {
				clear(h.idle)
			}

			h.idle[x.began.Unix()/minute+1] = true // the minute that it did not plan
		}

		return
	}

	switch t.State + " " + string(t.Kind) {
	case "UntilDue entered":
		x.items++
		x.waiting++
	case "UntilDue exited":
		x.waiting--
	case "Tick exited":
		x.done++
	case "Tick caught":
		x.missed++
	}
}

// execution finds the execution of a transition, or begins one. h.mu is held.
func (h *ticks) execution(machine string, t stepfunctions.Transition) *execution {
	all := h.machines[machine]
	if i := slices.IndexFunc(all, func(x *execution) bool { return x.name == t.Execution }); i >= 0 {
		return all[i]
	}

	x := &execution{name: t.Execution, began: t.Time}
	h.machines[machine] = keep(all, x, keptExecutions)

	return x
}

// percentile is the value that a share of the sorted values does not exceed.
func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}

	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// better reports whether a tick is more informative about its slot than another.
func (t tick) better(o tick) bool {
	rank := map[string]int{"done": 3, "fault": 2, "failed": 1}
	return cmp.Compare(rank[t.result], rank[o.result]) > 0
}

// bar is a slot of the chart.
type bar struct {
	Slot    int64   `json:"slot"`
	Lag     float64 `json:"lag,omitempty"`  // ms
	Took    float64 `json:"took,omitempty"` // ms
	Changed int     `json:"changed,omitempty"`
	Result  string  `json:"result"` // done, fault, failed, missed or idle
	Why     string  `json:"why,omitempty"`
}

type timing struct {
	Bars     []bar     `json:"bars"`
	Claimed  int       `json:"claimed"`  // slots of the last minute, those that the provider failed included
	Expected int       `json:"expected"` // 24, fewer in the first minute
	Ticks    int       `json:"ticks"`    // that the percentiles are over
	Lag      quantiles `json:"lag"`
	Took     quantiles `json:"took"`
	Delays   int       `json:"delays"`  // that the percentiles of Delay are over
	Delay    quantiles `json:"delay"`   // of pushes, from the due time of their slot to Apple's acceptance
	Waiting  int       `json:"waiting"` // ticks planned and not begun
	Idle     bool      `json:"idle"`    // nothing is live in this minute
}

type quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// timing summarizes the ticks. A slot counts as missed when the next slot is over, too. h.mu is held.
func (h *ticks) timing(now time.Time) timing {
	current := now.UnixMilli() / slot
	t := timing{Bars: []bar{}, Idle: h.idle[now.Unix()/minute]}
	best := map[int64]tick{}

	var lags, tooks []float64

	for _, k := range h.all {
		if k.result == "done" {
			lags, tooks = append(lags, k.lag), append(tooks, k.took)
		}

		if o, ok := best[k.slot]; k.result != "" && (!ok || k.better(o)) {
			best[k.slot] = k
		}
	}

	slices.Sort(lags)
	slices.Sort(tooks)

	t.Ticks = len(lags)
	t.Lag = quantiles{percentile(lags, 0.5), percentile(lags, 0.99)}
	t.Took = quantiles{percentile(tooks, 0.5), percentile(tooks, 0.99)}
	delays := slices.Sorted(slices.Values(h.delays))
	t.Delays, t.Delay = len(delays), quantiles{percentile(delays, 0.5), percentile(delays, 0.99)}

	for n := current - window + 1; n <= current; n++ {
		k, ok := best[n]

		b := bar{n, k.lag, k.took, k.changed, k.result, k.why}
		switch settled := n < current-1; {
		case ok:
		case h.first == 0 || n < h.first || !settled:
			continue
		case h.idle[n*slot/1000/minute]:
			b.Result = "idle"
		default:
			b.Result = "missed"
		}

		t.Bars = append(t.Bars, b)
		if n >= current-24 && n < current {
			t.Expected++
			if b.Result == "done" || b.Result == "fault" {
				t.Claimed++
			}
		}
	}

	for _, all := range h.machines {
		for _, x := range all {
			t.Waiting += x.waiting
		}
	}

	return t
}

// executions are the latest of each state machine, newest first. h.mu is held.
func (h *ticks) executions(machines []spec.Machine) any {
	type run struct {
		Name   string `json:"name"`
		Began  int64  `json:"began"`
		State  string `json:"state"` // running, idle, done or failed
		Items  int    `json:"items"`
		Done   int    `json:"done"`
		Missed int    `json:"missed"`
		Why    string `json:"why,omitempty"`
	}

	type row struct {
		Name string `json:"name"`
		Runs []run  `json:"runs"`
	}

	all := []row{}

	for _, m := range machines {
		r := row{m.Name, []run{}}
		for _, x := range slices.Backward(h.machines[m.Name]) {
			state := "done"

			switch {
			case x.failed != "":
				state = "failed"
			case x.idle:
				state = "idle"
			case x.open > 0:
				state = "running"
			}

			r.Runs = append(r.Runs, run{x.name, x.began.UnixMilli(), state, x.items, x.done, x.missed, x.failed})
		}

		all = append(all, r)
	}

	return all
}

// keep appends to a list and drops the oldest entries over most.
func keep[T any](list []T, v T, most int) []T {
	if len(list) >= most {
		list = slices.Delete(list, 0, len(list)-most+1)
	}

	return append(list, v)
}
