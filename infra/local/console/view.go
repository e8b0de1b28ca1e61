package console

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/sim/sqs"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// view is everything the page shows at an instant: sections by name, as JSON,
// and the feeds, from which a browser gets what it has not seen.
type view struct {
	now      int64
	speed    float64
	sections map[string]json.RawMessage
	pushes   []pushed
}

// Sizes of what a browser gets.
const (
	feedLength = 60 // pushes at once
	window     = 48 // slots of the chart: two minutes
	deadShown  = 10 // dead messages of a queue
	notesShown = 3  // notifications of a phone
	tokenShown = 8  // digits of a push token
)

// view looks at the fleet.
func (h *Hub) view() *view {
	h.mu.Lock()
	f, list := h.fleet, h.phones
	h.mu.Unlock()
	if f == nil {
		return &view{sections: map[string]json.RawMessage{}}
	}
	now := f.Clock.Now()
	phones := list()
	state := map[string]any{
		"fleet":   map[string]any{"url": f.URL, "phones": len(phones)},
		"matches": matches(f, phones, now),
		"queues":  queues(f),
		"faults":  f.Provider.Counts(),
	}
	stats := f.Functions.Stats()

	v := &view{now: now.UnixMilli(), speed: f.Clock.Speed(), sections: map[string]json.RawMessage{}}
	func() { // copies, so that the hooks need not wait for the encoding
		h.mu.Lock()
		defer h.mu.Unlock()
		state["ticks"] = h.timing(now)
		state["rate"] = h.rate(now)
		state["problems"] = append([]problem{}, h.problems...)
		state["machines"] = h.executions(f)
		state["schedules"] = h.schedules(now)
		state["functions"] = h.functions(f, stats)
		if h.sight != nil {
			state["pickem"] = h.sight
		}
		v.pushes = slices.Clone(h.pushes[max(0, len(h.pushes)-feedLength):])
	}()
	for name, s := range state {
		v.sections[name], _ = json.Marshal(s) // a content state is JSON, or the phone would not have it
	}
	owners := h.owners(f, phones)
	for i := range v.pushes {
		p := &v.pushes[i]
		if o, ok := owners[p.Token]; ok {
			p.Owner, p.MatchID, p.TeamID = o.Owner, o.MatchID, o.TeamID
		}
		p.Token = p.Token[:min(len(p.Token), tokenShown)]
	}
	return v
}

