// Package browser simulates the browser of one person in a local fleet: it keeps the cookies,
// and sends the address of its page.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"matchday/infra/local/fleet"
)

// Browser is a browser of one person. It is safe for concurrent use.
type Browser struct {
	api, origin string

	mu      sync.Mutex
	cookies map[string]string
	tag     string
}

// New returns a browser without cookies. api is the URL of the room's API.
func New(api string) *Browser {
	u, err := url.Parse(api)
	if err != nil {
		panic(err) // the fleet's own address
	}

	return &Browser{api: api, origin: u.Scheme + "://" + u.Host, cookies: map[string]string{}}
}

// client follows no redirects: each step keeps its cookies.
var client = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Call calls the API. It sends in as JSON unless in is nil, and decodes the answer into out
// unless out is nil. header are names and values. For an answer with a status of at least 400
// the error is a *fleet.Refusal.
func (b *Browser) Call(ctx context.Context, method, path string, in, out any, header ...string) error {
	var body io.Reader

	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}

		body = bytes.NewReader(text)
	}

	r, err := http.NewRequestWithContext(ctx, method, b.api+path, body)
	if err != nil {
		return err
	}

	r.Header.Set("Content-Type", "application/json")

	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}

	answer, text, err := b.send(r)
	if err != nil {
		return err
	}

	if out != nil && answer.StatusCode < http.StatusMultipleChoices {
		return json.Unmarshal(text, out)
	}

	return nil
}

// send sends a request with the cookies, and keeps those of the answer.
func (b *Browser) send(r *http.Request) (*http.Response, []byte, error) {
	r.Header.Set("Origin", b.origin)
	b.mu.Lock()
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	b.mu.Unlock()

	answer, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()

	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, nil, err
	}

	b.mu.Lock()

	b.tag = answer.Header.Get("ETag")
	for _, c := range answer.Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	b.mu.Unlock()

	if answer.StatusCode >= http.StatusBadRequest {
		return answer, nil, &fleet.Refusal{Request: r.Method + " " + r.URL.Path, Status: answer.StatusCode, Body: text}
	}

	return answer, text, nil
}

// ETag is the ETag of the latest answer.
func (b *Browser) ETag() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.tag
}

// URL is the URL of the API.
func (b *Browser) URL() string { return b.api }

// Submit sends the form of the page at an address.
func (b *Browser) Submit(ctx context.Context, page string, form url.Values) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, page, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}

	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	_, _, err = b.send(r)

	return err
}

// Follow sends a request that is answered with a redirect, and returns the address of the
// redirect.
func (b *Browser) Follow(ctx context.Context, method, to string, form url.Values) (*url.URL, error) {
	r, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}

	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}

	answer, _, err := b.send(r)
	if err != nil {
		return nil, err
	}

	if answer.StatusCode != http.StatusFound {
		return nil, fmt.Errorf("%s %s: %s, want a redirect", method, r.URL.Path, answer.Status)
	}

	return answer.Location()
}
