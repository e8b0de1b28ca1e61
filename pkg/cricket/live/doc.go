// Package live polls the provider and decides when a match ends.
//
// # What happens in a tick
//
// The Planner runs every minute. If a match is live or about to start, it returns
// the 24 slots of the next minute, 2.5 s apart, and the state machine runs a tick
// for each.
//
//  1. The Ticker claims the slot. If another execution claimed it, nothing is done.
//  2. It requests all live matches from the provider in one call. If the provider
//     fails, the slot is lost and the last state stands.
//  3. Each match whose payload is unchanged gets one write (markUnchanged).
//  4. Each match whose payload changed is ingested under a lease: the payload is read
//     to a score, and the balls, the score and the displays are stored.
//  5. If a display changed, one MatchChanged goes to push-activities. An event that
//     three consecutive polls contained goes to send-alerts, once; the ledger records
//     which events were sent.
//  6. The payload's checksum is written last. After a crash it is missing, and the
//     next tick ingests the match again.
//
// # When a match ends
//
// A live match that is missing from the feed for four polls is archived, and a
// MatchLeft goes to finish-match. Package schedule sends one for a match that was
// called off before it was ever live. The Finisher requests the provider's page of
// the match every minute:
//
//	result, and winner, note and scores agree  the match ends
//	result, and they disagree for 15 min        the match ends with the provider's word
//	abandoned or cancelled for 5 min            the match ends
//	page not found for 15 min                   the match ends
//	anything else                               it is requested again
//
// A match that is polled again in the meantime is live again and does not end. When
// the end is decided, endingAt is written; the activities are ended at once, and the
// follows are removed an hour later, after the last alerts. finishedAt is written
// last.
package live
