// Command sam checks that SAM CLI can run the templates of `make sam-template`, those of the rooms of
// $ROOMS or else of all, and prints the commands. With `compare` it compares what SAM's own code finds in them
// with the spec. SAM CLI finds functions by literal names, takes their code
// from an absolute path, and sets only environment variables that a template
// declares.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matchday/infra/stage"
	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

func main() {
	rooms, err := fleet.Choose(os.Getenv("ROOMS"), "")

	switch {
	case err != nil:
	case len(os.Args) == 3 && os.Args[1] == "compare":
		err = compare(rooms.Specs(), stage.Stage{Name: os.Args[2]}, os.Stdin, os.Stdout)
	default:
		err = command(rooms.Specs(), os.Args[1:])
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command checks the templates of the stage args[0] in the folder args[1], with the environment
// variables of the file args[2], which has those of all rooms.
func command(rooms []spec.Room, args []string) error {
	if len(args) != 3 {
		return errors.New("usage: `make sam-template STAGE=dev`")
	}

	s, out, example := stage.Stage{Name: args[0]}, args[1], args[2]

	text, err := os.ReadFile(example)
	if err != nil {
		return err
	}

	var env struct{ Parameters map[string]string }
	if err := json.Unmarshal(text, &env); err != nil {
		return fmt.Errorf("%s: %w", example, err)
	}

	variables := slices.Sorted(maps.Keys(env.Parameters))
	for _, v := range variables {
		if !slices.ContainsFunc(fleet.Specs(), func(r spec.Room) bool { return overrides(r, v) }) {
			return fmt.Errorf("%s: no function declares %s", example, v)
		}
	}

	for _, room := range rooms {
		path := filepath.Join(out, s.Stack(room.Name)+".template.json")

		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		var t template
		if err := json.Unmarshal(text, &t); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}

		own := slices.DeleteFunc(slices.Clone(variables), func(v string) bool { return !overrides(room, v) })
		if err := errors.Join(t.check(s, room, own)...); err != nil {
			return fmt.Errorf("SAM CLI cannot run %s:\n%w", path, err)
		}

		fmt.Printf("%s: %d functions, as in\n%s", path, len(room.Functions), invocations(s, path, room))
	}

	if _, err := os.Stat(environment); err != nil {
		fmt.Printf("First copy %s to %s and fill in your values.\n", example, environment)
	}

	return nil
}

// compare compares the functions and routes that SAM's own code finds, a line for each
// as list.py prints them, with the spec.
func compare(rooms []spec.Room, s stage.Stage, found io.Reader, out io.Writer) error {
	var want []string

	functions, routes := 0, 0

	for _, room := range rooms {
		for _, f := range room.Functions {
			functions++

			want = append(want, "function "+s.Function(f))
			if r, ok := f.On.(spec.Route); ok {
				routes++

				for _, method := range r.Methods() {
					want = append(want, fmt.Sprintf("route %s %s %s", method, r.Path, s.Function(f)))
				}
			}
		}
	}

	text, err := io.ReadAll(found)
	if err != nil {
		return err
	}

	got := strings.Split(strings.TrimSpace(string(text)), "\n")

	var wrong []error

	for _, line := range want {
		if !slices.Contains(got, line) {
			wrong = append(wrong, fmt.Errorf("SAM does not find the %s", line))
		}
	}

	for i, line := range got {
		if !slices.Contains(want, line) || slices.Contains(got[:i], line) {
			wrong = append(wrong, fmt.Errorf("the spec does not have the %s that SAM finds", line))
		}
	}

	if len(wrong) == 0 {
		_, err = fmt.Fprintf(out, "SAM finds the %d functions and %d routes of the spec\n", functions, routes)
	}

	return errors.Join(append(wrong, err)...)
}

// overrides reports whether an environment variable can be set for a function of the
// room.
func overrides(room spec.Room, variable string) bool {
	return slices.ContainsFunc(room.Functions, func(f spec.Function) bool { return slices.Contains(stage.Overridable(room, f), variable) })
}

// environment is the file with the environment variables of the functions: addresses
// and secrets.
const environment = "env.local.json"

// invocations are the commands that run a function of the room, and its API if it has
// one. Docker on Linux needs --add-host to resolve the name of the machine.
func invocations(s stage.Stage, path string, room spec.Room) string {
	common := " -t " + path + " --env-vars " + environment + " --add-host host.docker.internal:host-gateway"

	lines := "  sam local invoke " + s.Function(room.Functions[0]) + " -e events/" + room.Functions[0].Name + ".json" + common + "\n"
	if slices.ContainsFunc(room.Functions, func(f spec.Function) bool { _, ok := f.On.(spec.Route); return ok }) {
		lines += "  sam local start-api" + common + "\n"
	}

	return lines
}

// template is the part of a template that SAM CLI reads.
type template struct {
	Resources map[string]struct {
		Type       string
		Properties struct {
			FunctionName any
			Environment  struct{ Variables map[string]any }
		}
		Metadata map[string]any
	}
}

// check returns what prevents SAM CLI from running the functions of a room with the variables.
func (t template) check(s stage.Stage, room spec.Room, variables []string) (wrong []error) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	declared, built := map[string]bool{}, map[string]bool{}

	for id, r := range t.Resources {
		if r.Type != "AWS::Lambda::Function" {
			continue
		}

		name, ok := r.Properties.FunctionName.(string)
		if !ok {
			say("the function %s has no literal name", id)
			continue
		}

		code, _ := r.Metadata["aws:asset:path"].(string)
		if !filepath.IsAbs(code) {
			say("the code of %s is at %q, which is not an absolute path", name, code)
		}

		i := slices.IndexFunc(room.Functions, func(f spec.Function) bool { return s.Function(f) == name })
		if i < 0 {
			say("%s is not a function of %s", name, room.Name)
			continue
		}

		built[room.Functions[i].Name] = true
		for _, v := range stage.Overridable(room, room.Functions[i]) {
			if _, ok := r.Properties.Environment.Variables[v]; !ok {
				say("%s does not declare %s", name, v)
			}
		}

		for v := range r.Properties.Environment.Variables {
			declared[v] = true
		}
	}

	for _, f := range room.Functions {
		if !built[f.Name] {
			say("%s is missing", s.Function(f))
		}
	}

	for _, v := range variables {
		if !declared[v] {
			say("no function declares %s", v)
		}
	}

	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })

	return wrong
}
