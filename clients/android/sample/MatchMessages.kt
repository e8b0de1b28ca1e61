// A sample: receives the messages of matches, and keeps what the app follows.
package com.example.matches

import android.content.Context
import com.google.firebase.messaging.FirebaseMessaging
import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage
import kotlinx.serialization.json.Json

/** Receives what Google sends. Each call has some seconds, so a message is shown at once, and nothing is loaded for it. */
abstract class MatchMessages : FirebaseMessagingService() {
    /** Starts a job of WorkManager that calls MatchdayApi.registerAndroid. */
    protected abstract fun register(token: String)

    /** Starts a job of WorkManager that calls Follows.resume. */
    protected abstract fun resume()

    @Suppress("OVERRIDE_DEPRECATION") // onRegistered replaces it in apps whose manifest turns installation ids on
    override fun onNewToken(token: String) {
        register(token)
        resume() // a new token has no topic
    }

    override fun onMessageReceived(message: RemoteMessage) = Follows(AndroidPhone(this)).receive(message.data)

    /** More than a hundred messages waited for the phone, and Google has dropped all. */
    override fun onDeletedMessages() = resume()
}

/** The phone of the app's [Follows]: `Follows(AndroidPhone(context))`. */
class AndroidPhone(private val context: Context) : Phone {
    private val store = context.getSharedPreferences("follows", Context.MODE_PRIVATE)

    override fun follows() = store.all.mapValues { Json.decodeFromString<Follow>(it.value.toString()) }

    override fun keep(matchId: String, follow: Follow) = store.edit().putString(matchId, Json.encodeToString(follow)).apply()

    override fun remove(matchId: String) = store.edit().remove(matchId).apply()

    override fun subscribe(topic: String) {
        FirebaseMessaging.getInstance().subscribeToTopic(topic) // and tries again until it succeeds
    }

    override fun unsubscribe(topic: String) {
        FirebaseMessaging.getInstance().unsubscribeFromTopic(topic)
    }

    override fun show(m: MatchMessage) = MatchCards(context).show(m)

    override fun hide(matchId: String) = MatchCards(context).hide(matchId)
}
