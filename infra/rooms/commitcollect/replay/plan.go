package replay

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// step is something that happens at a time.
type step struct {
	at time.Time
	do func(context.Context)
}

const day = 24 * time.Hour

// What takes from an athlete, as a deletion does, is only exact if the app knows all that
// came before, and if nothing comes until the app knows of it: what was earned for a moment
// stays earned. So athletes rest before and after: for two nights, in which the app finds
// recent events that were lost, or for two weeks, in which it finds all.
const (
	rest     = 60 * time.Hour
	longRest = 15*day + 12*time.Hour
	// recent is how old an activity may be whose lost events two nights find.
	recent = 105 * time.Hour
)

// span is a time in which an athlete has a break.
type span struct{ from, to time.Time }

func inside(all []span, at time.Time) bool {
	return slices.ContainsFunc(all, func(s span) bool { return !at.Before(s.from) && at.Before(s.to) })
}

// plan returns the steps of the year.
func (r *run) plan() []step {
	var all []step

	for i, a := range r.athletes {
		p := &planner{run: r, athlete: a, dice: r.dice("plan", a.name)}
		p.life(i)
		all = append(all, p.steps...)
	}

	for n := range int(r.end.Sub(start) / (30 * day)) {
		all = append(all, step{start.Add(time.Duration(n)*30*day + 20*day + 12*time.Hour), r.forge})
	}

	all = append(all, step{start.Add(2 * day), r.steal})
	all = append(all, r.lifeOfModel()...)
	all = append(all, r.interrupt()...)
	all = slices.DeleteFunc(all, func(s step) bool { return !s.at.Before(r.end) })
	slices.SortStableFunc(all, func(a, b step) int { return a.at.Compare(b.at) })

	return all
}

// planner plans the year of an athlete.
type planner struct {
	run *run
	*athlete
	dice   *rand.Rand
	steps  []step
	breaks []span
}

func (p *planner) add(at time.Time, do func(context.Context, *athlete)) {
	if at.Before(p.run.end) {
		p.steps = append(p.steps, step{at, func(ctx context.Context) {
			if !p.gone {
				do(ctx, p.athlete)
			}
		}})
	}
}

// life plans the year of the athlete with a number.
func (p *planner) life(number int) {
	r, d, quiet := p.run, p.dice, p.run.end.Add(-3*day)
	for n := range 8 { // what Strava has already
		if p.former != nil {
			break
		}

		x := &activity{data: p.invent(d, p.joins.Add(-time.Duration(n*61+30)*time.Hour))}
		p.add(start.Add(time.Duration(n)*time.Second), func(_ context.Context, a *athlete) { r.upload(a, x) })
	}

	p.add(p.joins, r.join)

	last := quiet
	if p.leaves {
		last = p.joins.Add(r.end.Sub(p.joins) * 6 / 10)
		p.add(last, r.leave)
		p.steps = append(p.steps, step{last.Add(3 * time.Hour), func(ctx context.Context) { r.checkForgotten(ctx, p.athlete) }})
	}

	p.upsets(last)
	p.goals(last)

	for at := p.joins.Add(day).Truncate(day); at.Before(last); at = at.Add(day) {
		p.train(at)

		if p.pocket {
			p.carry(at, number)
		}

		if r.Trial != nil {
			p.add(at.Add(8*time.Hour+time.Duration(number)*time.Minute), r.glance)
		}
	}

	for n := range 3 { // races, on days that are the same for all
		at := start.Add(r.end.Sub(start) * time.Duration(20+30*n) / 100).Truncate(day).Add(12*time.Hour + time.Duration(number)*7*time.Second)
		for lap := range 8 {
			x := &activity{data: p.invent(d, at.Add(time.Duration(lap-12)*20*time.Minute))}
			p.bring(at.Add(time.Duration(lap)*70*time.Second), x)
		}
	}

	for n := range int(r.end.Sub(p.joins) / (40 * day)) {
		at := r.calm(p.joins.Add(time.Duration(n)*40*day+time.Duration(5+d.IntN(30))*day), day)
		p.add(at, r.sync)
		p.add(at.Add(2*time.Hour), func(_ context.Context, a *athlete) { r.strava.Expire(a.id) })
		p.add(at.Add(3*time.Hour), r.repeat)
	}
}

