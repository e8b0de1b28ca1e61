// Package tables is the room's table, and every access pattern. The keys are listed in the
// description of package threefc.
package tables

import (
	"time"

	"matchday/pkg/spec"
)

// App holds all of the room.
var App = spec.Table{Name: "3fc-{stage}-app", Key: spec.Key{Partition: "pk", Sort: "sk"}, TTL: "ttlEpoch"}

// How often the access patterns happen.
var (
	perRequest = spec.Rate{Driver: spec.Request}
	perFeed    = spec.Rate{Driver: spec.Request, Note: "caches keep the answer for five minutes"}
	onUser     = spec.Rate{Driver: spec.UserAction}
	onSignIn   = spec.Rate{Driver: spec.UserAction, Note: "once a day"}
	rarely     = spec.Rate{Driver: spec.UserAction, Note: "a few times a season"}
	perGame    = spec.Rate{Driver: spec.UserAction, Note: "once a game"}
	perGoal    = spec.Rate{Driver: spec.UserAction, Note: "for each goal"}
	perFinish  = spec.Rate{Driver: spec.Message, Note: "for each game that is finished or corrected"}
	perMail    = spec.Rate{Driver: spec.Message, Note: "for each mail"}
	perErasure = spec.Rate{Driver: spec.Message, Note: "of a deletion or an export"}
	hourly     = spec.Every(time.Hour)
	perSweep   = spec.Every(5 * time.Minute)
)

// Sign-in, and answers that are kept for repeated requests.
var (
	PutLink = App.On("Put magic link",
		"pk=AUTH_LINK#{id}, sk=METADATA, absent; pk=AUTH_MAIL#{sha256 of the address, and with the caller}, AUTH_CALLER#{sha256 of the "+
			"caller's address}, sk=METADATA, by their revs, if fewer than 40, 5 and 30 links in an hour", onSignIn, spec.GetItem, spec.PutItem)
	TakeLink = App.On("Take magic link", "pk=AUTH_LINK#{id}, sk=METADATA, unused, not expired, with the hash of its secret",
		onSignIn, spec.GetItem, spec.PutItem)
	CreateLogin = App.On("Create login", "pk=AUTH_SESSION#{id}, sk=METADATA; pk=USER#{userId}, sk=AUTH_SESSION#{id}",
		onSignIn, spec.PutItem)
	ResolveSession = App.On("Resolve login", "pk=AUTH_SESSION#{id}, sk=METADATA", perRequest, spec.GetItem)
	RenewLogin     = App.On("Renew login", "pk=AUTH_SESSION#{id}, sk=METADATA, by its rev, and its copy pk=USER#{userId}, "+
		"sk=AUTH_SESSION#{id}", onSignIn, spec.PutItem)
	DropLogin  = App.On("Drop login", "pk=AUTH_SESSION#{id}, sk=METADATA", onSignIn, spec.DeleteItem)
	FindAnswer = App.On("Find answer", "pk=USER#{userId}, sk=IDEMPOTENCY#{id}", onUser, spec.GetItem)
)

