package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/chaos"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/spec"
)

// life is a match whose provider has a habit, with three phones: one is pushed to, one listens to a
// channel, and the activities of one are started by pushes.
type life struct {
	name   string
	script *script.Match
	start  time.Duration // after that of the replay
	every  time.Duration // between two balls; a second if 0
	habits []sportmonks.Habit

	points []point
	// told are the starts and results that each phone was told of, in order. began is how many activities
	// pushes have started: if 0, one for each start.
	told  []string
	began int

	phones   []local.Phone
	problems []string
}

// point is what the phones show at a time: see habitsRun.shown. One text is for all phones.
type point struct {
	at    time.Duration // after the start of the replay
	shows []string
}

// awake are the times after the start of the replay at which schedules run. Between them only messages
// are due: those of matches that have left the feed, and of reviews.
var awake = [][2]time.Duration{
	{-30 * minute, 31 * minute}, {44 * minute, 46 * minute}, {88 * minute, 95 * minute},
	{night - 2*minute, night + 6*minute}, {2*night - 2*minute, 2*night + 4*minute},
}

// habitsRun is one run of the habits.
type habitsRun struct {
	*replay.World
	world *local.World
	lives []*life
}

const (
	hour   = time.Hour
	minute = time.Minute
	night  = 14 * hour // from stumps to the next day of play
	silent = 2 * minute
)

// lives returns the matches of the run, one for each habit. The first innings begins with the replay.
func lives() []*life {
	id := int64(700_000)
	match := func(overs int, test bool) *script.Match {
		id++
		return paper{id: id, local: fmt.Sprint("Harbour ", id%100), visitor: fmt.Sprint("Meadow ", id%100), overs: overs, test: test}.script()
	}
	breaks := func(ball int, status string, lasts time.Duration) sportmonks.Habit {
		return sportmonks.Habit{Kind: sportmonks.SilentBreak, Ball: ball, Status: status, Silent: silent, For: lasts}
	}
	all := func(at time.Duration, shows ...string) point { return point{at, shows} }

	return []*life{
		{
			name: "stumps before the page says so", script: match(1, true),
			habits: []sportmonks.Habit{breaks(3, "Stump Day 1", night), breaks(9, "Stump Day 2", night)},
			points: []point{
				all(4*minute, "Stumps, day 1"), all(6*hour, "Stumps, day 1"), all(night+5*minute, "Stumps, day 2"), all(20*hour, "Stumps, day 2"),
				all(2*night+5*minute, "Finished, ended"),
			},
			told: []string{"Play has begun", "Play has begun on day 2", "Play has begun on day 3", "Match drawn"},
		},
		{
			name: "lunch before the page says so", script: match(1, true), habits: []sportmonks.Habit{breaks(3, "Lunch", 14*minute)},
			points: []point{all(4*minute, "Lunch"), all(19*minute, "Finished, ended")},
			told:   []string{"Play has begun", "Match drawn"},
		},
		{
			name: "rain before the page says so", script: match(1, false), habits: []sportmonks.Habit{breaks(3, "Int.", 14*minute)},
			points: []point{all(4*minute, "Play interrupted"), all(19*minute, "Finished, ended")},
			told:   []string{"Play has begun", "Harbour 3 won by 1 run"},
		},
		{
			name: "no winner for twenty minutes", script: match(1, false), habits: []sportmonks.Habit{{Kind: sportmonks.NoWinner, For: 20 * minute}},
			points: []point{all(15*minute, "Awaiting result"), all(25*minute, "Finished, ended")},
			told:   []string{"Play has begun", "Harbour 4 won by 1 run"},
		},
		{
			name: "abandoned, and back after four minutes", script: match(1, false),
			habits: []sportmonks.Habit{{Kind: sportmonks.FalseEnd, Ball: 3, Status: "Aban.", For: 4 * minute}},
			points: []point{all(3*minute, "Abandoned"), all(6*minute, "Finished, ended")},
			told:   []string{"Play has begun", "Harbour 5 won by 1 run"},
		},
		{
			name: "abandoned, and back after the end", script: match(1, false), every: 40 * time.Second,
			habits: []sportmonks.Habit{{Kind: sportmonks.FalseEnd, Ball: 3, Status: "Aban.", For: 12 * minute}},
			points: []point{
				all(14*minute, "Abandoned, ended"), all(22*minute, "Abandoned, ended", "Abandoned, ended", "2nd innings"),
				all(28*minute, "Abandoned, ended", "Abandoned, ended", "Finished, ended"),
			},
			told: []string{"Play has begun", "No result", "Play resumes", "Harbour 6 won by 1 run"},
		},
		{
			name: "called off and reinstated", script: match(1, false), start: 90 * minute,
			habits: []sportmonks.Habit{{Kind: sportmonks.CalledOff, Notice: 100 * minute, For: 20 * minute, Moved: hour}},
			points: []point{
				all(8*minute, "Cancelled, ended", "Cancelled, ended", "nothing"),
				all(94*minute, "Cancelled, ended", "Cancelled, ended", "Finished, ended"),
			},
			told: []string{"Match cancelled", "Harbour 7 v Meadow 7", "Play has begun", "Harbour 7 won by 1 run"},
		},
		{
			name: "listed after 37 balls", script: match(8, false), every: time.Second / 2,
			habits: []sportmonks.Habit{{Kind: sportmonks.ListedLate, Ball: 37}},
			points: []point{all(3*minute, "Finished, ended")},
			told:   []string{"Harbour 8 won by 8 runs"}, began: 1, // the start is no news, and starts activities
		},
		{
			name: "another id, the old one is postponed", script: match(1, false), start: 90 * minute,
			habits: []sportmonks.Habit{{
				Kind: sportmonks.NewID, OldID: 600_001, Status: "Postp.", Notice: 100 * minute, For: 20 * minute, Moved: -24 * hour,
			}},
			points: []point{all(94*minute, "nothing", "nothing", "Finished, ended")},
			told:   []string{"Harbour 9 v Meadow 9", "Play has begun", "Harbour 9 won by 1 run"},
		},
		{
			name: "another id, the old one is deleted", script: match(1, false), start: 91 * minute,
			habits: []sportmonks.Habit{{Kind: sportmonks.NewID, OldID: 600_002, Notice: 100 * minute, For: 20 * minute, Moved: -2 * hour}},
			points: []point{all(95*minute, "Cancelled, ended", "Cancelled, ended", "Finished, ended")},
			told:   []string{"Match cancelled", "Harbour 10 v Meadow 10", "Play has begun", "Harbour 10 won by 1 run"},
		},
		{
			name: "never ends", script: match(1, false), habits: []sportmonks.Habit{{Kind: sportmonks.Endless, Ball: 3}},
			points: []point{all(2*minute, "1st innings"), all(hour, "1st innings, stale"), all(61*hour, "1st innings, ended")},
			told:   []string{"Play has begun"},
		},
	}
}

