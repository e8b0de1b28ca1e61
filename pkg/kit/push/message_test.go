package push

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sideshow/apns2"

	"matchday/pkg/spec"
)

// TestPayloads: what a phone gets of each kind of message, and the headers that say how.
func TestPayloads(t *testing.T) {
	t.Parallel()

	type sent struct{ Body, Type, Priority, Expiration, Collapse, Event string }

	content := map[string]int{"n": 1}
	full := State{
		Content:   content,
		Time:      start,
		Stale:     start.Add(time.Minute),
		Relevance: 0.5,
		Alert:     &Banner{Title: "WICKET", Body: "Smith", Sound: "default"},
		Terms:     Terms{Priority: apns2.PriorityLow, Expires: start.Add(time.Hour)},
	}
	match := Activity{Type: "Match", Attributes: map[string]int{"id": 5}}
	listening := match
	listening.Channel = "c1"

	const live = "liveactivity"
	for name, c := range map[string]struct {
		message func() (*Message, error)
		want    sent
	}{
		"an update": {func() (*Message, error) { return Update(State{Content: content, Time: start}) },
			sent{`{"aps":{"timestamp":1780317000,"event":"update","content-state":{"n":1}}}`, live, "10", "0", "", "update"}},
		"an update with all": {func() (*Message, error) { return Update(full) },
			sent{`{"aps":{"timestamp":1780317000,"event":"update","content-state":{"n":1},"stale-date":1780317060,"relevance-score":0.5,"alert":{"title":"WICKET","body":"Smith","sound":"default"}}}`, live, "5", "1780320600", "", "update"}},
		"an end": {func() (*Message, error) { return End(State{Content: content, Time: start}, time.Time{}) },
			sent{`{"aps":{"timestamp":1780317000,"event":"end","content-state":{"n":1}}}`, live, "10", "0", "", "end"}},
		"an end that dismisses": {func() (*Message, error) { return End(State{Content: content, Time: start}, start.Add(time.Minute)) },
			sent{`{"aps":{"timestamp":1780317000,"event":"end","content-state":{"n":1},"dismissal-date":1780317060}}`, live, "10", "0", "", "end"}},
		"a start with a token": {func() (*Message, error) {
			return Begin(match, State{Content: content, Time: start, Alert: &Banner{Title: "Toss"}})
		},
			sent{`{"aps":{"timestamp":1780317000,"event":"start","content-state":{"n":1},"alert":{"title":"Toss"},"attributes-type":"Match","attributes":{"id":5},"input-push-token":1}}`, live, "10", "0", "", "start"}},
		"a start with a channel": {func() (*Message, error) {
			return Begin(listening, State{Content: content, Time: start, Alert: &Banner{Title: "Toss"}})
		},
			sent{`{"aps":{"timestamp":1780317000,"event":"start","content-state":{"n":1},"alert":{"title":"Toss"},"attributes-type":"Match","attributes":{"id":5},"input-push-channel":"c1"}}`, live, "10", "0", "", "start"}},
		"an alert with keys": {func() (*Message, error) {
			return Notify(Alert{Banner: Banner{
				TitleKey: &Key{Key: "Wicket! %@", Args: []string{"Home 1/1"}}, BodyKey: &Key{Key: "Play stopped"}, Title: "x", Body: "x",
			}})
		},
			sent{`{"aps":{"alert":{"loc-key":"Play stopped","title-loc-args":["Home 1/1"],"title-loc-key":"Wicket! %@"}}}`, "alert", "10", "0", "", ""}},
		"a start with keys": {func() (*Message, error) {
			return Begin(match, State{Content: content, Time: start, Alert: &Banner{
				TitleKey: &Key{Key: "Wicket! %@", Args: []string{"Home 1/1"}}, Body: "Smith",
			}})
		},
			sent{`{"aps":{"timestamp":1780317000,"event":"start","content-state":{"n":1},"alert":{"title":{"loc-key":"Wicket! %@","loc-args":["Home 1/1"]},"body":"Smith"},"attributes-type":"Match","attributes":{"id":5},"input-push-token":1}}`, live, "10", "0", "", "start"}},
		"an alert": {func() (*Message, error) {
			return Notify(Alert{
				Banner:   Banner{Title: "WICKET", Body: "Smith", Sound: "default"},
				Collapse: "m1/w3",
				Thread:   "m1",
				Custom:   map[string]any{"match": "900001"},
			})
		},
			sent{`{"aps":{"alert":{"body":"Smith","title":"WICKET"},"sound":"default","thread-id":"m1"},"match":"900001"}`,
				"alert", "10", "0", "m1/w3", ""}},
		"an alert with a title": {func() (*Message, error) { return Notify(Alert{Banner: Banner{Title: "WICKET"}}) },
			sent{`{"aps":{"alert":{"title":"WICKET"}}}`, "alert", "10", "0", "", ""}},
		"an alert with a text": {func() (*Message, error) { return Notify(Alert{Banner: Banner{Body: "Smith"}}) },
			sent{`{"aps":{"alert":{"body":"Smith"}}}`, "alert", "10", "0", "", ""}},
	} {
		m, err := c.message()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}

		if diff := cmp.Diff(c.want, sent{string(m.body), string(m.pushType), m.priority, m.expiration, m.collapseID,
			string(m.event)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}

		if m.Bytes() != len(c.want.Body) {
			t.Errorf("%s has %d bytes, want %d", name, m.Bytes(), len(c.want.Body))
		}
	}
}

