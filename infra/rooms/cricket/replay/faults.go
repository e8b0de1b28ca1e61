package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/replay"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/chaos"
	"matchday/infra/sim/fcm"
	"matchday/infra/sim/sportmonks"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

const (
	// The message of a killed function is delivered again after its visibility timeout: six
	// times the timeout of the function, at most twelve minutes, up to ten times.
	patienceWithFaults = 2 * time.Hour
	// What follows the end of a match, without its reviews, takes half an hour; that may need as long
	// again for each message that a killed function has received.
	patienceWithEnd = 5 * time.Hour
	// An event is sent after three polls contained it, so an invented event that the
	// provider removes within two polls is never sent. It appears just before a poll, so that
	// no delayed earlier poll is the third.
	inventionLasts = 2 * slot
	beforePoll     = 50 * time.Millisecond
)

// trial is the additional state of a run with faults.
type trial struct {
	seed   uint64
	faults *chaos.Faults
	fans   []*fan

	reached, again int // alerts on phones, and repeated arrivals of the same alert
}

// try prepares the faults of a run.
func (r *run) try(seed uint64) {
	r.trial = &trial{seed: seed, fans: fansOf(seed)}
	for _, m := range r.matches {
		if m.script == nil {
			continue
		}

		m.phones = nil
		for i, f := range r.trial.fans {
			w := m.follower(seed, i, f)
			if w.lasting() && w.begins == "" { // otherwise a push starts its activity later
				m.phones = append(m.phones, w.phone)
			}

			m.followers = append(m.followers, w)
		}
	}

	r.trial.faults = chaos.New(r.faultRates(seed))
}

// size is the amount of work in a run: the chances for faults.
type size struct{ frames, ticks, matches float64 }

