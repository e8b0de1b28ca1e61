package follower

import (
	"time"
)

// Exported for the tests of the package.

const CounterRow = counterRow

var (
	RegisterTries = registerAttempts.Max
	MaxFollows    = maxFollows.Max
)

func (x *QuietHours) Include(at time.Time) bool { return x.include(at) }
