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
// # Notices
//
// The milestone counts the minted parts in Awarded. It counts in Noticed those whose
// entry is in the trail and whose message is in the queue. If a worker dies in between, the
// next one writes the same entry and sends the message again; a phone displays it once.
package milestone