// Leagues, and who may do what in them.
var (
	CreateLeague = App.On("Create league",
		"pk=LEAGUE#{leagueId}, sk=METADATA and ACL#USER#{userId}, pk=USER#{userId}, sk=LEAGUE#{leagueId} and METADATA, pk=SLUG#{slug}, "+
			"sk=METADATA; absent", rarely, spec.GetItem, spec.PutItem)
	GetLeague  = App.On("Get league", "pk=LEAGUE#{leagueId}, sk=METADATA", perRequest, spec.GetItem)
	SaveLeague = App.On("Save league", "pk=LEAGUE#{leagueId}, sk=METADATA, by its rev; pk=SLUG#{slug}", rarely,
		spec.PutItem, spec.DeleteItem)
	DropLeague = App.On("Drop league", "pk=LEAGUE#{leagueId}, SEASON#{seasonId}, SESSION#{sessionId} and GAME#{gameId} of a league "+
		"that is deleted, with the copies of its roles, players and sessions (batches of 25)", rarely,
		spec.Query, spec.DeleteItem, spec.BatchWriteItem)
	EndLeague = App.On("End league", "pk=LEAGUE#{leagueId}, sk=METADATA and ENDING, by their revs, with pk=ENDING, sk=LEAGUE#{leagueId}; "+
		"sk begins with ACL#USER# or ENDING#ACL#USER#", rarely, spec.GetItem, spec.Query, spec.PutItem, spec.DeleteItem)
	MoveGrants = App.On("Move grants of a league that ends", "pk=LEAGUE#{leagueId}, sk=ACL#USER#{userId} and ENDING#ACL#USER#{userId}, "+
		"the one in place of the other, if ENDING is as it was", rarely, spec.PutItem, spec.DeleteItem, spec.ConditionCheckItem)
	ListEnding = App.On("List leagues that end", "pk=ENDING", spec.Every(time.Hour), spec.Query)
	MyLeagues  = App.On("List a user's leagues",
		"pk=USER#{userId}, sk begins with LEAGUE#, then pk=LEAGUE#{leagueId}, sk=METADATA or ENDING (a batch)", perRequest, spec.Query,
		spec.BatchGetItem)
	GetGrant        = App.On("Get grant", "pk=LEAGUE#{leagueId}, sk=ACL#USER#{userId}", perRequest, spec.GetItem)
	ListGrants      = App.On("List grants", "pk=LEAGUE#{leagueId}, sk begins with ACL#USER#", perRequest, spec.Query)
	CountInvitation = App.On("Count invitations",
		"pk=INVITE_MAIL#{sha256 of the address, and with the user} and USER#{userId}, sk=METADATA and INVITATIONS, by their revs",
		rarely, spec.GetItem, spec.PutItem)
	ListInvitations = App.On("List invitations", "pk=LEAGUE#{leagueId}, sk begins with INVITE#", rarely, spec.Query)
	SaveInvitation  = App.On("Save invitation", "pk=LEAGUE#{leagueId}, sk=INVITE#{sha256 of the address}", rarely, spec.PutItem)
	FindInvitation  = App.On("Find invitation", "pk=LEAGUE#{leagueId}, sk=INVITE#{sha256 of the address}", rarely, spec.GetItem)
	TakeInvitation  = App.On("Take invitation", "pk=LEAGUE#{leagueId}, sk=INVITE#{sha256 of the address}, by its rev", rarely,
		spec.GetItem, spec.DeleteItem)
	SaveGrant = App.On("Save grant", "pk=LEAGUE#{leagueId}, sk=ACL#USER#{userId}, with the league, by its rev; pk=USER#{userId}, "+
		"sk=LEAGUE#{leagueId}; of a member who is removed pk=LEAGUE#{leagueId}, sk=INVITE#{sha256 of the address}, and of each claim "+
		"pk=USER#{userId}, sk=PLAYER#{playerId}, and the player, by its rev", rarely, spec.GetItem, spec.PutItem, spec.DeleteItem)
)

