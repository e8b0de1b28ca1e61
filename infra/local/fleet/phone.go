package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/cognito"
	"matchday/pkg/cricket"
	"matchday/pkg/kit/auth"
)

// Phone is a simulated iPhone that follows a match.
type Phone struct {
	Owner   string `json:"owner"`
	MatchID string `json:"matchId"`
	TeamID  string `json:"teamId,omitempty"` // whose fan; "" for neither's
	Token   string `json:"-"`                // the activity's; "" for a phone that starts none
	Device  string `json:"-"`                // the phone's, for notifications
	Starter string `json:"-"`                // push-to-start token; "" for a phone whose activity no push may start

	OS            string `json:"os"`                // version of iOS
	Listens       bool   `json:"listens,omitempty"` // its activity takes the match's broadcast channel, from iOS 18 on
	KeyEventsOnly bool   `json:"keyEventsOnly,omitempty"`
	SpoilerFree   bool   `json:"spoilerFree,omitempty"`
}

// NewPhone is the phone of owner, an iOS 17 with an activity that is pushed to.
// Its tokens follow from its names.
func NewPhone(owner, matchID, teamID string) Phone {
	return Phone{Owner: owner, MatchID: matchID, TeamID: teamID, Token: token(owner + "/" + matchID), Device: token(owner), OS: "17.6"}
}

// NewStarter is the phone of owner, whose activity the start of the match starts.
func NewStarter(owner, matchID, teamID string) Phone {
	p := NewPhone(owner, matchID, teamID)
	p.Token, p.Starter = "", token("start "+owner)
	return p
}

func token(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// Enroll has the phone do by the API what its app does before a match: it
// registers, states what its owner prefers, follows the match and starts its
// activity, or waits for the push that does.
func (f *Fleet) Enroll(ctx context.Context, p Phone) error {
	device := map[string]any{"deviceToken": p.Device, "platform": "ios", "osVersion": p.OS, "environment": "sandbox", "frequentPushesEnabled": true}
	if err := f.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/device", device, nil); err != nil {
		return err
	}
	var prefers cricket.Preferences
	if err := f.Call(ctx, p.Owner, http.MethodGet, "/cricket/user/preferences", nil, &prefers); err != nil {
		return err
	}
	prefers.KeyEventsOnly, prefers.SpoilerFree = p.KeyEventsOnly, p.SpoilerFree
	if err := f.Call(ctx, p.Owner, http.MethodPut, "/cricket/user/preferences", prefers, nil); err != nil {
		return err
	}
	if err := f.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/follow/"+p.MatchID, p.fan(), nil); err != nil {
		return err
	}
	switch {
	case p.Starter != "":
		f.mu.Lock()
		f.starters[p.Starter] = p
		f.mu.Unlock()
		start := map[string]string{"deviceToken": p.Device, "pushToStartToken": p.Starter}
		return f.Call(ctx, p.Owner, http.MethodPut, "/cricket/user/device/push-to-start", start, nil)
	case p.Listens:
		return f.Listen(ctx, p)
	case p.Token != "":
		return f.Register(ctx, p)
	}
	return nil
}

// fan is the body that says whose fan the owner is.
func (p Phone) fan() map[string]string {
	if p.TeamID == "" {
		return map[string]string{}
	}
	return map[string]string{"teamId": p.TeamID}
}

// Register starts the phone's activity by the API, as its app does.
func (f *Fleet) Register(ctx context.Context, p Phone) error {
	body := p.fan()
	body["pushToken"] = p.Token
	return f.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/activity/"+p.MatchID, body, nil)
}

// Listen starts the phone's activity by the API and has it listen to the
// broadcast channel that the answer names, as an app on iOS 18 does.
func (f *Fleet) Listen(ctx context.Context, p Phone) error {
	var out struct{ Channel string }
	if err := f.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/activity/"+p.MatchID, p.fan(), &out); err != nil {
		return err
	}
	if !f.Phones.Subscribe(p.Token, out.Channel) {
		return fmt.Errorf("match %s has the channel %q, which Apple does not know", p.MatchID, out.Channel)
	}
	return nil
}

// started registers an activity that a push started, unless it has a channel.
func (f *Fleet) started(ctx context.Context, a apns.Start) {
	f.mu.Lock()
	p, ok := f.starters[a.Token]
	p.Token = a.Update
	if ok {
		f.starters[a.Token] = p
	}
	f.mu.Unlock()
	if ok && a.Channel == "" {
		_ = f.Register(ctx, p) // a phone whose app fails here shows what it was started with
	}
}

// Activity is the token of the phone's activity, and "" while it has none.
func (f *Fleet) Activity(p Phone) string {
	if p.Starter == "" {
		return p.Token
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.starters[p.Starter].Token
}

// Shows is the phone's activity.
func (f *Fleet) Shows(p Phone) (apns.Device, bool) { return f.Phones.Device(f.Activity(p)) }

// Alerts are the notifications on the phone, the latest last: those sent to it,
// and those that came with its activity.
func (f *Fleet) Alerts(p Phone) (all []apns.Alert) {
	for _, token := range []string{p.Device, p.Starter, f.Activity(p)} {
		d, _ := f.Phones.Device(token)
		all = append(all, d.Alerts...)
	}
	slices.SortStableFunc(all, func(a, b apns.Alert) int { return a.Time.Compare(b.Time) })
	return all
}

// signedIn is a user's access token, and until when it is used.
type signedIn struct {
	token string
	until time.Time
}

// bearer is the user's access token. A signature takes longer than most calls,
// so that one is used for half its life.
func (f *Fleet) bearer(user string) (string, error) {
	now := f.Clock.Now()
	f.mu.Lock()
	s := f.signed[user]
	f.mu.Unlock()
	if now.Before(s.until) {
		return s.token, nil
	}
	var groups []string
	if user == Administrator {
		groups = []string{auth.AdminGroup}
	}
	token, err := f.Token(user, groups...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signed[user] = signedIn{token, now.Add(cognito.TTL / 2)}
	return token, err
}

// Administrator is a user whom Call signs in as an administrator.
const Administrator = "root"

// Refusal is an answer over 299.
type Refusal struct {
	Request string // method and path
	Status  int
	Body    []byte
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", r.Request, r.Status, http.StatusText(r.Status), r.Body)
}

// Call calls the API as user, or as nobody when user is "", with in as its body
// if it is not nil, and decodes the answer into out if that is not nil. An answer
// over 299 is a Refusal.
func (f *Fleet) Call(ctx context.Context, user, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, f.URL+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if user != "" {
		token, err := f.bearer(user)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := f.api.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode > 299 {
		return &Refusal{method + " " + path, answer.StatusCode, text}
	}
	if out != nil {
		return json.Unmarshal(text, out)
	}
	return nil
}
