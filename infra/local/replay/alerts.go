package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"matchday/infra/local/apns"
	"matchday/pkg/cricket/score"
)

// span is how many alerts of a kind there must be at least, and may be at most.
type span struct{ least, most int }

func exactly(n int) span { return span{n, n} }

// alerts are those that the file makes a follower expect, by kind, of what has
// happened when so many deliveries are bowled.
//
// They are as many as can be told from the file. It does not say when rain
// stopped play, nor whether two wickets of one ball are told as one.
func (o *oracle) alerts(deliveries int) map[score.EventKind]span {
	var main, super int // innings
	for _, in := range o.Innings {
		if in.SuperOver {
			super++
		} else {
			main++
		}
	}
	is := map[score.EventKind]span{
		score.TossEvent: {0, 1}, score.StartEvent: {0, 1}, score.RainEvent: {0, 4}, score.ResultEvent: {0, 1},
	}
	if o.Info.Toss.Winner != "" && o.Info.Toss.Decision != "" {
		is[score.TossEvent] = exactly(1)
	}
	if len(o.after) > 1 {
		is[score.StartEvent] = exactly(1)
	}
	if o.outcome().Winner != "" || o.outcome().Kind == "tied" || o.outcome().Kind == "drawn" {
		is[score.ResultEvent] = exactly(1)
	}
	add := func(k score.EventKind, s span) {
		is[k] = span{is[k].least + s.least, is[k].most + s.most}
	}
	bowled := 0
	for i, in := range o.Innings {
		if bowled > deliveries {
			break
		}
		if i == main-1 {
			add(score.TargetEvent, o.target(main))
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
				add(score.WicketEvent, span{min(outs, 1), outs})
				was := runs[d.Batter]
				runs[d.Batter] += d.Runs.Batter
				for mark, kind := range map[int]score.EventKind{50: score.FiftyEvent, 100: score.HundredEvent} {
					if was < mark && runs[d.Batter] >= mark {
						add(kind, exactly(1))
					}
				}
			}
		}
		switch kind := o.outcome().Kind; {
		case i == len(o.Innings)-1 && (kind == "noResult" || kind == "drawn"):
			add(score.InningsEvent, span{0, 1}) // nothing came of the next
		case i == len(o.Innings)-1: // the result tells of it
		case i < main-1:
			add(score.InningsEvent, exactly(1))
		default: // the super over that follows tells it as well
			add(score.InningsEvent, span{0, 1})
		}
		switch {
		case i == main-1 && super > 0:
			add(score.SuperOverEvent, exactly(1))
		case i > main && (i-main)%2 == 1 && i < len(o.Innings)-1: // another, which the first may have told
			add(score.SuperOverEvent, span{0, 1})
		}
	}
	if super == 0 && (o.Info.Outcome.Eliminator != "" || o.Info.Outcome.BowlOut != "") {
		add(score.SuperOverEvent, span{0, 1})
	}
	return is
}

// target is how often a target is told in a match of so many innings proper.
func (o *oracle) target(innings int) span {
	chase := 2
	if o.Info.MatchType == "Test" || o.Info.MatchType == "MDM" {
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
	MatchID string          `json:"matchId"`
	Kind    score.EventKind `json:"kind"`
}

// alerts are those on a phone, by match and kind.
type alerts map[string]map[score.EventKind][]apns.Alert

func alertsOf(d apns.Device) (alerts, error) {
	all := alerts{}
	for _, a := range d.Alerts {
		var is alert
		if err := json.Unmarshal(a.Payload, &is); err != nil || is.MatchID == "" || is.Kind == "" {
			return all, fmt.Errorf("the alert %q does not say its match and kind", a.Title)
		}
		if all[is.MatchID] == nil {
			all[is.MatchID] = map[score.EventKind][]apns.Alert{}
		}
		all[is.MatchID][is.Kind] = append(all[is.MatchID][is.Kind], a)
	}
	return all, nil
}

// kinds are those of alerts.
func kinds() []score.EventKind {
	return []score.EventKind{
		score.TossEvent, score.StartEvent, score.WicketEvent, score.FiftyEvent, score.HundredEvent, score.InningsEvent,
		score.TargetEvent, score.RainEvent, score.SuperOverEvent, score.ResultEvent,
	}
}

// wants tells whether a fan wants alerts of a kind. It follows the words of the
// API's description, not its code.
func (f *fan) wants(k score.EventKind) bool {
	switch f.taste {
	case keyEvents:
		return slices.Contains([]score.EventKind{score.StartEvent, score.InningsEvent, score.TargetEvent, score.SuperOverEvent, score.ResultEvent}, k)
	case spoilerFree:
		return slices.Contains([]score.EventKind{score.TossEvent, score.StartEvent, score.RainEvent, score.ResultEvent}, k)
	}
	return true
}

// awake tells whether an alert that arrived at t may have been sent in the one
// minute a day that is outside a fan's quiet hours, or just before.
func awake(t time.Time) bool {
	t = t.UTC()
	return t.Hour() == 23 && t.Minute() == 59 || t.Hour() == 0 && t.Minute() == 0
}

// judge holds the alerts that a follower got against those that the file makes
// one expect, and notes what is wrong.
func (m *match) judge(w *follower, got map[score.EventKind][]apns.Alert, note func(what string)) {
	bowled := len(m.oracle.after)
	if w.left >= 0 {
		bowled = w.left
	}
	all := m.oracle.alerts(bowled)
	spare := 0 // the one that was under way when the fan unfollowed
	if w.left >= 0 {
		spare = 1
	}
	for _, k := range kinds() {
		n := len(got[k])
		want := m.expects(w, all, k)
		switch {
		case w.taste == quiet:
			if i := slices.IndexFunc(got[k], func(a apns.Alert) bool { return !awake(a.Time) }); i >= 0 {
				note(fmt.Sprintf("%s was told in quiet hours", k))
			}
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
}

// reminder is how long before its start a match is reminded of.
const reminder = 15 * time.Minute

// expects is what a follower should get of a kind; who follows before it is
// time gets a reminder, whose kind is start.
func (m *match) expects(w *follower, all map[score.EventKind]span, k score.EventKind) span {
	want := all[k]
	if k == score.StartEvent {
		want.most++
		if w.follows.Before(m.start.Add(-reminder)) {
			want.least++
		}
	}
	return want
}
