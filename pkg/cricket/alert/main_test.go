package alert_test

import (
	"os"
	"testing"

	"matchday/infra/testkit"
)

func TestMain(m *testing.M) {
	testkit.LogByWorld()
	os.Exit(m.Run())
}
