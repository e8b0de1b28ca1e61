package matchday.story

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import matchday.Client
import matchday.Problem
import matchday.Session
import matchday.TokenStore
import matchday.Tokens
import matchday.refreshAt
import okhttp3.FormBody
import okhttp3.HttpUrl.Companion.toHttpUrl
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody
import okhttp3.RequestBody.Companion.toRequestBody
import java.security.MessageDigest
import java.security.SecureRandom
import java.time.Instant
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap

/** A running fleet, in which one person plays a story of each room. [door] lets its time pass, and shows the mails. */
class World(private val fleet: String, private val door: String) {
    /** A word for what the person makes: another client plays in the same fleet. */
    val tag = "kt"

    /** The address of the person. */
    val email = "tess-$tag@example.com"

    private val http = OkHttpClient()
    private val sessions = mutableMapOf<String, Session>()

    /** A client of nobody. */
    fun guest(room: String) = Client("$fleet/$room")

    /** A client that sends the person's tokens. */
    fun user(room: String) = Client("$fleet/$room", signIn("user=$email"))

    /** A client that sends the tokens of an administrator of the room. */
    fun administrator(room: String) = Client("$fleet/$room", signIn("user=root&group=$room-admin"))

    /** A browser, which keeps cookies. */
    fun browser() = Browser(fleet)

    /** A client in a browser. */
    fun client(room: String, browser: Browser) = Client("$fleet/$room", http = browser.http)

    /** The address of a room. */
    fun url(room: String) = "$fleet/$room"

    /** A client of the app of a room on a phone, to which a user signs in at the user pool, in the browser of the system. */
    suspend fun phone(room: String, user: String): Client {
        val pool = "$fleet/identity/oauth2"
        val app = mapOf("client_id" to "local-$room-app", "redirect_uri" to "com.example.$room:/signed-in")
        val proof = base64(ByteArray(32).also(SecureRandom()::nextBytes))
        val challenge = base64(MessageDigest.getInstance("SHA-256").digest(proof.toByteArray()))

        val page = form(app + mapOf("response_type" to "code", "code_challenge" to challenge, "code_challenge_method" to "S256", "user" to user))
        val back = withContext(Dispatchers.IO) {
            http.newBuilder().followRedirects(false).build().newCall(Request.Builder().url("$pool/authorize").post(page).build()).execute().use {
                checkNotNull(it.header("Location")) { "the sign-in page answers ${it.code}" }
            }
        }
        val code = back.substringAfter("code=").substringBefore('&')

        val answer = text("$pool/token", form(app + mapOf("grant_type" to "authorization_code", "code" to code, "code_verifier" to proof)))
        val tokens = Tokens(member(answer, "access_token"), member(answer, "refresh_token"))

        return Client(url(room), Session(Memory(tokens), refreshAt("$pool/token", app.getValue("client_id"))))
    }

    /** Asks for an address without a session, and returns the type of the answer. */
    suspend fun contentType(url: String): String? = withContext(Dispatchers.IO) {
        http.newCall(Request.Builder().url(url).build()).execute().use { it.header("Content-Type") }
    }

    /** Lets time pass in the fleet, and returns its time. */
    suspend fun wait(seconds: Int): Instant = Instant.parse(text("$door/wait?seconds=$seconds", ByteArray(0).toRequestBody()))

    /** Returns the text of the latest mail to an address. */
    suspend fun mail(to: String): String = text("$door/mail?to=$to", ByteArray(0).toRequestBody())

    // All rooms share the session of a person. The first call finds no valid token, and refreshes it.
    private fun signIn(query: String): Session = sessions.getOrPut(query) {
        Session(Memory(Tokens("expired", query))) { refreshToken ->
            Tokens(member(text("$fleet/dev/token?$refreshToken", null), "access_token"))
        }
    }

    private suspend fun text(url: String, body: RequestBody?): String = withContext(Dispatchers.IO) {
        http.newCall(Request.Builder().url(url).apply { body?.let(::post) }.build()).execute().use {
            check(it.isSuccessful) { "$url: ${it.code} ${it.body!!.string()}" }

            it.body!!.string()
        }
    }
}

/** Forgets the tokens at the end. */
private class Memory(private var tokens: Tokens) : TokenStore {
    override suspend fun load() = tokens

    override suspend fun save(tokens: Tokens) {
        this.tokens = tokens
    }
}

private fun base64(bytes: ByteArray): String = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)

private fun form(fields: Map<String, String>): FormBody =
    FormBody.Builder().apply { fields.forEach { (name, value) -> add(name, value) } }.build()

/** Returns a text of a JSON object. */
private fun member(json: String, name: String): String = json.substringAfter("\"$name\":\"").substringBefore('"')

/** Keeps cookies, and sends the address of its page. It follows no redirects by itself. */
class Browser(private val origin: String) {
    private val cookies = ConcurrentHashMap<String, String>()

    val http: OkHttpClient = OkHttpClient.Builder().followRedirects(false).addInterceptor { chain ->
        val request = chain.request().newBuilder().header("Origin", origin)
        if (cookies.isNotEmpty()) request.header("Cookie", cookies.entries.joinToString("; ") { "${it.key}=${it.value}" })

        val response = chain.proceed(request.build())
        for (cookie in response.headers("Set-Cookie")) {
            val (name, value) = cookie.substringBefore(';').split("=", limit = 2)
            if (value == "") cookies.remove(name) else cookies[name] = value
        }

        response
    }.build()

    /** Asks for an address, or sends a form to it. Returns the address to which the answer leads. */
    suspend fun follow(url: String, fields: Map<String, String>? = null): String = withContext(Dispatchers.IO) {
        val request = Request.Builder().url(url)
        if (fields != null) request.post(form(fields))

        http.newCall(request.build()).execute().use {
            check(it.code == 302) { "$url: ${it.code}" }

            url.toHttpUrl().resolve(it.header("Location")!!).toString()
        }
    }
}

/** Returns the problem with which a call is refused. */
suspend fun refused(call: suspend () -> Any?): Problem = try {
    error("it is not refused: ${call()}")
} catch (e: Problem) {
    e
}

/** Fails unless both are equal. */
fun expect(want: Any?, got: Any?) = check(want == got) { "$got, want $want" }
