// Package live polls the provider, stores and sends what changed, and decides when a
// match ends.
//
// # What happens in a tick
//
// The Planner runs every minute. If a match is live or due to start, it returns the
// 24 slots of the next minute, 2.5 s apart. The state machine runs one tick for each.
//
//  1. The Ticker claims the slot. If another execution claimed it, the tick ends.
//  2. One request returns all live matches. If the provider fails, the tick ends and
//     the stored state stands. If its answer is cut short (after 4 s, at 160 MB, or by the
//     provider), the matches that were received whole are handled, the others are left
//     to the next slot, and step 7 is left out.
//  3. A match of an inactive league (package catalog) is skipped. A match whose payload is
//     unchanged gets one write (markUnchanged). One in play whose payload has not changed
//     for 10 minutes is counted (MatchesStale): an answer of 200 may be old.
//  4. A match whose payload changed is ingested under a lease (ingest): scorer.Read
//     makes the score, and the balls, the score and the displays are stored.
//  5. If a display changed, one MatchChanged is sent to push-activities, and one Change to
//     push-topics if the stage has Android phones. An event that
//     three consecutive polls contain is sent to send-alerts, once. A toss and a start
//     are sent at once. The ledger records what was sent.
//  6. The checksum of the payload is written last. After a crash it is missing, and
//     the next tick ingests the match again.
//  7. A live match that is missing from the feed is archived (archiveMissing), as
//     below. So is one whose league has become inactive, at once.
//
// # When a match ends
//
// A live match that is missing from the feed for four polls is archived, and a
// MatchLeft is sent to finish-match. While an entry of the feed has no id it takes 15
// minutes, for that entry may be the match. Package schedule sends a MatchLeft for a
// match that was called off or deleted before it was live.
//
// Every minute, after hours every five minutes, the Finisher requests the provider's page of the match:
//
//	page of the match                              consequence
//	result; winner, note and scores agree          the match ends
//	result; they disagree for 15 min               the match ends with the provider's result
//	finished without winner and note for an hour   the match ends without a known result
//	tie in limited overs for 15 min                the match ends: no super over follows
//	abandoned or cancelled for 5 min               the match ends
//	not found for 15 min                           the match is cancelled and ends
//	not started; the match was never polled        none: package schedule handles it
//	anything else                                  it is stored, and requested again
//
// A match that is polled again in the meantime is live again and does not end. A match that the feed
// lists as over for five minutes ends in the same way. One that has not ended after as long as its
// format lasts (match.Fixture.Lasts) is logged and ended.
//
// The end is one conditional write of endingAt. The activities are ended at once. For 48 h the page is
// reviewed, at growing intervals. What three reviews in a row have found, a minute apart, withdraws
// the end:
//
//	page of the match                              consequence
//	another result, certain                        it is stored, and the match ends again; followers are told
//	                                               of another outcome or winner, not of another margin
//	in play, interrupted or in a break             the match is open again; the next play starts activities
//	not started; the start is still to come        the match is upcoming: package schedule handles it
//
// An administrator may do both at once (Office): have the match open again if its page is not over, or replace the
// result, which no later page replaces. Three reviews that find the administrator's result not stored store it: the
// request may have died before its message, or the page was unreadable for 15 minutes.
//
// After the last review the follows are removed. finishedAt is written last.
//
// # When a match is listed again under another id
//
// Package schedule finds the match that replaces one which was called off, and sends a MatchLeft with To. The Finisher
// carries the followers to it, each once (follower.CarryFollows), and tells them that it was moved.
package live
