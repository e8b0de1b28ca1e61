// Package threefc is three-team football: leagues, seasons and games of three thirds, which a
// scorekeeper scores live on a phone and everybody can follow. This package lists the room's
// functions; the packages below it implement them.
//
// # Where to find a rule
//
//	who wins, and what a goal counts                      item: ResultOf, Scores
//	which fields a goal needs                             game: GoalFields.goal
//	who may record and correct it when                    game: mayScore
//	what a goal without a scorer is, and who names it     game: GoalFields.names
//	what becomes of a goal that comes too late            game: isLate, AcceptProposal
//	why no goal is counted twice                          game; kit/idem
//	what undo deletes                                     game: UndoGoal
//	how a game runs: thirds, finish, reopen               game: StartThird, FinishGame
//	games that are postponed, abandoned or walkovers      game: PutState; item: Game.Outcome
//	a team that is missing: games of two teams            game: UpdateGame; item: Game.Present
//	who may undo a start or a finish of a third           game: UndoThird
//	the order of the standings and of the players         standing: the package, Teams, Players
//	the points and the order that a season chooses        item: Rules; season: UpdateSeason
//	which games count in which table                      standing: the package
//	when the tables are computed                          standing: AggregateSeason
//	who may do what                                       item: Check, Role
//	who sees a league                                     item: League.ForMembers, Conceal; public: MemberPages
//	who scores by the PIN of a session, and what          score: EnterPIN; item: Guest; game: OpenScoring
//	how a user signs in                                   signin
//	how a user becomes a member                           league: Invite, Accept
//	players: claims, guardians, merges, join codes        player
//	who will play, and who gets which mail                notice
//	squads, and line-ups of many players at once          season: PutSquad; game: PutLineUp
//	how a session or a game moves, and who hears of it    season: MoveSession; game: UpdateGame; item: Moved
//	sessions and games of many weeks, teams in rotation   plan: PlanSeason, Rotate
//	what everybody may see                                public
//	what everybody sees in place of a name                item: Display.PublicName
//	the page of scorekeepers, and what waits on a phone   score
//	the pages of who runs a league, and their forms       organise
//	addresses, signed links, layout and style of pages    web
//	what happens when a user deletes the account          userdata: ForgetUser
//	how a name or a league is taken down                  takedown: TakeDown
//	how a page is reported, and who removes a name        report: SubmitReport, Operate
//	how a league is deleted, and restored for a day       league: EndLeague, RestoreLeague, DropLeagues
//	where the tallies of a game's players are             item: GameTallies, and "Tallies of players" below
//	which keys and access patterns exist                  tables, and the list below
//
// Imports go one way: tables <- item <- web <- signin <- league <- game <- season <- player, standing,
// plan <- score, public, notice, profile, userdata, takedown <- report, organise <- threefc.
//
// # Items
//
// Each item has pk, sk, entityType, createdAt, updatedAt and data, a JSON text; rev, by which
// every change is conditional; a game also has status; an item that expires has ttlEpoch.
//
//	pk                    sk                          what it is
//	LEAGUE#{leagueId}     METADATA                    a league
//	LEAGUE#{leagueId}     ACL#USER#{userId}           the role of a member
//	LEAGUE#{leagueId}     ENDING                      a league that was deleted with its seasons, until it is restored or dropped
//	LEAGUE#{leagueId}     ENDING#ACL#USER#{userId}    the role of a member in it
//	LEAGUE#{leagueId}     INVITE#{hash}               an invitation of an address that is not accepted, for 14 days
//	LEAGUE#{leagueId}     SEASON#{seasonId}           a season
//	LEAGUE#{leagueId}     SLUG#{slug}                 leads to a season
//	LEAGUE#{leagueId}     PLAYER#{playerId}           a player
//	LEAGUE#{leagueId}     REMOVAL#{playerId}          the request to remove a player's name, for 30 days once it is decided
//	LEAGUE#{leagueId}     REPORTED                    how much of the league was reported in a day
//	SEASON#{seasonId}     METADATA                    the season again
//	SEASON#{seasonId}     TEAM#{teamId}               a team
//	SEASON#{seasonId}     SQUAD#{teamId}              who usually plays for a team
//	SEASON#{seasonId}     SESSION#{sessionId}         a session
//	SEASON#{seasonId}     GAME#{startTs}#{gameId}     a game in the list
//	SEASON#{seasonId}     GAME#~{gameId}              what the players of a finished game did: the tables read it, lists do not
//	SEASON#{seasonId}     PLAN#{id}                   a plan of sessions and games that is being made, for a day
//	SEASON#{seasonId}     CANCELLED#{gameId}          a game that was deleted, for calendars, for 30 days
//	SEASON#{seasonId}     SLUG#{slug}                 leads to a game
//	SEASON#{seasonId}     STANDING#{teamId}           the place of a team
//	SEASON#{seasonId}     PLAYERSTAT#{playerId}       what a player has done
//	SEASON#{seasonId}     LEADERS                     the 100 best of them
//	SESSION#{sessionId}   METADATA                    the session again
//	SESSION#{sessionId}   PIN                         the PIN by which guests score, until the day after the session
//	SESSION#{sessionId}   PIN_GUESSES                 how many wrong PINs were sent in an hour
//	SESSION#{sessionId}   AVAIL#{playerId}            whether a player will play
//	SESSION#{sessionId}   GAME#{startTs}#{gameId}     the game in the list
//	GAME#{gameId}         METADATA                    a game with its score
//	GAME#{gameId}         GOAL#{third}#{minute}#{id}  a goal; the minute has four digits
//	GAME#{gameId}         PROPOSAL#{id}               a goal that came after its third was finished
//	GAME#{gameId}         REMOVED#{id}                a goal that was deleted: it does not come back, for 30 days
//	GAME#{gameId}         ROSTER#{teamId}#{playerId}  a player of a team
//	GAME#{gameId}         POOL#{playerId}             a player who has joined by a code
//	GAME#{gameId}         AUDIT#{time}#{id}           a correction
//	PLAYER#{playerId}     PROFILE                     the player again
//	PLAYER#{playerId}     STAT#{seasonId}             what the player has done in a season
//	USER#{userId}         LEAGUE#{leagueId}           the role of the user again
//	USER#{userId}         PLAYER#{playerId}           a player whom the user has claimed
//	USER#{userId}         METADATA                    changes with each league and each claim of the user
//	USER#{userId}         IDEMPOTENCY#{id}            the answer to a request, for a day
//	USER#{userId}         AUTH_SESSION#{id}           a session of the user
//	USER#{userId}         PREFERENCES                 which mails the user gets
//	USER#{userId}         INVITATIONS                 how many mails with invitations the user has sent in a day
//	USER#{userId}         WRONG_CLAIMS                how many claims of the user were refused in an hour
//	USER#{userId}         MAIL#{id}                   the user was mailed about a game, a session or a move, for 90 days
//	DAY#{date}            SESSION#{sessionId}         a session of a day
//	SLUG#{slug}           METADATA                    leads to a league
//	JOIN#{code}           METADATA                    leads to a game, for a day
//	GUEST#{id}            METADATA                    a phone that scores by a PIN, by the SHA-256 of its token
//	REPORTS               REPORT#{reportId}           what somebody has reported, for 90 days
//	REMOVALS              {askedAt}#{playerId}        a request to remove a name that is open
//	REPORTER#{hash}       METADATA                    how much a caller has reported of a league in a day
//	PIN_GUESS#{hash}      METADATA                    how many wrong PINs an address has sent in an hour
//	JOIN_GUESS#{hash}     METADATA                    how many wrong codes an address has sent in an hour
//	JOINS#{hash}          METADATA                    how many new players of a league have joined from an address in a day
//	ENDING                LEAGUE#{leagueId}           a league that is to be dropped
//	OUTBOX                GAME#{gameId}               a finished game that is not in the tables yet
//	OUTBOX                GAME#{seasonId}             a season with other rules, whose tables are not computed yet
//	OUTBOX                PLAYER#{playerId}           a player with another name, whom the tables do not show so yet
//	AUTH_LINK#{id}        METADATA                    a link in a mail, for 15 minutes
//	AUTH_MAIL#{hash}      METADATA                    how many links an address got in an hour, in all and by one caller
//	AUTH_CALLER#{hash}    METADATA                    how many links a caller has asked for in an hour
//	INVITE_MAIL#{hash}    METADATA                    how many invitations an address got in a day, in all and by one user
//	AUTH_SESSION#{id}     METADATA                    a session, by the SHA-256 of its token
//
// # Tallies of players
//
// The tables need what the players of each finished game did, the lists of games do not. DynamoDB bills whole rows, so
// the tallies have a row of their own in the partition of the season. Its sort key comes after those of all games: the
// tables read both with one query of GAME#, and lists, which read games by their start, end before it. With 46 games of
// 15 players each the page of a season costs 8.5 read units in place of 13.5, its calendar 8.5 in place of 14, the
// games of a session 14 in place of 25, and the tables 55 in place of 53, once for each game that is finished or
// corrected: see TestListsReadNoTallies. The end of a game of 9 players costs 16 write units in place of 18, because
// before both lists had the tallies.
//
// Earlier releases have written the tallies into the listing, where they count until the next change of the game.
// Functions of such a release may run beside those of this one for as long as a gradual deployment takes, and after a
// roll back. They take the row of the tallies for one more game of its players and compute the same tables. The
// exception is a game that this release has finished and an earlier one then corrects or deletes: the earlier one counts
// its players twice, or still, until this release computes the tables, after the next game of the season that is
// finished or corrected. Goals, scores and the standings of the teams are right meanwhile.
//
// # Whose goals
//
// A scorekeeper records, edits and deletes the goals of the third that runs. An administrator
// does so for every third that has begun, also of a finished game. An administrator who
// reopens a finished game lets scorekeepers correct all its thirds until it is finished
// again. A caller who moves a goal needs the right for both thirds.
//
// A goal counts without a scorer: who scored may be unknown, or a guest, who is no player of the league and has
// no name here. A scorekeeper may name the scorer until the game is finished, also of a third that is over; an
// administrator at any time. Tables of players count a goal once its scorer is named.
//
// A goal that a scorekeeper's phone sends after another has finished the third becomes a proposal, if the phone
// asks for that. It counts for nothing until an administrator accepts it, once, or dismisses it; then it does
// not come back. The phone that has sent it may withdraw it.
//
// The latest start or finish of a third can be undone: by a scorekeeper for five minutes after it was
// recorded, by an administrator until the game is finished. A third with goals stays started. A live game is
// in no table, so that no table changes.
//
// A guest has no account. The PIN of a session, which an administrator makes, lets the guest do for the games
// of this session what a scorekeeper does with goals and thirds, and nothing else. The right ends with the
// PIN: the day after the session, or when it is revoked.
//
// # Private leagues
//
// A private league does not exist for strangers: each route answers as it answers to an id of nothing. Public
// routes answer so to members, too, because caches keep their answers by the path alone, and CloudFront sends no
// cookie on for them. Members have routes of their own, which no cache keeps: the pages below /members, the
// calendars below /calendars, and those of the API below /v1.
//
// # Games that are not played as planned
//
// A game that has not begun can be postponed: it is scheduled, without a new time until its start changes. If one
// team is missing, the game is marked and the other two play a game of two teams, by the same rules and for the
// same points; the missing team has lost. If nobody plays, it is a walkover: the only team that came has won, two
// that came have drawn, those that are missing have lost, and no goals count.
//
// A game that is abandoned is finished, and the third that runs with it. Either the result of its goals stands,
// or it has none and is in no table. An administrator who reopens a game ends its state.
//
// The API returns finished for each of these that is over, with the state beside it, so that apps that do not know
// a state show a game that is over.
//
// # Guarantees
//
// Items that are in two places are written in one transaction: a season, a session, a role, a player,
// a game and its places in the lists. So no job compares them; TestMirrorsAreEqual and
// TestAnswersKeepTheMirrors do so after each operation.
//
// No request overwrites a change that it has not read: each write is conditional on the revision
// that was read, and starts again otherwise.
//
// A request that is sent twice has one effect, and one answer.
//
// A GET changes nothing but the count of wrong codes and the end of the caller's own session, because
// programs that check mails follow links: a page asks, and the POST of its form acts. A signed link does one
// thing for one player or user, and expires.
//
// The score of a game is that of its goals, the tables of a season are those of its finished
// games. Neither is ever added up.
package threefc
