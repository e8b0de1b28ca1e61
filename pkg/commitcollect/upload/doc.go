// Package upload keeps the workouts that the app uploads from a phone: of HealthKit or Health Connect.
// Milestones whose source is the phone count them.
//
// # What is believed
//
// Nothing proves an upload, so it is treated as an entry by hand: it counts only if the user counts such
// entries, and only for milestones of the phone. Their parts settle as those of Strava. A workout that is
// faster than its sport allows is kept, and does not count: flagged. Of two that are twins, or take place
// at the same time, one counts. A time in the future, or a workout of more than two days, is refused.
//
// # Revisions
//
// The stores of phones replace workouts when they are edited or synced. A workout has the id and the
// revision that the app gives it. The highest revision is kept, whatever the order in which they arrive,
// and of one revision the first. A removed id stays removed: what a phone still has in its queue does not
// bring the workout back.
//
// # Limits
//
// A user keeps so many workouts, and stores so many a day. Both are counted in one item, which each
// transaction changes under its rev: so all uploads of a user are in turn.
//
// Workouts and ledgers have keys of their own: what happens to the connection to Strava does not touch
// them, and the reverse.
package upload
