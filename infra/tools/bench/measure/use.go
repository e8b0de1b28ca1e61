package measure

import (
	"context"
	"fmt"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/dynamodb"
	"matchday/pkg/kit/app"
)

// Use is a function to measure.
type Use struct {
	What   string
	Before func() error // before each call, not measured; may be nil
	Open   func(context.Context, app.Env) (Call, error)
}

// Call calls a function, and returns the size of the answer in bytes, 0 for a job.
type Call func(context.Context) (answer int, err error)

// Cost is what one call of a function costs in this process.
type Cost struct {
	What   string  `json:"what"`
	Answer float64 `json:"answer"` // bytes
	Counters
	Capacity
	Usage `json:"-"`
}

// Ask opens a function with a route for requests, one for each call, or a job, which ignores
// them. An answer that is no success is an error.
func Ask(fn app.Function, request func() (events.APIGatewayV2HTTPRequest, error)) func(context.Context, app.Env) (Call, error) {
	return func(ctx context.Context, env app.Env) (Call, error) {
		handle, err := Open(ctx, fn, env)

		return func(ctx context.Context) (int, error) {
			in, err := request()
			if err != nil {
				return 0, err
			}

			out, err := handle(ctx, in)
			if err == nil && out.StatusCode >= http.StatusMultipleChoices {
				err = fmt.Errorf("%d %s", out.StatusCode, out.Body)
			}

			return len(out.Body), err
		}, err
	}
}

// Same returns the same request for each call.
func Same(in events.APIGatewayV2HTTPRequest) func() (events.APIGatewayV2HTTPRequest, error) {
	return func() (events.APIGatewayV2HTTPRequest, error) { return in, nil }
}

// Uses measures functions, which are called in their order in each of the rounds: the units
// and the answer of a call before the rounds, the fewest I/O calls of all rounds, which are
// those without retries, and the median of what the rounds use.
func (w *World) Uses(ctx context.Context, rounds int, uses []Use) ([]Cost, error) {
	costs, calls, spent := make([]Cost, len(uses)), make([]Call, len(uses)), make([][]Usage, len(uses))
	for i, u := range uses {
		var err error
		if costs[i], err = w.meter(ctx, u); err != nil {
			return nil, fmt.Errorf("%s: %w", u.What, err)
		}

		if calls[i], err = u.Open(ctx, w.Env()); err != nil {
			return nil, fmt.Errorf("%s: %w", u.What, err)
		}
	}

	for round := range rounds {
		for i, u := range uses {
			if err := u.before(); err != nil {
				return nil, fmt.Errorf("before %s: %w", u.What, err)
			}

			w.Reset()

			each, err := Run(func() error { _, err := calls[i](ctx); return err })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", u.What, err)
			}

			spent[i] = append(spent[i], each)
			if c := w.Counts(); round == 0 || c.Sum() < costs[i].Sum() {
				costs[i].Counters = c
			}
		}
	}

	for i := range costs {
		costs[i].Usage = MedianUsage(spent[i])
	}

	return costs, nil
}

// meter calls a function once, and returns the units and the answer.
func (w *World) meter(ctx context.Context, u Use) (Cost, error) {
	var m dynamodb.Meter

	env := w.Env()
	env.AWS = m.On(env.AWS)

	call, err := u.Open(ctx, env)
	if err != nil {
		return Cost{}, err
	}

	if err := u.before(); err != nil {
		return Cost{}, err
	}

	m.Take()

	answer, err := call(ctx)

	return Cost{What: u.What, Answer: float64(answer), Capacity: Capacity(m.Take())}, err
}

func (u Use) before() error {
	if u.Before == nil {
		return nil
	}

	return u.Before()
}

// Row returns the row of a function beside the cheapest one.
func (c Cost) Row(title string, cheapest Cost) Row {
	r := RowOf(title+c.What, c.Usage, c.Sum())
	if c.What == cheapest.What {
		return r
	}

	r.Compared = fmt.Sprintf("× %.0f %s; %s", Share(c.Wall, cheapest.Wall), cheapest.What, c.Capacity)

	r.Details = fmt.Sprintf("%s; fastest %s", c.Counters, Short(c.Fastest))
	if c.Answer > 0 {
		r.Details = fmt.Sprintf("%s; %.1f KB answer; fastest %s", c.Counters, c.Answer/1e3, Short(c.Fastest))
	}

	return r
}
