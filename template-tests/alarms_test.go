package templatetests

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// TestAlarms: there are the alarms of the stage and no others, as it says them, and
// they are told to the stage's topic of their severity, whose name the alarm's ends with. The topic
// writes to the address of its severity.
func TestAlarms(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		got, want := map[string]any{}, map[string]any{}
		for _, a := range tmpl.of("AWS::CloudWatch::Alarm") {
			got[a.name("AlarmName")] = a.Properties
		}
		for _, a := range tmpl.Stage.Alarms(tmpl.Room) {
			topic := []any{"arn:aws:sns:us-east-1:123456789012:" + tmpl.Stage.Topic(a.Severity)}
			if !strings.HasSuffix(a.Name, "-"+string(a.Severity)) {
				t.Errorf("the alarm %s is %s", a.Name, a.Severity)
			}
			compare := "GreaterThanThreshold"
			if a.Below {
				compare = "LessThanThreshold"
			}
			want[a.Name] = map[string]any{
				"AlarmName":          a.Name,
				"AlarmDescription":   a.IfDown,
				"AlarmActions":       topic,
				"OKActions":          topic,
				"Metrics":            tmpl.queries(a),
				"ComparisonOperator": compare,
				"Threshold":          a.Bound,
				"EvaluationPeriods":  a.Of,
				"DatapointsToAlarm":  a.Points,
				"TreatMissingData":   a.TreatMissingData,
			}
		}
		tmpl.compare(t, "alarms", got, want)
		var counts, filters []string
		for _, f := range tmpl.of("AWS::Logs::MetricFilter") {
			m := many(f.at("MetricTransformations"))[0].(map[string]any)
			counts = append(counts, fmt.Sprintf("%s %v: %v of %v %v", strings.TrimPrefix(tmpl.plain(f.at("LogGroupName")), "LogGroup "),
				f.at("FilterPattern"), m["MetricValue"], m["MetricNamespace"], m["MetricName"]))
		}
		if len(want) > 0 {
			for _, f := range tmpl.Stage.Filters(tmpl.Room) {
				filters = append(filters, fmt.Sprintf("%s %s: %s of matchday %s", f.Group, f.Pattern, f.Value, f.Metric.Name))
			}
		}
		same(t, "what counts failures", counts, filters)
		var told, tell []string
		for _, s := range tmpl.of("AWS::SNS::Subscription") {
			told = append(told, fmt.Sprintf("%v of %s to %v", s.at("Protocol"), tmpl.plain(s.at("TopicArn")), s.at("Endpoint")))
		}
		for _, of := range stage.Severities {
			if address := tmpl.Stage.Address(of); address != "" && tmpl.Room.Name == "" {
				tell = append(tell, "email of Topic "+tmpl.Stage.Topic(of)+" to "+address)
			}
		}
		same(t, "who is told", told, tell)
	})
}

// TestAlarmMetrics: each alarm has as many metrics as a room's queues and jobs of every
// minute need, of which AWS takes ten in one alarm, and its description fits. A room's alarms
// watch as many as the contract in the room's testdata has, whatever the number of its functions.
func TestAlarmMetrics(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		n := 0
		for _, a := range tmpl.of("AWS::CloudWatch::Alarm") {
			watched := 0
			for _, q := range many(a.at("Metrics")) {
				if q.(map[string]any)["MetricStat"] != nil {
					watched++
				}
			}
			if n += watched; watched > 10 {
				t.Errorf("%s has %d metrics", a.name("AlarmName"), watched)
			}
			if d := a.name("AlarmDescription"); len(d) > 1024 {
				t.Errorf("%s has a description of %d letters", a.name("AlarmName"), len(d))
			}
		}
		room := tmpl.Room
		if want := tmpl.Stage.Watched(room); n != want {
			t.Errorf("the alarms of %s watch %d metrics, want %d", room.Name, n, want)
		}
		before := len(tmpl.Stage.Alarms(room))
		for range 20 {
			room.Functions = append(slices.Clip(room.Functions), slices.DeleteFunc(slices.Clone(room.Functions), func(f spec.Function) bool {
				switch on := f.On.(type) {
				case spec.Queue:
					return true
				case spec.Schedule:
					return on == "rate(1 minute)" || on == "cron(* * * * ? *)"
				}
				return false
			})[:min(1, len(room.Functions))]...)
		}
		if got := len(tmpl.Stage.Alarms(room)); got != before {
			t.Errorf("20 more functions make %d alarms of %d", got, before)
		}
	})
}

