// Command smoke asks the deployed API of a room a few questions whose answers are
// known, and prints one line each. It changes nothing, and fails if an answer is
// wrong. `make smoke` starts it.
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
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"matchday/pkg/fleet"
	"matchday/pkg/spec"
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
	if len(args) != 2 {
		return errors.New("say `make smoke STAGE=dev`, or `make smoke URL=https://… ROOM=cricket`")
	}
	rooms := fleet.Rooms()
	i := slices.IndexFunc(rooms, func(r spec.Room) bool { return r.Name == args[0] })
	if i < 0 {
		return fmt.Errorf("ROOM=%s is no room of the fleet", args[0])
	}
	base, err := url.Parse(strings.TrimSuffix(args[1], "/"))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.RawQuery != "" {
		return fmt.Errorf("URL=%s is no address of an API: it is like https://a1b2c3.execute-api.us-east-1.amazonaws.com", args[1])
	}
	s := smoke{room: rooms[i], base: base.String(), token: getenv("TOKEN"), origin: getenv("ORIGIN"), out: out, client: &http.Client{Timeout: patience}}
	if s.origin == "" {
		s.origin = "https://example.com"
	}
	s.run(ctx)
	if s.failed > 0 {
		return fmt.Errorf("%d of %d checks of %s failed at %s", s.failed, s.checked, s.room.Name, s.base)
	}
	_, err = fmt.Fprintf(out, "%d checks of %s passed at %s\n", s.checked, s.room.Name, s.base)
	return err
}

// smoke is one run.
type smoke struct {
	room                spec.Room
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
	fmt.Fprintln(s.out, strings.TrimRight(fmt.Sprintf("%s  %-54s %3d  %4d ms  %s", verdict, what, a.status, a.took.Milliseconds(), note), " "))
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
	switch s.room.Name {
	case "cricket":
		s.cricket(ctx)
	case "pickem":
		s.pickem(ctx)
	}
	preflight := "/"
	for _, on := range closed(s.room) {
		preflight = on.Path
		a := s.ask(ctx, on.Method, on.Path)
		s.tell(on.Method+" "+on.Path+" without a token", a, a.expect(http.StatusUnauthorized), "")
		a = s.ask(ctx, on.Method, on.Path, "Authorization", "Bearer of.no.worth")
		s.tell(on.Method+" "+on.Path+" with a forged one", a, a.expect(http.StatusUnauthorized), "")
	}

	a := s.ask(ctx, http.MethodOptions, preflight, "Origin", s.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	allowed, wrong := a.header.Get("Access-Control-Allow-Origin"), ""
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

// closed are routes of a room that only some may call, the first of each method,
// with a value for what their paths leave open. Should one be open to all, nothing
// changes, for those that are no GET want a body, and none deletes.
func closed(room spec.Room) (all []spec.Route) {
	open := regexp.MustCompile(`\{[^/]*\}`)
	for _, f := range room.Functions {
		on, ok := f.On.(spec.Route)
		if !ok || on.Method == http.MethodDelete || on.Auth != spec.User && on.Auth != spec.Admin || slices.ContainsFunc(all, func(r spec.Route) bool { return r.Method == on.Method }) {
			continue
		}
		on.Path = open.ReplaceAllString(on.Path, "1")
		all = append(all, on)
	}
	return all
}

// missing is what is wrong with an answer that should say that something is not
// there.
func (a answer) missing() string {
	wrong := a.expect(http.StatusNotFound)
	if wrong == "" && !strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") {
		wrong = "it should be a problem document"
	}
	return wrong
}

func (s *smoke) cricket(ctx context.Context) {
	if match := s.match(ctx, s.league(ctx)); match != "" {
		s.page(ctx, match)
	}
	a := s.ask(ctx, http.MethodGet, "/matches/9999999999999999999")
	s.tell("a match that is not there", a, a.missing(), "")
	if s.token != "" {
		a := s.ask(ctx, http.MethodGet, "/user/preferences", "Authorization", "Bearer "+s.token)
		s.tell("preferences of the token's user", a, a.expect(http.StatusOK), "")
	}
}

func (s *smoke) pickem(ctx context.Context) {
	a := s.ask(ctx, http.MethodGet, "/health")
	s.tell("health", a, a.expect(http.StatusOK), "")
	if s.token == "" {
		return // only members see anything
	}
	a = s.ask(ctx, http.MethodGet, "/app/events", "Authorization", "Bearer "+s.token)
	var events map[string]any
	s.tell("events", a, a.read(&events), "")
	a = s.ask(ctx, http.MethodGet, "/app/events/1999-12-31-none", "Authorization", "Bearer "+s.token)
	s.tell("an event that is not there", a, a.missing(), "")
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
