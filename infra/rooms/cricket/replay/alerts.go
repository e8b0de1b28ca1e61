package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/sportmonks/script"
	"matchday/pkg/cricket/score/event"
)

// span is how many alerts of a kind there must be at least, and may be at most.
type span struct{ least, most int }

func exactly(n int) span { return span{n, n} }

// alerts are those that the file makes a follower expect, by kind, of what has
// happened when so many deliveries are bowled.
//
// They are as many as can be told from the file. It does not say whether two
// wickets of one ball are told as one.
func (o *oracle) alerts(deliveries int) map[event.Kind]span {
	var main, super int // innings
	for _, in := range o.Innings {
		if in.SuperOver {
			super++
		} else {
			main++
		}
	}
	is := map[event.Kind]span{event.Toss: {0, 1}, event.Result: exactly(1)}
	if o.stops > 0 { // each is over by the next poll, which may fail
		is[event.Rain] = span{0, o.stops}
	}
	if o.Info.Toss.Winner != "" && o.Info.Toss.Decision != "" {
		is[event.Toss] = exactly(1)
	}
	is[event.Start] = span{0, 1}
	if len(o.after) > 1 {
		is[event.Start] = exactly(1)
	}
	add := func(k event.Kind, s span) {
		is[k] = span{is[k].least + s.least, is[k].most + s.most}
	}
	bowled := 0
	for i, in := range o.Innings {
		if bowled > deliveries {
			break
		}
		if i == main-1 {
			add(event.Target, o.target(main))
		}
		runs := map[string]int{} // of batters
		for _, over := range in.Overs {
			for _, d := range over.Deliveries {
				if bowled++; bowled > deliveries {
					return is
				}
				outs := 0
				for _, w := range d.Wickets {
					if isOut(w.Kind) {
						outs++
					}
				}
				add(event.Wicket, span{min(outs, 1), outs})
				was := runs[d.Batter]
				runs[d.Batter] += d.Runs.Batter
				for mark, kind := range map[int]event.Kind{50: event.Fifty, 100: event.Hundred} {
					if was < mark && runs[d.Batter] >= mark {
						add(kind, exactly(1))
					}
				}
			}
		}
		last := i == len(o.Innings)-1
		switch {
		case last && o.decides(i): // the result tells of it
		case last, super > 2 && i >= main: // nothing came of the next; super overs after the first pair may go by its names
			add(event.Innings, span{0, 1})
		default:
			add(event.Innings, exactly(1))
		}
		switch {
		case i == main-1 && super > 0:
			add(event.SuperOver, exactly(1))
		case i > main && (i-main)%2 == 1 && i < len(o.Innings)-1: // another, which the first may have told
			add(event.SuperOver, span{0, 1})
		}
	}
	if super == 0 && (o.Info.Outcome.Eliminator != "" || o.Info.Outcome.BowlOut != "") {
		add(event.SuperOver, span{0, 1})
	}
	return is
}

// decides tells whether the match ends with innings i as it was meant to: with a
// chase, or with a side that is out an innings behind.
func (o *oracle) decides(i int) bool {
	switch {
	case o.multiDay():
		return i == 3 || o.Info.Outcome.By.Innings > 0
	case o.Innings[i].SuperOver:
		return i > 0 && o.Innings[i-1].SuperOver
	}
	return i == 1
}

func (o *oracle) multiDay() bool { return o.Info.MatchType == "Test" || o.Info.MatchType == "MDM" }

// stops is how often a script stops play and goes on, each counted for itself.
func stops(m *script.Match) (n int) {
	stopped := false
	for i := range len(m.Frames) {
		f := m.Frames[i]
		switch playing := strings.HasSuffix(f.Status, " Innings"); {
		case !stopped && f.Status == "Int." && f.Deliveries > 0, stopped && playing:
			stopped = !stopped
			n++
		}
	}
	return n
}

// target is how often a target is told in a match of so many innings proper.
func (o *oracle) target(innings int) span {
	chase := 2
	if o.multiDay() {
		chase = 4
	}
	switch {
	case innings == chase && (o.final[chase-2].Late > 0 || chase == 2 && (o.Info.Outcome.Method != "" || o.Innings[1].Target.Runs != o.final[0].Runs+1)):
		return span{1, 2} // set, and then revised
	case innings == chase:
		return exactly(1)
	case innings == chase-1: // perhaps the break told it
		return span{0, 1}
	}
	return span{}
}

// alert is what a notification says of itself.
type alert struct {
	MatchID string     `json:"matchId"`
	Kind    event.Kind `json:"kind"`
}

