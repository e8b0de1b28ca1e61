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

// TestProviderOfReplay: a provider that the room's replay does not have is refused with the valid ones.
func TestProviderOfReplay(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ room, name, wrong string }{
		{"bestshot", "", ""},
		{"bestshot", "sofascore", ""},
		{"bestshot", "api-football", ""},
		{"cricket", "", ""},
		{"bestshot", "opta", "PROVIDER=opta is not valid; valid values: sofascore, api-football"},
		{"cricket", "sofascore", "PROVIDER=sofascore is not valid: the replay of cricket has one provider"},
	} {
		room, err := roomOf(c.room)
		if err != nil {
			t.Fatal(err)
		}

		err = checkProvider(room, c.name)
		if _, ok := errors.AsType[misuse](err); ok != (c.wrong != "") || ok && err.Error() != c.wrong {
			t.Errorf("ROOM=%s PROVIDER=%s: %v, want %q", c.room, c.name, err, c.wrong)
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

// TestRetentionOfReplay: the days of a room whose replay has no retention are refused.
func TestRetentionOfReplay(t *testing.T) {
	for _, c := range []struct {
		room, days string
		want       int
		wrong      string
	}{
		{"commitcollect", "7", 7, ""},
		{"commitcollect", "", 0, ""},
		{"cricket", "0", 0, ""},
		{"cricket", "7", 0, "RETENTION=7 is not valid: the replay of cricket has no retention"},
		{"commitcollect", "366", 0, "RETENTION=366 is not valid: give days, at most 365"},
		{"commitcollect", "x", 0, "RETENTION=x is not valid: give a whole number from 0 up, as in RETENTION=7"},
	} {
		t.Setenv("RETENTION", c.days)

		room, err := roomOf(c.room)
		if err != nil {
			t.Fatal(err)
		}

		days, err := retention(room)
		if _, ok := errors.AsType[misuse](err); days != c.want || ok != (c.wrong != "") || ok && err.Error() != c.wrong {
			t.Errorf("ROOM=%s RETENTION=%s: got %d, %v; want %d, %q", c.room, c.days, days, err, c.want, c.wrong)
		}
	}
}
