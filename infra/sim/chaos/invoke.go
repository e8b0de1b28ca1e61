package chaos

import (
	"context"
	"time"

	"matchday/infra/sim/stepfunctions"
)

const (
	maxInvocationDelay = 5 * time.Second       // two slots of a ticker that runs every 2.5 s
	slotOffset         = 10 * time.Millisecond // keeps a delay from ending at the start of another slot
	maxMessageDelay    = 15 * time.Second      // long enough that later messages overtake the delayed one
	maxRedelivery      = 90 * time.Second      // until an invocation or a message is repeated
)

// Invoke wraps the invocation of functions by a state machine. It repeats or
// delays some invocations of Config.Task.
func (f *Faults) Invoke(invoke stepfunctions.Invoke) stepfunctions.Invoke {
	return func(ctx context.Context, function string, payload []byte) ([]byte, error) {
		if function != f.Task || !f.started() {
			return invoke(ctx, function, payload)
		}

		now := f.Clock.Now()
		// A repeated invocation does not end with the execution.
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
			f.Clock.At(now.Add(fractionOf(f.chance("after", function, string(payload)), maxRedelivery)), twin)
		}

		if strikes(Delayed) {
			if err := f.Clock.Sleep(ctx, now.Add(fractionOf(f.chance("by", function, string(payload)), maxInvocationDelay)+slotOffset)); err != nil {
				return nil, err
			}
		}

		return invoke(ctx, function, payload)
	}
}
