package follower

import (
	"time"
)

// Exported for the tests of the package.

const (
	RegisterTries = registerTries
	TurnRow       = turnRow
)

var MaxFollows = maxFollows.Max

func (x *QuietHours) Include(at time.Time) bool { return x.include(at) }