// TestMessagesThatAreNone: a message that cannot be encoded, is incomplete or too large is
// refused; one of the greatest size is not.
func TestMessagesThatAreNone(t *testing.T) {
	t.Parallel()

	noJSON, banner := func() {}, &Banner{Title: "Toss"}
	state := State{Content: struct{}{}, Time: start, Alert: banner}
	sized := func(n int) (*Message, error) { // {"aps":{"alert":{"body":"…"}}}
		return Notify(Alert{Banner: Banner{Body: strings.Repeat("x", n-29)}})
	}
	activity := Activity{Type: "Match", Attributes: struct{}{}}

	for name, c := range map[string]struct {
		message func() (*Message, error)
		want    string // the beginning of the error
	}{
		"a state that is no JSON": {func() (*Message, error) { return Update(State{Content: noJSON, Time: start}) },
			"push: encode a Live Activity: "},
		"an alert that is no JSON": {func() (*Message, error) { return Notify(Alert{Custom: map[string]any{"x": noJSON}}) },
			"push: encode an alert: "},
		"no time": {func() (*Message, error) { return Update(State{Content: struct{}{}}) },
			"push: a Live Activity needs a time and a content state"},
		"no content": {func() (*Message, error) { return Update(State{Time: start}) },
			"push: a Live Activity needs a time and a content state"},
		"a start without a type": {func() (*Message, error) { return Begin(Activity{Attributes: struct{}{}}, state) },
			"push: Begin needs a type, attributes and an alert"},
		"a start without attributes": {func() (*Message, error) { return Begin(Activity{Type: "Match"}, state) },
			"push: Begin needs a type, attributes and an alert"},
		"a start without an alert": {func() (*Message, error) { return Begin(activity, State{Content: struct{}{}, Time: start}) },
			"push: Begin needs a type, attributes and an alert"},
		"a collapse id of 65 bytes": {func() (*Message, error) { return Notify(Alert{Collapse: strings.Repeat("x", 65)}) },
			"push: a collapse id has at most 64 bytes"},
		"a collapse id of 64 bytes":     {func() (*Message, error) { return Notify(Alert{Collapse: strings.Repeat("x", 64)}) }, ""},
		"a payload of MaxPayload":       {func() (*Message, error) { return sized(4096) }, ""},
		"a payload of MaxPayload and 1": {func() (*Message, error) { return sized(4097) }, "push: the payload is too large: 4097 bytes of 4096"},
	} {
		m, err := c.message()
		if (m == nil) != (c.want != "") || (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestTokensOfDevices: what a request may hold for a token and for its id, and what is stored.
func TestTokensOfDevices(t *testing.T) {
	t.Parallel()

	token := Token("AB" + strings.Repeat("0c", 31))
	if got, want := token.Lower(), "ab"+strings.Repeat("0c", 31); got != want {
		t.Errorf("stored as %s, want %s", got, want)
	}
	// The SHA-256 of the lower case, in base64url without padding.
	if got, want := token.ID(), TokenID("_cFyrt4VCRT7vO4TgshMgS-ES-1Jl0lTj2OtBVljcFs"); got != want ||
		token.ID() != Token(token.Lower()).ID() {
		t.Errorf("the id is %s, want %s", got, want)
	}

	s, id := token.Schema(nil), token.ID().Schema(nil)

	type rule struct {
		Type, Pattern string
		Min, Max      int
		Example       any
	}
	if diff := cmp.Diff(rule{"string", "^([0-9a-fA-F]{2})+$", 32, 200, strings.Repeat("0a1b2c3d", 8)},
		rule{s.Type, s.Pattern, *s.MinLength, *s.MaxLength, s.Examples[0]}); diff != "" {
		t.Errorf("token (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(rule{Type: "string", Pattern: "^[A-Za-z0-9_-]{43}$"}, rule{Type: id.Type, Pattern: id.Pattern}); diff != "" {
		t.Errorf("id (-want +got):\n%s", diff)
	}

	if KeepDevice != 90*24*time.Hour {
		t.Errorf("a registration lasts %v, want 90 days", KeepDevice)
	}
}

// TestSettingsOfARoom are what the operator of a room that pushes enters.
func TestSettingsOfARoom(t *testing.T) {
	t.Parallel()

	want := []spec.Setting{
		{
			Name:   "APNS_URL",
			Secret: "KEY",
			Does:   "Apple's host, by which app builds get pushes",
			Like:   `https://api\.(sandbox\.)?push\.apple\.com`,
			Trial:  "https://api.sandbox.push.apple.com",
		},
		{
			Name: "APNS_TEAM_ID", Secret: "KEY", Does: "the id of the Apple developer team",
			Like: `[A-Z0-9]{10}`, Example: "TEAM123456", Required: true,
		},
		{
			Name: "APNS_KEY_ID", Secret: "KEY", Does: "the id of the key that signs pushes",
			Like: `[A-Z0-9]{10}`, Example: "KEY1234567", Required: true,
		},
		{
			Name: "BUNDLE", Secret: "KEY", Does: "the app's bundle id",
			Like: `[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`, Example: "com.example.app", Required: true,
		},
	}
	if diff := cmp.Diff(want, Settings("KEY", "BUNDLE", "the app's bundle id")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestResultsHaveNames, by which they are logged and counted.
func TestResultsHaveNames(t *testing.T) {
	t.Parallel()

	for r, want := range map[Result]string{Delivered: "delivered", Unregistered: "unregistered", Dropped: "dropped", Requeue: "requeue"} {
		if got := r.String(); got != want {
			t.Errorf("%d is %q, want %q", r, got, want)
		}
	}
}
