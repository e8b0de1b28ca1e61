// Package dynamo reads and writes the tables of the spec. Every call names the access pattern
// that it performs. The pattern determines the table and the index. Tests check that a function
// uses only the patterns that its spec lists.
//
// Updates and conditions name attributes by the dynamodbav tags of the row's struct: see Set and
// Exists. Key conditions take them from the pattern: see KeyIs.
package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// DB is the tables of one stage.
type DB struct {
	client   *dynamodb.Client
	prefix   string
	restored map[string]string // the name of a table for spec.TableIn, by its name in the spec, where they differ
	eventual bool
}

// Open returns the tables of the stage whose names begin with prefix. If a source of cfg has a method
// Restored, it lists the tables that were restored under another name, in the format of
// spec.ParseRestored. Open ignores an invalid list, which no deployment makes.
func Open(cfg aws.Config, prefix string) DB {
	db := DB{client: dynamodb.NewFromConfig(cfg), prefix: prefix}
	for _, source := range cfg.ConfigSources {
		if s, ok := source.(interface{ Restored() string }); ok {
			db.restored, _ = spec.ParseRestored(s.Restored())
		}
	}

	return db
}

// Eventual returns the same tables with eventually consistent reads: Get, GetAll and Scan may
// miss the writes of about the last second, and cost half. A Range has its own setting for
// Query.
func (db DB) Eventual() DB {
	db.eventual = true
	return db
}

// Item is a row as DynamoDB holds it.
type Item = map[string]types.AttributeValue

// Refused reports that a write's condition did not hold. Item is the item as it is,
// or nil if there is none. Write is the index of the write in its transaction.
type Refused struct {
	Item  Item
	Write int
}

func (r *Refused) Error() string { return "the condition of the write did not hold" }

// IsRefused reports whether err is a write's failed condition.
func IsRefused(err error) bool {
	_, ok := errors.AsType[*Refused](err)
	return ok
}

// IgnoreRefused returns nil if err is a write's failed condition, else err: for a
// write that is not needed if its condition does not hold.
func IgnoreRefused(err error) error {
	if IsRefused(err) {
		return nil
	}

	return err
}

// RefusedAs returns as if err is a write's failed condition, and err otherwise, which may be
// nil.
func RefusedAs(err, as error) error {
	if IsRefused(err) {
		return as
	}

	return err
}

// Applied reports whether the write that returned err took effect. A failed
// condition is not an error.
func Applied(err error) (bool, error) { return err == nil, IgnoreRefused(err) }

type patternKey struct{}

// Patterns returns the access patterns of the call that ctx belongs to: one, several for GetEach, or one for
// each write of a TransactEach.
func Patterns(ctx context.Context) []spec.Access {
	all, _ := ctx.Value(patternKey{}).([]spec.Access)
	return all
}

func as(ctx context.Context, patterns ...spec.Access) context.Context {
	return context.WithValue(ctx, patternKey{}, patterns)
}

func (db DB) table(a spec.Access) *string {
	return aws.String(spec.TableIn(db.prefix, cmp.Or(db.restored[a.Table.Name], a.Table.Name)))
}

func index(a spec.Access) *string {
	if a.Index == "" {
		return nil
	}

	return &a.Index
}

// Key returns a primary key of a's table: values are the partition value and, if the
// table has a sort key, the sort value.
func Key(a spec.Access, values ...string) Item {
	k := Item{a.Table.Key.Partition: &types.AttributeValueMemberS{Value: values[0]}}
	if a.Table.Key.Sort != "" {
		k[a.Table.Key.Sort] = &types.AttributeValueMemberS{Value: values[1]}
	}

	return k
}

// Get reads the item with the key, strongly consistently unless db is Eventual. ok is
// false if there is none.
func Get[T any](ctx context.Context, db DB, a spec.Access, key ...string) (item T, ok bool, err error) {
	out, err := db.client.GetItem(as(ctx, a),
		&dynamodb.GetItemInput{TableName: db.table(a), Key: Key(a, key...), ConsistentRead: aws.Bool(!db.eventual)})
	if err != nil || out.Item == nil {
		return item, false, wrap(a, err)
	}

	return item, true, wrap(a, attributevalue.UnmarshalMap(out.Item, &item))
}

