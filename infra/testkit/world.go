// Package testkit gives each test its own world for one room: tables and queues, under
// a simulated clock that only the test moves. A service opens in the environment of its
// function: using a call, a queue or a secret that the function's spec does not list
// fails the test.
//
// What else a room needs, its world adds: databases (package pgtest), a cache (redistest), a
// user pool (pooltest), files and mail. A test program links only what its world names.
package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/sim/account"
	"matchday/infra/sim/clock"
	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/sim/sqs"
	"matchday/infra/testkit/dynamotest"
	accounts "matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// World is the world of one test. Create it with New.
type World struct {
	T      testing.TB
	Clock  *clock.Clock
	AWS    aws.Config // for the tables; allows every call
	Prefix string
	Queues *sqs.Server
	Logs   Log

	Provider http.RoundTripper  // becomes app.Env.HTTP
	Users    http.Handler       // the API of the user pool; nil for none
	Files    http.Handler       // S3, with the Buckets; nil for none
	Mails    http.Handler       // SES; nil for none
	Buckets  []string           // of the room
	Stores   []Store            // databases and caches
	Settings map[string]string  // settings and secrets, by name
	IO       dynamotest.Process // makes the I/O calls of every Env, for CheckFailures
	Dial     dynamotest.Dial    // connects to Stores
	Patience int                // that of each environment: calls have minutes, on a busy machine, too

	// Trace sees the body of each DynamoDB call of a function. It may be nil.
	Trace func(fn spec.Function, operation string, body []byte)

	room  app.Room
	http  aws.HTTPClient // to the tables' engine
	meter dynamodbsim.Meter
	mu    sync.Mutex
	calls map[string]int // of the functions, by operation
	emits []spec.Metric  // what the opened functions may emit
	n     atomic.Int64   // invocations
}

// Store is a server of databases or caches.
type Store struct {
	Name string // of its calls, for dynamotest.Process.Ended
	// URL returns the URL that a setting of a function holds, "" if the setting is not of the
	// store.
	URL func(fn app.Function, setting string) string
	// At reports whether the store has an address.
	At func(address string) bool
}

const queueHost = "http://queues"

// attempts is how often the SDK tries a call, as in package app; here without a pause.
const attempts = 4

// New creates the world of a room. Its clock shows now.
func New(t testing.TB, in app.Room, now time.Time) *World {
	t.Helper()

	room := in.Spec
	w := &World{T: t, room: in, Clock: clock.New(now, clock.Free), calls: map[string]int{}, Settings: map[string]string{}}
	t.Cleanup(w.explain)
	t.Cleanup(w.Clock.Stop)
	w.Clock.Work() // held by the test itself

	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	w.http = app.Client{HTTPClient: &http.Client{Transport: transport}}
	t.Cleanup(transport.CloseIdleConnections)
	w.AWS, w.Prefix = dynamotest.CreateTables(t, room.Tables())
	w.AWS.HTTPClient = w.http
	w.Queues = sqs.New(w.Clock, queueHost)
	t.Cleanup(w.Queues.Close)
	t.Cleanup(w.checkMetrics)

	made := map[string]bool{}

	for _, fn := range room.Functions {
		if q, ok := fn.On.(spec.Queue); ok {
			Must(t, w.Queues.Create(sqs.Queue{Name: q.DeadLetter(), FIFO: q.FIFO()}))
			Must(t, w.Queues.Create(sqs.Queue{
				Name:        q.Name,
				FIFO:        q.FIFO(),
				Visibility:  fn.VisibilityTimeout(),
				MaxReceives: q.MaxReceiveCount,
				DeadLetter:  q.DeadLetter(),
			}))
			made[q.Name] = true
		}
	}

	for _, fn := range room.Functions {
		for _, q := range fn.Sends {
			if !made[q.Name] { // of another room
				Must(t, w.Queues.Create(sqs.Queue{Name: q.Name, FIFO: q.FIFO()}))
				made[q.Name] = true
			}
		}
	}

	for _, b := range room.Buckets() {
		w.Buckets = append(w.Buckets, b.Name)
		w.Settings[b.On("").Env()] = b.Name
	}

	for _, fn := range room.Functions {
		for _, m := range fn.Mail {
			w.Settings[m.Setting] = strings.ToLower(m.Setting) + "@example.com"
		}
	}

	w.Settings[spec.EnvKeepers] = accounts.FormatKeepers(accounts.Keepers([]spec.Room{room}))
	w.Dial, w.Patience = (&net.Dialer{}).DialContext, 100

	return w
}

