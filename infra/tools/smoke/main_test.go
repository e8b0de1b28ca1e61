package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/rooms/all"
	"matchday/infra/sim/clock"
	"matchday/infra/tools/binaries"
	"matchday/infra/tools/smoke/check"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

const root = "../../.."

func unset(string) string { return "" }

// TestFleet checks every room of a local fleet, without and with a user's token.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	t.Parallel()

	program, err := binaries.Local(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}

	c := clock.New(time.Date(2026, 6, 6, 13, 55, 0, 0, time.UTC), clock.Free)
	t.Cleanup(c.Stop)
	t.Cleanup(c.Work())

	f, err := fleet.Start(t.Context(), fleet.Config{Clock: c, Root: root, Program: program, Rooms: all.Fleet(all.Rooms())})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(f.Close)

	token, err := f.Token("someone")
	if err != nil {
		t.Fatal(err)
	}

	for _, room := range all.Rooms() {
		name := room.Spec.Name

		for _, token := range []string{"", token} {
			var out strings.Builder

			getenv := func(name string) string { return map[string]string{"TOKEN": token}[name] }
			if err := command(t.Context(), &out, all.Rooms(), []string{name, f.URL + "/" + name + "/"}, getenv); err != nil {
				t.Errorf("%v\n%s", err, &out)
			}

			t.Log("\n" + out.String())

			if !strings.Contains(out.String(), " checks of "+name+" passed at ") {
				t.Errorf("the output of %s does not report that the checks passed", name)
			}

			if token != "" && strings.Contains(out.String(), token) {
				t.Error("the output contains the token")
			}
		}
	}
}

// TestProtected: one route of each method that needs a user is checked.
func TestProtected(t *testing.T) {
	t.Parallel()

	got := protected(spec.Room{Functions: []spec.Function{
		route("GET", "/open", spec.Public), route("GET", "/session", spec.Session), route("POST", "/hook", spec.Secret), {On: spec.Task{}},
		route("GET", "/mine/{id}/of/{day}", spec.User), route("GET", "/mine", spec.User), route("PUT", "/all", spec.Admin),
		route("DELETE", "/all", spec.Admin),
	}})

	want := []spec.Route{{Method: "GET", Path: "/mine/1/of/1", Auth: spec.User}, {Method: "PUT", Path: "/all", Auth: spec.Admin}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("protected routes (-want +got):\n%s", diff)
	}
}

func route(method, path string, auth spec.Auth) spec.Function {
	return spec.Function{On: spec.Route{Method: method, Path: path, Auth: auth}}
}

// lab is a room with a health route, two protected routes and a step of its own.
func lab() rooms.Room {
	return rooms.Room{
		Room: app.Room{Spec: spec.Room{Name: "lab", Functions: []spec.Function{
			route("GET", "/health", spec.Public), route("GET", "/mine", spec.User), route("PUT", "/all", spec.Admin),
		}}},
		Smoke: func(ctx context.Context, s *check.Session) {
			a := s.Get(ctx, "/own")
			s.Report("a step of the room", a, a.ExpectNotFound(), "")
		},
	}
}

// TestRightAnswersPass counts the checks of a room whose answers are right.
func TestRightAnswersPass(t *testing.T) {
	t.Parallel()

	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	mux.HandleFunc("OPTIONS /", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Access-Control-Allow-Origin", "*") })
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /openapi.json", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /own", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	var out strings.Builder

	err := command(t.Context(), &out, []rooms.Room{lab()}, []string{"lab", server.URL}, unset)
	if want := "8 checks of lab passed at " + server.URL; err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("got %v, want %q in\n%s", err, want, &out)
	}
}

