package dynamodb

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Units are what DynamoDB bills for calls, as the engine calculates it.
type Units struct {
	Reads  float64 `json:"readUnits"`
	Writes float64 `json:"writeUnits"`
}

// Meter adds up the units that calls consume. It does not count refused writes,
// because their answer does not have the units.
type Meter struct {
	mu    sync.Mutex
	units Units
}

// On returns a configuration whose calls the meter reads. They cost more time.
func (m *Meter) On(cfg aws.Config) aws.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("meter", m.read), middleware.After)
	})

	return cfg
}

// Take returns the units since the last call of Take.
func (m *Meter) Take() Units {
	m.mu.Lock()
	defer m.mu.Unlock()

	units := m.units
	m.units = Units{}

	return units
}

func (m *Meter) read(ctx context.Context, in middleware.InitializeInput,
	next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	ask := reflect.Indirect(reflect.ValueOf(in.Parameters)).FieldByName("ReturnConsumedCapacity")
	if !ask.IsValid() { // a call that consumes none, or one of another service
		return next.HandleInitialize(ctx, in)
	}

	ask.SetString(string(types.ReturnConsumedCapacityTotal))

	out, meta, err := next.HandleInitialize(ctx, in)
	if err != nil {
		return out, meta, err
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	sum := &m.units.Writes
	if operation := awsmiddleware.GetOperationName(ctx); operation == "Query" || operation == "Scan" ||
		strings.HasSuffix(operation, "GetItem") || operation == "TransactGetItems" {
		sum = &m.units.Reads
	}

	switch c := reflect.Indirect(reflect.ValueOf(out.Result)).FieldByName("ConsumedCapacity").Interface().(type) {
	case *types.ConsumedCapacity:
		if c == nil { // an answer that a test made up
			break
		}

		*sum += aws.ToFloat64(c.CapacityUnits)
	case []types.ConsumedCapacity:
		for _, c := range c {
			*sum += aws.ToFloat64(c.CapacityUnits)
		}
	}

	return out, meta, err
}
