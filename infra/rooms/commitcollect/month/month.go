package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"matchday/infra/sim/scheduler"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/spec"
)

const day = 24 * time.Hour

// What users and Strava are assumed to do. The notes of the table list it.
const (
	days      = 30
	begun     = 26 * day // what begins later is left out, because it may end after the month
	warm      = 3 * day  // and what begins earlier, while queues fill
	weekly    = 4.5      // workouts of a user
	edited    = 0.10     // of the workouts, in the same day
	deleted   = 0.01     // of the workouts, in the days after
	lost      = 0.01     // of the webhooks
	imports   = 0.02     // of the users, each day
	callTakes = 700 * time.Millisecond
	webhook   = 5 * time.Second // from an upload to the webhook
	// lookups are the calls of a workout that Strava's list lacks, with their delays.
	lookups = workout.MissingTries + 1
	looked  = workout.MissingTries * (workout.MissingTries + 1) / 2 * workout.MissingDelay
)

// start is a Monday.
var start = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// hours is how many of the workouts of a day end in each hour, UTC: before work, at noon, and most of
// them in the evening. weekdays is how many there are on each day, from Monday on.
var (
	hours    = [24]float64{1, 1, 1, 1, 2, 5, 9, 9, 6, 5, 6, 7, 8, 5, 4, 5, 9, 14, 16, 12, 8, 4, 2, 1}
	weekdays = [7]float64{0.9, 1, 1, 0.9, 0.8, 1.2, 1.2}
)

// runs are the times of Reconcile.
var runs = func() scheduler.Schedule {
	s, err := scheduler.Parse(string(workout.ReconcileFunction().On.(spec.Schedule)), "UTC")
	if err != nil {
		panic(err) // the fleet starts with the same schedule
	}

	return s
}()

// counter counts reads as the row of the budget does.
type counter struct {
	begins [2]time.Time // of the quarter and of the day
	used   [2]int
}

// take counts a read in both periods, or returns how long it waits for the longer of those that are
// used up.
func (c *counter) take(shares []spec.Share, now time.Time) (wait time.Duration) {
	c.turn(shares, now)

	for i, s := range shares {
		if c.used[i] >= s.UpTo {
			wait = max(wait, c.begins[i].Add(s.Budget.Per).Sub(now))
		}
	}

	if wait == 0 {
		c.used[0]++
		c.used[1]++
	}

	return wait
}

func (c *counter) turn(shares []spec.Share, now time.Time) {
	for i, s := range shares {
		if at := now.Truncate(s.Budget.Per); at != c.begins[i] {
			c.begins[i], c.used[i] = at, 0
		}
	}
}

// gap is what a lost webhook would have said.
type gap struct {
	at      time.Time // when it was sent
	began   time.Time // the workout
	removed bool
	lost    bool // of one that is removed: else it is only counted
}

// athlete is a connected user.
type athlete struct {
	link.Listed
	gaps    []gap
	current int // of imports: an earlier one has ended
}

// steps are what happens, in the order of time.
type steps []step

type step struct {
	at time.Time
	n  int // of steps of one moment, the first planned is the first
	do func(now time.Time)
}

func (s steps) Len() int { return len(s) }
func (s steps) Less(i, j int) bool {
	return s[i].at.Before(s[j].at) || s[i].at.Equal(s[j].at) && s[i].n < s[j].n
}
func (s steps) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *steps) Push(x any)   { *s = append(*s, x.(step)) }
func (s *steps) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]

	return last
}

// month is a month of a number of users under Strava's limits.
type month struct {
	allowed workout.Allowed
	dice    *rand.Rand
	plan    steps
	planned int
	count   counter
	reads   int
	users   []*athlete
	free    [2]time.Time // when each worker of backfills is

	workouts, firstImports, lostWebhooks, deletions waits
}

// Simulate returns the month of so many users.
func Simulate(users int, allowed workout.Allowed) Result {
	m := &month{allowed: allowed, dice: rand.New(rand.NewPCG(uint64(users), uint64(allowed.Day)))}

	for n := range users {
		// Users have been connected for long. The sync has come to all of them in turn.
		at := start.Add(-time.Duration(m.dice.Float64() * float64(workout.DueAfter))).Unix()
		whole := start.Add(-time.Duration(m.dice.Float64() * float64(7*day))).Unix()
		m.users = append(m.users, &athlete{Listed: link.Listed{UserID: strconv.Itoa(n), FetchedAt: at, WholeAt: min(at, whole)}})
	}

	for n := range days {
		midnight := start.Add(time.Duration(n) * day)
		m.spread(midnight, float64(users)*weekly/7*weekdays[n%7], m.upload)
		m.spread(midnight, float64(users)*imports, m.connect)

	}

	for at := runs.Next(start); at.Sub(start) < days*day; at = runs.Next(at) {
		m.add(at, m.sync)
	}

	for len(m.plan) > 0 {
		next := heap.Pop(&m.plan).(step)
		if next.at.Sub(start) >= days*day {
			break
		}

		next.do(next.at)
	}

	for _, a := range m.users {
		for _, g := range a.gaps {
			m.close(g, math.MaxInt64)
		}
	}

	return Result{m.workouts.quantiles(), m.firstImports.quantiles(), m.lostWebhooks.quantiles(), m.deletions.quantiles(), m.reads / days}
}

