package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// addTable adds a DynamoDB table. A fault cannot make it cost more than the stage's maximum
// of units; its indexes have the same. The setting warm= names what it serves at once. It can
// be restored to any second of the last 35 days.
func addTable(stack awscdk.Stack, s stage.Stage, t spec.Table) {
	key := func(name string) *awsdynamodb.Attribute {
		if name == "" {
			return nil
		}

		return &awsdynamodb.Attribute{Name: &name, Type: awsdynamodb.AttributeType_STRING}
	}

	var indexes []*awsdynamodb.GlobalSecondaryIndexPropsV2

	for _, x := range t.Indexes {
		projection := awsdynamodb.ProjectionType_ALL
		if x.KeysOnly {
			projection = awsdynamodb.ProjectionType_KEYS_ONLY
		}

		index := &awsdynamodb.GlobalSecondaryIndexPropsV2{
			IndexName: text(x.Name), PartitionKey: key(x.Key.Partition), SortKey: key(x.Key.Sort), ProjectionType: projection,
			MaxReadRequestUnits: number(float64(s.Reads)), MaxWriteRequestUnits: number(float64(s.Writes)),
		}
		if len(x.Include) > 0 {
			names := make([]*string, len(x.Include))
			for i, name := range x.Include {
				names[i] = text(name)
			}

			index.ProjectionType, index.NonKeyAttributes = awsdynamodb.ProjectionType_INCLUDE, &names
		}

		indexes = append(indexes, index)
	}

	props := &awsdynamodb.TablePropsV2{
		TableName: text(spec.TableIn(s.Prefix(), t.Name)), PartitionKey: key(t.Key.Partition), SortKey: key(t.Key.Sort),
		GlobalSecondaryIndexes: &indexes, Billing: awsdynamodb.Billing_OnDemand(&awsdynamodb.MaxThroughputProps{
			MaxReadRequestUnits: number(float64(s.Reads)), MaxWriteRequestUnits: number(float64(s.Writes)),
		}),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: yes(true)},
		DeletionProtection:               yes(s.Name == stage.Prod), RemovalPolicy: removal(s),
	}
	if s.Insights {
		props.ContributorInsightsSpecification = &awsdynamodb.ContributorInsightsSpecification{
			Enabled: yes(true),
			Mode:    awsdynamodb.ContributorInsightsMode_THROTTLED_KEYS,
		}
	}

	if w, ok := s.Warm[t.Name]; ok {
		props.WarmThroughput = &awsdynamodb.WarmThroughput{
			ReadUnitsPerSecond: number(float64(w.Reads)), WriteUnitsPerSecond: number(float64(w.Writes)),
		}
	}

	if t.TTL != "" {
		props.TimeToLiveAttribute = text(t.TTL)
	}

	awsdynamodb.NewTableV2(stack, text("Table-"+t.Name), props)
}
