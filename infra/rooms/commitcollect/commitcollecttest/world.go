// Package commitcollecttest is the world of the room's tests: its tables and queues, a user
// pool with its sign-in page, and Strava.
package commitcollecttest

import (
	"matchday/infra/sim/s3"
	"matchday/infra/testkit/pooltest"

	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/cognito"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/commitcollect/notice"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/spec"
)

// Noon is the time at which tests begin.
var Noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

// The hosts of the world. The simulators answer only what is on this machine.
const (
	App       = "https://app.test" // the origin of the app
	api       = "https://127.0.0.2"
	pool      = "https://127.0.0.3"
	stravaURL = "https://127.0.0.4"
)

// Secret is the secret of the webhook's address, as in the sample events.
const Secret = "local-webhook"

// World is the world of one test.
type World struct {
	*testkit.World
	Routes map[string]testkit.Route
	Pool   *cognito.Pool
	Strava *strava.Sim
	// Outage answers a request to Strava in its place, and reports whether it did. It may
	// be nil.
	Outage func(http.ResponseWriter, *http.Request) bool
	Origin string // of the page whose requests Ask sends
	// PoolIsDown makes requests to the user pool fail.
	PoolIsDown bool

	cookies map[string]string // of each user's browser: the Cookie header
}

// New returns a world without users, models and a subscription.
func New(t testing.TB, faults strava.Faults) *World {
	t.Helper()
	w := &World{World: testkit.New(t, commitcollect.Room(), Noon), cookies: map[string]string{}, Origin: App}
	w.Pool = pooltest.Attach(w.World, pool+"/pool", "client")
	w.Pool.AllowRedirects(api+spec.SignedIn, App)
	w.Pool.AddNative(Native, Redirect)
	w.Provider = network(w.send)

	w.Strava = strava.New(strava.Config{Clock: w.Clock, ID: "4711", Secret: "app-s3cret", HTTP: network(w.send), Faults: faults})
	for name, value := range map[string]string{
		spec.EnvOrigins: App,
		spec.EnvAPI:     api,
		spec.EnvIssuer:  pool + "/pool",
		spec.EnvSignIn:  pool + "/pool",
		spec.EnvClient:  "client",
		spec.EnvNative:  Native,
		link.StravaApp:  `{"clientId":"4711","clientSecret":"app-s3cret"}`,
		link.StravaURL:  stravaURL,
		link.TokenKeys:  link.NewSecret("now"),
		workout.Webhook: Secret,

		milestone.SettlingMinutes: "0", // unless a test sets another
	} {
		w.Settings[name] = value
	}

	w.Files = s3.New(w.Buckets...)
	w.Routes = w.ServeRoutes()

	return w
}

// network is an http.RoundTripper that answers in the process.
type network func(*http.Request) (*http.Response, error)

func (n network) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

// send answers a request to one of the hosts.
func (w *World) send(r *http.Request) (*http.Response, error) {
	out := httptest.NewRecorder()

	switch "https://" + r.URL.Host {
	case pool:
		if w.PoolIsDown {
			return nil, errors.New("the pool is down")
		}

		w.Pool.ServeHTTP(out, r)
	case stravaURL:
		if w.Outage == nil || !w.Outage(out, r) {
			w.Strava.ServeHTTP(out, r)
		}
	case api:
		body := []byte{}
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}

		answer := w.request(r.Method, r.URL.RequestURI(), "", string(body), "")
		for name, value := range answer.Headers {
			out.Header().Set(name, value)
		}

		out.WriteHeader(answer.StatusCode)
		out.WriteString(answer.Body)
	default:
		return nil, fmt.Errorf("there is no host %s", r.URL.Host)
	}

	return out.Result(), nil
}

