package console

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sqs"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// view is the state of the page at an instant: sections by name, as JSON; those of the rooms
// that browsers display; and the pushes, of which a browser gets those that it has not got yet.
type view struct {
	now      int64
	speed    float64
	sections map[string]json.RawMessage
	rooms    map[string]map[string]json.RawMessage
	pushes   []pushed
}

// Sizes of the lists in a browser.
const (
	feedLength = 60 // pushes at once
	deadShown  = 10 // dead messages of a queue
	tokenShown = 8  // digits of a push token
)

// view reads the state of the fleet and of the named rooms.
func (h *Hub) view(rooms ...string) *view {
	h.mu.Lock()
	f := h.fleet
	h.mu.Unlock()

	if f == nil {
		return &view{sections: map[string]json.RawMessage{}}
	}

	now := f.Clock.Now()
	v := &view{
		now:      now.UnixMilli(),
		speed:    f.Clock.Speed(),
		sections: map[string]json.RawMessage{},
		rooms:    map[string]map[string]json.RawMessage{},
	}
	state := map[string]any{"fleet": map[string]any{"url": f.URL}, "queues": queues(f), "answers": answers()}
	stats := f.Functions.Stats()
	owners := map[string]Owner{}

	for _, p := range h.panels {
		if p.Owners != nil {
			maps.Copy(owners, p.Owners())
		}

		if p.View != nil && slices.Contains(rooms, p.Room) {
			v.rooms[p.Room] = encoded(p.View(now))
		}
	}

	func() { // copies, so that the hooks need not wait for the encoding
		h.mu.Lock()
		defer h.mu.Unlock()

		state["rate"] = h.rate(now)
		state["problems"] = append([]problem{}, h.problems...)
		state["schedules"] = h.schedules(now)
		state["functions"] = h.functions(f, stats)
		maps.Copy(h.owners, owners)

		v.pushes = slices.Clone(h.pushes[max(0, len(h.pushes)-feedLength):])
		for i := range v.pushes {
			p := &v.pushes[i]
			o := h.owners[p.Token]
			p.Owner, p.About = o.Name, o.About
			p.Token = p.Token[:min(len(p.Token), tokenShown)]
		}
	}()

	v.sections = encoded(state)

	return v
}

// encoded encodes each section.
func encoded(state map[string]any) map[string]json.RawMessage {
	sections := map[string]json.RawMessage{}
	for name, s := range state {
		sections[name], _ = json.Marshal(s) // of JSON, numbers and strings
	}

	return sections
}