// GetAll reads the items with the keys, which must differ, as consistently as Get. Absent items
// are left out, and the others are in no order.
func GetAll[T any](ctx context.Context, db DB, a spec.Access, keys []Item) ([]T, error) {
	var items []T

	for chunk := range slices.Chunk(keys, 100) {
		ask := map[string]types.KeysAndAttributes{*db.table(a): {Keys: chunk, ConsistentRead: aws.Bool(!db.eventual)}}
		for try := 0; len(ask) > 0; try++ {
			if err := BackOff(ctx, try); err != nil {
				return nil, wrap(a, err)
			}

			out, err := db.client.BatchGetItem(as(ctx, a), &dynamodb.BatchGetItemInput{RequestItems: ask})
			if err != nil {
				return nil, wrap(a, err)
			}

			var page []T
			if err := attributevalue.UnmarshalListOfMaps(out.Responses[*db.table(a)], &page); err != nil {
				return nil, wrap(a, err)
			}

			items = append(items, page...)
			ask = out.UnprocessedKeys
		}
	}

	return items, nil
}

// Read is one of the reads of GetEach.
type Read struct {
	Access spec.Access // its operation is BatchGetItem
	Key    []string
	Into   any // pointer to the struct of the item
}

// GetEach reads an item from each of several tables in one call, as consistently as Get.
// No two reads may have the same table. An absent item leaves Into as it is.
func GetEach(ctx context.Context, db DB, reads ...Read) error {
	ask, into, patterns := map[string]types.KeysAndAttributes{}, map[string]Read{}, make([]spec.Access, len(reads))
	for i, r := range reads {
		table := *db.table(r.Access)
		patterns[i], into[table] = r.Access, r
		ask[table] = types.KeysAndAttributes{Keys: []Item{Key(r.Access, r.Key...)}, ConsistentRead: aws.Bool(!db.eventual)}
	}

	for try := 0; len(ask) > 0; try++ {
		if err := BackOff(ctx, try); err != nil {
			return wrap(patterns[0], err)
		}

		out, err := db.client.BatchGetItem(as(ctx, patterns...), &dynamodb.BatchGetItemInput{RequestItems: ask})
		if err != nil {
			return wrap(patterns[0], err)
		}

		for table, items := range out.Responses {
			for _, item := range items {
				if err := attributevalue.UnmarshalMap(item, into[table].Into); err != nil {
					return wrap(into[table].Access, err)
				}
			}
		}

		ask = out.UnprocessedKeys
	}

	return nil
}

// marshal returns item, a struct or an Item, as DynamoDB holds it.
func marshal(item any) (Item, error) {
	if av, ok := item.(Item); ok {
		return av, nil
	}

	return attributevalue.MarshalMap(item)
}

// Put writes item, a struct or an Item, in place of the one under its key. If a
// condition does not hold it writes nothing and returns *Refused.
func Put(ctx context.Context, db DB, a spec.Access, item any, cond ...expression.ConditionBuilder) error {
	if _, ok := Required(ctx); ok {
		return Transact(ctx, db, a, PutWrite(item, cond...))
	}

	av, err := marshal(item)
	if err != nil {
		return wrap(a, err)
	}

	e, err := condition(cond)
	if err != nil {
		return wrap(a, err)
	}

	_, err = db.client.PutItem(as(ctx, a), &dynamodb.PutItemInput{
		TableName: db.table(a), Item: av, ConditionExpression: e.Condition(),
		ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})

	return wrap(a, err)
}

// PutAll writes items in batches of 25, and repeats writes that the table throttled.
// After an error any of the items may be written.
func PutAll[T any](ctx context.Context, db DB, a spec.Access, items []T) error {
	if _, ok := Required(ctx); ok {
		panic("dynamo: PutAll cannot check a requirement")
	}

	writes := make([]types.WriteRequest, 0, len(items))
	for _, item := range items {
		av, err := attributevalue.MarshalMap(item)
		if err != nil {
			return wrap(a, err)
		}

		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: av}})
	}

	return db.write(ctx, a, writes)
}

// DeleteAll deletes the items with the keys, like PutAll.
func DeleteAll(ctx context.Context, db DB, a spec.Access, keys []Item) error {
	writes := make([]types.WriteRequest, 0, len(keys))
	for _, k := range keys {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: k}})
	}

	return db.write(ctx, a, writes)
}

