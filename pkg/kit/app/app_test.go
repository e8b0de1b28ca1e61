package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/sqs"
	"matchday/infra/tools/judge/calls"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// settings is a function's environment: what Lambda sets, and more.
func settings(more map[string]string) func(string) string {
	all := map[string]string{
		"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "key", "AWS_SESSION_TOKEN": "session",
		spec.EnvStage: "prod",
	}
	maps.Copy(all, more)

	return func(name string) string { return all[name] }
}

// opened is an Opener that gives the environment itself.
func opened(_ context.Context, env Env) (Env, error) { return env, nil }

// handler returns what the Lambda runtime calls of a function with this use case.
func handler[S any](ctx context.Context, getenv func(string) string, open Opener[S], use use[S]) (lambda.Handler, error) {
	return Function{open: bind(open, use)}.In(recorded).handler(ctx, getenv)
}

// recorded returns an environment whose AWS calls are recorded for the judge.
func recorded(env Env) Env {
	env.AWS = calls.On(env.AWS)
	return env
}

// TestIn: a function opens its service in the changed environment.
func TestIn(t *testing.T) {
	t.Parallel()

	fn := Function{open: bind(opened, func(env Env, _ Env) any { return env.Stage })}
	changed := fn.In(func(env Env) Env {
		env.Stage += "-changed"
		return env
	})

	for f, want := range map[*Function]string{&fn: "prod", &changed: "prod-changed"} {
		if got, err := f.Open(t.Context(), Env{Stage: "prod"}); got != want || err != nil {
			t.Errorf("the stage is %v, %v, want %s", got, err, want)
		}
	}
}

func envOf(t *testing.T, more map[string]string) Env {
	t.Helper()

	env, _, err := environment(settings(more))
	if err != nil {
		t.Fatal(err)
	}

	return recorded(env)
}

