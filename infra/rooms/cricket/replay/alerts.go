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

// span is the least and the largest valid number of alerts of a kind.
type span struct{ least, most int }

func exactly(n int) span { return span{n, n} }

// alerts returns the numbers of alerts, by kind, that a follower must have received after
// so many deliveries, as far as the file determines them. It does not determine whether
// two wickets of one ball are one alert.
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
	if o.stops > 0 { // a stoppage may be over by the next successful poll
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

	for _, before := range o.days {
		if before <= deliveries { // stumps may be over by the next successful poll
			add(event.Start, span{0, 1})
		}
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
				for mark, kind := range map[int]event.Kind{50: event.Fifty, 100: event.Hundred, 150: event.Hundred, 200: event.Hundred} {
					if was < mark && runs[d.Batter] >= mark {
						add(kind, exactly(1))
					}
				}
			}
		}

		last := i == len(o.Innings)-1
		switch {
		case last && o.decides(i): // the end of the innings is part of the result
		case last, super > 2 && i >= main: // the next innings did not begin; a later pair of super overs may reuse the keys of the first
			add(event.Innings, span{0, 1})
		default:
			add(event.Innings, exactly(1))
		}

		switch {
		case i == main-1 && super > 0:
			add(event.SuperOver, exactly(1))
		case i > main && (i-main)%2 == 1 && i < len(o.Innings)-1: // another pair, which may reuse the key of the first
			add(event.SuperOver, span{0, 1})
		}
	}

	if super == 0 && (o.Info.Outcome.Eliminator != "" || o.Info.Outcome.BowlOut != "") {
		add(event.SuperOver, span{0, 1})
	}

	return is
}

// decides reports whether the end of innings i decides the match: a chase, or the defeat of
// a side by an innings.
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

// stops returns the number of stoppages and resumptions in a script.
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

// days returns, for each day of play after the first in a script, the number of deliveries
// before it.
func days(m *script.Match) (before []int) {
	stumps := false

	for _, f := range m.Frames {
		switch {
		case strings.HasPrefix(f.Status, "Stump"):
			stumps = true
		case stumps && strings.HasSuffix(f.Status, " Innings"):
			stumps = false

			before = append(before, f.Deliveries)
		}
	}

	return before
}

// target returns the number of target alerts in a match with so many innings, without super
// overs.
func (o *oracle) target(innings int) span {
	chase := 2
	if o.multiDay() {
		chase = 4
	}

	switch {
	case innings == chase && (o.final[chase-2].Late > 0 ||
		chase == 2 && (o.Info.Outcome.Method != "" || o.Innings[1].Target.Runs != o.final[0].Runs+1)):
		return span{1, 2} // set, and then revised
	case innings == chase:
		return exactly(1)
	case innings == chase-1: // the innings break may have had it
		return span{0, 1}
	}

	return span{}
}

// alert has the match and the kind in the payload of a notification.
type alert struct {
	MatchID string     `json:"matchId"`
	Kind    event.Kind `json:"kind"`
}

// reminded is the kind of reminders in this package. In their payload it is start.
const reminded event.Kind = "reminder"

// alerts are the notifications on a phone, by match and kind.
type alerts map[string]map[event.Kind][]apns.Alert

func alertsOf(d apns.Device) (alerts, error) {
	all := alerts{}

	for _, a := range d.Alerts {
		var is alert
		if err := json.Unmarshal(a.Payload, &is); err != nil || is.MatchID == "" || is.Kind == "" {
			return all, fmt.Errorf("the alert %q has no match or no kind", a.Title)
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

// kinds returns all kinds of alerts.
func kinds() []event.Kind {
	return []event.Kind{
		event.Toss, event.Start, event.Wicket, event.Fifty, event.Hundred, event.Innings,
		event.Target, event.Rain, event.SuperOver, event.Result,
	}
}

// kindsAndReminder returns all kinds, and reminded.
func kindsAndReminder() []event.Kind { return append(kinds(), reminded) }

// wants reports whether a fan wants alerts of a kind. It is written from the description
// of the API, not from its code.
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

// judge compares the alerts of a follower with those that the file requires, and calls note
// for each difference. first has the time, by collapse id, at which the followers who want
// everything got an alert first: a follower with quiet hours must have each alert that was
// sent outside of them.
func (m *match) judge(w *follower, got map[event.Kind][]apns.Alert, first map[string]time.Time, note func(what string)) {
	bowled := len(m.oracle.after)
	if w.left >= 0 {
		bowled = w.left
	}

	all := m.oracle.alerts(bowled)

	spare := 0 // an alert that was being sent when the fan unfollowed
	if w.left >= 0 {
		spare = 1
	}

	for _, k := range kindsAndReminder() {
		n := len(got[k])
		if k == event.Start {
			n += w.begun
		}

		want := m.expects(w, all, k)
		if w.quiet() {
			if slices.ContainsFunc(got[k], func(a apns.Alert) bool { return w.asleep(a.Time) }) {
				note(fmt.Sprintf("%s was sent in quiet hours", k))
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

	for id, at := range first {
		if w.asleep(at) || w.asleep(at.Add(triedAgain)) {
			continue
		}

		if !slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(got))...), func(a apns.Alert) bool { return a.Collapse == id }) {
			note("an alert outside quiet hours is missing")
			return
		}
	}
}

const (
	// reminder is the time from a reminder to the start of the match.
	reminder = 15 * time.Minute
	// triedAgain is the time in which an alert that did not reach a phone is retried.
	triedAgain = time.Minute
)

// expects returns the number of alerts of a kind that a follower must get. Followers get a
// reminder if they follow the match before its time, and none if they are late.
func (m *match) expects(w *follower, all map[event.Kind]span, k event.Kind) span {
	switch {
	case k == event.Toss && w.late: // it may have been sent before
		return span{0, all[k].most}
	case k == event.Start && w.begins != "": // a user whose push may have arrived gets a notification, too
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
