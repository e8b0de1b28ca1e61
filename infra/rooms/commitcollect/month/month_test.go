package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/commitcollect/workout"
)

// TestTableOfTheDocument: the table in docs/deploy.md is that of the program. With UPDATE=1 it is written.
func TestTableOfTheDocument(t *testing.T) {
	t.Parallel()

	const begin, end = "<!-- go run ./infra/rooms/commitcollect/month -->\n", "<!-- end -->\n"

	file := filepath.Join("..", "..", "..", "..", "docs", "deploy.md")

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	before, rest, ok1 := strings.Cut(string(text), begin)

	is, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks %q and %q", file, begin, end)
	}

	var want bytes.Buffer
	if err := Print(&want); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want.String(), is); diff == "" {
		return
	} else if os.Getenv("UPDATE") == "" {
		t.Errorf("%s differs: run the test with UPDATE=1 and review the file (-want +got):\n%s", file, diff)
	} else if err := os.WriteFile(file, []byte(before+begin+want.String()+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCounterCountsAsTheBudget: a read waits for the longer of the periods that are used up.
func TestCounterCountsAsTheBudget(t *testing.T) {
	t.Parallel()

	shares := workout.EventReads.Of(workout.Allowed{Quarter: 2, Day: 3})
	noon := start.Add(12 * time.Hour)

	var c counter

	for i, s := range []struct{ after, wait time.Duration }{
		{0, 0}, {time.Minute, 0}, {2 * time.Minute, 13 * time.Minute}, {15 * time.Minute, 0}, {16 * time.Minute, 11*time.Hour + 44*time.Minute},
		{12 * time.Hour, 0}, {12 * time.Hour, 0}, {12 * time.Hour, 15 * time.Minute},
	} {
		if got := c.take(shares, noon.Add(s.after)); got != s.wait {
			t.Errorf("read %d waits %v, want %v", i, got, s.wait)
		}
	}
}

// TestMonthStaysWithinTheLimits, and the same month is the same twice.
func TestMonthStaysWithinTheLimits(t *testing.T) {
	t.Parallel()

	for _, users := range []int{1, 60} {
		allowed := workout.Allowed{Quarter: 10, Day: 60}

		first, second := Simulate(users, allowed), Simulate(users, allowed)
		if first != second || first.Reads > allowed.Day || first.Reads == 0 {
			t.Errorf("%d users: %+v, and then %+v, want the same, and at most %d reads a day", users, first, second, allowed.Day)
		}

		if late := first.Workout.P99 > time.Minute; late != (users == 60) {
			t.Errorf("%d users wait %v for a workout", users, first.Workout.P99)
		}
	}
}
