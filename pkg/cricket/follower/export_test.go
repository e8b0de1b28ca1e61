package follower

import (
	"time"
)

// Exported for the tests of the package.

const (
	MaxFollows    = maxFollows
	RegisterTries = registerTries
	TurnRow       = turnRow
)

func (x *QuietHours) Include(at time.Time) bool { return x.include(at) }
