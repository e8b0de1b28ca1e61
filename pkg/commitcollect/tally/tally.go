// Package tally has the rules by which workouts become progress and parts of a model. It is pure:
// it reads no table and no clock.
package tally

import (
	"cmp"
	"slices"
	"time"
)

// Family is a kind of sport that milestones count.
type Family string

const (
	Ride       Family = "RIDE"
	Run        Family = "RUN"
	Swim       Family = "SWIM"
	Walk       Family = "WALK"
	Hike       Family = "HIKE"
	Row        Family = "ROW"
	Wheelchair Family = "WHEELCHAIR"
)

// Families are all kinds.
var Families = []Family{Ride, Run, Swim, Walk, Hike, Row, Wheelchair}

// Set is a set of families. The zero value is empty.
type Set uint8

// SetOf returns the set of some families.
func SetOf(all ...Family) (s Set) {
	for _, f := range all {
		if i := slices.Index(Families, f); i >= 0 {
			s |= 1 << i
		}
	}

	return s
}

// Has reports whether a family is in the set.
func (s Set) Has(f Family) bool { return f != "" && s&SetOf(f) != 0 }

// Choice has the kinds of workouts that a user lets count, beside those that always count.
type Choice struct {
	_ struct{} `schema:"WorkoutChoice"`

	Virtual   bool `json:"virtual" dynamodbav:"virtual" doc:"Whether rides and runs on a simulator count."`
	EBike     bool `json:"eBike" dynamodbav:"eBike" doc:"Whether rides with an electric motor count."`
	Handcycle bool `json:"handcycle" dynamodbav:"handcycle" doc:"Whether rides on a handcycle or a velomobile count."`
	Manual    bool `json:"manual" dynamodbav:"manual" doc:"Whether activities count that were entered by hand, without a recording."`
	Private   bool `json:"private" dynamodbav:"private" doc:"Whether activities count that nobody else can see."`
}

// DefaultChoice is that of a user who has made none.
var DefaultChoice = Choice{Virtual: true, Manual: true, Private: true}

// kind is a kind of workouts that a user may exclude, "" for those that always count.
type kind string

const (
	virtual   kind = "virtual"
	eBike     kind = "ebike"
	handcycle kind = "handcycle"
)

// sport is the family and the kind of a sport type of Strava.
type sport struct {
	family Family
	kind   kind
}

// sports maps Strava's sport types. A type that is not in it belongs to no family.
var sports = map[string]sport{
	"Ride": {Ride, ""}, "MountainBikeRide": {Ride, ""}, "GravelRide": {Ride, ""}, "VirtualRide": {Ride, virtual},
	"EBikeRide": {Ride, eBike}, "EMountainBikeRide": {Ride, eBike}, "Handcycle": {Ride, handcycle}, "Velomobile": {Ride, handcycle},
	"Run": {Run, ""}, "TrailRun": {Run, ""}, "VirtualRun": {Run, virtual},
	"Swim": {Swim, ""}, "Walk": {Walk, ""}, "Hike": {Hike, ""}, "Rowing": {Row, ""}, "VirtualRow": {Row, virtual},
	"Wheelchair": {Wheelchair, ""},
}

// Target is what a milestone measures.
type Target string

const (
	Distance    Target = "DISTANCE_METERS"
	Elevation   Target = "ELEVATION_METERS"
	Time        Target = "MOVING_SECONDS"
	Workouts    Target = "WORKOUTS"
	StreakDays  Target = "STREAK_DAYS"  // the longest run of days with a workout
	StreakWeeks Target = "STREAK_WEEKS" // of weeks, which begin on Monday
)

// Entry has the attributes of a workout that the rules need.
type Entry struct {
	ActivityID string `dynamodbav:"i"`
	SportType  string `dynamodbav:"s"`
	StartedAt  int64  `dynamodbav:"t"`           // epoch s
	UTCOffset  int32  `dynamodbav:"o,omitempty"` // s, of the place and day of the workout
	Distance   int64  `dynamodbav:"d,omitempty"` // m
	Elevation  int64  `dynamodbav:"e,omitempty"` // m of ascent
	Moving     int64  `dynamodbav:"m,omitempty"` // s; this and the next are 0 in ledgers of before they were stored
	Elapsed    int64  `dynamodbav:"l,omitempty"` // s
	Manual     bool   `dynamodbav:"h,omitempty"`
	Flagged    bool   `dynamodbav:"f,omitempty"`
	Private    bool   `dynamodbav:"p,omitempty"`
	Deleted    bool   `dynamodbav:"x,omitempty"`
	StoredAt   int64  `dynamodbav:"c,omitempty"` // when this was last changed, epoch s; 0 in ledgers of before it was stored
}

// localDay is the form of a day at the place of a workout.
const localDay = time.DateOnly

// LocalDay returns the day on which the workout began, where it began: 2026-03-08.
func (e Entry) LocalDay() string {
	return time.Unix(e.StartedAt+int64(e.UTCOffset), 0).UTC().Format(localDay)
}

