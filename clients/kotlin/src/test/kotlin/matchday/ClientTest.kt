package matchday

import com.sun.net.httpserver.HttpServer
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart.UNDISPATCHED
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import kotlinx.serialization.Serializable
import okhttp3.OkHttpClient
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.IOException
import java.net.InetSocketAddress
import java.time.Instant
import java.util.Collections
import java.util.concurrent.Executors
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

@Serializable
private data class Thing(val id: String, val at: Timestamp? = null)

private class Asked(val line: String, val headers: Map<String, List<String>>, val body: String) {
    val key = headers["Idempotency-key"]?.single()
    val token = headers["Authorization"]?.single()
}

private class Reply(val status: Int, val body: String = "", val headers: Map<String, String> = emptyMap())

/** The hand-written part against an HTTP server of this process. */
class ClientTest {
    private val asked: MutableList<Asked> = Collections.synchronizedList(mutableListOf())
    private val waits = mutableListOf<Duration>()
    private val retry = Retry(attempts = 3, sleep = { waits += it }, random = { 0.5 })
    private val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0)
    private val http = OkHttpClient.Builder().retryOnConnectionFailure(false).build()

    /** Answers requests; null hangs up. */
    private fun serve(answer: (Asked) -> Reply?): Client {
        server.executor = Executors.newCachedThreadPool { Thread(it).apply { isDaemon = true } }
        server.createContext("/") { exchange ->
            val one = Asked(
                "${exchange.requestMethod} ${exchange.requestURI}",
                exchange.requestHeaders,
                exchange.requestBody.readBytes().decodeToString(),
            )
            asked += one

            val reply = answer(one)
            if (reply != null) {
                reply.headers.forEach { (name, value) -> exchange.responseHeaders.add(name, value) }
                val body = reply.body.toByteArray()
                exchange.sendResponseHeaders(reply.status, if (body.isEmpty()) -1 else body.size.toLong())
                if (body.isNotEmpty()) exchange.responseBody.write(body)
            }

            exchange.close()
        }
        server.start()

        return client(null)
    }

    /** Answers requests in turn, the last answer again and again. */
    private fun serve(vararg answers: Reply?): Client = serve { answers[minOf(asked.size, answers.size) - 1] }

    private fun client(session: Session?) = Client("http://127.0.0.1:${server.address.port}/lab/", session, http, retry)

    @After
    fun stop() = server.stop(0)

    private suspend fun Client.create(key: String = newKey()) =
        call(Operation("POST", "/things", body = """{"name":"x"}""", key = key), Thing.serializer())

    private suspend fun Client.get() = call(Operation("GET", "/things"), Thing.serializer())

    private val thing = Reply(200, """{"id":"a","at":"2026-06-06T14:00:00.5+02:00","of a later version":{}}""")

    @Test
    fun `an answer is decoded, and what it has more is ignored`() = runBlocking {
        assertEquals(Thing("a", Instant.parse("2026-06-06T12:00:00.5Z")), serve(thing).create())
        assertEquals(listOf("POST /lab/things" to """{"name":"x"}"""), asked.map { it.line to it.body })
    }

    @Test
    fun `an answer that is not as in the contract is an IOException`() {
        val client = serve(Reply(200, "{}"), Reply(200, """{"id":"a","at":"noon"}"""))
        repeat(2) { assertThrows(IOException::class.java) { runBlocking { client.get() } } }
    }

    @Test
    fun `paths and queries are escaped, a list is separated by commas, and null is left out`() = runBlocking {
        val client = serve(Reply(204))
        client.call(Operation("DELETE", "/things/${segment("a b/c")}", query = mapOf("ids" to listOf("1", "2"), "limit" to null)))
        assertEquals("DELETE /lab/things/a%20b%2Fc?ids=1%2C2", asked.single().line)
    }

    @Test
    fun `what is null by default is left out of a body`() = assertEquals("""{"id":"a"}""", encode(Thing.serializer(), Thing("a")))

    @Test
    fun `a refusal is a Problem with its code, fields and Retry-After`() {
        val body = """{"type":"urn:problem-type:matchday:bad_request","detail":"a name is needed","errors":[{"location":"body.name","message":"empty"}]}"""
        val client = serve(Reply(422, body, mapOf("Retry-After" to "7")))
        val problem = assertThrows(Problem::class.java) { runBlocking { client.create() } }
        assertEquals(listOf<Any?>(422, "bad_request", "a name is needed", 7L), listOf(problem.status, problem.code, problem.detail, problem.retryAfter))
        assertEquals(listOf(Detail("body.name", "empty")), problem.errors)
    }

    @Test
    fun `a refusal of API Gateway is a Problem without a code`() {
        val client = serve(Reply(403, """{"message":"Forbidden"}"""))
        val problem = assertThrows(Problem::class.java) { runBlocking { client.get() } }
        assertNull(problem.code)
        assertEquals("Forbidden", problem.detail)
    }

    @Test
    fun `429 and 503 are repeated after Retry-After and some more, with the same key`() = runBlocking {
        serve(Reply(429, headers = mapOf("Retry-After" to "3")), Reply(503), thing).create("mine")
        assertEquals(listOf(3250.milliseconds, 750.milliseconds), waits) // 3 s and half of 0.5 s; three quarters of 1 s
        assertEquals(listOf("mine", "mine", "mine"), asked.map { it.key })
        assertEquals(3, asked.count { it.body == """{"name":"x"}""" })
        assertNotEquals(newKey(), newKey())
    }

    @Test
    fun `repetitions are bounded`() {
        val client = serve(Reply(503))
        assertEquals(503, assertThrows(Problem::class.java) { runBlocking { client.get() } }.status)
        assertEquals(3, asked.size)
    }

    @Test
    fun `a wait that is too long fails at once`() {
        val client = serve(Reply(429, headers = mapOf("Retry-After" to "3600")))
        assertEquals(3600L, assertThrows(Problem::class.java) { runBlocking { client.get() } }.retryAfter)
        assertEquals(1, asked.size)
    }

    @Test
    fun `a lost answer is asked for again if that has no second effect`() {
        val client = serve(null, thing, null)
        runBlocking { client.create("mine") }
        assertEquals(listOf("mine", "mine"), asked.map { it.key })

        assertThrows(IOException::class.java) { runBlocking { client.call(Operation("PATCH", "/things/a", body = "{}")) } }
        assertEquals(3, asked.size)
    }

    @Test
    fun `what may have a second effect is sent once, also on a connection that was used before`() {
        serve(thing, null)
        val client = Client("http://127.0.0.1:${server.address.port}/lab", retry = retry) // whose OkHttp repeats by itself
        runBlocking { client.get() }

        assertThrows(IOException::class.java) { runBlocking { client.call(Operation("PATCH", "/things/a", body = "{}")) } }
        assertEquals(listOf("GET /lab/things", "PATCH /lab/things/a"), asked.map { it.line })
    }

    private val delete = Operation("DELETE", "/things/a")
    private val missing = Reply(404, """{"type":"urn:problem-type:matchday:thing_not_found"}""")

    private fun assertMissing(call: suspend () -> Unit) =
        assertEquals("thing_not_found", assertThrows(Problem::class.java) { runBlocking { call() } }.code)

    @Test
    fun `a DELETE whose answer was lost has had its effect if the API then answers 404`() {
        val client = serve(null, Reply(503), missing, Reply(503), missing, null, missing, null, missing)
        runBlocking { client.call(delete) }
        assertEquals(3, asked.size)

        assertMissing { client.call(delete) } // which is answered 503 and 404
        assertMissing { client.get() }
        assertMissing { client.call(delete, Thing.serializer()) } // its answer is a thing, which nobody has any more
        assertEquals(9, asked.size)
    }

    @Test
    fun `only the client repeats a DELETE, also on a connection that was used before`() {
        serve(thing, null, missing)
        val client = Client("http://127.0.0.1:${server.address.port}/lab", retry = retry) // whose OkHttp repeats by itself
        runBlocking {
            client.get()
            client.call(delete)
        }

        assertEquals(listOf("GET /lab/things", "DELETE /lab/things/a", "DELETE /lab/things/a"), asked.map { it.line })
    }

    @Test
    fun `a request with If-Match is not repeated without an answer`() {
        val client = serve(null)
        val operation = Operation("DELETE", "/things/a", headers = mapOf("If-Match" to "\"7\""))
        assertThrows(IOException::class.java) { runBlocking { client.call(operation) } }
        assertEquals(1, asked.size)
    }

    @Test
    fun `read returns the ETag of an answer`() = runBlocking {
        val client = serve(Reply(200, """{"id":"a"}""", mapOf("ETag" to "\"7\"")), thing)
        val things = Operation("GET", "/things")
        assertEquals("\"7\"", client.read(things, Thing.serializer()).etag)
        assertNull(client.read(things, Thing.serializer()).etag)
    }

    @Test
    fun `pages follow next, and end with the same`() = runBlocking {
        val seen = mutableListOf<String?>()
        val pages = pages<String>({ "2" }) { cursor ->
            seen += cursor
            if (cursor == null) "first" else "second"
        }
        assertEquals(listOf("first", "second"), pages.toList())
        assertEquals(listOf(null, "2"), seen)
    }

    private class Memory(var tokens: Tokens, val log: MutableList<String>) : TokenStore {
        override suspend fun load() = tokens

        override suspend fun save(tokens: Tokens) {
            yield() // a disk is slower than a call
            log += "stored ${tokens.refreshToken}"
            this.tokens = tokens
        }
    }

    @Test
    fun `calls whose token has expired wait for one refresh, whose tokens are stored before use`() = runBlocking {
        val log: MutableList<String> = Collections.synchronizedList(mutableListOf())
        serve { one ->
            log += one.token.orEmpty()
            if (one.token == "Bearer new") thing else Reply(401, """{"message":"Unauthorized"}""")
        }
        val session = Session(Memory(Tokens("old", "r1"), log)) {
            log += "refresh $it"
            Tokens("new", "r2")
        }
        val (a, b) = client(session) to client(session)
        listOf(async { a.get() }, async { b.get() }, async { a.get() }).awaitAll()

        assertEquals(listOf("refresh r1", "stored r2"), log.filter { !it.startsWith("Bearer") })
        assertTrue("$log", log.indexOf("stored r2") < log.indexOf("Bearer new"))
        assertEquals(3, log.count { it == "Bearer new" })
    }

    @Test
    fun `calls that wait for a refresh share its failure, and the next call refreshes again`() = runBlocking {
        val log: MutableList<String> = Collections.synchronizedList(mutableListOf())
        val online = CompletableDeferred<Unit>()
        val session = Session(Memory(Tokens("old", "r1"), log)) {
            log += "refresh $it"
            online.await()
            throw IOException("no connection")
        }
        val calls = List(10) { async(start = UNDISPATCHED) { runCatching { session.renew("old") } } }
        online.complete(Unit)

        assertEquals(List(10) { "no connection" }, calls.awaitAll().map { it.exceptionOrNull()?.message })
        assertEquals(listOf("refresh r1"), log.toList())

        assertThrows(IOException::class.java) { runBlocking { session.renew("old") } }
        assertEquals(listOf("refresh r1", "refresh r1"), log.toList())
    }

    @Test
    fun `a refresh survives the call that began it`() = runBlocking {
        val log: MutableList<String> = Collections.synchronizedList(mutableListOf())
        val answer = CompletableDeferred<Tokens>()
        val session = Session(Memory(Tokens("old", "r1"), log)) { answer.await() }
        val first = async(start = UNDISPATCHED) { session.renew("old") }
        val second = async(start = UNDISPATCHED) { session.renew("old") }

        first.cancelAndJoin()
        answer.complete(Tokens("new", "r2"))
        assertEquals("new", second.await())
        assertEquals(listOf("stored r2"), log.toList())
    }

    @Test
    fun `a token that is refused again is a Problem`() {
        serve(Reply(401, "{}"))
        val client = client(Session(Memory(Tokens("old", "r1"), mutableListOf())) { Tokens("new") })
        assertEquals(401, assertThrows(Problem::class.java) { runBlocking { client.get() } }.status)
        assertEquals(listOf("Bearer old", "Bearer new"), asked.map { it.token })
    }

    @Test
    fun `a session that cannot be refreshed is SignedOut`() {
        serve(Reply(401, "{}"))
        val client = client(Session(Memory(Tokens("old"), mutableListOf())) { error("there is nothing to refresh") })
        assertThrows(SignedOut::class.java) { runBlocking { client.get() } }
    }

    @Test
    fun `the user pool refreshes, the old token stays without a new one, and an invalid one is SignedOut`() {
        serve(Reply(200, """{"access_token":"a2","expires_in":3600}"""), Reply(400, """{"error":"invalid_grant"}"""))
        val refresh = refreshAt("http://127.0.0.1:${server.address.port}/oauth2/token", "app")
        val log = mutableListOf<String>()
        assertEquals("a2", runBlocking { Session(Memory(Tokens("a1", "r1"), log), refresh).renew("a1") })
        assertEquals(listOf("stored r1"), log)
        assertEquals("grant_type=refresh_token&client_id=app&refresh_token=r1", asked.single().body)
        assertThrows(SignedOut::class.java) { runBlocking { refresh("r1") } }
    }

    @Test
    fun `an answer of the user pool that is not as expected is an IOException`() {
        serve(Reply(200, "<html>"), Reply(200, "{}"))
        val refresh = refreshAt("http://127.0.0.1:${server.address.port}/oauth2/token", "app")
        repeat(2) { assertThrows(IOException::class.java) { runBlocking { refresh("r1") } } }
    }
}
