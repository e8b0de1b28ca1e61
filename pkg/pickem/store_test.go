package pickem

import (
	"cmp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPad: numbers in keys are as wide as the widest, and what is wider is refused.
func TestPad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, max int
		want   string // "" for refused
	}{
		{0, maxCard, "00"}, {9, maxCard, "09"}, {10, maxCard, "10"}, {99, maxCard, "99"}, {100, maxCard, ""},
		{0, maxScore, "000"}, {9, maxScore, "009"}, {10, maxScore, "010"}, {99, maxScore, "099"}, {100, maxScore, "100"}, {999, maxScore, "999"}, {1000, maxScore, ""},
		{0, maxStanding, "00000"}, {140, maxStanding, "00140"}, {9_999, maxStanding, "09999"}, {10_000, maxStanding, "10000"}, {99_999, maxStanding, "99999"}, {100_000, maxStanding, ""},
		{-1, maxStanding, ""},
	} {
		if got, err := pad(c.n, c.max); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%d of up to %d is %q, %v, want %q", c.n, c.max, got, err, c.want)
		}
	}
	for _, c := range []struct {
		max  int
		want string
	}{{maxScore, "SCORE#140#sam"}, {maxStanding, "SCORE#00140#sam"}} {
		if got, err := scoreSK(140, c.max, "sam"); got != c.want || err != nil {
			t.Errorf("the key is %q, %v, want %q", got, err, c.want)
		}
	}
	if got, err := placeSK(1); got != "MATCH#01" || err != nil {
		t.Errorf("the first place is %q, %v", got, err)
	}
}

// TestKeysSortAsNumbers: keys are in the order of their numbers, whoever they are of.
func TestKeysSortAsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{maxScore, maxStanding}).Draw(t, "limit")
		number, name := rapid.IntRange(0, limit), rapid.StringMatching(`[!-~]{1,12}`)
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, errX := scoreSK(a, limit, name.Draw(t, "whose a"))
		y, errY := scoreSK(b, limit, name.Draw(t, "whose b"))
		if errX != nil || errY != nil || a != b && strings.Compare(x, y) != cmp.Compare(a, b) {
			t.Fatalf("%q and %q are not in the order of %d and %d", x, y, a, b)
		}
		if _, err := scoreSK(limit+1+a, limit, "sam"); err == nil {
			t.Fatalf("%d fits", limit+1+a)
		}
	})
}