// Seasons, teams and sessions.
var (
	CreateSeason = App.On("Create season", "pk=LEAGUE#{leagueId}, sk=SEASON#{seasonId} and SLUG#{slug}, pk=SEASON#{seasonId}, "+
		"sk=METADATA; absent; pk=LEAGUE#{leagueId}, sk=METADATA, by its rev", rarely, spec.PutItem)
	ListSeasons = App.On("List seasons", "pk=LEAGUE#{leagueId}, sk begins with SEASON#", perRequest, spec.Query)
	GetSeason   = App.On("Get season", "pk=SEASON#{seasonId}, sk=METADATA", perRequest, spec.GetItem)
	SaveSeason  = App.On("Save season", "pk=SEASON#{seasonId}, sk=METADATA, by its rev, and its mirror pk=LEAGUE#{leagueId}, "+
		"sk=SEASON#{seasonId}; with other rules pk=OUTBOX, sk=GAME#{seasonId}", rarely, spec.PutItem, spec.DeleteItem)
	DropSeason = App.On("Drop what is computed of a season",
		"pk=SEASON#{seasonId}, and pk=PLAYER#{playerId}, sk=STAT#{seasonId} (batches of 25), of a season without sessions", rarely,
		spec.Query, spec.BatchWriteItem)
	PutTeam = App.On("Put team", "pk=SEASON#{seasonId}, sk=TEAM#{teamId}, with the season, by its rev; SQUAD#{teamId} of one that is "+
		"deleted", rarely, spec.GetItem,
		spec.PutItem, spec.DeleteItem)
	ListTeams = App.On("List teams", "pk=SEASON#{seasonId}, sk begins with TEAM#", perRequest, spec.Query)
	PutSquad  = App.On("Put squad", "pk=SEASON#{seasonId}, sk=SQUAD#{teamId}, absent or by its rev, if sk=TEAM#{teamId} exists; of the "+
		"players pk=PLAYER#{playerId}, sk=PROFILE (a batch)", rarely, spec.GetItem, spec.BatchGetItem, spec.PutItem, spec.DeleteItem,
		spec.ConditionCheckItem)
	ListSquads    = App.On("List squads", "pk=SEASON#{seasonId}, sk begins with SQUAD#", perRequest, spec.Query)
	CreateSession = App.On("Create session",
		"pk=SEASON#{seasonId}, sk=SESSION#{sessionId}, and pk=SESSION#{sessionId}, sk=METADATA, and pk=DAY#{date}, sk=SESSION#{sessionId}; "+
			"absent; with the season, by its rev", rarely, spec.PutItem)
	PlanSeason = App.On("Plan season", "pk=SEASON#{seasonId}, sk=PLAN#{id}, absent or by its rev; then what Create session and Create "+
		"game write, of a session with its games at once", rarely, spec.GetItem, spec.PutItem)
	ListSessions = App.On("List sessions", "pk=SEASON#{seasonId}, sk begins with SESSION#", perRequest, spec.Query)
	GetSession   = App.On("Get session", "pk=SESSION#{sessionId}, sk=METADATA", perRequest, spec.GetItem)
	MoveSession  = App.On("Move session", "pk=SESSION#{sessionId}, sk=METADATA, by its rev, and its mirror pk=SEASON#{seasonId}, "+
		"sk=SESSION#{sessionId}; pk=DAY#{date}, sk=SESSION#{sessionId} of the new day, and of the old", rarely, spec.PutItem, spec.DeleteItem)
	DropSession = App.On("Drop session", "what Create session writes, if it has no games, and pk=SESSION#{sessionId}, "+
		"sk begins with AVAIL#, and sk=PIN",
		rarely, spec.Query, spec.PutItem, spec.DeleteItem, spec.BatchWriteItem)
)

// PINs by which guests score the games of a session.
var (
	GetPIN   = App.On("Get PIN", "pk=SESSION#{sessionId}, sk=PIN", perRequest, spec.GetItem)
	SavePIN  = App.On("Save PIN", "pk=SESSION#{sessionId}, sk=PIN, absent or by its rev", perGame, spec.PutItem)
	DropPIN  = App.On("Drop PIN", "pk=SESSION#{sessionId}, sk=PIN", rarely, spec.DeleteItem)
	EnterPIN = App.On("Enter PIN", "pk=SESSION#{sessionId}, sk=PIN, by its rev; pk=GUEST#{id}, sk=METADATA, absent", perGame, spec.PutItem)
	CountPIN = App.On("Count wrong PINs", "pk=PIN_GUESS#{sha256 of the caller's address}, sk=METADATA, and pk=SESSION#{sessionId}, "+
		"sk=PIN_GUESSES, by their revs; read for each PIN", perGame, spec.GetItem, spec.PutItem)
	ResolveGuest = App.On("Resolve guest", "pk=GUEST#{id}, sk=METADATA", perRequest, spec.GetItem)
)

