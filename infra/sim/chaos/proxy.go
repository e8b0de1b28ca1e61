package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchday/infra/sim/ses"
)

// call is one attempt of a call by an AWS SDK.
type call struct {
	function  string // slug, by the access key
	process   string // session token
	service   string // "DynamoDB_20120810", "AmazonSQS", "SES"
	operation string
	subject   string // operation, table or queue, and row; the recipients of a mail
	id        string // SDK invocation id, which all attempts of the call share
	attempt   int    // from 1
	last      bool   // the SDK makes no further attempt
}

// Guard wraps a simulated AWS service. It injects the faults of Config.Calls into
// the calls.
func (f *Faults) Guard(engine http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}

		r.Body = io.NopCloser(bytes.NewReader(body))
		c := f.parseCall(r, body)

		over := f.work.begin()
		defer over()

		f.work.arrived(c)

		kind := f.decide(c)
		if kind != "" && (kind != FailedForGood || c.attempt == 1) {
			f.count(kind)
		}

		switch kind {
		case Throttled, Failed, FailedForGood:
			f.work.failed(c)
			writeError(w, c, kind)
		case Cut:
			f.work.failed(c)
			engine.ServeHTTP(discardWriter{}, r)
			panic(http.ErrAbortHandler)
		case KilledAfter:
			engine.ServeHTTP(discardWriter{}, r)
			over()
			f.kill(r.Context(), c.process)
		case KilledBefore:
			over()
			f.kill(r.Context(), c.process)
		default:
			engine.ServeHTTP(w, r)
		}
	})
}

// discardWriter discards an answer.
type discardWriter struct{}

func (discardWriter) Header() http.Header         { return http.Header{} }
func (discardWriter) Write(b []byte) (int, error) { return len(b), nil }
func (discardWriter) WriteHeader(int)             {}

// parseCall reads the function from the signature, and the operation and its
// subject from the headers and the body.
func (f *Faults) parseCall(r *http.Request, body []byte) call {
	c := call{process: r.Header.Get("X-Amz-Security-Token"), id: r.Header.Get("Amz-Sdk-Invocation-Id"), attempt: 1}
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	c.function, _, _ = strings.Cut(credential, "/")

	c.service, c.operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if r.URL.Path == ses.SendEmail {
		c.service, c.operation = "SES", "SendEmail"
	}

	most := 1
	fmt.Sscanf(r.Header.Get("Amz-Sdk-Request"), "attempt=%d; max=%d", &c.attempt, &most) // an attempt without the header is the first
	c.last = c.attempt >= most
	c.subject = c.operation + " " + f.rowKey(body)

	return c
}

// subjectOf returns what identifies an invocation in every run: the bodies of its SQS
// messages, without their ids and times, or the request to an API without its headers, or
// else its event. The order of invocations at one time differs from run to run, but their
// faults must not.
func subjectOf(payload []byte) string {
	var in struct {
		Records                 []struct{ Body string }
		RouteKey, RawPath, Body string
		RawQueryString          string
		RequestContext          struct {
			Authorizer struct {
				JWT struct{ Claims struct{ Sub string } }
			}
		}
	}
	if json.Unmarshal(payload, &in) != nil {
		return string(payload)
	}

	if in.RouteKey != "" {
		return strings.Join([]string{in.RouteKey, in.RawPath, in.RawQueryString, in.RequestContext.Authorizer.JWT.Claims.Sub, in.Body}, " ")
	}

	if len(in.Records) == 0 {
		return string(payload)
	}

	var bodies []string
	for _, r := range in.Records {
		bodies = append(bodies, r.Body)
	}

	return strings.Join(bodies, " ")
}

type attributes = map[string]struct{ S, N string }

// rowKey returns what identifies the subject of a call in every run: the table and
// the key of the row, the table and the string values of a query, the queue and a hash
// of the message, or the recipients of a mail.
func (f *Faults) rowKey(body []byte) string {
	var in struct {
		TableName, IndexName         string
		Key, Item, ExclusiveStartKey attributes
		ExpressionAttributeValues    attributes
		TransactItems                []map[string]json.RawMessage
		RequestItems                 map[string]json.RawMessage
		QueueUrl, MessageBody        string
		Destination                  struct{ ToAddresses []string }
	}
	if json.Unmarshal(body, &in) != nil {
		return ""
	}

	parts := []string{in.TableName, in.IndexName}
	switch {
	case in.QueueUrl != "":
		sum := sha256.Sum256([]byte(in.MessageBody))
		parts = []string{path.Base(in.QueueUrl), hex.EncodeToString(sum[:8])}
	case len(in.Destination.ToAddresses) > 0:
		parts = in.Destination.ToAddresses
	case len(in.TransactItems) > 0:
		for _, write := range in.TransactItems {
			for _, kind := range slices.Sorted(maps.Keys(write)) {
				parts = append(parts, kind+" "+f.rowKey(write[kind]))
			}
		}

		slices.Sort(parts) // the order may be that of random ids
	case len(in.RequestItems) > 0: // a batch: its rows differ between runs
		parts = slices.Sorted(maps.Keys(in.RequestItems))
	case len(in.Key) > 0 || len(in.Item) > 0:
		row := in.Item
		if len(in.Key) > 0 {
			row = in.Key
		}

		for _, name := range f.Key(in.TableName) {
			parts = append(parts, row[name].S)
		}
	default:
		for _, row := range []attributes{in.ExpressionAttributeValues, in.ExclusiveStartKey} {
			for _, name := range slices.Sorted(maps.Keys(row)) {
				parts = append(parts, row[name].S)
			}
		}
	}

	return strings.Join(parts, " ")
}

