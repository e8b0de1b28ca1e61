package measure

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"matchday/pkg/kit/app"
)

// Open opens a function with a route, or a job, in this process. A job ignores the request.
func Open(ctx context.Context, fn app.Function, env app.Env) (app.Route, error) {
	call, err := fn.Open(ctx, env)
	if err != nil {
		return nil, err
	}

	if job, ok := call.(func(context.Context) error); ok {
		return func(ctx context.Context, _ events.APIGatewayV2HTTPRequest) (out events.APIGatewayV2HTTPResponse, err error) {
			return out, job(ctx)
		}, nil
	}

	return call.(app.Route), nil
}