// Must fails the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
}

// Open opens a service in the environment of fn.
func Open[S any](w *World, fn app.Function, opener app.Opener[S]) S {
	w.T.Helper()
	return OpenWith(w, w.Env(fn), opener)
}

// OpenWith opens a service in an environment of Env or CrashingEnv.
func OpenWith[S any](w *World, env app.Env, opener app.Opener[S]) S {
	w.T.Helper()
	s, err := opener(w.T.Context(), env)
	Must(w.T, err)

	return s
}

// Env returns the environment of fn.
func (w *World) Env(fn app.Function) app.Env {
	w.mu.Lock()
	w.emits = append(w.emits, fn.Emits...)
	w.mu.Unlock()
	cfg := w.AWS.Copy()
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
	cfg.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) { return w.call(fn.Function, r) })
	secrets, senders := map[string]bool{}, map[string]bool{}

	for _, f := range w.room.Functions {
		for _, s := range f.Secrets {
			secrets[s] = true
		}

		for _, m := range f.Mail {
			senders[m.Setting] = true
		}
	}

	env := app.Env{
		AWS:      w.IO.AWS(w.meter.On(dynamotest.WithGuard(w.T, cfg, fn.Function))),
		Stage:    spec.Local,
		Prefix:   w.Prefix,
		Queues:   w.Queues.URL(""),
		Pool:     account.UserPool,
		Clock:    app.Clock{Now: w.Clock.Now, Sleep: w.Sleep},
		HTTP:     w.Provider,
		Dial:     w.IO.Dialer(w.Dial, w.nameOf),
		Patience: w.Patience,
		Setting: func(name string) string {
			if secrets[name] && !slices.Contains(fn.Secrets, name) {
				w.T.Errorf("%s reads the secret %s, which its spec does not list", fn.Name, name)
			}

			if url := w.login(fn, name); url != "" {
				return url
			}

			if name == spec.EnvKeepers && !fn.Keepers {
				w.T.Errorf("%s reads %s, and its spec does not set Keepers", fn.Name, name)
			}

			if senders[name] && !slices.Contains(fn.Mail, spec.MailSender{Setting: name}) {
				w.T.Errorf("%s reads the address %s, from which its spec lists no mail", fn.Name, name)
			}

			return w.Settings[name]
		},
	}
	if env.HTTP != nil {
		env.HTTP = w.IO.RoundTripper(env.HTTP)
	}

	return env
}

// login returns the URL of a database or cache of fn that an environment variable has, or "".
func (w *World) login(fn app.Function, name string) string {
	for _, s := range w.Stores {
		if url := s.URL(fn, name); url != "" {
			return url
		}
	}

	needs := slices.ContainsFunc(fn.SQL, func(l spec.SQLLogin) bool { return l.Database.Env() == name }) ||
		slices.ContainsFunc(fn.Caches, func(l spec.CacheLogin) bool { return l.Env() == name })
	if needs {
		w.T.Errorf("%s reads %s, and the world has no such store: see pgtest.Attach and redistest.Attach", fn.Name, name)
	}

	return ""
}

func (w *World) nameOf(address string) string {
	for _, s := range w.Stores {
		if s.At(address) {
			return s.Name
		}
	}

	return ""
}

