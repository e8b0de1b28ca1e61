// Package console serves the fleet's page. It has a tab for each room with the room's own
// sections, and one for the mails of all rooms. Every tab lists pushes as they arrive, the state
// of functions, queues and schedules, and errors. Buttons inject faults into the services that
// all rooms use.
//
// It displays what the fleet reports (the invocations of the runtime, the answers of the push
// service) and computes nothing of it again. It knows no room: a room's part of the page is a
// Panel.
package console

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/fcm"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/scheduler"
	"matchday/infra/sim/stepfunctions"
	"matchday/pkg/spec"
)

// Hub collects the reports of the fleet, and serves the page. Make one with NewHub.
//
// Log, Invocation, Push and Transition are the hooks of fleet.Config. They never wait for a
// browser: the lists are bounded, and the oldest entry is removed first.
type Hub struct {
	panels []Panel

	mu       sync.Mutex
	seq      uint64 // of the latest push or problem
	pushes   []pushed
	problems []problem
	seconds  [minute]perSecond // pushes by second, modulo minute
	sent     int
	refused  int
	last     map[string]lastRun
	owners   map[string]Owner // by token or channel, also of closed channels

	fleet  *fleet.Fleet
	timers []timer

	viewers viewers
}

const (
	keptPushes   = 200
	keptProblems = 50
	minute       = 60
)

// pushed is an apns.Push or an fcm.Sent in the feed.
type pushed struct {
	Seq      uint64 `json:"seq"`
	At       int64  `json:"at"` // epoch ms, as all times
	Token    string `json:"token"`
	Owner    string `json:"owner,omitempty"`
	About    string `json:"about,omitempty"` // the owner
	Kind     string `json:"kind"`            // alert, start, update, end or broadcast; android or topic
	Last     bool   `json:"last,omitempty"`  // an end that is broadcast
	Bytes    int    `json:"bytes"`
	Status   int    `json:"status"`
	Reason   string `json:"reason,omitempty"`
	Details  string `json:"details,omitempty"`
	Answered bool   `json:"ok"`
}

// problem is an error or a warning: its latest time, and how often it occurred.
type problem struct {
	Seq   uint64 `json:"seq"`
	At    int64  `json:"at"`
	Where string `json:"where"`
	Level string `json:"level"` // error or warning
	Text  string `json:"text"`
	Times int    `json:"times"`
}

type perSecond struct {
	second         int64
	total, refused int
}

type lastRun struct{ duration, init time.Duration }

// timer is a schedule and when it fires next, without jitter.
type timer struct {
	scheduler.Schedule
	Room, Name, Expression string
	next                   time.Time
}

// NewHub returns a hub without a fleet, with a tab for each panel, and one for the mails.
func NewHub(panels ...Panel) *Hub {
	h := &Hub{last: map[string]lastRun{}, owners: map[string]Owner{}, viewers: viewers{all: map[chan *view]string{}}}
	h.panels = append(slices.Clone(panels), h.mailPanel())

	return h
}

// Attach sets the fleet of the page.
func (h *Hub) Attach(f *fleet.Fleet) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.fleet = f
	for _, room := range f.Rooms {
		add := func(name string, every spec.Schedule) {
			if s, err := scheduler.Parse(string(every), "UTC"); err == nil { // a fleet with a bad schedule does not begin
				h.timers = append(h.timers, timer{Schedule: s, Room: room.Spec.Name, Name: name, Expression: string(every)})
			}
		}
		for _, m := range room.Spec.Machines {
			add(m.Name, m.Every)
		}

		for _, fn := range room.Spec.Functions {
			if on, ok := fn.On.(spec.Schedule); ok {
				add(fn.Name, on)
			}
		}
	}
}

// keep appends to a bounded list.
func keep[T any](list []T, v T, most int) []T {
	if len(list) >= most {
		list = slices.Delete(list, 0, len(list)-most+1)
	}

	return append(list, v)
}

// Push records a push that the push service answered.
func (h *Hub) Push(p apns.Push) {
	h.record(pushed{
		At: p.Time.UnixMilli(), Token: p.Token, Kind: kindOf(p), Last: p.Broadcast && p.Event == "end", Bytes: p.Bytes,
		Status: p.Status, Reason: p.Reason, Details: Text(p.Details), Answered: p.Status < 300,
	}, p.Time.Unix())
}

