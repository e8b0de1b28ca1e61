// Package commitcollect is a collector of workouts: a user connects Strava, starts
// milestones, and sees the parts of a model minted as the metres add up. This package lists
// the room's functions; the packages below it implement them.
//
// # Where to find a rule
//
//	which workouts count, and why one does not            tally: Why, Count; milestone: ListVerdicts
//	when two recordings are the same workout              tally: isTwin
//	which sports and targets there are                    tally: Family, Target
//	when a part is earned                                 tally: Goal.Threshold
//	when an earned part is minted                         milestone: Settling
//	which workouts of a phone are believed                upload
//	what the two sources share, and what not              item: Source
//	how parts are minted, each once                       milestone: evaluate
//	why progress never falls                              milestone
//	what a pause does, and what else can change           milestone: UpdateMilestone
//	until when workouts count, and which milestones count item: Life
//	how a webhook becomes a workout                       workout: IngestEvent
//	what finds a workout whose webhook was lost           workout: Backfill, Reconcile
//	how many calls to Strava there are, and who waits     workout: Limits, EventReads and the other parts
//	how many calls to Strava a user may cause             workout: userEvents, userBackfills
//	how long a message waits for Strava                   strava: Wait; workout: Patience, SyncPatience
//	whom the sync of all users asks Strava for            workout: Sync
//	what happens when the application is inactive         workout: call; link: StravaInactive
//	what happens when Strava is revoked                   workout: revoke, Reconcile, PurgeWorkouts
//	who owns an athlete, and how tokens are kept          link
//	how an access ends at Strava                          link: Disconnect; workout: PurgeWorkouts
//	who calls: cookies, tokens, sign-in, sign-out         signin; kit/session, kit/bearer
//	for how long workouts are kept, and what replaces them workout; milestone; tally: Carried
//	which models exist, and who sees which                model
//	what a part looks like                                drawing
//	who sees the picture of a milestone, and until when   shelf; milestone: PutShare, EndShare
//	who is notified, and of what                          notice
//	what happens when a user deletes the account          userdata: ForgetUser
//	how a user gets all that is kept                      userdata: GetExport; ExportUser for the accounts room
//	what a user agrees to before connecting Strava        link: Consent, ConsentVersion
//	what proves that data was deleted                     trail: Prove, Receipt
//	what is written to the audit trail                    trail
//	which keys and access patterns exist                  tables, and the list below
//
// Imports go one way: tables, tally, strava, drawing <- item <- trail <- signin <- link <- workout <-
// upload, model <- milestone <- notice, shelf <- profile, userdata <- commitcollect. The message of a queue is
// a type of the package that receives it, except link.Backfill, link.Purge, workout.Changed and
// workout.Notice, whose receivers are above their senders.
//
// # Items
//
//	CommitCollect
//	PK                           SK                              what it is
//	USER#{userId}                PROFILE                         a user, with what the user has chosen
//	USER#{userId}                STRAVA#CONNECTION               the link to an athlete, with sealed tokens; the only item in GSI1
//	USER#{userId}                STRAVA#CALLS, STRAVA#EVENTS     the calls to Strava of the user's backfills and events in the present
//	                                                             windows
//	USER#{userId}                WORKOUT#STRAVA#{activityId}     a workout; a deleted one keeps its distance, and has isDeleted
//	USER#{userId}                LEDGER#2026-03                  what the rules need of all workouts of a month
//	USER#{userId}                PHONE#WORKOUT#{id}              a workout that a phone has uploaded; of a removed one the id, for 90 days
//	USER#{userId}                PHONE#LEDGER#2026-03            the ledger of these
//	USER#{userId}                PHONE#UPLOADS                   how many the user keeps, and has stored in a day
//	USER#{userId}                MILESTONE#{milestoneId}         a milestone
//	USER#{userId}                MILESTONE#{id}#AWARD#07         a part that was minted
//	USER#{userId}                EXPORT                          when the file of the user's export was made
//	USER#{userId}                LIST#MILESTONES, DEVICES        ids of the user's open milestones, tokens of the phones
//	STRAVA#ATHLETE#{athleteId}   OWNER                           who has connected the athlete
//	STRAVA#CONNECTED#{0-f}       USER#{userId}                   a connected user, for the sync of all users: the last fetches;
//	                                                             brokenAtUtc, if Strava refuses the tokens; suspectAtUtc, if an event
//	                                                             was given up
//	STRAVA#SUBSCRIPTION          META                            the subscription to webhooks
//	STRAVA#BUDGET                META                            the calls to Strava in the present windows, limits that Strava's answers
//	                                                             name, inactiveAtUtc, and lateSinceUtc, since when users wait too long
//	SHELF#{shareId}              META                            the milestone of a public picture, which names it in shareId
//	MODEL#{modelId}              META, PART#07                   a model and its parts
//	MODEL#INDEX                  MODEL#{modelId}                 a model in the list
//	DEVICE#{token}               DEVICE                          a phone
//
//	CommitCollectSessions
//	SESSION#{id}                 META                            a session, by the SHA-256 of its token; GSI_UserSessions: USER#{userId}
//	STATE#{SIGNIN or LINK}#{id}  META                            a sign-in or a link that has begun
//
//	CommitCollectAudit
//	USER#{userId}                AUDIT#{epoch}#{requestId}-{n}   an entry, of a minted part with {milestoneId}-{n}; GSI1:
//	                                                             CORR#{correlationId}, GSI2: EVENT#{type}#{yyyyMM}
//	USER#SYSTEM                  AUDIT#{epoch}#{receipt}         the proof of a deletion, of a day
//
//	CommitCollectIdempotency
//	STRAVA#EVT#{object}#{aspect}#{id}#{time}                     an event of Strava: IN_PROGRESS with a lease, RETRY, or DONE for 7 days
//
// # Guarantees
//
// No request reads a table as a whole, or more than 3,000 workouts: totals of all
// workouts are read from ledgers.
//
// Every workout counts once, whatever Strava sends: the newest event wins, and milestones
// are computed from what is stored, never added up.
//
// Every part is minted once: in one transaction with its milestone, under its version. It is minted when the
// workouts that earn it have been stored, and unchanged, for an hour.
//
// A webhook is a hint, and the API's answer is stored. Only a deletion is believed without an
// answer; a workout that was deleted by mistake comes back with the history.
//
// # Decisions
//
// Thresholds of parts are ceil(n*total/parts), not n*ceil(total/parts), by which the last
// part of 1,000 km would need 1,000,008 m.
//
// Tokens are sealed with AES-256-GCM of the standard library and named keys. Tink would add
// 5 MB to each binary.
//
// Workouts are kept as long as the connection. Where Strava's policy binds the operator, a setting
// keeps them for seven days: the sums of open milestones are then carried forward, and what is not
// kept is read from Strava on demand.
//
// Beyond 3,000 workouts only a recomputation is refused. The state of the connection and the
// latest workouts are read from ledgers.
//
// A disconnection, here or at Strava, deletes the workouts, because Strava's terms require it. Users
// could once choose to keep them: that has no effect any more, and workouts that are left without a
// connection are deleted when the user opens the app. Progress and parts stay. Connecting another
// athlete does the same; the activities of the new athlete are fetched a minute later, when the
// workouts of the first are deleted.
//
// An access is ended with the stored refresh token, so that no call to Strava must come first. If
// Strava does not end it, the user is disconnected all the same, and it is tried again for a week.
//
// A milestone has one source, because Strava's terms do not let its data be combined with others. What
// a phone uploads has rows and ledgers of its own, stays when Strava is disconnected, and counts as
// entered by hand. Of Strava's workouts two that overlap count both unless they are twins, as Strava has
// them; of a phone's one counts, because each app of the phone may record the same run.
//
// An earned part waits an hour, so that a run recorded in a car can be deleted. SQS delays a message for 15
// minutes, so that it is sent again up to four times: a schedule for each user would cost more, and
// would have to be deleted with the user.
//
// When Strava refuses the tokens, the user sees that the connection is broken, and must
// connect again. The webhook of a revocation may have been lost, so half a day after a fetch has found it the
// connection ends as if it had been revoked, within the 48 hours of Strava's terms. Then the
// user has no connection and no workouts. Connecting again fetches the history.
//
// The account is one for all apps: its deletion is that of package accounts, whose tombstone
// takes the place of an item of this room.
package commitcollect
