// Package threefctest is the world of the room's tests: its table and queues, a user pool,
// and a mailbox.
package threefctest

import (
	"matchday/infra/sim/s3"
	"matchday/infra/sim/ses"
	"matchday/infra/testkit/pooltest"

	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/cognito"
	"matchday/infra/testkit"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

// Noon is the time at which tests begin.
var Noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

// App is the origin of the app, and API the address of the room's API and of its pages.
const (
	App = "https://app.test"
	API = "https://api.test/threefc"
)

// World is the world of one test.
type World struct {
	*testkit.World
	Routes map[string]testkit.Route
	Origin string // of the page whose requests Ask sends
	Caller string // the address from which Ask sends
	Mail   *ses.Server

	cookies map[string]string // of each user's browser
}

// Accounts returns the user pool, which is empty at first.
func (w *World) Accounts() *cognito.Pool {
	w.T.Helper()

	if w.Users == nil {
		pooltest.Attach(w.World, "https://pool.test/pool", "client")
	}

	return w.Users.(*cognito.Pool)
}

// SetCookie gives the browser of a user the cookie of an answer, or of "name=value".
func (w *World) SetCookie(user, cookie string) { w.cookies[user], _, _ = strings.Cut(cookie, ";") }

// New returns a world.
func New(t testing.TB) *World {
	t.Helper()
	w := &World{World: testkit.New(t, threefc.Room(), Noon), cookies: map[string]string{}, Origin: App}
	w.Settings[spec.EnvOrigins], w.Settings[spec.EnvAPI], w.Settings[signin.MailFrom] = App, API, "3fc@example.com"
	w.Settings[web.LinkKeys] = "the key of links in tests: 32 characters"
	w.Mail = ses.New(ses.Config{Clock: w.Clock})
	w.Mails, w.Files = w.Mail, s3.New(w.Buckets...)
	w.Routes = w.ServeRoutes()

	return w
}

// SignIn signs a user in, whose id is the name.
func (w *World) SignIn(names ...string) {
	w.T.Helper()

	for _, name := range names {
		token, id := session.New()
		row := item.New(item.LoginKey(id), item.Metadata, "AuthSession",
			map[string]string{"userId": name, "email": name + "@example.com"}, w.Clock.Now())
		row.TTL = w.Clock.Now().Add(signin.Cookie.Lifetime).Unix()
		mirror := row
		mirror.PK, mirror.SK = item.UserKey(name), row.PK
		testkit.PutRows(w.World, tables.App, row, mirror)
		w.cookies[name] = signin.Cookie.FullName() + "=" + token
	}
}

// SignedIn returns the routes as testkit.SignedIn, of users who are administrators of leagues.
func (w *World) SignedIn(leagueIDs ...string) map[string]testkit.Route {
	return testkit.SignedIn(threefc.Room(), w.Routes, w.Origin, func(user string) []string {
		w.SignIn(user)

		for _, id := range leagueIDs {
			testkit.PutRows(w.World, tables.App, item.New(item.LeagueKey(id), item.Metadata, "League",
				item.League{ID: id, Name: "Parkside"}, w.Clock.Now()))
			w.Join(League{ID: id}, item.Admin, user)
		}

		return []string{w.cookies[user]}
	})
}

// Join makes users members of a league.
func (w *World) Join(l League, role item.Role, names ...string) {
	w.T.Helper()

	for _, name := range names {
		row := testkit.Row[item.Row[item.League]](w.World, tables.App, item.LeagueKey(l.ID), item.Metadata)

		row.V().Members++
		if role == item.Admin {
			row.V().Admins++
		}

		row.Rev++
		grant := item.New(row.PK, item.GrantKey(name), "Grant",
			item.Grant{LeagueID: l.ID, UserID: name, Role: role, Email: name + "@example.com"}, w.Clock.Now())
		mirror := grant
		mirror.PK, mirror.SK = item.UserKey(name), row.PK
		testkit.PutRows(w.World, tables.App, row)
		testkit.PutRows(w.World, tables.App, grant, mirror)
	}
}

// Header is a header of a request.
type Header struct{ Name, Value string }

// Key is the header of a request that is sent again.
func Key(text string) Header { return Header{"idempotency-key", text} }

// Match is the header of a request that changes what it has read.
func Match(out events.APIGatewayV2HTTPResponse) Header {
	return Header{"if-match", testkit.Header(out).Get("ETag")}
}

// Ask calls the API as the browser of a user, "" for one that is not signed in. body is a
// value to encode, JSON as a string, or nil.
func (w *World) Ask(user, method, target string, body any, headers ...Header) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	text, ok := body.(string)
	if body != nil && !ok {
		encoded, err := json.Marshal(body)
		testkit.Must(w.T, err)

		text = string(encoded)
	}

	path, _, _ := strings.Cut(target, "?")

	for _, f := range threefc.Room().Functions {
		on, ok := f.On.(spec.Route)
		if !ok || !slices.Contains(on.Methods(), method) || !matches(on.Path, path) {
			continue
		}

		e := apigateway.Event(method, target, text, nil)
		if c := w.cookies[user]; c != "" {
			e.Cookies = []string{c}
		}

		e.Headers["origin"], e.RequestContext.HTTP.SourceIP = w.Origin, w.Caller
		for _, h := range headers {
			e.Headers[h.Name] = h.Value
		}

		return w.Routes[f.Name](e)
	}

	w.T.Fatalf("there is no route %s %s", method, target)

	return events.APIGatewayV2HTTPResponse{}
}

