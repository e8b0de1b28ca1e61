package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/cricsheet"
	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/sim/sqs"
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// slot is the time between two polls of the provider.
const slot = 2500 * time.Millisecond

const (
	prefix        = "bench-" // of tables and queues
	providerToken = "provider-token"
)

// usage is what something cost this process.
type usage struct {
	wall, cpu time.Duration
	allocs    uint64
	fastest   time.Duration // wall time of the fastest, where this is a median
}

func (u usage) minus(v usage) usage {
	return usage{wall: u.wall - v.wall, cpu: u.cpu - v.cpu, allocs: u.allocs - v.allocs}
}

// per is the usage of one of n.
func (u usage) per(n int) usage {
	return usage{wall: u.wall / time.Duration(n), cpu: u.cpu / time.Duration(n), allocs: u.allocs / uint64(n)}
}

// median takes the median of each part by itself.
func median(all []usage) usage {
	wall := func(u usage) time.Duration { return u.wall }
	return usage{
		wall:    middle(all, wall),
		cpu:     middle(all, func(u usage) time.Duration { return u.cpu }),
		allocs:  middle(all, func(u usage) uint64 { return u.allocs }),
		fastest: slices.MinFunc(all, func(a, b usage) int { return cmp.Compare(a.wall, b.wall) }).wall,
	}
}

func middle[U any, N cmp.Ordered](all []U, part func(U) N) N {
	var parts []N
	for _, u := range all {
		parts = append(parts, part(u))
	}
	slices.Sort(parts)
	return parts[len(parts)/2]
}

func itself(d time.Duration) time.Duration { return d }

// measure says what do costs: wall time, and this process's CPU time and
// allocations meanwhile, whichever goroutine made them.
func measure(do func() error) (usage, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began := cpuTime(), time.Now()
	err := do()
	wall, spent := time.Since(began), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	return usage{wall: wall, cpu: spent, allocs: after.Mallocs - before.Mallocs}, err
}

// cpuTime is the CPU time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// world is a fleet in this process, but for its DynamoDB engine. Its clock moves
// only when the benchmark says so.
type world struct {
	clock    *clock.Clock
	engine   dynamodbsim.Engine
	queues   *sqs.Server
	feed     *sportmonks.Server
	wire     *wire
	provider *provider
	apple    map[string]string // settings of the push service
}

// newWorld has a room's tables and queues, and nothing in them.
func newWorld(ctx context.Context, room spec.Room, now time.Time) (w *world, err error) {
	w = &world{clock: clock.New(now, clock.Free)}
	w.clock.Work() // the benchmark's own
	w.queues = sqs.New(w.clock, "http://queues")
	w.feed = sportmonks.New(w.clock, providerToken)
	w.provider = &provider{server: w.feed}
	w.wire = &wire{http: awshttp.NewBuildableClient(), queues: w.queues, counts: newCounters()}
	if w.engine, err = dynamodbsim.Start(ctx, ""); err != nil {
		return nil, err
	}
	if err = dynamodbsim.Create(ctx, dynamodb.NewFromConfig(dynamodbsim.Config(w.engine.URL)), prefix, room.Tables); err != nil {
		w.close()
		return nil, err
	}
	for _, fn := range room.Functions {
		if q, ok := fn.On.(spec.Queue); ok {
			if err := w.queues.Create(sqs.Queue{Name: prefix + q.Name, FIFO: q.FIFO(), Visibility: fn.Visibility()}); err != nil {
				w.close()
				return nil, err
			}
		}
	}
	return w, nil
}

func (w *world) close() {
	w.queues.Close()
	w.clock.Stop()
	w.engine.Stop()
}

// db is the tables beside the functions', whose calls are not counted.
func (w *world) db() dynamo.DB { return dynamo.Open(dynamodbsim.Config(w.engine.URL), prefix) }

// env is a function's environment.
func (w *world) env() app.Env {
	cfg := dynamodbsim.Config(w.engine.URL)
	cfg.HTTPClient = aws.HTTPClient(w.wire)
	return app.Env{
		AWS: cfg, Stage: spec.Local, Prefix: prefix, Queues: w.queues.URL(prefix), HTTP: w.provider,
		Clock: app.Clock{Now: w.clock.Now, Sleep: w.sleep},
		Setting: func(name string) string {
			switch name {
			case "SPORTMONKS_URL":
				return "http://provider/api/v2.0"
			case "SPORTMONKS_TOKEN":
				return providerToken
			}
			return w.apple[name]
		},
	}
}

// sleep moves the clock on, unless the time has come.
func (w *world) sleep(ctx context.Context, until time.Time) error {
	if !until.After(w.clock.Now()) {
		return nil
	}
	return w.clock.Sleep(ctx, until)
}

// play puts n T20 matches into the feed, so many frames (a ball or an event
// each) after their start and with one more in every slot, and into the tables.
func (w *world) play(ctx context.Context, n, frames int) ([]*script.Match, error) {
	matches := make([]*script.Match, n)
	start := w.clock.Now().Add(-time.Duration(frames) * slot)
	for i := range matches {
		matches[i] = script.Generate(int64(i+1), cricsheet.T20)
		w.feed.Play(matches[i], start, sportmonks.Pace{Every: slot})
	}
	syncer, err := cricket.OpenSyncer(ctx, w.env())
	if err != nil {
		return nil, err
	}
	if err := syncer.SyncLeagues(ctx); err != nil {
		return nil, err
	}
	return matches, syncer.SyncFixtures(ctx)
}

