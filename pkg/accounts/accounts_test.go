package accounts_test

import (
	"matchday/infra/sim/s3"
	"matchday/infra/testkit/pooltest"

	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/cognito"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/accounts"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/userpool"
	"matchday/pkg/spec"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

var (
	noon  = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
	rooms = []string{"cricket", "pickem"} // that keep data of users
)

type world struct {
	*testkit.World
	pool   *cognito.Pool
	routes map[string]testkit.Route
}

// newWorld returns a room in which ann and bob have signed up.
func newWorld(t testing.TB) world {
	t.Helper()
	w := world{World: testkit.New(t, accounts.Room(rooms...), noon)}
	w.Settings[spec.EnvKeepers] = account.FormatKeepers(rooms)
	pool := pooltest.Attach(w.World, "http://pool/identity", "app")
	w.pool = pool
	w.Files = s3.New(w.Buckets...)
	w.routes = w.ServeRoutes()
	confirmed := testkit.Open(w.World, accounts.OnUserConfirmedFunction(), accounts.Open)

	pool.OnConfirmed(func(ctx context.Context, in []byte) ([]byte, error) {
		var e events.CognitoEventUserPoolsPostConfirmation
		if err := json.Unmarshal(in, &e); err != nil {
			return nil, err
		}

		out, err := confirmed.OnUserConfirmed(w.NewContext(), e)
		testkit.Must(t, err)

		return json.Marshal(out)
	})

	for _, u := range []string{"ann", "bob"} {
		_, err := pool.SignIn(t.Context(), u, strings.ToUpper(u), nil)
		testkit.Must(t, err)
	}

	return w
}

// requests returns the requests of a kind to each room, without repeats.
func (w world) requests(k account.Kind) map[string]account.Request {
	all := map[string]account.Request{}

	for _, room := range rooms {
		for _, r := range testkit.Messages[account.Request](w.World, account.Queue(room, k)) {
			all[room] = r
		}
	}

	return all
}

// finish has rooms do their part of a job: for an export, write a document.
func (w world) finish(s *accounts.Jobs, k account.Kind, from ...string) (err error) {
	for _, room := range from {
		r, ok := w.requests(k)[room]
		if !ok {
			continue
		}

		if k == account.Export {
			testkit.Must(w.T, w.bucket().Put(w.T.Context(), account.PartKey(room, r.Job), map[string]string{"from": room}))
		}

		if e := s.FinishJob(w.NewContext(), account.Done{Kind: k, Room: room, Request: r}); e != nil {
			err = e
		}
	}

	return err
}

// poolConfig is the configuration for calls of the pool by the test itself.
func (w world) poolConfig() aws.Config {
	cfg := w.AWS.Copy()
	cfg.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		out := httptest.NewRecorder()
		w.pool.ServeHTTP(out, r)

		return out.Result(), nil
	})

	return cfg
}

// bucket returns the bucket of exports, for the test itself.
func (w world) bucket() object.Bucket {
	server := httptest.NewServer(w.Files)
	w.T.Cleanup(server.Close)
	cfg := w.AWS.Copy()
	cfg.BaseEndpoint = &server.URL

	return object.Open(cfg, account.Exports.Name)
}

func (w world) opened() *accounts.Jobs {
	return testkit.Open(w.World, accounts.FinishJobFunction(), accounts.OpenJobs)
}

// rows returns the items of a user, and what is left of the user elsewhere.
func (w world) rows(user string) (all []string) {
	for _, row := range testkit.Rows[map[string]any](w.World, accounts.Accounts) {
		if row["userId"] == user {
			open := ""
			if row["open"] != nil {
				open = " open"
			}

			all = append(all, row["item"].(string)+open)
		}
	}

	for _, row := range testkit.Rows[map[string]any](w.World, account.Deleted) {
		if row["userId"] == user {
			mark := "tombstone"
			if row["ttl"] != nil {
				mark += " that expires"
			}

			all = append(all, mark)
		}
	}

	if list, _, err := userpool.Open(w.poolConfig(), cognito.ID).List(w.T.Context(), 60, ""); err != nil {
		w.T.Error(err)
	} else if slices.ContainsFunc(list, func(u userpool.User) bool { return u.Subject == user }) {
		all = append(all, "account")
	}

	slices.Sort(all)

	return all
}

