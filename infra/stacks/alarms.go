package stacks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stage"
)

// alarms adds the room's alarms, and the filters that count failures and refusals.
func (r *room) alarms() {
	all := r.Stage.Alarms(r.spec)
	if len(all) == 0 {
		return
	}

	for _, a := range all {
		r.alarm(a)
	}

	for i, f := range r.Stage.Filters(r.spec) {
		awslogs.NewCfnMetricFilter(r.stack, text(fmt.Sprintf("Count-%d", i+1)), &awslogs.CfnMetricFilterProps{
			LogGroupName: r.groups[f.Group].LogGroupName(), FilterPattern: text(f.Pattern),
			MetricTransformations: []any{&awslogs.CfnMetricFilter_MetricTransformationProperty{
				MetricNamespace: text(f.Metric.Namespace), MetricName: text(f.Metric.Name), MetricValue: text(f.Value),
			}},
		})
	}
}

// addTopics adds the topics of the stage's alarms. They send mail if there is an address.
func addTopics(stack awscdk.Stack, s stage.Stage) {
	for _, of := range stage.Severities {
		id := strings.ToUpper(string(of[:1])) + string(of[1:])
		topic := awssns.NewTopic(stack, text(id+"Alarms"), &awssns.TopicProps{TopicName: text(s.Topic(of)), EnforceSSL: yes(true)})
		// A topic with a policy of its own has no default policy.
		topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: text("Alarms"), Actions: jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
			Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(text("cloudwatch.amazonaws.com"), nil)},
			Conditions: &map[string]any{"StringEquals": map[string]*string{"aws:SourceAccount": stack.Account()}},
		}))

		if address := s.Address(of); address != "" {
			awssns.NewCfnSubscription(stack, text(id+"Mail"), &awssns.CfnSubscriptionProps{
				TopicArn: topic.TopicArn(), Protocol: text("email"), Endpoint: &address,
			})
		}

		output(stack, id+"Topic", topic.TopicArn(), "Topic of the alarms of severity %s", string(of))
	}
}

func (r *room) alarm(a stage.Alarm) {
	topic := r.arn("sns", r.Stage.Topic(a.Severity))

	var queries []*awscloudwatch.CfnAlarm_MetricDataQueryProperty

	query := func(id string, m stage.Metric, result bool) {
		queries = append(queries, &awscloudwatch.CfnAlarm_MetricDataQueryProperty{
			Id: &id, ReturnData: yes(result), MetricStat: &awscloudwatch.CfnAlarm_MetricStatProperty{
				Metric: &awscloudwatch.CfnAlarm_MetricProperty{Namespace: text(m.Namespace), MetricName: text(m.Name), Dimensions: r.dimensions(m)},
				Period: number(a.Period.Seconds()), Stat: text(m.Stat),
			},
		})
	}

	expression := expression(a)
	for i, m := range a.Metrics {
		query(fmt.Sprintf("m%d", i+1), m, expression == "")
	}

	if a.While != nil {
		query("w", *a.While, false)
	}

	if expression != "" {
		queries = append(queries, &awscloudwatch.CfnAlarm_MetricDataQueryProperty{
			Id:         text("watched"),
			Expression: &expression,
			ReturnData: yes(true),
		})
	}

	compare := "GreaterThanThreshold"
	if a.Below {
		compare = "LessThanThreshold"
	}

	awscloudwatch.NewCfnAlarm(r.stack, text("Alarm-"+strings.TrimPrefix(a.Name, r.Stage.Prefix())), &awscloudwatch.CfnAlarmProps{
		AlarmName: text(a.Name), AlarmDescription: text(a.IfDown), Metrics: &queries,
		ComparisonOperator: &compare, Threshold: number(a.Bound), TreatMissingData: &a.TreatMissingData,
		EvaluationPeriods: number(float64(a.Of)), DatapointsToAlarm: number(float64(a.Points)),
		AlarmActions: &[]any{topic}, OkActions: &[]any{topic},
	})
}

// expression returns the metric math of an alarm, "" for a single metric without math.
// SUM accepts metrics without any data, such as those of faults that have not happened
// yet. The metric on which an alarm depends keeps its last value.
func expression(a stage.Alarm) string {
	if a.Math != "" {
		return a.Math
	}

	var ids []string
	for i := range a.Metrics {
		ids = append(ids, fmt.Sprintf("m%d", i+1))
	}

	sum := "SUM([" + strings.Join(ids, ", ") + "])"
	switch {
	case a.While != nil:
		return fmt.Sprintf("IF(FILL(w, REPEAT) > 0, FILL(%s, 0), %v)", sum, a.Bound)
	case len(ids) > 1:
		return sum
	}

	return ""
}

func (r *room) dimensions(m stage.Metric) (all []*awscloudwatch.CfnAlarm_DimensionProperty) {
	for _, name := range slices.Sorted(maps.Keys(m.Dimensions)) {
		value := text(m.Dimensions[name])
		if v, ok := r.deployed[*value]; ok {
			value = v
		}

		all = append(all, &awscloudwatch.CfnAlarm_DimensionProperty{Name: text(name), Value: value})
	}

	return all
}
