package follower

import (
	"time"
)

// Exported for the tests of the package.

const (
	CounterRow = counterRow
	Sample     = sample
)

func IsCounted(matchID, userID string) bool { return isCounted(matchID, userID) }

var (
	RegisterTries = registerAttempts.Max
	MaxFollows    = maxFollows.Max
)

func (x *QuietHours) Include(at time.Time) bool { return x.include(at) }
