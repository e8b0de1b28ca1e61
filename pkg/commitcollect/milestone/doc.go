// Package milestone computes the progress of milestones from workouts, and mints the parts of a
// model that the progress earns.
//
// # Progress
//
// It is computed from the ledgers of the workouts since the milestone's start, and never
// added up incrementally: package tally has the rules. rawProgress is the progress of the
// present workouts, settledValue the highest progress of settled workouts so far, and progressValue
// the higher of the two. So progress stays when a settled activity is edited or deleted. A completed
// milestone is computed only on request. A milestone counts the workouts of one source, Strava or the
// phone, which its user chooses at its start.
//
// # Settling
//
// A workout is settled when what the rules need of it has not changed for an hour, or as long as the
// setting SETTLING_MINUTES has it. Parts are minted, and a milestone is complete, by settled workouts
// only: a bogus activity that is deleted within the hour leaves nothing. An evaluation that finds
// workouts which are not settled stores when the next of them is, and sends a message for that time
// before; SQS delays a message for 15 minutes at most, so settle-milestones sends it again until then.
// One message waits for a user, unless the workouts change for which it waits. Rows of before have no
// settledValue, and ledgers no time: both are settled.
//
// In a stage that keeps workouts for some days only, an open milestone carries forward what it has
// counted of those that go: a sum, and for a streak the longest run and those of the last days
// (tally.Carried). It does so only when all its workouts have been fetched since it counts anew:
// since it was created, its goal or what counts was changed, or the connection has ended, which
// takes the carried sum with the workouts. What counted, and a recomputation, read from Strava what
// is not kept, within the calls of the user's backfills, and store nothing but the sum. A closed milestone
// carries nothing more: they read what came since its last carry from Strava, too.
//
// # Parts
//
// Part n of a model with p parts is minted when the settled progress reaches n/p of the total, in
// whole metres rounded up, so that the last part is minted exactly when the milestone is
// complete. The parts and the milestone are written in one transaction, under the version of
// the milestone and on condition that the parts do not exist: each is minted once, whoever
// computes it and however often.
//
// # Pauses
//
// A paused milestone mints nothing, and does not end. When it is resumed, all workouts of its period count,
// those of the pause included, also if the pause was longer than the period: then the milestone ends a week
// after it was resumed. A completed milestone stays completed.
//
// # The end
//
// A milestone with a last day ends a week after that day is over everywhere, because phones upload
// late. The end is not stored: it follows from the day and the clock, unless it is held. A milestone that has ended or was
// abandoned keeps its parts and counts no workout any more; its user may delete it. Ids of open
// milestones are in a list, which is what a workout reads: a computation takes off it what is
// completed, abandoned, ended or deleted.
//
// A milestone of Strava is held open if no fetch was complete in the two days before its end: Strava did not answer,
// or its limits were used up. It ends after the next complete fetch, whose workouts count, but 30 days later at the
// latest.
//
// The goal may change until the first part is minted. The progress is then that of the new goal. The milestone is
// open for a week after the change, whatever its last day is.
//
// # Notices
//
// The milestone counts the minted parts in Awarded. It counts in Noticed those whose entry is in
// the trail and whose message, one for all parts that are minted at once, is in the queue. If a worker dies in between, the
// next one writes the same entry and sends the message again; a phone displays it once.
package milestone
