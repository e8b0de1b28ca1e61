package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms"
	"matchday/infra/rooms/all"
	"matchday/infra/tools/cost/price"
	"matchday/infra/tools/cost/usage"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// lab is a room whose report prints its counters.
func lab(name, kept string) rooms.Room {
	return rooms.Room{Room: app.Room{Spec: spec.Room{Name: name}}, Cost: usage.Model{
		Kept: []byte(kept),
		Report: func(in usage.Input) (usage.Report, error) {
			return usage.Report{Title: name, Rows: [][]string{{string(in.Counters)}}, Notes: "notes\n"}, nil
		},
	}}
}

// TestCounters: counters of a benchmark replace members of those of the repository.
func TestCounters(t *testing.T) {
	t.Parallel()

	known := []rooms.Room{lab("a", `{"measured":"2026-11-20","items":1,"calls":2}`), lab("b", `{"measured":"2026-11-19","calls":1}`),
		lab("assumed", `{}`), {Room: app.Room{Spec: spec.Room{Name: "without a model"}}}}

	for name, c := range map[string]struct {
		bench  string // the file's text; "" for no file
		counts map[string]string
		source string // a part
		err    string // a part
	}{
		"no benchmark": {
			counts: map[string]string{
				"a":       `{"calls":2,"items":1,"measured":"2026-11-20"}`,
				"b":       `{"calls":1,"measured":"2026-11-19"}`,
				"assumed": `{}`,
			},
			source: "Calls of a, b: infra/rooms/*/cost/counters.json, measured on 2026-11-19, 2026-11-20; `make bench` measures anew",
		},
		"a benchmark": {
			bench: `{"a":{"calls":3},"b":{},"assumed":null}`,
			counts: map[string]string{
				"a":       `{"calls":3,"items":1,"measured":"2026-11-20"}`,
				"b":       `{"calls":1,"measured":"2026-11-19"}`,
				"assumed": `{}`,
			},
			source: "bench.json, measured on 20",
		},
		"half a file": {bench: `{"a":[`, err: "bench.json: unexpected end of JSON input"},
		"a room less": {bench: `{"a":{}}`, err: "bench.json lack b: run `make bench`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			file := filepath.Join(t.TempDir(), "bench.json")
			if c.bench != "" {
				if err := os.WriteFile(file, []byte(c.bench), 0o644); err != nil {
					t.Fatal(err)
				}
			}

			counters, source, err := read(known, file)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}

				return
			}

			if err != nil || !strings.Contains(source, c.source) {
				t.Errorf("got the source %q and %v, want %q", source, err, c.source)
			}

			got := map[string]string{}
			for room, text := range counters {
				got[room] = string(text)
			}

			if diff := cmp.Diff(c.counts, got); diff != "" {
				t.Errorf("counters (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCommand prints the reports of all rooms.
func TestCommand(t *testing.T) {
	t.Parallel()

	var out strings.Builder
	if err := command(&out, all.Rooms(), "none"); err != nil {
		t.Fatal(err)
	}

	for _, wrong := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(out.String(), wrong) {
			t.Errorf("the report contains %q:\n%s", wrong, &out)
		}
	}

	if !strings.HasPrefix(out.String(), "Dollars a month, ") {
		t.Errorf("the report has no heading:\n%s", &out)
	}
}

// TestAtRest: no room costs more in a month in which nothing happens than its model promises.
func TestAtRest(t *testing.T) {
	t.Parallel()

	for _, room := range all.Rooms() {
		u, err := usage.Fixed(room.Spec, usage.JobReads)
		if err != nil {
			t.Fatal(err)
		}

		if got := u.Dollars(price.Listed()); got > room.Cost.AtRest {
			t.Errorf("%s costs %.2f dollars at rest, more than the %.2f of AtRest in its usage.Model: %+v", room.Spec.Name, got, room.Cost.AtRest, u)
		}
	}

	if got := usage.Shared().Dollars(price.Listed()); got > 3 {
		t.Errorf("what the rooms share costs %.2f dollars at rest, more than 3", got)
	}
}
