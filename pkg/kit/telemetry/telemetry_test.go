package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

var at = time.Date(2026, 6, 1, 12, 0, 0, 123456789, time.UTC)

func invocation(t *testing.T) context.Context {
	return lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "8476a536-e9f4-11e8-9739-2dfe598c3fcd"})
}

// lines decodes what was logged, without the wall clock's time.
func lines(t *testing.T, b *bytes.Buffer) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if _, ok := m["time"].(string); !ok {
			t.Errorf("the line has no time: %s", line)
		}
		delete(m, "time")
		all = append(all, m)
	}
	return all
}

func TestLogger(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	l := telemetry.Logger(&b, "test/keep-score")
	l.InfoContext(invocation(t), "ball", "runs", 4)
	l.With("match", "m").WarnContext(invocation(t), "wicket\nnext line")
	l.WithGroup("over").ErrorContext(t.Context(), "failed", "n", 7)
	l.Debug("not said")
	const id = "8476a536-e9f4-11e8-9739-2dfe598c3fcd"
	want := []map[string]any{
		{"level": "INFO", "msg": "ball", "function": "test/keep-score", "runs": 4.0, "requestId": id},
		{"level": "WARN", "msg": "wicket\nnext line", "function": "test/keep-score", "match": "m", "requestId": id},
		{"level": "ERROR", "msg": "failed", "function": "test/keep-score", "over": map[string]any{"n": 7.0}},
	}
	if diff := cmp.Diff(want, lines(t, &b)); diff != "" {
		t.Errorf("the log differs (-want +got):\n%s", diff)
	}
}

// TestEmit holds the line to CloudWatch's embedded metric format: every metric
// and dimension that _aws names is a member of the line's root.
func TestEmit(t *testing.T) {
	var b bytes.Buffer
	old := slog.Default()
	slog.SetDefault(telemetry.Logger(&b, "test/keep-score"))
	defer slog.SetDefault(old)
	telemetry.Emit(invocation(t), at, []telemetry.Sample{
		telemetry.Count(spec.Metric{Name: "Balls", Unit: spec.Count}, 6),
		telemetry.Millis(spec.Metric{Name: "Lag", Unit: spec.Milliseconds}, 1500*time.Microsecond),
		{Metric: spec.Metric{Name: "Page", Unit: spec.Bytes}, Value: 1 << 20},
	},
		slog.String("match", "m"))
	want := []map[string]any{{
		"level": "INFO", "msg": "metrics", "function": "test/keep-score", "requestId": "8476a536-e9f4-11e8-9739-2dfe598c3fcd", "match": "m",
		"Balls": 6.0, "Lag": 1.5, "Page": 1048576.0,
		"_aws": map[string]any{
			"Timestamp": float64(at.UnixMilli()),
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace":  "matchday",
				"Dimensions": []any{[]any{"function"}},
				"Metrics": []any{
					map[string]any{"Name": "Balls", "Unit": "Count"},
					map[string]any{"Name": "Lag", "Unit": "Milliseconds"},
					map[string]any{"Name": "Page", "Unit": "Bytes"},
				},
			}},
		},
	}}
	if diff := cmp.Diff(want, lines(t, &b)); diff != "" {
		t.Errorf("the log differs (-want +got):\n%s", diff)
	}
}
