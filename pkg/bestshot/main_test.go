package bestshot_test

import (
	"os"
	"testing"

	"matchday/infra/testkit"
	"matchday/infra/testkit/pgtest"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(pgtest.Run(m))
}
