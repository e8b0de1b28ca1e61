// A sample: what a message to the topic of a match says, whether it is shown, and what its card has. It needs no
// Android, so the gate tests it on a JVM.
package com.example.matches

import java.time.Instant
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.Json

/** A side, of the schema DisplaySide: what the card shows of it. */
@Serializable
data class Side(val name: String, val code: String = "", val score: String = "", val overs: String = "", val batting: Boolean = false)

/** The match, of the schema MatchDisplay: what the card shows of it. Codes are strings, because more may come. */
@Serializable
data class Display(
    val phase: String,
    val format: String,
    val status: String,
    val headline: String,
    val detail: String = "",
    val local: Side,
    val visitor: Side,
)

/** A message. Times are in seconds since 1970. */
@Serializable
data class MatchMessage(
    val matchId: String,
    val event: String, // start, update or end
    val rev: Long,
    val at: Long,
    val stale: Long?,
    val chip: String?,
    val display: Display,
) {
    companion object {
        private val json = Json { ignoreUnknownKeys = true } // a later service sends more

        /** Returns the message that the data of an FCM message is, or null if it is none. */
        fun of(data: Map<String, String>): MatchMessage? =
            try {
                MatchMessage(
                    data.getValue("matchId"), data.getValue("event"), data.getValue("rev").toLong(), data.getValue("at").toLong(),
                    data["stale"]?.toLong(), data["chip"], json.decodeFromString<Display>(data.getValue("display")),
                )
            } catch (_: NoSuchElementException) {
                null
            } catch (_: IllegalArgumentException) { // not a number, or not the JSON of a display
                null
            }

        /** Returns a message with the current display of an answer, for the time until the first message arrives. */
        fun of(matchId: String, event: String, at: Instant, display: Display): MatchMessage =
            MatchMessage(matchId, event, at.epochSecond, at.epochSecond, null, null, display)
    }
}

/** What the app remembers of the card of a match. */
data class Shown(val rev: Long = 0, val ended: Boolean = false, val dismissed: Boolean = false) {
    /** Returns what to remember after a message that is shown, and null for one that is not. */
    fun after(m: MatchMessage): Shown? =
        when {
            m.rev < rev -> null // an older state came late
            ended && m.rev == rev -> null // the end is sent up to five times
            dismissed && m.event != "start" -> null // until the next day of play, or until the user follows again
            else -> Shown(m.rev, ended = m.event == "end")
        }
}

/** What a card has. */
data class Card(val title: String, val text: String, val status: String, val chip: String?, val progress: Progress?, val over: Boolean)

/** The balls bowled of an innings, whose parts have so many balls each. */
data class Progress(val balls: Int, val parts: List<Int>)

/** Returns the card of a message at a time, in seconds since 1970. */
fun cardOf(m: MatchMessage, now: Long): Card {
    val sides = listOf(m.display.local, m.display.visitor)
    val outdated = m.stale != null && now >= m.stale

    return Card(
        title = sides.joinToString(" v ") { "${it.code.ifEmpty { it.name }} ${it.score}".trim() },
        text = listOf(m.display.headline, m.display.detail).filter { it.isNotEmpty() }.joinToString(" · "),
        status = if (outdated) "${m.display.status}, no news for a while" else m.display.status,
        chip = m.chip?.takeIf { it.length <= CHIP },
        progress = sides.firstOrNull { it.batting }?.let { progressOf(m.display.format, it.overs) },
        over = m.event == "end",
    )
}

// The longest text that Android's status bar shows whole.
private const val CHIP = 6

// Five overs are a part of the progress, of which Android shows ten at most.
private const val OVERS_OF_PART = 5

private fun progressOf(format: String, overs: String): Progress? {
    val limit = mapOf("t10" to 10, "t20" to 20, "hundred" to 20, "odi" to 50)[format] ?: return null // a Test has none
    val balls = if (format == "hundred") 5 else 6
    val (whole, part) = (overs.ifEmpty { "0" } + ".0").split(".").map { it.toIntOrNull() ?: return null }

    return Progress((whole * balls + part).coerceIn(0, limit * balls), List(limit / OVERS_OF_PART) { OVERS_OF_PART * balls })
}
