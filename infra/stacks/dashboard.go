package stacks

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// addDashboard adds the dashboard of all rooms: a dashboard costs as much as 30 alarms. It
// refers only by name to resources that the rooms deploy later. Figures by function come from
// the logs, because a dashboard of more than 50 metrics is not free.
func addDashboard(stack awscdk.Stack, cfg Config) {
	page := &page{stack: stack}
	for _, room := range cfg.Rooms {
		page.room(cfg.Stage, room)
	}

	awscloudwatch.NewCfnDashboard(stack, text("Dashboard"), &awscloudwatch.CfnDashboardProps{
		DashboardName: text(cfg.Stage.Dashboard(*stack.Region())),
		DashboardBody: stack.ToJsonString(map[string]any{"widgets": page.widgets}, nil),
	})
}

// page lays widgets out in rows of 24 columns.
type page struct {
	stack     awscdk.Stack
	widgets   []any
	x, y, row int
}

// room adds an overview of a room: its alarms, one of which is about jobs and messages that
// failed for good; its own metrics; its databases and caches; its queues, functions and API; and
// the latest errors in its logs.
func (p *page) room(s stage.Stage, room spec.Room) {
	all := s.Alarms(room)
	if len(all) == 0 {
		return
	}

	var arns []*string
	for _, a := range all {
		arns = append(arns, arn(p.stack, "cloudwatch", "alarm:"+a.Name))
	}

	p.add("alarm", 24, 2+len(arns)/8, map[string]any{"title": room.Name, "alarms": arns})

	for _, a := range all {
		if a.Function == "" && a.Store == "" {
			continue
		}

		var lines []any
		for _, m := range a.Metrics {
			lines = append(lines, line(m, m.Name))
		}

		p.graph(8, a.Watches, a.Period.Seconds(), lines, map[string]any{
			"annotations": map[string]any{"horizontal": []any{map[string]any{"value": a.Bound, "label": "alarm"}}},
		})
	}

	var queues []any

	for _, f := range room.Functions {
		if q, ok := f.On.(spec.Queue); ok && !q.Unhurried {
			queues = append(queues, line(stage.Waiting(s.Prefix()+q.Name), q.Name))
		}
	}

	p.graph(8, room.Name+": messages that wait", 60, queues, nil)
	group := s.LogGroup(room.Name)
	p.query(8, room.Name+": failures by function", group, stage.WhichFailed)
	p.query(8, room.Name+": invocations by function, ms", group,
		`filter type = "platform.report" | parse @logStream /(?<name>[^\/\[]+)\[/ | `+
			`stats count(*) as invocations, pct(record.metrics.durationMs, 99) as p99, `+
			`max(record.metrics.maxMemoryUsedMB) as maxMB by name | sort invocations desc`)

	if len(routes(room)) > 0 {
		p.query(24, room.Name+": requests, ms", s.APILogs(room.Name),
			`stats count(*) as requests, sum(status >= 500) as failed, sum(status = 429) as throttled, `+
				`sum(status >= 400 and status < 500) as refused, pct(ms, 50) as p50, pct(ms, 99) as p99 by bin(5m)`)
	}

	p.query(24, room.Name+": errors", group,
		`filter level = "ERROR" | fields @timestamp, function, msg, err | sort @timestamp desc | limit 50`)
}

// line is a metric in a graph.
func line(m stage.Metric, label string) []any {
	line := []any{m.Namespace, m.Name}
	for _, name := range slices.Sorted(maps.Keys(m.Dimensions)) {
		line = append(line, name, m.Dimensions[name])
	}

	return append(line, map[string]any{"stat": m.Stat, "label": label})
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

	properties := map[string]any{"title": title, "region": p.stack.Region(), "period": period, "metrics": lines, "view": "timeSeries"}
	maps.Copy(properties, more)
	p.add("metric", width, 6, properties)
}

func (p *page) query(width int, title, group, query string) {
	p.add("log", width, 6, map[string]any{
		"title":  title,
		"region": p.stack.Region(),
		"view":   "table",
		"query":  "SOURCE '" + group + "' | " + query,
	})
}