// Value returns what the workout adds to a target, in the unit of the target. For a streak it is 1, for
// the day or the week that the workout marks.
func (e Entry) Value(t Target) int64 {
	switch t {
	case Elevation:
		return max(0, e.Elevation)
	case Time:
		return max(0, e.Moving)
	case Workouts, StreakDays, StreakWeeks:
		return 1
	}

	return max(0, e.Distance)
}

// localDayNumber returns the number of the local day of a workout, and of its week, both without gaps.
func (e Entry) localDayNumber() (day, week int64) {
	const secondsOfDay = 24 * 60 * 60

	at := e.StartedAt + int64(e.UTCOffset)
	day = at / secondsOfDay

	if at%secondsOfDay < 0 {
		day--
	}

	return day, (day + 3) / 7 // the epoch was a Thursday
}

// Goal is what a milestone counts.
type Goal struct {
	Sports Set
	Target Target
	Total  int64 // in the unit of the target
	Parts  int

	Start int64 // epoch s; workouts that begin before it do not count
	// StartDay and EndDay, where given, bound the local day of a workout, both included.
	StartDay, EndDay string

	// Once is set if of workouts that overlap one counts.
	Once bool
}

// MaxElapsed bounds the elapsed time of the workouts of a goal with Once, s.
const MaxElapsed = 2 * 24 * 60 * 60

// StoredUntil returns the entries that have not changed after a time, epoch s.
func StoredUntil(entries []Entry, t int64) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.StoredAt > t })
}

// FamilyOf returns the family of a sport type of Strava, "" if it belongs to none.
func FamilyOf(sportType string) Family { return sports[sportType].family }

// Reason is a reason why a workout does not count for a goal.
type Reason string

// The reasons, in the order in which they are given.
const (
	Deleted      Reason = "deleted"
	OtherSport   Reason = "other_sport"
	BeforeStart  Reason = "before_start"
	AfterEnd     Reason = "after_end"
	VirtualOff   Reason = "virtual_not_chosen"
	EBikeOff     Reason = "ebike_not_chosen"
	HandcycleOff Reason = "handcycle_not_chosen"
	ManualOff    Reason = "manual_not_chosen"
	PrivateOff   Reason = "private_not_chosen"
	IsFlagged    Reason = "flagged"
	NoValue      Reason = "no_value"
	Duplicate    Reason = "duplicate"
	Overlap      Reason = "overlap"

	// These are reasons of the milestone, which Why and Count do not return.
	IsPaused    Reason = "milestone_paused"
	IsAbandoned Reason = "milestone_abandoned"
	IsCompleted Reason = "milestone_completed" // before the workout began
	IsEnded     Reason = "milestone_ended"     // before the workout arrived
)

// Why returns the reasons for which a workout does not count, without regard to others:
// never Duplicate or Overlap. It returns none for a workout that counts unless it is one of these.
func Why(e Entry, g Goal, c Choice) (all []Reason) {
	s, day := sports[e.SportType], e.LocalDay()
	for _, r := range []struct {
		reason Reason
		holds  bool
	}{
		{Deleted, e.Deleted},
		{OtherSport, !g.Sports.Has(s.family)},
		{BeforeStart, e.StartedAt < g.Start || day < g.StartDay},
		{AfterEnd, g.EndDay != "" && day > g.EndDay},
		{VirtualOff, s.kind == virtual && !c.Virtual},
		{EBikeOff, s.kind == eBike && !c.EBike},
		{HandcycleOff, s.kind == handcycle && !c.Handcycle},
		{ManualOff, e.Manual && !c.Manual},
		{PrivateOff, e.Private && !c.Private},
		{IsFlagged, e.Flagged},
		{NoValue, e.Value(g.Target) == 0},
	} {
		if r.holds {
			all = append(all, r.reason)
		}
	}

	return all
}

// Two workouts that a goal counts are twins, one workout that two devices have recorded, if all of these hold.
// They began within sameStart of each other. Their distances differ by at most sameDistance, or by sameMetres.
// Their elapsed times, where both are known, differ by at most sameElapsed, or by sameSeconds. Devices differ by
// the moment of the button and by the GPS. Lengths of a pool that are started again within two minutes differ by
// their times.
const (
	sameStart    = 120  // s
	sameDistance = 0.05 // of the greater
	sameMetres   = 50
	sameElapsed  = 0.2 // of the greater
	sameSeconds  = 300
)

// isTwin reports whether two workouts are twins.
func isTwin(a, b Entry) bool {
	known := a.Elapsed != 0 && b.Elapsed != 0

	return near(a.StartedAt, b.StartedAt, sameStart, 0) && near(a.Distance, b.Distance, sameMetres, sameDistance) &&
		(!known || near(a.Elapsed, b.Elapsed, sameSeconds, sameElapsed))
}

// overlap reports whether a time of more than sameStart belongs to both workouts.
func overlap(a, b Entry) bool {
	return min(a.StartedAt+a.Elapsed, b.StartedAt+b.Elapsed)-max(a.StartedAt, b.StartedAt) > sameStart
}