// TestDeletion: the tombstone is there when the request is answered, the account goes
// last, and nothing but the tombstone stays.
func TestDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.opened()
	ask := func() int {
		return testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "ann", "").StatusCode
	}

	testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", "")
	testkit.Must(t, w.finish(s, account.Export, rooms...))

	export := w.requests(account.Export)["cricket"].Job
	if _, err := w.bucket().Get(t.Context(), "exports/ann/"+export+".json"); err != nil {
		t.Fatal(err)
	}

	steps := []struct {
		what string
		do   func() error
		want []string
	}{
		{"the request", func() error { ask(); return nil },
			[]string{"account", "export", "export#cricket", "export#pickem", "forget open", "profile", "tombstone"}},
		{"one room", func() error { return w.finish(s, account.Forget, "pickem") },
			[]string{"account", "export", "export#cricket", "export#pickem", "forget open", "forget#pickem", "profile", "tombstone"}},
		{"the same room", func() error { return w.finish(s, account.Forget, "pickem") },
			[]string{"account", "export", "export#cricket", "export#pickem", "forget open", "forget#pickem", "profile", "tombstone"}},
		{"all rooms", func() error { return w.finish(s, account.Forget, "cricket") },
			[]string{"tombstone that expires"}},
		{"a room again", func() error { return w.finish(s, account.Forget, "cricket") }, []string{"tombstone that expires"}},
	}
	for _, step := range steps {
		testkit.Must(t, step.do())

		if diff := cmp.Diff(step.want, w.rows("ann")); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", step.what, diff)
		}
	}

	for _, key := range []string{"exports/ann/" + export + ".json", account.PartKey("cricket", export), account.PartKey("pickem", export)} {
		if text, err := w.bucket().Get(t.Context(), key); err == nil {
			t.Errorf("the object %s is there: %s", key, text)
		}
	}

	if got := w.rows("bob"); !slices.Equal(got, []string{"account", "profile"}) {
		t.Errorf("bob has %q left", got)
	}

	before := testkit.Rows[map[string]any](w.World, account.Deleted)

	if status := ask(); status != 202 {
		t.Errorf("deleting again: %d, want 202", status)
	}

	if diff := cmp.Diff(before, testkit.Rows[map[string]any](w.World, account.Deleted)); diff != "" {
		t.Errorf("deleting again has changed the tombstone (-want +got):\n%s", diff)
	}

	out := testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", "")
	if err := testkit.CheckProblemCode(out, 401, "account_deleted"); err != nil {
		t.Errorf("an export of a deleted user: %v", err)
	}

	if out := testkit.Call(w.routes, accounts.GetAccountFunction(), "/account", "ann", ""); !strings.Contains(out.Body,
		`"deletedAt":"2026-06-06T12:00:00Z"`) {
		t.Errorf("the account is %s, want deletedAt", out.Body)
	}
}

// files returns the keys of all objects of exports.
func (w world) files() (keys []string) {
	out := httptest.NewRecorder()
	w.Files.ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/"+account.Exports.Name+"?list-type=2", nil))

	if out.Code != http.StatusOK {
		w.T.Fatalf("listing the objects: %d %s", out.Code, out.Body)
	}

	for _, key := range regexp.MustCompile(`<Key>([^<]+)</Key>`).FindAllStringSubmatch(out.Body.String(), -1) {
		keys = append(keys, key[1])
	}

	return keys
}

