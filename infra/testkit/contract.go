package testkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/stage"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// CheckContract compares the numbers that a room promises with testdata/contract.golden: what
// its operations accept, what users may have, how much memory and time its functions get, and
// the bounds of its alarms. Changes of the file are reviewed, like those of permissions. With
// the environment variable UPDATE=1 it is written.
func CheckContract(t testing.TB, in app.Room) {
	t.Helper()

	room := in.Spec

	var all []string
	for _, f := range room.Functions {
		all = append(all, function(f)...)
	}

	for _, a := range room.Access() {
		all = append(all, fmt.Sprintf("access %s: %v %q by %q, %s", a.ID(), a.Ops, a.Index, a.Key, a.Rate))
	}

	for _, t := range room.Tables() {
		all = append(all, fmt.Sprintf("table %s: key %v, indexes %v, TTL %q, shared %v", t.Name, t.Key, t.Indexes, t.TTL, t.Shared))
	}

	for _, b := range room.Buckets() {
		all = append(all, fmt.Sprintf("bucket %s: expires %s, shared %v", b.Name, b.Expires, b.Shared))
	}

	for _, m := range room.Machines {
		all = append(all, fmt.Sprintf("machine %s: every %s", m.Name, m.Every))
	}

	for _, s := range room.Settings {
		all = append(all, fmt.Sprintf("setting %s: like %q, trial %q, required %v", s.Name, s.Like, s.Trial, s.Required))
	}

	for _, a := range room.Alarms {
		text := fmt.Sprintf("alarm %s: %s of %s %v, below %v, bound %v, %d minutes, while %q", a.Name, a.Stat, a.Function, a.Metrics,
			a.Below, a.Bound, a.Minutes, a.While.Name)
		if a.Of != 0 {
			text += fmt.Sprintf(", of %d", a.Of)
		}

		if a.When != (spec.Emitted{}) {
			text += fmt.Sprintf(", when %s emits %s", a.When.Function, a.When.Metric.Name)
		}

		all = append(all, text)
	}

	all = append(all, fmt.Sprintf("alarms: %d metrics, with those of queues, jobs and the API", stage.Stage{Name: stage.Prod}.Watched(room)))

	for _, fn := range in.Functions {
		document, err := fn.OpenAPI()
		Must(t, err)

		if document == nil {
			continue
		}

		accepts, err := bounds(document, fn.Function)
		Must(t, err)

		all = append(all, accepts...)
	}

	slices.Sort(all)
	got := strings.Join(slices.Compact(all), "\n") + "\n"
	CheckGolden(t, "contract", got)
}

// CheckGolden compares a text with the file testdata/name.golden. With the environment
// variable UPDATE=1 it writes the file.
func CheckGolden(t testing.TB, name, got string) {
	t.Helper()

	file := filepath.Join("testdata", name+".golden")

	want, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}

	if os.Getenv("UPDATE") != "" {
		Must(t, os.MkdirAll("testdata", 0o755))
		Must(t, os.WriteFile(file, []byte(got), 0o644))

		return
	}

	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs: run the test with UPDATE=1 and review the file (-file +now):\n%s", file, diff)
	}
}

// function returns the lines of a function.
func function(f spec.Function) (lines []string) {
	add := func(format string, values ...any) {
		lines = append(lines, "function "+f.Name+": "+fmt.Sprintf(format, values...))
	}
	add("%d MB, %s", f.Memory, f.Timeout)

	if f.Reserved != 0 {
		add("%d at once", f.Reserved)
	}

	switch on := f.On.(type) {
	case spec.Schedule:
		add("%s", on)
	case spec.DeadLetters:
		add("dead letters of %s", on.Of.Name)
	case spec.Migration:
		add("migrations of %s", on.Of.Name)
	default:
		add("%T%+v", on, on)
	}

	for _, l := range f.Limits {
		add("limit %s, %s", l, l.Code)
	}

	for _, b := range f.Budgets {
		add("%s", b)
	}

	for _, m := range f.Emits {
		add("emits %s in %s, of the room %v", m.Name, m.Unit, m.OfRoom)
	}

	for _, q := range f.Sends {
		add("sends to %s", q.Name)
	}

	for _, o := range f.Objects {
		add("%v %s/%s", o.Ops, o.Bucket.Name, o.Prefix)
	}

	return lines
}

// bounds returns a line for each parameter of an operation, and for each property of its body,
// with the values that are allowed.
func bounds(document []byte, fn spec.Function) (lines []string, err error) {
	var d map[string]any
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}

	at := func(v any, path ...string) any {
		for _, p := range path {
			m, _ := v.(map[string]any)
			v = m[p]
		}

		return v
	}

	var walk func(name string, schema any)

	walk = func(name string, schema any) {
		s, _ := schema.(map[string]any)
		if ref, ok := s["$ref"].(string); ok {
			walk(name, at(d, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
			return
		}

		var rules []string

		for key, v := range s {
			switch key {
			case "properties", "items", "description", "examples", "example", "title", "oneOf":
			case "additionalProperties":
				if _, ok := v.(bool); ok {
					rules = append(rules, fmt.Sprint(key, " ", v))
				}
			default:
				text, _ := json.Marshal(v)
				rules = append(rules, key+" "+string(text))
			}
		}

		slices.Sort(rules)
		lines = append(lines, "accepts "+fn.Name+" "+name+": "+strings.Join(rules, ", "))

		properties, _ := s["properties"].(map[string]any)
		for key, v := range properties {
			walk(name+"."+key, v)
		}

		if v, ok := s["items"]; ok {
			walk(name+"[]", v)
		}

		if v, ok := s["additionalProperties"].(map[string]any); ok {
			walk(name+".*", v)
		}

		alternatives, _ := s["oneOf"].([]any)
		for i, v := range alternatives {
			walk(fmt.Sprint(name, "|", i), v)
		}
	}
	on := fn.On.(spec.Route)
	operation := at(d, "paths", on.Path, strings.ToLower(on.Method))

	parameters, _ := at(operation, "parameters").([]any)
	for _, p := range parameters {
		walk(fmt.Sprint(at(p, "in"), " ", at(p, "name")), at(p, "schema"))
	}

	for _, kind := range []string{"application/json", "application/x-www-form-urlencoded"} {
		if body := at(operation, "requestBody", "content", kind, "schema"); body != nil {
			walk("body", body)
		}
	}

	return lines, nil
}
