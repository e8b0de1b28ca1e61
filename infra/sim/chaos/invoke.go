package chaos

import (
	"context"
	"time"

	"matchday/infra/sim/stepfunctions"
)

const (
	longestDelay = 5 * time.Second       // of an invocation: two slots
	aside        = 10 * time.Millisecond // keeps a delay from ending at the very instant of another slot
	longestLate  = 15 * time.Second      // of a message: some later ones overtake it
	longestAgain = 90 * time.Second      // until either comes again
)

// Invoke is invoke as a state machine may come to call its Task: two at once,
// once more later, or late.
func (f *Faults) Invoke(invoke stepfunctions.Invoke) stepfunctions.Invoke {
	return func(ctx context.Context, function string, payload []byte) ([]byte, error) {
		if function != f.Task || !f.started() {
			return invoke(ctx, function, payload)
		}
		now := f.Clock.Now()
		// A twin outlives the execution that made it, as a repeated event does.
		twin := func() { invoke(context.WithoutCancel(ctx), function, payload) }
		strikes := func(k Kind) bool {
			if f.chance(string(k), function, string(payload)) >= f.Invocations[k] {
				return false
			}
			f.count(k)
			return true
		}
		if strikes(TwoAtOnce) {
			f.Clock.At(now, twin)
		}
		if strikes(OnceMore) {
			f.Clock.At(now.Add(part(f.chance("after", function, string(payload)), longestAgain)), twin)
		}
		if strikes(Delayed) {
			if err := f.Clock.Sleep(ctx, now.Add(part(f.chance("by", function, string(payload)), longestDelay)+aside)); err != nil {
				return nil, err
			}
		}
		return invoke(ctx, function, payload)
	}
}
