package commitcollect_test

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/strava"
	"matchday/infra/stage"
	"matchday/infra/testkit"
	room "matchday/pkg/commitcollect"
	"matchday/pkg/spec"
)

// appPage is the page of the app. After the sign-in it asks who is signed in.
var appPage = template.Must(template.New("").Parse(`<!doctype html><meta charset="utf-8"><title>The app</title><link rel="icon" href="data:,">
<a href="{{.}}/auth/login">Sign in</a><p id="answer"></p>
<script type="module">
if (new URLSearchParams(location.search).get("login") === "success") {
  const answer = await fetch("{{.}}/session", { credentials: "include" });
  document.querySelector("#answer").textContent = answer.status + " " + await answer.text();
}
</script>`))

// TestSessionNeedsOneSite signs a user in with a real browser, by the sign-in page of the user pool.
// The browser then has the cookie, and sends it when the user visits the API. A fetch by the page
// sends it only if page and API are of one site. A stage is refused if they are not.
func TestSessionNeedsOneSite(t *testing.T) {
	t.Parallel()

	var hosts atomic.Pointer[http.ServeMux] // of the current case

	hosts.Store(http.NewServeMux())

	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hosts.Load().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)

	tab, complaints := consoletest.Browser(t, chromedp.IgnoreCertErrors,
		chromedp.Flag("host-resolver-rules", "MAP * "+server.Listener.Addr().String()))

	for name, c := range map[string]struct {
		page, api string // hosts
		oneSite   bool
	}{
		"one domain":             {"app.matchday.test", "api.matchday.test", true},
		"two domains":            {"app.matchday.test", "api.elsewhere.test", false},
		"strangers of github.io": {"ann.github.io", "bob.github.io", false},
		"the default names":      {"d1.cloudfront.net", "x1.execute-api.us-east-1.amazonaws.com", false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := readStage(c.page, c.api); (err == nil) != c.oneSite {
				t.Errorf("the stage is read with the error %v, want one unless the page and the API are of one site", err)
			}

			page, api := "https://"+c.page, "https://"+c.api
			hosts.Store(serveRoom(t, page, api))

			run := func(actions ...consoletest.Action) {
				t.Helper()

				if err := consoletest.Do(tab, actions...); err != nil {
					t.Fatalf("%v; the page complained %q", err, complaints())
				}
			}

			run(chromedp.Navigate(page), chromedp.Click(chromedp.CSS("a")),
				consoletest.See(`document.querySelector("[name=user]")`), chromedp.SendKeys(chromedp.CSS("[name=user]"), "ann\r"))

			const user = `"userId":"ann"`
			if c.oneSite {
				run(consoletest.Says("#answer", "200 "), consoletest.Says("#answer", user))
			} else {
				run(consoletest.Says("#answer", "401 "), consoletest.Says("#answer", ":missing_session"))
			}

			run(chromedp.Navigate(api+"/session"), consoletest.Says("body", user))
		})
	}
}

// serveRoom returns the hosts of a room that signs in to the API from the page: both, and that of
// the user pool.
func serveRoom(t *testing.T, page, api string) *http.ServeMux {
	t.Helper()
	w := commitcollecttest.New(t, strava.Faults{})
	w.Pool.AllowRedirects(api + spec.SignedIn)

	w.Settings[spec.EnvOrigins], w.Settings[spec.EnvAPI], w.Origin = page, api, page

	gateway, err := apigateway.New(apigateway.Config{
		Clock: w.Clock,
		Routes: []apigateway.Route{
			{Method: "GET", Path: "/auth/login", Function: "commitcollect/start-login", Auth: apigateway.Public},
			{Method: "GET", Path: spec.SignedIn, Function: "commitcollect/finish-login", Auth: apigateway.Public},
			{Method: "GET", Path: "/session", Function: "commitcollect/get-session", Auth: apigateway.Public},
		},
		Invoke: func(_ context.Context, function string, payload []byte) ([]byte, error) {
			var e events.APIGatewayV2HTTPRequest
			if err := json.Unmarshal(payload, &e); err != nil {
				return nil, err
			}

			return json.Marshal(w.Routes[function](e))
		},
		CORS: apigateway.CORS{AllowOrigins: []string{page}, AllowCredentials: true},
	})
	testkit.Must(t, err)

	issuer, err := url.Parse(w.Pool.Issuer())
	testkit.Must(t, err)

	mux := http.NewServeMux()
	mux.Handle(strings.TrimPrefix(api, "https://")+"/", gateway)
	mux.Handle(issuer.Host+"/", w.Pool)
	mux.HandleFunc(strings.TrimPrefix(page, "https://")+"/", func(out http.ResponseWriter, _ *http.Request) {
		testkit.Must(t, appPage.Execute(out, api))
	})

	return mux
}

// readStage reads a stage whose page and API have these hosts.
func readStage(page, api string) error {
	room := room.Room().Spec
	context := map[string]string{
		"stage":       "dev",
		"account":     "123456789012",
		"region":      "us-east-1",
		"origins":     "https://" + page,
		"domain":      api,
		"certificate": "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000",
	}

	for _, s := range room.Settings {
		if s.Required {
			context[s.Name] = s.Example
		}
	}

	_, err := stage.Read([]spec.Room{room}, context, func(string) string { return "" })

	return err
}
