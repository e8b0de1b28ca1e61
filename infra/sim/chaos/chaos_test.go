package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	sestypes "github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"matchday/infra/sim/clock"
	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/sim/ses"
	"matchday/infra/sim/sqs"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const function = "room-do-thing"

// rig is a DynamoDB engine, the faults in front of it, and a function's client.
type rig struct {
	*Faults
	t      *testing.T
	name   string // the name of the table
	client *dynamodb.Client
	direct *dynamodb.Client // reaches the engine without faults
	clock  *clock.Clock
	killed chan string
}

func open(t *testing.T, seed uint64, rates map[Kind]float64) *rig {
	return reopen(t, newTable(t), seed, rates)
}

const tableName = "counters"

// newTable starts a DynamoDB engine with an empty table of counters.
func newTable(t *testing.T) aws.Config {
	t.Helper()

	e, err := dynamodbsim.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(e.Stop)
	cfg := dynamodbsim.Config(e.URL)

	err = dynamodbsim.Create(t.Context(), dynamodb.NewFromConfig(cfg), []dynamodbsim.Table{{Input: &dynamodb.CreateTableInput{
		TableName: aws.String(tableName), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	}}})
	if err != nil {
		t.Fatal(err)
	}

	return cfg
}

func reopen(t *testing.T, cfg aws.Config, seed uint64, rates map[Kind]float64) *rig {
	r := &rig{t: t, name: tableName, direct: dynamodb.NewFromConfig(cfg), clock: clock.New(start, clock.Free), killed: make(chan string, 1)}
	r.Faults = New(Config{Seed: seed, Clock: r.clock, Calls: map[string]map[Kind]float64{function: rates}})
	r.Key = func(string) []string { return []string{"id", ""} }
	r.Payload = func(string) []byte { return nil }
	r.Kill = func(token string) bool {
		r.killed <- token
		return true
	}
	r.Start()

	to, err := url.Parse(*cfg.BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}

	r.client = dynamodb.NewFromConfig(r.aws(r.Guard(dynamodbsim.Proxy(to)), aws.NopRetryer{}))

	return r
}

// aws returns the configuration of a function that calls h.
func (r *rig) aws(h http.Handler, retryer aws.Retryer) aws.Config {
	web := httptest.NewServer(h)
	r.t.Cleanup(web.Close)

	return aws.Config{
		Region: "eu-west-1", BaseEndpoint: &web.URL, Retryer: func() aws.Retryer { return retryer },
		Credentials: credentials.NewStaticCredentialsProvider(function, "local", "process 1"),
	}
}

// add increments a row's counter. The holder differs in each call; the faults must not
// depend on it.
func (r *rig) add(ctx context.Context, id string) error {
	_, err := r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &r.name, Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
		UpdateExpression: aws.String("ADD n :one SET holder = :h"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":one": &types.AttributeValueMemberN{Value: "1"}, ":h": &types.AttributeValueMemberS{Value: fmt.Sprint(rand.Int())},
		},
	})

	return err
}

func (r *rig) count(id string) string {
	r.t.Helper()

	out, err := r.direct.GetItem(r.t.Context(), &dynamodb.GetItemInput{TableName: &r.name, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}})
	if err != nil {
		r.t.Fatal(err)
	}

	if n, ok := out.Item["n"].(*types.AttributeValueMemberN); ok {
		return n.Value
	}

	return "0"
}

func TestEffects(t *testing.T) {
	t.Parallel()

	for kind, want := range map[Kind]struct {
		effect string
		check  func(error) bool
	}{
		Throttled: {"0", func(err error) bool {
			_, ok := errors.AsType[*types.ProvisionedThroughputExceededException](err)
			return ok
		}},
		Failed:        {"0", func(err error) bool { _, ok := errors.AsType[*types.InternalServerError](err); return ok }},
		FailedForGood: {"0", func(err error) bool { _, ok := errors.AsType[*types.InternalServerError](err); return ok }},
		Cut:           {"1", func(err error) bool { return err != nil }},
	} {
		r := open(t, 1, map[Kind]float64{kind: 1})
		if err := r.add(t.Context(), "a"); !want.check(err) {
			t.Errorf("%s: got the error %v", kind, err)
		}

		if got := r.count("a"); got != want.effect {
			t.Errorf("%s: the call took effect %s times, want %s", kind, got, want.effect)
		}

		if c := r.Counts(); c[kind] != 1 || len(c) != 1 {
			t.Errorf("%s: counted %v", kind, c)
		}
	}
}

