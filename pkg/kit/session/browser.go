package session

import "github.com/danielgtaylor/huma/v2"

// Browser is a caller who may have cookies. A request of a route for browsers embeds it.
type Browser struct {
	cookies []string
}

// Resolve reads the cookies; huma calls it for every request.
func (b *Browser) Resolve(ctx huma.Context) []error {
	b.cookies = nil

	ctx.EachHeader(func(name, value string) {
		if name == "Cookie" {
			b.cookies = append(b.cookies, value)
		}
	})

	return nil
}

// Token returns the caller's token of a cookie, "" if there is none.
func (b *Browser) Token(c Cookie) string { return c.Token(b.cookies) }
