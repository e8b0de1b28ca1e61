// Package dynamotest gives each test its own tables on a DynamoDB engine, fails a test
// whose code makes a call that its function may not make in production, and tests that
// code survives a crash at every I/O call.
package dynamotest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/tools/judge/calls"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// shared starts the engine that all tests of the program use. The engine stops when the
// program ends.
var shared = sync.OnceValues(func() (string, error) {
	e, err := dynamodbsim.Start(context.Background(), "")
	return e.URL, err
})

// WithGuard returns a copy of cfg for the code of fn. A DynamoDB call outside the
// access patterns that the spec of fn lists fails the test, because IAM would deny it
// in production. All calls are recorded for the judge.
func WithGuard(t testing.TB, cfg aws.Config, fn spec.Function) aws.Config {
	t.Helper()

	return withMiddleware(calls.On(cfg), "grants", func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if awsmiddleware.GetServiceID(ctx) == dynamodb.ServiceID {
			if reason := checkGrant(ctx, fn, in.Parameters); reason != "" {
				t.Errorf("%s %s", fn.Name, reason)
			}
		}

		return next.HandleInitialize(ctx, in)
	})
}

// checkGrant returns why IAM would deny a call of fn, or "".
func checkGrant(ctx context.Context, fn spec.Function, params any) string {
	operation := awsmiddleware.GetOperationName(ctx)

	required, checks := dynamo.Required(ctx)
	if in, ok := params.(*dynamodb.TransactWriteItemsInput); ok && checks {
		if !slices.ContainsFunc(fn.Uses, func(u spec.Access) bool { return u.ID() == required.Access.ID() }) {
			return fmt.Sprintf("checks the access pattern %q, which its spec does not list", required.Access.ID())
		}

		Record("patterns", required.Access.ID())

		params = &dynamodb.TransactWriteItemsInput{TransactItems: in.TransactItems[:len(in.TransactItems)-1]}
	}

	ops, patterns := operations(operation, params), dynamo.Patterns(ctx)
	if len(patterns) == 0 {
		return fmt.Sprintf("calls %s outside every access pattern", operation)
	}

	for i, a := range patterns {
		ops := ops
		if len(patterns) > 1 && len(ops) > 1 { // of the writes of a transaction
			ops = ops[i : i+1]
		}

		other := slices.IndexFunc(ops, func(op spec.Op) bool { return !slices.Contains(a.Ops, op) })
		switch {
		case other >= 0:
			return fmt.Sprintf("calls %s as the access pattern %q, which is another operation", ops[other], a.ID())
		case indexName(params) != a.Index:
			return fmt.Sprintf("reads index %q as the access pattern %q", indexName(params), a.ID())
		case !slices.ContainsFunc(fn.Uses, func(u spec.Access) bool { return u.ID() == a.ID() }):
			return fmt.Sprintf("uses the access pattern %q, which its spec does not list", a.ID())
		}

		Record("patterns", a.ID())
	}

	return ""
}

// operations returns the operations that IAM must allow for a call: the call's own, or
// those of the writes in a transaction.
func operations(operation string, params any) (ops []spec.Op) {
	in, ok := params.(*dynamodb.TransactWriteItemsInput)
	if !ok {
		return []spec.Op{spec.Op(operation)}
	}

	for _, w := range in.TransactItems {
		switch {
		case w.Put != nil:
			ops = append(ops, spec.PutItem)
		case w.Update != nil:
			ops = append(ops, spec.UpdateItem)
		case w.Delete != nil:
			ops = append(ops, spec.DeleteItem)
		case w.ConditionCheck != nil:
			ops = append(ops, spec.ConditionCheckItem)
		}
	}

	return ops
}

func indexName(params any) string {
	switch in := params.(type) {
	case *dynamodb.QueryInput:
		return aws.ToString(in.IndexName)
	case *dynamodb.ScanInput:
		return aws.ToString(in.IndexName)
	}

	return ""
}

func withMiddleware(cfg aws.Config, id string,
	f func(context.Context, middleware.InitializeInput,
		middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error)) aws.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc(id, f), middleware.After)
	})

	return cfg
}

var recording sync.Mutex

// Record appends a line to a file in the folder $MATCHDAY_COVERAGE. `make test` counts
// from these files which access patterns, crash points and metrics the tests exercised.
func Record(file, line string) {
	dir := os.Getenv("MATCHDAY_COVERAGE")
	if dir == "" {
		return
	}

	recording.Lock()
	defer recording.Unlock()

	f, err := os.OpenFile(filepath.Join(dir, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()

	fmt.Fprintln(f, line)
}
