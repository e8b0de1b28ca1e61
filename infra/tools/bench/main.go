// Command bench measures what the fleet costs on this machine, and prints one
// table: the rows of each room, and the functions' binaries beside the smallest
// function. `make bench` starts it.
//
// A missed target is printed but is not an error: times depend on the machine and
// on its load. Counts of calls do not, and ratios of two things that are measured
// in turns do far less. The counts go to .local/bench.json, for the cost model.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"matchday/infra/rooms"
	"matchday/infra/rooms/all"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/kit/telemetry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	err := error(nil)

	switch {
	case len(os.Args) == 2 && os.Args[1] == measure.APNsCommand:
		err = measure.ServeAPNs(os.Stdin, os.Stdout)
	case len(os.Args) == 1:
		err = bench(ctx, os.Stdout, ".local", all.Rooms())
	default:
		err = errors.New("usage: `make bench`")
	}

	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// bench builds the binaries that the rooms compare, into the folder bin of local,
// measures, writes the counters to local and prints the table.
func bench(ctx context.Context, out io.Writer, local string, known []rooms.Room) (err error) {
	fmt.Fprintln(os.Stderr, "building")

	bin := filepath.Join(local, "bin")
	if err := build(ctx, bin, known); err != nil {
		return err
	}

	slog.SetDefault(telemetry.Logger(io.Discard, "bench", "bench")) // a function's logs cost time, too
	testing.Init()                                                  // rooms use testing.Benchmark

	if err := flag.Set("test.benchtime", "400ms"); err != nil {
		return err
	}

	began, busy := time.Now(), load()

	var rows []measure.Row

	counters := map[string]any{}

	for _, room := range known {
		if room.Bench.Run == nil {
			continue
		}

		own, counts, err := room.Bench.Run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", room.Spec.Name, err)
		}

		rows, counters[room.Spec.Name] = append(rows, own...), counts
	}

	warm, cold, err := benchFunctions(ctx, bin, known)
	if err != nil {
		return fmt.Errorf("functions: %w", err)
	}

	rows = append(rows, functionRows(warm, cold)...)

	text, err := json.MarshalIndent(counters, "", "  ")
	if err != nil {
		return err
	}

	file := filepath.Join(local, "bench.json")
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return err
	}

	if err := measure.Write(out, rows); err != nil {
		return err
	}

	fmt.Fprintf(out, "\nMedians, on %d cores%s that the DynamoDB engine and the simulators shared; %v in all.\n", runtime.NumCPU(), busy,
		time.Since(began).Round(time.Second))
	fmt.Fprintln(out, "Own CPU is this process's, with the SQS simulator and without that of a provider. The APNs simulator is a process "+
		"of its own.")
	_, err = fmt.Fprintln(out, "The counters of calls are in "+file+".")

	return err
}

// load describes how busy the machine is with other work, "" where that is unknown.
// Times measured meanwhile are too long.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}

	minute, _, _ := strings.Cut(string(text), " ")

	return " (load " + minute + " at the start)"
}
