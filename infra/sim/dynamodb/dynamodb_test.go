package dynamodb

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"matchday/infra/sim/engine"
)

var (
	now      = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	sessions = table("sessions", "ttl", []string{"user", "id"}, // ttl is a reserved word
		types.GlobalSecondaryIndex{
			IndexName:  aws.String("by-day"),
			KeySchema:  key("day", "id"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		},
		types.GlobalSecondaryIndex{
			IndexName:  aws.String("open"),
			KeySchema:  key("open"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		},
	)
	cups   = table("cups", "expiresAt", []string{"id"})
	titles = table("titles", "", []string{"id"})
)

// table describes a table whose key attributes are strings.
func table(name, ttl string, attributes []string, indexes ...types.GlobalSecondaryIndex) Table {
	in := &dynamodb.CreateTableInput{
		TableName:              aws.String("x-" + name),
		BillingMode:            types.BillingModePayPerRequest,
		KeySchema:              key(attributes...),
		GlobalSecondaryIndexes: indexes,
	}

	names := map[string]bool{}
	for _, k := range in.KeySchema {
		names[*k.AttributeName] = true
	}

	for _, x := range indexes {
		for _, k := range x.KeySchema {
			names[*k.AttributeName] = true
		}
	}

	for n := range names {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &n, AttributeType: types.ScalarAttributeTypeS})
	}

	return Table{Input: in, TTL: ttl}
}

func key(attributes ...string) (all []types.KeySchemaElement) {
	for i, a := range attributes {
		all = append(all, types.KeySchemaElement{AttributeName: &a, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
	}

	return all
}

func start(t *testing.T, file string) (*dynamodb.Client, func()) {
	t.Helper()

	e, err := Start(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}

	return dynamodb.NewFromConfig(Config(e.URL)), e.Stop
}

func text(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

func seconds(at time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(at.Unix(), 10)}
}

func put(t *testing.T, c *dynamodb.Client, table string, item map[string]types.AttributeValue) {
	t.Helper()

	if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

// ids are the values of id in a table, in order.
func ids(t *testing.T, c *dynamodb.Client, table string) (all []string) {
	t.Helper()

	out, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}

	for _, item := range out.Items {
		all = append(all, item["id"].(*types.AttributeValueMemberS).Value)
	}

	slices.Sort(all)

	return all
}

func TestCreate(t *testing.T) {
	t.Parallel()

	c, stop := start(t, "")
	defer stop()

	tables := []Table{sessions, titles}
	for range 2 { // the second changes nothing
		if err := Create(t.Context(), c, tables); err != nil {
			t.Fatal(err)
		}

		put(t, c, "x-titles", map[string]types.AttributeValue{"id": text("1")})
	}

	if got := ids(t, c, "x-titles"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("after creating it twice the table holds %v", got)
	}

	out, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("x-sessions")})
	if err != nil {
		t.Fatal(err)
	}

	describe := func(all []types.KeySchemaElement) string {
		var names []string
		for _, k := range all {
			names = append(names, string(k.KeyType)+" "+*k.AttributeName)
		}

		return strings.Join(names, ", ")
	}
	if got := describe(out.Table.KeySchema); got != "HASH user, RANGE id" {
		t.Errorf("the key is %s", got)
	}

	var indexes []string
	for _, x := range out.Table.GlobalSecondaryIndexes {
		indexes = append(indexes, *x.IndexName+": "+describe(x.KeySchema)+", "+string(x.Projection.ProjectionType))
	}

	slices.Sort(indexes)

	if want := []string{"by-day: HASH day, RANGE id, ALL", "open: HASH open, KEYS_ONLY"}; !slices.Equal(indexes, want) {
		t.Errorf("the indexes are %q, want %q", indexes, want)
	}

	if out.Table.BillingModeSummary == nil || out.Table.BillingModeSummary.BillingMode != types.BillingModePayPerRequest {
		t.Errorf("the billing is %+v", out.Table.BillingModeSummary)
	}

	ttl, err := c.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("x-sessions")})
	if err != nil {
		t.Fatal(err)
	}

	if got := aws.ToString(ttl.TimeToLiveDescription.AttributeName); got != "ttl" {
		t.Errorf("the TTL attribute is %q", got)
	}

	if err := Create(t.Context(), c, []Table{table("bad name", "", []string{"id"})}); err == nil ||
		!strings.Contains(err.Error(), "create the table x-bad name") {
		t.Errorf("a table that cannot be: got %v", err)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()

	c, stop := start(t, "")
	defer stop()

	tables := []Table{sessions, cups, titles}
	if err := Create(t.Context(), c, tables); err != nil {
		t.Fatal(err)
	}

	past, future := now.Add(-time.Second), now.Add(time.Second)
	session := func(id string, ttl types.AttributeValue) {
		item := map[string]types.AttributeValue{"user": text("u"), "id": text(id)}
		if ttl != nil {
			item["ttl"] = ttl
		}

		put(t, c, "x-sessions", item)
	}
	session("expired", seconds(past))
	session("expires now", seconds(now))
	session("fresh", seconds(future))
	session("without", nil)
	session("no number", text("1"))
	put(t, c, "x-cups", map[string]types.AttributeValue{"id": text("expired"), "expiresAt": seconds(past)})
	put(t, c, "x-cups", map[string]types.AttributeValue{"id": text("fresh"), "expiresAt": seconds(future)})
	put(t, c, "x-titles", map[string]types.AttributeValue{"id": text("kept"), "ttl": seconds(past)})

	for _, want := range []int{2, 0} {
		if n, err := Sweep(t.Context(), c, tables, now); err != nil || n != want {
			t.Errorf("swept %d, %v, want %d", n, err, want)
		}
	}

	for table, want := range map[string][]string{
		"x-sessions": {"expires now", "fresh", "no number", "without"}, "x-cups": {"fresh"}, "x-titles": {"kept"},
	} {
		if got := ids(t, c, table); !slices.Equal(got, want) {
			t.Errorf("%s holds %q, want %q", table, got, want)
		}
	}
}

