package attack

import (
	"context"
	"os"
	"sync"
	"testing"

	"matchday/infra/tools/binaries"
)

const root = "../../.."

// built returns the folder of the functions' binaries, which all tests share.
var built = sync.OnceValues(func() (bin string, err error) {
	if folder, err = os.MkdirTemp("", "attack-"); err != nil {
		return "", err
	}
	return folder, binaries.BuildAll(context.Background(), root, folder)
})

// folder is what TestMain removes: "" if nothing was built.
var folder string

func TestMain(m *testing.M) {
	code := m.Run()
	if folder != "" {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}
