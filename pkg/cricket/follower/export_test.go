package follower

import (
	"time"
)

// What the tests of the package may see.

const (
	RegisterTries = registerTries
	TurnRow       = turnRow
)

func (x *QuietHours) Include(at time.Time) bool { return x.include(at) }