// decide returns the fault of an attempt, or "".
func (f *Faults) decide(c call) Kind {
	rates, ok := f.Calls[c.function+" "+c.operation]
	if !ok {
		rates = f.Calls[c.function]
	}

	if len(rates) == 0 || !f.started() {
		return ""
	}

	now := f.Clock.Now()

	who := c.function + " " + subjectOf(f.Payload(c.process)) + " " + c.subject
	if f.Alias != nil {
		who = f.Alias(who)
	}

	f.mu.Lock()
	if !f.now.Equal(now) || f.seen == nil {
		f.now, f.seen, f.calls = now, map[string]uint64{}, map[string]uint64{}
	}

	n, known := f.calls[c.id]
	if !known {
		n = f.seen[who]
		f.seen[who]++
		f.calls[c.id] = n
	}
	f.mu.Unlock()

	nth := strconv.FormatUint(n, 10)
	if f.chance(string(FailedForGood), who, at(now), nth) < rates[FailedForGood] {
		return FailedForGood
	}

	kind := kindAt(f.chance(who, at(now), nth, strconv.Itoa(c.attempt)), rates, Throttled, Failed, Cut, KilledBefore, KilledAfter, Stalled)
	if kind == Throttled && c.service == "AmazonSQS" {
		kind = Failed
	}

	return kind
}

// writeError answers as the engine would.
func writeError(w http.ResponseWriter, c call, kind Kind) {
	name, status := "InternalServerError", http.StatusInternalServerError
	space := "com.amazonaws.dynamodb.v20120810#"

	switch {
	case c.service == "SES" && kind == Throttled:
		name, space, status = "TooManyRequestsException", "", http.StatusTooManyRequests
	case c.service == "SES":
		name, space = "InternalServiceErrorException", ""
	case !strings.HasPrefix(c.service, "DynamoDB"):
		name, space = "InternalError", "com.amazonaws.sqs#"
	case kind == Throttled:
		name, status = "ProvisionedThroughputExceededException", http.StatusBadRequest
	}

	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"__type":%q,"message":"injected fault"}`, space+name)
}

// kill never answers the call, and kills the process that made it. It first waits
// until the process has no other call under way, so that its goroutines have done
// the same work in every run.
func (f *Faults) kill(ctx context.Context, process string) {
	if f.work.markHeld(process) {
		go func() {
			f.work.waitIdle(ctx)
			f.work.release(process)
			f.Kill(process)
		}()
	}

	<-ctx.Done()
}

// A process is idle when it showed no activity at idleChecks checks, by the wall clock, or
// at retryChecks if the SDK should repeat an attempt: it pauses for less, and repeats none
// whose context has ended. Of the checks that come later than checkLate only one in
// lateChecks counts: on a busy machine, no activity does not mean that the process is idle.
const (
	idleChecks    = 15
	retryChecks   = 100
	checkInterval = 10 * time.Millisecond
	checkLate     = 5 * checkInterval
	lateChecks    = 10
)

// activity records the requests that functions have under way. A free clock runs
// one invocation at a time, so all of them belong to one process.
type activity struct {
	mu         sync.Mutex
	busy       int             // requests being answered
	retries    map[string]bool // calls that the SDK will retry
	held       map[string]bool // processes about to be killed
	lastActive time.Time
}

func (a *activity) markActive() {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.lastActive = time.Now()
}

// begin records a request that is being answered until over is called.
func (a *activity) begin() (over func()) {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.busy++
	a.lastActive = time.Now()

	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()

		a.busy--
		a.lastActive = time.Now()
	})
}

// failed records that an attempt failed, so that the SDK will retry the call.
func (a *activity) failed(c call) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if !c.last {
		if a.retries == nil {
			a.retries = map[string]bool{}
		}

		a.retries[c.id] = true
	}
}

// arrived records that an attempt has arrived.
func (a *activity) arrived(c call) {
	a.mu.Lock()
	defer a.mu.Unlock()

	delete(a.retries, c.id)
}

// markHeld records that a process is about to be killed. It returns false if that
// was recorded before.
func (a *activity) markHeld(process string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	was := a.held[process]
	a.held[process] = true

	return !was
}

// release removes a killed process and its expected retries.
func (a *activity) release(process string) {
	a.mu.Lock()
	defer a.mu.Unlock()

	delete(a.held, process)
	a.retries = nil
}

// waitIdle returns when nothing is under way, or when ctx ends.
func (a *activity) waitIdle(ctx context.Context) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()

	last := time.Now()
	late := 0

	for calm, enough := 0, idleChecks; calm < enough; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		now := time.Now()

		a.mu.Lock()
		switch {
		case a.busy > 0 || a.lastActive.After(last):
			calm = 0
		case now.Sub(last) <= checkLate:
			calm++
		default:
			if late++; late%lateChecks == 0 {
				calm++
			}
		}

		if enough = idleChecks; len(a.retries) > 0 {
			enough = retryChecks
		}
		a.mu.Unlock()

		last = now
	}
}
