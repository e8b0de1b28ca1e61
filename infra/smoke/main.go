// Command smoke asks a deployed API of the cricket room a few questions whose
// answers are known, and prints one line each. It changes nothing, and fails if an
// answer is wrong. `make smoke` starts it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Stdout, os.Args[1:], os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// patience is how long an answer may take: a function starts cold, and API
// Gateway gives up after half a minute.
const patience = 30 * time.Second

func command(ctx context.Context, out io.Writer, args []string, getenv func(string) string) error {
	if len(args) != 1 {
		return errors.New("say `make smoke STAGE=dev`, or `make smoke URL=https://…`")
	}
	base, err := url.Parse(strings.TrimSuffix(args[0], "/"))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.RawQuery != "" {
		return fmt.Errorf("URL=%s is no address of an API: it is like https://a1b2c3.execute-api.us-east-1.amazonaws.com", args[0])
	}
	s := smoke{base: base.String(), token: getenv("TOKEN"), origin: getenv("ORIGIN"), out: out, client: &http.Client{Timeout: patience}}
	if s.origin == "" {
		s.origin = "https://example.com"
	}
	s.run(ctx)
	if s.failed > 0 {
		return fmt.Errorf("%d of %d checks failed at %s", s.failed, s.checked, s.base)
	}
	_, err = fmt.Fprintf(out, "%d checks passed at %s\n", s.checked, s.base)
	return err
}

// smoke is one run.
type smoke struct {
	base, token, origin string
	client              *http.Client
	out                 io.Writer

	checked, failed int
}

// answer is what came back, or err.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error
}

func (s *smoke) ask(ctx context.Context, method, path string, header ...string) (a answer) {
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, nil)
	if err != nil {
		return answer{err: err}
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	began := time.Now()
	res, err := s.client.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	a = answer{status: res.StatusCode, header: res.Header}
	a.body, a.err = io.ReadAll(io.LimitReader(res.Body, 1<<20))
	a.took = time.Since(began)
	return a
}

// tell prints the line of a check. wrong says what is, "" for nothing, and more
// what is worth knowing beside.
func (s *smoke) tell(what string, a answer, wrong, more string) {
	s.checked++
	verdict, note := "ok  ", more
	switch {
	case a.err != nil:
		verdict, note = "FAIL", a.err.Error()
	case wrong != "":
		verdict, note = "FAIL", fmt.Sprintf("%s: %.200s", wrong, bytes.TrimSpace(a.body))
	}
	if verdict == "FAIL" {
		s.failed++
	}
	fmt.Fprintln(s.out, strings.TrimRight(fmt.Sprintf("%s  %-44s %3d  %4d ms  %s", verdict, what, a.status, a.took.Milliseconds(), note), " "))
}

// expect is what is wrong with an answer that should have a status.
func (a answer) expect(status int) string {
	if a.status != status {
		return fmt.Sprintf("it should be %d", status)
	}
	return ""
}

// read decodes an answer that should be 200.
func (a answer) read(v any) string {
	if wrong := a.expect(http.StatusOK); wrong != "" || a.err != nil {
		return wrong
	}
	if json.Unmarshal(a.body, v) != nil {
		return "it should be JSON"
	}
	return ""
}

