package main

import (
	"errors"
	"strings"
	"testing"
)

func TestSeed(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "7": 7, "18446744073709551615": 1<<64 - 1} {
		t.Setenv("FAULTS", text)
		if n, err := seed(); err != nil || n == nil || *n != want {
			t.Errorf("FAULTS=%s is the seed %v, %v", text, n, err)
		}
	}
	t.Setenv("FAULTS", "")
	if n, err := seed(); err != nil || n != nil {
		t.Errorf("without FAULTS the seed is %v, %v", n, err)
	}
	for _, text := range []string{"x", "-1", "1.5", "7 ", "0x7", "18446744073709551616"} {
		t.Setenv("FAULTS", text)
		_, err := seed()
		if _, ok := errors.AsType[misuse](err); !ok || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), "FAULTS="+text) {
			t.Errorf("FAULTS=%s: %v", text, err)
		}
	}
}
