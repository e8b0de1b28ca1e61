// Command proof says what the tests that just ran have exercised: which access
// patterns were run against the real engine, under the grants of a function,
// and how many crash points were survived. `make test` prints it.
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
	patterns, crashes := lines(os.Args[1], "patterns"), lines(os.Args[1], "crashes")
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\naccess pattern\tby\tcalls in tests")
	total, exercised, used := 0, 0, 0
	for _, room := range fleet.Rooms() {
		for _, a := range room.Access {
			total++
			by := users(room, a)
			if len(by) > 0 {
				used++
			}
			calls := patterns[a.ID()]
			if calls > 0 {
				exercised++
			}
			fmt.Fprintf(out, "%s\t%s\t%d\n", a.ID(), strings.Join(by, " "), calls)
		}
	}
	out.Flush()
	fmt.Printf("\n%d access patterns, %d in use by functions, %d exercised against the engine; %d crash points covered\n", total, used, exercised, len(crashes))
	if used < total || exercised < total {
		fmt.Println("every access pattern must be some function's, and exercised")
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
