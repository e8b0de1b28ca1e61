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
	"time"

	"matchday/infra/local/apns"
	"matchday/infra/local/identity"
)

// Phone is a simulated iPhone with a Live Activity of one match.
type Phone struct {
	Owner   string `json:"owner"`
	MatchID string `json:"matchId"`
	TeamID  string `json:"teamId,omitempty"` // whose fan; "" for neither's
	Token   string `json:"-"`                // the activity's
}

// NewPhone is the phone of owner, whose activity's token follows from its names.
func NewPhone(owner, matchID, teamID string) Phone {
	sum := sha256.Sum256([]byte(owner + "/" + matchID))
	return Phone{Owner: owner, MatchID: matchID, TeamID: teamID, Token: hex.EncodeToString(sum[:])}
}

// Register starts the phone's activity by the API, as its app does.
func (f *Fleet) Register(ctx context.Context, p Phone) error {
	body := map[string]string{"pushToken": p.Token}
	if p.TeamID != "" {
		body["teamId"] = p.TeamID
	}
	return f.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/activity/"+p.MatchID, body, nil)
}

// Shows is what the phone shows.
func (f *Fleet) Shows(p Phone) (apns.Device, bool) { return f.Phones.Device(p.Token) }

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
	token, err := f.Token(user)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signed[user] = signedIn{token, now.Add(identity.TTL / 2)}
	return token, err
}

// Call calls the API as user, or as nobody when user is "", with in as its body
// if it is not nil, and decodes the answer into out if that is not nil. An answer
// over 299 is an error that quotes it.
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
		return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	if out != nil {
		return json.Unmarshal(text, out)
	}
	return nil
}
