// Package dynamodb runs a DynamoDB engine on this machine, as a child process.
// The engine is dynoxide, which `npm ci` installs in node_modules.
package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/infra/sim/account"
)

// Endpoint is the environment variable that holds the URL of a running DynamoDB
// engine. When it is set, Start uses that engine and starts no process.
const Endpoint = "DYNAMODB_ENDPOINT"

// Engine is a running engine.
type Engine struct {
	URL    string
	Exited <-chan struct{} // closed when the process has ended, for whatever reason; nil when Start started none
	Stop   func()          // ends the process; a second call does nothing
}

// Start starts an engine that stores its data in file, or in memory when file is
// "". It returns when the engine accepts connections. It fails when there is no
// engine for this platform, when the engine exits on each of five ports, and when it
// accepts no connection for 10 s.
//
// The engine answers any web page. It therefore listens on a random address of this
// machine, of which Linux has 16 million: a page cannot find it. Other systems have
// one, 127.0.0.1, where only the port is random.
func Start(ctx context.Context, file string) (Engine, error) {
	if url := os.Getenv(Endpoint); url != "" {
		return Engine{URL: url, Stop: func() {}}, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return Engine{}, err
	}
	binary, err := find(dir)
	if err != nil {
		return Engine{}, err
	}
	// The engine takes no port that has a listener on 127.0.0.1 or on its own address,
	// and another process may open one after freeAddress found none.
	for attempt := 1; ; attempt++ {
		e, err := serve(ctx, binary, file)
		if !errors.Is(err, errExited) || attempt == 5 {
			return e, err
		}
	}
}

var errExited = errors.New("the DynamoDB engine exited during its start")

// serve starts the engine on a free port, once.
func serve(ctx context.Context, binary, file string) (e Engine, err error) {
	host, port, err := freeAddress()
	if err != nil {
		return e, err
	}
	args := []string{"serve", "--host", host, "--port", port}
	if file != "" {
		args = append(args, "--db-path", file)
	}
	cmd := exec.Command(binary, args...)
	cmd.SysProcAttr = dieWithParent()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return e, fmt.Errorf("start the DynamoDB engine: %w", err)
	}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	address := net.JoinHostPort(host, port)
	e = Engine{URL: "http://" + address, Exited: exited, Stop: func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-exited:
		case <-time.After(2 * time.Second):
			cmd.Process.Kill()
			<-exited
		}
	}}
	if err := awaitConnection(ctx, address, exited); err != nil {
		e.Stop()
		if err == errExited {
			err = fmt.Errorf("%w: %q", err, strings.TrimSpace(stderr.String()))
		}
		return Engine{}, err
	}
	return e, nil
}

// find returns the path of the engine in node_modules of dir or of a directory
// above it, up to the root of the Go module.
func find(dir string) (string, error) {
	name := filepath.Join("node_modules", "@dynoxide", platform(), "dynoxide")
	for {
		if path := filepath.Join(dir, name); exists(path) {
			return path, nil
		}
		if exists(filepath.Join(dir, "go.mod")) || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no DynamoDB engine for %s in node_modules: run `make tools`, or set %s to the URL of a running engine", platform(), Endpoint)
		}
		dir = filepath.Dir(dir)
	}
}

func platform() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return runtime.GOOS + "-" + arch
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// freeAddress returns a random address of this machine and a port that was free there
// and on 127.0.0.1.
func freeAddress() (host, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer l.Close()
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", "", err
	}
	part := func() int { return 1 + rand.IntN(254) }
	host = fmt.Sprintf("127.%d.%d.%d", part(), part(), part())
	own, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return "127.0.0.1", port, nil // where there is no other address; a port taken there is found by the engine
	}
	return host, port, own.Close()
}

// Proxy returns a handler that passes requests on to the engine at url. It has no
// limit of time, and no answer of its own: when the engine closes a connection, it
// closes the caller's, whose SDK tries again as it does without a proxy.
func Proxy(url *url.URL) http.Handler {
	p := httputil.NewSingleHostReverseProxy(url)
	p.Transport = &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true} // a closed connection for each call would use up the ports
	p.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	return p
}

// awaitConnection returns when the engine accepts connections.
func awaitConnection(ctx context.Context, address string, exited <-chan struct{}) error {
	limit, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(limit, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-exited:
			return errExited
		case <-limit.Done():
			return cmp.Or(ctx.Err(), errors.New("the DynamoDB engine accepted no connection for 10 s"))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Config returns the SDK's configuration for an engine at url: the region, dummy
// credentials and the endpoint.
func Config(url string) aws.Config {
	return aws.Config{
		Region:       account.Region,
		BaseEndpoint: &url,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	}
}

// Table describes a table.
type Table struct {
	Input *dynamodb.CreateTableInput
	TTL   string // the attribute that holds the expiry in seconds since 1970; "" for none
}

// Create creates tables. It does not change a table that exists.
func Create(ctx context.Context, c *dynamodb.Client, tables []Table) error {
	for _, t := range tables {
		name := aws.ToString(t.Input.TableName)
		_, err := c.CreateTable(ctx, t.Input)
		if _, ok := errors.AsType[*types.ResourceInUseException](err); ok {
			continue
		}
		if err != nil {
			return fmt.Errorf("create the table %s: %w", name, err)
		}
		if t.TTL == "" {
			continue
		}
		if _, err := c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &name,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.TTL, Enabled: aws.Bool(true)}}); err != nil {
			return fmt.Errorf("set the TTL of %s: %w", name, err)
		}
	}
	return nil
}

// Sweep deletes the items that expired before now, and returns how many it
// deleted. The engine itself deletes none.
func Sweep(ctx context.Context, c *dynamodb.Client, tables []Table, now time.Time) (swept int, err error) {
	for _, t := range tables {
		if t.TTL == "" {
			continue
		}
		expired, err := expression.NewBuilder().
			WithFilter(expression.LessThan(expression.Name(t.TTL), expression.Value(now.Unix()))).Build()
		if err != nil {
			return swept, err
		}
		name := aws.ToString(t.Input.TableName)
		pages := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{TableName: &name, FilterExpression: expired.Filter(),
			ExpressionAttributeNames: expired.Names(), ExpressionAttributeValues: expired.Values()})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return swept, fmt.Errorf("sweep %s: %w", name, err)
			}
			for _, item := range page.Items {
				key := map[string]types.AttributeValue{}
				for _, k := range t.Input.KeySchema {
					key[*k.AttributeName] = item[*k.AttributeName]
				}
				_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &name, Key: key, ConditionExpression: expired.Filter(),
					ExpressionAttributeNames: expired.Names(), ExpressionAttributeValues: expired.Values()})
				if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
					continue // renewed after the scan read it
				}
				if err != nil {
					return swept, fmt.Errorf("sweep %s: %w", name, err)
				}
				swept++
			}
		}
	}
	return swept, nil
}
