package apigateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/clock"
)

// TestScope: with a scope, an access token of that scope passes and an ID token, which
// has none, is forbidden. A public route takes both.
func TestScope(t *testing.T) {
	t.Parallel()

	c := clock.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), clock.Free)
	t.Cleanup(c.Stop)

	tokens := map[string]map[string]any{
		"access": {"sub": "u1", "token_use": "access", "scope": "email openid"},
		"id":     {"sub": "u1", "token_use": "id"},
		"other":  {"sub": "u1", "token_use": "access", "scope": "openid2 aws.cognito.signin.user.admin"},
	}

	var scopes []any

	g, err := apigateway.New(apigateway.Config{
		Clock: c, Scope: "openid",
		Routes: []apigateway.Route{
			{Method: "GET", Path: "/mine", Function: "mine"},
			{Method: "GET", Path: "/all", Function: "all", Auth: apigateway.Public},
		},
		Invoke: func(_ context.Context, _ string, payload []byte) ([]byte, error) {
			var e struct {
				RequestContext struct {
					Authorizer struct{ JWT struct{ Scopes []any } }
				}
			}
			if err := json.Unmarshal(payload, &e); err != nil {
				return nil, err
			}

			scopes = e.RequestContext.Authorizer.JWT.Scopes

			return []byte(`{"statusCode":204}`), nil
		},
		Verify: func(token string) (map[string]any, error) {
			if tokens[token] == nil {
				return nil, errors.New("unknown")
			}

			return tokens[token], nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, x := range []struct {
		path, token string
		want        int
	}{{"/mine", "access", 204}, {"/mine", "id", 403}, {"/mine", "other", 403}, {"/mine", "none", 401}, {"/all", "id", 204}} {
		scopes = nil
		r := httptest.NewRequest(http.MethodGet, x.path, nil)
		r.Header.Set("Authorization", "Bearer "+x.token)

		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)

		if w.Code != x.want {
			t.Errorf("%s with the %s token: %d, want %d", x.path, x.token, w.Code, x.want)
		}

		if x.token == "access" && (len(scopes) != 1 || scopes[0] != "openid") {
			t.Errorf("the function gets the scopes %v, want openid", scopes)
		}
	}
}
