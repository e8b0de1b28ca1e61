package testkit

import (
	"testing"

	"matchday/infra/tools/binaries"
)

// Program returns the path of the program that holds all functions of the module in root, for
// fleet.Config.
func Program(t testing.TB, root string) string {
	t.Helper()
	program, err := binaries.Local(t.Context(), root)
	Must(t, err)

	return program
}