// TestNoExportOutlivesTheAccount: not those before the last, and none that ends during the
// deletion or after it.
func TestNoExportOutlivesTheAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.opened()
	start := func() {
		t.Helper()

		if out := testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", ""); out.StatusCode != http.StatusAccepted {
			t.Fatalf("an export: %d %s, want 202", out.StatusCode, out.Body)
		}
	}

	const days = 10 // for which S3 keeps a file at most
	for day := range days {
		w.MoveClock(noon.AddDate(0, 0, day))
		start()
		testkit.Must(t, w.finish(s, account.Export, rooms...))
	}

	if n, want := len(w.files()), days*(1+len(rooms)); n != want {
		t.Fatalf("%d objects of %d exports, want %d", n, days, want)
	}

	w.MoveClock(noon.AddDate(0, 0, days))
	start()
	testkit.Must(t, w.finish(s, account.Export, rooms[1:]...))
	testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "ann", "")
	before := len(w.files())
	testkit.Must(t, w.finish(s, account.Export, rooms[0]))

	if n := len(w.files()); n != before+1 {
		t.Errorf("%d objects after the last part of an export, want %d: no document is made during a deletion", n, before+1)
	}

	testkit.Must(t, w.finish(s, account.Forget, rooms...))
	testkit.Must(t, w.finish(s, account.Export, rooms[0])) // a room exports its part late

	if left := w.files(); len(left) > 0 {
		t.Errorf("after the deletion there are %q", left)
	}
}

// TestInvitationDuringADeletion: an account that is about to disappear is not invited. Then
// its address gets a new one.
func TestInvitationDuringADeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	invite := func() events.APIGatewayV2HTTPResponse {
		return testkit.Call(w.routes, accounts.InviteAccountFunction(), "/admin/accounts", testkit.Administrator,
			`{"name":"Ann","email":"ann@example.com"}`)
	}

	testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "ann", "")

	if err := testkit.CheckProblemCode(invite(), 409, "account_deleting"); err != nil {
		t.Errorf("during the deletion: %v", err)
	}

	testkit.Must(t, w.finish(w.opened(), account.Forget, rooms...))

	if out := invite(); out.StatusCode != 200 || strings.Contains(out.Body, `"userId":"ann"`) {
		t.Errorf("after the deletion: %d %s, want 200 and a new id", out.StatusCode, out.Body)
	}
}

// TestDeletionCrashes: after a crash anywhere, the user's second request or resume-jobs
// ends the deletion.
func TestDeletionCrashes(t *testing.T) {
	t.Parallel()

	for name, again := range map[string]func(w world){
		"a second request": func(w world) {
			_, err := testkit.Open(w.World, accounts.DeleteAccountFunction(rooms...), accounts.OpenJobs).DeleteAccount(w.NewContext(),
				&accounts.DeleteAccount{User: auth.User{UserID: "ann"}})
			testkit.Must(w.T, err)
		},
		"the job": func(w world) {
			w.MoveClock(noon.Add(time.Hour))
			testkit.Must(w.T, testkit.Open(w.World, accounts.ResumeJobsFunction(rooms...), accounts.OpenJobs).ResumeJobs(w.NewContext()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
				w := newWorld(t)
				crashed := testkit.OpenWith(w.World, w.CrashingEnv(accounts.DeleteAccountFunction(rooms...), p), accounts.OpenJobs)
				_, err := crashed.DeleteAccount(w.NewContext(), &accounts.DeleteAccount{User: auth.User{UserID: "ann"}})
				p.Ended(err)

				if name == "the job" && len(w.rows("ann")) == 2 { // the request has failed before it wrote anything
					crashed = testkit.Open(w.World, accounts.DeleteAccountFunction(rooms...), accounts.OpenJobs)
					crashed.DeleteAccount(w.NewContext(), &accounts.DeleteAccount{User: auth.User{UserID: "ann"}})
				}

				again(w)

				return append(w.rows("ann"), slices.Sorted(maps.Keys(w.requests(account.Forget)))...)
			})
		})
	}

	t.Run("by a message", func(t *testing.T) {
		t.Parallel()
		dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
			w := newWorld(t)
			m := account.Deletion{UserID: "ann"}
			crashed := testkit.OpenWith(w.World, w.CrashingEnv(accounts.DeleteUserFunction(rooms...), p), accounts.OpenJobs)
			p.Ended(crashed.DeleteUser(w.NewContext(), m))
			testkit.Must(t, testkit.Open(w.World, accounts.DeleteUserFunction(rooms...), accounts.OpenJobs).DeleteUser(w.NewContext(), m))

			return append(w.rows("ann"), slices.Sorted(maps.Keys(w.requests(account.Forget)))...)
		})
	})
	t.Run("the end", func(t *testing.T) {
		t.Parallel()
		dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
			w := newWorld(t)
			testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", "")
			testkit.Must(t, w.finish(w.opened(), account.Export, rooms...))
			testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "ann", "")
			testkit.Must(t, w.finish(w.opened(), account.Forget, "cricket"))
			p.Ended(w.finish(testkit.OpenWith(w.World, w.CrashingEnv(accounts.FinishJobFunction(), p), accounts.OpenJobs), account.Forget, "pickem"))
			testkit.Must(t, w.finish(w.opened(), account.Forget, "pickem"))

			return w.rows("ann")
		})
	})
	t.Run("the end, by the job", func(t *testing.T) {
		t.Parallel()
		dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
			w := newWorld(t)
			testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "ann", "")

			requests := w.requests(account.Forget)
			for _, room := range rooms { // both have confirmed, and the last message was lost
				testkit.PutRows(w.World, accounts.Accounts, map[string]string{"userId": "ann", "item": "forget#" + room, "job": requests[room].Job})
			}

			w.MoveClock(noon.Add(time.Hour))
			p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(accounts.ResumeJobsFunction(rooms...), p), accounts.OpenJobs).ResumeJobs(w.NewContext()))
			testkit.Must(t, testkit.Open(w.World, accounts.ResumeJobsFunction(rooms...), accounts.OpenJobs).ResumeJobs(w.NewContext()))
			w.Logs.TakeWarnings()

			return w.rows("ann")
		})
	})
}

