package testkit

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"matchday/pkg/spec"
)

// Log holds the records that were logged with the contexts of a world; see
// SetDefaultLogger.
type Log struct {
	mu    sync.Mutex
	lines []Line
	warns bool // a record of level Warn or above was logged
}

// Line is a log record.
type Line struct {
	Level slog.Level
	Text  string
	Attrs map[string]any
}

type logKey struct{}

// SetDefaultLogger sets the default logger. It appends each record to the Log of the
// world whose context the record was logged with. Other records are dropped. Call it in
// TestMain.
func SetDefaultLogger() { slog.SetDefault(slog.New(contextHandler{})) }

// contextHandler appends each record to the Log of its context.
type contextHandler struct{}

func (contextHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h contextHandler) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h contextHandler) WithGroup(string) slog.Handler          { return h }
func (contextHandler) Handle(ctx context.Context, r slog.Record) error {
	l, ok := ctx.Value(logKey{}).(*Log)
	if !ok {
		return nil
	}

	out := Line{r.Level, r.Message, map[string]any{}}
	r.Attrs(func(a slog.Attr) bool { out.Attrs[a.Key] = a.Value.Any(); return true })
	l.mu.Lock()
	defer l.mu.Unlock()

	l.lines = append(l.lines, out)
	l.warns = l.warns || r.Level >= slog.LevelWarn

	return nil
}

// Lines returns the records, without those that TakeWarnings has removed.
func (l *Log) Lines() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()

	return slices.Clone(l.lines)
}

// Find returns the attributes of the records with a level and a text, and no others.
func (l *Log) Find(level slog.Level, text string) (all []map[string]any) {
	for _, line := range l.Lines() {
		if line.Level == level && line.Text == text {
			all = append(all, line.Attrs)
		}
	}

	return all
}

// TakeWarnings returns and removes the records of level Warn and above.
func (l *Log) TakeWarnings() (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for _, line := range l.lines {
		if line.Level >= slog.LevelWarn {
			all = append(all, line.Text)
		}
	}

	l.lines = slices.DeleteFunc(l.lines, func(l Line) bool { return l.Level >= slog.LevelWarn })

	return all
}

// Warned reports whether a record of level Warn or above was logged, taken or not.
func (l *Log) Warned() bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.warns
}

// EmittedMetrics returns the metric of each logged sample.
func (l *Log) EmittedMetrics() (all []spec.Metric) {
	for _, line := range l.Lines() {
		format, ok := line.Attrs["_aws"].(map[string]any)
		if !ok {
			continue
		}

		for _, directive := range format["CloudWatchMetrics"].([]any) {
			all = append(all, directive.(map[string]any)["Metrics"].([]spec.Metric)...)
		}
	}

	return all
}

// SumMetric returns the sum of a metric over all records.
func (l *Log) SumMetric(metric spec.Metric) (n float64) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for _, line := range l.lines {
		if v, ok := line.Attrs[metric.Name].(float64); ok {
			n += v
		}
	}

	return n
}
