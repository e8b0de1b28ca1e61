package replay

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// data is the activity as Strava has it.
type data struct {
	name          string
	sport         string
	start         time.Time
	offset        time.Duration // of the place from UTC
	metres, climb float64
	// In whole seconds. The elapsed time is 0 if it is not known.
	moving, elapsed time.Duration

	manual  bool
	flagged bool
	private bool
}

// day is the day on which the activity took place, there.
func (d data) day() string { return d.start.Add(d.offset).Format(time.DateOnly) }

// activity is an activity of an athlete, at Strava or on the phone.
type activity struct {
	id   int64     // at Strava; of one on the phone what orders the keys
	key  string    // the id of one on the phone, "" at Strava
	rev  int       // of one on the phone
	data           // at Strava, or on the phone
	seen data      // as the app must have seen it last
	gone bool      // deleted at Strava
	has  bool      // the app must have it
	at   time.Time // of the upload
	last time.Time // when it was last changed, or came to the app with the history
	twin bool      // one of two recordings of the same workout
}

// choice is what a user counts besides what always counts.
type choice struct {
	Virtual   bool `json:"virtual"`
	EBike     bool `json:"eBike"`
	Handcycle bool `json:"handcycle"`
	Manual    bool `json:"manual"`
	Private   bool `json:"private"`
}

// What a milestone measures.
const (
	distance    = "DISTANCE_METERS"
	climb       = "ELEVATION_METERS"
	moving      = "MOVING_SECONDS"
	workouts    = "WORKOUTS"
	streakDays  = "STREAK_DAYS"  // the longest run of days with a workout that counts
	streakWeeks = "STREAK_WEEKS" // of weeks, which begin on Monday
)

// goal is what a milestone asks for.
type goal struct {
	model      string
	source     string   // STRAVA or PHONE
	sports     []string // families
	target     string
	total      int64 // in the unit of the target
	parts      int
	start      time.Time
	first, end string // days; "" for none
}

// milestone is a milestone as it must be.
type milestone struct {
	goal
	id        string
	begun     time.Time // when it was started
	resumed   time.Time // when it was resumed or changed last
	paused    bool
	abandoned bool
	completed bool
	raw       int64       // of the workouts as they are
	best      int64       // the highest raw so far
	early     int         // workouts that only began too early
	reached   []time.Time // by part: when the workouts earned it
	fresh     []bool      // by part: whether it takes workouts that had just come or changed
}

// over reports whether the milestone has ended, unless it is paused: a week after its last day is over
// everywhere, and after it was started, changed or resumed.
func (m *milestone) over(now time.Time) bool {
	closes, ends := m.closes()
	return ends && !now.Before(closes)
}

// closes returns when the milestone is over. ends is false if it has no last day.
func (m *milestone) closes() (at time.Time, ends bool) {
	last, err := time.Parse(time.DateOnly, m.end)
	return latest(last.Add(36*time.Hour), latest(m.begun, m.resumed)).Add(7 * day), err == nil
}

// late reports whether the app has an activity, as it is, since after a milestone was over. It may know of a change
// some time later. Without such a time the answer is certain: a milestone of Strava that would be over in an outage
// is open until the app knows everything. When activities came is not known of those that were fetched by another
// connection.
func (w *world) late(a *athlete, m *milestone, x *activity, later time.Duration) bool {
	closes, ends := m.closes()

	for _, o := range w.outages() {
		if later == 0 && m.source != onPhone && closes.After(o.from) && closes.Before(o.to.Add(recovery)) {
			closes = o.to.Add(recovery)
		}
	}

	return ends && (m.source == onPhone || !a.linked.After(closes)) && x.last.Add(later).After(closes)
}

// without returns the athlete without some activities.
func (a *athlete) without(gone func(*activity) bool) *athlete {
	left := *a
	left.activities = slices.DeleteFunc(slices.Clone(a.activities), gone)
	left.uploads = slices.DeleteFunc(slices.Clone(a.uploads), gone)

	return &left
}

// open reports whether workouts count for the milestone, now or when it is resumed.
func (m *milestone) open(now time.Time) bool {
	return !m.completed && !m.abandoned && (m.paused || !m.over(now))
}

// counts reports whether workouts count for the milestone now. They do for a completed one, if that is requested.
func (m *milestone) counts(now time.Time) bool {
	return m.completed || !m.paused && !m.abandoned && !m.over(now)
}

// state is the state of the milestone, as the API calls it.
func (m *milestone) state(now time.Time) string {
	switch {
	case m.completed:
		return "COMPLETED"
	case m.abandoned:
		return abandoned
	case m.paused:
		return paused
	case m.over(now):
		return ended
	}

	return active
}

// hidden reports whether the app cannot see an activity at Strava.
func (a *athlete) hidden(x *activity) bool {
	return x.gone || x.private && !slices.Contains(a.scope, "activity:read_all")
}

