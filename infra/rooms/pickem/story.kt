package matchday.story

import kotlinx.coroutines.flow.first
import kotlinx.serialization.json.JsonPrimitive
import matchday.pickem.AddMatchBody
import matchday.pickem.Codes
import matchday.pickem.CreateEventBody
import matchday.pickem.CreateLeagueBody
import matchday.pickem.InviteUserBody
import matchday.pickem.Pickem
import matchday.pickem.PutPredictionsBody
import matchday.pickem.PutResultBody
import matchday.pickem.Team

// Tess picks the winners of a show, and is the first of her league.
suspend fun pickem(world: World) {
    val office = Pickem(world.administrator("pickem"))
    val pickem = Pickem(world.user("pickem"))
    val startsAt = world.wait(0).plusSeconds(600)
    val date = startsAt.toString().take(10)

    val event = office.createEvent(
        CreateEventBody(name = "Night of ${world.tag}", slug = "night-${world.tag}", date = date, startsAt = startsAt, lockAt = startsAt),
    )
    val teams = listOf(Team(members = listOf("Odo Wrenfield")), Team(members = listOf("Sister Halcyon")))
    val match = office.addMatch(event.id, AddMatchBody(name = "Main event", points = 10, teams = teams))
    office.inviteUser(InviteUserBody(name = "Tess", email = world.email))

    val (loser, winner) = match.teams.map { it.id!! }
    val league = pickem.createLeague(CreateLeagueBody(name = "Office ${world.tag}"))
    val picked = pickem.putPredictions(event.id, PutPredictionsBody(predictions = mapOf(match.id to winner)))
    expect(mapOf(match.id to winner), picked.predictions)

    world.wait(660)
    expect(Codes.EVENT_LOCKED, refused { pickem.putPredictions(event.id, PutPredictionsBody(predictions = mapOf(match.id to loser))) }.code)

    office.putResult(event.id, match.id, PutResultBody(result = JsonPrimitive(1)))
    office.requestScore(event.id)
    world.wait(60)

    expect(10L, pickem.getResults(event.id).mine?.points)

    val standings = pickem.getLeagueStandingsPages(league.leagueId, date.take(4)).first().standings
    expect(pickem.getMe().userId, standings.first { it.rank == 1L }.userId)
}
