import Foundation

/// Bounds how long a call is repeated.
public struct Retry: Sendable {
    /// How often a request is sent at most.
    public var attempts = 4
    /// The longest wait before a request is repeated, in seconds. A call that the API wants repeated later fails at once.
    public var longest = 30.0

    public init() {}
}

/// Calls the API of a room for its structure, such as `Pickem(Client(url: url, session: session))`.
///
/// A call throws a `Problem` if the API refuses, `SignedOut` if the user has to sign in again, a `DecodingError` if the
/// answer is not as in the contract, and an error of `URLSession` if there is no answer. A request that is answered 429 or
/// 503 is repeated after its Retry-After; so is one without an answer if that has no second effect. If a DELETE that answers
/// with nothing is then answered 404, it succeeds: the request whose answer was lost had its effect. An operation that takes
/// an Idempotency-Key gets one, and the same for each repetition.
public struct Client: Sendable {
    private let base: String
    private let session: Session?
    private let urlSession: URLSession
    private let retry: Retry

    /// `url` is the address of the room's API, such as `https://api.example.com/pickem`, and `session` has the tokens of the
    /// user. Without a session, `urlSession` brings the cookies.
    public init(url: URL, session: Session? = nil, urlSession: URLSession = .shared, retry: Retry = Retry()) {
        base = url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        self.session = session
        self.urlSession = urlSession
        self.retry = retry
    }

    /// Calls an operation, and returns its answer.
    func call<Answer: Decodable & Sendable>(_ operation: Operation, _ type: Answer.Type) async throws -> Answer {
        try await read(operation, type).value
    }

    /// Calls an operation, and returns its answer with its ETag.
    func read<Answer: Decodable & Sendable>(_ operation: Operation, _: Answer.Type) async throws -> Tagged<Answer> {
        let (body, response) = try await send(operation)

        return Tagged(value: try decoder().decode(Answer.self, from: body), etag: response.value(forHTTPHeaderField: "ETag"))
    }

    /// Calls an operation that answers with nothing.
    func call(_ operation: Operation) async throws {
        _ = try await send(operation, removes: operation.method == "DELETE")
    }

    private func send(_ operation: Operation, removes: Bool = false) async throws -> (Data, HTTPURLResponse) {
        let request = try operation.request(base: base)
        let conditional = request.value(forHTTPHeaderField: "If-Match") != nil
        // What has no second effect: a lost answer is no reason to fail. A second If-Match would fail after the first had its
        // effect.
        let repeatable = operation.key != nil || (["GET", "PUT", "DELETE"].contains(operation.method) && !conditional)
        var renewed = false
        var lost = false // an answer
        var attempt = 1

        while true {
            let token = try await session?.accessToken()
            var sent = request
            if let token {
                sent.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            }

            var after: Double?

            do {
                let (body, answer) = try await urlSession.data(for: sent)
                guard let response = answer as? HTTPURLResponse else {
                    throw NoAnswer()
                }

                if (200 ..< 300).contains(response.statusCode) || (removes && lost && response.statusCode == 404) {
                    return (body, response)
                }

                if response.statusCode == 401, let token, let session, !renewed {
                    _ = try await session.renew(refused: token)
                    renewed = true // the refusal was of the token: it is no attempt

                    continue
                }

                after = response.value(forHTTPHeaderField: "Retry-After").flatMap(seconds)
                let again = response.statusCode == 429 || response.statusCode == 503
                if !again || attempt >= retry.attempts || (after ?? 0) > retry.longest {
                    throw Problem(status: response.statusCode, retryAfter: after, body: body)
                }
            } catch let error as URLError where repeatable && attempt < retry.attempts && error.code != .cancelled {
                after = nil
                lost = true
            }

            // Half a second, doubled each time. Phones that were refused together do not come back together.
            let backOff = min(0.5 * pow(2, Double(attempt - 1)), retry.longest)
            let wait = after.map { $0 + Double.random(in: 0 ... backOff) } ?? Double.random(in: backOff / 2 ... backOff)
            try await Task.sleep(nanoseconds: UInt64(wait * 1_000_000_000))
            attempt += 1
        }
    }
}

