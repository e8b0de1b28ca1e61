package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

//go:embed intro.md
var intro []byte

// page is the on-call page of production.
func page(rooms []spec.Room) []byte {
	var out bytes.Buffer
	out.Write(intro)

	s := stage.Stage{Name: stage.Prod}
	for _, room := range rooms {
		all := s.Alarms(room)
		reserved, workers := concurrency(room)
		fmt.Fprintf(&out, "\n## The room %s\n\nLogs of the functions in `%s`. It reserves %d of Lambda's concurrent "+
			"executions, and its queue workers use at most %d of the others.\n",
			room.Name, s.LogGroup(room.Name), reserved, workers)

		if secrets := secretsOf(room); len(secrets) > 0 {
			fmt.Fprintf(&out, "\nSecrets, which an operator sets, and which a function reads when it starts:\n\n")

			for _, name := range secrets {
				fmt.Fprintf(&out, "* `%s%s`, of %s\n", s.Secrets(room.Name), name, strings.Join(holders(room, name), ", "))
			}
		}

		if len(room.Settings) > 0 {
			fmt.Fprintf(&out, "\nSettings:\n\n| setting | what it is | it is like | if not set |\n|---|---|---|---|\n")

			for _, v := range room.Settings {
				fmt.Fprintf(&out, "| `%s` | %s | `%s` | %s |\n", v.Name, v.Does, strings.ReplaceAll(v.Like, "|", `\|`), unset(v))
			}
		}

		if whole := alarmsOf(all, ""); len(whole) > 0 {
			fmt.Fprintf(&out, "\n### The room as a whole\n\n| alarm | when | what users notice |\n|---|---|---|\n")

			for _, a := range whole {
				fmt.Fprintf(&out, "| `%s` | %s | %s |\n", a.Name, a.Watches, strings.ReplaceAll(a.IfDown, "|", `\|`))
			}

			if routed(room) {
				fmt.Fprintf(&out, "\nRequests are logged in `%s`.\n", s.APILogs(room.Name))
			}

			for _, m := range room.Machines {
				fmt.Fprintf(&out, "\nThe state machine `%s` is started by `%s` and logs to `%s`. **If it is down:** %s\n", s.Machine(m),
					m.Every, s.MachineLogs(m), m.IfDown)
			}
		}

		for _, f := range room.Functions {
			if own := alarmsOf(all, f.Name); needsSection(f, own) {
				function(&out, s, room, f, own)
			}
		}
	}

	return out.Bytes()
}

// unset is what becomes of a setting that has no value.
func unset(v spec.Setting) string {
	switch {
	case v.Required:
		return "nothing is deployed"
	case v.Trial != "":
		return "the default; `" + v.Trial + "` outside production"
	}

	return "the default"
}

// needsSection reports whether an engineer needs more about a function than its description in
// Lambda has: not for a route without alarms, budgets and secrets of its own.
func needsSection(f spec.Function, alarms []stage.Alarm) bool {
	_, route := f.On.(spec.Route)
	return !route || len(alarms)+len(f.Budgets)+len(f.Secrets) > 0
}

func function(out *bytes.Buffer, s stage.Stage, room spec.Room, f spec.Function, alarms []stage.Alarm) {
	fmt.Fprintf(out, "\n### %s\n\n%s **If it is down:** %s\n\n", f.Name, f.Does, f.IfDown)
	fmt.Fprintf(out, "* Started by %s.\n", trigger(room, f))

	for _, b := range f.Budgets {
		fmt.Fprintf(out, "* Budget at the provider: %s.\n", b)
	}

	for _, a := range alarms {
		notice := ""
		if a.IfDown != f.IfDown {
			notice = " " + a.IfDown
		}

		fmt.Fprintf(out, "* Alarm `%s`: %s.%s\n", a.Name, a.Watches, notice)
	}

	switch on := f.On.(type) {
	case spec.Queue:
		fmt.Fprintf(out, "* Dead letters: `%s`, after %d tries or at once, with the reason. ", s.DeadLetter(f), on.MaxReceiveCount)

		if keeper := keeperOf(room, on); keeper != "" {
			fmt.Fprintf(out, "[`%s`](#%s) keeps them, so there is nothing to redrive: [list and replay what it keeps](#%s).\n", keeper,
				anchor(keeper), anchor(lettersKept))
		} else {
			fmt.Fprintf(out, "[Redrive](#redrive) to `%s`.\n", s.Prefix()+on.Name)
		}
	case spec.Schedule:
		if dead := s.DeadLetter(f); dead != "" {
			fmt.Fprintf(out, "* Dead letters: `%s`. [Run it again](#run-a-job-again), then purge them.\n", dead)
		}
	}
}

// lettersKept is the heading of the section of intro.md on dead letters that a function keeps.
const lettersKept = "Dead letters that a function keeps"

// keeperOf returns the function that consumes the dead letters of a queue, "" if none does.
func keeperOf(room spec.Room, q spec.Queue) string {
	for _, f := range room.Functions {
		if on, ok := f.On.(spec.DeadLetters); ok && on.Of.Name == q.Name {
			return f.Name
		}
	}

	return ""
}

// anchor returns the fragment under which a page shows a heading.
func anchor(heading string) string {
	return strings.NewReplacer(" ", "-", "/", "").Replace(strings.ToLower(heading))
}

func trigger(room spec.Room, f spec.Function) string {
	switch on := f.On.(type) {
	case spec.Route:
		return fmt.Sprintf("`%s %s` (%s)", on.Method, on.Path, on.Auth)
	case spec.Queue:
		return fmt.Sprintf("the queue `%s`, %d at once", on.Name, on.Concurrency)
	case spec.DeadLetters:
		return fmt.Sprintf("the queue `%s`, %d at once", on.Of.DeadLetter(), spec.DeadLetterConcurrency)
	case spec.Migration:
		return "a deployment with other migrations"
	case spec.Schedule:
		return fmt.Sprintf("`%s`, UTC", on)
	case spec.UserConfirmed:
		return "the user pool, after a user has confirmed a sign-up"
	}

	for _, m := range room.Machines {
		if slices.Contains(slices.Collect(maps.Values(m.Calls)), f.Name) {
			return "a state machine"
		}
	}

	return "an operator"
}

// concurrency is how many of a room's invocations are reserved, and how many its
// queues may have at once.
func concurrency(room spec.Room) (reserved, workers int) {
	for _, f := range room.Functions {
		reserved += f.Reserved
		switch on := f.On.(type) {
		case spec.Queue:
			workers += on.Concurrency
		case spec.DeadLetters:
			workers += spec.DeadLetterConcurrency
		}
	}

	return reserved, workers
}

func alarmsOf(all []stage.Alarm, function string) (own []stage.Alarm) {
	for _, a := range all {
		if a.Function == function {
			own = append(own, a)
		}
	}

	return own
}

func secretsOf(room spec.Room) (names []string) {
	for _, f := range room.Functions {
		names = append(names, f.Secrets...)
	}

	slices.Sort(names)

	return slices.Compact(names)
}

func holders(room spec.Room, secret string) (names []string) {
	for _, f := range room.Functions {
		if slices.Contains(f.Secrets, secret) {
			names = append(names, strings.TrimPrefix(f.Name, room.Name+"/"))
		}
	}

	return names
}

func routed(room spec.Room) bool {
	return slices.ContainsFunc(room.Functions, func(f spec.Function) bool { _, ok := f.On.(spec.Route); return ok })
}
