package templatetests

import (
	"fmt"
	"strings"
	"testing"

	"matchday/infra/stage"
)

// TestAlarms: there are the alarms of the stage and no others, as it says them, and
// they are told to the room's topic, which writes to the stage's address.
func TestAlarms(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		got, want := map[string]any{}, map[string]any{}
		for _, a := range tmpl.of("AWS::CloudWatch::Alarm") {
			got[a.name("AlarmName")] = a.Properties
		}
		topic := []any{"Topic " + tmpl.Stage.Topic(tmpl.Room.Name)}
		for _, a := range tmpl.Stage.Alarms(tmpl.Room) {
			compare := "GreaterThanThreshold"
			if a.Below {
				compare = "LessThanThreshold"
			}
			want[a.Name] = map[string]any{
				"AlarmName": a.Name, "AlarmDescription": a.IfDown, "AlarmActions": topic, "OKActions": topic, "Metrics": tmpl.queries(a),
				"ComparisonOperator": compare, "Threshold": a.Bound, "EvaluationPeriods": a.Of, "DatapointsToAlarm": a.Points, "TreatMissingData": a.TreatMissingData,
			}
		}
		tmpl.compare(t, "alarms", got, want)
		for _, d := range tmpl.of("AWS::CloudWatch::Dashboard") {
			if got, want := tmpl.plain(d.at("DashboardName")), tmpl.Stage.Dashboard(tmpl.Room.Name, "us-east-1"); got != want {
				t.Errorf("the dashboard is %s, want %s", got, want)
			}
		}
		var told, tell []string
		for _, s := range tmpl.of("AWS::SNS::Subscription") {
			told = append(told, fmt.Sprintf("%v to %v", s.at("Protocol"), s.at("Endpoint")))
		}
		if tmpl.Stage.Mail != "" && len(want) > 0 {
			tell = []string{"email to " + tmpl.Stage.Mail}
		}
		same(t, "who is told", told, tell)
	})
}

// queries are the metrics of an alarm as a template spells them.
func (t template) queries(a stage.Alarm) (all []any) {
	query := func(id string, m stage.Metric, watched bool) {
		var dimensions []any
		for name, value := range m.Dimensions {
			if value == stage.APIID {
				value = "Api " + t.Stage.API(t.Room.Name)
			}
			for _, machine := range t.Room.Machines {
				if value == stage.MachineARN(machine) {
					value = "StateMachine " + t.Stage.Machine(machine)
				}
			}
			dimensions = append(dimensions, map[string]any{"Name": name, "Value": value})
		}
		all = append(all, map[string]any{"Id": id, "ReturnData": watched, "MetricStat": map[string]any{
			"Metric": map[string]any{"Namespace": m.Namespace, "MetricName": m.Name, "Dimensions": dimensions}, "Stat": m.Stat, "Period": a.Period.Seconds(),
		}})
	}
	alone := len(a.Metrics) == 1 && a.While == nil
	var ids []string
	for i, m := range a.Metrics {
		ids = append(ids, fmt.Sprintf("m%d", i+1))
		query(ids[i], m, alone)
	}
	expression := "SUM([" + strings.Join(ids, ", ") + "])"
	if a.While != nil {
		query("w", *a.While, false)
		expression = fmt.Sprintf("IF(FILL(w, REPEAT) > 0, FILL(%s, 0), %v)", expression, a.Bound)
	}
	if !alone {
		all = append(all, map[string]any{"Id": "watched", "Expression": expression, "ReturnData": true})
	}
	return all
}
