// Command runbook writes the on-call page, docs/runbook.md, from the spec and
// from the names and alarms of the stacks. `make runbook` runs it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"matchday/pkg/fleet"
)

func main() {
	if err := os.WriteFile(filepath.Join("docs", "runbook.md"), page(fleet.Specs()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
