// Command privacy writes the page about the data of users of the rooms of $ROOMS, by default of all, to a
// file, from the spec. `make privacy` runs it.
package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"

	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

//go:embed intro.md
var intro string

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: privacy FILE: the file to write")
	}

	rooms, err := fleet.Choose(os.Getenv("ROOMS"), "")
	if err != nil {
		return err
	}

	return os.WriteFile(args[0], page(rooms.Specs()), 0o644)
}

// page returns the page.
func page(rooms []spec.Room) []byte {
	var b strings.Builder

	b.WriteString(intro)

	for _, room := range rooms {
		fmt.Fprintf(&b, "\n## %s\n\n| store | of whom | what | for what | how long |\n|---|---|---|---|---|\n", room.Name)

		for _, d := range room.Data {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", d.Store, cmp.Or(d.Of, "nobody"), d.What, d.Why, d.Kept)
		}

		if len(room.Recipients) == 0 {
			continue
		}

		fmt.Fprintf(&b, "\n| who gets data besides AWS | which | for what |\n|---|---|---|\n")

		for _, r := range room.Recipients {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Name, r.Gets, r.Why)
		}
	}

	return []byte(b.String())
}
