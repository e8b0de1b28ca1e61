package topic_test

import (
	"os"
	"testing"

	"matchday/infra/testkit"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}