func (m *month) add(at time.Time, do func(time.Time)) {
	m.planned++
	heap.Push(&m.plan, step{at, m.planned, do})
}

// spread plans as many steps of random users over the hours of a day as a mean says.
func (m *month) spread(midnight time.Time, mean float64, do func(*athlete, time.Time)) {
	total := 0.0
	for _, h := range hours {
		total += h
	}

	for hour, h := range hours {
		for at := midnight.Add(time.Duration(hour) * time.Hour); ; {
			at = at.Add(time.Duration(m.dice.ExpFloat64() * float64(time.Hour) / (mean * h / total)))
			if !at.Before(midnight.Add(time.Duration(hour+1) * time.Hour)) {
				break
			}

			a := m.users[m.dice.IntN(len(m.users))]
			m.add(at, func(now time.Time) { do(a, now) })
		}
	}
}

// upload is a workout of a user, which may be edited or deleted later.
func (m *month) upload(a *athlete, now time.Time) {
	m.hear(a, gap{at: now, began: now}, &m.workouts)

	switch die := m.dice.Float64(); {
	case die < edited:
		m.add(now.Add(time.Duration(m.dice.Float64()*float64(8*time.Hour))), func(at time.Time) {
			m.hear(a, gap{at: at, began: now}, nil)
		})
	case die < edited+deleted:
		m.add(now.Add(time.Duration(m.dice.ExpFloat64()*float64(2*day))), func(at time.Time) {
			// The webhook that comes needs no call. How long a lost one takes is counted for each.
			a.gaps = append(a.gaps, gap{at: at, began: now, removed: true, lost: m.dice.Float64() < lost})
		})
	}
}

// hear has a webhook come, or be lost.
func (m *month) hear(a *athlete, g gap, into *waits) {
	if m.dice.Float64() < lost {
		a.gaps = append(a.gaps, g)
		return
	}

	m.add(g.at.Add(webhook), func(now time.Time) { m.event(a, g, strava.Wait{}, now, into) })
}

// event fetches the activity of a webhook.
func (m *month) event(a *athlete, g gap, w strava.Wait, now time.Time, into *waits) {
	wait := m.read(workout.EventReads, now)
	if wait == 0 {
		if into != nil {
			into.add(g.at, now.Add(callTakes).Sub(g.at))
		}

		return
	}

	next, delay, ok := w.Next(&strava.Error{Kind: strava.Limited, RetryAfter: wait}, now, workout.Patience)
	if !ok {
		a.SuspectAt = now.Unix()
		if into != nil {
			a.gaps = append(a.gaps, g)
		}

		return
	}

	// A message that waits for the next day is sent again every MaxDelay, and finds nothing else: these
	// times are passed over, but not the one at which it is given up.
	end := time.Unix(next.Since, 0).Add(workout.Patience).Sub(now)
	for delay < wait && delay < end {
		delay += strava.MaxDelay
	}

	m.add(now.Add(delay), func(now time.Time) { m.event(a, g, next, now, into) })
}

// read counts a read within a part of the limits, or returns how long it waits.
func (m *month) read(of workout.Part, now time.Time) time.Duration {
	wait := m.count.take(of.Of(m.allowed), now)
	if wait == 0 {
		m.reads++
	}

	return wait
}

// connect begins the first import of a user, who takes the place of another.
func (m *month) connect(a *athlete, now time.Time) {
	a.current++
	a.Listed, a.gaps = link.Listed{UserID: a.UserID, AskedAt: now.Unix()}, nil
	m.backfill(a, backfill{message: link.Backfill{Whole: true}, begun: now, of: a.current}, now.Add(link.FetchDelay))
}

