package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"matchday/infra/sim/cognito"
)

// signedIn is an access token and the time until which it is used.
type signedIn struct {
	token string
	until time.Time
}

// Token signs a user in and returns the access token. With groups the user is an administrator.
// A token is used for half of its lifetime, because a signature takes longer than most calls.
func (f *Fleet) Token(user string, groups ...string) (string, error) {
	now := f.Clock.Now()
	key := strings.Join(append([]string{user}, groups...), " ")

	f.mu.Lock()
	s := f.signed[key]
	f.mu.Unlock()

	if now.Before(s.until) {
		return s.token, nil
	}

	pool := f.Users
	if len(groups) > 0 {
		pool = f.Admins
	}

	t, err := pool.Token(user, groups, now)
	if err != nil {
		return "", err
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	if f.signed == nil {
		f.signed = map[string]signedIn{}
	}

	f.signed[key] = signedIn{t.Access, now.Add(cognito.TTL / 2)}

	return t.Access, nil
}

// SignIn signs a user in to the user pool, with the address user@example.com. A user that the
// pool does not know signs up first.
func (f *Fleet) SignIn(ctx context.Context, user, name string) error {
	defer f.Clock.Work()()

	_, err := f.Users.SignIn(ctx, user, name, nil)

	return err
}

// Administrator is the user that Call signs in as an administrator.
const Administrator = "root"

// Refusal is the error of Call for an answer with a status over 299.
type Refusal struct {
	Request string // method and path
	Status  int
	Body    []byte
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", r.Request, r.Status, http.StatusText(r.Status), r.Body)
}

// Call calls the API as user, or without a token if user is "". It sends in as
// JSON unless in is nil, and decodes the answer into out unless out is nil. The
// error is a *Refusal for an answer with a status over 299.
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
		var groups []string
		if user == Administrator {
			groups = f.AdminGroups()
		}

		token, err := f.Token(user, groups...)
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
