package smoke_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"matchday/infra/rooms/cricket/smoke"
	"matchday/infra/tools/smoke/check"
)

// run runs the steps against a handler.
func run(t *testing.T, h http.Handler, token string) (*check.Session, string) {
	t.Helper()

	server := httptest.NewServer(h)
	t.Cleanup(server.Close)

	var out strings.Builder

	s := &check.Session{Base: server.URL, Token: token, Client: server.Client(), Out: &out}
	smoke.Run(t.Context(), s)

	return s, out.String()
}

// TestSteps runs the steps against the right answers.
func TestSteps(t *testing.T) {
	t.Parallel()

	const token = "of.a.user"

	mux := http.NewServeMux()
	answer := func(pattern, kind string, status int, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			w.Write([]byte(body))
		})
	}
	answer("GET /leagues", "application/json", 200, `{"leagues":[{"id":"3","title":"Coastal Premier League"}]}`)
	answer("GET /matches/7/display", "application/json", 200, `{"score":"1/0"}`)
	answer("GET /matches/{id}", "application/problem+json", 404, `{"status":404}`)
	mux.HandleFunc("GET /matches", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("league") == "3" {
			w.Write([]byte(`{"matches":[{"id":"7","local":{"name":"Lancers"},"visitor":{"name":"Herons"}}]}`))
		}
	})
	mux.HandleFunc("GET /matches/7", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"a"`)

		if r.Header.Get("If-None-Match") == `"a"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}

		w.Write([]byte(`{"status":"1st Innings"}`))
	})
	mux.HandleFunc("GET /user/preferences", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})

	for token, want := range map[string]int{"": 6, token: 7} {
		s, out := run(t, mux, token)
		if s.Failed > 0 || s.Checked != want {
			t.Errorf("token %q: %d of %d checks failed, want 0 of %d:\n%s", token, s.Failed, s.Checked, want, out)
		}

		for _, want := range []string{"1, Coastal Premier League first", "1, Lancers v Herons first", "1st Innings", "304"} {
			if !strings.Contains(out, want) {
				t.Errorf("the output lacks %q:\n%s", want, out)
			}
		}
	}
}

// TestWrongAnswersFail gives the steps wrong answers, and some that are right while
// nothing is synced.
func TestWrongAnswersFail(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status int
		body   string
		want   []string
	}{
		"every answer is 200": {200, `{}`, []string{"FAIL  a match that does not exist", "ok    leagues", "none yet: invoke sync-leagues"}},
		"every answer is 503": {503, `{"message":"Service Unavailable"}`,
			[]string{"FAIL  leagues", `want status 200: {"message":"Service Unavailable"}`}},
		"a web page":             {200, `<html>`, []string{"want a JSON body: <html>"}},
		"a 404 that is not ours": {404, `nothing here`, []string{"want a problem document: nothing here"}},
		"a league, no matches": {200, `{"leagues":[{"id":"1","title":"One"}],"matches":[]}`,
			[]string{"1, One first", "none yet: invoke sync-fixtures"}},
		"a match without an ETag": {200, `{"leagues":[{"id":"1","title":"One"}],"matches":[{"id":"7"}]}`, []string{"want an ETag"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s, out := run(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				w.Write([]byte(c.body))
			}), "")
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("the output lacks %q:\n%s", want, out)
				}
			}

			if s.Failed == 0 {
				t.Errorf("no check failed:\n%s", out)
			}
		})
	}
}
