package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/spec"
)

// Requirement is a condition on an item that the write itself does not contain, for example on
// an item of another table.
type Requirement struct {
	Access spec.Access // its operation is ConditionCheckItem
	Key    Item
	Cond   expression.ConditionBuilder
	Err    error // of a write for which Cond does not hold
}

type requirementKey struct{}

// Require returns a context in which Put, Update and Transact write only if the requirement
// holds at the moment of the write. Otherwise they return its Err. Each such write becomes a
// transaction, which costs twice the write units and two for the check. Delete and DeleteAll do
// not check: they create nothing. Replace and PutAll panic, because no transaction can do what
// they do.
func Require(ctx context.Context, r Requirement) context.Context {
	return context.WithValue(ctx, requirementKey{}, r)
}

// WithoutRequirement returns a context whose writes check no requirement.
func WithoutRequirement(ctx context.Context) context.Context {
	return context.WithValue(ctx, requirementKey{}, nil)
}

// Required returns the requirement of the call that ctx belongs to.
func Required(ctx context.Context) (Requirement, bool) {
	r, ok := ctx.Value(requirementKey{}).(Requirement)
	return r, ok
}

// check returns the write of a transaction that checks the requirement.
func (r Requirement) check(db DB) (types.TransactWriteItem, error) {
	return CheckWrite(r.Key, r.Cond)(db.table(r.Access))
}
