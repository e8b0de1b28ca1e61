// A sample: to which topics the app subscribes, and until when. It needs no Android, so the gate tests it on a JVM.
package com.example.matches

import java.io.IOException
import java.time.Instant
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.serialization.Serializable

/** The calls that this file needs of a client: of the package in clients/kotlin, with a user who has signed in. */
interface MatchdayApi {
    /** POST /user/device. */
    suspend fun registerAndroid(token: String)

    /**
     * GET /user/follows, all pages. Returns the side, null for a neutral, of each match that is not only `subscribed`. Throws an
     * IOException if it fails.
     */
    suspend fun follows(): Map<String, String?>

    /** POST /user/activity/{matchId}. Returns null if the API answers 404, or 409 match_over. Throws an IOException if it fails. */
    suspend fun startActivity(matchId: String, teamId: String?): Started?
}

/** The answer of startActivity: at and display are of the current state, null before the first one. */
class Started(val topic: String, val subscribeWithin: Int, val expiresAt: Instant, val at: Instant?, val display: Display?)

/** How the app follows a match. */
@Serializable
data class Follow(val topic: String, val teamId: String?, val expiresAt: Long) // in seconds since 1970

/** What [Follows] needs of the phone. */
interface Phone {
    /** Returns what the app follows, by match. */
    fun follows(): Map<String, Follow>

    fun keep(matchId: String, follow: Follow)

    fun remove(matchId: String)

    fun subscribe(topic: String)

    fun unsubscribe(topic: String)

    /** Shows the card of a match. */
    fun show(m: MatchMessage)

    /** Removes the card of a match, and forgets what it has shown. */
    fun hide(matchId: String)
}

/** The matches that the app follows. [now] and [wait] are for tests. */
class Follows(
    private val phone: Phone,
    private val now: () -> Instant = Instant::now,
    private val wait: suspend (Duration) -> Unit = { delay(it) },
) {
    /**
     * Follows a match for a side, or as a neutral. It waits for a random time, because Google limits the subscriptions of a project:
     * call it in a job of WorkManager, which survives the end of the process.
     */
    suspend fun follow(api: MatchdayApi, matchId: String, teamId: String?) = follow(api, mapOf(matchId to teamId), "start")

    /**
     * Shows the current state of each match that the app or the user follows, and subscribes again: a new phone, or one on which the app
     * was installed again, has no subscription, whatever a backup has restored, and a match that is listed under another id has another
     * topic. It waits as [follow] does. If it fails for some matches, it throws, after it has followed the others.
     */
    suspend fun resume(api: MatchdayApi) =
        follow(api, api.follows() + phone.follows().mapValues { it.value.teamId }, "update") // which shows no dismissed card

    private suspend fun follow(api: MatchdayApi, matches: Map<String, String?>, event: String) {
        val all = mutableMapOf<String, Started>()
        var failure: IOException? = null

        for ((matchId, teamId) in matches) {
            val before = phone.follows()[matchId]

            try {
                val started = api.startActivity(matchId, teamId) ?: continue

                synchronized(lock) {
                    val now = phone.follows()[matchId]

                    if (event == "start" || now == before) { // else the user has ended or changed it
                        phone.keep(matchId, Follow(started.topic, teamId, started.expiresAt.epochSecond))
                        if (now != null && now.topic != started.topic) phone.unsubscribe(now.topic) // the user has changed sides

                        show(matchId, event, started)
                        all[matchId] = started
                    }
                }
            } catch (e: IOException) {
                failure = e
            }
        }

        all.values.maxOfOrNull { it.subscribeWithin }?.let { wait(Random.nextLong(it * 1000L + 1).milliseconds) }

        synchronized(lock) {
            for ((matchId, started) in all) {
                if (phone.follows()[matchId]?.topic == started.topic) phone.subscribe(started.topic) // nothing has replaced or ended it
            }
        }

        failure?.let { throw it }
    }

    /**
     * Shows the data of an FCM message, unless the app does not follow the match for this side: a message may be under way while the
     * user stops to follow.
     */
    fun receive(data: Map<String, String>) {
        val m = MatchMessage.of(data) ?: return // an alert, while the app is in front

        synchronized(lock) {
            val follow = phone.follows()[m.matchId] ?: return

            if (data["perspective"] == (follow.teamId ?: "neutral")) phone.show(m)
        }
    }

    /** Unsubscribes from the topic of a match, and removes its card: the user does not follow it any more. */
    fun end(matchId: String) = unsubscribe { it.key == matchId }

    /**
     * Unsubscribes from the topics of matches whose updates have ended. Call it at each start of the app. The message of an end is no
     * reason to unsubscribe: an umpire or a provider may take the end back, and the match goes on.
     */
    fun endExpired() = unsubscribe { it.value.expiresAt <= now().epochSecond }

    /** Unsubscribes from all topics, and removes all cards: the user signs out. Cancel the jobs that follow and resume before. */
    fun signOut() = unsubscribe { true }

    private fun unsubscribe(which: (Map.Entry<String, Follow>) -> Boolean) =
        synchronized(lock) {
            phone.follows().filter(which).forEach { (matchId, follow) ->
                phone.unsubscribe(follow.topic)
                phone.remove(matchId)
                phone.hide(matchId)
            }
        }

    private fun show(matchId: String, event: String, started: Started) {
        if (started.at != null && started.display != null) phone.show(MatchMessage.of(matchId, event, started.at, started.display))
    }

    private companion object {
        val lock = Any() // the jobs and the user act at the same time
    }
}
