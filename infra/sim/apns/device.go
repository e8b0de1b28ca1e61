package apns

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sideshow/apns2"
)

// Device is the state of the phone behind one token. A device's token, a push-to-start
// token and each activity's token are devices of their own.
type Device struct {
	Token     string
	Bundle    string    // of the app whose token it is
	State     []byte    // content-state shown, JSON; nil before the first
	Timestamp time.Time // of State
	Stale     time.Time // when State becomes stale; zero for never
	Ended     bool
	Dismissal time.Time // when an ended activity leaves the Lock Screen
	Channel   string    // listened to
	Alerts    []Alert   // in order of first arrival
	Started   int       // activities started by a push to this token

	Pushes   int // accepted, broadcasts included
	Outdated int // older than what was shown, ignored
	Replaced int // states with the timestamp of the shown state but another content; the later arrival replaced it
	AfterEnd int // after the end, ignored
}

// Visible reports whether an activity is on the Lock Screen at t.
func (d Device) Visible(t time.Time) bool {
	return d.State != nil && (!d.Ended || t.Before(d.Dismissal))
}

// Alert is a notification on a phone. One with the collapse id of an earlier
// one replaces it.
type Alert struct {
	Title    string    `json:"title"`
	Subtitle string    `json:"subtitle"`
	Body     string    `json:"body"`
	Sound    string    `json:"sound"`
	Collapse string    `json:"-"` // apns-collapse-id
	First    time.Time `json:"-"` // arrival
	Time     time.Time `json:"-"` // of the last arrival
	Times    int       `json:"-"` // arrivals
	Again    int       `json:"-"` // arrivals at another time than the one before
	Payload  []byte    `json:"-"` // whole, with the app's own keys
}

type device struct {
	Device
	kind    string         // topic of its pushes: an activity's or the app's
	started map[string]int // activities started by a push to this token, by their attributes
}

// activityLinger is the maximum time for which an ended activity stays on the Lock
// Screen.
const activityLinger = 4 * time.Hour

// Device returns the state of the phone of a token.
func (s *Server) Device(token string) (Device, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	d, ok := s.devices[token]
	if !ok {
		return Device{}, false
	}

	snapshot := d.Device
	snapshot.Alerts = slices.Clone(d.Alerts)

	return snapshot, true
}

// Tokens lists every token that was pushed to or subscribed, in order.
func (s *Server) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Sorted(maps.Keys(s.devices))
}

// deliver delivers a push for the app of a bundle to its phone.
func (s *Server) deliver(token, bundle, kind, collapse string, p *payload, now time.Time) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()

	d := s.device(token)

	if !p.activity {
		kind = string(apns2.PushTypeAlert) // background pushes share its topic
	}

	if d.kind == "" {
		d.kind, d.Bundle = kind, bundle
	}

	if d.kind != kind || d.Bundle != bundle {
		return refuse(http.StatusBadRequest, apns2.ReasonDeviceTokenNotForTopic)
	}

	s.receive(d, collapse, p, now)

	return nil
}

func (s *Server) device(token string) *device {
	d, ok := s.devices[token]
	if !ok {
		d = &device{Device: Device{Token: token}}
		s.devices[token] = d
	}

	return d
}

// receive applies a push to the phone. The caller holds s.mu.
func (s *Server) receive(d *device, collapse string, p *payload, now time.Time) {
	d.Pushes++
	switch {
	case !p.activity:
		d.addAlert(collapse, p.alert, now)
	case p.APS.Event == "start":
		s.start(d, collapse, p, now)
	case d.Ended:
		d.AfterEnd++
		s.counts["AfterEnd"]++
	case p.APS.Timestamp < d.Timestamp.Unix() && d.State != nil:
		d.Outdated++
		s.counts["Outdated"]++
	default:
		if d.State != nil && p.APS.Timestamp == d.Timestamp.Unix() && !bytes.Equal(p.APS.ContentState, d.State) {
			d.Replaced++
		}

		d.setState(p, now)
		d.addAlert(collapse, p.alert, now)
	}
}

// setState sets the state of a Live Activity on the Lock Screen.
func (d *device) setState(p *payload, now time.Time) {
	d.State, d.Timestamp, d.Stale = p.APS.ContentState, unix(p.APS.Timestamp), unix(p.APS.StaleDate)
	if p.APS.Event != "end" {
		return
	}

	d.Ended, d.Dismissal = true, now.Add(activityLinger)
	if at := p.APS.DismissalDate; at != nil && time.Unix(*at, 0).Before(d.Dismissal) {
		d.Dismissal = time.Unix(*at, 0).UTC()
	}
}

// addAlert shows a notification. It replaces the one with the same collapse id.
func (d *device) addAlert(collapse string, a *Alert, now time.Time) {
	if a == nil {
		return
	}

	i := slices.IndexFunc(d.Alerts, func(b Alert) bool { return collapse != "" && b.Collapse == collapse })

	var before Alert
	if i < 0 {
		i = len(d.Alerts)
		d.Alerts = append(d.Alerts, before)
	} else if before = d.Alerts[i]; !now.Equal(before.Time) {
		before.Again++
	}

	if before.First.IsZero() {
		before.First = now
	}

	d.Alerts[i] = *a
	d.Alerts[i].First = before.First
	d.Alerts[i].Collapse, d.Alerts[i].Time, d.Alerts[i].Times, d.Alerts[i].Again = collapse, now, before.Times+1, before.Again
}

// start begins an activity with a token of its own, made from the push-to-start
// token, the activity's attributes and how many it started of these before.
func (s *Server) start(d *device, collapse string, p *payload, now time.Time) {
	d.Started++
	of := string(p.APS.Attributes)

	if d.started == nil {
		d.started = map[string]int{}
	}

	d.started[of]++
	sum := sha256.Sum256([]byte(d.Token + "/" + of + "/" + strconv.Itoa(d.started[of])))
	a := s.device(hex.EncodeToString(sum[:]))
	a.kind, a.Bundle = d.kind, d.Bundle
	a.setState(p, now)
	d.addAlert(collapse, p.alert, now)

	if _, ok := s.channels[p.APS.InputPushChannel]; ok {
		s.subscribe(a, p.APS.InputPushChannel, now)
	}

	if s.Started != nil {
		at := Start{Token: d.Token, Update: a.Token, Channel: a.Channel, AttributesType: p.APS.AttributesType, Attributes: p.APS.Attributes}

		s.clock.After(0, func() { s.Started(at) })
	}
}

// Show has the app update the activity behind token itself. Like a push, a state that is
// older than the one shown changes nothing, and neither does any after the end.
func (s *Server) Show(token string, state []byte, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()

	d := s.device(token)
	if !d.Ended && (d.State == nil || !at.Before(d.Timestamp)) {
		d.State, d.Timestamp = state, at
	}
}

// Subscribe has the activity behind token listen to a channel.
func (s *Server) Subscribe(token, channel string) bool {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()

	if _, ok := s.channels[channel]; !ok {
		return false
	}

	d := s.device(token)
	d.kind, d.Bundle = cmp.Or(d.kind, string(apns2.PushTypeLiveActivity)), cmp.Or(d.Bundle, s.Bundle)
	s.subscribe(d, channel, now)

	return true
}

func (s *Server) subscribe(d *device, channel string, now time.Time) {
	if old, ok := s.channels[d.Channel]; ok {
		delete(old.listeners, d.Token)
	}

	c := s.channels[channel]
	d.Channel = channel

	c.listeners[d.Token] = d
	if c.stored != nil && now.Before(c.storedTo) {
		s.receive(d, "", c.stored, now)
	}
}
