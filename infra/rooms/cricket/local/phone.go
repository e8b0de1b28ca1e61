package local

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"matchday/infra/sim/apns"
	"matchday/pkg/cricket/follower"
)

// Phone is a simulated iPhone that follows a match, or an Android phone.
type Phone struct {
	Owner   string `json:"owner"`
	MatchID string `json:"matchId"`
	TeamID  string `json:"teamId,omitempty"` // the team that the owner supports; "" for none
	Token   string `json:"-"`                // push token of the activity; "" for a phone that starts none
	Device  string `json:"-"`                // APNs or FCM token of the phone, for notifications
	Starter string `json:"-"`                // push-to-start token; "" if no push may start an activity

	OS            string `json:"os"`                // version of iOS or Android
	Android       bool   `json:"android,omitempty"` // its app subscribes to the topic of the match
	Listens       bool   `json:"listens,omitempty"` // its activity listens to the broadcast channel of the match; iOS 18 or later
	KeyEventsOnly bool   `json:"keyEventsOnly,omitempty"`
	SpoilerFree   bool   `json:"spoilerFree,omitempty"`
}

// NewPhone returns the phone of owner: iOS 17, with a Live Activity that has a push
// token. Its tokens are hashes of its names.
func NewPhone(owner, matchID, teamID string) Phone {
	return Phone{
		Owner:   owner,
		MatchID: matchID,
		TeamID:  teamID,
		Token:   token(owner + "/" + matchID),
		Device:  token(owner),
		OS:      "17.6",
	}
}

// NewStarter returns a phone of owner on which a push starts the Live Activity at the start
// of the match.
func NewStarter(owner, matchID, teamID string) Phone {
	p := NewPhone(owner, matchID, teamID)
	p.Token, p.Starter = "", token("start "+owner)

	return p
}

func token(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// Enroll makes the API calls that the phone's app makes before a match: it registers
// the phone, saves the owner's preferences, follows the match and starts a Live
// Activity, or waits for the push that starts it.
func (w *World) Enroll(ctx context.Context, p Phone) error {
	device := map[string]any{
		"deviceToken":           p.Device,
		"platform":              "ios",
		"osVersion":             p.OS,
		"environment":           "sandbox",
		"frequentPushesEnabled": true,
	}
	if p.Android {
		w.Google.Install(p.Device)

		device = map[string]any{"deviceToken": p.Device, "platform": "android", "osVersion": p.OS}
	}

	if err := w.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/device", device, nil); err != nil {
		return err
	}

	var prefers follower.Preferences
	if err := w.Call(ctx, p.Owner, http.MethodGet, "/cricket/user/preferences", nil, &prefers); err != nil {
		return err
	}

	prefers.KeyEventsOnly, prefers.SpoilerFree = p.KeyEventsOnly, p.SpoilerFree
	if err := w.Call(ctx, p.Owner, http.MethodPut, "/cricket/user/preferences", prefers, nil); err != nil {
		return err
	}

	if err := w.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/follow/"+p.MatchID, p.fan(), nil); err != nil {
		return err
	}

	switch {
	case p.Android:
		return w.Subscribe(ctx, p)
	case p.Starter != "":
		w.mu.Lock()
		w.starters[p.Starter] = p
		w.mu.Unlock()

		start := map[string]string{"deviceToken": p.Device, "pushToStartToken": p.Starter}

		return w.Call(ctx, p.Owner, http.MethodPut, "/cricket/user/device/push-to-start", start, nil)
	case p.Listens:
		return w.Listen(ctx, p)
	case p.Token != "":
		return w.Register(ctx, p)
	}

	return nil
}

// fan returns the request body with the team that the owner supports.
func (p Phone) fan() map[string]string {
	if p.TeamID == "" {
		return map[string]string{}
	}

	return map[string]string{"teamId": p.TeamID}
}

// Register starts the phone's activity by the API, as its app does.
func (w *World) Register(ctx context.Context, p Phone) error {
	body := p.fan()
	body["pushToken"] = p.Token
	_, err := w.start(ctx, p, body)

	return err
}

// answer is the answer to a request that starts an activity.
type answer struct {
	Channel string
	Current *struct {
		At      time.Time
		Display json.RawMessage
	}
}

// start starts the phone's activity by the API, and shows the state in the answer.
func (w *World) start(ctx context.Context, p Phone, body map[string]string) (out answer, err error) {
	err = w.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/activity/"+p.MatchID, body, &out)
	if err == nil && out.Current != nil {
		w.Phones.Show(p.Token, out.Current.Display, out.Current.At)
	}

	return out, err
}

// Listen starts the phone's activity by the API, and subscribes it to the broadcast channel
// in the answer, as an app on iOS 18 does.
func (w *World) Listen(ctx context.Context, p Phone) error {
	out, err := w.start(ctx, p, p.fan())
	if err != nil {
		return err
	}

	if !w.Phones.Subscribe(p.Token, out.Channel) {
		return fmt.Errorf("match %s has the channel %q, which Apple does not know", p.MatchID, out.Channel)
	}

	return nil
}

// started registers an activity that a push started, of the match in its attributes, unless it has a channel.
func (w *World) started(ctx context.Context, a apns.Start) {
	var of struct{ MatchID string }

	_ = json.Unmarshal(a.Attributes, &of) // without a match it is that of the phone

	w.mu.Lock()
	p, ok := w.starters[a.Token]

	p.Token, p.MatchID = a.Update, cmp.Or(of.MatchID, p.MatchID)
	if ok {
		w.starters[a.Token] = p
	}
	w.mu.Unlock()

	if ok && a.Channel == "" {
		_ = w.Register(ctx, p) // if the app fails here, the phone keeps showing the first state
	}
}

// Activity returns the push token of the phone's Live Activity, or "" if it has none.
func (w *World) Activity(p Phone) string {
	if p.Starter == "" {
		return p.Token
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	return w.starters[p.Starter].Token
}

// Shows returns the phone's Live Activity, and false if it has none.
func (w *World) Shows(p Phone) (apns.Device, bool) { return w.Phones.Device(w.Activity(p)) }

// Alerts returns the notifications on the phone, latest last, including those that came with
// its activity.
func (w *World) Alerts(p Phone) (all []apns.Alert) {
	for _, token := range []string{p.Device, p.Starter, w.Activity(p)} {
		d, _ := w.Phones.Device(token)
		all = append(all, d.Alerts...)
	}

	slices.SortStableFunc(all, func(a, b apns.Alert) int { return a.Time.Compare(b.Time) })

	return all
}