func TestEnvironment(t *testing.T) {
	t.Parallel()

	env := envOf(t, map[string]string{
		spec.EnvPrefix:   "x-",
		spec.EnvQueues:   "https://sqs/1/x-",
		spec.EnvSecrets:  "x/",
		spec.EnvUserPool: "pool-1",
		"SPORTMONKS_URL": "http://y",
	})
	if env.Stage != "prod" || env.Prefix != "x-" || env.Queues != "https://sqs/1/x-" || env.Secrets != "x/" || env.Pool != "pool-1" ||
		env.Setting("SPORTMONKS_URL") != "http://y" || env.HTTP != nil {
		t.Errorf("got %+v", env)
	}

	for missing, want := range map[string]string{"AWS_REGION": "AWS_REGION is not set", spec.EnvStage: "MATCHDAY_STAGE is not set"} {
		h, err := handler(t.Context(), settings(map[string]string{missing: ""}), opened, job(func(Env, context.Context) error { return nil }))
		if h != nil || err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestLimit: a call has more time on one machine only, at most a minute, and as much as in a
// stage by default.
func TestLimit(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		stage, patience string
		limit, want     time.Duration
	}{
		{"prod", "", time.Second, time.Second},
		{"prod", "20", time.Second, time.Second},
		{spec.Local, "", time.Second, time.Second},
		{spec.Local, "20", time.Second, 20 * time.Second},
		{spec.Local, "100", time.Second, time.Minute},
		{spec.Local, "100", 2 * time.Minute, 2 * time.Minute},
	} {
		env := envOf(t, map[string]string{spec.EnvStage: c.stage, spec.EnvPatience: c.patience})
		if got := env.Limit(c.limit); got != c.want {
			t.Errorf("stage %s, patience %q: the limit of %v is %v, want %v", c.stage, c.patience, c.limit, got, c.want)
		}
	}

	const want = `MATCHDAY_PATIENCE must be a whole number, not "long"`
	if _, _, err := environment(settings(map[string]string{spec.EnvStage: spec.Local, spec.EnvPatience: "long"})); err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// network answers the SDK's calls, and notes the last.
type network struct{ last *http.Request }

func (n *network) Do(r *http.Request) (*http.Response, error) {
	n.last = r
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

func TestAWS(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name               string
		more               map[string]string
		dynamo, sqs, token string
	}{
		{"in the cloud", nil, "https://dynamodb.eu-west-1.amazonaws.com", "https://sqs.eu-west-1.amazonaws.com", "session"},
		{"endpoints of our own", map[string]string{
			"AWS_ENDPOINT_URL_DYNAMODB": "http://localhost:8000",
			"AWS_ENDPOINT_URL_SQS":      "http://localhost:9324",
			"AWS_SESSION_TOKEN":         "",
		},
			"http://localhost:8000", "http://localhost:9324", ""},
	} {
		wire := &network{}
		cfg := envOf(t, c.more).AWS
		cfg.HTTPClient = wire
		check := func(endpoint string) {
			t.Helper()

			if got := wire.last.URL.Scheme + "://" + wire.last.URL.Host; got != endpoint {
				t.Errorf("%s: got %s, want %s", c.name, got, endpoint)
			}

			if got := wire.last.Header.Get("Authorization"); !strings.Contains(got, "Credential=AKIDEXAMPLE/") ||
				!strings.Contains(got, "/eu-west-1/") {
				t.Errorf("%s: signed as %s", c.name, got)
			}

			if got := wire.last.Header.Get("X-Amz-Security-Token"); got != c.token {
				t.Errorf("%s: the session is %q, want %q", c.name, got, c.token)
			}
		}

		if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Fatal(err)
		}

		check(c.dynamo)

		if _, err := awssqs.NewFromConfig(cfg).ListQueues(t.Context(), &awssqs.ListQueuesInput{}); err != nil {
			t.Fatal(err)
		}

		check(c.sqs)
	}
}

// TestCallsAreRepeated has the network fail at first. The waits between the tries are
// simulated.
func TestCallsAreRepeated(t *testing.T) {
	t.Parallel()

	conflict, busy := "TransactionConflictException", "InternalServerError"
	for name, c := range map[string]struct {
		fails []string // codes of the first answers
		calls int
		ok    bool
	}{
		"a conflict with a transaction": {[]string{conflict}, 2, true},
		"three failures":                {[]string{busy, conflict, busy}, 4, true},
		"four failures":                 {[]string{busy, busy, conflict, busy}, 4, false},
		"a failed condition":            {[]string{"ConditionalCheckFailedException"}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg, calls, began := envOf(t, nil).AWS, 0, time.Now()
				cfg.HTTPClient = smithyhttp.ClientDoFunc(func(*http.Request) (*http.Response, error) {
					calls++

					status, body := http.StatusOK, `{}`
					if calls <= len(c.fails) {
						if status = http.StatusBadRequest; c.fails[calls-1] == busy {
							status = http.StatusInternalServerError
						}

						body = `{"__type":"com.amazonaws.dynamodb.v20120810#` + c.fails[calls-1] + `"}`
					}

					return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
				})

				_, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
				if calls != c.calls || (err == nil) != c.ok {
					t.Errorf("%d calls return %v, want %d calls and success %t", calls, err, c.calls, c.ok)
				}

				if took := time.Since(began); took > 400*time.Millisecond {
					t.Errorf("the tries take %v, want 350 ms at most", took)
				}
			})
		})
	}
}

// TestPausesBetweenTries: at random up to 50 ms, doubled for each try. A pause is drawn so often
// that the longest is within a millisecond of the limit.
func TestPausesBetweenTries(t *testing.T) {
	t.Parallel()

	for attempt, limit := range map[int]time.Duration{1: 50 * time.Millisecond, 2: 100 * time.Millisecond, 3: 200 * time.Millisecond} {
		longest := time.Duration(0)

		for range 20_000 {
			pause, err := backoff(attempt, nil)
			if err != nil || pause < 0 {
				t.Fatalf("a pause of %v, %v", pause, err)
			}

			longest = max(longest, pause)
		}

		if longest >= limit || longest < limit*99/100 {
			t.Errorf("the longest pause after try %d is %v, want just below %v", attempt, longest, limit)
		}
	}
}

