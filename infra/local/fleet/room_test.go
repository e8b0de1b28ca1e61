package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/account"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/cognito"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sqs"
	"matchday/infra/stage"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

var (
	turns = spec.Queue{Name: "lab-turns.fifo", MaxReceiveCount: 2, Batch: 1, Concurrency: 2}
	lab   = spec.Room{Name: "lab", Functions: []spec.Function{
		{Name: "lab/take-turns", On: turns, Users: []spec.UserOp{spec.AdminGetUser}, Memory: 128, Timeout: 10 * time.Second},
		{Name: "lab/say-hello", On: spec.UserConfirmed{}, Memory: 128, Timeout: 5 * time.Second},
	}}
)

// logs holds the log lines of functions, by function.
type logs struct {
	mu    sync.Mutex
	lines map[string][]string
}

func (h *logs) log(l lambda.Log) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.lines[l.Function] = append(h.lines[l.Function], l.Line)
}

// of returns the lines of a function after the fleet's functions have ended.
func (h *logs) of(f *Fleet, function string) []string {
	f.Queues.Close()
	f.Functions.Close() // so that every line is read
	h.mu.Lock()
	defer h.mu.Unlock()

	return slices.Clone(h.lines[function])
}

// buildLab builds the program that is every function of the room lab.
func buildLab(t *testing.T) (program string) {
	t.Helper()

	program = filepath.Join(t.TempDir(), "lab")
	if out, err := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", program, "./testdata/function").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	return program
}

// newLab returns a fleet with the room lab, without a database.
func newLab(t *testing.T) (*Fleet, *logs) {
	t.Helper()
	program := buildLab(t)
	c := clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), clock.Free)
	h := &logs{lines: map[string][]string{}}
	f := &Fleet{Config: Config{Clock: c, Program: program, Rooms: []Room{{Room: app.Room{Spec: lab}}}}, mux: http.NewServeMux()}
	t.Cleanup(c.Stop)
	t.Cleanup(f.Close)

	var err error
	if f.Functions, err = lambda.New(c, lambda.Config{Init: time.Minute, Log: h.log}); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(f.Functions.Close)
	f.Queues = sqs.New(c, "http://localhost/sqs")
	t.Cleanup(f.Queues.Close)

	if err := f.listen(); err != nil {
		t.Fatal(err)
	}

	if err := f.room(app.Room{Spec: lab}, os.Environ()); err != nil {
		t.Fatal(err)
	}

	return f, h
}

// TestPathsReachTheAPI: an API answers paths with empty segments and dots itself.
func TestPathsReachTheAPI(t *testing.T) {
	t.Parallel()
	f, _ := newLab(t)

	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range []string{"/lab//x", "/lab/x/..", "/lab/%2e%2e/x", "/lab/./x/", "/lab/x//"} {
		res, err := client.Get(f.URL + path)
		if err != nil {
			t.Fatal(err)
		}

		text, err := io.ReadAll(res.Body)
		res.Body.Close()

		if want := `{"message":"Not Found"}`; err != nil || res.StatusCode != http.StatusNotFound || string(text) != want {
			t.Errorf("%s: got %d %s (%v), want 404 %s", path, res.StatusCode, text, err, want)
		}
	}
}

// TestPagesMaySendAsDeployed: a browser lets a page of another port of this machine send what it lets a page of a stage's
// origins send to a deployed API, and read as much of the answers.
func TestPagesMaySendAsDeployed(t *testing.T) {
	t.Parallel()
	f, _ := newLab(t)

	req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, f.URL+"/lab/x", nil)
	if err != nil {
		t.Fatal(err)
	}

	req.Header.Set("Origin", "http://localhost:5173")
	req.Header.Set("Access-Control-Request-Method", "POST")
	req.Header.Set("Access-Control-Request-Headers", "idempotency-key")

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}

	res.Body.Close()

	for name, want := range map[string]string{
		"Origin":  "*",
		"Methods": strings.Join(stage.CORSMethods, ","),
		"Headers": strings.Join(stage.CORSHeaders, ","),
	} {
		if got := res.Header.Get("Access-Control-Allow-" + name); got != want {
			t.Errorf("Access-Control-Allow-%s is %q, want %q", name, got, want)
		}
	}

	exposed, cached := res.Header.Get("Access-Control-Expose-Headers"), res.Header.Get("Access-Control-Max-Age")
	if want := strings.Join(stage.CORSExposed, ","); exposed != want || cached != fmt.Sprint(stage.CORSMaxAge.Seconds()) {
		t.Errorf("a page may read %q and cache that for %s s, want %q for %v", exposed, cached, want, stage.CORSMaxAge)
	}
}

