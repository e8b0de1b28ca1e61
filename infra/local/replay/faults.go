package replay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/infra/local/apns"
	"matchday/infra/local/faults"
	"matchday/infra/local/fleet"
	"matchday/infra/local/sportmonks"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

const (
	followers = 200 // of each match, all the same users
	callers   = 16  // of the API at once, while they are set up

	// What is killed comes again when its queue shows it again: after six times
	// its timeout, twelve minutes at most, ten times.
	patienceWithFaults = 2 * time.Hour
	// An event is held until two further polls agree, so what the provider
	// invents and takes back within two polls is never told.
	inventionLasts = 2 * slot

	alertsFunction = "cricket/send-alerts"
)

// taste is what alerts a fan wants.
type taste int

const (
	everything taste = iota
	keyEvents
	spoilerFree
	quiet // all day but its last minute
)

// fan is a user who follows every match.
type fan struct {
	user   string
	device string // token
	taste  taste
	dead   string // Apple's reason to refuse the tokens; "" for a phone that is there
}

// follower is a fan of one match.
type follower struct {
	*fan
	phone   fleet.Phone
	leaves  int       // frame after which the fan unfollows; 0 for never
	left    int       // deliveries bowled when the fan had unfollowed; -1 before
	follows time.Time // since
}

// trial is what a run with faults has besides.
type trial struct {
	seed   uint64
	faults *faults.Faults
	fans   []*fan
	alerts bool // the fleet sends them

	reached, again int // alerts on phones, and arrivals of one that was there
}

// try readies the faults of a run.
func (r *run) try(seed uint64) {
	t := &trial{seed: seed}
	for i := range followers {
		f := &fan{user: fmt.Sprintf("fan%03d", i)}
		f.device = token("device", f.user)
		switch x := faults.Chance(seed, "fan", f.user); {
		case x < 0.03:
			f.dead = "Unregistered"
		case x < 0.05:
			f.dead = "BadDeviceToken"
		case x < 0.15:
			f.taste = keyEvents
		case x < 0.25:
			f.taste = spoilerFree
		case x < 0.35:
			f.taste = quiet
		}
		t.fans = append(t.fans, f)
	}
	for _, m := range r.matches {
		if m.script == nil {
			continue
		}
		m.phones = nil
		id := fleet.MatchID(m.script.ID)
		teams := []string{"", fleet.MatchID(m.script.Local.ID), fleet.MatchID(m.script.Visitor.ID)}
		for i, f := range t.fans {
			w := &follower{fan: f, phone: fleet.NewPhone(f.user, id, teams[i%3]), left: -1}
			if x := faults.Chance(seed, "leaves", f.user, id); x < 0.1 && f.dead == "" {
				w.leaves = 1 + int(10*x*float64(m.script.Frames()))
			}
			if w.dead == "" && w.leaves == 0 {
				m.phones = append(m.phones, w.phone)
			}
			m.followers = append(m.followers, w)
		}
	}
	t.faults = faults.New(r.faultRates(seed))
	r.trial = t
}

func token(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "/")))
	return hex.EncodeToString(sum[:])
}

// size is how much of what can go wrong there is in a run.
type size struct{ frames, ticks, matches float64 }

func (r *run) size() (s size) {
	first, last := start, start
	for _, m := range r.matches {
		if m.script != nil {
			s.frames += float64(m.script.Frames())
			s.matches++
			if m.end().After(last) {
				last = m.end()
			}
		}
	}
	s.ticks = float64(last.Sub(first) / slot)
	return s
}

// scale makes faults that cost wall time (a second and more each) rarer in a
// short run, and no more frequent in a long one.
func (s size) scale() float64 { return min(1, 0.1+s.frames/3000) }

// about is the rate at which something happens some n times in so many chances,
// but never every twentieth time.
func about(n, chances float64) float64 { return min(n/max(chances, 1), 0.05) }

