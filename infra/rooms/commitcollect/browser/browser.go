// Package browser is a browser of CommitCollect's app: it signs in by the page of the user
// pool, and answers Strava's question.
package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"matchday/infra/local/browser"
)

// Browser is a browser of one person. It is safe for concurrent use.
type Browser struct{ *browser.Browser }

// New returns a browser without cookies. api is the URL of the room's API.
func New(api string) *Browser { return &Browser{browser.New(api)} }

// SignIn signs a user in, and up if the pool does not know the user.
func (b *Browser) SignIn(ctx context.Context, user string) error {
	page, err := b.Follow(ctx, http.MethodGet, b.URL()+"/auth/login", nil)
	if err != nil {
		return err
	}

	back, err := b.Follow(ctx, http.MethodPost, page.String(), url.Values{"user": {user}})
	if err != nil {
		return err
	}

	_, err = b.Follow(ctx, http.MethodGet, back.String(), nil)

	return err
}

// Connect connects an athlete. Of what the app asks for, the athlete allows accept; nil for
// everything.
func (b *Browser) Connect(ctx context.Context, athlete int64, accept []string) error {
	ask, err := b.Follow(ctx, http.MethodGet, b.URL()+"/strava/connect", nil)
	if err != nil {
		return err
	}

	form := ask.Query()
	if accept == nil {
		accept = strings.Split(form.Get("scope"), ",")
	}

	form["accept"] = accept
	form.Set("athlete", fmt.Sprint(athlete))
	form.Set("answer", "yes")

	ask.RawQuery = ""

	back, err := b.Follow(ctx, http.MethodPost, ask.String(), form)
	if err != nil {
		return err
	}

	_, err = b.Follow(ctx, http.MethodGet, back.String(), nil)

	return err
}
