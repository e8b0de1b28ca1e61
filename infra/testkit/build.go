package testkit

import (
	"testing"

	"matchday/infra/tools/binaries"
)

// BuildFunctions builds functions of the module in root into a folder of binaries as
// fleet.Config wants it: see binaries.BuildFunctions.
func BuildFunctions(t testing.TB, root, dir string, functions ...string) {
	t.Helper()
	for _, f := range functions {
		Must(t, binaries.BuildFunctions(t.Context(), root, dir, f))
	}
}
