// Package app declares and starts Lambda functions: it reads the environment, opens the service
// that the function needs, and passes it to the Lambda runtime. No other package reads the wall
// clock.
package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// Opener opens a service, once per cold start. Its error ends the process.
type Opener[S any] func(context.Context, Env) (S, error)

// Function is a Lambda function: its spec, and the code that it runs. API, Job, Task, Queue,
// DeadLetters and Migration make one. A room declares each function in a Go function of its own
// beside the use case, so that a deployed program links only its own use case.
type Function struct {
	spec.Function

	open     func(context.Context, Env) (any, error)
	describe func() ([]byte, error)
	decode   func(httpapi.Identifier, func(in any)) Route
}

// Route is a function with a route, as the Lambda runtime calls it.
type Route = httpapi.Route

// API serves a use case on the route of fn. problems are those that the use case may return and that
// have a code of their own: the OpenAPI document lists their codes.
func API[S, In, Out any](
	fn spec.Function, open Opener[S], do func(S, context.Context, *In) (*Out, error), problems ...*problem.Error,
) Function {
	return Function{
		Function: fn,
		open:     bind(open, api(fn, do)),
		describe: func() ([]byte, error) {
			return httpapi.OpenAPI(fn, func(context.Context, *In) (*Out, error) { return nil, nil }, problems...)
		},
		decode: func(by httpapi.Identifier, seen func(in any)) Route {
			return httpapi.Lambda(fn, by, func(_ context.Context, in *In) (*Out, error) {
				seen(in)
				return nil, errDecoded
			})
		},
	}
}

// errDecoded is the answer of Function.Decoder to a request that it accepts.
var errDecoded = problem.New(problem.Invalid, "decoded", "the request was decoded, and nothing else")

// Job runs a job at each invocation of fn, and ignores the event.
func Job[S any](fn spec.Function, open Opener[S], do func(S, context.Context) error) Function {
	return Function{Function: fn, open: bind(open, job(do))}
}

// Task answers the calls of a state machine.
func Task[S, In, Out any](fn spec.Function, open Opener[S], do func(S, context.Context, In) (Out, error)) Function {
	return Function{Function: fn, open: bind(open, task(do))}
}

// Queue calls a use case with each message of the queue of fn. If the use case fails, SQS
// delivers that message again, but not the rest of its batch.
//
// A message goes to the dead-letter queue with the reason if it is not the JSON of an M, if the
// use case returns an Invalid problem, or if it fails for the last time. If the invocation ends
// without an answer, SQS moves the message itself, without a reason.
//
// Fields that M does not have are ignored: during a deployment an old consumer may receive the
// messages of a new producer, and must not lose them.
func Queue[S, M any](fn spec.Function, open Opener[S], do func(S, context.Context, M) error) Function {
	return Function{Function: fn, open: bind(open, messages(fn, do))}
}

// DeadLetters calls a use case with each message of the dead-letter queue of fn. A message for
// which it fails stays, and is delivered again.
func DeadLetters[S any](fn spec.Function, open Opener[S], do func(S, context.Context, queue.DeadLetter) error) Function {
	return Function{Function: fn, open: bind(open, deadLetters(do))}
}

// Migration runs a migration when CloudFormation creates or changes the custom resource of fn,
// and sends CloudFormation the result. An error fails the deployment, and its text appears in
// the deployment's output. Nothing is undone when the resource is deleted, or when the
// deployment is rolled back. An operator who invokes the function without a response URL gets
// the answer.
func Migration[S any](fn spec.Function, open Opener[S], do func(S, context.Context) error) Function {
	return Function{Function: fn, open: bind(open, migration(fn, do))}
}

