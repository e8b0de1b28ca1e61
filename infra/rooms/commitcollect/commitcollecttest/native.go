package commitcollecttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/oauth2"

	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/cognito"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect"
	"matchday/pkg/spec"
)

// The user pool's client for native apps, and where its sign-ins return.
const (
	Native   = "native-client"
	Redirect = "com.example.app:/signed-in"
)

// SignInApp signs a user in on a phone, at the page of the user pool.
func (w *World) SignInApp(user string) cognito.Tokens {
	w.T.Helper()

	proof := oauth2.GenerateVerifier()
	to := w.submit(pool+"/pool/oauth2/authorize", url.Values{
		"client_id": {Native}, "redirect_uri": {Redirect}, "response_type": {"code"}, "scope": {"openid email"}, "state": {"s"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(proof)}, "code_challenge_method": {"S256"}, "user": {user},
	})

	return w.Tokens(url.Values{
		"grant_type": {"authorization_code"}, "client_id": {Native}, "redirect_uri": {Redirect}, "code": to.Query()["code"],
		"code_verifier": {proof},
	})
}

// Tokens asks the token endpoint of the user pool, which must accept the form.
func (w *World) Tokens(form url.Values) (t cognito.Tokens) {
	w.T.Helper()

	r := httptest.NewRequest(http.MethodPost, pool+"/pool/oauth2/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	out := httptest.NewRecorder()
	if w.Pool.ServeHTTP(out, r); out.Code != http.StatusOK {
		w.T.Fatalf("the token endpoint: got %d %s", out.Code, out.Body)
	}

	testkit.Must(w.T, json.Unmarshal(out.Body.Bytes(), &t))

	return t
}

// AskApp calls the API as a native app with a token: without cookies, and without an origin. body is JSON or "".
func (w *World) AskApp(token, method, target, body string) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	path, _, _ := strings.Cut(target, "?")

	for _, f := range commitcollect.Room().Functions {
		on, ok := f.On.(spec.Route)
		if !ok || on.Method != method || !matches(on.Path, path) {
			continue
		}

		e := w.Event(method, target)
		e.Body, e.Headers["authorization"] = body, "Bearer "+token

		return w.Routes[f.Name](e)
	}

	w.T.Fatalf("there is no route %s %s", method, target)

	return events.APIGatewayV2HTTPResponse{}
}

// Event is a request of nobody, without a body.
func (w *World) Event(method, target string) events.APIGatewayV2HTTPRequest {
	e := apigateway.Event(method, target, "", nil)
	delete(e.Headers, "origin")

	return e
}
