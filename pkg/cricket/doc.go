// Package cricket is live cricket on the lock screen. It polls SportMonks, works
// out what each fan should see, and pushes it to iPhones.
//
// Room lists the functions of the packages below:
//
//	tables      all tables, shared access patterns, queues, settings and secrets
//	score       the state of a match and its displays; scorer reads the provider's fixture, tally counts balls, event lists what is worth an alert
//	sportmonks  the provider's client and decoder
//	catalog     leagues, teams and seasons: API, administration and sync
//	match       a match: its rows, its API and its timeline of balls
//	follower    a user's phone, followed matches and preferences
//	activity    Live Activities: registration, broadcast channels, pushes
//	alert       notifications, the toss and the reminder
//	live        the polls, and the end of a match
//	schedule    the copy of the provider's schedule
//	userdata    what is deleted and exported of a user
//
// Imports go one way: sportmonks <- score <- score/tally <- score/scorer, score/event <- catalog;
// tables <- catalog <- match <- follower <- activity <- alert <- live <- schedule <- userdata <-
// cricket.
//
// # Tables
//
//	table                           key                            contents
//	cricket-fixtures                matchId                        a match: who, when, status; lastSlot and bodySum of the last poll; leaseHolder while a worker processes it; the titles that administrators have set for its teams
//	cricket-teams                   teamId                         a team; title, shortName and color belong to the administrators
//	cricket-team-seasons            seasonId, teamId               which teams play in a season
//	cricket-leagues                 leagueId                       a league; active, title and priority belong to the administrators
//	cricket-devices                 userId, deviceToken            a user's phone; deviceToken ~ counts registrations and serialises them; userId #TOKEN#{token} names the owner of a token
//	cricket-match-follows           matchId, userId                a user who follows a match; matchId #USER#{userId}, userId #FOLLOWS lists the matches that a user follows
//	cricket-activity-subscriptions  matchId, pushToken             a Live Activity with a push token, and whether the phone allows frequent updates; matchId #USER#{userId}, pushToken {matchId} lists a user's activities of a match
//	cricket-channels                matchId, view                  the broadcast channel of a match and perspective; listeners are not stored
//	cricket-prematch-notifications  matchId, userId                matchId {matchId}#{userId}: a claimed reminder, with userId #START#{userId} the claim of the start of an activity; userId #MATCH: the reminder of the match was sent
//	cricket-locks                   lockKey                        alert:… and sync-fixtures are leases; tick holds the last claimed slot; budget:fixtures counts the requests of the provider
//	cricket-state-hashes            matchTeamKey                   {matchId}: what was sent: the hash of the display of each perspective, and the ledger of events
//	DisplayStateCache               cacheKey                       DISPLAY#{matchId}#{teamId}: the current display
//	cricket-fixture-cache           matchId                        the score in full; {matchId}#names: names of teams and league
//	cricket-preferences             userId                         which alerts a user wants, and when
//	cricket-alerts                  matchId, part                  how far an alert was sent, by its key and range of followers
//	match-processing-state          matchId                        {matchId}: the list of the chunks; {matchId}#S1#00: five overs of balls
//
// # What differs from the seed
//
// The seed is the list of 57 access patterns on 13 tables that the room was built from.
// The test of this package holds it. Every pattern is there, with these differences:
//
//	seed                                                here, and why
//	a follow expires 48 h after the start               45 days after the latest possible end (match.KeepFollow). The end of a match removes its follows; the expiry only tidies up. A match that is postponed by weeks keeps its followers, and a Test match lasts five days
//	a display expires, and the next request rebuilds it kept for 7 days after its last write (match.KeepShown). The ticker and the sync replace it when it changes, so no expiry is needed to keep it correct
//	the cache of a live match has a shorter TTL         no TTL by state: a score is valid until a newer one replaces it. Scores are kept for 30 days, results for good (package match)
//	the cache holds the provider's fixture              it holds the score that was read from it (score.State), with the players at the crease and every wicket. Lineups and full scorecards are not stored, because no screen shows them
//	active leagues are cached                           each run of a job reads them: 30 leagues cost a few read units, and a league that is deactivated is left out from the next run
//	lastProcessedBall, to resume from                   not stored: each payload replaces all balls, so nothing is resumed. "Get" and "Set last processed ball ID" read and write the list of chunks
//	a service hydrates its cache on boot                a timeline reads its chunks by key. Lambda has no boot, and no scan is needed
//	the lock of a match is in cricket-locks             it is in the match's row, which is written anyway when the lock is taken and when it is released: two calls less for each change, and two round trips before the push
//	a hash has a row by match and team                  one row of a match has the hash of each perspective, and the ledger of sent events: one call, and not four. A new process reads it in one call with the score and the balls
//	a display is put alone                              those of all perspectives that changed are put in one transaction: one call, and not three, for three more write units
//	user's subscriptions by a query of the match        a list under the user's key: its cost does not grow with the audience
//	a reminder is marked under the match and the user   a claim has a partition of its own, {matchId}#{userId}: one partition takes 1,000 writes a second
//
// Replays (isReplay, replayExpiresAt) are rows that an operator adds to a stage for a
// demonstration. No function makes one; the ticker deletes those that have expired.
//
// # What never happens
//
// An older score never replaces a newer one. One tick claims each slot, by a
// conditional write. A worker holds a lease while it processes a match, and every
// write of a match is refused if the row has a later slot. A phone orders pushes by
// the slot's time.
//
// A crash loses nothing. Before a tick writes, it removes bodySum, the mark of the
// payload that the rows were made from. It writes balls, score and displays first,
// then sends the messages, then writes what was sent (hashes and ledger), and the new
// mark last. If it crashes, the next tick finds no mark and does all of it again.
//
// No alert is lost or shown twice. Every event has a key (package event). The ledger
// records sent keys after the messages were sent, so a crash sends a message again;
// the rows of send-alerts record which followers were already served. An event is sent
// after three polls contained it. A correction keeps the key of what it corrects.
//
// No match ends early. A match that leaves the feed is archived. It ends when the
// provider's own page of it is over, and it goes live again if it comes back.
// One write decides the end (endingAt); it is refused if the match was polled since
// the page was requested. finishedAt is set when everything that follows is done.
package cricket
