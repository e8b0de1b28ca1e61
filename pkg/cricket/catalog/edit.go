package catalog

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// edit is what an administrator changes of a row.
type edit struct {
	set   expression.UpdateBuilder
	given bool
}

// give adds an attribute, if v gives one. Empty text takes it away.
func give[T any](e *edit, name string, v *T) {
	switch {
	case v == nil:
		return
	case any(*v) == any(""):
		e.set = e.set.Remove(expression.Name(name))
	default:
		e.set = e.set.Set(expression.Name(name), expression.Value(*v))
	}
	e.given = true
}

// apply changes the row under id, or returns absent when there is none.
func (e *edit) apply(ctx context.Context, db dynamo.DB, a spec.Access, id string, absent error) error {
	if !e.given {
		return problem.In("body", "say what to change")
	}
	err := dynamo.Update(ctx, db, a, dynamo.Key(a, id), e.set, expression.AttributeExists(expression.Name(a.Table.Key.Partition)))
	return dynamo.RefusedAs(err, absent)
}