// TestStoresAreWatched: an alarm watches each database and each cache, by the name under which
// it is deployed or was restored, and the dashboard has a graph of its metric.
func TestStoresAreWatched(t *testing.T) {
	watches := func(dashboards []string, tmpl template, namespace, metric, dimension, of string,
		bound, period, periods float64) func(*testing.T) {
		return func(t *testing.T) {
			var found []any
			for _, a := range tmpl.of("AWS::CloudWatch::Alarm") {
				for _, q := range many(a.at("Metrics")) {
					m := resource{Properties: q.(map[string]any)}
					if m.at("MetricStat", "Metric", "Namespace") != namespace {
						continue
					}
					found = append(found, map[string]any{
						"metric": m.at("MetricStat", "Metric"), "period": m.at("MetricStat", "Period"),
						"bound": a.at("Threshold"), "points": a.at("DatapointsToAlarm"), "of": a.at("EvaluationPeriods"),
					})
				}
			}
			tmpl.compare(t, "alarms", found, []any{map[string]any{
				"metric": map[string]any{
					"Namespace":  namespace,
					"MetricName": metric,
					"Dimensions": []any{map[string]any{"Name": dimension, "Value": of}},
				},
				"period": period, "bound": bound, "points": periods, "of": periods,
			}})
			line := fmt.Sprintf(`[%q,%q,%q,%q,`, namespace, metric, dimension, of)
			if !slices.ContainsFunc(dashboards, func(text string) bool { return strings.Contains(text, line) }) {
				t.Errorf("no dashboard has %s", line)
			}
		}
	}
	var dashboards []string
	for _, tmpl := range templates {
		for _, d := range tmpl.of("AWS::CloudWatch::Dashboard") {
			dashboards = append(dashboards, tmpl.plain(d.at("DashboardBody")))
		}
	}
	each(t, func(t *testing.T, tmpl template) {
		for _, d := range tmpl.of("AWS::RDS::DBCluster") {
			name := d.name("DBClusterIdentifier")
			if other, ok := tmpl.Stage.RestoredSQL[strings.TrimPrefix(name, tmpl.Stage.Prefix())]; ok {
				name = other.Cluster()
			}
			t.Run(name, watches(dashboards, tmpl, "AWS/RDS", "ACUUtilization", "DBClusterIdentifier", name, 90, 300, 3))
		}
		for _, c := range tmpl.of("AWS::ElastiCache::ServerlessCache") {
			name := c.name("ServerlessCacheName")
			t.Run(name, watches(dashboards, tmpl, "AWS/ElastiCache", "ThrottledCmds", "clusterId", name, 0, 60, 5))
		}
	})
}

// TestDashboard: a stage has one dashboard, which does not need what is known only after
// a room is deployed, and has at most the 50 metrics that are free.
func TestDashboard(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		all := tmpl.of("AWS::CloudWatch::Dashboard")
		if tmpl.Room.Name != "" {
			if len(all) > 0 {
				t.Error("a room has a dashboard of its own")
			}
			return
		}
		if len(all) != 1 {
			t.Fatalf("there are %d dashboards", len(all))
		}
		if got, want := tmpl.plain(all[0].at("DashboardName")), tmpl.Stage.Dashboard("us-east-1"); got != want {
			t.Errorf("the dashboard is %s, want %s", got, want)
		}
		var page struct {
			Widgets []struct {
				Properties struct {
					Metrics []any
					Query   string
				}
			}
		}
		text := tmpl.plain(all[0].at("DashboardBody"))
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		metrics := 0
		for _, w := range page.Widgets {
			metrics += len(w.Properties.Metrics)
		}
		if metrics == 0 || metrics > 50 {
			t.Errorf("the dashboard has %d metrics", metrics)
		}
		for _, room := range tmpl.Rooms {
			if !strings.Contains(text, "SOURCE '"+tmpl.Stage.LogGroup(room.Name)+"'") {
				t.Errorf("the dashboard shows no failures of %s", room.Name)
			}
		}
	})
}

// queries are the metrics of an alarm as a template spells them.
func (t template) queries(a stage.Alarm) (all []any) {
	query := func(id string, m stage.Metric, watched bool) {
		dimensions := []any{}
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
			"Metric": map[string]any{"Namespace": m.Namespace, "MetricName": m.Name, "Dimensions": dimensions},
			"Stat":   m.Stat,
			"Period": a.Period.Seconds(),
		}})
	}
	alone := len(a.Metrics) == 1 && a.While == nil && a.Math == ""
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
	if a.Math != "" {
		expression = a.Math
	}
	if !alone {
		all = append(all, map[string]any{"Id": "watched", "Expression": expression, "ReturnData": true})
	}
	return all
}
