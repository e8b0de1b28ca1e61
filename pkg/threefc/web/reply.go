package web

import (
	"html/template"
	"net/http"
)

// Reply is the answer of a page with forms: the page, or, to a form that was carried out, 303 with the address
// of the page that shows it. Going back or loading that page again sends nothing twice. No cache keeps it.
type Reply struct {
	Status    int
	Location  string `header:"Location" doc:"The page that shows what a form has done."`
	SetCookie string `header:"Set-Cookie" doc:"It clears the cookie of who signs out."`
	Referrer  string `header:"Referrer-Policy"`
	Policy    string `header:"Content-Security-Policy"`
	Body      []byte `contentType:"text/html; charset=utf-8"`
}

// Refusal returns the page of a request that is refused.
func (*Reply) Refusal(status int, detail string) (http.Header, []byte) {
	return (&Form{}).Refusal(status, detail)
}

// Reply returns a page for one visitor with the shirts' colors. A status of at least 400 shows a form again,
// whose data say what is wrong.
func (l Links) Reply(t *template.Template, name string, status int, h Head, colors []string, data map[string]any) *Reply {
	body, policy := l.render(t, name, h, colors, data)
	return &Reply{Status: status, Referrer: "same-origin", Policy: policy, Body: body}
}

// Next returns the answer to a form that was carried out: the address of the page that follows.
func (l Links) Next(t *template.Template, to string) *Reply {
	out := l.Reply(t, "text", http.StatusSeeOther, Head{Title: "Done", About: "The page that follows shows it."}, nil,
		map[string]any{"To": to, "ToText": "Continue"})
	out.Location = to

	return out
}
