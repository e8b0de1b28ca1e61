// Command smoke sends a few requests with known answers to the deployed API of a
// room, and prints one line each. It changes nothing, and fails if an answer is
// wrong. `make smoke` starts it.
//
// The checks of this package follow from the spec and apply to every room; the
// others are the room's own, in infra/rooms.
package main

import (
	"context"
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

	"matchday/infra/rooms"
	"matchday/infra/rooms/all"
	"matchday/infra/tools/smoke/check"
	"matchday/pkg/spec"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := command(ctx, os.Stdout, all.Rooms(), os.Args[1:], os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// timeout of a request: a function starts cold, and API Gateway gives up after
// half a minute.
const timeout = 30 * time.Second

// command checks the API at the URL args[1] of the room called args[0]. It returns
// an error when a check fails.
func command(ctx context.Context, out io.Writer, known []rooms.Room, args []string, getenv func(string) string) error {
	if len(args) != 2 {
		return errors.New("usage: `make smoke STAGE=dev`, or `make smoke URL=https://… ROOM=<room>`")
	}

	i := slices.IndexFunc(known, func(r rooms.Room) bool { return r.Spec.Name == args[0] })
	if i < 0 {
		var names []string
		for _, r := range known {
			names = append(names, r.Spec.Name)
		}

		return fmt.Errorf("unknown room ROOM=%s; valid rooms: %s", args[0], strings.Join(names, ", "))
	}

	base, err := url.Parse(strings.TrimSuffix(args[1], "/"))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.RawQuery != "" {
		return fmt.Errorf("URL=%s is not the address of an API; a valid one: https://a1b2c3.execute-api.us-east-1.amazonaws.com", args[1])
	}

	origin := getenv("ORIGIN")
	switch {
	case origin != "":
	case base.Scheme == "http": // a fleet on one machine, which refuses pages of other sites
		origin = "http://" + base.Host
	default:
		origin = "https://example.com"
	}

	s := check.Session{Base: base.String(), Token: getenv("TOKEN"), Out: out, Client: &http.Client{Timeout: timeout}}
	run(ctx, &s, known[i], origin)

	if direct := getenv("DIRECT"); direct != "" {
		closed(ctx, &s, known[i].Spec, strings.TrimSuffix(direct, "/"))
	}

	if s.Failed > 0 {
		return fmt.Errorf("%d of %d checks of %s failed at %s", s.Failed, s.Checked, args[0], s.Base)
	}

	_, err = fmt.Fprintf(out, "%d checks of %s passed at %s\n", s.Checked, args[0], s.Base)

	return err
}

// run runs the checks of every room and those of this one. origin is that of a web
// page that calls the API.
func run(ctx context.Context, s *check.Session, room rooms.Room, origin string) {
	health(ctx, s, room.Spec)

	if room.Smoke != nil {
		room.Smoke(ctx, s)
	}

	path := unauthorized(ctx, s, room.Spec)
	preflight(ctx, s, path, origin)
	description(ctx, s)
}

// health checks the health route of a room that has a public one.
func health(ctx context.Context, s *check.Session, room spec.Room) {
	const path = "/health"

	public := func(f spec.Function) bool {
		on, ok := f.On.(spec.Route)
		return ok && on.Method == http.MethodGet && on.Path == path && on.Auth == spec.Public
	}
	if slices.ContainsFunc(room.Functions, public) {
		a := s.Get(ctx, path)
		s.Report("health", a, a.Expect(http.StatusOK), "")
	}
}

// unauthorized checks that protected routes refuse requests without a valid token.
// It returns the path of the last, "/" if the room has none.
func unauthorized(ctx context.Context, s *check.Session, room spec.Room) string {
	path := "/"
	for _, on := range protected(room) {
		path = on.Path
		a := s.Send(ctx, on.Method, on.Path)
		s.Report(on.Method+" "+on.Path+" without a token", a, a.Expect(http.StatusUnauthorized), "")
		a = s.Send(ctx, on.Method, on.Path, "Authorization", "Bearer of.no.worth")
		s.Report(on.Method+" "+on.Path+" with a forged token", a, a.Expect(http.StatusUnauthorized), "")
	}

	return path
}

// closed checks that the API's own address, behind CloudFront, refuses a public read.
func closed(ctx context.Context, s *check.Session, room spec.Room, direct string) {
	for _, f := range room.Functions {
		on, ok := f.On.(spec.Route)
		if !ok || on.Method != http.MethodGet || on.Auth != spec.Public {
			continue
		}

		around := *s
		around.Base = direct
		a := around.Get(ctx, parameter.ReplaceAllString(on.Path, "1"))

		wrong := a.Expect(http.StatusForbidden)
		if wrong == "" && !strings.Contains(string(a.Body), "not_through_cdn") {
			wrong = "want the problem not_through_cdn"
		}

		s.Report("GET "+on.Path+" past CloudFront", a, wrong, "")

		return
	}
}

// preflight checks that web pages of the origin may call the path (CORS).
func preflight(ctx context.Context, s *check.Session, path, origin string) {
	a := s.Send(ctx, http.MethodOptions, path, "Origin", origin, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization")

	allowed, wrong := a.Header.Get("Access-Control-Allow-Origin"), ""
	if a.Status != http.StatusOK && a.Status != http.StatusNoContent || allowed != "*" && allowed != origin {
		wrong = fmt.Sprintf("want the origin %s allowed, got %q", origin, allowed)
	}

	s.Report("preflight from "+origin, a, wrong, "")
}

// description checks that the OpenAPI document is served by a fleet on one machine
// and is not deployed.
func description(ctx context.Context, s *check.Session) {
	a := s.Get(ctx, "/openapi.json")
	if strings.HasPrefix(s.Base, "https:") {
		s.Report("the OpenAPI document, which is not deployed", a, a.Expect(http.StatusNotFound), "")
	} else {
		s.Report("the OpenAPI document of a local fleet", a, a.Expect(http.StatusOK), "")
	}
}

// parameter matches a parameter of a path.
var parameter = regexp.MustCompile(`\{[^/]*\}`)

// protected returns the first route of each method that needs a signed-in user or
// an administrator, with a value for each parameter of its path. DELETE is left
// out. If one were open by mistake, the requests would change nothing: the other
// methods need a body.
func protected(room spec.Room) (routes []spec.Route) {
	for _, f := range room.Functions {
		on, ok := f.On.(spec.Route)
		if !ok || on.Method == http.MethodDelete || on.Auth != spec.User && on.Auth != spec.Admin {
			continue
		}

		if slices.ContainsFunc(routes, func(r spec.Route) bool { return r.Method == on.Method }) {
			continue
		}

		on.Path = parameter.ReplaceAllString(on.Path, "1")
		routes = append(routes, on)
	}

	return routes
}
