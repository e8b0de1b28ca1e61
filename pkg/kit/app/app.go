// Package app starts a Lambda function: it reads the environment, opens the
// service that the function needs, and gives it to the Lambda runtime. It alone
// reads the wall clock.
package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"matchday/pkg/kit/fault"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/obs"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Env is what a service may be opened with.
type Env struct {
	AWS    aws.Config
	Stage  string
	Prefix string // before every table name
	Queues string // URL that a queue's name completes
	Clock
	HTTP http.RoundTripper // to providers; nil for net/http's
	// Setting reads a plain setting, "" when it is not set.
	Setting func(name string) string
	// Secret reads a secret. The local stage keeps its secrets in settings.
	Secret func(ctx context.Context, name string) (string, error)
}

// Opener opens a service, once per cold start. Its error ends the process.
type Opener[S any] func(context.Context, Env) (S, error)

// API serves a use case on the route of fn. Called with the argument "openapi",
// the program prints the route's OpenAPI description instead.
func API[S, In, Out any](fn spec.Function, open Opener[S], do func(S, context.Context, *In) (*Out, error)) {
	if len(os.Args) == 2 && os.Args[1] == "openapi" {
		document, err := httpapi.OpenAPI(fn, func(context.Context, *In) (*Out, error) { return nil, nil })
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(document)
		return
	}
	s, _, clock := start(fn, open)
	proxy := httpadapter.NewV2(httpapi.Handler(fn, func(ctx context.Context, in *In) (*Out, error) { return do(s, ctx, in) }))
	lambda.Start(func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		clock.begin(ctx)
		return proxy.ProxyWithContext(ctx, e)
	})
}

// Job runs a job whenever fn is invoked; what it is invoked with does not matter.
func Job[S any](fn spec.Function, open Opener[S], do func(S, context.Context) error) {
	s, _, clock := start(fn, open)
	lambda.Start(func(ctx context.Context) error {
		clock.begin(ctx)
		return logged(ctx, do(s, ctx))
	})
}

// Task answers the calls of a state machine.
func Task[S, In, Out any](fn spec.Function, open Opener[S], do func(S, context.Context, In) (Out, error)) {
	s, _, clock := start(fn, open)
	lambda.Start(func(ctx context.Context, in In) (Out, error) {
		clock.begin(ctx)
		out, err := do(s, ctx, in)
		return out, logged(ctx, err)
	})
}

// Queue gives a use case each message of the queue of fn. A message whose
// handling fails is delivered again, alone. One that is not the JSON of an M, or
// that is an Invalid fault, goes to the dead-letter queue with the reason.
func Queue[S, M any](fn spec.Function, open Opener[S], do func(S, context.Context, M) error) {
	s, env, clock := start(fn, open)
	from := fn.On.(spec.Queue)
	dead := queue.Open(env.AWS, env.Queues)
	lambda.Start(func(ctx context.Context, e events.SQSEvent) (out events.SQSEventResponse, _ error) {
		clock.begin(ctx)
		for _, r := range e.Records {
			err := handle(ctx, r.Body, func(ctx context.Context, m M) error { return do(s, ctx, m) })
			if fault.Of(err) == fault.Invalid {
				slog.ErrorContext(ctx, "message rejected", "message", r.MessageId, "queue", from.Name, "err", err)
				err = dead.Reject(ctx, from, r.Body, err.Error())
			}
			if logged(ctx, err) != nil {
				out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
			}
		}
		return out, nil
	})
}

func handle[M any](ctx context.Context, body string, do func(context.Context, M) error) error {
	var m M
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return fault.New(fault.Invalid, "the message cannot be read").Because(err)
	}
	return do(ctx, m)
}

func logged(ctx context.Context, err error) error {
	if err != nil {
		slog.ErrorContext(ctx, "failed", "err", err)
	}
	return err
}

func start[S any](fn spec.Function, open Opener[S]) (S, Env, *clock) {
	slog.SetDefault(obs.Logger(os.Stdout, fn.Name))
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		panic(fmt.Errorf("load the AWS configuration: %w", err))
	}
	env, clock := environment(cfg, os.Getenv)
	s, err := open(ctx, env)
	if err != nil {
		panic(fmt.Errorf("open %s: %w", fn.Name, err))
	}
	return s, env, clock
}

func environment(cfg aws.Config, getenv func(string) string) (Env, *clock) {
	clock := &clock{}
	env := Env{
		AWS: cfg, Stage: getenv(spec.EnvStage), Prefix: getenv(spec.EnvPrefix), Queues: getenv(spec.EnvQueues),
		Clock: Clock{Now: time.Now, Sleep: sleep}, Setting: getenv,
		Secret: func(ctx context.Context, name string) (string, error) { return secret(ctx, cfg, name) },
	}
	if env.Stage == spec.Local {
		clock.runtime = getenv("AWS_LAMBDA_RUNTIME_API")
		env.Clock = Clock{Now: clock.now, Sleep: clock.sleep}
		env.Secret = func(_ context.Context, name string) (string, error) {
			if v := getenv(name); v != "" {
				return v, nil
			}
			return "", fmt.Errorf("the secret %s is not set", name)
		}
	}
	return env, clock
}

// secret reads the current value of the stage's secret of that name.
func secret(ctx context.Context, cfg aws.Config, name string) (string, error) {
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
	if err != nil {
		return "", fmt.Errorf("read the secret %s: %w", name, err)
	}
	return aws.ToString(out.SecretString), nil
}
