package tables

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/pkg/spec"
)

func TestFromSpec(t *testing.T) {
	t.Parallel()

	got := FromSpec("x-", []spec.Table{
		{
			Name: "sessions", Key: spec.Key{Partition: "user", Sort: "id"}, TTL: "ttl",
			Indexes: []spec.Index{
				{Name: "by-day", Key: spec.Key{Partition: "day", Sort: "id"}},
				{Name: "open", Key: spec.Key{Partition: "open"}, KeysOnly: true},
			},
		},
		{Name: "titles", Key: spec.Key{Partition: "id"}},
	})
	key := func(names ...string) (all []types.KeySchemaElement) {
		for i, n := range names {
			all = append(all, types.KeySchemaElement{AttributeName: &n, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
		}

		return all
	}
	strings := func(names ...string) (all []types.AttributeDefinition) {
		for _, n := range names {
			all = append(all, types.AttributeDefinition{AttributeName: &n, AttributeType: types.ScalarAttributeTypeS})
		}

		return all
	}
	want := []dynamodbsim.Table{
		{TTL: "ttl", Input: &dynamodb.CreateTableInput{
			TableName: aws.String("x-sessions"), BillingMode: types.BillingModePayPerRequest,
			KeySchema: key("user", "id"), AttributeDefinitions: strings("day", "id", "open", "user"),
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
				{IndexName: aws.String("by-day"), KeySchema: key("day", "id"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}},
				{IndexName: aws.String("open"), KeySchema: key("open"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}},
			},
		}},
		{Input: &dynamodb.CreateTableInput{
			TableName: aws.String("x-titles"), BillingMode: types.BillingModePayPerRequest,
			KeySchema: key("id"), AttributeDefinitions: strings("id"),
		}},
	}

	opaque := cmpopts.IgnoreUnexported(dynamodb.CreateTableInput{}, types.GlobalSecondaryIndex{}, types.Projection{},
		types.KeySchemaElement{}, types.AttributeDefinition{})
	if diff := cmp.Diff(want, got, opaque); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
