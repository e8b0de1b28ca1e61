package item_test

import (
	"encoding/json"
	"testing"

	"matchday/pkg/pickem/item"
)

// TestResultAsJSON: a result is a place or "void", and nothing else is read.
func TestResultAsJSON(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]item.Result{`0`: 0, `1`: 1, `10`: 10, `39`: 39, `2147483647`: 1<<31 - 1, `"void"`: item.Void} {
		var got item.Result
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %d, %v, want %d", text, got, err, want)
		}

		if back, err := json.Marshal(want); err != nil || string(back) != text {
			t.Errorf("%d is written as %s, %v, want %s", want, back, err, text)
		}
	}

	for _, text := range []string{`-1`, `1.0`, `1e1`, `"1"`, `"Void"`, `""`, `true`, `[]`, `{}`, `2147483648`} {
		var got item.Result
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %d, want an error", text, got)
		}
	}
}
