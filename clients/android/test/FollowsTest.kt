package com.example.matches

import java.io.IOException
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

/** To which topics the app is subscribed after what the user does, and what becomes of the matches. */
class FollowsTest {
    private val start = Instant.parse("2026-06-06T12:00:00Z")
    private val expiry = start.plusSeconds(3600)
    private var now = start
    private val waits = mutableListOf<Duration>()
    private var meanwhile = {} // what happens while a subscription waits

    /** A phone that notes its subscriptions and what it shows. */
    private val phone = object : Phone {
        val kept = mutableMapOf<String, Follow>()
        val topics = mutableSetOf<String>()
        val shown = mutableListOf<String>()
        val hidden = mutableListOf<String>()

        override fun follows() = kept.toMap()

        override fun keep(matchId: String, follow: Follow) = kept.set(matchId, follow)

        override fun remove(matchId: String) {
            kept.remove(matchId)
        }

        override fun subscribe(topic: String) {
            topics += topic
        }

        override fun unsubscribe(topic: String) {
            topics -= topic
        }

        override fun show(m: MatchMessage) {
            shown += "${m.event} ${m.matchId} ${m.display.status}"
        }

        override fun hide(matchId: String) {
            hidden += matchId
        }
    }

    /** The API, some of whose matches are over, and some of which cannot be asked for. */
    private val api = object : MatchdayApi {
        var over = setOf<String>()
        var failing = setOf<String>()
        var listed = mapOf<String, String?>() // what the user follows, on whichever phone
        var asked = {} // what happens while a call waits for the answer

        override suspend fun registerAndroid(token: String) = Unit

        override suspend fun follows() = listed

        override suspend fun startActivity(matchId: String, teamId: String?): Started? {
            asked()
            if (matchId in failing) throw IOException("no answer about $matchId")
            if (matchId in over) return null

            val display = Display("live", "t20", "1st innings", "", "", Side("India"), Side("Australia"))

            return Started("$matchId-${teamId ?: "neutral"}", 30, expiry, now, display)
        }
    }

    private val follows = Follows(phone, { now }) {
        waits += it
        meanwhile()
    }

    private fun follow(matchId: String, teamId: String? = null) = runBlocking { follows.follow(api, matchId, teamId) }

    @Test fun aFollowShowsTheMatchAndSubscribesWithinTheTimeOfTheAnswer() {
        follow("7", "11")

        assertEquals(setOf("7-11"), phone.topics)
        assertEquals(listOf("start 7 1st innings"), phone.shown)
        assertTrue("$waits", waits.single() in 0.seconds..30.seconds)
    }

    @Test fun aChangeOfSidesEndsTheTopicOfTheOther() {
        follow("7", "11")
        follow("8")
        follow("7", "12")
        assertEquals(setOf("7-12", "8-neutral"), phone.topics)

        follow("7", "12")
        assertEquals(setOf("7-12", "8-neutral"), phone.topics)
    }

    @Test fun whatTheUserDoesWhileASubscriptionWaitsStays() {
        for ((name, act) in mapOf<String, () -> Unit>(
            "the user stops to follow" to { follows.end("7") },
            "the user signs out" to { follows.signOut() },
        )) {
            meanwhile = act
            follow("7", "11")
            assertEquals(name, emptySet<String>(), phone.topics)
        }

        meanwhile = {
            meanwhile = {}
            follow("7", "12")
        }
        follow("7", "11")
        assertEquals(setOf("7-12"), phone.topics)
    }

    @Test fun aTopicStaysUntilItExpires() {
        follow("7")
        api.over = setOf("7")
        runBlocking { follows.resume(api) }
        follow("7")

        now = expiry.minusSeconds(1)
        follows.endExpired()
        assertEquals("an end may be taken back", setOf("7-neutral"), phone.topics)

        now = expiry
        follows.endExpired()
        assertEquals(emptySet<String>(), phone.topics)
        assertEquals(emptyMap<String, Follow>(), phone.kept)
    }

    @Test fun aResumeShowsEachMatchThatIsNotOver() {
        listOf("6", "7", "8", "9").forEach { follow(it) }
        phone.shown.clear()

        api.over = setOf("6")
        runBlocking { follows.resume(api) }
        assertEquals(listOf("7", "8", "9").map { "update $it 1st innings" }, phone.shown)
        phone.shown.clear()

        api.failing = setOf("7")
        assertThrows(IOException::class.java) { runBlocking { follows.resume(api) } }
        assertEquals(listOf("8", "9").map { "update $it 1st innings" }, phone.shown)
    }

    @Test fun noTopicIsLeftAfterASignOut() {
        follow("7", "11")
        follow("8")
        follows.signOut()

        assertEquals(emptySet<String>(), phone.topics)
        assertEquals(emptyMap<String, Follow>(), phone.kept)
    }

    @Test fun noCardIsLeftOfAMatchThatTheAppDoesNotFollow() {
        listOf("6", "7", "8").forEach { follow(it) }

        follows.end("7")
        assertEquals(listOf("7"), phone.hidden)

        follows.signOut()
        assertEquals(listOf("7", "6", "8"), phone.hidden)
    }

    private fun receive(matchId: String, perspective: String) {
        val sides = """"local":{"name":"India"},"visitor":{"name":"Australia"}"""
        val display = """{"phase":"live","format":"t20","status":"2nd innings","headline":"",$sides}"""

        follows.receive(
            mapOf("matchId" to matchId, "perspective" to perspective, "event" to "update", "rev" to "1", "at" to "1", "display" to display),
        )
    }

    @Test fun aMessageIsShownIfTheAppFollowsTheMatchForItsSide() {
        follow("7", "11")
        follow("8")
        phone.shown.clear()

        receive("7", "12")
        receive("7", "neutral")
        receive("8", "11")
        receive("9", "neutral")
        follows.receive(mapOf("matchId" to "7", "perspective" to "11"))
        assertEquals(emptyList<String>(), phone.shown)

        receive("7", "11")
        receive("8", "neutral")
        assertEquals(listOf("update 7 2nd innings", "update 8 2nd innings"), phone.shown)
        phone.shown.clear()

        follows.end("7")
        receive("7", "11")
        assertEquals(emptyList<String>(), phone.shown)
    }

    @Test fun aMatchThatTheUserEndsDuringAResumeStaysEnded() {
        follow("7")
        phone.shown.clear()

        api.asked = { follows.end("7") }
        runBlocking { follows.resume(api) }
        assertEquals(emptyList<String>(), phone.shown)
        assertEquals(emptySet<String>(), phone.topics)
    }

    @Test fun aResumeSubscribesToWhatTheAppAndTheUserFollow() {
        phone.kept["7"] = Follow("7-11", "11", expiry.epochSecond) // from a backup
        phone.kept["8"] = Follow("8-neutral", null, expiry.epochSecond)
        api.listed = mapOf("7" to "12", "9" to "11", "10" to null)
        api.over = setOf("8")
        api.failing = setOf("10")

        assertThrows(IOException::class.java) { runBlocking { follows.resume(api) } }
        assertEquals(setOf("7-11", "9-11"), phone.topics)
        assertEquals(setOf("7", "8", "9"), phone.kept.keys)
        assertEquals(setOf("update 7 1st innings", "update 9 1st innings"), phone.shown.toSet())
        assertTrue("$waits", waits.single() in 0.seconds..30.seconds)
    }
}
