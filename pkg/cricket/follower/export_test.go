package follower

import (
	"time"
)

// Exported for the tests of the package.

const TurnRow = turnRow

var (
	RegisterTries = registerAttempts.Max
	MaxFollows    = maxFollows.Max
)

func (x *QuietHours) Include(at time.Time) bool { return x.include(at) }
