import Foundation

/// The API of lab.
public struct Lab: Sendable {
    private let client: Client

    public init(_ client: Client) {
        self.client = client
    }

    /// Lists things, newest first.
    @discardableResult
    public func listThings(cursor: String? = nil, ids: [String]? = nil, since: Date? = nil) async throws -> ThingList {
        try await client.call(Operation(method: "GET", path: "/things", query: [(name: "cursor", value: cursor), (name: "ids", value: ids.map { $0.joined(separator: ",") }), (name: "since", value: since.map { timestamp($0) })]), ThingList.self)
    }

    /// The pages of `listThings`.
    public func listThingsPages(ids: [String]? = nil, since: Date? = nil) -> AsyncThrowingStream<ThingList, any Error> {
        pages(next: { $0.next }, load: { cursor in try await listThings(cursor: cursor, ids: ids, since: since) })
    }

    /// Creates a thing
    @discardableResult
    public func createThing(body: NewThing, idempotencyKey: String = newKey()) async throws -> Thing {
        try await client.call(Operation(method: "POST", path: "/things", body: try encode(body), key: idempotencyKey), Thing.self)
    }

    public func removeThing(id: String) async throws {
        try await client.call(Operation(method: "DELETE", path: "/things/\(segment(id))"))
    }

    @discardableResult
    public func getThing(id: String) async throws -> Thing {
        try await client.call(Operation(method: "GET", path: "/things/\(segment(id))"), Thing.self)
    }

    /// Is `getThing`, with the ETag of the answer, which a change sends as `ifMatch`.
    @discardableResult
    public func readThing(id: String) async throws -> Tagged<Thing> {
        try await client.read(Operation(method: "GET", path: "/things/\(segment(id))"), Thing.self)
    }

    @discardableResult
    public func reopenThing(id: String) async throws -> Thing {
        try await client.call(Operation(method: "DELETE", path: "/things/\(segment(id))/end"), Thing.self)
    }

    public func endThing(id: String, ifMatch: String? = nil, body: NewThing? = nil) async throws {
        try await client.call(Operation(method: "POST", path: "/things/\(segment(id))/end", headers: [(name: "If-Match", value: ifMatch)], body: try body.map { try encode($0) }))
    }
}

extension Lab {
    /// The codes of the problems that the operations may answer today. More may come.
    public enum Codes {
        public static let noThings = "no_things"
    }

    public struct NewThing: Codable, Hashable, Sendable {
        public init() {
        }
    }

    public struct Thing: Codable, Hashable, Sendable {
        public var hubAt: Date?
        public var id: String
        public var `in`: Int32?
        public var note: String?
        public var result: JSONValue?
        public var state: ThingState
        public var weights: [String: Int64]?

        public init(hubAt: Date? = nil, id: String, `in`: Int32? = nil, note: String?, result: JSONValue? = nil, state: ThingState, weights: [String: Int64]? = nil) {
            self.hubAt = hubAt
            self.id = id
            self.`in` = `in`
            self.note = note
            self.result = result
            self.state = state
            self.weights = weights
        }

        enum CodingKeys: String, CodingKey {
            case hubAt = "hub.at"
            case id = "id"
            case `in` = "in"
            case note = "note"
            case result = "result"
            case state = "state"
            case weights = "weights"
        }
    }

    public struct ThingList: Codable, Hashable, Sendable {
        /// The cursor of the next page.
        public var next: String?
        public var things: [Thing]

        public init(next: String? = nil, things: [Thing]) {
            self.next = next
            self.things = things
        }

        enum CodingKeys: String, CodingKey {
            case next = "next"
            case things = "things"
        }
    }

    /// One of these today. More may come.
    public struct ThingState: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let empty = ThingState(rawValue: "")
        public static let kickOff = ThingState(rawValue: "kick-off")
        public static let noResult = ThingState(rawValue: "NO_RESULT")
    }
}
