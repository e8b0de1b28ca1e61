package matchday.lab

import kotlinx.coroutines.flow.Flow
import matchday.Client
import matchday.Operation
import matchday.Tagged
import matchday.Timestamp
import matchday.encode
import matchday.newKey
import matchday.pages
import matchday.segment

/** The codes of the problems that lab may answer today. More may come. */
object Codes {
    const val NO_THINGS = "no_things"
}

/** The API of lab. */
class Lab(private val client: Client) {
    /** Lists things, newest first. */
    suspend fun listThings(cursor: String? = null, ids: List<String>? = null, since: Timestamp? = null): ThingList =
        client.call(Operation("GET", "/things", query = mapOf("cursor" to cursor, "ids" to ids, "since" to since)), ThingList.serializer())

    /** The pages of [listThings]. */
    fun listThingsPages(ids: List<String>? = null, since: Timestamp? = null): Flow<ThingList> =
        pages({ it.next }) { cursor -> listThings(ids = ids, since = since, cursor = cursor) }

    /** Creates a thing */
    suspend fun createThing(body: NewThing, idempotencyKey: String = newKey()): Thing =
        client.call(Operation("POST", "/things", body = encode(NewThing.serializer(), body), key = idempotencyKey), Thing.serializer())

    suspend fun removeThing(id: String) =
        client.call(Operation("DELETE", "/things/${segment(id)}"))

    suspend fun getThing(id: String): Thing =
        client.call(Operation("GET", "/things/${segment(id)}"), Thing.serializer())

    /** Is [getThing], with the ETag of the answer, which a change sends as ifMatch. */
    suspend fun readThing(id: String): Tagged<Thing> =
        client.read(Operation("GET", "/things/${segment(id)}"), Thing.serializer())

    suspend fun reopenThing(id: String): Thing =
        client.call(Operation("DELETE", "/things/${segment(id)}/end"), Thing.serializer())

    suspend fun endThing(id: String, ifMatch: String? = null, body: NewThing? = null) =
        client.call(Operation("POST", "/things/${segment(id)}/end", headers = mapOf("If-Match" to ifMatch), body = body?.let { encode(NewThing.serializer(), it) }))
}