// TestIdleConnections: what a tick needs stays open until the next.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	client, _ := envOf(t, nil).AWS.HTTPClient.(Client)

	sdk, ok := client.HTTPClient.(*awshttp.BuildableClient)
	if !ok || sdk.GetTransport().MaxIdleConnsPerHost != 100 {
		t.Errorf("the client is %+v, want one that keeps 100 connections to a service", client)
	}
}

func TestLocalSecret(t *testing.T) {
	t.Parallel()

	env := envOf(t, map[string]string{spec.EnvStage: spec.Local, "TOKEN": "s3cr3t"})
	if got, err := env.Secret(t.Context(), "TOKEN"); got != "s3cr3t" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}

	if _, err := env.Secret(t.Context(), "OTHER"); err == nil || err.Error() != "the secret OTHER is not set" {
		t.Errorf("got %v", err)
	}
}

func TestDeployedSecret(t *testing.T) {
	t.Parallel()

	const value = "s3cr3t"
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string // of the error; "" for none
	}{
		{"there", 200, `{"Name":"TOKEN","SecretString":"` + value + `"}`, ""},
		{"absent", 400, `{"__type":"ResourceNotFoundException","Message":"Secrets Manager can't find the specified secret."}`,
			"read the secret TOKEN: "},
		{"bytes", 200, `{"Name":"TOKEN","SecretBinary":"czNjcjN0"}`, "the secret TOKEN holds no text"},
		{"empty", 200, `{"Name":"TOKEN","SecretString":""}`, "the secret TOKEN holds no text"},
		{"cut off", 200, `{"Name":"TOKEN","SecretString":"` + value, "read the secret TOKEN: "},
		{"not JSON", 200, value + ` "` + value + `"`, "read the secret TOKEN: "},
		{"wrong type", 200, `{"Name":"TOKEN","SecretString":{"` + value + `":"` + value + `"}}`, "read the secret TOKEN: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var ask struct{ SecretId string }
				if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || ask.SecretId != "prod/TOKEN" ||
					r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" {
					t.Errorf("asked for %q by %s, %v", ask.SecretId, r.Header.Get("X-Amz-Target"), err)
				}

				w.Header().Set("Content-Type", "application/x-amz-json-1.1")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}))
			t.Cleanup(server.Close)
			env := envOf(t, map[string]string{
				"AWS_ENDPOINT_URL_SECRETS_MANAGER": server.URL,
				spec.EnvSecrets:                    "prod/",
				"TOKEN":                            "from the environment",
			})

			got, err := env.Secret(t.Context(), "TOKEN")
			if c.want == "" {
				if got != value || err != nil {
					t.Errorf("got %q, %v", got, err)
				}

				return
			}

			if got != "" || err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("got %q, %v, want %q", got, err, c.want)
			}

			if strings.Contains(err.Error(), value) {
				t.Errorf("the error contains the secret: %v", err)
			}
		})
	}
}

// at returns the context of an invocation by a local fleet at that time.
func at(ctx context.Context, now, speed string) context.Context {
	return lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{ClientContext: lambdacontext.ClientContext{
		Custom: map[string]string{"matchday-now": now, "matchday-speed": speed},
	}})
}

// clockOf returns a function that invokes a task. The task sleeps until a time, unless
// it is zero, and returns its clock's time.
func clockOf(t *testing.T, stage, runtime string) func(ctx context.Context, until time.Time) (time.Time, error) {
	t.Helper()

	h, err := handler(t.Context(), settings(map[string]string{spec.EnvStage: stage, "AWS_LAMBDA_RUNTIME_API": runtime}), opened,
		task(func(env Env, ctx context.Context, until time.Time) (time.Time, error) {
			if !until.IsZero() {
				if err := env.Sleep(ctx, until); err != nil {
					return time.Time{}, err
				}
			}

			return env.Now(), nil
		}))
	if err != nil {
		t.Fatal(err)
	}

	return func(ctx context.Context, until time.Time) (now time.Time, err error) {
		in, err := json.Marshal(until)
		if err != nil {
			t.Fatal(err)
		}

		out, err := h.Invoke(ctx, in)
		if err == nil {
			err = json.Unmarshal(out, &now)
		}

		return now, err
	}
}

