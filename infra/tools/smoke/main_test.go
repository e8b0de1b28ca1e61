package main

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/sportmonks"
	rooms "matchday/pkg/fleet"
	"matchday/pkg/pickem"
	"matchday/pkg/spec"
)

const root = "../../.."

func nothing(string) string { return "" }

// TestFleet asks a fleet on this machine, before and after its first sync, and as
// a user.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}
	t.Parallel()
	bin := t.TempDir()
	for _, room := range rooms.Rooms() {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
			"-o", filepath.Join(bin, room.Name)+"/", "./functions/"+room.Name+"/...")
		cmd.Dir = root
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	start := time.Date(2026, 6, 6, 13, 55, 0, 0, time.UTC)
	c := clock.New(start, clock.Free)
	t.Cleanup(c.Stop)
	t.Cleanup(c.Work())
	f, err := fleet.Start(t.Context(), fleet.Config{Clock: c, Root: root, Bin: bin})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	ask := func(room string, getenv func(string) string) string {
		t.Helper()
		var out strings.Builder
		if err := command(t.Context(), &out, []string{room, f.URL + "/" + room + "/"}, getenv); err != nil {
			t.Errorf("%v\n%s", err, &out)
		}
		return out.String()
	}
	if got := ask("cricket", nothing); !strings.Contains(got, "none yet: invoke sync-leagues") || !strings.Contains(got, "12 checks of cricket passed") {
		t.Errorf("an empty fleet: %s", got)
	}
	f.Provider.Play(sportmonks.Generate(1, sportmonks.T20), start.Add(time.Hour), sportmonks.Pace{})
	for _, sync := range []string{"cricket/sync-leagues", "cricket/sync-fixtures", "cricket/sync-teams"} {
		if err := f.Invoke(t.Context(), sync); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Sleep(t.Context(), c.Now().Add(2*time.Minute)); err != nil { // the list of leagues is kept for a minute
		t.Fatal(err)
	}
	token, err := f.Token("someone")
	if err != nil {
		t.Fatal(err)
	}
	got := ask("cricket", func(name string) string { return map[string]string{"TOKEN": token}[name] })
	t.Log("\n" + got)
	for _, want := range []string{
		"1, Coastal Premier League first", "1, Farrowdale Lancers v Carrow Herons first", "the same again, unchanged", "304", "what a lock screen shows",
		"preferences of the token's user", "17 checks of cricket passed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	for _, room := range f.Rooms[1:] {
		more := ask(room.Name, func(name string) string { return map[string]string{"TOKEN": token}[name] })
		t.Log("\n" + more)
		got += more
	}
	if strings.Contains(got, token) {
		t.Error("it prints the token")
	}
}

// TestClosed: of each method one route is tried that wants a user.
func TestClosed(t *testing.T) {
	t.Parallel()
	route := func(method, path string, auth spec.Auth) spec.Function {
		return spec.Function{On: spec.Route{Method: method, Path: path, Auth: auth}}
	}
	got := closed(spec.Room{Functions: []spec.Function{
		route("GET", "/open", spec.Public), route("GET", "/session", spec.Session), route("POST", "/hook", spec.Secret), {On: spec.Task{}},
		route("GET", "/mine/{id}/of/{day}", spec.User), route("GET", "/mine", spec.User), route("PUT", "/all", spec.Admin), route("DELETE", "/all", spec.Admin),
	}})
	if want := []spec.Route{{Method: "GET", Path: "/mine/1/of/1", Auth: spec.User}, {Method: "PUT", Path: "/all", Auth: spec.Admin}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPickem asks what answers as the room does, with and without a member's
// token, and what does not.
func TestPickem(t *testing.T) {
	t.Parallel()
	const token = "of.a.member"
	mux := http.NewServeMux()
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/health" && r.Header.Get("Authorization") != "Bearer "+token {
				status, kind, body := 401, "application/json", `{"message":"Unauthorized"}`
				w.Header().Set("Content-Type", kind)
				w.WriteHeader(status)
				w.Write([]byte(body))
				return
			}
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			w.Write([]byte(body))
		}
	}
	mux.HandleFunc("GET /health", answer(200, "application/json", `{}`))
	mux.HandleFunc("GET /app/events", answer(200, "application/json", `{"events":[]}`))
	mux.HandleFunc("GET /app/events/1999-12-31-none", answer(404, "application/problem+json", `{"status":404}`))
	mux.HandleFunc("/", answer(500, "text/plain", "it should not get here"))
	mux.HandleFunc("OPTIONS /", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Access-Control-Allow-Origin", "*") })
	mux.HandleFunc("GET /openapi.json", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for _, c := range []struct {
		token   string
		checked int
	}{{"", 11}, {token, 13}} {
		var out strings.Builder
		s := smoke{room: pickem.Room, base: server.URL, token: c.token, origin: "https://example.com", out: &out, client: server.Client()}
		if s.run(t.Context()); s.failed > 0 || s.checked != c.checked {
			t.Errorf("%d of %d fail, want %d:\n%s", s.failed, s.checked, c.checked, &out)
		}
	}
	var out strings.Builder
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }))
	t.Cleanup(open.Close)
	s := smoke{room: pickem.Room, base: open.URL, token: token, origin: "https://example.com", out: &out, client: open.Client()}
	s.run(t.Context())
	for _, want := range []string{"FAIL  events", "it should be JSON", "FAIL  an event that is not there", "it should be 404", "it should be 401"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, &out)
		}
	}
}

