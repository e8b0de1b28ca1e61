package matchday

import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.serialization.DeserializationStrategy
import kotlinx.serialization.KSerializer
import kotlinx.serialization.Serializable
import kotlinx.serialization.SerializationException
import kotlinx.serialization.SerializationStrategy
import kotlinx.serialization.descriptors.PrimitiveKind
import kotlinx.serialization.descriptors.PrimitiveSerialDescriptor
import kotlinx.serialization.encoding.Decoder
import kotlinx.serialization.encoding.Encoder
import kotlinx.serialization.json.Json
import okhttp3.Call
import okhttp3.Callback
import okhttp3.HttpUrl.Companion.toHttpUrl
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody
import okhttp3.RequestBody.Companion.toRequestBody
import okhttp3.Response
import okio.BufferedSink
import java.io.IOException
import java.time.DateTimeException
import java.time.Instant
import java.time.OffsetDateTime
import java.util.UUID
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.math.min
import kotlin.math.pow
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds

/** Bounds how long a call is repeated. [sleep] and [random], from 0 up to 1, are for tests. */
class Retry(
    /** How often a request is sent at most. */
    val attempts: Int = 4,
    /** The longest wait before a request is repeated. A call that the API wants repeated later fails at once. */
    val longest: Duration = 30.seconds,
    val sleep: suspend (Duration) -> Unit = { delay(it) },
    val random: () -> Double = Random::nextDouble,
)

/**
 * Calls the API of a room for its class, such as `Pickem(Client("https://api.example.com/pickem", session))`.
 *
 * A call throws a [Problem] if the API refuses, [SignedOut] if the user has to sign in again, and another [IOException]
 * if there is no answer. A request that is answered 429 or 503 is repeated after its Retry-After; so is one without an
 * answer if that has no second effect. If a DELETE that answers with nothing is then answered 404, it succeeds: the
 * request whose answer was lost had its effect. An operation that takes an Idempotency-Key gets one, and the same for
 * each repetition.
 *
 * [url] is the address of the room's API, and [session] has the tokens of the user. Without a session, [http] brings the
 * cookies.
 */
class Client(
    url: String,
    private val session: Session? = null,
    private val http: OkHttpClient = OkHttpClient(),
    private val retry: Retry = Retry(),
) {
    private val base = url.trimEnd('/')

    /** Calls an operation, and returns its answer. */
    suspend fun <T> call(operation: Operation, answer: DeserializationStrategy<T>): T = read(operation, answer).value

    /** Calls an operation, and returns its answer with its ETag. */
    suspend fun <T> read(operation: Operation, answer: DeserializationStrategy<T>): Tagged<T> {
        val got = send(operation)

        return try {
            Tagged(json.decodeFromString(answer, got.body), got.etag)
        } catch (e: SerializationException) {
            throw IOException("the answer of ${operation.method} ${operation.path} is not as in the contract", e)
        }
    }

    /** Calls an operation that answers with nothing. */
    suspend fun call(operation: Operation) {
        send(operation, removes = operation.method == "DELETE")
    }

    private suspend fun send(operation: Operation, removes: Boolean = false): Answer {
        val request = operation.request(base)
        var renewed = false
        var lost = false // an answer
        var attempt = 1

        while (true) {
            val token = session?.accessToken()
            val answer = try {
                http.answer(if (token == null) request else request.newBuilder().header("Authorization", "Bearer $token").build())
            } catch (e: IOException) {
                if (!operation.repeatable || attempt >= retry.attempts) throw e
                lost = true
                null
            }

            if (answer?.status == 401 && token != null && !renewed) {
                session!!.renew(token)
                renewed = true // the refusal was of the token: it is no attempt

                continue
            }

            if (answer != null) {
                val again = answer.status == 429 || answer.status == 503
                if (answer.status in 200..299 || removes && lost && answer.status == 404) return answer
                if (!again || attempt >= retry.attempts || (answer.retryAfter ?: 0).seconds > retry.longest) throw answer.problem()
            }

            // Half a second, doubled each time. Phones that were refused together do not come back together.
            val backOff = min(0.5 * 2.0.pow(attempt - 1), retry.longest.inWholeSeconds.toDouble())
            val wait = answer?.retryAfter?.let { it + backOff * retry.random() } ?: (backOff * (0.5 + retry.random() / 2))
            retry.sleep(wait.seconds)
            attempt++
        }
    }
}

/** An answer with its ETag, which a change sends as `If-Match`. */
class Tagged<T>(val value: T, val etag: String?)

