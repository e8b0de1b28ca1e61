package limit

import (
	"maps"
	"sync"
	"time"

	"matchday/pkg/spec"
)

// maxWindows is how many windows Local keeps before it forgets those that are over.
const maxWindows = 1000

// Local counts what each key, such as a user, does in this process. It needs no I/O: what it refuses
// leaves the process free at once for somebody else. It is safe for concurrent use.
type Local struct {
	processes int
	mu        sync.Mutex
	windows   map[string]Window // by key
}

// NewLocal returns a Local of one of so many processes, each of which allows its part of a limit. They
// are the reserved concurrency of a function.
func NewLocal(processes int) *Local {
	return &Local{processes: processes, windows: map[string]Window{}}
}

// Take counts one more act of a key, for one limit. It returns problem.Beyond of the limit if the key
// has used up the part of this process.
func (c *Local) Take(l spec.Limit, key string, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	if len(c.windows) >= maxWindows {
		maps.DeleteFunc(c.windows, func(_ string, w Window) bool { return w.Left(l, now) == 0 })
	}

	part := l
	part.Max = max(1, l.Max/c.processes)

	w, err := c.windows[key].Take(part, now)
	if err == nil {
		c.windows[key] = w
	}

	return err
}
