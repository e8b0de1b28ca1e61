// Package tables translates the tables of a spec for the simulated DynamoDB.
package tables

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/pkg/spec"
)

// FromSpec describes tables as their specs define them. Their names start with
// prefix.
func FromSpec(prefix string, tables []spec.Table) []dynamodbsim.Table {
	var all []dynamodbsim.Table
	for _, t := range tables {
		all = append(all, dynamodbsim.Table{Input: CreateInput(t, spec.TableIn(prefix, t.Name)), TTL: t.TTL})
	}

	return all
}

// CreateInput returns the input of the call that creates t under a name. It bills
// by request.
func CreateInput(t spec.Table, name string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: keySchema(t.Key)}

	attributes := []string{t.Key.Partition, t.Key.Sort}
	for _, x := range t.Indexes {
		projection := types.Projection{ProjectionType: types.ProjectionTypeAll}

		switch {
		case x.KeysOnly:
			projection.ProjectionType = types.ProjectionTypeKeysOnly
		case len(x.Include) > 0:
			projection.ProjectionType, projection.NonKeyAttributes = types.ProjectionTypeInclude, x.Include
		}

		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &x.Name, KeySchema: keySchema(x.Key), Projection: &projection,
		})
		attributes = append(attributes, x.Key.Partition, x.Key.Sort)
	}

	slices.Sort(attributes)

	for _, a := range slices.Compact(attributes) {
		if a != "" {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: &a, AttributeType: types.ScalarAttributeTypeS,
			})
		}
	}

	return in
}

func keySchema(k spec.Key) []types.KeySchemaElement {
	keys := []types.KeySchemaElement{{AttributeName: &k.Partition, KeyType: types.KeyTypeHash}}
	if k.Sort != "" {
		keys = append(keys, types.KeySchemaElement{AttributeName: &k.Sort, KeyType: types.KeyTypeRange})
	}

	return keys
}