// Start serves the function with the Lambda runtime. The process ends with status 1 if the
// environment is not valid, or if the service cannot be opened.
func (f Function) Start() {
	room, _, _ := strings.Cut(f.Name, "/")

	log := telemetry.Logger(os.Stdout, os.Getenv(spec.EnvPrefix)+room, cmp.Or(os.Getenv("AWS_LAMBDA_FUNCTION_NAME"), f.Name))
	if code := os.Getenv(spec.EnvCode); code != "" {
		log = log.With("code", code)
	}

	slog.SetDefault(log)

	h, err := f.handler(context.Background(), os.Getenv)
	if err != nil {
		slog.Error("cannot start", "err", err)
		os.Exit(1)
	}

	lambda.Start(h)
}

// Open opens the service in an environment. It returns the function that the Lambda runtime
// calls with the event: a Route, or the function of another trigger.
func (f Function) Open(ctx context.Context, env Env) (any, error) { return f.open(ctx, env) }

// In returns the function with the service opened in the environment that change returns.
func (f Function) In(change func(Env) Env) Function {
	open := f.open
	f.open = func(ctx context.Context, env Env) (any, error) { return open(ctx, change(env)) }

	return f
}

// OpenAPI returns the OpenAPI document of the function's route, nil for another trigger.
func (f Function) OpenAPI() ([]byte, error) {
	if f.describe == nil {
		return nil, nil
	}

	return f.describe()
}

// Decoder returns the function's route without its use case, for tests. seen gets a pointer to
// the decoded request. by identifies the callers of routes with sessions.
func (f Function) Decoder(by httpapi.Identifier, seen func(in any)) Route { return f.decode(by, seen) }

func (f Function) handler(ctx context.Context, getenv func(string) string) (lambda.Handler, error) {
	env, clock, err := environment(getenv)
	if err != nil {
		return nil, err
	}

	call, err := f.open(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}

	h := lambda.NewHandler(call)
	if clock != nil {
		return timed{h, clock}, nil
	}

	return h, nil
}

// bind combines an opener with a use case of its service.
func bind[S any](open Opener[S], use use[S]) func(context.Context, Env) (any, error) {
	return func(ctx context.Context, env Env) (any, error) {
		s, err := open(ctx, env)
		if err != nil {
			return nil, err
		}

		return use(s, env), nil
	}
}

// use returns the function that the Lambda runtime calls, given an open service.
type use[S any] func(S, Env) any

func api[S, In, Out any](fn spec.Function, do func(S, context.Context, *In) (*Out, error)) use[S] {
	return func(s S, env Env) any {
		by, _ := any(s).(httpapi.Identifier) // a service of routes for sessions has one
		return route(env, httpapi.Lambda(fn, by, func(ctx context.Context, in *In) (*Out, error) { return do(s, ctx, in) }))
	}
}

// route counts the failures of a route.
func route(env Env, handle Route) Route {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		out, err := handle(ctx, e)
		if out.StatusCode >= http.StatusInternalServerError {
			failed(ctx, env, 1)
		}

		return out, err
	}
}

func job[S any](do func(S, context.Context) error) use[S] {
	return func(s S, env Env) any {
		return func(ctx context.Context) error { return counted(ctx, env, do(s, ctx)) }
	}
}

func task[S, In, Out any](do func(S, context.Context, In) (Out, error)) use[S] {
	return func(s S, env Env) any {
		return func(ctx context.Context, in In) (Out, error) {
			out, err := do(s, ctx, in)
			return out, counted(ctx, env, err)
		}
	}
}

func messages[S, M any](fn spec.Function, do func(S, context.Context, M) error) use[S] {
	return func(s S, env Env) any {
		return consumer(fn.On.(spec.Queue), env, func(ctx context.Context, body string) error {
			var m M
			if err := decode(body, &m); err != nil {
				return err
			}

			return do(s, ctx, m)
		})
	}
}

