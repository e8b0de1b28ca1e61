package matchday.story

import kotlinx.coroutines.flow.toList
import matchday.cricket.Codes
import matchday.cricket.Cricket
import matchday.cricket.FollowMatchBody
import matchday.cricket.Preferences
import matchday.cricket.PreferencesAlerts
import matchday.cricket.PutSubscriptionBody

// Tess follows a match that is in play, and a team.
suspend fun cricket(world: World) {
    val guest = Cricket(world.guest("cricket"))
    val pages = guest.listTeamsPages(limit = 2).toList()
    check(pages.size > 1) { "the teams have several pages" }
    expect(Codes.MATCH_NOT_FOUND, refused { guest.getMatch("1") }.code)

    val match = guest.listMatches(live = true).matches.first()

    val cricket = Cricket(world.user("cricket"))
    expect(match.id, cricket.followMatch(match.id, FollowMatchBody(teamId = match.local.id)).matchId)
    expect(listOf(match.id), cricket.listFollows().follows.map { it.matchId })

    cricket.putSubscription("team", match.visitor.id, PutSubscriptionBody())
    expect(listOf(match.visitor.id), cricket.listSubscriptions().teams)

    val preferences = Preferences(alerts = listOf(PreferencesAlerts.WICKET), keyEventsOnly = true, spoilerFree = false)
    expect(preferences.alerts, cricket.putPreferences(preferences).alerts)

    check(guest.getDisplay(match.id, team = match.local.id).headline != "")
    check(cricket.getHome().live.any { it.id == match.id }) { "the home screen lacks the match" }

    cricket.unfollowMatch(match.id)
    expect(0, cricket.listFollows().follows.size)
    expect("query.limit", refused { guest.listTeams(limit = -2) }.errors.first().location)
}
