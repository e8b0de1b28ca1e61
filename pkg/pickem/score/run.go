package score

import (
	"context"
	"time"
)

// One partition of a table or of its index takes 1,000 write units a second:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
// All predictions of an event, all standings of a year and all pages of a ranking are in one each.
const unitsPerSecond = 900

// scoreUnits is what the scoring of a member costs in the partition of the event in the index: the
// points are part of the sort key, so that the old entry is deleted, and the new one written.
const scoreUnits = 2

const (
	// budget is how long a message works before it sends its successor.
	budget = 40 * time.Second

	// reserve is how much time of the invocation must be left when the successor is sent.
	reserve = 15 * time.Second
)

// run is the work of one message: how long it may last, and how fast it may write.
type run struct {
	s     *Scorer
	began time.Time
	units int // that were written
}

func (s *Scorer) begin() *run { return &run{s: s, began: s.now()} }

// over reports whether the message must end.
func (r *run) over(ctx context.Context) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < reserve {
		return true
	}

	return r.s.now().Sub(r.began) >= r.s.budget
}

// pace counts write units to one partition, and waits while they are ahead of unitsPerSecond.
func (r *run) pace(ctx context.Context, units int) error {
	r.units += units

	due := r.began.Add(time.Duration(r.units) * time.Second / unitsPerSecond)
	if now := r.s.now(); due.Sub(now) > time.Second {
		return r.s.sleep(ctx, due)
	}

	return ctx.Err()
}