// faultRates are the rates of what goes wrong around the functions. The numbers
// of calls are rough: they only make each kind happen in each function.
func (r *run) faultRates(seed uint64) faults.Config {
	s := r.size()
	calls := map[string]map[faults.Kind]float64{}
	rates := func(function string, chances, fail, forGood, kill float64) {
		rate := func(n float64) float64 { return about(s.scale()*n, chances) }
		calls[strings.ReplaceAll(function, "/", "-")] = map[faults.Kind]float64{
			faults.Throttled: rate(fail), faults.Failed: rate(fail), faults.Cut: rate(fail), faults.FailedForGood: rate(forGood),
			faults.KilledBefore: rate(kill), faults.KilledAfter: rate(kill),
		}
	}
	// The SDK's back-off takes up to six seconds until a call has failed for good,
	// longer than plan-ticks may take: whether it times out must not be left to
	// the machine's mood.
	rates("cricket/plan-ticks", s.ticks/8, 2, 0, 4)
	for _, function := range []string{"cricket/detect-toss", "cricket/remind-prematch", "cricket/sync-fixtures"} {
		rates(function, s.ticks/8, 1, 1, 2)
	}
	rates("cricket/tick", 20*s.frames, 6, 3, 15)
	rates("cricket/push-activities", 6*s.frames, 3, 2, 8)
	rates("cricket/finish-match", 40*s.matches, 2, 2, 5)
	rates(alertsFunction, 30*s.matches*(2*followers), 3, 2, 12)
	return faults.Config{
		Seed: seed, Calls: calls,
		Task:        "cricket/tick",
		Invocations: map[faults.Kind]float64{faults.TwoAtOnce: 0.05, faults.OnceMore: 0.03, faults.Delayed: 0.05},
		Messages:    map[faults.Kind]float64{faults.HeldBack: 0.03, faults.Redelivered: 0.03},
	}
}

// providerChaos is what goes wrong at the provider.
func (r *run) providerChaos(seed uint64) sportmonks.Chaos {
	s := r.size()
	return sportmonks.Chaos{
		Seed: seed,
		Rates: map[sportmonks.Kind]float64{
			sportmonks.WrongBall: 1.0 / 7, sportmonks.DeletedBall: 0.01, sportmonks.Late: 0.02,
			sportmonks.Vanish: about(s.matches, s.frames), sportmonks.EarlyFinish: 0.3, sportmonks.WrongWinner: 0.15,
			sportmonks.TooManyRequests: 0.004, sportmonks.ServerError: 0.008, sportmonks.Timeout: about(3*s.scale(), s.ticks),
			sportmonks.Truncated: 0.004, sportmonks.HTML: 0.002, sportmonks.WrongTypes: 0.004,
			sportmonks.UnknownStatus: 0.002, sportmonks.ShortBalls: 0.004, sportmonks.DuplicateBalls: 0.004,
		},
		Lasting: map[sportmonks.Kind]time.Duration{sportmonks.WrongBall: inventionLasts, sportmonks.DeletedBall: inventionLasts},
	}
}

// appleChaos is what goes wrong at Apple's.
func (r *run) appleChaos(seed uint64) apns.Chaos {
	s := r.size()
	rate := func(n float64) float64 { return about(n*s.scale(), s.frames*followers) }
	return apns.Chaos{
		Seed: seed, TooMany: rate(25), Internal: rate(25), Unavailable: rate(25), Outage: rate(1.5), Drop: rate(300), Lost: rate(300),
		Slow: rate(2), SlowBy: time.Minute, GoAway: rate(300),
	}
}

