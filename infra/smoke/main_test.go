package main

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchday/infra/local/clock"
	"matchday/infra/local/fleet"
	"matchday/infra/local/sportmonks"
)

const root = "../.."

func nothing(string) string { return "" }

// TestFleet asks a fleet on this machine, before and after its first sync, and as
// a user.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}
	t.Parallel()
	bin := t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
		"-o", filepath.Join(bin, "cricket")+"/", "./functions/cricket/...")
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
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
	ask := func(getenv func(string) string) string {
		t.Helper()
		var out strings.Builder
		if err := command(t.Context(), &out, []string{f.URL + "/cricket/"}, getenv); err != nil {
			t.Errorf("%v\n%s", err, &out)
		}
		return out.String()
	}
	if got := ask(nothing); !strings.Contains(got, "none yet: invoke sync-leagues") || !strings.Contains(got, "10 checks passed") {
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
	got := ask(func(name string) string { return map[string]string{"TOKEN": token}[name] })
	t.Log("\n" + got)
	for _, want := range []string{
		"1, Coastal Premier League first", "1, Farrowdale Lancers v Carrow Herons first", "the same again, unchanged", "304", "what a lock screen shows",
		"preferences of the token's user", "15 checks passed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if strings.Contains(got, token) {
		t.Error("it prints the token")
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
			"FAIL  a match that is not there", "FAIL  GET /user/device without a token", "FAIL  PATCH /leagues/1 with a forged one", "it should be 401: {}", "it should allow the origin https://example.com",
		}},
		"everything is down":    {answers(503, `{"message":"Service Unavailable"}`), []string{`FAIL  leagues`, `it should be 200: {"message":"Service Unavailable"}`, "10 of 10 checks failed"}},
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
			err := command(t.Context(), &out, []string{server.URL}, nothing)
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
	if err := command(t.Context(), &out, []string{server.URL}, nothing); err == nil || !strings.Contains(err.Error(), "10 of 10 checks failed") {
		t.Errorf("nobody answers: %v\n%s", err, &out)
	}
	for _, args := range [][]string{nil, {""}, {"api.example.com"}, {"ftp://api.example.com"}, {"https://api.example.com?x=1"}, {"https://a.example", "https://b.example"}} {
		if err := command(t.Context(), &out, args, nothing); err == nil || !strings.Contains(err.Error(), "https://") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestDeployed: what is deployed does not describe itself.
func TestDeployed(t *testing.T) {
	t.Parallel()
	for status, wrong := range map[int]bool{http.StatusNotFound: false, http.StatusOK: true} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		var out strings.Builder
		s := smoke{base: server.URL, origin: "https://example.com", out: &out, client: server.Client()}
		s.run(t.Context())
		server.Close()
		if got := strings.Contains(out.String(), "FAIL  the description, which is not deployed"); got != wrong {
			t.Errorf("answered %d: %s", status, &out)
		}
	}
}