func TestLocalClock(t *testing.T) {
	t.Parallel()

	const text = "2026-06-01T12:00:00Z"

	ask := clockOf(t, spec.Local, "nowhere")

	began := time.Now()
	if now, err := ask(t.Context(), time.Time{}); err != nil || now.Before(began.Truncate(0)) {
		t.Errorf("before the first invocation with a time: %v, %v", now, err)
	}

	for range 2 {
		if now, err := ask(at(t.Context(), text, "0"), time.Time{}); err != nil || !now.Equal(noon) {
			t.Errorf("while the fleet's clock stands still: %v, %v", now, err)
		}
	}

	for _, broken := range []string{"", "noon", "2026-06-01"} {
		if now, err := ask(at(t.Context(), broken, "0"), time.Time{}); err != nil || !now.Equal(noon) {
			t.Errorf("an invocation with the time %q: %v, %v, want the time of the invocation before", broken, now, err)
		}
	}

	if now, err := ask(at(t.Context(), text, "1e6"), time.Time{}); err != nil || !now.After(noon) {
		t.Errorf("on a fast clock: %v, %v", now, err)
	}

	if now, err := ask(at(t.Context(), text, "0"), noon); err != nil || !now.Equal(noon) {
		t.Errorf("a sleep that is over: %v, %v", now, err)
	}
}

func TestLocalSleep(t *testing.T) {
	t.Parallel()

	answer := noon.Add(time.Hour).Format(time.RFC3339Nano)
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method != http.MethodPost || r.URL.Path != "/matchday/sleep":
			t.Errorf("asked for %s %s", r.Method, r.URL)
		case string(body) == answer:
			io.WriteString(w, answer+"\n")
		default:
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, "nothing runs")
		}
	}))
	t.Cleanup(runtime.Close)
	ask := clockOf(t, spec.Local, strings.TrimPrefix(runtime.URL, "http://"))
	late, cancel := context.WithCancel(at(t.Context(), "2026-06-01T12:00:00Z", "0"))
	cancel() // as a deadline does that the sleep has moved

	if now, err := ask(late, noon.Add(time.Hour)); err != nil || !now.Equal(noon.Add(time.Hour)) {
		t.Errorf("got %v, %v", now, err)
	}

	if _, err := ask(at(t.Context(), "2026-06-01T12:00:00Z", "0"), noon.Add(time.Minute)); err == nil ||
		!strings.Contains(err.Error(), "the local clock answers 409") {
		t.Errorf("refused: got %v", err)
	}

	runtime.Close()

	if _, err := ask(at(t.Context(), "2026-06-01T12:00:00Z", "0"), noon.Add(time.Hour)); err == nil {
		t.Error("without a runtime the sleep succeeds")
	}

	if _, err := clockOf(t, spec.Local, "no host")(at(t.Context(), "2026-06-01T12:00:00Z", "0"), noon.Add(time.Hour)); err == nil ||
		!strings.Contains(err.Error(), "invalid character") {
		t.Errorf("a runtime whose name is no host: got %v", err)
	}
}

// TestLocalSleepWithoutTheFleet: a runtime that does not know the fleet's clock, such as SAM CLI's, does not
// end a sleep. It ends by the clock of this machine, or with the context.
func TestLocalSleepWithoutTheFleet(t *testing.T) {
	t.Parallel()

	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)

	for name, runtime := range map[string]string{"no address": "", "another runtime": strings.TrimPrefix(other.URL, "http://")} {
		ask, until := clockOf(t, spec.Local, runtime), time.Now().Add(50*time.Millisecond)
		if now, err := ask(t.Context(), until); err != nil || now.Before(until.Truncate(0)) {
			t.Errorf("%s: the sleep until %v ends at %v, %v", name, until, now, err)
		}

		over, cancel := context.WithCancel(t.Context())
		cancel()

		if _, err := ask(over, time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: after the end of the context the sleep ends with %v", name, err)
		}
	}
}

