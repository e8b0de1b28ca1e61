// A sample: what the app tells the backend, so that pushes reach its activities. It calls the package in clients/swift, for
// a user who has signed in.
//
// Call `observe` once at each launch: a token can change while the app does not run, and a sequence of
// tokens does not always yield the present one.

import ActivityKit
import Foundation
import Matchday
import UIKit

@MainActor
final class MatchActivities {
    private let cricket: Cricket
    private var deviceToken: String?

    init(cricket: Cricket) { self.cricket = cricket }

    /// From `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    func register(deviceToken: Data) async throws {
        let token = deviceToken.hexadecimal
        self.deviceToken = token
        #if DEBUG
        let environment = Cricket.RegisterDeviceBodyEnvironment.sandbox // Xcode installs with a development profile
        #else
        let environment = Cricket.RegisterDeviceBodyEnvironment.production
        #endif
        let device = UIDevice.current
        try await cricket.registerDevice(
            body: .init(
                deviceToken: token, environment: environment,
                frequentPushesEnabled: ActivityAuthorizationInfo().frequentPushesEnabled,
                osVersion: device.systemVersion, platform: device.userInterfaceIdiom == .pad ? .ipados : .ios,
                timeZone: TimeZone.current.identifier))
        if let start = Activity<MatchActivityAttributes>.pushToStartToken {
            try await cricket.updatePushToStart(
                body: .init(deviceToken: token, pushToStartToken: start.hexadecimal))
        }
    }

    /// Registers tokens while the app lives: of activities that the app or a push has started, and the one
    /// by which a push starts them.
    func observe() {
        Task {
            for await token in Activity<MatchActivityAttributes>.pushToStartTokenUpdates {
                guard let deviceToken else { continue }
                _ = try? await cricket.updatePushToStart(
                    body: .init(deviceToken: deviceToken, pushToStartToken: token.hexadecimal))
            }
        }
        Task {
            for activity in Activity<MatchActivityAttributes>.activities { follow(activity) }
            for await activity in Activity<MatchActivityAttributes>.activityUpdates { follow(activity) }
        }
    }

    /// Starts the activity of a match at once, while the app is in front. `teamId` is the side of the user.
    func start(matchId: String, teamId: String? = nil) async throws {
        let display = try await cricket.getDisplay(id: matchId, team: teamId)
        let state = try JSONDecoder().decode(
            MatchActivityAttributes.ContentState.self, from: JSONEncoder().encode(display))
        let attributes = MatchActivityAttributes(
            matchId: matchId, teamId: teamId, local: display.local.name, visitor: display.visitor.name)
        let content = ActivityContent(state: state, staleDate: nil)

        // One message of Apple reaches all phones that listen to the channel of the match. The API refuses the channel if a
        // phone of the user has an older iOS or none is registered yet, or if it cannot open one: the token takes its place.
        if #available(iOS 18, *) {
            let started = try? await cricket.startActivity(matchId: matchId, body: .init(teamId: teamId))
            if let channel = started?.channel {
                _ = try Activity.request(attributes: attributes, content: content, pushType: .channel(channel))
                return
            }
        }

        // `follow` registers the token of the activity.
        _ = try Activity.request(attributes: attributes, content: content, pushType: .token)
    }

    private func follow(_ activity: Activity<MatchActivityAttributes>) {
        Task {
            for await token in activity.pushTokenUpdates where activity.activityState == .active {
                _ = try? await cricket.startActivity(
                    matchId: activity.attributes.matchId,
                    body: .init(pushToken: token.hexadecimal, teamId: activity.attributes.teamId))
            }
        }
    }
}

extension Data {
    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
