package smoke_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"matchday/infra/rooms/pickem/smoke"
	"matchday/infra/tools/smoke/check"
)

const token = "of.a.member"

// answer answers requests with the token, and refuses all others with 401.
func answer(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, kind, body := status, kind, body
		if r.Header.Get("Authorization") != "Bearer "+token {
			status, kind, body = http.StatusUnauthorized, "application/json", `{"message":"Unauthorized"}`
		}

		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
}

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

// TestStepsNeedAToken runs the steps against the right answers, with and without
// a member's token.
func TestStepsNeedAToken(t *testing.T) {
	t.Parallel()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /app/events", answer(200, "application/json", `{"events":[]}`))
	mux.HandleFunc("GET /app/events/1999-12-31-none", answer(404, "application/problem+json", `{"status":404}`))
	mux.HandleFunc("/", answer(500, "text/plain", "no step requests this"))

	for token, want := range map[string]int{"": 0, token: 2} {
		if s, out := run(t, mux, token); s.Failed > 0 || s.Checked != want {
			t.Errorf("token %q: %d of %d checks failed, want 0 of %d:\n%s", token, s.Failed, s.Checked, want, out)
		}
	}
}

// TestUserWhoIsNoMember: the token of a user of another room passes one check.
func TestUserWhoIsNoMember(t *testing.T) {
	t.Parallel()

	for body, failed := range map[string]int{
		`{"status":403,"type":"urn:problem-type:matchday:not_a_member"}`: 0,
		`{"message":"Forbidden"}`: 1,
	} {
		s, out := run(t, answer(403, "application/problem+json", body), token)
		if s.Checked != 1 || s.Failed != failed {
			t.Errorf("%s: %d of %d checks failed, want %d of 1:\n%s", body, s.Failed, s.Checked, failed, out)
		}
	}
}

// TestWrongAnswersFail runs the steps against a page that is no API.
func TestWrongAnswersFail(t *testing.T) {
	t.Parallel()

	s, out := run(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }), token)
	for _, want := range []string{"FAIL  events", "want a JSON body", "FAIL  an event that does not exist", "want status 404"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}

	if s.Failed != 2 {
		t.Errorf("%d checks failed, want 2", s.Failed)
	}
}
