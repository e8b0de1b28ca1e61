// Package console is the fleet's page: live matches and notifications as phones
// show them, a pick'em season as a member sees it, ticks against their slots,
// pushes as they arrive, the state of functions, queues and state machines, and
// buttons for what can go wrong.
//
// It reads what the fleet did (what the phones hold, the runtime's invocations,
// the functions' own metrics) and works out nothing of it again.
package console

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms/pickem"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/scheduler"
	"matchday/infra/sim/stepfunctions"
	"matchday/pkg/spec"
)

// Hub gathers what the fleet tells, and serves the page. Make one with NewHub.
//
// Log, Invocation, Push and Transition are the hooks of fleet.Config. They never
// wait for a browser: what is kept is bounded, and the oldest goes first.
type Hub struct {
	mu       sync.Mutex
	seq      uint64 // of the latest push or problem
	pushes   []pushed
	problems []problem
	ticks    []tick
	first    int64             // slot of the first tick ever seen; 0 for none
	idle     map[int64]bool    // minutes without ticks because nothing is live, epoch minutes
	seconds  [minute]perSecond // pushes by second, modulo minute
	sent     int
	refused  int
	last     map[string]lastRun
	machines map[string][]*execution // the latest last
	channels map[string]fleet.Phone  // what those who listen have in common

	fleet  *fleet.Fleet
	phones func() []fleet.Phone
	season *pickem.Season  // nil for none
	sight  json.RawMessage // of the season, as it was looked at last
	timers []timer

	viewers  viewers
	glancing sync.Mutex // who looks at the season
}

const (
	keptPushes     = 200
	keptProblems   = 50
	keptTicks      = 240 // ten minutes
	keptExecutions = 4
	keptIdle       = 16
	minute         = 60

	longestText = 400 // bytes of an error or message body on the page

	tickFunction = "cricket/tick"
	slot         = 2500 // ms; due times are its multiples since the epoch
)

// pushed is an apns.Push in the feed.
type pushed struct {
	Seq      uint64 `json:"seq"`
	At       int64  `json:"at"` // epoch ms, as all times
	Token    string `json:"token"`
	Owner    string `json:"owner,omitempty"` // none of a broadcast
	MatchID  string `json:"match,omitempty"`
	TeamID   string `json:"team,omitempty"`
	Kind     string `json:"kind"`           // alert, start, update, end or broadcast
	Last     bool   `json:"last,omitempty"` // an end that is broadcast
	Bytes    int    `json:"bytes"`
	Status   int    `json:"status"`
	Reason   string `json:"reason,omitempty"`
	Details  string `json:"details,omitempty"`
	Answered bool   `json:"ok"`
}

// problem is something that went wrong, the latest time and how often.
type problem struct {
	Seq   uint64 `json:"seq"`
	At    int64  `json:"at"`
	Where string `json:"where"`
	Level string `json:"level"` // error or warning
	Text  string `json:"text"`
	Times int    `json:"times"`
}

// tick is one invocation of the tick, put together from the invocation and the
// metrics that it logged, in whatever order they come.
type tick struct {
	request string
	slot    int64
	lag     float64 // ms after its due time at which it began
	took    float64 // ms
	changed int     // matches
	result  string  // done, fault or failed; "" while nothing is known, and if it found its slot taken
	why     string
}

type perSecond struct {
	second         int64
	total, refused int
}

type lastRun struct{ duration, init time.Duration }

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

// timer is a schedule and when it fires next, jitter apart.
type timer struct {
	scheduler.Schedule
	Name, Expression string
	next             time.Time
}

// NewHub returns a hub without a fleet.
func NewHub() *Hub {
	return &Hub{
		idle: map[int64]bool{}, last: map[string]lastRun{}, machines: map[string][]*execution{}, channels: map[string]fleet.Phone{},
		viewers: viewers{all: map[chan *view]struct{}{}},
	}
}

// Attach has the page show f, the phones, which must be safe to be asked for from
// any goroutine, and the season, unless it is nil.
func (h *Hub) Attach(f *fleet.Fleet, phones func() []fleet.Phone, s *pickem.Season) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fleet, h.phones, h.season = f, phones, s
	add := func(name string, every spec.Schedule) {
		if s, err := scheduler.Parse(string(every), "UTC"); err == nil { // a fleet with a bad schedule does not begin
			h.timers = append(h.timers, timer{Schedule: s, Name: name, Expression: string(every)})
		}
	}
	for _, room := range f.Rooms {
		for _, m := range room.Machines {
			add(m.Name, m.Every)
		}
		for _, fn := range room.Functions {
			if on, ok := fn.On.(spec.Schedule); ok {
				add(fn.Name, on)
			}
		}
	}
}

// keep adds to a bounded list.
func keep[T any](list []T, v T, most int) []T {
	if len(list) >= most {
		list = slices.Delete(list, 0, len(list)-most+1)
	}
	return append(list, v)
}

// tokens are push tokens and keys: too long for anything else in a log.
var tokens = regexp.MustCompile(`[0-9a-fA-F]{40,}`)

// show makes a text fit for the page: short, and without push tokens.
func show(text string) string {
	text = tokens.ReplaceAllStringFunc(text, func(t string) string { return t[:8] + "…" })
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}
	return text
}

