// Command local runs the fleet on this machine (`local run`), one room's replay
// (`local replay`), an attack on a fleet of its own (`local attack`) or a fleet that
// schemathesis judges (`local judge`), for `make run`, `make replay`, `make attack` and
// `make judge-api`. Its options are environment variables, of the same names as make's. It holds
// every function of the fleet, too: a fleet starts it for each concurrent invocation
// (`local function cricket/get-match`), as Lambda starts the function's own program.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // of functions

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/rooms"
	"matchday/infra/rooms/all"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/lambda"
	"matchday/infra/tools/judge/calls"
	deployed "matchday/pkg/fleet"
	"matchday/pkg/kit/app"
)

const usage = "type `make run`, `make attack`, or `make replay DIR=folder`; ROOMS is an option of run and attack, and ROOM, SEED, " +
	"FAULTS, PROVIDER and RETENTION are options of replay"

// misuse is the error of a call with invalid options. The exit status is 2, as make's.
type misuse string

func (m misuse) Error() string { return string(m) }

func main() {
	if len(os.Args) == 3 && os.Args[1] == fleet.FunctionArgument {
		start(os.Args[2])
		return
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()

	if err := command(ctx, os.Args[1:]); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		stop()

		if _, ok := errors.AsType[misuse](err); ok {
			os.Exit(2)
		}

		os.Exit(1)
	}
}

// start serves a function, and records its calls of AWS if $MATCHDAY_CALLS is set.
func start(name string) {
	recorded := func(env app.Env) app.Env {
		env.AWS = calls.On(env.AWS)
		return env
	}

	for _, room := range deployed.Rooms() {
		for _, fn := range room.Functions {
			if fn.Name == name {
				fn.In(recorded).Start()
			}
		}
	}

	fmt.Fprintf(os.Stderr, "there is no function %s\n", name)
	os.Exit(2)
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return misuse(usage)
	}

	root, err := os.Getwd()
	if err != nil {
		return err
	}

	program, err := os.Executable()
	if err != nil {
		return err
	}

	switch {
	case args[0] == "run":
		return run(ctx, root, program)
	case args[0] == "replay" && len(args) == 1:
		return replayed(ctx, root, program)
	case args[0] == "attack" && len(args) == 1:
		return attacked(ctx, root, program)
	case args[0] == "judge" && len(args) == 1:
		return judged(ctx, root, program)
	}

	return misuse(usage)
}

// replayed runs the replay of $ROOM, by default of the first room that has one.
func replayed(ctx context.Context, root, program string) error {
	cfg := replay.Config{Root: root, Program: program, Folder: os.Getenv("DIR"), Out: os.Stdout, Progress: terminal(os.Stderr)}

	seed, err := number("SEED")
	if err != nil {
		return err
	}

	if seed != nil {
		cfg.Seed = *seed
	}

	if cfg.Faults, err = number("FAULTS"); err != nil {
		return err
	}

	room, err := roomOf(os.Getenv("ROOM"))
	if err != nil {
		return err
	}

	if cfg.Retention, err = retention(room); err != nil {
		return err
	}

	cfg.Provider = os.Getenv("PROVIDER")
	if err := checkProvider(room, cfg.Provider); err != nil {
		return err
	}

	if cfg.Others, err = all.Beside(room.Spec.Name); err != nil {
		return err
	}

	return room.Replay(ctx, cfg)
}

// retention returns $RETENTION, 0 if it is not set. It returns an error if the replay of a room has none.
func retention(room rooms.Room) (days int, err error) {
	n, err := number("RETENTION")

	switch {
	case err != nil || n == nil || *n == 0:
		return 0, err
	case !room.Retains:
		return 0, misuse(fmt.Sprintf("RETENTION=%d is not valid: the replay of %s has no retention", *n, room.Spec.Name))
	case *n > 365:
		return 0, misuse(fmt.Sprintf("RETENTION=%d is not valid: give days, at most 365", *n))
	}

	return int(*n), nil
}

// checkProvider returns an error unless the replay of a room can play a provider, "" for its default.
func checkProvider(room rooms.Room, name string) error {
	switch {
	case name == "" || slices.Contains(room.Providers, name):
		return nil
	case len(room.Providers) == 0:
		return misuse(fmt.Sprintf("PROVIDER=%s is not valid: the replay of %s has one provider", name, room.Spec.Name))
	}

	return misuse(fmt.Sprintf("PROVIDER=%s is not valid; valid values: %s", name, strings.Join(room.Providers, ", ")))
}

func roomOf(room string) (rooms.Room, error) {
	var have []string

	for _, r := range all.Rooms() {
		if r.Replay == nil {
			continue
		}

		if room == "" || room == r.Spec.Name {
			return r, nil
		}

		have = append(have, r.Spec.Name)
	}

	return rooms.Room{}, misuse(fmt.Sprintf("ROOM=%s has no replay; rooms with one: %s", room, strings.Join(have, ", ")))
}

