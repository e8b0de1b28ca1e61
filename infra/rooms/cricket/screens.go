package cricket

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/sportmonks/script"
	"matchday/pkg/cricket/follower"
	apimatch "matchday/pkg/cricket/match"
	"matchday/pkg/spec"
)

const (
	notesShown = 3 // notifications of a phone
	tokenShown = 8 // digits of a push token, as in apns.Push

	androidShown = 12 // characters of a token, as in fcm.Sent
)

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
	Traits   []string        `json:"traits"`           // its properties
	Behind   bool            `json:"behind,omitempty"` // State is two slots older than that of another phone with its perspective
	Activity string          `json:"activity"`         // none, awaited or running
	State    json.RawMessage `json:"state,omitempty"`
	At       int64           `json:"at,omitempty"` // of State
	Stale    bool            `json:"stale,omitempty"`
	Ended    bool            `json:"ended,omitempty"`
	Gone     bool            `json:"gone,omitempty"`     // no longer on the lock screen
	Android  bool            `json:"android,omitempty"`  // the activity is the Live Update of an Android phone
	Chip     string          `json:"chip,omitempty"`     // of its status bar
	Progress int             `json:"progress"`           // of its innings, in percent; -1 for none
	Pushes   int             `json:"pushes"`             // pushes and broadcasts to the activity
	Outdated int             `json:"outdated,omitempty"` // older than what was shown
	Notes    []note          `json:"notes"`              // the newest notifications, newest first
	Received int             `json:"told"`               // number of notifications, including those not in Notes
}

// note is a notification.
type note struct {
	ID    string `json:"id"` // the phone shows the latest notification with an id
	At    int64  `json:"at"`
	Title string `json:"title"`
	Body  string `json:"body"`
}