// sync is a run of Reconcile.
func (m *month) sync(now time.Time) {
	shares := workout.SyncReads.Of(m.allowed)
	m.count.turn(shares, now)

	run := workout.NewSync(now, shares[1].UpTo-m.count.used[1])
	byID := map[string]*athlete{}

	for _, a := range m.users {
		byID[a.UserID] = a
		run.Consider(a.Listed)
	}

	messages, _ := run.Choose()
	for _, f := range messages {
		a := byID[f.UserID]
		m.backfill(a, backfill{message: f, begun: now, of: a.current}, now)
	}
}

// backfill is a message of a backfill.
type backfill struct {
	message link.Backfill
	begun   time.Time // when it was requested
	of      int       // it is of this import of the user, and of no later one
	pages   int       // that are left
	first   time.Time // when its first page was read
}

// backfill has the worker read the pages that is free first.
func (m *month) backfill(a *athlete, b backfill, at time.Time) {
	if b.pages == 0 {
		b.pages = 2 // of the last weeks: one, and the empty one
		if b.message.Whole {
			b.pages = int(math.Ceil(weekly*52/strava.PageSize)) + 1 // those of a year, and the empty one
		}
	}

	m.add(at, func(now time.Time) {
		worker := 0
		if m.free[1].Before(m.free[0]) {
			worker = 1
		}

		if now.Before(m.free[worker]) {
			now = m.free[worker]
		}

		m.free[worker] = now.Add(time.Duration(b.pages) * callTakes)
		m.add(now, func(now time.Time) { m.work(a, b, now) })
	})
}

// work reads pages while the limits allow it.
func (m *month) work(a *athlete, b backfill, now time.Time) {
	if a.current != b.of || b.message.Asked != 0 && now.Sub(b.begun) >= workout.SyncPatience {
		return
	}

	part := workout.ImportReads
	if b.message.Asked != 0 {
		part = workout.SyncReads
	}

	if b.first.IsZero() {
		b.first = now
	}

	for ; b.pages > 0; b.pages-- {
		wait := m.read(part, now)
		if wait == 0 {
			now = now.Add(callTakes)
			continue
		}

		next, delay, ok := b.message.Next(&strava.Error{Kind: strava.Limited, RetryAfter: wait}, now, workout.Patience)
		if ok && (b.message.Asked == 0 || wait <= strava.MaxDelay) { // else the part of the day is used up
			b.message.Wait = next
			m.backfill(a, b, now.Add(delay))
		} else if b.message.Asked == 0 {
			a.SuspectAt = now.Unix()
		}

		return
	}

	m.complete(a, b, now)
}

// complete ends a backfill: what webhooks have lost before its first page is found.
func (m *month) complete(a *athlete, b backfill, now time.Time) {
	if a.FetchedAt == 0 {
		m.firstImports.add(time.Unix(a.AskedAt, 0), now.Sub(time.Unix(a.AskedAt, 0)))
	}

	from := time.Unix(a.FetchedAt, 0).Add(-item.Late)
	a.gaps = slices.DeleteFunc(a.gaps, func(g gap) bool {
		if g.at.After(b.first) || !b.message.Whole && g.began.Before(from) {
			return false
		}

		if g.removed {
			for n := 0; g.lost && n < lookups; n++ {
				m.read(workout.EventReads, now)
			}

			m.close(g, now.Add(looked).Sub(g.at))
		} else {
			m.close(g, now.Sub(g.at))
		}

		return true
	})

	a.FetchedAt = b.first.Unix()
	if b.message.Whole {
		a.WholeAt = b.first.Unix()
	}
}

// close counts how long it took until a gap was found.
func (m *month) close(g gap, took time.Duration) {
	switch {
	case !g.removed:
		m.lostWebhooks.add(g.at, took)
	case g.at.Sub(g.began) < item.Late: // older ones are found with the whole history, once a week
		m.deletions.add(g.at, took)
	}
}

// waits are how long something took, each time.
type waits []time.Duration

func (w *waits) add(at time.Time, took time.Duration) {
	if since := at.Sub(start); since >= warm && since < begun {
		*w = append(*w, took)
	}
}

// Quantiles are of the times that something took; the largest duration if it did not end in the month.
type Quantiles struct{ P50, P99 time.Duration }

func (w waits) quantiles() Quantiles {
	if len(w) == 0 {
		return Quantiles{}
	}

	slices.Sort(w)

	return Quantiles{w[len(w)/2], w[len(w)*99/100]}
}

// Result is what a month was like. Workout is the time until a workout was stored, Import until a first import
// was complete, Lost and Deletion until what a lost webhook said was found. Reads is of a day.
type Result struct {
	Workout, Import, Lost, Deletion Quantiles
	Reads                           int
}