// TestLocalSleepCutOff: an answer that ends early is no time.
func TestLocalSleepCutOff(t *testing.T) {
	t.Parallel()

	until := noon.Add(time.Hour)
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, until.Format(time.RFC3339Nano))
	}))
	t.Cleanup(runtime.Close)

	now, err := clockOf(t, spec.Local, strings.TrimPrefix(runtime.URL, "http://"))(at(t.Context(), "2026-06-01T12:00:00Z", "0"), until)
	if !strings.Contains(fmt.Sprint(err), io.ErrUnexpectedEOF.Error()) {
		t.Errorf("got %v, %v, want that the answer ended early", now, err)
	}
}

// TestRestoredTables: a table that was restored under another name is asked by that name.
func TestRestoredTables(t *testing.T) {
	t.Parallel()

	read := spec.Table{Name: "overs", Key: spec.Key{Partition: "id"}}.On("Get over", "id", spec.Rate{}, spec.GetItem)

	for restored, want := range map[string]string{"": "x-overs", "overs:2": "x-overs-2"} {
		env, asked := envOf(t, map[string]string{spec.EnvRestored: restored, spec.EnvPrefix: "x-"}), ""

		env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
			var in struct{ TableName string }

			err := json.NewDecoder(r.Body).Decode(&in)
			asked = in.TableName

			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, err
		})
		if _, _, err := dynamo.Get[map[string]any](t.Context(), dynamo.Open(env.AWS, env.Prefix), read, "1"); err != nil || asked != want {
			t.Errorf("%s=%q: the table %s is asked, %v; want %s", spec.EnvRestored, restored, asked, err, want)
		}
	}
}

// TestLocalSleepWithoutATime: before the first invocation with a time, a sleep ends when the
// runtime answers, and the clock stands still there.
func TestLocalSleepWithoutATime(t *testing.T) {
	t.Parallel()

	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	t.Cleanup(runtime.Close)
	ask := clockOf(t, spec.Local, strings.TrimPrefix(runtime.URL, "http://"))

	until := time.Now().Add(time.Hour).UTC()
	if now, err := ask(t.Context(), until); err != nil || !now.Equal(until) {
		t.Errorf("got %v, %v; want %v", now, err, until)
	}

	until = noon.Add(time.Hour)
	if now, err := ask(at(t.Context(), "2026-06-01T12:00:00Z", "1e6"), until); err != nil || !now.After(until) {
		t.Errorf("on a fast clock: %v, %v; want that it goes on from %v", now, err, until)
	}
}

func TestDeployedClock(t *testing.T) {
	t.Parallel()

	runtime := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a deployed function asks the runtime for %s", r.URL)
	}))
	t.Cleanup(runtime.Close)
	ask := clockOf(t, "prod", strings.TrimPrefix(runtime.URL, "http://"))
	ctx := at(t.Context(), "2031-06-01T12:00:00Z", "1000")
	began := time.Now()

	now, err := ask(ctx, began.Add(-time.Hour))
	if err != nil || now.Before(began.Truncate(0)) || now.After(time.Now()) {
		t.Errorf("got %v, %v, want the wall clock's time", now, err)
	}

	now, err = ask(ctx, began.Add(5*time.Millisecond))
	if err != nil || now.Before(began.Add(5*time.Millisecond)) {
		t.Errorf("woke at %v, %v", now.Sub(began), err)
	}

	ctx, cancel := context.WithCancel(ctx)
	cancel()

	if _, err := ask(ctx, began.Add(time.Hour)); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// TestClockWhileGoroutinesRun is for the race detector: a service's goroutines
