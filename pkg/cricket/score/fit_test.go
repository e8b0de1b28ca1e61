package score_test

import (
	"encoding/json"
	"strings"
	"testing"

	v2 "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"matchday/pkg/cricket/score"
)

// TestFitKeepsWithinItsSize: a text never takes more bytes of JSON than its size, and is
// shortened only if it would.
func TestFitKeepsWithinItsSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(3, 40).Draw(t, "size")
		text := rapid.StringOf(rapid.SampledFrom([]rune{'a', 'b', ' ', 'é', '…', '<', '&', '"', '\\', '\u2028', '\n', '\x00', '🏏'})).Draw(t,
			"text")
		got := score.Fit(text, size)
		bytesOf := func(s string) (most int) {
			for _, marshal := range []func(any) ([]byte, error){json.Marshal, func(v any) ([]byte, error) { return v2.Marshal(v) }} {
				b, err := marshal(s)
				if err != nil {
					t.Fatal(err)
				}

				most = max(most, len(b)-2)
			}

			return most
		}
		printable := strings.Map(func(r rune) rune {
			if r == '\n' || r == '\x00' {
				return -1
			}

			return r
		}, text)

		cut, shortened := strings.CutSuffix(got, "…")
		switch n := bytesOf(got); {
		case n > size:
			t.Fatalf("Fit(%q, %d) is %q, which has %d bytes", text, size, got, n)
		case got == printable:
		case bytesOf(printable) <= size:
			t.Fatalf("Fit(%q, %d) is %q, and %q fits", text, size, got, printable)
		case got != "" && (!shortened || !strings.HasPrefix(printable, cut)):
			t.Fatalf("Fit(%q, %d) is %q, which is not the beginning of the text with …", text, size, got)
		}
	})
}
