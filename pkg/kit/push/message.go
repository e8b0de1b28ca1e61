package push

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/payload"

	"matchday/pkg/kit/push/h2conn"
)

// MaxPayload is APNs' limit of a payload, in bytes.
const MaxPayload = 4096

// ErrTooLarge reports a payload above MaxPayload.
var ErrTooLarge = errors.New("push: the payload is too large")

const maxCollapseID = 64 // bytes

// Message is a push, encoded once for any number of tokens. It is immutable, and may
// be sent concurrently.
type Message struct {
	body       []byte
	pushType   apns2.EPushType
	priority   string
	expiration string
	collapseID string
	deadline   time.Time
	event      payload.ELiveActivityEvent
}

// Bytes returns the size of the payload.
func (m *Message) Bytes() int { return len(m.body) }

// fleeting reports whether the next message replaces a lost one.
func (m *Message) fleeting() bool { return m.event == payload.LiveActivityEventUpdate }

// once reports whether the message must not be sent again after a lost answer.
func (m *Message) once() bool { return m.event == eventStart }

// header returns the header of the message's requests to a device or a channel.
func (m *Message) header(host, bearer, to, value string) *h2conn.Header {
	return h2conn.NewHeader(host, http.MethodPost, bearer, to, value,
		"apns-push-type", string(m.pushType),
		"apns-priority", m.priority,
		"apns-expiration", m.expiration,
		"apns-collapse-id", m.collapseID,
	)
}

// Terms are the terms of a message's delivery.
type Terms struct {
	Priority int       // apns2.PriorityHigh when zero; apns2.PriorityLow spares a Live Activity's budget
	Expires  time.Time // how long APNs stores it for a phone that is offline; zero for not at all
	Deadline time.Time // after which it is not sent any more; zero for none
}

// State is the content of a Live Activity.
type State struct {
	Terms
	Content   any       // the app's ContentState: anything that encodes to a JSON object
	Time      time.Time // of Content, in whole seconds: a phone ignores a state that is older than the one on its screen
	Stale     time.Time // when the phone marks Content as outdated; zero for never
	Relevance float64   // among the activities of an app
	Alert     *Banner   // lights the screen; may be nil
}

// Banner is the visible part of an alert. A key stands instead of the text.
type Banner struct {
	Title, Body       string
	TitleKey, BodyKey *Key
	Sound             string // a file in the app, or "default"; silent when empty
}

// Key is a text that the app translates: a key of its strings, and what fills the places of that string.
type Key struct {
	Key  string   `json:"loc-key"`
	Args []string `json:"loc-args,omitempty"`
}

// banner is a Banner in a Live Activity, where a title or body is a text or a Key. In a notification
// the keys are members of the alert.
type banner struct {
	Title any    `json:"title,omitempty"`
	Body  any    `json:"body,omitempty"`
	Sound string `json:"sound,omitzero"`
}

// nested returns b for a Live Activity, and nil for nil.
func (b *Banner) nested() *banner {
	if b == nil {
		return nil
	}

	out := banner{Title: b.Title, Body: b.Body, Sound: b.Sound}
	if b.TitleKey != nil {
		out.Title = b.TitleKey
	}

	if b.BodyKey != nil {
		out.Body = b.BodyKey
	}

	return &out
}

// Activity describes a Live Activity that a push starts.
type Activity struct {
	Type       string // name of the app's ActivityAttributes
	Attributes any    // encodes to a JSON object
	Channel    string // broadcast channel of its updates, which needs iOS 18; empty to update it with a push token of its own
}

// Alert is a notification.
type Alert struct {
	Terms
	Banner
	Collapse string // notifications with the same one replace each other; at most 64 bytes
	Thread   string // groups notifications
	Custom   map[string]any
}

const eventStart payload.ELiveActivityEvent = "start"

