package limit_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/limit"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

var (
	links = spec.Limit{Name: "links", Max: 3, Per: 10 * time.Minute, Code: "too_many_links"}
	noon  = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
)

// TestWindow: acts are counted for a period that begins with the first, and from its end on
// anew. An act beyond the limit is refused until then.
func TestWindow(t *testing.T) {
	t.Parallel()

	var w limit.Window

	for _, c := range []struct {
		after time.Duration
		want  limit.Window
		left  time.Duration // until the period ends, of a refusal
	}{
		{0, limit.Window{Begins: noon, Count: 1}, 0},
		{time.Minute, limit.Window{Begins: noon, Count: 2}, 0},
		{2 * time.Minute, limit.Window{Begins: noon, Count: 3}, 0},
		{3 * time.Minute, limit.Window{Begins: noon, Count: 3}, 7 * time.Minute},
		{10*time.Minute - time.Second, limit.Window{Begins: noon, Count: 3}, time.Second},
		{10 * time.Minute, limit.Window{Begins: noon.Add(10 * time.Minute), Count: 1}, 0},
		{11*time.Minute + 1, limit.Window{Begins: noon.Add(10 * time.Minute), Count: 2}, 0},
	} {
		now := noon.Add(c.after).In(time.FixedZone("", 3600))
		checked := w.Check(links, now)

		next, err := w.Take(links, now)
		if diff := cmp.Diff(c.want, next); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", c.after, diff)
		}

		var want error
		if c.left > 0 {
			want = problem.Beyond(links).WithRetryAfter(c.left)
		}

		for _, got := range []error{checked, err} {
			p, _ := errors.AsType[*problem.Error](got)
			if (got == nil) != (want == nil) || want != nil && (!errors.Is(got, want) || p.RetryAfter != c.left) {
				t.Errorf("after %v: %v, want %v", c.after, got, want)
			}
		}

		w = next
	}
}

// TestWindowBeginsInWholeSeconds, so that a row that was read is as it was written.
func TestWindowBeginsInWholeSeconds(t *testing.T) {
	t.Parallel()

	w, err := limit.Window{}.Take(links, noon.Add(time.Second-1).In(time.FixedZone("", 3600)))
	if err != nil {
		t.Fatal(err)
	}

	text, err := json.Marshal(w)
	if want := `{"begins":"2026-06-06T12:00:00Z","count":1}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}

	var read limit.Window
	if err := json.Unmarshal(text, &read); err != nil || read != w {
		t.Errorf("got %+v, %v, want %+v", read, err, w)
	}
}

// TestLeft is never negative.
func TestLeft(t *testing.T) {
	t.Parallel()

	w := limit.Window{Begins: noon, Count: 3}
	for after, want := range map[time.Duration]time.Duration{
		-time.Minute: 11 * time.Minute, 0: 10 * time.Minute, 10*time.Minute - 1: 1, 10 * time.Minute: 0, time.Hour: 0,
	} {
		if got := w.Left(links, noon.Add(after)); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
}