// request calls the route of a target: with the cookies of a browser, or with claims of an
// administrator.
func (w *World) request(method, target, cookies, body, admin string) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	path, _, _ := strings.Cut(target, "?")

	for _, f := range commitcollect.Room().Functions {
		on, ok := f.On.(spec.Route)
		if !ok || on.Method != method || !matches(on.Path, path) {
			continue
		}

		e := testkit.Request(method, target, admin, body)
		if on.Auth != spec.Admin {
			e = apigateway.Event(method, target, body, nil)
		}

		for c := range strings.SplitSeq(cookies, "; ") {
			if c != "" {
				e.Cookies = append(e.Cookies, c)
			}
		}

		if delete(e.Headers, "origin"); w.Origin != "" {
			e.Headers["origin"] = w.Origin
		}

		return w.Routes[f.Name](e)
	}

	w.T.Fatalf("there is no route %s %s", method, target)

	return events.APIGatewayV2HTTPResponse{}
}

func matches(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(a) != len(b) {
		return false
	}

	for i := range a {
		if a[i] != b[i] && !strings.HasPrefix(a[i], "{") {
			return false
		}
	}

	return true
}

// Ask calls the API as the browser of a user, "" for one that is not signed in. body is a
// value to encode, or nil.
func (w *World) Ask(user, method, target string, body any) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	text := ""

	if body != nil {
		encoded, err := json.Marshal(body)
		testkit.Must(w.T, err)

		text = string(encoded)
	}

	return w.request(method, target, w.cookies[user], text, "")
}

// AskAdmin calls the API as an administrator.
func (w *World) AskAdmin(method, target string, body any) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	var text bytes.Buffer
	if body != nil {
		testkit.Must(w.T, json.NewEncoder(&text).Encode(body))
	}

	return w.request(method, target, "", text.String(), testkit.Administrator)
}

// redirect returns where an answer sends the browser.
func (w *World) redirect(out events.APIGatewayV2HTTPResponse) *url.URL {
	w.T.Helper()

	if out.StatusCode != http.StatusFound {
		w.T.Fatalf("got %d %s, want a redirect", out.StatusCode, out.Body)
	}

	to, err := url.Parse(testkit.Header(out).Get("Location"))
	testkit.Must(w.T, err)

	return to
}

// keep keeps the cookies of an answer in the browser of a user.
func (w *World) keep(user string, out events.APIGatewayV2HTTPResponse) {
	w.T.Helper()

	jar := map[string]string{}

	for c := range strings.SplitSeq(w.cookies[user], "; ") {
		if name, value, ok := strings.Cut(c, "="); ok {
			jar[name] = value
		}
	}

	for _, line := range out.Cookies {
		c, err := http.ParseSetCookie(line)
		testkit.Must(w.T, err)

		if jar[c.Name] = c.Value; c.MaxAge < 0 {
			delete(jar, c.Name)
		}
	}

	var all []string
	for name, value := range jar {
		all = append(all, name+"="+value)
	}

	w.cookies[user] = strings.Join(all, "; ")
}

// Cookies returns the Cookie header of a user's browser.
func (w *World) Cookies(user string) string { return w.cookies[user] }

// SetCookie puts a cookie into the browser of a user.
func (w *World) SetCookie(user, name, value string) {
	w.keep(user, events.APIGatewayV2HTTPResponse{Cookies: []string{name + "=" + value}})
}

