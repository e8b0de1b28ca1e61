package catalog

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/budget"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// budgeted sends requests while its share of a budget lasts. It answers the others itself
// as the provider would: 429, with the time until the period ends. A budget counts the
// requests whose path has the budget's name.
type budgeted struct {
	next  http.RoundTripper
	name  string // of the budget
	count budget.Counter[requests]
}

// withBudget returns a transport with a share of a budget.
func withBudget(env app.Env, next http.RoundTripper, share spec.Share) budgeted {
	return budgeted{next, share.Budget.Name, budget.Counter[requests]{
		DB: dynamo.Open(env.AWS, env.Prefix), Access: tables.CountRequest, Now: env.Now,
		Key:     dynamo.Key(tables.CountRequest, "budget:"+share.Budget.Name),
		Periods: []budget.Period{{Share: share, Begins: "startedAt", Used: "calls"}},
		Expires: "expiresAt",
	}}
}

// RoundTrip implements http.RoundTripper.
func (b budgeted) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.Contains(r.URL.Path+"/", "/"+b.name+"/") {
		return b.next.RoundTrip(r)
	}

	err := b.count.Take(r.Context())
	if e, ok := errors.AsType[*budget.Exhausted](err); ok {
		header := http.Header{"Retry-After": {strconv.Itoa(int(e.RetryAfter.Seconds()))}}
		body := strings.NewReader(`{"message":"` + e.Error() + `"}`)

		return &http.Response{StatusCode: http.StatusTooManyRequests, Header: header, Body: io.NopCloser(body)}, nil
	}

	if err != nil {
		return nil, err
	}

	return b.next.RoundTrip(r)
}

// requests is the row budget:{name} of cricket-locks: how many requests were sent since the
// first of the period.
type requests struct {
	StartedAt int64 `dynamodbav:"startedAt,omitempty"` // epoch s
	Calls     int   `dynamodbav:"calls"`
	ExpiresAt int64 `dynamodbav:"expiresAt"` // epoch s
}
