package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sideshow/apns2"
	"golang.org/x/sync/errgroup"

	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/chaos"
)

const (
	followers = 200 // of each match; they are the same users
	callers   = 16  // concurrent requests during the setup

	// lateBy is the time from the follow of a late fan to the start of the match: after the
	// last retry of a reminder.
	lateBy = 2 * time.Minute
)

// taste selects the alerts that a fan wants.
type taste int

const (
	everything taste = iota
	keyEvents
	spoilerFree
)

// fan is a user who follows every match.
type fan struct {
	user         string
	device       string // token
	taste        taste
	unregistered string // Apple's reason for refusing the tokens; "" for a reachable phone
	// from and to are the quiet hours in UTC, as 15:04; "" for none.
	from, to string
	late     bool   // follows shortly before the start
	listens  bool   // iOS 18: its activities listen to a channel
	begins   string // push-to-start token; "" if the app starts the activities itself
	expired  bool   // that token is invalid, so the fan gets a notification instead
	android  bool   // the phone is an Android phone, whose app subscribes to topics
}

// asleep reports whether t is in the fan's quiet hours.
func (f *fan) asleep(t time.Time) bool {
	now := t.UTC().Format("15:04")
	if f.from <= f.to {
		return f.from <= now && now < f.to
	}

	return f.from <= now || now < f.to
}

// quiet reports whether the fan has quiet hours.
func (f *fan) quiet() bool { return f.from != f.to }

// fansOf returns the fans of a run.
func fansOf(seed uint64) (fans []*fan) {
	for i := range followers {
		f := &fan{user: fmt.Sprintf("fan%03d", i)}
		f.device = token("device", f.user)
		soon := start.Add(time.Duration(1+10*chaos.Chance(seed, "turns", f.user)) * time.Minute).Format("15:04") // during the match
		plain := false

		switch x := chaos.Chance(seed, "fan", f.user); {
		case x < 0.03:
			f.unregistered = apns2.ReasonUnregistered
		case x < 0.05:
			f.unregistered = apns2.ReasonBadDeviceToken
		case x < 0.15:
			f.taste = keyEvents
		case x < 0.25:
			f.taste = spoilerFree
		case x < 0.30:
			f.from, f.to = "00:00", "23:59"
		case x < 0.35:
			f.from, f.to = soon, "06:00"
		case x < 0.40:
			f.from, f.to = "06:00", soon
		default:
			plain = true
		}

		if f.unregistered == "" {
			f.listens = chaos.Chance(seed, "iOS", f.user) < 0.2
		}

		switch x := chaos.Chance(seed, "begins", f.user); {
		case plain && x < 0.3:
			f.begins, f.expired = token("begin", f.user), x < 0.03
		case plain && !f.listens && x < 0.4:
			f.late = true
		}

		if f.begins == "" && !f.listens && chaos.Chance(seed, "android", f.user) < 0.3 {
			f.android, f.device = true, local.NewAndroid(f.user, "", "").Device
		}

		fans = append(fans, f)
	}

	return fans
}

func token(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "/")))
	return hex.EncodeToString(sum[:])
}

// follower is a fan of one match.
type follower struct {
	*fan
	phone   local.Phone
	leaves  int       // frame after which the fan unfollows; 0 for never
	left    int       // deliveries bowled when the fan had unfollowed; -1 before
	follows time.Time // start of the follow
	begun   int       // activities that a push has started
	tuned   bool      // the activity listens to a channel
}

// follower returns the i-th fan as a follower of the match.
func (m *match) follower(seed uint64, i int, f *fan) *follower {
	id := local.ID(m.script.ID)
	teams := []string{"", local.ID(m.script.Local.ID), local.ID(m.script.Visitor.ID)}

	w := &follower{fan: f, phone: local.NewPhone(f.user, id, teams[i%3]), left: -1}
	if f.android {
		w.phone = local.NewAndroid(f.user, id, teams[i%3])
	}

	if x := chaos.Chance(seed, "leaves", f.user, id); x < 0.1 && f.unregistered == "" && !f.late {
		w.leaves = 1 + int(10*x*float64(len(m.script.Frames)))
	}

	return w
}

// lasting reports whether the follower's phone must show the end of the match.
func (w *follower) lasting() bool { return w.unregistered == "" && w.leaves == 0 }

// enroll registers the phones of all fans, and the follows of those who are not late,
// without faults.
func (r *run) enroll(ctx context.Context) error {
	t := r.trial
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(callers)
	r.world.Google.Burst(1_000_000) // the matches of some days are played in minutes

	for _, f := range t.fans {
		g.Go(func() error { return r.join(gctx, f) })
	}

	if err := g.Wait(); err != nil {
		return err
	}

	g, gctx = errgroup.WithContext(ctx)
	g.SetLimit(callers)

	for _, m := range r.matches {
		for _, w := range m.followers {
			if !w.late {
				g.Go(func() error { return r.follow(gctx, w) })
			}
		}
	}

	if err := g.Wait(); err != nil {
		return err
	}
	// One at a time: a request that finds a channel being opened waits for the clock, which
	// does not move during the setup.
	for _, m := range r.matches {
		for _, w := range m.followers {
			if w.listens && w.begins == "" {
				if err := r.world.Listen(ctx, w.phone); err != nil {
					return err
				}
			}
		}
	}

	r.world.Provider.Chaos(r.providerChaos(t.seed))
	r.world.Phones.Chaos(r.appleChaos(t.seed))
	r.world.Google.Chaos(r.googleChaos(t.seed))
	t.faults.Start()

	return nil
}

