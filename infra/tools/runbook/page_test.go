package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchday/infra/stage"
	"matchday/pkg/fleet"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

// TestPageIsCurrent: the committed page equals the page that the spec generates now.
func TestPageIsCurrent(t *testing.T) {
	t.Parallel()

	got, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}

	if !bytes.Equal(got, page(fleet.Specs())) {
		t.Error("docs/runbook.md is out of date: run `make runbook`")
	}
}

// TestPageIsComplete: each alarm is on the page with what users notice, and each function that has
// more than a route.
func TestPageIsComplete(t *testing.T) {
	t.Parallel()

	text, s := string(page(fleet.Specs())), stage.Stage{Name: stage.Prod}
	for _, room := range fleet.Specs() {
		for _, a := range s.Alarms(room) {
			if !strings.Contains(text, "`"+a.Name+"`") || !strings.Contains(text, strings.ReplaceAll(a.IfDown, "|", `\|`)) {
				t.Errorf("the alarm %s is not on the page", a.Name)
			}
		}

		for _, f := range room.Functions {
			_, route := f.On.(spec.Route)
			if has := strings.Contains(text, "### "+f.Name+"\n"); !has && (!route || f.Budgets != nil || f.Secrets != nil) {
				t.Errorf("the function %s is not on the page", f.Name)
			}
		}

		if !strings.Contains(text, "`"+s.LogGroup(room.Name)+"`") {
			t.Errorf("the log group of %s is not on the page", room.Name)
		}
	}
}

// TestConcurrency: what a room takes of the account's concurrency.
func TestConcurrency(t *testing.T) {
	t.Parallel()

	reserved, workers := concurrency(spec.Room{Functions: []spec.Function{
		{On: spec.Queue{Concurrency: 5}}, {On: spec.Queue{Concurrency: 2}}, {On: spec.Task{}, Reserved: 10}, {On: spec.Route{}},
	}})
	if reserved != 10 || workers != 7 {
		t.Errorf("%d are reserved and %d work, want 10 and 7", reserved, workers)
	}
}

// TestTrigger: whoever looks a function up learns what wakes it.
func TestTrigger(t *testing.T) {
	t.Parallel()

	room := spec.Room{Machines: []spec.Machine{{Calls: map[string]string{"Step": "lab/step"}}}}
	for want, f := range map[string]spec.Function{
		"`GET /things/{id}` (user)":                           {On: spec.Route{Method: "GET", Path: "/things/{id}", Auth: spec.User}},
		"the queue `lab-turns.fifo`, 5 at once":               {On: spec.Queue{Name: "lab-turns.fifo", Concurrency: 5}},
		"`rate(1 minute)`, UTC":                               {On: spec.Schedule("rate(1 minute)")},
		"the user pool, after a user has confirmed a sign-up": {On: spec.UserConfirmed{}},
		"a state machine":                                     {Name: "lab/step", On: spec.Task{}},
		"an operator":                                         {Name: "lab/mend", On: spec.Task{}},
	} {
		if got := trigger(room, f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestFIFO: the dead letters of a queue in order are named as they are deployed.
func TestFIFO(t *testing.T) {
	t.Parallel()

	room := spec.Room{
		Name: "lab",
		Functions: []spec.Function{{
			Name:   "lab/take-turns",
			Does:   "Takes turns.",
			IfDown: "Nobody has a turn.",
			On:     spec.Queue{Name: "lab-turns.fifo", MaxReceiveCount: 2},
		}},
	}

	text := string(page([]spec.Room{room}))
	for _, want := range []string{"Dead letters: `lab-turns-dead.fifo`, after 2 tries", "to `lab-turns.fifo`"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// TestKeptDeadLetters: dead letters that a function consumes are not redriven, but listed and
// replayed, as a section of the page says.
func TestKeptDeadLetters(t *testing.T) {
	t.Parallel()

	turns := spec.Queue{Name: "lab-turns", MaxReceiveCount: 2}
	room := spec.Room{Name: "lab", Functions: []spec.Function{
		{Name: "lab/take-turns", On: turns}, {Name: "lab/keep-letters", On: spec.DeadLetters{Of: turns}},
	}}

	text := string(page([]spec.Room{room}))
	for _, want := range []string{
		"* Dead letters: `lab-turns-dead`, after 2 tries or at once, with the reason. [`lab/keep-letters`](#labkeep-letters) keeps them, so " +
			"there is nothing to redrive: [list and replay what it keeps](#dead-letters-that-a-function-keeps).\n",
		"\n### " + lettersKept + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}

	if strings.Contains(text, "[Redrive](#redrive) to `lab-turns`") {
		t.Error("the page says to redrive what a function has consumed")
	}
}

// TestRaisedConcurrency: the executions to which the page raises functions before a big match leave connections of
// their database at 4 ACU, also if all are in use; and what it puts back is what the spec has. Aurora User Guide,
// "Maximum connections for Aurora Serverless v2": 823, of which some are kept for AWS and an owner.
func TestRaisedConcurrency(t *testing.T) {
	t.Parallel()

	command := regexp.MustCompile(`for f in (.+); do aws lambda put-function-concurrency --function-name ([a-z]+)-\$`)

	commands := command.FindAllStringSubmatch(string(intro), -1)
	if len(commands) != 2 || commands[0][2] != commands[1][2] {
		t.Fatalf("the page has the commands %q, want one before a match and one after, of one room", commands)
	}

	specs := fleet.Specs()
	room := specs[slices.IndexFunc(specs, func(r spec.Room) bool { return r.Name == commands[0][2] })]

	room.Functions = slices.DeleteFunc(slices.Clone(room.Functions), func(f spec.Function) bool { return len(f.SQL) == 0 })

	values := func(pairs string) map[string]int {
		all := map[string]int{}

		for _, pair := range strings.Fields(pairs) {
			name, value, _ := strings.Cut(pair, "=")

			n, err := strconv.Atoi(value)
			if err != nil {
				t.Errorf("the page sets the concurrency of %s to %q", name, value)
			}

			all[room.Name+"/"+name] = n
		}

		return all
	}
	raised, restored := values(commands[0][1]), values(commands[1][1])
	found := 0

	for i, f := range room.Functions {
		more, ok := raised[f.Name]
		if !ok {
			continue
		}

		found++
		room.Functions[i].Reserved = more

		if more <= f.Reserved || restored[f.Name] != f.Reserved {
			t.Errorf("%s is raised to %d and put back to %d, and the spec reserves %d", f.Name, more, restored[f.Name], f.Reserved)
		}
	}

	if found != len(raised) || found != len(restored) {
		t.Errorf("the page raises %v and puts %v back: %d of them use the database", raised, restored, found)
	}

	executions, workers := concurrency(room)
	if used, free := (executions+workers)*pg.MaxConns+1, 823-15; used > free {
		t.Errorf("%d connections, more than the %d that are free", used, free)
	}
}
