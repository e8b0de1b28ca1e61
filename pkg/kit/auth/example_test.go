package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// GetProfile is a request of a signed-in user: UserID comes from the verified token.
type GetProfile struct{ auth.User }

type Profile struct {
	Body struct {
		UserID string `json:"userId"`
	}
}

func ExampleUser() {
	fn := spec.Function{Name: "cricket/get-profile", On: spec.Route{Method: "GET", Path: "/profile", Auth: spec.User}}
	h := httpapi.Handler(fn, func(_ context.Context, in *GetProfile) (*Profile, error) {
		out := &Profile{}
		out.Body.UserID = in.UserID

		return out, nil
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/profile", nil)) // without API Gateway's token
	fmt.Println(w.Code, w.Body)
	// Output: 401 {"type":"urn:problem-type:matchday:unauthenticated","title":"Unauthorized","status":401,"detail":"sign in first"}
}
