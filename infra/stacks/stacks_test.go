package stacks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// TestMain removes the temporary files that linking the CDK makes.
func TestMain(m *testing.M) {
	code := m.Run()

	jsii.Close()
	os.Exit(code)
}

// TestBuilt: a binary that cannot run returns an error of one sentence.
func TestBuilt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, content []byte, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, mode); err != nil {
			t.Fatal(err)
		}

		return path
	}
	header := func(arch string) []byte { // of an ELF file without a program
		own := filepath.Join(dir, arch)
		if err := StandIn(own, arch); err != nil {
			t.Fatal(err)
		}

		program, err := os.ReadFile(filepath.Join(own, "bootstrap"))
		if err != nil {
			t.Fatal(err)
		}

		return program
	}

	const arm64, amd64 = "arm64", "x86_64"
	for name, c := range map[string]struct {
		path, arch, want string
	}{
		"for arm64":        {file("one", header(arm64), 0o755), "arm64", ""},
		"for x86_64":       {file("two", header(amd64), 0o755), "x86_64", ""},
		"not built":        {filepath.Join(dir, "none"), "arm64", "none is not built: run `make build ARCH=arm64` first"},
		"not built either": {filepath.Join(dir, "none"), "x86_64", "none is not built: run `make build ARCH=amd64` first"},
		"for another": {file("other", header(amd64), 0o755), "arm64",
			"other is not a program for Linux on arm64: run `make build ARCH=arm64`"},
		"for another yet": {file("another", header(arm64), 0o755), "x86_64",
			"another is not a program for Linux on x86_64: run `make build ARCH=amd64`"},
		"not executable": {file("mode", header(arm64), 0o644), "arm64", "mode cannot be executed: run `make build ARCH=arm64` again"},
		"a script": {file("script", []byte("#!/bin/sh\n"), 0o755), "arm64",
			"script is not a program for Linux on arm64: run `make build ARCH=arm64`"},
		"half of one": {file("half", header(arm64)[:30], 0o755), "arm64",
			"half is not a program for Linux on arm64: run `make build ARCH=arm64`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := ""
			if err := built(c.path, c.arch); err != nil {
				got = strings.TrimPrefix(err.Error(), dir+string(filepath.Separator))
			}

			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPatience(t *testing.T) {
	t.Parallel()

	for on, want := range map[spec.Schedule]time.Duration{
		"cron(* * * * ? *)": time.Minute, "rate(1 minute)": time.Minute, "rate(15 minutes)": 15 * time.Minute, "rate(90 minutes)": time.Hour,
		"rate(1 hour)": time.Hour, "rate(2 days)": time.Hour, "cron(10 3 * * ? *)": time.Hour, "cron(0/5 * * * ? *)": 5 * time.Minute,
	} {
		if got := patience(on); got != want {
			t.Errorf("%s may be late by %v, want %v", on, got, want)
		}
	}
}

// TestWhenConfirmed: a second function with the trigger UserConfirmed is an error,
// because the pool can call only one.
func TestWhenConfirmed(t *testing.T) {
	t.Parallel()

	room := func(names ...string) (r spec.Room) {
		for _, name := range names {
			r.Functions = append(r.Functions, spec.Function{Name: name + "/other", On: spec.Task{}},
				spec.Function{Name: name + "/hello", On: spec.UserConfirmed{}})
		}

		return r
	}
	for name, c := range map[string]struct {
		rooms []spec.Room
		want  string
	}{
		"nobody waits": {[]spec.Room{room()}, ""},
		"one":          {[]spec.Room{room(), room("a")}, "a/hello"},
		"two of two rooms": {
			[]spec.Room{room("a"), room("b")},
			"the user pool can call one function for those who have signed up, not both a/hello and b/hello",
		},
		"two of the one room": {
			[]spec.Room{room("a", "b")},
			"the user pool can call one function for those who have signed up, not both a/hello and b/hello",
		},
	} {
		got := ""

		switch f, err := whenConfirmed(c.rooms); {
		case err != nil:
			got = err.Error()
		case f != nil:
			got = f.Name
		}

		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestBehaviors: reads of users are not cached, even if the pattern of a public read
// matches them.
func TestBehaviors(t *testing.T) {
	t.Parallel()

	get := func(path string, auth spec.Auth) spec.Function {
		return spec.Function{On: spec.Route{Method: "GET", Path: path, Auth: auth}}
	}

	closed, public := behaviors([]spec.Function{
		get("/things", spec.Public), get("/things/{id}", spec.Public), get("/things/{id}/note", spec.User), get("/mine/{id}", spec.User),
		{On: spec.Route{Method: "PUT", Path: "/things/{id}", Auth: spec.Public}},
	})
	if want := []string{"/things/*/note"}; !slices.Equal(closed, want) {
		t.Errorf("%q are not cached, want %q", closed, want)
	}

	if want := []string{"/things", "/things/*"}; !slices.Equal(public, want) {
		t.Errorf("%q are cached, want %q", public, want)
	}
}

func TestExpression(t *testing.T) {
	t.Parallel()

	two := []stage.Metric{{Name: "a"}, {Name: "b"}}
	for want, a := range map[string]stage.Alarm{
		"":              {Metrics: two[:1]},
		"SUM([m1, m2])": {Metrics: two},
		"IF(FILL(w, REPEAT) > 0, FILL(SUM([m1, m2]), 0), 22)": {Metrics: two, While: &two[0], Below: true, Bound: 22},
		"IF(FILL(w, REPEAT) > 0, FILL(SUM([m1]), 0), 0.5)":    {Metrics: two[:1], While: &two[1], Bound: 0.5},
	} {
		if got := expression(a); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestCapacity: only production never pauses.
func TestCapacity(t *testing.T) {
	t.Parallel()

	if got := capacity(stage.Stage{Name: stage.Prod}); *got.MinCapacity != 0.5 || *got.MaxCapacity != 4 || got.SecondsUntilAutoPause != nil {
		t.Errorf("production scales from %v to %v units", *got.MinCapacity, *got.MaxCapacity)
	}

	if got := capacity(stage.Stage{Name: "dev"}); *got.MinCapacity != 0 || *got.MaxCapacity != 4 || *got.SecondsUntilAutoPause != 300 {
		t.Errorf("another stage scales from %v to %v units and pauses after %v s", *got.MinCapacity, *got.MaxCapacity, *got.SecondsUntilAutoPause)
	}
}

// TestVPCReachesNothingElse: a function in the VPC that would need more than
// databases, caches, queues, tables and buckets is refused with one sentence.
func TestVPCReachesNothingElse(t *testing.T) {
	t.Parallel()

	r := &room{spec: spec.Room{Functions: []spec.Function{{
		Name: "lab/both", SQL: []spec.SQLLogin{spec.SQLDatabase{Name: "lab"}.As("app")}, Secrets: []string{"KEY"},
	}}}}

	const want = "lab/both uses a database or a cache, so it runs in the VPC, from which it reaches no secret, account or mail: divide it " +
		"by a queue"
	if err := r.network(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
