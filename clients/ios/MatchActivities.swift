// A sample: what the app tells the backend, so that pushes reach its activities. `api` stands for the client
// of the package in clients/swift, with a user who has signed in.
//
// Call `observe` once at each launch: a token can change while the app does not run, and a sequence of
// tokens does not always yield the present one.

import ActivityKit
import Foundation
import UIKit

/// The calls that this file needs of a client.
protocol MatchdayAPI: Sendable {
    /// POST /user/device.
    func registerDevice(token: String, environment: String, frequentPushesEnabled: Bool) async throws
    /// PUT /user/device/push-to-start.
    func updatePushToStart(deviceToken: String, pushToStartToken: String) async throws
    /// POST /user/activity/{matchId}. Returns the state to show until the first push, if the match has one.
    func startActivity(matchId: String, teamId: String?, pushToken: String) async throws
}

@MainActor
final class MatchActivities {
    private let api: MatchdayAPI
    private var deviceToken: String?

    init(api: MatchdayAPI) { self.api = api }

    /// From `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    func register(deviceToken: Data) async throws {
        let token = deviceToken.hexadecimal
        self.deviceToken = token
        #if DEBUG
        let environment = "sandbox" // Xcode installs with a development profile
        #else
        let environment = "production"
        #endif
        try await api.registerDevice(
            token: token, environment: environment,
            frequentPushesEnabled: ActivityAuthorizationInfo().frequentPushesEnabled)
        if let start = Activity<MatchActivityAttributes>.pushToStartToken {
            try await api.updatePushToStart(deviceToken: token, pushToStartToken: start.hexadecimal)
        }
    }

    /// Registers tokens while the app lives: of activities that the app or a push has started, and the one
    /// by which a push starts them.
    func observe() {
        Task {
            for await token in Activity<MatchActivityAttributes>.pushToStartTokenUpdates {
                guard let deviceToken else { continue }
                try? await api.updatePushToStart(deviceToken: deviceToken, pushToStartToken: token.hexadecimal)
            }
        }
        Task {
            for activity in Activity<MatchActivityAttributes>.activities { follow(activity) }
            for await activity in Activity<MatchActivityAttributes>.activityUpdates { follow(activity) }
        }
    }

    private func follow(_ activity: Activity<MatchActivityAttributes>) {
        Task {
            for await token in activity.pushTokenUpdates where activity.activityState == .active {
                try? await api.startActivity(
                    matchId: activity.attributes.matchId, teamId: activity.attributes.teamId,
                    pushToken: token.hexadecimal)
            }
        }
    }
}

extension Data {
    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
