// Package telemetry writes structured logs with the request's id, and metrics in
// CloudWatch's embedded metric format (EMF).
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"matchday/pkg/spec"
)

// Namespace is the CloudWatch namespace of the fleet's metrics.
const Namespace = "matchday"

// A metric has one dimension: the name of the Lambda function, or the name of the room for a
// metric with OfRoom. Both have the stage's prefix, which separates the stages of an account.
const (
	Dimension     = "function"
	RoomDimension = "room"
)

// Logger writes one JSON object per line, with the name of the Lambda function, the name of its
// room and the request's id. Callers must not pass tokens or secrets to it.
func Logger(w io.Writer, room, function string) *slog.Logger {
	return slog.New(requestID{slog.NewJSONHandler(w, nil)}).With(RoomDimension, room, Dimension, function)
}

type requestID struct{ slog.Handler }

func (h requestID) Handle(ctx context.Context, r slog.Record) error {
	if c, ok := lambdacontext.FromContext(ctx); ok {
		r.AddAttrs(slog.String("requestId", c.AwsRequestID))
	}

	return h.Handler.Handle(ctx, r)
}

func (h requestID) WithAttrs(as []slog.Attr) slog.Handler {
	return requestID{h.Handler.WithAttrs(as)}
}

func (h requestID) WithGroup(name string) slog.Handler { return requestID{h.Handler.WithGroup(name)} }

// Failed is the metric of failed requests, messages and runs. Lambda does not count the
// first two as errors, because the invocation itself succeeds. Every function may emit it.
var Failed = spec.Metric{Name: "Failed", Unit: spec.Count}

// Sample is a value of a metric, in the metric's unit.
type Sample struct {
	Metric spec.Metric
	Value  float64
	Values []float64 // instead of Value: 1 to 100
}

// Count is a sample of a metric whose unit is spec.Count.
func Count(m spec.Metric, n int) Sample { return Sample{Metric: m, Value: float64(n)} }

// Millis is a sample of a metric whose unit is spec.Milliseconds.
func Millis(m spec.Metric, d time.Duration) Sample {
	return Sample{Metric: m, Value: float64(d) / float64(time.Millisecond)}
}

// Emit logs samples at now, with Dimension or RoomDimension. extra are additional log fields,
// which CloudWatch does not turn into dimensions.
func Emit(ctx context.Context, now time.Time, samples []Sample, extra ...slog.Attr) {
	attrs := make([]slog.Attr, 0, len(samples)+len(extra)+1)
	for _, s := range samples {
		if s.Values != nil {
			attrs = append(attrs, slog.Any(s.Metric.Name, s.Values))
		} else {
			attrs = append(attrs, slog.Float64(s.Metric.Name, s.Value))
		}
	}

	var directives []any

	for _, ofRoom := range []bool{false, true} {
		dimension := Dimension
		if ofRoom {
			dimension = RoomDimension
		}

		var metrics []spec.Metric

		for _, s := range samples {
			if s.Metric.OfRoom == ofRoom {
				metrics = append(metrics, s.Metric)
			}
		}

		if len(metrics) > 0 {
			directives = append(directives, map[string]any{"Namespace": Namespace, "Dimensions": [][]string{{dimension}}, "Metrics": metrics})
		}
	}

	attrs = append(attrs, slog.Any("_aws", map[string]any{"Timestamp": now.UnixMilli(), "CloudWatchMetrics": directives}))
	slog.LogAttrs(ctx, slog.LevelInfo, "metrics", append(attrs, extra...)...)
}
