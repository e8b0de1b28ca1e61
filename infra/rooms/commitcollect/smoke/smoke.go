// Package smoke checks a deployed CommitCollect API: that nobody is signed in without a
// cookie, that the sign-in begins at the user pool, that a route for users refuses who has
// no session, and that the webhook refuses who does not know its address.
package smoke

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"matchday/infra/tools/smoke/check"
)

// Run runs the room's steps.
func Run(ctx context.Context, s *check.Session) {
	a := s.Get(ctx, "/viewer")

	var viewer struct{ SignedIn *bool }

	wrong := a.Decode(&viewer)
	if wrong == "" && (viewer.SignedIn == nil || *viewer.SignedIn) {
		wrong = "want signedIn false"
	}

	s.Report("the viewer without a cookie", a, wrong, "")

	direct := *s.Client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	stays := *s
	stays.Client = &direct
	a = stays.Get(ctx, "/auth/login")

	wrong = a.Expect(http.StatusFound)
	if to, err := url.Parse(a.Header.Get("Location")); wrong == "" &&
		(err != nil || !strings.HasSuffix(to.Path, "/oauth2/authorize") || to.Query().Get("code_challenge_method") != "S256") {
		wrong = "want a redirect to the sign-in page, with PKCE"
	}

	s.Report("the begin of a sign-in", a, wrong, "")

	a = s.Get(ctx, "/milestones")
	s.Report("milestones without a session", a, a.Expect(http.StatusUnauthorized), "")
	a = s.Get(ctx, "/webhooks/strava/guessed?hub.mode=subscribe&hub.challenge=a&hub.verify_token=guessed")
	s.Report("the webhook with a guessed secret", a, a.Expect(http.StatusUnauthorized), "")
}