// RunHabits plays one short match for each habit of the provider, and compares what each phone shows and
// what it was told. It returns replay.ErrFailed if one differs.
func RunHabits(ctx context.Context, cfg replay.Config) error {
	r := &habitsRun{World: replay.NewWorld(cfg), world: local.New(), lives: lives()}
	rooms := []fleet.Room{r.world.Room()}

	if r.Trial = replay.NewTrial(cfg, rooms, habitOdds, regexp.MustCompile(`\b\B`)); r.Trial != nil {
		// A lost answer sends a message of finish-match twice, and each copy goes on. In a match that never ends they
		// add up for days.
		r.lives = slices.DeleteFunc(r.lives, func(l *life) bool { return l.habits[0].Kind == sportmonks.Endless })
		r.Trial.Faults.Messages[chaos.Redelivered] = 0.005
	}

	isAwake := func(at time.Time) bool {
		d := at.Sub(start)
		return slices.ContainsFunc(awake, func(w [2]time.Duration) bool { return w[0] <= d && d < w[1] })
	}

	if err := r.Play(ctx, start.Add(-30*minute), fleet.Config{Rooms: rooms}, isAwake, r.play); err != nil {
		return err
	}

	return r.summarize()
}

// habitOdds are the faults of the functions in a run with faults.
var habitOdds = replay.Odds{Call: func(spec.Function) float64 { return 0.002 }, Kill: 0.3, HeldBack: 0.02}

