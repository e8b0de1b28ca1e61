package replay

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"matchday/infra/rooms/commitcollect/browser"
	"matchday/infra/sim/strava"
)

// world is the world as its athletes know it.
type world struct {
	seed     uint64
	end      time.Time
	athletes []*athlete
}

// athlete is a person who runs, rides or swims, with the account of the app.
type athlete struct {
	name, user string
	id         int64 // at Strava
	phone      string
	joins      time.Time
	offset     time.Duration // of home from UTC
	sports     []string      // that the athlete does, the most frequent first
	scope      []string      // what Strava may share
	leaves     bool          // deletes the account in the year
	former     *athlete      // whose athlete at Strava this one connects, after that account's end

	browser    *browser.Browser
	connected  bool
	linked     time.Time // when Strava was connected last
	gone       bool      // the account is deleted
	counts     choice
	activities []*activity  // at Strava, those deleted there included
	uploads    []*activity  // of the phone
	bogus      []*activity  // that were deleted at Strava within the hour
	pocket     bool         // the phone records workouts
	offline    bool         // never connects Strava
	boasts     *activity    // the bogus one that is at Strava
	milestones []*milestone // in the order in which they were started
	deleted    []*milestone
	started    int       // milestones
	hiding     *activity // what is hidden for a while
	amending   *milestone
	problems   []string
	did        map[string]int // for the line
	checks     int
}

// fail records a difference. It keeps the first few.
func (a *athlete) fail(format string, args ...any) {
	if len(a.problems) < 6 {
		a.problems = append(a.problems, fmt.Sprintf(format, args...))
	}
}

// dice returns a random source that is the same for the same seed and words.
func (w *world) dice(words ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, words...)

	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

var people = []string{"Ada", "Bruno", "Chidi", "Dara", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kemi", "Lior", "Mina", "Noor",
	"Otto", "Pia", "Quin", "Rosa", "Sami", "Tove"}

// newcomers is how many people join in the middle of the year. The last of them connects
// the athlete of somebody who has deleted the account.
const newcomers = 2

// kinds are what athletes do, the most frequent sport first.
var kinds = [][]string{
	{"Run", "TrailRun", "Run", "VirtualRun", "Walk", "Ride"},
	{"Ride", "GravelRide", "MountainBikeRide", "VirtualRide", "EBikeRide", "Run"},
	{"Run", "Ride", "Swim", "Walk", "Run"},
	{"Swim", "Swim", "Run", "Yoga"},
	{"Ride", "Handcycle", "EBikeRide", "Ride", "Hike"},
	{"Rowing", "VirtualRow", "Run", "Rowing", "Walk"},
	{"Wheelchair", "Velomobile", "Wheelchair", "Swim", "EMountainBikeRide"},
}

// everything is what the app asks Strava to share.
var everything = []string{"read", "activity:read", "activity:read_all"}

func newWorld(seed uint64, persons, weeks int) *world {
	w := &world{seed: seed, end: start.AddDate(0, 0, 7*weeks)}
	for i, name := range people[:persons] {
		d := w.dice("athlete", name)

		a := &athlete{
			name: name, user: fmt.Sprintf("athlete-%02d", i), id: int64(1_000_000 + 137*i), joins: start.Add(time.Duration(60+i*23) * time.Minute),
			offset: time.Duration([]int{0, 60, 120, -480, -300, 330, 600}[d.IntN(7)]) * time.Minute, sports: kinds[(i+d.IntN(2))%len(kinds)],
			scope: everything, counts: choice{Virtual: true, Manual: true, Private: true}, did: map[string]int{},
		}
		if i%2 == 0 {
			a.phone = fmt.Sprintf("%064x", 0xc0ffee00+i)
		}

		a.offline = i == persons-newcomers-2 && persons >= 8
		a.pocket = i%3 == 1 || a.offline

		if d.IntN(4) == 0 {
			a.scope = everything[:2] // what only the athlete can see stays so
		}

		switch newcomer := i - (persons - newcomers); {
		case newcomer >= 0:
			a.joins = start.Add(w.end.Sub(start) * time.Duration(55+10*newcomer) / 100)
		case newcomer == -1:
			a.leaves = true
		}

		w.athletes = append(w.athletes, a)
	}

	last := w.athletes[persons-1]
	last.former = w.athletes[persons-newcomers-1]
	last.id, last.scope, last.sports, last.offset = last.former.id, everything, last.former.sports, last.former.offset

	return w
}

// speeds are what people do in a second, metres.
var speeds = map[string]float64{"RIDE": 7, "RUN": 2.8, "SWIM": 0.9, "WALK": 1.4, "HIKE": 1.1, "ROW": 2.5, "WHEELCHAIR": 3}

// invent returns what an athlete does at a time.
func (a *athlete) invent(d *rand.Rand, at time.Time) data {
	sport := a.sports[min(d.IntN(len(a.sports)), d.IntN(len(a.sports)))]

	metres := map[string]float64{
		"Swim":       2000,
		"Run":        9000,
		"TrailRun":   13000,
		"VirtualRun": 7000,
		"Walk":       4000,
		"Hike":       11000,
		"Yoga":       0,
		"Rowing":     6000,
		"VirtualRow": 5000,
		"Wheelchair": 8000,
	}[sport]
	if metres == 0 && sport != "Yoga" {
		metres = 38000
	}

	metres *= 0.4 + 1.2*d.Float64()

	out := data{
		name:   "Session",
		sport:  sport,
		start:  at,
		offset: a.offset,
		metres: tenths(metres),
		climb:  tenths(metres * 0.012 * d.Float64()),
		moving: time.Duration(metres/speeds[families[sport]]*(0.8+0.4*d.Float64())) * time.Second,
	}
	if families[sport] == "" {
		out.moving = time.Duration(900+d.IntN(3600)) * time.Second
	}

	out.elapsed = out.moving + time.Duration(d.IntN(600))*time.Second

	if sport == "Swim" || sport == "Yoga" || sport == "Rowing" || sport == "VirtualRow" {
		out.climb = 0
	}

	switch d.IntN(25) {
	case 0:
		out.manual = true

		if d.IntN(2) == 0 { // no time was entered
			out.moving, out.elapsed = 0, 0
		}
	case 1:
		out.private = len(a.scope) == len(everything)
	case 2:
		out.offset += 3 * time.Hour // on a journey
	}

	return out
}

// tenths rounds metres as Strava gives them. No length ends in half a metre, which rounds
// either way.
func tenths(metres float64) float64 {
	n := int64(metres * 10)
	if n%10 == 5 {
		n++
	}

	return float64(n) / 10
}

// scaled is the activity with so much of its length, ascent and time.
func (d data) scaled(by float64) data {
	whole := func(t time.Duration) time.Duration { return time.Duration(t.Seconds()*by) * time.Second }
	d.metres, d.climb, d.moving, d.elapsed = tenths(d.metres*by), tenths(d.climb*by), whole(d.moving), whole(d.elapsed)

	return d
}

// shown is an activity as Strava's API shows it.
func (d data) shown() strava.Activity {
	return strava.Activity{
		Name:          d.name,
		SportType:     d.sport,
		StartDate:     d.start,
		UTCOffset:     d.offset.Seconds(),
		Timezone:      "(GMT) Somewhere/Else",
		Distance:      d.metres,
		ElevationGain: d.climb,
		MovingTime:    seconds(d.moving),
		ElapsedTime:   seconds(d.elapsed),
		Manual:        d.manual,
		Private:       d.private,
		Flagged:       d.flagged,
	}
}
