package upload

import "matchday/pkg/commitcollect/tally"

// fastest are the highest average speeds of a workout that are believed, m/s: above the records, below a
// car.
var fastest = map[tally.Family]int64{
	tally.Ride:       25,
	tally.Run:        9,
	tally.Swim:       3,
	tally.Walk:       4,
	tally.Hike:       4,
	tally.Row:        8,
	tally.Wheelchair: 15,
}

// fastestClimb is the highest average ascent that is believed, m/s.
const fastestClimb = 2

// isImplausible reports whether somebody cannot have done a workout in its time. The speed of a sport that
// no milestone counts does not matter.
func isImplausible(w Workout) bool {
	moving := w.Moving
	if moving == 0 {
		moving = w.Elapsed
	}

	limit, known := fastest[tally.FamilyOf(w.Sport)]

	return known && w.Distance > limit*moving || w.Elevation > fastestClimb*w.Elapsed
}
