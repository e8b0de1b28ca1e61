package apns

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/sideshow/apns2"
)

// payload is a push's body. It is shared by every device that got the same one.
type payload struct {
	body     []byte
	activity bool
	alert    *Alert

	APS struct {
		Timestamp        int64          `json:"timestamp"`
		Event            string         `json:"event"`
		ContentState     jsontext.Value `json:"content-state"`
		StaleDate        int64          `json:"stale-date"`
		DismissalDate    *int64         `json:"dismissal-date"`
		AttributesType   string         `json:"attributes-type"`
		Attributes       jsontext.Value `json:"attributes"`
		InputPushChannel string         `json:"input-push-channel"`
		Alert            jsontext.Value `json:"alert"`
		Sound            jsontext.Value `json:"sound"`
	} `json:"aps"`
}

// payloadKey identifies a valid payload.
type payloadKey struct {
	body     string
	activity bool
}

// maxPayloads bounds the payloads that are cached.
const maxPayloads = 1024

const reasonBadPayload = "BadPayload"

func badPayload(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, reason: reasonBadPayload, detail: fmt.Sprintf(format, args...)}
}

// parse decodes and checks a payload. It caches valid ones, because senders send one body to many
// devices, and bodies of several matches and perspectives at the same time.
func (s *Server) parse(body []byte, activity bool) (*payload, *refusal) {
	s.payloadsMu.RLock()
	known := s.payloads[payloadKey{string(body), activity}]
	s.payloadsMu.RUnlock()

	if known != nil {
		return known, nil
	}

	if len(body) == 0 {
		return nil, refuse(http.StatusBadRequest, apns2.ReasonPayloadEmpty)
	}

	p := &payload{body: bytes.Clone(body), activity: activity}
	if err := json.Unmarshal(p.body, p); err != nil {
		return nil, badPayload("the payload is invalid: %v", err)
	}

	if no := p.readAlert(); no != nil {
		return nil, no
	}

	if activity {
		if no := p.checkActivity(s.ContentState, s.Attributes); no != nil {
			return p, no
		}
	}

	s.payloadsMu.Lock()
	defer s.payloadsMu.Unlock()

	if len(s.payloads) == maxPayloads {
		clear(s.payloads)
	}

	s.payloads[payloadKey{string(p.body), activity}] = p

	return p, nil
}

// readAlert reads aps.alert, which is a string or an object.
func (p *payload) readAlert() *refusal {
	if len(p.APS.Alert) == 0 {
		return nil
	}

	var (
		a   Alert
		err error
	)
	if p.APS.Alert.Kind() == '"' {
		err = json.Unmarshal(p.APS.Alert, &a.Body)
	} else {
		err = a.read(p.APS.Alert)
	}

	if err != nil {
		return badPayload("aps.alert is invalid: %v", err)
	}

	if p.APS.Sound.Kind() == '"' {
		if err := json.Unmarshal(p.APS.Sound, &a.Sound); err != nil {
			return badPayload("aps.sound is invalid: %v", err)
		}
	}

	a.Payload = p.body
	p.alert = &a

	return nil
}

// key is a text that the app translates.
type key struct {
	Key  string   `json:"loc-key"`
	Args []string `json:"loc-args"`
}

// text returns what an app shows that has the key as its text: the places in order are filled.
func (k key) text() string {
	text := k.Key
	for _, arg := range k.Args {
		text = strings.Replace(text, "%@", arg, 1)
	}

	return text
}

// read reads an alert whose title and body are texts or keys: members of the alert in a notification,
// and of the title and the body in a Live Activity.
func (a *Alert) read(v jsontext.Value) error {
	var w struct {
		key
		Title     jsontext.Value `json:"title"`
		TitleKey  string         `json:"title-loc-key"`
		TitleArgs []string       `json:"title-loc-args"`
		Subtitle  string         `json:"subtitle"`
		Body      jsontext.Value `json:"body"`
		Sound     string         `json:"sound"`
	}
	if err := json.Unmarshal(v, &w); err != nil {
		return err
	}

	a.Title, a.Subtitle, a.Body, a.Sound = key{w.TitleKey, w.TitleArgs}.text(), w.Subtitle, w.text(), w.Sound

	for into, from := range map[*string]jsontext.Value{&a.Title: w.Title, &a.Body: w.Body} {
		switch {
		case len(from) == 0 || from.Kind() == 'n':
		case from.Kind() == '{':
			var k key
			if err := json.Unmarshal(from, &k); err != nil {
				return err
			}

			*into = k.text()
		default:
			if err := json.Unmarshal(from, into); err != nil {
				return err
			}
		}
	}

	return nil
}

// checkActivity checks a Live Activity's payload as ActivityKit would.
func (p *payload) checkActivity(decode, attributes func([]byte) error) *refusal {
	a := &p.APS
	if a.Timestamp <= 0 {
		return badPayload("aps.timestamp is missing")
	}

	switch a.Event {
	case "start":
		if a.AttributesType == "" || a.Attributes.Kind() != '{' || p.alert == nil {
			return badPayload("the event start requires attributes-type, attributes and alert")
		}

		if attributes != nil {
			if err := attributes(a.Attributes); err != nil {
				return badPayload("the app cannot decode attributes: %v", err)
			}
		}
	case "update", "end":
	default:
		return badPayload("aps.event is %q", a.Event)
	}

	if a.DismissalDate != nil && a.Event != "end" {
		return badPayload("dismissal-date is allowed only with the event end")
	}

	if a.ContentState.Kind() != '{' {
		return badPayload("aps.content-state is missing")
	}

	if decode != nil {
		if err := decode(a.ContentState); err != nil {
			return badPayload("the app cannot decode content-state: %v", err)
		}
	}

	return nil
}

// unix is the time of seconds since 1970, and zero for 0.
func unix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}

	return time.Unix(seconds, 0).UTC()
}
