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

	l := telemetry.Logger(&b, "test", "test/keep-score")
	l.InfoContext(invocation(t), "ball", "runs", 4)
	l.With("match", "m").WarnContext(invocation(t), "wicket\nnext line")
	l.WithGroup("over").ErrorContext(t.Context(), "failed", "n", 7)
	l.Debug("not said")

	const id = "8476a536-e9f4-11e8-9739-2dfe598c3fcd"

	want := []map[string]any{
		{"level": "INFO", "msg": "ball", "room": "test", "function": "test/keep-score", "runs": 4.0, "requestId": id},
		{"level": "WARN", "msg": "wicket\nnext line", "room": "test", "function": "test/keep-score", "match": "m", "requestId": id},
		{"level": "ERROR", "msg": "failed", "room": "test", "function": "test/keep-score", "over": map[string]any{"n": 7.0}},
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

	slog.SetDefault(telemetry.Logger(&b, "test", "test/keep-score"))
	defer slog.SetDefault(old)

	telemetry.Emit(invocation(t), at, []telemetry.Sample{
		telemetry.Count(spec.Metric{Name: "Balls", Unit: spec.Count}, 6),
		telemetry.Millis(spec.Metric{Name: "Lag", Unit: spec.Milliseconds}, 1500*time.Microsecond),
		{Metric: spec.Metric{Name: "Page", Unit: spec.Bytes}, Value: 1 << 20},
		{Metric: spec.Metric{Name: "Delay", Unit: spec.Milliseconds, OfRoom: true}, Values: []float64{900, 1100}},
	},
		slog.String("match", "m"))

	want := []map[string]any{{
		"level":     "INFO",
		"msg":       "metrics",
		"room":      "test",
		"function":  "test/keep-score",
		"requestId": "8476a536-e9f4-11e8-9739-2dfe598c3fcd",
		"match":     "m",
		"Balls":     6.0,
		"Lag":       1.5,
		"Page":      1048576.0,
		"Delay":     []any{900.0, 1100.0},
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
			}, map[string]any{
				"Namespace":  "matchday",
				"Dimensions": []any{[]any{"room"}},
				"Metrics":    []any{map[string]any{"Name": "Delay", "Unit": "Milliseconds"}},
			}},
		},
	}}
	if diff := cmp.Diff(want, lines(t, &b)); diff != "" {
		t.Errorf("the log differs (-want +got):\n%s", diff)
	}
}

// TestLongestDelay: what is longer than two hours counts as the longest duration that a
// histogram holds.
func TestLongestDelay(t *testing.T) {
	t.Parallel()

	var h telemetry.Histogram
	h.Add(100 * time.Hour)

	const from = 15 << 19 // ms: the last sixteenth of the last power of two
	if got, want := h.Samples(spec.Metric{})[0].Values, []float64{from + (1<<19-1)/2.}; !cmp.Equal(want, got) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestHistogramOfDelays: the values of a sample are spread as the durations are, each
// within a sixteenth.
func TestHistogramOfDelays(t *testing.T) {
	t.Parallel()

	delay := spec.Metric{Name: "Delay", Unit: spec.Milliseconds}
	values := func(h *telemetry.Histogram) []float64 {
		samples := h.Samples(delay)
		if len(samples) != 1 || samples[0].Metric != delay {
			t.Fatalf("the samples are %+v, want one of %s", samples, delay.Name)
		}

		return samples[0].Values
	}

	var h telemetry.Histogram
	if got := h.Samples(delay); got != nil {
		t.Errorf("an empty histogram has the samples %+v, want none", got)
	}

	for ms, want := range map[int]float64{-5: 0, 0: 0, 1: 1, 15: 15, 16: 16.5, 17: 16.5, 31: 30.5, 32: 33.5, 2500: 2431.5, 1e9: 8126463.5} {
		var one telemetry.Histogram
		one.Add(time.Duration(ms) * time.Millisecond)

		if diff := cmp.Diff([]float64{want}, values(&one)); diff != "" {
			t.Errorf("%d ms: the values differ (-want +got):\n%s", ms, diff)
		}
	}

	for n := range 2000 { // two halves of a run
		var part telemetry.Histogram
		part.Add(time.Duration(n) * time.Millisecond)
		h.Merge(&part)
	}

	got := values(&h)
	if len(got) != 100 {
		t.Errorf("2,000 durations have %d values, want 100", len(got))
	}

	for i, v := range got {
		if want := float64(20*i + 10); v < want*15/16-1 || v > want*17/16+1 {
			t.Errorf("value %d is %v ms, want about %v", i, v, want)
		}
	}

	var few telemetry.Histogram
	for range 21 {
		few.Add(40 * time.Millisecond)
	}

	if diff := cmp.Diff([]float64{41.5, 41.5}, values(&few)); diff != "" {
		t.Errorf("21 durations: the values differ (-want +got):\n%s", diff)
	}
}

func TestHistogramAllocatesNothing(t *testing.T) {
	var h telemetry.Histogram

	if n := testing.AllocsPerRun(100, func() { h.Add(time.Second) }); n != 0 {
		t.Errorf("Add allocates %v times, want none", n)
	}
}

// TestEmitNamesNoEmptyDimension: a dimension without metrics is left out, because CloudWatch
// refuses a directive without them.
func TestEmitNamesNoEmptyDimension(t *testing.T) {
	var b bytes.Buffer

	old := slog.Default()

	slog.SetDefault(telemetry.Logger(&b, "test", "test/keep-score"))
	defer slog.SetDefault(old)

	telemetry.Emit(t.Context(), at, []telemetry.Sample{telemetry.Count(spec.Metric{Name: "Balls", Unit: spec.Count}, 6)})

	want := []any{map[string]any{
		"Namespace":  "matchday",
		"Dimensions": []any{[]any{"function"}},
		"Metrics":    []any{map[string]any{"Name": "Balls", "Unit": "Count"}},
	}}
	if diff := cmp.Diff(want, lines(t, &b)[0]["_aws"].(map[string]any)["CloudWatchMetrics"]); diff != "" {
		t.Errorf("directives (-want +got):\n%s", diff)
	}
}

// TestHistogramHasAValueForTwenty: one value for each 20 durations begun, at most 100.
func TestHistogramHasAValueForTwenty(t *testing.T) {
	t.Parallel()

	for n, want := range map[int]int{1: 1, 19: 1, 20: 1, 21: 2, 39: 2, 40: 2, 41: 3, 1980: 99, 1981: 100, 2000: 100, 2001: 100, 5000: 100} {
		var h telemetry.Histogram
		for range n {
			h.Add(time.Second)
		}

		if got := len(h.Samples(spec.Metric{})[0].Values); got != want {
			t.Errorf("%d durations have %d values, want %d", n, got, want)
		}
	}

	// the last bucket begins at 131 minutes
	for ms, want := range map[int]float64{7864319: 7602175.5, 7864320: 8126463.5, 8126464: 8126463.5} {
		var h telemetry.Histogram
		h.Add(time.Duration(ms) * time.Millisecond)

		if got := h.Samples(spec.Metric{})[0].Values[0]; got != want {
			t.Errorf("%d ms are counted as %v, want %v", ms, got, want)
		}
	}
}
