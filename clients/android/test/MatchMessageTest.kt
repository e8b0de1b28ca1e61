package com.example.matches

import java.io.File
import java.time.Instant
import kotlinx.serialization.json.Json
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Test

/** The messages that the service sends, and what a card has after each. */
class MatchMessageTest {
    private fun data(name: String) = Json.decodeFromString<Map<String, String>>(File("clients/android/messages/$name.json").readText())

    private fun message(name: String) = MatchMessage.of(data(name))!!

    private val t20 = List(4) { 30 }

    @Test fun everyPhaseHasItsCard() {
        val want = mapOf(
            "01-upcoming" to Card("IND v AUS", "Not started", "Not started", null, null, false),
            "02-toss" to Card("IND v AUS", "India won the toss and chose to bat", "Not started", null, null, false),
            "03-first-innings" to
                Card("IND 46/1 v AUS", "Batting · India won the toss and chose to bat", "1st innings", "46/1", Progress(27, t20), false),
            "04-wicket" to
                Card("IND 41/2 v AUS", "Batting · India won the toss and chose to bat", "1st innings", "41/2", Progress(26, t20), false),
            "05-innings-break" to
                Card("IND 37/1 v AUS", "IND made 37/1 · India won the toss and chose to bat", "Innings break", null, null, false),
            "06-chase" to Card("IND 37/1 v AUS 15/0", "Defending 23 off 112 · Target 38", "2nd innings", "15/0", Progress(8, t20), false),
            "07-interrupted" to Card("IND 37/1 v AUS 6/0", "Defending 32 off 116 · Target 38", "Play interrupted", "6/0", Progress(4, t20), false),
            "08-stumps" to
                Card("IND 37/1 v AUS", "Batting · India won the toss and chose to bat", "Stumps, day 1", "37/1", null, false),
            "09-result" to Card("IND 37/1 v AUS 48/0", "Lost by 10 wickets", "Finished", null, null, true),
            "10-abandoned" to Card("IND v AUS", "Match abandoned", "Abandoned", null, null, true),
        )
        val files = File("clients/android/messages").list()!!.map { it.removeSuffix(".json") }.sorted()

        val got = files.associateWith { cardOf(message(it), 0) }

        assertEquals(want.entries.joinToString("\n"), got.entries.joinToString("\n"))
    }

    @Test fun cardSaysThatItIsOutOfDate() {
        val m = message("04-wicket")

        assertEquals("1st innings", cardOf(m, m.stale!! - 1).status)
        assertEquals("1st innings, no news for a while", cardOf(m, m.stale!!).status)
    }

    @Test fun newestRevisionWins() {
        fun m(event: String, rev: Long) = message("04-wicket").copy(event = event, rev = rev)

        val live = Shown(10)
        val dismissed = live.copy(dismissed = true)
        val ended = Shown(20, ended = true)

        for ((name, c) in mapOf(
            "the first" to Triple(Shown(), m("update", 10), live),
            "a newer one" to Triple(live, m("update", 11), Shown(11)),
            "an older one" to Triple(live, m("update", 9), null),
            "the same again" to Triple(live, m("update", 10), live),
            "an older start" to Triple(live, m("start", 9), null),
            "the end" to Triple(live, m("end", 20), ended),
            "the end again" to Triple(ended, m("end", 20), null),
            "a state of before the end" to Triple(ended, m("update", 19), null),
            "the end is withdrawn" to Triple(ended, m("update", 21), Shown(21)),
            "dismissed" to Triple(dismissed, m("update", 11), null),
            "dismissed, and the end" to Triple(dismissed, m("end", 20), null),
            "dismissed, and the next day" to Triple(dismissed, m("start", 11), Shown(11)),
        )) assertEquals(name, c.third, c.first.after(c.second))
    }

    @Test fun otherMessagesAreIgnored() {
        val good = data("04-wicket")

        for (bad in listOf(
            emptyMap(), good - "matchId", good - "event", good - "rev", good - "display", good + ("rev" to "x"), good + ("stale" to ""),
            good + ("display" to "{}"), good + ("display" to "["),
        )) assertNull("$bad", MatchMessage.of(bad))
    }

    @Test fun laterServiceMaySendMore() {
        val good = data("04-wicket")
        val more = good + ("more" to "1") + ("display" to good.getValue("display").replaceFirst("{", """{"more":{"a":[1]},"""))

        assertEquals(message("04-wicket"), MatchMessage.of(more))
    }

    @Test fun currentStateIsOfAnswer() {
        val d = message("04-wicket").display

        assertEquals(MatchMessage("7", "update", 90, 90, null, null, d), MatchMessage.of("7", "update", Instant.ofEpochSecond(90), d))
    }

    @Test fun progressIsOfTheFormat() {
        fun of(format: String, overs: String) =
            message("04-wicket").let { m ->
                val side = m.display.local.copy(overs = overs)
                cardOf(m.copy(display = m.display.copy(format = format, local = side)), m.at).progress
            }

        for ((case, want) in mapOf(
            ("t10" to "9.5") to Progress(59, List(2) { 30 }),
            ("hundred" to "19.4") to Progress(99, List(4) { 25 }),
            ("odi" to "50") to Progress(300, List(10) { 30 }),
            ("t20" to "") to Progress(0, t20),
            ("t20" to "20.3") to Progress(120, t20), // more than the format has
            ("t20" to "x") to null,
            ("test" to "90") to null,
        )) assertEquals("$case", want, of(case.first, case.second))
    }

    @Test fun chipFitsTheStatusBar() {
        for ((chip, want) in mapOf("214/3" to "214/3", "1104/9" to "1104/9", "12345/9" to null, null to null)) {
            assertEquals(want, cardOf(message("04-wicket").copy(chip = chip), 0).chip)
        }
    }
}
