package smoke_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"matchday/infra/rooms/bestshot/smoke"
	"matchday/infra/tools/smoke/check"
)

const token = "of.a.member"

// run runs the steps against an API whose route for members answers a request with the token
// with a status and a body, and whose admin route answers it with a status.
func run(t *testing.T, with string, status int, body string, admin int) (*check.Session, string) {
	t.Helper()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v2/health", func(http.ResponseWriter, *http.Request) {})

	signed := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			status, body := status, body
			if r.Header.Get("Authorization") != "Bearer "+token {
				status, body = http.StatusUnauthorized, `{"message":"Unauthorized"}`
			}

			w.WriteHeader(status)
			w.Write([]byte(body))
		}
	}
	mux.HandleFunc("GET /api/v2/tournaments", signed(status, body))
	mux.HandleFunc("GET /api/v2/admin/settlements", signed(admin, `{}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	var out strings.Builder

	s := &check.Session{Base: server.URL, Token: with, Client: server.Client(), Out: &out}
	smoke.Run(t.Context(), s)

	return s, out.String()
}

// TestStepsWithAndWithoutAToken: the right answers pass, and a token adds two checks.
func TestStepsWithAndWithoutAToken(t *testing.T) {
	t.Parallel()

	for token, want := range map[string]int{"": 3, token: 5} {
		if s, out := run(t, token, 200, `{"data":[]}`, 401); s.Failed > 0 || s.Checked != want {
			t.Errorf("token %q: %d of %d checks failed, want 0 of %d:\n%s", token, s.Failed, s.Checked, want, out)
		}
	}
}

// TestWrongAnswersFail: a database that is not reached, an answer that is no list, and an admin
// route that accepts a user are reported.
func TestWrongAnswersFail(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status int
		body   string
		admin  int
		want   string
	}{
		"no database":                          {503, `{"status":503}`, 401, "FAIL  tournaments "},
		"no list":                              {200, `{}`, 401, "want a list of tournaments"},
		"a user is taken for an administrator": {200, `{"data":[]}`, 200, "FAIL  settlements with a user's token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if s, out := run(t, token, c.status, c.body, c.admin); s.Failed != 1 || !strings.Contains(out, c.want) {
				t.Errorf("%d checks failed, want 1 with %q:\n%s", s.Failed, c.want, out)
			}
		})
	}
}
