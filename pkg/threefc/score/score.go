// Package score has the page on which scorekeepers score the games of a session.
//
// The page is an app of the browser: what is tapped waits in a queue of the phone until the API has it, and
// a service worker opens the page without a network. The page is the same for everybody, and reads all
// through the API: who may score what, the functions of package game decide.
package score

import (
	"context"
	_ "embed" // the files of the page
	"html/template"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/web"
)

var (
	//go:embed score.html
	markup string
	//go:embed score.css
	style string
	//go:embed score.js
	script string
	//go:embed worker.js
	worker []byte
)

// Pages is the service of the page.
type Pages struct {
	links     web.Links
	templates *template.Template
}

// OpenPages opens the service.
func OpenPages(_ context.Context, env app.Env) (*Pages, error) {
	return &Pages{web.NewLinks(env), web.Parse(markup)}, nil
}

// ShowPage is the request for the page.
type ShowPage struct {
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session, or last for that of the last time." example:"last"`
}

// ShowPageFunction returns the page of scorekeepers.
func ShowPageFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-score-page",
		Does:   "Returns the page on which scorekeepers score the games of a session.",
		IfDown: "Phones that have opened the page before still score. Others cannot open it.",
		On:     spec.Route{Method: "GET", Path: "/score/{sessionId}", Auth: spec.Public, OthersCall: true},
		Memory: 128, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowPage)
}

// ShowPage returns the page, which is the same for every session: its script reads the address.
func (s *Pages) ShowPage(context.Context, *ShowPage) (*web.Page, error) {
	h := web.Head{
		Title: "Scorekeeper", About: "Score a game of three teams, also without a network.",
		Style: style, Script: script,
	}

	return s.links.Page(s.templates, "score", h, nil, map[string]any{}), nil
}

// ShowWorker is the request for the service worker of the page.
type ShowWorker struct{}

// Worker is the answer with a service worker.
type Worker struct {
	httpapi.Cached
	Policy string `header:"Content-Security-Policy"`
	Body   []byte `contentType:"text/javascript; charset=utf-8"`
}

// ShowWorkerFunction returns the service worker of the page.
func ShowWorkerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-score-worker",
		Does:   "Returns the program by which the page of scorekeepers opens without a network.",
		IfDown: "On phones that open the page of scorekeepers for the first time it needs a network.",
		On:     spec.Route{Method: "GET", Path: "/worker.js", Auth: spec.Public, OthersCall: true},
		Memory: 128, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowWorker)
}

// ShowWorker returns the worker. It may load pages of the room, and nothing else.
func (*Pages) ShowWorker(context.Context, *ShowWorker) (*Worker, error) {
	return &Worker{web.Fresh, "default-src 'none'; connect-src 'self'", worker}, nil
}
