package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/strava"
)

// join signs an athlete up, connects Strava, and starts the first milestone.
func (r *run) join(ctx context.Context, a *athlete) {
	if f := a.former; f != nil {
		for _, x := range f.activities {
			y := *x
			y.has = false
			a.activities = append(a.activities, &y)
		}
	}

	if err := r.signIn(ctx, a); err != nil {
		a.fail("the sign-in: %v", err)
		return
	}

	r.registerPhone(ctx, a)

	if a.id%5 == 0 && !a.offline { // the box that matters is not ticked at first
		code, err := r.again(ctx, func() error { return a.browser.Connect(ctx, a.id, []string{"read"}) })
		if wrong := r.Judge("connecting without the scope", code, "missing_scope", err); wrong != "" {
			a.fail("%s", wrong)
		}

		r.ask(ctx, a, http.MethodPost, "/activities/sync", nil, nil, "not_connected", "")
	}

	r.connect(ctx, a)
	r.begin(ctx, a)
}

func (r *run) registerPhone(ctx context.Context, a *athlete) {
	if a.phone != "" {
		r.ask(ctx, a, http.MethodPost, "/devices", map[string]string{"deviceToken": a.phone}, nil, "", "")
	}
}

// connect connects Strava.
func (r *run) connect(ctx context.Context, a *athlete) {
	if a.offline {
		return
	}

	r.ask(ctx, a, http.MethodGet, "/session", nil, nil, "", "") // signs in again if that is needed

	code, err := r.again(ctx, func() error { return a.browser.Connect(ctx, a.id, a.scope) })
	if wrong := r.Judge(r.date()+" connecting", code, "", err); wrong != "" {
		a.fail("%s", wrong)
		return
	}

	a.connected, a.linked = true, r.Clock.Now()
	a.did["connections"]++
	a.fetch(r.Clock.Now())
	a.observe(r.Clock.Now())
}

// glance has an athlete look at the app, in a run with faults. If an answer of Strava with
// new tokens was lost, the athlete has to connect again; the connection may have ended, and
// the workouts be purged.
func (r *run) glance(ctx context.Context, a *athlete) {
	if r.Trial == nil || !a.connected {
		return
	}

	var is struct{ Connected, Broken bool }
	if r.ask(ctx, a, http.MethodGet, "/strava/status", nil, &is, "", "") && (is.Broken || !is.Connected) {
		if !is.Connected {
			r.cutOff(a)
		}

		r.connect(ctx, a)
		a.did["connections"]-- // not the world's
	}
}

// steal has somebody connect the athlete of another. Strava gives new tokens, and the
// other's connection must work with them.
func (r *run) steal(ctx context.Context) {
	owner, thief := r.athletes[0], r.athletes[1]
	r.ask(ctx, thief, http.MethodGet, "/session", nil, nil, "", "")

	code, err := r.again(ctx, func() error { return thief.browser.Connect(ctx, owner.id, owner.scope) })
	if wrong := r.Judge("connecting the athlete of another", code, "athlete_already_connected", err); wrong != "" {
		thief.fail("%s", wrong)
	}
}

// upload has an athlete bring an activity to Strava.
func (r *run) upload(a *athlete, x *activity) {
	x.at = r.Clock.Now()
	x.id = r.strava.Upload(a.id, x.shown())
	x.has, x.last = a.connected && !a.hidden(x), x.at
	a.activities = append(a.activities, x)
	a.observe(x.at)
}

// edit changes an activity at Strava.
func (r *run) edit(a *athlete, x *activity, what string, updates map[string]any, change func(*data)) {
	if x.id == 0 || x.gone { // it was not brought
		return
	}

	was := x.data
	change(&x.data)

	if was.name = x.name; was != x.data { // a name changes nothing that counts
		x.last = r.Clock.Now()
	}

	if updates == nil {
		updates = map[string]any{}
	}

	r.strava.Edit(x.id, updates, func(of *strava.Activity) {
		shown := x.shown()
		shown.ID, shown.Athlete, shown.Type, shown.Visibility = of.ID, of.Athlete, of.SportType, of.Visibility
		shown.StartDateLocal = x.start.Add(x.offset).Format("2006-01-02T15:04:05Z")
		*of = shown
	})

	a.did[what]++
	a.observe(r.Clock.Now())
}

