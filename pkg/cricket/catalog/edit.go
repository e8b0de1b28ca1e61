package catalog

import (
	"context"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// assign copies value to the field of a row and returns names with the name of its
// attribute. If the request has no value, it returns names as it is.
func assign[V any](names []string, name string, field, value *V) []string {
	if value == nil {
		return names
	}

	*field = *value

	return append(names, name)
}

// edit sets the named attributes of the row with that id to the values in row.
// Empty text and 0 remove an attribute tagged omitempty. It returns missing if the
// table has no such row, and Invalid if names is empty.
func edit[T any](ctx context.Context, db dynamo.DB, a spec.Access, id string, row T, names []string, missing error) error {
	if len(names) == 0 {
		return problem.In("body", "the request changes nothing: send at least one field")
	}

	err := dynamo.Update(ctx, db, a, dynamo.Key(a, id), dynamo.Set(row, names...), dynamo.Exists[T](a.Table.Key.Partition))

	return dynamo.RefusedAs(err, missing)
}
