package matchday

import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import java.io.IOException

/** One wrong field of a request: [location] is the field, such as `body.name` or `query.cursor`. */
@Serializable
data class Detail(val location: String? = null, val message: String? = null)

/** The error of a call that the API refused. */
class Problem internal constructor(
    /** The HTTP status. */
    val status: Int,
    /** What an app decides by, such as `too_many_leagues`; null if API Gateway refused. More codes may come. */
    val code: String?,
    /** What is wrong, for people. */
    val detail: String,
    /** The wrong fields. */
    val errors: List<Detail>,
    /** When to repeat the request at the earliest, in seconds from now; null if the API does not say. */
    val retryAfter: Long?,
) : IOException("$status${code?.let { " $it" }.orEmpty()}: $detail")

/** The error of a call whose refresh token is no longer valid: the user has to sign in again. */
class SignedOut(message: String) : IOException(message)

/** A problem document, or the answer of API Gateway, which has a message only. */
@Serializable
internal data class ProblemDocument(
    val type: String? = null,
    val detail: String? = null,
    val message: String? = null,
    @SerialName("errors") val errors: List<Detail>? = null,
)

internal const val PROBLEM_PREFIX = "urn:problem-type:matchday:"
