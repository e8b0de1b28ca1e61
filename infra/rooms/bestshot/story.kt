package matchday.story

import kotlinx.coroutines.flow.toList
import matchday.bestshot.Bestshot
import matchday.bestshot.Codes
import matchday.bestshot.CorrectMatchBody
import matchday.bestshot.CreateLeagueBody
import matchday.bestshot.CreateMatchBody
import matchday.bestshot.CreateTournamentBody
import matchday.bestshot.CreateTournamentBodyProvider
import matchday.bestshot.GuessedGoals
import matchday.bestshot.MemberName
import matchday.bestshot.NewRound
import matchday.bestshot.NewRoundType
import matchday.bestshot.PutGuessBody
import matchday.bestshot.UpdateTournamentBody
import matchday.bestshot.UpdateTournamentBodyStatus

// Tess guesses the score of a match that an administrator enters, and leads the board.
suspend fun bestshot(world: World) {
    val office = Bestshot(world.administrator("bestshot"))
    val bestshot = Bestshot(world.user("bestshot"))
    val now = world.wait(0)

    expect(Codes.MEMBER_NOT_FOUND, refused { bestshot.getMember() }.code)

    val me = bestshot.createMember(MemberName(nickName = "Tess ${world.tag}"))
    val tournament = office.createTournament(
        CreateTournamentBody(
            provider = CreateTournamentBodyProvider.MANUAL,
            externalId = "${now.epochSecond}",
            season = "2026",
            slug = "cup-${world.tag}",
            label = "Cup ${world.tag}",
            rounds = listOf(NewRound(slug = "final", label = "Final", type = NewRoundType.KNOCKOUT)),
        ),
    ).id
    val match = office.createMatch(tournament, "final", CreateMatchBody(home = "Rovers", away = "United", kickOff = now.plusSeconds(600))).id
    office.updateTournament(tournament, UpdateTournamentBody(status = UpdateTournamentBodyStatus.ACTIVE))

    val league = bestshot.createLeague(CreateLeagueBody(name = "Pub ${world.tag}", tournaments = listOf(tournament)))
    val guess = PutGuessBody(matchId = match, home = GuessedGoals(score = 2), away = GuessedGoals(score = 1))
    expect(match, bestshot.putGuess(guess).matchId)

    world.wait(660)
    expect(409, refused { bestshot.putGuess(guess) }.status)
    office.correctMatch(match, CorrectMatchBody(home = 2, away = 1))
    world.wait(60)

    expect(listOf(me.id to 3L), bestshot.listLeaderboard(tournament).data.map { it.memberId to it.points })
    expect(listOf(me.id), bestshot.getLeagueScorePages(league.id).toList().flatMap { page -> page.data.map { it.memberId } })
}
