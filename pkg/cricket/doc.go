// Package cricket is live cricket on the lock screen. It polls SportMonks, works
// out what each fan should see, and pushes it to iPhones.
//
// Room lists the functions of the packages below:
//
//	tables      all tables, shared access patterns, queues, settings and secrets
//	words       the texts of alerts in the languages of the app
//	score       the state of a match and its displays; scorer makes the state from the
//	            provider's fixture, tally counts balls, event lists what is worth an alert
//	sportmonks  the provider's client and decoder
//	catalog     leagues, teams and seasons: API, administration and sync
//	card        the scorecard of a match, from the provider's rows, checked against its balls
//	match       a match: its rows, its API, its timeline of balls and its scorecard
//	follower    a user's phone, followed matches and preferences
//	activity    Live Activities: registration, broadcast channels, pushes
//	topic       the match on Android phones: a message to the topic of each perspective
//	alert       notifications, the toss and the reminder
//	home        the home screen of a user, and the list of the user's activities
//	player      the players of the matches, and what they did in each
//	live        the polls, and the end of a match
//	schedule    the copy of the provider's schedule
//	userdata    the deletion and the export of a user's data
//
// # Where to find a rule
//
//	when the provider is polled                           live: Planner.PlanTicks, Ticker.Tick
//	how many requests the provider allows                 tables: FixturesBudget
//	when the provider's answer is stale                   live: countStale; the alarm matches-stale
//	which part of a broken answer is used                 sportmonks: Split
//	how a score is made from the provider's fixture       score/scorer: Read
//	when a result counts                                  score/scorer: Final; live: Finisher.FinishMatch
//	what a lock screen shows                              score: State.For
//	when a lock screen is pushed, and at which priority   activity: Pusher.PushActivities; score: State.KeyEvent
//	which messages wait for which                         activity: Pusher.PushParts; tables: ActivityQueue, PartQueue
//	what an Android phone is sent, and how often          topic: Pusher.PushTopics; follower: ReadPhones
//	when a broadcast channel is opened and closed         activity: Channels.Open, Pusher.SweepChannels
//	what a scorecard shows, and when rows and balls differ  card: Of
//	which events are worth an alert, and their keys       score/event: List
//	what an alert says, in which language                 words; alert: Alert
//	when an event is certain enough for an alert          live: ledger
//	which alerts a user gets, and when                    follower: Preferences.Allows; alert: Alerter.SendAlert
//	when the toss is found                                alert: TossDetector.DetectToss
//	when a user is reminded of a match                    alert: Reminder.RemindPrematch
//	what happens when a match is moved                    alert: Moved; schedule: Syncer.SyncFixtures
//	when a match is archived, and when it ends            live: Ticker.Tick, Finisher.FinishMatch
//	when an end is withdrawn                              live: Finisher.FinishMatch, reviewAfter
//	what administrators may do with an end                live: Office.ReopenMatch, Office.CorrectResult
//	which match replaces one that was called off          schedule: replacement; follower: CarryFollows
//	when a Live Activity starts, and is renewed           live: ledger; alert: Alerter.SendAlert; follower: Preferences
//	which matches are in play, and on which days          match: SummaryRow, ListMatches
//	what an inactive league stops                         catalog
//	what the table of a league has                        catalog: SyncStandings
//	what administrators own, and the sync keeps           catalog
//	how many matches a user may follow, and for how long  follower: FollowMatch; match: KeepFollow
//	which matches a user follows                          follower: ListFollows
//	how a user follows a team or a league                 follower: PutSubscription
//	who gets the alerts of a match                        follower: ReadAudience
//	what replaces a user's preferences for a match        follower: Overrides
//	which followed matches are on the home screen         home: GetHome; follower: ReadStarts
//	how teams, leagues and matches are found              match: Search; catalog: Words
//	when a player is known, and when a match is listed    player; live: ingester.store, Finisher.end
//	to whom a phone belongs, and how many a user has      follower: RegisterDevice
//	what happens to an unregistered token                 activity: Pusher.RemoveUnregistered; alert: Alerter.SendAlert
//	what happens when a user deletes the account          userdata: ForgetUser
//	which keys and access patterns exist                  tables, and the list below
//
// Imports go one way: sportmonks, words <- score <- score/tally <- score/scorer, score/event <- catalog;
// score/tally <- card <- player;
// tables <- catalog <- player <- match <- follower <- activity <- home, alert, topic <- live <- schedule <- userdata <-
// cricket.
//
// # Tables
//
//	table, key                      contents
//	cricket-fixtures                a match: teams, start, status; lastSlot and bodySum of the last poll;
//	  matchId                       leaseHolder while a worker processes it; titles that administrators
//	                                have set for its teams
//	cricket-teams                   a team; title, shortName and color belong to the administrators
//	  teamId
//	cricket-team-seasons            a team that plays in a season
//	  seasonId, teamId
//	cricket-leagues                 a league; active, title and priority belong to the administrators
//	  leagueId
//	cricket-standings               the table of a season, as the provider has it
//	  seasonId
//	cricket-devices                 a user's phone: up to ten
//	  userId, deviceToken
//	  userId, ~                     counts the registrations of a user and serialises them
//	  #TOKEN#{token}, ~             the owner of a token
//	cricket-match-follows           a user who follows a match, or has excepted it from a subscription
//	  matchId, userId
//	  #USER#{userId}, #FOLLOWS      the list of the matches that a user follows
//	  #USER#{userId}, {start}/{id}  a match that a user follows, in the order of the starts
//	cricket-activity-subscriptions  a Live Activity with a push token; whether its phone allows frequent
//	  matchId, pushToken            updates
//	  #USER#{userId}, matchId       the list of a user's activities of a match
//	cricket-channels                the broadcast channel of a match and perspective; its listeners are not
//	  matchId, view                 stored
//	cricket-prematch-notifications
//	  {matchId}#{userId}, userId    a claimed reminder
//	  {matchId}#{userId}, #START#…  the claim of the start of an activity, or that a user who does not
//	                                follow the match has one
//	  matchId, #MATCH               the reminder of the match was sent
//	cricket-locks
//	  alert:…, sync-fixtures        a lease
//	  tick                          the last claimed slot
//	  budget:fixtures               the number of requests of the provider
//	  phones:{matchId}              about how many Android phones follow a match
//	cricket-state-hashes            what was sent of a match: the hash of the display of each perspective,
//	  matchId                       and the ledger of events
//	DisplayStateCache               the current display
//	  DISPLAY#{matchId}#{teamId}
//	cricket-fixture-cache           the score in full
//	  matchId
//	  {matchId}#names               the names of teams and league
//	cricket-subscriptions           a user who follows a team or a league, with preferences for its matches
//	  {kind}/{id}, userId
//	  #USER#{userId}, #SUBSCRIPTIONS  the list of a user's subscriptions
//	cricket-summaries               a match as lists show it: names, start, score; by index those in play,
//	  matchId                       of a day, of a league and of a team
//	cricket-players                 a player, as scorecards have had him
//	  playerId, #
//	  playerId, {start}/{matchId}   what the player did in an ended match
//	  #/{letter}, {word}/{playerId}  a word in the name of a player
//	cricket-search                  a word in the names of a team or a league
//	  {kind}/{letter}, {word}/{id}
//	  #, #                          the checksum of all words
//	cricket-preferences             which alerts a user wants, and when
//	  userId
//	cricket-alerts                  how far an alert was sent, by its key and range of followers
//	  matchId, part
//	cricket-cards                   the scorecard, compressed: players, venue and officials
//	  matchId, match
//	  matchId, S1                   an innings
//	match-processing-state          the list of the chunks of balls and of the parts of the scorecard
//	  matchId
//	  {matchId}#S1#00               five overs of balls
//
// # What differs from the seed
//
// The seed is the list of 57 access patterns on 13 tables that the room was built from.
// The test of this package contains it. Every pattern exists, with these differences:
//
// Two routes name what they delete, by an id that is a hash of its token: DELETE /user/device/{deviceId}, in the
// seed /user/device, and DELETE /user/activity/{matchId}/{activityId}, in the seed /user/activity/{matchId}. A user
// who has two activities of a match, or whose phone has a new token, deletes the right one. The lists of GET /teams
// and GET /seasons/{id}/teams are paged. GET /matches needs a league, ids, live or a
// date.
//
// The seed does not have these routes: GET /matches/{id}/balls and /matches/{id}/scorecard, POST /matches/{id}/reopen,
// PUT /matches/{id}/result, GET /teams/{id}/matches, /leagues/{id}/matches, /leagues/{id}/standings,
// /players/{id} and /search, GET /user/home, /user/activities,
// /user/devices and /user/follows, those of /user/subscriptions, GET and PUT /user/preferences. It names no path for the deletion of a
// league and for the list of a league's fixtures: here DELETE /leagues/{id} and GET /admin/matches.
//
// cricket-team-seasons has the teams of a season, by code and name, without the per-season stats that the seed names:
// it has no pattern that reads any, and the schedule of the provider has none.
//
// A follow expires 45 days after the latest possible end of the match (match.KeepFollow), not
// 48 h after its start. The end of a match removes its follows 48 h later, so the expiry only tidies up. A
// match that is postponed by weeks keeps its followers, and a Test match lasts five days.
//
// A display is kept for 7 days after its last write (match.KeepShown). In the seed it expires,
// and the next request rebuilds it. Here the ticker and the sync replace it when it changes.
//
// The cache of a live match has no shorter TTL: a score is valid until a newer one replaces it.
// Scores are kept for 30 days, results, scorecards and balls for good (package match).
//
// The cache holds the score (score.State) with the players at the crease and the last wicket, not
// the provider's fixture. Lineups and full scorecards are in a table of their own, cricket-cards,
// which a poll does not read.
//
// A user has up to ten phones, not one. Each gets the alerts; an activity is started on the one that was
// used last.
//
// Active leagues are not cached. Each run of a job reads them: 30 leagues cost a few read units,
// and a league that is deactivated is left out from the next run.
//
// lastProcessedBall is not stored: each payload replaces all balls, so no run resumes. "Get" and
// "Set last processed ball ID" read and write the list of chunks.
//
// A timeline reads its chunks by key. In the seed a service hydrates its cache on boot; Lambda
// has no boot, and no scan is needed.
//
// The lock of a match is in the match's row, not in cricket-locks. That row is written anyway
// when the lock is taken and when it is released. This saves two calls for each change, and two
// round trips before the push.
//
// One row of a match has the hash of each perspective and the ledger of sent events, where the
// seed has a row for each match and team. This needs one call, not four. A new process reads it
// in one call with the score and the balls.
//
// All displays of a match that changed are put in one transaction. This needs one call, not
// three, for three more write units.
//
// A user's subscriptions are found by a list under the user's key, not by a query of the match,
// so the cost does not grow with the audience.
//
// The claim of a reminder has a partition of its own, {matchId}#{userId}, because one partition
// takes 1,000 writes a second.
//
// Summaries (cricket-summaries) are not in the seed, whose lists read the fixture, the score and
// the names of each match: half a read unit for each. A list of summaries is one query.
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
// the page was requested. No end is final at once: for 48 h the provider's page may
// withdraw it (package live). finishedAt is set when everything that follows is done.
package cricket