// outlive its invocations.
func TestClockWhileGoroutinesRun(t *testing.T) {
	t.Parallel()

	var now func() time.Time

	h, err := handler(t.Context(), settings(map[string]string{spec.EnvStage: spec.Local}), func(_ context.Context, env Env) (Env, error) {
		now = env.Now
		return env, nil
	}, job(func(Env, context.Context) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}

	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			now()
		}
	})

	for range 100 {
		if _, err := h.Invoke(at(t.Context(), "2026-06-01T12:00:00Z", "0"), []byte("{}")); err != nil {
			t.Error(err)
		}
	}

	wg.Wait()
}

var balls = spec.Queue{Name: "balls", MaxReceiveCount: 3, Batch: 10}

type ball struct {
	N int `json:"n"`
}

var errNoNumber = problem.New(problem.Invalid, "", "three is no number").Because(errors.New("see the laws"))

// scorer notes the balls that it is given, and fails as their numbers say.
type scorer struct {
	mu    sync.Mutex
	given map[int]int
}

func (s *scorer) score(_ context.Context, b ball) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.given[b.N]++
	switch {
	case b.N == 3:
		return fmt.Errorf("ball: %w", errNoNumber)
	case b.N == 4:
		return errors.New("rain")
	case b.N == 5 && s.given[5] == 1:
		return problem.New(problem.Unavailable, "", "tea")
	case b.N == 6:
		return problem.New(problem.NotFound, "", "no such match")
	}

	return nil
}

// queues starts an SQS with the queue balls and its dead-letter queue.
func queues(t *testing.T, c *clock.Clock) (*sqs.Server, func(string) string) {
	t.Helper()

	server := httptest.NewUnstartedServer(nil)
	s := sqs.New(c, "http://"+server.Listener.Addr().String())
	server.Config.Handler = s
	server.Start()
	t.Cleanup(func() { s.Close(); server.Close(); c.Stop() })

	for _, q := range []sqs.Queue{{Name: "x-balls-dead"}, {Name: "x-balls", MaxReceives: balls.MaxReceiveCount, DeadLetter: "x-balls-dead"}} {
		if err := s.Create(q); err != nil {
			t.Fatal(err)
		}
	}

	return s, settings(map[string]string{"AWS_ENDPOINT_URL_SQS": server.URL, spec.EnvQueues: s.URL("x-")})
}

// TestQueue has a function work off a queue until nothing is left.
func TestQueue(t *testing.T) {
	t.Parallel()

	c := clock.New(noon, clock.Free)
	server, getenv := queues(t, c)
	s := &scorer{given: map[int]int{}}

	h, err := handler(t.Context(), getenv, func(context.Context, Env) (*scorer, error) { return s, nil },
		messages(spec.Function{Name: "test/score", On: balls}, (*scorer).score))
	if err != nil {
		t.Fatal(err)
	}

	done := c.Work()

	if err := server.Poll(sqs.Mapping{Queue: "x-balls", BatchSize: balls.Batch}, h.Invoke); err != nil {
		t.Fatal(err)
	}

	for _, body := range []string{
		`{"n":1}`, `{"n":2,"spin":true}`, `{"n":3}`, `{"n":4}`, `{"n":5}`, `{"n":6}`, `no ball`, `{"n":"7"}`, `{"n":8} {"n":9}`, `{"n":10}`,
	} {
		if _, err := server.Send("x-balls", sqs.Message{Body: body}); err != nil {
			t.Fatal(err)
		}
	}

	over := make(chan struct{})

	c.After(time.Hour, func() { close(over) })
	done()
	<-over

	if want := map[int]int{1: 1, 2: 1, 3: 1, 4: 3, 5: 2, 6: 3, 10: 1}; !maps.Equal(s.given, want) {
		t.Errorf("delivered %v (ball: times), want %v", s.given, want)
	}

	if left := server.Messages("x-balls"); len(left) != 0 {
		t.Errorf("the queue still holds %+v", left)
	}

	dead := map[string]string{} // body: reason
	for _, m := range server.Messages("x-balls-dead") {
		dead[m.Body] = aws.ToString(m.Attributes[queue.ReasonAttribute].StringValue)
	}

	want := map[string]string{
		`{"n":3}`:         "ball: three is no number: see the laws",
		`{"n":4}`:         "rain", // tried as often as its queue allows
		`{"n":6}`:         "no such match",
		`no ball`:         "the message cannot be read: invalid character 'o' in literal null (expecting 'u')",
		`{"n":"7"}`:       "the message cannot be read: json: cannot unmarshal string into Go struct field ball.n of type int",
		`{"n":8} {"n":9}`: "the message cannot be read: invalid character '{' after top-level value",
	}
	if !reflect.DeepEqual(dead, want) {
		t.Errorf("the dead-letter queue holds %v, want %v", dead, want)
	}
}