// join registers a fan's phone and preferences.
func (r *run) join(ctx context.Context, f *fan) error {
	body := map[string]string{"deviceToken": f.device, "platform": "ios", "environment": "production", "osVersion": "17.5"}
	if f.listens {
		body["osVersion"] = "18.1"
	}

	switch {
	case f.android:
		body = map[string]string{"deviceToken": f.device, "platform": "android", "osVersion": "16"}

		if r.world.Google.Install(f.device); f.unregistered != "" {
			r.world.Google.Remove(f.device)
		}
	case f.unregistered != "":
		r.world.Phones.Answer(f.device, apns.Refuse(f.unregistered))
	}

	if err := r.world.Call(ctx, f.user, "POST", "/cricket/user/device", body, nil); err != nil {
		return err
	}

	if f.expired {
		r.world.Phones.Answer(f.begins, apns.Refuse(apns2.ReasonUnregistered))
	}

	if f.begins != "" {
		if err := r.world.Call(ctx, f.user, "PUT", "/cricket/user/device/push-to-start",
			map[string]string{"deviceToken": f.device, "pushToStartToken": f.begins}, nil); err != nil {
			return err
		}
	}

	if f.taste == everything && !f.quiet() {
		return nil
	}

	likes := map[string]any{"alerts": kinds(), "keyEventsOnly": f.taste == keyEvents, "spoilerFree": f.taste == spoilerFree}
	if f.quiet() {
		likes["quietHours"] = map[string]string{"from": f.from, "to": f.to, "timeZone": "UTC"}
	}

	return r.world.Call(ctx, f.user, "PUT", "/cricket/user/preferences", likes, nil)
}

// follow makes a fan a follower of a match. It also registers an activity by push token,
// unless the activity listens to a channel or a push starts it.
func (r *run) follow(ctx context.Context, w *follower) error {
	w.follows = r.clock.Now()

	body := map[string]string{}
	if w.phone.TeamID != "" {
		body["teamId"] = w.phone.TeamID
	}

	if err := r.world.Call(ctx, w.user, "POST", "/cricket/user/follow/"+w.phone.MatchID, body, nil); err != nil {
		return err
	}

	if w.android {
		return r.world.Subscribe(ctx, w.phone)
	}

	if w.listens || w.begins != "" {
		return nil
	}

	if w.unregistered != "" {
		r.world.Phones.Answer(w.phone.Token, apns.Refuse(w.unregistered))
	}

	return r.world.Register(ctx, w.phone)
}

// come makes the late fans followers of a match.
func (r *run) come(ctx context.Context, m *match) {
	for _, w := range m.followers {
		if w.late && w.follows.IsZero() {
			if err := r.follow(ctx, w); err != nil {
				m.fail("%s cannot follow: %v", w.user, err)
			}
		}
	}
}

// leave ends the follows of the fans who leave a match early.
func (r *run) leave(ctx context.Context, m *match) {
	p, err := r.world.Provider.Progress(m.script.ID)
	if err != nil {
		m.fail("%v", err)
		return
	}

	m.checked = p.Shown
	for _, w := range m.followers {
		if w.leaves == 0 || w.left >= 0 || p.Shown < w.leaves {
			continue
		}

		if err := r.world.Call(ctx, w.user, "DELETE", "/cricket/user/follow/"+w.phone.MatchID, nil, nil); err != nil {
			m.fail("%s cannot unfollow: %v", w.user, err)
		}

		w.left = m.script.Frames[p.Shown-1].Deliveries
	}
}

// begun simulates the app when a push starts an activity: the app registers the activity
// unless it listens to a channel. It only counts the activity of a later day.
func (r *run) begun(ctx context.Context, s apns.Start) {
	var of struct{ MatchID, TeamID string }
	json.Unmarshal(s.Attributes, &of) // attributes without a match are reported below

	i := slices.IndexFunc(r.matches, func(m *match) bool { return m.script != nil && local.ID(m.script.ID) == of.MatchID })

	j := slices.IndexFunc(r.trial.fans, func(f *fan) bool { return f.begins == s.Token })
	if i < 0 || j < 0 {
		r.fail("", "a push begins an activity that nobody wants: %s", s.Attributes)
		return
	}

	m, w := r.matches[i], r.matches[i].followers[j]
	if w.begun++; w.begun > 1 {
		return
	}

	w.tuned = s.Channel != ""
	if of.TeamID != w.phone.TeamID {
		m.fail("the activity of %s begins as %q's, not %q's", w.user, of.TeamID, w.phone.TeamID)
	}

	if w.tuned && !w.listens {
		m.fail("the activity of %s begins with a channel, on iOS 17", w.user)
	}

	w.phone.Token = s.Update
	if !w.tuned {
		if err := r.world.Register(ctx, w.phone); err != nil {
			m.fail("%s cannot register an activity: %v", w.user, err)
		}
	}

	if w.lasting() {
		m.phones = append(m.phones, w.phone)
	}
}