// owners are the phones by the tokens that pushes show, and for a channel what
// its listeners have in common.
func (h *Hub) owners(f *fleet.Fleet, phones []fleet.Phone) map[string]fleet.Phone {
	owners, listened := map[string]fleet.Phone{}, map[string]fleet.Phone{}
	for _, p := range phones {
		for _, token := range []string{p.Device, p.Starter, f.Activity(p)} {
			if token != "" {
				owners[token[:tokenShown]] = p
			}
		}
		if d, _ := f.Shows(p); d.Channel != "" {
			listened[d.Channel] = fleet.Phone{MatchID: p.MatchID, TeamID: p.TeamID}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.Copy(h.channels, listened)
	maps.Copy(owners, h.channels) // also of those that are closed
	return owners
}

// functions are those of the spec, in its order. h.mu is held.
func (h *Hub) functions(f *fleet.Fleet, stats map[string]lambda.Stats) any {
	type row struct {
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
		for _, fn := range room.Functions {
			s, l := stats[fn.Name], h.last[fn.Name]
			all = append(all, row{
				fn.Name, fn.Does, trigger(fn), s.Cold, s.Warm, s.Busy, s.Waiting, s.Invocations, s.ColdStarts, s.Errors, s.Throttles,
				millis(l.duration), millis(l.init),
			})
		}
	}
	return all
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// trigger says what wakes a function.
func trigger(fn spec.Function) string {
	switch on := fn.On.(type) {
	case spec.Route:
		return on.Method + " " + on.Path
	case spec.Schedule:
		return string(on)
	case spec.Queue:
		return "queue " + on.Name
	}
	return "state machine"
}

// match is a match that the provider plays, with the phones that follow it.
type match struct {
	ID      string   `json:"id"`
	Local   team     `json:"local"`
	Visitor team     `json:"visitor"`
	Type    string   `json:"type"`
	Start   int64    `json:"start"`
	Status  string   `json:"status"`
	Live    bool     `json:"live"`
	Paused  bool     `json:"paused"`
	Rate    float64  `json:"rate"`
	Shown   int      `json:"shown"` // frames of the feed's script
	Total   int      `json:"total"`
	Screens []screen `json:"screens"`
}

type team struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Code string `json:"code"`
}

func teamOf(t script.Team) team { return team{strconv.FormatInt(t.ID, 10), t.Name, t.Code} }

// screen is what a phone shows.
type screen struct {
	Owner    string          `json:"owner"`
	TeamID   string          `json:"team,omitempty"`
	Fan      string          `json:"fan,omitempty"`    // the team's code
	Traits   []string        `json:"traits"`           // what sets it apart
	Behind   bool            `json:"behind,omitempty"` // State is older by two slots than another's of its perspective
	Activity string          `json:"activity"`         // none, awaited or running
	State    json.RawMessage `json:"state,omitempty"`
	At       int64           `json:"at,omitempty"` // of State
	Stale    bool            `json:"stale,omitempty"`
	Ended    bool            `json:"ended,omitempty"`
	Gone     bool            `json:"gone,omitempty"`     // from the lock screen
	Pushes   int             `json:"pushes"`             // and broadcasts, to the activity
	Outdated int             `json:"outdated,omitempty"` // older than what was shown
	Notes    []note          `json:"notes"`              // the newest notifications, newest first
	Told     int             `json:"told"`               // notifications in all
}

// note is a notification.
type note struct {
	ID    string `json:"id"` // of those with the same the phone shows the latest
	At    int64  `json:"at"`
	Title string `json:"title"`
	Body  string `json:"body"`
}

func matches(f *fleet.Fleet, phones []fleet.Phone, now time.Time) []match {
	all := []match{}
	for _, id := range f.Provider.Playing() {
		s, err := f.Provider.State(id)
		if err != nil {
			continue // another match has taken its place
		}
		m := match{
			ID: fleet.MatchID(id), Local: teamOf(s.Local), Visitor: teamOf(s.Visitor), Type: s.Type, Start: s.Start.UnixMilli(), Status: s.Status,
			Live: s.Live, Paused: s.Paused, Rate: s.Rate, Shown: s.Shown, Total: s.Total, Screens: []screen{},
		}
		newest := map[string]int64{} // state of a perspective
		for _, p := range phones {
			if p.MatchID == m.ID {
				o := m.screen(f, p, now)
				newest[o.TeamID] = max(newest[o.TeamID], o.At)
				m.Screens = append(m.Screens, o)
			}
		}
		for i := range m.Screens {
			o := &m.Screens[i]
			o.Behind = o.Activity == "running" && newest[o.TeamID]-o.At > 2*slot
		}
		slices.SortStableFunc(m.Screens, func(a, b screen) int { return cmp.Compare(m.place(a), m.place(b)) })
		all = append(all, m)
	}
	return all
}

func (m *match) screen(f *fleet.Fleet, p fleet.Phone, now time.Time) screen {
	d, _ := f.Shows(p)
	s := screen{
		Owner: p.Owner, TeamID: p.TeamID, Traits: traits(p, d), Activity: "running", State: d.State, Ended: d.Ended, Pushes: d.Pushes,
		Outdated: d.Outdated, Notes: []note{},
	}
	switch {
	case p.Token == "" && p.Starter == "":
		s.Activity = "none"
	case f.Activity(p) == "":
		s.Activity = "awaited"
	}
	for _, t := range []team{m.Local, m.Visitor} {
		if t.ID == p.TeamID {
			s.Fan = cmp.Or(t.Code, t.Name)
		}
	}
	if d.State != nil {
		s.At = d.Timestamp.UnixMilli()
		s.Stale = !d.Stale.IsZero() && !now.Before(d.Stale)
		s.Gone = !d.Visible(now)
	}
	alerts := f.Alerts(p)
	s.Told = len(alerts)
	for i, a := range slices.Backward(alerts) {
		if len(s.Notes) == notesShown {
			break
		}
		s.Notes = append(s.Notes, note{cmp.Or(a.Collapse, strconv.Itoa(i)), a.Time.UnixMilli(), a.Title, a.Body})
	}
	return s
}

// traits are what a phone is that others are not.
func traits(p fleet.Phone, d apns.Device) []string {
	all := []string{"iOS " + p.OS}
	for trait, has := range map[string]bool{
		"key events only": p.KeyEventsOnly, "spoiler-free": p.SpoilerFree, "broadcast channel": d.Channel != "",
		"started by push": p.Starter != "",
	} {
		if has {
			all = append(all, trait)
		}
	}
	slices.Sort(all[1:])
	return all
}

// place orders the perspectives: neither team's, the local's, the visitor's.
func (m *match) place(s screen) int {
	return slices.Index([]string{"", m.Local.ID, m.Visitor.ID}, s.TeamID)
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
	Waiting  int       `json:"waiting"` // ticks planned and not begun
	Idle     bool      `json:"idle"`    // nothing is live in this minute
}

type quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// timing is how the ticks did. A slot counts as missed when the one after it is
// over as well. h.mu is held.
func (h *Hub) timing(now time.Time) timing {
	current := now.UnixMilli() / slot
	t := timing{Bars: []bar{}, Idle: h.idle[now.Unix()/minute]}
	best := map[int64]tick{}
	var lags, tooks []float64
	for _, k := range h.ticks {
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

type rate struct {
	Second  int64 `json:"second"` // of the last number
	Series  []int `json:"series"` // pushes by second
	Refused []int `json:"refused"`
	Sent    int   `json:"sent"`
	Failed  int   `json:"failed"`
}

// rate is the last minute of pushes. h.mu is held.
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

// queues pairs each queue of the spec with its dead-letter queue.
func queues(f *fleet.Fleet) any {
	type dead struct {
		ID     string `json:"id"`
		At     int64  `json:"at"`
		Reason string `json:"reason"`
		Body   string `json:"body"`
	}
	type row struct {
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
		for _, fn := range room.Functions {
			q, ok := fn.On.(spec.Queue)
			if !ok {
				continue
			}
			d, buried := depth(q.Name), depth(q.Dead())
			r := row{q.Name, fn.Name, d.Visible, d.InFlight, d.Delayed, d.Sent, d.Deleted, buried.Visible + buried.InFlight, []dead{}}
			letters := f.Queues.Messages(buried.Queue)
			for _, m := range letters[max(0, len(letters)-deadShown):] {
				reason := "delivered " + strconv.Itoa(m.Receives) + " times, and never handled"
				if a := m.Attributes[queue.ReasonAttribute]; a.StringValue != nil {
					reason = *a.StringValue
				}
				r.Letters = append(r.Letters, dead{m.ID, m.Sent.UnixMilli(), show(reason), show(m.Body)})
			}
			all = append(all, r)
		}
	}
	return all
}

// executions are the latest of each state machine, newest first. h.mu is held.
func (h *Hub) executions(f *fleet.Fleet) any {
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
	for _, room := range f.Rooms {
		for _, m := range room.Machines {
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
	}
	return all
}

// schedules are the expressions and when they are due next. h.mu is held.
func (h *Hub) schedules(now time.Time) any {
	type row struct {
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
		all[i] = row{Name: t.Name, Every: t.Expression}
		if !t.next.IsZero() {
			all[i].Next = t.next.UnixMilli()
		}
	}
	return all
}

// message is what a browser needs that has seen before and the pushes up to
// seen. before is nil for one that has seen nothing.
func (v *view) message(before *view, seen uint64) (json.RawMessage, bool) {
	changed := map[string]json.RawMessage{}
	maps.Copy(changed, v.sections)
	if before != nil {
		maps.DeleteFunc(changed, func(name string, text json.RawMessage) bool { return string(before.sections[name]) == string(text) })
	}
	fresh := v.pushes[:len(v.pushes):len(v.pushes)]
	if before != nil {
		i := slices.IndexFunc(fresh, func(p pushed) bool { return p.Seq > seen })
		if i < 0 {
			i = len(fresh)
		}
		fresh = fresh[i:]
	}
	if before != nil && len(changed) == 0 && len(fresh) == 0 {
		return nil, false
	}
	text, _ := json.Marshal(struct {
		Now    int64                      `json:"now"`
		Speed  float64                    `json:"speed"`
		State  map[string]json.RawMessage `json:"state"`
		Pushes []pushed                   `json:"pushes,omitempty"`
	}{v.now, v.speed, changed, fresh}) // of JSON, numbers and strings
	return text, true
}

// last is the number of the latest push in the view.
func (v *view) last() uint64 {
	if len(v.pushes) == 0 {
		return 0
	}
	return v.pushes[len(v.pushes)-1].Seq
}