func (r *run) size() (s size) {
	first, last := start, start

	for _, m := range r.matches {
		if m.script != nil {
			s.frames += float64(len(m.script.Frames))
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

// about returns the rate at which something happens about n times in so many chances, below
// one in twenty.
func about(n, chances float64) float64 { return min(n/max(chances, 1), 0.05) }

// faultRates returns the rates of the faults of functions and their calls. The numbers of
// calls are approximate: each kind of fault must happen in each function.
func (r *run) faultRates(seed uint64) chaos.Config {
	s := r.size()
	calls := map[string]map[chaos.Kind]float64{}
	rates := func(function string, chances, fail, forGood, kill float64) {
		rate := func(n float64) float64 { return about(s.scale()*n, chances) }
		calls[slug(function)] = map[chaos.Kind]float64{
			chaos.Throttled: rate(fail), chaos.Failed: rate(fail), chaos.Cut: rate(fail), chaos.FailedForGood: rate(forGood),
			chaos.KilledBefore: rate(kill), chaos.KilledAfter: rate(kill),
		}
	}

	minutes := reminder.Minutes() + s.ticks*slot.Minutes()
	for _, function := range []string{"cricket/plan-ticks", "cricket/detect-toss", "cricket/remind-prematch", "cricket/sync-fixtures"} {
		rates(function, 10*minutes, 1, 1, 2)
	}

	rates("cricket/tick", 20*s.frames, 6, 3, 15)
	rates("cricket/push-activities", 6*s.frames, 3, 2, 8)
	rates("cricket/push-topics", 5*s.frames, 3, 2, 8)
	rates("cricket/push-parts", 6*s.frames, 3, 2, 8) // retries only: no audience of a replay has parts
	rates("cricket/finish-match", 40*s.matches, 2, 2, 5)
	rates("cricket/send-alerts", 30*s.matches*(2*followers), 3, 2, 12)
	// The critical moment of send-alerts is between a push and the record of it. Almost all
	// its other calls read a phone.
	calls[slug("cricket/send-alerts")+" UpdateItem"] = map[chaos.Kind]float64{
		chaos.Throttled: 0.004, chaos.Cut: 0.004, chaos.KilledBefore: 0.01, chaos.KilledAfter: 0.002,
	}

	return chaos.Config{
		Seed: seed, Calls: calls,
		Task:        "cricket/tick",
		Invocations: map[chaos.Kind]float64{chaos.TwoAtOnce: 0.05, chaos.OnceMore: 0.03, chaos.Delayed: 0.05},
		Messages:    map[chaos.Kind]float64{chaos.HeldBack: 0.03, chaos.Redelivered: 0.03},
	}
}

// slug returns the deployed name of a function.
func slug(function string) string { return strings.ReplaceAll(function, "/", "-") }

// providerChaos returns the faults of the provider.
func (r *run) providerChaos(seed uint64) sportmonks.Chaos {
	s := r.size()

	return sportmonks.Chaos{
		Seed: seed,
		Rates: map[sportmonks.Kind]float64{
			sportmonks.WrongBall: 1.0 / 7, sportmonks.DeletedBall: 0.01, sportmonks.Late: 0.02,
			sportmonks.Vanish: about(s.matches, s.frames), sportmonks.EarlyFinish: 0.3, sportmonks.WrongWinner: 0.15,
			sportmonks.TooManyRequests: 0.004, sportmonks.ServerError: 0.008, sportmonks.Timeout: about(s.scale(), s.ticks),
			sportmonks.Truncated: 0.004, sportmonks.HTML: 0.002, sportmonks.WrongTypes: 0.004,
			sportmonks.UnknownStatus: 0.002, sportmonks.ShortBalls: 0.004, sportmonks.DuplicateBalls: 0.004,
		},
		Lasting: map[sportmonks.Kind]time.Duration{sportmonks.WrongBall: inventionLasts, sportmonks.DeletedBall: inventionLasts},
	}
}

// appleChaos returns the faults of Apple's push service.
func (r *run) appleChaos(seed uint64) apns.Chaos {
	s := r.size()
	rate := func(n float64) float64 { return about(n*s.scale(), s.frames*followers) }

	return apns.Chaos{
		Seed: seed, TooMany: rate(25), Internal: rate(25), Unavailable: rate(25), Outage: rate(2.5), Drop: rate(300), Lost: rate(300),
		Slow: rate(2), SlowBy: time.Minute, GoAway: rate(300),
	}
}

// googleChaos returns the faults of Google's push service.
func (r *run) googleChaos(seed uint64) fcm.Chaos {
	s := r.size()
	rate := func(n float64) float64 { return about(n*s.scale(), s.frames*followers/8) }

	return fcm.Chaos{
		Seed: seed, Quota: rate(8), Internal: rate(25), Unavailable: rate(25), Drop: rate(100), Lost: rate(100), Slow: rate(2),
		SlowBy: time.Minute,
	}
}

// tried advances the matches of a run with faults. It reports whether all matches are over
// and no work is left.
func (r *run) tried(ctx context.Context) (over bool) {
	now := r.clock.Now()
	ticked := r.ticked(now)

	over = true
	for _, m := range r.matches {
		if m.over {
			continue
		}

		if !now.Before(m.start.Add(-lateBy)) {
			r.come(ctx, m)
		}

		if ticked && !now.Before(m.start) {
			m.ticks++
			if now.Before(m.end().Add(-settle)) { // later the end of the match may have deleted the follows
				r.leave(ctx, m)
			}
		}

		if now.Before(m.end()) || now.Before(m.end().Add(patienceWithFaults)) && !r.ended(m) {
			over = false
			continue
		}

		m.over = true
	}

	r.progress()

	if !over {
		return false
	}

	if r.calm.IsZero() {
		r.calm = now.Add(patienceWithEnd)
	}

	if len(r.unfinished()) > 0 && now.Before(r.calm) {
		return false
	}

	r.judge(ctx)

	return true
}

// unfinished lists the queues with messages, except dead-letter queues and the reviews of ended matches,
// which go on for two days.
func (r *run) unfinished() (queues []string) {
	for _, d := range r.world.Queues.Stats() {
		n := d.Visible + d.Delayed + d.InFlight - r.reviews(d.Queue)
		if n > 0 && !strings.HasSuffix(d.Queue, spec.Queue{}.DeadLetter()) {
			queues = append(queues, fmt.Sprintf("%s holds %d", d.Queue, n))
		}
	}

	return queues
}

// reviews counts the messages of a queue that review the end of a match.
func (r *run) reviews(queue string) (n int) {
	if !strings.HasSuffix(queue, tables.FinishQueue.Name) {
		return 0
	}

	for _, message := range r.world.Queues.Messages(queue) {
		var left live.MatchLeft
		if json.Unmarshal([]byte(message.Body), &left) == nil && left.Ended {
			n++
		}
	}

	return n
}

// judge compares the end of a run with faults with the files.
func (r *run) judge(ctx context.Context) {
	for _, m := range r.matches {
		if m.script != nil {
			slices.SortFunc(m.phones, func(a, b local.Phone) int { return cmp.Compare(a.Owner, b.Owner) })
			r.finish(ctx, m)
		}
	}

	r.judgeAlerts()

	for _, held := range r.unfinished() {
		r.fail("", "at the end the queue %s", held)
	}

	for _, d := range r.world.Queues.Stats() {
		if !strings.HasSuffix(d.Queue, spec.Queue{}.DeadLetter()) {
			continue
		}

		for _, message := range r.world.Queues.Messages(d.Queue) {
			var of alert
			json.Unmarshal([]byte(message.Body), &of) // a message without a match is reported by itself

			why := "it was tried too often"
			if reason := message.Attributes[queue.ReasonAttribute].StringValue; reason != nil {
				why = *reason
			}

			r.fail(of.MatchID, "a message ended in %s: %s", d.Queue, why)
		}
	}

	left, err := r.world.Live(ctx)
	if err != nil {
		r.fail("", "%v", err)
	}

	for _, id := range left {
		r.fail(id, "match %s is still live", id)
	}

	// the follows are kept until the last review
	for _, table := range []string{"cricket-activity-subscriptions", "cricket-channels"} {
		n, err := r.world.Rows(ctx, table, "matchId", "#USER#") // a user's lists of rows stay until their TTL
		if err != nil {
			r.fail("", "%v", err)
		} else if n > 0 {
			r.fail("", "%d rows are left in %s", n, table)
		}
	}

	if n := len(r.world.Phones.Channels()); n > 0 {
		r.fail("", "%d channels are left at Apple's", n)
	}

	for _, m := range r.matches {
		if m.script != nil {
			r.report(m)
		}
	}
}

// fail records a failure of the match with that id, or of the run if there is none.
func (r *run) fail(id, format string, args ...any) {
	for _, m := range r.matches {
		if m.script != nil && local.ID(m.script.ID) == id {
			m.fail(format, args...)
			return
		}
	}

	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// judgeAlerts compares the alerts on the followers' phones with the files: none is lost,
// shown twice or unwanted.
func (r *run) judgeAlerts() {
	got := map[*fan]alerts{}

	for _, f := range r.trial.fans {
		d, _ := r.world.Phones.Device(f.device)
		if f.android {
			d = r.androidDevice(f)
		}

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

// androidDevice returns the notifications of an Android phone as those of an iPhone: a tag is a collapse id.
func (r *run) androidDevice(f *fan) (d apns.Device) {
	phone, _ := r.world.Google.Phone(f.device)

	for _, n := range phone.Notifications {
		payload, err := json.Marshal(n.Data)
		if err != nil {
			r.fail("", "the phone of %s: %v", f.user, err)
		}

		d.Alerts = append(d.Alerts, apns.Alert{
			Title: n.Title, Body: n.Body, Collapse: n.Tag, First: n.First, Time: n.Time, Times: n.Times, Again: n.Times - 1, Payload: payload,
		})
	}

	return d
}

func (m *match) judgeAll(on map[*fan]alerts) {
	wrong := map[string][]string{} // users by failure
	ids := map[event.Kind]map[string]bool{}
	first := map[string]time.Time{}

	for _, w := range m.followers {
		if w.unregistered != "" {
			continue
		}

		for k, all := range on[w.fan][w.phone.MatchID] {
			if ids[k] == nil {
				ids[k] = map[string]bool{}
			}

			for _, a := range all {
				ids[k][a.Collapse] = true
				if at, ok := first[a.Collapse]; w.taste == everything && !w.quiet() && (!ok || a.First.Before(at)) {
					first[a.Collapse] = a.First
				}
			}
		}
	}

	for _, w := range m.followers {
		if w.unregistered == "" {
			m.judge(w, on[w.fan][w.phone.MatchID], first, func(what string) { wrong[what] = append(wrong[what], w.user) })
		}
	}
	// An activity without a channel, which the app registers itself, looks the same.
	if all := slices.DeleteFunc(slices.Clone(m.followers), func(w *follower) bool { return w.begun == 0 || !w.listens }); len(all) > 0 {
		if !slices.ContainsFunc(all, func(w *follower) bool { return w.tuned }) {
			m.fail("no activity that a push begins on iOS 18 has a channel")
		}
	}

	all := m.oracle.alerts(len(m.oracle.after))

	all[reminded] = exactly(1)
	for _, k := range kindsAndReminder() {
		if n, most := len(ids[k]), all[k].most; n > most {
			m.fail("there are %d different %s alerts, and at most %d events of that kind", n, k, most)
		}
	}

	for _, what := range slices.Sorted(maps.Keys(wrong)) {
		m.fail("%d of %d followers, as %s: %s", len(wrong[what]), len(m.followers), wrong[what][0], what)
	}
}

// verdict writes the outcome of the run, without times and request ids, so that two runs with
// the same seed write the same. If the run failed, it also writes the logged complaints of
// the functions.
func (r *run) verdict(failed int) error {
	if failed > 0 || len(r.problems) > 0 {
		r.Complaints()
	}

	for _, p := range r.problems {
		r.Printf("FAIL  %s\n", p)
	}

	r.tally()
	r.Printf("%d of %d matches ok\n", len(r.matches)-failed, len(r.matches))

	if failed > 0 || len(r.problems) > 0 {
		return replay.ErrFailed
	}

	return nil
}

// tally writes what the followers did, and where the progress bar was the numbers of faults, a
// line for each simulator. Those differ a little between runs: whoever waits too long for an
// answer, on a busy machine, asks once more.
func (r *run) tally() {
	t, progress := r.trial, cmp.Or(r.Progress, io.Discard)
	line := func(what string, counts []string) {
		fmt.Fprintf(progress, "  %-12s %s\n", what, cmp.Or(strings.Join(counts, ", "), "nothing"))
	}
	provider := r.world.Provider.Counts()
	did := t.faults.Counts()
	apple := r.world.Phones.ChaosCounts()
	google := map[string]int{}

	for kind, n := range r.world.Google.Counts() {
		if fault, ok := strings.CutPrefix(kind, "chaos "); ok {
			google[fault] = n
		}
	}

	fmt.Fprintf(progress, "what went wrong with seed %d:\n", t.seed)
	line("provider", counted(provider, sportmonks.Kinds()))
	line("Apple", counted(apple, []string{"429", "500", "503", "outage", "drop", "lost", "slow", "GOAWAY"}))
	line("Google", counted(google, []string{"429", "500", "503", "drop", "lost", "slow"}))
	line("calls", counted(did, []chaos.Kind{chaos.Throttled, chaos.Failed, chaos.Cut, chaos.FailedForGood,
		chaos.KilledBefore, chaos.KilledAfter}))
	line("ticks", counted(did, []chaos.Kind{chaos.TwoAtOnce, chaos.OnceMore, chaos.Delayed}))
	line("messages", counted(did, []chaos.Kind{chaos.HeldBack, chaos.Redelivered}))

	var all, unregistered, left, begun int

	for _, m := range r.matches {
		for _, w := range m.followers {
			all++

			if w.unregistered != "" {
				unregistered++
			}

			if w.left >= 0 {
				left++
			}

			if w.begun > 0 {
				begun++
			}
		}
	}

	line("alerts", []string{fmt.Sprintf("%d on phones", t.reached), fmt.Sprintf("%d came again and replaced themselves", t.again)})
	r.Printf("%d followers, %d with unregistered tokens, %d left mid-match, %d activities begun by a push\n", all, unregistered, left, begun)
}

func counted[K ~string](counts map[K]int, kinds []K) (out []string) {
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%s %d", k, counts[k]))
	}

	return out
}
