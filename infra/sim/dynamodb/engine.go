// Package engine runs a DynamoDB engine on this machine: dynoxide, which
// `npm ci` puts beside the module, as a child process.
package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/spec"
)

// Region and account that the local fleet pretends to be in.
const (
	Region  = "eu-west-1"
	Account = "000000000000"
)

// Endpoint names the environment variable that points at another DynamoDB
// engine, which is then used instead of a child process.
const Endpoint = "DYNAMODB_ENDPOINT"

// Engine is a running engine.
type Engine struct {
	URL    string
	Exited <-chan struct{} // closed when it has stopped, by itself or not; nil for one that we did not start
	Stop   func()
}

// Start starts an engine that keeps its data in file, or in memory when file is
// "".
func Start(ctx context.Context, file string) (e Engine, err error) {
	if url := os.Getenv(Endpoint); url != "" {
		return Engine{URL: url, Stop: func() {}}, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return e, err
	}
	binary, err := find(dir)
	if err != nil {
		return e, err
	}
	port, err := freePort()
	if err != nil {
		return e, err
	}
	args := []string{"serve", "--port", port}
	if file != "" {
		args = append(args, "--db-path", file)
	}
	cmd := exec.Command(binary, args...)
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return e, fmt.Errorf("start the DynamoDB engine: %w", err)
	}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	e = Engine{URL: "http://127.0.0.1:" + port, Exited: exited, Stop: func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-exited:
		case <-time.After(2 * time.Second):
			cmd.Process.Kill()
			<-exited
		}
	}}
	if err := answers(ctx, "127.0.0.1:"+port, exited); err != nil {
		e.Stop()
		return e, err
	}
	return e, nil
}

// find looks for the engine in node_modules, from dir up to the module's root.
func find(dir string) (string, error) {
	name := filepath.Join("node_modules", "@dynoxide", platform(), "dynoxide")
	for {
		if path := filepath.Join(dir, name); exists(path) {
			return path, nil
		}
		if exists(filepath.Join(dir, "go.mod")) || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("there is no DynamoDB engine for %s here: run `npm ci`, or set %s to the URL of one that runs", platform(), Endpoint)
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

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func answers(ctx context.Context, address string, exited <-chan struct{}) error {
	limit, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(limit, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-exited:
			return errors.New("the DynamoDB engine stopped as soon as it was started")
		case <-limit.Done():
			return cmp.Or(ctx.Err(), errors.New("the DynamoDB engine does not answer"))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Config is the SDK's configuration for engines at url: the region, made-up
// credentials and the endpoint.
func Config(url string) aws.Config {
	return aws.Config{
		Region:       Region,
		BaseEndpoint: &url,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	}
}

// Create creates the tables whose names follow prefix, as their specs say. A
// table that exists is left as it is.
func Create(ctx context.Context, c *dynamodb.Client, prefix string, tables []spec.Table) error {
	for _, t := range tables {
		in := CreateInput(t, prefix+t.Name)
		_, err := c.CreateTable(ctx, in)
		if _, ok := errors.AsType[*types.ResourceInUseException](err); ok {
			continue
		}
		if err != nil {
			return fmt.Errorf("create the table %s: %w", t.Name, err)
		}
		if t.TTL == "" {
			continue
		}
		if _, err := c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: in.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.TTL, Enabled: aws.Bool(true)}}); err != nil {
			return fmt.Errorf("set the TTL of %s: %w", t.Name, err)
		}
	}
	return nil
}

// CreateInput is the call that creates t under a name.
func CreateInput(t spec.Table, name string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: schema(t.Key)}
	attributes := []string{t.Key.Partition, t.Key.Sort}
	for _, x := range t.Indexes {
		projection := types.ProjectionTypeAll
		if x.KeysOnly {
			projection = types.ProjectionTypeKeysOnly
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &x.Name, KeySchema: schema(x.Key), Projection: &types.Projection{ProjectionType: projection},
		})
		attributes = append(attributes, x.Key.Partition, x.Key.Sort)
	}
	slices.Sort(attributes)
	for _, a := range slices.Compact(attributes) {
		if a != "" {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: &a, AttributeType: types.ScalarAttributeTypeS,
			})
		}
	}
	return in
}

func schema(k spec.Key) []types.KeySchemaElement {
	keys := []types.KeySchemaElement{{AttributeName: &k.Partition, KeyType: types.KeyTypeHash}}
	if k.Sort != "" {
		keys = append(keys, types.KeySchemaElement{AttributeName: &k.Sort, KeyType: types.KeyTypeRange})
	}
	return keys
}

// Sweep deletes the items whose TTL has passed at now, which the engine does not
// do by itself, and returns how many there were.
func Sweep(ctx context.Context, c *dynamodb.Client, prefix string, tables []spec.Table, now time.Time) (swept int, err error) {
	for _, t := range tables {
		if t.TTL == "" {
			continue
		}
		expired, err := expression.NewBuilder().
			WithFilter(expression.LessThan(expression.Name(t.TTL), expression.Value(now.Unix()))).Build()
		if err != nil {
			return swept, err
		}
		name := prefix + t.Name
		pages := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{TableName: &name, FilterExpression: expired.Filter(),
			ExpressionAttributeNames: expired.Names(), ExpressionAttributeValues: expired.Values()})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return swept, fmt.Errorf("sweep %s: %w", t.Name, err)
			}
			for _, item := range page.Items {
				key := map[string]types.AttributeValue{t.Key.Partition: item[t.Key.Partition]}
				if t.Key.Sort != "" {
					key[t.Key.Sort] = item[t.Key.Sort]
				}
				_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &name, Key: key, ConditionExpression: expired.Filter(),
					ExpressionAttributeNames: expired.Names(), ExpressionAttributeValues: expired.Values()})
				if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
					continue // renewed since it was read
				}
				if err != nil {
					return swept, fmt.Errorf("sweep %s: %w", t.Name, err)
				}
				swept++
			}
		}
	}
	return swept, nil
}