// submit sends a form to one of the hosts, and returns where it redirects.
func (w *World) submit(to string, form url.Values) *url.URL {
	w.T.Helper()

	r, err := http.NewRequest(http.MethodPost, to, strings.NewReader(form.Encode()))
	testkit.Must(w.T, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	out, err := w.send(r)
	testkit.Must(w.T, err)

	if out.StatusCode != http.StatusFound {
		body, _ := io.ReadAll(out.Body)
		w.T.Fatalf("%s: got %d %s, want a redirect", to, out.StatusCode, body)
	}

	next, err := out.Location()
	testkit.Must(w.T, err)

	return next
}

// SignIn signs the browser of a user in.
func (w *World) SignIn(user string) {
	w.T.Helper()
	w.SignInAgain(user, user)
}

// SignInAgain signs a user in by another browser, for which Ask takes that browser's name.
func (w *World) SignInAgain(user, browser string) {
	w.T.Helper()
	finish := w.Ask(browser, http.MethodGet, w.Begin(user, browser).RequestURI(), nil)
	w.redirect(finish)
	w.keep(browser, finish)
}

// SignedIn returns the routes as testkit.SignedIn.
func (w *World) SignedIn() map[string]testkit.Route {
	return testkit.SignedIn(commitcollect.Room(), w.Routes, w.Origin, func(user string) []string {
		w.SignIn(user)
		return strings.Split(w.cookies[user], "; ")
	})
}

// Begin submits the sign-in page, and returns where it sends the browser.
func (w *World) Begin(user, browser string) *url.URL {
	w.T.Helper()
	start := w.Ask(browser, http.MethodGet, "/auth/login", nil)
	w.keep(browser, start)

	return w.submit(w.redirect(start).String(), url.Values{"user": {user}})
}

// Consent answers Strava's question, and returns where it sends the browser.
func (w *World) Consent(user string, athlete int64, answer string, scopes ...string) *url.URL {
	w.T.Helper()
	return w.answer(w.redirect(w.Ask(user, http.MethodGet, "/strava/connect", nil)), athlete, answer, scopes...)
}

// Answer allows everything at a page of Strava, and returns where it sends the browser.
func (w *World) Answer(page string, athlete int64) *url.URL {
	w.T.Helper()

	to, err := url.Parse(page)
	testkit.Must(w.T, err)

	return w.answer(to, athlete, "yes", "activity:read", "activity:read_all")
}

func (w *World) answer(page *url.URL, athlete int64, answer string, scopes ...string) *url.URL {
	w.T.Helper()

	form := page.Query()
	form.Set("athlete", fmt.Sprint(athlete))
	form.Set("answer", answer)
	form["accept"] = scopes

	return w.submit(stravaURL+"/oauth/authorize", form)
}

// Connect connects an athlete to a user.
func (w *World) Connect(user string, athlete int64) {
	w.T.Helper()
	back := w.Consent(user, athlete, "yes", "activity:read", "activity:read_all")
	w.redirect(w.Ask(user, http.MethodGet, back.RequestURI(), nil))
}

// AddModel stores an active model with parts.
func (w *World) AddModel(id string, parts int) {
	w.T.Helper()

	meta := model.Meta{
		PK:         item.Model(id),
		SK:         item.Meta,
		EntityType: "Model",
		ModelID:    id,
		Name:       "Trike",
		Year:       2026,
		PartsTotal: parts,
		IsActive:   true,
	}
	listed := meta
	listed.PK, listed.SK = item.Models, meta.PK
	testkit.PutRows(w.World, tables.Main, meta, listed)

	var all []model.Part
	for n := 1; n <= parts; n++ {
		all = append(all, model.Part{
			PK: meta.PK, SK: item.Part(n), EntityType: "Part", PartIndex: n,
			PartName: fmt.Sprint("Part ", n), MeshFile: fmt.Sprintf("%s/%02d.glb", id, n), AttachPoint: "frame", DisplayOrder: n,
		})
	}

	testkit.PutRows(w.World, tables.Main, all...)
}

// Subscribe subscribes to Strava's webhooks.
func (w *World) Subscribe() {
	w.T.Helper()

	if out := w.AskAdmin(http.MethodPost, "/admin/strava/subscription", nil); out.StatusCode != http.StatusOK {
		w.T.Fatalf("got %d %s", out.StatusCode, out.Body)
	}
}

// Work handles the messages of all queues but the notices', until there are none.
func (w *World) Work() {
	w.T.Helper()
	ingester := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)
	backfiller := testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester)
	purger := testkit.Open(w.World, workout.PurgeWorkoutsFunction(), workout.OpenPurger)

	milestones := testkit.Open(w.World, milestone.EvaluateMilestonesFunction(), milestone.Open)
	settler := testkit.Open(w.World, milestone.SettleMilestonesFunction(), milestone.Open)

	for range 3 {
		testkit.Drain(w.World, link.BackfillQueue, time.Minute, logged(w, backfiller.Backfill))
		testkit.Drain(w.World, workout.EventQueue, time.Minute, logged(w, ingester.IngestEvent))
		testkit.Drain(w.World, link.PurgeQueue, time.Minute, logged(w, purger.PurgeWorkouts))
		testkit.Drain(w.World, milestone.SettleQueue, time.Minute, logged(w, settler.SettleMilestones))
		testkit.Drain(w.World, workout.ChangeQueue, time.Minute, logged(w, milestones.EvaluateMilestones))
	}
}

