package tally

import "slices"

// Carried is what a goal has counted of workouts that are not kept any more: of those that began before To.
// The zero value has counted none.
type Carried struct {
	To      int64 `dynamodbav:"to"`      // epoch s
	Sum     int64 `dynamodbav:"sum"`     // in the unit of the target; 0 for a streak
	Counted int   `dynamodbav:"counted"` // workouts

	// Of a streak: the longest run, and the runs of the last days or weeks, which later workouts may extend.
	Longest int64    `dynamodbav:"longest,omitempty"`
	Runs    []Streak `dynamodbav:"runs,omitempty"`

	// LastID is the highest id of the workouts that counted, and SeenAt when the last workout was stored that was known
	// then, epoch s. Rows of before have neither.
	LastID string `dynamodbav:"last,omitempty"`
	SeenAt int64  `dynamodbav:"seen,omitempty"`

	// Settled is what had settled of it until DueAt, epoch s; nil if all had.
	Settled *Carried `dynamodbav:"settled,omitempty"`
	DueAt   int64    `dynamodbav:"dueAt,omitempty"`
}

// At returns what has settled of c at a time, epoch s.
func (c Carried) At(t int64) Carried {
	if c.Settled != nil && t < c.DueAt {
		return *c.Settled
	}

	c.Settled, c.DueAt = nil, 0

	return c
}

// MayRepeat reports whether one of the workouts that count beside c may be in c: it has no new id, and was stored
// since, as if its date had changed.
func (c Carried) MayRepeat(entries []Entry) bool {
	return c.LastID != "" && slices.ContainsFunc(entries, func(e Entry) bool {
		return e.StartedAt >= c.To && e.StoredAt > c.SeenAt && !e.Deleted && compareIDs(e.ActivityID, c.LastID) <= 0
	})
}

// Equal reports whether c and o count the same.
func (c Carried) Equal(o Carried) bool {
	return c.To == o.To && c.Sum == o.Sum && c.Counted == o.Counted && c.Longest == o.Longest && slices.Equal(c.Runs, o.Runs)
}

// Streak is days or weeks with a workout, without a gap, by their numbers since the epoch.
type Streak struct {
	First int64 `dynamodbav:"f"`
	Last  int64 `dynamodbav:"l"`
}

// Carry returns c with the workouts that began from c.To to a time, epoch s. Workouts that begin later
// may not be twins of these: see Boundary.
func Carry(c Carried, entries []Entry, g Goal, choice Choice, to int64) Carried {
	if to <= c.To {
		return c
	}

	next := Carried{To: to, LastID: c.LastID, SeenAt: c.SeenAt}
	for _, e := range entries {
		next.SeenAt = max(next.SeenAt, e.StoredAt)
	}

	entries = slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.StartedAt >= to })
	sum, counts := count(c, entries, g, choice)
	next.Counted = sum.Counted

	for _, e := range counts {
		if compareIDs(e.ActivityID, next.LastID) > 0 {
			next.LastID = e.ActivityID
		}
	}

	if !g.Target.isStreak() {
		next.Sum = sum.Progress
		return next
	}

	// A later workout has at least the local day before that of to, and extends a run that ends the day before.
	first, week := Entry{StartedAt: to - 24*60*60}.localDayNumber()
	if g.Target == StreakWeeks {
		first = week
	}

	next.Longest = sum.Progress
	next.Runs = slices.DeleteFunc(runs(c.Runs, counts, g.Target), func(r Streak) bool { return r.Last < first-1 })

	return next
}

// CountFrom is Count of workouts of which the first are carried: entries that began before c.To do not count.
func CountFrom(c Carried, entries []Entry, g Goal, choice Choice) Sum {
	sum, _ := count(c, entries, g, choice)
	return sum
}

// Boundary returns the latest time, at most before, epoch s, that has no two workouts within sameStart of each
// other on its two sides, so that no twins are. It looks back for a day, and then gives up.
func Boundary(entries []Entry, before int64) int64 {
	const day = 24 * 60 * 60

	for at := before; at > before-day; {
		first, after := at, int64(0) // of those before at, and the first of those after it

		for _, e := range entries {
			if e.StartedAt >= at && e.StartedAt < at+sameStart && (after == 0 || e.StartedAt < after) {
				after = e.StartedAt
			}
		}

		for _, e := range entries {
			if after != 0 && e.StartedAt < at && e.StartedAt >= after-sameStart {
				first = min(first, e.StartedAt)
			}
		}

		if first == at {
			return at
		}

		at = first
	}

	return before
}

// isStreak reports whether the target is the longest run of days or weeks.
func (t Target) isStreak() bool { return t == StreakDays || t == StreakWeeks }

// runs returns the runs that some runs and the days or weeks of workouts make together, in their order.
func runs(all []Streak, counts []Entry, t Target) (joined []Streak) {
	all = slices.Clone(all)

	for _, e := range counts {
		day, week := e.localDayNumber()
		if t == StreakWeeks {
			day = week
		}

		all = append(all, Streak{day, day})
	}

	slices.SortFunc(all, func(a, b Streak) int { return int(a.First - b.First) })

	for _, r := range all {
		if n := len(joined); n > 0 && r.First <= joined[n-1].Last+1 {
			joined[n-1].Last = max(joined[n-1].Last, r.Last)
			continue
		}

		joined = append(joined, r)
	}

	return joined
}