// Games.
var (
	CreateGame = App.On("Create game", "pk=GAME#{gameId}, sk=METADATA, pk=SESSION#{sessionId} and SEASON#{seasonId}, "+
		"sk=GAME#{startTs}#{gameId}, pk=SEASON#{seasonId}, sk=SLUG#{slug}; absent; with the session, by its rev", perGame, spec.PutItem)
	GetGame   = App.On("Get game", "pk=GAME#{gameId}, sk=METADATA", perRequest, spec.GetItem)
	ListGames = App.On("List games of a session", "pk=SESSION#{sessionId}, sk begins with GAME#", perRequest, spec.Query)
	SaveGame  = App.On("Save game", "pk=GAME#{gameId}, sk=METADATA, by its rev, with its index rows, pk=GAME#{gameId}, sk=AUDIT#, "+
		"pk=OUTBOX, sk=GAME#{gameId}", perGame, spec.PutItem, spec.DeleteItem)
	ReadGame = App.On("Read game", "pk=GAME#{gameId}, sk from GOAL# to ROSTER#: goals, METADATA, pool, proposals, removed goals, roster",
		perGoal, spec.Query)
	DropGame = App.On("Drop game", "pk=GAME#{gameId} (batches of 25), then METADATA with its index rows and the session, by its rev; "+
		"pk=SEASON#{seasonId}, sk=CANCELLED#{gameId}", rarely, spec.Query, spec.PutItem, spec.DeleteItem, spec.BatchWriteItem)
	ListRoster = App.On("List roster", "pk=GAME#{gameId}, sk begins with ROSTER#, then pk=PLAYER#{playerId}, sk=PROFILE (a batch)",
		perRequest, spec.Query, spec.BatchGetItem)
	SaveRoster = App.On("Save roster", "pk=GAME#{gameId}, sk=ROSTER#{teamId}#{playerId}, of one team only, if pk=PLAYER#{playerId}, "+
		"sk=PROFILE exists, which is marked with its copy the first time, with the game, by its rev", onUser, spec.PutItem,
		spec.DeleteItem, spec.ConditionCheckItem)
	PutLineUp = App.On("Put line-up", "of the line-up of last time the 20 games before, pk=SEASON#{seasonId}, "+
		"sk=GAME#{startTs}#{gameId}, and their rosters; the players, pk=PLAYER#{playerId}, sk=PROFILE (batches of 100), which "+
		"are marked with their copies the first time; then what Save roster writes", perGame, spec.Query, spec.BatchGetItem, spec.PutItem)
	ListGoals = App.On("List goals", "pk=GAME#{gameId}, sk begins with GOAL#, in order of the timeline", perRequest, spec.Query)
	SaveGoal  = App.On("Save goal", "pk=GAME#{gameId}, sk=GOAL#{third}#{minute}#{eventId}, absent, REMOVED#{eventId} of one that is "+
		"deleted, PROPOSAL#{eventId} of one that came too late, with the game, by its rev, its index rows, AUDIT# and OUTBOX", perGoal,
		spec.PutItem, spec.DeleteItem)
	ListProposals = App.On("List proposals", "pk=GAME#{gameId}, sk begins with PROPOSAL#", perRequest, spec.Query)
	ListAudit     = App.On("List audit", "pk=GAME#{gameId}, sk begins with AUDIT#, newest first", perRequest, spec.Query)
)

