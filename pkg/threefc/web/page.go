package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the layout
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/httpapi"
)

var (
	//go:embed layout.html
	layout string
	//go:embed style.css
	stylesheet string
	//go:embed live.js
	liveScript string
)

// NoIndex is the X-Robots-Tag of what search engines shall leave out.
const NoIndex = "noindex"

// Private is how long caches may keep a page for members: never. Browsers, too, ask again.
const Private = "private, no-store"

const htmlType = "text/html; charset=utf-8"

// Fresh is how long a public page may be cached that changes while a game is played.
var Fresh = httpapi.Cached{CacheControl: "public, max-age=5"}

// Page is the answer with a page that is the same for everybody.
type Page struct {
	httpapi.Cached
	Robots string `header:"X-Robots-Tag" doc:"noindex, if search engines shall leave the page out."`
	Policy string `header:"Content-Security-Policy"`
	Body   []byte `contentType:"text/html; charset=utf-8"`
}

// Refusal returns the page of a request that is refused.
func (*Page) Refusal(status int, detail string) (http.Header, []byte) {
	return refusal(status, detail, "This link is not valid", "Please check it: a part of it may be missing.")
}

// Form is the answer with a page for one visitor. No cache keeps it, and its address, which may have a
// ticket, is sent to no other site.
type Form struct {
	Status    int
	Cache     string `header:"Cache-Control"`
	Robots    string `header:"X-Robots-Tag" doc:"noindex, if search engines shall leave the page out."`
	SetCookie string `header:"Set-Cookie" doc:"A cookie of the sign-in."`
	Referrer  string `header:"Referrer-Policy"`
	Policy    string `header:"Content-Security-Policy"`
	Body      []byte `contentType:"text/html; charset=utf-8"`
}

// Refusal returns the page of a request that is refused.
func (*Form) Refusal(status int, detail string) (http.Header, []byte) {
	h, body := refusal(status, detail, "Something is missing or wrong", "Please go back, and check what you have typed.")
	h.Set("Cache-Control", httpapi.NoStore)

	return h, body
}

// refusal returns the page of a request that is refused: with the detail of the problem, or, without one,
// with the title and the text of what is not valid.
func refusal(status int, detail, title, about string) (http.Header, []byte) {
	h, cache := Head{Title: "This page does not work right now", About: "Please try again in a moment."}, httpapi.NoStore

	switch {
	case status >= http.StatusInternalServerError:
	case detail != "":
		h.Title, h.About = "This does not work", strings.ToUpper(detail[:1])+detail[1:]+"."
	case status == http.StatusNotFound:
		h.Title, h.About, cache = "There is nothing here", "The link is wrong, or what it led to was renamed or deleted.", Fresh.CacheControl
	default:
		h.Title, h.About = title, about
	}

	body, policy := Links{}.render(Parse(""), "refusal", h, nil, map[string]any{})

	return http.Header{"Content-Type": {htmlType}, "Cache-Control": {cache}, "Content-Security-Policy": {policy}}, body
}

// Day is the layout of a day on a page.
const Day = "Monday 2 January 2006"

// DayOf returns a date, "2026-06-06", as a page shows it: "Saturday 6 June 2026". What is no date stays as it is.
func DayOf(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}

	return day.Format(Day)
}

// Head is the content of the head of a page.
type Head struct {
	Title, About string
	URL, Site    string // of a page to be found and shared; "" for any other
	Unlisted     bool   // the page has a URL, and search engines shall leave it out, with its card
	Data         any    // JSON-LD
	Live         bool   // the page refreshes itself: see live.js
	// Style is added to that of all pages. Script is the page's own, which may call the API and has a
	// service worker; a page that is live has none.
	Style, Script string
}

// Parse returns the templates of pages with the layout. A function that shows pages parses them when it
// starts; a value of the package would be a part of every function of the room.
func Parse(markup string) *template.Template {
	return template.Must(template.Must(template.New("").Parse(layout)).Parse(markup))
}

// Page returns a page with the shirts' colors.
func (l Links) Page(t *template.Template, name string, h Head, colors []string, data map[string]any) *Page {
	robots := ""
	if h.Unlisted {
		h.Data, robots = nil, NoIndex
	}

	body, policy := l.render(t, name, h, colors, data)

	return &Page{Fresh, robots, policy, body}
}

// Form returns a page for one visitor. A status of at least 400 shows a form again, whose data say what
// is wrong.
func (l Links) Form(t *template.Template, name string, status int, h Head, data map[string]any) *Form {
	body, policy := l.render(t, name, h, nil, data)
	return &Form{Status: status, Referrer: "same-origin", Policy: policy, Body: body}
}

// render returns a page, and its policy: its style, its script if it has one, the icon and the manifest
// of the room, and forms that lead to it. There is no frame and no other source.
func (l Links) render(t *template.Template, name string, h Head, colors []string, data map[string]any) (body []byte, policy string) {
	style := stylesheet + h.Style

	slices.Sort(colors)

	for _, c := range slices.Compact(colors) {
		style += fmt.Sprintf(".%s{background:%s;color:%s}\n", Class(c), shirt(c), textOn(shirt(c)))
	}

	script, allowed := "", ""
	switch {
	case h.Live:
		script, allowed = liveScript, "; script-src "+hashOf(liveScript)+"; connect-src 'self'"
	case h.Script != "":
		script, allowed = h.Script, "; script-src "+hashOf(h.Script)+"; connect-src 'self'; worker-src 'self'"
	}

	data["Head"], data["Root"], data["Style"], data["Script"] = h, l.base, template.CSS(style), template.JS(script)

	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Errorf("render %s: %w", name, err)) // the templates are part of the program
	}

	return b.Bytes(), "default-src 'none'; img-src 'self' data:; manifest-src 'self'; style-src " + hashOf(style) + allowed +
		"; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}

// hashOf returns the source of a policy that is a text of the page.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
