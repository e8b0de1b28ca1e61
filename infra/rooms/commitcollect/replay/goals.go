package replay

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// aim invents the goal of the n-th milestone of an athlete.
func (r *run) aim(a *athlete, n int) goal {
	d, now := r.dice("goal", a.name, n), r.Clock.Now()

	g := goal{
		model:  "trike",
		source: atStrava,
		sports: []string{families[a.sports[0]]},
		target: distance,
		start:  now.Add(-10 * day).Truncate(time.Hour),
	}
	if n > 0 {
		all := r.active()
		g.model, g.sports = all[d.IntN(len(all))], a.practises(d)
		g.target = []string{distance, distance, climb, moving, moving, workouts, streakDays, streakWeeks}[d.IntN(8)]
		g.start = now.Add(time.Duration(d.IntN(30)-20) * day).Truncate(time.Hour)
	}

	if a.offline || n > 0 && a.pocket && d.IntN(2) == 0 {
		g.source = onPhone
	}

	g.parts = r.models[g.model].parts
	until := r.end

	if n > 0 && d.IntN(2) == 0 { // days of the place where the athlete is
		first := g.start.Truncate(day)
		last := first.AddDate(0, 0, 20+d.IntN(70))

		g.first, g.end, g.start = first.Format(time.DateOnly), last.Format(time.DateOnly), first.Add(-14*time.Hour)
		if last.Before(until) {
			until = last
		}
	}

	days := max(7, until.Sub(g.start).Hours()/24)
	g.total = max(1, int64(days*g.typical()*(0.3+1.2*d.Float64())))

	switch {
	case g.target == streakDays:
		g.total = int64(2 + d.IntN(6))
	case g.target != streakWeeks && g.target != workouts:
		g.total = max(g.total, int64(g.parts))
	}

	return g
}

// practises returns one to three families of the athlete's sports.
func (a *athlete) practises(d *rand.Rand) []string {
	does := map[string]bool{}
	for _, sport := range a.sports {
		if families[sport] != "" {
			does[families[sport]] = true
		}
	}

	all := slices.Sorted(maps.Keys(does))
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })

	return all[:1+d.IntN(min(3, len(all)))]
}

// typical is about what a day adds to a goal.
func (g goal) typical() float64 {
	metres := 0.0
	for _, sport := range g.sports {
		metres = max(metres, map[string]float64{"RIDE": 19000, "RUN": 4500, "SWIM": 1000}[sport], 2000)
	}

	switch g.target {
	case climb:
		return metres * 0.006
	case moving:
		return 1200
	case workouts:
		return 0.4
	case streakWeeks:
		return 0.1
	}

	return metres
}

// body is the goal as a request has it.
func (g goal) body() map[string]any {
	body := map[string]any{"sports": g.sports, "targetType": g.target, "totalTarget": g.total}
	if len(g.sports) == 1 { // as clients have it that know no other form
		body["sport"] = g.sports[0]
		delete(body, "sports")
	}

	if g.first == "" {
		body["periodStartAtUtc"] = g.start.Unix()
		return body
	}

	if body["periodStartDay"] = g.first; g.end != "" {
		body["periodEndDay"] = g.end
	}

	return body
}

// begin starts another milestone of an athlete.
func (r *run) begin(ctx context.Context, a *athlete) {
	g := r.aim(a, a.started)

	if a.started == 0 {
		wrong := g.body()
		wrong["modelId"], wrong["partsTotal"] = g.model, g.parts-1
		r.ask(ctx, a, http.MethodPost, "/milestones", wrong, nil, "parts_total_must_match_model", "")
	}

	r.start(ctx, a, g)
}

// start starts a milestone, by a request that is sent twice.
func (r *run) start(ctx context.Context, a *athlete, g goal) {
	body, key := g.body(), fmt.Sprintf("%s-%d", a.user, a.started)
	if body["modelId"] = g.model; g.source == onPhone {
		body["source"] = onPhone
	}

	a.started++

	var out, again struct{ MilestoneID string }
	if !r.ask(ctx, a, http.MethodPost, "/milestones", body, &out, "", "", "Idempotency-Key", key) {
		return
	}

	a.milestones = append(a.milestones, &milestone{goal: g, id: out.MilestoneID, begun: r.Clock.Now()})
	a.fetch(r.Clock.Now())
	a.observe(r.Clock.Now())

	if r.ask(ctx, a, http.MethodPost, "/milestones", body, &again, "", "", "Idempotency-Key", key) {
		equal(r, a, "the milestone of the same request", again.MilestoneID, out.MilestoneID)
	}
}

// draft starts a milestone for which no workout counts yet.
func (r *run) draft(ctx context.Context, a *athlete) {
	g := r.aim(a, a.started)
	g.start, g.first, g.end = r.Clock.Now().Add(2*time.Hour).Truncate(time.Hour), "", ""

	n := len(a.milestones)
	if r.start(ctx, a, g); len(a.milestones) > n {
		a.amending = a.milestones[n]
	}
}