// Players.
var (
	CreatePlayer = App.On("Create player", "pk=PLAYER#{playerId}, sk=PROFILE, and pk=LEAGUE#{leagueId}, sk=PLAYER#{playerId}; absent; with "+
		"the league, by its rev", onUser, spec.PutItem)
	GetPlayer   = App.On("Get player", "pk=PLAYER#{playerId}, sk=PROFILE", perRequest, spec.GetItem)
	ListPlayers = App.On("List players", "pk=LEAGUE#{leagueId}, sk begins with PLAYER#", perRequest, spec.Query)
	SavePlayer  = App.On("Save player", "pk=PLAYER#{playerId}, sk=PROFILE, by its rev; pk=LEAGUE#{leagueId}, sk=PLAYER#{playerId}; "+
		"pk=USER#{userId}, sk=PLAYER#{playerId}, with METADATA, by its rev, of a new claim; of another name pk=OUTBOX, "+
		"sk=PLAYER#{playerId}", onUser, spec.PutItem, spec.DeleteItem)
	DropPlayer = App.On("Drop player", "what Create player writes, by its rev, with the league, by its rev, and pk=USER#{userId}, "+
		"sk=PLAYER#{playerId}", rarely, spec.PutItem, spec.DeleteItem)
	MyPlayers = App.On("List a user's players", "pk=USER#{userId}, sk begins with PLAYER#, then pk=PLAYER#{playerId}, sk=PROFILE (a batch)",
		perRequest, spec.Query, spec.BatchGetItem)
	CountClaims = App.On("Count claims", "pk=USER#{userId}, sk=METADATA, which each claim changes, before the claims are read",
		onUser, spec.GetItem)
	CountWrongClaim = App.On("Count refused claims", "pk=USER#{userId}, sk=WRONG_CLAIMS, by its rev; read for each claim", onUser,
		spec.GetItem, spec.PutItem)
	PutCode     = App.On("Put join code", "pk=JOIN#{code}, sk=METADATA, absent", perGame, spec.PutItem)
	RevokeCodes = App.On("Revoke join codes", "pk=GAME#{gameId}, sk=METADATA, by its rev", rarely, spec.PutItem)
	FindCode    = App.On("Find join code", "pk=JOIN#{code}, sk=METADATA", onUser, spec.GetItem)
	CountGuess  = App.On("Count wrong codes", "pk=JOIN_GUESS#{sha256 of the caller's address}, sk=METADATA, by its rev; read for each code",
		onUser, spec.GetItem, spec.PutItem)
	CountJoins = App.On("Count joins of a caller", "pk=JOINS#{sha256 of the league and the caller's address}, sk=METADATA, by its rev", onUser,
		spec.GetItem, spec.PutItem)
	JoinPool = App.On("Join pool", "pk=GAME#{gameId}, sk=POOL#{playerId}, if sk=METADATA exists, with the league, by its rev, and the "+
		"player with its claim, if new; of a full pool the places of players who are gone, by pk=PLAYER#{playerId}, sk=PROFILE (a batch)",
		onUser, spec.Query, spec.BatchGetItem, spec.PutItem, spec.DeleteItem, spec.ConditionCheckItem)
	LeavePool = App.On("Leave pool", "pk=GAME#{gameId}, sk=POOL#{playerId}", perGame, spec.DeleteItem)
	ListPool  = App.On("List pool", "pk=GAME#{gameId}, sk begins with POOL#, then pk=PLAYER#{playerId}, sk=PROFILE (a batch)", perRequest,
		spec.Query, spec.BatchGetItem)
)

// Tables of seasons, and the outbox of finished games.
var (
	ReadSeason = App.On("Read games and tables of a season",
		"pk=SEASON#{seasonId}, sk begins with GAME#, the games and then the tallies of their players, STANDING#, PLAYERSTAT# or LEADERS",
		perFinish, spec.Query)
	ReadPlayers = App.On("Read players of a season", "pk=PLAYER#{playerId}, sk=PROFILE (batches of 100)", perFinish, spec.BatchGetItem)
	SaveTables  = App.On("Save tables", "pk=SEASON#{seasonId}, sk=STANDING#{teamId}, PLAYERSTAT#{playerId} and LEADERS, "+
		"pk=PLAYER#{playerId}, sk=STAT#{seasonId} (batches of 25)", perFinish, spec.BatchWriteItem)
	TakeOutbox = App.On("Take from outbox", "pk=OUTBOX, sk=GAME#{gameId} or PLAYER#{playerId}, as it was read", perFinish,
		spec.GetItem, spec.DeleteItem)
	ReadOutbox = App.On("Read outbox", "pk=OUTBOX", perSweep, spec.Query)
)

