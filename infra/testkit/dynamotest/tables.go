package dynamotest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"matchday/infra/local/tables"
	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/pkg/spec"
)

// tableSet is a set of tables, which one test uses after the other.
type tableSet struct {
	prefix string
	all    []spec.Table
	client *dynamodb.Client // without the middleware of tests
}

// sets are those that no test uses at the moment, by the tables of the spec.
var sets struct {
	sync.Mutex
	idle map[string][]*tableSet
}

// errTestOver is the error of a call that is made when its test is over: the tables are those of
// another test.
var errTestOver = errors.New("the test that these tables belong to is over")

// CreateTables returns the configuration for empty tables that are the test's alone, and the
// prefix of their names. After the test the rows of those that it has written are deleted, and
// the tables serve the next test.
func CreateTables(t testing.TB, all []spec.Table) (cfg aws.Config, prefix string) {
	t.Helper()

	url, err := shared()
	if err != nil {
		t.Fatal(err)
	}

	cfg = dynamodbsim.Config(url)
	key := fmt.Sprint(all)

	set := takeSet(key)
	if set == nil {
		set = &tableSet{prefix: rand.Text()[:12] + "-", all: all, client: dynamodb.NewFromConfig(cfg)}
		if err := dynamodbsim.Create(t.Context(), set.client, tables.FromSpec(set.prefix, all)); err != nil {
			t.Fatal(err)
		}
	}

	u := &use{written: map[string]bool{}}

	t.Cleanup(func() {
		if err := set.reset(context.Background(), u.end()); err != nil {
			set.drop(context.Background())
			return
		}

		sets.Lock()
		defer sets.Unlock()

		sets.idle[key] = append(sets.idle[key], set)
	})

	return withMiddleware(cfg, "use", u.handle), set.prefix
}

func takeSet(key string) *tableSet {
	sets.Lock()
	defer sets.Unlock()

	if sets.idle == nil {
		sets.idle = map[string][]*tableSet{}
	}

	idle := sets.idle[key]
	if len(idle) == 0 {
		return nil
	}

	sets.idle[key] = idle[:len(idle)-1]

	return idle[len(idle)-1]
}

// use records which tables a test writes, and refuses calls when the test is over.
type use struct {
	calls sync.RWMutex // held for reading by calls
	over  bool

	mu      sync.Mutex
	written map[string]bool // by the name in the engine
}

func (u *use) handle(ctx context.Context, in middleware.InitializeInput,
	next middleware.InitializeHandler) (out middleware.InitializeOutput, meta middleware.Metadata, err error) {
	u.calls.RLock()
	defer u.calls.RUnlock()

	if u.over {
		return out, meta, errTestOver
	}

	u.mu.Lock()
	for _, name := range writtenBy(in.Parameters) {
		u.written[name] = true
	}
	u.mu.Unlock()

	return next.HandleInitialize(ctx, in)
}

// end waits for the calls of the test, and returns the tables that it has written.
func (u *use) end() (names []string) {
	u.calls.Lock()
	defer u.calls.Unlock()

	u.over = true
	for name := range u.written {
		names = append(names, name)
	}

	return names
}

// writtenBy returns the tables that a call writes.
func writtenBy(params any) (names []string) {
	switch in := params.(type) {
	case *dynamodb.PutItemInput:
		names = append(names, aws.ToString(in.TableName))
	case *dynamodb.UpdateItemInput:
		names = append(names, aws.ToString(in.TableName))
	case *dynamodb.BatchWriteItemInput:
		for name := range in.RequestItems {
			names = append(names, name)
		}
	case *dynamodb.TransactWriteItemsInput:
		for _, w := range in.TransactItems {
			if w.Put != nil {
				names = append(names, aws.ToString(w.Put.TableName))
			}

			if w.Update != nil {
				names = append(names, aws.ToString(w.Update.TableName))
			}
		}
	}

	return names
}

// reset empties tables.
func (s *tableSet) reset(ctx context.Context, written []string) error {
	for _, table := range tables.FromSpec(s.prefix, s.all) {
		if !slices.Contains(written, aws.ToString(table.Input.TableName)) {
			continue
		}

		if err := s.empty(ctx, table); err != nil {
			return err
		}
	}

	return nil
}

// batch is how many rows one call deletes.
const batch = 25

// empty deletes the rows of a table, or the table itself if it has many.
func (s *tableSet) empty(ctx context.Context, table dynamodbsim.Table) error {
	name := aws.ToString(table.Input.TableName)

	rows, err := s.client.Scan(ctx, &dynamodb.ScanInput{TableName: &name, Limit: aws.Int32(8 * batch), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err
	}

	if rows.LastEvaluatedKey != nil {
		if _, err := s.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			return err
		}

		return dynamodbsim.Create(ctx, s.client, []dynamodbsim.Table{table})
	}

	var deletes []types.WriteRequest

	for _, row := range rows.Items {
		key := map[string]types.AttributeValue{}
		for _, part := range table.Input.KeySchema {
			key[*part.AttributeName] = row[*part.AttributeName]
		}

		deletes = append(deletes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}})
	}

	for len(deletes) > 0 {
		n := min(batch, len(deletes))

		out, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{name: deletes[:n]}})
		if err != nil {
			return err
		}

		deletes = append(deletes[n:], out.UnprocessedItems[name]...)
	}

	return nil
}

func (s *tableSet) drop(ctx context.Context) {
	for _, table := range s.all {
		s.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(spec.TableIn(s.prefix, table.Name))})
	}
}