// some returns an activity that an upset can be about: at most so old, or if that is 0,
// any of the history that the app fetches. It returns nil if there is none.
func (r *run) some(a *athlete, age time.Duration, fits func(*activity) bool) *activity {
	if !a.connected || len(a.milestones) == 0 {
		return nil
	}

	since := latest(a.since(r.Clock.Now()), a.since(r.Clock.Now().Add(longRest)))
	if age > 0 {
		since = r.Clock.Now().Add(-age)
	}

	all := slices.DeleteFunc(slices.Clone(a.activities), func(x *activity) bool {
		return !x.has || a.hidden(x) || x.start.Before(since) || x.start.After(r.Clock.Now()) || !fits(x)
	})
	if len(all) == 0 {
		return nil
	}

	return all[r.dice("some", a.name, r.Clock.Now().Unix()).IntN(len(all))]
}

func latest(x, y time.Time) time.Time {
	if x.After(y) {
		return x
	}

	return y
}

func anything(*activity) bool { return true }

// doing is what an upset does to an athlete.
type doing = func(context.Context, *athlete)

func (r *run) delete(a *athlete, x *activity, what string) {
	x.gone, x.last = true, r.Clock.Now()
	r.strava.Delete(x.id)

	a.did[what]++
	a.observe(r.Clock.Now())
}

func (r *run) drop(age time.Duration) doing {
	return func(_ context.Context, a *athlete) {
		if x := r.some(a, age, anything); x != nil {
			r.delete(a, x, "deleted")
		}
	}
}

// dropTwin deletes the first recording of a workout: the second counts from then on.
func (r *run) dropTwin(_ context.Context, a *athlete) {
	if x := r.some(a, recent, func(x *activity) bool { return x.twin }); x != nil {
		r.delete(a, x, "twins deleted")
	}
}

func (r *run) crop(age time.Duration) doing {
	return func(_ context.Context, a *athlete) {
		if x := r.some(a, age, anything); x != nil {
			r.edit(a, x, "cropped", nil, func(d *data) { *d = d.scaled(0.6) })
		}
	}
}

func (r *run) retype(_ context.Context, a *athlete) {
	if x := r.some(a, recent, anything); x != nil {
		r.edit(a, x, "made walks", map[string]any{"type": "Walk"}, func(d *data) { d.sport = "Walk" })
	}
}

// postdate moves an activity to before the first milestone: its device had lost the date.
func (r *run) postdate(_ context.Context, a *athlete) {
	if x := r.some(a, recent, anything); x != nil {
		r.edit(a, x, "moved", nil, func(d *data) {
			d.start = a.milestones[0].start.Add(-30*time.Hour - time.Duration(x.id%997)*time.Second)
		})
	}
}

func (r *run) flag(_ context.Context, a *athlete) {
	if x := r.some(a, recent, anything); x != nil {
		r.edit(a, x, "flagged", nil, func(d *data) { d.flagged = true })
	}
}

func (r *run) hide(_ context.Context, a *athlete) {
	if x := r.some(a, recent, func(x *activity) bool { return !x.private }); x != nil {
		a.hiding = x
		r.edit(a, x, "hidden", map[string]any{"private": "true"}, func(d *data) { d.private = true })
	}
}

func (r *run) show(_ context.Context, a *athlete) {
	if x := a.hiding; x != nil {
		a.hiding = nil
		r.edit(a, x, "shown", map[string]any{"private": "false"}, func(d *data) { d.private = false })
	}
}

// choose changes what counts.
func (r *run) choose(ctx context.Context, a *athlete) {
	is := a.counts
	one := []*bool{&is.Virtual, &is.EBike, &is.Handcycle, &is.Manual, &is.Private}[r.dice("choose", a.name, r.Clock.Now().Unix()).IntN(5)]
	*one = !*one

	if r.ask(ctx, a, http.MethodPatch, "/preferences", map[string]any{"counts": is}, nil, "", "") {
		a.counts = is
		a.did["choices"]++
		a.observe(r.Clock.Now())
	}
}

// disconnect ends the connection in the app. What the athlete once could choose to keep has no effect.
func (r *run) disconnect(ctx context.Context, a *athlete, keep bool) {
	if !r.ask(ctx, a, http.MethodPatch, "/preferences", map[string]bool{"keepWorkouts": keep}, nil, "", "") {
		return
	}

	if r.ask(ctx, a, http.MethodDelete, "/strava/connection", nil, nil, "", "") {
		r.cutOff(a)
		a.did["disconnections"]++
	}
}

