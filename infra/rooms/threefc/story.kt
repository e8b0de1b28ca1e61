package matchday.story

import kotlinx.coroutines.flow.toList
import matchday.threefc.Codes
import matchday.threefc.CompleteBody
import matchday.threefc.CreateGameBody
import matchday.threefc.CreateGoalBody
import matchday.threefc.CreateLeagueBody
import matchday.threefc.CreateLeagueBodyVisibility
import matchday.threefc.CreatePlayerBody
import matchday.threefc.CreateSeasonBody
import matchday.threefc.CreateSessionBody
import matchday.threefc.MoveThirdBody
import matchday.threefc.PutSeatBody
import matchday.threefc.PutTeamBody
import matchday.threefc.StartBody
import matchday.threefc.Threefc

// Tess signs in by a mail, plays a game of three teams with her league, and deletes her account.
suspend fun threefc(world: World) {
    val threefc = Threefc(world.client("threefc", world.browser()))
    val email = "tess-plays-${world.tag}@example.com"

    expect(Codes.MISSING_SESSION, refused { threefc.listLeagues() }.code)

    threefc.startSignIn(StartBody(email = email))
    val token = world.mail(email).substringAfter("/sign-in?token=").takeWhile { !it.isWhitespace() }
    expect(email, threefc.finishSignIn(CompleteBody(token = token)).email)

    val now = world.wait(0)
    val league = threefc.createLeague(
        CreateLeagueBody(name = "Park ${world.tag}", slug = "park-${world.tag}", visibility = CreateLeagueBodyVisibility.PUBLIC),
    ).leagueId
    val season = threefc.createSeason(league, CreateSeasonBody(name = "Summer")).seasonId

    for ((id, name) in mapOf("red" to "Reds", "blue" to "Blues", "yellow" to "Yellows")) {
        threefc.putTeam(season, id, PutTeamBody(name = name))
    }

    val session = threefc.createSession(season, CreateSessionBody(sessionDate = now.toString().take(10))).sessionId
    val game = threefc.createGame(
        session,
        CreateGameBody(gameStartTs = now, thirdLength = 20, teamIds = listOf("red", "blue", "yellow")),
    ).gameId
    val player = threefc.createPlayer(CreatePlayerBody(leagueId = league, nickname = "Foxy")).playerId
    threefc.putSeat(game, player, PutSeatBody(teamId = "red"))

    for (third in 1L..3L) {
        threefc.startThird(game, third, MoveThirdBody())
        world.wait(60)
        threefc.createGoal(game, CreateGoalBody(scoringTeamId = "red", concedingTeamId = "blue", scorerPlayerId = player))
        threefc.finishThird(game, third, MoveThirdBody())
    }

    threefc.undoGoal(game, ifMatch = threefc.readGame(game).etag)

    val finished = threefc.finishGame(game)
    expect("red", finished.result?.winnerTeamId)
    expect(mapOf("red" to 2L, "blue" to 0L, "yellow" to 0L), finished.scores.associate { it.teamId to it.scored })
    world.wait(60)

    expect("red", threefc.showStandings(season).teams.first().teamId)
    expect(listOf("Foxy"), threefc.listPlayersPages(league).toList().flatMap { page -> page.players.map { it.nickname } })

    threefc.deleteAccount()
    expect(401, refused { threefc.listLeagues() }.status)
}