// reminded is the kind of a reminder, which says that it is of kind start.
const reminded event.Kind = "reminder"

// alerts are those on a phone, by match and kind.
type alerts map[string]map[event.Kind][]apns.Alert

func alertsOf(d apns.Device) (alerts, error) {
	all := alerts{}
	for _, a := range d.Alerts {
		var is alert
		if err := json.Unmarshal(a.Payload, &is); err != nil || is.MatchID == "" || is.Kind == "" {
			return all, fmt.Errorf("the alert %q does not say its match and kind", a.Title)
		}
		if is.Kind == event.Start && strings.HasPrefix(a.Body, "Starts in ") {
			is.Kind = reminded
		}
		if all[is.MatchID] == nil {
			all[is.MatchID] = map[event.Kind][]apns.Alert{}
		}
		all[is.MatchID][is.Kind] = append(all[is.MatchID][is.Kind], a)
	}
	return all, nil
}

// kinds are those of alerts.
func kinds() []event.Kind {
	return []event.Kind{
		event.Toss, event.Start, event.Wicket, event.Fifty, event.Hundred, event.Innings,
		event.Target, event.Rain, event.SuperOver, event.Result,
	}
}

// toldOf are the kinds, with reminders apart.
func toldOf() []event.Kind { return append(kinds(), reminded) }

// wants tells whether a fan wants alerts of a kind. It follows the words of the
// API's description, not its code.
func (f *fan) wants(k event.Kind) bool {
	if k == reminded {
		k = event.Start
	}
	switch f.taste {
	case keyEvents:
		return slices.Contains([]event.Kind{event.Start, event.Innings, event.Target, event.SuperOver, event.Result}, k)
	case spoilerFree:
		return slices.Contains([]event.Kind{event.Toss, event.Start, event.Rain, event.Result}, k)
	}
	return true
}

// judge holds the alerts that a follower got against those that the file makes
// one expect, and notes what is wrong. told is when each was first told to those
// who want all, by its collapse id: who has quiet hours must have those that were
// told while they were awake.
func (m *match) judge(w *follower, got map[event.Kind][]apns.Alert, told map[string]time.Time, note func(what string)) {
	bowled := len(m.oracle.after)
	if w.left >= 0 {
		bowled = w.left
	}
	all := m.oracle.alerts(bowled)
	spare := 0 // the one that was under way when the fan unfollowed
	if w.left >= 0 {
		spare = 1
	}
	for _, k := range toldOf() {
		n := len(got[k])
		if k == event.Start && w.begun {
			n++
		}
		want := m.expects(w, all, k)
		if w.quiet() {
			if slices.ContainsFunc(got[k], func(a apns.Alert) bool { return w.asleep(a.Time) }) {
				note(fmt.Sprintf("%s was told in quiet hours", k))
			}
			want.least = 0
		}
		switch {
		case !w.wants(k):
			if n > 0 {
				note(fmt.Sprintf("%s was not wanted", k))
			}
		case n > want.most:
			if spare -= n - want.most; spare < 0 {
				note(fmt.Sprintf("%d %s alerts, not %d", n, k, want.most))
			}
		case n < want.least && w.left < 0:
			note(fmt.Sprintf("%d %s alerts, not %d", n, k, want.least))
		}
	}
	if !w.quiet() || w.left >= 0 {
		return
	}
	for id, at := range told {
		if w.asleep(at) || w.asleep(at.Add(triedAgain)) {
			continue
		}
		if !slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(got))...), func(a apns.Alert) bool { return a.Collapse == id }) {
			note("an alert was not told outside quiet hours")
			return
		}
	}
}

const (
	// reminder is how long before its start a match is reminded of.
	reminder = 15 * time.Minute
	// triedAgain is when one whom Apple did not reach has been tried again.
	triedAgain = time.Minute
)

// expects is what a follower should get of a kind: who follows before it is time
// gets a reminder, and who comes late gets none.
func (m *match) expects(w *follower, all map[event.Kind]span, k event.Kind) span {
	switch {
	case k == event.Toss && w.late: // it may have been told before
		return span{0, all[k].most}
	case k == event.Start && w.begins != "": // who may have got the push is told by a notification as well
		return span{all[k].least, all[k].most + 1}
	case k != reminded:
		return all[k]
	case w.follows.Before(m.start.Add(-reminder)):
		return exactly(1)
	case w.late:
		return exactly(0)
	}
	return span{0, 1}
}