func TestKills(t *testing.T) {
	t.Parallel()

	for kind, effect := range map[Kind]string{KilledBefore: "0", KilledAfter: "1"} {
		r := open(t, 1, map[Kind]float64{kind: 1})
		ctx, die := context.WithCancel(t.Context())

		var wg sync.WaitGroup
		wg.Go(func() {
			if r.add(ctx, "a") == nil {
				t.Errorf("%s: the call got an answer, want none", kind)
			}
		})

		if token := <-r.killed; token != "process 1" {
			t.Errorf("%s: %q was killed", kind, token)
		}

		die()
		wg.Wait()

		if got := r.count("a"); got != effect {
			t.Errorf("%s: the call took effect %s times, want %s", kind, got, effect)
		}
	}
}

// A process is killed only after its other calls have ended. Otherwise the work that it
// completed would depend on goroutine scheduling.
func TestKillWaitsForOtherCalls(t *testing.T) {
	t.Parallel()
	r := open(t, 1, map[Kind]float64{KilledBefore: 1})
	arrived, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(r.Watch(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-release
	})))
	t.Cleanup(slow.Close)
	ctx, die := context.WithCancel(t.Context())

	var wg sync.WaitGroup
	wg.Go(func() { http.Get(slow.URL) })
	<-arrived
	wg.Go(func() { r.add(ctx, "a") })

	for r.Counts()[KilledBefore] == 0 {
		<-time.After(checkInterval)
	}

	<-time.After(2 * idleChecks * checkInterval)

	select {
	case <-r.killed:
		t.Error("the process was killed while it had a request under way")
	default:
	}

	close(release)
	<-r.killed
	die()
	wg.Wait()
}

// The SDK repeats no attempt of a call whose context has ended.
func TestKillDoesNotWaitForALostRetry(t *testing.T) {
	t.Parallel()
	r := open(t, 1, map[Kind]float64{KilledBefore: 1})
	r.work.failed(call{id: "of a call that was canceled", attempt: 1})

	ctx, die := context.WithCancel(t.Context())

	var wg sync.WaitGroup
	wg.Go(func() { r.add(ctx, "a") })
	<-r.killed
	die()
	wg.Wait()
}

func TestNothingFails(t *testing.T) {
	t.Parallel()

	all := map[Kind]float64{Throttled: 1}
	r := open(t, 1, all)

	r.Calls = map[string]map[Kind]float64{"room-another": all}
	if err := r.add(t.Context(), "a"); err != nil {
		t.Errorf("a function without rates: %v", err)
	}

	r.Calls = map[string]map[Kind]float64{function: all, function + " UpdateItem": nil}
	if err := r.add(t.Context(), "a"); err != nil {
		t.Errorf("an operation without rates: %v", err)
	}

	r.Calls = map[string]map[Kind]float64{function + " UpdateItem": all}
	if err := r.add(t.Context(), "a"); err == nil {
		t.Error("an operation with its own rates did not fail")
	}

	r.Calls, r.on = map[string]map[Kind]float64{function: all}, false
	if err := r.add(t.Context(), "a"); err != nil {
		t.Errorf("before the start: %v", err)
	}
}

// fates are what becomes of 40 rows that are each counted up twice, in some order
// and by eight at once.
func fates(t *testing.T, cfg aws.Config, seed uint64) map[string]bool {
	r := reopen(t, cfg, seed, map[Kind]float64{Throttled: 0.2, Failed: 0.1, Cut: 0.1})

	var mu sync.Mutex

	failed := map[string]bool{}

	for _, turn := range []string{"1st", "2nd"} {
		rows := make(chan int)

		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for n := range rows {
					if r.add(t.Context(), fmt.Sprint(n)) != nil {
						mu.Lock()
						failed[fmt.Sprint(turn, n)] = true
						mu.Unlock()
					}
				}
			})
		}

		for _, n := range rand.Perm(40) {
			rows <- n
		}

		close(rows)
		wg.Wait()
	}

	return failed
}

func TestSameSeedSameFaults(t *testing.T) {
	t.Parallel()
	cfg := newTable(t)

	first := fates(t, cfg, 7)
	if len(first) < 16 || len(first) > 48 {
		t.Errorf("%d of 80 calls failed, want about 32", len(first))
	}

	if again := fates(t, cfg, 7); !maps.Equal(first, again) {
		t.Error("two runs with the same seed failed different calls")
	}

	if other := fates(t, cfg, 8); maps.Equal(first, other) {
		t.Error("two seeds failed the same calls")
	}
}

// Invocations at the same time call for the same row in an order that differs between
// runs. Which calls fail must depend on the event of the invocation, not on that order.
func TestFaultsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	cfg := newTable(t)
	fails := func(order ...int) []bool {
		r := reopen(t, cfg, 7, map[Kind]float64{Failed: 0.5})

		failed := make([]bool, len(order))
		for _, n := range order {
			r.Payload = func(string) []byte { return fmt.Appendf(nil, `{"n":%d}`, n) }
			failed[n] = r.add(t.Context(), "a") != nil
		}

		return failed
	}

	first := fails(0, 1, 2, 3, 4, 5, 6, 7)
	if !slices.Contains(first, true) || !slices.Contains(first, false) {
		t.Errorf("every invocation got the same faults: %v", first)
	}

	if again := fails(7, 2, 0, 5, 1, 6, 4, 3); !slices.Equal(first, again) {
		t.Errorf("got %v, and in another order %v", first, again)
	}
}