// enroll has all fans register their phones and follow every match, with
// nothing going wrong yet.
func (r *run) enroll(ctx context.Context) error {
	t := r.trial
	t.alerts = slices.ContainsFunc(r.fleet.Rooms, func(room spec.Room) bool {
		return slices.ContainsFunc(room.Functions, func(f spec.Function) bool { return f.Name == alertsFunction })
	})
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(callers)
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
			g.Go(func() error {
				w.follows = r.clock.Now()
				body := map[string]string{}
				if w.phone.TeamID != "" {
					body["teamId"] = w.phone.TeamID
				}
				if err := r.fleet.Call(gctx, w.user, "POST", "/cricket/user/follow/"+w.phone.MatchID, body, nil); err != nil {
					return err
				}
				if w.dead != "" {
					r.fleet.Phones.Answer(w.phone.Token, apns.Refuse(w.dead))
				}
				return r.fleet.Register(gctx, w.phone)
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	r.fleet.Provider.Chaos(r.providerChaos(t.seed))
	r.fleet.Phones.Chaos(r.appleChaos(t.seed))
	t.faults.Start()
	return nil
}

// join registers a fan's phone and preferences.
func (r *run) join(ctx context.Context, f *fan) error {
	if f.dead != "" {
		r.fleet.Phones.Answer(f.device, apns.Refuse(f.dead))
	}
	if err := r.fleet.Call(ctx, f.user, "POST", "/cricket/user/device",
		map[string]string{"deviceToken": f.device, "platform": "ios", "environment": "production", "osVersion": "17.5"}, nil); err != nil {
		return err
	}
	if f.taste == everything {
		return nil
	}
	likes := map[string]any{"alerts": kinds(), "keyEventsOnly": f.taste == keyEvents, "spoilerFree": f.taste == spoilerFree}
	if f.taste == quiet {
		likes["quietHours"] = map[string]string{"from": "00:00", "to": "23:59", "timeZone": "UTC"}
	}
	return r.fleet.Call(ctx, f.user, "PUT", "/cricket/user/preferences", likes, nil)
}

// leave has those unfollow a match who have had enough of it.
func (r *run) leave(ctx context.Context, m *match) {
	p, err := r.fleet.Provider.Progress(m.script.ID)
	if err != nil {
		m.fail("%v", err)
		return
	}
	m.checked = p.Shown
	for _, w := range m.followers {
		if w.leaves == 0 || w.left >= 0 || p.Shown < w.leaves {
			continue
		}
		if err := r.fleet.Call(ctx, w.user, "DELETE", "/cricket/user/follow/"+w.phone.MatchID, nil, nil); err != nil {
			m.fail("%s cannot unfollow: %v", w.user, err)
		}
		w.left = m.script.Frame(p.Shown - 1).Deliveries
	}
}

// tried advances the matches of a run with faults, and reports whether all are
// over and nothing is left to be done.
func (r *run) tried(ctx context.Context) (over bool) {
	now := r.clock.Now()
	r.mu.Lock()
	ticked := r.lastTick.Equal(now)
	r.mu.Unlock()
	over = true
	for _, m := range r.matches {
		if m.over {
			continue
		}
		if ticked && !now.Before(m.start) {
			m.ticks++
			if now.Before(m.end().Add(-settle)) { // after that the end may have removed who follows
				r.leave(ctx, m)
			}
		}
		if now.Before(m.end()) || now.Before(m.end().Add(patienceWithFaults)) && !r.ended(m) {
			over = false
			continue
		}
		m.over = true
	}
	r.progress(now)
	if !over {
		return false
	}
	if r.calm.IsZero() {
		r.calm = now.Add(patienceWithFaults)
	}
	if len(r.unfinished()) > 0 && now.Before(r.calm) {
		return false
	}
	r.judge(ctx)
	return true
}

// unfinished lists the queues that hold something, dead-letter queues aside.
func (r *run) unfinished() (queues []string) {
	for _, d := range r.fleet.Queues.Stats() {
		if d.Visible+d.Delayed+d.InFlight > 0 && !strings.HasSuffix(d.Queue, spec.Queue{}.Dead()) {
			queues = append(queues, fmt.Sprintf("%s holds %d", d.Queue, d.Visible+d.Delayed+d.InFlight))
		}
	}
	return queues
}

// judge holds the end of a run with faults against the files.
func (r *run) judge(ctx context.Context) {
	for _, m := range r.matches {
		if m.script != nil {
			r.finish(ctx, m)
		}
	}
	if r.trial.alerts {
		r.judgeAlerts()
	}
	for _, held := range r.unfinished() {
		r.fail("", "at the end the queue %s", held)
	}
	for _, d := range r.fleet.Queues.Stats() {
		if !strings.HasSuffix(d.Queue, spec.Queue{}.Dead()) {
			continue
		}
		for _, message := range r.fleet.Queues.Messages(d.Queue) {
			var of alert
			json.Unmarshal([]byte(message.Body), &of) // what names no match is told of for itself
			why := "it was tried too often"
			if reason := message.Attributes[queue.ReasonAttribute].StringValue; reason != nil {
				why = *reason
			}
			r.fail(of.MatchID, "a message ended in %s: %s", d.Queue, why)
		}
	}
	left, err := r.fleet.Live(ctx, "cricket-fixtures")
	if err != nil {
		r.fail("", "%v", err)
	}
	for _, id := range left {
		r.fail(id, "match %s is still live", id)
	}
	for _, m := range r.matches {
		if m.script != nil {
			r.report(m)
		}
	}
}

// fail notes what is wrong with a match or, when there is none of the id, with
// the run.
func (r *run) fail(id, format string, args ...any) {
	for _, m := range r.matches {
		if m.script != nil && fleet.MatchID(m.script.ID) == id {
			m.fail(format, args...)
			return
		}
	}
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// judgeAlerts holds the alerts on the followers' phones against the files: none
// lost, none told twice, none to who did not want it.
func (r *run) judgeAlerts() {
	got := map[*fan]alerts{}
	for _, f := range r.trial.fans {
		d, _ := r.fleet.Phones.Device(f.device)
		for _, a := range d.Alerts {
			r.trial.reached++
			r.trial.again += a.Again
		}
		var err error
		if got[f], err = alertsOf(d); err != nil {
			r.fail("", "the phone of %s: %v", f.user, err)
		}
	}
	for _, m := range r.matches {
		if m.script != nil {
			m.judgeAll(got)
		}
	}
}

func (m *match) judgeAll(on map[*fan]alerts) {
	wrong := map[string][]string{} // what, by whom
	ids := map[score.EventKind]map[string]bool{}
	for _, w := range m.followers {
		if w.dead != "" {
			continue
		}
		got := on[w.fan][w.phone.MatchID]
		for k, all := range got {
			for _, a := range all {
				if ids[k] == nil {
					ids[k] = map[string]bool{}
				}
				ids[k][a.Collapse] = true
			}
		}
		m.judge(w, got, func(what string) { wrong[what] = append(wrong[what], w.user) })
	}
	all := m.oracle.alerts(len(m.oracle.after))
	for _, k := range kinds() {
		if n, most := len(ids[k]), m.expects(m.followers[0], all, k).most; n > most {
			m.fail("there are %d different %s alerts, and %d at most to tell of", n, k, most)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(wrong)) {
		m.fail("%d of %d followers, as %s: %s", len(wrong[what]), len(m.followers), wrong[what][0], what)
	}
}

// verdict writes how the run went. It names no time and no request, so that two
// runs with one seed write the same; what the functions complained of it writes
// when it fails.
func (r *run) verdict(failed int) error {
	if failed > 0 || len(r.problems) > 0 {
		r.complaints()
	}
	for _, p := range r.problems {
		fmt.Fprintf(r.Out, "FAIL  %s\n", p)
	}
	r.tally()
	fmt.Fprintf(r.Out, "%d of %d matches ok\n", len(r.matches)-failed, len(r.matches))
	if failed > 0 || len(r.problems) > 0 {
		return ErrFailed
	}
	return nil
}

// tally writes what went wrong, a line for each part of the world.
func (r *run) tally() {
	t := r.trial
	line := func(what string, counts []string) {
		fmt.Fprintf(r.Out, "  %-12s %s\n", what, cmp.Or(strings.Join(counts, ", "), "nothing"))
	}
	provider := r.fleet.Provider.Counts()
	did := t.faults.Counts()
	apple := r.fleet.Phones.Struck()
	fmt.Fprintf(r.Out, "what went wrong with seed %d:\n", t.seed)
	line("provider", counted(provider, sportmonks.Kinds()))
	line("Apple", counted(apple, []string{"429", "500", "503", "outage", "drop", "lost", "slow", "GOAWAY"}))
	line("calls", counted(did, []faults.Kind{faults.Throttled, faults.Failed, faults.Cut, faults.FailedForGood, faults.KilledBefore, faults.KilledAfter}))
	line("ticks", counted(did, []faults.Kind{faults.TwoAtOnce, faults.OnceMore, faults.Delayed}))
	line("messages", counted(did, []faults.Kind{faults.HeldBack, faults.Redelivered}))
	var all, dead, left int
	for _, m := range r.matches {
		for _, w := range m.followers {
			all++
			if w.dead != "" {
				dead++
			}
			if w.left >= 0 {
				left++
			}
		}
	}
	told := "no alerts, for the fleet sends none"
	if t.alerts {
		told = fmt.Sprintf("%d alerts on phones, %d of them came again and replaced themselves", t.reached, t.again)
	}
	line("followers", []string{strconv.Itoa(all), fmt.Sprintf("%d with dead tokens", dead), fmt.Sprintf("%d left mid-match", left), told})
}

func counted[K ~string](counts map[K]int, kinds []K) (out []string) {
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return out
}
