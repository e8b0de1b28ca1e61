package replay_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"matchday/infra/local/replay"
	"matchday/infra/sim/sqs"
)

// TestDrawn gives messages that differ only in what the backend draws the same fault: the id
// of a room, which has a name in the replay, and that of a deletion.
func TestDrawn(t *testing.T) {
	t.Parallel()

	seed := uint64(7)
	faults := func(job, user string) (all []sqs.Fault) {
		trial := replay.NewTrial(replay.Config{Faults: &seed}, nil, replay.Odds{HeldBack: 0.5}, regexp.MustCompile(`u-\d+`))
		trial.Know(user, "Ada")
		trial.Start()

		for n := range 100 {
			all = append(all, trial.Faults.MessageFault("forget", fmt.Sprintf(`{"job":%q,"userId":%q}`, job, user), time.Unix(int64(n), 0)))
		}

		return all
	}
	one, two := faults("XOMUVRFSUEZ7OFMU77QKQSKLMS", "u-1"), faults("DJ64UNIDEMMMB6RMTISUO3SC6C", "u-2")
	held := 0

	for n := range one {
		if one[n] != two[n] {
			t.Fatalf("message %d: %+v and %+v", n, one[n], two[n])
		}

		if one[n].Delay > 0 {
			held++
		}
	}

	if held == 0 {
		t.Error("no message was held back")
	}
}
