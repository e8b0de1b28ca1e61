// Package replay plays real matches through the cricket room, ball by ball, and
// compares the API and the phones with the files.
package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/fcm"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/pkg/cricket/score"
)

// Config is the configuration of the frame, and the number of concurrent matches.
type Config struct {
	replay.Config
	AtOnce int
}

const (
	slot   = 2500 * time.Millisecond
	linger = 20 * time.Second // how long a finished match stays in the feed
	settle = 30 * time.Second // from there to the end of all work on it
	// patience is the longest time from there to the end of the match: the backend waits 15
	// minutes for a consistent result.
	patience = 17 * time.Minute
	// firstID is the provider's id of the first file's match.
	firstID = 900_001
)

// start is the start of the first matches. Its value is arbitrary.
var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// match is the replay of one file.
type match struct {
	name   string
	oracle *oracle
	script *script.Match
	start  time.Time
	phones []local.Phone // those that must show every state

	followers []*follower // of a run with faults

	checked  int // frames that were compared
	ticks    int
	problems []string
	over     bool
	result   string
}

// Run replays every Cricsheet file of cfg.Folder. It returns replay.ErrFailed if a
// match differs from its file.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Folder == "" {
		return errors.New("give a folder of Cricsheet files as DIR=folder")
	}

	entries, err := os.ReadDir(cfg.Folder)
	if err != nil {
		return fmt.Errorf("%w: give a folder of Cricsheet files as DIR=folder", err)
	}

	r := &run{Report: replay.NewReport(cfg.Config), atOnce: cfg.AtOnce, world: local.New()}

	for _, e := range entries {
		if strings.EqualFold(filepath.Ext(e.Name()), ".json") && !e.IsDir() {
			r.matches = append(r.matches, load(filepath.Join(cfg.Folder, e.Name()), firstID+int64(len(r.matches))))
		}
	}

	if len(r.matches) == 0 {
		return fmt.Errorf("there is no .json file in %s: give a folder of Cricsheet files as DIR=folder", cfg.Folder)
	}

	r.plan()

	if cfg.Faults != nil {
		r.try(*cfg.Faults)
	}

	if err := r.play(ctx); err != nil {
		r.Complaints()
		return err
	}

	return r.summarize()
}

func load(path string, id int64) *match {
	m := &match{name: filepath.Base(path)}

	data, err := os.ReadFile(path)
	if err == nil {
		m.script, err = script.Read(data, id)
	}

	if err == nil {
		m.oracle, err = newOracle(data)
	}

	if err == nil {
		m.oracle.stops, m.oracle.days = stops(m.script), days(m.script)
	}

	if err != nil {
		m.fail("%v", err)
		m.script, m.over = nil, true

		return m
	}

	if err := m.oracle.contradiction(); err != nil {
		m.fail("%v", err)
	}

	for i, team := range []string{"", local.ID(m.script.Local.ID), local.ID(m.script.Visitor.ID)} {
		owner := []string{"neutral", "local", "visitor"}[i]
		m.phones = append(m.phones, local.NewPhone(owner, local.ID(id), team), local.NewAndroid(owner+" Android", local.ID(id), team))
	}

	return m
}

// fail records a failure. It keeps the first few.
func (m *match) fail(format string, args ...any) {
	if len(m.problems) < 5 {
		m.problems = append(m.problems, fmt.Sprintf(format, args...))
	}
}

func (m *match) end() time.Time {
	return m.start.Add(time.Duration(len(m.script.Frames))*slot + linger + settle)
}

// run is one Run.
type run struct {
	*replay.Report
	atOnce  int
	world   *local.World
	clock   *clock.Clock
	matches []*match
	width   int // of the teams' column

	trial    *trial    // nil when nothing goes wrong
	calm     time.Time // when a run with faults and unfinished work is aborted
	problems []string  // that belong to no match

	mu       sync.Mutex
	lastTick time.Time // fleet time at which a tick ended, until ticked has seen it
}

// plan puts the matches on lanes, the longest first, each to start when the one
// before it is over.
func (r *run) plan() {
	lanes := make([]time.Time, max(r.atOnce, 1))
	for i := range lanes {
		lanes[i] = start
	}

	longest := slices.DeleteFunc(slices.Clone(r.matches), func(m *match) bool { return m.script == nil })
	slices.SortStableFunc(longest, func(a, b *match) int { return cmp.Compare(len(b.script.Frames), len(a.script.Frames)) })

	for _, m := range longest {
		first := 0
		for i := range lanes {
			if lanes[i].Before(lanes[first]) {
				first = i
			}
		}

		m.start = lanes[first]
		lanes[first] = m.end().Truncate(time.Minute).Add(time.Minute)
		r.width = max(r.width, min(utf8.RuneCountInString(m.teams()), 44))
	}
}

