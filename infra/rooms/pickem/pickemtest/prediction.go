package pickemtest

import (
	"time"
)

// ShowLocks is when show does.
var ShowLocks = Noon.AddDate(0, 0, 7).Add(-time.Hour)
