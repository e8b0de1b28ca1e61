package matchday

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.withContext
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.SerializationException
import okhttp3.FormBody
import okhttp3.OkHttpClient
import okhttp3.Request
import java.io.IOException

/** The tokens of a signed-in user. */
data class Tokens(val accessToken: String, val refreshToken: String? = null)

/** Keeps the tokens where the app keeps secrets. */
interface TokenStore {
    /** Returns null if nobody is signed in. */
    suspend fun load(): Tokens?

    /** Returns when the tokens survive the end of the app. */
    suspend fun save(tokens: Tokens)
}

/**
 * The tokens of one user. All clients of an app share one, because a refresh token can be valid once only: calls that
 * find their access token expired at the same time wait for one refresh, and get its result, also if it fails.
 *
 * [refresh] exchanges a refresh token. It throws [SignedOut] if the token is not valid.
 */
class Session(private val store: TokenStore, private val refresh: suspend (refreshToken: String) -> Tokens) {
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    private val lock = Any()
    private var renewing: Deferred<String>? = null

    /** Returns the access token; null if nobody is signed in. */
    suspend fun accessToken(): String? = store.load()?.accessToken

    /** Replaces an access token that was refused. The new tokens are stored before the new access token is returned. */
    suspend fun renew(refused: String): String {
        val shared = synchronized(lock) {
            // A call that is cancelled must not lose the new refresh token: the scope is not the call's.
            renewing?.takeIf { it.isActive } ?: scope.async { replace(refused) }.also { renewing = it }
        }

        return shared.await()
    }

    private suspend fun replace(refused: String): String {
        val old = store.load()
        if (old != null && old.accessToken != refused) return old.accessToken // an earlier call has replaced it

        val token = old?.refreshToken ?: throw SignedOut("the session has no refresh token")
        val new = refresh(token)
        store.save(new.copy(refreshToken = new.refreshToken ?: token))

        return new.accessToken
    }
}

/**
 * Returns the refresh of a user pool: [url] is its token endpoint, `https://DOMAIN/oauth2/token`, and [clientId] the
 * app's public client.
 */
fun refreshAt(url: String, clientId: String, http: OkHttpClient = OkHttpClient()): suspend (String) -> Tokens = { refreshToken ->
    val form = FormBody.Builder()
        .add("grant_type", "refresh_token")
        .add("client_id", clientId)
        .add("refresh_token", refreshToken)
        .build()

    withContext(Dispatchers.IO) {
        http.newCall(Request.Builder().url(url).post(form).build()).execute().use { response ->
            when {
                response.code == 400 || response.code == 401 -> throw SignedOut("the refresh token is not valid")
                !response.isSuccessful -> throw IOException("the token endpoint answers ${response.code}")
            }

            val answer = try {
                json.decodeFromString<TokenAnswer>(response.body!!.string())
            } catch (e: SerializationException) {
                throw IOException("the answer of the token endpoint is not as expected", e)
            }

            Tokens(answer.accessToken, answer.refreshToken)
        }
    }
}

@Serializable
private data class TokenAnswer(
    @SerialName("access_token") val accessToken: String,
    @SerialName("refresh_token") val refreshToken: String? = null,
)