// CrashingEnv returns the environment of fn with its I/O calls made through the process
// p. The test fails if a call of p fails alone, and the run neither returns the error nor
// logs a warning.
func (w *World) CrashingEnv(fn app.Function, p *dynamotest.Process) app.Env {
	env := w.Env(fn)

	env.AWS, env.Dial = p.AWS(env.AWS), p.Dialer(env.Dial, w.nameOf)
	if env.HTTP != nil {
		env.HTTP = p.RoundTripper(env.HTTP)
	}

	w.T.Cleanup(func() {
		// The client of the cache recovers by itself from the loss of what it asks a new connection.
		if call := p.Spared(); call != "" && call != dynamotest.CacheCall && !w.Logs.Warned() {
			w.T.Errorf("the failure of the call %s is neither returned nor logged", call)
		}
	})

	return env
}

// Sleep waits until the clock shows until. The clock moves only while no other
// goroutine holds work.
func (w *World) Sleep(ctx context.Context, until time.Time) error {
	if !until.After(w.Clock.Now()) {
		return nil
	}

	return w.Clock.Sleep(ctx, until)
}

// MoveClock moves the clock to t.
func (w *World) MoveClock(t time.Time) {
	w.T.Helper()
	Must(w.T, w.Sleep(w.T.Context(), t))
}

// call sends an AWS call of fn to the queues, the user pool, the files, the mail or the
// tables. It counts the call once, however often the SDK tries it.
func (w *World) call(fn spec.Function, r *http.Request) (*http.Response, error) {
	service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if r.URL.Path == sendEmail {
		service, operation = "SES", "SendEmail"
	}

	if strings.HasPrefix(r.Header.Get("Amz-Sdk-Request"), "attempt=1") {
		w.mu.Lock()
		w.calls[operation]++
		w.mu.Unlock()
	}

	var to http.Handler

	switch service {
	default:
		if w.Trace != nil {
			body, err := bodyOf(r)
			if err != nil {
				return nil, err
			}

			w.Trace(fn, operation, body)
		}

		return w.http.Do(r)
	case "":
		w.checkObject(fn, r)
		r.Header.Set("Content-Length", fmt.Sprint(r.ContentLength)) // as it comes by the wire

		to = w.Files
	case "AmazonSQS":
		body, err := bodyOf(r)
		if err != nil {
			return nil, err
		}

		if !slices.ContainsFunc(fn.Sends, func(q spec.Queue) bool { return strings.Contains(string(body), `/`+q.Name+`"`) }) {
			w.T.Errorf("%s sends %s, which its spec does not list", fn.Name, body)
		}

		to = w.Queues
	case "SES":
		if err := w.checkMail(fn, r); err != nil {
			return nil, err
		}

		to = w.Mails
	case "AWSCognitoIdentityProviderService":
		if !slices.Contains(fn.Users, spec.UserOp(operation)) {
			w.T.Errorf("%s calls %s, which its spec does not list", fn.Name, operation)
		}

		to = w.Users
	}

	if to == nil {
		return nil, fmt.Errorf("the world of the test has nothing that answers %s %s: see World", fn.Name, r.URL)
	}

	return answer(to, r)
}

// sendEmail is the path of the only call of SES that functions make.
const sendEmail = "/v2/email/outbound-emails"

// answer returns what a handler answers, or an error if it closes the connection instead.
func answer(h http.Handler, r *http.Request) (_ *http.Response, err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			err = io.ErrUnexpectedEOF
		} else if p != nil {
			panic(p)
		}
	}()

	out := httptest.NewRecorder()
	h.ServeHTTP(out, r)

	return out.Result(), nil
}

// bodyOf returns the body of a request, which can be read again.
func bodyOf(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))

	return body, err
}

// checkMail fails the test if a mail does not come from an address that the spec of fn
// lists.
func (w *World) checkMail(fn spec.Function, r *http.Request) error {
	body, err := bodyOf(r)
	if err != nil {
		return err
	}

	var in struct{ FromEmailAddress string }
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}

	if !slices.ContainsFunc(fn.Mail, func(m spec.MailSender) bool { return w.Settings[m.Setting] == in.FromEmailAddress }) {
		w.T.Errorf("%s sends mail from %s, which its spec does not list", fn.Name, in.FromEmailAddress)
	}

	return nil
}

