package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchday/infra/stage"
	"matchday/pkg/fleet"
)

// TestPageIsCurrent: the committed page is what the spec says now.
func TestPageIsCurrent(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page(fleet.Rooms())) {
		t.Error("docs/runbook.md is not what the spec says: run `make runbook`")
	}
}

// TestPageIsComplete: whatever wakes the on-call is on the page, with what users
// notice and where the logs are.
func TestPageIsComplete(t *testing.T) {
	t.Parallel()
	text, s := string(page(fleet.Rooms())), stage.Stage{Name: stage.Prod}
	for _, room := range fleet.Rooms() {
		for _, a := range s.Alarms(room) {
			if !strings.Contains(text, "`"+a.Name+"`") || !strings.Contains(text, a.IfDown) {
				t.Errorf("the alarm %s is not on the page", a.Name)
			}
		}
		for _, f := range room.Functions {
			if !strings.Contains(text, "### "+f.Name+"\n") || !strings.Contains(text, "`"+s.LogGroup(f)+"`") {
				t.Errorf("the function %s is not on the page", f.Name)
			}
		}
	}
}
