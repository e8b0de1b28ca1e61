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
)

// call is one attempt of an SDK's call.
type call struct {
	function  string // slug, by the access key
	process   string // session token
	service   string // "DynamoDB_20120810", "AmazonSQS"
	operation string
	what      string // operation, table or queue, and row
	id        string // of the call: all its attempts share it
	attempt   int    // from 1
	last      bool   // the SDK makes no further attempt
}

// Guard is an AWS engine in front of which calls go wrong.
func (f *Faults) Guard(engine http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		c := f.read(r, body)
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
			refuse(w, c, kind)
		case Cut:
			f.work.failed(c)
			engine.ServeHTTP(unheard{}, r)
			panic(http.ErrAbortHandler)
		case KilledAfter:
			engine.ServeHTTP(unheard{}, r)
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

// unheard is an answer that gets lost.
type unheard struct{}

func (unheard) Header() http.Header         { return http.Header{} }
func (unheard) Write(b []byte) (int, error) { return len(b), nil }
func (unheard) WriteHeader(int)             {}

// read tells who calls what, from the signature and the body.
func (f *Faults) read(r *http.Request, body []byte) call {
	c := call{process: r.Header.Get("X-Amz-Security-Token"), id: r.Header.Get("Amz-Sdk-Invocation-Id"), attempt: 1}
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	c.function, _, _ = strings.Cut(credential, "/")
	c.service, c.operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	most := 1
	fmt.Sscanf(r.Header.Get("Amz-Sdk-Request"), "attempt=%d; max=%d", &c.attempt, &most) // what is missing stays 1
	c.last = c.attempt >= most
	c.what = c.operation + " " + f.row(body)
	return c
}

// about is what an invocation is for: the messages that a queue hands out without
// the ids and times that it adds, or else the payload. Invocations of one instant
// run in an order that nothing settles, and must not trade their faults.
func about(payload []byte) string {
	var in struct{ Records []struct{ Body string } }
	if json.Unmarshal(payload, &in) != nil || len(in.Records) == 0 {
		return string(payload)
	}
	var bodies []string
	for _, r := range in.Records {
		bodies = append(bodies, r.Body)
	}
	return strings.Join(bodies, " ")
}

type attributes = map[string]struct{ S, N string }

// row names what a call is about: the table and the key of its row or, of a
// query, the strings that it looks for; the queue and the message. It leaves out
// what differs from run to run.
func (f *Faults) row(body []byte) string {
	var in struct {
		TableName, IndexName         string
		Key, Item, ExclusiveStartKey attributes
		ExpressionAttributeValues    attributes
		TransactItems                []map[string]json.RawMessage
		RequestItems                 map[string]json.RawMessage
		QueueUrl, MessageBody        string
	}
	if json.Unmarshal(body, &in) != nil {
		return ""
	}
	words := []string{in.TableName, in.IndexName}
	switch {
	case in.QueueUrl != "":
		sum := sha256.Sum256([]byte(in.MessageBody))
		words = []string{path.Base(in.QueueUrl), hex.EncodeToString(sum[:8])}
	case len(in.TransactItems) > 0:
		for _, write := range in.TransactItems {
			for _, kind := range slices.Sorted(maps.Keys(write)) {
				words = append(words, kind, f.row(write[kind]))
			}
		}
	case len(in.RequestItems) > 0: // a batch: which rows share one may differ
		words = slices.Sorted(maps.Keys(in.RequestItems))
	case len(in.Key) > 0 || len(in.Item) > 0:
		row := in.Item
		if len(in.Key) > 0 {
			row = in.Key
		}
		for _, name := range f.Key(in.TableName) {
			words = append(words, row[name].S)
		}
	default:
		for _, row := range []attributes{in.ExpressionAttributeValues, in.ExclusiveStartKey} {
			for _, name := range slices.Sorted(maps.Keys(row)) {
				words = append(words, row[name].S)
			}
		}
	}
	return strings.Join(words, " ")
}

// decide is the fault of an attempt, or "".
func (f *Faults) decide(c call) Kind {
	rates, ok := f.Calls[c.function+" "+c.operation]
	if !ok {
		rates = f.Calls[c.function]
	}
	if len(rates) == 0 || !f.started() {
		return ""
	}
	now := f.Clock.Now()
	who := c.function + " " + about(f.Payload(c.process)) + " " + c.what
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
	kind := pick(f.chance(who, at(now), nth, strconv.Itoa(c.attempt)), rates, Throttled, Failed, Cut, KilledBefore, KilledAfter)
	if kind == Throttled && !strings.HasPrefix(c.service, "DynamoDB") {
		kind = Failed
	}
	return kind
}

// refuse answers as the engine would.
func refuse(w http.ResponseWriter, c call, kind Kind) {
	name, status := "InternalServerError", http.StatusInternalServerError
	space := "com.amazonaws.dynamodb.v20120810#"
	switch {
	case !strings.HasPrefix(c.service, "DynamoDB"):
		name, space = "InternalError", "com.amazonaws.sqs#"
	case kind == Throttled:
		name, status = "ProvisionedThroughputExceededException", http.StatusBadRequest
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"__type":%q,"message":"a fault of this run"}`, space+name)
}

// kill holds a call for good and kills the process that made it, once all else
// that the process has begun is over or held as well: how far its goroutines had
// come is then the same in every run.
func (f *Faults) kill(ctx context.Context, process string) {
	if f.work.hold(process) {
		go func() {
			f.work.quiet(ctx)
			f.work.release(process)
			f.Kill(process)
		}()
	}
	<-ctx.Done()
}

// Nothing must have been heard of a process whose call is held at so many looks
// in a row, by the wall clock. A look that comes late tells of a machine that is
// busy with others, on which silence means little.
const (
	looks = 15
	look  = 10 * time.Millisecond
	late  = 5 * look
)

// activity is what the functions have under way. A free clock runs one
// invocation at a time, so it is that of the one process.
type activity struct {
	mu    sync.Mutex
	busy  int             // requests being answered
	owed  map[string]bool // calls that the SDK makes again
	held  map[string]bool // processes about to be killed
	heard time.Time
}

func (a *activity) seen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = time.Now()
}

// begin says that a request is being answered, until over is called.
func (a *activity) begin() (over func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy++
	a.heard = time.Now()
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.busy--
		a.heard = time.Now()
	})
}

// failed says that a call failed, and arrived that it has come, or come again.
func (a *activity) failed(c call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !c.last {
		if a.owed == nil {
			a.owed = map[string]bool{}
		}
		a.owed[c.id] = true
	}
}

func (a *activity) arrived(c call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.owed, c.id)
}

// hold reports whether the process was not held before.
func (a *activity) hold(process string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.held[process]
	a.held[process] = true
	return !was
}

// release forgets the process, and what it would have called again.
func (a *activity) release(process string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.held, process)
	a.owed = nil
}

// quiet returns when nothing is under way, or with ctx.
func (a *activity) quiet(ctx context.Context) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	last := time.Now()
	for calm := 0; calm < looks; calm++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		a.mu.Lock()
		if a.busy > 0 || len(a.owed) > 0 || a.heard.After(last) || now.Sub(last) > late {
			calm = -1
		}
		a.mu.Unlock()
		last = now
	}
}
