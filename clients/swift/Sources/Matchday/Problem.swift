import Foundation

/// One wrong field of a request.
public struct Detail: Codable, Hashable, Sendable {
    /// The field, such as `body.name` or `query.cursor`.
    public let location: String?
    public let message: String?
}

/// The error of a call that the API refused.
public struct Problem: Error, Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// What an app decides by, such as `too_many_leagues`; nil if API Gateway refused. More codes may come.
    public let code: String?
    /// What is wrong, for people.
    public let detail: String
    /// The wrong fields.
    public let errors: [Detail]
    /// When to repeat the request at the earliest, in seconds from now; nil if the API does not say.
    public let retryAfter: Double?
}

/// The error of a call whose refresh token is no longer valid: the user has to sign in again.
public struct SignedOut: Error, Hashable, Sendable {
    public init() {}
}

/// The error of a call without an answer of HTTP.
public struct NoAnswer: Error, Hashable, Sendable {}

/// A problem document, or the answer of API Gateway, which has a message only.
struct ProblemDocument: Decodable {
    let type: String?
    let detail: String?
    let message: String?
    let errors: [Detail]?
}

extension Problem {
    static let prefix = "urn:problem-type:matchday:"

    init(status: Int, retryAfter: Double?, body: Data) {
        let document = try? JSONDecoder().decode(ProblemDocument.self, from: body)
        var code: String?
        if let type = document?.type, type.hasPrefix(Problem.prefix) {
            code = String(type.dropFirst(Problem.prefix.count))
        }

        self.init(
            status: status,
            code: code,
            detail: document?.detail ?? document?.message ?? HTTPURLResponse.localizedString(forStatusCode: status),
            errors: document?.errors ?? [],
            retryAfter: retryAfter
        )
    }
}
