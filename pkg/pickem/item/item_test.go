package item_test

import (
	"cmp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"matchday/pkg/pickem/item"
)

// TestPad: numbers in keys have the width of the largest, and larger ones are refused.
func TestPad(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		n, max int
		want   string // "" for refused
	}{
		{0, item.MaxMatches, "00"},
		{9, item.MaxMatches, "09"},
		{10, item.MaxMatches, "10"},
		{99, item.MaxMatches, "99"},
		{100, item.MaxMatches, ""},
		{0, item.MaxEventPoints, "000"},
		{9, item.MaxEventPoints, "009"},
		{10, item.MaxEventPoints, "010"},
		{99, item.MaxEventPoints, "099"},
		{100, item.MaxEventPoints, "100"},
		{999, item.MaxEventPoints, "999"},
		{1000, item.MaxEventPoints, ""},
		{0, item.MaxYearPoints, "00000"},
		{140, item.MaxYearPoints, "00140"},
		{9_999, item.MaxYearPoints, "09999"},
		{10_000, item.MaxYearPoints, "10000"},
		{99_999, item.MaxYearPoints, "99999"},
		{100_000, item.MaxYearPoints, ""},
		{-1, item.MaxYearPoints, ""},
	} {
		if got, err := item.Pad(c.n, c.max); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%d of up to %d is %q, %v, want %q", c.n, c.max, got, err, c.want)
		}
	}

	for _, c := range []struct {
		max  int
		want string
	}{{item.MaxEventPoints, "SCORE#140#sam"}, {item.MaxYearPoints, "SCORE#00140#sam"}} {
		if got, err := item.ScoreSK(140, c.max, "sam"); got != c.want || err != nil {
			t.Errorf("the key is %q, %v, want %q", got, err, c.want)
		}
	}

	if got, err := item.PlaceSK(1); got != "MATCH#01" || err != nil {
		t.Errorf("the key of the first place is %q, %v", got, err)
	}
}

// TestKeysSortAsNumbers: keys sort by their numbers, for any user id.
func TestKeysSortAsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{item.MaxEventPoints, item.MaxYearPoints}).Draw(t, "limit")
		number, name := rapid.IntRange(0, limit), rapid.StringMatching(`[!-~]{1,12}`)
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, errX := item.ScoreSK(a, limit, name.Draw(t, "whose a"))

		y, errY := item.ScoreSK(b, limit, name.Draw(t, "whose b"))
		if errX != nil || errY != nil || a != b && strings.Compare(x, y) != cmp.Compare(a, b) {
			t.Fatalf("the keys %q and %q do not sort like %d and %d", x, y, a, b)
		}

		if _, err := item.ScoreSK(limit+1+a, limit, "sam"); err == nil {
			t.Fatalf("%d is accepted, want an error", limit+1+a)
		}
	})
}