// beside returns why a workout does not count beside another that counts, "" if it does.
func (g Goal) beside(e, counts Entry) Reason {
	switch {
	case isTwin(e, counts):
		return Duplicate
	case g.Once && overlap(e, counts):
		return Overlap
	}

	return ""
}

// near reports whether two values differ by at most an amount, or by a part of the greater.
func near(a, b, amount int64, part float64) bool {
	apart := max(a-b, b-a)
	return apart <= amount || float64(apart) <= part*float64(max(a, b))
}

// Sum is the outcome of Count.
type Sum struct {
	Progress    int64 // in the unit of the target
	Counted     int   // workouts
	BeforeStart int   // workouts that count but for their start
	Why         map[string][]Reason
	TwinOf      map[string]string // by the id of a duplicate or of one that overlaps, the id of the workout that counts
}

// Count sums the workouts that count for a goal. Of workouts that are the same the one
// with the lowest activity id counts, which is the one that reached Strava first. The
// order of the entries does not matter.
func Count(entries []Entry, g Goal, c Choice) Sum { return CountFrom(Carried{}, entries, g, c) }

// count is CountFrom, and returns the workouts that count.
func count(from Carried, entries []Entry, g Goal, c Choice) (sum Sum, counts []Entry) {
	sum = Sum{Progress: from.Sum, Counted: from.Counted, Why: map[string][]Reason{}}

	for _, e := range entries {
		if e.StartedAt < from.To {
			continue
		}

		why := Why(e, g, c)
		if len(why) == 0 {
			counts = append(counts, e)
			continue
		}

		sum.Why[e.ActivityID] = why
		if len(why) == 1 && why[0] == BeforeStart {
			sum.BeforeStart++
		}
	}

	sum.TwinOf = g.twins(counts, sum.Why)
	counts = slices.DeleteFunc(counts, func(e Entry) bool { return sum.TwinOf[e.ActivityID] != "" })

	for _, e := range counts {
		sum.Counted++
		sum.Progress += e.Value(g.Target)
	}

	if g.Target.isStreak() {
		sum.Progress = from.Longest
		for _, r := range runs(from.Runs, counts, g.Target) {
			sum.Progress = max(sum.Progress, r.Last-r.First+1)
		}
	}

	return sum, counts
}

// twins returns, for the id of each workout of the sports of a goal that does not count beside another,
// the id of the other, and adds the reason to why.
func (g Goal) twins(all []Entry, why map[string][]Reason) map[string]string {
	byStart := slices.SortedFunc(slices.Values(all), func(a, b Entry) int { return cmp.Compare(a.StartedAt, b.StartedAt) })
	byID := slices.SortedFunc(slices.Values(all), func(a, b Entry) int { return compareIDs(a.ActivityID, b.ActivityID) })

	before := int64(sameStart) // how much earlier than e a workout can begin that does not count beside it
	if g.Once {
		before = MaxElapsed
	}

	of := map[string]string{}
	for _, e := range byID { // the lowest first, so that e counts unless a lower one is the same
		if of[e.ActivityID] != "" {
			continue
		}

		last := e.StartedAt + sameStart
		if g.Once {
			last = max(last, e.StartedAt+e.Elapsed)
		}

		i, _ := slices.BinarySearchFunc(byStart, e.StartedAt-before, func(b Entry, start int64) int { return cmp.Compare(b.StartedAt, start) })
		for ; i < len(byStart) && byStart[i].StartedAt <= last; i++ {
			b := byStart[i]
			if compareIDs(b.ActivityID, e.ActivityID) <= 0 || of[b.ActivityID] != "" {
				continue
			}

			if reason := g.beside(b, e); reason != "" {
				of[b.ActivityID], why[b.ActivityID] = e.ActivityID, []Reason{reason}
			}
		}
	}

	return of
}

// compareIDs compares ids of Strava as numbers: they are decimal, without leading zeros. Those of phones
// have the length of a UUID, and are compared as texts.
func compareIDs(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// Threshold returns the progress at which part n, from 1, is earned: n/parts of the total, rounded up. So the
// last part is earned exactly when the milestone is complete.
func (g Goal) Threshold(n int) int64 {
	return (int64(n)*g.Total + int64(g.Parts) - 1) / int64(g.Parts)
}

// Earned returns how many parts a progress earns.
func (g Goal) Earned(progress int64) int {
	n := 0
	for n < g.Parts && progress >= g.Threshold(n+1) {
		n++
	}

	return n
}

// Percent returns the progress in percent of the total, with two decimals, at most 100.
func (g Goal) Percent(progress int64) float64 {
	return float64(min(progress, g.Total)*10_000/g.Total) / 100
}

// Remaining returns how much the next part takes, in the unit of the target, 0 if all are earned.
func (g Goal) Remaining(progress int64) int64 {
	if n := g.Earned(progress); n < g.Parts {
		return g.Threshold(n+1) - progress
	}

	return 0
}
