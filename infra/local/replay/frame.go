// Package replay is the frame of `make replay`: it defines the input of a room's replay and
// writes its result. A replay plays a world through the room's functions with the simulated
// clock, and compares what users see with an oracle, which shares no code with the room. The
// worlds and oracles are in infra/rooms.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/lambda"
)

// Config configures what to replay and where to write the result.
type Config struct {
	Root, Program string  // as of fleet.Config
	Folder        string  // of files to play; "" if none was given
	Seed          uint64  // of a generated world
	Faults        *uint64 // seed of the faults to inject; nil for none
	Provider      string  // which of the room's providers is played; "" for its default
	Retention     int     // days for which the room keeps data of its provider; 0 for its default
	// Others are the rooms that must act when an account is deleted.
	Others   []fleet.Room
	Out      io.Writer
	Progress io.Writer // of the progress bar; nil for none
}

// Play is a room's replay. It returns ErrFailed if a case differs from the oracle.
type Play func(context.Context, Config) error

// ErrFailed is returned if at least one case differs from the oracle.
var ErrFailed = errors.New("the replay found differences")

// Report writes the cases, the problems and the progress bar of one replay. Its methods Log and
// Invocation are hooks of fleet.Config: until Close they collect the errors of functions.
type Report struct {
	Config
	began time.Time

	mu         sync.Mutex
	complaints map[string]int
	closed     bool
}

// NewReport returns a report that begins now.
func NewReport(cfg Config) *Report {
	return &Report{Config: cfg, began: time.Now(), complaints: map[string]int{}}
}

// Elapsed is the wall time since the report began, in whole seconds.
func (r *Report) Elapsed() time.Duration { return time.Since(r.began).Round(time.Second) }

// Log counts an error or warning that a function logged.
func (r *Report) Log(l lambda.Log) {
	var line struct{ Level, Msg, Err, Problems string }
	if json.Unmarshal([]byte(l.Line), &line) != nil || line.Level != "ERROR" && line.Level != "WARN" {
		return
	}

	r.complain(l.Function + ": " + line.Msg + ": " + line.Err + line.Problems)
}

// Invocation counts an invocation that failed.
func (r *Report) Invocation(i lambda.Invocation) {
	if i.Err == nil {
		return
	}

	why := i.Err.Error()
	if _, after, ok := strings.Cut(why, i.RequestID+" Error: "); ok { // the same text for each request
		why = after
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if !r.closed {
		r.complaints[i.Function+": "+why]++
	}
}

func (r *Report) complain(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.complaints[text]++
}

// Close ignores the invocations that end from now on, because the fleet is being stopped.
func (r *Report) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.closed = true
}

// Printf writes to Out, in place of the progress bar.
func (r *Report) Printf(format string, args ...any) {
	r.clear()
	fmt.Fprintf(r.Out, format, args...)
}

// Case writes the line of a case, and below it the problems of the source, which is a file or
// another part of the world.
func (r *Report) Case(line, source string, problems []string) {
	verdict := "ok  "
	if len(problems) > 0 {
		verdict = "FAIL"
	}

	r.Printf("%s  %s\n", verdict, line)

	for _, p := range problems {
		r.Printf("      %s: %s\n", source, p)
	}
}

// Complaints writes the errors and warnings of functions, and how often each occurred.
func (r *Report) Complaints() {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, text := range slices.Sorted(maps.Keys(r.complaints)) {
		r.Printf("log   %d × %s\n", r.complaints[text], text)
	}
}

// Bar draws the progress bar with a text and the elapsed time.
func (r *Report) Bar(done, all int, text string) {
	if r.Progress == nil {
		return
	}

	const width = 30

	filled := width * done / max(all, 1)

	r.clear()
	fmt.Fprintf(r.Progress, "[%s%s] %s, %s", strings.Repeat("#", filled), strings.Repeat(".", width-filled), text, r.Elapsed())
}

// clear removes the progress bar.
func (r *Report) clear() {
	if r.Progress != nil {
		fmt.Fprint(r.Progress, "\r\x1b[K")
	}
}
