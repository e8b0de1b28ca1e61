// Package bestshot is Best Shot: members guess the scores of football matches until the
// kick-off, results become points, and points add up to the leaderboard of a tournament and to
// the tables of private leagues. This package lists the room's functions; the packages below it
// implement them.
//
// # Where to find a rule
//
//	who plays, and under which name                       member: CreateMember, UpdateMember
//	until when a score can be guessed                     guess: PutGuess
//	who sees a guess, and when                            guess: ListMatchGuesses
//	what a guess earns                                    guess_points in the migrations; settlement: Ledger
//	which part of a guess has earned what                 score: Rule.Of; guess: Guess
//	which rule a tournament has                           ingest: CreateTournament, UpdateTournament
//	what a round multiplies points by                     ingest: UpdateRound
//	how a match is settled, and why only once             settlement: Worker.SettleMatch
//	how a result is corrected, or a match made void       settlement: Office.CorrectMatch
//	what becomes of a match that cannot be settled        settlement: Office.KeepLetter, ReplayLetter
//	what repairs a leaderboard                            settlement: Office.HydrateScoreboard
//	when the provider is asked, and for what              ingest: Planner.PlanPolls
//	what of an answer is believed                         ingest: Ingester.IngestFeed
//	what a provider must answer                           provider
//	how ranks and movements are counted                   score: Ranks; view: Views.Leaderboard
//	what the cache has, and for how long                  view; kit/redis
//	how a league is joined, and who administers it        league: JoinLeague, LeaveLeague
//	which images are accepted, and how they are named     asset: Name
//	who is reminded, and when                             notice: Reminders.Remind
//	what happens when a user deletes the account          userdata: ForgetUser
//	which tables, roles and grants exist                  tables/migrations, and the list below
//	when the migrations run                               schema
//
// Imports go one way: health, tables, score, provider <- schema, asset, view <- member <-
// tournament, guess, league, settlement <- ingest, notice, userdata <- bestshot. The message of a queue is a
// type of the package that receives it.
//
// # Tables
//
// PostgreSQL is the truth. tables/migrations/00001_create.sql creates:
//
//	member                 a user who plays, by the subject of the user's tokens
//	forgotten              a user who has deleted the account
//	tournament             a season of the provider, with the versions of its projections
//	rule                   what the parts of a guess earn; never changed, another rule has the next version
//	tournament_round       a round with its multiplier, and the version of its matches
//	team                   a team of the provider
//	match                  a match with its result, and the version that it was settled with
//	guess                  the guess of a member of a match; at most one
//	tournament_standing    the place of a team in the provider's standings
//	settlement             a result with which a match was settled, under a unique key
//	scoreboard_ledger      what a settlement gave a member: the difference to those before
//	tournament_scoreboard  the points of a member in a tournament: the sum of the ledger
//	round_score            the points of a member in a round
//	outbox                 messages of the queue of settlements that are to be sent
//	settlement_dlq         messages that could not be settled
//	execution              what an administrator has asked the provider for
//	league                 a private league, with its code
//	league_role            a membership
//	league_tournament      a tournament that a league follows
//	reminder               when a member was last reminded of a match, for each kind of reminder
//	wrong_code             a wrong code of a league that a member has tried
//
// Functions log in as one of three roles, which have grants in the migrations: bestshot_reader
// reads, bestshot_player writes what belongs to a member, bestshot_worker writes all.
//
// The cache has projections: copies that members read, with the keys of package view. All of it
// may vanish. The DynamoDB table bestshot-devices has the phones, because the function that sends
// reminders runs outside the VPC. The bucket bestshot-assets has badges and logos.
//
// # Points
//
// The SQL function guess_points computes the points. Settlements use it, in settlement.Ledger.
// score.Rule.Of is the same rule in Go: it computes the breakdown of a guess that members read.
// TestPointsOfTheDatabase compares the two.
//
// The points of a tournament change without code: PATCH /api/v2/admin/tournaments/ID with
// {"rule":{"outcome":3,"homeScore":1,"awayScore":1,"goalDifference":1,"exactScore":2}}, always all
// five parts. Its settled matches are settled again. A new tournament whose request has no rule
// gets score.Standard. Another way to earn points needs a migration that replaces guess_points,
// and the same change of score.Rule.Of.
//
// # Guarantees
//
// No guess is late: the statement that writes a guess stores nothing from the kick-off on, by
// the clock of the database.
//
// No member sees another's guess before the kick-off: the statement that reads the guesses of a
// match returns none until then. A match that gets a later kick-off hides them again.
//
// No points are applied twice. A match is settled in one transaction, under the lock of its
// tournament and a unique key. A message that comes twice finds the match settled.
//
// The ledger of a match always sums to what its guesses earn by its latest settlement.
// Corrections, void matches, other rules and other multipliers are settlements with the next
// version.
//
// No result is lost while the database, the cache or a queue fails. The result and its message are
// written in one transaction, and every plan sends what was not sent and posts what was not settled.
//
// A copy in the cache is replaced by a newer one only. While the cache does not answer, members
// read PostgreSQL.
//
// A deleted user writes nothing, and nothing of the user stays but the row in forgotten.
package bestshot
