// Package milestone computes the progress of milestones from workouts, and mints the parts of a
// model that the progress earns.
//
// # Progress
//
// It is computed from the ledgers of the workouts since the milestone's start, and never
// added up incrementally: package tally has the rules. rawProgress is the progress of the
// present workouts, and progressValue the highest rawProgress so far. So progress stays when
// an activity is edited or deleted. A completed milestone is computed only on request.
//
// # Parts
//
// Part n of a model with p parts is minted when the progress reaches n/p of the total, in
// whole metres rounded up, so that the last part is minted exactly when the milestone is
// complete. The parts and the milestone are written in one transaction, under the version of
// the milestone and on condition that the parts do not exist: each is minted once, whoever
// computes it and however often.
//
// # Pauses
//
// A paused milestone mints nothing. When it is resumed, all workouts of its period count,
// those of the pause included. A completed milestone stays completed.
//
// # The end
//
// A milestone with a last day ends a week after that day is over everywhere, because phones upload
// late. The end is not stored: it follows from the day and the clock. One that has ended or was
// abandoned keeps its parts and counts no workout any more; its user may delete it. Ids of open
// milestones are in a list, which is what a workout reads: a computation takes off it what is
// completed, abandoned, ended or deleted.
//
// The goal may change until the first part is minted. The progress is then that of the new goal.
//
// # Notices
//
// The milestone counts the minted parts in Awarded. It counts in Noticed those whose entry is in
// the trail and whose message, one for all parts that are minted at once, is in the queue. If a worker dies in between, the
// next one writes the same entry and sends the message again; a phone displays it once.
package milestone
