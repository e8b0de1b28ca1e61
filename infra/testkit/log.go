package testkit

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"matchday/pkg/spec"
)

// Log keeps what is logged in the contexts of a world: see LogByWorld.
type Log struct {
	mu    sync.Mutex
	lines []Line
}

// Line is a record of a log.
type Line struct {
	Level slog.Level
	Text  string
	Attrs map[string]any
}

type logKey struct{}

// LogByWorld has every world keep what is logged in it, and the rest forgotten.
// A test program calls it before its tests run.
func LogByWorld() { slog.SetDefault(slog.New(byContext{})) }

// byContext gives each record to its context's log.
type byContext struct{}

func (byContext) Enabled(context.Context, slog.Level) bool { return true }
func (h byContext) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h byContext) WithGroup(string) slog.Handler          { return h }
func (byContext) Handle(ctx context.Context, r slog.Record) error {
	l, ok := ctx.Value(logKey{}).(*Log)
	if !ok {
		return nil
	}
	out := Line{r.Level, r.Message, map[string]any{}}
	r.Attrs(func(a slog.Attr) bool { out.Attrs[a.Key] = a.Value.Any(); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, out)
	return nil
}

// Lines are all that was logged, without the complaints that were taken.
func (l *Log) Lines() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// Complaints are the warnings and errors since the last call.
func (l *Log) Complaints() (all []string) {
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

// Emitted are the metrics of which a sample was logged, once for each sample.
func (l *Log) Emitted() (all []spec.Metric) {
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

// Sum adds up the samples of a metric since the beginning.
func (l *Log) Sum(metric spec.Metric) (n float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if v, ok := line.Attrs[metric.Name].(float64); ok {
			n += v
		}
	}
	return n
}