// number is the value of an environment variable, nil if it is not set.
func number(name string) (*uint64, error) {
	text := os.Getenv(name)
	if text == "" {
		return nil, nil
	}

	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, misuse(fmt.Sprintf("%s=%s is not valid: give a whole number from 0 up, as in %s=7", name, text, name))
	}

	return &n, nil
}

// terminal is f if it is a terminal, else nil.
func terminal(f *os.File) io.Writer {
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}

	return f
}

// chosen returns the rooms of $ROOMS, by default all.
func chosen() ([]rooms.Room, error) {
	all, err := all.Choose(os.Getenv("ROOMS"))
	if err != nil {
		return nil, misuse(err.Error())
	}

	return all, nil
}

// run runs the fleet of the rooms of $ROOMS, and the demo of each room, until ctx ends.
func run(ctx context.Context, root, program string) error {
	chosen, err := chosen()
	if err != nil {
		return err
	}

	began := time.Now()

	c := clock.New(began, 1)
	defer c.Stop()

	var demos []rooms.Demo

	cfg := fleet.Config{
		Clock:   c,
		Root:    root,
		Program: program,
		Dir:     filepath.Join(root, ".local", "data"),
		Addr:    address(),
		Seed:    uint64(began.UnixNano()),
	}

	var panels []console.Panel

	options := rooms.Options{Began: began, Getenv: os.Getenv, Say: func(format string, args ...any) { say(began, format, args...) }}

	for _, r := range chosen {
		l := r.Local()

		cfg.Rooms, panels = append(cfg.Rooms, l.Fleet), append(panels, l.Panel)
		if l.Demo == nil {
			continue
		}

		d, err := l.Demo(options)
		if err != nil {
			return misuse(err.Error())
		}

		demos = append(demos, d)
	}

	hub := console.NewHub(panels...)

	logs, err := openLogs(filepath.Join(root, ".local", "log"))
	if err != nil {
		return err
	}
	defer logs.file.Close()

	cfg.Log = func(l lambda.Log) { hub.Log(l); logs.write(l) }
	cfg.Invocation, cfg.Push, cfg.Sent, cfg.Transition = hub.Invocation, hub.Push, hub.Sent, hub.Transition

	f, err := fleet.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer f.Close()

	say(began, "services and simulators are running")

	for _, d := range demos {
		if err := d.Prepare(ctx); err != nil {
			return err
		}
	}

	hub.Attach(f)
	hub.Mount(f)

	if err := f.Begin(ctx); err != nil {
		return err
	}

	for _, d := range demos {
		if d.Play != nil {
			c.After(0, func() { d.Play(ctx) })
		}
	}

	say(began, "schedules and state machines run")
	fmt.Println()

	for _, p := range panels {
		fmt.Printf("  %-13s %s%s\n", p.Title, f.URL, console.Path(p.Room))
	}

	fmt.Printf("  %-13s %s%s\n", "Mail", f.URL, console.Path(console.MailTab))
	fmt.Printf("  %-13s %s\n\n  Ctrl-C stops everything.\n", "Logs", logs.file.Name())

	select {
	case <-ctx.Done():
		fmt.Println("\nstopping")
		return nil
	case <-f.DBExited:
		return errors.New("the DynamoDB engine has stopped unexpectedly: start the fleet again")
	}
}

// logs writes what the functions log to a file of this run, and their warnings and
// errors to the terminal.
type logs struct{ file *os.File }

func openLogs(dir string) (logs, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return logs{}, fmt.Errorf("make the log folder: %w", err)
	}

	file, err := os.Create(filepath.Join(dir, "functions.log"))

	return logs{file}, err
}

func (l logs) write(line lambda.Log) {
	fmt.Fprintln(l.file, line.Line) // a line is one write, so lines do not mix

	var said struct{ Level, Msg, Err, Match, Kind string }
	if json.Unmarshal([]byte(line.Line), &said) != nil || said.Level != "WARN" && said.Level != "ERROR" {
		return
	}

	colour, plain := "", ""
	if terminal(os.Stderr) != nil {
		colour, plain = map[string]string{"WARN": "\x1b[33m", "ERROR": "\x1b[31m"}[said.Level], "\x1b[0m"
	}

	fmt.Fprintf(os.Stderr, "%s%s %s%s: %s %s (request %s)\n", colour, line.Function, strings.ToLower(said.Level), plain,
		strings.TrimSpace(said.Msg+" "+said.Match+" "+said.Kind), said.Err, line.RequestID)
}

func say(began time.Time, format string, args ...any) {
	fmt.Printf("%6.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}

func address() string {
	a := os.Getenv("ADDR")
	switch {
	case a == "":
		return "localhost:8080"
	case !strings.Contains(a, ":"): // a port
		return "localhost:" + a
	}

	return a
}
