package replay

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// track is a series of steps, of one show or of the members. Their times are relative to
// the lock of the show, which can move, or to the start of the year.
type track struct {
	base  func() time.Time
	steps []step
}

type step struct {
	at time.Duration
	do func(context.Context)
}

func (t *track) due() time.Time { return t.base().Add(t.steps[0].at) }

func (t *track) add(at time.Duration, do func(context.Context)) {
	t.steps = append(t.steps, step{at, do})
}

// sorted orders the steps by time. Steps at the same time stay in the order of add.
func (t *track) sorted() *track {
	slices.SortStableFunc(t.steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	return t
}

// The times of a show, relative to its lock. Nothing changes around the reminders, so that
// it does not matter when exactly they are sent.
const (
	day        = 24 * time.Hour
	opening    = 9 * day // from its announcement
	early      = 8 * day // from the first picks
	dayAhead   = day     // reminder
	hoursAhead = 2 * time.Hour
	quietDay   = 3 * time.Hour // after the reminder of the day
	quietHours = 90 * time.Minute

	slotEarly = 5 * time.Hour // between two changes of a card, for the notifications of each
	slotLate  = 3 * time.Hour
)

// plan returns the steps of the year.
func (r *run) plan() []*track {
	tracks := []*track{r.planMembers()}
	for _, s := range r.shows {
		tracks = append(tracks, r.planShow(s))
	}

	return tracks
}

// planShow returns the steps of a show.
func (r *run) planShow(s *show) *track {
	d := r.dice("plan", s.id)
	t := &track{base: func() time.Time { return s.lock }}
	t.add(-opening, func(ctx context.Context) { r.announce(ctx, s) })

	for n := range 4 + d.IntN(4) {
		t.add(-opening+time.Duration(n+1)*time.Minute, func(ctx context.Context) { r.addMatch(ctx, s) })
	}

	for _, n := range d.Perm(24)[:d.IntN(4)] { // changes of the card until two days before the lock
		t.add(-7*day+time.Duration(n)*slotEarly, r.edit(s, d, true))
	}

	for _, n := range d.Perm(5)[:d.IntN(3)] { // and in the last hours
		t.add(-20*time.Hour+time.Duration(n)*slotLate, r.edit(s, d, false))
	}

	for _, name := range append(slices.Clone(people), newcomer) {
		r.planPicks(t, s, name, d)
	}

	r.planReminders(t, s)

	switch d.IntN(12) {
	case 0:
		t.add(-dayAhead-2*time.Hour, func(ctx context.Context) { r.callOff(ctx, s) })
	case 1:
		t.add(30*time.Minute, func(ctx context.Context) { r.callOff(ctx, s) })
	case 2:
		t.add(30*time.Minute, func(ctx context.Context) { r.postpone(ctx, s, t, d) })
	}

	t.add(2*time.Minute, func(ctx context.Context) { r.checkLocked(ctx, s) })

	const bell = time.Hour
	for n := range 20 {
		t.add(bell+time.Duration(n)*5*time.Minute, func(ctx context.Context) { r.enterResult(ctx, s, n) })
	}

	t.add(bell+2*time.Hour, func(ctx context.Context) { r.requestScore(ctx, s) })
	t.add(bell+2*time.Hour, func(ctx context.Context) { r.checkScored(ctx, s) })

	if d.IntN(2) == 0 {
		t.add(day, func(ctx context.Context) { r.correct(ctx, s) })
		t.add(day, func(ctx context.Context) { r.checkScored(ctx, s) })
	}

	if r.dice("clear", s.id).IntN(4) == 0 {
		t.add(day, func(ctx context.Context) { r.clear(ctx, s) })
		t.add(day, func(ctx context.Context) { r.requestScore(ctx, s) })
		t.add(day, func(ctx context.Context) { r.checkScored(ctx, s) })
	}

	t.add(day+time.Minute, func(context.Context) { r.finish(s) })

	return t.sorted()
}

func (r *run) planReminders(t *track, s *show) {
	t.add(-dayAhead-time.Minute, func(context.Context) { r.expectReminder(s, "day", dayAhead, quietDay) })
	t.add(-hoursAhead-time.Minute, func(context.Context) { r.expectReminder(s, "hours", hoursAhead, quietHours) })
}

// postpone moves a locked show by a week, which opens it again.
func (r *run) postpone(ctx context.Context, s *show, t *track, d *rand.Rand) {
	if !r.move(ctx, s, 7*day) {
		return
	}

	for _, name := range people[:6] {
		r.planPicks(t, s, name, d)
	}

	for t.sorted(); t.due().Before(r.Clock.Now()); t.steps = t.steps[1:] { // too early to pick again
	}

	r.planReminders(t, s)
	t.sorted()
}

// planPicks adds the steps of a person who may pick a show.
func (r *run) planPicks(t *track, s *show, name string, d *rand.Rand) {
	before := func(from, to time.Duration) time.Duration { return -from + time.Duration(d.Int64N(int64(from-to))) }
	inTime, late, last := before(early, dayAhead+time.Hour), before(20*time.Hour, 3*time.Hour), before(25*time.Minute, time.Minute)
	pick := func(at time.Duration, share float64) {
		t.add(at, func(ctx context.Context) {
			if m := r.memberNamed(name); m != nil {
				r.pick(ctx, s, m, share)
			}
		})
	}

	switch d.IntN(10) {
	case 0: // not this one
	case 1:
		pick(20*time.Minute, 1) // too late
	case 2:
		pick(inTime, 0.6)
	case 3:
		pick(inTime, 0.6)
		pick(late, 1)
	case 4, 5:
		pick(inTime, 1)
	case 6:
		pick(inTime, 1)
		pick(late, 1)
	case 7:
		pick(late, 1)
	case 8:
		pick(inTime, 0) // opens the card and saves nothing yet
		pick(last, 1)
	case 9:
		pick(inTime, 1)
		t.add(late, func(ctx context.Context) {
			if m := r.memberNamed(name); m != nil {
				r.withdraw(ctx, s, m)
			}
		})

		if d.IntN(2) == 0 {
			pick(last, 1)
		}
	}
}

// planMembers returns the steps of the members and their leagues: on the days between two
// shows.
func (r *run) planMembers() *track {
	d := r.dice("members")
	t := &track{base: func() time.Time { return start }}
	t.add(time.Hour, func(ctx context.Context) { r.createLeague(ctx, r.members[0], "The Back Row") })
	t.add(2*time.Hour, func(ctx context.Context) { r.createLeague(ctx, r.members[1], "Ringside") })
	at := 3 * time.Hour

	minute := func() time.Duration { at += time.Minute; return at }
	for range 8 {
		t.add(minute(), func(ctx context.Context) { r.join(ctx, r.leagues[0], d) })
		t.add(minute(), func(ctx context.Context) { r.join(ctx, r.leagues[1], d) })
	}

	for i, s := range r.shows {
		at = s.lock.AddDate(0, 0, 4).Sub(start)

		if i%4 == 3 {
			t.add(minute(), r.registerPhones)
		}

		if i == len(r.shows)/2 {
			t.add(minute(), func(ctx context.Context) { r.remove(ctx, r.members[2+d.IntN(len(r.members)-2)]) })
			t.add(minute(), func(ctx context.Context) {
				m := r.person(newcomer)
				r.members = append(r.members, m)
				r.admit(ctx, m)
			})
		}

		for range d.IntN(4) {
			l := d.IntN(2)
			switch d.IntN(6) {
			case 0, 1:
				t.add(minute(), func(ctx context.Context) { r.join(ctx, r.leagues[l], d) })
			case 2, 3:
				t.add(minute(), func(ctx context.Context) { r.leave(ctx, r.leagues[l], d) })
			case 4:
				t.add(minute(), func(ctx context.Context) { r.expel(ctx, r.leagues[l], d) })
			case 5:
				t.add(minute(), func(ctx context.Context) { r.rename(ctx, r.members[d.IntN(len(r.members))]) })
			}
		}
	}

	return t
}
