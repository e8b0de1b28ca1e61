package drawing

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPaths are read as those of an SVG.
func TestPaths(t *testing.T) {
	t.Parallel()

	for path, want := range map[string][]Polyline{
		"M10 20":               {{{10, 20}}},
		"M10 20 30 40":         {{{10, 20}, {30, 40}}},
		"m10,20 30-10":         {{{10, 20}, {40, 10}}},
		"M10 20H30V5h-5v1":     {{{10, 20}, {30, 20}, {30, 5}, {25, 5}, {25, 6}}},
		"M1.5.5l2 2z":          {{{1.5, 0.5}, {3.5, 2.5}, {1.5, 0.5}}},
		"M1 1h2zm4 4h1":        {{{1, 1}, {3, 1}, {1, 1}}, {{5, 5}, {6, 5}}},
		"M1 1L2 2ZL9 9":        {{{1, 1}, {2, 2}, {1, 1}, {9, 9}}},
		" M 1 1 , L 2 2 ":      {{{1, 1}, {2, 2}}},
		"M5 5A3 3 0 0 1 5 5h1": {{{5, 5}, {6, 5}}},
	} {
		got, err := Stroke{Path: path}.Lines()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", path, err, diff)
		}
	}
}

// TestCurves pass through the points that their definitions give.
func TestCurves(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]Point{
		"M0 0C0 100 100 100 100 0":             {50, 75},
		"M0 0q50 100 100 0":                    {50, 50},
		"M100 50A50 50 0 0 0 0 50":             {50, 0}, // the half above
		"M100 50A50 50 0 0 1 0 50":             {50, 100},
		"M100 50a50 50 0 1 1 -100 0z":          {50, 100},
		"M100 50A5 5 0 0 1 0 50":               {50, 100}, // too small to reach
		"M100 50A25 50 90 0 1 0 50":            {50, 75},  // turned: 50 wide and 25 high
		"M150 100A50 50 0 0 1 100 150":         {135.355, 135.355},
		"M150 100A50 50 0 1 0 100 150L100 150": {64.645, 64.645}, // the long way
	} {
		lines, err := Stroke{Path: path}.Lines()
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}

		near := false
		for _, p := range lines[0] {
			near = near || abs(p.X-want.X) < 0.01 && abs(p.Y-want.Y) < 0.01
		}

		if !near {
			t.Errorf("%s does not pass through %v: %v", path, want, lines)
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }

// TestWrongPathsAreRefused with what is wrong.
func TestWrongPathsAreRefused(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]string{
		"":                                    "begins with M",
		"L1 1":                                "begins with M",
		"M1":                                  "a number is missing",
		"M1 1L2":                              "a number is missing",
		"M1 1X":                               "has no command 'X'",
		"M1 1S2 2 3 3":                        "has no command 'S'",
		"M1 1L-1 1":                           "stays on the canvas",
		"M1 1L641 1":                          "stays on the canvas",
		"M1 1L1 361":                          "stays on the canvas",
		"M1 1L1e9 1":                          "a number is missing",
		"M1 1LNaN 1":                          "a number is missing",
		"M1 1L- 1":                            "a number is missing",
		"M9 9A1 1 0 2 0 3 3":                  "a flag",
		"M9 9A0 1 0 0 0 3 3":                  "a radius",
		"M0 0A300 300 0 0 1 640 0":            "stays on the canvas",
		"M1 1" + strings.Repeat(" ", MaxPath): "at most 300 bytes",
		"M1 1L" + strings.Repeat("9", 200) + " 1": "stays on the canvas",
	} {
		_, err := Stroke{Path: path}.Lines()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

// FuzzPath: no path makes the reader panic, or leave the canvas.
func FuzzPath(f *testing.F) {
	for _, path := range []string{"M1 1h2zm4 4h1", "M100 50a50 50 30 1 1-100 0z", "M0 0C0 100 100 100 100 0q1 1 2 2", "m1,1-.5.5"} {
		f.Add(path)
	}

	f.Fuzz(func(t *testing.T, path string) {
		lines, err := Stroke{Path: path}.Lines()
		if (err == nil) == (len(lines) == 0) {
			t.Errorf("%q: %v and %d lines", path, err, len(lines))
		}

		for _, l := range lines {
			for _, p := range l {
				if !(p.X >= 0 && p.X <= Width && p.Y >= 0 && p.Y <= Height) {
					t.Errorf("%q leaves the canvas at %v", path, p)
				}
			}
		}
	})
}