// TestTurns: a FIFO queue and its dead letters are there, and a function gets the
// messages of a group in order, one after the other. It changes users, so it knows
// the pool.
func TestTurns(t *testing.T) {
	t.Parallel()
	f, h := newLab(t)

	done := f.Clock.Work()
	for n := range 3 {
		if _, err := f.Queues.Send("local-lab-turns.fifo", sqs.Message{Body: fmt.Sprint(n), Group: "a", Dedup: fmt.Sprint(n)}); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := f.Queues.Send("local-lab-turns-dead.fifo", sqs.Message{Body: "x", Group: "a", Dedup: "x"}); err != nil {
		t.Error(err)
	}

	if err := f.Clock.Sleep(t.Context(), f.Clock.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}

	done()

	lines := h.of(f, "lab/take-turns")
	if len(lines) != 3 {
		t.Fatalf("it got %q", lines)
	}

	for n, line := range lines {
		if !strings.HasPrefix(line, "pool="+cognito.ID+" ") || !strings.Contains(line, fmt.Sprintf(`"body":"%d"`, n)) ||
			!strings.Contains(line, `"MessageGroupId":"a"`) {
			t.Errorf("at %d it got %s", n, line)
		}
	}
}

// TestHello: an unknown user who gets a token signs up, and the function with the
// trigger UserConfirmed is called once. It does not change users, so it does not get
// the id of the pool.
func TestHello(t *testing.T) {
	t.Parallel()

	f, h := newLab(t)
	for range 2 {
		res, err := http.Get(f.URL + "/dev/token?user=u1&name=Una")
		if err != nil {
			t.Fatal(err)
		}

		var tokens cognito.Tokens

		err = json.NewDecoder(res.Body).Decode(&tokens)
		res.Body.Close()

		if claims, e := f.Users.Verify(tokens.ID); err != nil || e != nil || claims["sub"] != "u1" || claims["name"] != "Una" {
			t.Errorf("%d: %v, %v, %v", res.StatusCode, claims, err, e)
		}
	}

	if lines := h.of(f, "lab/say-hello"); len(lines) != 1 || !strings.HasPrefix(lines[0], "pool= ") ||
		!strings.Contains(lines[0], `"triggerSource":"PostConfirmation_ConfirmSignUp"`) {
		t.Errorf("the function logged %q", lines)
	}
}

// TestEngines: the addresses in the functions' environment are those of the running
// services.
func TestEngines(t *testing.T) {
	t.Parallel()

	c := clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), 1)
	f := &Fleet{Config: Config{Clock: c, Program: "unused"}, mux: http.NewServeMux()}
	t.Cleanup(c.Stop)
	t.Cleanup(f.Close)

	if err := f.listen(); err != nil {
		t.Fatal(err)
	}

	host, env, err := f.engines(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	of := func(name string) string {
		i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if i < 0 {
			t.Fatalf("%s is not set", name)
		}

		return strings.TrimPrefix(env[i], name+"=")
	}
	for name, target := range map[string]string{
		"AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER": "AWSCognitoIdentityProviderService.AdminGetUser",
		"AWS_ENDPOINT_URL_SQS":                       "AmazonSQS.ListQueues",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, of(name),
			strings.NewReader(`{"UserPoolId":"`+cognito.ID+`","Username":"u1"}`))
		if err != nil {
			t.Fatal(err)
		}

		req.Header.Set("X-Amz-Target", target)

		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}

		body, err := io.ReadAll(res.Body)
		res.Body.Close()

		if err != nil || !strings.Contains(string(body), "UserNotFoundException") && !strings.Contains(string(body), "QueueUrls") {
			t.Errorf("%s: %s, %v", target, body, err)
		}
	}

	if _, err := sesv2.NewFromConfig(aws.Config{
		Region:       account.Region,
		BaseEndpoint: aws.String(of("AWS_ENDPOINT_URL_SESV2")),
		Credentials:  aws.AnonymousCredentials{},
	}).SendEmail(t.Context(), &sesv2.SendEmailInput{
		FromEmailAddress: aws.String("lab@example.com"), Destination: &types.Destination{ToAddresses: []string{"ann@example.org"}},
		Content: &types.EmailContent{
			Simple: &types.Message{Subject: &types.Content{Data: aws.String("Hi")}, Body: &types.Body{Text: &types.Content{Data: aws.String("Ho")}}},
		},
	}); err != nil || len(f.Mail.Mailbox("ann@example.org")) != 1 {
		t.Errorf("the fleet has the mails %v, %v", f.Mail.Sent(), err)
	}

	res, err := http.Get(host.Serve("weather", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) })) +
		"/today")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	if f.Simulator("weather") == nil || f.Simulator("tide") != nil {
		t.Error("the fleet does not know its simulators")
	}

	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "/today" {
		t.Errorf("a room's simulator is asked for %q, %v", body, err)
	}
}

// TestSenders: a function has the addresses from which its spec lists mail, and no other
// has them.
func TestSenders(t *testing.T) {
	t.Parallel()

	f := &Fleet{}
	room := spec.Room{Name: "lab"}

	got := [][]string{f.environment(nil, room, spec.Function{Mail: []spec.MailSender{{Setting: "LAB_FROM"}}}),
		f.environment(nil, room, spec.Function{})}
	if diff := cmp.Diff([][]string{{"LAB_FROM=lab@example.com"}, nil}, got); diff != "" {
		t.Errorf("the environments differ (-want +got):\n%s", diff)
	}
}

// TestApps: the app with broadcast channels comes first, whatever its room's place.
func TestApps(t *testing.T) {
	t.Parallel()

	f := &Fleet{Config: Config{Rooms: []Room{{App: "a"}, {}, {App: "b", Channels: true}, {App: "c"}}}}
	if channels, others := f.apps(); channels != "b" || !slices.Equal(others, []string{"a", "c"}) {
		t.Errorf("the apps are %q and %q", channels, others)
	}
}