// logged logs the errors of a use case.
func logged[M any](w *World, do func(context.Context, M) error) func(context.Context, M) error {
	return func(ctx context.Context, m M) error {
		err := do(ctx, m)
		if err != nil {
			w.T.Logf("%+v: %v", m, err)
		}

		return err
	}
}

// Upload adds an activity of an athlete at Strava.
func (w *World) Upload(athlete int64, sport string, start time.Time, metres float64) int64 {
	return w.Strava.Upload(athlete, strava.Activity{
		Name:          "Workout",
		SportType:     sport,
		StartDate:     start,
		Distance:      metres,
		ElevationGain: metres / 100,
		MovingTime:    600,
		ElapsedTime:   660,
	})
}

// Pass lets time pass, in which webhooks arrive, and handles the messages.
func (w *World) Pass(d time.Duration) {
	w.T.Helper()
	w.MoveClock(w.Clock.Now().Add(d))
	w.Work()
}

// Goal is what a milestone counts. Its zero values are a run of 120 km in the year 2026.
type Goal struct {
	Model, Sport, Target string
	Total                int64
	Start                time.Time
	StartDay, EndDay     string
	Source               string
}

// body is the request to start a milestone.
func (g Goal) body() map[string]any {
	year := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if !g.Start.IsZero() {
		year = g.Start
	}

	b := map[string]any{
		"modelId": cmp.Or(g.Model, "trike"), "sport": cmp.Or(g.Sport, "RUN"), "targetType": cmp.Or(g.Target, "DISTANCE_METERS"),
		"totalTarget": cmp.Or(g.Total, 120_000), "periodStartAtUtc": year.Unix(),
	}
	if g.StartDay != "" {
		b["periodStartDay"] = g.StartDay
	}

	if g.Source != "" {
		b["source"] = g.Source
	}

	if g.EndDay != "" {
		b["periodEndDay"] = g.EndDay
	}

	return b
}

// Start starts a milestone of a user, and returns its id.
func (w *World) Start(user string, g Goal) string {
	w.T.Helper()
	return testkit.Decode[struct{ MilestoneID string }](w.World, w.Ask(user, http.MethodPost, "/milestones", g.body())).MilestoneID
}

// Milestone is a milestone as the API shows it.
type Milestone struct {
	Status, State                                           string
	ProgressValue, RawProgress, RemainingToNextPart         int64
	PercentComplete                                         float64
	PartsAwardedCount, ExcludedBeforeStartCount, PartsDelta int
	Awards                                                  []struct{ PartIndex int }
}

// Show returns a milestone of a user.
func (w *World) Show(user, id string) Milestone {
	w.T.Helper()
	return testkit.Decode[Milestone](w.World, w.Ask(user, http.MethodGet, "/milestones/"+id, nil))
}

// Ready returns a world with an active model of twelve parts, a subscription, and users
// who have signed in and connected the athletes 77, 78 and so on.
func Ready(t testing.TB, faults strava.Faults, users ...string) *World {
	t.Helper()
	w := New(t, faults)
	w.AddModel("trike", 12)
	w.Subscribe()

	for i, u := range users {
		w.SignIn(u)
		w.Connect(u, 77+int64(i))
	}

	w.Work()

	return w
}

// End ends the connection of a user as the app does.
func (w *World) End(user string) {
	w.T.Helper()

	if out := w.Ask(user, http.MethodDelete, "/strava/connection", nil); out.StatusCode != http.StatusNoContent {
		w.T.Fatalf("got %d %s", out.StatusCode, out.Body)
	}
}

// Count counts the items of a partition whose sort key begins with a prefix.
func (w *World) Count(table spec.Table, partition, prefix string) (n int) {
	w.T.Helper()

	for _, r := range testkit.Rows[struct{ PK, SK string }](w.World, table) {
		if r.PK == partition && strings.HasPrefix(r.SK, prefix) {
			n++
		}
	}

	return n
}

// WithAPNs adds a simulated Apple to the world.
func (w *World) WithAPNs() *apns.Server {
	w.T.Helper()
	return w.World.WithAPNs(notice.APNSKey, notice.APNSBundle)
}
