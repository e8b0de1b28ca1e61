// Command bench measures what the fleet costs on this machine, and prints one
// table: the live loop's tick, parsing, pushing, the screens and the scoring of
// the pick'em room, and the functions' binaries, each beside its target. `make bench` starts it.
//
// A target that is missed is printed and fails nothing: times depend on the
// machine and on what else it does. Counts of calls, and ratios of two things
// measured in turns, do not, or far less. The counts go to .local/bench.json.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"matchday/infra/sim/cricsheet"
	"matchday/pkg/kit/telemetry"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := error(nil)
	switch {
	case len(os.Args) == 2 && os.Args[1] == appleCommand:
		err = serveApple(os.Stdin, os.Stdout)
	case len(os.Args) == 1:
		err = bench(ctx, ".local")
	default:
		err = errors.New("say `make bench`")
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// bench measures with the binaries in the folder bin of local, leaves the
// counters in local, and prints the table.
func bench(ctx context.Context, local string) (err error) {
	slog.SetDefault(telemetry.Logger(io.Discard, "bench")) // a function's logs cost it time, too
	testing.Init()
	if err := flag.Set("test.benchtime", "400ms"); err != nil {
		return err
	}
	began, busy := time.Now(), load()
	var f figures
	for _, c := range []struct{ matches, rounds int }{{1, 25}, {10, 15}, {50, 9}} {
		say("ticks of %d matches", c.matches)
		costs, err := benchTick(ctx, c.matches, played, c.rounds)
		if err != nil {
			return fmt.Errorf("ticks of %d matches: %w", c.matches, err)
		}
		f.ticks = append(f.ticks, costs...)
	}
	young, err := benchTick(ctx, 1, justBegun, 25)
	if err != nil {
		return fmt.Errorf("ticks of a match that has begun: %w", err)
	}
	f.young = young[0]
	for _, format := range []cricsheet.Format{cricsheet.T20, cricsheet.Test} {
		say("parsing a %s", format)
		costs, err := benchParse(ctx, format)
		if err != nil {
			return fmt.Errorf("parsing a %s: %w", format, err)
		}
		f.parses = append(f.parses, costs...)
	}
	if f.push, err = benchPush(ctx); err != nil {
		return fmt.Errorf("pushes: %w", err)
	}
	if f.pickem, err = benchPickem(ctx); err != nil {
		return fmt.Errorf("pick'em: %w", err)
	}
	if f.warm, f.cold, err = benchFunctions(ctx, filepath.Join(local, "bin")); err != nil {
		return fmt.Errorf("functions: %w", err)
	}
	text, err := json.MarshalIndent(map[string]any{
		"tick": f.ticks, "push": f.push.pushers, "channel": f.push.channels,
		"pickem": map[string]any{"uses": f.pickem.uses, "scores": f.pickem.scores},
	}, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(local, "bench.json")
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return err
	}
	if err := write(os.Stdout, f.rows()); err != nil {
		return err
	}
	fmt.Printf("\nMedians, on %d cores%s that the DynamoDB engine and the simulators shared; %v in all.\n", runtime.NumCPU(), busy, time.Since(began).Round(time.Second))
	fmt.Println("Own CPU is this process's, the SQS simulator's included and SportMonks' not. Apple is a process of its own.")
	_, err = fmt.Println("The counters of calls are in " + file + ".")
	return err
}

// load says how busy the machine is with other things, where that can be known:
// times that are measured meanwhile are too long.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return " (load " + minute + " at the start)"
}

// say tells whoever waits what is being measured.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "  "+format+"\n", args...) }