// play runs the fleet until every match is over.
func (r *run) play(ctx context.Context) error {
	ahead := 4 * time.Minute
	if r.trial != nil {
		ahead = reminder + 5*time.Minute
	}

	r.clock = clock.New(start.Add(-ahead), clock.Free)

	hold := r.clock.Work()
	defer hold()
	defer r.clock.Stop()

	cfg := fleet.Config{
		Clock:      r.clock,
		Root:       r.Root,
		Program:    r.Program,
		Rooms:      []fleet.Room{r.world.Room()},
		Invocation: r.invoked,
		Log:        r.Log,
	}

	check := r.check
	if r.trial != nil {
		check, cfg.Faults = r.tried, r.trial.faults
		cfg.Faults.Clock = r.clock
		cfg.Push = func(apns.Push) { cfg.Faults.MarkActive() }
		cfg.Sent = func(fcm.Sent) { cfg.Faults.MarkActive() }
		cfg.Started = func(s apns.Start) { r.begun(ctx, s) }
	}

	f, err := fleet.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer f.Close()

	phase := slot / 2
	if r.trial != nil {
		phase = slot - beforePoll
	}

	for _, m := range r.matches {
		if m.script != nil {
			r.world.Provider.Play(m.script, m.start, sportmonks.Pace{Every: slot, Phase: phase, Lead: time.Minute, Linger: linger})
		}
	}

	if err := r.world.Sync(ctx); err != nil {
		return err
	}

	if r.trial != nil {
		if err := r.enroll(ctx); err != nil {
			return err
		}
	} else if err := r.register(ctx); err != nil {
		return err
	}

	over := make(chan struct{})

	r.clock.OnIdle(func() {
		if check(ctx) {
			r.Close()
			r.clock.OnIdle(nil)
			close(over)
		}
	})

	if err := f.Begin(ctx); err != nil {
		return err
	}

	hold()

	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// register starts the activities of all phones.
func (r *run) register(ctx context.Context) error {
	for _, m := range r.matches {
		for _, p := range m.phones {
			do := r.world.Register
			if p.Android {
				do = r.world.Subscribe
			}

			if err := do(ctx, p); err != nil {
				return err
			}
		}
	}

	return nil
}

func (r *run) invoked(i lambda.Invocation) {
	if i.Function == "cricket/tick" {
		r.mu.Lock()
		r.lastTick = r.clock.Now()
		r.mu.Unlock()
	}

	r.Invocation(i)
}

// ticked reports whether a tick ended at now, once: the clock may be idle several
// times at one instant.
func (r *run) ticked(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	was := r.lastTick.Equal(now)
	if was {
		r.lastTick = time.Time{}
	}

	return was
}

// check compares every match that has moved, with the fleet at rest, and
// reports whether all are over.
func (r *run) check(ctx context.Context) (over bool) {
	now := r.clock.Now()
	ticked := r.ticked(now)

	over = true
	for _, m := range r.matches {
		if m.over {
			continue
		}

		if ticked && !now.Before(m.start) {
			m.ticks++
			r.compare(ctx, m)
		}

		if now.Before(m.end()) {
			over = false
			continue
		}

		if now.Before(m.end().Add(patience)) && !r.ended(m) {
			over = false
			continue
		}

		r.finish(ctx, m)
		m.over = true
		r.report(m)
	}

	r.progress()

	return over
}

// page is the answer of get-match.
type page struct {
	Score score.State `json:"score"`
}

// compare compares the API and the phones with the file after a ball.
func (r *run) compare(ctx context.Context, m *match) {
	p, err := r.world.Provider.Progress(m.script.ID)
	if err != nil || p.Shown == m.checked || p.Shown == 0 {
		return
	}

	m.checked = p.Shown
	frame := m.script.Frames[p.Shown-1]

	want := m.oracle.after[frame.Deliveries]
	if len(want) == 0 {
		return
	}

	var got page
	if err := r.world.Call(ctx, "", "GET", "/cricket/matches/"+local.ID(m.script.ID), nil, &got); err != nil {
		m.fail("ball %d: %v", frame.Deliveries, err)
		return
	}

	for i, t := range want {
		if i >= len(got.Score.Innings) {
			m.fail("ball %d: the API lacks innings %d", frame.Deliveries, i+1)
			continue
		}

		if in := got.Score.Innings[i]; !t.is(in, m.oracle.final[i]) {
			m.fail("ball %d: the API has %d/%d (%s) in innings %d, the file %s", frame.Deliveries, in.Runs, in.Wickets, in.Overs, i+1, t)
		}
	}

	for _, phone := range m.phones {
		r.comparePhone(m, phone, got.Score, frame.Deliveries)
	}

	if m.oracle.perOver == 6 || m.oracle.overs(frame.Deliveries) >= 3 { // before that the feed does not show how long overs are
		r.compareCard(ctx, m, frame)
	}
}

// is reports whether an innings has the total t, or with its late penalty runs
// the final one.
func (t total) is(in score.Innings, final total) bool {
	return (in.Runs == t.Runs || in.Runs == final.Runs && t.Runs+final.Late == final.Runs) && in.Wickets == t.Wickets &&
		(in.Overs == t.Overs || t.Overs == "")
}

// phoneState is what a phone shows of a match: a Live Activity, or the Live Update of an Android phone.
type phoneState struct {
	state              json.RawMessage
	ended              bool
	pushes             int
	replaced, outdated int
}

// stateOn returns what a phone shows, and false if it shows nothing.
func (r *run) stateOn(p local.Phone) (phoneState, bool) {
	if p.Android {
		c := r.world.Card(p)
		return phoneState{state: c.State, ended: c.Ended, pushes: c.Pushes, outdated: c.Outdated}, c.State != nil
	}

	d, ok := r.world.Shows(p)

	return phoneState{d.State, d.Ended, d.Pushes, d.Replaced, d.Outdated}, ok
}

// comparePhone compares a lock screen with the API, which has been compared with the file:
// the totals of each side must be on it.
func (r *run) comparePhone(m *match, p local.Phone, s score.State, ball int) {
	d, ok := r.stateOn(p)
	if !ok {
		m.fail("ball %d: nothing was pushed to the %s phone", ball, p.Owner)
		return
	}

	var shown score.Display
	if err := json.Unmarshal(d.state, &shown); err != nil {
		m.fail("ball %d: the %s phone cannot read its state: %v", ball, p.Owner, err)
		return
	}

	for _, side := range []struct {
		id   string
		text string
	}{{s.Local.ID, shown.Local.Score}, {s.Visitor.ID, shown.Visitor.Score}} {
		var want []string

		for _, in := range s.Innings {
			if in.TeamID == side.id && !in.SuperOver {
				want = append(want, in.Score())
			}
		}

		if got := strings.TrimSuffix(side.text, " f/o"); got != strings.Join(want, " & ") {
			m.fail("ball %d: the %s phone shows %q for a side with %v", ball, p.Owner, side.text, want)
		}
	}
}

// ended reports whether every phone's activity has ended.
func (r *run) ended(m *match) bool {
	return !slices.ContainsFunc(m.phones, func(p local.Phone) bool {
		d, ok := r.stateOn(p)
		return !ok || !d.ended
	})
}

// finish compares the end of a match with the outcome in the file.
func (r *run) finish(ctx context.Context, m *match) {
	var got page
	if err := r.world.Call(ctx, "", "GET", "/cricket/matches/"+local.ID(m.script.ID), nil, &got); err != nil {
		m.fail("at the end: %v", err)
		return
	}

	res := got.Score.Result
	m.result = res.Text
	want := m.oracle.outcome()

	is := outcome{
		Kind:    string(res.Kind),
		Winner:  r.teamName(m, res.WinnerID),
		Runs:    res.Runs,
		Wickets: res.Wickets,
		Innings: res.Innings,
		Decider: res.Decider,
	}
	if want.Kind == "abandoned" && is.Kind == "noResult" {
		is.Kind = "abandoned"
	}

	if m.oracle.marginMissing() {
		is.Runs, is.Wickets, is.Innings = 0, 0, false
	}

	if is != want {
		m.fail("the result is %s, in the file %s", is, want)
	} else if !res.Confirmed {
		m.fail("the result is the provider's word alone: the scores do not bear it out")
	}

	if !methodAgrees(m.oracle.Info.Outcome.Method, res.Method) {
		m.fail("the method is %q, the file's %q", res.Method, m.oracle.Info.Outcome.Method)
	}

	if len(got.Score.Innings) != len(m.oracle.final) {
		m.fail("%d innings were played, the file has %d", len(got.Score.Innings), len(m.oracle.final))
	} else {
		for i, t := range m.oracle.final {
			if in := got.Score.Innings[i]; in.Runs != t.Runs || in.Wickets != t.Wickets || in.Overs != t.Overs {
				m.fail("innings %d ended at %d/%d (%s), in the file at %s", i+1, in.Runs, in.Wickets, in.Overs, t)
			}
		}
	}

	r.finishPhones(m, got.Score)

	if last := m.script.Frames[len(m.script.Frames)-1]; last.InningsShown > 0 {
		r.compareCard(ctx, m, last)
		r.comparePlayers(ctx, m)
	}
}

func (r *run) finishPhones(m *match, s score.State) {
	for _, p := range m.phones {
		d, ok := r.stateOn(p)
		if !ok || !d.ended {
			m.fail("the activity of the %s phone did not end", p.Owner)
			continue
		}

		var shown score.Display
		if err := json.Unmarshal(d.state, &shown); err != nil {
			m.fail("the %s phone cannot read its last state: %v", p.Owner, err)
			continue
		}

		if want := s.For(p.TeamID); shown.Hash() != want.Hash() {
			m.fail("the %s phone ends with %q, not %q", p.Owner, shown.Headline, want.Headline)
		}

		if d.replaced > 0 {
			m.fail("the %s phone was sent two states of one second, %d times", p.Owner, d.replaced)
		}

		if d.outdated > 0 && r.trial == nil {
			m.fail("the %s phone was sent %d older states after newer ones", p.Owner, d.outdated)
		}
	}
}

func (r *run) teamName(m *match, id string) string {
	teams := m.oracle.Info.Teams
	switch id {
	case "":
		return ""
	case local.ID(m.script.Local.ID):
		return teams[0]
	case local.ID(m.script.Visitor.ID):
		return teams[1]
	}

	return "team " + id
}

// methodAgrees reports whether the method of a result is that of the file.
func methodAgrees(file, ours string) bool {
	file, ours = strings.ToLower(file), strings.ToLower(ours)
	switch file {
	case "d/l":
		return ours == "dls"
	case "1st innings score":
		return strings.Contains(ours, "first innings")
	case "lost fewer wickets":
		return strings.Contains(ours, "fewer wickets")
	case "conceded":
		return ours == "awarded"
	case "":
		return ours == "" || ours == "awarded" // a win without a ball
	}

	return ours == file
}

// report writes the line of a match: ok or failed, teams, result, totals of the innings,
// live ticks and states on phones.
func (r *run) report(m *match) {
	if m.script == nil {
		r.Printf("FAIL  %s: %s\n", m.name, m.problems[0])
		return
	}

	totals := make([]string, len(m.oracle.final))
	for i, t := range m.oracle.final {
		totals[i] = t.String()
	}

	states := 0

	for _, p := range m.phones {
		if d, ok := r.stateOn(p); ok {
			states += d.pushes
		}
	}

	count := fmt.Sprintf("%d states pushed", states)
	if r.trial != nil { // after lost answers the number of repeated states is not deterministic
		count = fmt.Sprintf("%d followers", len(m.followers))
	}

	r.Case(fmt.Sprintf("%-*s | %-*s | %s | %d ticks, %s", r.width, m.teams(), resultWidth, cmp.Or(m.result, "no result was published"),
		cmp.Or(strings.Join(totals, ", "), "no innings"), m.ticks, count), m.name, m.problems)
}

// resultWidth has room for "England won by 5 wickets (with 6 balls remaining)".
const resultWidth = 49

func (m *match) teams() string { return m.oracle.Info.Teams[0] + " v " + m.oracle.Info.Teams[1] }

// progress draws the bar: frames played of all.
func (r *run) progress() {
	done, all, over := 0, 0, 0
	for _, m := range r.matches {
		if m.over {
			over++
		}

		if m.script != nil {
			done += m.checked
			all += len(m.script.Frames)
		}
	}

	r.Bar(done, all, fmt.Sprintf("%d of %d matches, %d of %d states", over, len(r.matches), done, all))
}

func (r *run) summarize() error {
	failed := 0

	for _, m := range r.matches {
		if m.script == nil {
			r.report(m)
		}

		if len(m.problems) > 0 {
			failed++
		}
	}

	if r.trial != nil {
		return r.verdict(failed)
	}

	r.Complaints()

	ticks, states := 0, 0
	for _, m := range r.matches {
		ticks += m.ticks
		states += m.checked
	}

	r.Printf("%d of %d matches ok; %d states of play compared in %d ticks of a match, in %s\n",
		len(r.matches)-failed, len(r.matches), states, ticks, r.Elapsed())

	if failed > 0 {
		return replay.ErrFailed
	}

	return nil
}