// TestFailures: whatever is wrong is told, and fails.
func TestFailures(t *testing.T) {
	t.Parallel()
	answers := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); w.Write([]byte(body)) }
	}
	for name, c := range map[string]struct {
		handler http.Handler
		want    []string
	}{
		"everything is open": {answers(200, `{}`), []string{
			"FAIL  a match that is not there", "FAIL  GET /admin/matches without a token", "FAIL  PATCH /teams/1 with a forged one", "it should be 401: {}", "it should allow the origin https://example.com",
		}},
		"everything is down":    {answers(503, `{"message":"Service Unavailable"}`), []string{`FAIL  leagues`, `it should be 200: {"message":"Service Unavailable"}`, "12 of 12 checks of cricket failed"}},
		"no API but a page":     {answers(200, `<html>`), []string{"it should be JSON: <html>"}},
		"another's not found":   {answers(404, `nothing here`), []string{"it should be a problem document: nothing here"}},
		"a league, no matches":  {answers(200, `{"leagues":[{"id":"1","title":"One"}],"matches":[]}`), []string{"1, One first", "none yet: invoke sync-fixtures"}},
		"a match without a tag": {answers(200, `{"leagues":[{"id":"1","title":"One"}],"matches":[{"id":"7"}]}`), []string{"it should have an ETag"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.handler)
			t.Cleanup(server.Close)
			var out strings.Builder
			err := command(t.Context(), &out, []string{"cricket", server.URL}, nothing)
			if err == nil {
				t.Fatalf("it passes:\n%s", &out)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String()+err.Error(), want) {
					t.Errorf("nothing says %q:\n%s%v", want, &out, err)
				}
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	var out strings.Builder
	if err := command(t.Context(), &out, []string{"cricket", server.URL}, nothing); err == nil || !strings.Contains(err.Error(), "12 of 12 checks of cricket failed") {
		t.Errorf("nobody answers: %v\n%s", err, &out)
	}
	for want, all := range map[string][][]string{
		"https://":                    {nil, {"cricket", ""}, {"cricket", "api.example.com"}, {"cricket", "ftp://api.example.com"}, {"cricket", "https://api.example.com?x=1"}, {"https://a.example"}},
		"ROOM=shed is no room of the": {{"shed", "https://a.example"}},
	} {
		for _, args := range all {
			if err := command(t.Context(), &out, args, nothing); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", args, err)
			}
		}
	}
}

// TestDeployed: what is deployed does not describe itself.
func TestDeployed(t *testing.T) {
	t.Parallel()
	for status, wrong := range map[int]bool{http.StatusNotFound: false, http.StatusOK: true} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		var out strings.Builder
		s := smoke{room: spec.Room{Name: "lab"}, base: server.URL, origin: "https://example.com", out: &out, client: server.Client()}
		s.run(t.Context())
		server.Close()
		if got := strings.Contains(out.String(), "FAIL  the description, which is not deployed"); got != wrong {
			t.Errorf("answered %d: %s", status, &out)
		}
	}
}
