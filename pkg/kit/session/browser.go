package session

import (
	"cmp"

	"github.com/danielgtaylor/huma/v2"
)

// Browser is a caller who may have cookies, or a native app with a bearer token. A request of a route for
// browsers embeds it.
type Browser struct {
	cookies []string
	bearer  string
	isPage  bool
}

// Resolve reads the cookies and the token; huma calls it for every request.
func (b *Browser) Resolve(ctx huma.Context) []error {
	b.cookies = nil
	b.bearer, _ = bearerOf(ctx.Header("Authorization"))
	b.isPage = ctx.Header("Origin") != ""

	ctx.EachHeader(func(name, value string) {
		if name == "Cookie" {
			b.cookies = append(b.cookies, value)
		}
	})

	return nil
}

// Token returns the caller's token of a cookie, "" if there is none.
func (b *Browser) Token(c Cookie) string { return c.Token(b.cookies) }

// IsPage reports whether a page of a browser sends the request, which names its origin.
func (b *Browser) IsPage() bool { return b.isPage }

// Bearer returns the caller's bearer token, "" if there is none.
func (b *Browser) Bearer() string { return b.bearer }

// Credential returns the token by which Sessions.Identify has identified the caller: that of a native app, or
// of the cookie.
func (b *Browser) Credential(c Cookie) string { return cmp.Or(b.bearer, b.Token(c)) }
