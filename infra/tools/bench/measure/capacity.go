package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Capacity is what DynamoDB bills for calls, as the engine calculates it.
type Capacity struct {
	Reads  float64 `json:"readUnits"`
	Writes float64 `json:"writeUnits"`
}

// String names the units that are not zero.
func (c Capacity) String() string {
	var parts []string
	if c.Reads > 0 {
		parts = append(parts, Grouped(c.Reads)+" read units")
	}
	if c.Writes > 0 {
		parts = append(parts, Grouped(c.Writes)+" write units")
	}
	return strings.Join(parts, ", ")
}

// Meter adds up the capacity that calls consume.
type Meter struct {
	mu sync.Mutex
	Capacity
}

// On returns a configuration whose calls the meter reads. They cost more time.
func (m *Meter) On(cfg aws.Config) aws.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("meter", m.read), middleware.After)
	})
	return cfg
}

func (m *Meter) read(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	const total = types.ReturnConsumedCapacityTotal
	switch in := in.Parameters.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = total
	default:
		return middleware.InitializeOutput{}, middleware.Metadata{}, fmt.Errorf("the meter cannot read the capacity of a %T", in)
	}
	out, meta, err := next.HandleInitialize(ctx, in)
	if err != nil {
		return out, meta, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch out := out.Result.(type) {
	case *dynamodb.GetItemOutput:
		m.Reads += *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.QueryOutput:
		m.Reads += *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.UpdateItemOutput:
		m.Writes += *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.TransactWriteItemsOutput:
		for _, c := range out.ConsumedCapacity {
			m.Writes += *c.CapacityUnits
		}
	}
	return out, meta, err
}