func (db DB) write(ctx context.Context, a spec.Access, writes []types.WriteRequest) error {
	for chunk := range slices.Chunk(writes, 25) {
		ask := map[string][]types.WriteRequest{*db.table(a): chunk}
		for try := 0; len(ask) > 0; try++ {
			if err := BackOff(ctx, try); err != nil {
				return wrap(a, err)
			}

			out, err := db.client.BatchWriteItem(as(ctx, a), &dynamodb.BatchWriteItemInput{RequestItems: ask})
			if err != nil {
				return wrap(a, err)
			}

			ask = out.UnprocessedItems
		}
	}

	return nil
}

// Update changes the item with the key. It creates an absent item unless the
// condition prevents it. If the condition does not hold it returns *Refused.
func Update(ctx context.Context, db DB, a spec.Access, key Item, changes Changes, cond ...expression.ConditionBuilder) error {
	if _, ok := Required(ctx); ok {
		return Transact(ctx, db, a, UpdateWrite(key, changes, cond...))
	}

	_, err := db.update(ctx, a, key, types.ReturnValueNone, changes, cond)

	return err
}

// Replace is Update that returns the item as it was, zero if there was none.
func Replace[T any](ctx context.Context, db DB, a spec.Access, key Item, changes Changes,
	cond ...expression.ConditionBuilder) (was T, err error) {
	if _, ok := Required(ctx); ok {
		panic("dynamo: Replace cannot check a requirement")
	}

	out, err := db.update(ctx, a, key, types.ReturnValueAllOld, changes, cond)
	if err != nil {
		return was, err
	}

	return was, wrap(a, attributevalue.UnmarshalMap(out, &was))
}

