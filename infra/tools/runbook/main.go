// Command runbook writes the on-call page of the rooms of $ROOMS, by default of all, to a file: from
// the spec, and from the names and alarms of the stacks. `make runbook` runs it.
package main

import (
	"errors"
	"fmt"
	"os"

	"matchday/pkg/fleet"
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: runbook FILE: the file to write")
	}

	rooms, err := fleet.Choose(os.Getenv("ROOMS"), "")
	if err != nil {
		return err
	}

	return os.WriteFile(args[0], page(rooms.Specs()), 0o644)
}