// activity is a Live Activity's aps dictionary. apns2's builder supports neither
// start nor channels, and accepts a content state only as a map.
type activity struct {
	Timestamp        int64                      `json:"timestamp"`
	Event            payload.ELiveActivityEvent `json:"event"`
	ContentState     any                        `json:"content-state"`
	StaleDate        int64                      `json:"stale-date,omitzero"`
	DismissalDate    int64                      `json:"dismissal-date,omitzero"`
	RelevanceScore   float64                    `json:"relevance-score,omitzero"`
	Alert            *banner                    `json:"alert,omitzero"`
	AttributesType   string                     `json:"attributes-type,omitzero"`
	Attributes       any                        `json:"attributes,omitzero"`
	InputPushChannel string                     `json:"input-push-channel,omitzero"`
	InputPushToken   int                        `json:"input-push-token,omitzero"`
}

// Update returns a message with a new state of a Live Activity. If it cannot be
// delivered in time it is Dropped, because the next one replaces it.
func Update(s State) (*Message, error) {
	return s.message(activity{Event: payload.LiveActivityEventUpdate})
}

// End returns a message with the last state of a Live Activity. The activity leaves the lock
// screen at dismiss, or after the system's four hours if dismiss is zero.
func End(s State, dismiss time.Time) (*Message, error) {
	return s.message(activity{Event: payload.LiveActivityEventEnd, DismissalDate: unix(dismiss)})
}

// Begin returns a message that starts a Live Activity. It is sent to push-to-start
// tokens, and s must have an Alert.
func Begin(a Activity, s State) (*Message, error) {
	if a.Type == "" || a.Attributes == nil || s.Alert == nil {
		return nil, errors.New("push: Begin needs a type, attributes and an alert")
	}

	out := activity{Event: eventStart, AttributesType: a.Type, Attributes: a.Attributes, InputPushChannel: a.Channel}
	if a.Channel == "" {
		out.InputPushToken = 1
	}

	return s.message(out)
}

func (s State) message(a activity) (*Message, error) {
	if s.Time.IsZero() || s.Content == nil {
		return nil, errors.New("push: a Live Activity needs a time and a content state")
	}

	a.Timestamp, a.ContentState, a.StaleDate = s.Time.Unix(), s.Content, unix(s.Stale)
	a.RelevanceScore, a.Alert = s.Relevance, s.Alert.nested()

	body, err := json.Marshal(map[string]activity{"aps": a}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("push: encode a Live Activity: %w", err)
	}

	return s.prepare(&Message{body: body, pushType: apns2.PushTypeLiveActivity, event: a.Event})
}

// Notify returns a message with a notification.
func Notify(a Alert) (*Message, error) {
	if len(a.Collapse) > maxCollapseID {
		return nil, fmt.Errorf("push: a collapse id has at most %d bytes", maxCollapseID)
	}

	p := payload.NewPayload()

	switch {
	case a.TitleKey != nil:
		p.AlertTitleLocKey(a.TitleKey.Key).AlertTitleLocArgs(a.TitleKey.Args)
	case a.Title != "":
		p.AlertTitle(a.Title)
	}

	switch {
	case a.BodyKey != nil:
		p.AlertLocKey(a.BodyKey.Key).AlertLocArgs(a.BodyKey.Args)
	case a.Body != "":
		p.AlertBody(a.Body)
	}

	if a.Sound != "" {
		p.Sound(a.Sound)
	}

	if a.Thread != "" {
		p.ThreadID(a.Thread)
	}

	for key, value := range a.Custom {
		p.Custom(key, value)
	}

	body, err := p.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("push: encode an alert: %w", err)
	}

	return a.prepare(&Message{body: body, pushType: apns2.PushTypeAlert, collapseID: a.Collapse})
}

func (t Terms) prepare(m *Message) (*Message, error) {
	if len(m.body) > MaxPayload {
		return nil, fmt.Errorf("%w: %d bytes of %d", ErrTooLarge, len(m.body), MaxPayload)
	}

	m.priority = strconv.Itoa(cmp.Or(t.Priority, apns2.PriorityHigh))
	m.expiration = strconv.FormatInt(unix(t.Expires), 10)
	m.deadline = t.Deadline

	return m, nil
}

// unix returns epoch seconds, or 0 for the zero time.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}

	return t.Unix()
}

// MarshalJSON returns the payload.
func (m *Message) MarshalJSON() ([]byte, error) { return m.body, nil }