// Do is Ask that must succeed.
func (w *World) Do(user, method, target string, body any, headers ...Header) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	out := w.Ask(user, method, target, body, headers...)
	if out.StatusCode >= 300 {
		w.T.Fatalf("%s %s: %d %s", method, target, out.StatusCode, out.Body)
	}

	w.MoveClock(w.Clock.Now().Add(time.Millisecond)) // ids of a later request sort behind

	return out
}

// Serve serves the pages, and returns their address. Links of the pages lead to it from then on, and their
// forms come from there. as makes the visitor another user; at first nobody is signed in.
func (w *World) Serve() (url string, as func(user string)) {
	w.T.Helper()

	var visitor atomic.Value

	visitor.Store("")

	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.Answer(rw, r, visitor.Load().(string))
	}))
	w.T.Cleanup(s.Close)

	w.Settings[spec.EnvAPI], w.Origin = s.URL, s.URL
	w.Routes = w.ServeRoutes()

	return s.URL, func(user string) { visitor.Store(user) }
}

// Answer answers a request as one of the browser of a user, and returns the answer, whose cookies it does not keep.
func (w *World) Answer(rw http.ResponseWriter, r *http.Request, user string) events.APIGatewayV2HTTPResponse {
	w.T.Helper()
	body, err := io.ReadAll(r.Body)
	testkit.Must(w.T, err)

	var headers []Header

	for _, name := range []string{"Origin", "Content-Type", "Idempotency-Key", "If-Match", "Scorer"} {
		if v := r.Header.Get(name); v != "" {
			headers = append(headers, Header{strings.ToLower(name), v})
		}
	}

	out := w.Ask(user, r.Method, r.URL.RequestURI(), string(body), headers...)
	w.Reply(rw, out)

	return out
}

// Reply sends an answer to a browser, with the time of the world.
func (w *World) Reply(rw http.ResponseWriter, out events.APIGatewayV2HTTPResponse) {
	w.T.Helper()
	maps.Copy(rw.Header(), testkit.Header(out))
	rw.Header().Set("Date", w.Clock.Now().Format(http.TimeFormat))

	text := []byte(out.Body)
	if out.IsBase64Encoded {
		var err error

		text, err = base64.StdEncoding.DecodeString(out.Body)
		testkit.Must(w.T, err)
	}

	rw.WriteHeader(out.StatusCode)

	_, _ = rw.Write(text) // the browser may have left
}

// matches reports whether a path is that of a pattern. A literal segment matches itself
// alone, so that goals/undo is not a goal.
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

// League is a league with a season of three teams, a session and players.
type League struct {
	ID, SeasonID, SessionID string
	Players                 []string // their ids: the first three are red, then blue, then yellow
}

// Found creates a league of a user, with a season, its three teams, a session and nine
// players.
func (w *World) Found(user string) League {
	w.T.Helper()
	return w.FoundAs(user, "Parkside")
}

