package dynamo

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/spec"
)

// Key conditions name no attribute: the access pattern has the key of its table or
// index.

// KeyIs holds for the items of a partition.
func KeyIs(a spec.Access, partition string) expression.KeyConditionBuilder {
	return expression.Key(keyOf(a).Partition).Equal(expression.Value(partition))
}

// KeyBeginsWith holds for the items of a partition whose sort key begins with
// prefix.
func KeyBeginsWith(a spec.Access, partition, prefix string) expression.KeyConditionBuilder {
	return KeyIs(a, partition).And(expression.Key(keyOf(a).Sort).BeginsWith(prefix))
}

// KeyBetween holds for the items of a partition whose sort key is from from to to,
// both included.
func KeyBetween(a spec.Access, partition, from, to string) expression.KeyConditionBuilder {
	return KeyIs(a, partition).And(expression.Key(keyOf(a).Sort).Between(expression.Value(from), expression.Value(to)))
}

// KeyLess holds for the items of a partition whose sort key is less than end.
func KeyLess(a spec.Access, partition, end string) expression.KeyConditionBuilder {
	return KeyIs(a, partition).And(expression.Key(keyOf(a).Sort).LessThan(expression.Value(end)))
}

// KeyAtMost holds for the items of a partition whose sort key is end or less.
func KeyAtMost(a spec.Access, partition, end string) expression.KeyConditionBuilder {
	return KeyIs(a, partition).And(expression.Key(keyOf(a).Sort).LessThanEqual(expression.Value(end)))
}

// KeyAtLeast holds for the items of a partition whose sort key is from or greater.
func KeyAtLeast(a spec.Access, partition, from string) expression.KeyConditionBuilder {
	return KeyIs(a, partition).And(expression.Key(keyOf(a).Sort).GreaterThanEqual(expression.Value(from)))
}

// StartKey returns the key of an item in the index of a, for Range.After: its
// partition and sort values in the index, and its key in the table.
func StartKey(a spec.Access, partition, sort string, key ...string) Item {
	item := Key(a, key...)
	item[keyOf(a).Partition] = &types.AttributeValueMemberS{Value: partition}
	item[keyOf(a).Sort] = &types.AttributeValueMemberS{Value: sort}

	return item
}

// keyOf returns the key of the table or index that a reads.
func keyOf(a spec.Access) spec.Key {
	if a.Index == "" {
		return a.Table.Key
	}

	i := slices.IndexFunc(a.Table.Indexes, func(i spec.Index) bool { return i.Name == a.Index })
	if i < 0 {
		panic(fmt.Sprintf("dynamo: %s has no index %s", a.Table.Name, a.Index))
	}

	return a.Table.Indexes[i].Key
}