// TestSweepLeavesTheRenewed renews an item between the sweep's look at it and
// its deletion.
func TestSweepLeavesTheRenewed(t *testing.T) {
	t.Parallel()

	c, stop := start(t, "")
	defer stop()

	if err := Create(t.Context(), c, []Table{cups}); err != nil {
		t.Fatal(err)
	}

	for _, id := range []string{"expired", "renewed"} {
		put(t, c, "x-cups", map[string]types.AttributeValue{"id": text(id), "expiresAt": seconds(now.Add(-time.Hour))})
	}

	o := c.Options()

	o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("renew",
			func(ctx context.Context, in middleware.InitializeInput,
				next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				if _, ok := in.Parameters.(*dynamodb.DeleteItemInput); ok {
					put(t, c, "x-cups", map[string]types.AttributeValue{"id": text("renewed"), "expiresAt": seconds(now.Add(time.Hour))})
				}

				return next.HandleInitialize(ctx, in)
			}), middleware.Before)
	})
	if n, err := Sweep(t.Context(), dynamodb.New(o), []Table{cups}, now); err != nil || n != 1 {
		t.Errorf("swept %d, %v, want 1", n, err)
	}

	if got := ids(t, c, "x-cups"); !slices.Equal(got, []string{"renewed"}) {
		t.Errorf("what is left is %q", got)
	}
}

func TestFileOutlivesTheEngine(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "data.sqlite")
	for run := range 2 {
		c, stop := start(t, file)
		if err := Create(t.Context(), c, []Table{titles}); err != nil {
			t.Fatal(err)
		}

		if run == 0 {
			put(t, c, "x-titles", map[string]types.AttributeValue{"id": text("kept")})
		} else if got := ids(t, c, "x-titles"); !slices.Equal(got, []string{"kept"}) {
			t.Errorf("the second engine finds %q", got)
		}

		stop()
		stop() // again does nothing

		if _, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{}, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }); err == nil {
			t.Error("the engine answers after it was stopped")
		}
	}
}