/** A request of an operation. [path] begins with a slash; what varies in it is a [segment]. */
class Operation(
    val method: String,
    val path: String,
    /** By name. A list is sent separated by commas; null is not sent. */
    private val query: Map<String, Any?> = emptyMap(),
    private val headers: Map<String, String?> = emptyMap(),
    private val body: String? = null,
    /** The Idempotency-Key; null for an operation that takes none. */
    val key: String? = null,
) {
    /** Has no second effect: a lost answer is no reason to fail. A second If-Match would fail after the first had its effect. */
    internal val repeatable = key != null || method in listOf("GET", "PUT", "DELETE") && headers["If-Match"] == null

    internal fun request(base: String): Request {
        val url = (base + path).toHttpUrl().newBuilder()
        for ((name, value) in query) {
            when (value) {
                null -> {}
                is List<*> -> url.addQueryParameter(name, value.joinToString(","))
                else -> url.addQueryParameter(name, value.toString())
            }
        }

        val request = Request.Builder().url(url.build())
        for ((name, value) in headers) if (value != null) request.header(name, value)
        if (key != null) request.header("Idempotency-Key", key)

        val content: RequestBody? = body?.toRequestBody(JSON) ?: if (method == "GET") null else ByteArray(0).toRequestBody()
        val once = !repeatable || method == "DELETE" // of which the client has to know that an answer was lost

        return request.method(method, if (once) content?.let(::Once) else content).build()
    }
}

/** A body, also an empty one, that OkHttp does not send again by itself when a connection breaks: the request may have had its effect. */
private class Once(private val body: RequestBody) : RequestBody() {
    override fun contentType() = body.contentType()

    override fun contentLength() = body.contentLength()

    override fun isOneShot() = true

    override fun writeTo(sink: BufferedSink) = body.writeTo(sink)
}

private val JSON = "application/json".toMediaType()

/** Returns what varies in a path, escaped. */
fun segment(value: Any): String = "http://x/".toHttpUrl().newBuilder().addPathSegment(value.toString()).build().encodedPath.drop(1)

/** Returns a new Idempotency-Key. */
fun newKey(): String = UUID.randomUUID().toString()

/** Returns the body of a request. */
fun <T> encode(serializer: SerializationStrategy<T>, value: T): String = json.encodeToString(serializer, value)

/** Returns the pages of a list, each when it is asked for. [next] is the cursor of the page after. */
fun <T> pages(next: (T) -> String?, load: suspend (cursor: String?) -> T): Flow<T> = flow {
    var cursor: String? = null
    do {
        val page = load(cursor)
        emit(page)

        val after = next(page)
        val moved = after != cursor // a list that does not move on has ended, too
        cursor = after
    } while (cursor != null && moved)
}

/** What an answer has more than its class does is ignored: the contract grows. What is null by default is left out. */
internal val json = Json { ignoreUnknownKeys = true }

private class Answer(val status: Int, val body: String, val reason: String, val retryAfter: Long?, val etag: String?) {
    fun problem(): Problem {
        val document = try {
            json.decodeFromString<ProblemDocument>(body)
        } catch (_: SerializationException) {
            ProblemDocument()
        }

        return Problem(
            status,
            document.type?.takeIf { it.startsWith(PROBLEM_PREFIX) }?.removePrefix(PROBLEM_PREFIX),
            document.detail ?: document.message ?: reason,
            document.errors.orEmpty(),
            retryAfter,
        )
    }
}

private suspend fun OkHttpClient.answer(request: Request): Answer = suspendCancellableCoroutine { waiting ->
    val call = newCall(request)
    waiting.invokeOnCancellation { call.cancel() }
    call.enqueue(object : Callback {
        override fun onFailure(call: Call, e: IOException) = waiting.resumeWithException(e)

        override fun onResponse(call: Call, response: Response) {
            val answer = try {
                response.use {
                    Answer(it.code, it.body!!.string(), it.message, it.header("Retry-After")?.toLongOrNull(), it.header("ETag"))
                }
            } catch (e: IOException) {
                return waiting.resumeWithException(e)
            }

            waiting.resume(answer)
        }
    })
}

/** A time of the contract, RFC 3339. */
typealias Timestamp = @Serializable(with = InstantSerializer::class) Instant

object InstantSerializer : KSerializer<Instant> {
    override val descriptor = PrimitiveSerialDescriptor("matchday.Instant", PrimitiveKind.STRING)

    override fun serialize(encoder: Encoder, value: Instant) = encoder.encodeString(value.toString())

    override fun deserialize(decoder: Decoder): Instant = try {
        OffsetDateTime.parse(decoder.decodeString()).toInstant()
    } catch (e: DateTimeException) {
        throw SerializationException("no time of RFC 3339", e)
    }
}
