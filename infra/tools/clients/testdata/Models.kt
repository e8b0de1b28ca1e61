package matchday.lab

import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonElement
import matchday.Timestamp

@Serializable
class NewThing

@Serializable
data class Thing(
    @SerialName("hub.at")
    val hubAt: Timestamp? = null,
    val id: String,
    val `in`: Int? = null,
    val note: String?,
    val result: JsonElement? = null,
    val state: ThingState,
    val weights: Map<String, Long>? = null,
)

@Serializable
data class ThingList(
    /** The cursor of the next page. */
    val next: String? = null,
    val things: List<Thing>,
)

/** One of these today. More may come. */
@Serializable
@JvmInline
value class ThingState(val value: String) {
    override fun toString() = value

    companion object {
        val EMPTY = ThingState("")
        val KICK_OFF = ThingState("kick-off")
        val NO_RESULT = ThingState("NO_RESULT")
    }
}
