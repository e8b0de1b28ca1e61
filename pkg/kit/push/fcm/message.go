package fcm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sideshow/apns2"

	"matchday/pkg/kit/push"
)

// Google's limits of what a message carries, in bytes.
const (
	MaxPayload = 4096 // to a phone
	MaxTopic   = 2048 // to a topic
)

// ErrTooLarge reports a message above the limit.
var ErrTooLarge = errors.New("fcm: the message is too large")

// Message is a message, encoded once for any number of phones or topics. It is immutable, and may be
// sent concurrently.
type Message struct {
	head     []byte // all of the request but its recipient
	bytes    int    // that count against Google's limits
	deadline time.Time
	fleeting bool
}

// Bytes returns how much of Google's limits the message takes.
func (m *Message) Bytes() int { return m.bytes }

// request returns the body of a request to a recipient, whose kind is token or topic. It needs no
// escapes: see isToken and isTopic.
func (m *Message) request(kind, to string) []byte {
	body := make([]byte, 0, len(m.head)+len(kind)+len(to)+8)
	body = append(body, m.head...)
	body = append(body, `"`...)
	body = append(body, kind...)
	body = append(body, `":"`...)
	body = append(body, to...)

	return append(body, `"}}`...)
}

// android is the part of a message that is for Android.
type android struct {
	Priority     string        `json:"priority"`
	TTL          string        `json:"ttl"`
	Notification *notification `json:"notification,omitempty"`
}

// notification is what the system shows while the app is not in front.
type notification struct {
	Title        string   `json:"title,omitempty"`
	TitleLocKey  string   `json:"title_loc_key,omitempty"`
	TitleLocArgs []string `json:"title_loc_args,omitempty"`
	Body         string   `json:"body,omitempty"`
	BodyLocKey   string   `json:"body_loc_key,omitempty"`
	BodyLocArgs  []string `json:"body_loc_args,omitempty"`
	Sound        string   `json:"sound,omitempty"`
	Tag          string   `json:"tag,omitempty"`
	ChannelID    string   `json:"channel_id,omitempty"`
}

// Data returns a message that only the app reads, in the foreground or not: a state of which the next
// one replaces a lost one. If it cannot be delivered at once it is Dropped. It has no collapse key,
// because Google holds back messages that have one: after 20, one in three minutes.
func Data(now time.Time, t push.Terms, data map[string]string) (*Message, error) {
	m, err := encode(now, t, data, nil)
	if err == nil {
		m.fleeting = true
	}

	return m, err
}

// Notify returns a message with a notification, which the system shows by itself while the app is not
// in front. The collapse id of the alert becomes its tag: one with the same tag replaces it. Keys of
// texts become names of Android's resources: lower case, with _ for what those do not allow.
func Notify(now time.Time, a push.Alert) (*Message, error) {
	n := notification{Title: a.Title, Body: a.Body, Sound: a.Sound, Tag: a.Collapse, ChannelID: a.Thread}
	if a.TitleKey != nil {
		n.Title, n.TitleLocKey, n.TitleLocArgs = "", Resource(a.TitleKey.Key), a.TitleKey.Args
	}

	if a.BodyKey != nil {
		n.Body, n.BodyLocKey, n.BodyLocArgs = "", Resource(a.BodyKey.Key), a.BodyKey.Args
	}

	data := make(map[string]string, len(a.Custom))
	for key, value := range a.Custom {
		text, ok := value.(string)
		if !ok {
			raw, err := json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("fcm: encode %s: %w", key, err)
			}

			text = string(raw)
		}

		data[key] = text
	}

	return encode(now, a.Terms, data, &n)
}

// encode returns a message. Google counts keys and values of the data, and the fields of the
// notification.
func encode(now time.Time, t push.Terms, data map[string]string, n *notification) (*Message, error) {
	a := android{Priority: "HIGH", TTL: "0s", Notification: n}
	if t.Priority == apns2.PriorityLow {
		a.Priority = "NORMAL"
	}

	if lasts := t.Expires.Sub(now); !t.Expires.IsZero() && lasts > 0 {
		a.TTL = strconv.FormatInt(int64(min(lasts, maxTTL).Seconds()), 10) + "s"
	}

	size := 0

	for _, key := range slices.Sorted(maps.Keys(data)) {
		if reserved(key) {
			return nil, fmt.Errorf("fcm: the key %q is Google's own", key)
		}

		size += len(key) + len(data[key])
	}

	if n != nil {
		raw, err := json.Marshal(n)
		if err != nil {
			return nil, fmt.Errorf("fcm: encode a notification: %w", err)
		}

		size += len(raw)
	}

	if size > MaxPayload {
		return nil, fmt.Errorf("%w: %d bytes of %d", ErrTooLarge, size, MaxPayload)
	}

	raw, err := json.Marshal(struct {
		Android android           `json:"android"`
		Data    map[string]string `json:"data,omitempty"`
	}{a, data})
	if err != nil {
		return nil, fmt.Errorf("fcm: encode a message: %w", err)
	}

	head := append([]byte(`{"message":`), raw[:len(raw)-1]...)

	return &Message{head: append(head, ','), bytes: size, deadline: t.Deadline}, nil
}

// maxTTL is Google's longest time for which a message is kept for a phone that is offline.
const maxTTL = 28 * 24 * time.Hour

// reserved reports whether a key of the data is Google's own.
func reserved(key string) bool {
	return key == "from" || key == "message_type" || strings.HasPrefix(key, "google.") || strings.HasPrefix(key, "gcm.notification.")
}

// Resource returns the name of the Android string that a key of an iPhone's texts has.
func Resource(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}

		return '_'
	}, key)
}
