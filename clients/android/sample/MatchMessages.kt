// A sample: receives the messages of matches, and subscribes to their topics.
package com.example.matches

import android.content.Context
import com.google.firebase.messaging.FirebaseMessaging
import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage
import java.time.Instant
import kotlin.random.Random
import kotlinx.coroutines.delay

/** The calls that this file needs of a client: of the package in clients/kotlin, with a user who has signed in. */
interface MatchdayApi {
    /** POST /user/device. */
    suspend fun registerAndroid(token: String)

    /** POST /user/activity/{matchId}. */
    suspend fun startActivity(matchId: String, teamId: String?): Started
}

/** The answer of startActivity: at and display are of the current state, null before the first one. */
class Started(val topic: String, val subscribeWithin: Int, val at: Instant?, val display: Display?)

/** Receives what Google sends. Each call has some seconds, so a message is shown at once, and nothing is loaded for it. */
abstract class MatchMessages : FirebaseMessagingService() {
    /** Starts a job of WorkManager that calls MatchdayApi.registerAndroid. */
    protected abstract fun register(token: String)

    /** Starts a job of WorkManager that calls Follows.refresh. */
    protected abstract fun refresh()

    @Suppress("OVERRIDE_DEPRECATION") // onRegistered replaces it in apps whose manifest turns installation ids on
    override fun onNewToken(token: String) = register(token)

    override fun onMessageReceived(message: RemoteMessage) {
        val m = MatchMessage.of(message.data) ?: return // an alert, while the app is in front

        MatchCards(this).show(message.data)
        if (m.event == "end") Follows(this).end(m.matchId)
    }

    /** More than a hundred messages waited for the phone, and Google has dropped all. */
    override fun onDeletedMessages() = refresh()
}

/** The matches that the app follows: to whose topics it has subscribed. */
class Follows(private val context: Context) {
    private val store = context.getSharedPreferences("follows", Context.MODE_PRIVATE) // the topic and team of each match

    /**
     * Follows a match for a side, or as a neutral. It waits for a random time, because Google limits the subscriptions of a project:
     * call it in a job of WorkManager, which survives the end of the process.
     */
    suspend fun follow(api: MatchdayApi, matchId: String, teamId: String?) {
        val started = api.startActivity(matchId, teamId)

        show(matchId, "start", started)
        store.edit().putString(matchId, started.topic + "\n" + teamId.orEmpty()).apply()
        delay(Random.nextLong(started.subscribeWithin * 1000L))
        FirebaseMessaging.getInstance().subscribeToTopic(started.topic)
    }

    /** Shows the current state of each match. */
    suspend fun refresh(api: MatchdayApi) {
        for ((matchId, value) in store.all) {
            show(matchId, "update", api.startActivity(matchId, value.toString().substringAfter("\n").ifEmpty { null }))
        }
    }

    /** Unsubscribes from the topic of a match: it is over, or the user does not follow it any more. */
    fun end(matchId: String) {
        val topic = store.getString(matchId, null)?.substringBefore("\n") ?: return

        FirebaseMessaging.getInstance().unsubscribeFromTopic(topic)
        store.edit().remove(matchId).apply()
    }

    private fun show(matchId: String, event: String, started: Started) {
        if (started.at != null && started.display != null) {
            MatchCards(context).show(MatchMessage.of(matchId, event, started.at, started.display))
        }
    }
}
