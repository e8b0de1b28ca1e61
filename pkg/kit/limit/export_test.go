package limit

// Len returns how many keys are kept.
func (c *Local) Len() int { return len(c.windows) }