func (r *habitsRun) play(ctx context.Context) error {
	for _, l := range r.lives {
		r.world.Provider.Play(l.script, start.Add(l.start), sportmonks.Pace{
			Every: cmp.Or(l.every, time.Second), Phase: slot / 2, Lead: minute, Linger: linger, Habits: l.habits,
		})
	}

	if err := r.world.Sync(ctx); err != nil {
		return err
	}

	for _, l := range r.lives {
		if err := r.enroll(ctx, l); err != nil {
			return err
		}
	}

	r.Trial.Start()

	var points []time.Duration
	for _, l := range r.lives {
		for _, p := range l.points {
			points = append(points, p.at)
		}
	}

	slices.Sort(points)

	if r.Trial != nil { // a fault delays what a phone shows: only the end is compared
		points = nil
	}

	for _, at := range slices.Compact(points) {
		if err := r.Until(ctx, start.Add(at)); err != nil {
			return err
		}

		for _, l := range r.lives {
			r.compare(l, at)
		}
	}

	// a message that a killed function has received comes again after minutes
	if err := r.Until(ctx, start.Add(2*night+2*hour)); err != nil {
		return err
	}

	for _, l := range r.lives {
		r.finish(l)
	}

	return ctx.Err()
}

// enroll registers the phones of a match.
func (r *habitsRun) enroll(ctx context.Context, l *life) error {
	id := local.ID(l.script.ID)
	if h := l.habits[0]; h.Kind == sportmonks.NewID {
		id = local.ID(h.OldID)
	}

	listens := local.NewPhone("listens to "+id, id, local.ID(l.script.Local.ID))
	listens.OS, listens.Listens = "18.2", true
	starter := local.NewStarter("starts "+id, id, local.ID(l.script.Visitor.ID))
	l.phones = []local.Phone{local.NewPhone("is pushed to of "+id, id, ""), listens, starter}

	for _, p := range l.phones {
		if err := r.world.Enroll(ctx, p); err != nil {
			return err
		}
	}

	return nil
}

// compare compares what the phones of a match show with the point at a time.
func (r *habitsRun) compare(l *life, at time.Duration) {
	for _, p := range l.points {
		if p.at != at {
			continue
		}

		for i, phone := range l.phones {
			if got, want := r.shown(phone), p.shows[min(i, len(p.shows)-1)]; got != want {
				l.problems = append(l.problems, fmt.Sprintf("after %s the phone that %s shows %q, want %q", at, phone.Owner, got, want))
			}
		}
	}
}

// shown describes the activity on a phone: its status, and whether iOS shows it as stale, or as ended.
func (r *habitsRun) shown(p local.Phone) string {
	d, ok := r.world.Shows(p)
	if !ok || d.State == nil {
		return "nothing"
	}

	var shown score.Display
	if err := json.Unmarshal(d.State, &shown); err != nil {
		return err.Error()
	}

	switch text := shown.Status; {
	case d.Ended:
		return text + ", ended"
	case !d.Stale.IsZero() && !r.Clock.Now().Before(d.Stale):
		return text + ", stale"
	default:
		return text
	}
}

// isPlay reports whether a title is that of a start.
func isPlay(title string) bool { return strings.HasPrefix(title, "Play ") }

// finish compares what the phones of a match were told. A push that starts an activity tells of the start by
// itself. With faults an alert may come late: after another one, or a start after the end, which starts no activity.
func (r *habitsRun) finish(l *life) {
	for _, p := range l.phones {
		var told []string

		for _, a := range r.world.Alerts(p) {
			var is alert
			if json.Unmarshal(a.Payload, &is) == nil && slices.Contains([]event.Kind{event.Start, event.Result}, is.Kind) &&
				!strings.HasPrefix(a.Body, "Starts in ") {
				told = append(told, a.Title)
			}
		}

		want := slices.Clone(l.told)
		if p.Starter != "" {
			want = slices.DeleteFunc(want, isPlay)
		}

		late := 0

		if r.Trial != nil {
			if p.Starter != "" {
				late = len(told)
				told = slices.DeleteFunc(told, isPlay)
				late -= len(told)
			}

			slices.Sort(told)
			slices.Sort(want)
		}

		if !slices.Equal(told, want) {
			l.problems = append(l.problems, fmt.Sprintf("the phone that %s was told %q, want %q", p.Owner, told, want))
		}

		if p.Starter == "" {
			continue
		}

		d, _ := r.world.Phones.Device(p.Starter)
		if want := max(l.began, len(l.told)-len(want)) - late; d.Started != want {
			l.problems = append(l.problems, fmt.Sprintf("pushes have started %d activities, want %d", d.Started, want))
		}
	}
}

func (r *habitsRun) summarize() error {
	right := true

	for _, l := range r.lives {
		r.Case(l.name, "the habit", l.problems)
		right = right && len(l.problems) == 0
	}

	return r.Summarize(right, "%d habits of the provider, in %s", len(r.lives), r.Elapsed())
}