// TestExitDuringTheStart: another process may take a port before the engine does.
func TestExitDuringTheStart(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	path, err := engine.DynamoDB.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}

	rel, err := filepath.Rel(filepath.Join(dir, "..", "..", ".."), path)
	if err != nil {
		t.Fatal(err)
	}

	for name, test := range map[string]struct {
		exits int // how many times the engine exits
		err   string
	}{
		"at first":   {exits: 4},
		"every time": {exits: 5, err: `DynamoDB: the engine exited during its start: "port taken"`},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()

			binary := filepath.Join(root, rel)
			if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
				t.Fatal(err)
			}

			if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module x\n"), 0o644); err != nil {
				t.Fatal(err)
			}

			script := fmt.Sprintf("#!/bin/sh\necho >> runs\nif [ $(wc -l < runs) -le %d ]; then echo port taken >&2; exit 1; fi\nexec %s \"$@\"\n",
				test.exits, path)
			if err := os.WriteFile(binary, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}

			t.Chdir(root)

			e, err := Start(t.Context(), "")
			if got := fmt.Sprint(err); got != cmp.Or(test.err, "<nil>") {
				t.Fatalf("got %v, want %q", err, test.err)
			}

			if err == nil {
				e.Stop()
			}
		})
	}
}

func TestOtherEngine(t *testing.T) {
	t.Setenv(Endpoint, "http://localhost:8000")
	t.Chdir(t.TempDir()) // where there is no binary

	e, err := Start(t.Context(), "")
	if err != nil || e.URL != "http://localhost:8000" {
		t.Errorf("got %q, %v", e.URL, err)
	}

	e.Stop()
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if _, err := Start(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// TestProxy has no answer of its own: a slow engine is waited for, and a connection that
// the engine closes is closed to the caller, whose SDK makes the call again.
func TestProxy(t *testing.T) {
	t.Parallel()

	var calls atomic.Int32

	waiting := make(chan struct{}, 1)
	goOn := make(chan struct{})
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			panic(http.ErrAbortHandler) // the connection closes
		}

		waiting <- struct{}{}

		<-goOn
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		fmt.Fprint(w, `{"TableNames":["cups"]}`)
	}))
	t.Cleanup(engine.Close)

	to, err := url.Parse(engine.URL)
	if err != nil {
		t.Fatal(err)
	}

	seen := make(chan int, 10)
	proxy := Proxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := httptest.NewRecorder()
		defer func() {
			if out.Code != http.StatusOK {
				seen <- out.Code
			}
		}()

		proxy.ServeHTTP(out, r)
		w.Header().Set("Content-Type", out.Header().Get("Content-Type"))
		w.WriteHeader(out.Code)
		w.Write(out.Body.Bytes())
	}))
	t.Cleanup(front.Close)

	go func() { <-waiting; close(goOn) }()

	got, err := dynamodb.NewFromConfig(Config(front.URL)).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || !slices.Equal(got.TableNames, []string{"cups"}) || calls.Load() != 2 {
		t.Errorf("after %d calls: %v, %v", calls.Load(), got, err)
	}

	select {
	case status := <-seen:
		t.Errorf("the proxy answers %d", status)
	default:
	}
}

// TestProxyLosesNoAnswer: an answer that begins before the transport has finished the request
// is passed on to its end.
func TestProxyLosesNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		go func() {
			r, err := http.ReadRequest(bufio.NewReader(far))
			if err != nil {
				t.Error(err)
				return
			}

			io.Copy(io.Discard, r.Body)
			io.WriteString(far, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
			time.Sleep(time.Second)
			io.WriteString(far, "5\r\n last\r\n0\r\n\r\n")
		}()

		back := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return slow{near}, nil }}
		defer back.CloseIdleConnections()

		client, server := net.Pipe()

		in := pipe{make(chan net.Conn, 1)}
		in.conns <- server

		front := http.Server{Handler: proxy(&url.URL{Scheme: "http", Host: "engine"}, back)}

		go front.Serve(in)
		defer front.Close()

		caller := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
		defer caller.CloseIdleConnections()

		out, err := (&http.Client{Transport: caller}).Post("http://proxy", "application/x-amz-json-1.0", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Body.Close()

		if body, err := io.ReadAll(out.Body); string(body) != "first last" || err != nil {
			t.Errorf("got %q, %v", body, err)
		}
	})
}

// slow is a connection whose writes take 100 ms more than their receiver needs to answer.
type slow struct{ net.Conn }

func (s slow) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)

	time.Sleep(100 * time.Millisecond)

	return n, err
}

// pipe is a listener of the connections that it is given.
type pipe struct{ conns chan net.Conn }

func (p pipe) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}

	return c, nil
}

func (p pipe) Close() error { close(p.conns); return nil }

func (p pipe) Addr() net.Addr { return &net.TCPAddr{} }
