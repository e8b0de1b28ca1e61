package fleet

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/cognito"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// TestCall signs users in, one of them as an administrator, and returns the API's
// errors.
func TestCall(t *testing.T) {
	t.Parallel()

	c := clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), 1)
	t.Cleanup(c.Stop)

	users, err := cognito.New(c, "http://localhost/identity", clientID, "")
	if err != nil {
		t.Fatal(err)
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims, _ := users.Verify(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))

		groups, _ := claims["cognito:groups"].([]any)
		if !slices.Contains(groups, any("lab-admin")) {
			http.Error(w, "for administrators", http.StatusForbidden)
			return
		}

		w.Write([]byte(`{"user":"` + claims["sub"].(string) + `"}`))
	}))
	t.Cleanup(server.Close)
	f := &Fleet{
		Config: Config{Clock: c, Rooms: []Room{{Room: app.Room{Spec: spec.Room{Name: "lab"}}}}},
		URL:    server.URL,
		Users:  users,
		Admins: users,
	}

	var out struct{ User string }
	for range 2 { // signed in, and with the token of before
		if err := f.Call(t.Context(), Administrator, http.MethodGet, "/x", nil, &out); err != nil || out.User != Administrator {
			t.Errorf("the administrator is %q, %v", out.User, err)
		}
	}

	for _, user := range []string{"", "ann"} {
		r, ok := errors.AsType[*Refusal](f.Call(t.Context(), user, http.MethodGet, "/x", nil, &out))
		if !ok || r.Status != http.StatusForbidden || r.Error() != "GET /x: 403 Forbidden: for administrators\n" {
			t.Errorf("%q gets %v", user, r)
		}
	}
}