// consumer returns the function that calls do with the body of each message of a queue.
func consumer(from spec.Queue, env Env, do func(ctx context.Context, body string) error) any {
	dead := queue.Open(env.AWS, env.Queues)

	return func(ctx context.Context, e events.SQSEvent) (out events.SQSEventResponse, _ error) {
		failures := 0

		for _, r := range e.Records {
			err := do(ctx, r.Body)

			invalid := problem.Of(err) == problem.Invalid
			if err != nil && !invalid {
				failures++
			}

			if invalid || err != nil && deliveries(r) >= from.MaxReceiveCount {
				slog.ErrorContext(ctx, "message rejected", "message", r.MessageId, "queue", from.Name, "err", err)
				err = dead.Reject(ctx, from, r.Attributes["MessageGroupId"], r.Body, err.Error())
			}

			if logged(ctx, err) != nil {
				logged(ctx, delay(ctx, dead, from, r))
				out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})

				if invalid {
					failures++
				}
			}
		}

		failed(ctx, env, failures)

		return out, nil
	}
}

func deadLetters[S any](do func(S, context.Context, queue.DeadLetter) error) use[S] {
	return func(s S, env Env) any {
		return func(ctx context.Context, e events.SQSEvent) (out events.SQSEventResponse, _ error) {
			for _, r := range e.Records {
				dead := queue.DeadLetter{ID: r.MessageId, Body: r.Body}
				if reason := r.MessageAttributes[queue.ReasonAttribute].StringValue; reason != nil {
					dead.Reason = *reason
				}

				if logged(ctx, do(s, ctx, dead)) != nil {
					out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
				}
			}

			failed(ctx, env, len(out.BatchItemFailures))

			return out, nil
		}
	}
}

func migration[S any](fn spec.Function, do func(S, context.Context) error) use[S] {
	return func(s S, env Env) any {
		return func(ctx context.Context, e cfn.Event) (*cfn.Response, error) {
			answer := cfn.NewResponse(&e)
			answer.Status, answer.PhysicalResourceID = cfn.StatusSuccess, fn.Name

			if e.RequestType != cfn.RequestDelete {
				err := counted(ctx, env, do(s, ctx))
				if e.ResponseURL == "" {
					return answer, err
				}

				if err != nil {
					answer.Status, answer.Reason = cfn.StatusFailed, ending(err.Error())
				}
			}

			err := answer.Send()
			if u, ok := errors.AsType[*url.Error](err); ok {
				err = u.Err // the URL is signed
			}

			if err != nil {
				err = fmt.Errorf("answer CloudFormation: %w", err)
			}

			return nil, counted(ctx, env, err)
		}
	}
}

// ending returns the end of a text, where an error has its cause. CloudFormation accepts an
// answer of 4 KB. The log has the whole text.
func ending(text string) string {
	return strings.ToValidUTF8(text[max(0, len(text)-1000):], "")
}

// delay hides a failed message for the queue's Backoff. If that fails, the message waits for the
// visibility timeout.
func delay(ctx context.Context, s queue.Sender, q spec.Queue, r events.SQSMessage) error {
	if len(q.Backoff) == 0 {
		return nil
	}

	return s.Delay(ctx, q, r.ReceiptHandle, q.Backoff[min(deliveries(r), len(q.Backoff))-1])
}

// deliveries is how often a message was delivered, this delivery included.
func deliveries(r events.SQSMessage) int {
	n, err := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
	if err != nil {
		return 1
	}

	return max(n, 1)
}

// counted logs an error and counts it as a failure.
func counted(ctx context.Context, env Env, err error) error {
	if logged(ctx, err) != nil {
		failed(ctx, env, 1)
	}

	return err
}

// failed counts n failures, whether Lambda counts them as errors or not.
func failed(ctx context.Context, env Env, n int) {
	if n > 0 {
		telemetry.Emit(ctx, env.Now(), []telemetry.Sample{telemetry.Count(telemetry.Failed, n)})
	}
}

func decode(body string, message any) error {
	if err := json.Unmarshal([]byte(body), message); err != nil {
		return problem.New(problem.Invalid, "unreadable_message", "the message cannot be read").Because(err)
	}

	return nil
}

func logged(ctx context.Context, err error) error {
	if err != nil {
		slog.ErrorContext(ctx, "failed", "err", err)
	}

	return err
}