// TestJobEndsWithItsParts: a batch may be carried out in part, and its worker may die before it tries the rest again. Of a
// deletion that ends, nothing is left then that nobody looks for.
func TestJobEndsWithItsParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "ann", "")
	testkit.Must(t, w.finish(w.opened(), account.Forget, "cricket"))

	env := w.Env(accounts.FinishJobFunction())
	next, batches := env.AWS.HTTPClient, 0
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchWriteItem") {
			return next.Do(r)
		}

		if batches++; batches == 1 { // of the profile and the exports
			return next.Do(r)
		}

		var in struct{ RequestItems map[string][]any }
		testkit.Must(t, json.NewDecoder(r.Body).Decode(&in))

		for table, writes := range in.RequestItems {
			in.RequestItems[table] = writes[:len(writes)-1]
		}

		body, err := json.Marshal(in)
		testkit.Must(t, err)

		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		if out, err := next.Do(r); err == nil {
			out.Body.Close()
		}

		return nil, dynamotest.ErrCrashed
	})
	env.AWS.RetryMaxAttempts = 1

	w.finish(testkit.OpenWith(w.World, env, accounts.OpenJobs), account.Forget, "pickem")
	testkit.Must(t, w.finish(w.opened(), account.Forget, "pickem"))

	if left := w.rows("ann"); !slices.Equal(left, []string{"tombstone that expires"}) {
		t.Errorf("%v are left", left)
	}
}