func TestAbout(t *testing.T) {
	t.Parallel()

	for payload, want := range map[string]string{
		``:               "",
		`{"slot":7}`:     `{"slot":7}`,
		`{"Records":[]}`: `{"Records":[]}`,
		`{"Records":[{"messageId":"1","body":"a"},{"messageId":"2","body":"b"}]}`: "a b",
		`{"routeKey":"PUT /x/{id}","rawPath":"/x/7","rawQueryString":"q=1","headers":{"x-amzn-trace-id":"random"},"requestContext":{"requestId":"random","authorizer":{"jwt":{"claims":{"sub":"ann"}}}},"body":"{}"}`: "PUT /x/{id} /x/7 q=1 ann {}",
	} {
		if got := subjectOf([]byte(payload)); got != want {
			t.Errorf("%s: got the subject %q, want %q", payload, got, want)
		}
	}
}

// Each attempt of the SDK fails independently, except when the call has a permanent
// failure.
func TestAttempts(t *testing.T) {
	t.Parallel()
	r := open(t, 3, map[Kind]float64{Failed: 0.5})
	cfg := r.aws(r.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Write([]byte("{}"))
	})), retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		o.RateLimiter = unlimited{}
	}))
	r.client = dynamodb.NewFromConfig(cfg)
	failed := 0

	const calls = 100
	for n := range calls {
		if r.add(t.Context(), fmt.Sprint(n)) != nil {
			failed++
		}
	}

	if failed < 1 || failed > 26 {
		t.Errorf("%d of %d calls failed three times, want about 12", failed, calls)
	}

	if c := r.Counts(); c[Failed] < 45 || c[Failed] > 130 {
		t.Errorf("%d attempts failed, want about 87", c[Failed])
	}

	r.Calls[function] = map[Kind]float64{FailedForGood: 1}
	for n := range calls {
		if r.add(t.Context(), fmt.Sprint(n)) == nil {
			t.Error("a call with a permanent failure succeeded")
		}
	}

	if c := r.Counts(); c[FailedForGood] != calls {
		t.Errorf("got %d permanent failures, want %d", c[FailedForGood], calls)
	}
}

type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (unlimited) AddTokens(uint) error { return nil }

func TestSends(t *testing.T) {
	t.Parallel()
	r := open(t, 1, map[Kind]float64{Throttled: 1})
	queues := sqs.New(r.clock, "http://sqs")
	t.Cleanup(queues.Close)

	if err := queues.Create(sqs.Queue{Name: "q"}); err != nil {
		t.Fatal(err)
	}

	client := awssqs.NewFromConfig(r.aws(r.Guard(queues), aws.NopRetryer{}))

	send := func() error {
		_, err := client.SendMessage(t.Context(), &awssqs.SendMessageInput{QueueUrl: aws.String("http://sqs/0/q"), MessageBody: aws.String("m")})
		return err
	}
	if err := send(); err == nil || queues.Depth("q").Visible != 0 {
		t.Errorf("a failed send: %v, %d messages in the queue", err, queues.Depth("q").Visible)
	}

	r.Calls[function] = map[Kind]float64{Cut: 1}

	if err := send(); err == nil || queues.Depth("q").Visible != 1 {
		t.Errorf("a send whose answer is lost: %v, %d messages in the queue", err, queues.Depth("q").Visible)
	}
}

