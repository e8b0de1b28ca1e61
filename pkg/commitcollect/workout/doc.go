// Package workout copies activities of Strava into the user's workouts: from webhooks, from
// the history when Strava is connected, and every night what webhooks have lost.
//
// # A webhook
//
//	Strava ─ receive-webhook ─▶ queue ─ ingest-events: claim, owner, token, fetch, store ─▶ evaluate-milestones
//
// Strava signs nothing, so a webhook is a hint only, and the API's answer is stored.
// Only a deletion is believed, because Strava requires it; a workout that was not deleted
// comes back with the history.
//
// Webhooks come late, doubled, in any order, or never. An event is claimed for the time that
// its handling may take, and marked as done at the end, so that a crash loses nothing. A
// workout has the time of the newest event that was stored, and ignores older ones.
//
// # Ledgers
//
// A ledger has what the rules need to know of all workouts of a month. It is written in one
// transaction with the workouts, under its rev. Milestones are computed from ledgers: the
// cost grows with the months, not with the number of workouts, and nothing is added up twice
// or forgotten, because nothing is added up incrementally.
//
// # Retention
//
// Of an activity, a row has what the rules and the lists need: no places, no devices, no document of
// Strava. The rows stay as long as the connection, or, with the setting STRAVA_RETENTION_DAYS, so
// many days. Then every twelve hours
//
//	reconcile ─▶ evaluate-milestones: carry forward ─▶ purge-workouts: delete rows and entries of ledgers
//
// Milestones first carry forward what they have counted of the workouts that go, and count nothing
// that began before: see package milestone. So a crash between the two leaves workouts that are
// not counted twice. A workout that is deleted at Strava leaves its id only, until the next run. What
// an open milestone has not carried forward is not deleted, unless it would be kept for too long before
// the next run. A backfill fetches no more than milestones need. Workouts that are
// uploaded more than six days after they began, and changes of older ones, count only in a
// recomputation, which reads them from Strava.
//
// # What second runs do
//
// Storing the same activity again writes nothing. A backfill that is repeated reads the same
// pages. A purge deletes what is left, each workout in one transaction with its entry in a
// ledger, so that an interrupted purge leaves workouts and ledgers that agree.
package workout
