package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Stores of workouts on phones.
var stores = []string{"HEALTHKIT", "HEALTH_CONNECT"}

// record invents what the phone of an athlete records. What is uploaded counts as an entry by hand.
func (a *athlete) record(d *rand.Rand, at time.Time) *activity {
	of := a.invent(d, at)
	of.manual, of.private = true, false
	of.metres, of.climb = float64(whole(of.metres)), float64(whole(of.climb))

	if of.elapsed == 0 {
		of.moving = time.Hour + time.Duration(of.metres/7)*time.Second
		of.elapsed = of.moving
	}

	x := &activity{id: d.Int64N(1 << 60), data: of}
	x.key = fmt.Sprintf("%016X", x.id)

	return x
}

// carry plans the uploads of a phone of a day, in the evening.
func (p *planner) carry(today time.Time, number int) {
	d := p.dice
	if d.IntN(100) >= 60 {
		return
	}

	x := p.record(d, today.Add(time.Duration(5*3600+d.IntN(6*3600))*time.Second))
	at, all := today.Add(20*time.Hour+time.Duration(number)*time.Minute), []*activity{x}

	switch d.IntN(8) {
	case 0: // another app has recorded it, too
		y := p.record(d, x.start)
		y.data = x.scaled(0.98)
		y.start, y.metres, y.climb = x.start.Add(time.Duration(d.IntN(100))*time.Second), float64(whole(y.metres)), float64(whole(y.climb))
		y.elapsed = max(y.elapsed, time.Minute)
		all = append(all, y)
	case 1: // another app has recorded something else at the same time
		y := p.record(d, x.start.Add(5*time.Minute))
		y.sport, y.metres, y.moving, y.elapsed = x.sport, x.metres+2000, 2*x.moving+time.Hour, 2*x.elapsed+time.Hour
		all = append(all, y)
	case 2: // nobody is so fast
		x.sport, x.metres, x.moving, x.elapsed, x.flagged = "Ride", 40_000, time.Minute, time.Minute, true
	case 3: // the phone has a better length later, and sends both again
		p.when(at.Add(40*time.Minute), func(ctx context.Context, a *athlete) {
			if !x.at.IsZero() {
				was := *x
				p.run.revise(ctx, a, x, "phone edits", func(d *data) { d.metres = float64(whole(d.metres * 1.03)) })
				p.run.put(ctx, a, "older", &was)
			}
		})
	case 4: // the phone does not know that it has sent it
		p.when(at.Add(2*time.Hour), func(ctx context.Context, a *athlete) {
			if !x.at.IsZero() {
				p.run.put(ctx, a, "unchanged", x)
				a.did["phone repeats"]++
			}
		})
	}

	p.when(at, func(ctx context.Context, a *athlete) {
		if !p.run.put(ctx, a, "stored", all...) {
			return
		}

		for _, x := range all {
			x.at, x.last, x.has = p.run.Clock.Now(), p.run.Clock.Now(), true
		}

		a.uploads = append(a.uploads, all...)
		a.observe(p.run.Clock.Now())
	})
}

// put uploads workouts of the phone. The answer must say the same of each, in their order.
func (r *run) put(ctx context.Context, a *athlete, want string, all ...*activity) bool {
	type result struct{ ID, Result string }

	var (
		body     []map[string]any
		expected []result
		out      struct{ Workouts []result }
	)

	for i, x := range all {
		body = append(body, map[string]any{
			"id": x.key, "app": stores[i%len(stores)], "sport": x.sport, "startDateUtc": x.start.Unix(),
			"utcOffsetSeconds": seconds(x.offset), "distanceMeters": int64(x.metres), "elapsedSeconds": seconds(x.elapsed),
			"movingSeconds": seconds(x.moving), "elevationMeters": int64(x.climb), "indoor": false, "manual": false, "revision": x.rev,
		})
		expected = append(expected, result{x.key, want})
	}

	if !r.ask(ctx, a, http.MethodPut, "/workouts", map[string]any{"workouts": body}, &out, "", "") {
		return false
	}

	if want == "stored" && r.Trial != nil { // the request may have taken effect at its first attempt
		for i, w := range out.Workouts {
			out.Workouts[i].Result = strings.Replace(w.Result, "unchanged", want, 1)
		}
	}

	equal(r, a, "the answer to uploads", fmt.Sprint(out.Workouts), fmt.Sprint(expected))

	return true
}

// revise uploads a workout once more, changed.
func (r *run) revise(ctx context.Context, a *athlete, x *activity, what string, change func(*data)) {
	next := *x
	next.rev++
	change(&next.data)

	if r.put(ctx, a, "stored", &next) {
		x.rev, x.data, x.last = next.rev, next.data, r.Clock.Now()
		a.did[what]++
		a.observe(r.Clock.Now())
	}
}

// carried returns a workout of the phone, nil if there is none.
func (r *run) carried(a *athlete) *activity {
	all := slices.DeleteFunc(slices.Clone(a.uploads), func(x *activity) bool { return x.gone || x.flagged })
	if len(all) == 0 {
		return nil
	}

	return all[r.dice("carried", a.name, r.Clock.Now().Unix()).IntN(len(all))]
}

// forget removes a workout of the phone, for good.
func (r *run) forget(ctx context.Context, a *athlete) {
	x := r.carried(a)
	if x == nil {
		return
	}

	for range 2 { // the second finds nothing
		if !r.ask(ctx, a, http.MethodDelete, "/workouts/"+x.key, nil, nil, "", "") {
			return
		}
	}

	x.gone, x.has, x.last = true, false, r.Clock.Now()
	a.did["phone removals"]++
	a.observe(r.Clock.Now())

	x.rev++
	r.put(ctx, a, "removed", x)
}

// shrink makes a workout of the phone shorter, and relabel one another sport.
func (r *run) shrink(ctx context.Context, a *athlete) {
	if x := r.carried(a); x != nil {
		r.revise(ctx, a, x, "phone crops", func(d *data) {
			*d = d.scaled(0.6)
			d.metres, d.climb, d.elapsed = float64(whole(d.metres)), float64(whole(d.climb)), max(d.elapsed, time.Minute)
		})
	}
}

func (r *run) relabel(ctx context.Context, a *athlete) {
	if x := r.carried(a); x != nil {
		r.revise(ctx, a, x, "phone relabels", func(d *data) { d.sport = "Workout" })
	}
}