// Sent records a message to Android phones that Google's service answered.
func (h *Hub) Sent(m fcm.Sent) {
	kind := "android"
	if m.Topic {
		kind = "topic"
	}

	h.record(pushed{
		At: m.Time.UnixMilli(), Token: m.To, Kind: kind, Bytes: m.Bytes, Status: m.Status, Reason: m.Reason, Details: Text(m.Details),
		Answered: m.Status < 300,
	}, m.Time.Unix())
}

// record adds a push to the feed and to the counts of its second.
func (h *Hub) record(p pushed, second int64) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.seq++
	p.Seq = h.seq
	h.pushes = keep(h.pushes, p, keptPushes)

	s := &h.seconds[second%minute]
	if s.second != second {
		*s = perSecond{second: second}
	}

	s.total++

	if p.Answered {
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

// Log records a line that a function wrote.
func (h *Hub) Log(l lambda.Log) {
	for _, p := range h.panels {
		if p.Log != nil {
			p.Log(l)
		}
	}

	if !strings.HasPrefix(l.Line, "{") {
		if strings.HasPrefix(l.Line, "panic: ") || strings.HasPrefix(l.Line, "fatal error: ") {
			h.problem(l.Time, l.Function, "error", l.Line)
		}

		return
	}

	if !strings.Contains(l.Line, `"level":"WARN"`) && !strings.Contains(l.Line, `"level":"ERROR"`) {
		return
	}

	var line struct{ Level, Msg, Err, Match string }
	if json.Unmarshal([]byte(l.Line), &line) != nil {
		return
	}

	text := line.Msg
	if line.Match != "" {
		text += " (match " + line.Match + ")"
	}

	if line.Err != "" {
		text += ": " + line.Err
	}

	level := "error"
	if line.Level == "WARN" {
		level = "warning"
	}

	h.problem(l.Time, l.Function, level, text)
}

// Invocation records a completed invocation.
func (h *Hub) Invocation(v lambda.Invocation) {
	for _, p := range h.panels {
		if p.Invocation != nil {
			p.Invocation(v)
		}
	}

	if v.Err != nil {
		h.problem(v.Scheduled, v.Function, "error", v.Err.Error())
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	h.last[v.Function] = lastRun{v.Duration, v.Init}
}

// Transition records a step of a state machine.
func (h *Hub) Transition(machine string, t stepfunctions.Transition) {
	for _, p := range h.panels {
		if p.Transition != nil {
			p.Transition(machine, t)
		}
	}

	if t.Kind == stepfunctions.Failed && t.Item < 0 {
		h.problem(t.Time, machine, "error", t.State+" failed: "+t.Failure.Error())
	}
}

func (h *Hub) problem(at time.Time, where, level, text string) {
	text = Text(text)

	h.mu.Lock()
	defer h.mu.Unlock()

	h.seq++
	same := func(p problem) bool { return p.Where == where && p.Text == text }

	times := 1
	if i := slices.IndexFunc(h.problems, same); i >= 0 {
		times += h.problems[i].Times
		h.problems = slices.Delete(h.problems, i, i+1)
	}

	h.problems = append(h.problems, problem{h.seq, at.UnixMilli(), where, level, text, times})
	if len(h.problems) > keptProblems {
		h.dropProblem()
	}
}

// dropProblem drops the oldest warning. Without warnings it drops the oldest error of a function
// that has other errors: the page counts errors by function, so each function that has some must
// have one to read.
func (h *Hub) dropProblem() {
	last := map[string]uint64{}

	for _, p := range h.problems {
		if p.Level == "error" {
			last[p.Where] = p.Seq
		}
	}

	i := slices.IndexFunc(h.problems, func(p problem) bool { return p.Level != "error" })
	if i < 0 {
		i = slices.IndexFunc(h.problems, func(p problem) bool { return last[p.Where] != p.Seq })
	}

	if i >= 0 {
		h.problems = slices.Delete(h.problems, i, i+1)
	}
}