// TestWrongAnswersFail: every check fails when its answer is wrong.
func TestWrongAnswersFail(t *testing.T) {
	t.Parallel()

	answers := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); w.Write([]byte(body)) }
	}
	for name, c := range map[string]struct {
		handler http.Handler
		want    []string
	}{
		"every answer is 200": {answers(200, `{}`), []string{
			"ok    health", "FAIL  a step of the room", "FAIL  GET /mine without a token",
			"FAIL  PUT /all with a forged token", "want status 401: {}",
			" allowed, got ", "6 of 8 checks of lab failed",
		}},
		"every answer is 503": {answers(503, `{"message":"Service Unavailable"}`),
			[]string{"FAIL  health", `want status 200: {"message":"Service Unavailable"}`, "8 of 8 checks of lab failed"}},
		"a 404 that is not ours": {answers(404, `nothing here`), []string{"want a problem document: nothing here"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := httptest.NewServer(c.handler)
			t.Cleanup(server.Close)

			var out strings.Builder

			err := command(t.Context(), &out, []rooms.Room{lab()}, []string{"lab", server.URL}, unset)
			if err == nil {
				t.Fatalf("the checks passed:\n%s", &out)
			}

			for _, want := range c.want {
				if !strings.Contains(out.String()+err.Error(), want) {
					t.Errorf("the output lacks %q:\n%s%v", want, &out, err)
				}
			}
		})
	}

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()

	var out strings.Builder

	err := command(t.Context(), &out, []rooms.Room{lab()}, []string{"lab", server.URL}, unset)
	if err == nil || !strings.Contains(err.Error(), "8 of 8 checks of lab failed") {
		t.Errorf("without a server: %v\n%s", err, &out)
	}
}

// TestOwnAddressIsClosed: with DIRECT, the address behind CloudFront must refuse a public
// read.
func TestOwnAddressIsClosed(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"closed":       {403, `{"type":"urn:problem-type:matchday:not_through_cdn"}`, "ok    GET /health past CloudFront"},
		"open":         {200, `{}`, "FAIL  GET /health past CloudFront"},
		"a 403 of AWS": {403, `{"message":"Forbidden"}`, "want the problem not_through_cdn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/lab/health" {
					t.Errorf("it asks for %s, want /lab/health", r.URL.Path)
				}

				w.WriteHeader(c.status)
				w.Write([]byte(c.body))
			}))
			t.Cleanup(server.Close)

			var out strings.Builder
			closed(t.Context(), &check.Session{Out: &out, Client: server.Client()}, lab().Spec, server.URL+"/lab")

			if !strings.Contains(out.String(), c.want) {
				t.Errorf("the output lacks %q:\n%s", c.want, &out)
			}
		})
	}
}

// TestArguments: wrong arguments return an error that lists the valid values.
func TestArguments(t *testing.T) {
	t.Parallel()

	for want, all := range map[string][][]string{
		"https://": {nil, {"lab", ""}, {"lab", "api.example.com"}, {"lab", "ftp://api.example.com"},
			{"lab", "https://api.example.com?x=1"}, {"https://a.example"}},
		"ROOM=shed; valid rooms: lab, pub": {{"shed", "https://a.example"}},
	} {
		for _, args := range all {
			known := []rooms.Room{lab(), {Room: app.Room{Spec: spec.Room{Name: "pub"}}}}
			if err := command(t.Context(), &strings.Builder{}, known, args, unset); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("arguments %q: got %v, want %q", args, err, want)
			}
		}
	}
}

// TestDescriptionIsNotDeployed: the OpenAPI document must be absent from a deployed
// API.
func TestDescriptionIsNotDeployed(t *testing.T) {
	t.Parallel()

	for status, fails := range map[int]bool{http.StatusNotFound: false, http.StatusOK: true} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))

		var out strings.Builder

		s := check.Session{Base: server.URL, Out: &out, Client: server.Client()}
		run(t.Context(), &s, rooms.Room{}, "https://example.com")
		server.Close()

		if got := strings.Contains(out.String(), "FAIL  the OpenAPI document, which is not deployed"); got != fails {
			t.Errorf("status %d: the check fails: %v, want %v\n%s", status, got, fails, &out)
		}
	}
}
