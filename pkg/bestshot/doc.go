// Package bestshot is Best Shot: members guess the scores of football matches until the kick-off,
// results become points, and points add up to the leaderboard of a tournament and to the tables of
// private leagues. This package lists the room's functions. The packages below it implement them.
//
// # Where to find a rule
//
//	who plays, and under which name                       member: CreateMember, UpdateMember
//	until when a score can be guessed                     guess: PutGuess
//	what becomes of the guesses of a whole round          guess: PutGuesses
//	when play began, and which guesses count              ingest: matchRow.play; counted in the migrations
//	which match has a joker, and counts more              guess: PutJoker; counted_joker in the migrations
//	until when questions of a tournament are answered     question: PutAnswer; questions_locked in the migrations
//	which answers earn points, and when                   question: Admin.DecideQuestion, Worker.SettleQuestion
//	who sees a guess, and when                            guess: ListMatchGuesses, ListLeagueGuesses
//	what a guess earns                                    guess_points in the migrations; SettleRange in settlement.sql
//	what each part of a guess has earned                  score: Rule.Of; guess: Guess
//	which rule a tournament has                           ingest: CreateTournament, UpdateTournament
//	which rules have a name                               score: Named
//	what the points of a round are multiplied by          ingest: UpdateRound
//	how a match is settled, and why only once             settlement: Worker.SettleMatch
//	how a result is corrected, or a match made void       settlement: Admin.CorrectMatch
//	how a kick-off is set by hand, and what it changes    settlement: Admin.CorrectMatch; ingest: matchRow.play
//	how a tournament is run without a provider            ingest: CreateTournament, CreateMatch
//	what happens to a match that cannot be settled        settlement: Admin.KeepDeadLetter, ReplayDeadLetter
//	how a wrong leaderboard is repaired                   settlement: Admin.HydrateScoreboard
//	when a message that cannot be settled is closed       settlement: Worker.SettleMatch; Admin.CloseDeadLetter
//	when the provider is asked, and for what              ingest: Planner.PlanPolls
//	when a request to the provider is done                ingest: Admin.SyncTournament
//	what is left of a deleted tournament, and how long    ingest: Admin.DeleteTournament, Deleter.FinishDeletion
//	which parts of an answer are stored                   ingest: Ingester.IngestFeed
//	what a provider must answer                           provider
//	which ids tournaments and matches have                ingest: ListAllTournaments, ListAllMatches
//	which provider a tournament has                       ingest: CreateTournament; provider: Settings
//	what a status of a provider means                     provider: Sofascore, APIFootball
//	what happens when a provider's budget is used up      ingest: Poller.PollProvider
//	how ranks and movements are counted                   count_scores in the migrations; view: Views.Leaderboard
//	how ties are broken                                   score: Rule; guess_tie in the migrations
//	what the score of a match in play is                  ingest: fixture.live; view: Live
//	what provisional points are                           guess: GetLiveScore; view: ListLiveLeagueTable
//	what the cache has, and for how long                  view; kit/redis
//	how a league is joined, and who administers it        league: JoinLeague, Leave, HandOver
//	which tables a league keeps after a tournament        league: ListHistory; league_history in the migrations
//	how a member is removed from a league                 league: RemoveMember, RenewCode
//	which images are accepted, and how they are named     asset: Name
//	who is reminded, and told of points, and when         notice: Reminders.Remind
//	what happens when a user deletes the account          userdata: ForgetUser
//	which tables, roles and grants exist                  tables/migrations, and the list below
//	when the migrations run                               schema
//
// The SQL of a package is in the .sql file beside it. See pg.MustParse.
//
// Imports go one way: health, tables, score, provider <- schema, asset, view <- member <-
// guess <- tournament, league, settlement <- question <- ingest, notice, userdata <- bestshot. The message of a
// queue is a type of the package that receives it.
//
// # Tables
//
// PostgreSQL is the truth. The migrations in tables/migrations create:
//
//	member                 a user who plays, by the subject of the user's tokens
//	forgotten              a user who has deleted the account
//	tournament             a season of a provider, with the versions of its projections
//	rule                   what the parts of a guess earn; a row never changes, and another rule has the next version
//	tournament_round       a round with its multiplier, and the version of its matches
//	team                   a team of a provider
//	match                  a match with its result, and the version of its latest settlement
//	guess                  the guess of a member for a match; at most one
//	joker                  the match of a round whose points count more for a member, and those that had it before
//	question               a question of a tournament, with the decision about it, and how far that is applied
//	question_answer        the answer of a member, and those before
//	question_ledger        what a decision gave a member: the difference to the decisions before
//	tournament_standing    the place of a team in the provider's standings
//	settlement             a result by which a match was settled, under a unique key
//	settling               a settlement that goes on, with the last member that it has dealt with
//	scoreboard_ledger      what a settlement gave a member: the difference to the settlements before
//	tournament_scoreboard  the points of a member in a tournament: the sum of both ledgers
//	scoreboard_points      how many members of a tournament have which score
//	scoreboard_before      how many had which score before the current round
//	round_score            the points of a member in a round
//	outbox                 messages that are to be sent to the queue of settlements
//	repair                 a repair of a leaderboard that goes on with the next request
//	settlement_dlq         messages that could not be settled
//	execution              a request of an administrator to the provider
//	league                 a private league, with its code
//	league_role            a membership
//	league_tournament      a tournament that a league follows
//	league_finished        a tournament that ended while a league followed it, and that it does not follow now
//	league_left            a membership that has ended, and that final tables show
//	reminder               when a member was last reminded of a match, for each kind of reminder
//	reminder_pass          how far the reminders of a match have come, for each kind
//	points_pass            how far members are told of the points of a tournament; match.telling has of which matches
//	wrong_code             a wrong code of a league that a member has tried
//
// Functions log in as one of six roles, which have grants in the migrations: bestshot_reader reads,
// bestshot_player writes what belongs to a member, bestshot_settler writes points, bestshot_notifier writes who is
// told, bestshot_keeper deletes members and tournaments, and bestshot_worker writes what providers answer and
// administrators enter. Policies hide what is being deleted from all of them.
//
// The cache has projections: copies that members read, with the keys of package view. They may be
// lost at any time. The DynamoDB table bestshot-devices has the phones, because the function that
// sends reminders runs outside the VPC. The bucket bestshot-assets has badges and logos.
//
// # Points
//
// The SQL function guess_points computes the points of a guess. Settlements call it, in the statement
// SettleRange. score.Rule.Of is the same rule in Go: it computes the breakdown of a guess that members
// read. TestPointsOfTheDatabase compares the two.
//
// Leaderboards cost the same for any number of members. A page is a range of the index
// scoreboard_board. A dense rank is one more than the number of rows of scoreboard_points with a higher
// score: triggers keep that table and scoreboard_before, in the statements that change points.
//
// The points of a tournament change without code: PATCH /api/v2/admin/tournaments/ID with
// {"rule":{"name":"kicktipp"}}, or with all five parts,
// {"rule":{"outcome":3,"homeScore":1,"awayScore":1,"goalDifference":1,"exactScore":2}}. Its settled
// matches are settled again. The names are in package score. A new tournament whose request has no rule
// gets score.Standard, 3 points for the outcome, as the released API promises; a rule whose exact score
// earns more than its outcome has to be chosen. Another way to earn points needs a migration that
// replaces guess_points, and the same change of score.Rule.Of.
//
// # By hand
//
// A tournament with the provider "manual" is never polled. An administrator creates it with its rounds,
// enters matches, and gives them results, other kick-offs or none with the operation that corrects matches of
// other tournaments. Who has changed a match last is in match.corrected_by, and each settlement keeps who has
// entered what it settles.
//
// What an administrator sets is not changed by the provider until it is undone. A kick-off that was set takes
// the place of the provider's kick-off and first half. A sign of play before it still closes the match.
//
// # Guarantees
//
// No guess is late: the statement that writes a guess stores nothing from the kick-off, or the first
// sign of play, on, by the clock of the database. If play turns out to have begun before, a guess counts
// as it was stored before that. A kick-off that is corrected later settles the match again.
//
// No member sees another's guess before the kick-off: the statement that reads the guesses of a
// match returns none until then. A match that gets a later kick-off hides them again.
//
// No points are applied twice. A match is settled in ranges of members. Each is a transaction, under
// the lock of the tournament, that also stores how far the settlement has come. The last one writes a
// unique key. A message that comes twice finds the match settled.
//
// The ledger of a match always sums to what its guesses earn by its latest settlement.
// Corrections, void matches, other rules and other multipliers are settlements with the next
// version.
//
// No result is lost while the database, the cache or a queue fails. The result and its message are
// written in one transaction. Every plan sends the messages that are left, and posts the matches that
// were not settled.
//
// A deleted tournament is hidden with the answer, and nothing of it stays: its copies in the cache are removed,
// and then its rows, in short transactions. The table of a league may have its points for 30 seconds more.
//
// Only a newer copy replaces a copy in the cache. While the cache does not answer, members read
// PostgreSQL.
//
// A deleted user writes nothing. Nothing of the user stays but the row in forgotten.
package bestshot
