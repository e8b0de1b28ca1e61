// Command bench measures what the fleet costs on this machine, and prints one
// table: the rows of each room, and the functions' binaries beside the smallest
// function. `make bench` starts it.
//
// A missed target is printed but is not an error: times depend on the machine and
// on its load. Counts of calls do not, and ratios of two things that are measured
// in turns do far less. The counts go to .local/bench.json, for the cost model.
//
// ROOM chooses one room, which is measured alone, without binaries and without .local/bench.json.
// MEMBERS=100000 with it measures how the room grows up to so many members.
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
	"strconv"
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
		err = run(ctx, os.Stdout, os.Getenv, all.Rooms())
	default:
		err = errUsage
	}

	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: `make bench`, or `make bench ROOM=... MEMBERS=100000`")

// run measures the rooms, or what ROOM and MEMBERS choose.
func run(ctx context.Context, out io.Writer, getenv func(string) string, known []rooms.Room) error {
	room, members := getenv("ROOM"), getenv("MEMBERS")
	if room == "" && members == "" {
		return bench(ctx, out, ".local", known)
	}

	suite, err := choose(known, room, members)
	if err != nil {
		return err
	}

	began, busy, err := begin()
	if err != nil {
		return err
	}

	rows, err := suite(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", room, err)
	}

	return report(out, rows, began, busy)
}

// choose returns what measures a room, or the growth of a room up to a number of members. The
// error says which rooms and numbers are valid.
func choose(known []rooms.Room, room, members string) (func(context.Context) ([]measure.Row, error), error) {
	var have []string

	for _, r := range known {
		if r.Bench.Run == nil || members != "" && r.Bench.Scale == nil {
			continue
		}

		have = append(have, r.Spec.Name)
		if r.Spec.Name != room {
			continue
		}

		if members == "" {
			return func(ctx context.Context) ([]measure.Row, error) { rows, _, err := r.Bench.Run(ctx); return rows, err }, nil
		}

		n, err := strconv.Atoi(members)
		if err != nil || n < 1 || n > mostMembers {
			return nil, fmt.Errorf("MEMBERS=%s: valid are 1 to %d", members, mostMembers)
		}

		return func(ctx context.Context) ([]measure.Row, error) { return r.Bench.Scale(ctx, n) }, nil
	}

	return nil, fmt.Errorf("ROOM=%s has no such benchmark; rooms with one: %s", room, strings.Join(have, ", "))
}

// mostMembers bounds MEMBERS: more do not fit this machine.
const mostMembers = 10_000_000

// bench builds the binaries that the rooms compare, into the folder bin of local,
// measures, writes the counters to local and prints the table.
func bench(ctx context.Context, out io.Writer, local string, known []rooms.Room) (err error) {
	fmt.Fprintln(os.Stderr, "building")

	bin := filepath.Join(local, "bin")
	if err := build(ctx, bin, known); err != nil {
		return err
	}

	began, busy, err := begin()
	if err != nil {
		return err
	}

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

	if err := report(out, rows, began, busy); err != nil {
		return err
	}

	_, err = fmt.Fprintln(out, "The counters of calls are in "+file+".")

	return err
}

// begin prepares this process for measurements. It returns the time, and how busy the machine is.
func begin() (began time.Time, busy string, err error) {
	slog.SetDefault(telemetry.Logger(io.Discard, "bench", "bench")) // a function's logs cost time, too
	testing.Init()                                                  // rooms use testing.Benchmark

	return time.Now(), load(), flag.Set("test.benchtime", "400ms")
}

// report prints the table, and how it was measured.
func report(out io.Writer, rows []measure.Row, began time.Time, busy string) error {
	if err := measure.Write(out, rows); err != nil {
		return err
	}

	fmt.Fprintf(out, "\nMedians, on %d cores%s that the DynamoDB engine and the simulators shared; %v in all.\n", runtime.NumCPU(), busy,
		time.Since(began).Round(time.Second))
	_, err := fmt.Fprintln(out, "Own CPU is this process's, with the SQS simulator and without that of a provider. The APNs simulator "+
		"is a process of its own.")

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
