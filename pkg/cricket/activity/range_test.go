package activity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hexID is the i-th of n evenly distributed push tokens with a common prefix.
func hexID(prefix string, i, n int) string {
	return fmt.Sprintf("%s%08x%s", prefix, uint64(i)<<32/uint64(n), strings.Repeat("5e", 28))
}

func TestSplitEstimatesPartsByDensity(t *testing.T) {
	t.Parallel()

	for _, prefix := range []string{"", "80", "80a1b2c3d4e5f60718293a4b"} {
		var all []string
		for i := range 60_000 {
			all = append(all, hexID(prefix, i, 60_000))
		}

		parts := IDRange{}.Split(all[:2000], all[len(all)-1], 1800, 32)
		if len(parts) != 32 {
			t.Errorf("prefix %q: %d parts, want the maximum of 32", prefix, len(parts))
		}

		for _, p := range parts {
			n := 0

			for _, id := range all {
				if p.contains(id) {
					n++
				}
			}

			if n < 1800 || n > 1825 { // 58,000/32 = 1,812
				t.Errorf("prefix %q: part %+v contains %d ids, want 1,800 to 1,825", prefix, p, n)
			}
		}

		if parts = (IDRange{}).Split(all[:2000], all[2100], 1800, 32); len(parts) != 1 {
			t.Errorf("prefix %q: 100 ids are divided into %d parts, want 1", prefix, len(parts))
		}
	}
}

func TestSharedPrefix(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"a", "", ""},
		{"", "a", ""},
		{"a", "b", ""},
		{"ab", "ac", "a"},
		{"ab", "ab", "ab"},
		{"ab", "abc", "ab"},
		{"abc", "ab", "ab"},
		{"xé", "xè", "x"},
		{"xé", "xéy", "xé"},
		{"é", "è", ""},
		{"\x80a", "b", ""},
	} {
		if got := sharedPrefix(c.a, c.b); got != c.want {
			t.Errorf("of %q and %q: got %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// For any ids, each one after those seen is in exactly one part.
func TestSplitPartsContainEachIDOnce(t *testing.T) {
	t.Parallel()

	id := rapid.OneOf(
		rapid.StringMatching(`[0-9a-f]{1,40}`), rapid.StringMatching(`80[0-9a-f]{16}`),
		rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}`), rapid.StringN(1, 10, 30),
	)

	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(id, 2, 60, rapid.ID[string]).Draw(t, "ids")
		slices.Sort(all)

		r := IDRange{}
		if rapid.Bool().Draw(t, "from") {
			r.From, all = all[0], all[1:]
		}

		if rapid.Bool().Draw(t, "until") {
			r.Until = all[len(all)-1]
		}

		seen := all[:rapid.IntRange(1, len(all)).Draw(t, "seen")]

		parts := r.Split(seen, all[len(all)-1], rapid.IntRange(1, 10).Draw(t, "size"), rapid.IntRange(1, 32).Draw(t, "parts"))
		if len(parts) > 32 {
			t.Fatalf("%d parts, want at most 32", len(parts))
		}

		others := rapid.SliceOf(id).Draw(t, "ids added later") // they belong to the same parts
		for _, id := range slices.Concat(all, others) {
			n := 0

			for _, p := range parts {
				if p.contains(id) {
					n++
				}
			}

			want := 0
			if r.contains(id) && id > seen[len(seen)-1] {
				want = 1
			}

			if n != want {
				t.Fatalf("id %q is in %d of the parts %+v, want %d", id, n, parts, want)
			}
		}
	})
}

func TestPositionIsMonotonic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if a > b {
			a, b = b, a
		}

		if position(a) > position(b) || position(b) >= 1<<(4*positionDigits) {
			t.Fatalf("position(%q) is %x, position(%q) is %x, want the same order and 12 digits", a, position(a), b, position(b))
		}
	})
}
