package dynamodb

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestMeter compares the units of calls with DynamoDB's rules: a read unit is 4 KB read
// consistently or 8 KB otherwise, a write unit is 1 KB, and a transaction costs twice as
// much.
func TestMeter(t *testing.T) {
	t.Parallel()

	e, err := Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(e.Stop)

	var m Meter

	c := dynamodb.NewFromConfig(m.On(Config(e.URL)))
	if err := Create(t.Context(), c, []Table{cups}); err != nil {
		t.Fatal(err)
	}

	name := cups.Input.TableName
	item := func(id string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"id": text(id), "pad": text(strings.Repeat("x", 5000))}
	}
	id := map[string]types.AttributeValue{"id": text("a")}
	calls := map[string]struct {
		do   func() error
		want Units
	}{
		"1 put": {func() error {
			_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: item("a")})
			return err
		}, Units{Writes: 5}},
		"2 put in a transaction": {func() error {
			_, err := c.TransactWriteItems(t.Context(),
				&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: name, Item: item("b")}}}})
			return err
		}, Units{Writes: 10}},
		"3 consistent get": {func() error {
			_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: id, ConsistentRead: aws.Bool(true)})
			return err
		}, Units{Reads: 2}},
		"4 eventually consistent get": {func() error {
			_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: id})
			return err
		}, Units{Reads: 1}},
		"5 batch get": {func() error {
			_, err := c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				*name: {Keys: []map[string]types.AttributeValue{id, {"id": text("b")}}},
			}})

			return err
		}, Units{Reads: 2}},
		"6 scan": {func() error {
			_, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: name})
			return err
		}, Units{Reads: 1.5}},
		"7 delete": {func() error {
			_, err := c.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: name, Key: id})
			return err
		}, Units{Writes: 5}},
		"8 describe": {func() error {
			_, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: name})
			return err
		}, Units{}},
	}

	m.Take()

	for _, call := range slices.Sorted(maps.Keys(calls)) {
		if err := calls[call].do(); err != nil {
			t.Fatal(err)
		}

		if got := m.Take(); got != calls[call].want {
			t.Errorf("%s: %+v, want %+v", call, got, calls[call].want)
		}
	}
}