// train plans the activities of a day.
func (p *planner) train(today time.Time) {
	d := p.dice
	if d.IntN(100) >= 72 {
		return
	}

	x := &activity{data: p.invent(d, today.Add(time.Duration(5*3600+d.IntN(14*3600))*time.Second))}

	up := x.start.Add(time.Hour + time.Duration(d.IntN(3600))*time.Second)
	switch d.IntN(12) {
	case 0: // the phone has no connection for some days
		p.bring(up.Add(time.Duration(1+d.IntN(3))*day), x)
		return
	case 1: // a second device
		y := *x
		x.twin, y.twin = true, true
		y.data = x.scaled(0.98)
		y.name, y.start = "Session of the watch", x.start.Add(time.Duration(d.IntN(100))*time.Second)
		p.bring(up, x)
		p.bring(up.Add(3*time.Minute), &y)

		return
	case 2: // two in an hour that are not the same
		y := &activity{data: p.invent(d, x.start.Add(90*time.Minute))}
		p.bring(up.Add(2*time.Hour), y)
	case 3: // its name is changed, and later its length
		p.bring(up, x)
		p.when(up.Add(20*time.Minute), func(_ context.Context, a *athlete) {
			p.run.edit(a, x, "renamed", map[string]any{"title": "Better name"}, func(d *data) { d.name = "Better name" })
		})
		p.when(up.Add(5*time.Hour), func(_ context.Context, a *athlete) {
			p.run.edit(a, x, "longer", nil, func(d *data) { *d = d.scaled(1.03) })
		})

		return
	case 4: // of no sport at first
		right := x.sport
		if x.sport = "Workout"; families[right] == "" {
			x.sport = right
		}

		p.bring(up, x)
		p.when(up.Add(2*time.Hour), func(_ context.Context, a *athlete) {
			p.run.edit(a, x, "retyped", map[string]any{"type": right}, func(d *data) { d.sport = right })
		})

		return
	}

	if d.IntN(15) == 0 { // two soon after each other, of the same length: their times tell that they are not the same
		y := &activity{data: x.data}
		y.start, y.elapsed = x.start.Add(100*time.Second), 2*x.elapsed+10*time.Minute
		p.bring(up.Add(time.Minute), y)
	}

	p.bring(up, x)
}

// when adds a step unless the athlete has a break then.
func (p *planner) when(at time.Time, do func(context.Context, *athlete)) {
	if !inside(p.breaks, at) && at.Before(p.run.end.Add(-3*day)) {
		p.add(at, do)
	}
}

// bring adds the upload of an activity unless the athlete has a break then.
func (p *planner) bring(at time.Time, x *activity) {
	if at.After(p.joins) {
		p.when(at, func(_ context.Context, a *athlete) { p.run.upload(a, x) })
	}
}

// goals plans the milestones beside the first.
func (p *planner) goals(last time.Time) {
	d := p.dice
	for n := range 2 + d.IntN(4) {
		at := p.joins.Add(time.Duration(n)*last.Sub(p.joins)/6 + 6*time.Hour)
		for inside(p.breaks, at) || !p.run.isCalm(at) {
			at = at.Add(day)
		}

		p.add(at, p.run.begin)
	}
}