// TestBackoff: a message that fails waits for the Backoff of its queue, and then goes to the
// dead-letter queue; from there it is taken with its reason.
func TestBackoff(t *testing.T) {
	t.Parallel()

	c := clock.New(noon, clock.Free)
	server, getenv := queues(t, c)
	slow := balls
	slow.MaxReceiveCount, slow.Backoff = 3, []time.Duration{30 * time.Second, time.Minute}

	var tries []time.Duration

	h, err := handler(t.Context(), getenv, opened,
		messages(spec.Function{Name: "test/score", On: slow}, func(_ Env, _ context.Context, b ball) error {
			if b.N == 3 {
				return errNoNumber
			}

			tries = append(tries, c.Now().Sub(noon))

			return errors.New("rain")
		}))
	if err != nil {
		t.Fatal(err)
	}

	var kept []queue.DeadLetter

	late := 0

	keeper, err := handler(t.Context(), getenv, opened, deadLetters(func(_ Env, _ context.Context, l queue.DeadLetter) error {
		if late++; late == 1 {
			return errors.New("not yet")
		}

		if l.ID == "" {
			t.Error("a dead letter has no id")
		}

		l.ID = ""
		kept = append(kept, l)

		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}

	done := c.Work()

	for q, invoke := range map[string]func(context.Context, []byte) ([]byte, error){"x-balls": h.Invoke, "x-balls-dead": keeper.Invoke} {
		if err := server.Poll(sqs.Mapping{Queue: q, BatchSize: 1}, invoke); err != nil {
			t.Fatal(err)
		}
	}

	for _, body := range []string{`{"n":4}`, `{"n":3}`} {
		if _, err := server.Send("x-balls", sqs.Message{Body: body}); err != nil {
			t.Fatal(err)
		}
	}

	over := make(chan struct{})

	c.After(time.Hour, func() { close(over) })
	done()
	<-over

	if want := []time.Duration{0, 30 * time.Second, 90 * time.Second}; !slices.Equal(tries, want) {
		t.Errorf("tried after %v, want %v", tries, want)
	}

	slices.SortFunc(kept, func(a, b queue.DeadLetter) int { return strings.Compare(a.Body, b.Body) })

	if want := []queue.DeadLetter{
		{Body: `{"n":3}`, Reason: "three is no number: see the laws"},
		{Body: `{"n":4}`, Reason: "rain"},
	}; !slices.Equal(kept, want) {
		t.Errorf("the dead letters are %+v, want %+v", kept, want)
	}
}

// TestQueueCannotReject: a message that cannot be moved to the dead-letter queue
// is delivered again.
func TestQueueCannotReject(t *testing.T) {
	t.Parallel()

	c := clock.New(noon, clock.Free)
	defer c.Work()()

	server, getenv := queues(t, c)
	s := &scorer{given: map[int]int{}}
	other := spec.Queue{Name: "nowhere", MaxReceiveCount: 2}

	h, err := handler(t.Context(), getenv, func(context.Context, Env) (*scorer, error) { return s, nil },
		messages(spec.Function{Name: "test/score", On: other}, (*scorer).score))
	if err != nil {
		t.Fatal(err)
	}

	in, err := json.Marshal(events.SQSEvent{
		Records: []events.SQSMessage{{MessageId: "a", Body: `{"n":3}`}, {MessageId: "b", Body: `{"n":1}`}},
	})
	if err != nil {
		t.Fatal(err)
	}

	out, err := h.Invoke(t.Context(), in)
	if want := `{"batchItemFailures":[{"itemIdentifier":"a"}]}`; err != nil || string(out) != want {
		t.Errorf("got %s, %v, want %s", out, err, want)
	}

	if n := len(server.Messages("x-balls-dead")); n != 0 {
		t.Errorf("%d messages went to another queue's dead letters", n)
	}
}

// FuzzDecode: what is not a message is an Invalid problem, and what is one survives
// being sent again.
func FuzzDecode(f *testing.F) {
	f.Add(`{"n":1}`)
	f.Add(`{"n":1e400}`)
	f.Add(`null`)
	f.Add("{\"n\":1}\x00")
	f.Fuzz(func(t *testing.T, body string) {
		var m, back ball

		err := decode(body, &m)
		if err != nil {
			if p, ok := errors.AsType[*problem.Error](err); !ok || p.Kind != problem.Invalid || p.Code != "unreadable_message" {
				t.Fatalf("%q: %v is not an Invalid problem", body, err)
			}

			return
		}

		if !json.Valid([]byte(body)) {
			t.Fatalf("%q was decoded as %+v", body, m)
		}

		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}

		if err := decode(string(again), &back); err != nil || back != m {
			t.Fatalf("%q: %+v came back as %+v, %v", body, m, back, err)
		}
	})
}

type get struct {
	Name  string `path:"name"`
	Query string `query:"q"`
}

type page struct {
	Body struct {
		Name, Query string
	}
}

func (g *get) page(context.Context) (*page, error) {
	p := &page{}
	p.Body.Name, p.Body.Query = g.Name, g.Query

	return p, nil
}

// TestPath: API Gateway gives the path decoded, so that a name may hold what
// means something else in a URL.
func TestPath(t *testing.T) {
	t.Parallel()

	fn := spec.Function{Name: "test/get-team", Does: "A team.", On: spec.Route{Method: "GET", Path: "/teams/{name}", Auth: spec.Public}}

	h, err := handler(t.Context(), settings(nil), opened,
		api(fn, func(_ Env, ctx context.Context, in *get) (*page, error) { return in.page(ctx) }))
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct{ path, query, name, q string }{
		{"/teams/aus", "", "aus", ""},
		{"/test/teams/aus", "q=1", "aus", "1"}, // a custom domain that maps /test to the API
		{"/teams/New Zealand", "", "New Zealand", ""},
		{"/teams/100%", "", "100%", ""},
		{"/teams/a%20b", "", "a%20b", ""},
		{"/teams/what?q=2", "q=1", "what?q=2", "1"},
		{"/teams/no#1", "q=1", "no#1", "1"},
		{"/teams/Türkiye", "q=a%26b+c", "Türkiye", "a&b c"},
		{"/teams/aus", "q=a#b", "aus", "a#b"},
		{"/teams/aus", "q=%23%25!", "aus", "#%!"},
		{"/teams/aus", "q=a b\x01", "aus", "a b\x01"},
	} {
		e := events.APIGatewayV2HTTPRequest{RawPath: c.path, RawQueryString: c.query}
		e.RequestContext.HTTP.Method, e.RequestContext.DomainName = "GET", "api.example.com"

		in, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}

		var out events.APIGatewayV2HTTPResponse

		raw, err := h.Invoke(t.Context(), in)
		if err := errors.Join(err, json.Unmarshal(raw, &out)); err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}

		var got struct{ Name, Query string }
		if err := json.Unmarshal([]byte(out.Body), &got); err != nil || got.Name != c.name || got.Query != c.q {
			t.Errorf("%s: got %d %s, %v, want %q and %q", c.path, out.StatusCode, out.Body, err, c.name, c.q)
		}
	}
}