func matches(w *local.World, phones []local.Phone, now time.Time) []match {
	all := []match{}

	for _, id := range w.Provider.Playing() {
		s, err := w.Provider.State(id)
		if err != nil {
			continue // the phone follows another match now
		}

		m := match{
			ID: local.ID(id), Local: teamOf(s.Local), Visitor: teamOf(s.Visitor), Type: s.Type, Start: s.Start.UnixMilli(), Status: s.Status,
			Live: s.Live, Paused: s.Paused, Rate: s.Rate, Shown: s.Shown, Total: s.Total, Screens: []screen{},
		}
		newest := map[string]int64{} // state of a perspective

		for _, p := range phones {
			if p.MatchID == m.ID {
				o := m.screen(w, p, now)
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

func (m *match) screen(w *local.World, p local.Phone, now time.Time) screen {
	if p.Android {
		return m.androidScreen(w, p, now)
	}

	d, _ := w.Shows(p)

	s := screen{
		Owner: p.Owner, TeamID: p.TeamID, Traits: traits(p, d), Activity: "running", State: d.State, Ended: d.Ended, Pushes: d.Pushes,
		Outdated: d.Outdated, Notes: []note{}, Progress: -1, Fan: m.fan(p),
	}
	switch {
	case p.Token == "" && p.Starter == "":
		s.Activity = "none"
	case w.Activity(p) == "":
		s.Activity = "awaited"
	}

	if d.State != nil {
		s.At = d.Timestamp.UnixMilli()
		s.Stale = !d.Stale.IsZero() && !now.Before(d.Stale)
		s.Gone = !d.Visible(now)
	}

	alerts := w.Alerts(p)

	s.Received = len(alerts)
	for i, a := range slices.Backward(alerts) {
		if len(s.Notes) == notesShown {
			break
		}

		s.Notes = append(s.Notes, note{cmp.Or(a.Collapse, strconv.Itoa(i)), a.Time.UnixMilli(), a.Title, a.Body})
	}

	return s
}

// fan returns the code of the team that a phone's owner supports.
func (m *match) fan(p local.Phone) string {
	for _, t := range []team{m.Local, m.Visitor} {
		if t.ID == p.TeamID {
			return cmp.Or(t.Code, t.Name)
		}
	}

	return ""
}

// endStays is how long the app leaves an ended Live Update on the screen.
const endStays = 30 * time.Minute

// androidScreen is the screen of an Android phone.
func (m *match) androidScreen(w *local.World, p local.Phone, now time.Time) screen {
	c := w.Card(p)
	s := screen{
		Owner: p.Owner, TeamID: p.TeamID, Traits: traits(p, apns.Device{}), Activity: "running", State: c.State, Ended: c.Ended,
		Pushes: c.Pushes, Outdated: c.Outdated, Notes: []note{}, Android: true, Chip: c.Chip, Progress: c.Progress, Fan: m.fan(p),
	}

	if c.State != nil {
		s.At = c.At.UnixMilli()
		s.Stale = !c.Stale.IsZero() && !now.Before(c.Stale)
		s.Gone = c.Ended && now.Sub(c.At) > endStays
	}

	phone, _ := w.Google.Phone(p.Device)

	s.Received = len(phone.Notifications)
	for i, n := range slices.Backward(phone.Notifications) {
		if len(s.Notes) == notesShown {
			break
		}

		s.Notes = append(s.Notes, note{cmp.Or(n.Tag, strconv.Itoa(i)), n.Time.UnixMilli(), n.Title, n.Body})
	}

	return s
}

// traits are the properties in which phones differ.
func traits(p local.Phone, d apns.Device) []string {
	system := "iOS "
	if p.Android {
		system = "Android "
	}

	all := []string{system + p.OS}
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

// place orders the perspectives: neutral, local team, visitors.
func (m *match) place(s screen) int {
	return slices.Index([]string{"", m.Local.ID, m.Visitor.ID}, s.TeamID)
}

// owners returns the owners of phones by the tokens in pushes, and a common name for the
// listeners of a channel.
func owners(w *local.World, phones []local.Phone) map[string]console.Owner {
	all := map[string]console.Owner{}
	name := map[string]string{} // of matches and teams

	playing := w.Provider.Playing()
	for _, id := range playing {
		if s, err := w.Provider.State(id); err == nil {
			local, visitor := teamOf(s.Local), teamOf(s.Visitor)
			name[local.ID], name[visitor.ID] = cmp.Or(local.Code, local.Name), cmp.Or(visitor.Code, visitor.Name)
			name["match "+strconv.FormatInt(id, 10)] = local.Code + " v " + visitor.Code
		}
	}

	about := func(p local.Phone, fan, neutral string) string {
		text := neutral
		if p.TeamID != "" {
			text = name[p.TeamID] + " " + fan
		}

		if match := name["match "+p.MatchID]; len(playing) > 1 && match != "" {
			text += " · " + match
		}

		return text
	}
	for _, id := range playing { // a topic is sent to whether a phone has subscribed or not
		if m, err := w.Provider.State(id); err == nil {
			for _, team := range []string{"", teamOf(m.Local).ID, teamOf(m.Visitor).ID} {
				p := local.Phone{MatchID: local.ID(id), TeamID: team}
				all[follower.Topic(spec.Local, p.MatchID, cmp.Or(team, apimatch.Neutral))] = console.Owner{
					Name: "topic", About: "for " + about(p, "fans", "neutral"),
				}
			}
		}
	}

	for _, p := range phones {
		if p.Android {
			all[p.Device[:androidShown]] = console.Owner{Name: p.Owner, About: about(p, "fan", "neutral")}

			continue
		}

		for _, token := range []string{p.Device, p.Starter, w.Activity(p)} {
			if token != "" {
				all[token[:tokenShown]] = console.Owner{Name: p.Owner, About: about(p, "fan", "neutral")}
			}
		}

		if d, _ := w.Shows(p); d.Channel != "" {
			all[d.Channel] = console.Owner{Name: "channel", About: "for " + about(p, "fans", "neutral")}
		}
	}

	return all
}