// TestExport: the first request starts an export, and the next after its end has a link
// to what all rooms have written.
func TestExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func(want int) (out struct{ URL string }) {
		t.Helper()

		answer := testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", "")
		if answer.StatusCode != want || (testkit.Header(answer).Get("Retry-After") != "") != (want == 202) {
			t.Errorf("got %d %s, want %d", answer.StatusCode, answer.Body, want)
		}

		testkit.Must(t, json.Unmarshal([]byte(answer.Body), &out))

		return out
	}
	ask(202)
	ask(202)

	first := w.requests(account.Export)["pickem"]
	testkit.Must(t, w.finish(w.opened(), account.Export, rooms...))

	if out := ask(200); !strings.Contains(out.URL, "/exports/ann/"+first.Job+".json?") || !strings.Contains(out.URL, "X-Amz-Expires=3600") {
		t.Errorf("the link is %s", out.URL)
	}

	text, err := w.bucket().Get(t.Context(), "exports/ann/"+first.Job+".json")
	testkit.Must(t, err)

	var document map[string]any
	testkit.Must(t, json.Unmarshal(text, &document))

	if document["userId"] != "ann" || !reflect.DeepEqual(document["cricket"], map[string]any{"from": "cricket"}) ||
		!reflect.DeepEqual(document["pickem"], map[string]any{"from": "pickem"}) || !strings.Contains(string(text), "ANN") ||
		document["email"] != "ann@example.com" {
		t.Errorf("the document is %s", text)
	}

	w.MoveClock(noon.Add(25 * time.Hour))
	ask(202)

	if next := w.requests(account.Export)["pickem"]; next.Job == first.Job {
		t.Error("a day later no new export was started")
	}
}

func TestExportCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := newWorld(t)
		in := &accounts.GetExport{User: auth.User{UserID: "ann"}}
		crashed := testkit.OpenWith(w.World, w.CrashingEnv(accounts.GetExportFunction(rooms...), p), accounts.OpenJobs)
		_, err := crashed.GetExport(w.NewContext(), in)
		p.Ended(err)
		_, err = testkit.Open(w.World, accounts.GetExportFunction(rooms...), accounts.OpenJobs).GetExport(w.NewContext(), in)
		testkit.Must(t, err)
		w.MoveClock(noon.Add(time.Hour))
		testkit.Must(t, testkit.Open(w.World, accounts.ResumeJobsFunction(rooms...), accounts.OpenJobs).ResumeJobs(w.NewContext()))

		return append(w.rows("ann"), slices.Sorted(maps.Keys(w.requests(account.Export)))...)
	})
	t.Run("the end", func(t *testing.T) {
		t.Parallel()
		dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
			w := newWorld(t)
			testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", "")
			p.Ended(w.finish(testkit.OpenWith(w.World, w.CrashingEnv(accounts.FinishJobFunction(), p), accounts.OpenJobs), account.Export, rooms...))
			testkit.Must(t, w.finish(w.opened(), account.Export, rooms...))

			return w.rows("ann")
		})
	})
}

// TestJobsBehindAreCounted: a job is counted from an hour after its start.
func TestJobsBehindAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testkit.Call(w.routes, accounts.DeleteAccountFunction(), "/account", "ann", "")

	s := testkit.Open(w.World, accounts.ResumeJobsFunction(rooms...), accounts.OpenJobs)
	for _, c := range []struct {
		at   time.Time
		want float64
	}{{noon.Add(time.Hour), 0}, {noon.Add(time.Hour + time.Second), 1}} {
		w.MoveClock(c.at)
		testkit.Must(t, s.ResumeJobs(w.NewContext()))

		if got := w.Logs.SumMetric(accounts.JobsBehind); got != c.want || got == 0 && len(w.Logs.EmittedMetrics()) > 0 {
			t.Errorf("at %s %v jobs are behind, want %v", c.at, got, c.want)
		}
	}
}

