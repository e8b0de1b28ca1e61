// Package dynamodb runs a DynamoDB engine on this machine, as a child process.
// The engine is engine.DynamoDB.
package dynamodb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/infra/sim/account"
	"matchday/infra/sim/engine"
)

// Endpoint is the environment variable that holds the URL of a running DynamoDB
// engine. When it is set, Start uses that engine and starts no process.
var Endpoint = engine.DynamoDB.Endpoint

// Engine is a running engine.
type Engine struct {
	URL    string
	Exited <-chan struct{} // closed when the process has ended, for whatever reason; nil when Start started none
	Stop   func()          // ends the process; a second call does nothing
}

// Start starts an engine that stores its data in file, or in memory when file is
// "". It returns when the engine accepts connections. npm fetches an engine that is
// missing. Start fails when there is none for this platform, when the engine exits
// on each of five ports, and when it accepts no connection for a minute.
//
// The engine answers any web page, so it listens at an address of engine.FreeAddress.
func Start(ctx context.Context, file string) (Engine, error) {
	if url := os.Getenv(Endpoint); url != "" {
		return Engine{URL: url, Stop: func() {}}, nil
	}

	dir, err := os.Getwd()
	if err != nil {
		return Engine{}, err
	}

	binary, err := engine.DynamoDB.Find(ctx, dir)
	if err != nil {
		return Engine{}, err
	}
	// The engine takes no port that has a listener on 127.0.0.1 or on its own address,
	// and exits when another process has opened one.
	for attempt := 1; ; attempt++ {
		e, err := serve(ctx, binary, file)
		if !errors.Is(err, engine.ErrExited) || attempt == 5 {
			return e, err
		}
	}
}

// serve starts the engine on a free port, once.
func serve(ctx context.Context, binary, file string) (e Engine, err error) {
	host, port, err := engine.FreeAddress()
	if err != nil {
		return e, err
	}

	args := []string{"serve", "--host", host, "--port", port}
	if file != "" {
		args = append(args, "--db-path", file)
	}

	address := net.JoinHostPort(host, port)

	p, err := engine.Run(ctx, exec.Command(binary, args...), address)
	if err != nil {
		return e, fmt.Errorf("DynamoDB: %w", err)
	}

	return Engine{URL: "http://" + address, Exited: p.Exited, Stop: p.Stop}, nil
}

// Proxy returns a handler that passes requests on to the engine at url. It has no
// limit of time, and no answer of its own: when the engine closes a connection, it
// closes the caller's, whose SDK tries again as it does without a proxy.
//
// It reads the whole request before it passes it on. The server closes the body of a request
// when the answer begins. If the transport has not seen the end of the body by then, it takes
// that for a failed write, and closes its connection with the rest of the answer in it.
func Proxy(url *url.URL) http.Handler {
	// a closed connection for each call would use up the ports
	return proxy(url, &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true})
}

func proxy(url *url.URL, by http.RoundTripper) http.Handler {
	p := httputil.NewSingleHostReverseProxy(url)
	p.Transport = by
	p.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}

		r.Body = io.NopCloser(bytes.NewReader(body))
		p.ServeHTTP(w, r)
	})
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