// checkObject fails the test if a call of S3 is not one that the spec of fn lists.
func (w *World) checkObject(fn spec.Function, r *http.Request) {
	op := map[string]spec.ObjectOp{
		http.MethodGet:    spec.GetObject,
		http.MethodPut:    spec.PutObject,
		http.MethodDelete: spec.DeleteObject,
	}[r.Method]
	if !slices.ContainsFunc(fn.Objects, func(a spec.ObjectAccess) bool {
		return slices.Contains(a.Ops, op) && strings.HasPrefix(r.URL.Path, "/"+a.Bucket.Name+"/"+a.Prefix)
	}) {
		w.T.Errorf("%s calls %s %s, which its spec does not list", fn.Name, r.Method, r.URL.Path)
	}
}

// checkMetrics fails the test if a metric was emitted that the spec of no opened
// function lists. It records the emitted metrics for infra/tools/accesscoverage.
func (w *World) checkMetrics() {
	w.mu.Lock()
	defer w.mu.Unlock()

	emitted := map[spec.Metric]bool{}
	for _, m := range w.Logs.EmittedMetrics() {
		emitted[m] = true
	}

	delete(emitted, telemetry.Failed)

	for m := range emitted {
		if !slices.Contains(w.emits, m) {
			w.T.Errorf("the metric %s is emitted, and the spec of no function in the test lists it", m.Name)
			continue
		}

		dynamotest.Record("metrics", w.room.Spec.Name+": "+m.Name)
	}
}

// explain writes what the functions logged of level Warn and above, if the test has failed.
func (w *World) explain() {
	if !w.T.Failed() {
		return
	}

	for _, l := range w.Logs.Lines() {
		if l.Level >= slog.LevelWarn {
			w.T.Logf("%v %s %v", l.Level, l.Text, l.Attrs)
		}
	}
}

// CountCalls runs do and returns how many AWS calls it made, by operation.
func (w *World) CountCalls(do func()) map[string]int {
	w.mu.Lock()
	w.calls = map[string]int{}
	w.mu.Unlock()
	do()
	w.mu.Lock()
	defer w.mu.Unlock()

	return maps.Clone(w.calls)
}

// CountUnits runs do and returns the capacity that the DynamoDB calls of the functions
// consumed.
func (w *World) CountUnits(do func()) dynamodbsim.Units {
	w.meter.Take()
	do()

	return w.meter.Take()
}

// NewContext returns the context of a new invocation.
func (w *World) NewContext() context.Context {
	ctx := context.WithValue(w.T.Context(), logKey{}, &w.Logs)
	return lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: fmt.Sprint("request-", w.n.Add(1))})
}

// Messages returns the decoded messages in a queue, in order.
func Messages[M any](w *World, q spec.Queue) (all []M) {
	w.T.Helper()

	for _, m := range w.Queues.Messages(q.Name) {
		var v M
		Must(w.T, json.Unmarshal([]byte(m.Body), &v))
		all = append(all, v)
	}

	return all
}

// Drain calls do with each message of a queue until none becomes visible within a
// limit of simulated time, including messages that do sends. It moves the clock to the
// time at which each becomes visible. It redelivers a message when do returns an error,
// and fails the test when a message reached the queue's maximum of receives. It returns
// the number of calls.
func Drain[M any](w *World, q spec.Queue, within time.Duration, do func(context.Context, M) error) (handled int) {
	w.T.Helper()

	attempts := map[string]int{}

	for until := w.Clock.Now().Add(within); ; {
		waiting := w.Queues.Messages(q.Name)
		if len(waiting) == 0 {
			return handled
		}

		next := slices.MinFunc(waiting, func(a, b sqs.Message) int { return a.Visible.Compare(b.Visible) })
		if next.Visible.After(until) {
			return handled
		}

		w.MoveClock(next.Visible)
		got := w.Receive(q)

		var v M
		Must(w.T, json.Unmarshal([]byte(got.Body), &v))

		handled++

		if err := do(w.NewContext(), v); err != nil {
			if attempts[got.MessageId]++; attempts[got.MessageId] == q.MaxReceiveCount {
				w.T.Fatalf("the message %s failed at its last attempt: %v", got.Body, err)
			}

			continue
		}

		w.SQS("DeleteMessage", map[string]any{"QueueUrl": w.Queues.URL(q.Name), "ReceiptHandle": got.ReceiptHandle}, nil)
	}
}