func (db DB) update(ctx context.Context, a spec.Access, key Item, values types.ReturnValue, changes Changes,
	cond []expression.ConditionBuilder) (Item, error) {
	e, err := update(changes, cond)
	if err != nil {
		return nil, wrap(a, err)
	}

	out, err := db.client.UpdateItem(as(ctx, a), &dynamodb.UpdateItemInput{
		TableName: db.table(a), Key: key, UpdateExpression: e.Update(), ConditionExpression: e.Condition(), ReturnValues: values,
		ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err != nil {
		return nil, wrap(a, err)
	}

	return out.Attributes, nil
}

// Delete removes the item with the key and returns its old values, nil if there was
// none. If the condition does not hold it returns *Refused.
func Delete(ctx context.Context, db DB, a spec.Access, key Item, cond ...expression.ConditionBuilder) (Item, error) {
	e, err := condition(cond)
	if err != nil {
		return nil, wrap(a, err)
	}

	out, err := db.client.DeleteItem(as(ctx, a), &dynamodb.DeleteItemInput{
		TableName: db.table(a), Key: key, ReturnValues: types.ReturnValueAllOld, ConditionExpression: e.Condition(),
		ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err != nil {
		return nil, wrap(a, err)
	}

	return out.Attributes, nil
}

// update returns the expression of an update and of its condition, if it has one.
func update(changes Changes, cond []expression.ConditionBuilder) (expression.Expression, error) {
	b := expression.NewBuilder().WithUpdate(changes.b)
	if len(cond) > 0 {
		b = b.WithCondition(cond[0])
	}

	return b.Build()
}

// condition returns the expression of a write's condition, empty if it has none.
func condition(cond []expression.ConditionBuilder) (e expression.Expression, err error) {
	if len(cond) > 0 {
		e, err = expression.NewBuilder().WithCondition(cond[0]).Build()
	}

	return e, err
}

// Range selects the items that Query reads: all of one partition.
type Range struct {
	Key      expression.KeyConditionBuilder
	Filter   *expression.ConditionBuilder  // items for which it does not hold are read, but not returned
	Project  *expression.ProjectionBuilder // the attributes that are returned, nil for all; the cost is that of all
	After    Item                          // the key before the first item, nil for the start
	Limit    int32                         // items read per page, 0 for as many as fit 1 MB
	Backward bool
	// Consistent reads strongly consistently, which indexes do not support.
	Consistent bool
}

// Query reads one page. last is Range.After of the next page, nil at the end.
func Query[T any](ctx context.Context, db DB, a spec.Access, r Range) (items []T, last Item, err error) {
	in, err := db.queryInput(a, r)
	if err != nil {
		return nil, nil, wrap(a, err)
	}

	out, err := db.client.Query(as(ctx, a), in)
	if err != nil {
		return nil, nil, wrap(a, err)
	}

	return items, out.LastEvaluatedKey, wrap(a, attributevalue.UnmarshalListOfMaps(out.Items, &items))
}

func (db DB) queryInput(a spec.Access, r Range) (*dynamodb.QueryInput, error) {
	b := expression.NewBuilder().WithKeyCondition(r.Key)
	if r.Filter != nil {
		b = b.WithFilter(*r.Filter)
	}

	if r.Project != nil {
		b = b.WithProjection(*r.Project)
	}

	e, err := b.Build()
	if err != nil {
		return nil, err
	}

	in := &dynamodb.QueryInput{
		TableName:                 db.table(a),
		IndexName:                 index(a),
		KeyConditionExpression:    e.KeyCondition(),
		FilterExpression:          e.Filter(),
		ProjectionExpression:      e.Projection(),
		ExpressionAttributeNames:  e.Names(),
		ExpressionAttributeValues: e.Values(),
		ExclusiveStartKey:         r.After,
		ScanIndexForward:          aws.Bool(!r.Backward),
		ConsistentRead:            aws.Bool(r.Consistent),
	}
	if r.Limit > 0 {
		in.Limit = &r.Limit
	}

	return in, nil
}

// QueryAll reads all pages of Query.
func QueryAll[T any](ctx context.Context, db DB, a spec.Access, r Range) ([]T, error) {
	return collect(func(after Item) ([]T, Item, error) {
		if after != nil {
			r.After = after
		}

		return Query[T](ctx, db, a, r)
	})
}

// Scan reads one page of a whole table or index, like Query. Reads of a table are
// strongly consistent unless db is Eventual.
func Scan[T any](ctx context.Context, db DB, a spec.Access, filter *expression.ConditionBuilder, after Item,
	limit int32) (items []T, last Item, err error) {
	in := &dynamodb.ScanInput{
		TableName:         db.table(a),
		IndexName:         index(a),
		ExclusiveStartKey: after,
		ConsistentRead:    aws.Bool(a.Index == "" && !db.eventual),
	}

	if filter != nil {
		e, err := expression.NewBuilder().WithFilter(*filter).Build()
		if err != nil {
			return nil, nil, wrap(a, err)
		}

		in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.Filter(), e.Names(), e.Values()
	}

	if limit > 0 {
		in.Limit = &limit
	}

	out, err := db.client.Scan(as(ctx, a), in)
	if err != nil {
		return nil, nil, wrap(a, err)
	}

	return items, out.LastEvaluatedKey, wrap(a, attributevalue.UnmarshalListOfMaps(out.Items, &items))
}

// ScanAll reads all pages of Scan.
func ScanAll[T any](ctx context.Context, db DB, a spec.Access, filter *expression.ConditionBuilder) ([]T, error) {
	return collect(func(after Item) ([]T, Item, error) { return Scan[T](ctx, db, a, filter, after, 0) })
}

func collect[T any](read func(after Item) ([]T, Item, error)) (all []T, err error) {
	for page, err := range Pages(read) {
		if err != nil {
			return nil, err
		}

		all = append(all, page...)
	}

	return all, nil
}

// Pages returns the pages of read, up to the last page or the first error.
func Pages[T any](read func(after Item) ([]T, Item, error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		for after := (Item)(nil); ; {
			items, last, err := read(after)
			if !yield(items, err) || err != nil || last == nil {
				return
			}

			after = last
		}
	}
}

// wrap adds the pattern's id to err, and converts a failed condition to *Refused.
func wrap(a spec.Access, err error) error {
	if err == nil {
		return nil
	}

	if c, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return fmt.Errorf("%s: %w", a.ID(), &Refused{Item: c.Item})
	}

	return fmt.Errorf("%s: %w", a.ID(), err)
}

// maxRepeats is how often a call is repeated that the table throttles.
const maxRepeats = 10

// ErrBusy is the problem of a call that the table throttles however often it is repeated.
var ErrBusy = problem.New(problem.Unavailable, "table_busy", "the table is too busy: try again")

// BackOff waits before try number try, from 0: not before the first, then at random
// up to 50 ms, doubled for each try up to 1.6 s. After maxRepeats repetitions it returns
// table_busy.
func BackOff(ctx context.Context, try int) error {
	if try == 0 {
		return nil
	}

	if try > maxRepeats {
		return ErrBusy
	}

	limit := 50 * time.Millisecond << min(try-1, 5)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(limit)):
		return nil
	}
}