/// Reads a Retry-After, in seconds. Double also reads "-2" and "nan", of which no wait can be made.
private func seconds(_ text: String) -> Double? {
    text.allSatisfy { $0.isASCII && $0.isNumber } ? Double(text) : nil
}

/// An answer with its ETag, which a change sends as `If-Match`.
public struct Tagged<Value: Sendable>: Sendable {
    public let value: Value
    public let etag: String?
}

/// A request of an operation.
struct Operation {
    let method: String
    /// Begins with a slash; what varies in it is a `segment`.
    let path: String
    /// nil is not sent.
    var query: [(name: String, value: String?)] = []
    var headers: [(name: String, value: String?)] = []
    var body: Data?
    /// The Idempotency-Key; nil for an operation that takes none.
    var key: String?

    func request(base: String) throws -> URLRequest {
        let items = query.compactMap { item in item.value.map { "\(item.name)=\(segment($0))" } }
        guard let url = URL(string: base + path + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))) else {
            throw URLError(.badURL)
        }

        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        if body != nil {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }

        for header in headers {
            if let value = header.value {
                request.setValue(value, forHTTPHeaderField: header.name)
            }
        }

        if let key {
            request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
        }

        return request
    }
}

/// Returns what varies in an address, escaped.
func segment(_ value: some CustomStringConvertible) -> String {
    let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    return value.description.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
}

/// Returns a new Idempotency-Key.
public func newKey() -> String {
    UUID().uuidString
}

/// Returns the pages of a list, each when it is asked for. `next` is the cursor of the page after.
func pages<Page: Sendable>(
    next: @escaping @Sendable (Page) -> String?,
    load: @escaping @Sendable (String?) async throws -> Page
) -> AsyncThrowingStream<Page, any Error> {
    let place = Place()

    return AsyncThrowingStream {
        guard let cursor = await place.cursor() else {
            return nil
        }

        let page = try await load(cursor.value)
        await place.move(to: next(page))

        return page
    }
}

/// Where a list is read.
private actor Place {
    struct Cursor: Equatable, Sendable {
        var value: String?
    }

    private var now: Cursor? = Cursor()

    /// Returns nil at the end of the list.
    func cursor() -> Cursor? {
        now
    }

    /// A list that does not move on has ended, too.
    func move(to next: String?) {
        now = next == nil || next == now?.value ? nil : Cursor(value: next)
    }
}

/// Any JSON.
public enum JSONValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case let .bool(value): try container.encode(value)
        case let .integer(value): try container.encode(value)
        case let .number(value): try container.encode(value)
        case let .string(value): try container.encode(value)
        case let .array(value): try container.encode(value)
        case let .object(value): try container.encode(value)
        }
    }
}

/// Returns the body of a request.
func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .custom { date, encoder in
        var container = encoder.singleValueContainer()
        try container.encode(timestamp(date))
    }

    return try encoder.encode(value)
}

/// Returns a time as the contract has it, RFC 3339.
func timestamp(_ date: Date) -> String {
    let format = ISO8601DateFormatter()
    format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]

    return format.string(from: date)
}

private func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)

        if let date = date(text) {
            return date
        }

        throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no time of RFC 3339")
    }

    return decoder
}

/// Reads a time of RFC 3339, with any number of decimals.
private func date(_ text: String) -> Date? {
    let format = ISO8601DateFormatter()
    guard let point = text.firstIndex(of: ".") else {
        return format.date(from: text)
    }

    let rest = text[text.index(after: point)...]
    let decimals = rest.prefix { $0.isNumber }
    let second = format.date(from: String(text[..<point] + rest.dropFirst(decimals.count)))

    return second?.addingTimeInterval(Double("0.\(decimals)") ?? 0)
}
