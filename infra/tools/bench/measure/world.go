package measure

import (
	"context"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"matchday/infra/local/tables"
	"matchday/infra/sim/clock"
	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/sim/sqs"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Prefix is before the names of a world's tables and queues.
const Prefix = "bench-"

// World is what a room's functions need, in this process, except for the DynamoDB
// engine. A free clock moves only when the benchmark moves it.
type World struct {
	Clock    *clock.Clock
	Queues   *sqs.Server
	Engine   string            // URL of the DynamoDB engine
	Settings map[string]string // environment variables of the functions
	Provider *Provider         // answers all their requests to other hosts; nil if they send none

	wire *wire
	stop func()
}

// NewWorld returns a world with the room's tables and queues, all empty. It stops the
// clock when it is closed.
func NewWorld(ctx context.Context, room spec.Room, c *clock.Clock) (*World, error) {
	engine, err := dynamodbsim.Start(ctx, "")
	if err != nil {
		return nil, err
	}

	w := &World{Clock: c, Engine: engine.URL, Settings: map[string]string{}, stop: engine.Stop}
	w.Clock.Work() // so that it stands still until the benchmark sleeps
	w.Queues = sqs.New(w.Clock, "http://queues")

	w.wire = &wire{http: app.Client{HTTPClient: awshttp.NewBuildableClient()}, queues: w.Queues, counts: NewCounters()}
	if err := w.create(ctx, room); err != nil {
		w.Close()
		return nil, err
	}

	return w, nil
}

// create creates the room's tables and queues.
func (w *World) create(ctx context.Context, room spec.Room) error {
	if err := dynamodbsim.Create(ctx, dynamodb.NewFromConfig(dynamodbsim.Config(w.Engine)),
		tables.FromSpec(Prefix, room.Tables())); err != nil {
		return err
	}

	for _, fn := range room.Functions {
		if q, ok := fn.On.(spec.Queue); ok {
			if err := w.Queues.Create(sqs.Queue{Name: Prefix + q.Name, FIFO: q.FIFO(), Visibility: fn.VisibilityTimeout()}); err != nil {
				return err
			}
		}
	}

	return nil
}

// Close stops the world.
func (w *World) Close() {
	w.Queues.Close()
	w.Clock.Stop()
	w.stop()
}

// DB gives access to the tables without counting the calls.
func (w *World) DB() dynamo.DB { return dynamo.Open(dynamodbsim.Config(w.Engine), Prefix) }

// Env is the environment of a function that runs in this process.
func (w *World) Env() app.Env {
	cfg := dynamodbsim.Config(w.Engine)
	cfg.HTTPClient = aws.HTTPClient(w.wire)

	env := app.Env{
		AWS: cfg, Stage: spec.Local, Prefix: Prefix, Queues: w.Queues.URL(Prefix),
		Clock: app.Clock{Now: w.Clock.Now, Sleep: w.Sleep}, Patience: 100,
		Setting: func(name string) string { return w.Settings[name] },
	}
	if w.Provider != nil {
		env.HTTP = w.Provider
	}

	return env
}

// Process is the environment of a function that runs as a process of its own.
func (w *World) Process() []string {
	env := []string{
		spec.EnvStage + "=" + spec.Local, spec.EnvPrefix + "=" + Prefix, spec.EnvQueues + "=" + w.Queues.URL(Prefix),
		"AWS_ENDPOINT_URL_DYNAMODB=" + w.Engine, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}
	for name, value := range w.Settings {
		env = append(env, name+"="+value)
	}

	return env
}

// Sleep moves the clock to a time, unless it has passed. It returns once nothing in
// the world works any more, as in an empty queue.
func (w *World) Sleep(ctx context.Context, until time.Time) error {
	if !until.After(w.Clock.Now()) {
		return nil
	}

	return w.Clock.Sleep(ctx, until)
}

// Reset sets all counters to zero.
func (w *World) Reset() {
	if w.Provider != nil {
		w.Provider.calls, w.Provider.spent = 0, Usage{}
	}

	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()

	w.wire.waited = 0
	w.wire.counts = NewCounters()
}

// Counts returns the calls since the last Reset.
func (w *World) Counts() Counters {
	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()

	c := w.wire.counts.Per(1)
	if w.Provider != nil {
		c.Provider = float64(w.Provider.calls)
	}

	return c
}

// Waited returns for how long, since the last Reset, at least one call to the
// DynamoDB engine was in flight.
func (w *World) Waited() time.Duration {
	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()

	return w.wire.waited
}

// Provider is the HTTP transport of functions whose provider is simulated in this
// process. It measures the simulator, so that its cost can be subtracted.
type Provider struct {
	Handler http.Handler // the simulator

	calls int
	size  int
	spent Usage
}

// RoundTrip implements http.RoundTripper.
func (p *Provider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.calls++
	out := httptest.NewRecorder()
	spent, err := Run(func() error { p.Handler.ServeHTTP(out, r); return nil })
	p.spent.Wall += spent.Wall
	p.spent.CPU += spent.CPU
	p.spent.Allocs += spent.Allocs
	p.size = out.Body.Len()

	return out.Result(), err
}

// Spent returns what the simulator has used since the world's last Reset.
func (p *Provider) Spent() Usage { return p.spent }

// BodySize returns the size of the last answer, in bytes.
func (p *Provider) BodySize() int { return p.size }

// SignedRequest is the event of a user's request to a route.
func SignedRequest(route spec.Route, path, user, body string) events.APIGatewayV2HTTPRequest {
	return events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: path, Body: body, Headers: map[string]string{"content-type": "application/json"},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			DomainName: "api.bench", HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: route.Method, Path: path},
			Authorizer: &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
				JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": user}},
			},
		},
	}
}
