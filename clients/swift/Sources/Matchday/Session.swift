import Foundation

/// The tokens of a signed-in user.
public struct Tokens: Codable, Hashable, Sendable {
    public var accessToken: String
    public var refreshToken: String?

    public init(accessToken: String, refreshToken: String? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }
}

/// Keeps the tokens where the app keeps secrets.
public protocol TokenStore: Sendable {
    /// Returns nil if nobody is signed in.
    func load() async throws -> Tokens?

    /// Returns when the tokens survive the end of the app.
    func save(_ tokens: Tokens) async throws
}

/// The tokens of one user. All clients of an app share one, because a refresh token can be valid once only: calls that
/// find their access token expired at the same time wait for one refresh.
public actor Session {
    private let store: any TokenStore
    private let refresh: @Sendable (String) async throws -> Tokens
    private var renewing: Task<String, any Error>?

    /// `refresh` exchanges a refresh token. It throws `SignedOut` if the token is not valid.
    public init(store: any TokenStore, refresh: @escaping @Sendable (String) async throws -> Tokens) {
        self.store = store
        self.refresh = refresh
    }

    /// Returns the access token; nil if nobody is signed in.
    public func accessToken() async throws -> String? {
        try await store.load()?.accessToken
    }

    /// Replaces an access token that was refused. The new tokens are stored before the new access token is returned.
    public func renew(refused: String) async throws -> String {
        if let renewing {
            return try await renewing.value
        }

        // A call that is cancelled must not lose the new refresh token: the task is not the call's.
        let task = Task { [store, refresh] in
            let old = try await store.load()
            if let old, old.accessToken != refused {
                return old.accessToken // an earlier call has replaced it
            }

            guard let token = old?.refreshToken else {
                throw SignedOut()
            }

            var new = try await refresh(token)
            new.refreshToken = new.refreshToken ?? token
            try await store.save(new)

            return new.accessToken
        }
        renewing = task
        defer { renewing = nil }

        return try await task.value
    }
}

/// Returns the refresh of a user pool: `url` is its token endpoint, `https://DOMAIN/oauth2/token`, and `clientID` the
/// app's public client.
public func refresh(at url: URL, clientID: String, urlSession: URLSession = .shared) -> @Sendable (String) async throws -> Tokens {
    { token in
        var form = URLComponents()
        form.queryItems = [
            URLQueryItem(name: "grant_type", value: "refresh_token"),
            URLQueryItem(name: "client_id", value: clientID),
            URLQueryItem(name: "refresh_token", value: token),
        ]

        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data((form.percentEncodedQuery ?? "").replacingOccurrences(of: "+", with: "%2B").utf8)

        let (body, response) = try await urlSession.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode else {
            throw NoAnswer()
        }

        if status == 400 || status == 401 {
            throw SignedOut()
        }

        guard status == 200 else {
            throw Problem(status: status, retryAfter: nil, body: body)
        }

        let answer = try JSONDecoder().decode(TokenAnswer.self, from: body)

        return Tokens(accessToken: answer.accessToken, refreshToken: answer.refreshToken)
    }
}

struct TokenAnswer: Decodable {
    let accessToken: String
    let refreshToken: String?

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
    }
}