// revoke ends the connection at Strava.
func (r *run) revoke(_ context.Context, a *athlete) {
	r.strava.Revoke(a.id)
	r.cutOff(a)
	a.did["revocations"]++
}

// cutOff is what the end of a connection must lead to.
func (r *run) cutOff(a *athlete) {
	a.connected = false
	for _, x := range a.activities {
		x.has = false
	}

	a.observe(r.Clock.Now())
}

// sync has the activities fetched, twice.
func (r *run) sync(ctx context.Context, a *athlete) {
	r.glance(ctx, a)

	if !a.connected {
		r.ask(ctx, a, http.MethodPost, "/activities/sync", nil, nil, "not_connected", "")
		return
	}

	r.ask(ctx, a, http.MethodPost, "/activities/sync", nil, nil, "", "sync_too_soon")
	r.ask(ctx, a, http.MethodPost, "/activities/sync", nil, nil, "sync_too_soon", "")
	a.did["syncs"]++
}

// repeat has an administrator repeat an event of the athlete, which changes nothing.
func (r *run) repeat(ctx context.Context, a *athlete) {
	sent, _ := r.strava.Sent()
	for _, e := range slices.Backward(sent) {
		at := time.Unix(e.EventTime, 0)
		if r.Clock.Now().Sub(at) > 5*day {
			return
		}

		if e.OwnerID != a.id || e.ObjectType != "activity" || r.Clock.Now().Sub(at) < 2*time.Hour || !a.connected ||
			!slices.ContainsFunc(a.activities, func(x *activity) bool { return x.id == e.ObjectID && x.has }) {
			continue
		}

		key := fmt.Sprintf("STRAVA#EVT#%s#%s#%d#%d", e.ObjectType, e.AspectType, e.ObjectID, e.EventTime)
		r.call(ctx, fleet.Administrator, http.MethodPost, "/admin/replay/"+url.PathEscape(key), nil, nil, "")

		a.did["events repeated"]++

		return
	}
}

// forge sends webhooks that are not Strava's. None may change anything.
func (r *run) forge(ctx context.Context) {
	a, b := r.athletes[0], r.athletes[1]
	event := func(kind, aspect string, id, owner, subscription int64) map[string]any {
		return map[string]any{"object_type": kind, "object_id": id, "aspect_type": aspect, "owner_id": owner, "subscription_id": subscription,
			"event_time": r.Clock.Now().Unix(), "updates": map[string]any{"authorized": "false"}}
	}
	ours := r.strava.Subscription()
	path := "/webhooks/strava/" + r.cfg.Webhook
	r.call(ctx, "", http.MethodPost, "/webhooks/strava/guessed", event("athlete", "update", a.id, a.id, ours), nil, "invalid_secret")
	r.call(ctx, "", http.MethodPost, path, event("athlete", "update", a.id, a.id, ours+1), nil, "unknown_subscription")
	r.call(ctx, "", http.MethodPost, path, event("athlete", "update", a.id, a.id, ours), nil, "")
	r.call(ctx, "", http.MethodPost, path, event("activity", "create", 4, 99, ours), nil, "")
	r.call(ctx, "", http.MethodPost, path, event("segment", "create", 4, a.id, ours), nil, "")

	if len(b.activities) > 0 {
		r.call(ctx, "", http.MethodPost, path, event("activity", "update", b.activities[0].id, a.id, ours), nil, "")
	}
}

// leave deletes the account.
func (r *run) leave(ctx context.Context, a *athlete) {
	r.glance(ctx, a)

	r.Busy = r.Clock.Now().Add(3 * time.Hour)
	if r.ask(ctx, a, http.MethodDelete, "/account", nil, nil, "", "missing_session") {
		a.gone, a.connected = true, false
		a.did["account deleted"]++
	}
}

// shuffled returns the activities of an athlete in an order of the day.
func (r *run) shuffled(a *athlete, source string) []*activity {
	all := slices.Clone(a.of(source))
	d := rand.New(rand.NewPCG(r.seed, uint64(a.id)^uint64(r.Clock.Now().Unix())))
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })

	return all
}
