// Command local runs the fleet on this machine, or replays real matches
// through it. `make run` and `make replay` start it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/rooms/pickem"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
)

const usage = "say `make run`, or `make replay DIR=folder` with or without FAULTS=seed"

// misuse is a call that makes no sense. Its exit status is 2, as is make's.
type misuse string

func (m misuse) Error() string { return string(m) }

func main() {
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

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return misuse(usage)
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	bin := filepath.Join(root, ".local", "bin")
	switch {
	case args[0] == "run":
		return run(ctx, root, bin)
	case args[0] == "replay" && len(args) == 2:
		faults, err := seed()
		if err != nil {
			return err
		}
		return replay.Run(ctx, replay.Config{
			Folder: args[1], Root: root, Bin: bin, AtOnce: 12, Faults: faults, Out: os.Stdout, Progress: terminal(os.Stderr),
		})
	}
	return misuse(usage)
}

// seed is that of $FAULTS, nil when it is not set.
func seed() (*uint64, error) {
	text := os.Getenv("FAULTS")
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, misuse(fmt.Sprintf("FAULTS=%s is no seed: give a whole number from 0 up, as in FAULTS=7", text))
	}
	return &n, nil
}

// terminal is f if a person looks at it, else nil.
func terminal(f *os.File) io.Writer {
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}

// run runs the fleet until ctx ends, with a match that is live at once.
func run(ctx context.Context, root, bin string) error {
	began := time.Now()
	c := clock.New(began, 1)
	defer c.Stop()
	match, err := chosen(began)
	if err != nil {
		return err
	}
	speed := 10.0
	if text := os.Getenv("SPEED"); text != "" {
		if speed, err = strconv.ParseFloat(text, 64); err != nil || !(speed > 0 && speed <= 1000) {
			return fmt.Errorf("SPEED=%s is no speed: give a number above 0 and up to 1000, as in SPEED=20", text)
		}
	}
	hub := console.NewHub()
	logs, err := openLogs(filepath.Join(root, ".local", "log"))
	if err != nil {
		return err
	}
	defer logs.file.Close()
	f, err := fleet.Start(ctx, fleet.Config{
		Clock: c, Root: root, Bin: bin, Dir: filepath.Join(root, ".local", "data"), Addr: address(), Seed: uint64(began.UnixNano()),
		Log: func(l lambda.Log) { hub.Log(l); logs.write(l) }, Invocation: hub.Invocation, Push: hub.Push, Transition: hub.Transition,
	})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Forget(ctx, "cricket-fixtures", began); err != nil {
		return err
	}
	say(began, "engines and simulators are up")

	f.Provider.Play(match, began.Add(5*time.Second), sportmonks.Pace{Speed: speed})
	f.Provider.AnnounceMore(1, 12, began.Add(24*time.Hour))
	for _, sync := range []string{"cricket/sync-leagues", "cricket/sync-fixtures", "cricket/sync-teams"} {
		if err := f.Invoke(ctx, sync); err != nil {
			return err
		}
	}
	say(began, "leagues, teams and fixtures are synced")
	phones := phonesOf(match)
	for _, p := range phones {
		if err := f.Enroll(ctx, p); err != nil {
			return err
		}
	}
	say(began, "%d phones follow %s v %s", len(phones), match.Local.Name, match.Visitor.Name)
	league := &pickem.Season{Clock: c, Call: f.Call}
	if err := league.Prepare(ctx); err != nil {
		return err
	}
	say(began, "a season of pick'em is on")
	hub.Attach(f, func() []fleet.Phone { return phones }, league)
	f.Handle("/", hub.Handler())
	if err := f.Begin(ctx); err != nil {
		return err
	}
	c.After(0, func() { league.Run(ctx) })
	say(began, "the match plays at %g times its speed, and the live loop ticks every 2.5 s", speed)
	fmt.Printf("\n  Console  %s/\n  API      %s/cricket/matches/%s\n  Logs     %s\n\n  Ctrl-C stops everything.\n",
		f.URL, f.URL, fleet.MatchID(match.ID), logs.file.Name())
	select {
	case <-ctx.Done():
		fmt.Println("\nstopping")
		return nil
	case <-f.DBExited:
		return errors.New("the DynamoDB engine has died, and the fleet cannot go on without it: start it again")
	}
}

// logs keeps what the functions log, as they log it, in a file of this run, and
// shows on the terminal what they warn of.
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

// chosen is the match that $MATCH names, or a made-up T20. Its id is new each
// time, for data survive a restart, and so does the end of a match.
func chosen(now time.Time) (*script.Match, error) {
	path := os.Getenv("MATCH")
	if path == "" {
		m := script.Generate(now.Unix(), cricsheet.T20)
		return m, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("MATCH=%s cannot be read: %w", path, errors.Unwrap(err))
	}
	h := fnv.New32a()
	fmt.Fprint(h, path, now.Unix())
	m, err := script.Read(data, 1_000_000+int64(h.Sum32()))
	if err != nil {
		return nil, fmt.Errorf("MATCH=%s: %w", path, err)
	}
	return m, nil
}

// phonesOf are fans of both sides and of neither, with all that a phone can have
// of its own: the first of each perspective is shown at first.
func phonesOf(m *script.Match) []fleet.Phone {
	id, local, visitor := fleet.MatchID(m.ID), fleet.MatchID(m.Local.ID), fleet.MatchID(m.Visitor.ID)
	listener := func(owner, team string) fleet.Phone {
		p := fleet.NewPhone(owner, id, team)
		p.OS, p.Listens = "18.2", true
		return p
	}
	noor, sam := fleet.NewPhone("noor", id, ""), fleet.NewStarter("sam", id, "")
	lena, luca := listener("lena", local), fleet.NewPhone("luca", id, local)
	vik, vera := fleet.NewPhone("vik", id, visitor), listener("vera", visitor)
	vik.KeyEventsOnly = true
	luca.SpoilerFree, luca.Token = true, "" // an activity would tell
	return []fleet.Phone{noor, lena, vik, sam, luca, vera}
}