// TestProfiles: a sign-up makes a profile, with a name that can be shown or none; an
// invitation makes one, too, and administrators see all accounts.
func TestProfiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)

	for name, want := range map[string]string{
		"Una":                   `"name":"Una"`,
		" Una \n Day ":          `"name":"Una Day"`,
		"\u202eUna":             `"userId":"u-3"`,
		strings.Repeat("é", 41): `"userId":"u-4"`,
	} {
		id := map[string]string{"Una": "u-1", " Una \n Day ": "u-2", "\u202eUna": "u-3"}[name]
		if id == "" {
			id = "u-4"
		}

		_, err := w.pool.SignIn(t.Context(), id, name, nil)
		testkit.Must(t, err)

		out := testkit.Call(w.routes, accounts.GetAccountFunction(), "/account", id, "")
		if !strings.Contains(out.Body, want) || strings.Contains(out.Body, `"name"`) != strings.Contains(want, `"name"`) ||
			!strings.Contains(out.Body, `"createdAt":"2026-06-06T12:00:00Z"`) {
			t.Errorf("the account of %q is %s", name, out.Body)
		}
	}

	invite := func(user string) int {
		return testkit.Call(w.routes, accounts.InviteAccountFunction(), "/admin/accounts", user,
			`{"name":"Lena","email":"lena@example.com"}`).StatusCode
	}
	if a, b, c := invite("ann"), invite(testkit.Administrator), invite(testkit.Administrator); a != 403 || b != 200 || c != 200 ||
		w.pool.Invitations("lena@example.com") != 2 {
		t.Errorf("invitations: %d, %d, %d, and %d mails; want 403, 200, 200 and 2", a, b, c, w.pool.Invitations("lena@example.com"))
	}

	longest := strings.Repeat("l", 60) + "@" + strings.Repeat("m", 55) + ".example.com"
	for email, want := range map[string]int{longest: 200, "l" + longest: 422} {
		if out := testkit.Call(w.routes, accounts.InviteAccountFunction(), "/admin/accounts", testkit.Administrator,
			`{"name":"Longest","email":"`+email+`"}`); out.StatusCode != want {
			t.Errorf("the invitation of an address of %d characters: %d, want %d", len(email), out.StatusCode, want)
		}
	}

	type page struct {
		Accounts []userpool.User
		Next     string
	}

	var all []string

	for cursor := ""; ; {
		p := testkit.Decode[page](w.World, testkit.Call(w.routes, accounts.ListAccountsFunction(),
			"/admin/accounts?limit=3&cursor="+cursor, testkit.Administrator, ""))
		for _, u := range p.Accounts {
			all = append(all, u.Email+" "+u.Status)
		}

		if cursor = p.Next; cursor == "" {
			break
		}
	}

	slices.Sort(all)

	want := []string{
		"ann@example.com CONFIRMED", "bob@example.com CONFIRMED", "lena@example.com FORCE_CHANGE_PASSWORD",
		longest + " FORCE_CHANGE_PASSWORD",
		"u-1@example.com CONFIRMED", "u-2@example.com CONFIRMED", "u-3@example.com CONFIRMED", "u-4@example.com CONFIRMED",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("the accounts (-want +got):\n%s", diff)
	}

	if err := testkit.CheckProblemCode(testkit.Call(w.routes, accounts.ListAccountsFunction(), "/admin/accounts?cursor=no",
		testkit.Administrator, ""), 400, "bad_cursor"); err != nil {
		t.Error(err)
	}

	for fn := range w.routes {
		out := w.routes[fn](testkit.Request("GET", "/account", "", ""))
		if strings.HasSuffix(fn, "get-account") && out.StatusCode != 401 {
			t.Errorf("%s without a token: %d", fn, out.StatusCode)
		}
	}
}

// TestFailedCallIsReported: no answer hides that a read or a write has failed.
func TestFailedCallIsReported(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		fn                 app.Function
		target, user, body string
		before             func(w world)
	}{
		{accounts.GetAccountFunction(), "/account", "ann", "", func(world) {}},
		{accounts.DeleteAccountFunction(), "/account", "ann", "", func(world) {}},
		{accounts.GetExportFunction(), "/account/export", "ann", "", func(world) {}},
		{accounts.GetExportFunction(), "/account/export", "ann", "", func(w world) {
			testkit.Call(w.routes, accounts.GetExportFunction(), "/account/export", "ann", "")
			testkit.Must(t, w.finish(w.opened(), account.Export, rooms...))
		}},
		{accounts.InviteAccountFunction(), "/admin/accounts", testkit.Administrator,
			`{"name":"Lena","email":"lena@example.com"}`, func(world) {}},
		{accounts.ListAccountsFunction(), "/admin/accounts", testkit.Administrator, "", func(world) {}},
	} {
		t.Run(c.fn.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.before(w)
			dynamotest.CheckFailures(t, &w.IO, func() error { return testkit.Failed(testkit.Call(w.routes, c.fn, c.target, c.user, c.body)) })
		})
	}
}
