package replay_test

import (
	"errors"
	"strings"
	"testing"

	"matchday/infra/local/replay"
	"matchday/infra/sim/lambda"
)

// TestReport writes cases with their problems, and each complaint once.
func TestReport(t *testing.T) {
	t.Parallel()

	var out, bar strings.Builder

	r := replay.NewReport(replay.Config{Out: &out, Progress: &bar})
	r.Log(lambda.Log{Function: "lab/a", Line: `{"level":"INFO","msg":"fine"}`})
	r.Log(lambda.Log{Function: "lab/a", Line: `no JSON`})

	for range 2 {
		r.Log(lambda.Log{Function: "lab/a", Line: `{"level":"WARN","msg":"slow","err":"10 s"}`})
	}

	for _, id := range []string{"r1", "r2"} {
		r.Invocation(lambda.Invocation{Function: "lab/b", RequestID: id, Err: errors.New("RequestId: " + id + " Error: exit status 2")})
	}

	r.Invocation(lambda.Invocation{Function: "lab/b", RequestID: "r3"})
	r.Close()
	r.Invocation(lambda.Invocation{Function: "lab/b", Err: errors.New("stopped")})
	r.Bar(1, 2, "1 of 2")
	r.Case("A v B", "a.json", nil)
	r.Case("C v D", "c.json", []string{"it differs"})
	r.Complaints()

	if want := "ok    A v B\nFAIL  C v D\n      c.json: it differs\nlog   2 × lab/a: slow: 10 s\nlog   2 × lab/b: exit status 2\n"; out.String() != want {
		t.Errorf("the report is\n%swant\n%s", &out, want)
	}

	if want := "[###############...............] 1 of 2, "; !strings.Contains(bar.String(), want) {
		t.Errorf("the bar is %q, want %q", &bar, want)
	}
}
