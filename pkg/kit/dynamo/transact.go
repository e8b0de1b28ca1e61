package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/spec"
)

// Write is one of the writes of a transaction, each to a different item. It is built again for
// each try, because a condition may depend on the time of the try.
type Write func(table *string) (types.TransactWriteItem, error)

// PutWrite is Put in a transaction.
func PutWrite(item any, cond ...expression.ConditionBuilder) Write {
	return func(table *string) (types.TransactWriteItem, error) {
		av, err := marshal(item)
		if err != nil {
			return types.TransactWriteItem{}, err
		}

		e, err := condition(cond)

		return types.TransactWriteItem{Put: &types.Put{
			TableName: table, Item: av, ConditionExpression: e.Condition(),
			ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}, err
	}
}

// UpdateWrite is Update in a transaction.
func UpdateWrite(key Item, changes Changes, cond ...expression.ConditionBuilder) Write {
	return func(table *string) (types.TransactWriteItem, error) {
		e, err := update(changes, cond)

		return types.TransactWriteItem{Update: &types.Update{
			TableName: table, Key: key, UpdateExpression: e.Update(), ConditionExpression: e.Condition(),
			ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}, err
	}
}

// DeleteWrite is Delete in a transaction.
func DeleteWrite(key Item, cond ...expression.ConditionBuilder) Write {
	return func(table *string) (types.TransactWriteItem, error) {
		e, err := condition(cond)

		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: table, Key: key, ConditionExpression: e.Condition(),
			ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}, err
	}
}

// CheckWrite writes nothing. The transaction is refused unless the condition holds for the item
// with the key.
func CheckWrite(key Item, cond expression.ConditionBuilder) Write {
	return func(table *string) (types.TransactWriteItem, error) {
		e, err := condition([]expression.ConditionBuilder{cond})

		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: table, Key: key, ConditionExpression: e.Condition(),
			ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}, err
	}
}

// MaxWrites is DynamoDB's limit of writes in one transaction. The check of a requirement
// counts as one.
const MaxWrites = 100

// Transact makes all of the writes, or none. There are at most MaxWrites, all to the table of
// one access pattern. If a condition does not hold, it returns *Refused with the index of the
// first such write. Conflicts with other transactions are retried. If a requirement of ctx does
// not hold, it returns the requirement's Err.
func Transact(ctx context.Context, db DB, a spec.Access, writes ...Write) error {
	if len(writes) == 0 {
		return nil
	}

	return db.transact(ctx, Batch{a, writes})
}

// Batch is the writes of a transaction to one table.
type Batch struct {
	Access spec.Access
	Writes []Write
}

// TransactEach is Transact with writes to several tables, of which one at least has a write.
// Refused.Write counts the writes in the order of the batches.
func TransactEach(ctx context.Context, db DB, batches ...Batch) error {
	return db.transact(ctx, slices.DeleteFunc(batches, func(b Batch) bool { return len(b.Writes) == 0 })...)
}

// Check returns the Err of ctx's requirement if that does not hold. Call it before several
// writes that begin with Delete or DeleteAll, which do not check.
func Check(ctx context.Context, db DB, a spec.Access) error {
	if _, ok := Required(ctx); !ok {
		return nil
	}

	return db.transact(ctx, Batch{Access: a})
}

// transact makes the writes, and checks the requirement of ctx if it has one.
func (db DB) transact(ctx context.Context, batches ...Batch) error {
	var (
		writes   []Write
		tables   []*string     // of the writes
		patterns []spec.Access // of the writes
	)

	for _, b := range batches {
		writes, patterns = append(writes, b.Writes...), append(patterns, slices.Repeat([]spec.Access{b.Access}, len(b.Writes))...)
		tables = append(tables, slices.Repeat([]*string{db.table(b.Access)}, len(b.Writes))...)
	}

	a := batches[0].Access
	if len(batches) == 1 {
		patterns = []spec.Access{a}
	}

	items := make([]types.TransactWriteItem, len(writes))

	required, checks := Required(ctx)
	if checks {
		check, err := required.check(db)
		if err != nil {
			return wrap(a, err)
		}

		items = append(items, check)
	}

	if len(items) > MaxWrites {
		return wrap(a, fmt.Errorf("a transaction of %d writes: %d is the limit", len(items), MaxWrites))
	}

	for try := 0; ; try++ {
		if err := BackOff(ctx, try); err != nil {
			return wrap(a, err)
		}

		for i, w := range writes {
			var err error
			if items[i], err = w(tables[i]); err != nil {
				return wrap(a, err)
			}
		}

		_, err := db.client.TransactWriteItems(as(ctx, patterns...), &dynamodb.TransactWriteItemsInput{TransactItems: items})

		canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok {
			return wrap(a, err)
		}

		if last := canceled.CancellationReasons; checks && len(last) == len(items) && because("ConditionalCheckFailed")(last[len(writes)]) {
			return wrap(a, required.Err)
		}

		if i := slices.IndexFunc(canceled.CancellationReasons, because("ConditionalCheckFailed")); i >= 0 {
			return wrap(a, fmt.Errorf("write %d: %w", i, &Refused{Item: canceled.CancellationReasons[i].Item, Write: i}))
		}

		if !slices.ContainsFunc(canceled.CancellationReasons,
			because("TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded")) {
			return wrap(a, err)
		}
	}
}

// because matches reasons of a canceled transaction with one of the codes:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
func because(codes ...string) func(types.CancellationReason) bool {
	return func(r types.CancellationReason) bool { return slices.Contains(codes, aws.ToString(r.Code)) }
}
