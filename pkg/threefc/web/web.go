// Package web has what the room's pages share: their addresses, signed links, layout and style.
//
// Pages are at the address of the room's API, the setting spec.EnvAPI: a form then sends the cookie of
// the session, which browsers send to the API's own host only. Links.To makes every address in a mail,
// a calendar, a QR code and a page.
//
// A GET changes nothing, because mail scanners follow links: the page asks, and a POST of its form
// acts. Pages work without scripts; a page that is live refreshes itself where scripts run.
package web

import (
	"net/url"
	"strings"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// Links makes the addresses of pages.
type Links struct{ base string }

// NewLinks returns the addresses of a stage.
func NewLinks(env app.Env) Links { return Links{env.Setting(spec.EnvAPI)} }

// To returns the address of the page at a path, each segment of which may be any text.
func (l Links) To(segments ...string) string {
	to := l.base
	for _, s := range segments {
		to += "/" + url.PathEscape(s)
	}

	return to
}

// Origin returns the origin of the pages, as browsers send it with a form.
func (l Links) Origin() string {
	scheme, rest, _ := strings.Cut(l.base, "://")
	host, _, _ := strings.Cut(rest, "/")

	return scheme + "://" + host
}
