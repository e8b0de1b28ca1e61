package pickemtest

import (
	"time"
)

// ShowLockAt is lockAt of Show.
var ShowLockAt = Noon.AddDate(0, 0, 7).Add(-time.Hour)
