package pickemtest

import (
	"time"
)

// ShowLocks is lockAt of Show.
var ShowLocks = Noon.AddDate(0, 0, 7).Add(-time.Hour)
