package code_test

import (
	"strings"
	"testing"

	"matchday/pkg/kit/code"
)

// TestCodesAreNew: a code has eight letters of the alphabet, and is read as it is.
func TestCodesAreNew(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}

	for range 100 {
		c := code.New()
		if len(c) != code.Length || strings.Trim(c, code.Letters) != "" || code.Read(c) != c || seen[c] {
			t.Errorf("the code is %q, want a new one of %d letters of the alphabet", c, code.Length)
		}

		seen[c] = true
	}
}

// TestCodesHaveAllLetters of Base32, each as often as others.
func TestCodesHaveAllLetters(t *testing.T) {
	t.Parallel()

	seen := map[rune]int{}

	for range 1000 {
		for _, r := range code.New() {
			seen[r]++
		}
	}

	for _, r := range "0123456789ABCDEFGHJKMNPQRSTVWXYZ" {
		if n := seen[r]; n < 125 || n > 375 { // of 250, eight standard deviations
			t.Errorf("%c is there %d times in 1,000 codes", r, n)
		}

		delete(seen, r)
	}

	if len(seen) > 0 {
		t.Errorf("other letters: %v", seen)
	}
}

// TestCodesAreReadLeniently: case, hyphens and spaces do not matter, nor letters that look
// like digits.
func TestCodesAreReadLeniently(t *testing.T) {
	t.Parallel()

	for typed, want := range map[string]string{"7q2m-z0kd": "7Q2MZ0KD", "7Q2M ZOKD": "7Q2MZ0KD", "iIlL1": "11111", "": ""} {
		if got := code.Read(typed); got != want {
			t.Errorf("%q is read as %q, want %q", typed, got, want)
		}
	}
}