// Push takes a push that the push service answered.
func (h *Hub) Push(p apns.Push) {
	ok := p.Status < 300
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	h.pushes = keep(h.pushes, pushed{
		Seq: h.seq, At: p.Time.UnixMilli(), Token: p.Token, Kind: kindOf(p), Last: p.Broadcast && p.Event == "end", Bytes: p.Bytes,
		Status: p.Status, Reason: p.Reason, Details: show(p.Details), Answered: ok,
	}, keptPushes)
	second := p.Time.Unix()
	s := &h.seconds[second%minute]
	if s.second != second {
		*s = perSecond{second: second}
	}
	s.total++
	if ok {
		h.sent++
	} else {
		h.refused++
		s.refused++
	}
}

func kindOf(p apns.Push) string {
	if p.Broadcast {
		return "broadcast"
	}
	return cmp.Or(p.Event, p.Type)
}

// line is what the page reads in a line of a function's log.
type line struct {
	Level string `json:"level"`
	Msg   string `json:"msg"`
	Err   string `json:"err"`
	Match string `json:"match"`
	Slot  int64  `json:"slot"`
	Kind  string `json:"kind"`

	Lag     *float64 `json:"TickLag"`
	Took    float64  `json:"TickTime"`
	Changed int      `json:"MatchesChanged"`
	Faults  int      `json:"ProviderFaults"`
}

// Log takes a line that a function wrote.
func (h *Hub) Log(l lambda.Log) {
	if !strings.HasPrefix(l.Line, "{") {
		if strings.HasPrefix(l.Line, "panic: ") || strings.HasPrefix(l.Line, "fatal error: ") {
			h.problem(l.Time, l.Function, "error", l.Line)
		}
		return
	}
	ofTick := l.Function == tickFunction && strings.Contains(l.Line, `"_aws"`)
	if !ofTick && !strings.Contains(l.Line, `"level":"WARN"`) && !strings.Contains(l.Line, `"level":"ERROR"`) {
		return
	}
	var in line
	if json.Unmarshal([]byte(l.Line), &in) != nil {
		return
	}
	if ofTick {
		h.metrics(l, in)
		return
	}
	text := in.Msg
	if in.Match != "" {
		text += " (match " + in.Match + ")"
	}
	if in.Err != "" {
		text += ": " + in.Err
	}
	level := "error"
	if in.Level == "WARN" {
		level = "warning"
	}
	h.problem(l.Time, l.Function, level, text)
}

// metrics takes what a tick says of itself.
func (h *Hub) metrics(l lambda.Log, in line) {
	h.mu.Lock()
	defer h.mu.Unlock()
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
func (h *Hub) tick(request string, at time.Time) *tick {
	for i := len(h.ticks) - 1; i >= 0; i-- {
		if h.ticks[i].request == request {
			return &h.ticks[i]
		}
	}
	h.ticks = keep(h.ticks, tick{request: request, slot: at.UnixMilli() / slot}, keptTicks)
	return &h.ticks[len(h.ticks)-1]
}

// Invocation takes an invocation that is over.
func (h *Hub) Invocation(v lambda.Invocation) {
	if v.Err != nil {
		h.problem(v.Scheduled, v.Function, "error", v.Err.Error())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[v.Function] = lastRun{v.Duration, v.Init}
	if v.Function != tickFunction {
		return
	}
	t := h.tick(v.RequestID, v.Scheduled)
	if t.result == "done" {
		return
	}
	// A tick is called at the whole second of its due time, so up to half a
	// second before it.
	t.slot = v.Scheduled.Add(time.Second/2).UnixMilli() / slot
	if v.Err != nil {
		t.result, t.why = "failed", show(v.Err.Error())
	}
}

// Transition takes a step of a state machine.
//
// What it counts has the names of the live loop's states.
func (h *Hub) Transition(machine string, t stepfunctions.Transition) {
	if t.Kind == stepfunctions.Failed && t.Item < 0 {
		h.problem(t.Time, machine, "error", t.State+" failed: "+t.Failure.Error())
	}
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
func (h *Hub) execution(machine string, t stepfunctions.Transition) *execution {
	all := h.machines[machine]
	if i := slices.IndexFunc(all, func(x *execution) bool { return x.name == t.Execution }); i >= 0 {
		return all[i]
	}
	x := &execution{name: t.Execution, began: t.Time}
	h.machines[machine] = keep(all, x, keptExecutions)
	return x
}

func (h *Hub) problem(at time.Time, where, level, text string) {
	text = show(text)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	same := func(p problem) bool { return p.Where == where && p.Text == text }
	times := 1
	if i := slices.IndexFunc(h.problems, same); i >= 0 {
		times += h.problems[i].Times
		h.problems = slices.Delete(h.problems, i, i+1)
	}
	h.problems = keep(h.problems, problem{h.seq, at.UnixMilli(), where, level, text, times}, keptProblems)
}

// percentile is the value that a share of the sorted values do not exceed.
func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// better tells whether a tick says more about a slot than another.
func (t tick) better(o tick) bool {
	rank := map[string]int{"done": 3, "fault": 2, "failed": 1}
	return cmp.Compare(rank[t.result], rank[o.result]) > 0
}
