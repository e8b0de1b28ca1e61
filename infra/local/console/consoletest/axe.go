package consoletest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// Axe returns axe-core, the program that finds barriers for people on pages. `make tools` fetches it.
func Axe(t *testing.T) (program string) {
	t.Helper()

	root := "."
	for _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil; _, err = os.Stat(filepath.Join(root, "go.mod")) {
		root = filepath.Join(root, "..")
	}

	cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "tools")
	cmd.Dir = root

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make tools: %v\n%s", err, out)
	}

	text, err := os.ReadFile(filepath.Join(root, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}

	return string(text)
}

// Accessible fails the test if axe finds a serious barrier on the page of a tab, by WCAG 2.2, levels A
// and AA, and by its best practices.
func Accessible(t *testing.T, tab context.Context, axe, name string) {
	t.Helper()

	if _, err := Run(tab, chromedp.Evaluate[int](axe+";0")); err != nil {
		t.Fatal(err)
	}

	const look = `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then((found) => {
  if (!found.passes.length) throw new Error("axe-core has checked nothing");
  return JSON.stringify(found.violations.filter((v) => ["serious", "critical"].includes(v.impact))
    .map((v) => v.help + ": " + v.nodes.map((n) => n.html).join(" ")));
})`

	text, err := Run(tab, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}

	var found []string
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}

	for _, barrier := range found {
		t.Errorf("%s: %s", name, barrier)
	}
}