// FoundAs is Found with the name of the league.
func (w *World) FoundAs(user, name string) League {
	w.T.Helper()
	l := League{ID: id(w, w.Do(user, "POST", "/v1/leagues", map[string]any{"name": name}), "leagueId")}

	l.SeasonID = id(w, w.Do(user, "POST", "/v1/leagues/"+l.ID+"/seasons", map[string]any{"name": "Spring 2026"}), "seasonId")
	for _, team := range []string{"red", "blue", "yellow"} {
		w.Do(user, "PUT", "/v1/seasons/"+l.SeasonID+"/teams/"+team, map[string]any{})
	}

	l.SessionID = id(w, w.Do(user, "POST", "/v1/seasons/"+l.SeasonID+"/sessions", map[string]any{"sessionDate": "2026-06-06"}), "sessionId")
	for _, name := range []string{"Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida"} {
		l.Players = append(l.Players, id(w, w.Do(user, "POST", "/v1/players", map[string]any{"leagueId": l.ID, "nickname": name}), "playerId"))
	}

	return l
}

// id returns a member of an answer.
func id(w *World, out events.APIGatewayV2HTTPResponse, name string) string {
	w.T.Helper()

	text, _ := testkit.Decode[map[string]any](w.World, out)[name].(string)
	if text == "" {
		w.T.Fatalf("the answer has no %s: %s", name, out.Body)
	}

	return text
}

// Game creates a game with its roster, and starts the first third.
func (w *World) Game(user string, l League) string {
	w.T.Helper()
	g := w.Schedule(user, l)
	w.Do(user, "POST", "/v1/games/"+g+"/thirds/1/start", map[string]any{})

	return g
}

// Schedule creates a game with its roster.
func (w *World) Schedule(user string, l League) string {
	w.T.Helper()

	g := id(w, w.Do(user, "POST", "/v1/sessions/"+l.SessionID+"/games",
		map[string]any{"gameStartTs": "2026-06-06T18:00:00Z", "thirdLength": 20}), "gameId")
	for i, p := range l.Players {
		w.Do(user, "PUT", "/v1/games/"+g+"/roster/"+p, map[string]any{"teamId": []string{"red", "blue", "yellow"}[i/3]})
	}

	return g
}

// Play finishes the running third and those that follow, and the game.
func (w *World) Play(user, g string) {
	w.T.Helper()

	for _, step := range []string{"thirds/1/finish", "thirds/2/start", "thirds/2/finish", "thirds/3/start", "thirds/3/finish"} {
		w.Do(user, "POST", "/v1/games/"+g+"/"+step, map[string]any{})
	}

	w.Do(user, "POST", "/v1/games/"+g+"/finish", nil)
}

// Aggregate runs the jobs that compute tables until nothing is left to do.
func (w *World) Aggregate() (handled int) {
	w.T.Helper()
	s := testkit.Open(w.World, standing.AggregateSeasonFunction(), standing.Open)

	return testkit.Drain(w.World, game.AggregateQueue, time.Hour,
		func(ctx context.Context, m game.Changed) error { return s.AggregateSeason(ctx, m) })
}

// Notify runs the jobs that mail, until nothing is left to do.
func (w *World) Notify() {
	w.T.Helper()
	n := testkit.Open(w.World, notice.NotifyFinishFunction(), notice.OpenNotifier)
	testkit.Drain(w.World, standing.FinishQueue, time.Hour,
		func(ctx context.Context, in standing.Finished) error { return n.NotifyFinish(ctx, in) })
	r := testkit.Open(w.World, notice.RemindSessionFunction(), notice.OpenNotifier)
	testkit.Drain(w.World, notice.RemindQueue, time.Hour,
		func(ctx context.Context, in notice.Remind) error { return r.RemindSession(ctx, in) })
	s := testkit.Open(w.World, notice.SendMailFunction(), notice.OpenMailer)
	testkit.Drain(w.World, notice.MailQueue, time.Hour, func(ctx context.Context, in notice.Mail) error { return s.SendMail(ctx, in) })
}

// Remind runs the reminders of the hour, and mails them.
func (w *World) Remind() {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, notice.SendRemindersFunction(), notice.OpenNotifier).SendReminders(w.NewContext()))
	w.Notify()
}