// What everybody sees. None of it is strongly consistent.
var (
	FindSlug = App.On("Find slug", "pk=SLUG#{slug}, sk=METADATA; pk=LEAGUE#{leagueId} or SEASON#{seasonId}, sk=SLUG#{slug}",
		perRequest, spec.GetItem)
	ReadNames = App.On("Read names", "pk=PLAYER#{playerId}, sk=PROFILE, of the goals of a game (batches of 100)",
		perRequest, spec.BatchGetItem)
	ReadDays = App.On("Read days", "pk=SEASON#{seasonId}, sk=GAME#{startTs}#{gameId}: the 41 before a time, newest first, and 20 "+
		"from it on", perRequest, spec.Query)
	ReadCalendar = App.On("Read calendar", "pk=SEASON#{seasonId}, sk=GAME#{startTs}#{gameId}: the 100 before a time, newest first, and 200 "+
		"from it on; the newest 100 whose sk begins with CANCELLED#", perFeed, spec.Query)
	ReadTables = App.On("Read tables", "pk=SEASON#{seasonId}, sk begins with STANDING#, or LEADERS", perRequest, spec.Query, spec.GetItem)
)

// What is reported, and requests to remove a name.
var (
	CountReports = App.On("Count reports", "pk=REPORTER#{sha256 of the league and the caller's address}, sk=METADATA, and "+
		"pk=LEAGUE#{leagueId}, sk=REPORTED, by their revs", rarely, spec.GetItem, spec.PutItem)
	SaveReport = App.On("Save report", "pk=REPORTS, sk=REPORT#{reportId}, absent, with what Count reports writes", rarely, spec.PutItem)
	DropReport = App.On("Drop report", "pk=REPORTS, sk=REPORT#{reportId}", rarely, spec.DeleteItem)

	ListReports = App.On("List reports", "pk=REPORTS, sk begins with REPORT#, the newest 100, or 1,000", rarely, spec.Query)
	SaveRemoval = App.On("Save removal", "pk=LEAGUE#{leagueId}, sk=REMOVAL#{playerId}, absent or by its rev, with what Count reports "+
		"writes; while it is open pk=REMOVALS, sk={askedAt}#{playerId}", rarely, spec.GetItem, spec.PutItem, spec.DeleteItem)
	ListRemovals    = App.On("List removals", "pk=LEAGUE#{leagueId}, sk begins with REMOVAL#", rarely, spec.Query)
	ListOldRemovals = App.On("List old removals", "pk=REMOVALS, sk less than a time, the first 100", rarely, spec.Query)
)

// Availability and mails.
var (
	PutAvailability = App.On("Put availability",
		"pk=SESSION#{sessionId}, sk=AVAIL#{playerId}, with sk=METADATA, by its rev, and its copy", onUser, spec.PutItem)
	ListAvailability = App.On("List availability",
		"pk=SESSION#{sessionId}, sk begins with AVAIL#, then pk=PLAYER#{playerId}, sk=PROFILE (batches of 100)", perRequest,
		spec.Query, spec.BatchGetItem)
	FindAvailability = App.On("Find availability", "pk=SESSION#{sessionId}, sk=AVAIL#{playerId}", onUser, spec.GetItem)
	GetPreferences   = App.On("Get preferences", "pk=USER#{userId}, sk=PREFERENCES", perRequest, spec.GetItem)
	PutPreferences   = App.On("Put preferences", "pk=USER#{userId}, sk=PREFERENCES", rarely, spec.PutItem)
	SessionsOfDay    = App.On("List sessions of a day", "pk=DAY#{date}, sk begins with SESSION#, of two or three days", hourly, spec.Query)
	MarkMail         = App.On("Mark mail",
		"pk=USER#{userId}, sk=MAIL#{gameId or sessionId}, of a moved session with its day, of a move with its number", perMail,
		spec.GetItem, spec.PutItem)
)

// What a user has done, and what is kept of a user.
var (
	ReadStats = App.On("Read a player's seasons", "pk=PLAYER#{playerId}, sk begins with STAT#", perRequest, spec.Query)
	ReadUser  = App.On("Read all of a user", "pk=USER#{userId}", perErasure, spec.Query)
	DropUser  = App.On("Drop all of a user", "pk=USER#{userId} (batches of 25), pk=AUTH_SESSION#{id}", perErasure, spec.Query, spec.GetItem,
		spec.PutItem, spec.DeleteItem, spec.BatchWriteItem)
)
