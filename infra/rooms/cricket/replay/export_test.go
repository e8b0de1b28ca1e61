package replay

import (
	"fmt"
	"time"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/sportmonks/script"
	"matchday/pkg/cricket/score/event"
)

// Alerts returns the least and the largest valid number of alerts of each kind after so many
// deliveries of a file. Kinds without alerts are omitted.
func Alerts(file []byte, deliveries int) (map[event.Kind][2]int, error) {
	o, err := newOracle(file)
	if err != nil {
		return nil, err
	}

	script, err := script.Read(file, 1)
	if err != nil {
		return nil, err
	}

	o.stops, o.days = stops(script), days(script)
	all := map[event.Kind][2]int{}

	for k, s := range o.alerts(deliveries) {
		if s.most > 0 {
			all[k] = [2]int{s.least, s.most}
		}
	}

	return all, nil
}

// Scorecard returns the cells of the scorecard at the end of a file.
func Scorecard(file []byte) ([]string, error) {
	o, err := newOracle(file)
	if err != nil {
		return nil, err
	}

	n := len(o.Innings)

	return o.card(script.Frame{
		Header: &script.Header{PlayerOfMatch: 1}, Deliveries: len(o.after) - 1, InningsShown: n, InningsOver: n,
	}), nil
}

// Follower is a follower for Judge.
type Follower = follower

// Followers of every taste.
var (
	Plain       = follower{fan: &fan{}, left: -1}
	KeyEvents   = follower{fan: &fan{taste: keyEvents}, left: -1}
	SpoilerFree = follower{fan: &fan{taste: spoilerFree}, left: -1}
	Quiet       = follower{fan: &fan{from: "00:00", to: "23:59"}, left: -1}
	Dozes       = follower{fan: &fan{from: "12:05", to: "06:00"}, left: -1}
	Wakes       = follower{fan: &fan{from: "06:00", to: "12:00"}, left: -1}
	Begun       = follower{fan: &fan{}, left: -1, begun: 1}
	Late        = follower{fan: &fan{late: true}, left: -1}
)

// Left is a follower who unfollowed after so many deliveries.
func Left(deliveries int) follower { return follower{fan: &fan{}, left: deliveries} }

// Judge returns the failures if a follower of the file's match, who may not get a reminder,
// gets alerts of the kinds at an instant. Other followers got a wicket first at wicketAt.
func Judge(file []byte, w follower, at, wicketAt time.Time, kinds ...string) (wrong []string, err error) {
	m := &match{start: start}
	if m.oracle, err = newOracle(file); err != nil {
		return nil, err
	}

	w.follows = start

	var d apns.Device

	for i, k := range kinds {
		body := "x"
		if k == string(reminded) {
			k, body = string(event.Start), "Starts in 15 minutes"
		}

		d.Alerts = append(d.Alerts, apns.Alert{
			Body: body, Collapse: fmt.Sprint(k, i), Time: at, Payload: fmt.Appendf(nil, `{"aps":{"alert":"x"},"matchId":"1","kind":%q}`, k),
		})
	}

	d.Alerts = append(d.Alerts, apns.Alert{Payload: []byte(`{"matchId":"2","kind":"wicket"}`)}) // another match's

	got, err := alertsOf(d)
	if err != nil {
		return nil, err
	}

	m.judge(&w, got["1"], map[string]time.Time{"wicket0": wicketAt}, func(what string) { wrong = append(wrong, what) })

	return wrong, nil
}