// DeadLetters returns the messages in the dead-letter queue of q.
func (w *World) DeadLetters(q spec.Queue) (all []queue.DeadLetter) {
	for _, m := range w.Queues.Messages(q.DeadLetter()) {
		l := queue.DeadLetter{ID: m.ID, Body: m.Body}
		if reason := m.Attributes[queue.ReasonAttribute].StringValue; reason != nil {
			l.Reason = *reason
		}

		all = append(all, l)
	}

	return all
}

// Received is a received message.
type Received struct{ MessageId, Body, ReceiptHandle string }

// Receive receives the next message of a queue. It fails the test if there is none.
func (w *World) Receive(q spec.Queue) Received {
	w.T.Helper()

	var out struct{ Messages []Received }
	w.SQS("ReceiveMessage", map[string]any{"QueueUrl": w.Queues.URL(q.Name)}, &out)

	if len(out.Messages) != 1 {
		w.T.Fatalf("received %d messages from %s, want 1", len(out.Messages), q.Name)
	}

	return out.Messages[0]
}

// SQS calls the SQS API of the queues. It fails the test if the call fails.
func (w *World) SQS(action string, in, out any) {
	w.T.Helper()

	body, err := json.Marshal(in)
	Must(w.T, err)

	r := httptest.NewRequest(http.MethodPost, queueHost, bytes.NewReader(body))
	r.Header.Set("X-Amz-Target", "AmazonSQS."+action)

	got := httptest.NewRecorder()
	w.Queues.ServeHTTP(got, r)

	if got.Code != http.StatusOK {
		w.T.Fatalf("%s: %s", action, got.Body)
	}

	if out != nil {
		Must(w.T, json.Unmarshal(got.Body.Bytes(), out))
	}
}

// DB returns the tables of the room. It allows every call.
func (w *World) DB() dynamo.DB { return dynamo.Open(w.AWS, w.Prefix) }

// PutRows writes rows to a table.
func PutRows[T any](w *World, table spec.Table, rows ...T) {
	w.T.Helper()
	Must(w.T, dynamo.PutAll(w.T.Context(), w.DB(), spec.Access{Table: table}, rows))
}

// DeleteRow deletes the row with a key.
func (w *World) DeleteRow(table spec.Table, key ...string) error {
	_, err := dynamo.Delete(w.T.Context(), w.DB(), spec.Access{Table: table}, dynamo.Key(spec.Access{Table: table}, key...))
	return err
}

// Rows returns all rows of a table.
func Rows[T any](w *World, table spec.Table) (all []T) {
	w.T.Helper()

	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(w.AWS),
		&dynamodb.ScanInput{TableName: aws.String(spec.TableIn(w.Prefix, table.Name)), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(w.T.Context())
		Must(w.T, err)

		var some []T
		Must(w.T, attributevalue.UnmarshalListOfMaps(page.Items, &some))
		all = append(all, some...)
	}

	return all
}

// Row returns the row with a key. It fails the test if there is none.
func Row[T any](w *World, table spec.Table, key ...string) T {
	w.T.Helper()
	v, ok, err := dynamo.Get[T](w.T.Context(), w.DB(), spec.Access{Table: table}, key...)
	Must(w.T, err)

	if !ok {
		w.T.Fatalf("the table %s has no row with the key %q", table.Name, key)
	}

	return v
}
