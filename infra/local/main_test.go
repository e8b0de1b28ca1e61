package main

import (
	"errors"
	"strings"
	"testing"
)

func TestSeed(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "7": 7, "18446744073709551615": 1<<64 - 1} {
		t.Setenv("FAULTS", text)

		if n, err := number("FAULTS"); err != nil || n == nil || *n != want {
			t.Errorf("FAULTS=%s is the seed %v, %v", text, n, err)
		}
	}

	t.Setenv("FAULTS", "")

	if n, err := number("FAULTS"); err != nil || n != nil {
		t.Errorf("without FAULTS the seed is %v, %v", n, err)
	}

	for _, text := range []string{"x", "-1", "1.5", "7 ", "0x7", "18446744073709551616"} {
		t.Setenv("FAULTS", text)

		_, err := number("FAULTS")
		if _, ok := errors.AsType[misuse](err); !ok || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), "FAULTS="+text) {
			t.Errorf("FAULTS=%s: %v", text, err)
		}
	}
}

// TestRoomOfReplay: without ROOM the first room with a replay is played.
func TestRoomOfReplay(t *testing.T) {
	for _, room := range []string{"", "cricket"} {
		if r, err := roomOf(room); err != nil || r.Replay == nil {
			t.Errorf("ROOM=%s: %v", room, err)
		}
	}

	_, err := roomOf("golf")
	if _, ok := errors.AsType[misuse](err); !ok || !strings.Contains(err.Error(), "ROOM=golf") || !strings.Contains(err.Error(), "cricket") {
		t.Errorf("ROOM=golf: %v", err)
	}
}
