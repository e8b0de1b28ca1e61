// Command accesscoverage prints what the tests that just ran have exercised: which
// access patterns ran against the real engine, under the grants of a function,
// which metrics were emitted, how many crash points were covered, and how many
// operations were attacked with how many mutations. `make test` runs it. It exits with 1 if a
// pattern or a metric of the rooms of $ROOMS, by default of all, was not exercised.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "name the folder in which the tests recorded: $MATCHDAY_COVERAGE")
		os.Exit(2)
	}

	rooms, err := fleet.Choose(os.Getenv("ROOMS"), "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}

	patterns, crashes := lines(os.Args[1], "patterns"), lines(os.Args[1], "crashes")
	metrics := lines(os.Args[1], "metrics")
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\naccess pattern\tby\tcalls in tests")

	total, exercised, silent := 0, 0, 0

	for _, room := range rooms.Specs() {
		for _, a := range room.Access() {
			total++

			calls := patterns[a.ID()]
			if calls > 0 {
				exercised++
			}

			fmt.Fprintf(out, "%s\t%s\t%d\n", a.ID(), strings.Join(users(room, a), " "), calls)
		}

		for _, m := range room.Metrics() {
			if metrics[room.Name+": "+m.Name] == 0 {
				silent++

				fmt.Fprintf(os.Stderr, "no test emits the metric %s of %s\n", m.Name, room.Name)
			}
		}
	}

	out.Flush()
	fmt.Printf("\n%d access patterns, %d exercised against the engine; %d crash points covered%s\n", total, exercised,
		len(crashes), attacked(os.Args[1]))

	if exercised < total || silent > 0 {
		fmt.Println("every access pattern and every metric of the spec must be exercised by a test")
		os.Exit(1)
	}
}

// users are the functions that use a pattern, without their room.
func users(room spec.Room, a spec.Access) (names []string) {
	for _, f := range room.Functions {
		for _, u := range f.Uses {
			if u.ID() == a.ID() {
				names = append(names, strings.TrimPrefix(f.Name, room.Name+"/"))
			}
		}
	}

	return names
}

// attacked is what the attack recorded, or "" if it did not run.
func attacked(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "attack"))
	if err != nil {
		return ""
	}

	return "; " + strings.TrimSpace(string(text))
}

// lines counts the different lines of a file; there are none if it is not there.
func lines(dir, name string) map[string]int {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts[strings.TrimSpace(line)]++
	}

	return counts
}
