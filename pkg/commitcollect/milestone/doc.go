// Package milestone turns workouts into progress, and progress into parts of a model.
//
// # Progress
//
// It is computed from the ledgers of the workouts since the milestone's start, and never
// added up: package tally has the rules. rawProgress is what the workouts are now,
// progressValue the highest that it was: nothing that a user has reached is taken away when
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
// A part that was minted is in parts awarded, and once its entry is in the trail and its
// message in the queue, in parts noticed. After a worker that dies between the two, the next
// writes the same entry and sends the message again; a phone shows it once.
package milestone
