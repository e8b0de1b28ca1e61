// Package telemetry writes structured logs with the request's id, and metrics in
// CloudWatch's embedded metric format (EMF).
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Namespace is the CloudWatch namespace of the fleet's metrics.
const Namespace = "matchday"

// Dimension is the only dimension of the metrics: the name of the Lambda function,
// with the stage's prefix, which keeps the stages of an account apart.
const Dimension = "function"

// Logger writes one JSON object per line, with the name of the Lambda function and
// the request's id. Callers must not pass tokens or secrets to it.
func Logger(w io.Writer, function string) *slog.Logger {
	return slog.New(requestID{slog.NewJSONHandler(w, nil)}).With(Dimension, function)
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

// Failed is the metric of failed requests and messages. Lambda does not count them
// as errors, because the invocation itself succeeds.
const Failed = "Failed"

// Metric is one number. Unit is CloudWatch's: "Count", "Milliseconds", "Bytes".
type Metric struct {
	Name, Unit string
	Value      float64
}

// Count is a metric of things counted.
func Count(name string, n int) Metric { return Metric{name, "Count", float64(n)} }

// Millis is a metric of a duration.
func Millis(name string, d time.Duration) Metric {
	return Metric{name, "Milliseconds", float64(d) / float64(time.Millisecond)}
}

// Emit logs metrics at now, by Dimension. extra are log fields
// beside them, which CloudWatch does not turn into dimensions.
func Emit(ctx context.Context, now time.Time, metrics []Metric, extra ...slog.Attr) {
	type definition struct {
		Name string
		Unit string
	}
	definitions := make([]definition, len(metrics))
	attrs := make([]slog.Attr, 0, len(metrics)+len(extra)+1)
	for i, m := range metrics {
		definitions[i] = definition{m.Name, m.Unit}
		attrs = append(attrs, slog.Float64(m.Name, m.Value))
	}
	attrs = append(attrs, slog.Any("_aws", map[string]any{
		"Timestamp": now.UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace":  Namespace,
			"Dimensions": [][]string{{Dimension}},
			"Metrics":    definitions,
		}},
	}))
	slog.LogAttrs(ctx, slog.LevelInfo, "metrics", append(attrs, extra...)...)
}