// upsets plans what takes from the athlete until a time.
func (p *planner) upsets(last time.Time) {
	r, d := p.run, p.dice
	one := func(do func(context.Context, *athlete), after time.Duration) func(at time.Time) time.Time {
		return func(at time.Time) time.Time { p.add(at, do); return at.Add(after) }
	}

	chosen := time.Hour
	if r.cfg.Retention > 0 { // the history is fetched again, and settles
		chosen += 2 * r.cfg.Settling
	}

	all := []func(at time.Time) time.Time{
		one(r.drop(recent), rest), one(r.crop(recent), rest),
		one(r.retype, rest), one(r.postdate, rest), one(r.flag, rest), one(r.choose, chosen), one(r.dropTwin, rest),
		func(at time.Time) time.Time { // it is hidden, and shown again
			p.add(at, r.hide)
			p.add(at.Add(rest+time.Minute), r.show)

			return at.Add(rest)
		},
		func(at time.Time) time.Time {
			p.add(at, r.pause)
			p.add(at.Add(9*day), r.resume)

			return at.Add(time.Minute)
		},
		func(at time.Time) time.Time { // a milestone is edited before its first part, and then it cannot be any more
			p.add(at, r.draft)
			p.add(at.Add(time.Hour), r.amend)
			p.add(at.Add(25*time.Hour), r.check)
			p.add(at.Add(25*time.Hour+time.Minute), r.amendLate)

			return at.Add(26 * time.Hour)
		},
		one(r.abandon, day), one(r.remove, day),
		p.away(func(ctx context.Context, a *athlete) { r.disconnect(ctx, a, false) }),
		p.away(func(ctx context.Context, a *athlete) { r.disconnect(ctx, a, true) }),
		p.away(r.revoke),
		func(at time.Time) time.Time { // a bogus activity, deleted within the hour, of a quiet night
			at = at.Truncate(day).Add(25 * time.Hour)
			p.add(at, r.boast)
			p.add(at.Add(bogusLooks), r.checkBoast)
			p.add(at.Add(bogusLasts), r.retract)

			return at.Add(rest)
		},
	}
	if r.cfg.Retention == 0 { // else what was counted of old activities stays
		all = append(all, one(r.drop(0), longRest), one(r.crop(0), longRest))
	}

	if p.pocket {
		all = append(all, one(r.forget, 4*time.Hour), one(r.shrink, 4*time.Hour), one(r.relabel, 4*time.Hour))
	}

	order := d.Perm(len(all))
	at := p.joins.Add(time.Duration(8+d.IntN(6))*day + time.Duration(d.IntN(20*3600))*time.Second)

	for n := 0; ; n++ {
		do := all[order[n%len(order)]]
		before := len(p.steps)

		end := do(at)
		if end.Add(rest).After(last) {
			p.steps = p.steps[:before]
			return
		}

		if later := r.calm(at, end.Sub(at)); later.After(at) {
			p.steps, at = p.steps[:before], later.Add(rest+time.Duration(d.IntN(20*3600))*time.Second)
			n--

			continue
		}

		p.add(at.Add(-2*time.Minute), r.check)
		p.add(end.Add(-time.Minute), r.check)
		p.breaks = append(p.breaks, span{at.Add(-rest), end})
		at = end.Add(time.Duration(11+d.IntN(9))*day + time.Duration(d.IntN(20*3600))*time.Second)
	}
}

// away plans some days without a connection, with activities that only Strava has.
func (p *planner) away(end func(context.Context, *athlete)) func(at time.Time) time.Time {
	return func(at time.Time) time.Time {
		p.add(at, end)
		p.add(at.Add(10*time.Hour), p.run.check)

		for n := range 2 {
			began := at.Add(time.Duration(20+24*n) * time.Hour)
			x := &activity{data: p.invent(p.dice, began)}
			p.add(began.Add(2*time.Hour), func(_ context.Context, a *athlete) { p.run.upload(a, x) })
		}

		p.add(at.Add(3*day), p.run.connect)
		p.add(at.Add(3*day+2*time.Hour), func(context.Context, *athlete) {}) // the history is being fetched

		return at.Add(3*day + 3*time.Hour)
	}
}