// TestMails: a fault of a mail is one of SES. Its recipient decides which, and its text
// does not.
func TestMails(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Stop)
	t.Cleanup(c.Work())

	for kind, want := range map[Kind]struct {
		code string
		sent int
	}{
		Throttled:     {"TooManyRequestsException", 0},
		Failed:        {"InternalServiceErrorException", 0},
		FailedForGood: {"InternalServiceErrorException", 0},
		Cut:           {"", 1},
	} {
		mails := ses.New(ses.Config{Clock: c})
		f := New(Config{Clock: c, Calls: map[string]map[Kind]float64{function + " SendEmail": {kind: 1}}})
		f.Payload = func(string) []byte { return nil }
		f.Start()

		r := &rig{t: t}
		_, err := sesv2.NewFromConfig(r.aws(f.Guard(mails), aws.NopRetryer{})).SendEmail(t.Context(), &sesv2.SendEmailInput{
			FromEmailAddress: aws.String("league@example.com"), Destination: &sestypes.Destination{ToAddresses: []string{"ann@example.org"}},
			Content: &sestypes.EmailContent{
				Simple: &sestypes.Message{
					Subject: &sestypes.Content{Data: aws.String("Hi")},
					Body:    &sestypes.Body{Text: &sestypes.Content{Data: aws.String("Ho")}},
				},
			},
		})

		code := ""
		if e, ok := errors.AsType[smithy.APIError](err); ok {
			code = e.ErrorCode()
		}

		if err == nil || code != want.code || len(mails.Sent()) != want.sent || f.Counts()[kind] != 1 {
			t.Errorf("%s: got %v with %d mails, want %q with %d", kind, err, len(mails.Sent()), want.code, want.sent)
		}
	}

	f := New(Config{})

	mail := func(to, text string) string {
		return f.rowKey([]byte(`{"Destination":{"ToAddresses":["` + to + `"]},"Content":{"Simple":{"Body":{"Text":{"Data":"` + text + `"}}}}}`))
	}
	if a, b, other := mail("ann@example.org", "?token=1"), mail("ann@example.org", "?token=2"), mail("bob@example.org",
		"?token=1"); a != b || a == other || a == "" {
		t.Errorf("the mails have the subjects %q, %q and %q", a, b, other)
	}
}

func TestInvocations(t *testing.T) {
	t.Parallel()

	run := func(rates map[Kind]float64) (at []time.Duration) {
		c := clock.New(start, clock.Free)
		hold := c.Work()
		f := New(Config{Seed: 5, Clock: c, Task: "tick", Invocations: rates})
		f.Start()
		invoke := f.Invoke(func(context.Context, string, []byte) ([]byte, error) {
			at = append(at, c.Now().Sub(start)) // one at a time: the clock is free
			return nil, nil
		})
		over := make(chan struct{})

		c.At(start, func() {
			invoke(t.Context(), "tick", []byte("1"))
			invoke(t.Context(), "plan", []byte("1"))
		})
		c.After(time.Hour, func() { close(over) })
		hold()
		<-over

		return at
	}
	for _, c := range []struct {
		kind     Kind
		n        int
		low, top time.Duration // of the last
	}{
		{"", 2, 0, 0}, {TwoAtOnce, 3, 0, 0}, {OnceMore, 3, 100 * time.Millisecond, maxRedelivery + time.Second},
		{Delayed, 2, 100 * time.Millisecond, maxInvocationDelay + time.Second},
	} {
		at := run(map[Kind]float64{c.kind: 1})

		last := slices.Max(at)
		if len(at) != c.n || last < c.low || last > c.top {
			t.Errorf("%q: invoked at %v", c.kind, at)
		}

		if again := run(map[Kind]float64{c.kind: 1}); !slices.Equal(at, again) {
			t.Errorf("%q: invoked at %v, and then at %v", c.kind, at, again)
		}
	}
}

func TestFate(t *testing.T) {
	t.Parallel()

	f := New(Config{Seed: 5, Messages: map[Kind]float64{HeldBack: 0.3, Redelivered: 0.2}})
	if f.MessageFault("q", "m", start) != (sqs.Fault{}) {
		t.Error("a message has a fault before Start")
	}

	f.Start()

	late, again := 0, 0

	for n := range 1000 {
		fate := f.MessageFault("q", fmt.Sprint(n), start)
		if fate != f.MessageFault("q", fmt.Sprint(n), start) {
			t.Fatal("the same message got two different faults")
		}

		if fate.Delay > 0 {
			late++
		}

		if fate.RedeliverAfter > 0 {
			again++
		}

		if fate.Delay > maxMessageDelay+time.Second || fate.RedeliverAfter > maxRedelivery+time.Second {
			t.Errorf("got the fault %v", fate)
		}
	}

	if late < 250 || late > 350 || again < 150 || again > 250 {
		t.Errorf("of 1000 messages %d were delayed and %d repeated, want about 300 and 200", late, again)
	}

	if c := f.Counts(); c[HeldBack] != 2*late || c[Redelivered] != 2*again {
		t.Errorf("counted %v", c)
	}
}

// TestMessageFaultIgnoresDrawnIds: a message that differs between runs by a random id only has
// the same fate in both.
func TestMessageFaultIgnoresDrawnIds(t *testing.T) {
	t.Parallel()

	f := New(Config{Seed: 5, Messages: map[Kind]float64{HeldBack: 0.5, Redelivered: 0.5}})
	f.Alias = func(text string) string { return strings.NewReplacer("7f3a", "job", "c01d", "job").Replace(text) }
	f.Start()

	for i := range 20 {
		sent := start.Add(time.Duration(i) * time.Second)
		if a, b := f.MessageFault("q", `{"job":"7f3a"}`, sent), f.MessageFault("q", `{"job":"c01d"}`, sent); a != b {
			t.Errorf("message %d: %+v and %+v", i, a, b)
		}
	}
}