func (s *smoke) run(ctx context.Context) {
	match := s.match(ctx, s.league(ctx))
	if match != "" {
		s.page(ctx, match)
	}
	a := s.ask(ctx, http.MethodGet, "/matches/9999999999999999999")
	wrong := a.expect(http.StatusNotFound)
	if wrong == "" && !strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") {
		wrong = "it should be a problem document"
	}
	s.tell("a match that is not there", a, wrong, "")

	for _, closed := range []struct{ method, path string }{{"GET", "/user/device"}, {"POST", "/user/follow/1"}, {"PATCH", "/leagues/1"}} {
		a := s.ask(ctx, closed.method, closed.path)
		s.tell(closed.method+" "+closed.path+" without a token", a, a.expect(http.StatusUnauthorized), "")
		a = s.ask(ctx, closed.method, closed.path, "Authorization", "Bearer of.no.worth")
		s.tell(closed.method+" "+closed.path+" with a forged one", a, a.expect(http.StatusUnauthorized), "")
	}
	if s.token != "" {
		a := s.ask(ctx, http.MethodGet, "/user/preferences", "Authorization", "Bearer "+s.token)
		s.tell("preferences of the token's user", a, a.expect(http.StatusOK), "")
	}

	a = s.ask(ctx, http.MethodOptions, "/user/device", "Origin", s.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	allowed := a.header.Get("Access-Control-Allow-Origin")
	wrong = ""
	if a.status != http.StatusOK && a.status != http.StatusNoContent || allowed != "*" && allowed != s.origin {
		wrong = fmt.Sprintf("it should allow the origin %s, and allows %q", s.origin, allowed)
	}
	s.tell("preflight from "+s.origin, a, wrong, "")

	a = s.ask(ctx, http.MethodGet, "/openapi.json")
	if strings.HasPrefix(s.base, "https:") {
		s.tell("the description, which is not deployed", a, a.expect(http.StatusNotFound), "")
	} else {
		s.tell("the description, of a fleet on one machine", a, a.expect(http.StatusOK), "")
	}
}

// league lists the leagues, and returns the first.
func (s *smoke) league(ctx context.Context) string {
	a := s.ask(ctx, http.MethodGet, "/leagues")
	var list struct{ Leagues []struct{ ID, Title string } }
	wrong, more := a.read(&list), "none yet: invoke sync-leagues"
	if len(list.Leagues) > 0 {
		more = fmt.Sprintf("%d, %s first", len(list.Leagues), list.Leagues[0].Title)
	}
	s.tell("leagues", a, wrong, more)
	if len(list.Leagues) == 0 {
		return ""
	}
	return list.Leagues[0].ID
}

// match lists the matches of a league, and returns the first.
func (s *smoke) match(ctx context.Context, league string) string {
	if league == "" {
		return ""
	}
	a := s.ask(ctx, http.MethodGet, "/matches?limit=5&league="+league)
	var list struct {
		Matches []struct {
			ID             string
			Local, Visitor struct{ Name string }
		}
	}
	wrong, more := a.read(&list), "none yet: invoke sync-fixtures"
	if len(list.Matches) > 0 {
		m := list.Matches[0]
		more = fmt.Sprintf("%d, %s v %s first", len(list.Matches), m.Local.Name, m.Visitor.Name)
	}
	s.tell("matches of the first league", a, wrong, more)
	if len(list.Matches) == 0 {
		return ""
	}
	return list.Matches[0].ID
}

// page reads a match, once more if it has changed, and what a lock screen shows.
func (s *smoke) page(ctx context.Context, match string) {
	a := s.ask(ctx, http.MethodGet, "/matches/"+match)
	var m struct{ Status string }
	wrong, tag := a.read(&m), a.header.Get("ETag")
	if wrong == "" && tag == "" {
		wrong = "it should have an ETag"
	}
	s.tell("the first match", a, wrong, m.Status)
	if wrong == "" && a.err == nil {
		a = s.ask(ctx, http.MethodGet, "/matches/"+match, "If-None-Match", tag)
		wrong = ""
		if a.status != http.StatusNotModified && (a.status != http.StatusOK || a.header.Get("ETag") == tag) { // it may have changed
			wrong = "it should be 304"
		}
		s.tell("the same again, unchanged", a, wrong, "")
	}
	a = s.ask(ctx, http.MethodGet, "/matches/"+match+"/display")
	var display map[string]any
	wrong = a.read(&display)
	if wrong == "" && len(display) == 0 {
		wrong = "it should show something"
	}
	s.tell("what a lock screen shows of it", a, wrong, "")
}
