// A sample: shows a match as a Live Update, an ongoing notification that Android 16 promotes to the status bar and the
// lock screen. Below Android 16 it is an ordinary ongoing notification.
package com.example.matches

import android.Manifest.permission.POST_NOTIFICATIONS
import android.app.AlarmManager
import android.app.Notification
import android.app.PendingIntent
import android.content.BroadcastReceiver
import android.content.Context
import android.content.Intent
import android.content.SharedPreferences
import android.content.pm.PackageManager.PERMISSION_GRANTED
import android.net.Uri
import android.os.Build
import androidx.core.app.NotificationChannelCompat
import androidx.core.app.NotificationCompat
import androidx.core.app.NotificationManagerCompat
import kotlinx.serialization.json.Json

private const val SCORES = "scores" // a channel
private const val ALERTS = "alerts" // the channel that the service names in every alert

/** Creates the channels, at each start of the app. */
fun createChannels(context: Context) =
    NotificationManagerCompat.from(context).createNotificationChannelsCompat(
        listOf(
            NotificationChannelCompat.Builder(ALERTS, NotificationManagerCompat.IMPORTANCE_HIGH).setName("Wickets and results").build(),
            // Above IMPORTANCE_MIN, or Android does not promote it. An update of the score makes no sound.
            NotificationChannelCompat.Builder(SCORES, NotificationManagerCompat.IMPORTANCE_DEFAULT)
                .setName("Live score").setSound(null, null).build(),
        ),
    )

/** The cards of the matches that the user follows. */
class MatchCards(private val context: Context, private val now: () -> Long = { System.currentTimeMillis() / 1000 }) {
    private val store: SharedPreferences = context.getSharedPreferences("matches", Context.MODE_PRIVATE)

    /** Shows a message, unless it is older than what is shown or the user has dismissed the match. */
    fun show(m: MatchMessage) {
        synchronized(lock) {
            val after = shown(m.matchId).after(m) ?: return

            remember(m.matchId, after)
            store.edit().putString("message ${m.matchId}", Json.encodeToString(m)).apply()
            post(m)
        }
    }

    /** Removes the card of a match, and forgets it. */
    fun hide(matchId: String) {
        synchronized(lock) {
            store.edit()
                .remove("rev $matchId").remove("ended $matchId").remove("dismissed $matchId").remove("message $matchId").apply()
            NotificationManagerCompat.from(context).cancel(matchId, CARD)
        }
    }

    /** The user has dismissed the card of a match. */
    fun dismissed(matchId: String) = synchronized(lock) { remember(matchId, shown(matchId).copy(dismissed = true)) }

    /** Shows the last message of a match again, which says by now that it is out of date. */
    fun outdated(matchId: String) {
        synchronized(lock) {
            val text = store.getString("message $matchId", null) ?: return
            val m = Json.decodeFromString<MatchMessage>(text)

            if (shown(matchId) == Shown(m.rev)) post(m) // it is the last one, and has neither ended nor been dismissed
        }
    }

    private fun shown(matchId: String) =
        Shown(
            store.getLong("rev $matchId", 0), store.getBoolean("ended $matchId", false), store.getBoolean("dismissed $matchId", false),
        )

    private fun remember(matchId: String, s: Shown) =
        store.edit()
            .putLong("rev $matchId", s.rev).putBoolean("ended $matchId", s.ended).putBoolean("dismissed $matchId", s.dismissed).apply()

    private fun post(m: MatchMessage) {
        if (Build.VERSION.SDK_INT >= 33 && context.checkSelfPermission(POST_NOTIFICATIONS) != PERMISSION_GRANTED) return

        NotificationManagerCompat.from(context).notify(m.matchId, CARD, render(m))

        if (m.event == "update" || m.event == "start") m.stale?.takeIf { it > now() }?.let { wake(m.matchId, it) }
    }

    /** Returns the notification of a message. */
    fun render(m: MatchMessage): Notification {
        val card = cardOf(m, now())
        val b = NotificationCompat.Builder(context, SCORES)
            .setSmallIcon(android.R.drawable.star_on) // the app's own
            .setContentTitle(card.title) // Android promotes no notification without a title
            .setContentText(card.text)
            .setSubText(card.status)
            .setWhen(m.at * 1000)
            .setShowWhen(true)
            .setOnlyAlertOnce(true) // an update is silent
            .setOngoing(!card.over)
            .setRequestPromotedOngoing(!card.over)
            .setDeleteIntent(broadcast(Dismissed::class.java, m.matchId))
            .setTimeoutAfter(if (card.over) END_STAYS else LONGEST) // if the end is lost

        card.chip?.let { b.setShortCriticalText(it) }
        b.setStyle(
            card.progress?.let { p ->
                NotificationCompat.ProgressStyle()
                    .setProgressSegments(p.parts.map { NotificationCompat.ProgressStyle.Segment(it) })
                    .setProgress(p.balls)
            } ?: NotificationCompat.BigTextStyle().bigText(card.text), // a Test, or nobody bats
        )

        return b.build()
    }

    // Wakes the app when the state is out of date. A later message replaces the alarm.
    private fun wake(matchId: String, at: Long) =
        context.getSystemService(AlarmManager::class.java).set(AlarmManager.RTC, at * 1000, broadcast(Outdated::class.java, matchId))

    private fun broadcast(receiver: Class<out BroadcastReceiver>, matchId: String): PendingIntent =
        PendingIntent.getBroadcast(
            context, 0, Intent(context, receiver).setData(Uri.fromParts("match", matchId, null)),
            PendingIntent.FLAG_UPDATE_CURRENT or PendingIntent.FLAG_IMMUTABLE,
        )

    private companion object {
        const val CARD = 1 // the id of the notification; its tag is the match
        const val END_STAYS = 30 * 60 * 1000L // ms
        const val LONGEST = 12 * 60 * 60 * 1000L // ms
        val lock = Any() // messages arrive on several threads
    }
}

/** The user has dismissed a card. */
class Dismissed : BroadcastReceiver() {
    override fun onReceive(context: Context, intent: Intent) = MatchCards(context).dismissed(intent.data!!.schemeSpecificPart)
}

/** The state on a card is out of date. */
class Outdated : BroadcastReceiver() {
    override fun onReceive(context: Context, intent: Intent) = MatchCards(context).outdated(intent.data!!.schemeSpecificPart)
}
