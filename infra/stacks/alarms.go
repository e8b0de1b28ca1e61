package stacks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// alarms adds the room's alarms, their topic, and a dashboard.
func (r *room) alarms() {
	all := r.Stage.Alarms(r.spec)
	if len(all) == 0 {
		return
	}
	topic := r.topic()
	for _, a := range all {
		r.alarm(a, topic)
	}
	awscloudwatch.NewCfnDashboard(r.stack, text("Dashboard"), &awscloudwatch.CfnDashboardProps{
		DashboardName: text(r.Stage.Dashboard(r.spec.Name, *r.stack.Region())), DashboardBody: r.stack.ToJsonString(r.dashboard(all), nil),
	})
}

// topic adds the topic of the alarms. It sends mail if there is an address.
func (r *room) topic() *string {
	topic := awssns.NewTopic(r.stack, text("Alarms"), &awssns.TopicProps{TopicName: text(r.Stage.Topic(r.spec.Name)), EnforceSSL: yes(true)})
	// A topic with a policy of its own has no default one.
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid: text("Alarms"), Actions: jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(text("cloudwatch.amazonaws.com"), nil)},
		Conditions: &map[string]any{"StringEquals": map[string]*string{"aws:SourceAccount": r.stack.Account()}},
	}))
	if r.Stage.Mail != "" {
		awssns.NewCfnSubscription(r.stack, text("Mail"), &awssns.CfnSubscriptionProps{
			TopicArn: topic.TopicArn(), Protocol: text("email"), Endpoint: text(r.Stage.Mail),
		})
	}
	output(r.stack, "AlarmTopic", topic.TopicArn(), "Where alarms of %s are told", r.spec.Name)
	return topic.TopicArn()
}

func (r *room) alarm(a stage.Alarm, topic *string) {
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
		queries = append(queries, &awscloudwatch.CfnAlarm_MetricDataQueryProperty{Id: text("watched"), Expression: &expression, ReturnData: yes(true)})
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
	for _, d := range r.named(m) {
		all = append(all, &awscloudwatch.CfnAlarm_DimensionProperty{Name: text(d[0]), Value: text(d[1])})
	}
	return all
}

// named are the names and values of a metric's dimensions, in order.
func (r *room) named(m stage.Metric) (all [][2]string) {
	for name, value := range m.Dimensions {
		if v, ok := r.deployed[value]; ok {
			value = *v
		}
		all = append(all, [2]string{name, value})
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return all
}

// dashboard is the room at a glance: its alarms, what it watches of itself, its
// functions, queues and API, and what was last logged as an error.
func (r *room) dashboard(all []stage.Alarm) map[string]any {
	page := &page{region: r.stack.Region()}
	var arns []*string
	for _, a := range all {
		arns = append(arns, r.arn("cloudwatch", "alarm:"+a.Name))
	}
	page.add("alarm", 24, 2+len(arns)/8, map[string]any{"title": "Alarms", "alarms": arns})
	for _, a := range all {
		if !slices.ContainsFunc(r.spec.Alarms, func(s spec.Alarm) bool { return a.Name == r.Stage.Prefix()+r.spec.Name+"-"+s.Name }) {
			continue
		}
		var lines []any
		for _, m := range a.Metrics {
			lines = append(lines, r.line(m, m.Name))
		}
		page.graph(8, a.Watches, a.Period.Seconds(), lines, map[string]any{
			"annotations": map[string]any{"horizontal": []any{map[string]any{"value": a.Bound, "label": "alarm"}}},
		})
	}
	var failures, durations, queues []any
	var sources []string
	for _, f := range r.spec.Functions {
		for _, m := range r.Stage.Errors(f) {
			failures = append(failures, r.line(m, f.Name+" "+m.Name))
		}
		durations = append(durations, r.line(stage.Metric{Namespace: "AWS/Lambda", Name: "Duration", Stat: "p99", Dimensions: map[string]string{"FunctionName": r.Stage.Function(f)}}, f.Name))
		if q, ok := f.On.(spec.Queue); ok {
			queues = append(queues, r.line(stage.Waiting(r.Stage.Prefix()+q.Name), q.Name))
		}
		if dead := r.Stage.DeadLetter(f); dead != "" {
			queues = append(queues, r.line(stage.Waiting(dead), dead))
		}
		if len(sources) < 50 { // as many as a query may have
			sources = append(sources, "SOURCE '"+r.Stage.LogGroup(f)+"'")
		}
	}
	page.graph(8, "Errors and throttles", 300, failures, nil)
	page.graph(8, "Duration, p99", 300, durations, nil)
	page.graph(8, "Messages that wait", 60, queues, nil)
	if id, ok := r.deployed[stage.APIID]; ok {
		of := map[string]string{"ApiId": *id}
		page.graph(12, "Requests, and those refused or failed", 60, []any{
			r.line(stage.Metric{Namespace: "AWS/ApiGateway", Name: "Count", Stat: "Sum", Dimensions: of}, "requests"),
			r.line(stage.Metric{Namespace: "AWS/ApiGateway", Name: "4xx", Stat: "Sum", Dimensions: of}, "4xx"),
			r.line(stage.Metric{Namespace: "AWS/ApiGateway", Name: "5xx", Stat: "Sum", Dimensions: of}, "5xx"),
		}, nil)
		page.graph(12, "Latency", 60, []any{
			r.line(stage.Metric{Namespace: "AWS/ApiGateway", Name: "Latency", Stat: "p50", Dimensions: of}, "p50"),
			r.line(stage.Metric{Namespace: "AWS/ApiGateway", Name: "Latency", Stat: "p99", Dimensions: of}, "p99"),
		}, nil)
	}
	page.add("log", 24, 6, map[string]any{
		"title": "Errors", "region": r.stack.Region(), "view": "table",
		"query": strings.Join(sources, " | ") + ` | filter level = "ERROR" | fields @timestamp, function, msg, err | sort @timestamp desc | limit 50`,
	})
	return map[string]any{"widgets": page.widgets}
}

// line is a metric as a graph draws it.
func (r *room) line(m stage.Metric, label string) []any {
	line := []any{m.Namespace, m.Name}
	for _, d := range r.named(m) {
		line = append(line, d[0], d[1])
	}
	return append(line, map[string]any{"stat": m.Stat, "label": label})
}

// page lays widgets out in rows of 24 columns.
type page struct {
	region    *string
	widgets   []any
	x, y, row int
}

func (p *page) add(kind string, width, height int, properties map[string]any) {
	if p.x+width > 24 {
		p.x, p.y, p.row = 0, p.y+p.row, 0
	}
	p.widgets = append(p.widgets, map[string]any{"type": kind, "x": p.x, "y": p.y, "width": width, "height": height, "properties": properties})
	p.x, p.row = p.x+width, max(p.row, height)
}

func (p *page) graph(width int, title string, period float64, lines []any, more map[string]any) {
	if len(lines) == 0 {
		return
	}
	properties := map[string]any{"title": title, "region": p.region, "period": period, "metrics": lines, "view": "timeSeries"}
	for key, value := range more {
		properties[key] = value
	}
	p.add("metric", width, 6, properties)
}