var families = map[string]string{
	"Ride": "RIDE", "MountainBikeRide": "RIDE", "GravelRide": "RIDE", "VirtualRide": "RIDE", "EBikeRide": "RIDE", "Handcycle": "RIDE",
	"EMountainBikeRide": "RIDE", "Velomobile": "RIDE", "Run": "RUN", "TrailRun": "RUN", "VirtualRun": "RUN", "Swim": "SWIM",
	"Walk": "WALK", "Hike": "HIKE", "Rowing": "ROW", "VirtualRow": "ROW", "Wheelchair": "WHEELCHAIR",
}

// Sports that count only if the user has chosen so.
var (
	virtual   = []string{"VirtualRide", "VirtualRun", "VirtualRow"}
	eBike     = []string{"EBikeRide", "EMountainBikeRide"}
	handcycle = []string{"Handcycle", "Velomobile"}
)

func whole(metres float64) int64 { return int64(metres + 0.5) }

// value is what an activity adds. For a streak it is 1, for its day or week.
func (g goal) value(d data) int64 {
	switch g.target {
	case climb:
		return whole(d.climb)
	case moving:
		return seconds(d.moving)
	case workouts, streakDays, streakWeeks:
		return 1
	}

	return whole(d.metres)
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// against returns why an activity does not count, whatever the others are.
func (g goal) against(d data, hidden bool, c choice) (why []string) {
	say := func(code string, holds bool) {
		if holds {
			why = append(why, code)
		}
	}
	say("deleted", hidden)
	say("other_sport", !slices.Contains(g.sports, families[d.sport]))
	say("before_start", d.start.Before(g.start) || d.day() < g.first)
	say("after_end", g.end != "" && d.day() > g.end)
	say("virtual_not_chosen", slices.Contains(virtual, d.sport) && !c.Virtual)
	say("ebike_not_chosen", slices.Contains(eBike, d.sport) && !c.EBike)
	say("handcycle_not_chosen", slices.Contains(handcycle, d.sport) && !c.Handcycle)
	say("manual_not_chosen", d.manual && !c.Manual)
	say("private_not_chosen", d.private && !c.Private)
	say("flagged", d.flagged)
	say("no_value", g.value(d) == 0)

	return why
}

// same reports whether two recordings are of the same workout: they began within two minutes, their lengths
// differ by at most 50 m or a twentieth, and their times by at most five minutes or a fifth, if both are known.
func same(x, y data) bool {
	apart, longer := (x.elapsed - y.elapsed).Abs(), max(x.elapsed, y.elapsed)
	if x.elapsed != 0 && y.elapsed != 0 && apart > 5*time.Minute && 5*apart > longer {
		return false
	}

	more, long := max(x.metres, y.metres)-min(x.metres, y.metres), max(whole(x.metres), whole(y.metres))

	return x.start.Sub(y.start).Abs() <= 2*time.Minute && (whole(more) <= 50 || 20*more <= float64(long))
}

// overlap reports whether more than two minutes belong to both workouts.
func overlap(x, y data) bool {
	from, to := x.start, x.start.Add(x.elapsed)
	if y.start.After(from) {
		from = y.start
	}

	if end := y.start.Add(y.elapsed); end.Before(to) {
		to = end
	}

	return to.Sub(from) > 2*time.Minute
}

// verdict is why an activity does not count, and the id of the one that counts instead.
type verdict struct {
	why []string
	of  string
}

// Sources of workouts.
const (
	atStrava = "STRAVA"
	onPhone  = "PHONE"
)

// of returns the activities of a source.
func (a *athlete) of(source string) []*activity {
	if source == onPhone {
		return a.uploads
	}

	return a.activities
}

// ref is the id of an activity, as the API has it.
func (x *activity) ref() string {
	if x.key != "" {
		return x.key
	}

	return strconv.FormatInt(x.id, 10)
}

// judge returns, for each activity of the goal's source that the app has, why it does not count. Of two
// recordings of the same workout the one with the lower id counts, which reached Strava first. So it is with
// workouts on the phone that overlap.
func (a *athlete) judge(g goal) map[*activity]verdict {
	all := map[*activity]verdict{}

	var count []*activity

	for _, x := range a.of(g.source) {
		if !x.has {
			continue
		}

		all[x] = verdict{why: g.against(x.seen, a.hidden(x), a.counts)}
		if len(all[x].why) == 0 {
			count = append(count, x)
		}
	}

	slices.SortFunc(count, func(x, y *activity) int { return cmp.Compare(x.id, y.id) })

	const bucket = int64(day / time.Second) // longer than any workout

	counted := map[int64][]*activity{} // by when they began

	for _, x := range count {
		at, reason := x.seen.start.Unix()/bucket, ""

		var first *activity // that counts instead

		for n := at - 1; n <= at+1; n++ {
			for _, y := range counted[n] {
				why := ""

				switch {
				case same(x.seen, y.seen):
					why = "duplicate"
				case g.source == onPhone && overlap(x.seen, y.seen):
					why = "overlap"
				}

				if why != "" && (first == nil || y.id < first.id) {
					first, reason = y, why
				}
			}
		}

		if first != nil {
			all[x] = verdict{[]string{reason}, first.ref()}
		} else {
			counted[at] = append(counted[at], x)
		}
	}

	return all
}

// threshold is the progress that part n takes: n/parts of the total, rounded up.
func (g goal) threshold(n int) int64 {
	progress := int64(n) * g.total / int64(g.parts)
	if int64(n)*g.total%int64(g.parts) != 0 {
		progress++
	}

	return progress
}

// sum returns what activities that fit add up to, and how many only began too early.
func (a *athlete) sum(g goal, of func(*activity) bool) (raw int64, early int) {
	marks := map[string]bool{} // days, or Mondays

	for x, v := range a.judge(g) {
		switch {
		case !of(x):
		case len(v.why) == 0:
			raw += g.value(x.seen)
			marks[g.mark(x.seen.day())] = true
		case len(v.why) == 1 && v.why[0] == "before_start":
			early++
		}
	}

	if g.target != streakDays && g.target != streakWeeks {
		return raw, early
	}

	longest, run, last := 0, 0, ""
	for _, mark := range slices.Sorted(maps.Keys(marks)) {
		if run++; g.after(last) != mark {
			run = 1
		}

		longest, last = max(longest, run), mark
	}

	return int64(longest), early
}

// mark returns the day or the week that a day marks in a streak: the week by its Monday.
func (g goal) mark(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err) // it was formatted so
	}

	if g.target == streakWeeks {
		at = at.AddDate(0, 0, -(int(at.Weekday())+6)%7)
	}

	return at.Format(time.DateOnly)
}

