// Package browser is a browser of 3FC's app: it signs in by the link in a mail.
package browser

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"matchday/infra/local/browser"
	"matchday/infra/sim/ses"
)

// Browser is a browser of one person. It is safe for concurrent use.
type Browser struct{ *browser.Browser }

// New returns a browser without cookies. api is the URL of the room's API.
func New(api string) *Browser { return &Browser{browser.New(api)} }

// SignIn signs the owner of an address in, by the latest mail.
func (b *Browser) SignIn(ctx context.Context, email string, mails *ses.Server) error {
	if err := b.Call(ctx, http.MethodPost, "/v1/auth/magic/start", map[string]string{"email": email}, nil); err != nil {
		return err
	}

	box := mails.Mailbox(email)
	if len(box) == 0 {
		return fmt.Errorf("%s has no mail", email)
	}

	_, rest, ok := strings.Cut(box[len(box)-1].Text, "/sign-in?token=")
	if !ok {
		return fmt.Errorf("the latest mail of %s has no link", email)
	}

	return b.Call(ctx, http.MethodPost, "/v1/auth/magic/complete", map[string]string{"token": strings.Fields(rest)[0]}, nil)
}