// functions returns the functions of the spec, in its order. The caller holds h.mu.
func (h *Hub) functions(f *fleet.Fleet, stats map[string]lambda.Stats) any {
	type row struct {
		Room        string  `json:"room"`
		Name        string  `json:"name"`
		Does        string  `json:"does"`
		On          string  `json:"on"`
		Cold        int     `json:"cold"`
		Warm        int     `json:"warm"`
		Busy        int     `json:"busy"`
		Waiting     int     `json:"waiting"`
		Invocations int     `json:"invocations"`
		ColdStarts  int     `json:"coldStarts"`
		Errors      int     `json:"errors"`
		Throttles   int     `json:"throttles"`
		Last        float64 `json:"last"` // ms
		Init        float64 `json:"init"` // ms; 0 when the last one was warm
	}

	all := []row{}

	for _, room := range f.Rooms {
		for _, fn := range room.Spec.Functions {
			s, l := stats[fn.Name], h.last[fn.Name]
			all = append(all, row{
				room.Spec.Name, fn.Name, fn.Does, trigger(fn), s.Cold, s.Warm, s.Busy, s.Waiting, s.Invocations, s.ColdStarts, s.Errors, s.Throttles,
				millis(l.duration), millis(l.init),
			})
		}
	}

	return all
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// trigger describes the trigger of a function.
func trigger(fn spec.Function) string {
	switch on := fn.On.(type) {
	case spec.Route:
		return on.Method + " " + on.Path
	case spec.Schedule:
		return string(on)
	case spec.Queue:
		return "queue " + on.Name
	case spec.DeadLetters:
		return "queue " + on.Of.DeadLetter()
	case spec.Migration:
		return "deployment"
	}

	return "state machine"
}

type rate struct {
	Second  int64 `json:"second"` // of the last number
	Series  []int `json:"series"` // pushes by second
	Refused []int `json:"refused"`
	Sent    int   `json:"sent"`
	Failed  int   `json:"failed"`
}

// rate returns the pushes of the last minute. The caller holds h.mu.
func (h *Hub) rate(now time.Time) rate {
	r := rate{Second: now.Unix(), Sent: h.sent, Failed: h.refused}
	for second := r.Second - minute + 1; second <= r.Second; second++ {
		s := h.seconds[second%minute]
		if s.second != second {
			s = perSecond{}
		}

		r.Series, r.Refused = append(r.Series, s.total), append(r.Refused, s.refused)
	}

	return r
}

// queues lists each queue of the spec with its dead-letter queue.
func queues(f *fleet.Fleet) any {
	type dead struct {
		ID     string `json:"id"`
		At     int64  `json:"at"`
		Reason string `json:"reason"`
		Body   string `json:"body"`
	}

	type row struct {
		Room    string `json:"room"`
		Name    string `json:"name"`
		Wakes   string `json:"wakes"`
		Visible int    `json:"visible"`
		Flight  int    `json:"inFlight"`
		Delayed int    `json:"delayed"`
		Sent    int    `json:"sent"`
		Deleted int    `json:"deleted"`
		Dead    int    `json:"dead"`
		Letters []dead `json:"letters"`
	}

	stats := f.Queues.Stats()
	depth := func(name string) sqs.Depth {
		i := slices.IndexFunc(stats, func(d sqs.Depth) bool { return strings.HasSuffix(d.Queue, name) })
		if i < 0 {
			return sqs.Depth{}
		}

		return stats[i]
	}
	all := []row{}

	for _, room := range f.Rooms {
		for _, fn := range room.Spec.Functions {
			q, ok := fn.On.(spec.Queue)
			if !ok {
				continue
			}

			d, buried := depth(q.Name), depth(q.DeadLetter())
			r := row{room.Spec.Name, q.Name, fn.Name, d.Visible, d.InFlight, d.Delayed, d.Sent, d.Deleted,
				buried.Visible + buried.InFlight, []dead{}}

			letters := f.Queues.Messages(buried.Queue)
			for _, m := range letters[max(0, len(letters)-deadShown):] {
				reason := "delivered " + strconv.Itoa(m.Receives) + " times, and never handled"
				if a := m.Attributes[queue.ReasonAttribute]; a.StringValue != nil {
					reason = *a.StringValue
				}

				r.Letters = append(r.Letters, dead{m.ID, m.Sent.UnixMilli(), Text(reason), Text(m.Body)})
			}

			all = append(all, r)
		}
	}

	return all
}

// schedules returns the expressions of the schedules, and when each is due next. The caller
// holds h.mu.
func (h *Hub) schedules(now time.Time) any {
	type row struct {
		Room  string `json:"room"`
		Name  string `json:"name"`
		Every string `json:"every"`
		Next  int64  `json:"next,omitempty"`
	}

	all := make([]row, len(h.timers))
	for i := range h.timers {
		t := &h.timers[i]
		if !t.next.After(now) {
			t.next = t.Next(now)
		}

		all[i] = row{Room: t.Room, Name: t.Name, Every: t.Expression}
		if !t.next.IsZero() {
			all[i].Next = t.next.UnixMilli()
		}
	}

	return all
}

// message returns the changes for a browser of the room, which has the view before and the
// pushes up to seen. before is nil for a browser that has no view yet. It returns false if
// nothing has changed.
func (v *view) message(room string, before *view, seen uint64) (json.RawMessage, bool) {
	m := struct {
		Now    int64                      `json:"now"`
		Speed  float64                    `json:"speed"`
		State  map[string]json.RawMessage `json:"state"`
		Room   map[string]json.RawMessage `json:"room,omitempty"`
		Pushes []pushed                   `json:"pushes,omitempty"`
	}{Now: v.now, Speed: v.speed, Pushes: v.pushes}
	if before == nil {
		m.State, m.Room = v.sections, v.rooms[room]
	} else {
		m.State, m.Room = changed(before.sections, v.sections), changed(before.rooms[room], v.rooms[room])

		i := slices.IndexFunc(v.pushes, func(p pushed) bool { return p.Seq > seen })
		if i < 0 {
			i = len(v.pushes)
		}

		m.Pushes = v.pushes[i:]
		if len(m.State)+len(m.Room)+len(m.Pushes) == 0 {
			return nil, false
		}
	}

	text, _ := json.Marshal(m) // of JSON, numbers and strings

	return text, true
}

// changed returns the sections of now that differ from before.
func changed(before, now map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(now)
	maps.DeleteFunc(out, func(name string, text json.RawMessage) bool { return string(before[name]) == string(text) })

	return out
}

// last returns the number of the latest push in the view.
func (v *view) last() uint64 {
	if len(v.pushes) == 0 {
		return 0
	}

	return v.pushes[len(v.pushes)-1].Seq
}