// after returns the mark that continues a streak after another.
func (g goal) after(mark string) string {
	at, err := time.Parse(time.DateOnly, mark)
	if err != nil {
		return ""
	}

	if g.target == streakWeeks {
		return at.AddDate(0, 0, 7).Format(time.DateOnly)
	}

	return at.AddDate(0, 0, 1).Format(time.DateOnly)
}

// observe computes the milestones of an athlete after something has changed at a time. What
// was reached is never lost, a milestone that is paused, abandoned or over stands still, and a completed one stays
// so.
func (a *athlete) observe(now time.Time) {
	for _, x := range append(slices.Clone(a.activities), a.uploads...) {
		if !a.hidden(x) {
			x.seen = x.data
		}
	}

	for _, m := range a.milestones {
		if !m.counts(now) {
			continue
		}

		m.raw, m.early = a.sum(m.goal, anything)
		m.best = max(m.best, m.raw)
		for len(m.reached) < m.parts && m.best >= m.threshold(len(m.reached)+1) {
			old, _ := a.sum(m.goal, func(x *activity) bool { return x.last.Before(now) })
			m.fresh = append(m.fresh, old < m.threshold(len(m.reached)+1))
			m.reached = append(m.reached, now)
		}

		m.completed = m.best >= m.total
	}
}

// latest returns the activities of a source that the app lists, the latest first.
func (a *athlete) latest(source string) (all []*activity) {
	for _, x := range a.of(source) {
		if x.has && !a.hidden(x) {
			all = append(all, x)
		}
	}

	slices.SortFunc(all, func(x, y *activity) int {
		if c := y.seen.start.Compare(x.seen.start); c != 0 {
			return c
		}

		return int(y.id - x.id)
	})

	return all
}

// listed returns the athlete with the activities that Strava lists now.
func (a *athlete) listed() *athlete {
	all := *a
	all.activities = nil

	for _, x := range a.activities {
		if x.id != 0 && !a.hidden(x) {
			y := *x
			y.has, y.seen = true, y.data
			all.activities = append(all.activities, &y)
		}
	}

	return &all
}

// since is when the history begins that the app fetches: with the year, or with the first milestone that
// is open.
func (a *athlete) since(now time.Time) time.Time {
	since := time.Date(now.Year(), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
	for _, m := range a.milestones {
		if m.open(now) && m.source == atStrava && m.start.Before(since) {
			since = m.start
		}
	}

	return since
}

// fetch is what the app does when it fetches the history: it has all activities of it.
func (a *athlete) fetch(now time.Time) {
	if !a.connected {
		return
	}

	since := a.since(now)
	for _, x := range a.activities {
		if !x.has && !a.hidden(x) && x.start.After(since) {
			x.has, x.last = true, now
		}
	}
}
