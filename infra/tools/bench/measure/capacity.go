package measure

import (
	"strings"

	"matchday/infra/sim/dynamodb"
)

// Capacity is what DynamoDB bills for calls, as the engine calculates it.
type Capacity dynamodb.Units

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
