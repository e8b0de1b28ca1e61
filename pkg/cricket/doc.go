// Package cricket is live cricket on the lock screen: it polls SportMonks,
// works out what each fan should see, and pushes it to iPhones.
//
// One poll every 2.5 s (a slot) asks for all matches. The Ticker takes each
// match that changed from the provider's words (package feed) to a score and
// what each perspective is shown of it (package score), stores both, and sends
// one message to the Pusher when what is shown has changed, and one to the
// Alerter for each event. The TossDetector and the Reminder tell the Alerter what
// comes before the first ball. The Finisher ends what the provider has confirmed
// to be over. Matches, Activities, Devices, Follows, Settings and Reference are the
// API; the syncs keep the reference data.
//
// # What is kept where
//
//	table                           key                            what it is
//	cricket-fixtures                matchId                        a match: who, when, status; lastSlot and bodySum of the last poll
//	cricket-teams                   teamId                         reference data; title, shortName and color are the administrator's
//	cricket-team-seasons            seasonId, teamId               who plays in a season
//	cricket-leagues                 leagueId                       reference data; active, title and priority are the administrator's
//	cricket-devices                 userId, deviceToken            a user's phone; deviceToken ~: how often one was registered, which serialises that; userId #TOKEN#{token}: whose phone it is
//	cricket-match-follows           matchId, userId                who follows a match
//	cricket-activity-subscriptions  matchId, pushToken             a Live Activity on a phone
//	cricket-channels                matchId, view                  the broadcast channel of a match and perspective; who listens is nowhere
//	cricket-prematch-notifications  matchId, userId                a reminder that was claimed; userId #MATCH: the match is done
//	cricket-locks                   lockKey                        match:{matchId} and sync-fixtures are leases; tick holds the last claimed slot
//	cricket-state-hashes            matchTeamKey                   {matchId}#{teamId}, {matchId}#neutral: what was last pushed
//	DisplayStateCache               cacheKey                       DISPLAY#{matchId}#{teamId}: what is shown now
//	cricket-fixture-cache           matchId                        the score in full; {matchId}#names: what teams and league are called
//	cricket-preferences             userId                         which alerts a user wants, and when
//	cricket-alerts                  matchId, part                  how far the followers were told of an event, by its key and their range
//	match-processing-state          matchId                        {matchId}: lastProcessedBall and the chunks; {matchId}#S1#00: five overs of balls; {matchId}#told: the ledger of events
//
// # What never happens
//
// An older score never replaces a newer one. A slot is claimed by one tick (a
// conditional write, so of two executions one loses); a match is processed
// under a lease; and every write of a match is refused when the row has seen a
// later slot. A phone orders what it is pushed by the slot's time.
//
// Nothing is lost by a crash. A tick takes away bodySum, the mark that says whose
// words the rows are, and writes what it found in an order that makes a second
// run harmless: balls, score and display first, then the message, then the hash
// that says it was sent, and last the new mark. A crash anywhere in between has
// the next tick find no mark and do all of it again, whatever the provider says
// by then; the phone gets a state that it may have had, with a newer time.
//
// No alert is lost, and none is told twice. Whatever has happened in a match
// has a key (package score). The ledger says which keys were told; it is written
// after the messages are sent, so a crash sends one again, and the Alerter's own
// rows say how far the followers of a match were told of that key. What the
// provider errs about is told when three polls had it, and a correction keeps the
// key of what it corrects.
//
// Nothing ends early. What the provider says is believed when it agrees with
// itself (package score). A match that leaves the feed is archived, and ends
// when the provider's own page of it says so; if it comes back it is live again.
// That it ends is decided once (endingAt), by a write that a poll made since the
// page was asked for refuses; finishedAt says that all that follows is done.
package cricket
