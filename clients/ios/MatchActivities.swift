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

    /// Starts the activity of a match at once, while the app is in front. `teamId` is the side of the user. If the API refuses,
    /// because the match is over for example, it throws a `Problem`, and starts none.
    func start(matchId: String, teamId: String? = nil) async throws {
        let display = try await cricket.getDisplay(id: matchId, team: teamId)
        let attributes = MatchActivityAttributes(
            matchId: matchId, teamId: teamId, local: display.local.name, visitor: display.visitor.name)

        // One message of Apple reaches all phones that listen to the channel of the match. The API refuses the channel if a
        // phone of the user has an older iOS or none is registered yet, or if it cannot open one: the token takes its place.
        if #available(iOS 18, *) {
            do {
                let started = try await cricket.startActivity(matchId: matchId, body: .init(teamId: teamId))
                if let channel = started.channel {
                    let first = try content(of: started.current?.display ?? display, at: started.current?.at ?? Date())
                    _ = try Activity.request(attributes: attributes, content: first, pushType: .channel(channel))
                    return
                }
            } catch let problem as Problem where Self.refusalsOfChannel.contains(problem.code ?? "") {}
        }

        // `follow` registers the token of the activity.
        _ = try Activity.request(attributes: attributes, content: content(of: display, at: Date()), pushType: .token)
    }

    private static let refusalsOfChannel = [
        Cricket.Codes.pushTokenRequired, Cricket.Codes.channelBusy, Cricket.Codes.channelRefused, Cricket.Codes.channelUnavailable,
    ]

    private func content(
        of display: Cricket.MatchDisplay, at: Date
    ) throws -> ActivityContent<MatchActivityAttributes.ContentState> {
        let state = try JSONDecoder().decode(
            MatchActivityAttributes.ContentState.self, from: JSONEncoder().encode(display))
        let stale = at.addingTimeInterval(30 * 60) // as in a push

        return ActivityContent(state: state, staleDate: display.phase == "live" ? stale : nil)
    }

    private func follow(_ activity: Activity<MatchActivityAttributes>) {
        Task {
            // That of an activity which a push has started, if it came before this call.
            if let token = activity.pushToken { await register(token, of: activity) }
            for await token in activity.pushTokenUpdates { await register(token, of: activity) }
        }
    }

    /// Registers a token of an activity, again and again until the API answers or the activity has ended. It ends an activity that
    /// the API refuses, because nothing would update it.
    private func register(_ token: Data, of activity: Activity<MatchActivityAttributes>) async {
        var wait = 1.0 // s

        while activity.activityState != .ended && activity.activityState != .dismissed {
            do {
                let started = try await cricket.startActivity(
                    matchId: activity.attributes.matchId,
                    body: .init(environment: .own, pushToken: token.hexadecimal, teamId: activity.attributes.teamId))
                if let current = started.current, let state = try? content(of: current.display, at: current.at) {
                    // iOS ignores it if a later push came first.
                    await activity.update(state, alertConfiguration: nil, timestamp: current.at)
                }
                return
            } catch let problem as Problem where (400 ..< 500).contains(problem.status) && ![401, 429].contains(problem.status) {
                await activity.end(nil, dismissalPolicy: .immediate)
                return
            } catch { // no answer, or nobody is signed in
                guard (try? await Task.sleep(for: .seconds(wait))) != nil else { return }
                wait = min(2 * wait, 300)
            }
        }
    }
}

extension Cricket.StartActivityBodyEnvironment {
    /// Of the tokens of this build, as for `registerDevice`.
    static var own: Self {
        #if DEBUG
        return .sandbox
        #else
        return .production
        #endif
    }
}

extension Data {
    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
