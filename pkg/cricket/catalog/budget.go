package catalog

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// budgeted sends requests while its share of a budget lasts. It answers the others itself
// as the provider would: 429, with the time until the period ends. A budget counts the
// requests whose path has the budget's name.
type budgeted struct {
	next  http.RoundTripper
	share spec.Share
	db    dynamo.DB
	now   func() time.Time
}

// RoundTrip implements http.RoundTripper.
func (b budgeted) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path+"/", "/"+b.share.Budget.Name+"/") {
		wait, err := b.count(r.Context())
		if err != nil {
			return nil, err
		}
		if wait > 0 {
			header := http.Header{"Retry-After": {strconv.Itoa(int(wait.Seconds()))}}
			body := strings.NewReader(`{"message":"the budget of ` + b.share.Budget.Name + ` is used up"}`)
			return &http.Response{StatusCode: http.StatusTooManyRequests, Header: header, Body: io.NopCloser(body)}, nil
		}
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

// periodMargin is added to the period, because the provider counts a request later than
// count does.
const periodMargin = 10 * time.Second

// count counts a request. If the share is used up it returns how long the period lasts. A
// request that is counted and not sent, because of a crash, is lost for the period.
func (b budgeted) count(ctx context.Context) (wait time.Duration, err error) {
	key := dynamo.Key(tables.CountRequest, "budget:"+b.share.Budget.Name)
	period := int64((b.share.Budget.Per + periodMargin) / time.Second)
	for {
		now := b.now().Unix()
		current := dynamo.Greater[requests]("startedAt", now-period)
		err := dynamo.Update(ctx, b.db, tables.CountRequest, key, dynamo.Add[requests]("calls", 1), current.And(dynamo.Less[requests]("calls", b.share.UpTo)))
		refused, ok := errors.AsType[*dynamo.Refused](err)
		if !ok {
			return 0, err
		}
		var was requests
		if err := attributevalue.UnmarshalMap(refused.Item, &was); err != nil {
			return 0, err
		}
		if left := was.StartedAt + period - now; left > 0 {
			return time.Duration(left) * time.Second, nil
		}
		first := dynamo.Set(requests{StartedAt: now, Calls: 1, ExpiresAt: now + 2*period}, "startedAt", "calls", "expiresAt")
		err = dynamo.Update(ctx, b.db, tables.CountRequest, key, first, dynamo.Unchanged(was, "startedAt"))
		if !dynamo.IsRefused(err) { // otherwise another request has begun the period
			return 0, err
		}
	}
}