// amend changes the goal of the milestone that draft has started: all of it, or all but the end.
func (r *run) amend(ctx context.Context, a *athlete) {
	m := a.amending
	if m == nil {
		return
	}

	g := r.aim(a, a.started+1000)
	g.model, g.parts, g.source = m.model, m.parts, m.source
	body := g.body()

	if r.dice("amend", a.name, a.started).IntN(3) == 0 {
		delete(body, "periodEndDay")

		g.end = m.end
	} else if g.end == "" {
		body["noEnd"] = true
	}

	if !r.ask(ctx, a, http.MethodPatch, "/milestones/"+m.id, body, nil, "", "") {
		return
	}

	m.goal, m.raw, m.best, m.resumed = g, 0, 0, r.Clock.Now()
	a.did["amended"]++
	a.fetch(r.Clock.Now())
	a.observe(r.Clock.Now())
}

// amendLate tries to change the goal once more, which a minted part forbids. The same goal is no change.
func (r *run) amendLate(ctx context.Context, a *athlete) {
	m := a.amending
	if a.amending = nil; m == nil || len(m.reached) == 0 {
		return
	}

	want, same := "milestone_minted", ""
	if m.completed {
		want, same = "milestone_completed", "milestone_completed"
	}

	r.ask(ctx, a, http.MethodPatch, "/milestones/"+m.id, map[string]any{"totalTarget": m.total + 1}, nil, want, "")
	r.ask(ctx, a, http.MethodPatch, "/milestones/"+m.id, map[string]any{"totalTarget": m.total}, nil, same, "")
}

// pick returns a milestone that fits, nil if none does.
func (r *run) pick(a *athlete, fits func(*milestone) bool) *milestone {
	all := slices.DeleteFunc(slices.Clone(a.milestones), func(m *milestone) bool { return !fits(m) })
	if len(a.milestones) < 2 || len(all) == 0 {
		return nil
	}

	return all[r.dice("pick", a.name, r.Clock.Now().Unix()).IntN(len(all))]
}

// abandon ends a milestone for good, and starts another one with the same goal.
func (r *run) abandon(ctx context.Context, a *athlete) {
	m := r.pick(a, func(m *milestone) bool { return m.open(r.Clock.Now()) })
	if m == nil {
		return
	}

	for range 2 { // the second changes nothing
		if !r.ask(ctx, a, http.MethodPatch, "/milestones/"+m.id, map[string]string{"status": abandoned}, nil, "", "") {
			return
		}
	}

	m.abandoned = true
	a.did["abandoned"]++
	r.ask(ctx, a, http.MethodPatch, "/milestones/"+m.id, map[string]string{"status": active}, nil, "milestone_closed", "")
	r.ask(ctx, a, http.MethodPatch, "/milestones/"+m.id, map[string]int64{"totalTarget": m.total + 1}, nil, "milestone_closed", "")

	if slices.Contains(r.active(), m.model) {
		r.start(ctx, a, m.goal)
	}
}

// remove deletes a milestone with its parts.
func (r *run) remove(ctx context.Context, a *athlete) {
	m := r.pick(a, func(*milestone) bool { return true })
	if m == nil {
		return
	}

	for range 2 { // the second finds nothing
		if !r.ask(ctx, a, http.MethodDelete, "/milestones/"+m.id, nil, nil, "", "") {
			return
		}
	}

	a.milestones = slices.DeleteFunc(a.milestones, func(o *milestone) bool { return o == m })
	a.deleted = append(a.deleted, m)
	a.did["removed"]++

	r.ask(ctx, a, http.MethodGet, "/milestones/"+m.id, nil, nil, "milestone_not_found", "")
	r.ask(ctx, a, http.MethodGet, "/milestones/"+m.id+"/awards", nil, nil, "milestone_not_found", "")
}

// set pauses or resumes the milestones that are open.
func (r *run) set(ctx context.Context, a *athlete, pause bool, status string) {
	for _, m := range a.milestones {
		now, refused := r.Clock.Now(), ""

		switch {
		case m.completed:
			refused = "milestone_completed"
		case !m.open(now):
			refused = "milestone_closed"
		}

		if refused != "" {
			r.ask(ctx, a, http.MethodPatch, "/milestones/"+m.id, map[string]string{"status": status}, nil, refused, "")
			continue
		}

		if m.paused != pause && r.ask(ctx, a, http.MethodPatch, "/milestones/"+m.id, map[string]string{"status": status}, nil, "", "") {
			if m.paused = pause; !pause {
				m.resumed = now
			}

			a.did["set "+status]++
		}
	}

	a.observe(r.Clock.Now())
}

func (r *run) pause(ctx context.Context, a *athlete)  { r.set(ctx, a, true, paused) }
func (r *run) resume(ctx context.Context, a *athlete) { r.set(ctx, a, false, active) }