// tick has the next slot ticked, and returns how many matches changed.
func (w *world) tick(ctx context.Context, t *cricket.Ticker) (changed int, err error) {
	due := w.clock.Now().Truncate(slot).Add(slot)
	done, err := t.Tick(ctx, cricket.Tick{Slot: due.UnixMilli() / slot.Milliseconds(), Due: due.UnixMilli()})
	if err == nil && done.Skipped != "" {
		err = fmt.Errorf("the tick was skipped: %s", done.Skipped)
	}
	return done.Changed, err
}

// provider answers for SportMonks without a network.
type provider struct {
	server http.Handler
	calls  int
	size   int   // of the last answer
	spent  usage // by the simulator, which is none of the caller's
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.calls++
	out := httptest.NewRecorder()
	spent, err := measure(func() error { p.server.ServeHTTP(out, r); return nil })
	p.spent.wall += spent.wall
	p.spent.cpu += spent.cpu
	p.spent.allocs += spent.allocs
	p.size = out.Body.Len()
	return out.Result(), err
}

// counters are I/O calls and what they carried: DynamoDB's by operation, in
// bytes of JSON, which is more than the items it stands for.
type counters struct {
	Dynamo   map[string]float64 `json:"dynamo"`
	Sent     map[string]float64 `json:"dynamoBytesSent"`
	Received map[string]float64 `json:"dynamoBytesReceived"`

	Connections float64 `json:"dynamoConnections"` // that were made for them
	SQS         float64 `json:"sqs"`
	Provider    float64 `json:"provider,omitempty"`
	Pushes      float64 `json:"pushes,omitempty"`
}

func newCounters() counters {
	return counters{Dynamo: map[string]float64{}, Sent: map[string]float64{}, Received: map[string]float64{}}
}

// add adds the calls of o.
func (c *counters) add(o counters) {
	for _, m := range []struct{ to, from map[string]float64 }{{c.Dynamo, o.Dynamo}, {c.Sent, o.Sent}, {c.Received, o.Received}} {
		for k, v := range m.from {
			m.to[k] += v
		}
	}
	c.Connections += o.Connections
	c.SQS += o.SQS
	c.Provider += o.Provider
	c.Pushes += o.Pushes
}

// per is the average of n.
func (c counters) per(n int) counters {
	by := float64(n)
	each := func(m map[string]float64) map[string]float64 {
		out := map[string]float64{}
		for k, v := range m {
			out[k] = v / by
		}
		return out
	}
	return counters{each(c.Dynamo), each(c.Sent), each(c.Received), c.Connections / by, c.SQS / by, c.Provider / by, c.Pushes / by}
}

// sum adds up the calls of the operations, of all if none are named.
func (c counters) sum(operations ...string) (n float64) {
	for operation, calls := range c.Dynamo {
		if len(operations) == 0 || slices.Contains(operations, operation) {
			n += calls
		}
	}
	return n
}

// wire takes the SDK's calls to the DynamoDB engine, and hands those of SQS to
// the simulator in this process. It counts both.
type wire struct {
	http   *awshttp.BuildableClient // the SDK's own
	queues http.Handler

	mu     sync.Mutex
	counts counters
	open   int           // calls to the engine
	since  time.Time     // when the first of them was made
	waited time.Duration // wall time during which any was open
}

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if service == "AmazonSQS" {
		w.mu.Lock()
		w.counts.SQS++
		w.mu.Unlock()
		out := httptest.NewRecorder()
		w.queues.ServeHTTP(out, r)
		return out.Result(), nil
	}
	w.mu.Lock()
	w.counts.Dynamo[operation]++
	w.counts.Sent[operation] += float64(r.ContentLength)
	if w.open++; w.open == 1 {
		w.since = time.Now()
	}
	w.mu.Unlock()
	out, err := w.http.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: w.connected})))
	if err != nil {
		w.done(operation, 0)
		return nil, err
	}
	out.Body = &answer{ReadCloser: out.Body, done: func(n int) { w.done(operation, n) }}
	return out, nil
}

func (w *wire) connected(c httptrace.GotConnInfo) {
	if c.Reused {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts.Connections++
}

func (w *wire) done(operation string, received int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts.Received[operation] += float64(received)
	if w.open--; w.open == 0 {
		w.waited += time.Since(w.since)
	}
}

// answer is the body of a call that is open until it is closed.
type answer struct {
	io.ReadCloser
	n    int
	done func(n int)
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	a.n += n
	return n, err
}

func (a *answer) Close() error {
	if a.done != nil {
		a.done(a.n)
		a.done = nil
	}
	return a.ReadCloser.Close()
}

// reset begins to count anew.
func (w *world) reset() {
	w.provider.calls, w.provider.spent = 0, usage{}
	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()
	w.wire.waited = 0
	w.wire.counts = newCounters()
}

// counts are the calls since the last reset.
func (w *world) counts() counters {
	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()
	c := w.wire.counts.per(1)
	c.Provider = float64(w.provider.calls)
	return c
}
